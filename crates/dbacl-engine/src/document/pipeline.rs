// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads sources, filters their lines and passes the text to a consumer (spec text 1.4).

use crate::input::lines::{LineReader, Stream};
use crate::input::source::Source;
use dbacl_filter::Filter;
use dbacl_model::medium::Medium;
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
    /// Whether it belongs to the mail before, which the line read last has ended.
    pub is_late: bool,
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

/// The state that a reader carries over from one input to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Binary logarithm of the room for a line at the end: at least 12.
    pub room_bits: u8,
    /// Whether some line would have been cut in another way if the room had been larger at the
    /// start.
    pub depends_on_room: bool,
    /// The next input is read as if it were the first: no decoded text is held back for it, and no
    /// state of the tokenizer is left.
    pub at_rest: bool,
    /// Whether shards were joined of which an earlier one would have changed how a later one was
    /// read.
    pub is_inexact: bool,
}

impl Default for Ending {
    fn default() -> Self {
        Self { room_bits: 12, depends_on_room: false, at_rest: true, is_inexact: false }
    }
}

impl Ending {
    /// The state that two inputs carry over, read one after the other.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        let grown = self.room_bits > 12;
        Self {
            room_bits: if self.room_bits > next.room_bits {
                self.room_bits
            } else {
                next.room_bits
            },
            depends_on_room: self.depends_on_room || next.depends_on_room,
            at_rest: next.at_rest,
            is_inexact: self.is_inexact
                || next.is_inexact
                || next.depends_on_room && grown
                || !self.at_rest,
        }
    }
}

/// The line that follows each input twice; it drives the decoders of mail to their end.
const EXTRA: &[u8] = b"\r\n";

/// Reads sources one after the other; reader and filter live for the whole run.
pub struct Pipeline<'a> {
    reader: LineReader,
    filter: Filter,
    line: Vec<u8>,
    /// One of several texts of a line.
    text: Vec<u8>,
    /// Memory for a block of a source.
    block: Vec<u8>,
    extra_lines: bool,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Pipeline<'a> {
    /// A pipeline through `filter`. With `extra_lines` two lines `\r\n` follow each source, which
    /// the line filter (`-f`) leaves out. Reading ends early once `stop` is set.
    pub fn new(filter: Filter, extra_lines: bool, stop: Option<&'a AtomicBool>) -> Self {
        let (line, text, block) = (Vec::new(), Vec::new(), Vec::new());
        Self { reader: LineReader::default(), filter, line, text, block, extra_lines, stop }
    }

    /// Reads `source` to its end. A read error ends the source; it is returned after the source's
    /// lines have been consumed.
    ///
    /// # Errors
    /// Those of `consumer`.
    pub fn run(
        &mut self,
        source: Source<'_>,
        consumer: &mut impl Consumer,
    ) -> io::Result<Option<io::Error>> {
        self.filter.start_file();
        let block = std::mem::take(&mut self.block);
        let mut stream = Stream::reusing(block, source.reader, self.stop);
        let mut line = std::mem::take(&mut self.line);
        loop {
            let last = self.reader.next_line(&mut stream, &mut line);
            self.line(&mut line, consumer)?;
            if last {
                break;
            }
        }
        if self.extra_lines && !self.filter.gives_texts() {
            for _ in 0..2 {
                line.clear();
                line.extend_from_slice(EXTRA);
                self.line(&mut line, consumer)?;
            }
        }
        self.line = line;
        self.filter.end_file();
        self.texts(false, consumer)?;
        consumer.end_of_source(&source.name)?;
        let error = stream.error();
        self.block = stream.into_block();
        Ok(error)
    }

    /// Reads the next source through `filter` as if it came first.
    pub fn start_anew(&mut self, filter: Filter) {
        self.filter = filter;
        self.reader.start_anew();
    }

    /// The same pipeline, for which zero bytes are blanks and hide nothing.
    #[must_use]
    pub fn keeping_nul(self) -> Self {
        Self { reader: LineReader::keeping_nul(), ..self }
    }

    /// The same pipeline, for which zero bytes are bytes like others: the filter deals with them.
    #[must_use]
    pub fn leaving_nul(self) -> Self {
        Self { reader: LineReader::leaving_nul(), ..self }
    }

    /// The same pipeline, which keeps only the first `bytes` bytes of a line. Where lines come in
    /// pieces this changes nothing.
    #[must_use]
    pub fn keeping(self, bytes: usize) -> Self {
        if self.filter.gives_texts() {
            return self;
        }
        Self { reader: self.reader.keeping(bytes), ..self }
    }

    /// Sources come without the extra lines from now on.
    pub const fn leave_out_extra_lines(&mut self) {
        self.extra_lines = false;
    }

    /// The same pipeline, going on behind an input that left room for lines of 2^`bits` bytes.
    #[must_use]
    pub fn with_room(self, bits: u8) -> Self {
        Self { reader: self.reader.with_room(bits), ..self }
    }

    /// What has been read so far would carry over to the next source.
    pub fn ending(&self) -> Ending {
        let room_bits = u8::try_from(self.reader.room().ilog2()).unwrap_or(u8::MAX);
        let depends_on_room = self.reader.depends_on_room();
        Ending { room_bits, depends_on_room, at_rest: self.filter.is_at_rest(), is_inexact: false }
    }

    fn line(&mut self, line: &mut Vec<u8>, consumer: &mut impl Consumer) -> io::Result<()> {
        if !consumer.raw_line(line)? {
            return Ok(());
        }
        if !line.is_empty() && self.filter.gives_texts() {
            if self.filter.end_mail(line) {
                self.texts(true, consumer)?;
            }
            self.filter.take(line);
            if !self.texts(false, consumer)? {
                let state = self.state(false);
                consumer.text(line, state)?;
            }
        } else if !line.is_empty() {
            let kept = self.filter.line(line);
            let state = self.state(kept);
            consumer.text(line, state)?;
        }
        consumer.end_of_line(line)
    }

    /// The state of the line that the filter returned last.
    fn state(&self, kept: bool) -> LineState {
        let (medium, in_header) = (self.filter.medium(), self.filter.in_header());
        LineState { kept, medium, in_header, is_late: false }
    }

    /// Passes on the texts that the filter has, which may belong to the mail before; returns
    /// whether there are any.
    fn texts(&mut self, is_late: bool, consumer: &mut impl Consumer) -> io::Result<bool> {
        let mut text = std::mem::take(&mut self.text);
        let mut has_any = false;
        while self.filter.next_text(&mut text) {
            has_any = true;
            let state = LineState { is_late, ..self.state(true) };
            consumer.text(&mut text, state)?;
        }
        self.text = text;
        Ok(has_any)
    }
}
