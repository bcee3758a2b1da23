// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter without options: one command learns mail folders, one filters a mail, one
//! corrects a verdict (`docs/refit.md`). The library does the work ([`crate::sets`]).
//!
//! ```text
//! dbacl --mail-learn DIR ham=FOLDER spam=FOLDER
//! dbacl --mail-filter DIR <mail >mail-with-X-DBACL-line
//! dbacl --mail-correct DIR spam <mail
//! ```

use super::super::builder::Builder;
use super::super::failure::{Failure, Kind};
use super::super::messages::{MESSAGES, watched};
use super::super::signals::Signals;
use super::fit::{say, text_of, warn};
use super::request::{Action, Request, rate};
use super::update;
use crate::cli::output::Output;
use crate::error::Warning;
use crate::joint::fit::FitVerdicts;
use crate::joint::ordinary::percent;
use crate::joint::thresholds::FEWEST;
use crate::measures::chance::at_most;
use crate::sets::filter_folder::{LEDGER, ORDER, labels};
use crate::sets::learn_folders;
use crate::sets::mail_folders::{MailFolder, MailLearnOptions};
use crate::sets::mail_reading::MailReading;
use crate::sets::open_set::direct;
use crate::sets::{FittedSetError, FittedSetOptions, MailFilter};
use dbacl_cli::names::lossy;
use dbacl_cli::progress;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How mail is learned, as the options say.
#[derive(Default)]
pub struct How {
    /// The categories that `--protect` names, each with or without a share.
    pub protect: Vec<OsString>,
    /// How mail is read.
    pub reading: Option<OsString>,
    /// The oldest mail that is learned, in days.
    pub window: Option<OsString>,
    /// The filter that is the general model, or `none`.
    pub general: Option<OsString>,
}

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// The first of so many days up to today, counted from the beginning of 1970.
fn first_day(window: &OsStr) -> Result<i64, Failure> {
    let days = window.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|&days| days > 0);
    let usage = || Failure::new(Kind::Usage, "--window needs a number of days");
    let days = days.ok_or_else(usage)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(i64::try_from(now / DAY).unwrap_or(i64::MAX) - i64::from(days))
}

/// Learns the mail of two categories or more into the filter of `folder`. The whole filter is
/// replaced at the end; until then the old one can be used.
///
/// # Errors
/// What stopped it; the filter is as it was.
pub fn learn(
    folder: &Path,
    operands: &[OsString],
    how: &How,
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    let folders: Result<Vec<MailFolder>, Failure> =
        operands.iter().map(|operand| mail_folder(operand)).collect();
    let folders = folders?;
    let signals = Signals::install();
    let set = FittedSetOptions::default()
        .lock_timeout(lock_timeout)
        .stop(Arc::clone(&signals.stop))
        .on_wait(|path| {
            if io::stderr().is_terminal() {
                let text = format!("waiting for another process to change {}", path.display());
                MESSAGES.warning(&text);
            }
        });
    let read = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let told = Arc::clone(&read);
    let mut options = MailLearnOptions::default().set_options(set).progress(move |done, total| {
        told[0].store(done, Ordering::Relaxed);
        told[1].store(total, Ordering::Relaxed);
    });
    for label in &how.protect {
        let label = lossy(label.as_bytes());
        options = match label.split_once(':') {
            None => options.protect(label),
            Some((label, share)) => {
                let usage =
                    "--protect needs NAME, or NAME:SHARE with a share such as 0.1% or 0.001";
                let share = rate(OsStr::new(share));
                let share = share.ok_or_else(|| Failure::new(Kind::Usage, usage))?;
                options.protect_at(label, share)
            }
        };
    }
    if let Some(window) = &how.window {
        options = options.since(first_day(window)?);
    }
    options = match &how.general {
        None => options,
        Some(none) if none == "none" => options.without_general(),
        Some(folder) => options.general(folder),
    };
    if let Some(name) = &how.reading {
        let known = name.to_str().and_then(MailReading::by_name);
        let text = || format!("--reading is unicode or classic, not {}", lossy(name.as_bytes()));
        options = options.reading(known.ok_or_else(|| Failure::new(Kind::Usage, text()))?);
    }
    // After the last mail the time for the fit is unknown, so no share is shown.
    let part = || {
        let [done, total] = [&read[0], &read[1]].map(|number| number.load(Ordering::Relaxed));
        (done < total).then_some((done, total))
    };
    let work = || {
        let mut tell = |warning: Warning| MESSAGES.warning(&warning.0);
        learn_folders::learn(folder, &folders, &options, &mut |note| warn(&note), &mut tell)
    };
    let is_quiet = MESSAGES.is_quiet();
    let learned = if is_quiet { work() } else { progress::watch("learning", part, work) };
    let (fitted, applied) = learned?;
    if is_quiet {
        return Ok(0);
    }
    let mut text = text_of(&fitted, false);
    if applied > 0 {
        let plural = if applied == 1 { "correction was" } else { "corrections were" };
        text.push_str(&format!("{applied} {plural} applied\n"));
    }
    let documents = fitted.solution.data.documents_by_category();
    let weights = fitted.solution.fitted.as_ref();
    let verdicts = weights.and_then(|weights| weights.verdicts);
    let is_protected = |rates: &[Option<f64>]| rates.first().is_some_and(Option::is_some);
    let is_protected = weights.is_some_and(|weights| is_protected(&weights.line.rates));
    // With a general model fewer mails are unsure; how many depends on the model.
    let has_general = weights.is_some_and(|weights| weights.line.general > 0.0);
    let usual = if has_general { &[][..] } else { &USUAL };
    let names = &fitted.names;
    text.push_str(&outlook(&documents, names, verdicts.as_ref(), is_protected, usual));
    say(output, &text)
}

