// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages and the lines of text that they give.

use super::*;
use crate::filter::pieces::pieces_of;
use proptest::prelude::*;

/// `medium:words` of each line of text from a source that comes in these pieces.
fn read_pieces<'a>(options: &[ModelOption], pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let options = options.iter().fold(ModelOptions::default(), |all, &option| all.with(option));
    let mut mail = UnicodeMail::new(options);
    let mut line = Vec::new();
    let mut found = Vec::new();
    let mut collect = |mail: &mut UnicodeMail| {
        while mail.next(&mut line) {
            let text = std::str::from_utf8(&line).expect("valid UTF-8");
            let words: Vec<&str> = text.split_whitespace().collect();
            found.push(format!("{}:{}", mail.medium().number(), words.join(" ")));
        }
    };
    mail.start_file();
    for raw in pieces {
        mail.take(raw);
        collect(&mut mail);
    }
    mail.finish();
    collect(&mut mail);
    found
}

/// The same of a source that comes line by line.
fn read_with(options: &[ModelOption], source: &[u8]) -> Vec<String> {
    read_pieces(options, source.split_inclusive(|&byte| byte == b'\n'))
}

fn read(source: &str) -> String {
    let found = read_with(&[], source.as_bytes()).join("|");
    let crlf = read_with(&[], source.replace('\n', "\r\n").as_bytes()).join("|");
    assert_eq!(crlf, found, "with CRLF");
    found
}

#[test]
fn header_and_text_are_read() {
    assert_eq!(
        read("From: A <a@b.c>\nSubject: one\n two\nDate: today\nX-Y: z\n\ntext\n\nmore\n"),
        "12:From: A <a@b.c>|10:Subject: one two|3:text|3:more"
    );
    assert_eq!(read("no header\nat all\n"), "3:no header|3:at all");
    assert_eq!(read(""), "");
    assert_eq!(read("\n\n\n"), "");
    assert_eq!(read("Subject: only\n"), "10:Subject: only");
    assert_eq!(read("Subject: a\nbody at once\n"), "10:Subject: a|3:body at once");
}

#[test]
fn mailboxes_are_cut_where_messages_begin() {
    let from = "From a@b.c Mon Jan  1 00:00:00 2024\n";
    let mbox =
        format!("{from}Subject: a\n\nx\n\n{from}Subject: b\n\nFrom here on\n\nFrom me to you\n");
    assert_eq!(read(&mbox), "10:Subject: a|3:x|10:Subject: b|3:From here on|3:From me to you");
    // One message is not a mailbox.
    assert_eq!(
        read(&format!("Subject: a\n\nx\n\n{from}y\n")),
        format!(
            "10:Subject: a|3:x|3:{}|3:y",
            from.split_whitespace().collect::<Vec<_>>().join(" ")
        )
    );
}

#[test]
fn parts_are_decoded_by_encoding_and_charset() {
    for (head, body) in [
        ("text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit", "caf\u{e9} cr\u{e8}me\n"),
        (
            "text/plain; charset=\"UTF-8\"\nContent-Transfer-Encoding: quoted-printable",
            "caf=C3=A9=\n cr=c3=a8me\n",
        ),
        (
            "text/plain;\n charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable",
            "caf=E9 cr=E8me",
        ),
        (
            "text/plain; charset*=utf-8''utf-8\nContent-Transfer-Encoding: base64",
            "Y2Fmw6kgY3LD\nqG1l\n",
        ),
        (
            "text/html\nContent-Transfer-Encoding: base64",
            "PG1ldGEgY2hhcnNldD1sYXRpbjE+Y2Fm6SBjcuht\nZQ==\n",
        ),
        ("text/html; charset=us-ascii", "<p>caf&eacute; cr&#xe8;m<b></b>e</p>\n"),
        (
            "text/html; charset=x-nonsense\nContent-Transfer-Encoding: binary",
            "caf\u{e9} cr\u{e8}me",
        ),
    ] {
        let mail = format!("Content-Type: {head}\n\n{body}");
        assert_eq!(read_with(&[], mail.as_bytes()), ["3:caf\u{e9} cr\u{e8}me"], "{head}");
    }
}

