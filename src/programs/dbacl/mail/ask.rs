// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-ask` names messages whose labels teach a mail filter most, `--mail-review` those that
//! seem to be in the wrong folder. Both learn the answers that are given on a terminal.
//! `crate::sets::asking` chooses the messages.

use super::super::failure::{Failure, Kind, usage};
use super::super::messages::{MESSAGES, print, warn, watched};
use super::super::signals::Signals;
use super::{mail_at, set_options};
use crate::sets::Question;
use crate::sets::{DocumentId, MailFilter, MailFilterOptions};
use dbacl_cli::output::Output;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

/// Messages that are asked about at once.
const MOST: usize = 10;

/// Lines of a message's text that are shown, and characters of each.
const ROWS: usize = 40;
const COLUMNS: usize = 500;

/// The filter in `folder`. Nothing is changed until all answers are there, so a signal may just end
/// the program.
fn open(folder: &Path) -> Result<MailFilter, Failure> {
    let set = MailFilter::open(folder, &MailFilterOptions::default())?;
    set.warnings().iter().for_each(|warning| MESSAGES.warning(&warning.0));
    Ok(set)
}

/// Names messages of `operands` whose labels teach the filter in `folder` most. On a
/// terminal it asks for their labels, and learns them after the last answer.
pub(crate) fn ask(
    folder: &Path,
    operands: &[OsString],
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Some((first, others)) = operands.split_first() else {
        return usage("--mail-ask needs the filter's folder and the mail to choose from");
    };
    let mut mail = mail_at(String::new(), first)?;
    for other in others {
        mail.join(mail_at(String::new(), other)?);
    }
    let set = open(folder)?;
    let questions = watched("reading", true, || set.questions(&mail, MOST, &mut warn))?;
    if questions.is_empty() {
        MESSAGES.warning("there is nothing to ask: the filter has learned all of this mail");
        return Ok(0);
    }
    let answers = answers(&questions, set.labels(), output)?;
    learn(folder, &questions, &answers, lock_timeout, output)
}

/// Names the messages that seem to be in the wrong folder. On a terminal it asks for their labels;
/// after the last answer it learns those with another label, and does not name the others again.
pub(crate) fn review(
    folder: &Path,
    operands: &[OsString],
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    if !operands.is_empty() {
        return usage("--mail-review needs the filter's folder and nothing else");
    }
    let set = open(folder)?;
    let (ids, questions): (Vec<DocumentId>, Vec<Question>) =
        watched("reading", true, || set.suspected())?.into_iter().unzip();
    if questions.is_empty() {
        MESSAGES.warning("there is nothing to review: no message seems to be in the wrong folder");
        return Ok(0);
    }
    let mut answers = answers(&questions, set.labels(), output)?;
    let mut right = Vec::new();
    for ((question, answer), id) in questions.iter().zip(&mut answers).zip(ids) {
        let label = question.label.as_deref().unwrap_or_default();
        if answer.is_some_and(|answer| set.labels()[answer] == label) {
            right.push((id, label));
            *answer = None;
        }
    }
    if !right.is_empty() {
        set.confirm(&right)?;
    }
    learn(folder, &questions, &answers, lock_timeout, output)
}

/// Learns the messages that have an answer, the number of a label.
fn learn(
    folder: &Path,
    questions: &[Question],
    answers: &[Option<usize>],
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    if answers.iter().all(Option::is_none) {
        return Ok(0);
    }
    let mut set = MailFilter::open(folder, &set_options(lock_timeout, &Signals::install()))?;
    for (number, label) in set.labels().to_vec().iter().enumerate() {
        let own = questions.iter().zip(answers).filter(|(_, answer)| **answer == Some(number));
        let own: Vec<&[u8]> = own.map(|(question, _)| question.mail.as_slice()).collect();
        if !own.is_empty() {
            let count = own.len();
            let report = watched("fitting", true, || set.correct_all(label, own))?;
            report.warnings.iter().for_each(|warning| MESSAGES.warning(&warning.0));
            print(output, &format!("learned as {label}: {count}\n"))?;
        }
    }
    Ok(0)
}

