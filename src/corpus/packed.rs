// SPDX-License-Identifier: GPL-3.0-or-later
//! Files that are compressed, read as what is in them, and files that are not text.

use crate::corpus::document::{DataError, LONGEST};
use bzip2::bufread::MultiBzDecoder;
use dbacl_files::format::{advice, format_of};
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes that are read at a time.
pub(crate) const BUFFER: usize = 1 << 16;

/// The most bytes that compressed data may refer back to, and so about the most memory that
/// unpacking takes: as many as `zstd --long` and `xz -9` need.
const WINDOW_KIB: u32 = 128 << 10;

/// How the names of compressed files end.
const ENDINGS: [&str; 4] = ["gz", "zst", "xz", "bz2"];

/// The name of what is in the file at `path`, which may be compressed.
pub fn name_within(path: &Path) -> Option<&OsStr> {
    let is_packed = path
        .extension()
        .is_some_and(|ending| ENDINGS.iter().any(|own| ending.eq_ignore_ascii_case(own)));
    if is_packed { path.file_stem() } else { path.file_name() }
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy)]
enum Coding {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Coding {
    /// The coding of a file that begins so.
    fn of(beginning: &[u8]) -> Option<Self> {
        match beginning {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // A block, or no block at all.
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, b'r', b'E', b'8', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // A frame, or one to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }
}

/// What `input` has, unpacked, if it begins as compressed data do; else the input itself.
pub(crate) fn open<'a, R: BufRead + 'a>(mut input: R) -> io::Result<Result<impl BufRead + 'a, R>> {
    let Some(coding) = Coding::of(input.fill_buf()?) else { return Ok(Err(input)) };
    let decoder: Box<dyn Read + 'a> = match coding {
        Coding::Gzip => Box::new(MultiGzDecoder::new(input)),
        Coding::Bzip2 => Box::new(MultiBzDecoder::new(input)),
        Coding::Xz => Box::new(XzReader::new_mem_limit(input, true, WINDOW_KIB)),
        Coding::Zstd => Box::new(Frames::new(input)),
    };
    Ok(Ok(buffered(Unpacked { decoder, coding })))
}

/// An input with a buffer that begins with a whole line, if it has room for one.
pub(crate) fn buffered(input: impl Read) -> impl BufRead {
    BufReader::with_capacity(BUFFER, FirstLine { input, is_read: false })
}

/// An input that is read until its first line is whole, since that shows the format.
struct FirstLine<R> {
    input: R,
    is_read: bool,
}

impl<R: Read> Read for FirstLine<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = self.input.read(buffer)?;
        while !self.is_read && length < buffer.len() && !buffer[..length].contains(&b'\n') {
            match self.input.read(&mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        self.is_read = true;
        Ok(length)
    }
}

/// Why compressed data cannot be unpacked.
#[derive(Debug, thiserror::Error)]
#[error("it is compressed by {coding}, and damaged or incomplete: {source}")]
pub(crate) struct Damage {
    coding: &'static str,
    source: io::Error,
}

/// An input whose errors say that they are those of unpacking.
struct Unpacked<R> {
    decoder: R,
    coding: Coding,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|source| {
            let is_of_system = source.raw_os_error().is_some();
            if is_of_system || source.kind() == io::ErrorKind::Interrupted {
                return source;
            }
            io::Error::other(Damage { coding: self.coding.name(), source })
        })
    }
}

/// The frames of zstd, one after the other.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    is_within: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(u64::from(WINDOW_KIB) << 10);
        Self { input, decoder, is_within: false }
    }

    /// Goes to the next frame; returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.input).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                begun => return begun.map(|()| true).map_err(io::Error::other),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_within && !self.begin()? {
                return Ok(0);
            }
            self.is_within = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.input, some).map_err(io::Error::other)?;
            }
            match self.decoder.read(buffer)? {
                0 if !buffer.is_empty() => {}
                length => return Ok(length),
            }
            let expected = self.decoder.get_checksum_from_data();
            if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
                return Err(io::Error::other("the checksum differs"));
            }
            self.is_within = false;
        }
    }
}