#[test]
fn nobody_sees_preamble_and_epilogue() {
    let mail = |boundary: &str| {
        format!(
            "Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\npre\n--B\n\none\n--B\n\
         Content-Type: text/html\n\n<i>two</i>\n--B\nContent-Type: image/gif\n\nR0lG\n--B--\nepi\n\
         --B\n\nx\n"
        )
    };
    // What looks like a part after the last boundary is shown by mail programs.
    assert_eq!(read(&mail("B")), "3:one|3:two|3:x");
    // Without any part it is a text like others.
    assert!(read(&mail("C")).starts_with("3:pre|3:--B|3:one"));
}

#[test]
fn of_alternatives_one_is_shown() {
    let mail = |html: &str| {
        format!(
            "Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: \
             multipart/alternative; boundary=B\n\n\
         --B\nContent-Type: text/plain\n\nplain\n--B\n{html}\n--B--\n--A\n\nend\n--A--\n"
        )
    };
    for (html, expected) in [
        ("Content-Type: text/html\n\n<b>page</b>", "3:page|3:end"),
        ("Content-Type: text/html\n\n<b> </b>", "3:plain|3:end"),
        ("Content-Type: text/html\n\n<img src=x>", "3:end"),
        ("Content-Type: text/html\n\n<img src=x width=1 height=1>", "3:plain|3:end"),
        ("Content-Type: text/html\n\n<p hidden>x</p>", "3:plain|3:end"),
        ("Content-Type: text/html\nContent-Disposition: attachment\n\nx", "1:x|3:plain|3:end"),
        ("Content-Type: text/calendar\n\nVCAL", "3:plain|3:VCAL|3:end"),
        (
            "Content-Type: multipart/related; boundary=C\n\n--C\nContent-Type: text/html\n\nx\n\
             --C\n\
          Content-Type: image/gif\n\nR0lG\n--C--",
            "3:x|3:end",
        ),
    ] {
        assert_eq!(read(&mail(html)), expected, "{html}");
    }
    // What is longer than what is held is shown.
    let long = format!(
        "Content-Type: multipart/alternative; boundary=B\n\n--B\n\n{}--B\n\
        Content-Type: text/html\n\npage\n--B--\n",
        "words of a text\n".repeat(20_000)
    );
    let found = read_with(&[], long.as_bytes());
    assert_eq!((found.len(), found.last().map(String::as_str)), (20_001, Some("3:page")));
}

#[test]
fn messages_within_are_text_to_the_reader() {
    let mail = "Subject: a\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: \
                message/rfc822\n\n\
        Subject: =?utf-8?q?b=C3=A9?=\nContent-Type: text/html\n\n<p>c\n--B\n\nd\n";
    assert_eq!(read(mail), "10:Subject: a|1:Subject: b\u{e9}|1:c|3:d");
    let whole = "Subject: a\nContent-Type: message/rfc822\n\nSubject: b\n\nc\n";
    assert_eq!(read(whole), "10:Subject: a|3:Subject: b|3:c");
    let digest = "Content-Type: multipart/digest; boundary=B\n\n--B\n\nSubject: a\n\nx\n--B\n\n\
        Subject: b\n\ny\n--B--\n";
    assert_eq!(read(digest), "3:Subject: a|3:x|3:Subject: b|3:y");
}

#[test]
fn raw_fields_wait_for_the_charset() {
    let text = "\u{434}\u{43e}\u{433}\u{43e}\u{432}\u{43e}\u{440}";
    let koi8: &[u8] = b"\xc4\xcf\xc7\xcf\xd7\xcf\xd2";
    let with = |head: &str, body: &str| {
        let parts = [b"Subject: ".as_slice(), koi8, b"\n", head.as_bytes(), b"\n", body.as_bytes()];
        read_with(&[], &parts.concat())
    };
    let subject = format!("10:Subject: {text}");
    assert_eq!(with("Content-Type: text/plain; charset=koi8-r\n", "x\n"), [&*subject, "3:x"]);
    assert_eq!(
        with(
            "Content-Type: multipart/mixed; boundary=B\n",
            "--B\nContent-Type: text/plain; charset=koi8-r\n\nx\n--B--\n"
        ),
        [&*subject, "3:x"]
    );
    let utf8 = format!("Subject: {text}\n\nx\n");
    assert_eq!(read_with(&[], utf8.as_bytes()), [&*subject, "3:x"]);
    // Nothing says what it is: the bytes do.
    assert_eq!(with("", "x\n"), ["3:x", &*subject]);
}

