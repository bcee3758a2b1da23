// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `bayesol`: scores, priors and losses → the category with the smallest expected loss
//! (spec tools 1).
//!
//! The exit status is the answer: the category's number, from 1. Fatal errors end with 1 as well,
//! and other errors with 0, as scripts have come to know it.

mod direct;
mod messages;

use messages::NAME;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use super::getopt::{self, Event, Opt, Value, opt};
use super::json::Json;
use crate::model::settings::Locale;
use crate::numeric::cformat;
use crate::numeric::elementary::LN_2;
use crate::risk::advice::{self, Advice};
use crate::risk::decide::{LossMatrix, Round, Scores, decide};
use crate::risk::evidence::{CapturedRows, Condition, GROUPS, NoLosses, Observation, Unreadable};
use crate::risk::parse::{self, Specification};
use crate::token::pattern::{Expression, Syntax};
use direct::Judges;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Specification,
    Verbose,
    Risks,
    Ranking,
    Debug,
    Wide,
    Version,
    Json,
    Explain,
    Relaxed,
    Category,
    Nats,
    Help,
}

/// The options, for completions.
pub fn options() -> Vec<Opt<()>> {
    getopt::without_keys(OPTIONS)
}

const OPTIONS: &[Opt<Key>] = &[
    opt(
        Key::Specification,
        Some(b'c'),
        "risk",
        Value::Required("SPEC"),
        "read the risk specification SPEC",
    ),
    opt(Key::Verbose, Some(b'v'), "verbose", Value::None, "print the name of the best category"),
    opt(
        Key::Risks,
        Some(b'n'),
        "risks",
        Value::None,
        "print the logarithm of the expected loss of each decision",
    ),
    opt(
        Key::Ranking,
        Some(b'N'),
        "ranking",
        Value::None,
        "print all categories, best first, each decided without those before it",
    ),
    opt(Key::Debug, Some(b'D'), "debug", Value::None, "print how the decision comes about"),
    opt(Key::Wide, Some(b'i'), "wide", Value::None, "accepted and ignored"),
    opt(Key::Json, None, "json", Value::None, "print one JSON document instead of text"),
    opt(
        Key::Explain,
        None,
        "explain",
        Value::None,
        "remark on likely mistakes in SPEC, also when\nstandard error is not a terminal",
    ),
    opt(
        Key::Relaxed,
        None,
        "relaxed",
        Value::None,
        "let SPEC have numbers such as 1e5 and .5, comments behind other text,\n\
         carriage returns, and names with '_', '-' and '.'",
    ),
    opt(
        Key::Category,
        None,
        "category",
        Value::Required("NAME"),
        "score the text itself under the category NAME, at full precision, instead of\n\
         reading scores; repeat it for each category of SPEC",
    ),
    opt(
        Key::Nats,
        None,
        "nats",
        Value::None,
        "take scores for the bits that they are; without it they count as nats",
    ),
    opt(Key::Help, None, "help", Value::None, "print this help"),
    opt(Key::Version, Some(b'V'), "version", Value::None, "print the version"),
];

const USAGE: &str = "Usage: bayesol [-viDnN] -c SPEC [FILE]...";

/// Where a run writes.
pub struct Streams<'a> {
    /// Results.
    pub stdout: &'a mut dyn Write,
    /// Errors and warnings.
    pub stderr: &'a mut dyn Write,
    /// Whether a person reads the errors, who is told more.
    pub is_terminal: bool,
}

/// Runs the program; returns its exit status.
///
/// `program` is the name as invoked; `stdin` is read when there are no files; `compile` turns a
/// row's condition into a matcher, or refuses it.
pub fn run<C: Condition>(
    program: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    posixly_correct: bool,
    stdin: &mut dyn BufRead,
    streams: Streams<'_>,
    compile: impl FnMut(&[u8]) -> Option<C>,
) -> u8 {
    let mut session = Session { streams, out: Vec::new() };
    let events = getopt::parse(program, args, OPTIONS, posixly_correct);
    let status = match session.options(events) {
        Ok(config) => session.decide(&config, stdin, compile).unwrap_or_else(|Stop(status)| status),
        Err(Stop(status)) => status,
    };
    session.flush();
    status
}

/// The run is over, with this exit status; what there is to say has been said.
struct Stop(u8);

/// Exit status of a fatal error; also that of a decision for the first category.
const FATAL: u8 = 1;
/// Exit status of a wrong command line, specification or file.
const REFUSED: u8 = 0;

