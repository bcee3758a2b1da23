// SPDX-License-Identifier: GPL-3.0-or-later
//! Results of a document: one function per printed form (spec model 14).

use crate::score::confidence::{certainty, confidence};
use crate::score::document::{CategoryScore, best, percentages};
use crate::score::model::Model;
use crate::score::scorer::Scorer;
use dbacl_numeric::cformat::{decimal, fixed, fixed_left};
use dbacl_numeric::elementary::{bits, count_f64};
use dbacl_numeric::invalid::quotient;

/// Which results are wanted, by the letters that ask for them.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // each is one letter of the command line
pub(crate) struct Form {
    /// `-v`
    pub verbose: bool,
    /// `-n`
    pub scores: bool,
    /// `-N`
    pub probabilities: bool,
    /// `-Y`
    pub media: bool,
    /// `-X`
    pub confidence: bool,
    /// `-U`
    pub uncertainty: bool,
    /// `-a`: results follow the text, and each begins with a comment mark.
    pub append: bool,
}

impl Form {
    fn label(self, out: &mut Vec<u8>, label: &[u8]) {
        if self.append {
            out.extend_from_slice(b"\n# ");
            out.extend_from_slice(label);
            out.push(b' ');
        }
    }
}

/// Appends the result of a whole input: the first form that applies, as in the table of 14.1.
pub(crate) fn whole(
    out: &mut Vec<u8>,
    form: Form,
    scorer: &Scorer,
    category_scores: &[CategoryScore],
) {
    if form.probabilities {
        probabilities(out, form, scorer, category_scores);
    } else if form.scores {
        scores(out, form, scorer, category_scores);
    } else if form.media {
        media(out, form, scorer, category_scores);
    } else if form.verbose && (form.confidence || form.uncertainty) {
        divergences(out, form, scorer, category_scores);
    } else if form.verbose || form.uncertainty {
        form.label(out, b"category");
        out.extend_from_slice(&scorer.models()[best(category_scores)].name);
        if !form.verbose {
            out.extend_from_slice(b" # ");
            decimal(out, i64::from(certainty(category_scores).unwrap_or(i32::MIN)), 0);
            out.push(b'%');
        }
        out.push(b'\n');
    }
}

/// Appends the confidence that the document belongs to the category, in percent. The p-value in
/// thousandths is divided by ten as an f32. dbacl 1.14.1 computes it where it prints it, so the
/// note of an underflow stands between the category's scores and its confidence.
fn confidence_percent(
    out: &mut Vec<u8>,
    mark: &[u8],
    model: &Model,
    category_score: &CategoryScore,
) {
    let moments = model.header().map(|header| header.moments).unwrap_or_default();
    let (permille, underflow) = confidence(category_score.divergence, &moments);
    if let Some(underflow) = underflow {
        out.extend_from_slice(underflow.as_bytes());
    }
    out.extend_from_slice(mark);
    #[allow(clippy::cast_precision_loss)] // 0..=1000
    fixed(out, f64::from(permille as f32 / 10.0), 5, 1);
}

/// Appends a text, and a number with two decimals in `width` columns.
fn number(out: &mut Vec<u8>, before: &[u8], number: f64, width: usize) {
    out.extend_from_slice(before);
    fixed(out, number, width, 2);
}

/// Mean score of a token, bits; positive.
fn mean_bits(category_score: &CategoryScore) -> f64 {
    bits(-category_score.mean())
}

/// Standard deviation of the mean score, bits.
fn deviation_bits(category_score: &CategoryScore) -> f64 {
    bits(category_score.deviation())
}

fn probabilities(
    out: &mut Vec<u8>,
    form: Form,
    scorer: &Scorer,
    category_scores: &[CategoryScore],
) {
    form.label(out, b"probabilities");
    let models = scorer.models().iter().zip(category_scores);
    for ((model, category_score), percentage) in models.zip(percentages(category_scores)) {
        out.extend_from_slice(&model.name);
        number(out, b" ", percentage, 5);
        out.push(b'%');
        if form.confidence {
            confidence_percent(out, b" @ ", model, category_score);
            out.push(b'%');
        }
        out.push(b' ');
    }
    out.push(b'\n');
}

