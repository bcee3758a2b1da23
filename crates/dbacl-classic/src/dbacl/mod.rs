// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl`: learns categories, classifies texts.

mod builder;
mod categories;
mod check;
mod checks;
mod classify;
mod config;
mod count;
mod count_files;
mod echo;
pub(super) mod failure;
mod help;
mod hints;
mod inputs;
mod jobs;
mod large;
mod learn;
mod lock;
mod messages;
pub mod method;
pub mod options;
mod records;
mod refit;
mod signals;
mod structured;
mod threads;

pub use categories::load;
pub use failure::Failure;

use builder::Builder;
use dbacl_cli::getopt::{self, Event};
use dbacl_cli::output::Output;
use failure::Kind;
use jobs::Job;
use messages::{MESSAGES, watched};
use options::Key;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the program with the process's arguments and environment.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_else(|| "dbacl".into());
    let args: Vec<OsString> = args.collect();
    let strict = AtomicBool::new(false);
    dbacl_cli::last_resort::install("dbacl", ":error: ");
    if std::env::var_os("DBACL_STRICT").is_some_and(|value| value == "1")
        || args.iter().any(|arg| arg == "--strict")
    {
        dbacl_cli::last_resort::set_status(Kind::Resources.status(true));
    }
    // A panic must not look like a verdict, so the program ends as after an error.
    let run = std::panic::catch_unwind(|| run(&program, args, &strict));
    run.unwrap_or_else(|_| ExitCode::from(Kind::Internal.status(strict.load(Ordering::Relaxed))))
}

/// Runs the program; `strict` is kept up to date while options are read.
fn run(program: &OsString, args: Vec<OsString>, strict: &AtomicBool) -> ExitCode {
    let mut output = Output::new();
    let status = command(program, args, strict, &mut output);
    ExitCode::from(status.unwrap_or_else(|failure: Failure| {
        for line in &failure.lines {
            MESSAGES.error(line);
        }
        // Results from before the error are still written, after the message as in dbacl 1.14.1.
        let _ = output.flush();
        failure.kind.status(strict.load(Ordering::Relaxed))
    }))
}

/// A variable of the environment.
const VARIABLE: fn(&str) -> Option<OsString> = |name| std::env::var_os(name);

/// A variable of the environment, but none of the locale: a mail filter is learned at a terminal
/// and used by a mail system, whose locales may differ.
const VARIABLE_BUT_LOCALE: fn(&str) -> Option<OsString> =
    |name| if matches!(name, "LC_ALL" | "LC_CTYPE" | "LANG") { None } else { VARIABLE(name) };

/// Carries out a command line.
fn command(
    program: &OsString,
    args: Vec<OsString>,
    strict: &AtomicBool,
    output: &mut Output,
) -> Result<u8, Failure> {
    let variable = &VARIABLE;
    let posixly_correct = variable("POSIXLY_CORRECT").is_some();
    let mut events = getopt::parse(program, args, options::TABLE, posixly_correct);
    if let Some(paths) = check::wanted(&events)? {
        return check::run(&paths, output);
    }
    if let Some(job) = MailJob::find(&events) {
        return mail(job, events, strict, output);
    }
    let is_alone = !events.iter().any(|event| matches!(event, Event::Option { .. }));
    if let Some(option) = events.iter().find_map(without_folder).filter(|_| is_alone) {
        let text = format!("{option} needs the filter's folder, such as ~/.dbacl-mail");
        return Err(Failure::new(Kind::Usage, text));
    }
    let mut builder = Builder::new(&MESSAGES, variable);
    strict.store(builder.is_strict(), Ordering::Relaxed);
    // Options of `--refit` are read first, since they decide how categories are opened.
    let mut request = refit::request(&mut events)?;
    let has_operands = events.iter().any(|event| matches!(event, Event::Operand(_)));
    let is_typed = !has_operands && std::io::stdin().is_terminal();
    if request.is_some() {
        builder.mends_categories();
    }
    for event in events {
        let result = match &mut request {
            Some(request) => request.act(event, &mut builder),
            None => builder.act(event),
        };
        strict.store(builder.is_strict(), Ordering::Relaxed);
        if let Some(text) = result? {
            output.buffer().extend_from_slice(text.as_bytes());
            output.flush().map_err(|error| failure::output_failure(&error))?;
            return Ok(0);
        }
    }
    match request {
        Some(request) => watched("fitting", !is_typed, || {
            refit::run(&request, builder, &signals::Signals::install(), output)
        }),
        None => perform(builder.job()?, output),
    }
}

/// What is to be done with a mail filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MailJob {
    Learn,
    Filter,
    Correct,
    Ask,
    Review,
}

impl MailJob {
    fn of(key: Key) -> Option<Self> {
        match key {
            Key::MailLearn => Some(Self::Learn),
            Key::MailFilter => Some(Self::Filter),
            Key::MailCorrect => Some(Self::Correct),
            Key::MailAsk => Some(Self::Ask),
            Key::MailReview => Some(Self::Review),
            _ => None,
        }
    }

    /// The first job of a command line that is one of the mail filter's, with the filter's folder.
    /// `None` for the folder if another option stands in its place.
    fn find(events: &[Event<Key>]) -> Option<(Self, Option<PathBuf>)> {
        events.iter().find_map(|event| match event {
            Event::Option { key, value } => {
                let folder = value.as_deref().unwrap_or_default();
                Some((Self::of(*key)?, flag_named(folder).is_none().then(|| folder.into())))
            }
            _ => None,
        })
    }
}

