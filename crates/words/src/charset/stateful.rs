// SPDX-License-Identifier: GPL-3.0-or-later
//! Character sets with a state that the WHATWG's standard does not decode. Each is converted byte
//! by byte to an encoding of that standard; a converter keeps a few bits between bytes.

use crate::charset::transfer::{BASE64, PADDING};

/// UTF-7 (RFC 2152) to UTF-16, big-endian.
#[derive(Debug, Default)]
pub(crate) struct Utf7 {
    /// Within base64 text, after a `+`.
    is_shifted: bool,
    /// The `+` was the byte before.
    is_fresh: bool,
    /// Bits that do not fill a unit of 16 yet.
    bits: u32,
    count: u32,
}

impl Utf7 {
    /// Appends what `bytes` stand for. Bytes from 80 up stand for U+FFFD.
    pub(crate) fn write_utf16(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        for &byte in bytes {
            if self.is_shifted {
                if let value @ 0..PADDING = BASE64[usize::from(byte)] {
                    self.is_fresh = false;
                    self.bits = self.bits << 6 | u32::from(value);
                    self.count += 6;
                    if self.count >= 16 {
                        self.count -= 16;
                        let [_, _, high, low] = (self.bits >> self.count).to_be_bytes();
                        output.extend_from_slice(&[high, low]);
                        self.bits &= (1 << self.count) - 1;
                    }
                    continue;
                }
                // Remaining bits are padding.
                (self.is_shifted, self.bits, self.count) = (false, 0, 0);
                if byte == b'-' {
                    if std::mem::take(&mut self.is_fresh) {
                        output.extend_from_slice(&[0, b'+']);
                    }
                    continue;
                }
            }
            match byte {
                b'+' => (self.is_shifted, self.is_fresh) = (true, true),
                0x80.. => output.extend_from_slice(&[0xFF, 0xFD]),
                _ => output.extend_from_slice(&[0, byte]),
            }
        }
    }
}

/// Characters of two bytes from 21 to 7E, which a mark switches on, among ASCII.
#[derive(Debug, Default)]
struct Pairs {
    is_on: bool,
    /// The first byte of a character.
    lead: Option<u8>,
}

impl Pairs {
    /// Whether `byte` is the second one of a character, which is then appended.
    fn end(&mut self, byte: u8, output: &mut Vec<u8>) -> bool {
        let Some(lead) = self.lead.take() else { return false };
        let is_whole = matches!(byte, 0x21..=0x7E);
        if is_whole {
            output.extend_from_slice(&[lead | 0x80, byte | 0x80]);
        } else {
            // This byte is invalid in both encodings, so the decoder replaces it.
            output.push(0xFF);
        }
        is_whole
    }

    /// Takes a byte that is neither the second one of a character nor a mark. A line's end leads
    /// back to ASCII.
    fn plain(&mut self, byte: u8, output: &mut Vec<u8>) {
        if self.is_on && matches!(byte, 0x21..=0x7E) {
            self.lead = Some(byte);
        } else {
            self.is_on &= byte != b'\n';
            output.push(byte);
        }
    }
}

/// HZ (RFC 1843) to GBK.
#[derive(Debug, Default)]
pub(crate) struct Hz {
    /// Chinese characters, on between `~{` and `~}`.
    pairs: Pairs,
    /// The byte before was an unpaired `~`.
    is_escaping: bool,
}

impl Hz {
    /// Appends what `bytes` stand for. A line's end leads back to ASCII, whatever came before.
    pub(crate) fn write_gbk(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        for &byte in bytes {
            if self.pairs.end(byte, output) {
                continue;
            }
            if std::mem::take(&mut self.is_escaping) {
                match byte {
                    b'{' => self.pairs.is_on = true,
                    b'}' | b'\n' => self.pairs.is_on = false,
                    b'~' => output.push(b'~'),
                    // An unknown escape; the text after it is taken for ASCII.
                    _ => {
                        self.pairs.is_on = false;
                        output.push(b'~');
                        self.pairs.plain(byte, output);
                    }
                }
            } else if byte == b'~' {
                self.is_escaping = true;
            } else {
                self.pairs.plain(byte, output);
            }
        }
    }
}

/// ISO-2022-KR (RFC 1557) to EUC-KR.
#[derive(Debug, Default)]
pub(crate) struct Iso2022Kr {
    /// Korean characters, on between SO and SI.
    pairs: Pairs,
    /// Bytes of `ESC $ ) C` that were read.
    escaped: usize,
}

/// What announces the character set, at the beginning of a line.
const ANNOUNCER: &[u8] = b"\x1b$)C";

impl Iso2022Kr {
    /// Appends what `bytes` stand for. A line's end leads back to ASCII.
    pub(crate) fn write_euc_kr(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        for &byte in bytes {
            if ANNOUNCER[self.escaped] == byte {
                self.escaped = (self.escaped + 1) % ANNOUNCER.len();
                continue;
            }
            for &held in &ANNOUNCER[..std::mem::take(&mut self.escaped)] {
                self.plain(held, output);
            }
            self.plain(byte, output);
        }
    }

    fn plain(&mut self, byte: u8, output: &mut Vec<u8>) {
        match byte {
            _ if self.pairs.end(byte, output) => {}
            0x0E => self.pairs.is_on = true,
            0x0F => self.pairs.is_on = false,
            _ => self.pairs.plain(byte, output),
        }
    }
}
