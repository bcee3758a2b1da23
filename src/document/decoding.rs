// SPDX-License-Identifier: GPL-3.0-or-later
//! Decodes sources in other character sets than UTF-8 while they are read.

use super::options::ReadOptions;
use crate::filter::reads_unicode;
use crate::input::source::Source;
use crate::mail::reader::Canonical;
use crate::mail::scanner::Holds;
use dbacl_words::charset::Charset;
use dbacl_words::charset::reader::DecodingReader;
use std::io::{self, Cursor, Read};

/// How the bytes of sources are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoding {
    /// They are the text.
    Never,
    /// They are in this character set.
    From(Charset),
    /// They are in UTF-16 if they begin with its byte order mark.
    ByMark,
    /// They are mail, which names its own character sets.
    Mail {
        /// It is of the form that dbacl 1.14.1 reads.
        is_classic: bool,
    },
}

impl Decoding {
    /// What `options` ask for.
    pub(crate) const fn of(options: &ReadOptions) -> Self {
        match options.charset {
            Some(charset) => Self::From(charset),
            None if options.reads_mail() => {
                Self::Mail { is_classic: !reads_unicode(options.options) }
            }
            None if options.scheme.is_unicode() => Self::ByMark,
            None => Self::Never,
        }
    }

    /// The source, which will be read as text. Mail holds what the reading says, or a mailbox.
    pub(crate) fn decoded(self, source: Source<'_>, holds: Option<Holds>) -> Source<'_> {
        let Source { name, reader } = source;
        let reader: Box<dyn Read + '_> = match self {
            Self::Never => reader,
            Self::From(charset) => Box::new(DecodingReader::new(reader, charset)),
            Self::Mail { is_classic: true } if holds.is_none() => reader,
            Self::Mail { .. } => Box::new(Canonical::new(reader, holds.unwrap_or(Holds::Mailbox))),
            Self::ByMark => Box::new(Marked { unread: Some(reader), text: Box::new(io::empty()) }),
        };
        Source { name, reader }
    }
}

/// The kind of UTF-16 whose byte order mark a text begins with.
pub(crate) fn utf_16(text: &[u8]) -> Option<Charset> {
    let (charset, _) = Charset::by_mark(text)?;
    (charset != Charset::UTF_8).then_some(charset)
}

/// A reader that decodes UTF-16 if it begins with the byte order mark.
struct Marked<'a> {
    /// The source, until its beginning is read.
    unread: Option<Box<dyn Read + 'a>>,
    text: Box<dyn Read + 'a>,
}

impl Read for Marked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Some(mut reader) = self.unread.take() {
            let first = match beginning(&mut *reader) {
                Ok(first) => first,
                // The rest is read without decoding.
                Err(error) => {
                    self.text = reader;
                    return Err(error);
                }
            };
            self.text = match utf_16(&first) {
                Some(charset) => Box::new(DecodingReader::new(reader, charset)),
                None => Box::new(Cursor::new(first).chain(reader)),
            };
        }
        self.text.read(buffer)
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
    use crate::model::settings::Scheme;

    fn read(charset: Option<Charset>, bytes: &[u8]) -> String {
        let options = ReadOptions { scheme: Scheme::Word, charset, ..ReadOptions::text() };
        let mut text = String::new();
        let mut source = Decoding::of(&options).decoded(Source::bytes(bytes), None);
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
        let source = Decoding::ByMark.decoded(Source::bytes(b"\xff"), None);
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
        assert_eq!(Decoding::of(&mail), Decoding::Mail { is_classic: true });
    }
}