#[test]
fn more_headers_are_shown_when_asked_for() {
    let mail = "From: a\nCc: b\nReceived: c; d\nX-E: f\nDate: g\n\
        Content-Type: text/plain;\n name*=utf-8''%C3%A9.txt; charset=utf-8\n\nx\n";
    for (option, expected) in [
        (ModelOption::MailHeaders, "12:From: a|12:Cc: b|9:Content-Type: text/plain \u{e9}.txt|3:x"),
        (ModelOption::MailTHeaders, "12:From: a|15:Received: c|3:x"),
        (ModelOption::MailXHeaders, "12:From: a|12:Cc: b|7:X-E: f|3:x"),
        (ModelOption::MailNoHeaders, "3:x"),
    ] {
        assert_eq!(read_with(&[option], mail.as_bytes()).join("|"), expected, "{option:?}");
    }
}

#[test]
fn long_lines_fields_and_nesting_are_bounded() {
    let word = "word ".repeat(200_000);
    let found = read_with(&[], format!("Subject: a\n\n{word}").as_bytes());
    assert!(found.len() > 100 && found.iter().all(|line| line.len() <= 8196));
    let found =
        read_with(&[], format!("Subject: a\n{}\n", " folded text\n".repeat(20_000)).as_bytes());
    assert!(found.len() > 20 && found.iter().all(|line| line.starts_with("10:")));
    let nested = "Content-Type: multipart/mixed; boundary=B\n\n--B\n".repeat(2_000);
    let mut mail = UnicodeMail::new(ModelOptions::default());
    mail.start_file();
    nested.split_inclusive('\n').for_each(|line| mail.take(line.as_bytes()));
    assert!(mail.open.len() <= DEEPEST);
    let base64 = format!("Content-Transfer-Encoding: base64\n\n{}", "QUJDRA".repeat(100_000));
    assert!(read_with(&[], base64.as_bytes()).iter().all(|line| line.len() <= 8196));
}

/// `medium:words` of each line of text from a message whose lines come in pieces of `size` bytes.
fn read_in_pieces(text: &str, size: usize) -> Vec<String> {
    let lines = text.split_inclusive('\n');
    read_pieces(&[], lines.flat_map(|line| line.as_bytes().chunks(size)))
}

#[test]
fn pieces_of_a_line_are_one_line() {
    let mail = "From: a\nSubject: From b -- c\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\
        Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+YmFzZTY0IHRleHQ8L3A+\n\
        --B\n\nsome --B text\nFrom --B-- within\n\n--B--\n";
    let whole = read_in_pieces(mail, mail.len());
    assert_eq!(whole, read(mail).split('|').collect::<Vec<_>>());
    assert!(whole.len() >= 5, "{whole:?}");
    // A boundary and the name of a field stand at the beginning of a line, in one piece.
    for size in [28, 29, 40] {
        assert_eq!(read_in_pieces(mail, size), whole, "{size}");
    }
    let text = "x".repeat(8);
    let mail = format!("Subject: a\n\n{text}--B\n\n{text}From a Mon Jan  1 00:00:00 2024\nb\n");
    assert_eq!(read_in_pieces(&mail, 8).len(), 4, "no mail begins within a line");
}

/// Messages in several forms, of which a reader sees `claim your prize` in a mail of `a@b.c` about
/// `h\u{e9}llo`.
fn forms() -> Vec<String> {
    let head = "Return-Path: <r@b.c>\nReceived: from x by y;\n\tMon, 1 Jan 2024\n\
        From: a@b.c\nSubject: =?utf-8?q?h=C3=A9llo?=\nMIME-Version: 1.0\n";
    let page = "Content-Transfer-Encoding: base64\n\nPHA+Y2xhaW0gPGI+eW91cjwvYj4gcHJpemU8L3A+\n";
    let quoted = "Content-Transfer-Encoding: quoted-printable\n\nclaim y=6Fur =\nprize\n";
    let bodies = [
        format!("Content-Type: text/html; charset=utf-8\n{page}"),
        format!("Content-Type: text/plain;\n charset=utf-8\n{quoted}"),
        format!(
            "Content-Type: multipart/mixed;\n boundary=\"b b\"\n\n--b b\n\
             Content-Type: text/html\n{page}\n--b b--\n"
        ),
        format!(
            "Content-Type: multipart/alternative; boundary=bb\n\n--bb\n\nplain\n--bb\n\
             Content-Type: text/html\n{page}\n--bb--\n"
        ),
        "X-A: b\n\nclaim your prize\n".to_owned(),
    ];
    bodies.map(|body| [head, &body].concat()).into()
}

