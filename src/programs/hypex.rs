// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `hypex`: divergences and Chernoff information of dumped models (spec tools 4). Its
//! exit status is always 0.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::programs::chernoff::{self, ChernoffSearch, Dump, DumpFault, Pair};
use dbacl_cli::getopt::{self, Event, Opt, opt};
use dbacl_cli::last_resort;
use dbacl_cli::output::complaint;
use dbacl_cli::terminal::Shown;
use dbacl_numeric::cformat;
use dbacl_numeric::elementary::LN_2;
use dbacl_numeric::parse::strtod;

const NAME: &str = "hypex";
const DEFAULT_STEP: f64 = 0.1;

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the table below says what each is
pub enum Key {
    Verbose,
    Step,
    TableSize,
    Version,
    Help,
}

/// The options.
pub const OPTIONS: &[Opt<Key>] = &[
    opt(
        Key::Step,
        "-s, --step STEP",
        "distance between computed points, between 0 and 1; default 0.1",
    ),
    opt(Key::Verbose, "-v, --verbose", "print progress and a check of the dumps"),
    opt(Key::TableSize, "-h, --hash-size BITS", "accepted and ignored"),
    opt(Key::TableSize, "-H, --max-hash-size BITS", "accepted and ignored"),
    opt(Key::Help, "--help", "print this help"),
    opt(Key::Version, "-V, --version", "print the version"),
];

const USAGE: &str = "Usage: hypex [-v] [-s STEP] DUMP1 DUMP2...";

/// Runs the program on the process's arguments and streams.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let posixly_correct = std::env::var_os("POSIXLY_CORRECT").is_some();
    last_resort::install(NAME, ":error: ");
    let mut stdout = Shown::new(std::io::stdout().lock());
    let mut stderr = Shown::new(std::io::stderr().lock());
    run(&program, args, posixly_correct, &mut stdout, &mut stderr);
    ExitCode::SUCCESS
}

/// Runs the program. `program` is the name as invoked.
fn run(
    program: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    posixly_correct: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) {
    let mut session = Session { stderr, out: Vec::new(), verbose: false, step: DEFAULT_STEP };
    let files = session.options(getopt::parse(program, args, OPTIONS, posixly_correct));
    for (first, name) in files.iter().enumerate() {
        for other in &files[first + 1..] {
            session.pair(name, other);
            if !session.is_written(stdout) {
                return;
            }
        }
    }
    session.is_written(stdout);
}

struct Session<'a> {
    stderr: &'a mut dyn Write,
    out: Vec<u8>,
    verbose: bool,
    step: f64,
}

