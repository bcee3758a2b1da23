// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl`: learns categories, classifies texts.

mod builder;
mod categories;
mod check;
mod checks;
mod classify;
mod companion;
mod config;
mod count;
mod count_files;
mod echo;
mod explain;
pub(super) mod failure;
mod help;
mod hints;
mod inputs;
pub mod job_options;
mod jobs;
mod learn;
mod lock;
mod mail;
mod messages;
pub mod method;
pub mod options;
mod records;
mod signals;
mod structured;
mod threads;

pub use categories::load;
pub use failure::Failure;

use builder::{Builder, Variable};
use dbacl_cli::getopt::{self, Event};
use dbacl_cli::output::Output;
use failure::{Kind, usage};
use job_options::JobOptions;
use jobs::Job;
use messages::{print, tell, watched};
use options::Key;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
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
    let run = std::panic::catch_unwind(|| run(&program, &args, &strict));
    run.unwrap_or_else(|_| ExitCode::from(Kind::Internal.status(strict.load(Ordering::Relaxed))))
}

/// Runs the program; `strict` is set before options act.
fn run(program: &OsString, args: &[OsString], strict: &AtomicBool) -> ExitCode {
    let mut output = Output::new();
    let status = command(program, args, strict, &mut output);
    ExitCode::from(status.unwrap_or_else(|failure: Failure| {
        tell(&failure);
        // Results from before the error are still written, after the message as in dbacl 1.14.1.
        let _ = output.flush();
        failure.kind.status(strict.load(Ordering::Relaxed))
    }))
}

/// A variable of the environment.
const VARIABLE: Variable = |name| std::env::var_os(name);

/// A variable of the environment, but none of the locale: a mail filter is learned at a terminal
/// and used by a mail system, whose locales may differ.
const VARIABLE_BUT_LOCALE: Variable =
    |name| if matches!(name, "LC_ALL" | "LC_CTYPE" | "LANG") { None } else { VARIABLE(name) };

/// Carries out a command line.
fn command(
    program: &OsString,
    args: &[OsString],
    strict: &AtomicBool,
    output: &mut Output,
) -> Result<u8, Failure> {
    let posixly_correct = VARIABLE("POSIXLY_CORRECT").is_some();
    let events = getopt::parse(program, args.to_vec(), options::TABLE, posixly_correct);
    if companion::is_wanted(args, &events) {
        return Err(companion::become_it(args));
    }
    if let Some(paths) = check::wanted(&events)? {
        return check::run(&paths, output);
    }
    if let Some(job) = mail_job(&events) {
        return run_mail(job, events, None, strict, output);
    }
    let is_alone = !events.iter().any(|event| matches!(event, Event::Option { .. }));
    if let Some(option) = events.iter().find_map(without_folder).filter(|_| is_alone) {
        let text = format!("{option} needs the filter's folder, such as ~/.dbacl-mail");
        let failure = Failure::new(Kind::Usage, text);
        // A message is passed on even then.
        return match job_options::mail_job(Key::MailFilter) {
            Some(job) if option == job_options::spelled(job.key) => {
                run_mail((job, None), Vec::new(), Some(failure), strict, output)
            }
            _ => Err(failure),
        };
    }
    let mut builder = begin(VARIABLE, &events, strict);
    for event in events {
        if let Some(text) = builder.act(event)? {
            return print(output, &text);
        }
    }
    perform(builder, output)
}

/// A run without options but `--strict`, which acts wherever it stands; `strict` gets it, too.
fn begin(variable: Variable, events: &[Event<Key>], strict: &AtomicBool) -> Builder {
    let mut builder = Builder::new(variable);
    builder.config.reading.strict |= getopt::has(events, &Key::Strict);
    strict.store(builder.config.reading.strict, Ordering::Relaxed);
    builder
}

