// SPDX-License-Identifier: GPL-3.0-or-later
//! What the options say together.

use super::count_files::Fitted;
use super::failure::{Failure, usage};
use super::jobs::{Job, Reading, Records};
use super::structured::Format;
use crate::learn::LearnSettings;
use crate::learn::reference::Reference;
use crate::model::settings::Locale;
use crate::report::print::Form;
use crate::score::model::Model;
use crate::shards::replay::Order;
use dbacl_files::lock::USUAL_LIMIT;
use std::path::PathBuf;
use std::time::Duration;

/// What the options say; every job takes of it what it needs.
pub(super) struct Config {
    /// Which inputs are read, and how.
    pub(super) reading: Reading,
    /// Where the category or the counts go; `-` for counts on standard output.
    pub(super) target: PathBuf,
    /// The categories to compare with.
    pub(super) models: Vec<Model>,
    /// Where those categories came from, to load them again; `None` for random text.
    pub(super) model_paths: Vec<Option<PathBuf>>,
    /// Numbers, from 0, of the categories whose lines are printed; empty without `-f`.
    pub(super) filters: Vec<usize>,
    /// Forms of the results.
    pub(super) form: Form,
    /// Classify each file by itself.
    pub(super) per_file: bool,
    /// Print the model, or each token's scores.
    pub(super) dump: bool,
    /// Print new tokens, or the text as it is read.
    pub(super) debug: bool,
    /// Let the length of a message count.
    pub(super) prior: bool,
    /// `-h`, if given.
    pub(super) bits: Option<u8>,
    /// `-H`, if given.
    pub(super) max_bits: Option<u8>,
    /// `-z`.
    pub(super) min_count: i32,
    /// `-x`.
    pub(super) decimation: Option<u32>,
    /// `-L`, or the type's default.
    pub(super) reference: Reference,
    /// `-q`, if given.
    pub(super) quality: Option<u8>,
    /// `-1`.
    pub(super) preload: bool,
    /// `-m`; it shows in progress texts and in online dumps.
    pub(super) memory_map: bool,
    /// `-o`.
    pub(super) online: Option<PathBuf>,
    /// `-O`, in order.
    pub(super) merges: Vec<PathBuf>,
    /// Counts to learn from instead of inputs (`--fit`).
    pub(super) counts: Option<Fitted>,
    /// The order of features of `--fit` (`--canonical`).
    pub(super) count_order: Order,
    /// Place of the counted shard (`--place`).
    pub(super) place: Option<u32>,
    /// Processors to use (`--threads`), if given.
    pub(super) threads: Option<usize>,
    /// Form of results for programs (`--format`).
    pub(super) format: Option<Format>,
    /// What a line of the input is, if each is a document (`--input`).
    pub(super) records: Option<Records>,
    /// Write each result at once (`--line-buffered`).
    pub(super) line_buffered: bool,
    /// Somebody is there to read a hint.
    pub(super) hints: bool,
    /// `--explain`; whether as HTML.
    pub(super) explain: Option<bool>,
    /// How long to wait for another process (`--lock-timeout`).
    pub(super) lock_timeout: Duration,
}

impl Config {
    /// A run without options.
    pub(super) fn new(locale: Locale, strict: bool) -> Self {
        Self {
            reading: Reading::new(locale, strict),
            target: PathBuf::new(),
            models: Vec::new(),
            model_paths: Vec::new(),
            filters: Vec::new(),
            form: Form::default(),
            per_file: false,
            dump: false,
            debug: false,
            prior: false,
            bits: None,
            max_bits: None,
            min_count: 0,
            decimation: None,
            reference: Reference::Dirichlet,
            quality: None,
            preload: false,
            memory_map: false,
            online: None,
            merges: Vec::new(),
            counts: None,
            count_order: Order::Appearance,
            place: None,
            threads: None,
            format: None,
            records: None,
            line_buffered: false,
            hints: false,
            explain: None,
            lock_timeout: USUAL_LIMIT,
        }
    }

    /// How a category is learned.
    pub(super) fn learn_settings(&self) -> LearnSettings {
        LearnSettings {
            bits: self.bits.unwrap_or(15),
            max_bits: self.max_bits,
            decimation: self.decimation,
            reference: self.reference,
            quality: self.quality,
            min_count: self.min_count,
            confidence: self.form.confidence,
            reservoir: self.form.confidence && self.online.is_none(),
            options: self.reading.options,
            scheme: self.reading.scheme,
        }
    }

    /// Whether learning prints text while the inputs are read.
    pub(super) const fn prints(&self) -> bool {
        self.form.verbose || self.form.append || self.debug || self.dump
    }

    /// Settles how the job reads, and refuses options that it does not take.
    pub(super) fn settle_for(&mut self, job: Job) -> Result<(), Failure> {
        match job {
            Job::Count => self.reading.whole = true,
            Job::Merge if self.reading.operands.is_empty() => {
                return usage("--merge needs counts to merge");
            }
            Job::Explain { .. } if self.models.len() < 2 => {
                return usage("--explain compares categories: give two or more with -c");
            }
            Job::Explain { .. } => self.reading.by_lines = false,
            Job::Learn | Job::Merge | Job::Classify | Job::ClassifyRecords(_) => {}
        }
        Ok(())
    }
}