/// What is printed, beside a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Output {
    /// The exit status only.
    #[default]
    Nothing,
    /// The name of the best category.
    Name,
    /// The expected loss of each decision.
    Risks,
    /// All categories, best first.
    Ranking,
}

#[derive(Default)]
struct Config {
    specification: Specification,
    output: Output,
    debug: bool,
    json: bool,
    nats: bool,
    /// Categories to score the text under; without any, it holds scores.
    categories: Vec<OsString>,
    files: Vec<OsString>,
}

struct Session<'a> {
    streams: Streams<'a>,
    /// Results not yet written.
    out: Vec<u8>,
}

/// Results are written when this much has gathered, and at the end.
const FLUSH_AT: usize = 1 << 16;

impl Session<'_> {
    /// Writes what has gathered. A reader who has gone away is no error: the answer is the status.
    fn flush(&mut self) {
        let _ = self.streams.stdout.write_all(&self.out);
        let _ = self.streams.stdout.flush();
        self.out.clear();
    }

    fn say(&mut self, parts: &[&[u8]]) {
        let mut line = parts.concat();
        line.push(b'\n');
        let _ = self.streams.stderr.write_all(&line);
    }

    fn warning(&mut self, text: &str) {
        self.say(&[NAME.as_bytes(), b":warning: ", text.as_bytes()]);
    }

    fn error(&mut self, text: &[u8]) {
        self.say(&[NAME.as_bytes(), b":error: ", text]);
    }

    fn fatal(&mut self, text: &str) -> Stop {
        self.error(text.as_bytes());
        Stop(FATAL)
    }

    fn refused(&mut self, text: &[u8]) -> Stop {
        self.error(text);
        self.say(&[b"\n", USAGE.as_bytes(), b"\n\nTry bayesol --help."]);
        Stop(REFUSED)
    }

    fn note(&mut self, path: &OsStr, text: &[u8], advice: &Advice) {
        let (line, column) = advice::position(text, advice.offset);
        let place = format!(":{line}:{column}: ");
        let parts: [&[u8]; 5] = [
            NAME.as_bytes(),
            b":note: ",
            path.as_bytes(),
            place.as_bytes(),
            advice.text.as_bytes(),
        ];
        self.say(&parts);
    }

    /// Acts on the options in their order.
    fn options(&mut self, events: Vec<Event<Key>>) -> Result<Config, Stop> {
        let mut config = Config::default();
        let mut has_specification = false;
        let (mut name, mut risks, mut ranking) = (false, false, false);
        let has = |wanted| {
            events.iter().any(|event| matches!(event, Event::Option { key, .. } if *key == wanted))
        };
        let (explain, relaxed) = (self.streams.is_terminal || has(Key::Explain), has(Key::Relaxed));
        for event in events {
            let (key, value) = match event {
                Event::Complaint(text) => {
                    self.say(&[&text]);
                    continue;
                }
                Event::Operand(file) => {
                    config.files.push(file);
                    continue;
                }
                Event::Option { key, value } => (key, value.unwrap_or_default()),
            };
            match key {
                Key::Specification if has_specification => {
                    return Err(self.fatal("option -c can only occur once"));
                }
                Key::Specification => {
                    config.specification = self.specification(&value, explain, relaxed)?;
                    has_specification = true;
                }
                Key::Verbose => name = true,
                Key::Risks => risks = true,
                Key::Ranking => ranking = true,
                Key::Debug => config.debug = true,
                Key::Json => config.json = true,
                Key::Nats => config.nats = true,
                Key::Category => config.categories.push(value),
                Key::Wide | Key::Explain | Key::Relaxed => {}
                Key::Version => {
                    self.out.extend_from_slice(super::version(NAME).as_bytes());
                    return Err(Stop(FATAL));
                }
                Key::Help => {
                    self.out.extend_from_slice(help().as_bytes());
                    return Err(Stop(REFUSED));
                }
            }
        }
        if !has_specification {
            return Err(self.refused(b"please use -c option"));
        }
        if risks && ranking {
            self.warning("option -n is incompatible with -N, ignoring");
        }
        config.output = match (name, risks, ranking) {
            (_, _, true) => Output::Ranking,
            (_, true, false) => Output::Risks,
            (true, false, false) => Output::Name,
            (false, false, false) => Output::Nothing,
        };
        if let Err(error) = config.specification.check() {
            return Err(self.fatal(&error.to_string()));
        }
        Ok(config)
    }

    /// Reads the specification file, telling what is odd about it.
    fn specification(
        &mut self,
        path: &OsStr,
        explain: bool,
        relaxed: bool,
    ) -> Result<Specification, Stop> {
        let Ok(text) = std::fs::read(path) else {
            self.say(&[
                NAME.as_bytes(),
                b":error: could not read ",
                path.as_bytes(),
                b", program aborted",
            ]);
            return Err(Stop(FATAL));
        };
        let result = parse::parse(&text, relaxed, &mut |notice| {
            self.say(&[notice.to_string().as_bytes()]);
        });
        match result {
            Ok(specification) => {
                if explain {
                    for advice in advice::on_specification(&specification) {
                        self.note(path, &text, &advice);
                    }
                }
                Ok(specification)
            }
            Err(error) => {
                self.say(&[error.to_string().as_bytes()]);
                if explain {
                    self.note(path, &text, &advice::on_syntax_error(&text, error.offset));
                }
                Err(Stop(REFUSED))
            }
        }
    }

    /// Reads the document, fills in the losses and decides.
    fn decide<C: Condition>(
        &mut self,
        config: &Config,
        stdin: &mut dyn BufRead,
        mut compile: impl FnMut(&[u8]) -> Option<C>,
    ) -> Result<u8, Stop> {
        let specification = &config.specification;
        let mut evidence = CapturedRows::new(specification, |condition| {
            let compiled = compile(condition);
            if compiled.is_none() {
                let parts: [&[u8]; 4] = [
                    NAME.as_bytes(),
                    b":warning: couldn't compile regex '",
                    condition,
                    b"', ignoring",
                ];
                self.say(&parts);
            }
            compiled
        });
        let mut judges = self.judges(config)?;
        if config.files.is_empty() {
            if config.debug {
                self.out.extend_from_slice(b"taking input from stdin\n");
            }
            self.input(config, &mut evidence, judges.as_mut(), stdin)?;
        }
        for name in &config.files {
            let Some(mut input) = open(Path::new(name)) else {
                return Err(self.refused(&[b"couldn't open ", name.as_bytes()].concat()));
            };
            if config.debug {
                self.out.extend_from_slice(&[b"processing file ", name.as_bytes(), b"\n"].concat());
            }
            self.input(config, &mut evidence, judges.as_mut(), &mut input)?;
        }
        if let Some(mut judges) = judges {
            let mut scores = Scores::zero(specification.categories.len());
            for (name, cross_entropy, complexity) in judges.scores() {
                if let Some(at) = specification.index_of(&name) {
                    scores.cross_entropy[at] = cross_entropy;
                    scores.complexity[at] = complexity;
                }
            }
            evidence.set_scores(scores);
        }
        if config.nats
            && let Some(mut scores) = evidence.scores().cloned()
        {
            for cross_entropy in &mut scores.cross_entropy {
                *cross_entropy *= LN_2;
            }
            evidence.set_scores(scores);
        }
        let Some(scores) = evidence.scores() else {
            return Err(self.fatal("no scores found. Did you use dbacl with the -a switch?"));
        };
        if scores.are_disparate() {
            self.warning(DISPARITY);
        }
        let losses = self.losses(config, &evidence)?;
        let best = self.rounds(config, scores, losses)?;
        if config.output == Output::Name && !config.json {
            self.out.extend_from_slice(specification.categories[best].as_bytes());
            self.out.push(b'\n');
        }
        if specification.categories.len() == 1 {
            self.warning("only one category specified, this is trivial!");
        }
        Ok(u8::try_from(best + 1).unwrap_or(u8::MAX))
    }

    /// Loads the categories to score the text under, if there are any.
    fn judges(&mut self, config: &Config) -> Result<Option<Judges>, Stop> {
        if config.categories.is_empty() {
            return Ok(None);
        }
        let judges = match Judges::load(&config.categories) {
            Ok(judges) => judges,
            Err(lines) => {
                for line in lines {
                    self.error(line.as_bytes());
                }
                return Err(Stop(FATAL));
            }
        };
        let specification = &config.specification;
        let is_scored = |name: &&String| judges.names().any(|known| known == name.as_bytes());
        if let Some(name) = specification.categories.iter().find(|name| !is_scored(name)) {
            return Err(self.fatal(&format!("category {name} has no scores: use --category")));
        }
        if judges.names().any(|name| specification.index_of(name).is_none()) {
            return Err(self.fatal(&Unreadable::Mismatch.to_string()));
        }
        Ok(Some(judges))
    }

    /// Takes in one input: a document with scores, or a text for `judges`.
    fn input<C: Condition>(
        &mut self,
        config: &Config,
        evidence: &mut CapturedRows<'_, C>,
        judges: Option<&mut Judges>,
        input: &mut dyn BufRead,
    ) -> Result<(), Stop> {
        let Some(judges) = judges else { return self.read(config, evidence, input) };
        let mut text = Vec::new();
        // What could be read counts, as it does line by line.
        let _ = input.read_to_end(&mut text);
        let names = &config.specification.categories;
        let out = &mut self.out;
        let mut observe = |observation: Observation<'_>| {
            if config.debug {
                trace_observation(out, names, &observation);
            }
        };
        // Conditions see what `dbacl -a` would show them, with its blank before each line.
        let mut shown = Vec::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            shown.clear();
            shown.push(b' ');
            shown.extend(line.iter().take_while(|&&byte| byte != 0));
            evidence.document_line(&shown, &mut observe);
        }
        evidence.end_of_file(text.is_empty() || text.ends_with(b"\n"), &mut observe);
        judges.read(&text);
        Ok(())
    }

    /// Takes in one input to its end; an input that fails has ended.
    fn read<C: Condition>(
        &mut self,
        config: &Config,
        evidence: &mut CapturedRows<'_, C>,
        input: &mut dyn BufRead,
    ) -> Result<(), Stop> {
        let names = &config.specification.categories;
        let mut line = Vec::new();
        let mut is_complete = true;
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            is_complete = line.ends_with(b"\n");
            let out = &mut self.out;
            let result = evidence.line(&line, &mut |observation| {
                if config.debug {
                    trace_observation(out, names, &observation);
                }
            });
            if let Err(error) = result {
                self.error(error.to_string().as_bytes());
                if error != Unreadable::Mismatch {
                    self.error(Unreadable::Mismatch.to_string().as_bytes());
                }
                return Err(Stop(FATAL));
            }
            if self.out.len() > FLUSH_AT {
                self.flush();
            }
        }
        let out = &mut self.out;
        evidence.end_of_file(is_complete, &mut |observation| {
            if config.debug {
                trace_observation(out, names, &observation);
            }
        });
        Ok(())
    }

    fn losses<C: Condition>(
        &mut self,
        config: &Config,
        evidence: &CapturedRows<'_, C>,
    ) -> Result<LossMatrix, Stop> {
        let Specification { categories, rows, .. } = &config.specification;
        let result = evidence.losses(&mut |row| {
            if config.debug {
                let row = &rows[row];
                let name = categories[row.category].as_bytes();
                self.out.extend_from_slice(
                    &[b"category ", name, b"\t risk spec: ", &row.formulas[..], b"\n"].concat(),
                );
            }
        });
        result.map_err(|error| match error {
            NoLosses::Negative(truth, decision) => {
                let (truth, decision) = (&categories[truth], &categories[decision]);
                let text = format!("error: negative losses not supported ({truth},{decision})");
                self.say(&[text.as_bytes()]);
                Stop(REFUSED)
            }
            NoLosses::Syntax(row, error) => {
                self.say(&[error.to_string().as_bytes()]);
                let row = &rows[row];
                let name = categories[row.category].as_bytes();
                self.error(
                    &[b"couldn't parse spec for (", name, b", \"", &row.condition[..], b"\")"]
                        .concat(),
                );
                Stop(FATAL)
            }
        })
    }

    /// Decides, once or as often as there are categories, and prints; returns the first decision.
    fn rounds(
        &mut self,
        config: &Config,
        scores: &Scores,
        mut losses: LossMatrix,
    ) -> Result<usize, Stop> {
        let Specification { categories, log_priors, .. } = &config.specification;
        let mut count = 1;
        if config.output == Output::Ranking {
            losses.finite_diagonal();
            count = categories.len();
        }
        let mut order = Vec::with_capacity(count);
        let mut first = None;
        for _ in 0..count {
            let round = match decide(scores, log_priors, &losses) {
                Ok(round) => round,
                Err(error) => return Err(self.fatal(&error.to_string())),
            };
            if config.debug {
                trace_round(&mut self.out, &config.specification, &losses, &round);
            }
            if !config.json {
                self.print_round(config, &round);
            }
            order.push(round.best);
            if first.is_none() {
                first = Some((losses.clone(), round));
            }
            losses.exclude(order[order.len() - 1]);
        }
        if config.json {
            if let Some((losses, round)) = &first {
                let text = document(config, scores, losses, round, &order);
                self.out.extend_from_slice(text.as_bytes());
            }
        } else if matches!(config.output, Output::Risks | Output::Ranking) {
            self.out.push(b'\n');
        }
        Ok(order.first().copied().unwrap_or(0))
    }

    fn print_round(&mut self, config: &Config, round: &Round) {
        let names = &config.specification.categories;
        let out = &mut self.out;
        let mut print = |index: usize, value: f64| {
            out.extend_from_slice(names[index].as_bytes());
            out.push(b' ');
            cformat::fixed(out, value, 10, 2);
            out.push(b' ');
        };
        if config.output == Output::Ranking {
            let largest = round.outlooks[round.best].terms.first();
            print(round.best, largest.copied().unwrap_or(f64::NEG_INFINITY));
        } else if config.output == Output::Risks && !config.debug {
            for (index, outlook) in round.outlooks.iter().enumerate() {
                print(index, outlook.log_risk);
            }
        }
    }
}

