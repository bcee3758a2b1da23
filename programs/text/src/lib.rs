// SPDX-License-Identifier: GPL-3.0-or-later
//! The program: options → calls of the library → what is printed.

mod card;
mod change;
mod fasttext;
pub mod options;
mod predict;
mod report;
mod serve;
mod test;
mod train;

use clap::CommandFactory;
use dbacl::text::TrainError;
use dbacl::text::data::{self, DataError, Notes, Reading, Sink};
use dbacl::text::{ModelError, TextModel};
use dbacl_cli::output::{self, Messages};
use dbacl_cli::{arguments, folders, progress, status};
use dbacl_files::access::open_to_all;
use dbacl_files::atomic_file::beside;
use dbacl_files::lock::{Lock, LockError, Patience, holder_text};
use options::{Arguments, QuantizeArguments, Replacing, Verb};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const NAME: &str = "dbacl-text";

static MESSAGES: Messages = Messages::plain(NAME);

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

    /// The same failure, of a file.
    fn of(self, path: &Path) -> Self {
        Self { text: format!("{}: {}", path.display(), self.text), ..self }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let status = match &error {
            DataError::Io { source, .. } => status::of_input(source),
            _ => status::DATA,
        };
        let option = match &error {
            DataError::UnknownFormat { .. } => "; give --format",
            DataError::Line { has_several: true, .. } => "; several need --several",
            _ => "",
        };
        Self::new(status, &format!("{error}{option}"))
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        let status = match &error {
            TrainError::Io(_) => status::CANNOT_CREATE,
            TrainError::Memory { .. } => status::USAGE,
            _ => status::DATA,
        };
        Self::new(status, &error)
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        use dbacl::Error;
        let status = match &error {
            ModelError::File(Error::Io { source, .. }) => status::of_input(source),
            ModelError::File(Error::Temporary { .. } | Error::Occupied { .. }) => {
                status::CANNOT_CREATE
            }
            _ => status::DATA,
        };
        Self::new(status, &error)
    }
}

/// An error of standard output; a closed pipe ends quietly.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match output::complaint(&error) {
            Some(text) => Self { status: status::IO, text },
            None => Self { status: 0, text: String::new() },
        }
    }
}

/// The program's options, for completions and the manual page.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the program.
pub fn main() -> ExitCode {
    arguments::run(NAME, |arguments: Arguments| match run(&arguments.verb) {
        Err(Failure { status, text }) if !text.is_empty() => Err((status, text)),
        _ => Ok(()),
    })
}

fn run(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Train(options) => train::run(options),
        Verb::Update(options) => change::update(options),
        Verb::Forget(options) => change::forget(options),
        Verb::Merge(options) => change::merge(options),
        Verb::Predict(options) => predict::run(options),
        Verb::Test(options) => test::run(options),
        Verb::Card(options) => card::run(options),
        Verb::Explain(options) => predict::explain(options),
        Verb::Info { model } => print(&report::info_text(&open(model)?)),
        Verb::Quantize(options) => quantize(options),
        Verb::Features { model, texts, number } => predict::features(model, texts, *number),
        Verb::Serve(options) => serve::run(options),
        Verb::Fasttext { words } => fasttext::run(words),
    }
}

/// The right to replace the file at `path`, which must be a model if it exists. Warns if anybody
/// may write to that model, since the new one gets its mode.
fn begin(replacing: &Replacing, path: &Path) -> Result<Lock, Failure> {
    let lock = lock(replacing, path)?;
    dbacl::check_container(path).map_err(ModelError::from)?;
    warn_of_writers(path);
    Ok(lock)
}

