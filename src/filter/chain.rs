// SPDX-License-Identifier: GPL-3.0-or-later
//! The chain of filters of a run, chosen once by the options.

use crate::filter::mail::Mail;
use crate::filter::markup::Markup;
use crate::filter::unicode::UnicodeMail;
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOption, ModelOptions};

/// The filters of a run. A line passes those that are set.
#[derive(Debug)]
pub(crate) struct Filter {
    unicode: Option<Box<UnicodeMail>>,
    mail: Option<Box<Mail>>,
    markup: Option<Markup>,
    /// Whether all text has one medium, whatever part of the mail it is in, because n-grams
    /// continue over lines.
    has_one_medium: bool,
}

impl Filter {
    /// The chain for the input type and the kinds in `options`.
    pub(crate) fn new(options: ModelOptions, locale: Locale) -> Self {
        let is_mail = options.has(ModelOption::Mail);
        let is_unicode = reads_unicode(options);
        let has_markup = is_mail || options.has_any(&[ModelOption::Xml, ModelOption::Html]);
        Self {
            unicode: is_unicode.then(|| Box::new(UnicodeMail::new(options))),
            mail: (is_mail && !is_unicode).then(|| Box::new(Mail::new(options, locale))),
            markup: (has_markup && !is_unicode).then(|| Markup::new(options, locale)),
            has_one_medium: options.has(ModelOption::Straddle),
        }
    }

    /// The mail filter alone, whatever the input type in `options`: markup stays in the text.
    pub(crate) fn mail_only(options: ModelOptions, locale: Locale) -> Self {
        Self {
            unicode: None,
            mail: Some(Box::new(Mail::new(options, locale))),
            markup: None,
            has_one_medium: options.has(ModelOption::Straddle),
        }
    }

    /// Starts a new file: forgets what does not outlive one.
    pub(crate) fn start_file(&mut self) {
        if let Some(mail) = &mut self.unicode {
            mail.start_file();
        }
        if let Some(mail) = &mut self.mail {
            mail.start_file();
        }
        if let Some(markup) = &mut self.markup {
            markup.start_file();
        }
    }

    /// Ends a file. Texts that were held back are then returned by [`Self::next_text`].
    pub(crate) fn end_file(&mut self) {
        if let Some(mail) = &mut self.unicode {
            mail.finish();
        }
    }

    /// Whether a line can give several texts, which [`Self::take`] and [`Self::next_text`] deal
    /// with; else [`Self::line`] does.
    pub(crate) fn gives_texts(&self) -> bool {
        self.unicode.is_some()
    }

    /// Ends the mail that is being read if the next line begins another; returns whether it does.
    /// Texts that were held back are then returned.
    pub(crate) fn end_mail(&mut self, next: &[u8]) -> bool {
        let Some(mail) = self.unicode.as_mut().filter(|mail| mail.is_begun_by(next)) else {
            return false;
        };
        mail.finish();
        true
    }

    /// Takes a line as it was read.
    pub(crate) fn take(&mut self, line: &[u8]) {
        if let Some(mail) = &mut self.unicode {
            mail.take(line);
        }
    }

    /// Puts the next text of the lines taken in the place of `text`; returns whether there is one.
    pub(crate) fn next_text(&mut self, text: &mut Vec<u8>) -> bool {
        self.unicode.as_mut().is_some_and(|mail| mail.next(text))
    }

    /// Whether no decoded text waits that would appear in the next file.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.mail.as_ref().is_none_or(|mail| mail.is_at_rest())
    }

    /// Filters one line, which is not empty and holds no NUL, in place. Returns whether its text,
    /// which may be empty, goes to the tokenizer; else the line is as the filter left it.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>) -> bool {
        self.line_before_nul(line, &[])
    }

    /// The same for a line that a NUL and then `hidden` followed. Markup may go on there if the
    /// mail filter changes nothing (case text/xml-nul).
    pub(crate) fn line_before_nul(&mut self, line: &mut Vec<u8>, mut hidden: &[u8]) -> bool {
        if let Some(mail) = &mut self.unicode {
            mail.take(line);
            return mail.next(line);
        }
        if let Some(mail) = &mut self.mail {
            let length = line.len();
            let (is_kept, choice) = mail.line(line);
            if line.len() != length {
                hidden = &[];
            }
            if let Some(markup) = &mut self.markup {
                markup.choose(choice);
            }
            if !is_kept {
                return false;
            }
        }
        if let Some(markup) = &mut self.markup {
            markup.line_before_nul(line, hidden);
        }
        true
    }

    /// The medium of the tokens of the line just filtered.
    pub(crate) fn medium(&self) -> Medium {
        match (&self.unicode, &self.mail) {
            (Some(mail), _) if !self.has_one_medium => mail.medium(),
            (_, Some(mail)) if !self.has_one_medium => mail.medium(),
            _ => Medium::TEXT,
        }
    }

    /// Whether the line just filtered belongs to a header block of a message.
    pub(crate) fn in_header(&self) -> bool {
        self.unicode.as_ref().is_some_and(|mail| mail.in_header())
            || self.mail.as_ref().is_some_and(|mail| mail.in_header())
    }
}

