// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `mailinspect`: the messages of a mailbox, sorted by their score against a category
//! (spec tools 2).
//!
//! Its exit status is 1 when all went well, and 0 after a wrong command line or an unreadable
//! mailbox, as in dbacl 1.14.1.

mod batch;
mod mail;
mod options;
mod screen;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::Warning;
use crate::model::settings::Locale;
use crate::programs::dbacl::load;
use crate::programs::mailinspect::mail::judge::{Judge, SCORINGS};
use crate::programs::mailinspect::mail::mailbox::Mailbox;
use crate::programs::mailinspect::mail::select::{Rule, Selection};
use crate::token::pattern::{Expression, Syntax};
use dbacl_cli::getopt::{self, Event};
use dbacl_cli::last_resort;
use dbacl_cli::names::{base_name, lossy, resolve};
use dbacl_cli::output::complaint;
use dbacl_cli::terminal::Shown;
use dbacl_numeric::parse::atoi;
pub use options::TABLE;

use options::Key;

const NAME: &str = "mailinspect";
const USAGE: &str = "Usage: mailinspect [-zjiI] -c CATEGORY MBOX [-g REGEX]... [-G REGEX]... \
                     [-s COMMAND] [-p STYLE] [-o SCORING]";

/// Exit status of a run that went well, and of fatal errors.
const DONE: u8 = 1;
/// Exit status of a wrong command line or an unreadable mailbox.
const REFUSED: u8 = 0;
/// Exit status when standard output cannot be written.
const UNWRITTEN: u8 = dbacl_cli::status::IO;

/// The options of a run.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a letter of the command line
struct Config {
    category: PathBuf,
    name: Vec<u8>,
    mailbox: OsString,
    /// The place in [`SCORINGS`].
    scoring: usize,
    /// Whether messages are shown by sender and subject, and not by their `From ` lines.
    is_summary: Option<bool>,
    command: Option<OsString>,
    reverse: bool,
    keep_case: bool,
    rules: Vec<Rule>,
    is_interactive: bool,
    is_exact: bool,
    json: bool,
    locale: Option<Locale>,
}

impl Config {
    fn locale(&self) -> Locale {
        self.locale.unwrap_or(Locale::C)
    }

    /// Takes the category `name`, below the folder `DBACL_PATH`.
    fn take(&mut self, folder: Option<&OsStr>, name: &[u8]) {
        self.category = resolve(folder, name);
        self.name = base_name(&self.category);
    }

    /// A judge by the category, or the lines of the message if that fails.
    fn judge(&self, warn: &mut dyn FnMut(Warning)) -> Result<Judge, Vec<String>> {
        let category = load(&self.category).map_err(|failure| failure.lines)?;
        Judge::new(category, self.name.clone(), self.keep_case, self.is_exact, self.locale(), warn)
            .map_err(|error| vec![error.to_string()])
    }
}

/// The run ends with this exit status; its messages have been written.
struct Stop(u8);

