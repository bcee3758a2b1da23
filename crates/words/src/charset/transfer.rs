// SPDX-License-Identifier: GPL-3.0-or-later
//! Transfer encodings (RFC 2045). The decoders keep their state from line to line and accept any
//! input.

/// Marks a byte that is outside the base64 alphabet.
pub const NO_BASE64: u8 = 0xFF;
/// Base64 value of the padding `=`.
pub const PADDING: u8 = 64;

/// Base64 value of a byte, [`PADDING`] for `=`, [`NO_BASE64`] for any other byte.
pub const BASE64: [u8; 256] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    let mut values = [NO_BASE64; 256];
    let mut value: u8 = 0;
    while value <= PADDING {
        values[alphabet[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// How the bytes of a part are encoded.
#[derive(Debug, Clone, Copy)]
pub enum Transfer {
    /// Not at all.
    Identity,
    /// Base64, whose groups may go on from line to line.
    Base64(Base64),
    /// Line by line.
    QuotedPrintable,
    /// Line by line, between `begin` and `end`.
    Uuencode,
}

/// A base64 decoder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Base64 {
    bits: u32,
    count: u8,
}

impl Base64 {
    /// Appends the bytes that `text` encodes. Bytes outside the alphabet are passed over; padding
    /// ends a group, and another may follow.
    pub fn decode(&mut self, text: &[u8], output: &mut Vec<u8>) {
        let mut rest = text;
        while let Some((&byte, behind)) = rest.split_first() {
            if self.count == 0
                && let Some((&[a, b, c, d], behind)) = rest.split_first_chunk::<4>()
            {
                let group = [a, b, c, d].map(|byte| BASE64[usize::from(byte)]);
                if group.iter().all(|&value| value < PADDING) {
                    let [a, b, c, d] = group.map(u32::from);
                    let [_, bytes @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
                    output.extend_from_slice(&bytes);
                    rest = behind;
                    continue;
                }
            }
            match BASE64[usize::from(byte)] {
                NO_BASE64 => {}
                PADDING => *self = Self::default(),
                value => {
                    self.bits = self.bits << 6 | u32::from(value);
                    self.count += 6;
                    if self.count >= 8 {
                        self.count -= 8;
                        output.push((self.bits >> self.count).to_le_bytes()[0]);
                        self.bits &= (1 << self.count) - 1;
                    }
                }
            }
            rest = behind;
        }
    }
}

/// The byte that two hexadecimal digits at the beginning of `text` stand for, and what follows.
pub(crate) fn hex_pair(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, behind) = text.split_first_chunk::<2>()?;
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    Some(((high? << 4 | low?).to_le_bytes()[0], behind))
}

/// Appends the text that a line of quoted-printable encodes. If the line ends in `=`, its line end
/// is no part of the text. A `=` before anything but hexadecimal digits stands for itself.
pub fn quoted_printable(line: &[u8], output: &mut Vec<u8>) {
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'=', rest) {
        output.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some((byte, behind)) = hex_pair(rest) {
            output.push(byte);
            rest = behind;
        } else if rest.trim_ascii().is_empty() {
            return;
        } else {
            output.push(b'=');
        }
    }
    output.extend_from_slice(rest);
}

/// Appends the bytes that a line of an uuencoded file stands for: the first character is their
/// number, four others three bytes. Lines of another form, such as `begin` and `end`, are nothing.
pub fn uuencoded(line: &[u8], output: &mut Vec<u8>) {
    let line = line.trim_ascii_end();
    let Some((&first, text)) = line.split_first() else { return };
    let value = |byte: &u8| u32::from(byte.wrapping_sub(b' ') & 63);
    let length = usize::from(first.wrapping_sub(b' ') & 63);
    let is_file = text.iter().all(|byte| matches!(byte, b' '..=b'`'))
        && text.len() <= length.div_ceil(3) * 4 + 1;
    if !(is_file && matches!(first, b' '..=b'`')) {
        return;
    }
    let end = output.len() + length;
    for group in text.chunks(4) {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).map_or(0, value));
        let [_, bytes @ ..] = bits.to_be_bytes();
        output.extend_from_slice(&bytes);
    }
    output.truncate(end.min(output.len()));
}

/// Appends what the text of an encoded word in encoding Q stands for (RFC 2047, 4.2).
pub fn word(text: &[u8], output: &mut Vec<u8>) {
    // An encoded word has no line end, so a `=` at its end stands for itself.
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = if byte == b'=' { hex_pair(behind) } else { None };
        let own = if byte == b'_' { b' ' } else { byte };
        let (byte, behind) = escaped.unwrap_or((own, behind));
        output.push(byte);
        rest = behind;
    }
}

impl Transfer {
    /// Appends the bytes that a line of the part stands for.
    pub fn decode(&mut self, line: &[u8], output: &mut Vec<u8>) {
        match self {
            Self::Identity => output.extend_from_slice(line),
            Self::Base64(decoder) => decoder.decode(line, output),
            Self::QuotedPrintable => quoted_printable(line, output),
            Self::Uuencode => uuencoded(line, output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_on_over_lines_and_junk() {
        for (lines, expected) in [
            (&["aGVsbG8gd29ybGQ="][..], "hello world"),
            (&["aGVsb", "G8gd2", "9ybGQ=\r\n"], "hello world"),
            (&["aGVs!bG8g d29-ybGQ"], "hello world"),
            (&["YQ==Yg==", "Yw=="], "abc"),
            (&["====", "YQ"], "a"),
        ] {
            let mut decoder = Base64::default();
            let mut output = Vec::new();
            for line in lines {
                decoder.decode(line.as_bytes(), &mut output);
            }
            assert_eq!(String::from_utf8_lossy(&output), expected, "{lines:?}");
        }
    }

    #[test]
    fn uuencoded_lines_become_bytes_and_others_nothing() {
        for (line, expected) in [
            ("#0V%T\n", "Cat"),
            ("\"0V$\r\n", "Ca"),
            ("`\n", ""),
            ("begin 644 cat.txt\n", ""),
            ("end\n", ""),
            ("", ""),
            ("Dear all,\n", ""),
        ] {
            let mut output = Vec::new();
            uuencoded(line.as_bytes(), &mut output);
            assert_eq!(String::from_utf8_lossy(&output), expected, "{line}");
        }
    }

    #[test]
    fn quoted_printable_takes_either_case_and_joins_lines() {
        for (line, expected) in [
            ("a=3Db=c3=A9\r\n", "a=b\u{e9}\r\n"),
            ("soft=\r\n", "soft"),
            ("soft= \t\n", "soft"),
            ("a=zz=4\n", "a=zz=4\n"),
            ("=", ""),
        ] {
            let mut output = Vec::new();
            quoted_printable(line.as_bytes(), &mut output);
            assert_eq!(String::from_utf8_lossy(&output), expected, "{line:?}");
        }
        let mut output = Vec::new();
        word(b"a_b=5Fc=e9=", &mut output);
        assert_eq!(output, b"a b_c\xe9=");
    }
}
