// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter: one command learns mail folders, one filters a message, one corrects a verdict,
//! one forgets a message (`docs/mail.md`). The library does the work ([`crate::sets`]).
//!
//! ```text
//! dbacl --mail-learn DIR ham=FOLDER spam=FOLDER
//! dbacl --mail-filter DIR MESSAGE >message-with-X-DBACL-line
//! dbacl --mail-correct DIR spam MESSAGE
//! dbacl --mail-forget DIR spam MESSAGE
//! ```

pub(super) mod ask;
mod forecast;
pub(super) mod pass;
mod paths;
pub(super) mod verdicts;

use super::failure::{Failure, Kind, usage};
use super::hints::FORGET;
use super::job_options::JobOptions;
use super::messages::{MESSAGES, print, warn, watched};
use super::options::Key;
use super::signals::Signals;
use crate::fit::joint::FitNote;
use crate::fit::thresholds::Caution;
use crate::sets::fitting::Learned;
use crate::sets::learn_folders;
use crate::sets::{ChangeKind, ChangeReport, MailLearnOptions, Outcome, Reasons};
use crate::sets::{MailFilter, MailFilterError, MailFilterOptions, MailFolder, OpenFilter};
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
use dbacl_cli::progress;
use forecast::forecast;
use paths::{expand, is_pattern};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How mail is learned and filtered, as the options say.
#[derive(Default)]
pub(super) struct How {
    /// The categories that `--protect` names, each with or without a share.
    pub protect: Vec<OsString>,
    /// How sure verdicts must be (`--caution`).
    pub caution: Option<OsString>,
    /// The oldest mail that is learned, in days.
    pub window: Option<OsString>,
    /// The filter that is the general model, or `none`.
    pub general: Option<OsString>,
    /// Say what was tried.
    pub verbose: bool,
    /// Say which tokens decided.
    pub with_reasons: bool,
    /// The form of verdicts for programs.
    pub format: Option<OsString>,
}

impl How {
    /// Records an option of `job`; returns whether it is one.
    pub(super) fn takes(&mut self, job: &JobOptions, key: Key, value: Option<&OsString>) -> bool {
        match key {
            _ if !job.options.contains(&key) => return false,
            Key::Protect => self.protect.extend(value.cloned()),
            Key::Caution => self.caution = value.cloned(),
            Key::Window => self.window = value.cloned(),
            Key::General => self.general = value.cloned(),
            Key::Verbose => self.verbose = true,
            Key::Reasons => self.with_reasons = true,
            Key::Format => self.format = value.cloned(),
            _ => return false,
        }
        true
    }
}

const DAY: u64 = 24 * 60 * 60;

/// The first of so many days up to today, counted from the beginning of 1970.
fn first_day(window: &OsStr) -> Result<i64, Failure> {
    let days = window.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|&days| days > 0);
    let Some(days) = days else {
        return usage(format!("--window needs a number of days (got \"{}\")", window.display()));
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(i64::try_from(now / DAY).unwrap_or(i64::MAX) - i64::from(days))
}

