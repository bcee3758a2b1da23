// SPDX-License-Identifier: GPL-3.0-or-later
//! Output to a terminal. Control characters in mail, file names and patterns are replaced by
//! visible text, so that they cannot control the terminal. Pipes and files get the bytes unchanged.

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
        self.inner.write_all(&visible(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// `bytes` with control characters as `^[` and the like; those above 127 as `M-^[`. Line ends, also
/// those of CR and LF, and tabs stay.
pub fn visible(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_plain = |&byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if bytes.iter().all(is_plain) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        let mut characters = chunk.valid().chars().peekable();
        while let Some(character) = characters.next() {
            let ends_line = || character == '\r' && matches!(characters.clone().next(), Some('\n'));
            if !character.is_control() || matches!(character, '\t' | '\n') || ends_line() {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                // A control character is below 160.
                show(&mut out, u8::try_from(character).unwrap_or(b'?'));
            }
        }
        for &byte in chunk.invalid() {
            if byte < 0xa0 { show(&mut out, byte) } else { out.push(byte) }
        }
    }
    Cow::Owned(out)
}

fn show(out: &mut Vec<u8>, control: u8) {
    if control >= 0x80 {
        out.extend_from_slice(b"M-");
    }
    out.extend_from_slice(&[b'^', control & 0x7f ^ 0x40]);
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
        ] {
            assert_eq!(visible(bytes).as_ref(), expected, "{bytes:?}");
        }
    }
}
