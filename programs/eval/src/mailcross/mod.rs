// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs `mailcross`, `mailtoe` and `mailfoot`: cross-validation and online simulations of
//! mail filters (spec tools 3). They share their subcommands, so they share this code.
//!
//! As in dbacl 1.14.1, messages and usage go to standard output.

mod folder;
mod program;
mod simulate;
mod table;
mod testsuite;
mod text;

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::about;
use crate::mbox::Messages;
use crate::order::Dealer;
use dbacl_cli::getopt::{self, Event, Opt, opt};
use dbacl_cli::last_resort;
use dbacl_cli::output;
use dbacl_files::reading::read_small;
use dbacl_numeric::parse::atoi;
use dbacl_numeric::random::SplitMix64;
use folder::Folder;
pub use program::Program;
use table::Tables;

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Seed,
    Jobs,
    Help,
    Version,
}

/// The options.
pub const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Seed, "--seed NUMBER", "make 'add' and 'prepare' choose the same way again"),
    opt(
        Key::Jobs,
        "--jobs NUMBER",
        "ask the filter about several messages at a time (mailcross);\n\
         default: one for each processor with the built-in filter, else 1",
    ),
    opt(Key::Help, "--help", "print this help"),
    opt(Key::Version, "-V, --version", "print the version"),
];

/// Runs one of the programs in the current folder.
pub fn main(program: Program) -> ExitCode {
    let run = std::panic::catch_unwind(|| {
        let mut args = std::env::args_os();
        let invoked = args.next().unwrap_or_default();
        last_resort::install(program.name(), ":error: ");
        run(program, &invoked, args)
    });
    ExitCode::from(run.unwrap_or(1))
}

/// Writes to standard output; a reader that has gone away is not a failure.
fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let failed = output::print(text.as_ref()).err();
    let complaint = failed.as_ref().and_then(output::complaint);
    complaint.map_or(Ok(()), |text| Err(io::Error::other(text)))
}

/// Runs a program; returns its exit status.
fn run(program: Program, invoked: &OsStr, args: impl IntoIterator<Item = OsString>) -> u8 {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let folder = Folder { path: here.join(format!("{}.d", program.name())) };
    let mut session = Session { program, folder, seed: None, jobs: None, variables: Vec::new() };
    let mut operands = Vec::new();
    let mut asked = None;
    // what follows the subcommand is its own
    for event in getopt::parse(invoked, args, OPTIONS, true) {
        match event {
            Event::Operand(operand) => operands.push(operand),
            Event::Complaint(text) => output::raw(&text),
            Event::Option { key, value } => {
                let number = atoi(value.unwrap_or_default().as_bytes());
                match key {
                    Key::Seed => session.seed = Some(u64::from(number.cast_unsigned())),
                    Key::Jobs => session.jobs = usize::try_from(number).ok(),
                    Key::Help => {
                        asked = Some(text::help(program, &getopt::describe(OPTIONS)));
                        break;
                    }
                    Key::Version => {
                        asked = Some(dbacl_cli::version(program.name()));
                        break;
                    }
                }
            }
        }
    }
    if let Some(home) = std::env::var_os("HOME") {
        let path = Path::new(&home).join(format!(".{}rc", program.name()));
        session.variables = read_settings(&read_small(&path).unwrap_or_default());
    }
    let outcome = match asked {
        Some(text) => print(text).map_err(Stop::from),
        None => session.dispatch(&operands),
    };
    let failed = match outcome {
        Ok(()) => return 0,
        Err(Stop::Usage(message)) => print(message + &text::usage(program)).err(),
        Err(Stop::Failure(error)) => Some(error),
        Err(Stop::Told) => None,
    };
    if let Some(error) = failed {
        session.complain(&error.to_string());
    }
    1
}

/// `NAME=VALUE` lines, with an optional `export` and quotes around the value.
fn read_settings(text: &[u8]) -> Vec<(OsString, OsString)> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines
        .filter_map(|line| {
            let line = line.strip_prefix(b"export ").unwrap_or(line).trim_ascii();
            let at = line.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (&line[..at], &line[at + 1..]);
            let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let quoted = |mark: &[u8]| value.strip_prefix(mark)?.strip_suffix(mark);
            let value = quoted(b"\"").or_else(|| quoted(b"'")).unwrap_or(value);
            let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            (is_name && !name.is_empty()).then(|| (own(name), own(value)))
        })
        .collect()
}

/// Why a subcommand ends early.
enum Stop {
    /// A message, then the usage.
    Usage(String),
    /// The operating system refused something.
    Failure(io::Error),
    /// Errors whose messages were printed already.
    Told,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failure(error)
    }
}

type Outcome<T = ()> = Result<T, Stop>;

