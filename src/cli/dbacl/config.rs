// SPDX-License-Identifier: GPL-3.0-or-later
//! From what was typed to the job that it asks for: options act one after the other, in order of
//! appearance, then come the checks of spec text 10.1, then the settings of the job.

use super::categories::{OpenSets, load_as, load_mapped, warn_of_writers};
use super::count_files;
use super::failure::{Failure, Kind, called};
use super::hints;
use super::jobs::{
    ClassifyJob, CountJob, ExplainJob, Job, LearnJob, MergeJob, Reading, Records, RecordsJob,
    SetJob,
};
use super::options::Key;
use super::structured::Format;
use crate::category::header::Header;
use crate::charset::Charset;
use crate::classify::shared::{SharedReading, complete_kind, default_scheme, settle_multinomial};
use crate::cli::getopt::Event;
use crate::cli::output::{Messages, raw};
use crate::error::Warning;
use crate::learn::LearnSettings;
use crate::learn::reference::Reference;
use crate::learn::table::MAX_BITS;
use crate::lock::USUAL_LIMIT;
use crate::model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use crate::numeric::parse::atoi;
use crate::report::print::Form;
use crate::score::model::{Model, PatternSet};
use crate::sets::refit;
use crate::shards::counts::{Counts, Documents, counting_options};
use crate::shards::replay::Order;
use crate::token::PatternId;
use crate::token::pattern::PatternList;
use dbacl_cli::names::{base_name, lossy, resolve};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Categories of a run at most.
const MAX_CATEGORIES: usize = 255;

/// What the options say, before it is known which job they are for.
struct Config {
    /// Files and folders to read; standard input if there are none.
    operands: Vec<OsString>,
    /// The option word of the model, or of the categories together.
    options: ModelOptions,
    /// How text is cut into words.
    scheme: Scheme,
    /// Longest n-gram.
    order: u8,
    /// The regular expressions, in load order.
    patterns: PatternList,
    /// Those given on the command line, without repeats.
    own_patterns: Vec<PatternId>,
    /// The categories to compare with.
    models: Vec<Model>,
    /// The expressions of the set that is changed, as its first category stores them.
    set_patterns: Option<Vec<Vec<u8>>>,
    /// Where those categories came from, to load them again.
    model_paths: Vec<Option<PathBuf>>,
    /// Numbers, from 0, of the categories whose lines are printed; empty without `-f`.
    filters: Vec<usize>,
    /// Forms of the results.
    form: Form,
    /// Classify each file by itself.
    per_file: bool,
    /// Read only indented lines.
    indented: bool,
    /// Print the model, or each token's scores.
    dump: bool,
    /// Print new tokens, or the text as it is read.
    debug: bool,
    /// Let the length of a mail count.
    prior: bool,
    /// `-h`, if given.
    bits: Option<u8>,
    /// `-H`, if given.
    max_bits: Option<u8>,
    /// `-z`.
    min_count: i32,
    /// `-x`.
    decimation: Option<u32>,
    /// `-L`, or the type's default.
    reference: Reference,
    /// `-q`, if given.
    quality: Option<u8>,
    /// `-1`.
    preload: bool,
    /// `-m`; it shows in progress texts and in online dumps.
    memory_map: bool,
    /// `-o`.
    online: Option<PathBuf>,
    /// `-O`, in order.
    merges: Vec<PathBuf>,
    /// Counts to learn from instead of inputs (`--fit`).
    counts: Option<Counts>,
    /// The order of features of `--fit` (`--canonical`).
    count_order: Order,
    /// Place of the counted shard (`--place`).
    place: Option<u32>,
    /// Processors to use (`--threads`), if given.
    threads: Option<usize>,
    /// Form of results for programs (`--format`).
    format: Option<Format>,
    /// What a line of the input is, if each is a document (`--input`).
    records: Option<Records>,
    /// Write each result at once (`--line-buffered`).
    line_buffered: bool,
    /// The character set of the run.
    locale: Locale,
    /// Status 0 for any verdict, `sysexits.h` for errors.
    strict: bool,
    /// The sets that categories were opened in; they are kept until the end.
    opened: OpenSets,
    /// Zero bytes are blanks.
    keep_nul: bool,
    /// The character set of the text, if it is told.
    charset: Option<Charset>,
    /// Somebody is there to read a hint.
    hints: bool,
    /// `--verdict`.
    verdict: bool,
    /// `--explain`; whether as HTML.
    explain: Option<bool>,
    /// `--keep`.
    keep: Option<PathBuf>,
    /// How long to wait for another process (`--lock-timeout`).
    lock_timeout: Duration,
}