impl Session<'_> {
    fn say(&mut self, parts: &[&[u8]]) {
        let mut line = parts.concat();
        line.push(b'\n');
        let _ = self.stderr.write_all(&line);
    }

    /// Writes what has gathered; returns whether the output can go on. A failure is reported,
    /// unless the reader has gone away.
    fn is_written(&mut self, stdout: &mut dyn Write) -> bool {
        let written = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
        if let Some(text) = written.as_ref().err().and_then(complaint) {
            self.error(&[text.as_bytes()]);
        }
        written.is_ok()
    }

    fn error(&mut self, parts: &[&[u8]]) {
        self.say(&[b"hypex:error: ", &parts.concat()]);
    }

    /// Acts on the options; returns the files, none if there is nothing more to do.
    fn options(&mut self, events: Vec<Event<Key>>) -> Vec<OsString> {
        let mut files = Vec::new();
        for event in events {
            match event {
                Event::Complaint(text) => self.say(&[&text]),
                Event::Operand(file) => files.push(file),
                Event::Option { key, value } => match key {
                    Key::Verbose => self.verbose = true,
                    Key::Step => self.set_step(&value.unwrap_or_default()),
                    Key::TableSize => {}
                    Key::Version => {
                        self.out.extend_from_slice(dbacl_cli::version(NAME).as_bytes());
                        return Vec::new();
                    }
                    Key::Help => {
                        let text = format!(
                            "{USAGE}\nPrints the divergences and the Chernoff information of \
                             unigram models, from what 'dbacl -d' printed\nwhen it learned them.\n\
                             \n{}",
                            getopt::describe(OPTIONS)
                        );
                        self.out.extend_from_slice(text.as_bytes());
                        return Vec::new();
                    }
                },
            }
        }
        if files.is_empty() {
            self.error(&[b"missing model dumps! Use dbacl(1) with -d switch"]);
            self.say(&[b"\n", USAGE.as_bytes(), b"\n\nTry hypex --help."]);
        }
        files
    }

    fn set_step(&mut self, text: &OsStr) {
        let (step, _) = strtod(text.as_bytes());
        // With a step so small that rounding loses it near 1, the loop would not end.
        if step > 0.0 && step < 1.0 && 1.0 - step < 1.0 {
            self.step = step;
        } else {
            self.say(&[b"hypex:warning: stepsize must be between 0.0 and 1.0, using 0.1"]);
            self.step = DEFAULT_STEP;
        }
    }

    fn load(&mut self, name: &OsStr) -> Option<Dump> {
        let Ok(text) = std::fs::read(name) else {
            self.error(&[b"couldn't open ", name.as_bytes()]);
            return None;
        };
        match chernoff::parse(&text) {
            Ok(dump) => Some(dump),
            Err(fault) => {
                let what = fault.to_string();
                let (name, what) = (name.as_bytes(), what.as_bytes());
                match fault {
                    DumpFault::NotADump => self.error(&[name, b" ", what]),
                    DumpFault::TooComplex => self.error(&[b"the category ", name, b" ", what]),
                    DumpFault::Line(_) => self.error(&[what, b" of ", name]),
                    DumpFault::Count { .. } => self.error(&[what]),
                }
                None
            }
        }
    }

    /// Compares two dumps and prints the result; an error ends this pair only.
    fn pair(&mut self, first: &OsStr, second: &OsStr) {
        let names = [b" (", first.as_bytes(), b", ", second.as_bytes(), b")\n"].concat();
        if self.verbose {
            self.out.extend_from_slice(&[b"processing", &names[..]].concat());
        }
        let Some(first) = self.load(first) else { return };
        let Some(second) = self.load(second) else { return };
        let (pair, unequal) = Pair::new(&first, &second);
        for id in unequal {
            let text = format!("unequal reference measures! New token ignored (id={id:x}).");
            self.say(&[b"hypex:warning: ", text.as_bytes()]);
        }
        if self.verbose {
            let [residue0, residue1] = pair.residues();
            self.out.extend_from_slice(&[b"loaded successfully", &names[..]].concat());
            let [one, other] = [residue0, residue1].map(six);
            self.print(&format!("safetycheck: {one} {other} should both be close to zero"));
        }
        let [d01, d10] = pair.divergences();
        self.print(&format!("# D(P0|P1) = {}\tD(P1|P0) = {}", six(d01 / LN_2), six(d10 / LN_2)));
        self.print("# beta | logZ_beta | Psi_beta | D(Q_beta|P_0) | D(Q_beta|P_1) | t ");
        let mut search = ChernoffSearch::default();
        for beta in chernoff::places(self.step) {
            let member = pair.tilted(beta);
            self.member(&member);
            search.visit(&member, self.step);
        }
        self.member(&pair.tilted(1.0));
        let (rate, beta) = (six(search.rate / LN_2), six(search.beta));
        self.print(&format!("# chernoff_rate {rate} chernoff_beta {beta}"));
    }

    fn member(&mut self, member: &chernoff::Tilted) {
        let &chernoff::Tilted { beta, log_partition, psi, to_first, to_second } = member;
        let nats = [log_partition, psi, to_first, to_second, to_second - to_first];
        let bits = nats.map(|nats| six(nats / LN_2));
        self.print(&format!("{} {}", six(beta), bits.join(" ")));
    }

    fn print(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }
}

fn six(value: f64) -> String {
    cformat::fixed_text(value, 0, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hypex(args: &str) -> (String, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let args = args.split_whitespace().map(OsString::from);
        run(OsStr::new("hypex"), args, false, &mut stdout, &mut stderr);
        (String::from_utf8(stdout).expect("text"), String::from_utf8(stderr).expect("text"))
    }

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("hypex", OPTIONS);
    }

    #[test]
    fn mistakes_in_options_are_reported() {
        for (args, expected) in [
            ("", "hypex:error: missing model dumps! Use dbacl(1) with -d switch\n"),
            ("-q x", "hypex: invalid option -- 'q'\n"),
            ("x -s", "hypex: option requires an argument -- 's'\n"),
            ("-s1.5 x", "hypex:warning: stepsize must be between 0.0 and 1.0, using 0.1\n"),
            ("-s 1e-30 x", "hypex:warning: stepsize must be between 0.0 and 1.0, using 0.1\n"),
            ("-h 3 -H3 --step=0.5 x", ""),
            ("/nowhere/x y", "hypex:error: couldn't open /nowhere/x\n"),
        ] {
            let (stdout, stderr) = hypex(args);
            assert_eq!(stdout, "", "{args:?}");
            assert!(stderr.starts_with(expected), "{args:?}: {stderr}");
            assert!(!expected.is_empty() || stderr.is_empty(), "{args:?}: {stderr}");
        }
    }

    #[test]
    fn version_is_five_lines() {
        let (stdout, _) = hypex("-V");
        assert!(stdout.starts_with("hypex version "));
        assert_eq!(stdout.lines().count(), 5);
    }
}
