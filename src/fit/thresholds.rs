// SPDX-License-Identifier: GPL-3.0-or-later
//! When a verdict is sure: thresholds that keep their promise however few documents there are.
//!
//! ```text
//! scores out of fold, one of each document ─→ limit of each category ─→ thresholds of a set
//! known shares out of fold                 ─→ least known share
//! ```
//!
//! The *excess* of a document is how far a fit that has not seen it takes it for another category.
//! A document of category c is confidently taken for another one only above the *limit* of c, and
//! at most the share `rate` of its documents is to lie there:
//!
//! ```text
//! n documents, k = floor(rate (n + 1))
//! k >= 1    the k-th largest excess: the next document exceeds it with probability k/(n + 1) at
//!           most, whatever the distribution is (split conformal prediction)
//! k = 0     max(largest excess, mean + t s sqrt(1 + 1/n)), t the point that Student's distribution
//!           exceeds with probability `tail`: a promise for a normal distribution only, and one of
//!           1/(n + 1) for any
//! n < 8     nothing can be promised: with two categories no verdict is sure
//! ```
//!
//! Documents that look misfiled ([`crate::measures::misfiled`]) are not counted among the n, since
//! a few messages in the wrong folder would otherwise set the threshold by themselves.
//!
//! A limit is at least where the odds against the category are DOUBT/rate to one; these odds are
//! found without the documents that look misfiled, too.
//!
//! s is the larger of the category's own deviation and the root of the mean variance of all
//! categories. With more than two categories one that has fewer than eight documents gets the
//! largest limit of the others, so that a new folder does not silence all; if more is promised of
//! it than of an ordinary one, none of its documents is confidently called another. A document with
//! an unusually small share of features that were learned is like none of those that the limits
//! were found with: its verdict is never sure (spec refit 4).

use super::blocks::best_other;
use crate::measures::Scored;
use crate::measures::calibration::Calibration;
use crate::measures::chance::{Direction, is_rare, student};
use crate::measures::misfiled::{Misfiled, misfiled};
use dbacl_numeric::elementary::{log, real};
use serde::{Deserialize, Serialize};

/// Fewer documents of a category tell nothing of their distribution.
pub(crate) const FEWEST: usize = 8;

/// A limit that no score exceeds.
pub(crate) const NEVER: f64 = 1e9;

/// How many of the protected category's documents have an unusually small share of known features.
const UNUSUAL: usize = 5;

/// The least share is never set above this. Learned documents may hardly differ in a word, as
/// made-up mail does, and say nothing then of how many new words the documents to come have.
const FAMILIAR: f64 = 0.97;

/// A document that has the least share comes out with so few known features, or fewer, once in a
/// hundred times.
const RARE: f64 = 0.01;

/// Where the share `rate` is promised, a sure verdict has odds of at least DOUBT/rate to one: 20 to
/// one for 0.001. Excesses have longer tails than normal distributions; those of a few hundred
/// documents may end where the odds of another category are no better than seven to one.
const DOUBT: f64 = 0.02;

/// How seldom a limit is exceeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Promise {
    /// Whether more is promised of the category than of ordinary ones.
    pub is_protected: bool,
    /// The share of a category's documents that may exceed its limit.
    pub rate: f64,
    /// The share of a normal distribution that may, while there are too few documents to do without
    /// one.
    pub tail: f64,
}

impl Promise {
    /// What is promised of an ordinary category.
    pub(crate) const fn usual(rate: f64) -> Self {
        Self { is_protected: false, rate, tail: 2.0 * rate }
    }

    /// What is promised of a protected category.
    pub(crate) const fn protected(rate: f64) -> Self {
        Self { is_protected: true, rate, tail: rate }
    }

    /// The logarithm of the least odds at which a document is confidently not of the category.
    pub(crate) fn least_odds(&self) -> f64 {
        log(DOUBT / self.rate).max(0.0)
    }
}

/// Fewer documents than this of one of two categories show less of the tails of a distribution
/// than there is: those of 20 spams let 1.1 % be confidently called ham where 0.5 % was promised.
const TELLING: f64 = 70.0;

