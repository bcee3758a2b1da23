// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl`: learns categories, classifies texts.

mod builder;
mod categories;
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

use crate::cli::getopt::{self, Event};
use crate::cli::output::Output;
use builder::Builder;
use failure::Kind;
use jobs::Job;
use messages::{MESSAGES, watched};
use options::Key;
use std::ffi::OsString;
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
    crate::cli::last_resort::install("dbacl");
    if std::env::var_os("DBACL_STRICT").is_some_and(|value| value == "1")
        || args.iter().any(|arg| arg == "--strict")
    {
        crate::cli::last_resort::set_status(Kind::Resources.status(true));
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
    if let Some(job) = MailJob::of(&events) {
        return mail(program, job, events, strict, output);
    }
    let mut builder = Builder::new(program, &MESSAGES, variable);
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

/// The job of the mail filter, with its folder.
enum MailJob {
    Learn(PathBuf),
    Filter(PathBuf),
    Correct(PathBuf),
}

impl MailJob {
    fn of(events: &[Event<Key>]) -> Option<Self> {
        events.iter().find_map(|event| match event {
            Event::Option { key, value } => {
                let folder = || PathBuf::from(value.clone().unwrap_or_default());
                match key {
                    Key::MailLearn => Some(Self::Learn(folder())),
                    Key::MailFilter => Some(Self::Filter(folder())),
                    Key::MailCorrect => Some(Self::Correct(folder())),
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

/// The mail filter.
fn mail(
    program: &OsString,
    job: MailJob,
    events: Vec<Event<Key>>,
    strict: &AtomicBool,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut builder = Builder::new(program, &MESSAGES, &VARIABLE_BUT_LOCALE);
    strict.store(builder.is_strict(), Ordering::Relaxed);
    let mut how = refit::mail::How::default();
    let mut with_reasons = false;
    // A filter passes its mail on even if its options are wrong.
    let mut refused = None;
    for event in events {
        let result = match event {
            Event::Option { key: Key::MailLearn | Key::MailFilter | Key::MailCorrect, .. } => {
                continue;
            }
            Event::Option { key: Key::Protect, value } if matches!(job, MailJob::Learn(_)) => {
                how.protect.extend(value);
                continue;
            }
            Event::Option { key: Key::Reading, value } if matches!(job, MailJob::Learn(_)) => {
                how.reading = value;
                continue;
            }
            Event::Option { key: Key::Window, value } if matches!(job, MailJob::Learn(_)) => {
                how.window = value;
                continue;
            }
            Event::Option { key: Key::General, value } if matches!(job, MailJob::Learn(_)) => {
                how.general = value;
                continue;
            }
            Event::Option { key: Key::Reasons, .. } if matches!(job, MailJob::Filter(_)) => {
                with_reasons = true;
                continue;
            }
            Event::Option { key: Key::Strict | Key::LockTimeout | Key::Quiet, .. }
            | Event::Operand(_)
            | Event::Complaint(_) => builder.act(event).map(|_| ()),
            Event::Option { .. } => Err(Failure::new(
                Kind::Usage,
                "the mail filter takes no other options than --strict, --quiet and \
                 --lock-timeout, --protect, --reading, --window and --general to learn, and \
                 --reasons to filter",
            )),
        };
        strict.store(builder.is_strict(), Ordering::Relaxed);
        refused = refused.or(result.err());
    }
    match (job, refused) {
        (MailJob::Filter(folder), refused) => {
            let signals = signals::Signals::install();
            let is_strict = strict.load(Ordering::Relaxed);
            if is_strict {
                refit::pass::be_strict();
            }
            // The filter is opened after the mail was read, so that the mail is passed on after an
            // error.
            let judge = |mail: &[u8]| match refused {
                Some(failure) => Err(failure),
                None => refit::mail::judge(&folder, mail, with_reasons, &signals),
            };
            refit::pass::filter(judge, is_strict, &signals)
        }
        (_, Some(failure)) => Err(failure),
        // The message was printed before.
        _ if builder.is_misread() => Err(Failure::silent(Kind::Usage)),
        (MailJob::Learn(folder), None) => {
            let (operands, limit) = (builder.take_operands(), builder.lock_timeout());
            refit::mail::learn(&folder, &operands, &how, limit, output)
        }
        (MailJob::Correct(folder), None) => refit::mail::correct(builder, &folder),
    }
}

fn perform(job: Job, output: &mut Output) -> Result<u8, Failure> {
    let signals = signals::Signals::install();
    match job {
        Job::Learn(mut job) => {
            let is_typed = job.reading.operands.is_empty() && std::io::stdin().is_terminal();
            watched("learning", !is_typed && !job.prints(), || {
                learn::run(&mut job, &signals, output)
            })
        }
        Job::Classify(job) => classify::run(*job, &signals, output),
        Job::ClassifyRecords(job) => records::run(*job, &signals, output),
        Job::Explain(job) => refit::explain::run(*job, &signals, output),
        Job::Count(mut job) => count::run(&mut job, &signals, output),
        Job::Merge(job) => count::merge(&job, &signals, output),
    }
}