/// The words that are read of a message, without their media, in order.
fn words(mail: &str) -> Vec<String> {
    let lines = read_with(&[], mail.as_bytes());
    let words = lines.iter().filter_map(|line| line.split_once(':'));
    let mut words: Vec<String> =
        words.flat_map(|(_, words)| words.split(' ').map(str::to_owned)).collect();
    words.sort_unstable();
    words
}

/// The words of `found` that are not in `known`, each as often.
fn beyond(found: &[String], known: &[String]) -> Vec<String> {
    let mut rest = known.to_vec();
    let is_new = |word: &&String| match rest.iter().position(|own| own == *word) {
        Some(at) => {
            rest.swap_remove(at);
            false
        }
        None => true,
    };
    found.iter().filter(is_new).cloned().collect()
}

#[test]
fn a_line_in_a_header_changes_only_its_own_words() {
    for mail in forms() {
        let before = words(&mail);
        assert_eq!(before.join(" "), "From: Subject: a@b.c claim h\u{e9}llo prize your", "{mail}");
        let (header, body) = mail.split_once("\n\n").expect("a body");
        let lines: Vec<&str> = header.split_inclusive('\n').collect();
        for stray in [
            "X",
            "My Field: x",
            ": x",
            "about the game tonight",
            "h\u{e9}llo: x",
            "Microsoft Mail Internet Headers Version 2.0",
            "+OK 1234 octets",
            "HTTP/1.1 200 OK",
            ">From a@b.c Mon Jan  1 00:00:00 2024",
            "--",
            "X\n folded\nY",
            " folded",
        ] {
            for at in 0..=lines.len() {
                let [first, last] = [&lines[..at], &lines[at..]].map(<[&str]>::concat);
                let end = if last.is_empty() { "\n" } else { "" };
                let stray_line = format!("{end}{stray}{}", if last.is_empty() { "" } else { "\n" });
                let changed = format!("{first}{stray_line}{last}\n\n{body}");
                let after = words(&changed);
                let own: Vec<String> = stray.split_whitespace().map(str::to_owned).collect();
                assert_eq!(beyond(&before, &after), Vec::<String>::new(), "{changed}");
                assert_eq!(beyond(&beyond(&after, &before), &own).len(), 0, "{changed}");
            }
        }
    }
}

#[test]
fn a_spoilt_content_type_changes_no_words() {
    let forms = forms();
    let kinds = |from: usize, to: usize, values: &[&str]| {
        for form in &forms[from..to] {
            let (head, rest) = form.split_once("Content-Type:").expect("the field");
            let end = rest.match_indices('\n').find(|(at, _)| rest.as_bytes()[at + 1] != b' ');
            let rest = &rest[end.expect("more fields").0..];
            for value in values {
                let mail = format!("{head}Content-Type:{value}{rest}");
                assert_eq!(words(&mail), words(form), "{mail}");
            }
        }
    };
    let html = " html| text| text/| plain|| ???|text / html|(c) text/html|charset=utf-8; text/html|\
        text/html text/plain| nothing at all|text/html charset=utf-8| ; text/html| \"text/html|\
        text/html (open";
    kinds(0, 1, &html.split('|').collect::<Vec<_>>());
    let plain = " text| text/| plain|| ???|text / plain|(c) text/plain|utf-8|charset=utf-8";
    kinds(1, 2, &plain.split('|').collect::<Vec<_>>());
    let parts = "multipart; boundary=\"b b\"|multipart/mixed boundary=\"b b\"|\
        mixed; boundary=\"b b\"|boundary=\"b b\"|multipart/mixed; boundary=\"b b\" (comment)|\
        multipart/mixed|multipart|\
        multipart/mixed; boundary=no; boundary=\"b b\"|???; boundary = \"b b\"|\
        multipart/mixed; boundary=\"b b|multipart/mixed; Boundary=\"no\"|???|";
    kinds(2, 3, &parts.split('|').filter(|value| !value.is_empty()).collect::<Vec<_>>());
    let choice = "multipart/alternative boundary=\"bb\"|multipart/alternative; boundary=bb (x)|\
        (x) multipart/alternative; boundary=\"bb\"|alternative; boundary=bb|\
        multipart/alternative; boundary=bb x|multipart/alternative,boundary=bb";
    kinds(3, 4, &choice.split('|').collect::<Vec<_>>());
}

