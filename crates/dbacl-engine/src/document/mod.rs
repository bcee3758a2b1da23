// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns documents into features, which models count and look up. This is the only way from bytes
//! to features.
//!
//! ```text
//! bytes ─→ lines ─→ text (filters for mail and markup) ─→ words and expressions ─→ features
//!                                                                                     ↓
//!                                                                                FeatureSink
//! ```
//!
//! A [`FeatureReader`] reads documents as [`ReadOptions`] say and hands their features to a
//! [`FeatureSink`]: a counter that learns, a scorer that classifies, or anything else. All programs
//! read through it, so a text has the same features wherever it is learned, judged or counted.
//!
//! ```
//! # mod dbacl {
//! #     pub use dbacl_engine::token::Feature;
//! #     pub use dbacl_engine::document::FeatureReader;
//! #     pub use dbacl_engine::document::FeatureSink;
//! #     pub use dbacl_engine::document::ReadOptions;
//! # }
//! use dbacl::{Feature, FeatureReader, FeatureSink, ReadOptions};
//!
//! #[derive(Default)]
//! struct Words(Vec<String>);
//!
//! impl FeatureSink for Words {
//!     fn feature(&mut self, feature: Feature<'_>) {
//!         self.0.extend(feature.words().map(|word| String::from_utf8_lossy(word).into_owned()));
//!     }
//! }
//!
//! let mut words = Words::default();
//! FeatureReader::new(&ReadOptions::text()).read_bytes(b"Of all these\nfriends", &mut words)?;
//! assert_eq!(words.0, ["of", "all", "these", "friends"]);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod cutter;
pub mod decoding;
pub mod filtered;
mod options;
pub mod pipeline;

use crate::input::source::Source;
use crate::token::Feature;
pub use cutter::Cutter;
use dbacl_filter::{Filter, reads_unicode};
use dbacl_model::medium::Medium;
use dbacl_model::settings::{Locale, ModelOptions};
use decoding::Decoding;
pub use filtered::FilteredText;
pub use options::ReadOptions;
use pipeline::{Consumer, Pipeline};
pub use pipeline::{Ending, LineState};
use std::io;
use std::sync::atomic::AtomicBool;

/// Takes the features of documents.
///
/// Programs of this repository also take part in the steps of reading; those methods are hidden.
pub trait FeatureSink {
    /// A feature, in the order of the text.
    fn feature(&mut self, feature: Feature<'_>);

    /// A line as read, before anything else; it may be changed. Returns `false`
    /// if the line is to be left out: no other method sees it then.
    ///
    /// # Errors
    /// Ends the run.
    #[doc(hidden)]
    fn raw_line(&mut self, _line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(true)
    }

    /// The text of a line that is not empty, as the filters left it, before it is cut; lines that
    /// the filters dropped are shown as well.
    ///
    /// # Errors
    /// Ends the run.
    #[doc(hidden)]
    fn text(&mut self, _line: &[u8], _state: LineState, _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }

    /// Cuts a line of text. A sink that handles words faster than the texts of features, or that
    /// needs the line after it was cut, replaces this method.
    ///
    /// # Errors
    /// Ends the run.
    #[doc(hidden)]
    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        cutter.features(line, medium, &mut |feature| self.feature(feature));
        Ok(())
    }

    /// The end of a line, empty ones included; its case may have been folded.
    ///
    /// # Errors
    /// Ends the run.
    #[doc(hidden)]
    fn end_of_line(&mut self, _line: &[u8], _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }

    /// The end of a source.
    ///
    /// # Errors
    /// Ends the run.
    #[doc(hidden)]
    fn end_of_source(&mut self, _name: &[u8], _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }
}

/// Reads documents, one source after the other.
///
/// Unfinished parts of one source, such as an attachment, may affect how the next one is read, as
/// in dbacl 1.14.1. [`Self::start_anew`] prevents that.
pub struct FeatureReader<'a> {
    filtering: (ModelOptions, Locale),
    decoding: Decoding,
    pipeline: Pipeline<'a>,
    cutter: Cutter,
    /// A line being replayed.
    line: Vec<u8>,
}

impl FeatureReader<'static> {
    /// A reader at the start of a run.
    pub fn new(options: &ReadOptions) -> Self {
        Self::build(options, None)
    }
}

