// SPDX-License-Identifier: GPL-3.0-or-later
//! Our own classifier as an evaluation uses it: texts → models → verdicts, without files.
//!
//! The one place where evaluation touches learning and scoring. It does what `dbacl -l CATEGORY
//! FILE...` and `dbacl -c CATEGORY... FILE` do, one document a file, to the last bit.

use dbacl::category::{mapped, writer};
use dbacl::cli::dbacl::method::Method;
use dbacl::error::{Error, Result, Warning, WarningSink};
use dbacl::filter::Filter;
use dbacl::input::source::Source;
use dbacl::learn::count::Counter;
use dbacl::learn::state::LearningState;
use dbacl::learn::{LearnSettings, Progress, finish};
use dbacl::model::medium::Medium;
use dbacl::model::settings::ModelOption;
use dbacl::numeric::quantize::QuantWeight;
use dbacl::pipeline::{Consumer, LineState, Pipeline};
use dbacl::score::document;
use dbacl::score::model::{Model, PatternSet};
use dbacl::score::scorer::Scorer;
use dbacl::token::Feature;
use dbacl::token::ngram::Window;
use dbacl::token::pattern::PatternList;
use dbacl::token::tokenizer::Tokenizer;
use std::io;
use std::path::Path;

/// A document as the filters left it: the lines to cut into tokens. Filtering is the larger part
/// of the work and the same for all folds, so it is done once.
#[derive(Debug, Clone, Default)]
pub struct Text {
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    end: usize,
    medium: Medium,
    kept: bool,
    in_header: bool,
}

/// Reads documents.
pub struct Reader {
    pipeline: Pipeline<'static>,
}

impl Reader {
    /// A reader with the filters of `method`.
    pub fn new(method: &Method) -> Self {
        let filter = Filter::new(method.learn.options, method.locale);
        Self { pipeline: Pipeline::new(filter, true, None) }
    }

    /// The text of a document.
    ///
    /// # Errors
    /// None of its own; those of reading memory.
    pub fn read(&mut self, document: &[u8]) -> io::Result<Text> {
        let mut recorder = Recorder { text: Text::default() };
        // The pipeline owns what it reads.
        let reader = Box::new(io::Cursor::new(document.to_vec()));
        let source = Source { name: Vec::new(), reader };
        match self.pipeline.run(source, &mut recorder)? {
            Some(error) => Err(error),
            None => Ok(recorder.text),
        }
    }
}

/// Takes down filtered lines.
struct Recorder {
    text: Text,
}

impl Consumer for Recorder {
    fn raw_line(&mut self, _: &mut Vec<u8>) -> io::Result<bool> {
        Ok(true)
    }

    fn text(&mut self, line: &mut Vec<u8>, state: LineState) -> io::Result<()> {
        let Text { bytes, lines } = &mut self.text;
        if state.kept {
            bytes.extend_from_slice(line);
        } else if lines.last().is_some_and(|last| last.in_header == state.in_header) {
            return Ok(());
        }
        lines.push(Line {
            end: bytes.len(),
            medium: state.medium,
            kept: state.kept,
            in_header: state.in_header,
        });
        Ok(())
    }

