// SPDX-License-Identifier: GPL-3.0-or-later
//! The same text has the same features, whatever the character set, the transfer encoding and the
//! kind of part that it comes in (`-T email:unicode`).

use dbacl::{
    Cutter, Feature, FeatureReader, FeatureSink, LineState, ModelOption, ReadOptions, Scheme,
};
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::root;
use encoding_rs::Encoding;
use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Texts made of the words of each language.
const TEXTS: usize = 200;
/// Words of a text.
const WORDS: usize = 40;

/// A language, the character sets that can write it, and its words.
struct Language {
    name: String,
    charsets: Vec<String>,
    words: Vec<String>,
}

fn languages() -> Vec<Language> {
    let path = root().join("testdata/charsets/words.tsv");
    let text = fs::read_to_string(path).expect("the words");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let mut cells = row.split('\t');
        let mut cell = || cells.next().expect("three cells").to_owned();
        let (name, charsets, words) = (cell(), cell(), cell());
        let split = |text: &str| text.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
        let mut charsets = split(&charsets);
        charsets.extend(["utf-8", "utf-16", "utf-7"].map(ToOwned::to_owned));
        Language { name, charsets, words: split(&words) }
    })
    .collect()
}

/// All texts: some sentences of a language, in lines.
fn texts(languages: &[Language]) -> Vec<(&Language, String)> {
    let mut random = SplitMix64::new(1);
    (0..TEXTS)
        .map(|number| {
            let language = &languages[number % languages.len()];
            let mut text = String::new();
            for at in 0..WORDS {
                text.push_str(&language.words[random.below(language.words.len())]);
                text.push_str(if at % 11 == 10 { "\n" } else { " " });
            }
            (language, text + "1999\n")
        })
        .collect()
}

/// Numbers of UTF-16 in the base64 of UTF-7 (RFC 2152).
fn utf7(text: &str) -> Vec<u8> {
    let mut output = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_plain = |c: char| c.is_ascii() && c != '+';
        let end = rest.find(|c| is_plain(c) != is_plain(first)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if is_plain(first) {
            output.extend_from_slice(run.as_bytes());
        } else {
            let units: Vec<u8> = run.encode_utf16().flat_map(u16::to_be_bytes).collect();
            output.push(b'+');
            output.extend(base64(&units).bytes().filter(|&byte| byte != b'='));
            output.push(b'-');
        }
        rest = behind;
    }
    output
}