/// The right to change the model at `path`, which one process has at a time. A change begins with
/// it, since a change that reads a model while another one is made would undo the other.
fn lock(replacing: &Replacing, path: &Path) -> Result<Lock, Failure> {
    if replacing.quiet {
        MESSAGES.be_quiet();
    }
    if path == Path::new("-") {
        let text = "a model cannot be written to standard output: give the name of a file";
        return Err(Failure::new(status::USAGE, &text));
    }
    let (name, seconds) = (path.display(), replacing.lock_timeout);
    let patience = Patience { limit: Duration::from_secs(seconds), stop: &AtomicBool::new(false) };
    let lock = Lock::take(&beside(path, ".learning"), patience, &mut || MESSAGES.waiting(path));
    lock.map(Lock::vanishing).map_err(|error| match error {
        LockError::Held { holder, .. } => {
            let holder = holder_text(holder);
            let text = format!(
                "{name} is being changed by {holder}: nothing was done after a wait of {seconds} s \
                 (--lock-timeout)"
            );
            Failure::new(status::LATER, &text)
        }
        error => Failure::new(status::CANNOT_CREATE, &format!("cannot write {name}: {error}")),
    })
}

/// Warns of a model that anybody may write to.
fn warn_of_writers(path: &Path) {
    if let Some(text) = open_to_all(path) {
        MESSAGES.warning(&text);
    }
}

/// Opens a model by its path or, if there is no such file, the one of that name in the folder
/// `$DBACL_MODELS` or among those that come with the program.
fn open(path: &Path) -> Result<TextModel, Failure> {
    let is_name = path.components().count() == 1 && !path.exists();
    let all = folders::of_models().filter(|_| is_name);
    let files: Vec<PathBuf> = all.map(|folder| folder.join(path).with_extension("model")).collect();
    let found = files.iter().find(|file| file.is_file());
    let path = found.map_or(path, PathBuf::as_path);
    warn_of_writers(path);
    TextModel::open(path).map_err(|error| {
        let mut failure = Failure::from(error);
        for file in files.iter().filter(|_| found.is_none()) {
            failure.text.push_str(&format!("; there is no {}", file.display()));
        }
        failure
    })
}

/// Reads documents, and says what is odd about them.
fn read(
    what: &'static str,
    path: &Path,
    reading: &Reading,
    take: Sink<'_>,
) -> Result<Notes, Failure> {
    let notes = progress::watch(what, || None, || data::read(path, reading, take))?;
    warn_of(&notes, path);
    Ok(notes)
}

/// Says what is odd about documents.
fn warn_of(notes: &Notes, path: &Path) {
    let name = path.display();
    if let Some(note) = notes.text(path) {
        MESSAGES.warning(&note);
    }
    if notes.has_heading {
        MESSAGES.warning(&format!(
            "{name}:1: the line names columns and is not a text; --input or --format with another \
             format makes it one"
        ));
    }
    if let Some(columns) = &notes.columns {
        let label = match columns.label.as_str() {
            "" => String::new(),
            label => format!("labels are in the column '{label}', "),
        };
        MESSAGES.warning(&format!("{name}: {label}texts in the column '{}'", columns.text));
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(output::print(text.as_bytes())?)
}

fn quantize(arguments: &QuantizeArguments) -> Result<(), Failure> {
    let _lock = begin(&arguments.replacing, &arguments.output)?;
    let model = open(&arguments.model)?;
    let small = small(&model, arguments.bits, arguments.size)
        .map_err(|failure| failure.of(&arguments.model))?;
    small.save(&arguments.output)?;
    if arguments.replacing.quiet {
        return Ok(());
    }
    let [before, after] = [&model, &small].map(|model| model.to_bytes().len());
    print(&format!("{before} bytes are {after} now\n"))
}

/// A model in at most `size` bytes.
fn small(model: &TextModel, bits: u8, size: Option<u64>) -> Result<TextModel, Failure> {
    let size = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    let small = model.quantized(bits, size);
    let after = small.to_bytes().len();
    match size.filter(|&size| after > size) {
        None => Ok(small),
        Some(size) => {
            let what =
                format!("it cannot be smaller than {after} bytes, and {size} were asked for");
            Err(Failure::new(status::DATA, &what))
        }
    }
}