/// The answers of the user to questions, as numbers of labels. Without a terminal the questions are
/// printed, and nothing is answered.
fn answers(
    questions: &[Question],
    labels: &[String],
    output: &mut Output,
) -> Result<Vec<Option<usize>>, Failure> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return asked(questions, labels, output);
    }
    print(output, &questions.iter().map(line).collect::<String>())?;
    Ok(vec![None; questions.len()])
}

/// A message as one line: its place, its subject, the label of its folder if it was learned, and
/// the verdict, with tabs between them.
fn line(question: &Question) -> String {
    let place = question.place.replace(char::is_control, "\u{fffd}");
    let label = question.label.as_ref().map_or(String::new(), |label| format!("{label}\t"));
    let subject = question.subject.as_deref().unwrap_or("");
    format!("{place}\t{subject}\t{label}{}\n", question.verdict)
}

/// The numbers of the labels that the user gives the messages. The end of the input leaves out the
/// rest.
fn asked(
    questions: &[Question],
    labels: &[String],
    output: &mut Output,
) -> Result<Vec<Option<usize>>, Failure> {
    let names = labels.join(", ");
    let mut say = |text: &str| print(output, text);
    say(&format!(
        "What are these messages? Answer with one of {names}, or with how it begins. An empty \
         answer\nleaves a message out, Ctrl-D leaves out the rest, and ? shows the text of the \
         message.\n"
    ))?;
    let mut answers = vec![None; questions.len()];
    for (number, question) in questions.iter().enumerate() {
        let Question { place, subject, label, verdict, .. } = question;
        let label = label.as_ref().map_or(String::new(), |label| format!("in {label}; "));
        let subject = subject.as_deref().unwrap_or("no subject");
        let (now, all) = (number + 1, questions.len());
        say(&format!("\n{now} of {all}: {subject}\n  {place}\n  {label}{verdict}\n"))?;
        answers[number] = loop {
            say(&format!("{names}? "))?;
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line).map_err(|error| {
                Failure::new(Kind::of_reading(&error), format!("standard input: {error}"))
            })?;
            if read == 0 {
                say("\n")?;
                return Ok(answers);
            }
            if line.trim() == "?" {
                let text = question.text();
                let rows: Vec<&str> = text.lines().take(ROWS).map(cut).collect();
                say(&format!("\n{}\n\n", rows.join("\n")))?;
                continue;
            }
            match label_called(line.trim(), labels) {
                Ok(answer) => break answer,
                Err(text) => say(&text).map(drop)?,
            }
        };
    }
    Ok(answers)
}

/// The beginning of a line.
fn cut(line: &str) -> &str {
    line.char_indices().nth(COLUMNS).map_or(line, |(end, _)| &line[..end])
}

/// The number of the label that `answer` is or begins; `None` for an empty answer.
fn label_called(answer: &str, labels: &[String]) -> Result<Option<usize>, String> {
    if answer.is_empty() {
        return Ok(None);
    }
    let found = labels.iter().position(|label| label == answer);
    let mut beginning = (0..labels.len()).filter(|&at| labels[at].starts_with(answer));
    match (found, beginning.next(), beginning.next()) {
        (Some(at), ..) | (None, Some(at), None) => Ok(Some(at)),
        (None, None, _) => Err(format!("no label begins with {answer}\n")),
        (None, Some(_), Some(_)) => Err(format!("several labels begin with {answer}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_label_or_how_one_begins() {
        let labels = ["ham", "spam", "work", "work-old"].map(String::from);
        let called = |answer| label_called(answer, &labels);
        assert_eq!(called(""), Ok(None));
        assert_eq!(called("s"), Ok(Some(1)));
        assert_eq!(called("work"), Ok(Some(2)));
        assert_eq!(called("work-"), Ok(Some(3)));
        assert_eq!(called("wo"), Err("several labels begin with wo\n".into()));
        assert_eq!(called("x"), Err("no label begins with x\n".into()));
    }
}
