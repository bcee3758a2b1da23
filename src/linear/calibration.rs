// SPDX-License-Identifier: GPL-3.0-or-later
//! From margins to probabilities, for documents of every length.
//!
//! A document of which n features are known has the probabilities
//!
//! ```text
//! p_k = (n softmax_k(a sqrt(n/(n+m)) s) + h prior_k) / (n + h)
//! ```
//!
//! where s are its margins. The slope a says how much a margin is worth. A margin of a block of u
//! features is a sum divided by sqrt(u), which the few features of a short document make too
//! large: it counts as if the document had m more features, of weight 0. The prior outvotes a
//! document of fewer than h known features. A document without known features has the prior.

use dbacl_numeric::elementary::{exp, log, real};

/// Probabilities of the truth are taken for at least this much.
const SMALLEST: f64 = 1e-12;
/// Probabilities that are multiplied before a logarithm is taken: the product of so many is still
/// far above the smallest number.
const FACTORS: usize = 16;
/// Logarithms of the slopes and of the prior's features that are tried.
const SLOPES: [f64; 2] = [-4.0, 6.0];
const PRIORS: [f64; 2] = [-7.0, 7.0];
/// What few samples are drawn to.
const USUAL: Calibration = Calibration { slope: 3.0, prior: 2.0, more: 0.0 };
/// How exactly they are found, and where only the best of [`MORE`] is looked for.
const NEAR: f64 = 1e-3;
const COARSE: f64 = 0.05;
/// The numbers of further features that are tried.
const MORE: [f64; 7] = [0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];
/// Samples and margins by which the best of them is found, about.
const SAMPLES: usize = 40_000;
const MARGINS: usize = 1_000_000;

/// See the formula above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// What margins are multiplied by.
    pub slope: f64,
    /// The number of known features that weigh as much as the prior.
    pub prior: f64,
    /// The number m of further features that a document is taken to have.
    pub more: f64,
}

impl Calibration {
    /// What the margins of a document with so many known features are multiplied by.
    pub(crate) fn slope_of(&self, known: f64) -> f64 {
        self.slope * share(known, self.more)
    }

    /// Turns margins into probabilities. Two classes that are one problem have the margins 0 and m.
    pub(crate) fn apply(&self, margins: &mut [f64], known: f64, prior: &[f64]) {
        let highest = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slope = self.slope_of(known);
        let mut sum = 0.0;
        for margin in &mut *margins {
            *margin = exp(slope * (*margin - highest));
            sum += *margin;
        }
        let weight = if known > 0.0 { known / (known + self.prior) } else { 0.0 };
        for (margin, prior) in margins.iter_mut().zip(prior) {
            *margin =
                if known > 0.0 { weight * *margin / sum + (1.0 - weight) * prior } else { *prior };
        }
    }
}

/// The share of the slope that margins of a document with so many known features have.
fn share(known: f64, more: f64) -> f64 {
    if more == 0.0 { 1.0 } else { (known / (known + more)).sqrt() }
}

/// A document that was left out of the fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// Its margins, one a class.
    pub margins: &'a [f32],
    /// Its known features.
    pub known: f32,
    /// The number of its class.
    pub truth: usize,
    /// How much it counts. Where shortened copies stand beside whole documents, each length has
    /// the same weight in all.
    pub weight: f32,
}

