// SPDX-License-Identifier: GPL-3.0-or-later
//! What a verdict depends on besides the scores: how much of a document is known, and the scores of
//! its parts.
//!
//! A spammer can add so many words of good mail to a spam that they prevail in the whole document.
//! But the spam's own words still stand in one place. With two categories a document is therefore
//! judged a second time, in *parts* of 64 distinct features, in the order of their first
//! appearance; each part begins in the middle of the one before. If the whole is confidently of the
//! first category and a part certainly of the second, the verdict is unsure.
//!
//! With two blocks the parts are runs of 256 known features of the text, without the tags: a
//! spammer can forge those of good mail.

use super::header::RefitLine;
use super::known::KnownFeatures;
use super::scoring::Scoring;
use super::thresholds::known_share;

/// Distinct features of a part. With 40, a part resembles spam in 0.3 % of good mail that was not
/// learned, and in 1.7 % of later good mail; with 64 in 0.2 and 0.3 %. With 100, a fifth of
/// disguised spam passes; with 64, a twentieth.
const PART: usize = 64;

/// Known features of a part of the text where features count by blocks: about 400 bytes.
const RUN: usize = 256;

/// What a verdict depends on besides the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// How many of its distinct features come from text, and not from the header of a message,
    /// which changes with the way that the mail takes.
    pub texts: u32,
    /// The share of these that any category has learned.
    pub known: f64,
    /// The highest score of a part: the score of the second category less that of the first, as for
    /// whole documents. Minus infinity if there are no parts.
    pub part: f64,
}

impl Default for Support {
    /// All features are known, and there are no parts.
    fn default() -> Self {
        Self { texts: 0, known: 1.0, part: f64::NEG_INFINITY }
    }
}

impl Support {
    /// The support of a verdict on a document of which this is `known`. Categories have these log Z
    /// and highest orders, in the order of the set, whose line is `line`.
    pub fn of(line: &RefitLine, known: &KnownFeatures, shapes: &[(f64, u8)]) -> Self {
        let scoring = line.limit_of_parts().map(|_| line.scoring);
        let (texts, found) = known.texts();
        let part = match (known.weights.len(), shapes) {
            (2, [(first_z, _), (second_z, _)]) if scoring == Some(Scoring::Blocks) => {
                highest_run(known, second_z - first_z)
            }
            (2, [(first_z, order), (second_z, _)]) if scoring.is_some() => {
                let each = known.weights[0].iter().zip(&known.weights[1]);
                let each = each.map(|(first, second)| f64::from(*second) - f64::from(*first));
                let places = known.features.iter().map(|feature| feature.place as usize);
                let differences: Vec<(usize, f64)> = places.zip(each).collect();
                let distinct = known.distinct as usize;
                highest(&differences, distinct, f64::from(*order), second_z - first_z)
            }
            _ => f64::NEG_INFINITY,
        };
        Self { texts, known: known_share(found, texts), part }
    }
}

/// The highest score of a run of known features of the text.
fn highest_run(known: &KnownFeatures, partition: f64) -> f64 {
    let weights = known.weights[0].iter().zip(&known.weights[1]).zip(&known.features);
    let texts = weights.filter(|(_, feature)| feature.is_text);
    let differences: Vec<f64> =
        texts.map(|((first, second), _)| f64::from(*second) - f64::from(*first)).collect();
    let last = differences.len().saturating_sub(RUN / 2).max(1);
    let runs = (0..last).step_by(RUN / 2).map(|start| {
        let run = &differences[start..differences.len().min(start + RUN)];
        let [input, _] = Scoring::inputs([run.len(), 0]);
        run.iter().sum::<f64>() * input - partition
    });
    runs.fold(f64::NEG_INFINITY, f64::max)
}