/// The first job of a command line that is one of the mail filter's, with the filter's folder.
/// `None` for the folder if another option stands in its place.
fn mail_job(events: &[Event<Key>]) -> Option<(&'static JobOptions, Option<PathBuf>)> {
    events.iter().find_map(|event| {
        let Event::Option { key, value } = event else { return None };
        let folder = value.as_deref().unwrap_or_default();
        Some((job_options::mail_job(*key)?, flag_named(folder).is_none().then(|| folder.into())))
    })
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

/// Does a job of the mail filter, unless it is `refused`. A filter passes its message on even then.
fn run_mail(
    (job, folder): (&JobOptions, Option<PathBuf>),
    events: Vec<Event<Key>>,
    mut refused: Option<Failure>,
    strict: &AtomicBool,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut builder = begin(VARIABLE_BUT_LOCALE, &events, strict);
    let mut how = mail::How::default();
    let mut jobs = 0;
    for event in events {
        let event = match event {
            Event::Option { key, value } if job_options::mail_job(key).is_some() => {
                jobs += 1;
                if jobs > 1 {
                    refused.get_or_insert_with(|| {
                        let text = "please use only one job of the mail filter, and once";
                        Failure::new(Kind::Usage, text)
                    });
                }
                match flag_named(value.as_deref().unwrap_or_default()) {
                    Some(key) => Event::Option { key, value: None },
                    None => continue,
                }
            }
            event => event,
        };
        let result = match event {
            Event::Option { key: Key::Help | Key::MailHelp, .. } => {
                return print(output, &help::mail());
            }
            Event::Option { key, .. } if job_options::WITH_ALL_MAIL.contains(&key) => {
                builder.act(event).map(|_| ())
            }
            Event::Operand(_) | Event::Complaint(_) => builder.act(event).map(|_| ()),
            Event::Option { key, value } if how.takes(job, key, value.as_ref()) => Ok(()),
            Event::Option { key, .. } => usage(job_options::needs_job(key).unwrap_or_else(|| {
                let (name, job) = (job_options::named(key), job_options::spelled(job.key));
                format!("{name} cannot be used with {job}; --mail-help lists what can")
            })),
        };
        refused = refused.or(result.err());
    }
    let mut operands = std::mem::take(&mut builder.config.reading.operands);
    let folder = folder.or_else(|| (!operands.is_empty()).then(|| operands.remove(0).into()));
    let folder = folder.unwrap_or_else(|| {
        let text = "the filter's folder is missing: it comes before other options";
        refused.get_or_insert_with(|| Failure::new(Kind::Usage, text));
        PathBuf::new()
    });
    if folder.as_os_str().is_empty() {
        let text = "the name of the filter's folder is empty";
        refused.get_or_insert_with(|| Failure::new(Kind::Usage, text));
    } else if folder.is_file() {
        let text = format!("{} is a file, not the folder of a filter", folder.display());
        refused.get_or_insert_with(|| Failure::new(Kind::NoInput, text));
    }
    if job.key == Key::MailFilter {
        let signals = signals::Signals::install();
        let is_strict = strict.load(Ordering::Relaxed);
        if is_strict {
            mail::pass::be_strict();
        }
        mail::pass::take_input(&operands)?;
        // Mail systems write one message into a pipe; a file may be a mailbox.
        let splits = refused.is_none() && !operands.is_empty();
        // The filter is opened after the message was read, so that the message is passed on after
        // an error.
        let mut filter = mail::Filter::new(&folder, how.with_reasons, &signals);
        let verdict = |mail: &[u8]| match refused.take() {
            Some(failure) => Err(failure),
            None => filter.verdict(mail),
        };
        return mail::pass::filter(verdict, splits, is_strict, &signals);
    }
    if let Some(failure) = refused {
        return Err(failure);
    }
    if builder.misread {
        // The message was printed before.
        return Err(Failure::silent(Kind::Usage));
    }
    let limit = builder.config.lock_timeout;
    match job.key {
        Key::MailLearn => mail::learn(&folder, &operands, &how, limit, output),
        Key::MailAsk => mail::ask::ask(&folder, &operands, limit, output),
        Key::MailReview => mail::ask::review(&folder, &operands, limit, output),
        Key::MailVerdict => {
            let format = how.format.as_deref().map(|name| {
                let known = structured::Format::by_name(name.as_bytes());
                known.ok_or_else(|| Failure::new(Kind::Usage, structured::FORMATS))
            });
            let how = (format.transpose()?, how.with_reasons);
            mail::verdicts::run(&folder, &operands, how, &signals::Signals::install(), output)
        }
        Key::MailForget => mail::forget(&folder, &operands, limit),
        _ => mail::correct(&folder, &operands, limit),
    }
}

fn perform(builder: Builder, output: &mut Output) -> Result<u8, Failure> {
    let (job, mut config) = builder.job()?;
    let signals = signals::Signals::install();
    match job {
        Job::Learn => {
            let is_typed = config.reading.operands.is_empty() && std::io::stdin().is_terminal();
            let is_watched = !is_typed && !config.prints();
            watched("learning", is_watched, || learn::run(&mut config, &signals, output))
        }
        Job::Classify => classify::run(config, &signals, output),
        Job::ClassifyRecords(records) => records::run(config, records, &signals, output),
        Job::Explain { is_html } => explain::run(config, is_html, &signals, output),
        Job::Count => count::run(&mut config, &signals, output),
        Job::Merge => count::merge(&config, &signals, output),
    }
}
