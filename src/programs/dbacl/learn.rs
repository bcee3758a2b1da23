// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning a category (spec model 5).

use super::config::Config;
use super::echo::Echo;
use super::failure::{Failure, Kind, output_failure};
use super::hints;
use super::inputs;
use super::lock;
use super::messages::{MESSAGES, tell, warn};
use super::signals::Signals;
use super::threads;
use crate::category::layout::ANY_MAGIC;
use crate::category::{access, mapped};
use crate::document::{Cutter, FeatureSink, LineState, ReadOptions};
use crate::error::Error;
use crate::input::source::open_regular;
use crate::learn::counter::Counter;
use crate::learn::dump;
use crate::learn::memory_dump::{self, DumpFault, RunFlags};
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::table::Table;
use crate::learn::{LearnSettings, Preload, Progress, finish};
use crate::model::digram::{DigramTable, FIRST, SYMBOLS};
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
use dbacl_numeric::cformat;

use crate::token::Feature;
use crate::token::pattern::PatternList;
use crate::token::show::show;
use dbacl_files::atomic_file::{self, Disk, Draft};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The warning for counts whose parts were not read as in a single run.
pub(super) const INEXACT: &str = "a part of the input was read otherwise than it would have been \
                                  in one go, because of very long \
     lines or a broken attachment before it; a few features may differ";

/// Learns a category.
pub(super) fn run(
    config: &mut Config,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut settings = config.learn_settings();
    config.reading.patterns.refuse_unstorable()?;
    let kept = config.online.as_deref();
    let limit = config.lock_timeout;
    let _lock = kept.map(|counts| lock::of_counts(counts, limit, signals)).transpose()?;
    let state = initial_state(config, &mut settings, output)?;
    let options = config.reading.read_options();
    let counter = Counter::new(state, &settings, config.form.verbose);
    let (counter, like_mail) = count(config, &settings, &options, counter, signals, output)?;
    let (mut state, warnings) = counter.into_state();
    warnings.into_iter().chain(state.fullness()).for_each(warn);
    if state.used == 0 {
        return nothing_learned(config, output);
    }
    if let Some(like_mail) = like_mail {
        let full = !state.table.has_room(state.used);
        let features =
            if full { hints::features(&config.reading, &options, signals)? } else { None };
        let hints = hints::about_counts(like_mail, &state, full, features);
        for hint in hints {
            MESSAGES.hint(&hint);
        }
    }
    conclude(config, &settings, &options.patterns, &mut state, output)?;
    whole_text(config, signals)
}

/// Counts the inputs, or takes the counts of `--fit`. Also returns whether a source began like
/// mail, if hints are printed.
fn count(
    config: &mut Config,
    settings: &LearnSettings,
    options: &ReadOptions,
    mut counter: Counter,
    signals: &Signals,
    output: &mut Output,
) -> Result<(Counter, Option<bool>), Failure> {
    let (verbose, patterns) = (config.form.verbose, &options.patterns);
    if config.online.is_none() && !config.dump && !verbose {
        counter.forget_appearances();
    }
    if let Some(counts) = config.counts.take() {
        let is_inexact = counts.is_inexact();
        let replayed = counts.replay(config.count_order, &mut counter);
        counter.warnings().into_iter().for_each(warn);
        replayed?;
        if is_inexact {
            MESSAGES.warning(INEXACT);
        }
        // Words are quicker to fit than texts.
        if patterns.is_empty() {
            counter.expect_words(config.reading.order);
        }
        return Ok((counter, None));
    }
    let reading = &config.reading;
    let shows = verbose || config.form.append || config.debug;
    let state = counter.state();
    let is_plain = settings.decimation.is_none() && !state.measures_entropy() && state.total == 0;
    if is_plain && !shows && patterns.is_empty() {
        let inputs = threads::inputs(reading, options, config.threads, signals);
        if let Some(counter) = inputs.learn(settings)? {
            return Ok((counter, None));
        }
    }
    if patterns.is_empty() && !config.debug {
        counter.expect_words(reading.order);
    }
    let mut counting = Counting {
        counter,
        echo: Echo { append: config.form.append, indented: reading.indented },
        debug: config.debug,
        like_mail: config.hints.then_some(false),
        at_start: true,
        output,
        signals,
    };
    let mut reader = inputs::reader(reading, options, signals);
    inputs::read(reading, signals, &mut reader, &mut counting, |counting, name| {
        if verbose {
            match name {
                Some(name) => say_name(counting.output, "processing file ", name),
                None => say_name(counting.output, "taking input from stdin", b""),
            }
            counting.output.spill()?;
        }
        Ok(())
    })?;
    Ok((counting.counter, counting.like_mail))
}