/// The highest score of a part of a document of more than one part. Of its distinct features these
/// are the places and differences of the known ones.
fn highest(differences: &[(usize, f64)], distinct: usize, order: f64, partition: f64) -> f64 {
    let mut highest = f64::NEG_INFINITY;
    if distinct <= PART {
        return highest;
    }
    let mut rest = differences;
    for start in (0..distinct).step_by(PART / 2) {
        let size = (distinct - start).min(PART);
        if size <= PART / 2 {
            // These features belong to the part before.
            break;
        }
        rest = &rest[rest.partition_point(|&(place, _)| place < start)..];
        let part = rest.iter().take_while(|&&(place, _)| place < start + size);
        let sum = part.fold(0.0, |sum, &(_, difference)| sum + difference);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let mean = sum * order / f64::from(size) - partition;
        highest = highest.max(mean * Scoring::Once.length_factor(size));
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::documents::{FeatureKind, Term};
    use crate::token::id::FeatureId;

    /// A feature that a document has once, in a medium.
    fn term(id: u32, medium: u8) -> Term {
        let term = Term::new(FeatureId(id), 1, 1);
        Term { kind: FeatureKind { medium, ..term.kind }, ..term }
    }

    #[test]
    fn a_part_is_found_among_any_number_of_others() {
        let mut differences = vec![-2.0; 1024];
        let highest = |differences: &[f64], order, partition| {
            // Differences of 0 may be left out.
            let all: Vec<(usize, f64)> = differences.iter().copied().enumerate().collect();
            let found = highest(&all, all.len(), order, partition);
            let known: Vec<_> = all.iter().copied().filter(|&(_, own)| own != 0.0).collect();
            assert_eq!(highest(&known, all.len(), order, partition).to_bits(), found.to_bits());
            found
        };
        assert_eq!(highest(&differences[..PART], 1.0, 0.0), f64::NEG_INFINITY);
        let of_good = highest(&differences, 1.0, 0.0);
        assert!((of_good + 2.0 * 64f64.sqrt().sqrt()).abs() < 1e-9, "{of_good}");
        for place in [0, 500, 1024 - PART] {
            differences[place..place + PART].fill(3.0);
            let found = highest(&differences, 1.0, 0.0);
            // A part is at most a quarter beside it.
            assert!(found > 1.75 * 64f64.sqrt().sqrt(), "{place} {found}");
            assert!(found <= 3.0 * 64f64.sqrt().sqrt(), "{place} {found}");
            assert!(highest(&differences, 1.0, 9.0) < 0.0);
            differences.fill(-2.0);
        }
        differences[30] = 100.0;
        let (one, two) = (highest(&differences, 1.0, 0.0), highest(&differences, 2.0, 0.0));
        assert!((two / one - 2.0).abs() < 1e-9, "{one} {two}");
        // Parts without a known feature score nothing.
        differences[100..400].fill(0.0);
        differences[30] = -2.0;
        assert_eq!(highest(&differences, 1.0, 0.0), 0.0);
    }

    #[test]
    fn a_run_of_text_is_scored_without_the_tags() {
        let line =
            b"# refit 1 set 0123456789abcdef place 1 of 2 cost 1 blend 0 documents 36 slope 6 \
                     offset 0 low -1 high 2 blocks unsure end";
        let line = RefitLine::parse(line).unwrap();
        let terms: Vec<Term> =
            (1..=1100).map(|id| term(id, if id <= 1000 { 3 } else { 4 })).collect();
        let part = |line: &RefitLine, texts: usize, spam: std::ops::Range<usize>| {
            let terms: Vec<Term> = terms[..texts].iter().chain(&terms[1000..]).copied().collect();
            let mut weights = [vec![2.0; terms.len()], vec![0.0; terms.len()]];
            for at in spam {
                weights.iter_mut().zip([0.0, 3.0]).for_each(|(own, weight)| own[at] = weight);
            }
            Support::of(line, &KnownFeatures::of(&terms, &weights), &[(0.5, 1), (1.0, 1)]).part
        };
        let run = |weight: f64, features: f64| weight * features.sqrt() - 0.5;
        let is_near = |found: f64, expected: f64| (found - expected).abs() < 1e-4;
        assert!(is_near(part(&line, 1000, 0..0), run(-2.0, 1000.0 - 768.0)));
        // Wherever the spam's text is, it fills most of a run.
        for start in [0, 300, 700] {
            assert!(part(&line, 1000, start..start + 256) > run(1.75, 256.0), "{start}");
        }
        // A short text is one run.
        assert!(is_near(part(&line, 100, 0..100), run(3.0, 100.0)));
        let never = RefitLine { wants_unsure: false, ..line };
        assert_eq!(part(&never, 1000, 0..256), f64::NEG_INFINITY);
    }

    #[test]
    fn shares_are_of_what_any_category_knows() {
        let text =
            b"# refit 1 set 0123456789abcdef place 1 of 2 cost 1 blend 0.05 documents 36 slope 6 \
                     offset 0.02 low -1 high 2 once unsure end";
        let line = RefitLine::parse(text).unwrap();
        // The last term comes from the header.
        let terms = [term(1, 3), term(2, 2), term(3, 1), term(4, 3), term(5, 12)];
        let weights = [vec![0.0, 1.0, 0.0, 0.0, 0.0], vec![0.5, 0.0, 0.0, 0.0, 0.0]];
        let of = |line: &RefitLine, terms: &[Term], weights: &[Vec<f32>]| {
            let shapes = vec![(0.0, 1); weights.len()];
            Support::of(line, &KnownFeatures::of(terms, weights), &shapes)
        };
        let support = of(&line, &terms, &weights);
        assert_eq!(support, Support { texts: 4, known: 0.5, part: f64::NEG_INFINITY });
        let terms: Vec<Term> = (1..=200).map(|id| term(id, 12)).collect();
        let long = [vec![0.0; 200], vec![1.0; 200]];
        let found = of(&line, &terms, &long);
        assert!(found.part > 2.0 && found.texts == 0);
        let counts = RefitLine { scoring: Scoring::Counts, ..line.clone() };
        let part = |line: &RefitLine, weights: &[Vec<f32>]| of(line, &terms, weights).part;
        assert_eq!(part(&counts, &long), f64::NEG_INFINITY);
        let three = [long[0].clone(), long[0].clone(), long[1].clone()];
        assert_eq!(part(&line, &three), f64::NEG_INFINITY);
    }
}
