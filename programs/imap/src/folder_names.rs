// SPDX-License-Identifier: GPL-3.0-or-later
//! Names of folders, as UTF-8 and in the modified UTF-7 of IMAP (RFC 3501, 5.1.3).

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

const CODE: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// A name as IMAP writes it.
pub fn to_imap(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if is_plain(first) {
            out.push(first);
            if first == '&' {
                out.push('-');
            }
            rest = &rest[1..];
            continue;
        }
        let end = rest.find(is_plain).unwrap_or(rest.len());
        let bytes: Vec<u8> = rest[..end].encode_utf16().flat_map(u16::to_be_bytes).collect();
        out.push('&');
        out.push_str(&CODE.encode(bytes));
        out.push('-');
        rest = &rest[end..];
    }
    out
}

/// Whether a letter stands for itself, or is `&`, which has a form of its own.
const fn is_plain(letter: char) -> bool {
    matches!(letter, ' '..='~')
}

/// A name of IMAP as UTF-8. A name that is not a valid modified UTF-7 is returned unchanged.
pub fn from_imap(name: &str) -> String {
    try_from_imap(name).unwrap_or_else(|| name.to_owned())
}

fn try_from_imap(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (code, after) = after.split_once('-')?;
        if code.is_empty() {
            out.push('&');
        } else {
            let bytes = CODE.decode(code).ok()?;
            let units = bytes.chunks(2).map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
            let units: Option<Vec<u16>> = units.collect();
            out.push_str(&String::from_utf16(&units?).ok()?);
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// Whether a name fits a pattern, in which `*` stands for any letters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_imap_does_and_read_again() {
        for (name, imap) in [
            ("INBOX", "INBOX"),
            ("Tom & Jerry", "Tom &- Jerry"),
            ("Entwürfe", "Entw&APw-rfe"),
            // The example of RFC 3501.
            ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
            ("😀", "&2D3eAA-"),
        ] {
            assert_eq!(to_imap(name), imap);
            assert_eq!(from_imap(imap), name);
        }
        for wrong in ["a&", "a&b", "&!!-", "&2D0-", "&AA-"] {
            assert_eq!(from_imap(wrong), wrong);
        }
    }

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, expected) in [
            ("Archive", "Archive", true),
            ("Archive", "Archive/2024", false),
            ("Archive*", "Archive/2024", true),
            ("Lists/*/old", "Lists/a/b/old", true),
            ("Lists/*/old", "Lists/old", false),
            ("*", "", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
