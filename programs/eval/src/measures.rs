// SPDX-License-Identifier: GPL-3.0-or-later
//! Measures of verdicts, with intervals (spec tools 3.7 and 6.1).

use crate::protocol::Judged;
use dbacl::measures::calibration::{self, logistic, platt};
use dbacl::measures::confusion::{Confusion, PerLabel, mean_f1};
pub(crate) use dbacl::measures::{Rate, rate};
use dbacl::measures::{Scored, Step, Z, area_above, caught_at, steps};
use dbacl_numeric::elementary::{exp, log, log2, real};

/// Rates of false positives at which recall is reported.
pub(crate) const RATES: [f64; 3] = [0.0001, 0.001, 0.01];

fn logit(p: f64) -> f64 {
    log(p / (1.0 - p))
}

/// The logistic average of two error rates, 0..=1; 0 when one of them is 0, as TREC defined it.
pub(crate) fn lam(one: f64, other: f64) -> f64 {
    if one == 0.0 || other == 0.0 {
        return 0.0;
    }
    logistic(f64::midpoint(logit(one), logit(other)))
}

/// The area above the ROC curve, with the interval of Hanley and `McNeil` (1982) on the logit
/// scale.
pub(crate) fn area(scored: &[Scored]) -> Rate {
    let value = area_above(scored);
    let positives = real(scored.iter().filter(|one| one.positive).count());
    let negatives = real(scored.len()) - positives;
    let a = 1.0 - value;
    if value.is_nan() || a <= 0.0 || a >= 1.0 {
        return Rate { value, low: value, high: value };
    }
    let (q1, q2) = (a / (2.0 - a), 2.0 * a * a / (1.0 + a));
    let variance =
        (a * (1.0 - a) + (positives - 1.0) * (q1 - a * a) + (negatives - 1.0) * (q2 - a * a))
            / (positives * negatives);
    let half = Z * variance.max(0.0).sqrt() / (a * (1.0 - a));
    let at = |shift: f64| logistic(logit(value) + shift);
    Rate { value, low: at(-half), high: at(half) }
}

/// What is measured when there are two categories.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binary {
    /// Negative documents taken for positive (hm% of TREC).
    pub false_positives: Rate,
    /// Positive documents taken for negative (sm%).
    pub misses: Rate,
    /// Logistic average of both.
    pub lam: f64,
    /// Area above the ROC curve; NaN without scores.
    pub area: Rate,
    /// Recall of the positive category at [`RATES`].
    pub recalls: Vec<Rate>,
    /// Scores by document, in the order of the verdicts; empty if some are missing.
    pub scored: Vec<Scored>,
    /// Steps of the ROC curve.
    pub steps: Vec<Step>,
    /// Positive and negative documents.
    pub sizes: (usize, usize),
}

/// A bin of a calibration table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    /// Mean stated probability.
    pub claimed: f64,
    /// Share of the documents for which it was right.
    pub found: Rate,
    /// Number of documents.
    pub count: usize,
}

/// How well stated probabilities agree with observed shares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibration {
    /// Which probabilities these are: those that were stated, or corrected ones.
    pub what: &'static str,
    /// The table, empty bins left out.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean distance between stated probability and observed share,
    /// over the bins.
    pub error: f64,
    /// Mean negative log-probability of the true category, bits; probabilities below 10^-6 count as
    /// 10^-6.
    pub log_loss: f64,
    /// Mean squared difference of the stated probability and the outcome, 0 or 1 (for the positive
    /// category, or for the verdict).
    pub brier: f64,
}

/// Everything that is measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measures {
    /// Verdicts.
    pub documents: usize,
    pub confusion: Confusion,
    /// Wrong verdicts.
    pub error: Rate,
    pub classes: Vec<PerLabel>,
    /// Average F1 of the categories.
    pub macro_f1: f64,
    /// For two categories.
    pub binary: Option<Binary>,
    /// For the stated probabilities and for corrected ones; empty without probabilities.
    pub calibrations: Vec<Calibration>,
}

/// Measures verdicts over `categories` categories. `positive` counts when there are two.
pub(crate) fn measure(judged: &[Judged], categories: usize, positive: usize) -> Measures {
    let mut confusion = Confusion::new(categories);
    for one in judged {
        confusion.add(Some(one.truth), one.verdict);
    }
    let classes: Vec<PerLabel> = confusion.each().collect();
    Measures {
        documents: judged.len(),
        error: rate(judged.len() - confusion.right(), judged.len()),
        macro_f1: mean_f1(classes.iter().copied()),
        binary: (categories == 2).then(|| binary(judged, &confusion, positive)),
        calibrations: calibrations(judged, categories, positive),
        confusion,
        classes,
    }
}

