// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-ask`: names messages whose labels teach a mail filter most, and learns the
//! answers that are given on a terminal. [`dbacl_sets::asking`] chooses the messages.

use super::super::failure::{Failure, Kind};
use super::super::messages::{MESSAGES, watched};
use super::super::signals::Signals;
use super::fit::say;
use super::mail::{mail_at, set_options};
use dbacl_cli::output::Output;
use dbacl_sets::asking::Question;
use dbacl_sets::{FittedSet, FittedSetOptions};
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

/// Messages that are asked about at once.
const MOST: usize = 10;

/// Names messages of `operands` whose labels teach the filter in `folder` most. On a
/// terminal it asks for their labels, and learns them after the last answer.
///
/// # Errors
/// The folder holds no filter, mail cannot be read, or the answers cannot be learned.
pub fn ask(
    folder: &Path,
    operands: &[OsString],
    lock_timeout: Duration,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Some((first, others)) = operands.split_first() else {
        let text = "--mail-ask needs the filter's folder and the mail to choose from";
        return Err(Failure::new(Kind::Usage, text));
    };
    let mut mail = mail_at(String::new(), first)?;
    for other in others {
        mail.join(mail_at(String::new(), other)?);
    }
    // Nothing is changed until all answers are there, so a signal may just end the program.
    let set = FittedSet::open(folder, &FittedSetOptions::default())?;
    set.warnings().iter().for_each(|warning| MESSAGES.warning(&warning.0));
    let questions = watched("reading", true, || {
        set.questions(&mail, MOST, &mut |warning| MESSAGES.warning(&warning.0))
    })?;
    if questions.is_empty() {
        MESSAGES.warning("there is nothing to ask: the filter has learned all of this mail");
        return Ok(0);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return say(output, &questions.iter().map(line).collect::<String>());
    }
    let labels = set.labels();
    let answers = answers(&questions, labels, &mut io::stdin().lock(), &mut |text| {
        say(output, text).map(drop)
    })?;
    let mut set = FittedSet::open(folder, &set_options(lock_timeout, &Signals::install()))?;
    for (number, label) in labels.to_vec().iter().enumerate() {
        let own = questions.iter().zip(&answers).filter(|(_, answer)| **answer == Some(number));
        let own: Vec<&[u8]> = own.map(|(question, _)| question.mail.as_slice()).collect();
        if !own.is_empty() {
            let count = own.len();
            let report = watched("fitting", true, || set.correct_all(label, own))?;
            report.warnings.iter().for_each(|warning| MESSAGES.warning(&warning.0));
            say(output, &format!("learned as {label}: {count}\n"))?;
        }
    }
    Ok(0)
}

/// A message as one line: its place, its subject and the verdict, with tabs between them.
fn line(question: &Question) -> String {
    let place = question.place.replace(char::is_control, "\u{fffd}");
    format!("{place}\t{}\t{}\n", question.subject.as_deref().unwrap_or(""), question.verdict)
}

/// The numbers of the labels that the user gives the messages. The end of the input leaves out the
/// rest.
fn answers(
    questions: &[Question],
    labels: &[String],
    input: &mut dyn BufRead,
    say: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<Vec<Option<usize>>, Failure> {
    let names = labels.join(", ");
    say(&format!(
        "What are these messages? Answer with one of {names}, or with how it begins. An empty \
         answer\nleaves a message out, Ctrl-D leaves out the rest.\n"
    ))?;
    let mut answers = vec![None; questions.len()];
    for (number, question) in questions.iter().enumerate() {
        let Question { place, subject, verdict, .. } = question;
        let subject = subject.as_deref().unwrap_or("no subject");
        let (now, all) = (number + 1, questions.len());
        say(&format!("\n{now} of {all}: {subject}\n  {place}\n  {verdict}\n"))?;
        answers[number] = loop {
            say(&format!("{names}? "))?;
            let mut line = String::new();
            let read = input.read_line(&mut line).map_err(|error| {
                Failure::new(Kind::of_reading(&error), format!("standard input: {error}"))
            })?;
            if read == 0 {
                say("\n")?;
                return Ok(answers);
            }
            match label_called(line.trim(), labels) {
                Ok(answer) => break answer,
                Err(text) => say(&text)?,
            }
        };
    }
    Ok(answers)
}

/// The number of the label that `answer` is or begins; `None` for an empty answer.
///
/// # Errors
/// The text that says why it is none.
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
