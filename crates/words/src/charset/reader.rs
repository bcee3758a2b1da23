// SPDX-License-Identifier: GPL-3.0-or-later
//! A stream of bytes in some character set, read as UTF-8.

use super::{Charset, Decoder};
use std::io::{self, Read};

/// Bytes read at a time.
const BLOCK: usize = 1 << 14;

/// Reads what another reader has, decoded to UTF-8, in bounded memory.
pub struct DecodingReader<R> {
    reader: R,
    decoder: Decoder,
    block: Vec<u8>,
    /// Decoded text; what is before `start` was handed out.
    text: Vec<u8>,
    start: usize,
    has_ended: bool,
}

impl<R: Read> DecodingReader<R> {
    /// Reads `reader`, whose bytes are in `charset`.
    pub fn new(reader: R, charset: Charset) -> Self {
        Self {
            reader,
            decoder: Decoder::new(charset),
            block: Vec::new(),
            text: Vec::new(),
            start: 0,
            has_ended: false,
        }
    }

    /// Reads on until there is text to hand out, or the end.
    fn fill(&mut self) -> io::Result<()> {
        self.block.resize(BLOCK, 0);
        while self.start == self.text.len() && !self.has_ended {
            let length = self.reader.read(&mut self.block)?;
            self.text.clear();
            self.start = 0;
            if length == 0 {
                self.decoder.finish(&mut self.text);
                self.has_ended = true;
            } else {
                self.decoder.decode(&self.block[..length], &mut self.text);
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let length = buffer.len().min(self.text.len() - self.start);
        buffer[..length].copy_from_slice(&self.text[self.start..self.start + length]);
        self.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_decoded_across_its_blocks() {
        let text = "\u{43f}\u{440}\u{438} \u{1f600} \u{4e2d}\n".repeat(10_000);
        for (label, encoding) in [("utf-8", encoding_rs::UTF_8), ("gb18030", encoding_rs::GB18030)]
        {
            let bytes = encoding.encode(&text).0;
            let charset = Charset::by_label(label.as_bytes()).expect("a label");
            let mut decoded = String::new();
            DecodingReader::new(&*bytes, charset).read_to_string(&mut decoded).expect("memory");
            assert_eq!(decoded, text, "{label}");
        }
    }

    #[test]
    fn errors_pass_and_a_cut_character_is_replaced() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut decoded = Vec::new();
        let source = b"a\xc3".chain(Broken);
        let error = DecodingReader::new(source, Charset::UTF_8).read_to_end(&mut decoded);
        assert_eq!(
            (error.expect_err("broken").to_string(), &*decoded),
            ("broken".into(), &b"a"[..])
        );
        let mut decoded = String::new();
        DecodingReader::new(&b"a\xc3"[..], Charset::UTF_8)
            .read_to_string(&mut decoded)
            .expect("memory");
        assert_eq!(decoded, "a\u{fffd}");
    }
}
