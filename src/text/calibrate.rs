// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of documents that were left out of a fit → how scores become probabilities and labels.

use crate::fit::blocks::best;
use crate::linear::{Calibration, Sample, calibrate};
use crate::text::none;
use crate::text::table::Scale;
use dbacl_numeric::elementary::{exp, log, narrow, real};
use std::collections::BTreeMap;

/// A text that was left out, or what is left of it when it is cut short.
#[derive(Clone)]
pub(super) struct Cut<'a> {
    /// Words that are left, 0 for all.
    pub words: usize,
    /// The score of each label.
    pub scores: Vec<f32>,
    /// Features that the fit knows.
    pub known: u32,
    /// Its labels.
    pub labels: &'a [u32],
}

impl Cut<'_> {
    /// Whether the highest score is that of a label of the document; of several labels, whether
    /// all scores have the right sign.
    pub(super) fn is_right(&self, has_several: bool) -> bool {
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        if !has_several {
            return self.labels.contains(&number(best(&self.scores)));
        }
        let mut scores = self.scores.iter().enumerate();
        scores.all(|(k, &score)| self.labels.contains(&number(k)) == (score > 0.0))
    }

    fn probabilities(&self, calibration: &Calibration, priors: &[f64]) -> Vec<f64> {
        let mut scores: Vec<f64> = self.scores.iter().map(|&score| f64::from(score)).collect();
        calibration.apply(&mut scores, f64::from(self.known), priors);
        scores
    }
}

