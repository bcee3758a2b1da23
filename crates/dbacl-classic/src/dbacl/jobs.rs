// SPDX-License-Identifier: GPL-3.0-or-later
//! The jobs of the program, each with the settings that it needs and no others.
//!
//! [`super::builder::Builder`] turns the options of a command line into one of these jobs; the
//! modules with the names of the jobs carry them out.

use super::categories::OpenSets;
use super::count_files::Fitted;
use super::structured::Format;
use dbacl_charset::Charset;
use dbacl_engine::document::ReadOptions;
use dbacl_engine::learn::LearnSettings;
use dbacl_engine::report::print::Form;
use dbacl_engine::score::model::Model;
use dbacl_engine::shards::replay::Order;
use dbacl_engine::token::PatternId;
use dbacl_engine::token::pattern::PatternList;
use dbacl_model::settings::{Locale, ModelOptions, Scheme};
use dbacl_store::generations::ledger_file;
use dbacl_store::ledger;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The job that a command line asks for.
pub enum Job {
    /// Learn a category (`-l`).
    Learn(Box<LearnJob>),
    /// Compare texts with categories (`-c`).
    Classify(Box<ClassifyJob>),
    /// Compare lines that are documents of their own with categories (`-c` and `--input`).
    ClassifyRecords(Box<RecordsJob>),
    /// Explain the verdict on a text (`-c` and `--explain`).
    Explain(Box<ExplainJob>),
    /// Count features for a later fit (`--count`).
    Count(Box<CountJob>),
    /// Merge counts (`--merge`).
    Merge(MergeJob),
}

/// Which inputs are read, and how they become features.
pub struct Reading {
    /// Files and folders to read; standard input if there are none.
    pub operands: Vec<OsString>,
    /// The option word of the model, or of the categories together.
    pub options: ModelOptions,
    /// How text is cut into words.
    pub scheme: Scheme,
    /// Longest n-gram.
    pub order: u8,
    /// The regular expressions, in load order.
    pub patterns: PatternList,
    /// Those given on the command line, without repeats.
    pub own_patterns: Vec<PatternId>,
    /// The character set of the run.
    pub locale: Locale,
    /// Zero bytes are blanks.
    pub keep_nul: bool,
    /// The character set of the text, if it is told.
    pub charset: Option<Charset>,
    /// Read only indented lines.
    pub indented: bool,
    /// Each line is a document: the two lines that end an input are not added.
    pub by_lines: bool,
    /// Each input is read as if it were the only one, so that an unfinished attachment in the one
    /// before has no effect.
    pub apart: bool,
    /// An input that cannot be read to its end is an error.
    pub whole: bool,
    /// Status 0 for any verdict, `sysexits.h` for errors.
    pub strict: bool,
}

impl Reading {
    /// Standard input, read without options.
    pub fn new(locale: Locale, strict: bool) -> Self {
        Self {
            operands: Vec::new(),
            options: ModelOptions::default(),
            scheme: Scheme::Alpha,
            order: 1,
            patterns: PatternList::new(locale),
            own_patterns: Vec::new(),
            locale,
            keep_nul: false,
            charset: None,
            indented: false,
            by_lines: false,
            apart: false,
            whole: false,
            strict,
        }
    }

    /// How the inputs are read. The regular expressions move there.
    pub fn read_options(&mut self) -> ReadOptions {
        ReadOptions {
            options: self.options,
            scheme: self.scheme,
            order: self.order,
            patterns: std::mem::replace(&mut self.patterns, PatternList::new(self.locale)),
            locale: self.locale,
            keep_nul: self.keep_nul,
            charset: self.charset,
        }
    }

    /// The regular expressions of the command line as categories store them. `patterns` are those
    /// of the run.
    pub fn stored_patterns(&self, patterns: &PatternList) -> Vec<Vec<u8>> {
        self.own_patterns.iter().map(|&pattern| patterns.stored(pattern)).collect()
    }
}