/// How many of 100 mails are unsure after learning so many of each kind, as measured on other mail
/// (`docs/quality.md`).
const USUAL: [(usize, u32); 3] = [(50, 31), (200, 12), (500, 6)];

/// A text that says how many unsure verdicts to expect of a filter that was learned from so many
/// documents of each category. Of two categories the first is protected, of more it may be. `usual`
/// says what is usual of two categories, see [`USUAL`].
fn outlook(
    documents: &[usize],
    names: &[String],
    verdicts: Option<&FitVerdicts>,
    is_protected: bool,
    usual: &[(usize, u32)],
) -> String {
    if documents.len() > 2 {
        return outlook_of_many(documents, names, verdicts, is_protected);
    }
    let fewest = documents.iter().copied().min().unwrap_or(0);
    let more: Vec<String> = usual
        .iter()
        .filter(|(size, _)| *size > fewest)
        .take(2)
        .map(|(size, unsure)| format!("with {size} mails of each kind about {unsure}"))
        .collect();
    let more = if more.is_empty() { String::new() } else { format!(", {}", more.join(", ")) };
    if fewest < FEWEST {
        let of = if more.is_empty() { "" } else { " of 100" };
        return format!(
            "Every mail will be unsure until there are {FEWEST} mails of each kind{more}{of}\n"
        );
    }
    let (Some(found), Some(first)) = (verdicts, names.first()) else { return String::new() };
    let share = percent(found.unsure, found.judged);
    let mut text = format!("About {share:.0} of 100 mails will be unsure{more}\n");
    let bound = 100.0 * at_most(found.wrong, found.of_first);
    text.push_str(&format!(
        "Of {first}, {} of {} mails were surely called something else: with a confidence of 95 %, \
         at most {bound:.2} % of all will be\n",
        found.wrong, found.of_first
    ));
    text
}