const DISPARITY: &str = "
         There is a significant disparity between the complexities
         reported under each category. This most likely indicates that
         you've chosen categories whose features aren't comparable.

         The Bayes solution calculations will be meaningless.
";

/// Opens a file; a directory is as good as missing.
fn open(path: &Path) -> Option<BufReader<File>> {
    let file = File::open(path).ok()?;
    let is_directory = file.metadata().is_ok_and(|metadata| metadata.is_dir());
    (!is_directory).then(|| BufReader::with_capacity(1 << 16, file))
}

fn trace_observation(out: &mut Vec<u8>, names: &[String], observation: &Observation<'_>) {
    match observation {
        Observation::Match { condition, values } => {
            out.extend_from_slice(&[b"match \"", *condition, b"\""].concat());
            for &value in *values {
                out.push(b' ');
                cformat::fixed(out, value, 0, 6);
            }
        }
        Observation::Scores(scores) => {
            for (index, name) in names.iter().enumerate() {
                out.extend_from_slice(b"category ");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\t cross_entropy ");
                cformat::fixed(out, scores.cross_entropy[index], 7, 2);
                out.extend_from_slice(b" complexity ");
                cformat::fixed(out, scores.complexity[index], 7, 0);
                out.push(b'\n');
            }
        }
    }
    out.push(b'\n');
}

