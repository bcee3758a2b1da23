// SPDX-License-Identifier: GPL-3.0-or-later
//! What `bayesol` prints of a decision: numbers for people, a trace, a JSON document.

use super::messages::NAME;
use super::options::{Config, Output};
use dbacl_cli::json::Json;
use dbacl_numeric::cformat;
use dbacl_risk::decide::{LossMatrix, Round, Scores};
use dbacl_risk::evidence::Observation;
use dbacl_risk::parse::Specification;

/// Prints what `-n` or `-N` shows of a round.
pub fn print_round(out: &mut Vec<u8>, config: &Config, round: &Round) {
    let names = &config.specification.categories;
    let mut print = |index: usize, value: f64| {
        out.extend_from_slice(names[index].as_bytes());
        out.push(b' ');
        cformat::fixed(out, value, 10, 2);
        out.push(b' ');
    };
    if config.output == Output::Ranking {
        let largest = round.expected_losses[round.best].terms.first();
        print(round.best, largest.copied().unwrap_or(f64::NEG_INFINITY));
    } else if config.output == Output::Risks && !config.debug {
        for (index, expected) in round.expected_losses.iter().enumerate() {
            print(index, expected.log_risk);
        }
    }
}

/// Prints what `-D` shows of an observation.
pub fn trace_observation(out: &mut Vec<u8>, names: &[String], observation: &Observation<'_>) {
    match observation {
        Observation::Match { condition, values } => {
            out.extend_from_slice(&[b"match \"", *condition, b"\""].concat());
            for &value in *values {
                out.push(b' ');
                cformat::fixed(out, value, 0, 6);
            }
        }
        Observation::Scores(scores) => {
            for (index, name) in names.iter().enumerate() {
                out.extend_from_slice(b"category ");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\t cross_entropy ");
                cformat::fixed(out, scores.cross_entropy[index], 7, 2);
                out.extend_from_slice(b" complexity ");
                cformat::fixed(out, scores.complexity[index], 7, 0);
                out.push(b'\n');
            }
        }
    }
    out.push(b'\n');
}

/// Prints what `-D` shows of a round.
pub fn trace_round(
    out: &mut Vec<u8>,
    specification: &Specification,
    losses: &LossMatrix,
    round: &Round,
) {
    out.extend_from_slice(b"\nprior (log scale)\n");
    for &prior in &specification.log_priors {
        cformat::fixed(out, prior, 8, 2);
        out.push(b' ');
    }
    out.extend_from_slice(b"\nfinal loss_matrix (log scale)\n");
    for (index, name) in specification.categories.iter().enumerate() {
        out.extend_from_slice(name.as_bytes());
        out.push(b'\t');
        for &loss in losses.row(index) {
            cformat::fixed(out, loss, 8, 2);
            out.push(b' ');
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    for (name, expected) in specification.categories.iter().zip(&round.expected_losses) {
        out.extend_from_slice(&[b"decision score ", name.as_bytes(), b"\t SumExp("].concat());
        for (index, &term) in expected.terms.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            cformat::general(out, term);
        }
        out.extend_from_slice(b")\n");
    }
}

/// The JSON document: scores, priors and losses as used, logarithms natural.
pub fn document(
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
        if config.output == Output::Ranking {
            json.key("ranking").array(|json| {
                for &index in order {
                    json.string(&names[index]);
                }
            });
        }
    });
    json.into_text() + "\n"
}
