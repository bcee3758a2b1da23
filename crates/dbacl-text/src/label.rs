// SPDX-License-Identifier: GPL-3.0-or-later
//! Labels: which texts can be one, and the names of their files.

use std::fmt::Write;

/// Bytes of the longest label.
const LONGEST: usize = 200;
/// Bytes of the longest file name that is made of one.
const LONGEST_NAME: usize = 200;

/// Why a text is no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LabelFault {
    /// It is empty.
    #[error("the label is empty")]
    Empty,
    /// It is too long.
    #[error("the label is longer than 200 bytes")]
    TooLong,
    /// It holds a line end, a tab or another control character.
    #[error("the label holds a control character")]
    Control,
    /// It is no UTF-8.
    #[error("the label is not UTF-8")]
    NotUtf8,
}

/// The label that bytes spell.
///
/// # Errors
/// Why they spell none.
pub fn check(bytes: &[u8]) -> Result<&str, LabelFault> {
    let label = std::str::from_utf8(bytes).map_err(|_| LabelFault::NotUtf8)?;
    if label.is_empty() {
        return Err(LabelFault::Empty);
    }
    if label.len() > LONGEST {
        return Err(LabelFault::TooLong);
    }
    if label.chars().any(char::is_control) {
        return Err(LabelFault::Control);
    }
    Ok(label)
}

/// The name of the file of a label's category: letters, digits, `-`, `_`, `.` inside, and what is
/// not ASCII stand for themselves, all else as `%` and two digits. Labels that differ have names
/// that differ.
pub fn file_name(label: &str) -> String {
    let mut name = String::new();
    for (at, character) in label.char_indices() {
        let is_plain = character.is_ascii_alphanumeric()
            || !character.is_ascii()
            || matches!(character, '-' | '_')
            || character == '.' && at > 0;
        if is_plain {
            name.push(character);
        } else {
            // ASCII, and writing to a String cannot fail
            let _ = write!(name, "%{:02x}", u32::from(character));
        }
    }
    if name.len() > LONGEST_NAME {
        // Such a name ends with % and sixteen digits, which no shorter label's does.
        let sum = label.bytes().fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut end = LONGEST_NAME - 17;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
        let _ = write!(name, "%{sum:016x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_text_without_control_characters() {
        assert_eq!(check("comp.os ms-windows/\u{e4}".as_bytes()), Ok("comp.os ms-windows/\u{e4}"));
        for (bytes, fault) in [
            (&b""[..], LabelFault::Empty),
            (b"a\tb", LabelFault::Control),
            (b"a\n", LabelFault::Control),
            (b"\xff", LabelFault::NotUtf8),
            (&[b'x'; 201], LabelFault::TooLong),
        ] {
            assert_eq!(check(bytes), Err(fault));
        }
    }

    #[test]
    fn file_names_name_no_other_place() {
        for (label, name) in [
            ("spam", "spam"),
            ("comp.os.ms-windows", "comp.os.ms-windows"),
            ("..", "%2e."),
            (".hidden", "%2ehidden"),
            ("a/b c", "a%2fb%20c"),
            ("100%", "100%25"),
            ("\u{e4}\u{3b1}", "\u{e4}\u{3b1}"),
        ] {
            assert_eq!(file_name(label), name);
        }
        let long = |end: &str| file_name(&("/".repeat(190) + end));
        assert!(long("a").len() <= LONGEST_NAME && long("a") != long("b"));
    }
}