/// The calibration under which the samples are most probable: the smallest weighted mean of
/// -ln `p_truth`, plus (ln²(a/3) + ln²(h/2))/2 divided by the number of samples so that few of them
/// claim little. It is found by a golden-section search over ln a, and for each a over ln h, with
/// the smallest m that makes some of the samples at most e times less probable than the best one.
/// Without samples it is a = 3, h = 2, m = 0.
pub(crate) fn calibrate(samples: &[Sample<'_>], prior: &[f64]) -> Calibration {
    if samples.is_empty() {
        return USUAL;
    }
    let most = (MARGINS / prior.len().max(1)).clamp(1, SAMPLES);
    let some = samples.len().div_ceil(most);
    let some: Vec<Sample<'_>> = samples.iter().step_by(some).copied().collect();
    let losses = MORE.map(|more| with_more(&some, prior, more, COARSE).1);
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let chance = 1.0 / real(some.len());
    let enough = losses.iter().position(|&loss| loss <= least + chance).unwrap_or(0);
    with_more(samples, prior, MORE[enough], NEAR).0
}

/// A sample at some slope: what its margins and the prior say of the truth.
struct Term {
    votes: f64,
    known: f64,
    prior: f64,
    weight: f32,
}

/// The calibration with `more` further features, as exactly as `near` says, and its loss.
fn with_more(samples: &[Sample<'_>], prior: &[f64], more: f64, near: f64) -> (Calibration, f64) {
    let weights: f64 = samples.iter().map(|sample| f64::from(sample.weight)).sum();
    let pull = |found: f64, usual: f64| {
        let distance = found - log(usual);
        distance * distance / (2.0 * real(samples.len()))
    };
    // Samples of one weight together, so that a product of probabilities has one logarithm.
    let mut sorted: Vec<&Sample<'_>> = samples.iter().collect();
    sorted.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let mut terms: Vec<Term> = Vec::with_capacity(samples.len());
    let mut best_prior = |log_slope: f64| {
        let slope = exp(log_slope);
        terms.clear();
        terms.extend(sorted.iter().map(|sample| {
            let known = f64::from(sample.known);
            let share = softmax(sample.margins, sample.truth, slope * share(known, more));
            Term { votes: known * share, known, prior: prior[sample.truth], weight: sample.weight }
        }));
        let pulled = pull(log_slope, USUAL.slope);
        golden(PRIORS, near, |log_prior| {
            let h = exp(log_prior);
            let p = |term: &Term| ((term.votes + h * term.prior) / (term.known + h)).max(SMALLEST);
            let loss = |own: &[Term]| -f64::from(own[0].weight) * log(own.iter().map(p).product());
            let equal = terms.chunk_by(|a, b| a.weight == b.weight);
            let all: f64 = equal.flat_map(|own| own.chunks(FACTORS)).map(loss).sum();
            all / weights + pulled + pull(log_prior, USUAL.prior)
        })
    };
    let (log_slope, _) = golden(SLOPES, near, |log_slope| best_prior(log_slope).1);
    let (log_prior, loss) = best_prior(log_slope);
    (Calibration { slope: exp(log_slope), prior: exp(log_prior), more }, loss)
}

/// The share of class `truth` by these margins.
fn softmax(margins: &[f32], truth: usize, slope: f64) -> f64 {
    let highest = margins.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut own) = (0.0, 0.0);
    for (class, &margin) in margins.iter().enumerate() {
        let distance = f64::from(margin) - f64::from(highest);
        let part = if distance == 0.0 { 1.0 } else { exp(slope * distance) };
        sum += part;
        if class == truth {
            own = part;
        }
    }
    own / sum
}

/// Where a function that falls and then rises is smallest between two places, and its value there.
fn golden(
    [mut low, mut high]: [f64; 2],
    near: f64,
    mut function: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let place = |low: f64, high: f64| low + SECTION * (high - low);
    let (mut left, mut right) = (place(high, low), place(low, high));
    let (mut at_left, mut at_right) = (function(left), function(right));
    while high - low > near {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = place(high, low);
            at_left = function(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = place(low, high);
            at_right = function(right);
        }
    }
    if at_left <= at_right { (left, at_left) } else { (right, at_right) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_numeric::elementary::narrow;
    use dbacl_numeric::random::SplitMix64;

    #[test]
    fn documents_without_known_features_have_the_prior() {
        let calibration = Calibration { slope: 3.0, prior: 2.0, more: 0.0 };
        let mut margins = [5.0, -1.0];
        calibration.apply(&mut margins, 0.0, &[0.3, 0.7]);
        assert_eq!(margins, [0.3, 0.7]);
        let mut margins = [0.0, 0.0];
        calibration.apply(&mut margins, 2.0, &[0.3, 0.7]);
        assert!((margins[0] - 0.4).abs() < 1e-12 && (margins[0] + margins[1] - 1.0).abs() < 1e-12);
        let mut margins = [-1e300, 1e300];
        Calibration { slope: 1.0, prior: 0.0, more: 0.0 }.apply(&mut margins, 1.0, &[0.5, 0.5]);
        assert_eq!(margins, [0.0, 1.0]);
    }

    #[test]
    fn the_calibration_that_made_the_data_is_found() {
        for (slope, more) in [(2.5, 0.0), (9.0, 30.0)] {
            found_again(Calibration { slope, prior: 4.0, more });
        }
    }

    fn found_again(truth: Calibration) {
        let prior = [0.2, 0.3, 0.5];
        let mut random = SplitMix64::new(3);
        let mut unit =
            || f64::from(u32::try_from(random.draw() >> 40).unwrap()) / f64::from(1 << 24);
        let mut drawn = Vec::new();
        for number in 0..30_000 {
            let margins = [unit() * 2.0 - 1.0, unit() * 2.0 - 1.0, unit() * 2.0 - 1.0];
            let known = f64::from([1, 2, 5, 40][number % 4]);
            let mut shares = margins;
            truth.apply(&mut shares, known, &prior);
            let at = unit();
            let class =
                if at < shares[0] { 0 } else { 1 + usize::from(at >= shares[0] + shares[1]) };
            drawn.push((margins.map(narrow), narrow(known), class));
        }
        let samples: Vec<Sample<'_>> = drawn
            .iter()
            .map(|(margins, known, truth)| Sample {
                margins,
                known: *known,
                truth: *truth,
                weight: 1.0,
            })
            .collect();
        let found = calibrate(&samples, &prior);
        assert_eq!(found.more > 0.0, truth.more > 0.0, "{found:?}");
        let slope = found.slope_of(40.0) / truth.slope_of(40.0);
        assert!((slope - 1.0).abs() < 0.15, "{found:?}");
        assert!((found.prior / truth.prior - 1.0).abs() < 0.3, "{found:?}");
        assert_eq!(calibrate(&[], &prior), USUAL);
        // Five that are right do not claim certainty.
        let few = calibrate(&[samples[0]; 5], &prior);
        assert!(few.slope < 10.0, "{few:?}");
    }

    #[test]
    fn samples_count_by_their_weight() {
        let found = |wrong: f32| {
            let sample = |number: usize| {
                let (truth, weight) = [(0, wrong), (1, 1.0), (1, 1.0)][number % 3];
                Sample { margins: &[0.0, 1.0], known: 40.0, truth, weight }
            };
            calibrate(&(0..300).map(sample).collect::<Vec<_>>(), &[0.5; 2])
        };
        // Odds of two to one, and of 200 to one.
        let (even, lighter) = (found(1.0), found(0.01));
        assert!(even.slope < 1.0 && lighter.slope > 3.0, "{even:?} {lighter:?}");
        // Where all documents are equally long, further features explain nothing.
        assert_eq!([even.more, lighter.more], [0.0; 2]);
    }
}
