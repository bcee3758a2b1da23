// SPDX-License-Identifier: GPL-3.0-or-later
//! Bytes → lines → text: reads sources, filters their lines and hands them to a consumer
//! (spec text 1.4).

use crate::filter::{Filter, Verdict};
use crate::input::lines::{LineReader, Stream};
use crate::input::source::Source;
use crate::model::medium::Medium;
use std::io;
use std::sync::atomic::AtomicBool;

/// What a line became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineState {
    /// Whether its text is to be tokenised; a dropped line is left as the filter left it.
    pub kept: bool,
    /// The part of the document that it belongs to.
    pub medium: Medium,
    /// Whether a mail filter is in a header block after the line.
    pub in_header: bool,
}

/// Takes the lines of the inputs, one after the other.
pub trait Consumer {
    /// A line as read, before anything else; it may be changed. Returns whether it is to be
    /// processed; lines that are not are not seen again.
    ///
    /// # Errors
    /// Ends the run.
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool>;

    /// A line that is not empty, after the filters; its case may be folded in place.
    ///
    /// # Errors
    /// Ends the run.
    fn text(&mut self, line: &mut Vec<u8>, state: LineState) -> io::Result<()>;

    /// The end of a line, empty ones included, as [`Self::text`] left it.
    ///
    /// # Errors
    /// Ends the run.
    fn end_of_line(&mut self, line: &[u8]) -> io::Result<()>;

    /// The end of a source.
    ///
    /// # Errors
    /// Ends the run.
    fn end_of_source(&mut self, name: &[u8]) -> io::Result<()>;
}

/// The line that follows each input twice; it drives the decoders of mail to their end.
const EXTRA: &[u8] = b"\r\n";

/// Reads sources one after the other; reader and filter live for the whole run.
pub struct Pipeline<'a> {
    reader: LineReader,
    filter: Filter,
    line: Vec<u8>,
    extra_lines: bool,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Pipeline<'a> {
    /// A pipeline through `filter`. With `extra_lines` two lines `\r\n` follow each source, which
    /// the line filter (`-f`) leaves out. Reading ends early once `stop` is set.
    pub fn new(filter: Filter, extra_lines: bool, stop: Option<&'a AtomicBool>) -> Self {
        Self { reader: LineReader::default(), filter, line: Vec::new(), extra_lines, stop }
    }

    /// Reads `source` to its end. A read error ends the source; it is returned after the source's
    /// lines have been consumed.
    ///
    /// # Errors
    /// Those of `consumer`.
    pub fn run(
        &mut self,
        source: Source,
        consumer: &mut impl Consumer,
    ) -> io::Result<Option<io::Error>> {
        self.filter.start_file();
        let mut stream = Stream::new(source.reader, self.stop);
        let mut line = std::mem::take(&mut self.line);
        loop {
            let last = self.reader.next_line(&mut stream, &mut line);
            self.line(&mut line, consumer)?;
            if last {
                break;
            }
        }
        if self.extra_lines {
            for _ in 0..2 {
                line.clear();
                line.extend_from_slice(EXTRA);
                self.line(&mut line, consumer)?;
            }
        }
        self.line = line;
        consumer.end_of_source(&source.name)?;
        Ok(stream.error())
    }

    /// The same pipeline, for which zero bytes are blanks and hide nothing.
    #[must_use]
    pub fn keeping_nul(self) -> Self {
        Self { reader: LineReader::keeping_nul(), ..self }
    }

    fn line(&mut self, line: &mut Vec<u8>, consumer: &mut impl Consumer) -> io::Result<()> {
        if !consumer.raw_line(line)? {
            return Ok(());
        }
        if !line.is_empty() {
            let kept = self.filter.line(line) == Verdict::Keep;
            let state = LineState {
                kept,
                medium: self.filter.medium(),
                in_header: self.filter.in_header(),
            };
            consumer.text(line, state)?;
        }
        consumer.end_of_line(line)
    }
}