/// How sure a verdict must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Caution {
    /// Fewer verdicts are unsure, and more good mail is lost.
    Low,
    /// The default.
    #[default]
    Normal,
    /// More verdicts are unsure, and less good mail is lost.
    High,
}

impl Caution {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Low, "low"), (Self::Normal, "normal"), (Self::High, "high")];

    /// What the margins are multiplied by.
    pub const fn factor(self) -> f64 {
        match self {
            Self::Low => 0.75,
            Self::Normal => 1.0,
            Self::High => 1.3,
        }
    }

    /// With more than two categories, the share of documents that may confidently be sorted into
    /// another one than their own. It is large because mail in a wrong folder can still be found.
    pub const fn misfiled(self) -> f64 {
        match self {
            Self::Low => 0.01,
            Self::Normal => 0.004,
            Self::High => 0.001,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }

    /// The caution of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, own)| *own == name).map(|(own, _)| own)
    }
}

/// Scores of a fit by blocks between which nothing is sure, with so many documents of the smaller
/// category. The fit shrinks scores by itself when there is little to learn, so the margins grow.
pub(crate) fn margins(smaller: usize, caution: f64) -> (f64, f64) {
    let growth = log(real(smaller.max(10)) / 10.0);
    let low = (0.16 + 0.035 * growth).min(0.33);
    let high = (0.34 + 0.08 * growth).min(0.53);
    (-low * caution, high * caution)
}

/// The correction for a fit that leans is made in full once the larger category has this many times
/// the documents of the smaller one.
const UNEVEN: f64 = 3.0;

/// The share of the correction that is made however equal the categories are in size: the documents
/// of one may be more alike than those of the other, and a fit takes most new documents for them.
const LEAST: f64 = 0.5;

/// The correction becomes smaller once the smaller category has more documents than this.
const LEANING: f64 = 100.0;

/// The correction of odds and margins for a fit by blocks of two categories of different sizes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Lean {
    /// The score at which odds are even.
    pub even: f64,
    /// By how much the mean score of each category may be wrong.
    pub doubt: [f64; 2],
}

/// Finds out how far a fit leans towards the larger category (spec refit 4), from the scores of
/// documents that it has not seen. It knows little of the smaller category, or of the one whose
/// documents differ more, so it takes most new documents for the other one, and the score at which
/// odds are even has to move. In full the
/// score is halfway between two others: the middle of the categories' mean scores, and the score
/// that is the same number of standard deviations away from either mean.
pub(crate) fn lean(scored: &[Scored]) -> Lean {
    let excesses = excesses_of_pair(scored);
    let sizes = [real(excesses[0].len()), real(excesses[1].len())];
    let (least, most) = (sizes[0].min(sizes[1]), sizes[0].max(sizes[1]));
    if least < 2.0 {
        return Lean::default();
    }
    let [(first, of_first), (second, of_second)] =
        [&excesses[0], &excesses[1]].map(|own| mean_and_variance(own));
    let (second, deviations) = (-second, [of_first.sqrt(), of_second.sqrt()]);
    let both = deviations[0] + deviations[1];
    if both <= 0.0 {
        return Lean::default();
    }
    let uneven = (log(most / least) / log(UNEVEN)).min(1.0);
    let fading = (LEANING / least).min(1.0);
    let equally_far = (first * deviations[1] + second * deviations[0]) / both;
    let middle = f64::midpoint(f64::midpoint(first, second), equally_far);
    let even = uneven.max(LEAST) * fading * middle;
    let doubt = [0, 1].map(|at| uneven * fading * deviations[at] / sizes[at].sqrt());
    Lean { even, doubt }
}

/// What looks misfiled in each category, from the excesses of their documents. With two categories
/// odds are even at the score `even`, with more at 0.
pub(crate) fn misfiled_of_each(excesses: &[Vec<f64>], even: f64) -> Vec<Option<Misfiled>> {
    let evenly = |at: usize| if at == 0 { even } else { -even };
    let above = |at: usize| excesses[at].iter().map(move |excess| excess - evenly(at));
    let others = |at: usize| (0..excesses.len()).filter(move |&other| other != at);
    let found = |at: usize| {
        let others: Vec<f64> = others(at).flat_map(above).map(|excess| -excess).collect();
        let found = misfiled(&above(at).collect::<Vec<f64>>(), &others)?;
        Some(Misfiled { beyond: found.beyond + evenly(at), ..found })
    };
    (0..excesses.len()).map(found).collect()
}

