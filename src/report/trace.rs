// SPDX-License-Identifier: GPL-3.0-or-later
//! The trace of single tokens (`-d` when classifying, spec model 12.1).

use crate::score::document::variance;
use crate::score::model::Model;
use crate::score::scorer::{Cell, Tally};
use crate::token::Feature;
use crate::token::show::show;
use dbacl_numeric::cformat::{fixed, fixed_left, hexadecimal, text};
use dbacl_numeric::invalid::{difference, quotient};

/// What a cell of the trace shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellForm {
    /// Weight, reference weight, log-partition, multinomial term, id.
    Weights,
    /// Mean score and complexity so far (`-n`).
    Mean,
    /// How much the token changed the score (`-N`).
    Change,
    /// Mean score, complexity and variance so far (`-U`).
    Variance,
}

impl CellForm {
    /// The form of the cells.
    pub(crate) const fn of_cells(scores: bool, probabilities: bool, uncertainty: bool) -> Self {
        match (scores, probabilities, uncertainty) {
            (true, _, _) => Self::Mean,
            (_, true, _) => Self::Change,
            (_, _, true) => Self::Variance,
            _ => Self::Weights,
        }
    }

    /// The form that the heading announces; with both `-n` and `-N` it is not that of the cells.
    pub(crate) const fn of_heading(scores: bool, probabilities: bool, uncertainty: bool) -> Self {
        if probabilities { Self::Change } else { Self::of_cells(scores, false, uncertainty) }
    }

    const fn heading(self) -> &'static [u8] {
        match self {
            Self::Weights => b"lambda digref -renorm multi shannon id",
            Self::Mean => b"avg_score * complexity",
            Self::Change => b"score_delta",
            Self::Variance => b"avg_score * complexity # s2",
        }
    }
}

/// Appends `label` and the categories' names, each in ten columns and followed by the text that
/// `after` appends.
fn names(out: &mut Vec<u8>, label: &[u8], models: &[Model], after: &[u8]) {
    out.extend_from_slice(label);
    for (at, model) in models.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        text(out, &model.name, 10);
        out.push(b' ');
        out.extend_from_slice(after);
    }
    out.push(b'\n');
}

/// Appends the two lines before the first token.
pub(crate) fn head(out: &mut Vec<u8>, models: &[Model], form: CellForm) {
    names(out, b"# categories: ", models, b"");
    out.extend_from_slice(b"# format: ");
    out.extend_from_slice(form.heading());
    out.push(b'\n');
}

/// Appends the line of priors (`-D -P`), which always shows 0.
pub(crate) fn priors(out: &mut Vec<u8>, models: &[Model]) {
    names(out, b"# prior: ", models, b" 0.00 ");
}

/// Appends one category's cell.
pub(crate) fn cell(out: &mut Vec<u8>, form: CellForm, cell: &Cell, tally: &Tally) {
    match form {
        CellForm::Weights => {
            let numbers = [
                f64::from(cell.lambda),
                f64::from(cell.reference),
                cell.renorm,
                f64::from(cell.multinomial),
            ];
            for number in numbers {
                fixed(out, number, 7, 2);
                out.push(b' ');
            }
            hexadecimal(out, u64::from(cell.id), 8);
        }
        CellForm::Mean | CellForm::Variance => {
            out.push(b' ');
            fixed(out, -quotient(tally.score, tally.complexity), 8, 2);
            out.extend_from_slice(b" * ");
            fixed_left(out, tally.complexity, 6, 1);
            if form == CellForm::Variance {
                out.extend_from_slice(b" # ");
                let spread = variance(tally.squares, tally.score, tally.complexity);
                fixed_left(out, quotient(spread, tally.complexity), 8, 2);
            }
        }
        CellForm::Change => {
            out.push(b' ');
            fixed(out, difference(f64::from(cell.before), tally.score), 8, 2);
        }
    }
    out.push(b'\t');
}

/// Appends the token, which follows its cells, and the line's end.
pub(crate) fn token_text(out: &mut Vec<u8>, feature: &Feature<'_>) {
    show(out, feature.body, feature.medium);
    if let Some(pattern) = feature.pattern {
        out.extend_from_slice(format!("<re={}>", u32::from(pattern.0) + 1).as_bytes());
    }
    out.push(b'\n');
}