#[test]
fn of_several_fields_the_one_that_fits_counts() {
    let page = "PHA+Y2xhaW0geW91ciBwcml6ZTwvcD4=\n";
    for (fields, body) in [
        (
            "Content-Type: multipart/mixed; boundary=no\n\
             Content-Type: multipart/mixed; boundary=b\n",
            "--b\n\nclaim your prize\n--b--\n",
        ),
        (
            "Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=b\n",
            "--b\n\nclaim your prize\n--b--\n",
        ),
        ("Content-Type: text/html\nContent-Type: text/plain\n", "<p>claim your prize</p>\n"),
        ("Content-Type: text/plain\nContent-Type: text/html\n", "claim your prize\n"),
        (
            "Content-Type: text/html\nContent-Transfer-Encoding: 7bit\n\
          Content-Transfer-Encoding: base64\n",
            page,
        ),
        (
            "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\
          Content-Transfer-Encoding: 7bit\n",
            page,
        ),
        (
            "Content-Transfer-Encoding: base64\nContent-Transfer-Encoding: 8bit\n",
            "\nclaim your prize\n",
        ),
        ("Content-Type: text/html\nContent-Transfer-Encoding: base-64\n", page),
        ("Content-Type : text/html\nContent-Transfer-Encoding : base64\n", page),
        (
            "Content-Transfer-Encoding: x-uuencode\n",
            "begin 644 a\n18VQA:6T@>6]U<B!P<FEZ90``\n`\nend\n",
        ),
        ("Content-Type: text/plain; format=flowed; delsp=yes\n", "claim yo \nur prize\n"),
        ("Content-Type: message/global\n", "X: y\n\nclaim your prize\n"),
        ("Content-Type: message/partial; number=1\n", "X: y\n\nclaim your prize\n"),
        ("Content-Type: message/partial; number=2\n", "claim your prize\n"),
    ] {
        assert_eq!(read(&format!("{fields}\n{body}")), "3:claim your prize", "{fields}");
    }
    // Where a mail program may take the text before the parts for all of it, it is read.
    let mail = "Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=b\n\none\n--b\n\n\
        two\n--b--\n";
    assert_eq!(read(mail), "3:one|3:two");
}

#[test]
fn a_text_without_the_empty_line_is_text() {
    for (mail, expected) in [
        ("Subject: a\nbody: at once\nand more\n\nend\n", "10:Subject: a|3:and more|3:end"),
        (
            "Subject: a\nDear all,\nremember: come\n\nend\n",
            "10:Subject: a|3:Dear all,|3:remember: come|3:end",
        ),
        ("no header\n\nSubject: x\n", "3:no header|3:Subject: x"),
        ("Subject: a\nX\nTo: b\n\nend\n", "10:Subject: a X|11:To: b|3:end"),
        ("X\nSubject: a\n\nend\n", "10:Subject: a|3:end"),
        (
            "Content-Type: multipart/mixed; boundary=B\n\n--B\nDear all,\nTo: x\n\nend\n--B--\n",
            "3:Dear all,|3:To: x|3:end",
        ),
    ] {
        assert_eq!(read(mail), expected, "{mail}");
    }
    let long = format!("Subject: a\n{}To: b\n", "a line of text\n".repeat(100));
    assert_eq!(read(&long).matches("|3:").count(), 101);
}