struct Session {
    program: Program,
    folder: Folder,
    seed: Option<u64>,
    jobs: Option<usize>,
    /// From the program's settings file; they go before the environment.
    variables: Vec<(OsString, OsString)>,
}

impl Session {
    fn complain(&self, text: &str) {
        output::Messages::of(self.program.name()).error(text);
    }

    /// The name of a variable for the program.
    fn name_of(&self, suffix: &str) -> String {
        format!("{}_{suffix}", self.program.name().to_uppercase())
    }

    /// A variable from the settings file or the environment, if it is not empty.
    fn variable(&self, suffix: &str) -> Option<OsString> {
        let name = self.name_of(suffix);
        let set = self.variables.iter().find(|(set, _)| *set == *name);
        let value = set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(&name));
        value.filter(|value| !value.is_empty())
    }

    fn dispatch(&mut self, operands: &[OsString]) -> Outcome {
        let (command, rest) = match operands {
            [command, rest @ ..] => (command.to_str().unwrap_or_default(), rest),
            [] => return Err(Stop::Usage(String::new())),
        };
        let outcome = match command {
            "prepare" => self.prepare(rest),
            "add" => self.add(rest),
            "clean" => self.clean(),
            "learn" => self.learn(rest),
            "run" => self.run(),
            "summarize" => self.summarize(),
            "review" => self.review(rest),
            "plot" if self.program != Program::Cross => self.plot(rest),
            "killall" => Ok(()),
            "testsuite" => self.testsuite(rest),
            _ => Err(Stop::Usage(String::new())),
        };
        if outcome.is_ok() && self.folder.exists() {
            let words: Vec<&[u8]> = operands.iter().map(|word| word.as_bytes()).collect();
            self.note(&[b"=== ", &words.join(&b' ')[..]].concat());
        }
        outcome
    }

    /// Adds a line to the log of what was done. Failing to write it is not an error.
    fn note(&self, line: &[u8]) {
        let path = self.folder.path.join("log").join("activity.log");
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
            let _ = file.write_all(&[line, b"\n"].concat());
        }
    }

    fn need_folder(&self) -> Outcome {
        if self.folder.exists() {
            Ok(())
        } else {
            Err(Stop::Usage("error: you need to prepare first.\n".to_owned()))
        }
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path.join("log").join(format!("{}.log", self.program.log()))
    }

    /// The log, or the complaint that there is none.
    fn log(&self) -> Outcome<Vec<u8>> {
        let what = match self.program {
            Program::Cross => "cross validation",
            Program::Toe => "TOE simulations",
            Program::Foot => "FOOT simulations",
        };
        std::fs::read(self.log_path()).map_err(|_| {
            Stop::Usage(format!("Error: No results found. You must run the {what} first.\n"))
        })
    }

    /// The generator of random choices, which a seed makes repeatable.
    fn generator(&self) -> SplitMix64 {
        use std::hash::{BuildHasher, RandomState};
        SplitMix64::new(self.seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
    }

    fn prepare(&mut self, operands: &[OsString]) -> Outcome {
        let Some(number) = operands.first() else {
            return Err(Stop::Usage("Error: Please specify a number.\n".to_owned()));
        };
        let count = usize::try_from(atoi(number.as_bytes())).unwrap_or(0);
        if count == 0 {
            let text = "Error: Please specify a number greater than zero.\n";
            return Err(Stop::Usage(text.to_owned()));
        }
        if self.folder.path.exists() {
            return Err(Stop::Usage(format!(
                "Error: Directory {} already exists. Remove it or use it.\n",
                self.folder.path.display()
            )));
        }
        self.folder.create(count)?;
        if self.program != Program::Cross {
            let mut generator = self.generator();
            for repetition in 0..count {
                let seed = generator.below(1 << 31);
                std::fs::write(self.folder.fold(repetition).join("seed"), format!("{seed}\n"))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, operands: &[OsString]) -> Outcome {
        let Some((category, mailboxes)) = operands.split_first() else {
            return Err(Stop::Usage("error: missing category name.\n".to_owned()));
        };
        self.need_folder()?;
        // The log is divided at blanks, and mailboxes are looked for by their names.
        let is_bad = |byte: &u8| matches!(byte, 0..=b' ' | b'/' | 0x7f);
        if category.as_bytes().iter().any(is_bad) {
            let name = category.to_string_lossy();
            return Err(Stop::Failure(io::Error::other(format!(
                "{name:?} cannot be a category: blanks, slashes and control characters are not \
                 allowed"
            ))));
        }
        let folders = if self.program == Program::Cross {
            (0..self.folder.folds()).map(|fold| self.folder.fold(fold)).collect()
        } else {
            vec![self.folder.path.join("mbox")]
        };
        let open = |folder: &PathBuf| {
            let path = Folder::mailbox(folder, category);
            let file = OpenOptions::new().create(true).append(true).open(&path);
            file.map(io::BufWriter::new).map_err(|error| about(&path, &error))
        };
        let mut outputs = folders.iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let mut dealer = Dealer::new(outputs.len(), self.generator());
        if mailboxes.is_empty() {
            deal_out(&mut io::stdin().lock(), &mut dealer, &mut outputs)?;
        }
        for path in mailboxes.iter().map(Path::new) {
            let input = File::open(path).map_err(|error| about(path, &error))?;
            deal_out(&mut BufReader::new(input), &mut dealer, &mut outputs)
                .map_err(|error| about(path, &error))?;
        }
        outputs.iter_mut().try_for_each(Write::flush)?;
        Ok(())
    }

    fn clean(&mut self) -> Outcome {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder.path)?;
        } else {
            print("Nothing to clean\n")?;
        }
        Ok(())
    }

    fn summarize(&mut self) -> Outcome {
        let log = self.log()?;
        let categories = self.folder.categories().into_iter().map(OsString::into_vec).collect();
        Ok(print(Tables::count(&log, categories).print())?)
    }

    /// Copies the messages of one cell of the table, and prints their log lines.
    fn review(&mut self, operands: &[OsString]) -> Outcome {
        let [truth, predicted, ..] = operands else {
            let name = self.program.name();
            print(format!("Error: Missing category, e.g. {name} review notspam spam\n"))?;
            return Ok(());
        };
        let log = self.log()?;
        for fold in 0..self.folder.folds() {
            let place = match self.program {
                Program::Cross => self.folder.fold(fold),
                _ => self.folder.path.join("mbox"),
            };
            let Ok(file) = File::open(Folder::mailbox(&place, truth)) else { continue };
            let messages = Messages::new(BufReader::new(file));
            let fold_name = fold.to_string();
            // The log has a category's messages in the order of its mailbox.
            let lines = table::entries(&log).filter(|(entry, _)| {
                entry.fold == fold_name.as_bytes() && entry.truth == truth.as_bytes()
            });
            for (number, ((entry, line), message)) in lines.zip(messages).enumerate() {
                let message = message?;
                if entry.predicted != predicted.as_bytes() {
                    continue;
                }
                let mut name = truth.clone();
                name.push(".");
                name.push(predicted);
                name.push(format!(".{fold}.{:03}", number + 1));
                let path = self.folder.path.join("review").join(name);
                std::fs::write(&path, &message).map_err(|error| about(&path, &error))?;
                print([line, b"\n"].concat())?;
            }
        }
        Ok(())
    }

    /// Writes the number of errors against the number of messages, as numbers and as a picture.
    fn plot(&mut self, operands: &[OsString]) -> Outcome {
        use std::fmt::Write as _;
        let log = self.log()?;
        let mut data = String::new();
        let mut curves: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut current: Option<&[u8]> = None;
        let mut errors = 0;
        for (entry, _) in table::entries(&log) {
            if current != Some(entry.fold) {
                current = Some(entry.fold);
                errors = 0;
                curves.push(Vec::new());
                data.push('\n');
            }
            errors += usize::from(entry.truth != entry.predicted);
            if let Some(curve) = curves.last_mut() {
                let count = curve.len() + 1;
                curve.push((count, errors));
                // writing to a String cannot fail
                let _ = writeln!(data, " {count} {errors}");
            }
        }
        let plots = self.folder.path.join("plots");
        let name = self.program.log();
        std::fs::write(plots.join(format!("{name}.plotdata")), data)?;
        let is_logarithmic = operands.iter().any(|word| word == "logscale");
        let picture = text::picture(&curves, is_logarithmic);
        std::fs::write(plots.join(format!("{name}.svg")), picture)?;
        Ok(())
    }
}

/// Appends each message of `input` to the output that `dealer` picks.
fn deal_out(
    input: &mut dyn BufRead,
    dealer: &mut Dealer,
    outputs: &mut [io::BufWriter<File>],
) -> io::Result<()> {
    for message in Messages::new(input) {
        if let Some(output) = outputs.get_mut(dealer.deal()) {
            output.write_all(&message?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("mailcross", OPTIONS);
    }

    #[test]
    fn settings_are_plain_assignments() {
        let text = b"# x\nexport A='b c'\nD=\"e\"\n F=g=h\nnot this\n=x\n";
        let found = read_settings(text);
        let expected = [("A", "b c"), ("D", "e"), ("F", "g=h")];
        assert_eq!(found, expected.map(|(name, value)| (name.into(), value.into())));
    }
}
