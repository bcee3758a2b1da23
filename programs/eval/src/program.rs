// SPDX-License-Identifier: GPL-3.0-or-later
//! The program `dbacl-eval`: how good is a set of options, and which is the best?
//!
//! ```text
//! operands ─ corpus → documents ─ plan (folds, split, online) ─ run, set by set → verdicts
//! verdicts ─ measures → report → text, JSON, page
//! ```

use crate::corpus::{Corpus, Gatherer, Refusal, unfit};
use crate::measures::measure;
use crate::options::{Options, Order};
use crate::protocol::{Feedback, Findings, Plan, Run, body, deal};
use crate::report::{Entry, Report};
use crate::sets::OptionSet;
use crate::{json, mail_filter, page, peer, sets, text};
use dbacl::Error;
use dbacl::parallel;
use dbacl_cli::output::Messages;
use dbacl_cli::status::{IO, USAGE};
use dbacl_cli::{arguments, progress};
use dbacl_files::atomic_file::write_output;
use dbacl_numeric::random::SplitMix64;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAME: &str = "dbacl-eval";
static MESSAGES: Messages = Messages::plain(NAME);

/// Runs the program.
pub fn main() -> ExitCode {
    arguments::run(NAME, begin)
}

fn begin(mut options: Options) -> Result<(), (u8, String)> {
    for &list in &options.candidates {
        options.sets.extend(sets::candidates(list).map_err(|text| (USAGE, text))?);
    }
    if options.sets.is_empty() && options.filters.is_empty() {
        options.sets.push(sets::parse(sets::DEFAULT).map_err(|text| (USAGE, text))?);
    }
    let report = evaluate(&options)?;
    let mut written = Ok(());
    let files = [
        (&options.verdicts, json::verdicts as fn(&Report) -> String),
        (&options.html, page::write),
    ];
    for (path, make) in files {
        if let Some(path) = path
            && let Err(error) = write_output(path, make(&report).as_bytes())
        {
            written = written.and(Err((IO, error.to_string())));
        }
    }
    let text = if options.json { json::write(&report) } else { text::write(&report) };
    written.and(arguments::print(&text))
}

/// Runs the evaluation.
fn evaluate(options: &Options) -> Result<Report, Refusal> {
    let corpus = gather(options)?;
    let positive = positive(options, &corpus).map_err(unfit)?;
    let (plan, described) = plan(options, &corpus);
    let mut all = (0..corpus.categories.len()).filter_map(|it| one_body(&corpus, &plan, it));
    // Outside filters are asked all the same: they may know more than these documents.
    if let Some(text) = all.next().filter(|_| options.filters.is_empty()) {
        return Err(unfit(text));
    }
    let entries = perform(options, &corpus, &plan, positive).map_err(unfit)?;
    let entries: Vec<Entry> = entries.into_iter().flatten().collect();
    if entries.is_empty() {
        return Err(unfit("no option set could be tried"));
    }
    Ok(Report { corpus, plan: described, is_online: options.online, positive, entries })
}

fn gather(options: &Options) -> Result<Corpus, Refusal> {
    let mut gatherer = Gatherer::default();
    for operand in &options.operands {
        gatherer.add(operand)?;
    }
    for index in &options.indexes {
        gatherer.index(index)?;
    }
    if !options.tests.is_empty() {
        gatherer.begin_tests();
    }
    for test in &options.tests {
        gatherer.add(test)?;
    }
    gatherer.finish()
}

/// The positive category: the one asked for, else `spam`, else the last.
fn positive(options: &Options, corpus: &Corpus) -> Result<usize, String> {
    let find = |name: &str| corpus.categories.iter().position(|known| known == name);
    match &options.positive {
        Some(name) => find(name).ok_or_else(|| format!("there is no category \"{name}\"")),
        None => Ok(find("spam").unwrap_or(corpus.categories.len() - 1)),
    }
}

