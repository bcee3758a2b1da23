// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl-eval`: how good is a set of options, and which is the best?
//!
//! ```text
//! operands ─ corpus → documents ─ plan (folds, split, online) ─ run, set by set → verdicts
//! verdicts ─ measures → report → text, JSON, page
//! ```

use crate::corpus::{Corpus, Gatherer, Refusal};
use crate::measures::measure;
use crate::options::{Key, TABLE};
use crate::protocol::{Feedback, Findings, Meter, Plan, Run, deal};
use crate::report::{Entry, Report};
use crate::sets::OptionSet;
use crate::{json, mail_filter, page, peer, sets, text};
use dbacl_cli::getopt::{self, Event};
use dbacl_cli::output::{self, Messages};
use dbacl_cli::status::{IO, LATER, SOFTWARE, USAGE};
use dbacl_cli::{last_resort, progress};
use dbacl_engine::error::Error;
use dbacl_engine::parallel;
use dbacl_numeric::random::SplitMix64;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

static MESSAGES: Messages = Messages::plain("dbacl-eval");

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let args: Vec<OsString> = args.collect();
    last_resort::install("dbacl-eval", ": ");
    last_resort::set_status(LATER);
    let run = std::panic::catch_unwind(|| run(&program, args));
    ExitCode::from(run.unwrap_or(SOFTWARE))
}

fn run(program: &OsStr, args: Vec<OsString>) -> u8 {
    let failure = |status: u8, text: &str| {
        MESSAGES.error(text);
        status
    };
    let arguments = match Arguments::parse(program, args) {
        Ok(Ok(arguments)) => arguments,
        Ok(Err(text)) => return print(&text),
        Err(text) => {
            return failure(USAGE, &format!("{text}\nTry 'dbacl-eval --help'."));
        }
    };
    let report = match evaluate(&arguments) {
        Ok(report) => report,
        Err(Refusal { status, text }) => return failure(status, &text),
    };
    let mut status = 0;
    let files = [
        (&arguments.verdicts, json::verdicts as fn(&Report) -> String),
        (&arguments.html, page::write),
    ];
    for (path, make) in files {
        if let Some(path) = path
            && let Err(error) = std::fs::write(path, make(&report))
        {
            status = failure(IO, &format!("{}: {error}", path.display()));
        }
    }
    let text = if arguments.json { json::write(&report) } else { text::write(&report) };
    status.max(print(&text))
}

fn print(text: &str) -> u8 {
    let printed = output::print(text.as_bytes());
    let Some(text) = printed.err().as_ref().and_then(output::complaint) else { return 0 };
    MESSAGES.error(&text);
    IO
}

/// How documents are to be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Folds(usize),
    Online,
}

/// A run as its options ask for it.
#[derive(Debug)]
struct Arguments {
    operands: Vec<String>,
    tests: Vec<String>,
    indexes: Vec<PathBuf>,
    sets: Vec<OptionSet>,
    filters: Vec<PathBuf>,
    /// Whether the mail filter is a candidate.
    mail_filter: bool,
    protocol: Protocol,
    feedback: Feedback,
    refresh: f64,
    /// `--order`: whether the order given is to be kept.
    keep_order: Option<bool>,
    positive: Option<String>,
    seed: u64,
    curve: bool,
    json: bool,
    html: Option<PathBuf>,
    verdicts: Option<PathBuf>,
    threads: usize,
    quiet: bool,
}