/// Whether mail is read as Unicode text.
pub(crate) const fn reads_unicode(options: ModelOptions) -> bool {
    options.has(ModelOption::Mail) && options.has(ModelOption::MailUnicode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::pieces::pieces_of;
    use proptest::prelude::*;
    use std::fs;

    /// Options of every kind at once, for tests that feed broken input.
    const ALL: [ModelOption; 10] = [
        ModelOption::MailHeaders,
        ModelOption::MailXHeaders,
        ModelOption::MailTHeaders,
        ModelOption::MailAttachments,
        ModelOption::HtmlLinks,
        ModelOption::HtmlAlt,
        ModelOption::HtmlForms,
        ModelOption::HtmlScripts,
        ModelOption::HtmlStyles,
        ModelOption::HtmlComments,
    ];

    fn mail() -> ModelOptions {
        ModelOptions::default().with(ModelOption::Mail).with(ModelOption::Html)
    }

    fn all(options: ModelOptions) -> ModelOptions {
        ALL.into_iter().fold(options, ModelOptions::with)
    }

    /// Feeds a file and the two lines that end it; returns the lines that are kept.
    fn feed(filter: &mut Filter, text: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        let mut line = Vec::new();
        filter.start_file();
        for raw in text.split_inclusive(|&byte| byte == b'\n').chain([&b"\r\n"[..]; 2]) {
            line.clear();
            line.extend_from_slice(raw);
            if filter.line(&mut line) {
                output.extend_from_slice(&line);
            }
        }
        output
    }

    /// The options and the locale that a case's file name stands for.
    fn read_types(types: &str) -> (ModelOptions, Locale) {
        const KINDS: [(&str, ModelOption); 17] = [
            ("email", ModelOption::Mail),
            ("email-headers", ModelOption::MailHeaders),
            ("email-theaders", ModelOption::MailTHeaders),
            ("email-xheaders", ModelOption::MailXHeaders),
            ("email-noheaders", ModelOption::MailNoHeaders),
            ("email-plain", ModelOption::MailPlain),
            ("email-noplain", ModelOption::MailNoPlain),
            ("email-atts", ModelOption::MailAttachments),
            ("html", ModelOption::Html),
            ("html-links", ModelOption::HtmlLinks),
            ("html-alt", ModelOption::HtmlAlt),
            ("html-forms", ModelOption::HtmlForms),
            ("html-scripts", ModelOption::HtmlScripts),
            ("html-styles", ModelOption::HtmlStyles),
            ("html-comments", ModelOption::HtmlComments),
            // Sets the locale; as in the names of the recorded cases, it comes with HTML.
            ("utf8", ModelOption::Html),
            ("xml", ModelOption::Xml),
        ];
        let kind = |name: &str| KINDS.iter().find(|row| row.0 == name).expect("a known type").1;
        let options = types.split('+').fold(ModelOptions::default(), |options, name| {
            let base = name.split_once('-').map_or(name, |(base, _)| base);
            options.with(kind(base)).with(kind(name))
        });
        let is_utf8 = types.split('+').any(|name| name == "utf8");
        (options, if is_utf8 { Locale::Utf8 } else { Locale::C })
    }

    fn without_returns(text: &[u8]) -> String {
        text.iter()
            .filter(|&&byte| byte != b'\r')
            .flat_map(|&byte| byte.escape_ascii())
            .map(char::from)
            .collect::<String>()
            .replace("\\n", "\n")
    }

    #[test]
    fn recorded_inputs_give_the_recorded_text_with_either_line_end() {
        let folder = dbacl_testing::root().join("testdata/filter");
        let mut cases = 0;
        for entry in fs::read_dir(&folder).expect("the cases are here") {
            let name = entry.expect("readable").file_name().into_string().expect("plain names");
            let stem =
                name.strip_suffix(".out").filter(|stem| stem.strip_suffix(".crlf").is_none());
            let Some(stem) = stem else { continue };
            let (case, types) = stem.split_once('.').expect("a case's name, then its types");
            let (options, locale) = read_types(types);
            let input = fs::read(folder.join(format!("{case}.in"))).expect("the case's input");
            let expected = fs::read(folder.join(&name)).expect("the expected text");
            let output = feed(&mut Filter::new(options, locale), &input);
            assert_eq!(
                output.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "{name}"
            );

            let lines: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
            let crlf = lines.join(&b"\r\n"[..]);
            let output = feed(&mut Filter::new(options, locale), &crlf);
            if let Ok(expected) = fs::read(folder.join(format!("{stem}.crlf.out"))) {
                assert_eq!(
                    output.escape_ascii().to_string(),
                    expected.escape_ascii().to_string(),
                    "{name} with CRLF"
                );
            } else {
                assert_eq!(
                    without_returns(&output),
                    without_returns(&expected),
                    "{name} with CRLF"
                );
            }
            cases += 1;
        }
        assert!(cases > 30, "{cases} cases");
    }

    #[test]
    fn the_mail_filter_alone_leaves_markup_in_place() {
        let text = b"Subject: a\nContent-Type: text/html\n\n<p>bread &amp; wine</p>\n";
        let mut alone = Filter::mail_only(mail(), Locale::C);
        let found = feed(&mut alone, text);
        assert!(found.windows(4).any(|part| part == b"</p>"), "{}", without_returns(&found));
        let found = feed(&mut Filter::new(mail(), Locale::C), text);
        assert!(!found.windows(4).any(|part| part == b"</p>"), "{}", without_returns(&found));
    }

    #[test]
    fn text_passes_unchanged() {
        let mut filter = Filter::new(ModelOptions::default().with(ModelOption::Text), Locale::C);
        assert_eq!(feed(&mut filter, b"a <b> &amp;\n"), b"a <b> &amp;\n\r\n\r\n");
        assert_eq!((filter.medium(), filter.in_header()), (Medium::TEXT, false));
    }

    #[test]
    fn media_and_headers_follow_the_lines_of_a_mail() {
        let rows = [
            ("\n", 3, false),
            ("From a\n", 4, true),
            ("From: a\n", 12, true),
            (" b\n", 12, true),
            ("Received: a\n", 15, true),
            ("To: a\n", 11, true),
            ("Subject: a\n", 10, true),
            ("X-Foo: a\n", 7, true),
            ("Message-ID: a\n", 14, true),
            ("Content-Type: multipart/mixed; boundary=x\n", 9, true),
            ("\n", 3, false),
            ("text\n", 3, false),
            ("--x\n", 3, false),
            ("Content-Type: text/html\n", 2, false),
            ("\n", 2, false),
            ("--x\n", 3, false),
            ("Content-Type: message/rfc822\n", 1, false),
            ("\n", 4, true),
            ("Subject: a\n", 10, true),
            ("\n", 3, false),
            ("--x\n", 3, false),
            ("Content-Type: image/gif\n", 1, false),
        ];
        for straddles in [false, true] {
            let options = if straddles { mail().with(ModelOption::Straddle) } else { mail() };
            let mut filter = Filter::new(options, Locale::C);
            filter.start_file();
            for (text, medium, in_header) in rows {
                filter.line(&mut text.as_bytes().to_vec());
                let medium = if straddles { 1 } else { medium };
                assert_eq!(filter.medium().number(), medium, "{text}");
                assert_eq!(filter.in_header(), in_header, "{text}");
            }
        }
    }

    #[test]
    fn text_waiting_in_a_decoder_outlives_its_file() {
        let mut filter = Filter::new(mail(), Locale::C);
        filter.start_file();
        for text in ["a: b\n", "Content-Transfer-Encoding: base64\n", "\n", "bGF0ZQ==\n"] {
            filter.line(&mut text.as_bytes().to_vec());
        }
        // In filter mode nothing ends a file. The next one's first line is lost.
        filter.start_file();
        let mut line = b"Subject: lost\n".to_vec();
        assert!(!filter.line(&mut line));
        assert_eq!(line, b"late");
    }

    #[test]
    fn a_dropped_line_stays_as_it_was_rewritten() {
        let mut filter = Filter::new(mail(), Locale::C);
        filter.start_file();
        for (text, is_kept, expected) in [
            ("Received: a; b\n", false, "Received: a\n"),
            ("Content-Type: =?x?Q?image/gif?=\n", false, "Content-Type: image/gif\n"),
            ("\n", true, "\n"),
            ("picture\n", false, "picture\n"),
            ("Subject: =?x?Q?a?=\n", false, "Subject: a\n"),
        ] {
            let mut line = text.as_bytes().to_vec();
            assert_eq!(filter.line(&mut line), is_kept, "{text}");
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }

    #[test]
    fn hostile_lines_take_linear_time() {
        const UNITS: &str = "=?x?Q?|=?x?B?|=?|=|<|<a href=\"|<!-|&|&#9|&# |% |%a |\
            http://?|http:|name=|boundary=|text/|on|-|\\'";
        // A filter that looked to the end of the line at every candidate would take hours.
        let html = ModelOptions::default().with(ModelOption::Html);
        let length = 1 << 18;
        for (options, head) in [
            (all(html), "<a href='x"),
            (all(html), "<a alt="),
            (all(html), "<html>"),
            (all(mail()), "Subject: "),
            (all(mail()), "Content-Type: "),
            (mail(), "a: b\n\n"),
            (mail(), "Content-Transfer-Encoding: quoted-printable\n\n"),
        ] {
            for unit in UNITS.split('|') {
                let text = format!("{head}{}", unit.repeat(length / unit.len()));
                let output = feed(&mut Filter::new(options, Locale::Utf8), text.as_bytes());
                assert!(output.len() <= text.len() + 4, "{head} {unit}");
            }
        }
    }

    #[test]
    fn many_headers_and_parts_are_read_in_bounded_memory() {
        let nested =
            "--B\nContent-Type: message/rfc822\n\nContent-Type: multipart/x; boundary=B\n\n";
        for (unit, count) in
            [("X-A: b; c\n", 50_000), ("--B\nX: y\n\nz\n", 20_000), (nested, 5_000)]
        {
            let head = "Content-Type: multipart/mixed; boundary=B\n";
            let text =
                format!("{head}{}{}", if count > 20_000 { "" } else { "\n" }, unit.repeat(count));
            let output = feed(&mut Filter::new(all(mail()), Locale::C), text.as_bytes());
            assert!(!output.is_empty() && output.len() <= text.len() + 4);
        }
    }

    fn mail_like() -> impl Strategy<Value = Vec<u8>> {
        pieces_of(
            "\n|\n\n|\r\n|From |From: a\n|Received: a; b\n|Subject: |\
             Content-Type: text/html\n|Content-Type: message/rfc822\n|\
             Content-Type: application/x\n|Content-Type: multipart/x; boundary=B\n|\
             Content-Transfer-Encoding: base64\n|boundary=\"|\
             Content-Transfer-Encoding: quoted-printable\n|\n--B\n|--B--\n| |\
             -----BEGIN PGP MESSAGE-----\n|-----END PGP MESSAGE-----\n|\
             ------------------------------\n|begin 644 x\n|M'&%T\n|QUJD|=41|=|=?x?Q?a_b?=|\
             =?x?B?|?=|<a href=|<html>|&amp;|&#-256;|%20|http://|;|word |name=",
            80,
        )
    }

    proptest! {
        #[test]
        fn any_input_gives_at_most_twice_what_it_holds(
            files in proptest::collection::vec(mail_like(), 1..3),
            bits in any::<u32>(),
            is_mail in any::<bool>(),
            is_utf8 in any::<bool>(),
        ) {
            let mut options = ModelOptions::from_bits(bits);
            options.remove(ModelOption::MailUnicode);
            if is_mail {
                options.insert(ModelOption::Mail);
            }
            let mut filter = Filter::new(options, if is_utf8 { Locale::Utf8 } else { Locale::C });
            let mut input = 0;
            let mut output = 0;
            for file in files {
                input += file.len() + 4;
                output += feed(&mut filter, &file).len();
                // With attachments a line may be shown undecoded and again decoded.
                prop_assert!(output <= 2 * input);
            }
        }

        #[test]
        fn filtered_lines_hold_no_nul_unless_they_came_with_one(text in mail_like()) {
            let text: Vec<u8> = text.into_iter().filter(|&byte| byte != 0).collect();
            let output = feed(&mut Filter::new(all(mail()), Locale::C), &text);
            prop_assert!(!output.contains(&0));
        }
    }
}