/// The option of the mail filter that has no value, if that is the mistake.
fn without_folder(event: &Event<Key>) -> Option<String> {
    let Event::Complaint(text) = event else { return None };
    let (_, rest) = std::str::from_utf8(text).ok()?.split_once("'--mail-")?;
    Some(format!("--mail-{}", rest.strip_suffix("' requires an argument")?))
}

/// The option without a value that `text` is, where the name of a folder is expected: in
/// `--mail-filter --reasons DIR`.
fn flag_named(text: &OsStr) -> Option<Key> {
    let name = text.to_str()?.strip_prefix("--").filter(|name| !name.is_empty())?;
    let is_flag = |option: &&getopt::Opt<Key>| {
        option.long == name && matches!(option.value, getopt::Value::None)
    };
    options::TABLE.iter().find(is_flag).map(|option| option.key)
}

fn mail(
    (job, folder): (MailJob, Option<PathBuf>),
    events: Vec<Event<Key>>,
    strict: &AtomicBool,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut builder = Builder::new(&MESSAGES, &VARIABLE_BUT_LOCALE);
    strict.store(builder.is_strict(), Ordering::Relaxed);
    let mut how = refit::mail::How::default();
    let mut with_reasons = false;
    // A filter passes its message on even if its options are wrong.
    let mut refused = None;
    for event in events {
        let event = match event {
            Event::Option { key, value } if MailJob::of(key).is_some() => {
                match flag_named(value.as_deref().unwrap_or_default()) {
                    Some(key) => Event::Option { key, value: None },
                    None => continue,
                }
            }
            event => event,
        };
        let is_learning = job == MailJob::Learn;
        let result = match event {
            Event::Option { key: Key::Protect, value } if is_learning => {
                how.protect.extend(value);
                continue;
            }
            Event::Option { key: Key::Reading, value } if is_learning => {
                how.reading = value;
                continue;
            }
            Event::Option { key: Key::Caution, value } if is_learning => {
                how.caution = value;
                continue;
            }
            Event::Option { key: Key::Window, value } if is_learning => {
                how.window = value;
                continue;
            }
            Event::Option { key: Key::General, value } if is_learning => {
                how.general = value;
                continue;
            }
            Event::Option { key: Key::Verbose, .. } if is_learning => {
                how.verbose = true;
                continue;
            }
            Event::Option { key: Key::Reasons, .. } if job == MailJob::Filter => {
                with_reasons = true;
                continue;
            }
            Event::Option { key: Key::Strict | Key::LockTimeout | Key::Quiet, .. }
            | Event::Operand(_)
            | Event::Complaint(_) => builder.act(event).map(|_| ()),
            Event::Option { .. } => Err(Failure::new(
                Kind::Usage,
                "the mail filter takes no other options than --strict, --quiet and \
                 --lock-timeout, --protect, --caution, --reading, --window, --general and \
                 --verbose to learn, and --reasons to filter",
            )),
        };
        strict.store(builder.is_strict(), Ordering::Relaxed);
        refused = refused.or(result.err());
    }
    let mut operands = builder.take_operands();
    let folder = folder.or_else(|| (!operands.is_empty()).then(|| operands.remove(0).into()));
    let folder = folder.unwrap_or_else(|| {
        let missing = || {
            Failure::new(
                Kind::Usage,
                "the filter's folder is missing: it comes before other options",
            )
        };
        refused.get_or_insert_with(missing);
        PathBuf::new()
    });
    if job == MailJob::Filter {
        let signals = signals::Signals::install();
        let is_strict = strict.load(Ordering::Relaxed);
        if is_strict {
            refit::pass::be_strict();
        }
        refit::pass::take_input(&operands)?;
        // Mail systems write one message into a pipe; a file may be a mailbox.
        let splits = refused.is_none() && !operands.is_empty();
        // The filter is opened after the message was read, so that the message is passed on after
        // an error.
        let mut filter = refit::mail::Filter::new(&folder, with_reasons, &signals);
        let verdict = |mail: &[u8]| match refused.take() {
            Some(failure) => Err(failure),
            None => filter.verdict(mail),
        };
        return refit::pass::filter(verdict, splits, is_strict, &signals);
    }
    if let Some(failure) = refused {
        return Err(failure);
    }
    if builder.is_misread() {
        // The message was printed before.
        return Err(Failure::silent(Kind::Usage));
    }
    if folder.is_file() {
        let text = format!("{} is a file, not the folder of a filter", folder.display());
        return Err(Failure::new(Kind::NoInput, text));
    }
    match job {
        MailJob::Learn => {
            refit::mail::learn(&folder, &operands, &how, builder.lock_timeout(), output)
        }
        MailJob::Ask => refit::ask::ask(&folder, &operands, builder.lock_timeout(), output),
        MailJob::Review => refit::ask::review(&folder, &operands, builder.lock_timeout(), output),
        _ => refit::mail::correct(builder, &folder, &operands),
    }
}

fn perform(job: Job, output: &mut Output) -> Result<u8, Failure> {
    let signals = signals::Signals::install();
    match job {
        Job::Learn(mut job) => {
            let is_typed = job.reading.operands.is_empty() && std::io::stdin().is_terminal();
            let learn = if job.large { large::run } else { learn::run };
            watched("learning", !is_typed && !job.prints(), || learn(&mut job, &signals, output))
        }
        Job::Classify(job) => classify::run(*job, &signals, output),
        Job::ClassifyRecords(job) => records::run(*job, &signals, output),
        Job::Explain(job) => refit::explain::run(*job, &signals, output),
        Job::Count(mut job) => count::run(&mut job, &signals, output),
        Job::Merge(job) => count::merge(&job, &signals, output),
    }
}