impl Arguments {
    /// What the options ask for, or a text to print.
    fn parse(
        program: &OsStr,
        args: impl IntoIterator<Item = OsString>,
    ) -> Result<Result<Self, String>, String> {
        let mut arguments = Self {
            operands: Vec::new(),
            tests: Vec::new(),
            indexes: Vec::new(),
            sets: Vec::new(),
            filters: Vec::new(),
            mail_filter: false,
            protocol: Protocol::Folds(10),
            feedback: Feedback::Immediate,
            refresh: 0.02,
            keep_order: None,
            positive: None,
            seed: 1,
            curve: false,
            json: false,
            html: None,
            verdicts: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            quiet: false,
        };
        for event in getopt::parse(program, args, TABLE, false) {
            let (key, value) = match event {
                Event::Operand(operand) => {
                    arguments.operands.push(unicode(&operand)?);
                    continue;
                }
                Event::Complaint(message) => {
                    let program = [program.as_encoded_bytes(), b": "].concat();
                    let message = message.strip_prefix(program.as_slice()).unwrap_or(&message);
                    return Err(String::from_utf8_lossy(message).into_owned());
                }
                Event::Option { key, value } => (key, value.unwrap_or_default()),
            };
            let path = PathBuf::from(&value);
            let value = unicode(&value)?;
            match key {
                Key::Set => arguments.sets.push(sets::parse(&value)?),
                Key::Try => {
                    arguments.sets.append(&mut sets::candidates(&value)?);
                    arguments.mail_filter |= value == "mail";
                }
                Key::Filter => arguments.filters.push(path),
                Key::Folds => {
                    let count = number(&value, "folds")?;
                    if count < 2 {
                        return Err("at least 2 folds are needed".to_owned());
                    }
                    arguments.protocol = Protocol::Folds(count);
                }
                Key::Test => arguments.tests.push(value),
                Key::Online => arguments.protocol = Protocol::Online,
                Key::Feedback => arguments.feedback = feedback(&value)?,
                Key::Refresh => {
                    let percent: Option<f64> = value.trim_end_matches('%').trim().parse().ok();
                    let percent = percent.filter(|percent| (0.0..=1000.0).contains(percent));
                    arguments.refresh = percent
                        .ok_or_else(|| format!("--refresh takes percents, not \"{value}\""))?
                        / 100.0;
                }
                Key::Order => {
                    arguments.keep_order = Some(match value.as_str() {
                        "given" => true,
                        "shuffled" => false,
                        _ => return Err("--order takes \"given\" or \"shuffled\"".to_owned()),
                    });
                }
                Key::Index => arguments.indexes.push(path),
                Key::Positive => arguments.positive = Some(value),
                Key::Seed => arguments.seed = number(&value, "seed")? as u64,
                Key::Curve => arguments.curve = true,
                Key::Json => arguments.json = true,
                Key::Html => arguments.html = Some(path),
                Key::Verdicts => arguments.verdicts = Some(path),
                Key::Threads => arguments.threads = number(&value, "threads")?.clamp(1, 1024),
                Key::Quiet => arguments.quiet = true,
                Key::Help => return Ok(Err(help())),
                Key::Version => return Ok(Err(dbacl_cli::version("dbacl-eval"))),
            }
        }
        if arguments.operands.is_empty() && arguments.indexes.is_empty() {
            return Err("no documents given".to_owned());
        }
        if arguments.protocol == Protocol::Online && !arguments.tests.is_empty() {
            return Err("--online and --test exclude each other".to_owned());
        }
        if arguments.protocol == Protocol::Online && !arguments.filters.is_empty() {
            return Err("--filter works with folds and --test only".to_owned());
        }
        // The mail filter learns all its mail at once, so it takes no part in online simulations.
        arguments.mail_filter &= arguments.protocol != Protocol::Online;
        if arguments.sets.is_empty() && arguments.filters.is_empty() {
            arguments.sets.push(sets::parse(sets::DEFAULT)?);
        }
        Ok(Ok(arguments))
    }
}

fn unicode(value: &OsStr) -> Result<String, String> {
    let text = value.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("\"{}\" is not valid UTF-8", value.display()))
}

fn number(value: &str, what: &str) -> Result<usize, String> {
    value.trim().parse().map_err(|_| format!("--{what} takes a number, not \"{value}\""))
}

fn feedback(value: &str) -> Result<Feedback, String> {
    match value.split_once(':') {
        None if value == "immediate" => Ok(Feedback::Immediate),
        None if value == "on-error" => Ok(Feedback::OnError),
        Some(("delayed", count)) => Ok(Feedback::Delayed(number(count, "feedback delayed:")?)),
        _ => Err(format!(
            "--feedback takes \"immediate\", \"delayed:N\" or \"on-error\", not \"{value}\""
        )),
    }
}

fn help() -> String {
    format!(
        "Usage: dbacl-eval [OPTION]... CORPUS...\n\
         Tells how good options of dbacl are on documents whose categories are known.\n\n\
         A CORPUS is a folder with one folder or mailbox for each category, NAME=PATH for the\n\
         documents of one category, a FILE.tsv of lines CATEGORY<tab>TEXT, or a FILE.ndjson of\n\
         lines {{\"label\": ..., \"text\": ...}}.\n\n\
         Options:\n{}\n\
         Which tokenizer should I use for my mail?\n  \
         dbacl-eval --try mail --html report.html spam=SPAM.mbox ham=HAM.mbox\n",
        getopt::describe(TABLE)
    )
}

/// Runs the evaluation.
fn evaluate(arguments: &Arguments) -> Result<Report, Refusal> {
    let corpus = gather(arguments)?;
    let positive = positive(arguments, &corpus)?;
    let (plan, described) = plan(arguments, &corpus);
    let findings = perform(arguments, &corpus, &plan, positive)?;
    let own = arguments.sets.iter().map(|set| (true, set.name.clone(), set.options.clone()));
    let filter = arguments
        .mail_filter
        .then(|| (false, mail_filter::NAME.to_owned(), format!("dbacl {}", mail_filter::OPTIONS)));
    let others = arguments.filters.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (false, name, peer::describe(path))
    });
    let entries = own
        .chain(filter)
        .chain(others)
        .zip(findings)
        .filter_map(|(named, findings)| Some((named, findings?)))
        .map(|((is_own, name, options), findings)| {
            let measures = measure(&findings.judged, corpus.categories.len(), positive);
            Entry { name, options, is_own, findings, measures }
        })
        .collect::<Vec<_>>();
    if entries.is_empty() {
        return Err("no option set could be tried".to_owned().into());
    }
    let is_online = arguments.protocol == Protocol::Online;
    Ok(Report { corpus, plan: described, is_online, positive, entries })
}

