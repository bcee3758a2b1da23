// SPDX-License-Identifier: GPL-3.0-or-later
//! From what was typed to what is asked for: options act one after the other, in order of
//! appearance.

use super::categories::{load, load_mapped};
use super::config::Config;
use super::failure::{Failure, usage};
use super::hints;
use super::job_options::needs_job;
use super::jobs::Records;
use super::messages::{MESSAGES, warn};
use super::options::{KINDS, Key};
use super::structured::{FORMATS, Format};
use crate::category::header::Header;
use crate::error::Error;
use crate::learn::reference::Reference;
use crate::learn::table::MAX_BITS;
use crate::model::settings::{Locale, ModelOption, Scheme};
use crate::score::model::{Model, PatternSet};
use crate::sets::classify::shared::SharedReading;
use crate::shards::replay::Order;
use crate::token::pattern::PatternList;
use dbacl_cli::getopt::Event;
use dbacl_cli::names::{base_name, lossy, resolve};
use dbacl_cli::output::raw;
use dbacl_numeric::parse::atoi;
use dbacl_words::charset::Charset;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Categories of a run at most.
const MAX_CATEGORIES: usize = 255;

/// Looks up the environment.
pub(super) type Variable = fn(&str) -> Option<OsString>;

/// Options as they act, one by one.
pub(super) struct Builder {
    variable: Variable,
    /// The options of the command line, in its order.
    pub(super) used: Vec<Key>,
    pub(super) learn: Option<PathBuf>,
    pub(super) classify: bool,
    pub(super) count: Option<PathBuf>,
    pub(super) merge: Option<PathBuf>,
    pub(super) fit: Vec<PathBuf>,
    pub(super) scheme: Option<Scheme>,
    pub(super) reference: Option<Reference>,
    pub(super) wide: bool,
    /// Part of the command line was not understood and passed over.
    pub(super) misread: bool,
    pub(super) cuts: Vec<(Vec<u8>, hints::Cut)>,
    pub(super) config: Config,
}

impl Builder {
    /// A run without options.
    pub(super) fn new(variable: Variable) -> Self {
        let locale = Locale::from_environment(|name| variable(name)?.into_string().ok());
        let strict = variable("DBACL_STRICT").is_some_and(|value| value == "1");
        Self {
            variable,
            used: Vec::new(),
            learn: None,
            classify: false,
            count: None,
            merge: None,
            fit: Vec::new(),
            scheme: None,
            reference: None,
            wide: false,
            misread: false,
            cuts: Vec::new(),
            config: Config::new(locale, strict),
        }
    }

    /// Lets one part of the command line act; `Some` is a text to print instead of any job.
    pub(super) fn act(&mut self, event: Event<Key>) -> Result<Option<String>, Failure> {
        match event {
            Event::Operand(operand) => self.config.reading.operands.push(operand),
            Event::Complaint(message) => {
                self.misread = true;
                raw(&message);
                if let Some(hint) = hints::about_option(&message)
                    && !MESSAGES.is_quiet()
                {
                    // The original had no long options, so no script relies on this message.
                    MESSAGES.hint(&hint);
                }
            }
            Event::Option { key, value } => {
                self.used.push(key);
                return self.option(key, &value.unwrap_or_default());
            }
        }
        Ok(None)
    }

    fn option(&mut self, key: Key, value: &OsStr) -> Result<Option<String>, Failure> {
        let bytes = value.as_bytes();
        let number = atoi(bytes);
        let config = &mut self.config;
        match key {
            Key::Help => return Ok(Some(super::help::text())),
            Key::MailHelp => return Ok(Some(super::help::mail())),
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
                    MESSAGES.warning("random text category omitted");
                }
            }
            Key::FilterLines => self.filter(bytes)?,
            Key::Type => self.text_type(bytes),
            Key::Verbose => config.form.verbose = true,
            Key::Scores => config.form.scores = true,
            Key::Probabilities => config.form.probabilities = true,
            Key::Uncertainty => {
                config.form.uncertainty = true;
                config.reading.options.insert(ModelOption::Entropy);
            }
            Key::Confidence => {
                config.form.confidence = true;
                config.reading.options.insert(ModelOption::Entropy);
            }
            Key::Prior => config.prior = true,
            Key::PerFile => config.per_file = true,
            Key::Append => config.form.append = true,
            Key::AppendIndented => {
                config.form.append = true;
                config.reading.indented = true;
            }
            Key::Media => config.form.media = true,
            Key::Dump => config.dump = true,
            Key::Debug => config.debug = true,
            Key::Tokenizer => {
                if let Some(scheme) = Scheme::by_name(bytes) {
                    self.scheme = Some(scheme);
                } else {
                    self.misread = true;
                    MESSAGES
                        .warning(&format!("unrecognized option \"{}\", ignoring.", lossy(bytes)));
                }
            }
            Key::Order => match u8::try_from(number) {
                Ok(order @ 1..=7) => config.reading.order = order,
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
            Key::KeepCase => config.reading.options.insert(ModelOption::KeepCase),
            Key::Straddle => config.reading.options.insert(ModelOption::Straddle),
            Key::Regex => {
                let pattern = config.reading.patterns.add(bytes, &mut warn);
                if let Err(Error::Pattern { pattern, why }) = &pattern {
                    hints::give(&format!("{pattern}: {why}"));
                }
                let pattern = pattern?;
                if !config.reading.own_patterns.contains(&pattern) {
                    config.reading.own_patterns.push(pattern);
                }
            }
            Key::Wide => {
                self.wide = true;
                if config.reading.locale == Locale::Utf8 {
                    MESSAGES.warning("you have UTF-8, so -i is not needed.");
                }
            }
            Key::TableBits => self.config.bits = Some(table_bits(number)),
            Key::MaxTableBits => self.config.max_bits = Some(table_bits(number)),
            Key::MinCount => config.min_count = number,
            Key::Decimation => match u32::try_from(number) {
                Ok(decimation @ 1..=30) => config.decimation = Some(decimation),
                _ => MESSAGES.warning("option -x ignored, needs an integer between 1 and 30"),
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
            Key::ReferenceOnly => config.reading.options.insert(ModelOption::ReferenceOnly),
            Key::Multinomial => config.reading.options.insert(ModelOption::Multinomial),
            Key::Preload => config.preload = true,
            Key::NoPreload => config.preload = false,
            Key::Online | Key::MergeOnline if bytes.is_empty() => {
                self.misread = true;
                MESSAGES.error("category name must not be empty in -o switch");
            }
            Key::Online => {
                if config.online.is_some() {
                    MESSAGES
                        .warning("multiple -o switches not supported, ignoring all but the first");
                } else {
                    self.config.online = Some(self.resolve(bytes));
                }
            }
            Key::MergeOnline => {
                let path = self.resolve(bytes);
                self.config.merges.push(path);
            }
            Key::MemoryMap => config.memory_map = true,
            // --strict was set before.
            Key::Nothing | Key::Strict => {}
            Key::Explain => config.explain = Some(false),
            Key::ExplainHtml => config.explain = Some(true),
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
                None => return usage(FORMATS),
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
            Key::Quiet => MESSAGES.be_quiet(),
            Key::KeepNul => config.reading.keep_nul = true,
            Key::Charset => {
                let Some(charset) = Charset::by_label(bytes) else {
                    let name = lossy(bytes);
                    return usage(format!("--charset: no character set is called {name}"));
                };
                config.reading.charset = Some(charset);
            }
            // With a job of the mail filter they do not come here.
            other => return usage(needs_job(other).unwrap_or_default()),
        }
        Ok(None)
    }

