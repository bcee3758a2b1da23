// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes error rates and ranking measures of a spam filter from its verdicts on messages whose
//! kind is known.
//!
//! Reads lines `KIND VERDICT SCORE` from standard input: the kind and the verdict are `spam` or
//! `ham`, the score is greater the more a message looks like spam. Prints one row of a table:
//!
//! - errors of the verdicts, in per cent, with Wilson's 95 % interval;
//! - ham classified spam, and spam classified ham;
//! - (1 - AUC) %: the share of pairs of a ham and a spam that the scores put in the wrong order, a
//!   tie counting half;
//! - spam found when the threshold lets at most 0.1 % and 1 % of the ham through.
//!
//! ```text
//! ranking 'name of the row' <lines
//! ```

#![allow(clippy::print_stderr)] // an example stands for itself

use dbacl::measures::{Scored, area_above, rate, recall_at};
use std::io::{self, Read};
use std::process::ExitCode;

/// A message as a filter saw it.
#[derive(Debug, Clone, Copy)]
struct Judged {
    is_spam: bool,
    verdict_is_spam: bool,
    score: f64,
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let mut text = String::new();
    if let Err(error) = io::stdin().read_to_string(&mut text) {
        eprintln!("ranking: {error}");
        return ExitCode::FAILURE;
    }
    let judged: Option<Vec<Judged>> = text.lines().map(parse).collect();
    match judged {
        Some(judged)
            if judged.iter().any(|it| it.is_spam) && judged.iter().any(|it| !it.is_spam) =>
        {
            println!("{}", row(&name, &judged));
            ExitCode::SUCCESS
        }
        Some(_) => {
            eprintln!("ranking: needs ham and spam");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("ranking: a line is not KIND VERDICT SCORE");
            ExitCode::FAILURE
        }
    }
}

fn parse(line: &str) -> Option<Judged> {
    let kind = |word: &str| match word {
        "spam" => Some(true),
        "ham" => Some(false),
        _ => None,
    };
    let mut words = line.split_whitespace();
    let judged = Judged {
        is_spam: kind(words.next()?)?,
        verdict_is_spam: kind(words.next()?)?,
        score: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(judged)
}

fn row(name: &str, judged: &[Judged]) -> String {
    let false_alarms = judged.iter().filter(|it| !it.is_spam && it.verdict_is_spam).count();
    let misses = judged.iter().filter(|it| it.is_spam && !it.verdict_is_spam).count();
    let spam = judged.iter().filter(|it| it.is_spam).count();
    let errors = rate(false_alarms + misses, judged.len());
    let scored: Vec<Scored> =
        judged.iter().map(|it| Scored { score: it.score, positive: it.is_spam }).collect();
    format!(
        "| {name} | {:.2} ({:.2}–{:.2}) | {false_alarms} / {} | {misses} / {spam} | {:.4} | {:.1} \
         | {:.1} |",
        100.0 * errors.value,
        100.0 * errors.low,
        100.0 * errors.high,
        judged.len() - spam,
        100.0 * area_above(&scored),
        100.0 * recall_at(&scored, 0.001),
        100.0 * recall_at(&scored, 0.01),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_errors_order_and_recall() {
        let lines = "ham ham 0\nham ham 1\nham ham 2\nham spam 3\nspam ham 1.5\nspam spam 9\n";
        let judged: Option<Vec<Judged>> = lines.lines().map(parse).collect();
        assert_eq!(
            row("test", &judged.expect("lines of verdicts")),
            "| test | 33.33 (9.68–70.00) | 1 / 4 | 1 / 2 | 25.0000 | 50.0 | 50.0 |"
        );
    }
}
