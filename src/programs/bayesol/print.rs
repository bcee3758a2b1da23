// SPDX-License-Identifier: GPL-3.0-or-later
//! What `bayesol` prints of a decision: numbers for people, a trace, a JSON document.

use super::options::Config;
use crate::risk::decide::{LossMatrix, Round, Scores};
use crate::risk::evidence::Observation;
use crate::risk::parse::Specification;
use dbacl_cli::json::Json;
use dbacl_numeric::cformat::{self, fixed_text};

/// What the program is called in its messages, whatever it is called on disk.
pub(super) const NAME: &str = "bayesol";

/// What `-n` or `-N` shows of a round.
pub(super) fn round_text(config: &Config, round: &Round) -> String {
    let names = &config.specification.categories;
    let show = |index: usize, value: f64| format!("{} {} ", names[index], fixed_text(value, 10, 2));
    let losses = &round.expected_losses;
    if config.ranking {
        let largest = losses[round.best].terms.first();
        show(round.best, largest.copied().unwrap_or(f64::NEG_INFINITY))
    } else if config.risks && !config.debug {
        (0..losses.len()).map(|index| show(index, losses[index].log_risk)).collect()
    } else {
        String::new()
    }
}

/// Prints what `-D` shows of an observation.
pub(super) fn trace_observation(
    out: &mut Vec<u8>,
    names: &[String],
    observation: &Observation<'_>,
) {
    match observation {
        Observation::Match { condition, values } => {
            let values = values.iter().map(|&value| format!(" {}", fixed_text(value, 0, 6)));
            let values = values.collect::<String>();
            out.extend([b"match \"", *condition, b"\"", values.as_bytes()].concat());
        }
        Observation::Scores(Scores { cross_entropy, complexity }) => {
            for (name, (&entropy, &complexity)) in
                names.iter().zip(cross_entropy.iter().zip(complexity))
            {
                let (entropy, complexity) =
                    (fixed_text(entropy, 7, 2), fixed_text(complexity, 7, 0));
                let line =
                    format!("category {name}\t cross_entropy {entropy} complexity {complexity}\n");
                out.extend(line.bytes());
            }
        }
    }
    out.push(b'\n');
}

/// What `-D` shows of a round.
pub(super) fn round_trace(
    specification: &Specification,
    losses: &LossMatrix,
    round: &Round,
) -> String {
    let row = |values: &[f64]| -> String {
        values.iter().map(|&value| fixed_text(value, 8, 2) + " ").collect()
    };
    let priors = row(&specification.log_priors);
    let mut text = format!("\nprior (log scale)\n{priors}\nfinal loss_matrix (log scale)\n");
    for (index, name) in specification.categories.iter().enumerate() {
        text += &format!("{name}\t{}\n", row(losses.row(index)));
    }
    text.push('\n');
    for (name, expected) in specification.categories.iter().zip(&round.expected_losses) {
        let mut terms = Vec::new();
        for &term in &expected.terms {
            if !terms.is_empty() {
                terms.extend(b", ");
            }
            cformat::general(&mut terms, term);
        }
        let terms = String::from_utf8_lossy(&terms);
        text += &format!("decision score {name}\t SumExp({terms})\n");
    }
    text
}

/// The JSON document: scores, priors and losses as used, logarithms natural.
pub(super) fn document(
    config: &Config,
    scores: &Scores,
    losses: &LossMatrix,
    round: &Round,
    order: &[usize],
) -> String {
    let names = &config.specification.categories;
    let mut json = Json::new();
    json.object(|json| {
        json.key("program").string(NAME);
        json.key("schema").integer(1_u8);
        json.key("decision").string(&names[round.best]);
        json.key("status").integer(round.best as u64 + 1);
        json.key("categories").array(|json| {
            for (index, name) in names.iter().enumerate() {
                json.object(|json| {
                    json.key("name").string(name);
                    json.key("cross_entropy").number(scores.cross_entropy[index]);
                    json.key("complexity").number(scores.complexity[index]);
                    json.key("log_prior").number(config.specification.log_priors[index]);
                    json.key("log_losses").numbers(losses.row(index));
                    json.key("log_risk").number(round.expected_losses[index].log_risk);
                    json.key("terms").numbers(&round.expected_losses[index].terms);
                });
            }
        });
        if config.ranking {
            json.key("ranking").array(|json| {
                for &index in order {
                    json.string(&names[index]);
                }
            });
        }
    });
    json.into_text() + "\n"
}