pub struct LearnJob {
    pub reading: Reading,
    /// Where the category goes.
    pub path: PathBuf,
    /// How it is learned.
    pub settings: LearnSettings,
    /// Counts to learn from instead of inputs (`--fit`), and the order of their features.
    pub counts: Option<(Fitted<'static>, Order)>,
    /// Learn a large category (`--large`).
    pub large: bool,
    /// Counts that are kept (`-o`).
    pub online: Option<PathBuf>,
    /// Counts that are added (`-O`), in order.
    pub merges: Vec<PathBuf>,
    /// The ledger that the documents are kept in (`--keep`).
    pub keep: Option<PathBuf>,
    /// Begin with the weights of the old category (`-1`).
    pub preload: bool,
    /// `-m`, which shows in progress texts and in online dumps.
    pub memory_map: bool,
    /// Say what is done (`-v`).
    pub verbose: bool,
    /// Print the text as it is read (`-a`).
    pub append: bool,
    /// Print the model (`-d`).
    pub dump: bool,
    /// Print new tokens (`-D`).
    pub debug: bool,
    /// Print hints, since a person reads standard error.
    pub hints: bool,
    /// Let the length of a text count where categories are compared (`-P`).
    pub prior: bool,
    /// Processors to use (`--threads`), if given.
    pub threads: Option<usize>,
    /// How long to wait for another process (`--lock-timeout`).
    pub lock_timeout: Duration,
}

impl LearnJob {
    /// Whether text is printed while the inputs are read.
    pub const fn prints(&self) -> bool {
        self.verbose || self.append || self.debug || self.dump
    }
}

/// Comparing texts with categories.
pub struct ClassifyJob {
    pub reading: Reading,
    pub models: Vec<Model>,
    /// Where they came from, to load them again; `None` for random text.
    pub model_paths: Vec<Option<PathBuf>>,
    /// Forms of the results.
    pub form: Form,
    /// Form of results for programs (`--format`).
    pub format: Option<Format>,
    /// Numbers, from 0, of the categories whose lines are printed; empty without `-f`.
    pub filters: Vec<usize>,
    /// Classify each file by itself (`-F`).
    pub per_file: bool,
    /// Bits of the table for the text's own entropy (`-h`), if given.
    pub bits: Option<u8>,
    /// Let the length of a message count (`-P`).
    pub prior: bool,
    /// Print each token's scores (`-d`).
    pub dump: bool,
    /// Print the text as it is read (`-D`).
    pub debug: bool,
    /// Write each result at once (`--line-buffered`).
    pub line_buffered: bool,
    /// Print the verdict of categories that were fitted together (`--verdict`).
    pub verdict: bool,
    /// The sets that the categories were opened in, which stay locked until the end.
    pub _opened: OpenSets,
}

/// What a line of the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// A JSON object with a `text` and perhaps an `id`.
    Ndjson,
    /// A document.
    Lines,
}

impl Records {
    /// The kind of this name.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        match name {
            b"ndjson" => Some(Self::Ndjson),
            b"lines" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// Comparing records, one a line, with categories.
pub struct RecordsJob {
    pub reading: Reading,
    /// What a line is.
    pub records: Records,
    /// Form of the results.
    pub format: Format,
    pub models: Vec<Model>,
    /// Where they came from, to load them again; `None` for random text.
    pub model_paths: Vec<Option<PathBuf>>,
    /// Bits of the table for the text's own entropy (`-h`), if given.
    pub bits: Option<u8>,
    /// Let the length of a message count (`-P`).
    pub prior: bool,
    /// Print confidences (`-X`).
    pub confidence: bool,
    /// Processors to use (`--threads`), if given.
    pub threads: Option<usize>,
    /// The sets that the categories were opened in, which stay locked until the end.
    pub opened: OpenSets,
}

pub struct ExplainJob {
    /// The inputs, taken as one text.
    pub reading: Reading,
    pub models: Vec<Model>,
    /// Print an HTML page.
    pub is_html: bool,
    /// The sets that the categories were opened in, which stay locked until the end.
    pub _opened: OpenSets,
}

/// Counting without learning.
pub struct CountJob {
    pub reading: Reading,
    /// Where the counts go; `-` for standard output.
    pub target: PathBuf,
    /// Place of the counted part among all parts (`--place`).
    pub place: Option<u32>,
    /// Keep what confidences need (`-X`).
    pub confidence: bool,
    /// Processors to use (`--threads`), if given.
    pub threads: Option<usize>,
}

/// Merging counts.
pub struct MergeJob {
    /// The counts.
    pub sources: Vec<PathBuf>,
    /// Where the merged counts go; `-` for standard output.
    pub target: PathBuf,
    /// The character set of the run.
    pub locale: Locale,
}

/// Fitting categories together (`--refit`), and learning or forgetting single documents.
pub struct SetJob {
    pub reading: Reading,
    /// The category files; `None` for random text.
    pub model_paths: Vec<Option<PathBuf>>,
    /// The expressions of the set, as its first category stores them.
    pub patterns: Vec<Vec<u8>>,
    /// Say more of what was tried (`-v`).
    pub verbose: bool,
    /// How long to wait for another process (`--lock-timeout`).
    pub lock_timeout: Duration,
    /// The sets that the categories were opened in, which stay locked until the end.
    pub _opened: OpenSets,
}

impl SetJob {
    /// How the features of documents are made, as a ledger records it.
    pub fn features(&self) -> ledger::Settings {
        let reading = &self.reading;
        ledger_file::settings(reading.options, reading.scheme, reading.order, &self.patterns)
    }
}