fn mail_like() -> impl Strategy<Value = Vec<u8>> {
    pieces_of(
        "\n|\n\n|\r\n|From a Mon Jan  1 00:00:00 2024\n|From: a\n|Subject: |\
         Content-Type: text/html; charset=|utf-8\n|utf-7\n|utf-16\n|iso-2022-jp\n|\
         Content-Type: message/rfc822\n|Content-Type: multipart/alternative; boundary=B\n|\
         Content-Transfer-Encoding: base64\n|Content-Transfer-Encoding: quoted-printable\n|\
         \n--B\n|--B--\n| |QUJD|=41|=|=?utf-8?Q?=C3?=|=?utf-8?B?|?=|<a href=|\
         <style>.a{display:none}</style>|<p class=a>|&amp;|&#|>|+ZeU-|\u{1b}$B|\u{4e2d}|\
         \u{feff}|\0|word |;|charset*0*=",
        80,
    )
}

proptest! {
    #[test]
    fn any_input_gives_valid_text_of_bounded_length(source in mail_like(), bits in any::<u32>()) {
        let mut mail = UnicodeMail::new(ModelOptions::from_bits(bits));
        let mut line = Vec::new();
        let mut length = 0;
        for _ in 0..2 {
            mail.start_file();
            for raw in source.split_inclusive(|&byte| byte == b'\n') {
                mail.take(raw);
                while mail.next(&mut line) {
                    prop_assert!(std::str::from_utf8(&line).is_ok());
                    prop_assert!(line.len() <= lines::LONGEST + 1);
                    length += line.len();
                }
            }
            mail.finish();
            while mail.next(&mut line) {
                prop_assert!(std::str::from_utf8(&line).is_ok());
                length += line.len();
            }
        }
        // A byte may become three, each line its end, a label is written again, and of a short mail
        // there are a few dozen tags, and a few of each word.
        prop_assert!(length <= 2 * (24 * source.len() + 2048), "{} of {}", length, source.len());
    }
}

/// The kinds of [`ModelOption`] with which tags are read.
const TAGS: [ModelOption; 3] =
    [ModelOption::MailTags, ModelOption::HtmlLinks, ModelOption::HtmlAlt];

#[test]
fn checks_count_where_the_receiving_host_wrote_them() {
    let checks = |header: &str| {
        let found = read_with(&TAGS, format!("{header}Subject: s\n\ntext\n").as_bytes()).join(" ");
        let tags = found.split_whitespace().filter_map(|tag| tag.strip_prefix("au:"));
        tags.collect::<Vec<_>>().join(" ")
    };
    let own = "Authentication-Results: mx.example.org 1; spf=pass smtp.mailfrom=a@b.c;\n\
        \tdkim=fail (no key) header.d=b.c; dmarc=none\n";
    let forged = "Authentication-Results: mail.example.org; dkim=pass\n";
    let received = "Received: from b.c (b.c [1.2.3.4]) by mail.example.org with ESMTP; Sun\n";
    let by_number = "Received: by 2002:a05:6a10::1 with SMTP id x; Sun\n";
    let all = "spf=pass dkim=fail dmarc=none";
    assert_eq!(checks(&[own, received, forged].concat()), all);
    assert_eq!(checks(&[by_number, received, own].concat()), all);
    assert_eq!(checks(&[received, forged, own].concat()), "dkim=pass");
    for other in ["mx.example.com", "org", "spf=pass"] {
        let other = own.replace("mx.example.org 1", other);
        assert_eq!(checks(&[received, &other].concat()), "", "{other}");
    }
    assert_eq!(checks(own), "");
    let domain = own.replace("mx.example.org", "example.org");
    assert_eq!(checks(&[received, &domain].concat()), all);
}

