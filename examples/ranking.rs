// SPDX-License-Identifier: GPL-3.0-or-later
//! Figures of merit of a spam filter, from its verdicts on messages whose kind is known.
//!
//! Reads lines `KIND VERDICT SCORE` from standard input: the kind and the verdict are `spam` or
//! `ham`, the score is greater the more a message looks like spam. Prints one row of a table:
//!
//! - errors of the verdicts, in per cent, with Wilson's 95 % interval;
//! - ham judged spam, and spam judged ham;
//! - (1 - AUC) %: the share of pairs of a ham and a spam that the scores put in the wrong order, a
//!   tie counting half;
//! - spam found when the threshold lets at most 0.1 % and 1 % of the ham through.
//!
//! ```text
//! ranking 'name of the row' <lines
//! ```

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

#[allow(clippy::cast_precision_loss)] // counts of messages are far below 2^53
fn row(name: &str, judged: &[Judged]) -> String {
    let false_alarms = judged.iter().filter(|it| !it.is_spam && it.verdict_is_spam).count();
    let misses = judged.iter().filter(|it| it.is_spam && !it.verdict_is_spam).count();
    let (errors, all) = ((false_alarms + misses) as f64, judged.len() as f64);
    let (low, high) = wilson(errors, all);
    let mut ham: Vec<f64> = judged.iter().filter(|it| !it.is_spam).map(|it| it.score).collect();
    let spam: Vec<f64> = judged.iter().filter(|it| it.is_spam).map(|it| it.score).collect();
    ham.sort_by(f64::total_cmp);
    format!(
        "| {name} | {:.2} ({:.2}–{:.2}) | {false_alarms} / {} | {misses} / {} | {:.4} | {:.1} | {:.1} |",
        100.0 * errors / all,
        100.0 * low,
        100.0 * high,
        ham.len(),
        spam.len(),
        100.0 * wrong_pairs(&ham, &spam),
        100.0 * recall(&ham, &spam, 0.001),
        100.0 * recall(&ham, &spam, 0.01),
    )
}

/// Wilson's interval of a proportion, 95 %.
fn wilson(hits: f64, all: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let share = hits / all;
    let scale = 1.0 + Z * Z / all;
    let centre = (share + Z * Z / (2.0 * all)) / scale;
    let half = Z / scale * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
    (centre - half, centre + half)
}

/// 1 - AUC. `ham` is sorted.
#[allow(clippy::cast_precision_loss)]
fn wrong_pairs(ham: &[f64], spam: &[f64]) -> f64 {
    let wrong: f64 = spam
        .iter()
        .map(|score| {
            let below = ham.partition_point(|other| other < score);
            let not_above = ham.partition_point(|other| other <= score);
            (ham.len() - not_above) as f64 + (not_above - below) as f64 / 2.0
        })
        .sum();
    wrong / (ham.len() as f64 * spam.len() as f64)
}

/// Share of spam above the lowest threshold that at most `permitted` of the ham exceeds. `ham` is
/// sorted.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn recall(ham: &[f64], spam: &[f64], permitted: f64) -> f64 {
    let exceeding = (permitted * ham.len() as f64) as usize;
    let threshold = ham[ham.len() - 1 - exceeding.min(ham.len() - 1)];
    spam.iter().filter(|&&score| score > threshold).count() as f64 / spam.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_recall_by_hand() {
        let ham = [0.0, 1.0, 2.0, 3.0];
        for (spam, wrong, found) in [
            (&[4.0, 5.0][..], 0.0, 1.0),
            (&[3.0, 5.0], 0.0625, 0.5),
            (&[-1.0, -2.0], 1.0, 0.0),
            (&[1.5, 9.0], 0.25, 0.5),
        ] {
            assert_eq!(wrong_pairs(&ham, spam), wrong, "{spam:?}");
            assert_eq!(recall(&ham, spam, 0.001), found, "{spam:?}");
        }
        assert_eq!(recall(&ham, &[2.5], 0.25), 1.0);
    }

    #[test]
    fn wilson_knows_that_no_error_is_not_never() {
        let (low, high) = wilson(0.0, 100.0);
        assert!(low.abs() < 1e-12 && (high - 0.0370).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(50.0, 100.0);
        assert!((low - 0.4038).abs() < 1e-4 && (high - 0.5962).abs() < 1e-4, "{low} {high}");
    }
}