fn gather(arguments: &Arguments) -> Result<Corpus, Refusal> {
    let mut gatherer = Gatherer::default();
    for operand in &arguments.operands {
        gatherer.add(operand)?;
    }
    for index in &arguments.indexes {
        gatherer.index(index)?;
    }
    if !arguments.tests.is_empty() {
        gatherer.begin_tests();
    }
    for test in &arguments.tests {
        gatherer.add(test)?;
    }
    gatherer.finish()
}

/// The positive category: the one asked for, else `spam`, else the last.
fn positive(arguments: &Arguments, corpus: &Corpus) -> Result<usize, String> {
    let find = |name: &str| corpus.categories.iter().position(|known| known == name);
    match &arguments.positive {
        Some(name) => find(name).ok_or_else(|| format!("there is no category \"{name}\"")),
        None => Ok(find("spam").unwrap_or(corpus.categories.len() - 1)),
    }
}

/// The plan, and a text that describes it.
fn plan(arguments: &Arguments, corpus: &Corpus) -> (Plan, String) {
    if let Some(first) = corpus.first_test {
        let tests = corpus.documents.len() - first;
        return (Plan::Split(first), format!("{first} learned, {tests} judged"));
    }
    match arguments.protocol {
        Protocol::Folds(count) => {
            let folds = deal(&corpus.documents, corpus.categories.len(), count, arguments.seed);
            let text = format!("cross-validation with {count} folds, seed {}", arguments.seed);
            (Plan::Folds { folds, count }, text)
        }
        Protocol::Online => {
            let mut order: Vec<usize> = (0..corpus.documents.len()).collect();
            let keep = arguments.keep_order.unwrap_or(corpus.is_ordered);
            let mut text = "online, in the order given".to_owned();
            if !keep {
                SplitMix64::new(arguments.seed).shuffle(&mut order);
                text = format!("online, shuffled with seed {}", arguments.seed);
            }
            let told = match arguments.feedback {
                Feedback::Immediate => ", immediate feedback".to_owned(),
                Feedback::Delayed(count) => format!(", feedback after {count} more documents"),
                Feedback::OnError => ", feedback on errors".to_owned(),
            };
            text.push_str(&told);
            (Plan::Online { order, feedback: arguments.feedback, refresh: arguments.refresh }, text)
        }
    }
}

/// Runs every option set and every other filter.
fn perform(
    arguments: &Arguments,
    corpus: &Corpus,
    plan: &Plan,
    positive: usize,
) -> Result<Vec<Option<Findings>>, String> {
    let meter = Meter::default();
    let curve = arguments.curve || arguments.html.is_some();
    let is_online = arguments.protocol == Protocol::Online;
    let run = Run {
        documents: &corpus.documents,
        categories: corpus.categories.len(),
        positive,
        plan,
        // An online simulation cannot be divided among threads, so option sets run beside each
        // other.
        threads: if is_online { 1 } else { arguments.threads },
        meter: &meter,
    };
    let steps = run.steps(curve);
    let candidates =
        arguments.sets.len() + arguments.filters.len() + usize::from(arguments.mail_filter);
    meter.expect(steps * candidates);
    let try_set = |set: &OptionSet| {
        let found = run.perform(&set.method, curve);
        let reason = match found {
            Ok(findings) => return Ok(Some(findings)),
            Err(Error::NothingToLearn { category }) => {
                let name = &corpus.categories[category];
                format!("cannot learn \"{name}\": its documents have no token of that kind")
            }
            Err(error) => error.to_string(),
        };
        let reason = format!("option set \"{}\": {reason}", set.name);
        // An option set that is impossible is left out of the comparison.
        if candidates > 1 {
            MESSAGES.warning(&reason);
            return Ok(None);
        }
        Err(reason)
    };
    let try_filter = |path: &Path| {
        let (documents, categories) = (&corpus.documents, &corpus.categories);
        peer::perform(path, documents, categories, plan, arguments.threads, &meter)
            .map(Some)
            .map_err(|error| error.to_string())
    };
    let try_mail_filter = || {
        let count = corpus.categories.len();
        let found = mail_filter::perform(&corpus.documents, count, positive, plan, &meter);
        let told = |error| MESSAGES.warning(&format!("the mail filter cannot be tried: {error}"));
        found.map_err(told).ok()
    };
    let judge = || {
        if is_online {
            let count = arguments.sets.len();
            return parallel::map(
                count,
                arguments.threads,
                || Ok(()),
                |(), at| try_set(&arguments.sets[at]),
            );
        }
        let mut all = Vec::new();
        for set in &arguments.sets {
            all.push(try_set(set)?);
            meter.catch_up(steps * all.len());
        }
        if arguments.mail_filter {
            all.push(try_mail_filter());
            meter.catch_up(steps * all.len());
        }
        for filter in &arguments.filters {
            all.push(try_filter(filter)?);
            meter.catch_up(steps * all.len());
        }
        Ok(all)
    };
    if arguments.quiet {
        return judge();
    }
    let part = || {
        let (done, total) = meter.read();
        Some((done as u64, total as u64))
    };
    progress::watch("judging", part, judge)
}