#[test]
fn tags_say_what_the_senders_side_wrote() {
    let mbox = "From a@b.c Mon Jan  1 00:00:00 2024\n\
        Received: from b.org by c.org with SMTP id 123; Mon\nReceived: from a.org (x); Sun\n\
        From: \"Joe\" <j2@mail.a.org>\nTo: me@here.net, you@here.net\n\
        Subject: BUY  *now*!!\nMessage-ID: <A1.b@mail.a.org>\n\
        Date: Mon, 1 Jan 2024 10:00:00 +0100 (CET)\nX-Mailer: Mail 2.0\nList-Id: secret\n\
        Content-Type: multipart/mixed; boundary=x\n\n\
        --x\n\nLook   at http://a@1.2.3.4:80/some/path.html?x\n> 50% off\n\
        --x\nContent-Type: image/png; name=a.b.PNG\nContent-Transfer-Encoding: base64\n\n\
        abcd\n--x--\n\
        \nFrom a@b.c Mon Jan  1 00:00:00 2024\nSubject: two\n\nsecond\n";
    let found = read_with(&TAGS, mbox.as_bytes());
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let [subject, text, tags, agreement, other, second, _] = found[..] else { panic!("{found:?}") };
    assert_eq!(
        agreement.trim_start_matches("5:\u{1f}"),
        "lk:none lr:none lm:none nl:0 rr:same ro:same rp:none pe:no dd:no fp:own"
    );
    assert_eq!(
        (subject, text, other, second),
        (
            "3:BUY *now*!!",
            "3:Look at http://a@1.2.3.4:80/some/path.html?x > 50% off",
            "3:two",
            "3:second"
        )
    );
    let tags: Vec<&str> = tags.trim_start_matches("4:").split_whitespace().collect();
    let wanted = "rw:from rw:smtp rw:id ow:from oh:a.org oh:org of:ww(w) ff:q<a fh:mail.a.org \
        fh:a.org fh:org fl:a0 th:here.net th:net tn:2 sw:buy sw:now ss:*a*! s!:2 is:c0.a \
        il:4 id:same dz:+0100 dc:cet xm:mail xm:2 mt:multipart/mixed bs:a mt:image/png \
        mf:png me:base64 mr:0m1n1i la:user la:port la:ip la:query ls:http lp:some lp:path \
        ln:1 xs:0% xq:8";
    for tag in wanted.split(' ') {
        assert!(tags.contains(&tag), "{tag} in {tags:?}");
    }
    for part in ["secret", "123", "b.org", "1.2.3.4", "joe<"] {
        assert!(!tags.iter().any(|tag| tag.contains(part)), "{part} in {tags:?}");
    }
    assert_eq!(read_with(&TAGS, b""), Vec::<String>::new());
}

#[test]
fn text_beside_tags_does_not_depend_on_character_set_encoding_or_kind() {
    let header = "From: a@b.org\nSubject: =?koi8-r?q?=F0=D2?=\nContent-Type: text/";
    let coded = "Content-Transfer-Encoding:";
    let plain = format!("{header}plain; charset=utf-8\n\n\u{41f}\u{440}, \u{41c}\u{418}!\n");
    let texts = |source: &str| read_with(&TAGS, source.as_bytes())[..2].to_vec();
    let expected = texts(&plain);
    assert_eq!(expected, ["3:\u{41f}\u{440}", "3:\u{41f}\u{440}, \u{41c}\u{418}!"]);
    for other in [
        format!("{header}plain; charset=utf-8\n{coded} base64\n\n0J/RgCwg0JzQmCEK\n"),
        format!("{header}plain; charset=koi8-r\n{coded} quoted-printable\n\n=F0=D2, =ED=\n=E9!\n"),
        format!(
            "{header}html; charset=utf-8\n\n<p>\u{41f}\u{440},<b style='display:none'>gone</b> \
             <img src=x alt='\u{41c}\u{418}!'></p>\n"
        ),
    ] {
        assert_eq!(texts(&other), expected, "{other}");
    }
}

#[test]
fn beginning_and_end_of_a_text_are_read_beside_tags() {
    for words in [650, 4000] {
        let middle = "\u{e9}t\u{e9} ".repeat(words);
        let long = format!("Subject: s\n\nfirst {middle}\n{middle} last\n");
        let found = read_with(&TAGS, long.as_bytes());
        let [start, end] = [1, 2].map(|at| found[at].trim_start_matches("3:").trim_end());
        assert!((1690..=1700).contains(&start.len()), "{}", start.len());
        assert!((790..=803).contains(&end.len()), "{}", end.len());
        assert!(start.starts_with("first \u{e9}") && end.ends_with("\u{e9} last"), "{words}");
    }
    let long = format!("Subject: s\n\n{}", "\u{e9}t\u{e9} ".repeat(4000));
    let found = read_with(&TAGS, long.as_bytes());
    // A long list of words adds no more tags than a short one.
    let bytes = found.iter().map(String::len).sum::<usize>();
    let longer = format!("{long}{}", "word1 ".repeat(100_000));
    let more = read_with(&TAGS, longer.as_bytes()).iter().map(String::len).sum::<usize>();
    assert!(more <= bytes + 40, "{bytes} {more}");
}
