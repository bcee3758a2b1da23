// SPDX-License-Identifier: GPL-3.0-or-later
//! Decodes sources in other character sets than UTF-8 while they are read.

use super::options::ReadOptions;
use crate::input::source::Source;
use dbacl_charset::Charset;
use dbacl_charset::reader::DecodingReader;
use std::io::{self, Cursor, Read};

/// How the bytes of sources are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// They are the text.
    Never,
    /// They are in this character set.
    From(Charset),
    /// They are in UTF-16 if they begin with its byte order mark.
    ByMark,
}

impl Decoding {
    /// What `options` ask for.
    pub const fn of(options: &ReadOptions) -> Self {
        match options.charset {
            Some(charset) => Self::From(charset),
            None if options.scheme.is_unicode() && !options.reads_mail() => Self::ByMark,
            None => Self::Never,
        }
    }

    /// The source, which will be read as text.
    pub fn decoded(self, source: Source<'_>) -> Source<'_> {
        let Source { name, reader } = source;
        let reader: Box<dyn Read + '_> = match self {
            Self::Never => reader,
            Self::From(charset) => Box::new(DecodingReader::new(reader, charset)),
            Self::ByMark => Box::new(Marked::Unread(reader)),
        };
        Source { name, reader }
    }
}

/// Whether a text that begins so is in UTF-16.
pub fn begins_with_mark(text: &[u8]) -> bool {
    utf_16(text).is_some()
}

/// The kind of UTF-16 that a byte order mark stands for, and the length of the mark.
fn utf_16(text: &[u8]) -> Option<(Charset, usize)> {
    Charset::by_mark(text).filter(|&(charset, _)| charset != Charset::UTF_8)
}

/// A reader that looks for a byte order mark at the beginning.
enum Marked<'a> {
    Unread(Box<dyn Read + 'a>),
    Plain(Box<dyn Read + 'a>),
    Decoded(Box<DecodingReader<Box<dyn Read + 'a>>>),
}

impl Read for Marked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unread(reader) if !buffer.is_empty() => {
                let mut reader = std::mem::replace(reader, Box::new(io::empty()));
                let read = beginning(&mut *reader);
                // After an error the rest is read without decoding.
                let first = match read {
                    Ok(first) => first,
                    Err(error) => {
                        *self = Self::Plain(reader);
                        return Err(error);
                    }
                };
                let mark = utf_16(&first).filter(|_| first.len() == MARK);
                let from = mark.map_or(0, |(_, length)| length);
                let mut first = Cursor::new(first);
                first.set_position(from as u64);
                let whole: Box<dyn Read> = Box::new(first.chain(reader));
                *self = match mark {
                    Some((charset, _)) => {
                        Self::Decoded(Box::new(DecodingReader::new(whole, charset)))
                    }
                    None => Self::Plain(whole),
                };
                self.read(buffer)
            }
            Self::Unread(_) => Ok(0),
            Self::Plain(reader) => reader.read(buffer),
            Self::Decoded(reader) => reader.read(buffer),
        }
    }
}

/// Bytes of a mark of UTF-16.
const MARK: usize = 2;

/// The first byte, and the second if the first may begin a mark.
fn beginning(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(MARK);
    let mut byte = [0];
    while first.len() < MARK && (first.is_empty() || matches!(first[0], 0xfe | 0xff)) {
        match reader.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => first.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_model::settings::Scheme;

    fn read(charset: Option<Charset>, bytes: &[u8]) -> String {
        let options = ReadOptions { scheme: Scheme::Word, charset, ..ReadOptions::text() };
        let mut text = String::new();
        let mut source = Decoding::of(&options).decoded(Source::bytes(bytes));
        source.reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn utf_16_is_recognised_by_its_mark() {
        assert_eq!(read(None, b"\xff\xfeM\0\x38\x04\n\0"), "Mи\n");
        assert_eq!(read(None, b"\xfe\xff\0M\x04\x38"), "Mи");
        assert_eq!(read(None, "\u{feff}Mи".as_bytes()), "\u{feff}Mи");
        for plain in ["", "M", "Mи\n"] {
            assert_eq!(read(None, plain.as_bytes()), plain);
        }
        let mut nothing = Vec::new();
        let source = Decoding::ByMark.decoded(Source::bytes(b"\xff"));
        assert_eq!(source.reader.take(9).read_to_end(&mut nothing).unwrap(), 1);
    }

    #[test]
    fn a_named_character_set_is_decoded() {
        let koi8 = Charset::by_label(b"koi8-r");
        assert_eq!(read(koi8, b"\xf0\xd2\xc9\xd7\xc5\xd4"), "Привет");
    }

    #[test]
    fn schemes_of_bytes_read_bytes() {
        assert_eq!(Decoding::of(&ReadOptions::text()), Decoding::Never);
        let mail = ReadOptions { scheme: Scheme::Word, ..ReadOptions::mail() };
        assert_eq!(Decoding::of(&mail), Decoding::Never);
    }
}