/// Whether two paths lead to one folder that is there.
fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Learns the mail of two categories or more into the filter of `folder`. The whole filter is
/// replaced at the end; until then the old one can be used.
pub(super) fn learn(
    folder: &Path,
    operands: &[OsString],
    how: &How,
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    if folder.as_os_str().as_bytes().contains(&b'=') && !folder.exists() {
        let folder = folder.display();
        return usage(format!(
            "the filter's folder is missing before {folder}: dbacl --mail-learn DIR ham=MAIL \
             spam=MAIL"
        ));
    }
    let folders = mail_folders(operands)?;
    let set = set_options(lock_timeout, &Signals::install());
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
                let Some(share) = rate(OsStr::new(share)) else {
                    return usage(
                        "--protect needs NAME, or NAME:SHARE with a share such as 0.1% or 0.001",
                    );
                };
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
        Some(own) if is_same(Path::new(own), folder) => {
            return usage("--general names the filter that is made: give one of other mail");
        }
        Some(folder) => options.general(folder),
    };
    if let Some(name) = &how.caution {
        let Some(known) = name.to_str().and_then(Caution::by_name) else {
            let name = lossy(name.as_bytes());
            return usage(format!("--caution is low, normal or high, not {name}"));
        };
        options = options.caution(known);
    }
    // After the last mail the time for the fit is unknown, so no share is shown.
    let part = || {
        let [done, total] = [&read[0], &read[1]].map(|number| number.load(Ordering::Relaxed));
        (done < total).then_some((done, total))
    };
    let work = || {
        let mut tell_note = |note: FitNote| MESSAGES.warning(&note.to_string());
        learn_folders::learn(folder, &folders, &options, &mut tell_note, &mut warn)
    };
    let is_quiet = MESSAGES.is_quiet();
    let learned = if is_quiet { work() } else { progress::watch("learning", part, work) };
    let learned = learned.map_err(|error| {
        let is_beginning = matches!(error, MailFilterError::NoMail { .. }) && how.general.is_none();
        let mut failure = Failure::from(error);
        if let Some(line) = failure.lines.last_mut().filter(|_| is_beginning) {
            line.push_str(
                "; to begin without mail of a kind, name a filter of other mail: --general DIR",
            );
        }
        failure
    })?;
    if is_quiet {
        return Ok(0);
    }
    let Learned { fitted, corrections: applied } = learned;
    let mut text = if how.verbose { forecast::trial(&fitted) } else { String::new() };
    text.push_str(&forecast(&fitted));
    if applied > 0 {
        let plural = if applied == 1 { "correction was" } else { "corrections were" };
        text.push_str(&format!("{applied} {plural} applied\n"));
    }
    print(output, &text)
}

/// How a filter is changed: who waits says so on a terminal.
pub(super) fn set_options(lock_timeout: Duration, signals: &Signals) -> MailFilterOptions {
    let options = MailFilterOptions::default().lock_timeout(lock_timeout);
    options.stop(Arc::clone(&signals.stop)).on_wait(|path| MESSAGES.waiting(path))
}

/// The mail of each label; a label may be given several times.
fn mail_folders(operands: &[OsString]) -> Result<Vec<MailFolder>, Failure> {
    let mut folders: Vec<MailFolder> = Vec::new();
    let mut places = HashMap::new();
    for operand in operands {
        let found = mail_folder(operand)?;
        let place = *places.entry(found.label().to_owned()).or_insert(folders.len());
        match folders.get_mut(place) {
            Some(folder) => folder.join(found),
            None => folders.push(found),
        }
    }
    Ok(folders)
}

/// Parses `LABEL=MAIL`.
fn mail_folder(operand: &OsStr) -> Result<MailFolder, Failure> {
    let bytes = operand.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        Some(at) if at > 0 && at + 1 < bytes.len() => {
            mail_at(lossy(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]))
        }
        _ => {
            let operand = lossy(bytes);
            usage(format!(
                "--mail-learn needs a folder, then HAM=MAIL and SPAM=MAIL, not {operand}"
            ))
        }
    }
}

/// The mail at `place`. If nothing is there it may be a pattern of file names, because shells do
/// not expand patterns after a `=`.
pub(super) fn mail_at(label: String, place: &OsStr) -> Result<MailFolder, Failure> {
    let path = Path::new(place);
    if !is_pattern(place) || path.exists() {
        return Ok(MailFolder::new(label, path));
    }
    let mut found = expand(place)?.into_iter();
    let Some(first) = found.next() else {
        let what = format!("no file or folder is called {}", path.display());
        return Err(Failure::new(Kind::NoInput, what));
    };
    Ok(found.fold(MailFolder::new(label, first), MailFolder::and).listed())
}

/// Learns the mail on standard input, or in files, as what the user says it is.
pub(super) fn correct(
    folder: &Path,
    operands: &[OsString],
    lock_timeout: Duration,
) -> Result<u8, Failure> {
    let Some((label, places)) = operands.split_first() else {
        return usage("--mail-correct needs the filter's folder and what the message is");
    };
    let label = lossy(label.as_bytes());
    let report = change(folder, (ChangeKind::Correct, &label), places, lock_timeout);
    let report = report.map_err(|mut failure| {
        let is_forgotten = matches!(label.as_str(), "forget" | "unlearn");
        failure.lines.extend(is_forgotten.then(|| FORGET.to_owned()));
        failure
    })?;
    if report.documents.iter().all(|one| one.outcome == Outcome::Empty) {
        return Err(no_word(places));
    }
    Ok(0)
}