/// `text` in a character set.
pub(crate) fn encode(charset: &str, text: &str) -> Vec<u8> {
    let standard = |label: &str| {
        let encoding = Encoding::for_label(label.as_bytes()).expect("a label of the standard");
        let (bytes, _, has_lost) = encoding.encode(text);
        assert!(!has_lost, "{charset} cannot write {text}");
        bytes.into_owned()
    };
    // Two bytes from 80 up as two of ASCII, within marks, and back at the end of each line.
    let shifted = |bytes: Vec<u8>, open: &[u8], close: &[u8]| {
        let mut output = Vec::new();
        let mut is_open = false;
        for byte in bytes {
            if (byte >= 0x80) != is_open {
                output.extend_from_slice(if is_open { close } else { open });
                is_open = !is_open;
            }
            output.push(byte & 0x7F);
        }
        output
    };
    match charset {
        "utf-16" => encode("utf-16be", &format!("\u{feff}{text}")),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-7" => utf7(text),
        "hz-gb-2312" => shifted(standard("gb2312"), b"~{", b"~}"),
        "iso-2022-kr" => {
            [b"\x1b$)C\n".to_vec(), shifted(standard("euc-kr"), b"\x0e", b"\x0f")].concat()
        }
        _ => standard(charset),
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let at = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let value = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let index = usize::try_from(value >> (18 - 6 * place) & 63).expect("6 bits");
            text.push(if place <= group.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

fn lines_of(text: &str, length: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
    [lines.join(&b'\n'), b"\n".to_vec()].concat()
}

fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut column = 0;
    for &byte in bytes {
        let piece = match byte {
            b' '..=b'~' if byte != b'=' => char::from(byte).to_string(),
            b'\n' => "=0A".to_owned(),
            _ => format!("={byte:02X}"),
        };
        if column + piece.len() > 75 {
            output.extend_from_slice(b"=\n");
            column = 0;
        }
        column += piece.len();
        output.extend_from_slice(piece.as_bytes());
    }
    // The last line goes on: a line end is two bytes in UTF-16.
    output.extend_from_slice(b"=\n");
    output
}

/// A message of one part: how its content is encoded, and that.
fn mail(kind: &str, charset: &str, encoding: &str, content: &[u8]) -> Vec<u8> {
    let body = match encoding {
        "base64" => lines_of(&base64(content), 76),
        "quoted-printable" => quoted_printable(content),
        _ => content.to_vec(),
    };
    let head = format!(
        "From: a@b.c\nMIME-Version: 1.0\nContent-Type: text/{kind};\n charset=\"{charset}\"\n\
         Content-Transfer-Encoding: {encoding}\n\n"
    );
    [head.into_bytes(), body].concat()
}

/// A message with `text` as its subject, in encoded words of few bytes each: characters of several
/// bytes are cut in two where the character set has no state.
fn subject(charset: &str, is_base64: bool, text: &str) -> Vec<u8> {
    let content = encode(charset, text.trim());
    let has_state = ["iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "utf-7"].contains(&charset);
    let size = if has_state { content.len() } else { 21 };
    let words: Vec<String> = content
        .chunks(size)
        .map(|piece| {
            let mut quoted = String::new();
            for byte in piece {
                match byte {
                    b'a'..=b'z' | b'0'..=b'9' => quoted.push(char::from(*byte)),
                    b' ' => quoted.push('_'),
                    _ => quoted.push_str(&format!("={byte:02x}")),
                }
            }
            let (letter, text) = if is_base64 { ("B", base64(piece)) } else { ("q", quoted) };
            format!("=?{charset}?{letter}?{text}?=")
        })
        .collect();
    format!("From: a@b.c\nSubject: {}\n\n", words.join("\n ")).into_bytes()
}

/// Words of the text and features, and how often each occurs.
#[derive(Default, PartialEq, Eq, Debug)]
struct Counts(BTreeMap<(u8, Vec<u8>), usize>);

impl FeatureSink for Counts {
    fn text(&mut self, line: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        if state.kept {
            let text = std::str::from_utf8(line).expect("valid UTF-8");
            for word in text.split_whitespace() {
                let word = format!("\u{3}{word}\u{3}").into_bytes();
                *self.0.entry((state.medium.number(), word)).or_default() += 1;
            }
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        *self.0.entry((feature.medium.number(), feature.body.to_vec())).or_default() += 1;
    }
}

fn features(scheme: Scheme, order: u8, document: &[u8]) -> Counts {
    let mut options = ReadOptions { scheme, order, ..ReadOptions::mail() };
    options.options.insert(ModelOption::MailUnicode);
    let mut counts = Counts::default();
    FeatureReader::new(&options).read_bytes(document, &mut counts).expect("memory");
    counts
}

#[test]
fn features_do_not_depend_on_charset_or_encoding() {
    let languages = languages();
    let mut compared = 0;
    for (number, (language, text)) in texts(&languages).into_iter().enumerate() {
        let (scheme, order) = [(Scheme::Cef, 2), (Scheme::Word, 1)][number / languages.len() % 2];
        let read = |document: &[u8]| features(scheme, order, document);
        let page =
            format!("<html><body><p>{}</p></body></html>", text.trim().replace('\n', "<br>\n"));
        let plain = read(&mail("plain", "utf-8", "8bit", text.as_bytes()));
        assert!(plain.0.len() > 20, "{}: {:?}", language.name, plain.0.len());
        let header = read(&subject("utf-8", true, &text));
        let raw = format!("From: a@b.c\nSubject: {}\n\n", text.trim().replace('\n', "\n "));
        assert_eq!(read(raw.as_bytes()), header, "{}: raw header", language.name);
        let entities: String = page
            .chars()
            .map(|c| match c {
                '\0'..='~' => c.to_string(),
                c => format!("&#{};", u32::from(c)),
            })
            .collect();
        assert_eq!(read(&mail("html", "us-ascii", "7bit", entities.as_bytes())), plain);
        for charset in &language.charsets {
            for encoding in ["8bit", "binary", "base64", "quoted-printable"] {
                let case = format!("{}, {charset}, {encoding}: {text}", language.name);
                let found = read(&mail("plain", charset, encoding, &encode(charset, &text)));
                assert_eq!(found, plain, "{case}");
                let found = read(&mail("html", charset, encoding, &encode(charset, &page)));
                assert_eq!(found, plain, "{case}, as a page");
                compared += 2;
            }
            for is_base64 in [true, false] {
                let found = read(&subject(charset, is_base64, &text));
                assert_eq!(found, header, "{}, {charset}, subject: {text}", language.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn undeclared_texts_of_forty_words_are_recognised() {
    let languages = languages();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for (language, text) in texts(&languages) {
        let plain = features(Scheme::Cef, 1, &mail("plain", "utf-8", "8bit", text.as_bytes()));
        for charset in &language.charsets {
            // Nothing in the bytes tells these from ASCII, or nobody writes the language so.
            let is_chinese = ["chinese", "taiwanese"].contains(&language.name.as_str());
            let is_seldom = match charset.as_str() {
                "gb18030" => !is_chinese,
                "euc-jp" => language.name == "russian",
                "iso-8859-2" | "iso-8859-9" if language.name == "german" => true,
                // The detector takes words of Turkish without sense for a western language.
                "utf-7" | "hz-gb-2312" | "iso-2022-kr" | "iso-8859-9" | "windows-1254" => true,
                _ => false,
            };
            if is_seldom {
                continue;
            }
            let mut document = b"From: a@b.c\n\n".to_vec();
            document.extend(encode(charset, &text));
            judged += 1;
            if features(Scheme::Cef, 1, &document) != plain {
                wrong.push(format!("{} in {charset}", language.name));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(judged > 1_000);
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn bad_input_hides_nothing_around_it() {
    let part = |charset: &str, body: &[u8]| mail("plain", charset, "8bit", body);
    let around = |middle: &[u8]| [&b"before the middle "[..], middle, b" behind it\n"].concat();
    let words = |document: &[u8]| {
        let found = features(Scheme::Cef, 1, document);
        let text = |(_, body): &(u8, Vec<u8>)| String::from_utf8_lossy(body).into_owned();
        found.0.keys().map(text).collect::<Vec<String>>().join(" ")
    };
    let marks = "a\u{301}\u{327}".repeat(5_000);
    let solid = "x".repeat(1 << 20);
    for (charset, body) in [
        // Surrogates, overlong forms, characters cut off, too large ones.
        ("utf-8", around(b"\xed\xa0\x80 \xed\xb0\x80")),
        ("utf-8", around(b"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf")),
        ("utf-8", around(b"caf\xc3 \xe4\xb8")),
        ("utf-8", around(b"\xf4\x90\x80\x80 \xff")),
        ("utf-7", around(b"+2D0- +2D0")),
        ("utf-7", around(b"+//////// +\xff")),
        ("gb18030", around(b"\x81 \x81\x30 \x81\x30\x81 \xff")),
        ("iso-2022-jp", around(b"\x1b$B\x1b(B \x1b$Z \x1b")),
        ("hz-gb-2312", around(b"~{V~} ~{VPND~x~} ~")),
        // Labels that the bytes belie, or that name nothing.
        ("us-ascii", around("\u{434}\u{43e}\u{433}\u{43e}\u{432}\u{43e}\u{440}".as_bytes())),
        ("utf-8", around(b"\xe4\xee\xe3\xee\xe2\xee\xf0")),
        ("x-nonsense", around(b"\xe4\xee\xe3\xee\xe2\xee\xf0")),
        ("iso-8859-1", around("\u{434}\u{43e}\u{433}\u{43e}\u{432}\u{43e}\u{440}".as_bytes())),
        ("", around(b"\xff\xfe\x00\x00")),
        // Much of one kind.
        ("utf-8", around(solid.as_bytes())),
        ("utf-8", around(marks.as_bytes())),
        ("utf-8", around("\u{202e}txet\u{202c} \u{200f}".as_bytes())),
        ("utf-8", around(&[0; 1000])),
    ] {
        let found = words(&part(charset, &body));
        for word in ["before", "middle", "behind", "it"] {
            let text = found.chars().take(200).collect::<String>();
            assert!(found.contains(&format!("\u{3}{word}\u{3}")), "{charset}: {word} in {text}");
        }
    }
}

#[test]
fn characters_are_whole_wherever_the_blocks_end() {
    // The first block decides on the character set; characters lie across its end.
    for (label, charset) in [("utf-8", "utf-8"), ("gb18030", "gb18030"), ("utf-16", "utf-16")] {
        for shift in 0..8 {
            let text =
                format!("{} {}\n", "x".repeat(shift), "\u{4e2d}\u{20ac}\u{1f600} ".repeat(3_000));
            let plain = features(Scheme::Cef, 1, &mail("plain", "utf-8", "8bit", text.as_bytes()));
            assert!(
                !plain
                    .0
                    .keys()
                    .any(|(_, word)| word.windows(3).any(|part| part == b"\xef\xbf\xbd"))
            );
            for encoding in ["8bit", "base64", "quoted-printable"] {
                let document = mail("plain", label, encoding, &encode(charset, &text));
                assert_eq!(features(Scheme::Cef, 1, &document), plain, "{label}, {shift}");
            }
        }
    }
}