/// The same of more than two categories.
fn outlook_of_many(
    documents: &[usize],
    names: &[String],
    verdicts: Option<&FitVerdicts>,
    is_protected: bool,
) -> String {
    let Some(found) = verdicts else { return String::new() };
    let few = |(_, documents): &(&String, &usize)| **documents < FEWEST;
    let few: Vec<&str> =
        names.iter().zip(documents).filter(few).map(|(name, _)| name.as_str()).collect();
    if few.len() == names.len() {
        return format!("Every mail will be unsure until there are {FEWEST} mails of a kind\n");
    }
    let share = percent(found.unsure, found.judged);
    let mut text = format!("About {share:.0} of 100 mails will be unsure\n");
    let (of, wrong, all) = if is_protected {
        (format!("Of {}, ", names[0]), found.wrong, found.of_first)
    } else {
        (String::new(), found.wrong + found.missed, found.judged)
    };
    let bound = 100.0 * at_most(wrong, all);
    text.push_str(&format!(
        "{of}{wrong} of {all} mails were surely called something else: with a confidence of 95 %, \
         at most {bound:.2} % of all will be\n"
    ));
    if !few.is_empty() {
        let verb = if few.len() == 1 { "has" } else { "have" };
        text.push_str(&format!(
            "Nothing can be said of {}, which {verb} fewer than {FEWEST} mails\n",
            few.join(", ")
        ));
    }
    text
}

/// Parses `LABEL=MAIL`. MAIL that does not exist may be a pattern of file names, because shells do
/// not expand patterns behind a `=`.
fn mail_folder(operand: &OsStr) -> Result<MailFolder, Failure> {
    let usage = || {
        let operand = lossy(operand.as_bytes());
        let text =
            format!("--mail-learn needs a folder, then HAM=MAIL and SPAM=MAIL, not {operand}");
        Failure::new(Kind::Usage, text)
    };
    let bytes = operand.as_bytes();
    let at = bytes.iter().position(|&byte| byte == b'=').ok_or_else(usage)?;
    let (label, place) = (lossy(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]));
    if label.is_empty() || place.is_empty() {
        return Err(usage());
    }
    let path = Path::new(place);
    let is_pattern = place.as_bytes().iter().any(|byte| b"*?[".contains(byte));
    let (true, false, Some(pattern)) = (is_pattern, path.exists(), place.to_str()) else {
        return Ok(MailFolder::new(label, path));
    };
    let mut found = expand(pattern)?.into_iter();
    let Some(first) = found.next() else {
        return Err(Failure::new(Kind::NoInput, format!("no file or folder is called {pattern}")));
    };
    Ok(found.fold(MailFolder::new(label, first), MailFolder::and).listed())
}

/// The paths that fit a pattern, in order.
///
/// # Errors
/// A pattern that is none, and a folder in which it has to be looked for and that cannot be read:
/// mail must not be left out in silence.
fn expand(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let unopened = |path: &Path, error: &io::Error| {
        let text = format!("couldn't open {}: {error}", path.display());
        Failure::new(Kind::of_reading(error), text)
    };
    let fitting = |part: &str| -> Result<Vec<PathBuf>, Failure> {
        let found = glob::glob(part)
            .map_err(|error| Failure::new(Kind::Usage, format!("{pattern}: {error}")))?;
        let found: Result<_, _> = found.collect();
        found.map_err(|error| unopened(error.path(), error.error()))
    };
    // A folder that may be listed but not entered is an empty one to `glob`.
    for (slash, _) in pattern.match_indices('/').filter(|&(slash, _)| slash > 0) {
        for folder in fitting(&pattern[..slash])? {
            let entered = std::fs::metadata(folder.join("."));
            let is_nothing = |error: &io::Error| {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            };
            if let Some(error) = entered.err().filter(|error| !is_nothing(error)) {
                return Err(unopened(&folder, &error));
            }
        }
    }
    fitting(pattern)
}