/// The plan, and a text that describes it.
fn plan(options: &Options, corpus: &Corpus) -> (Plan, String) {
    if let Some(first) = corpus.first_test {
        let tests = corpus.documents.len() - first;
        return (Plan::Split(first), format!("{first} learned, {tests} judged"));
    }
    if !options.online {
        let count = options.folds as usize;
        let folds = deal(&corpus.documents, corpus.categories.len(), count, options.seed);
        let text = format!("cross-validation with {count} folds, seed {}", options.seed);
        return (Plan::Folds { folds, count }, text);
    }
    let mut order: Vec<usize> = (0..corpus.documents.len()).collect();
    let is_given = options.order.map_or(corpus.is_ordered, |order| order == Order::Given);
    let mut text = "online, in the order given".to_owned();
    if !is_given {
        SplitMix64::new(options.seed).shuffle(&mut order);
        text = format!("online, shuffled with seed {}", options.seed);
    }
    text.push_str(&match options.feedback {
        Feedback::Immediate => ", immediate feedback".to_owned(),
        Feedback::Delayed(count) => format!(", feedback after {count} more documents"),
        Feedback::OnError => ", feedback on errors".to_owned(),
    });
    (Plan::Online { order, feedback: options.feedback, refresh: options.refresh }, text)
}

/// Why a category cannot be learned: all its documents have the same body, so they are in one fold,
/// and nothing is left when that fold is classified.
fn one_body(corpus: &Corpus, plan: &Plan, category: usize) -> Option<String> {
    let own = corpus.documents.iter().filter(|document| document.truth == category);
    let mut bodies = own.map(|document| body(&document.bytes));
    let first = bodies.next();
    let is_one = matches!(plan, Plan::Folds { .. }) && bodies.all(|body| Some(body) == first);
    is_one.then(|| {
        let name = &corpus.categories[category];
        format!("all documents of \"{name}\" have the same body, so none is left to learn from")
    })
}

/// Runs every option set and every other filter.
fn perform(
    options: &Options,
    corpus: &Corpus,
    plan: &Plan,
    positive: usize,
) -> Result<Vec<Option<Entry>>, String> {
    let meter = AtomicUsize::default();
    let curve = options.curve || options.html.is_some();
    let run = Run {
        documents: &corpus.documents,
        categories: corpus.categories.len(),
        positive,
        plan,
        // An online simulation cannot be divided among threads, so option sets run beside each
        // other.
        threads: if options.online { 1 } else { options.threads },
        meter: &meter,
    };
    let steps = run.steps(curve);
    let candidates =
        options.sets.len() + options.filters.len() + usize::from(options.tries_mail_filter());
    let total = (steps * candidates) as u64;
    let entry = |is_own, name: &str, options: &str, findings: Findings| {
        let measures = measure(&findings.judged, corpus.categories.len(), positive);
        Entry { name: name.to_owned(), options: options.to_owned(), is_own, findings, measures }
    };
    let try_set = |set: &OptionSet| {
        let found = run.perform(&set.method, curve);
        let reason = match found {
            Ok(findings) => return Ok(Some(entry(true, &set.name, &set.options, findings))),
            Err(Error::NothingToLearn { category }) => {
                let name = &corpus.categories[category];
                one_body(corpus, plan, category).unwrap_or_else(|| {
                    format!("cannot learn \"{name}\": its documents have no token of that kind")
                })
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
    let try_filter = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        peer::perform(path, &run, &corpus.categories)
            .map(|findings| Some(entry(false, &name, &peer::describe(path), findings)))
            .map_err(|error| error.to_string())
    };
    let try_mail_filter = || {
        let found = mail_filter::perform(&run);
        let told = |error| MESSAGES.warning(&format!("the mail filter cannot be tried: {error}"));
        let options = format!("dbacl {}", mail_filter::OPTIONS);
        found.map(|it| entry(false, mail_filter::NAME, &options, it)).map_err(told).ok()
    };
    let judge = || {
        if options.online {
            let (count, threads) = (options.sets.len(), options.threads);
            return parallel::map(count, threads, || Ok(()), |(), at| try_set(&options.sets[at]));
        }
        let mail_filter = options.tries_mail_filter().then_some(());
        let mail_filter = mail_filter.into_iter().map(|()| Ok(try_mail_filter()));
        let sets = options.sets.iter().map(try_set);
        let all = sets.chain(mail_filter).chain(options.filters.iter().map(try_filter));
        let counted = all.zip(1..).inspect(|(_, number)| {
            // Some steps may have been unnecessary.
            meter.store(steps * number, Ordering::Relaxed);
        });
        counted.map(|(found, _)| found).collect()
    };
    if options.quiet {
        return judge();
    }
    let part = || Some((meter.load(Ordering::Relaxed) as u64, total));
    progress::watch("judging", part, judge)
}
