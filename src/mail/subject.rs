// SPDX-License-Identifier: GPL-3.0-or-later
//! The subject and the sender of a message, to be shown to the user.

use crate::mail::from_line::FROM;
use crate::mail::header_fields::header_fields;
use crate::mail::reader::canonical;
use dbacl_words::charset::fields;

/// Characters of a field that are shown.
const LONGEST: usize = 80;

/// Bytes of a message that are searched for a field.
const REACH: usize = 1 << 16;

/// The subject of a message that begins with these bytes, decoded, in one line of at most 80
/// characters without control characters; `None` if it is not mail or has no subject.
pub fn subject(mail: &[u8]) -> Option<String> {
    field(mail, b"subject")
}

/// The sender of a message, from the field `From`, in the same form.
pub fn sender(mail: &[u8]) -> Option<String> {
    field(mail, b"from")
}

fn field(mail: &[u8], wanted: &[u8]) -> Option<String> {
    let mail = &canonical(&mail[..mail.len().min(REACH)])[..];
    let first = mail.split(|&byte| byte == b'\n').next()?;
    let is_field = |line: &[u8]| {
        let name = memchr::memchr(b':', line).unwrap_or(0);
        name > 0 && line[..name].iter().all(u8::is_ascii_graphic)
    };
    if !first.starts_with(FROM) && !is_field(first) {
        return None;
    }
    let mut fields = header_fields(mail);
    let (_, field) = fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    let mut text = Vec::new();
    fields::decode(&field, None, &mut text);
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let safe = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let shown: String = words.join(" ").chars().map(safe).take(LONGEST).collect();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_have_subjects() {
        for (mail, expected) in [
            ("From a Mon\nFrom: b\nSubject: two\n  lines\nTo: c\n\nSubject: no\n", "two lines"),
            ("Subject: =?utf-8?q?caf=C3=A9?=\r\n\r\n", "caf\u{e9}"),
            ("Subject: =?koi8-r?B?8NLJ18XU?=\n", "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}"),
            ("\u{feff}Subject: a\n", "a"),
            ("Microsoft Mail Internet Headers Version 2.0\r\nSubject: a\r\n", "a"),
            ("To: b\rSubject: a\r\r", "a"),
            ("To: c\n\nSubject: no\n", ""),
            ("just text\nSubject: no\n", ""),
            ("subject:\u{1b}[2J\n", "\u{fffd}[2J"),
            ("Subject: \n\n", ""),
            ("", ""),
        ] {
            assert_eq!(subject(mail.as_bytes()).unwrap_or_default(), expected, "{mail}");
        }
        let mail = b"Subject: x\nFrom: =?utf-8?q?J=C3=B8rn?= <j@example.org>\n\n";
        assert_eq!(sender(mail).as_deref(), Some("J\u{f8}rn <j@example.org>"));
        let long = format!("Subject: {}\n", "\u{e9} ".repeat(500));
        assert_eq!(subject(long.as_bytes()).map(|text| text.chars().count()), Some(LONGEST));
    }
}
