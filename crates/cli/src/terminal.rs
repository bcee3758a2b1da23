// SPDX-License-Identifier: GPL-3.0-or-later
//! Output to a terminal. Control characters in mail, file names and patterns, and those that hide
//! text or change its direction, are replaced by visible text, so that they cannot control the
//! terminal or mislead its reader. Pipes and files get the bytes unchanged.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// A writer that makes control characters visible if it writes to a terminal.
#[derive(Debug)]
pub struct Shown<W> {
    inner: W,
    is_terminal: bool,
}

impl<W: Write + IsTerminal> Shown<W> {
    /// A writer to `inner`, which gets the bytes unchanged unless it is a terminal.
    pub fn new(inner: W) -> Self {
        let is_terminal = inner.is_terminal();
        Self { inner, is_terminal }
    }
}

impl<W> Shown<W> {
    /// Whether it is a terminal.
    pub const fn is_terminal(&self) -> bool {
        self.is_terminal
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.inner.write(bytes);
        }
        each_visible(bytes, &mut |piece| self.inner.write_all(piece))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether a letter is not seen itself and hides others or changes their order, such as U+202E,
/// after which text is read from right to left. The joiners of emoji and of Persian do neither.
pub const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// `bytes` with control characters as `^[` and the like, those above 127 as `M-^[`, and letters
/// that are hidden as `<U+202E>`. Line ends, also those of CR and LF, and tabs stay.
pub fn visible(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.iter().copied().all(is_plain) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    // Writing to memory cannot fail.
    let _ = each_visible(bytes, &mut |piece| {
        out.extend_from_slice(piece);
        Ok(())
    });
    Cow::Owned(out)
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b' '..=b'~')
}

/// Gives the text of [`visible`] to `keep`, piece by piece. Takes no memory.
///
/// # Errors
/// Those of `keep`.
pub fn each_visible(bytes: &[u8], keep: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    // What is shown as it is goes out in long pieces: it begins at `start`.
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let plain = bytes[at..].iter().take_while(|&&byte| is_plain(byte)).count();
        at += plain;
        // A letter of UTF-8 has at most four bytes.
        let next = &bytes[at..bytes.len().min(at + 4)];
        if next.is_empty() {
            break;
        }
        let chunk = next.utf8_chunks().next();
        let letter = chunk.and_then(|chunk| chunk.valid().chars().next());
        let (length, letter) = match letter {
            Some('\r') if next.starts_with(b"\r\n") => (2, None),
            Some(letter) => (letter.len_utf8(), Some(letter)),
            None => (1, Some(char::from(next[0])).filter(|_| next[0] < 0xa0)),
        };
        let mut room = [0; ROOM];
        let shown = letter.map_or(0, |letter| show(letter, &mut room));
        if shown > 0 {
            if start < at {
                keep(&bytes[start..at])?;
            }
            keep(&room[..shown])?;
            start = at + length;
        }
        at += length;
    }
    if start < bytes.len() { keep(&bytes[start..]) } else { Ok(()) }
}

/// The most bytes of the visible text for a letter.
const ROOM: usize = "<U+10FFFF>".len();

/// Writes the visible text for a letter, and returns its length; 0 if the letter is seen as it is.
fn show(letter: char, room: &mut [u8; ROOM]) -> usize {
    let mut rest = &mut room[..];
    // There is room.
    let _ = match u8::try_from(letter) {
        Ok(byte) if letter.is_control() => {
            let meta = if byte >= 0x80 { "M-" } else { "" };
            write!(rest, "{meta}^{}", char::from(byte & 0x7f ^ 0x40))
        }
        _ if is_hidden(letter) => write!(rest, "<U+{:04X}>", u32::from(letter)),
        _ => Ok(()),
    };
    ROOM - rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        for (bytes, expected) in [
            (&b"plain\ttext\n"[..], &b"plain\ttext\n"[..]),
            (b"a\x1b[2J\x07\x7f\0", b"a^[[2J^G^?^@"),
            (b"one\r\ntwo\rthree", b"one\r\ntwo^Mthree"),
            ("h\u{e4}\u{9b}2J".as_bytes(), "h\u{e4}M-^[2J".as_bytes()),
            (b"h\xe4\x9b2J\xff", b"h\xe4M-^[2J\xff"),
            ("cod\u{202e}exe \u{1f602}".as_bytes(), "cod<U+202E>exe \u{1f602}".as_bytes()),
        ] {
            assert_eq!(visible(bytes).as_ref(), expected, "{bytes:?}");
        }
    }
}