fn trace_round(
    out: &mut Vec<u8>,
    specification: &Specification,
    losses: &LossMatrix,
    round: &Round,
) {
    out.extend_from_slice(b"\nprior (log scale)\n");
    for &prior in &specification.log_priors {
        cformat::fixed(out, prior, 8, 2);
        out.push(b' ');
    }
    out.extend_from_slice(b"\nfinal loss_matrix (log scale)\n");
    for (index, name) in specification.categories.iter().enumerate() {
        out.extend_from_slice(name.as_bytes());
        out.push(b'\t');
        for &loss in losses.row(index) {
            cformat::fixed(out, loss, 8, 2);
            out.push(b' ');
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    for (name, outlook) in specification.categories.iter().zip(&round.outlooks) {
        out.extend_from_slice(&[b"decision score ", name.as_bytes(), b"\t SumExp("].concat());
        for (index, &term) in outlook.terms.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            cformat::general(out, term);
        }
        out.extend_from_slice(b")\n");
    }
}

/// The JSON document: scores, priors and losses as used, logarithms natural.
fn document(
    config: &Config,
    scores: &Scores,
    losses: &LossMatrix,
    round: &Round,
    order: &[usize],
) -> String {
    let names = &config.specification.categories;
    let mut json = Json::new();
    json.object(|json| {
        json.key("program").string(NAME);
        json.key("schema").integer(1_u8);
        json.key("decision").string(&names[round.best]);
        json.key("status").integer(round.best as u64 + 1);
        json.key("categories").array(|json| {
            for (index, name) in names.iter().enumerate() {
                json.object(|json| {
                    json.key("name").string(name);
                    json.key("cross_entropy").number(scores.cross_entropy[index]);
                    json.key("complexity").number(scores.complexity[index]);
                    json.key("log_prior").number(config.specification.log_priors[index]);
                    json.key("log_losses").numbers(losses.row(index));
                    json.key("log_risk").number(round.outlooks[index].log_risk);
                    json.key("terms").numbers(&round.outlooks[index].terms);
                });
            }
        });
        if config.output == Output::Ranking {
            json.key("ranking").array(|json| {
                for &index in order {
                    json.string(&names[index]);
                }
            });
        }
    });
    json.into_text() + "\n"
}

fn help() -> String {
    format!(
        "{USAGE}\n\
         Picks the category with the smallest expected loss, from the scores that 'dbacl -vna' \
         appends\n\
         to a document. Reads the FILEs, or standard input. The exit status is the category's \
         number.\n\n\
         {}",
        getopt::describe(OPTIONS)
    )
}

/// A row's condition as the regular-expression engine matches it: extended syntax, no newline mode.
struct RowExpression(Expression);

impl Condition for RowExpression {
    fn matches(&mut self, line: &[u8], starts: &mut [Option<usize>; GROUPS]) -> bool {
        let mut slots = [None; 9];
        if !self.0.captures(line, 0, true, &mut slots) {
            return false;
        }
        for (start, slot) in starts.iter_mut().zip(slots) {
            *start = slot.map(|(begin, _)| begin);
        }
        true
    }
}

/// Runs the program with the arguments, environment and streams of the process.
pub fn main() -> ExitCode {
    // A crash must not look like a verdict: it ends as a fatal error does.
    let status = std::panic::catch_unwind(|| {
        let mut args = std::env::args_os();
        let program = args.next().unwrap_or_default();
        let posixly_correct = std::env::var_os("POSIXLY_CORRECT").is_some();
        let locale = Locale::from_environment(|name| std::env::var(name).ok());
        let compile = |condition: &[u8]| {
            Expression::new(condition, Syntax::Extended, locale).ok().map(RowExpression)
        };
        let mut stdin = io::stdin().lock();
        let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
        let is_terminal = stderr.is_terminal();
        let streams = Streams { stdout: &mut stdout, stderr: &mut stderr, is_terminal };
        run(&program, args, posixly_correct, &mut stdin, streams, compile)
    });
    ExitCode::from(status.unwrap_or(FATAL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CategorySet, LearnOptions, Learner};

    const SPECIFICATION: &str = "categories { ham, spam }\nprior { 1, 1 }\nloss_matrix {\n\
                                 \"gift of ([0-9]+)\" ham [ 0, $1 ]\n\"\" ham [ 0, 1 ]\n\
                                 \"\" spam [ 1, 0 ]\n}\n";
    const SCORES: &str = "# scores ham 5.20 * 412.0 spam 5.31 * 412.0 \n";

    struct Result {
        status: u8,
        out: String,
        err: String,
    }

    /// Runs the program on a specification in a file; `SPEC` in `args` stands for its path.
    fn bayesol(specification: &str, args: &[&str], input: &str) -> Result {
        let place = tempfile::tempdir().expect("a temporary folder");
        let path = place.path().join("r.risk");
        std::fs::write(&path, specification).expect("written");
        let path = path.to_str().expect("a plain path");
        let args = args.iter().map(|arg| OsString::from(arg.replace("SPEC", path)));
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let streams = Streams { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
        let compile = |condition: &[u8]| {
            Expression::new(condition, Syntax::Extended, Locale::C).ok().map(RowExpression)
        };
        let mut stdin = input.as_bytes();
        let status = run(OsStr::new("bayesol"), args, false, &mut stdin, streams, compile);
        let text = |bytes| String::from_utf8(bytes).expect("text").replace(path, "SPEC");
        Result { status, out: text(stdout), err: text(stderr) }
    }

    #[test]
    fn the_manual_page_lists_the_options() {
        dbacl_testing::manual::check("bayesol", OPTIONS);
    }

    #[test]
    fn every_option_has_its_effect_in_every_spelling() {
        let risks = "ham   -2187.72 spam   -2142.40 \n";
        let ranking = "ham   -2142.40 spam   -2187.72 \n";
        for (args, out) in [
            (&["-c", "SPEC"][..], ""),
            (&["-cSPEC", "-v"], "ham\n"),
            (&["-vcSPEC"], "ham\n"),
            (&["-v", "--risk=SPEC"], "ham\n"),
            (&["--verbose", "--risk", "SPEC"], "ham\n"),
            (&["-n", "-c", "SPEC"], risks),
            (&["-vn", "-c", "SPEC"], risks),
            (&["--risks", "-c", "SPEC"], risks),
            (&["-N", "-c", "SPEC"], ranking),
            (&["-c", "SPEC", "--ranking"], ranking),
            (&["-nN", "-c", "SPEC"], ranking),
            (&["-iv", "-c", "SPEC"], "ham\n"),
        ] {
            let found = bayesol(SPECIFICATION, args, SCORES);
            assert_eq!((found.status, found.out.as_str()), (1, out), "{args:?}: {}", found.err);
        }
        let found = bayesol(SPECIFICATION, &["-cSPEC", "-D"], "gift of 7 pounds\n");
        assert_eq!(found.out, "taking input from stdin\nmatch \"gift of ([0-9]+)\" 7.000000\n");
    }

    #[test]
    fn messages_and_statuses_are_the_reference_s() {
        let negative = SPECIFICATION.replace("[ 1, 0 ]", "[ 1-2, 0 ]");
        let unclosed = SPECIFICATION.replace("gift of", "(gift of");
        let broken = SPECIFICATION.replace("[ 1, 0 ]", "[ 1, \n * ]");
        let alone = "categories { a } prior { 1 } loss_matrix { \"\" a [ 1 ] }";
        for (specification, args, input, status, err) in [
            (SPECIFICATION, &[][..], "", 0, "bayesol:error: please use -c option\n"),
            ("", &["-c", "/nowhere/x"], "", 1, {
                "bayesol:error: could not read /nowhere/x, program aborted\n"
            }),
            ("", &["-c", ""], "", 1, "bayesol:error: could not read , program aborted\n"),
            ("", &["-c", "SPEC"], "", 0, "parse error at line 1 before ''\n"),
            ("1", &["-c", "SPEC"], "", 1, "bayesol:error: you need at least one category\n"),
            (SPECIFICATION, &["-c", "SPEC", "-cSPEC"], "", 1, {
                "bayesol:error: option -c can only occur once\n"
            }),
            (SPECIFICATION, &["-cSPEC", "-x"], SCORES, 1, "bayesol: invalid option -- 'x'\n"),
            (SPECIFICATION, &["-cSPEC", "/nowhere/y"], "", 0, {
                "bayesol:error: couldn't open /nowhere/y\n"
            }),
            (SPECIFICATION, &["-cSPEC", "/"], "", 0, "bayesol:error: couldn't open /\n"),
            (SPECIFICATION, &["-cSPEC"], "text\n", 1, {
                "bayesol:error: no scores found. Did you use dbacl with the -a switch?\n"
            }),
            (SPECIFICATION, &["-cSPEC"], "# scores ham 1 *\n", 1, {
                "bayesol:error: scores in wrong format\n\
                 bayesol:error: scores don't match risk specification\n"
            }),
            (SPECIFICATION, &["-cSPEC"], "# scores eggs 1 * 2\n", 1, {
                "bayesol:error: scores don't match risk specification\n"
            }),
            (SPECIFICATION, &["-cSPEC"], "# scores ham nan * 2\n", 1, { "bayesol:warning: \n" }),
            (&negative, &["-cSPEC"], SCORES, 0, {
                "error: negative losses not supported (spam,ham)\n"
            }),
            (&unclosed, &["-cSPEC"], SCORES, 1, {
                "bayesol:warning: couldn't compile regex '(gift of ([0-9]+)', ignoring\n"
            }),
            (&broken, &["-cSPEC"], SCORES, 1, {
                "parse error at line 2 before '*'\n\
                 bayesol:error: couldn't parse spec for (spam, \"\")\n"
            }),
            (alone, &["-cSPEC"], "# scores a 1 * 2\n", 1, {
                "bayesol:warning: only one category specified, this is trivial!\n"
            }),
        ] {
            let found = bayesol(specification, args, input);
            assert!(found.err.starts_with(err), "{args:?}: {}", found.err);
            assert_eq!(found.status, status, "{args:?}: {}", found.err);
        }
    }

    #[test]
    fn mistakes_are_explained_on_request() {
        let crooked = SPECIFICATION.replace("spam", "not-spam");
        assert_eq!(
            bayesol(&crooked, &["-c", "SPEC"], "").err,
            "parse error at line 1 before '-'\n"
        );
        let found = bayesol(&crooked, &["--explain", "-c", "SPEC"], "");
        assert!(found.err.contains("bayesol:note: SPEC:1:22: a category's name"), "{}", found.err);
        let dead = SPECIFICATION.replace("\"\" ham [ 0, 1 ]", "\"\" ham [ 0, 1 ]\n\"x\" ham [ 0 ]");
        let found = bayesol(&dead, &["-c", "SPEC", "--explain", "-v"], SCORES);
        assert_eq!(found.out, "ham\n");
        assert!(found.err.contains("SPEC:6:1: this row is never used"), "{}", found.err);
    }

    #[test]
    fn relaxed_specifications_take_more_numbers_comments_and_names() {
        let loose = "categories { ham, not-ham } # two\r\nprior { 1e0, .5 }\nloss_matrix {\r\n\
                     \"\" ham [ 0, 1e2 # much\n ]\n\"\" not-ham [ 1-.5, 0 ]\n} # end";
        let scores = "# scores ham 5.20 * 412.0 not-ham 5.21 * 412.0 \n";
        let found = bayesol(loose, &["-v", "-c", "SPEC"], scores);
        assert_eq!((found.status, found.out.as_str()), (0, ""), "{}", found.err);
        // The option counts wherever it stands.
        for args in [&["--relaxed", "-vc", "SPEC"], &["-vc", "SPEC", "--relaxed"]] {
            let found = bayesol(loose, args, scores);
            assert_eq!((found.out.as_str(), found.err.as_str()), ("ham\n", ""));
        }
        // 412 * 0.01 = 4.12 for ham, log 100 + ... against it in the second round
        let found = bayesol(loose, &["--relaxed", "-nc", "SPEC"], scores);
        assert_eq!(found.out, "ham   -2147.91 not-ham   -2137.79 \n");
    }

    #[test]
    fn categories_score_the_text_at_full_precision() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = place.path().to_str().expect("a plain path");
        for (name, words) in [("ham", "red"), ("spam", "blue")] {
            let mut learner = Learner::new(&LearnOptions::mail()).expect("no expressions");
            learner.learn(format!("Subject: colours\n\n{words} {words} and more\n").as_bytes());
            let category = learner.finish().expect("some words");
            category.save(&place.path().join(name)).expect("a temporary file");
        }
        let (ham, spam) = (format!("--category={folder}/ham"), format!("--category={folder}/spam"));
        let text = "X: y\n\nred red blue\n# scores ham 9 * 9\n";
        let specification = SPECIFICATION.replace("gift of ([0-9]+)", "^ red.*blue\n$");
        let specification = specification.replace("$1", "7");
        let ham_only = CategorySet::open(&[place.path().join("ham")]).expect("a category");
        let verdict = ham_only.classify(text.as_bytes());
        let complexity = format!("\"complexity\":{:?}", verdict.complexities()[0]);
        let nats = -verdict.means().next().expect("a category");
        for (more, expected) in [(&["-v"][..], nats / LN_2), (&["--nats", "-v"], nats)] {
            let args = [&["-c", "SPEC", "--json", &spam, &ham], more].concat();
            let found = bayesol(&specification, &args, text);
            assert_eq!((found.status, found.err.as_str()), (1, ""), "{}", found.out);
            let shown = found.out.split("\"cross_entropy\":").nth(1).expect("a score");
            let cross_entropy: f64 =
                shown.split(',').next().and_then(|text| text.parse().ok()).expect("a number");
            assert!((cross_entropy - expected).abs() < 1e-12, "{cross_entropy} {expected}");
            assert!(found.out.contains(&complexity), "{complexity} in {}", found.out);
            // The row with the condition applies: its second loss is 7.
            assert!(found.out.contains("1.945910149055313"), "{}", found.out);
        }
        for (args, err) in [
            (&[ham.as_str()][..], "bayesol:error: category spam has no scores: use --category\n"),
            (&[&ham, &spam, "--category", "/nowhere/eggs"], {
                "bayesol:error: could not load category /nowhere/eggs\n"
            }),
        ] {
            let found = bayesol(SPECIFICATION, &[&["-c", "SPEC"], args].concat(), text);
            assert_eq!((found.status, found.err.as_str()), (1, err));
        }
    }

    #[test]
    fn json_holds_what_the_decision_rests_on() {
        let found = bayesol(SPECIFICATION, &["--json", "-N", "-c", "SPEC"], SCORES);
        assert_eq!(found.status, 1);
        for part in [
            "{\"program\":\"bayesol\",\"schema\":1,\"decision\":\"ham\",\"status\":1,",
            "{\"name\":\"spam\",\"cross_entropy\":5.31,\"complexity\":412.0,\"log_prior\":0.0,",
            "\"ranking\":[\"ham\",\"spam\"]}\n",
        ] {
            assert!(found.out.contains(part), "{part} in {}", found.out);
        }
    }

    #[test]
    fn any_bytes_make_a_specification_or_an_error() {
        let mut state = 1_u32;
        let words =
            ["{", "}", "[", "]", "\"", "#", "$1", "1.e", "inf", ",", "\n", "a", "log", "(", "\\"];
        for _ in 0..300 {
            let mut text = String::from("categories { a } prior { 1 } loss_matrix { \"\" a [1] ");
            text.truncate((state % 60) as usize % (text.len() + 1));
            for _ in 0..20 {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                text.push_str(words[(state >> 16) as usize % words.len()]);
            }
            let found = bayesol(&text, &["-c", "SPEC", "--explain"], SCORES);
            assert!(found.status <= 1);
        }
    }
}
