// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads sources, filters their lines and passes the text to a sink (spec text 1.4).

use super::cutter::Cutter;
use super::decoding::Decoding;
use super::filtered::FilteredText;
use super::options::ReadOptions;
use super::sink::{FeatureSink, LineState};
use crate::filter::{Filter, reads_unicode};
use crate::input::indent::take_blank;
use crate::input::lines::{LineReader, Nul, Stream};
use crate::input::patient::UntilStopped;
use crate::input::source::Source;
use crate::model::settings::{Locale, ModelOptions};
use std::io;
use std::sync::atomic::AtomicBool;

/// The state that a reader carries over from one input to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
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
    pub(crate) fn then(self, next: Self) -> Self {
        let grown = self.room_bits > 12;
        Self {
            room_bits: self.room_bits.max(next.room_bits),
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

/// Reads documents, one source after the other.
///
/// Unfinished parts of one source, such as an attachment, may affect how the next one is read, as
/// in dbacl 1.14.1. [`Self::start_anew`] prevents that.
pub struct FeatureReader<'a> {
    filtering: (ModelOptions, Locale),
    decoding: Decoding,
    lines: LineReader,
    filter: Filter,
    cutter: Cutter,
    /// Whether [`EXTRA`] lines follow each source.
    extra_lines: bool,
    /// Whether only lines that begin with a blank are read (`-A`).
    indented: bool,
    stop: Option<&'a AtomicBool>,
    line: Vec<u8>,
    /// The present one of several texts that a line holds.
    text: Vec<u8>,
    /// Memory for a block of a source.
    block: Vec<u8>,
}

impl<'a> FeatureReader<'a> {
    /// A reader at the start of a run.
    pub fn new(options: &ReadOptions) -> Self {
        let filtering = (options.options, options.text_locale());
        let nul = if reads_unicode(options.options) {
            Nul::Stays
        } else if options.keep_nul || options.scheme.is_unicode() {
            Nul::Blank
        } else {
            Nul::Hides
        };
        Self {
            filtering,
            decoding: Decoding::of(options),
            lines: LineReader { nul, ..LineReader::default() },
            filter: Filter::new(filtering.0, filtering.1),
            cutter: Cutter::new(options),
            extra_lines: true,
            indented: false,
            stop: None,
            line: Vec::new(),
            text: Vec::new(),
            block: Vec::new(),
        }
    }

    /// The same reader, which ends early once `stop` is set.
    #[must_use]
    pub(crate) fn until(self, stop: Option<&'a AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The same reader for sources whose lines are documents of their own: sources come without the
    /// two lines `\r\n` that drive the decoders of mail to their end.
    #[must_use]
    pub(crate) fn by_lines(self) -> Self {
        Self { extra_lines: false, ..self }
    }

    /// The same reader for mail of which the first `bytes` bytes are read at most: longer lines are
    /// not kept in memory, whatever the reading. Where lines come in pieces this changes nothing.
    #[must_use]
    pub(crate) fn of_beginnings(mut self, bytes: usize) -> Self {
        if !self.filter.gives_texts() {
            self.lines.longest = bytes;
        }
        self
    }

    /// The same reader, continuing after an input that left room for lines of 2^`bits` bytes.
    #[must_use]
    pub(crate) fn with_room(mut self, bits: u8) -> Self {
        self.lines.room = self.lines.room.max(1 << bits);
        self
    }

    /// The same reader, which reads only lines that begin with a blank if `indented`.
    #[must_use]
    pub(crate) fn indented(self, indented: bool) -> Self {
        Self { indented, ..self }
    }

    /// Reads `source` to its end. A read error ends the source; it is returned after the source's
    /// lines have been taken.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn read(
        &mut self,
        source: Source<'_>,
        sink: &mut impl FeatureSink,
    ) -> io::Result<Option<io::Error>> {
        // Lines that are documents of their own are not a mailbox.
        let is_mail = matches!(self.decoding, Decoding::Mail { .. });
        let decoding = if is_mail && !self.extra_lines { Decoding::Never } else { self.decoding };
        let Source { name, reader } = decoding.decoded(source, sink.holds());
        let reader = match self.stop {
            Some(stop) => Box::new(UntilStopped { input: reader, stop }),
            None => reader,
        };
        self.filter.start_file();
        let mut stream = Stream::reusing(std::mem::take(&mut self.block), reader);
        let mut line = std::mem::take(&mut self.line);
        loop {
            let last = self.lines.next_line(&mut stream, &mut line);
            self.line(&mut line, sink)?;
            if last {
                break;
            }
        }
        self.lines.hidden.clear();
        if self.extra_lines && !self.filter.gives_texts() {
            for _ in 0..2 {
                line.clear();
                line.extend_from_slice(EXTRA);
                self.line(&mut line, sink)?;
            }
        }
        self.line = line;
        self.filter.end_file();
        self.texts(false, sink)?;
        self.cutter.end_of_source();
        sink.end_of_source(&name, &mut self.cutter)?;
        let error = stream.error();
        self.block = stream.into_block();
        Ok(error)
    }

    /// Reads a document in memory.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn read_bytes(&mut self, document: &[u8], sink: &mut impl FeatureSink) -> io::Result<()> {
        self.read(Source::bytes(document), sink).map(|_| ())
    }

    /// Filters a document in memory, for learning or classifying it several times
    /// ([`crate::learn::learner::Learner::learn_filtered`],
    /// [`crate::sets::classify::Classifier::classify_filtered`]).
    pub fn filter(&mut self, document: &[u8]) -> FilteredText {
        let mut text = FilteredText::default();
        // Reading memory cannot fail, and recording lines has no errors.
        let _ = self.read_bytes(document, &mut text);
        text
    }

    /// Reads a filtered document. Errors of `sink` end it.
    pub(crate) fn replay(&mut self, document: &FilteredText, sink: &mut impl FeatureSink) {
        let mut line = std::mem::take(&mut self.line);
        let _ = document.lines().try_for_each(|(text, state)| {
            line.clear();
            line.extend_from_slice(text);
            self.pass(&mut line, state, sink)
        });
        self.line = line;
        self.cutter.end_of_source();
        let _ = sink.end_of_source(b"", &mut self.cutter);
    }

    /// Reads the next source as if it came first.
    pub fn start_anew(&mut self) {
        let (options, locale) = self.filtering;
        self.filter = Filter::new(options, locale);
        let LineReader { nul, longest, .. } = self.lines;
        self.lines = LineReader { nul, longest, ..LineReader::default() };
        self.cutter.restart();
    }

    /// The state that would carry over to the next source.
    pub(crate) fn ending(&self) -> Ending {
        Ending {
            room_bits: u8::try_from(self.lines.room.ilog2()).unwrap_or(u8::MAX),
            depends_on_room: self.lines.depends_on_room,
            at_rest: self.filter.is_at_rest() && self.cutter.is_at_rest(),
            is_inexact: false,
        }
    }

    /// The part that cuts lines.
    pub(crate) fn cutter(&mut self) -> &mut Cutter {
        &mut self.cutter
    }

    fn line(&mut self, line: &mut Vec<u8>, sink: &mut impl FeatureSink) -> io::Result<()> {
        if self.indented && !take_blank(line) || !sink.raw_line(line)? {
            return Ok(());
        }
        if !line.is_empty() && self.filter.gives_texts() {
            if self.filter.end_mail(line) {
                self.texts(true, sink)?;
            }
            self.filter.take(line);
            if !self.texts(false, sink)? {
                self.pass(line, self.state(false), sink)?;
            }
        } else if !line.is_empty() {
            let kept = self.filter.line_before_nul(line, &self.lines.hidden);
            self.pass(line, self.state(kept), sink)?;
        }
        sink.end_of_line(line, &mut self.cutter)
    }

    /// The state of the line that the filter returned last.
    fn state(&self, kept: bool) -> LineState {
        let (medium, in_header) = (self.filter.medium(), self.filter.in_header());
        LineState { kept, medium, in_header, is_late: false }
    }

    /// Passes on the texts that the filter has, which may belong to the message before; returns
    /// whether there are any.
    fn texts(&mut self, is_late: bool, sink: &mut impl FeatureSink) -> io::Result<bool> {
        let mut text = std::mem::take(&mut self.text);
        let mut has_any = false;
        while self.filter.next_text(&mut text) {
            has_any = true;
            let state = LineState { is_late, ..self.state(true) };
            self.pass(&mut text, state, sink)?;
        }
        self.text = text;
        Ok(has_any)
    }

    /// Passes a line that is not empty, as the filters left it, to the sink.
    fn pass(
        &mut self,
        line: &mut Vec<u8>,
        state: LineState,
        sink: &mut impl FeatureSink,
    ) -> io::Result<()> {
        sink.text(line, state, &mut self.cutter)?;
        if state.kept { sink.cut(line, state.medium, &mut self.cutter) } else { Ok(()) }
    }
}