/// The streams that a run writes to, and the environment that it reads.
struct Session<'a> {
    stdout: &'a mut dyn Write,
    stderr: &'a mut dyn Write,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Session<'_> {
    fn say(&mut self, parts: &[&[u8]]) {
        let mut line = parts.concat();
        line.push(b'\n');
        let _ = self.stderr.write_all(&line);
    }

    fn warning(&mut self, text: &str) {
        self.say(&[NAME.as_bytes(), b":warning: ", text.as_bytes()]);
    }

    fn error(&mut self, text: &[u8]) {
        self.say(&[NAME.as_bytes(), b":error: ", text]);
    }

    fn refused(&mut self, text: &[u8]) -> Stop {
        self.error(text);
        self.say(&[b"\n", USAGE.as_bytes(), b"\n\nTry mailinspect --help."]);
        Stop(REFUSED)
    }

    fn print(&mut self, text: &str) -> Stop {
        let printed = self.stdout.write_all(text.as_bytes());
        printed.map_or_else(|error| self.unwritten(&error), |()| Stop(DONE))
    }

    /// The end when standard output cannot be written. If its reader has closed it, no message is
    /// needed.
    fn unwritten(&mut self, error: &io::Error) -> Stop {
        let Some(text) = complaint(error) else { return Stop(DONE) };
        self.error(text.as_bytes());
        Stop(UNWRITTEN)
    }

    /// Acts on the options in their order; the category is loaded when it is named.
    fn options(&mut self, events: Vec<Event<Key>>) -> Result<(Config, Judge), Stop> {
        let variable = self.variable;
        let locale = Locale::from_environment(|name| variable(name)?.into_string().ok());
        let mut config = Config { locale: Some(locale), ..Config::default() };
        // It changes the tokens, wherever it stands.
        let has = |wanted| getopt::has(&events, &wanted);
        config.keep_case = has(Key::KeepCase);
        config.is_exact = has(Key::Exact);
        let mut judge = None;
        let mut mailbox = None;
        for event in events {
            let (key, value) = match event {
                Event::Complaint(text) => {
                    self.say(&[&text]);
                    continue;
                }
                Event::Operand(file) => {
                    mailbox.get_or_insert(file);
                    continue;
                }
                Event::Option { key, value } => (key, value.unwrap_or_default()),
            };
            match key {
                Key::Category if judge.is_some() => {
                    self.warning("maximum reached, category ignored");
                }
                Key::Category => {
                    let folder = variable("DBACL_PATH");
                    config.take(folder.as_deref(), value.as_bytes());
                    let found = config.judge(&mut |warning| self.warning(&warning.0));
                    judge = Some(found.map_err(|lines| {
                        for line in lines {
                            self.error(line.as_bytes());
                        }
                        Stop(DONE)
                    })?);
                }
                Key::Scoring => {
                    let number = usize::from(low_byte(&value));
                    config.scoring = if number < SCORINGS.len() { number } else { 0 };
                }
                Key::Style => config.is_summary = Some(low_byte(&value) == 1),
                Key::Command => config.command = Some(value),
                Key::Reverse => config.reverse = true,
                Key::List | Key::Hide => {
                    let expression = Expression::new(value.as_bytes(), Syntax::Basic, locale);
                    let expression = expression.map_err(|why| {
                        self.error(refusal(&value.to_string_lossy(), why).as_bytes());
                        Stop(DONE)
                    })?;
                    config.rules.push(Rule { expression, lists: key == Key::List });
                }
                Key::Interactive => config.is_interactive = true,
                Key::Json => config.json = true,
                Key::Wide | Key::KeepCase | Key::Exact => {}
                Key::VersionText => return Err(self.print(&dbacl_cli::version(NAME))),
                Key::Version | Key::Help => {
                    let is_help = key == Key::Help;
                    let text = if is_help { help() } else { dbacl_cli::version(NAME) };
                    let Stop(status) = self.print(&text);
                    return Err(Stop(if status == DONE { REFUSED } else { status }));
                }
            }
        }
        let Some(judge) = judge else { return Err(self.refused(b"please use -c option")) };
        let Some(mailbox) = mailbox else {
            return Err(self.refused(b"no mbox file specified."));
        };
        config.mailbox = mailbox;
        if config.is_interactive && !screen::has_terminal() {
            return Err(self.refused(b"option -I needs a terminal, for input and output"));
        }
        Ok((config, judge))
    }

    fn run(&mut self, events: Vec<Event<Key>>) -> Result<(), Stop> {
        let (config, mut judge) = self.options(events)?;
        let path = Path::new(&config.mailbox);
        let mailbox = Mailbox::new(path, &mut |warning| self.warning(&warning.0));
        let Ok(mailbox) = mailbox else {
            return Err(self.refused(&[b"couldn't open ", config.mailbox.as_bytes()].concat()));
        };
        if judge.model().documents() == 0 {
            let name = lossy(&config.name);
            self.warning(&format!(
                "category {name} was not created for emails. Messages may not be sorted optimally."
            ));
        }
        if config.is_interactive {
            return screen::run(&config, &mailbox, judge).map_err(|error| {
                self.error(format!("the terminal failed: {error}").as_bytes());
                Stop(DONE)
            });
        }
        let mut selection = Selection::new(config.rules.clone());
        let entries = batch::collect(&config, &mailbox, &mut judge, &mut selection, self);
        let printed = batch::print(&config, &mailbox, &entries, self.stdout);
        printed.and_then(|()| self.stdout.flush()).map_err(|error| self.unwritten(&error))
    }
}

/// The message about an expression that cannot be compiled.
fn refusal(pattern: &str, why: impl std::fmt::Display) -> String {
    format!("could not compile regular expression '{pattern}': {why}")
}