fn scores(out: &mut Vec<u8>, form: Form, scorer: &Scorer, category_scores: &[CategoryScore]) {
    form.label(out, b"scores");
    for (model, category_score) in scorer.models().iter().zip(category_scores) {
        out.extend_from_slice(&model.name);
        if form.verbose {
            if form.uncertainty {
                number(out, b" ( ", mean_bits(category_score), 5);
                number(out, b" # ", deviation_bits(category_score), 5);
                out.extend_from_slice(b" )* ");
            } else {
                number(out, b" ", mean_bits(category_score), 5);
                out.extend_from_slice(b" * ");
            }
            fixed(out, category_score.complexity, 0, 1);
            if form.confidence {
                confidence_percent(out, b" @ ", model, category_score);
                out.push(b'%');
            }
        } else {
            number(out, b" ", -bits(category_score.score), 5);
        }
        out.push(b' ');
    }
    out.push(b'\n');
    if form.append {
        mean_complexities(out, scorer);
    }
}

/// The line with each category's mean number of features per document, which `-a` adds after the
/// scores.
fn mean_complexities(out: &mut Vec<u8>, scorer: &Scorer) {
    let mut any = false;
    for model in scorer.models() {
        if model.documents() > 0 {
            if !any {
                out.extend_from_slice(b"# mean_complexity ");
            }
            any = true;
            out.extend_from_slice(&model.name);
            number(out, b" ", count_f64(model.features()) / f64::from(model.documents()), 5);
            out.push(b' ');
        }
    }
    if any {
        out.push(b'\n');
    }
}

fn media(out: &mut Vec<u8>, form: Form, scorer: &Scorer, category_scores: &[CategoryScore]) {
    for ((model, category_score), tally) in
        scorer.models().iter().zip(category_scores).zip(scorer.tallies())
    {
        out.extend_from_slice(&model.name);
        if form.verbose {
            number(out, b" ( ", mean_bits(category_score), 5);
            out.extend_from_slice(b" M ");
        } else {
            out.extend_from_slice(b"\tM ");
        }
        for count in tally.media {
            decimal(out, i64::from(count.cast_signed()), 4);
            out.push(b' ');
        }
        if form.verbose {
            out.extend_from_slice(b" )* ");
            fixed(out, category_score.complexity, 0, 1);
            out.push(b' ');
        } else {
            out.push(b'\n');
        }
    }
}

fn divergences(out: &mut Vec<u8>, form: Form, scorer: &Scorer, category_scores: &[CategoryScore]) {
    for (at, (model, category_score)) in scorer.models().iter().zip(category_scores).enumerate() {
        out.extend_from_slice(&model.name);
        number(out, b" ( ", bits(category_score.divergence), 5);
        out.extend_from_slice(b" + ");
        fixed_left(out, bits(category_score.shannon), 5, 2);
        out.push(b' ');
        if form.uncertainty {
            number(out, b"# ", deviation_bits(category_score), 5);
            out.push(b' ');
        }
        out.extend_from_slice(b")* ");
        fixed_left(out, category_score.complexity, 6, 1);
        out.push(b' ');
        if form.confidence {
            confidence_percent(out, b"@ ", model, category_score);
        } else {
            let tally = &scorer.tallies()[at];
            let known = 1.0 - quotient(f64::from(tally.misses), f64::from(tally.features));
            out.extend_from_slice(b"H ");
            fixed(out, 100.0 * known, 0, 0);
        }
        out.push(b'%');
        out.push(b' ');
    }
    out.push(b'\n');
}

/// Appends what the line filter prints of a line that is its own document (14.2): with scores or
/// probabilities every line, else the line only if one of the categories `wanted` (numbers from 0)
/// has the best score.
pub(crate) fn line(
    out: &mut Vec<u8>,
    form: Form,
    scorer: &Scorer,
    category_scores: &[CategoryScore],
    wanted: &[usize],
    line: &[u8],
) {
    if line.is_empty() {
        return;
    }
    if form.probabilities {
        for (model, percentage) in scorer.models().iter().zip(percentages(category_scores)) {
            out.extend_from_slice(&model.name);
            number(out, b" ", percentage, 6);
            out.extend_from_slice(b"% ");
        }
    } else if form.scores {
        for (model, category_score) in scorer.models().iter().zip(category_scores) {
            out.extend_from_slice(&model.name);
            out.push(b' ');
            if form.verbose {
                fixed(out, mean_bits(category_score), 6, 2);
                out.extend_from_slice(b" * ");
                fixed_left(out, category_score.complexity, 4, 1);
            } else {
                fixed(out, -bits(category_score.score), 6, 2);
            }
            out.push(b' ');
        }
    } else {
        // A number for which there is no category counts as a category of score 0.
        let score = |at: usize| category_scores.get(at).map_or(0.0, |own| own.score);
        let top = score(best(category_scores));
        if !wanted.iter().any(|&at| top <= score(at)) {
            return;
        }
    }
    out.extend_from_slice(line);
}