/// Says that the inputs had no token; the exit status of that.
pub(super) fn nothing_learned(config: &Config, output: &mut Output) -> Result<u8, Failure> {
    MESSAGES.warning("no tokens matched - have I learned nothing?");
    output.flush().map_err(|error| output_failure(&error))?;
    // With strict statuses it is an error that no category was made.
    if config.reading.strict { Err(Failure::silent(Kind::Data)) } else { Ok(0) }
}

/// The exit status of a run that has saved its category.
pub(super) fn whole_text(config: &Config, signals: &Signals) -> Result<u8, Failure> {
    if config.reading.strict && signals.stopped() {
        // The category was saved, but not all of the text was read.
        return Err(Failure::silent(Kind::Interrupted));
    }
    Ok(0)
}

/// From counts to the saved category: dump, fit, print, save.
fn conclude(
    config: &Config,
    settings: &LearnSettings,
    patterns: &PatternList,
    state: &mut LearningState,
    output: &mut Output,
) -> Result<(), Failure> {
    let (path, verbose) = (&config.target, config.form.verbose);
    let mut say_line = |line: &str| say(output, line);
    let mut progress = report(verbose, &mut say_line);
    progress.say(|| format!("picked up {} ({} distinct) tokens", state.total, state.used));
    progress.say(|| "calculating reference word weights".into());
    let mut failed = None;
    if let Some(online) = &config.online {
        let flags = run_flags(config, patterns);
        let mut write = |out: &mut dyn Draft| memory_dump::write(out, state, flags);
        let magic = memory_dump::magic(state);
        let saved = atomic_file::replace(&Disk, online, magic, &mut write).map_err(Error::from);
        progress.say(|| {
            let how = if saved.is_ok() { "success" } else { "failed" };
            format!("writing online memory dump: {how}")
        });
        if let Err(error) = saved {
            let failure = save_failure(online, &error);
            tell(&failure);
            // A foreign file is left alone and learning goes on, as in dbacl 1.14.1.
            if !matches!(error, Error::Occupied { .. }) {
                failed = Some(failure.kind);
            }
        }
    }
    let digrams = settings.reference.measure(&state.characters, &mut progress, &mut warn)?;
    if config.debug && settings.reference == Reference::Dirichlet {
        digram_dump(&digrams, output).map_err(|error| output_failure(&error))?;
    }
    let mut say_line = |line: &str| say(output, line);
    let mut progress = report(verbose, &mut say_line);
    let stored = config.reading.stored_patterns(patterns);
    let mut existed = false;
    let preload = config.preload.then(|| preload(path, state, &stored, &mut existed)).flatten();
    let counted = config.dump.then(|| state.table.clone());
    let model = finish(state, settings, digrams, preload.as_deref(), &mut progress, &mut warn)?;
    if existed {
        progress.say(|| "can't make fast save".into());
    }
    let name = path.as_os_str().as_bytes();
    if let Some(counted) = counted {
        let fitted = std::mem::replace(&mut state.table, counted);
        dump::head(output.buffer(), &model.header, name, &stored, state);
        dump::tokens(&mut Vec::new(), state, &fitted, |text| {
            output.buffer().append(text);
            output.spill()
        })
        .map_err(|error| output_failure(&error))?;
        state.table = fitted;
    }
    if verbose {
        say_name(output, "saving category to file ", name);
    }
    let mut write = |out: &mut dyn Draft| model.write(out, name, &stored, &state.table);
    let is_saved = save(config, &mut write, output)?;
    match failed {
        Some(kind) if is_saved => Err(Failure::silent(kind)),
        _ => Ok(()),
    }
}

/// Replaces the category. Returns whether it was saved: a missing folder is not an error, as in
/// dbacl 1.14.1 (case model/learn-errors), unless statuses are strict.
pub(super) fn save(
    config: &Config,
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
    output: &mut Output,
) -> Result<bool, Failure> {
    let path = &config.target;
    access::warning_about(path).into_iter().for_each(warn);
    let saved = atomic_file::replace(&Disk, path, ANY_MAGIC, write).map_err(Error::from);
    output.flush().map_err(|error| output_failure(&error))?;
    let Err(error) = saved else { return Ok(true) };
    let failure = save_failure(path, &error);
    let missing_folder = matches!(
        error, Error::Temporary { source, .. } if source.kind() == io::ErrorKind::NotFound
    );
    if missing_folder && !config.reading.strict {
        tell(&failure);
        return Ok(false);
    }
    Err(failure)
}

/// Prints `text` and a name as a line.
fn say_name(output: &mut Output, text: &str, name: &[u8]) {
    output.buffer().extend_from_slice(&[text.as_bytes(), name, b"\n"].concat());
}

/// Prints a line of progress. A closed pipe is noticed at the end.
pub(super) fn say(output: &mut Output, line: &str) {
    output.buffer().extend_from_slice(line.as_bytes());
    output.buffer().push(b'\n');
    let _ = output.spill();
}

