// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-verdict` says what a mail filter thinks of messages, one line each, and changes nothing.

use super::super::failure::{Failure, Kind, output_failure};
use super::super::hints;
use super::super::messages::{MESSAGES, tell, warn};
use super::super::signals::Signals;
use super::super::structured::{Format, Id, escape};
use super::mail_at;
use crate::fit::rule::Decision;
use crate::mail::subject::{sender, subject};
use crate::report::evidence::printable;
use crate::sets::{OpenFilter, RecentVerdicts, each_message};
use dbacl_cli::output::Output;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Where standard input is found.
const STDIN: &str = "/dev/stdin";

/// Words that are named as reasons.
const NAMED: usize = 5;

/// Prints the verdicts of the filter in `folder` on the messages of `operands`, or of standard
/// input.
pub(crate) fn run(
    folder: &Path,
    operands: &[OsString],
    (format, with_reasons): (Option<Format>, bool),
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let filter = OpenFilter::open(folder, &mut warn)?;
    let recent = RecentVerdicts::default();
    let mut rows = Rows { filter, format, with_reasons, output, is_first: true, recent };
    rows.begin();
    if operands.is_empty() && io::stdin().is_terminal() {
        hints::give(hints::TYPED);
    }
    let stdin = [OsString::from(STDIN)];
    let operands = if operands.is_empty() { &stdin } else { operands };
    let mut failed = None;
    for operand in operands {
        let read = |rows: &mut Rows<'_>| -> Result<(), Failure> {
            let mail = mail_at(String::new(), OsStr::new(operand))?;
            let mut is_empty = true;
            let mut add = |place: &str, mail: Vec<u8>| {
                is_empty = false;
                rows.add(place, &mail)
            };
            each_message((&mail, folder), &signals.stop, &mut warn, &mut add)?;
            if is_empty {
                let place = shown(&operand.to_string_lossy());
                MESSAGES.warning(&format!("{place}: there is no message in it"));
            }
            Ok(())
        };
        if let Err(failure) = read(&mut rows) {
            if matches!(failure.kind, Kind::ClosedPipe | Kind::Write | Kind::Interrupted) {
                return Err(failure);
            }
            // What follows is classified all the same.
            tell(&failure);
            failed = Some(Failure::silent(failure.kind));
        }
    }
    rows.end()?;
    if let Some(many) = rows.recent.many() {
        let folder = folder.display();
        MESSAGES.warning(&format!("{many}: dbacl --mail-ask {folder} MAIL"));
    }
    failed.map_or(Ok(0), Err)
}

/// A place as it is printed.
fn shown(place: &str) -> String {
    place.replacen(STDIN, "stdin", 1)
}

/// The lines that are printed.
struct Rows<'a> {
    filter: OpenFilter,
    format: Option<Format>,
    with_reasons: bool,
    output: &'a mut Output,
    is_first: bool,
    recent: RecentVerdicts,
}

impl Rows<'_> {
    fn begin(&mut self) {
        if let Some(format) = self.format {
            let names: Vec<&[u8]> = self.filter.names().iter().map(String::as_bytes).collect();
            let texts: &[&str] = &["subject", "from", "reasons"];
            let texts = if self.with_reasons { texts } else { &texts[..2] };
            let first = "id\tbest\tunsure\tprobability";
            format.heading(self.output.buffer(), first, (&names, &["probability"]), texts);
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(format) = self.format {
            format.end(self.output.buffer(), !self.is_first);
        }
        self.output.flush().map_err(|error| output_failure(&error))
    }

    /// Prints the verdict on a message, which is at `place`.
    fn add(&mut self, place: &str, mail: &[u8]) -> Result<(), Failure> {
        let place = shown(place);
        let (verdict, reasons) = if self.with_reasons {
            self.filter.reasons(mail, None)?
        } else {
            (self.filter.classify(mail, None)?, None)
        };
        self.recent.count(verdict.is_unsure);
        let reasons = reasons.map_or_else(String::new, |reasons| reasons.strongest(NAMED));
        let [subject, sender] = [subject(mail), sender(mail)].map(Option::unwrap_or_default);
        let out = self.output.buffer();
        if let Some(format) = self.format {
            let names = self.filter.names();
            let best = names.iter().position(|name| *name == verdict.category).unwrap_or(0);
            let rows = names.iter().zip(&verdict.probabilities);
            let rows: Vec<_> = rows.map(|(name, share)| (name.as_bytes(), [*share])).collect();
            let texts = [("subject", subject), ("from", sender), ("reasons", reasons)];
            let texts = if self.with_reasons { &texts[..] } else { &texts[..2] };
            let (probability, is_unsure) = (verdict.probability, verdict.is_unsure);
            let decision = Decision { label: best, probability, is_unsure };
            format.separate(out, self.is_first);
            let id = Id::Name(place.as_bytes());
            format.found(out, &id, (best, Some(&decision)), ["probability"], &rows, texts);
        } else {
            let subject = if subject.is_empty() { "no subject" } else { &subject };
            let from = if sender.is_empty() { String::new() } else { format!(", from {sender}") };
            let why = if reasons.is_empty() { reasons } else { format!("; because of {reasons}") };
            let verdict = verdict.to_string();
            let line = format!("{verdict:<20} {place}: {subject}{from}{why}");
            // One message is one line, whatever its words are.
            escape(out, &printable(&line));
            out.push(b'\n');
        }
        self.is_first = false;
        self.output.spill().map_err(|error| output_failure(&error))
    }
}