/// The excesses of documents that do not look misfiled.
pub(crate) fn well_filed(
    mut excesses: Vec<Vec<f64>>,
    misfiled: &[Option<Misfiled>],
) -> Vec<Vec<f64>> {
    for (own, misfiled) in excesses.iter_mut().zip(misfiled) {
        if let Some(Misfiled { number, .. }) = misfiled {
            own.sort_by(|a, b| b.total_cmp(a));
            own.drain(..*number);
        }
    }
    excesses
}

/// Scores of two categories between which nothing is sure, from those of documents that the fit has
/// not seen, where a user has asked for promises. Documents that look misfiled have no part in it.
pub(crate) fn band_as_asked(
    scored: &[Scored],
    promises: &[Promise],
    odds: Calibration,
) -> (f64, f64) {
    let excesses = excesses_of_pair(scored);
    let misfiled = misfiled_of_each(&excesses, odds.even());
    band(&well_filed(excesses, &misfiled), promises, odds)
}

/// Scores of two categories between which nothing is sure.
fn band(excesses: &[Vec<f64>], promises: &[Promise], odds: Calibration) -> (f64, f64) {
    let limits = limits(excesses, promises);
    let (mut low, mut high) = (-limits[1], limits[0]);
    if low > high {
        // Both rates can be met with one threshold.
        (low, high) = (f64::midpoint(low, high), f64::midpoint(low, high));
    }
    let [first, second] = [promises[0].least_odds(), promises[1].least_odds()];
    (low.min(odds.score_at(-second)), high.max(odds.score_at(first)))
}

/// The limits of all categories, from the excesses of their documents and what is promised of each.
pub(crate) fn limits(excesses: &[Vec<f64>], promises: &[Promise]) -> Vec<f64> {
    let is_pair = excesses.len() == 2;
    let enough: Vec<&Vec<f64>> = excesses.iter().filter(|own| own.len() >= FEWEST).collect();
    if enough.is_empty() || is_pair && enough.len() < 2 {
        return vec![NEVER; excesses.len()];
    }
    let variances = enough.iter().map(|own| mean_and_variance(own).1);
    let mean_variance = variances.sum::<f64>() / real(enough.len());
    let fewest = enough.iter().map(|own| own.len()).min().unwrap_or(FEWEST);
    let limit = |own: &[f64], Promise { rate, tail, is_protected }: Promise| {
        let mut sorted = own.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let allowed = allowed(rate, own.len());
        if allowed > 0 {
            return sorted[allowed - 1];
        }
        let (mean, variance) = mean_and_variance(own);
        let freedom = real(if is_pair { fewest } else { own.len() } - 1);
        let spread = (variance.max(mean_variance) * (1.0 + 1.0 / real(own.len()))).sqrt();
        let telling = if is_pair && !is_protected { real(fewest) / TELLING } else { 1.0 };
        let tail = tail * (telling * telling).min(1.0);
        sorted[0].max(mean + student(tail, freedom) * spread)
    };
    let each = || excesses.iter().zip(promises);
    let found = each().filter(|(own, _)| own.len() >= FEWEST);
    let largest =
        found.map(|(own, &promise)| limit(own, promise)).fold(f64::NEG_INFINITY, f64::max);
    each()
        .map(|(own, &promise)| match own.len() {
            FEWEST.. => limit(own, promise),
            _ if promise.is_protected => NEVER,
            _ => own.iter().copied().fold(largest, f64::max),
        })
        .collect()
}

/// floor(rate (n + 1)): the rank of the excess that is a limit.
fn allowed(rate: f64, documents: usize) -> usize {
    let mut allowed = 0;
    while allowed < documents && real(allowed + 1) <= rate * real(documents + 1) {
        allowed += 1;
    }
    allowed
}

/// Mean and variance of a sample of two or more.
fn mean_and_variance(sample: &[f64]) -> (f64, f64) {
    let n = real(sample.len());
    let mean = sample.iter().sum::<f64>() / n;
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, squares / (n - 1.0))
}