/// Progress texts, if they are wanted.
pub(super) fn report(verbose: bool, say_line: &mut dyn FnMut(&str)) -> Progress<'_> {
    if verbose { Progress::to(say_line) } else { Progress::silent() }
}

/// The messages for a file that could not be saved.
fn save_failure(path: &Path, error: &Error) -> Failure {
    let name = path.display();
    match error {
        Error::Occupied { .. } => Failure::new(
            Kind::Create,
            format!(
                "the file {name} is already used for something, use another filename. \
                 Nothing written."
            ),
        ),
        // The text of dbacl 1.14.1 has no reason.
        Error::Temporary { path, source } if source.kind() == io::ErrorKind::NotFound => Failure {
            kind: Kind::Create,
            lines: vec![
                "cannot seek in temporary token file, reference weights not calculated.".into(),
                format!("cannot open tempfile for writing {}", path.display()),
            ],
        },
        Error::Temporary { .. } => Failure::new(Kind::Create, error.to_string()),
        Error::HalfSaved(_) => Failure::new(Kind::Write, error.to_string()),
        _ => Failure::new(Kind::Write, format!("could not save {error}; {name} is unchanged")),
    }
}

/// The counts to begin with: the online dump's if there is one, with those of `-O` added.
fn initial_state(
    config: &mut Config,
    settings: &mut LearnSettings,
    output: &mut Output,
) -> Result<LearningState, Failure> {
    // Checked before, because a table for which there is no memory would end the process.
    if !Table::fits_in_memory(settings.bits) {
        let text = format!("not enough memory for 2^{} features (-h)", settings.bits);
        return Err(Failure::new(Kind::Internal, text));
    }
    let mut state = LearningState::new(settings);
    let say = |output: &mut Output, loaded: bool, path: &Path| {
        if config.form.verbose {
            let verb = if loaded { "loaded " } else { "couldn't load " };
            say_name(output, verb, path.as_os_str().as_bytes());
        }
    };
    if let Some(path) = &config.online {
        let loaded = load_dump(path)?;
        say(output, loaded.is_some(), path);
        if let Some(dump) = loaded {
            let theirs = &dump.state;
            if theirs.options != settings.options
                || theirs.scheme != settings.scheme
                || theirs.min_count != settings.min_count
            {
                MESSAGES.warning(&format!(
                    "some command line options were changed when loading {}",
                    path.display()
                ));
            }
            state = dump.state;
        }
    }
    for path in &config.merges {
        let loaded = load_dump(path)?;
        say(output, loaded.is_some(), path);
        match loaded {
            None if config.reading.strict => {
                let text = format!("couldn't open {}", path.display());
                return Err(Failure::new(Kind::NoInput, text));
            }
            None => {
                // Scripts get no hint, as in dbacl 1.14.1.
                if config.hints {
                    MESSAGES.warning(&format!("{}: no such counts, not added", path.display()));
                }
            }
            Some(dump) if dump.patterns != 0 => {
                let name = lossy(path.as_os_str().as_bytes());
                MESSAGES.warning(&format!(
                    "merging regular expressions is not supported, ignoring {name}"
                ));
                MESSAGES.warning(&format!(
                    "{name} could not be merged, the learned category might be corrupt"
                ));
            }
            Some(dump) => {
                memory_dump::merge(&mut state, &dump.state, &mut settings.max_bits, &mut warn);
            }
        }
    }
    settings.options = state.options;
    settings.scheme = state.scheme;
    settings.min_count = state.min_count;
    config.reading.options = state.options;
    config.reading.scheme = state.scheme;
    Ok(state)
}

/// Reads a dump; `None` if there is no file.
fn load_dump(path: &Path) -> Result<Option<memory_dump::Dump>, Failure> {
    let name = path.display();
    access::warning_about(path).into_iter().for_each(warn);
    let unusable = || {
        let text = format!("the file {name} could not be read, learning from scratch.");
        Failure::new(Kind::Data, text)
    };
    let mut bytes = Vec::new();
    let read = open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes));
    let bytes = match read.map(|_| bytes) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            MESSAGES.warning(&format!("{name}: {error}"));
            return Err(unusable());
        }
    };
    match memory_dump::read(&bytes) {
        Ok(dump) => Ok(Some(dump)),
        Err(fault) => {
            let text = match fault {
                DumpFault::Foreign => {
                    format!("the file {name} is not a dbacl online memory dump, it will be ignored")
                }
                DumpFault::Version => {
                    format!("the file {name} has the wrong version number, it will be ignored")
                }
                DumpFault::Damaged(what) => format!("the file {name} is damaged: {what}"),
            };
            MESSAGES.warning(&text);
            Err(unusable())
        }
    }
}