/// Forgets that the mail on standard input, or in files, was learned as what the user says.
pub(super) fn forget(
    folder: &Path,
    operands: &[OsString],
    lock_timeout: Duration,
) -> Result<u8, Failure> {
    let Some((label, places)) = operands.split_first() else {
        return usage(
            "--mail-forget needs the filter's folder and what the message was learned as",
        );
    };
    let label = lossy(label.as_bytes());
    let report = change(folder, (ChangeKind::Forget, &label), places, lock_timeout)?;
    let mut outcomes = report.documents.iter().map(|one| &one.outcome);
    if outcomes.clone().all(|one| *one == Outcome::Empty) {
        return Err(no_word(places));
    }
    if outcomes.all(|one| matches!(one, Outcome::NotKnown | Outcome::Empty)) {
        let text = format!("{}: no such message was learned as {label}", called(places));
        return Err(Failure::new(Kind::Data, text));
    }
    Ok(0)
}

fn no_word(places: &[OsString]) -> Failure {
    Failure::new(Kind::Data, format!("{}: there is no word to learn", called(places)))
}

/// Changes the filter in `folder` by the mail at these places.
fn change(
    folder: &Path,
    (kind, label): (ChangeKind, &str),
    places: &[OsString],
    lock_timeout: Duration,
) -> Result<ChangeReport, Failure> {
    let is_typed = places.is_empty() && io::stdin().is_terminal();
    let places: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
    let options = set_options(lock_timeout, &Signals::install());
    let report = watched("fitting", !is_typed, || -> Result<_, Failure> {
        let mut set = MailFilter::open_to_change(folder, &options)?;
        set.warnings().iter().for_each(|warning| MESSAGES.warning(&warning.0));
        Ok(set.change_by_mail(kind, label, &places)?)
    })?;
    report.warnings.iter().for_each(|warning| MESSAGES.warning(&warning.0));
    Ok(report)
}

/// What to call the mail at these places.
fn called(places: &[OsString]) -> String {
    match places {
        [] => "standard input".to_owned(),
        [one] => lossy(one.as_bytes()),
        _ => "these files".to_owned(),
    }
}

/// A share: `0.1%` or `0.001`.
fn rate(value: &OsStr) -> Option<f64> {
    let text = value.to_str()?;
    let rate = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (rate > 0.0 && rate < 1.0).then_some(rate)
}

/// Classifies messages one after the other with the filter in a folder, which is opened for the
/// first one.
pub(super) struct Filter<'a> {
    folder: &'a Path,
    with_reasons: bool,
    /// Ends a verdict early.
    signals: &'a Signals,
    opened: Option<OpenFilter>,
    has_warned: bool,
}

impl<'a> Filter<'a> {
    /// With the filter in `folder`, which need not be there.
    pub(super) const fn new(folder: &'a Path, with_reasons: bool, signals: &'a Signals) -> Self {
        Self { folder, with_reasons, signals, opened: None, has_warned: false }
    }

    /// The verdict on a message; on further lines the header with the reasons, if it is wanted.
    pub(super) fn verdict(&mut self, mail: &[u8]) -> Result<Vec<u8>, Failure> {
        let filter = match &mut self.opened {
            Some(filter) => filter,
            unopened => unopened.insert(OpenFilter::open(self.folder, &mut warn)?),
        };
        let stop = Some(&*self.signals.stop);
        let (verdict, reasons) = if self.with_reasons {
            filter.reasons(mail, stop)?
        } else {
            (filter.classify(mail, stop)?, None)
        };
        if let Some(warning) = filter.warning().filter(|_| !self.has_warned) {
            self.has_warned = true;
            warn(warning);
        }
        let is_shown = io::stdout().is_terminal();
        let lines = |why: Reasons| if is_shown { why.text() } else { why.header() };
        let reasons = reasons.map_or_else(String::new, |why| format!("\n{}", lines(why)));
        Ok(format!("{verdict}{reasons}").into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (text, expected) in [
            ("0.1%", Some(0.001)),
            ("1%", Some(0.01)),
            ("0.05", Some(0.05)),
            ("0", None),
            ("100%", None),
            ("x", None),
            ("-1%", None),
        ] {
            assert_eq!(rate(OsStr::new(text)), expected, "{text}");
        }
    }
}
