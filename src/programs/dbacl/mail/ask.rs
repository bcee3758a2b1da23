// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-ask` names messages whose labels teach a mail filter most, `--mail-review` those that
//! seem to be in the wrong folder. Both learn the answers that are given on a terminal.
//! `crate::sets::asking` chooses the messages.

use super::super::failure::{Failure, Kind, usage};
use super::super::messages::{MESSAGES, print, warn, watched};
use super::super::signals::Signals;
use super::{mail_at, set_options};
use crate::sets::{DocumentId, MailFilter, MailFilterOptions, Question, Review};
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

/// What one answer is given for.
struct Asked<'q> {
    /// The messages; the first one is shown.
    messages: Vec<&'q Question>,
    /// What the filter says of them.
    said: String,
    /// What they have in common.
    common: Option<&'q str>,
}

impl<'q> Asked<'q> {
    fn about(question: &'q Question) -> Self {
        Self { messages: vec![question], said: question.verdict.to_string(), common: None }
    }

    fn of(review: &'q Review) -> Self {
        let messages: Vec<&Question> = review.messages.iter().map(|(_, one)| one).collect();
        let looks = review.looks_like.as_ref().map(|label| format!("looks like {label}"));
        let verdict = || messages.first().map_or(String::new(), |one| one.verdict.to_string());
        Self { said: looks.unwrap_or_else(verdict), messages, common: review.common.as_deref() }
    }

    /// A line for each message: its place, its subject, the label of its folder if it was learned,
    /// what the filter says, and what it has in common with others, with tabs between them.
    fn lines(&self) -> String {
        let line = |question: &&Question| {
            let place = question.place.replace(char::is_control, "\u{fffd}");
            let label = question.label.as_ref().map_or(String::new(), |own| format!("{own}\t"));
            let subject = question.subject.as_deref().unwrap_or("");
            let common = self.common.map_or(String::new(), |common| format!("\t{common}"));
            format!("{place}\t{subject}\t{label}{}{common}\n", self.said)
        };
        self.messages.iter().map(line).collect()
    }
}

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
    let asked: Vec<Asked<'_>> = questions.iter().map(Asked::about).collect();
    let answers = answers(&asked, set.labels(), output)?;
    learn(folder, &asked, &answers, lock_timeout, output)
}

/// Names the messages that seem to be in the wrong folder. On a terminal it asks for their labels,
/// once for a group; after the last answer it learns those with another label, and does not name
/// the others again.
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
    let mut is_whole = true;
    let mut missing = |warning| {
        is_whole = false;
        warn(warning);
    };
    let doing = "looking for mail in the wrong folder";
    let reviews = watched(doing, true, || set.reviews(&mut missing))?;
    if reviews.is_empty() {
        if is_whole {
            MESSAGES
                .warning("there is nothing to review: no message seems to be in the wrong folder");
        }
        return Ok(0);
    }
    let asked: Vec<Asked<'_>> = reviews.iter().map(Asked::of).collect();
    let mut answers = answers(&asked, set.labels(), output)?;
    let mut right: Vec<(DocumentId, &str)> = Vec::new();
    for (review, answer) in reviews.iter().zip(&mut answers) {
        let Some(given) = answer.map(|answer| set.labels()[answer].as_str()) else { continue };
        let is_right = |one: &Question| one.label.as_deref() == Some(given);
        if review.messages.iter().all(|(_, one)| is_right(one)) {
            right.extend(review.messages.iter().map(|(id, _)| (*id, given)));
            *answer = None;
        }
    }
    if !right.is_empty() {
        set.confirm(&right)?;
    }
    learn(folder, &asked, &answers, lock_timeout, output)
}

/// Learns the messages that have an answer, the number of a label.
fn learn(
    folder: &Path,
    asked: &[Asked<'_>],
    answers: &[Option<usize>],
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    if answers.iter().all(Option::is_none) {
        return Ok(0);
    }
    let mut set = MailFilter::open(folder, &set_options(lock_timeout, &Signals::install()))?;
    for (number, label) in set.labels().to_vec().iter().enumerate() {
        let own = asked.iter().zip(answers).filter(|(_, answer)| **answer == Some(number));
        let own = own.flat_map(|(asked, _)| &asked.messages);
        let own: Vec<&[u8]> = own.map(|question| question.mail.as_slice()).collect();
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
    questions: &[Asked<'_>],
    labels: &[String],
    output: &mut Output,
) -> Result<Vec<Option<usize>>, Failure> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return asked(questions, labels, output);
    }
    print(output, &questions.iter().map(Asked::lines).collect::<String>())?;
    Ok(vec![None; questions.len()])
}

/// The numbers of the labels that the user gives the messages. The end of the input leaves out the
/// rest.
fn asked(
    questions: &[Asked<'_>],
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
    for (number, Asked { messages, said, common }) in questions.iter().enumerate() {
        let Some((question, others)) = messages.split_first() else { continue };
        let Question { place, subject, label, .. } = question;
        let label = label.as_ref().map_or(String::new(), |label| format!("in {label}; "));
        let subject = subject.as_deref().unwrap_or("no subject");
        let (now, all) = (number + 1, questions.len());
        say(&format!("\n{now} of {all}: {subject}\n  {place}\n  {label}{said}\n"))?;
        if let Some(common) = common {
            say(&format!("  and {} more {common}\n", others.len()))?;
        }
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
