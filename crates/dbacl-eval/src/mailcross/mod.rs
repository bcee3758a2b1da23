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
use dbacl_cli::terminal::Shown;
use dbacl_cli::{last_resort, progress};
use dbacl_files::reading::read_small;
use dbacl_mail::mailbox::Rule;
use dbacl_numeric::parse::atoi;
use dbacl_numeric::random::SplitMix64;
use folder::Folder;
pub use program::Program;
use table::Tables;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Seed,
    Jobs,
    Help,
    Version,
}

/// The options, for completions.
pub fn options() -> Vec<Opt<()>> {
    getopt::without_keys(OPTIONS)
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Seed, "--seed NUMBER", "make 'add' and 'prepare' choose the same way again"),
    opt(
        Key::Jobs,
        "--jobs NUMBER",
        "ask the filter about so many messages at a time (mailcross);\n\
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
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let mut stdin = io::stdin().lock();
        last_resort::install(program.name(), ":error: ");
        let (mut stdout, mut stderr) = (Shown::new(io::stdout()), Shown::new(io::stderr()));
        let environment = Environment {
            folder: &folder,
            variable: &|name| std::env::var_os(name),
            stdin: &mut stdin,
            stdout: &mut stdout,
            stderr: &mut stderr,
        };
        run(program, &invoked, args, environment)
    });
    ExitCode::from(run.unwrap_or(1))
}

/// The environment of a run: folder, variables, input and outputs.
struct Environment<'a> {
    folder: &'a Path,
    /// Looks up an environment variable.
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Messages for `add` without mailboxes.
    stdin: &'a mut dyn BufRead,
    /// Results, and most errors.
    stdout: &'a mut dyn Write,
    /// Messages that the programs of dbacl 1.14.1 do not print.
    stderr: &'a mut dyn Write,
}