/// How scores become probabilities, where `priors` are the shares of the labels. Labels are chosen
/// for their mean F1 if `is_for_f1` says so; `none` is the number of the label of that name.
pub(super) fn scale(
    has_several: bool,
    cuts: &[Cut<'_>],
    priors: Vec<f64>,
    is_for_f1: bool,
    none: Option<usize>,
) -> Scale {
    // Each length has the same weight.
    let mut numbers: BTreeMap<usize, f64> = BTreeMap::new();
    for cut in cuts {
        *numbers.entry(cut.words).or_default() += 1.0;
    }
    let weight = |cut: &Cut<'_>| narrow(1.0 / numbers[&cut.words]);
    let known: Vec<&Cut<'_>> = cuts.iter().filter(|cut| cut.known > 0).collect();
    let calibration = if has_several {
        // All labels have the mean of the priors here, which only short texts notice.
        let mean = priors.iter().sum::<f64>() / real(priors.len());
        let pairs: Vec<[f32; 2]> =
            known.iter().flat_map(|cut| cut.scores.iter().map(|&it| [0.0, it])).collect();
        let cells =
            known.iter().flat_map(|cut| (0u32..).zip(&cut.scores).map(move |it| (cut, it.0)));
        let samples = pairs.iter().zip(cells).map(|(margins, (cut, label))| Sample {
            margins,
            known: narrow(f64::from(cut.known)),
            truth: usize::from(cut.labels.contains(&label)),
            weight: weight(cut),
        });
        calibrate(&samples.collect::<Vec<_>>(), &[1.0 - mean, mean])
    } else {
        let samples = known.iter().map(|cut| Sample {
            margins: cut.scores.as_slice(),
            known: narrow(f64::from(cut.known)),
            truth: cut.labels.first().map_or(0, |&label| label as usize),
            weight: weight(cut),
        });
        sparing(cuts, &priors, calibrate(&samples.collect::<Vec<_>>(), &priors))
    };
    let refusals = if has_several { Vec::new() } else { none::groups(cuts, none) };
    let mut scale = Scale { calibration, priors, shift: 0.0, thresholds: Vec::new(), refusals };
    if has_several {
        scale.thresholds = thresholds(cuts, &scale, is_for_f1);
    } else if is_for_f1 {
        scale.shift = shift_for_f1(cuts, &scale);
    }
    scale
}

/// The calibration with a weaker prior, if need be, so that the prior, which is meant for short
/// texts, makes no errors in whole ones.
fn sparing(cuts: &[Cut<'_>], priors: &[f64], mut found: Calibration) -> Calibration {
    let whole = || cuts.iter().filter(|cut| cut.words == 0);
    let without = whole().filter(|cut| !cut.is_right(false)).count();
    let is_wrong = |cut: &Cut<'_>, calibration: &Calibration| {
        let found = best(&cut.probabilities(calibration, priors));
        cut.labels.first().is_none_or(|&label| found != label as usize)
    };
    while found.prior > 0.1 && whole().filter(|cut| is_wrong(cut, &found)).count() > without {
        found.prior /= 1.5;
    }
    found
}

/// The power of the priors at which the mean F1 of the labels is best for texts that were left out.
fn shift_for_f1(cuts: &[Cut<'_>], scale: &Scale) -> f64 {
    let whole: Vec<(Vec<f64>, u32)> = cuts
        .iter()
        .filter(|cut| cut.words == 0)
        .map(|cut| {
            (
                cut.probabilities(&scale.calibration, &scale.priors),
                cut.labels.first().copied().unwrap_or(0),
            )
        })
        .collect();
    let f1 = |shift: f64| {
        let classes = scale.priors.len();
        let (mut hits, mut seen) = (vec![0u32; classes], vec![0u32; classes]);
        for (found, truth) in &whole {
            let preference = |(p, prior): (&f64, &f64)| p * exp(-shift * log(prior.max(1e-12)));
            let preferences: Vec<f64> = found.iter().zip(&scale.priors).map(preference).collect();
            let label = best(&preferences);
            hits[label] += u32::from(label == *truth as usize);
            seen[label] += 1;
            seen[*truth as usize] += 1;
        }
        let each = hits.iter().zip(&seen).filter(|(_, seen)| **seen > 0);
        each.map(|(&hits, &seen)| 2.0 * f64::from(hits) / f64::from(seen)).sum::<f64>()
    };
    let tried = [0.0, 0.25, 0.5, 0.75, 1.0].map(f1);
    0.25 * real(best(&tried))
}

/// From which probability a text has a label: one half, or what is best for F1.
fn thresholds(cuts: &[Cut<'_>], scale: &Scale, is_for_f1: bool) -> Vec<f32> {
    let threshold = |label: usize| {
        let own = u32::try_from(label).unwrap_or(u32::MAX);
        let probability = |cut: &Cut<'_>| {
            let mut pair = [0.0, f64::from(cut.scores[label])];
            let prior = scale.priors[label];
            scale.calibration.apply(&mut pair, f64::from(cut.known), &[1.0 - prior, prior]);
            (pair[1], cut.labels.contains(&own))
        };
        let whole = cuts.iter().filter(|cut| cut.words == 0);
        let mut found: Vec<(f64, bool)> = whole.map(probability).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all = found.iter().filter(|(_, is_own)| *is_own).count();
        let (mut hits, mut best, mut threshold) = (0, 0.0, 0.5);
        for (place, &(probability, is_own)) in found.iter().enumerate() {
            hits += usize::from(is_own);
            let f1 = 2.0 * real(hits) / real(place + 1 + all);
            if f1 > best {
                (best, threshold) = (f1, probability);
            }
        }
        // Few documents tell little.
        if all < 5 { 0.5 } else { narrow(threshold.min(0.9)) }
    };
    let labels = 0..scale.priors.len();
    if is_for_f1 { labels.map(threshold).collect() } else { vec![0.5; labels.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_that_would_make_errors_in_whole_texts_is_weakened() {
        let strong = Calibration { slope: 1.0, prior: 20.0, more: 0.0 };
        let priors = [0.9, 0.1];
        let prior = |words, truth: u32| {
            let cut = Cut { words, scores: vec![0.0, 0.2], known: 5, labels: &[truth] };
            sparing(&[cut], &priors, strong).prior
        };
        let weak = prior(0, 1);
        assert!((0.1..strong.prior).contains(&weak), "{weak}");
        let own = Cut { words: 0, scores: vec![0.0, 0.2], known: 5, labels: &[1] };
        let answers = own.probabilities(&Calibration { prior: weak, ..strong }, &priors);
        assert!(answers[1] > answers[0], "{answers:?}");
        // The prior mends this text, and the other is cut short.
        assert_eq!([prior(0, 0), prior(3, 1)], [strong.prior; 2]);
    }
}
