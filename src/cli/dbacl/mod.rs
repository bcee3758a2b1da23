// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl`: learns categories, classifies texts.

mod classify;
pub(super) mod config;
mod echo;
pub(super) mod failure;
mod help;
mod hints;
mod inputs;
mod learn;
mod lock;
pub mod method;
pub mod options;
mod signals;

use crate::cli::getopt;
use crate::cli::output::{Messages, Output};
use config::{Builder, Config, Task};
use failure::{Failure, Kind};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

static MESSAGES: Messages = Messages::of("dbacl");

/// Runs the program with the process's arguments and environment.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_else(|| "dbacl".into());
    let args: Vec<OsString> = args.collect();
    let strict = AtomicBool::new(false);
    // A crash must not look like a verdict: it ends as an error does.
    let run = std::panic::catch_unwind(|| run(&program, args, &strict));
    run.unwrap_or_else(|_| ExitCode::from(Kind::Internal.status(strict.load(Ordering::Relaxed))))
}

/// Runs the program; `strict` is kept up to date while options are read.
fn run(program: &OsString, args: Vec<OsString>, strict: &AtomicBool) -> ExitCode {
    let variable = |name: &str| std::env::var_os(name);
    let posixly_correct = variable("POSIXLY_CORRECT").is_some();
    let events = getopt::parse(program, args, options::TABLE, posixly_correct);
    let mut builder = Builder::new(program, &MESSAGES, &variable);
    let mut output = Output::new();
    strict.store(builder.is_strict(), Ordering::Relaxed);
    let mut result = Ok(None);
    for event in events {
        result = builder.act(event);
        strict.store(builder.is_strict(), Ordering::Relaxed);
        if !matches!(result, Ok(None)) {
            break;
        }
    }
    let status = match result {
        Ok(Some(Task::Print(text))) => {
            output.buffer().extend_from_slice(text.as_bytes());
            output.flush().map(|()| 0).map_err(|error| failure::output_failure(&error))
        }
        Ok(_) => builder.finish().and_then(|config| perform(config, &mut output)),
        Err(failure) => Err(failure),
    };
    ExitCode::from(status.unwrap_or_else(|failure: Failure| {
        for line in &failure.lines {
            MESSAGES.error(line);
        }
        // What was printed before the error still goes out, behind the message as in the reference.
        let _ = output.flush();
        failure.kind.status(strict.load(Ordering::Relaxed))
    }))
}

fn perform(mut config: Config, output: &mut Output) -> Result<u8, Failure> {
    let signals = signals::Signals::install();
    match std::mem::replace(&mut config.task, Task::Classify) {
        Task::Learn(path) => learn::run(&mut config, &path, &signals, output),
        Task::Classify | Task::Print(_) => classify::run(config, &signals, output),
    }
}
