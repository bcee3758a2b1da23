// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: reads options and configuration, and looks at the account until a signal comes.

use crate::config::Config;
use crate::connection::Fault;
use crate::folder_names::from_imap;
use crate::options::Options;
use crate::state::{Found, State};
use crate::watch::{Handles, Mode, News, Watcher};
use dbacl_cli::status::{FORBIDDEN, IO, LATER, UNAVAILABLE, USAGE};
use dbacl_cli::{arguments, output};
use dbacl_files::atomic_file::{beside, private_folder};
use dbacl_files::lock::{Lock, LockError, Patience, holder_text};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt::Write as _;
use std::fs;
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
    arguments::run(NAME, begin)
}

fn begin(options: Options) -> Result<(), (u8, String)> {
    let is_check = options.check;
    let (is_once, is_dry_run, is_status) = (options.once, options.dry_run, options.status);
    let config = settings(options).map_err(|error| (USAGE, error.to_string()))?;
    let path = config.state.clone().unwrap_or_default();
    if is_status {
        return status(&config, &path);
    }
    let place = config.place().map_err(|error| (USAGE, error.to_string()))?;
    let mode = match (is_dry_run, is_once) {
        (true, _) => Mode::DryRun,
        (false, true) => Mode::Once,
        (false, false) => Mode::Forever,
    };
    let _lock = if mode == Mode::DryRun || is_check { None } else { Some(lock(&path)?) };
    let handles = Arc::new(Handles::default());
    let (tell, news) = channel();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| (UNAVAILABLE, error.to_string()))?;
    let (told, stopping) = (tell.clone(), Arc::clone(&handles));
    let listening = thread::Builder::new().spawn(move || {
        for signal in &mut signals {
            let word = if signal == SIGHUP {
                News::Changed
            } else {
                stopping.stop();
                News::Stop
            };
            if told.send(word).is_err() {
                return;
            }
        }
    });
    // Without memory for a thread, the same may work later.
    listening.map_err(|error| (LATER, format!("cannot wait for signals: {error}")))?;
    let is_stopped = Arc::clone(&handles.stop);
    let say = |text: &str| arguments::say(NAME, text);
    let mut watcher = Watcher::new(&config, place, &path, mode, handles, &say)
        .map_err(|fault| in_words(&fault))?;
    let mut checked = None;
    let result = if is_check {
        watcher.check().map(|text| checked = Some(text))
    } else if mode == Mode::Forever {
        watcher.forever(&tell, &news)
    } else {
        watcher.once()
    };
    match result {
        // The connection was cut off because the program is being stopped; that is no failure.
        Err(_) if is_stopped.load(Ordering::SeqCst) => Ok(()),
        Err(fault) => {
            let (status, _) = in_words(&fault);
            Err((status, fault.at(&config.server, config.port())))
        }
        Ok(()) => checked.map_or(Ok(()), |text| print(&text)),
    }
}

/// Prints a line. A closed pipe ends quietly.
fn print(text: &str) -> Result<(), (u8, String)> {
    let printed = output::print(format!("{text}\n").as_bytes());
    let complaint = printed.err().as_ref().and_then(output::complaint);
    complaint.map_or(Ok(()), |text| Err((IO, text)))
}

fn in_words(fault: &Fault) -> (u8, String) {
    let status = match fault {
        Fault::Login { .. } => FORBIDDEN,
        Fault::Filter(_) | Fault::NoFolder(_) | Fault::State(_) | Fault::Secret(_) => UNAVAILABLE,
        _ => LATER,
    };
    (status, fault.to_string())
}

/// The configuration, with options in the place of its settings.
fn settings(options: Options) -> Result<Config, crate::config::ConfigError> {
    let mut config = Config::read(options.config.as_deref())?;
    config.server = options.server.unwrap_or(config.server);
    config.port = options.port.or(config.port);
    config.user = options.user.unwrap_or(config.user);
    if options.password_command.is_some() || options.token_command.is_some() {
        config.password_command = options.password_command;
        config.token_command = options.token_command;
    }
    config.filter = options.filter.unwrap_or(config.filter);
    config.folders.extend(options.folder);
    config.junk = options.junk.or(config.junk);
    config.trash = options.trash.or(config.trash);
    config.move_spam |= options.move_spam;
    config.plain |= options.plain;
    config.certificates = options.certificates.or(config.certificates);
    config.state = options.state.or(config.state);
    config.checked()
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
    let told = |error| (UNAVAILABLE, format!("{}: {error}", path.display()));
    let unknown = |text: &str| Err((UNAVAILABLE, format!("{}: {text}", path.display())));
    let state = match State::read(path, &config.account()).map_err(told)? {
        Found::State(state) => state,
        Found::Nothing => return unknown("nothing is known yet"),
        Found::OtherAccount(other) => {
            return unknown(&format!("the state is that of another account, {other}"));
        }
        Found::Unusable => {
            return unknown(
                "the state is damaged, or of another version; the next look notes all mails anew \
                 and learns nothing from them",
            );
        }
    };
    let looked = fs::metadata(path).and_then(|file| file.modified()).map_err(told)?;
    let age = SystemTime::now().duration_since(looked).unwrap_or_default().as_secs();
    let mut text = format!("looked {age} s ago");
    for (name, folder) in &state.folders {
        // A string can be written.
        let _ = write!(text, "; {} {} mails", from_imap(name), folder.mails.len());
    }
    let counts = state.counts;
    let _ = write!(text, "; learned {} as spam, {} as ham", counts.spam, counts.ham);
    let _ = write!(text, "; moved {} to the folder for spam", counts.moved);
    print(&text)
}