impl<'a> FeatureReader<'a> {
    fn build(options: &ReadOptions, stop: Option<&'a AtomicBool>) -> Self {
        let locale = options.text_locale();
        let filtering = (options.options, locale);
        let pipeline = Pipeline::new(Filter::new(options.options, locale), true, stop);
        let keeps_nul = options.keep_nul || options.scheme.is_unicode();
        let pipeline = match () {
            () if reads_unicode(options.options) => pipeline.leaving_nul(),
            () if keeps_nul => pipeline.keeping_nul(),
            () => pipeline,
        };
        let decoding = Decoding::of(options);
        Self { filtering, decoding, pipeline, cutter: Cutter::new(options), line: Vec::new() }
    }

    /// A reader that ends early once `stop` is set.
    #[doc(hidden)]
    pub fn stoppable(options: &ReadOptions, stop: &'a AtomicBool) -> Self {
        Self::build(options, Some(stop))
    }

    /// The same reader for sources whose lines are documents of their own: sources come without the
    /// two lines `\r\n` that drive the decoders of mail to their end.
    #[doc(hidden)]
    #[must_use]
    pub fn by_lines(mut self) -> Self {
        self.pipeline.leave_out_extra_lines();
        self
    }

    /// The same reader for mail of which the first `bytes` bytes are read at most: longer lines are
    /// not kept in memory, whatever the reading.
    #[must_use]
    #[doc(hidden)]
    pub fn of_beginnings(self, bytes: usize) -> Self {
        Self { pipeline: self.pipeline.keeping(bytes), ..self }
    }

    /// The same reader, going on behind an input that left room for lines of 2^`bits` bytes.
    #[must_use]
    pub(crate) fn with_room(self, bits: u8) -> Self {
        Self { pipeline: self.pipeline.with_room(bits), ..self }
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
        let source = self.decoding.decoded(source);
        self.pipeline.run(source, &mut Cutting { cutter: &mut self.cutter, sink })
    }

    /// Reads a document in memory.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn read_bytes(&mut self, document: &[u8], sink: &mut impl FeatureSink) -> io::Result<()> {
        self.read(Source::bytes(document), sink).map(|_| ())
    }

    /// Filters a document in memory, for learning or judging it several times
    /// ([`crate::learn::learner::Learner::learn_filtered`],
    /// [`dbacl_sets::classify::Classifier::classify_filtered`]).
    #[doc(hidden)]
    pub fn filter(&mut self, document: &[u8]) -> FilteredText {
        let mut text = FilteredText::default();
        // Reading memory cannot fail, and recording lines has no errors.
        let source = self.decoding.decoded(Source::bytes(document));
        let _ = self.pipeline.run(source, &mut text);
        text
    }

    /// Reads a filtered document. Errors of `sink` end it.
    #[doc(hidden)]
    pub fn replay(&mut self, document: &FilteredText, sink: &mut impl FeatureSink) {
        let mut line = std::mem::take(&mut self.line);
        let mut cutting = Cutting { cutter: &mut self.cutter, sink };
        let _ = document.lines().try_for_each(|(text, state)| {
            line.clear();
            line.extend_from_slice(text);
            cutting.text(&mut line, state)
        });
        let _ = cutting.end_of_source(b"");
        self.line = line;
    }

    /// Reads the next source as if it came first.
    pub fn start_anew(&mut self) {
        let (options, locale) = self.filtering;
        self.pipeline.start_anew(Filter::new(options, locale));
        self.cutter.restart();
    }

    /// The state that would carry over to the next source.
    #[doc(hidden)]
    pub fn ending(&self) -> Ending {
        let ending = self.pipeline.ending();
        Ending { at_rest: ending.at_rest && self.cutter.is_at_rest(), ..ending }
    }

    /// The part that cuts lines.
    #[doc(hidden)]
    pub fn cutter(&mut self) -> &mut Cutter {
        &mut self.cutter
    }
}

/// Passes filtered lines to a sink.
struct Cutting<'a, S> {
    cutter: &'a mut Cutter,
    sink: &'a mut S,
}

impl<S: FeatureSink> Consumer for Cutting<'_, S> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.sink.raw_line(line)
    }

    fn text(&mut self, line: &mut Vec<u8>, state: LineState) -> io::Result<()> {
        self.sink.text(line, state, self.cutter)?;
        if state.kept { self.sink.cut(line, state.medium, self.cutter) } else { Ok(()) }
    }

    fn end_of_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.sink.end_of_line(line, self.cutter)
    }

    fn end_of_source(&mut self, name: &[u8]) -> io::Result<()> {
        self.cutter.end_of_source();
        self.sink.end_of_source(name, self.cutter)
    }
}