impl Config {
    /// How a category is learned.
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
            options: self.options,
            scheme: self.scheme,
        }
    }

    /// Which inputs are read, and how. Operands and regular expressions move there.
    fn reading(&mut self) -> Reading {
        Reading {
            operands: std::mem::take(&mut self.operands),
            options: self.options,
            scheme: self.scheme,
            order: self.order,
            patterns: std::mem::replace(&mut self.patterns, PatternList::new(self.locale)),
            own_patterns: std::mem::take(&mut self.own_patterns),
            locale: self.locale,
            keep_nul: self.keep_nul,
            charset: self.charset,
            indented: self.indented,
            by_lines: !self.filters.is_empty(),
            apart: false,
            whole: false,
            strict: self.strict,
        }
    }

    fn learn(mut self, path: PathBuf) -> Result<LearnJob, Failure> {
        if self.keep.is_some() && self.decimation.is_some() {
            return Err(Failure::new(Kind::Usage, "--keep and -x do not go together"));
        }
        let settings = self.learn_settings();
        // A document of a ledger is found again when it comes alone.
        let reading = Reading { apart: self.keep.is_some(), ..self.reading() };
        Ok(LearnJob {
            reading,
            path,
            settings,
            counts: self.counts.map(|counts| (counts, self.count_order)),
            online: self.online,
            merges: self.merges,
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

    fn count(mut self, target: PathBuf) -> Result<CountJob, Failure> {
        if self.decimation.is_some() {
            let text =
                "-x draws lots in the order of the input, so parts cannot be counted with it";
            return Err(Failure::new(Kind::Usage, text));
        }
        if self.online.is_some() || !self.merges.is_empty() {
            let text = "-o and -O go with -l; --merge reads online memory dumps, too";
            return Err(Failure::new(Kind::Usage, text));
        }
        let (place, confidence, threads) = (self.place, self.form.confidence, self.threads);
        Ok(CountJob { reading: self.reading(), target, place, confidence, threads })
    }

    fn merge(self, target: PathBuf) -> Result<MergeJob, Failure> {
        if self.operands.is_empty() {
            return Err(Failure::new(Kind::Usage, "--merge needs counts to merge"));
        }
        let sources = self.operands.into_iter().map(PathBuf::from).collect();
        Ok(MergeJob { sources, target, locale: self.locale })
    }

    /// The job of `-c`, in one of its forms.
    fn classify(mut self) -> Result<Job, Failure> {
        let mut reading = self.reading();
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

    fn set(mut self) -> SetJob {
        SetJob {
            // A set is not learned from a part of its documents, and each of them comes alone.
            reading: Reading { whole: true, apart: true, ..self.reading() },
            model_paths: self.model_paths,
            patterns: self.set_patterns.unwrap_or_default(),
            verbose: self.form.verbose,
            lock_timeout: self.lock_timeout,
            _opened: self.opened,
        }
    }
}

/// Options as they act, one by one.
pub struct Builder<'a> {
    program: &'a OsStr,
    messages: &'a Messages,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    learn: Option<PathBuf>,
    classify: bool,
    count: Option<PathBuf>,
    merge: Option<PathBuf>,
    fit: Vec<PathBuf>,
    has_order: bool,
    scheme: Option<Scheme>,
    reference: Option<Reference>,
    wide: bool,
    /// Part of the command line was not understood and passed over.
    misread: bool,
    cuts: Vec<(Vec<u8>, hints::Cut)>,
    /// Categories that are damaged will be made anew from their ordinary files.
    mends: bool,
    config: Config,
}

impl<'a> Builder<'a> {
    /// A run without options. `variable` looks up the environment.
    pub fn new(
        program: &'a OsStr,
        messages: &'a Messages,
        variable: &'a dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let locale = Locale::from_environment(|name| variable(name)?.into_string().ok());
        let strict = variable("DBACL_STRICT").is_some_and(|value| value == "1");
        let config = Config {
            operands: Vec::new(),
            options: ModelOptions::default(),
            scheme: Scheme::Alpha,
            order: 1,
            patterns: PatternList::new(locale),
            own_patterns: Vec::new(),
            models: Vec::new(),
            set_patterns: None,
            model_paths: Vec::new(),
            filters: Vec::new(),
            form: Form::default(),
            per_file: false,
            indented: false,
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
            locale,
            strict,
            opened: OpenSets::default(),
            keep_nul: false,
            charset: None,
            hints: false,
            verdict: false,
            explain: None,
            keep: None,
            lock_timeout: USUAL_LIMIT,
        };
        Self {
            program,
            messages,
            variable,
            learn: None,
            classify: false,
            count: None,
            merge: None,
            fit: Vec::new(),
            has_order: false,
            scheme: None,
            reference: None,
            wide: false,
            misread: false,
            cuts: Vec::new(),
            mends: false,
            config,
        }
    }

    /// The operands so far, which the caller looks at.
    pub fn take_operands(&mut self) -> Vec<OsString> {
        std::mem::take(&mut self.config.operands)
    }

    /// How long to wait for another process.
    pub const fn lock_timeout(&self) -> Duration {
        self.config.lock_timeout
    }

    /// Whether part of the command line was not understood.
    pub const fn is_misread(&self) -> bool {
        self.misread
    }

    /// Whether errors have the statuses of strict mode, as far as options have been read.
    pub const fn is_strict(&self) -> bool {
        self.config.strict
    }

    fn warn(&self, text: &str) {
        self.messages.warning(text);
    }

    /// Says something helpful to a person.
    fn hint(&self, text: &str) {
        if hints::are_welcome(self.messages.is_quiet()) {
            self.messages.hint(text);
        }
    }

    /// Lets one part of the command line act; `Some` is a text to print instead of any job.
    ///
    /// # Errors
    /// What stops the run at this option.
    pub fn act(&mut self, event: Event<Key>) -> Result<Option<String>, Failure> {
        match event {
            Event::Operand(operand) => self.config.operands.push(operand),
            Event::Complaint(message) => {
                self.misread = true;
                raw(&message);
                if let Some(hint) = hints::about_option(&message) {
                    self.hint(&hint);
                }
            }
            Event::Option { key, value } => return self.option(key, &value.unwrap_or_default()),
        }
        Ok(None)
    }

    fn option(&mut self, key: Key, value: &OsStr) -> Result<Option<String>, Failure> {
        let bytes = value.as_bytes();
        let number = atoi(bytes);
        let config = &mut self.config;
        let usage = |text: &str| Err(Failure::new(Kind::Usage, text));
        match key {
            Key::Help if super::help::is_logged() => {
                // What the original made of it: an unknown `-`, then `-h elp`.
                raw(&[self.program.as_bytes(), b": invalid option -- '-'"].concat());
                self.config.bits = Some(0);
            }
            Key::Help => return Ok(Some(super::help::text())),
            Key::Version => return Ok(Some(super::help::version())),
            Key::VersionText => return Ok(Some(super::help::version_text())),
            Key::Learn => self.learn(bytes)?,
            Key::Category => self.category(bytes)?,
            Key::Random => {
                if self.learn.is_some() {
                    return usage("cannot use options -l and -R together");
                }
                self.classify = true;
                if config.models.len() < MAX_CATEGORIES {
                    config.models.push(Model::random());
                    config.model_paths.push(None);
                } else {
                    self.warn("random text category omitted");
                }
            }
            Key::FilterLines => self.filter(bytes)?,
            Key::Type => self.text_type(bytes),
            Key::Verbose => config.form.verbose = true,
            Key::Scores => config.form.scores = true,
            Key::Probabilities => config.form.probabilities = true,
            Key::Uncertainty => {
                config.form.uncertainty = true;
                config.options.insert(ModelOption::Entropy);
            }
            Key::Confidence => {
                config.form.confidence = true;
                config.options.insert(ModelOption::Entropy);
            }
            Key::Prior => config.prior = true,
            Key::PerFile => config.per_file = true,
            Key::Append => config.form.append = true,
            Key::AppendIndented => {
                config.form.append = true;
                config.indented = true;
            }
            Key::ByLine => config.form.by_line = true,
            Key::Media => config.form.media = true,
            Key::Dump => config.dump = true,
            Key::Debug => config.debug = true,
            Key::Tokenizer => {
                if let Some(scheme) = Scheme::by_name(bytes) {
                    self.scheme = Some(scheme);
                } else {
                    self.misread = true;
                    self.warn(&format!("unrecognized option \"{}\", ignoring.", lossy(bytes)));
                }
            }
            Key::Order => match u8::try_from(number) {
                Ok(order @ 1..=7) => {
                    config.order = order;
                    self.has_order = true;
                }
                _ => return usage("the -w switch needs a number between 1 and 7"),
            },
            Key::Quality => match u8::try_from(number) {
                Ok(quality @ 1..=4) => config.quality = Some(quality),
                _ => {
                    return usage(
                        "the -q switch needs a number between 1(fastest) and 4(best quality)",
                    );
                }
            },
            Key::KeepCase => config.options.insert(ModelOption::KeepCase),
            Key::Straddle => config.options.insert(ModelOption::Straddle),
            Key::Regex => {
                let messages = self.messages;
                let mut warn = |warning: Warning| messages.warning(&warning.0);
                let pattern = config.patterns.add(bytes, &mut warn)?;
                if !config.own_patterns.contains(&pattern) {
                    config.own_patterns.push(pattern);
                }
            }
            Key::Wide => {
                self.wide = true;
                if config.locale == Locale::Utf8 {
                    self.warn("you have UTF-8, so -i is not needed.");
                }
            }
            Key::TableBits => self.config.bits = Some(self.table_bits(number)),
            Key::MaxTableBits => self.config.max_bits = Some(self.table_bits(number)),
            Key::MinCount => config.min_count = number,
            Key::Decimation => match u32::try_from(number) {
                Ok(decimation @ 1..=30) => config.decimation = Some(decimation),
                _ => self.warn("option -x ignored, needs an integer between 1 and 30"),
            },
            Key::Reference => match Reference::by_name(bytes) {
                Some(reference) => self.reference = Some(reference),
                None => {
                    return usage(
                        "-L option needs one of \"uniform\", \"dirichlet\", \"maxent\", \
                         \"toklen\", \"mle\"",
                    );
                }
            },
            Key::ReferenceOnly => config.options.insert(ModelOption::ReferenceOnly),
            Key::Multinomial => config.options.insert(ModelOption::Multinomial),
            Key::Preload => config.preload = true,
            Key::NoPreload => config.preload = false,
            Key::Online | Key::MergeOnline if bytes.is_empty() => {
                self.misread = true;
                self.messages.error("category name must not be empty in -o switch");
            }
            Key::Online => {
                if config.online.is_some() {
                    self.warn("multiple -o switches not supported, ignoring all but the first");
                } else {
                    self.config.online = Some(self.resolve(bytes));
                }
            }
            Key::MergeOnline => {
                let path = self.resolve(bytes);
                self.config.merges.push(path);
            }
            Key::MemoryMap => config.memory_map = true,
            Key::Nothing => {}
            Key::Verdict => config.verdict = true,
            Key::Explain => config.explain = Some(false),
            Key::ExplainHtml => config.explain = Some(true),
            Key::Keep => config.keep = Some(PathBuf::from(value)),
            Key::Count | Key::Merge | Key::Fit if bytes.is_empty() => {
                return usage("a file of counts needs a name");
            }
            Key::Count => self.count = Some(PathBuf::from(value)),
            Key::Merge => self.merge = Some(PathBuf::from(value)),
            Key::Fit => self.fit.push(PathBuf::from(value)),
            Key::Place => match parsed(bytes) {
                Some(place) => config.place = Some(place),
                None => return usage("--place needs a number from 0 to 4294967295"),
            },
            Key::Canonical => config.count_order = Order::Canonical,
            Key::Threads => match parsed(bytes) {
                Some(threads @ 0..=1024) => {
                    config.threads = usize::try_from(threads).ok().filter(|&threads| threads > 0);
                }
                _ => return usage("--threads needs a number from 1 to 1024, or 0 for all"),
            },
            Key::Format => match Format::by_name(bytes) {
                Some(format) => config.format = Some(format),
                None => return usage("--format needs one of json, ndjson, tsv"),
            },
            Key::Input => match Records::by_name(bytes) {
                Some(records) => config.records = Some(records),
                None => return usage("--input needs one of ndjson, lines"),
            },
            Key::LineBuffered => config.line_buffered = true,
            Key::LockTimeout => match parsed(bytes) {
                Some(seconds) => config.lock_timeout = Duration::from_secs(seconds.into()),
                None => return usage("--lock-timeout needs a number of seconds"),
            },
            Key::Strict => config.strict = true,
            Key::Quiet => self.messages.be_quiet(),
            Key::KeepNul => config.keep_nul = true,
            Key::Charset => match Charset::by_label(bytes) {
                Some(charset) => config.charset = Some(charset),
                None => {
                    return usage(&format!(
                        "--charset: no character set is called {}",
                        lossy(bytes)
                    ));
                }
            },
            // What goes with `--refit` and with the mail filter was taken out before, if that is
            // what is asked for.
            _ => return usage("this option goes with --refit, or alone"),
        }
        Ok(None)
    }

    /// Bits of a table's size: C's `atoi`, cut to eight bits, at most 30.
    fn table_bits(&self, number: i32) -> u8 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as the reference does
        let bits = number as u8;
        if bits > MAX_BITS {
            self.warn("maximum hash size will be 2^30");
        }
        bits.min(MAX_BITS)
    }

    /// The path of the category called `name`.
    pub fn resolve(&self, name: &[u8]) -> PathBuf {
        resolve((self.variable)("DBACL_PATH").as_deref(), name)
    }

    /// Chooses the category to learn.
    ///
    /// # Errors
    /// One was chosen before, or categories to compare with were.
    pub fn learn(&mut self, name: &[u8]) -> Result<(), Failure> {
        let usage = |text: &str| Err(Failure::new(Kind::Usage, text));
        if self.classify {
            return usage("cannot use options -l and -c together");
        }
        if self.learn.is_some() {
            return usage("option -l can only occur once");
        }
        if name.is_empty() {
            self.messages.error("category name must not be empty");
        } else {
            self.learn = Some(self.resolve(name));
        }
        Ok(())
    }

    fn filter(&mut self, name: &[u8]) -> Result<(), Failure> {
        let usage = |text: String| Err(Failure::new(Kind::Usage, text));
        if self.learn.is_some() {
            return usage("cannot use options -l and -f together".into());
        }
        if name.is_empty() {
            return usage("filter must be category name or number".into());
        }
        let is_named =
            |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| base_name(path) == name);
        let named = self.config.models.iter().position(|model| model.name == name);
        let named = named.or_else(|| self.config.model_paths.iter().position(is_named));
        let number = usize::try_from(atoi(name)).ok().filter(|&number| number > 0);
        if let Some(at) = named.or(number.map(|number| number - 1)) {
            self.config.filters.push(at);
        } else {
            let name = lossy(name);
            if self.config.model_paths.is_empty() {
                self.hint(hints::FILTER_FIRST);
            }
            return usage(format!("unrecognized category in -f option [{name}]"));
        }
        Ok(())
    }

    fn text_type(&mut self, name: &[u8]) {
        let lower = name.to_ascii_lowercase();
        if lower.starts_with(b"text") {
            return;
        }
        let (family, kind) = match lower.as_slice() {
            b"email" => (ModelOption::Mail, None),
            b"email:headers" => (ModelOption::Mail, Some(ModelOption::MailHeaders)),
            b"email:theaders" => (ModelOption::Mail, Some(ModelOption::MailTHeaders)),
            b"email:xheaders" => (ModelOption::Mail, Some(ModelOption::MailXHeaders)),
            b"email:noheaders" => (ModelOption::Mail, Some(ModelOption::MailNoHeaders)),
            b"email:atts" => (ModelOption::Mail, Some(ModelOption::MailAttachments)),
            b"email:unicode" => (ModelOption::Mail, Some(ModelOption::MailUnicode)),
            b"email:traits" => (ModelOption::MailUnicode, Some(ModelOption::MailTraits)),
            b"email:plain" => (ModelOption::Mail, Some(ModelOption::MailPlain)),
            b"email:noplain" => (ModelOption::Mail, Some(ModelOption::MailNoPlain)),
            b"html" => (ModelOption::Html, None),
            b"html:links" => (ModelOption::Html, Some(ModelOption::HtmlLinks)),
            b"html:alt" => (ModelOption::Html, Some(ModelOption::HtmlAlt)),
            b"html:forms" => (ModelOption::Html, Some(ModelOption::HtmlForms)),
            b"html:scripts" => (ModelOption::Html, Some(ModelOption::HtmlScripts)),
            b"html:styles" => (ModelOption::Html, Some(ModelOption::HtmlStyles)),
            b"html:comments" => (ModelOption::Html, Some(ModelOption::HtmlComments)),
            b"xml" => (ModelOption::Xml, None),
            _ => {
                let name = lossy(name);
                self.misread = true;
                self.warn(&format!("unrecognized option -T {name}, ignoring."));
                return self.hint(hints::KINDS);
            }
        };
        self.config.options.insert(family);
        if family == ModelOption::MailUnicode {
            self.config.options.insert(ModelOption::Mail);
        }
        if let Some(kind) = kind {
            self.config.options.insert(kind);
        }
    }

    /// Chooses a category to compare with.
    ///
    /// # Errors
    /// One that cannot be opened, or does not go with what was chosen before.
    pub fn category(&mut self, name: &[u8]) -> Result<(), Failure> {
        if self.learn.is_some() {
            return Err(Failure::new(Kind::Usage, "cannot use options -l and -c together"));
        }
        if name.is_empty() {
            return Err(Failure::new(Kind::Usage, "category needs a name"));
        }
        self.classify = true;
        if self.config.model_paths.len() >= MAX_CATEGORIES {
            self.warn("maximum reached, category ignored");
            return Ok(());
        }
        let path = self.resolve(name);
        let file = self.config.opened.place_of(&path)?;
        if self.mends {
            // The set's files are read when it is changed; here it is only how documents are read.
            let head = refit::head_or_ordinary(&file);
            let head = head.map_err(|error| called(error.into(), &file, &path))?;
            warn_of_writers(&file, &path);
            self.adopt(&path, head.header(), head.patterns())?;
            let patterns = head.patterns().to_vec();
            self.config.set_patterns.get_or_insert(patterns);
            self.config.model_paths.push(Some(path));
            return Ok(());
        }
        let category = if self.config.memory_map {
            load_mapped(&file, &path)?
        } else {
            load_as(&file, &path)?
        };
        let patterns = self.adopt(&path, category.header(), category.patterns())?;
        self.config.models.push(Model::learned(base_name(&path), category, patterns));
        self.config.model_paths.push(Some(path));
        Ok(())
    }

    /// Takes over how the text of a category was cut.
    ///
    /// # Errors
    /// A category that does not go with the options or the other categories.
    fn adopt(
        &mut self,
        path: &Path,
        header: &Header,
        patterns: &[Vec<u8>],
    ) -> Result<PatternSet, Failure> {
        self.classify = true;
        let shown = base_name(path);
        let set = self.restore(&shown, header, patterns)?;
        self.cuts.push((shown, hints::cut(header, patterns)));
        Ok(set)
    }

    /// Says that the categories are going to be fitted anew.
    pub const fn mends_categories(&mut self) {
        self.mends = true;
    }

    /// Takes over how a category is read; returns which expressions are its own.
    fn restore(
        &mut self,
        name: &[u8],
        header: &Header,
        patterns: &[Vec<u8>],
    ) -> Result<PatternSet, Failure> {
        let config = &mut self.config;
        let mut shared = SharedReading {
            options: config.options,
            scheme: self.scheme,
            order: config.order,
            patterns: std::mem::replace(&mut config.patterns, PatternList::new(config.locale)),
        };
        let messages = self.messages;
        let mut warn = |warning: Warning| messages.warning(&warning.0);
        let patterns = shared.add_header(name, header, patterns, &mut warn);
        (config.options, self.scheme) = (shared.options, shared.scheme);
        (config.order, config.patterns) = (shared.order, shared.patterns);
        Ok(patterns?)
    }

    /// The job that the options ask for.
    ///
    /// # Errors
    /// What makes it impossible.
    pub fn job(mut self) -> Result<Job, Failure> {
        self.settle()?;
        let Self { config, learn, count, merge, .. } = self;
        match (merge, count, learn) {
            (Some(target), _, _) => config.merge(target).map(Job::Merge),
            (_, Some(target), _) => config.count(target).map(|job| Job::Count(Box::new(job))),
            (_, _, Some(path)) => config.learn(path).map(|job| Job::Learn(Box::new(job))),
            (None, None, None) => config.classify(),
        }
    }

    /// The job of changing a set whose categories the options name.
    ///
    /// # Errors
    /// What makes it impossible.
    pub fn set_job(mut self) -> Result<SetJob, Failure> {
        self.settle()?;
        Ok(self.config.set())
    }

    /// The checks after all options, in their order.
    fn settle(&mut self) -> Result<(), Failure> {
        use ModelOption::{Entropy, HtmlComments, Mail, StandardTokenizer};
        let usage = |text: &str| Err(Failure::new(Kind::Usage, text));
        if self.config.strict && self.misread {
            return Err(Failure::silent(Kind::Usage));
        }
        let tasks =
            [self.learn.is_some(), self.classify, self.count.is_some(), self.merge.is_some()];
        let tasks = tasks.iter().filter(|&&task| task).count();
        if self.count.is_none() && self.merge.is_none() && tasks != 1 {
            return usage("please use either -c or -l option.");
        }
        if tasks != 1 {
            return usage("please use only one of -l, -c, --count and --merge.");
        }
        if self.merge.is_some() {
            return Ok(());
        }
        if self.count.is_none() && self.config.place.is_some() {
            return usage("--place goes with --count");
        }
        if self.fit.is_empty() && self.config.count_order == Order::Canonical {
            return usage("--canonical goes with --fit");
        }
        if self.learn.is_none() && !self.fit.is_empty() {
            return usage("--fit goes with -l");
        }
        let for_programs = self.config.format.is_some() || self.config.records.is_some();
        if for_programs && !self.classify {
            return usage("--format and --input go with -c");
        }
        let form = self.config.form;
        let shows = form.append || self.config.dump || self.config.debug;
        if for_programs && (shows || !self.config.filters.is_empty()) {
            return usage("--format and --input do not go with -a, -A, -d, -D and -f");
        }
        if for_programs && self.config.explain.is_some() {
            return usage("--format and --input do not go with --explain");
        }
        if self.config.records.is_some() && self.config.verdict {
            return usage("--input does not go with --verdict");
        }
        if self.config.keep.is_some() && self.count.is_some() {
            return usage("--keep goes with -l, not with --count");
        }
        if self.config.keep.is_some() && !self.fit.is_empty() {
            return usage("--keep needs the documents; it does not go with --fit");
        }
        if self.config.records.is_some() && self.config.per_file {
            return usage("--input does not go with -F");
        }
        if self.config.charset.is_some() && self.config.options.has(Mail) {
            return usage("--charset does not go with -T email: mail says what it is written in");
        }
        if self.config.charset.is_some() && self.config.records.is_some() {
            return usage("--charset does not go with --input");
        }
        self.adopt_counts()?;
        let learning = self.learn.is_some() || self.count.is_some();
        let config = &mut self.config;
        if config.form.confidence && (config.online.is_some() || !config.merges.is_empty()) {
            config.options.remove(HtmlComments);
        }
        if !learning && config.decimation.take().is_some() {
            self.messages.warning("option -x ignored, applies only when learning.");
        }
        if config.dump && config.form.verbose {
            config.form.verbose = false;
            config.debug = false;
        }
        complete_kind(&mut config.options)?;
        if learning && config.options.has(Mail) {
            config.options.insert(Entropy);
        }
        if config.form.append && !config.filters.is_empty() {
            config.form.append = false;
            self.messages.warning("disabling option -a, because it cannot be used with -f.");
        }
        if learning {
            if config.patterns.is_empty() {
                config.options.insert(StandardTokenizer);
            } else {
                config.options.remove(StandardTokenizer);
            }
        }
        if self.wide {
            self.messages.warning(
                "this version of dbacl does not support -g and -i switches simultaneously, \
                 disabling -i.",
            );
        }
        let models = if learning { &[] } else { config.models.as_slice() };
        // Categories that are fitted together are not multinomial, or the fit says so.
        if !self.mends && settle_multinomial(&mut config.options, models) {
            self.messages.warning(
                "not all categories support multinomial calculations, disabling (-M switch)",
            );
        }
        let mail = config.options.has(Mail);
        config.scheme = self.scheme.unwrap_or(default_scheme(config.options));
        config.reference =
            self.reference.unwrap_or(if mail { Reference::Uniform } else { Reference::Dirichlet });
        config.hints = hints::are_welcome(self.messages.is_quiet());
        if config.hints {
            let asks_for_best = !learning && config.filters.is_empty() && config.form.verbose;
            let alone = asks_for_best && config.models.len() == 1;
            let typed = config.operands.is_empty() && hints::input_is_typed();
            for hint in [
                hints::about_cuts(&self.cuts),
                alone.then(|| hints::ALONE.into()),
                typed.then(|| hints::TYPED.into()),
            ]
            .into_iter()
            .flatten()
            {
                self.messages.hint(&hint);
            }
        }
        let fits = |counts: &Counts| {
            counts.settings.options == counting_options(config.options)
                && (config.options.has(Mail) || counts.settings.documents == Documents::None)
        };
        if !config.counts.as_ref().is_none_or(fits) {
            return usage("these options do not go with --fit");
        }
        Ok(())
    }

    /// Loads the counts of `--fit`, and takes over how they were counted.
    fn adopt_counts(&mut self) -> Result<(), Failure> {
        if self.fit.is_empty() {
            return Ok(());
        }
        let usage = |text: &str| Err(Failure::new(Kind::Usage, text));
        let config = &mut self.config;
        if !config.operands.is_empty() {
            return usage("--fit reads no other input");
        }
        if config.decimation.is_some() {
            return usage("-x has no effect on what was counted; it does not go with --fit");
        }
        let counts = count_files::load_all(&self.fit, config.locale)?;
        let theirs = &counts.settings;
        let united = ModelOptions::from_bits(
            counting_options(config.options).bits() | theirs.options.bits(),
        );
        let name = self.fit[0].display();
        let refuse = |what: &str| {
            let text = format!("{name} was counted with {what}; leave that to the counts");
            Err(Failure::new(Kind::Usage, text))
        };
        if united != theirs.options {
            return refuse("other options (-T, -j or -S)");
        }
        if self.scheme.is_some_and(|scheme| scheme != theirs.scheme) {
            return refuse("another tokenizing scheme (-e)");
        }
        if self.has_order && config.order != theirs.order {
            return refuse("another order of n-grams (-w)");
        }
        if config.form.confidence && theirs.documents == Documents::Bags {
            return refuse("no order of tokens in documents (-X)");
        }
        let given = config.own_patterns.iter().map(|&pattern| config.patterns.stored(pattern));
        let given: Vec<Vec<u8>> = given.collect();
        if given.is_empty() {
            for text in &theirs.patterns {
                let messages = self.messages;
                let mut warn = |warning: Warning| messages.warning(&warning.0);
                let pattern = config.patterns.add(text, &mut warn)?;
                config.own_patterns.push(pattern);
            }
        } else if given != theirs.patterns {
            return refuse("other regular expressions (-g)");
        }
        let bits = config.options.bits() | theirs.options.bits();
        config.options = ModelOptions::from_bits(bits);
        config.order = theirs.order;
        self.scheme = Some(theirs.scheme);
        config.counts = Some(counts);
        Ok(())
    }
}

/// A whole number in digits only.
fn parsed(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(bytes).ok().filter(|_| digits)?.parse().ok()
}
