// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: reads options and configuration, and looks at the account until a signal comes.

use crate::config::{Config, usual_path};
use crate::connection::Fault;
use crate::first;
use crate::folder_names::from_imap;
use crate::options::{Options, Task};
use crate::session::Session;
use crate::setup;
use crate::state::State;
use crate::watch::{Handles, Watcher, log_in, now};
use chrono::DateTime;
use dbacl::{FilterOpenError, MailFilterError};
use dbacl_cli::arguments;
use dbacl_cli::status::{FORBIDDEN, LATER, NO_INPUT, UNAVAILABLE, USAGE};
use dbacl_cli::terminal::Shown;
use dbacl_files::atomic_file::{beside, private_folder};
use dbacl_files::lock::{Lock, LockError, Patience, holder_text};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt::{Display, Write as _};
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, SystemTime};

const NAME: &str = "dbacl-imap";

/// Runs the program.
pub fn main() -> ExitCode {
    arguments::run(NAME, |options| begin(&options))
}

fn begin(options: &Options) -> Result<(), (u8, String)> {
    if options.task == Some(Task::Setup) {
        return set_up(options);
    }
    let Options { task, newest, days, replace, .. } = *options;
    let config = settings(options).map_err(|text| (USAGE, text))?;
    let path = config.state.clone().unwrap_or_default();
    if options.status {
        return status(&config, &path);
    }
    let place = config.place().map_err(|text| (USAGE, text))?;
    let room = beside(&path, if task == Some(Task::Replay) { ".replay" } else { ".learn" });
    if task == Some(Task::Learn) && !replace && config.filter.exists() {
        let text = "there is a filter already; --replace learns it again from the account";
        return Err((USAGE, format!("{}: {text}", config.filter.display())));
    }
    let _lock = match task {
        Some(_) => Some(lock(&room)?),
        None if options.dry_run || options.check => None,
        None => Some(lock(&path)?),
    };
    let handles = Arc::new(Handles::default());
    let (tell, news) = channel();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| (UNAVAILABLE, error.to_string()))?;
    let (told, stopping) = (tell.clone(), Arc::clone(&handles));
    let listening = thread::Builder::new().spawn(move || {
        for signal in &mut signals {
            if signal != SIGHUP {
                stopping.stop();
            }
            if told.send(Ok(())).is_err() {
                return;
            }
        }
    });
    // Without memory for a thread, the same may work later.
    listening.map_err(|error| (LATER, format!("cannot wait for signals: {error}")))?;
    let is_stopped = Arc::clone(&handles.stop);
    let is_logged = task.is_none() && !options.check && !options.dry_run;
    let stamp = || if is_logged { time_of_day() } else { String::new() };
    let say = |text: &str| arguments::say(NAME, &format!("{}{text}", stamp()));
    let result = if let Some(task) = task {
        let stop = Arc::clone(&is_stopped);
        let made = first::Task { config: &config, room: &room, newest, stop, say: &say };
        let work = || {
            let mut session = log_in(&config, &place, &config.credentials()?, &handles)?;
            let text = match task {
                Task::Replay => made.replay(&mut session, days)?,
                Task::Learn | Task::Setup => made.learn(&mut session)?,
            };
            session.end();
            Ok(text)
        };
        work().map(Some)
    } else {
        let how = (options.dry_run || options.check, options.letter_now);
        let watcher = Watcher::new(&config, place, &path, how, handles, &say);
        watcher.and_then(|mut watcher| {
            if options.check {
                watcher.check().map(Some)
            } else if options.once || options.dry_run || options.letter_now {
                watcher.once().map(|()| None)
            } else {
                watcher.forever(&tell, &news).map(|()| None)
            }
        })
    };
    match result {
        // The connection was cut off because the program is being stopped; that is not a failure.
        Err(_) if is_stopped.load(Ordering::SeqCst) => Ok(()),
        Err(fault) => {
            let (status, text) = failure(&fault, &config);
            Err((status, stamp() + &text))
        }
        Ok(printed) => printed.map_or(Ok(()), |text| print(&text)),
    }
}

/// The time, for a log that does not add it.
fn time_of_day() -> String {
    let has_time = io::stderr().is_terminal() || std::env::var_os("JOURNAL_STREAM").is_some();
    let time = DateTime::from_timestamp(i64::try_from(now()).unwrap_or(0), 0).filter(|_| !has_time);
    time.map_or_else(String::new, |time| time.format("%FT%TZ ").to_string())
}

fn print(text: &str) -> Result<(), (u8, String)> {
    arguments::print(&format!("{text}\n"))
}