/// C's `atoi`, cut to eight bits.
fn low_byte(value: &OsStr) -> u8 {
    atoi(value.as_bytes()).to_le_bytes()[0]
}

fn help() -> String {
    format!(
        "{USAGE}\n\
         Sorts the messages of a mailbox or folder by their score against a category, the nearest\n\
         first, and prints a list, or gives them to a command. Nothing is ever changed.\n\n\
         {}\n\
         The exit status is 1, or 0 after a mistake on the command line, or 74 when the list\n\
         cannot be written.\n",
        getopt::describe(TABLE)
    )
}

/// Runs the program; returns its exit status. `program` is the name as invoked.
fn run(
    program: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    variable: &dyn Fn(&str) -> Option<OsString>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let events = getopt::parse(program, args, TABLE, variable("POSIXLY_CORRECT").is_some());
    let mut session = Session { stdout, stderr, variable };
    let ended = session.run(events);
    let Stop(status) = ended.err().unwrap_or(Stop(DONE));
    // After a failure to write, that has been said.
    match session.stdout.flush() {
        Err(error) if status != UNWRITTEN => session.unwritten(&error).0,
        _ => status,
    }
}

/// Runs the program with the arguments, environment and streams of the process.
pub fn main() -> ExitCode {
    let status = std::panic::catch_unwind(|| {
        let mut args = std::env::args_os();
        let program = args.next().unwrap_or_default();
        last_resort::install(NAME, ":error: ");
        let mut stdout = io::BufWriter::new(Shown::new(io::stdout()));
        let mut stderr = Shown::new(io::stderr());
        run(&program, args, &|name| std::env::var_os(name), &mut stdout, &mut stderr)
    });
    ExitCode::from(status.unwrap_or(DONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBOX: &str = "From a@x Mon Jan  5 10:00:00 2004\nFrom: Ann <a@x>\nSubject: red red\n\n\
                        red\n\n\
                        From b@x Mon Jan  5 11:00:00 2004\nSubject: Blue\n\nblue blue\n\n\
                        From c@x Mon Jan  5 12:00:00 2004\nFrom: Cid\n\nred gray (1)\n";

    struct Done {
        status: u8,
        out: String,
        err: String,
    }

    /// Runs the program in a folder with `mbox`, `cat` and `cats/cat`; `@` stands for the folder.
    fn mailinspect(args: &[&str]) -> Done {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = place.path().to_str().expect("a plain path");
        std::fs::create_dir(place.path().join("cats")).expect("a folder");
        for name in ["cat", "cats/cat"] {
            let words = [("red", 3, 12.0), ("blue", 3, 2.0), ("Blue", 10, 6.0)];
            mail::sample::category(&place.path().join(name), &words);
        }
        std::fs::write(place.path().join("mbox"), MBOX).expect("written");
        std::fs::write(place.path().join("bad"), "bad").expect("written");
        let args = args.iter().map(|arg| OsString::from(arg.replace('@', folder)));
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let variable =
            |name: &str| (name == "DBACL_PATH").then(|| OsString::from(format!("{folder}/cats")));
        let status = run(OsStr::new("mailinspect"), args, &variable, &mut stdout, &mut stderr);
        let text = |bytes| String::from_utf8(bytes).expect("text").replace(folder, "@");
        Done { status, out: text(stdout), err: text(stderr) }
    }

    /// The senders of a list, in its order.
    fn senders(out: &str) -> String {
        let lines = out.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once("From ")?.1.chars().next()).collect()
    }

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("mailinspect", TABLE);
    }

    #[test]
    fn every_option_has_its_effect_in_every_spelling() {
        for (args, expected) in [
            (&["-o1", "@/mbox"][..], "cab"),
            (&["@/mbox", "-o", "1"], "cab"),
            (&["--scoring=1", "@/mbox"], "cab"),
            (&["-o", "257", "@/mbox"], "cab"),
            (&["-zo1", "@/mbox"], "bac"),
            (&["--reverse", "-o1", "@/mbox"], "bac"),
            (&["-o1", "@/mbox", "@/nothing"], "cab"),
            (&["-io1", "@/mbox"], "cab"),
            (&["--wide", "-o1", "@/mbox"], "cab"),
            (&["-jo1", "@/mbox"], "cba"),
            (&["--case-sensitive", "-o1", "@/mbox"], "cba"),
            (&["-o1", "-gred", "@/mbox"], "ca"),
            (&["-o1", "--list", "red", "@/mbox"], "ca"),
            (&["-o1", "-G", "red", "@/mbox"], "b"),
            (&["-o1", "--hide=red", "@/mbox"], "b"),
            (&["-o1", "-g", "red", "-G", "gray", "@/mbox"], "a"),
            (&["-o1", "-G", "red", "-g", "gray", "@/mbox"], "cb"),
            (&["-o1", "-g", "(1)$", "@/mbox"], "c"),
            (&["-zo1", "-g", "red", "@/mbox"], "ac"),
            (&["-o1", "--exact", "@/mbox"], "cab"),
        ] {
            let args = [&["-c", "cat"], args].concat();
            let found = mailinspect(&args);
            assert_eq!((found.status, found.err.as_str()), (DONE, ""), "{args:?}");
            assert_eq!(senders(&found.out), expected, "{args:?}: {}", found.out);
            assert!(found.out.starts_with("# position|  score | description\n"), "{}", found.out);
        }
        for args in [&["-p1", "-c", "@/cat"][..], &["--style", "1", "--category=cat"]] {
            let found = mailinspect(&[args, &["-o1", "@/mbox"]].concat());
            assert_eq!(
                found.out,
                "# position|  score | description\n\
                 167            -3.0 [Cid ]\n\
                 34             -1.5 [Ann <a@x> ] red red\n\
                 107            -1.0 [] Blue\n",
                "{args:?}"
            );
        }
    }

    #[test]
    fn json_has_every_score() {
        let found = mailinspect(&["-c", "cat", "--json", "-o1", "@/mbox"]);
        let lines: Vec<&str> = found.out.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].starts_with(
                "{\"file\":\"@/mbox\",\"start\":0,\"end\":73,\"position\":34,\
                 \"from_line\":\"From a@x Mon Jan  5 10:00:00 2004\",\"from\":\"Ann <a@x>\",\
                 \"subject\":\"red red\",\"date\":\"\",\"tokens\":"
            ),
            "{}",
            lines[1]
        );
    }

    #[test]
    fn mistakes_have_their_messages_and_statuses() {
        let usage = format!("\n\n{USAGE}\n\nTry mailinspect --help.\n");
        for (args, status, err) in [
            (&["@/mbox"][..], REFUSED, format!("mailinspect:error: please use -c option{usage}")),
            (&["-c", "cat"], REFUSED, format!("mailinspect:error: no mbox file specified.{usage}")),
            (&["-c", "cat", "@/no"], REFUSED, {
                format!("mailinspect:error: couldn't open @/no{usage}")
            }),
            (&["-c", "no", "@/mbox"], DONE, {
                "mailinspect:error: could not load category @/cats/no\n".into()
            }),
            (&["-c", "@/bad", "@/mbox"], DONE, {
                "mailinspect:error: not a dbacl 1.14.1 dlw portable category file [@/bad]\n\
                 mailinspect:error: could not load category @/bad\n"
                    .into()
            }),
            (&["-c", "cat", "-c", "no", "@/mbox"], DONE, {
                "mailinspect:warning: maximum reached, category ignored\n".into()
            }),
            (&["-x", "-c", "cat", "@/mbox"], DONE, {
                "mailinspect: invalid option -- 'x'\n".into()
            }),
            (&["-c", "cat", "@/mbox", "-o"], DONE, {
                "mailinspect: option requires an argument -- 'o'\n".into()
            }),
            (&["-c", "cat", "@/mbox", "-g", "\\("], DONE, {
                "mailinspect:error: could not compile regular expression '\\(': group without a \
                 closing parenthesis\n"
                    .into()
            }),
        ] {
            let found = mailinspect(args);
            assert_eq!((found.status, found.err), (status, err), "{args:?}");
        }
        for (option, status) in [("-V", DONE), ("--version", REFUSED)] {
            let found = mailinspect(&[option]);
            assert_eq!((found.status, found.out.lines().count()), (status, 5));
            assert!(found.out.starts_with("mailinspect version 1.14.1\n"));
        }
        assert!(mailinspect(&["--help"]).out.contains("--case-sensitive"));
    }
}