/// Reads a file that is a text as a whole.
///
/// # Errors
/// Those of the operating system; a text that is too long or damaged, and what is not text.
pub fn read_text(input: impl Read, path: &Path) -> Result<Vec<u8>, DataError> {
    fn all(input: impl Read) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        input.take(LONGEST as u64 + 1).read_to_end(&mut text)?;
        Ok(text)
    }
    let opened = open(BufReader::with_capacity(BUFFER, input));
    let text = opened.and_then(|opened| opened.map_or_else(all, all));
    let text = text.map_err(|error| DataError::io(path, error))?;
    if text.len() > LONGEST {
        return Err(DataError::too_long(path, 1));
    }
    check_text(&text, path)?;
    Ok(text)
}

/// Refuses archives, pictures and the like by their first bytes.
pub(crate) fn check_text(beginning: &[u8], path: &Path) -> Result<(), DataError> {
    let is_binary = |&byte: &u8| byte < 0x20 && !byte.is_ascii_whitespace() || byte >= 0x80;
    let has_binary = beginning.iter().take(64).any(is_binary);
    let format = format_of(beginning).filter(|_| has_binary);
    format.map_or(Ok(()), |format| Err(DataError::line(path, 1, advice(format))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::document::Reading;
    use crate::corpus::tests::documents;
    use std::fs;

    /// The same two lines, each compressed by itself, by every program.
    fn files() -> [(&'static str, Vec<u8>); 4] {
        ENDINGS.map(|ending| {
            let path = format!("{}/testdata/packed/two.tsv.{ending}", env!("CARGO_MANIFEST_DIR"));
            (ending, fs::read(path).expect("a file of the repository"))
        })
    }

    const TWO: &str = "sea=the whale and the ship@1 war=the nation and the war@2";

    fn found(bytes: &[u8], name: &str) -> String {
        documents(bytes, name, &Reading::default()).unwrap_or_else(|fault| fault)
    }

    #[test]
    fn compressed_files_are_read_by_their_first_bytes() {
        for (ending, bytes) in files() {
            assert_eq!(found(&bytes, &format!("x.tsv.{ending}")), TWO);
            assert_eq!(found(&bytes, "-"), TWO, "{ending}");
            assert_eq!(read_text(&bytes[..], Path::new("-")).expect("text").len(), 54);
        }
        assert_eq!(found(b"text,label\nt,a\n", "x.csv.GZ"), "a=t@2");
        // A frame of zstd that is to be skipped, as parallel programs write them.
        let (_, zstd) = &files()[1];
        let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0abc".as_slice(), zstd].concat();
        assert_eq!(found(&skipped, "x"), TWO);
    }

    #[test]
    fn damage_is_one_line_with_the_name() {
        for (ending, bytes) in files() {
            for length in 8..bytes.len() {
                let fault = found(&bytes[..length], "x");
                // The first of two parts is whole by itself.
                let is_fault = fault.starts_with("x: it is compressed by ");
                assert!(is_fault || fault == TWO[..28], "{ending}, {length}: {fault}");
                assert!(!fault.contains('\n'), "{fault}");
            }
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 1 << bit;
                    let _ = found(&flipped, "x");
                }
            }
            let twice = [bytes.as_slice(), b"no more"].concat();
            assert!(found(&twice, "x").starts_with("x: it is compressed by "), "{ending}");
        }
    }

    #[test]
    fn windows_beyond_the_limit_are_refused() {
        // Frames of 1 GiB.
        let zstd = b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00";
        assert!(found(zstd, "x").starts_with("x: it is compressed by zstd, and damaged"));
    }

    #[test]
    fn a_text_comes_whole_or_not_at_all() {
        let path = Path::new("x");
        let long = vec![b'x'; LONGEST + 1];
        assert!(read_text(&long[..LONGEST], path).is_ok());
        let fault = read_text(&long[..], path).expect_err("too long");
        assert_eq!(fault.to_string(), "x:1: the document is longer than 8 MiB");
    }

    #[test]
    fn the_first_line_is_whole() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.0.len().min(1);
                buffer[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let mut lines = buffered(Slow(b"one line\nanother"));
        assert_eq!(lines.fill_buf().expect("memory"), b"one line\n");
    }
}