/// Learns the mail on standard input, or in files, as what the user says it is.
///
/// # Errors
/// The folder holds no filter, the label is unknown, or the change failed; files are unchanged.
pub fn correct(mut builder: Builder<'_>, folder: &Path) -> Result<u8, Failure> {
    let operands = builder.take_operands();
    let Some((label, files)) = operands.split_first() else {
        let text = "--mail-correct needs a folder and what the mail is";
        return Err(Failure::new(Kind::Usage, text));
    };
    let labels = labels(&folder.join(ORDER))?;
    let wanted = lossy(label.as_bytes());
    if !labels.contains(&wanted) {
        let folder = Some(folder.to_path_buf());
        return Err(FittedSetError::UnknownLabel { label: wanted, folder, known: labels }.into());
    }
    let names: Vec<PathBuf> = labels.iter().map(|label| direct(&folder.join(label))).collect();
    builder.mends_categories();
    for name in &names {
        builder.category(name.as_os_str().as_bytes())?;
    }
    let mut job = builder.set_job()?;
    job.reading.operands = files.to_vec();
    let keep = Some(direct(&folder.join(LEDGER)));
    let request = Request { keep, ..Request::default() };
    let action = Action::correction(label);
    let is_typed = files.is_empty() && io::stdin().is_terminal();
    let signals = Signals::install();
    watched("fitting", !is_typed, || update::run(&request, &action, &mut job, &names, &signals))
}

/// The verdict of the filter in `folder` on a mail; on further lines the header with the reasons,
/// if it is wanted.
///
/// # Errors
/// The folder holds no filter, or the filter cannot be read.
pub fn judge(
    folder: &Path,
    mail: &[u8],
    with_reasons: bool,
    signals: &Signals,
) -> Result<Vec<u8>, Failure> {
    let filter = MailFilter::open(folder, &mut |warning| MESSAGES.warning(&warning.0))?;
    if !with_reasons {
        return Ok(filter.judge(mail, Some(&signals.stop))?.to_string().into_bytes());
    }
    let (verdict, reasons) = filter.reasons(mail, Some(&signals.stop))?;
    let reasons = reasons.map_or_else(String::new, |reasons| format!("\n{}", reasons.header()));
    Ok(format!("{verdict}{reasons}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_mails_promise_little() {
        let names = ["ham".to_owned(), "spam".to_owned()];
        let verdicts = FitVerdicts { wrong: 0, missed: 0, unsure: 12, judged: 24, of_first: 12 };
        let text = outlook(&[3, 400], &names, None, true, &USUAL);
        assert_eq!(
            text,
            "Every mail will be unsure until there are 8 mails of each kind, with 50 mails of each \
             kind about 31, with 200 mails of each kind about 12 of 100\n"
        );
        let text = outlook(&[3, 400], &names, None, true, &[]);
        assert_eq!(text, "Every mail will be unsure until there are 8 mails of each kind\n");
        let text = outlook(&[12, 12], &names, Some(&verdicts), true, &USUAL);
        assert!(text.starts_with("About 50 of 100 mails will be unsure, with 50"), "{text}");
        assert!(text.contains("Of ham, 0 of 12 mails were surely"), "{text}");
        assert!(text.ends_with("at most 22.09 % of all will be\n"), "{text}");
        let many = FitVerdicts { wrong: 1, missed: 9, unsure: 100, judged: 4000, of_first: 2000 };
        let text = outlook(&[2000, 2000], &names, Some(&many), true, &USUAL);
        assert!(
            text.starts_with("About 2 of 100 mails will be unsure\nOf ham, 1 of 2000"),
            "{text}"
        );
    }

    #[test]
    fn folders_with_few_mails_are_named() {
        let names = ["work".to_owned(), "lists".to_owned(), "new".to_owned()];
        let verdicts = FitVerdicts { wrong: 0, missed: 2, unsure: 21, judged: 103, of_first: 50 };
        let text = outlook(&[50, 50, 3], &names, Some(&verdicts), false, &[]);
        assert_eq!(
            text,
            "About 20 of 100 mails will be unsure\n2 of 103 mails were surely called something \
             else: with a confidence of 95 %, at most 5.99 % of all will be\nNothing can be said \
             of new, which has fewer than 8 mails\n"
        );
        let text = outlook(&[50, 50, 50], &names, Some(&verdicts), true, &[]);
        assert!(text.contains("\nOf work, 0 of 50 mails were surely called"), "{text}");
        assert!(!text.contains("Nothing"), "{text}");
        let text = outlook(&[5, 7, 3], &names, Some(&verdicts), false, &[]);
        assert_eq!(text, "Every mail will be unsure until there are 8 mails of a kind\n");
    }
}
