// SPDX-License-Identifier: GPL-3.0-or-later
//! Different writings of one word or sign → one of them, for words and runs of characters alike.
//!
//! Words are cut by bytes, and their cutter knows the capitals of ASCII only.

use std::borrow::Cow;

/// The line by which a model says that its texts were folded.
pub(super) const FOLDED: (&str, &str) = ("folded", "letters, emoji");

/// A text in small letters of all alphabets, with `i` for both Turkish letters, and emoji without
/// the colour of skin and the choice of a form (U+FE0E, U+FE0F). Bytes that are not UTF-8 stay.
pub(super) fn folded(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        let mut small = None;
        for character in chunk.valid().chars() {
            let own = match character {
                '\u{1f3fb}'..='\u{1f3ff}' | '\u{fe0e}' | '\u{fe0f}' => continue,
                // The dot of a capital that was written in two parts.
                '\u{307}' if small == Some('i') => continue,
                '\u{130}' | '\u{131}' => 'i',
                'ς' => 'σ',
                _ if character.is_ascii() => character.to_ascii_lowercase(),
                _ => {
                    let mut letters = character.to_lowercase();
                    letters.next().filter(|_| letters.len() == 0).unwrap_or(character)
                }
            };
            small = Some(own);
            out.extend_from_slice(own.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writings_of_one_word_become_one() {
        for (text, expected) in [
            ("ÄRGER Über", "ärger über"),
            ("İSTANBUL ISPARTA ısparta i\u{307}stanbul", "istanbul isparta isparta istanbul"),
            ("ΟΔΟΣ οδός МОСКВА", "οδοσ οδόσ москва"),
            ("👍🏿 👍🏽 👍 ❤️ ❤ 👩🏽\u{200d}💻", "👍 👍 👍 ❤ ❤ 👩\u{200d}💻"),
            ("e\u{307} ß Plain", "e\u{307} ß plain"),
        ] {
            assert_eq!(folded(text.as_bytes()), expected.as_bytes());
        }
        assert_eq!(folded(b"Plain"), &b"Plain"[..]);
        assert_eq!(folded(b"\xc4A\xff\xc3\x84"), &b"\xc4a\xff\xc3\xa4"[..]);
    }
}
