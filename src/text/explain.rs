// SPDX-License-Identifier: GPL-3.0-or-later
//! Which features of a text speak for its label.

use crate::report::evidence::strongest_first;
use crate::text::features::TextReader;
use crate::text::table::Table;
use crate::{Explained, Explanation, Piece, TokenEvidence};
use std::collections::BTreeMap;

/// The evidence for the best label of a text and against the second best, in bits: what each
/// feature adds to the logarithm of the odds before the share of the prior, which is as large for
/// all labels.
pub(super) fn explain(
    table: &Table,
    labels: &[String],
    reader: &mut TextReader,
    text: &[u8],
) -> Explained {
    let features = reader.read(text).clone();
    let (scores, known) = table.scores(&features, &mut crate::text::rows::Sums::default());
    let probabilities = table.probabilities(scores.clone(), known);
    let preferences = table.preferences(&probabilities);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| preferences[b].total_cmp(&preferences[a]).then(a.cmp(&b)));
    let (best, second) = (order[0], order.get(1).copied().unwrap_or(order[0]));
    let slope = table.scale.calibration.slope_of(f64::from(known));
    let bits = slope / std::f64::consts::LN_2;
    let inputs = table.inputs(&features);
    let evidence = |id: u32, input: f64| {
        let weights = table.weights_of(id)?;
        Some(bits * input * (f64::from(weights[best]) - f64::from(weights[second])))
    };
    let mut tokens = Vec::new();
    for (named, &input) in reader.named(text).into_iter().zip(&inputs) {
        let mut each: BTreeMap<u32, TokenEvidence> = BTreeMap::new();
        for (id, text) in named {
            let Some(bits) = evidence(id, input) else { continue };
            each.entry(id).or_insert(TokenEvidence { text, count: 0, bits }).count += 1;
        }
        tokens.extend(each.into_values());
    }
    let told: f64 = tokens.iter().map(|token| token.bits).sum();
    let input = inputs.first().copied().unwrap_or(0.0);
    let mut word = |word: &str| {
        let own = reader.read(word.as_bytes()).blocks[0].clone();
        let sum: f64 = own.iter().filter_map(|&id| evidence(id, input)).sum();
        if sum == 0.0 { Piece::Other(word.to_owned()) } else { Piece::Token(word.to_owned(), sum) }
    };
    let lines = String::from_utf8_lossy(text);
    let pieces = |line: &str| line.split_inclusive(' ').map(&mut word).collect();
    let lines = lines.lines().map(pieces).collect();
    let percent = 100.0 * probabilities[best];
    let explanation = Explanation {
        heading: format!("{} with probability {percent:.2} %", labels[best]),
        category: labels[best].clone(),
        other: labels[second].clone(),
        prior: bits * (scores[best] - scores[second]) - told,
        tokens: strongest_first(tokens),
        lines,
        ..Explanation::default()
    };
    Explained { explanation, best }
}

/// The features of some texts that speak most for each label, with their weights.
pub(super) fn strongest<'a>(
    (table, labels): (&Table, &'a [String]),
    reader: &mut TextReader,
    texts: &[Vec<u8>],
    number: usize,
) -> Vec<(&'a str, Vec<(String, f32)>)> {
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    for (id, name) in texts.iter().flat_map(|text| reader.named(text)).flatten() {
        names.entry(id).or_insert(name);
    }
    let known: Vec<(Vec<f32>, String)> =
        names.into_iter().filter_map(|(id, name)| Some((table.weights_of(id)?, name))).collect();
    let of_label = |(at, label): (usize, &'a String)| {
        // Of two labels, the first has the weights below 0.
        let weight = |weights: &[f32]| match (labels.len(), at) {
            (2, 0) if weights[0] == 0.0 => -weights[1],
            _ => weights[at],
        };
        let mut own: Vec<(String, f32)> = known
            .iter()
            .map(|(weights, name)| (name.clone(), weight(weights)))
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        own.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        own.truncate(number);
        (label.as_str(), own)
    };
    labels.iter().enumerate().map(of_label).collect()
}
