// SPDX-License-Identifier: GPL-3.0-or-later
//! What the options say together, and the settings that each job takes of it.

use super::categories::OpenSets;
use super::count_files::Fitted;
use super::failure::{Failure, Kind};
use super::jobs::{
    ClassifyJob, CountJob, ExplainJob, Job, LearnJob, MergeJob, Reading, Records, RecordsJob,
    SetJob,
};
use super::structured::Format;
use dbacl_engine::learn::LearnSettings;
use dbacl_engine::learn::reference::Reference;
use dbacl_engine::report::print::Form;
use dbacl_engine::score::model::Model;
use dbacl_engine::shards::replay::Order;
use dbacl_files::lock::USUAL_LIMIT;
use dbacl_model::settings::{Locale, ModelOption};
use std::path::PathBuf;
use std::time::Duration;

/// What the options say, before it is known which job they are for.
pub struct Config {
    /// Which inputs are read, and how.
    pub(super) reading: Reading,
    /// The categories to compare with.
    pub(super) models: Vec<Model>,
    /// The expressions of the set that is changed, as its first category stores them.
    pub(super) set_patterns: Option<Vec<Vec<u8>>>,
    /// Where those categories came from, to load them again.
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
    pub(super) counts: Option<Fitted<'static>>,
    /// The order of features of `--fit` (`--canonical`).
    pub(super) count_order: Order,
    pub(super) large: bool,
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
    /// The sets that categories were opened in; they are kept until the end.
    pub(super) opened: OpenSets,
    /// Somebody is there to read a hint.
    pub(super) hints: bool,
    pub(super) verdict: bool,
    /// `--explain`; whether as HTML.
    pub(super) explain: Option<bool>,
    pub(super) keep: Option<PathBuf>,
    /// How long to wait for another process (`--lock-timeout`).
    pub(super) lock_timeout: Duration,
}

impl Config {
    /// A run without options.
    pub(super) fn new(locale: Locale, strict: bool) -> Self {
        Self {
            reading: Reading::new(locale, strict),
            models: Vec::new(),
            set_patterns: None,
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
            large: false,
            place: None,
            threads: None,
            format: None,
            records: None,
            line_buffered: false,
            opened: OpenSets::default(),
            hints: false,
            verdict: false,
            explain: None,
            keep: None,
            lock_timeout: USUAL_LIMIT,
        }
    }

    fn learn_settings(&self) -> LearnSettings {
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

    /// The first option that a large category does not have, if one is given.
    pub(super) fn unfit_for_large(&self) -> Option<&'static str> {
        let has = |option| self.reading.options.has(option);
        let uses = [
            (self.online.is_some(), "-o"),
            (!self.merges.is_empty(), "-O"),
            (self.keep.is_some(), "--keep"),
            (self.preload, "-1"),
            (self.decimation.is_some(), "-x"),
            (self.bits.is_some(), "-h"),
            (self.max_bits.is_some(), "-H"),
            (self.form.confidence, "-X"),
            (self.form.uncertainty, "-U"),
            (!self.reading.own_patterns.is_empty(), "-g"),
            (has(ModelOption::Multinomial), "-M"),
            (self.form.append, "-a"),
            (self.dump, "-d"),
            (self.debug, "-D"),
        ];
        uses.into_iter().find_map(|(is_used, option)| is_used.then_some(option))
    }

    pub(super) fn learn(self, path: PathBuf) -> Result<LearnJob, Failure> {
        if self.keep.is_some() && self.decimation.is_some() {
            return Err(Failure::new(Kind::Usage, "--keep and -x do not go together"));
        }
        let settings = self.learn_settings();
        // A document of a ledger is found again when it comes alone, and none is missing.
        let keeps = self.keep.is_some();
        let reading = Reading { apart: keeps, whole: keeps, ..self.reading };
        Ok(LearnJob {
            reading,
            path,
            settings,
            counts: self.counts.map(|counts| (counts, self.count_order)),
            online: self.online,
            merges: self.merges,
            large: self.large,
            keep: self.keep,
            preload: self.preload,
            memory_map: self.memory_map,
            verbose: self.form.verbose,
            append: self.form.append,
            dump: self.dump,
            debug: self.debug,
            hints: self.hints,
            prior: self.prior,
            threads: self.threads,
            lock_timeout: self.lock_timeout,
        })
    }

    pub(super) fn count(self, target: PathBuf) -> Result<CountJob, Failure> {
        if self.decimation.is_some() {
            let text =
                "-x draws lots in the order of the input, so parts cannot be counted with it";
            return Err(Failure::new(Kind::Usage, text));
        }
        if self.online.is_some() || !self.merges.is_empty() {
            let text = "-o and -O can only be used with -l; --merge reads online memory dumps, too";
            return Err(Failure::new(Kind::Usage, text));
        }
        let (place, confidence, threads) = (self.place, self.form.confidence, self.threads);
        let reading = Reading { whole: true, ..self.reading };
        Ok(CountJob { reading, target, place, confidence, threads })
    }

    pub(super) fn merge(self, target: PathBuf) -> Result<MergeJob, Failure> {
        if self.reading.operands.is_empty() {
            return Err(Failure::new(Kind::Usage, "--merge needs counts to merge"));
        }
        let sources = self.reading.operands.into_iter().map(PathBuf::from).collect();
        Ok(MergeJob { sources, target, locale: self.reading.locale })
    }

    /// The job of `-c`, in one of its forms.
    pub(super) fn classify(self) -> Result<Job, Failure> {
        let mut reading = self.reading;
        if let Some(records) = self.records {
            return Ok(Job::ClassifyRecords(Box::new(RecordsJob {
                reading,
                records,
                format: self.format.unwrap_or(Format::Ndjson),
                models: self.models,
                model_paths: self.model_paths,
                bits: self.bits,
                prior: self.prior,
                confidence: self.form.confidence,
                threads: self.threads,
                opened: self.opened,
            })));
        }
        if let Some(is_html) = self.explain {
            if self.models.len() < 2 {
                let text = "--explain compares categories: give two or more with -c";
                return Err(Failure::new(Kind::Usage, text));
            }
            reading.by_lines = false;
            return Ok(Job::Explain(Box::new(ExplainJob {
                reading,
                models: self.models,
                is_html,
                _opened: self.opened,
            })));
        }
        Ok(Job::Classify(Box::new(ClassifyJob {
            reading,
            models: self.models,
            model_paths: self.model_paths,
            form: self.form,
            format: self.format,
            filters: self.filters,
            per_file: self.per_file,
            bits: self.bits,
            prior: self.prior,
            dump: self.dump,
            debug: self.debug,
            line_buffered: self.line_buffered,
            verdict: self.verdict,
            _opened: self.opened,
        })))
    }

    pub(super) fn set(self) -> SetJob {
        SetJob {
            // A set is not learned from a part of its documents, and each of them comes alone.
            reading: Reading { whole: true, apart: true, ..self.reading },
            model_paths: self.model_paths,
            patterns: self.set_patterns.unwrap_or_default(),
            verbose: self.form.verbose,
            lock_timeout: self.lock_timeout,
            _opened: self.opened,
        }
    }
}