/// The options of the run that a dump stores, with the bits of dbacl 1.14.1.
fn run_flags(config: &Config, patterns: &PatternList) -> RunFlags {
    let mut user_options = 1 << 2;
    for (on, bit) in [
        (config.form.verbose, 5),
        (!config.reading.operands.is_empty(), 6),
        (config.decimation.is_some(), 14),
        (config.max_bits.is_some(), 15),
        (config.memory_map, 21),
        (config.form.confidence, 22),
    ] {
        user_options |= u32::from(on) << bit;
    }
    let patterns = (1u64 << patterns.len().min(63)) - 1;
    RunFlags { patterns, user_options }
}

/// The weights of an existing category, if it fits what was counted (spec model 7.6).
fn preload(
    path: &Path,
    state: &LearningState,
    stored: &[Vec<u8>],
    existed: &mut bool,
) -> Option<Box<Preload>> {
    let category = match mapped::open(path) {
        Ok(category) => category,
        // Nothing to start from, as when a category is learned for the first time.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => {
            MESSAGES.warning(&format!("cannot open file for reading {}", path.display()));
            return None;
        }
    };
    *existed = true;
    let header = category.header();
    let ratio = f64::from(header.unique_features) / f64::from(state.used) - 1.0;
    let theirs = category.patterns().iter().map(|stored| expression(stored));
    let same_patterns = theirs.eq(stored.iter().map(|stored| expression(stored)));
    let mut options = state.options;
    if state.total_of[1] == 0 {
        options.insert(ModelOption::Multinomial); // as the category is going to be
    }
    if header.options != options
        || header.options.has(ModelOption::Overflow)
        || !same_patterns
        || !(ratio.abs() < 0.15)
    {
        return None;
    }
    let slots = (0..category.size()).map(|at| category.slot(at));
    let slots = slots.filter(|slot| slot.id.0 != 0).take(header.unique_features as usize);
    Some(slots.map(|slot| (slot.id, slot.weight)).collect())
}

/// The expression of a stored pattern, `EXPRESSION||DIGITS`.
fn expression(stored: &[u8]) -> &[u8] {
    let mark = stored.windows(2).rposition(|pair| pair == b"||");
    &stored[..mark.unwrap_or(stored.len())]
}

/// Prints the digitised reference measure (`-D` with `-L dirichlet`).
fn digram_dump(digrams: &DigramTable, output: &mut Output) -> io::Result<()> {
    for from in FIRST..SYMBOLS {
        for to in FIRST..SYMBOLS {
            let out = output.buffer();
            out.extend_from_slice(format!("learner->dig[{from}][{to}] = ").as_bytes());
            cformat::fixed(out, f64::from(digrams.get(from, to)), 0, 6);
            out.push(b'\n');
            output.spill()?;
        }
    }
    Ok(())
}

/// Takes the lines of the inputs and counts their features.
struct Counting<'a> {
    counter: Counter,
    echo: Echo,
    debug: bool,
    /// Whether a source began like mail; `None` if no hints are printed.
    like_mail: Option<bool>,
    /// No line of the source has been read yet.
    at_start: bool,
    output: &'a mut Output,
    signals: &'a Signals,
}

impl Counting<'_> {
    /// Prints the warnings of the counting so far.
    fn warn(&mut self) {
        self.counter.warnings().into_iter().for_each(warn);
    }
}

impl FeatureSink for Counting<'_> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.signals.ignore_reload();
        if std::mem::take(&mut self.at_start)
            && let Some(like_mail) = &mut self.like_mail
        {
            *like_mail |= hints::begins_mail(line);
        }
        self.echo.raw_line(line, self.output)
    }

    fn text(&mut self, _: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        self.counter.line_of_mail(state.in_header);
        self.warn();
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.counter.takes_words() {
            self.counter.cut(line, medium, cutter)?;
            self.warn();
            return Ok(());
        }
        cutter.features(line, medium, &mut |feature| self.feature(feature));
        self.output.spill()
    }

    fn feature(&mut self, feature: Feature<'_>) {
        let new = self.counter.count(feature);
        self.warn();
        // Every feature of a multinomial model counts as one of order 1.
        let order = if self.counter.state().is_multinomial() { 1 } else { feature.order };
        if let Some(id) = new
            && self.debug
        {
            let out = self.output.buffer();
            out.extend_from_slice(b"match ");
            cformat::hexadecimal(out, u64::from(id.0), 8);
            out.push(b' ');
            show(out, feature.body, feature.medium);
            out.extend_from_slice(format!(" {order}\n").as_bytes());
        }
    }

    fn end_of_source(&mut self, name: &[u8], cutter: &mut Cutter) -> io::Result<()> {
        self.counter.end_of_source(name, cutter)?;
        self.warn();
        self.at_start = true;
        Ok(())
    }
}
