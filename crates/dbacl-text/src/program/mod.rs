// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: options → calls of the library → what is printed.

mod change;
pub mod options;
mod predict;
mod report;
mod test;
mod train;

use crate::data::DataError;
use crate::model::{ModelError, TextModel};
use crate::train::TrainError;
use clap::CommandFactory;
use dbacl::blocks::BlockError;
use dbacl_cli::output::{Messages, Output};
use dbacl_cli::{last_resort, status};
use dbacl_files::access::open_to_all;
use options::{Arguments, Verb};
use std::io;
use std::path::Path;
use std::process::ExitCode;

static MESSAGES: Messages = Messages::of("dbacl-text");

/// Why the program ends early.
#[derive(Debug)]
struct Failure {
    status: u8,
    /// What is said; nothing when nobody reads.
    text: String,
}

impl Failure {
    fn new(status: u8, text: &dyn std::fmt::Display) -> Self {
        Self { status, text: text.to_string() }
    }

    /// The status for an error of the operating system while reading.
    fn input(error: &io::Error) -> u8 {
        match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidInput => status::NO_INPUT,
            _ => status::IO,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let status = match &error {
            DataError::Io { source, .. } => Self::input(source),
            _ => status::DATA,
        };
        Self::new(status, &error)
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        let status = match &error {
            TrainError::Blocks(BlockError::Io(_)) => status::CANNOT_CREATE,
            TrainError::Blocks(BlockError::Memory { .. }) => status::USAGE,
            _ => status::DATA,
        };
        Self::new(status, &error)
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        use dbacl::Error;
        let status = match &error {
            ModelError::File(Error::Io { source, .. }) => Self::input(source),
            ModelError::File(Error::Temporary { .. } | Error::Occupied { .. })
            | ModelError::Unpack { .. } => status::CANNOT_CREATE,
            _ => status::DATA,
        };
        Self::new(status, &error)
    }
}

/// An error of standard output; a closed pipe ends quietly.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { status: 0, text: String::new() };
        }
        Self::new(status::IO, &format!("standard output: {error}"))
    }
}

/// The program's options, for completions and the manual page.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the program.
pub fn main() -> ExitCode {
    last_resort::install("dbacl-text");
    last_resort::set_status(status::LATER);
    let arguments: Arguments = match dbacl_cli::arguments::read(status::USAGE) {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    match std::panic::catch_unwind(|| run(&arguments.verb)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // The message of a panic has been printed.
        Err(_) => ExitCode::from(status::SOFTWARE),
        Ok(Err(failure)) => {
            if !failure.text.is_empty() {
                MESSAGES.error(&failure.text);
            }
            ExitCode::from(failure.status)
        }
    }
}

fn run(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Train(options) => train::run(options),
        Verb::Update(options) => change::update(options),
        Verb::Forget(options) => change::forget(options),
        Verb::Merge(options) => change::merge(options),
        Verb::Predict(options) => predict::run(options),
        Verb::Test(options) => test::run(options),
        Verb::Explain(options) => predict::explain(options),
        Verb::Info { model } => report::info(&open(model)?),
        Verb::Unpack { model, output } => unpack(model, output),
    }
}

/// Warns of a model that anybody may write to.
fn warn_of_writers(path: &Path) {
    if let Some(text) = open_to_all(path) {
        MESSAGES.warning(&text);
    }
}

fn open(path: &Path) -> Result<TextModel, Failure> {
    warn_of_writers(path);
    Ok(TextModel::open(path)?)
}

fn unpack(model: &Path, output: &Path) -> Result<(), Failure> {
    let mut out = Output::new();
    for path in open(model)?.unpack(output)? {
        out.buffer().extend_from_slice(path.as_os_str().as_encoded_bytes());
        out.buffer().push(b'\n');
        out.spill()?;
    }
    Ok(out.flush()?)
}