    fn end_of_line(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn end_of_source(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

impl Text {
    /// Calls `each` with every line to be cut, and `passed` for the header state after every line.
    fn replay(&self, mut each: impl FnMut(Option<&[u8]>, Medium, bool)) {
        let mut from = 0;
        for line in &self.lines {
            let text = line.kept.then(|| &self.bytes[from..line.end]);
            each(text, line.medium, line.in_header);
            from = line.end;
        }
    }
}

/// Lines → features, with the expressions of a method or with its tokenizer.
struct Cutter {
    patterns: PatternList,
    tokenizer: Tokenizer,
    window: Window,
    standard: bool,
    keep_case: bool,
    line: Vec<u8>,
}

impl Cutter {
    fn new(method: &Method, order: u8, patterns: PatternList) -> Self {
        let options = method.learn.options;
        let keep_case = options.has(ModelOption::KeepCase);
        let straddle = options.has(ModelOption::Straddle);
        Self {
            standard: patterns.is_empty(),
            patterns,
            tokenizer: Tokenizer::new(method.learn.scheme, keep_case, straddle, order),
            window: Window::new(order),
            keep_case,
            line: Vec::new(),
        }
    }

    fn cut(&mut self, line: &[u8], medium: Medium, take: &mut impl FnMut(Feature<'_>)) {
        if self.standard {
            self.line.clear();
            self.line.extend_from_slice(line);
            self.tokenizer.line(&mut self.line, &mut self.window.feeding(medium, take));
        } else {
            self.patterns.features(line, self.keep_case, &mut |pattern, order, body| {
                take(Feature { body, medium, order, pattern: Some(pattern) });
            });
        }
    }

    fn end(&mut self) {
        self.window.clear();
        self.tokenizer.end_of_file();
    }
}

/// Learns one category, document by document.
pub struct Learner {
    settings: LearnSettings,
    stored: Vec<Vec<u8>>,
    counter: Counter,
    cutter: Cutter,
    /// Features are counted by their words, not by their texts.
    by_words: bool,
}

impl Learner {
    /// A learner that has seen nothing. Only one that `grows` can tell its model on the way; the
    /// other is faster.
    pub fn new(method: &Method, grows: bool) -> Self {
        let settings = method.learn.clone();
        let state = LearningState::new(
            settings.bits,
            settings.options,
            settings.scheme,
            settings.min_count,
        );
        let stored = method.own_patterns.iter().map(|&id| method.patterns.stored(id)).collect();
        let mut counter = Counter::new(state, &settings, false);
        let by_words = !grows && method.patterns.is_empty() && counter.expect_words(method.order);
        counter.forget_appearances();
        Self {
            counter,
            by_words,
            cutter: Cutter::new(method, method.order, method.patterns.clone()),
            settings,
            stored,
        }
    }

    /// Counts a document.
    pub fn add(&mut self, text: &Text, warnings: WarningSink<'_>) {
        let Self { counter, cutter, by_words, .. } = self;
        text.replay(|line, medium, in_header| {
            counter.line_of_mail(in_header, warnings);
            let Some(line) = line else { return };
            if *by_words {
                cutter.line.clear();
                cutter.line.extend_from_slice(line);
                cutter.tokenizer.line(&mut cutter.line, &mut counter.words(medium, warnings));
                counter.end_of_words(warnings);
            } else {
                cutter.cut(line, medium, &mut |feature| {
                    counter.count(feature, warnings);
                });
            }
        });
        counter.end_of_file(warnings);
        cutter.end();
    }

    /// The category so far, as its file would be; `None` while it has no token. Counting can go on,
    /// if the learner grows.
    ///
    /// # Errors
    /// A number that leaves the range of the formulas.
    pub fn model(&self, warnings: WarningSink<'_>) -> Result<Option<Vec<u8>>> {
        conclude(self.counter.state().clone(), &self.settings, &self.stored, warnings)
    }

    /// The category when nothing is to be added.
    ///
    /// # Errors
    /// As for [`Self::model`].
    pub fn finish(self, warnings: WarningSink<'_>) -> Result<Option<Vec<u8>>> {
        conclude(self.counter.into_state(warnings), &self.settings, &self.stored, warnings)
    }
}

fn conclude(
    mut state: LearningState,
    settings: &LearnSettings,
    stored: &[Vec<u8>],
    warnings: WarningSink<'_>,
) -> Result<Option<Vec<u8>>> {
    if state.used == 0 {
        return Ok(None);
    }
    if !state.table.has_room(state.used) {
        let bits = state.table.bits() + 1;
        warnings(Warning::new(format!(
            "table full, some tokens ignored - try with option -h {bits}"
        )));
    }
    let mut silent = Progress::silent();
    let digrams = settings.reference.measure(&state.characters, &mut silent, warnings)?;
    let model = finish(&mut state, settings, digrams, None, &mut silent, warnings)?;
    let ids = state.table.ids();
    let weights = model.weights.slots().iter().map(|slot| QuantWeight(slot.lambda));
    let slots = ids.zip(weights);
    let mut bytes = Vec::new();
    writer::write(&mut bytes, &model.header, b"category", stored, &model.digrams, slots)
        .map_err(|error| Error::io(Path::new("category in memory"), error))?;
    Ok(Some(bytes))
}

/// What the categories make of a document, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opinion {
    /// Number of the verdict.
    pub best: usize,
    /// Average log-probability of a token, nats.
    pub means: Vec<f64>,
    /// Probabilities, 0..=1, as `-N` prints them in percent.
    pub shares: Vec<f64>,
}

/// Judges documents under a set of categories.
pub struct Judge {
    scorer: Scorer,
    cutter: Cutter,
    prior: bool,
}

impl Judge {
    /// A judge over categories as [`Learner::model`] made them.
    ///
    /// # Errors
    /// If a category cannot be opened.
    pub fn new(method: &Method, categories: &[impl AsRef<[u8]>]) -> Result<Self> {
        let mut patterns = PatternList::new(method.locale);
        let mut models = Vec::with_capacity(categories.len());
        for bytes in categories {
            let category = mapped::from_bytes(bytes.as_ref())?;
            let mut set = PatternSet::default();
            for text in category.patterns() {
                set.insert(patterns.add(text, &mut |_| {})?);
            }
            models.push(Model::learned(Vec::new(), category, set));
        }
        let order = models.iter().map(Model::max_order).max().unwrap_or(1);
        let entropy = models.iter().any(|model| model.options().has(ModelOption::Entropy))
            || models.iter().all(Model::is_multinomial);
        Ok(Self {
            scorer: Scorer::new(models, entropy.then_some(method.entropy_bits)),
            cutter: Cutter::new(method, order, patterns),
            prior: method.prior,
        })
    }

    /// Judges a document.
    pub fn judge(&mut self, text: &Text, warnings: WarningSink<'_>) -> Opinion {
        let Self { scorer, cutter, .. } = self;
        text.replay(|line, medium, _| {
            if let Some(line) = line {
                cutter.cut(line, medium, &mut |feature| scorer.score(&feature, warnings));
            }
        });
        cutter.end();
        let standings = document::finish(scorer, self.prior);
        let percentages = document::percentages(&standings);
        let opinion = Opinion {
            best: document::best(&standings),
            means: standings.iter().map(document::Standing::mean).collect(),
            shares: percentages.iter().map(|percent| percent / 100.0).collect(),
        };
        scorer.start_document();
        opinion
    }
}