fn status_of(fault: &Fault) -> u8 {
    match fault {
        Fault::Login { .. } => FORBIDDEN,
        Fault::Filter(MailFilterError::Open(FilterOpenError::NoFilter { .. })) => NO_INPUT,
        Fault::Filter(_) | Fault::Local(_) => UNAVAILABLE,
        _ => LATER,
    }
}

/// The end after a fault of work with the account.
fn failure(fault: &Fault, config: &Config) -> (u8, String) {
    let status = status_of(fault);
    let help = if status == NO_INPUT { ", or dbacl-imap learn" } else { "" };
    (status, fault.at(&config.server, config.port()) + help)
}

/// The configuration, with options in the place of its settings.
fn settings(options: &Options) -> Result<Config, String> {
    Config::read(options.config.as_deref())?.with_options(given(options)).checked()
}

/// The settings that the command line gives.
fn given(options: &Options) -> Config {
    let guesses = options.no_guesses.then_some(false);
    let letter = options.settings.letter || options.letter_now;
    Config { letter, guesses, ..options.settings.clone() }
}

/// Asks for settings, tries them and writes them.
fn set_up(options: &Options) -> Result<(), (u8, String)> {
    let path = options.config.clone().or_else(usual_path);
    let path = path.ok_or_else(|| (USAGE, "there is no HOME: name the file by --config".into()))?;
    if path.exists() {
        let text = "the settings are there already; remove the file, or name another by --config";
        return Err((USAGE, format!("{}: {text}", path.display())));
    }
    let told = |fault: Fault| (status_of(&fault), fault.to_string());
    let mut config = given(options);
    let is_anybody_there = io::stdin().is_terminal();
    let (mut input, mut output) = (io::stdin().lock(), Shown::new(io::stderr()));
    let input = is_anybody_there.then_some(&mut input as &mut dyn io::BufRead);
    let mut talk = setup::Dialogue { input, output: &mut output };
    let mut complaint: Option<String> = None;
    let mut session = loop {
        setup::account(&mut config, &mut talk, complaint.as_deref()).map_err(told)?;
        match begin_session(&config) {
            Ok(session) => break session,
            Err(failure) if talk.input.is_none() => return Err(failure),
            Err((_, text)) => complaint = Some(text),
        }
    };
    setup::folders(&mut config, &mut session, &mut talk).map_err(told)?;
    session.end();
    setup::write(&config, &path).map_err(told)?;
    let path = path.display();
    print(&format!(
        "{path} is written. Next: dbacl-imap learn makes the filter, dbacl-imap replay says what \
         it would have moved, and dbacl-imap begins"
    ))
}

/// Logs in with settings that are not written yet.
fn begin_session(config: &Config) -> Result<Session, (u8, String)> {
    let tried = config.clone().checked().map_err(|text| (USAGE, text))?;
    let place = tried.place().map_err(|text| (USAGE, text))?;
    let begin = || log_in(&tried, &place, &tried.credentials()?, &Handles::default());
    begin().map_err(|fault| failure(&fault, &tried))
}

/// Locks the state for this process. Two processes with one state would learn every move twice.
fn lock(path: &Path) -> Result<Lock, (u8, String)> {
    let told = |error| (UNAVAILABLE, format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folder(folder).map_err(told)?;
    }
    let stop = AtomicBool::new(false);
    let at_once = Patience { limit: Duration::ZERO, stop: &stop };
    Lock::take(&beside(path, ".lock"), at_once, &mut || {}).map_err(|error| match error {
        LockError::Held { holder, .. } => {
            let holder = holder_text(holder);
            (LATER, format!("{}: another dbacl-imap uses this state ({holder})", path.display()))
        }
        error => (UNAVAILABLE, error.to_string()),
    })
}

/// Prints what the state holds of the account.
fn status(config: &Config, path: &Path) -> Result<(), (u8, String)> {
    let told = |why: &dyn Display| (UNAVAILABLE, format!("{}: {why}", path.display()));
    let state = State::read(path, &config.account()).map_err(|why| told(&why))?;
    let looked = fs::metadata(path).and_then(|file| file.modified());
    let looked = looked.map_err(|error| told(&error))?;
    let age = SystemTime::now().duration_since(looked).unwrap_or_default().as_secs();
    let mut text = format!("looked {age} s ago");
    for (name, folder) in &state.folders {
        // A string can be written.
        let _ = write!(text, "; {} {} messages", from_imap(name), folder.mails.len());
    }
    let counts = state.counts;
    let _ = write!(text, "; learned {} as spam, {} as ham", counts.spam, counts.ham);
    if counts.topics > 0 {
        let _ = write!(text, ", {} with labels of folders", counts.topics);
    }
    let _ = write!(text, "; moved {}", counts.moved);
    print(&text)
}