fn binary(judged: &[Judged], confusion: &Confusion, positive: usize) -> Binary {
    let negative = 1 - positive;
    let [ours, others] = [positive, negative].map(|side| confusion.row(side));
    let sizes: (usize, usize) = (ours.iter().sum(), others.iter().sum());
    let false_positives = rate(sizes.1 - others[negative], sizes.1);
    let misses = rate(sizes.0 - ours[positive], sizes.0);
    let mut scored: Vec<Scored> = judged
        .iter()
        .filter(|one| !one.margin.is_nan())
        .map(|one| Scored { score: one.margin, positive: one.truth == positive })
        .collect();
    if scored.len() < judged.len() {
        scored.clear();
    }
    let steps = steps(&scored);
    let recall = |&wanted: &f64| match steps.as_slice() {
        [] => rate(0, 0),
        steps => rate(caught_at(steps, sizes.1, wanted), sizes.0),
    };
    let recalls = RATES.iter().map(recall).collect();
    Binary {
        lam: lam(false_positives.value, misses.value),
        false_positives,
        misses,
        area: area(&scored),
        recalls,
        scored,
        steps,
        sizes,
    }
}

/// Number of bins of a calibration table.
const BINS: usize = 10;
/// The least probability, and the least distance from 1, in the log loss.
const SMALLEST: f64 = 1e-6;

/// The calibration of stated probabilities, each with whether it was right; `loss` is their log
/// loss.
fn table(what: &'static str, claims: &[(f64, bool)], loss: f64) -> Calibration {
    let mut bins = vec![(0.0, 0, 0); BINS];
    let mut brier = 0.0;
    for &(claim, came_true) in claims {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=BINS
        let bin = &mut bins[((claim * real(BINS)) as usize).min(BINS - 1)];
        bin.0 += claim;
        bin.1 += usize::from(came_true);
        bin.2 += 1;
        brier += (claim - f64::from(u8::from(came_true))).powi(2);
    }
    let total = real(claims.len());
    let bins: Vec<Bin> = bins
        .into_iter()
        .filter(|&(.., count)| count > 0)
        .map(|(claimed, hits, count)| Bin {
            claimed: claimed / real(count),
            found: rate(hits, count),
            count,
        })
        .collect();
    let distance =
        bins.iter().map(|bin| (bin.claimed - bin.found.value).abs() * real(bin.count)).sum::<f64>();
    Calibration { what, bins, error: distance / total, log_loss: loss, brier: brier / total }
}

fn surprise(probability: f64) -> f64 {
    -log2(probability.clamp(SMALLEST, 1.0 - SMALLEST))
}

fn calibrations(judged: &[Judged], categories: usize, positive: usize) -> Vec<Calibration> {
    let believable = |one: &Judged| one.shares.len() == categories && !one.shares[0].is_nan();
    if judged.is_empty() || !judged.iter().all(believable) {
        return Vec::new();
    }
    let total = real(judged.len());
    let loss = judged.iter().map(|one| surprise(one.shares[one.truth])).sum::<f64>() / total;
    if categories != 2 {
        let claims: Vec<(f64, bool)> = judged
            .iter()
            .filter_map(|one| {
                let verdict = one.verdict?;
                Some((one.shares[verdict], verdict == one.truth))
            })
            .collect();
        return vec![table("probability of the verdict, as -N prints it", &claims, loss)];
    }
    let raw: Vec<(f64, bool)> =
        judged.iter().map(|one| (one.shares[positive], one.truth == positive)).collect();
    let mended = corrected(judged, positive);
    let mended_loss = mended
        .iter()
        .map(|&(claim, came_true)| surprise(if came_true { claim } else { 1.0 - claim }))
        .sum::<f64>()
        / total;
    vec![
        table("as -N prints it", &raw, loss),
        table("after a logistic correction of the average score", &mended, mended_loss),
    ]
}

