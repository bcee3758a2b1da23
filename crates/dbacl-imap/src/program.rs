// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: reads options and configuration, and looks at the account until a signal comes.

use crate::config::Config;
use crate::connection::Fault;
use crate::folder_names::from_imap;
use crate::options::Options;
use crate::state::{State, beside};
use crate::watch::{Handles, Mode, News, Watcher};
use dbacl_cli::arguments;
use dbacl_cli::status::{FORBIDDEN, LATER, UNAVAILABLE, USAGE};
use dbacl_files::lock::{Lock, LockError, Patience};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
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
    std::thread::spawn(move || {
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
    let is_stopped = Arc::clone(&handles.stop);
    let say = |text: &str| arguments::say(NAME, text);
    let mut watcher = Watcher::new(&config, place, &path, mode, handles, &say)
        .map_err(|fault| in_words(&fault))?;
    let result = if is_check {
        watcher.check().map(|text| {
            let _ = writeln!(std::io::stdout(), "{text}");
        })
    } else if mode == Mode::Forever {
        watcher.forever(&tell, &news)
    } else {
        watcher.once()
    };
    match result {
        // The connection was cut off because the program is being stopped; that is no failure.
        Err(_) if is_stopped.load(std::sync::atomic::Ordering::SeqCst) => Ok(()),
        result => result.map_err(|fault| in_words(&fault)),
    }
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
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let told = |error| (UNAVAILABLE, format!("{}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(told)?;
    }
    let at_once = Patience { limit: Duration::ZERO, stop: &AtomicBool::new(false) };
    Lock::take(&beside(path, ".lock"), at_once, &mut || {}).map_err(|error| match error {
        LockError::Held { .. } => {
            (LATER, format!("{}: another dbacl-imap uses this state", path.display()))
        }
        error => (UNAVAILABLE, error.to_string()),
    })
}

/// Prints what the state holds of the account.
fn status(config: &Config, path: &Path) -> Result<(), (u8, String)> {
    let told = |error| (UNAVAILABLE, format!("{}: {error}", path.display()));
    let Some(state) = State::read(path, &config.account()).map_err(told)? else {
        return Err((UNAVAILABLE, format!("{}: nothing is known yet", path.display())));
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
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
}
