// SPDX-License-Identifier: GPL-3.0-or-later
//! Character sets with a state that the WHATWG's standard does not decode. Each is converted byte
//! by byte to an encoding of that standard; a converter keeps a few bits between bytes.

use crate::transfer::{BASE64, PADDING};

/// UTF-7 (RFC 2152) to UTF-16, big-endian.
#[derive(Debug, Default)]
pub struct Utf7 {
    /// Within base64 text, behind a `+`.
    is_shifted: bool,
    /// The `+` was the byte before.
    is_fresh: bool,
    /// Bits that do not fill a unit of 16 yet.
    bits: u32,
    count: u32,
}

impl Utf7 {
    /// Appends what `bytes` stand for. Bytes from 80 up stand for U+FFFD.
    pub fn write_utf16(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
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

/// HZ (RFC 1843) to GBK.
#[derive(Debug, Default)]
pub struct Hz {
    /// Between `~{` and `~}`.
    is_chinese: bool,
    /// The byte before was an unpaired `~`.
    is_escaping: bool,
    /// The first byte of a Chinese character.
    lead: Option<u8>,
}

impl Hz {
    /// Appends what `bytes` stand for. A line's end leads back to ASCII, whatever came before.
    pub fn write_gbk(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        for &byte in bytes {
            if let Some(lead) = self.lead.take() {
                if matches!(byte, 0x21..=0x7E) {
                    output.extend_from_slice(&[lead | 0x80, byte | 0x80]);
                    continue;
                }
                // This byte is invalid in GBK, so the decoder replaces it.
                output.push(0xFF);
            }
            if std::mem::take(&mut self.is_escaping) {
                match byte {
                    b'{' => self.is_chinese = true,
                    b'}' | b'\n' => self.is_chinese = false,
                    b'~' => output.push(b'~'),
                    // An unknown escape; the text behind it is taken for ASCII.
                    _ => {
                        self.is_chinese = false;
                        output.push(b'~');
                        self.plain(byte, output);
                    }
                }
            } else if byte == b'~' {
                self.is_escaping = true;
            } else {
                self.plain(byte, output);
            }
        }
    }

    fn plain(&mut self, byte: u8, output: &mut Vec<u8>) {
        match byte {
            b'\n' => {
                self.is_chinese = false;
                output.push(byte);
            }
            0x21..=0x7E if self.is_chinese => self.lead = Some(byte),
            _ => output.push(byte),
        }
    }
}

/// ISO-2022-KR (RFC 1557) to EUC-KR.
#[derive(Debug, Default)]
pub struct Iso2022Kr {
    /// Between SO and SI.
    is_korean: bool,
    /// The first byte of a Korean character.
    lead: Option<u8>,
    /// Bytes of `ESC $ ) C` that were read.
    escaped: usize,
}

/// What announces the character set, at the beginning of a line.
const ANNOUNCER: &[u8] = b"\x1b$)C";

impl Iso2022Kr {
    /// Appends what `bytes` stand for. A line's end leads back to ASCII.
    pub fn write_euc_kr(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
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
        if let Some(lead) = self.lead.take() {
            if matches!(byte, 0x21..=0x7E) {
                return output.extend_from_slice(&[lead | 0x80, byte | 0x80]);
            }
            output.push(0xFF);
        }
        match byte {
            0x0E => self.is_korean = true,
            0x0F => self.is_korean = false,
            b'\n' => {
                self.is_korean = false;
                output.push(byte);
            }
            0x21..=0x7E if self.is_korean => self.lead = Some(byte),
            _ => output.push(byte),
        }
    }
}