/// By how much each document is taken for another category, with two categories: scores are those
/// of the second.
pub(crate) fn excesses_of_pair(scored: &[Scored]) -> Vec<Vec<f64>> {
    let own = |positive: bool, sign: f64| {
        let own = scored.iter().filter(|one| one.positive == positive);
        own.map(|one| sign * one.score).collect()
    };
    vec![own(false, 1.0), own(true, -1.0)]
}

/// The excesses of the documents of each category, of any number of categories: by how much the
/// best of the other categories is ahead of their own. `scores` are those of each document in turn,
/// in units in which differences are log odds.
pub(crate) fn excesses(scores: &[f64], labels: &[usize], categories: usize) -> Vec<Vec<f64>> {
    let mut excesses = vec![Vec::new(); categories];
    for (scores, &label) in scores.chunks_exact(categories).zip(labels) {
        excesses[label].push(scores[best_other(scores, label)] - scores[label]);
    }
    excesses
}

/// Whether a document is unlike what was learned: the share of its `all` text features that are
/// known is smaller than the `least` share by more than chance.
pub(crate) fn is_unusual(share: f64, all: usize, least: f64) -> bool {
    if all == 0 || share.is_nan() || share >= least {
        return false;
    }
    let all = real(all);
    is_rare((share * all).round(), all, least, Direction::Few, RARE)
}

/// The least share as a set keeps it, rounded down as it is written.
pub(crate) fn kept_share(least: f64) -> f64 {
    (1e6 * least.min(FAMILIAR)).floor() / 1e6
}

/// The least share of known features with which a verdict can be sure: that of the fifth most
/// unusual document.
pub(crate) fn least_known(shares: impl Iterator<Item = f64>) -> f64 {
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.get(UNUSUAL - 1).or(shares.last()).copied().unwrap_or(0.0)
}