/// Probabilities from margins by a logistic curve that was fitted to the documents of the other
/// folds, or of the other half when there is one fold.
fn corrected(judged: &[Judged], positive: usize) -> Vec<(f64, bool)> {
    let folded = judged.iter().any(|one| one.fold > 0);
    let part = |at: usize, one: &Judged| if folded { one.fold } else { at % 2 };
    let parts = judged.iter().enumerate().map(|(at, one)| part(at, one)).max().unwrap_or(0) + 1;
    let curves: Vec<calibration::Calibration> = (0..parts)
        .map(|wanted| {
            let others = judged
                .iter()
                .enumerate()
                .filter(|&(at, one)| part(at, one) != wanted)
                .map(|(_, one)| Scored { score: one.margin, positive: one.truth == positive })
                .collect::<Vec<_>>();
            platt(&others)
        })
        .collect();
    judged
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let calibration::Calibration { slope, offset } = curves[part(at, one)];
            (logistic(slope * one.margin + offset), one.truth == positive)
        })
        .collect()
}

/// A comparison of two methods on the same documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// Documents that only the first got wrong.
    pub only_first: usize,
    /// Documents that only the second got wrong.
    pub only_second: usize,
    /// Probability that chance makes these two numbers differ at least as much, if both methods are
    /// equally good (`McNemar`'s exact test).
    pub chance: f64,
}

impl Comparison {
    /// The comparison of two methods by their verdicts.
    pub(crate) fn of(one: &[Judged], other: &[Judged]) -> Self {
        let wrong = |judged: &Judged| judged.verdict != Some(judged.truth);
        let (mut only_first, mut only_second) = (0, 0);
        for (one, other) in one.iter().zip(other) {
            only_first += usize::from(wrong(one) && !wrong(other));
            only_second += usize::from(wrong(other) && !wrong(one));
        }
        Self { only_first, only_second, chance: sign_test(only_first, only_second) }
    }

    /// The probability for people.
    pub(crate) fn chance_text(&self) -> String {
        if self.chance < 1e-4 { "< 0.0001".to_owned() } else { format!("{:.4}", self.chance) }
    }
}

/// Two-sided probability that tosses of a fair coin are at least so unequal.
fn sign_test(one: usize, other: usize) -> f64 {
    let (few, all) = (one.min(other), one + other);
    // log of (all choose k) / 2^all, k by k
    let mut term = -real(all) * core::f64::consts::LN_2;
    let mut tail = exp(term);
    for k in 1..=few {
        term += log(real(all - k + 1) / real(k));
        tail += exp(term);
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(truth: usize, verdict: usize, margin: f64) -> Judged {
        let shares = vec![1.0 - logistic(margin), logistic(margin)];
        Judged { truth, verdict: Some(verdict), shares, margin, ..Judged::default() }
    }

    #[test]
    fn lam_lies_between_the_rates() {
        assert!((lam(0.2, 0.2) - 0.2).abs() < 1e-12);
        // logits of 1 % and 4 % on average
        assert!((lam(0.01, 0.04) - 0.020101).abs() < 1e-5);
        assert_eq!(lam(0.0, 0.5), 0.0);
    }

    #[test]
    fn sign_test_counts_coins() {
        for (one, other, p) in
            [(0, 0, 1.0), (0, 5, 0.0625), (1, 4, 0.375), (3, 3, 1.0), (10, 30, 0.002221)]
        {
            assert!((sign_test(one, other) - p).abs() < 1e-6, "{one} {other}");
        }
        assert!(sign_test(900, 1100) < 1e-4);
    }

    #[test]
    fn verdicts_are_counted() {
        let all = [
            judged(0, 0, -3.0),
            judged(0, 1, 1.0),
            judged(1, 1, 2.0),
            judged(1, 1, 3.0),
            Judged { verdict: None, ..judged(1, 0, -1.0) },
        ];
        let found = measure(&all, 2, 1);
        assert_eq!(found.confusion.rows().collect::<Vec<_>>(), [[1, 1, 0], [0, 2, 1]]);
        assert!((found.error.value - 0.4).abs() < 1e-12);
        let binary = found.binary.expect("two categories");
        assert_eq!(binary.sizes, (3, 2));
        // of six pairs one is the wrong way round: -1 below 1
        assert!((binary.area.value - 1.0 / 6.0).abs() < 1e-12);
        assert!((binary.recalls[1].value - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.classes[1].precision.value - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.calibrations.len(), 2);
    }

    #[test]
    fn many_categories_have_no_binary_measures() {
        let one = |truth, verdict| Judged {
            shares: vec![0.2, 0.3, 0.5],
            ..judged(truth, verdict, f64::NAN)
        };
        let found = measure(&[one(0, 0), one(1, 1), one(2, 1)], 3, 2);
        assert!(found.binary.is_none());
        assert!((found.macro_f1 - (1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
    }
}