/// Runs a program; returns its exit status.
fn run(
    program: Program,
    invoked: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    environment: Environment<'_>,
) -> u8 {
    let mut settings = Settings { seed: None, jobs: None, variables: Vec::new() };
    let mut operands = Vec::new();
    // what follows the subcommand is its own
    for event in getopt::parse(invoked, args, OPTIONS, true) {
        match event {
            Event::Operand(operand) => operands.push(operand),
            Event::Complaint(text) => {
                let _ = environment.stderr.write_all(&[&text[..], b"\n"].concat());
            }
            Event::Option { key, value } => {
                let number = atoi(value.unwrap_or_default().as_bytes());
                match key {
                    Key::Seed => settings.seed = Some(u64::from(number.cast_unsigned())),
                    Key::Jobs => settings.jobs = usize::try_from(number).ok(),
                    Key::Help => {
                        let text = text::help(program, &getopt::describe(OPTIONS));
                        let _ = environment.stdout.write_all(text.as_bytes());
                        return 0;
                    }
                    Key::Version => {
                        let text = dbacl_cli::version(program.name());
                        let _ = environment.stdout.write_all(text.as_bytes());
                        return 0;
                    }
                }
            }
        }
    }
    if let Some(home) = (environment.variable)("HOME") {
        let path = Path::new(&home).join(format!(".{}rc", program.name()));
        settings.variables = read_settings(&read_small(&path).unwrap_or_default());
    }
    let folder = Folder::new(environment.folder.join(format!("{}.d", program.name())));
    let mut session = Session { program, folder, settings, environment };
    let status = match session.dispatch(&operands) {
        Ok(()) => 0,
        Err(Stop::Usage(message)) => {
            session.print(message.as_bytes());
            session.print(text::usage(program).as_bytes());
            1
        }
        Err(Stop::Failure(error)) => {
            session.complain(&error.to_string());
            1
        }
        Err(Stop::Told) => 1,
    };
    let _ = session.environment.stdout.flush();
    status
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

struct Settings {
    seed: Option<u64>,
    jobs: Option<usize>,
    /// From the program's settings file; they go before the environment.
    variables: Vec<(OsString, OsString)>,
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

struct Session<'a> {
    program: Program,
    folder: Folder,
    settings: Settings,
    environment: Environment<'a>,
}

impl Session<'_> {
    fn print(&mut self, text: &[u8]) {
        let _ = self.environment.stdout.write_all(text);
    }

    fn complain(&mut self, text: &str) {
        progress::give_way();
        let line = format!("{}:error: {text}\n", self.program.name());
        let _ = self.environment.stderr.write_all(line.as_bytes());
    }

    /// A variable from the settings file or the environment, if it is not empty.
    fn variable(&self, suffix: &str) -> Option<OsString> {
        let name = format!("{}{suffix}", self.program.variables());
        let set = self.settings.variables.iter().find(|(set, _)| *set == *name);
        let value =
            set.map(|(_, value)| value.clone()).or_else(|| (self.environment.variable)(&name));
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

    /// Adds a line to the log of what was done. Failing to write it is no error.
    fn note(&self, line: &[u8]) {
        let path = self.folder.path().join("log").join("activity.log");
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
        self.folder.path().join("log").join(format!("{}.log", self.program.log()))
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
        SplitMix64::new(self.settings.seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
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
        if self.folder.path().exists() {
            return Err(Stop::Usage(format!(
                "Error: Directory {} already exists. Remove it or use it.\n",
                self.folder.path().display()
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
            vec![self.folder.path().join("mbox")]
        };
        let open = |folder: &PathBuf| {
            let path = Folder::mailbox(folder, category);
            let file = OpenOptions::new().create(true).append(true).open(&path);
            file.map(io::BufWriter::new).map_err(|error| about(&path, &error))
        };
        let mut outputs = folders.iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let mut dealer = Dealer::new(outputs.len(), self.generator());
        if mailboxes.is_empty() {
            deal_out(&mut self.environment.stdin, &mut dealer, &mut outputs)?;
        }
        for path in mailboxes.iter().map(Path::new) {
            let input = self.environment.folder.join(path);
            let input = File::open(input).map_err(|error| about(path, &error))?;
            deal_out(&mut BufReader::new(input), &mut dealer, &mut outputs)
                .map_err(|error| about(path, &error))?;
        }
        outputs.iter_mut().try_for_each(Write::flush)?;
        Ok(())
    }

    fn clean(&mut self) -> Outcome {
        if self.folder.exists() {
            std::fs::remove_dir_all(self.folder.path())?;
        } else {
            self.print(b"Nothing to clean\n");
        }
        Ok(())
    }

    fn summarize(&mut self) -> Outcome {
        let log = self.log()?;
        let categories = self.folder.categories().into_iter().map(OsString::into_vec).collect();
        let tables = Tables::count(&log, categories).print();
        self.print(&tables);
        Ok(())
    }

    /// Copies the messages of one cell of the table, and prints their log lines.
    fn review(&mut self, operands: &[OsString]) -> Outcome {
        let [truth, predicted, ..] = operands else {
            let name = self.program.name();
            let text = format!("Error: Missing category, e.g. {name} review notspam spam\n");
            self.print(text.as_bytes());
            return Ok(());
        };
        let log = self.log()?;
        for fold in 0..self.folder.folds() {
            let place = match self.program {
                Program::Cross => self.folder.fold(fold),
                _ => self.folder.path().join("mbox"),
            };
            let Ok(file) = File::open(Folder::mailbox(&place, truth)) else { continue };
            let messages = Messages::new(BufReader::new(file), Rule::AnyFrom);
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
                let path = self.folder.path().join("review").join(name);
                std::fs::write(&path, &message).map_err(|error| about(&path, &error))?;
                self.print(&[line, b"\n"].concat());
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
        let plots = self.folder.path().join("plots");
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
    for message in Messages::new(input, Rule::AnyFrom) {
        if let Some(output) = outputs.get_mut(dealer.deal()) {
            output.write_all(&message?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    fn call(program: Program, folder: &Path, args: &[&str], stdin: &str) -> (u8, String) {
        let (status, stdout, _) = call_and_complain(program, folder, args, stdin);
        (status, stdout)
    }

    /// The status, the output and the errors of a run.
    fn call_and_complain(
        program: Program,
        folder: &Path,
        args: &[&str],
        stdin: &str,
    ) -> (u8, String, String) {
        let variable = |name: &str| match name {
            "MAILCROSS_LEARNER" => Some("cat >/dev/null; echo".into()),
            "MAILCROSS_FILTER" => {
                Some("if grep -q free; then echo spam; else echo ham; fi; :".into())
            }
            "MAILTOE_FILTER" => Some("grep -q free && printf spam; :".into()),
            _ => None,
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let environment = Environment {
            folder,
            variable: &variable,
            stdin: &mut stdin.as_bytes(),
            stdout: &mut stdout,
            stderr: &mut stderr,
        };
        let name = OsStr::new(program.name());
        let status = run(program, name, args.iter().map(OsString::from), environment);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (status, text(stdout), text(stderr))
    }

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("mailcross", OPTIONS);
    }

    #[test]
    fn mistakes_are_reported_with_the_usage() {
        let place = tempfile::tempdir().expect("a temporary folder");
        for (args, first, status) in [
            (&[][..], "", 1),
            (&["dance"], "", 1),
            (&["prepare"], "Error: Please specify a number.", 1),
            (&["prepare", "x"], "Error: Please specify a number greater than zero.", 1),
            (&["prepare", "-1"], "Error: Please specify a number greater than zero.", 1),
            (&["add"], "error: missing category name.", 1),
            (&["add", "x"], "error: you need to prepare first.", 1),
            (&["run"], "error: you need to prepare first.", 1),
            (
                &["summarize"],
                "Error: No results found. You must run the cross validation first.",
                1,
            ),
            (&["review", "x"], "Error: Missing category, e.g. mailcross review notspam spam", 0),
            (&["clean"], "Nothing to clean", 0),
            (&["-V"], "mailcross version 1.14.1", 0),
        ] {
            let (found, text) = call(Program::Cross, place.path(), args, "");
            assert_eq!(
                (found, text.lines().next().unwrap_or_default()),
                (status, first),
                "{args:?}"
            );
        }
    }

    #[test]
    fn cross_validation_runs_from_mail_to_tables() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let call = |args: &[&str], stdin: &str| call(Program::Cross, place.path(), args, stdin);
        assert_eq!(call(&["prepare", "2"], ""), (0, String::new()));
        assert_eq!(call(&["prepare", "2"], "").0, 1);
        let ham = "From a x\n\nhello\n\nFrom b x\n\nfree beer\n\n".repeat(2);
        assert_eq!(call(&["--seed", "1", "add", "ham"], &ham), (0, String::new()));
        let spam = "From c x\n\nfree\n\n".repeat(3);
        assert_eq!(call(&["add", "spam"], &spam), (0, String::new()));
        assert_eq!(call(&["learn"], ""), (0, String::new()));
        assert_eq!(call(&["run"], ""), (0, String::new()));
        let (status, tables) = call(&["summarize"], "");
        assert_eq!(status, 0);
        assert!(tables.contains("ham        |     50.00%    50.00%"), "{tables}");
        assert!(tables.contains("spam       |      0.00%   100.00%"), "{tables}");
        let (_, lines) = call(&["review", "ham", "spam"], "");
        assert_eq!(lines.lines().filter(|line| line.ends_with("ham spam b x")).count(), 2);
        let reviewed =
            std::fs::read_dir(place.path().join("mailcross.d/review")).expect("a folder");
        assert_eq!(reviewed.count(), 2);
        assert_eq!(call(&["clean"], ""), (0, String::new()));
        assert!(!place.path().join("mailcross.d").exists());
    }

    #[test]
    fn names_that_would_divide_a_line_of_the_log_are_refused() {
        let place = tempfile::tempdir().expect("a temporary folder");
        for program in [Program::Cross, Program::Toe] {
            call(program, place.path(), &["prepare", "1"], "");
            for name in ["sp am", "sp\tam", "sp\nam", "a/b"] {
                let (status, _, said) =
                    call_and_complain(program, place.path(), &["add", name], "From a x\n\nhi\n");
                assert_eq!(status, 1);
                let expected = format!("{}:error: {name:?} cannot be a cat", program.name());
                assert!(said.starts_with(&expected) && said.lines().count() == 1, "{said}");
            }
        }
    }

    #[test]
    fn silent_filter_is_wrong() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let call = |args: &[&str], stdin: &str| call(Program::Toe, place.path(), args, stdin);
        call(&["prepare", "1"], "");
        call(&["add", "spam"], "From a x\n\nfree\n\nFrom b x\n\nno\n\n");
        assert_eq!(call(&["learn"], ""), (0, "This command is not meaningful.\n".to_owned()));
        assert_eq!(call(&["run"], "").0, 0);
        let log =
            std::fs::read_to_string(place.path().join("mailtoe.d/log/toe.log")).expect("a log");
        assert_eq!(log, "# location | true | predicted | from\n0 spam spam a x\n0 spam ? b x\n");
        assert_eq!(call(&["plot"], "").0, 0);
        let data = std::fs::read_to_string(place.path().join("mailtoe.d/plots/toe.plotdata"));
        assert_eq!(data.expect("numbers"), "\n 1 0\n 2 1\n");
    }

    #[test]
    fn settings_are_plain_assignments() {
        let text = b"# x\nexport A='b c'\nD=\"e\"\n F=g=h\nnot this\n=x\n";
        let found = read_settings(text);
        let expected = [("A", "b c"), ("D", "e"), ("F", "g=h")];
        assert_eq!(found, expected.map(|(name, value)| (name.into(), value.into())));
    }

    /// A filter that calls mail with `free` in it spam, as a wrapper.
    const WRAPPER: &str = "#!/bin/sh
case $1 in
  describe) echo 'the word free' ;;
  bootstrap) cp \"$0\" \"$2\"; echo selected ;;
  learn) cat > /dev/null; : > \"$2.known\" ;;
  clean) rm -f \"$2\"/*/*.known ;;
  filter | toe) [ -e \"$2.known\" ] && if grep -q free; then printf spam; else printf ham; fi ;;
esac
";

    #[test]
    fn wrappers_are_selected_run_and_summarized() {
        for (program, total) in [(Program::Cross, "80.00%"), (Program::Toe, "80.00%")] {
            let place = tempfile::tempdir().expect("a temporary folder");
            let wrapper = place.path().join("word");
            script::write(&wrapper, WRAPPER);
            let call = |args: &[&str], stdin: &str| call(program, place.path(), args, stdin);
            call(&["prepare", "2"], "");
            call(&["add", "ham"], &"From a x\n\nhello\n\n".repeat(4));
            call(&["add", "spam"], &"From a x\n\nfree\n\nFrom b x\n\nhi\n\n".repeat(2));
            call(&["add", "spam"], &"From a x\n\nfree\n\n".repeat(2));
            let suite = |args: &[&str]| call(&[&["testsuite"], args].concat(), "");
            assert_eq!(suite(&["status"]).1, "No filters found\n");
            assert_eq!(suite(&["select", "./word"]), (0, "selected\n".to_owned()));
            assert_eq!(suite(&["status"]).1, "word: the word free\n");
            assert_eq!(suite(&["summarize"]).0, 1);
            assert_eq!(suite(&["run"]), (0, "testing the word free\n".to_owned()));
            let (_, summary) = suite(&["summarize"]);
            assert!(summary.starts_with("the word free\n\nWhere do"), "{summary}");
            assert!(summary.contains(total), "{summary}");
            suite(&["deselect", "word"]);
            assert_eq!(suite(&["status"]).1, "No filters found\n");
        }
    }

    #[test]
    fn wrappers_that_do_not_start_or_fail_are_errors() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let call = |args: &[&str]| call_and_complain(Program::Cross, place.path(), args, "");
        let suite = |args: &[&str]| call(&[&["testsuite"], args].concat());
        call(&["prepare", "2"]);
        script::write(&place.path().join("word"), WRAPPER);
        script::write(&place.path().join("lost"), "#!/no/such/interpreter\n");
        script::write(&place.path().join("ill"), "#!/bin/sh\necho sorry; exit 3\n");
        // The others are selected all the same.
        let (status, stdout, stderr) = suite(&["select", "./lost", "./ill", "nowhere", "./word"]);
        assert_eq!((status, &stdout[..]), (1, "sorry\nselected\n"));
        let lines: Vec<&str> = stderr.lines().collect();
        let [lost, ill, nowhere] = lines[..] else { panic!("{stderr}") };
        assert!(lost.starts_with("mailcross:error: ") && lost.contains("/lost: "), "{lost}");
        assert!(ill.contains("/ill bootstrap: exit status: 3"), "{ill}");
        assert_eq!(nowhere, "mailcross:error: no wrapper called nowhere");
        // A wrapper that no longer works after it was selected.
        script::write(&place.path().join("mailcross.d/filters/word"), "#!/no/such/interpreter\n");
        for command in ["status", "run"] {
            let (status, stdout, stderr) = suite(&[command]);
            assert_eq!((status, &stdout[..]), (1, ""), "{command}");
            assert!(stderr.contains("/filters/word: "), "{command}: {stderr}");
        }
        let (status, _, stderr) = suite(&["deselect", "word", "word"]);
        assert_eq!((status, &stderr[..]), (1, "mailcross:error: word was not selected\n"));
    }
}