/// The usual share of known features: that of the document in the middle.
pub(crate) fn usual_share(shares: impl Iterator<Item = f64>) -> f64 {
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::calibration::platt;
    use dbacl_numeric::random::SplitMix64;

    /// A number with a bell-shaped distribution of deviation 1.
    fn bell(random: &mut SplitMix64) -> f64 {
        let steps = (0..12).map(|_| real(random.below(1 << 30)) / real(1 << 30));
        steps.sum::<f64>() - 6.0
    }

    #[test]
    fn limits_are_exceeded_as_seldom_as_promised_at_any_size() {
        let mut random = SplitMix64::new(7);
        let (mut few, mut many) = ((0usize, 0usize), (0usize, 0usize));
        for (size, rate, draws, counted) in
            [(10, 0.01, 3000, &mut few), (199, 0.01, 1000, &mut many)]
        {
            for _ in 0..draws {
                let mut draw = || (0..size).map(|_| bell(&mut random)).collect::<Vec<f64>>();
                let own = [draw(), draw()];
                let promise = Promise { is_protected: true, rate, tail: rate };
                let limit = limits(&own, &[promise; 2])[0];
                counted.1 += 20;
                counted.0 += (0..20).filter(|_| bell(&mut random) > limit).count();
            }
        }
        // 1 % is promised; draws are many enough that 1.2 % is beyond chance.
        assert!(real(few.0) < 0.012 * real(few.1), "{few:?}");
        assert!(real(many.0) < 0.012 * real(many.1) && many.0 > 0, "{many:?}");
    }

    #[test]
    fn too_few_documents_are_never_sure() {
        let own = vec![vec![-1.0, -2.0, -1.5, -1.0, -1.0, -3.0, -2.0], vec![-1.0; 100]];
        let promise = Promise { is_protected: false, rate: 0.01, tail: 0.02 };
        assert_eq!(limits(&own, &[promise; 2]), [NEVER, NEVER]);
        assert!(limits(&[], &[]).is_empty());
        // All the same: nothing is known of the spread, and the largest excess itself is not an
        // excess.
        let limits = limits(&[vec![-1.0; 8], vec![-1.0; 8]], &[promise; 2]);
        assert_eq!(limits, [-1.0, -1.0]);
    }

    #[test]
    fn the_excess_is_the_lead_of_the_best_other_category() {
        let scores = [2.0, -2.5, -4.0, -1.0, -1.5, 0.5];
        assert_eq!(excesses(&scores, &[0, 1], 3), [vec![-4.5], vec![2.0], vec![]]);
    }

    #[test]
    fn a_new_folder_does_not_silence_the_others() {
        let usual = Promise { is_protected: false, rate: 0.1, tail: 0.2 };
        let many = |last: f64| (0..20).map(|k| last - real(k) / 10.0).collect::<Vec<f64>>();
        let excesses = [many(1.0), many(-2.0), vec![-5.0, -4.0]];
        let found = limits(&excesses, &[usual; 3]);
        // The second of twenty.
        assert_eq!(found, [0.9, -2.1, 0.9]);
        let protected = Promise { is_protected: true, ..usual };
        assert_eq!(limits(&excesses, &[usual, usual, protected])[2], NEVER);
        let excesses = [many(1.0), many(-2.0), vec![3.0]];
        assert_eq!(limits(&excesses, &[usual; 3])[2], 3.0);
        assert_eq!(limits(&[vec![1.0], vec![], vec![3.0]], &[usual; 3]), [NEVER; 3]);
    }

    /// Scores of documents of the second category, or of the first.
    fn scored(positive: bool, scores: &[f64]) -> Vec<Scored> {
        scores.iter().map(|&score| Scored { score, positive }).collect()
    }

    #[test]
    fn a_sure_verdict_has_the_odds_that_its_promise_needs() {
        // 300 documents of the first category lie close together, the others far apart.
        let own: Vec<f64> = (0..300).map(|k| -2.0 - real(k % 100) / 100.0).collect();
        let others: Vec<f64> = (0..300).map(|k| -2.0 + real(k) / 30.0).collect();
        let all = [scored(false, &own), scored(true, &others)].concat();
        let promised = |rate: f64| Promise { is_protected: true, rate, tail: rate };
        let calibration = platt(&all);
        let found = |rate| band_as_asked(&all, &[promised(rate); 2], calibration).1;
        let by_rank = limits(&excesses_of_pair(&all), &[promised(0.005); 2])[0];
        let odds = calibration.slope * found(0.005) + calibration.offset;
        assert!((odds - log(4.0)).abs() < 1e-9 && found(0.005) > by_rank, "{odds}");
        assert!((found(0.05) - calibration.even()).abs() < 1e-9, "{calibration:?}");
        // The same holds of the other category.
        let turned = |one: &Scored| Scored { score: -one.score, positive: !one.positive };
        let turned: Vec<Scored> = all.iter().map(turned).collect();
        let (low, _) = band_as_asked(&turned, &[promised(0.005); 2], platt(&turned));
        assert!((low + found(0.005)).abs() < 1e-6, "{low}");
    }

    #[test]
    fn one_threshold_is_enough_where_categories_lie_far_apart() {
        let promise = Promise { is_protected: false, rate: 0.1, tail: 0.2 };
        let many = |last: f64| (0..20).map(|k| last - real(k) / 10.0).collect::<Vec<f64>>();
        let odds = Calibration { slope: 1.0, offset: 0.0 };
        // The limits are -1.1 and -5.1, and the score between them is 2.
        for (excesses, expected) in [([-1.0, -5.0], [0.0, 2.0]), ([-5.0, -1.0], [-2.0, 0.0])] {
            let (low, high) = band(&excesses.map(many), &[promise; 2], odds);
            let far = (low - expected[0]).abs().max((high - expected[1]).abs());
            assert!(far < 1e-9, "{low} {high}");
        }
    }

    #[test]
    fn few_documents_of_an_ordinary_category_make_its_limit_wider() {
        let limit = |number: usize, is_protected: bool| {
            let own: Vec<f64> = (0..number).map(|k| -2.0 - real(k % 10) / 10.0).collect();
            let promise = Promise { is_protected, rate: 0.005, tail: 0.01 };
            limits(&[own.clone(), own], &[promise; 2])[1]
        };
        assert!(limit(20, false) > limit(20, true));
        assert_eq!(limit(70, false), limit(70, true));
    }

    #[test]
    fn caution_widens_both_margins() {
        for (smaller, low, high) in [(0, -0.16, 0.34), (10, -0.16, 0.34), (1_000_000, -0.33, 0.53)]
        {
            for caution in [0.75, 1.0, 1.3] {
                assert_eq!(margins(smaller, caution), (low * caution, high * caution), "{smaller}");
            }
        }
        let (few, many) = (margins(20, 1.0), margins(200, 1.0));
        assert!(many.0 < few.0 && many.1 > few.1, "{few:?} {many:?}");
    }

    #[test]
    fn bands_do_not_depend_on_misfiled_documents() {
        let spread = |from: f64, number: usize| -> Vec<f64> {
            (0..number).map(|k| from + 4.0 * real(k) / real(number)).collect()
        };
        let well = [scored(false, &spread(-9.0, 400)), scored(true, &spread(4.0, 200))].concat();
        let wrong = [scored(false, &[7.5; 20]), scored(true, &[-8.5; 40])].concat();
        let promises = [0.001, 0.005].map(|rate| Promise { is_protected: true, rate, tail: rate });
        let odds = platt(&well);
        let clean = band_as_asked(&well, &promises, odds);
        let mixed = band_as_asked(&[well, wrong].concat(), &promises, odds);
        assert!((mixed.1 - clean.1).abs() < 1e-6 && (mixed.0 - clean.0).abs() < 1e-6);
    }

    #[test]
    fn a_fit_leans_to_the_category_with_more_documents() {
        let around = |mean: f64, number: usize| -> Vec<f64> {
            (0..number).map(|k| mean + real(k % 5) / 10.0 - 0.2).collect()
        };
        let found = |good: usize, spam: usize| {
            lean(&[scored(false, &around(0.1, good)), scored(true, &around(0.5, spam))].concat())
        };
        // The good messages are few, and look like spam to a fit that has seen none of them.
        let few = found(10, 200);
        assert!((few.even - 0.3).abs() < 0.01 && few.doubt[0] > 4.0 * few.doubt[1], "{few:?}");
        // As many messages of each kind: half of the correction, and no doubt.
        let even = found(50, 50);
        assert!((even.even - 0.15).abs() < 1e-9 && even.doubt == [0.0; 2], "{even:?}");
        let (some, many) = (found(50, 125), found(1000, 3000));
        assert!(some.even > even.even && some.even < few.even, "{some:?}");
        assert!((many.even - 0.03).abs() < 0.001, "{many:?}");
        assert_eq!(found(1, 200), Lean::default());
        assert_eq!(
            lean(&[scored(false, &[0.0; 9]), scored(true, &[1.0; 90])].concat()),
            Lean::default()
        );
    }

    #[test]
    fn unusual_documents_set_the_least_known_share() {
        assert_eq!(least_known([0.9, 0.2, 0.5, 0.8].into_iter()), 0.9);
        assert_eq!(least_known([0.9, 0.2, 0.5, 0.8, 0.1, 0.85].into_iter()), 0.85);
        assert_eq!(least_known([0.4].into_iter()), 0.4);
        assert_eq!(usual_share([0.9, 0.2, 0.5].into_iter()), 0.5);
        assert_eq!(usual_share(std::iter::empty()), 1.0);
        assert_eq!(least_known(std::iter::empty()), 0.0);
        assert_eq!((kept_share(1.0), kept_share(0.123_456_78)), (0.97, 0.123_456));
    }

    #[test]
    fn the_variance_is_that_of_a_sample() {
        assert_eq!(mean_and_variance(&[1.0, 3.0, 5.0]), (3.0, 4.0));
    }

    #[test]
    fn a_document_is_unusual_by_more_than_chance() {
        for (share, all, least, expected) in [
            // Two of twenty words are new: chance. Five are not.
            (0.9, 20, 0.97, false),
            (0.75, 20, 0.97, true),
            (8.0 / 12.0, 12, 0.9, false),
            (7.0 / 12.0, 12, 0.9, true),
            (f64::NAN, 12, 0.9, false),
            (0.45, 300, 0.5, false),
            (0.42, 300, 0.5, true),
            (0.45, 3000, 0.5, true),
            (0.0, 0, 0.97, false),
            (0.0, 3, 0.97, true),
            (0.0, 1000, 0.0, false),
        ] {
            assert_eq!(is_unusual(share, all, least), expected, "{share} {all} {least}");
        }
    }
}
