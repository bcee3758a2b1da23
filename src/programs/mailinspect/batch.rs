// SPDX-License-Identifier: GPL-3.0-or-later
//! The list as text, as JSON, or as input for a command (spec tools 2.3).

use std::ffi::OsStr;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use super::{Config, Session};
use crate::programs::mailinspect::mail::index::Entry;
use crate::programs::mailinspect::mail::judge::{CONFIDENCE, Judge};
use crate::programs::mailinspect::mail::mailbox::Mailbox;
use crate::programs::mailinspect::mail::order;
use crate::programs::mailinspect::mail::select::{Selection, content};
use dbacl_cli::json::Json;
use dbacl_cli::output::raw;
use dbacl_numeric::cformat;

/// The messages to list, sorted as the options ask for.
pub(super) fn collect(
    config: &Config,
    mailbox: &Mailbox,
    judge: &mut Judge,
    selection: &mut Selection,
    session: &mut Session<'_>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    let Session { stdout, stderr, .. } = session;
    let mut warn = |warning: crate::Warning| {
        let _ = writeln!(stderr, "{}:warning: {warning}", super::NAME);
    };
    mailbox.index(judge, selection, &mut warn, &mut |entry| {
        // As in the classifier, notes on the computation of the confidence are part of the output.
        if config.scoring == CONFIDENCE
            && !config.json
            && let Some(underflow) = entry.measures.underflow
        {
            let _ = stdout.write_all(underflow.as_bytes());
        }
        if entry.is_listed {
            entries.push(entry);
        }
        ControlFlow::Continue(())
    });
    let scores: Vec<f32> =
        entries.iter().map(|entry| entry.measures.scores[config.scoring]).collect();
    let mut order = order::ascending(&scores);
    if config.reverse {
        order.reverse();
    }
    let mut slots: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| slots[at].take()).collect()
}

/// Prints the list, or gives each message to the command.
pub(super) fn print(
    config: &Config,
    mailbox: &Mailbox,
    entries: &[Entry],
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(command) = &config.command {
        out.flush()?;
        for entry in entries {
            if let Err(error) = pipe(command, mailbox, entry) {
                let text = format!("{}:warning: could not run the command: {error}", super::NAME);
                raw(text.as_bytes());
            }
        }
        return Ok(());
    }
    if config.json {
        for entry in entries {
            out.write_all(object(entry, mailbox).as_bytes())?;
        }
        return Ok(());
    }
    out.write_all(b"# position|  score | description\n")?;
    let mut line = Vec::new();
    for entry in entries {
        line.clear();
        cformat::decimal_left(&mut line, i64::try_from(entry.position).unwrap_or(i64::MAX), 10);
        line.push(b' ');
        let score = entry.measures.scores[config.scoring];
        cformat::fixed(&mut line, f64::from(score), 8, 1);
        line.push(b' ');
        if config.is_summary == Some(true) {
            line.extend_from_slice(&entry.summary());
        } else {
            line.extend_from_slice(&entry.from_line);
        }
        out.write_all(&line)?;
    }
    Ok(())
}

/// Gives a message to a shell command, and waits for its end. The command's exit status is ignored.
pub(super) fn pipe(command: &OsStr, mailbox: &Mailbox, entry: &Entry) -> io::Result<()> {
    let mut message = mailbox.open(entry)?;
    let mut child = Command::new("/bin/sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command may end before it has read everything.
        let _ = io::copy(&mut message, &mut stdin);
    }
    child.wait()?;
    Ok(())
}

/// A message as a JSON object on one line.
fn object(entry: &Entry, mailbox: &Mailbox) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(content(bytes)).into_owned();
    Json::line(|json| {
        if let Some(path) = mailbox.files.get(entry.file) {
            json.key("file").string(&path.to_string_lossy());
        }
        json.key("start").integer(entry.place.start);
        json.key("end").integer(entry.place.end);
        json.key("position").integer(entry.position);
        json.key("from_line").string(&text(&entry.from_line));
        json.key("from").string(text(&entry.from).get(5..).unwrap_or_default().trim());
        json.key("subject").string(text(&entry.subject).get(8..).unwrap_or_default().trim());
        json.key("date").string(text(&entry.date).get(5..).unwrap_or_default().trim());
        json.key("tokens").number(entry.measures.complexity);
        let names = ["message_cost", "cost_per_token", "divergence", "confidence"];
        for (name, score) in names.into_iter().zip(entry.measures.scores) {
            json.key(name).number(score.into());
        }
    })
}