    /// The path of the category called `name`.
    pub(super) fn resolve(&self, name: &[u8]) -> PathBuf {
        resolve((self.variable)("DBACL_PATH").as_deref(), name)
    }

    /// Chooses the category to learn.
    pub(super) fn learn(&mut self, name: &[u8]) -> Result<(), Failure> {
        if self.classify {
            return usage("cannot use options -l and -c together");
        }
        if self.learn.is_some() {
            return usage("option -l can only occur once");
        }
        if name.is_empty() {
            MESSAGES.error("category name must not be empty");
        } else {
            let path = self.resolve(name);
            if path.as_os_str().as_bytes().contains(&b'\n') {
                let shown = path.display().to_string();
                return usage(format!(
                    "{shown:?} cannot be a category: its path has a line end, which no category \
                     can hold"
                ));
            }
            self.learn = Some(path);
        }
        Ok(())
    }

    fn filter(&mut self, name: &[u8]) -> Result<(), Failure> {
        if self.learn.is_some() {
            return usage("cannot use options -l and -f together");
        }
        if name.is_empty() {
            return usage("filter must be category name or number");
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
                hints::give("-f names one of the categories: give these with -c before it");
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
        if let Some((_, kind)) = KINDS.iter().find(|(name, _)| name.as_bytes() == lower) {
            kind.iter().for_each(|&option| self.config.reading.options.insert(option));
            return;
        }
        self.misread = true;
        MESSAGES.warning(&format!("unrecognized option -T {}, ignoring.", lossy(name)));
        let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        hints::give(&format!("kinds of -T are text, {}", kinds.join(", ")));
    }

    /// Chooses a category to compare with.
    pub(super) fn category(&mut self, name: &[u8]) -> Result<(), Failure> {
        if self.learn.is_some() {
            return usage("cannot use options -l and -c together");
        }
        if name.is_empty() {
            return usage("category needs a name");
        }
        self.classify = true;
        if self.config.model_paths.len() >= MAX_CATEGORIES {
            MESSAGES.warning("maximum reached, category ignored");
            return Ok(());
        }
        let path = self.resolve(name);
        let category = if self.config.memory_map { load_mapped(&path)? } else { load(&path)? };
        let patterns = self.adopt(&path, category.header(), category.patterns())?;
        self.config.models.push(Model::learned(base_name(&path), category, patterns));
        self.config.model_paths.push(Some(path));
        Ok(())
    }

    /// Takes over how the text of a category was cut; returns which expressions are its own.
    fn adopt(
        &mut self,
        path: &Path,
        header: &Header,
        patterns: &[Vec<u8>],
    ) -> Result<PatternSet, Failure> {
        let (shown, reading) = (base_name(path), &mut self.config.reading);
        let none = PatternList::new(reading.locale);
        let mut shared = SharedReading {
            options: reading.options,
            scheme: self.scheme,
            order: reading.order,
            patterns: std::mem::replace(&mut reading.patterns, none),
        };
        let set = shared.add(&shown, header, patterns, &mut warn);
        (reading.options, self.scheme) = (shared.options, shared.scheme);
        (reading.order, reading.patterns) = (shared.order, shared.patterns);
        let set = set?;
        self.cuts.push((shown, hints::cut(header, patterns)));
        Ok(set)
    }
}

/// Bits of a table's size: C's `atoi`, cut to eight bits, at most 30.
fn table_bits(number: i32) -> u8 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as dbacl 1.14.1 does
    let bits = number as u8;
    if bits > MAX_BITS {
        MESSAGES.warning("maximum hash size will be 2^30");
    }
    bits.min(MAX_BITS)
}

/// A whole number in digits only.
fn parsed(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(bytes).ok().filter(|_| digits)?.parse().ok()
}
