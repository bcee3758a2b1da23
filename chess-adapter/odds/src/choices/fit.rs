// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit itself: stochastic gradient with a step of its own for each weight (`AdaGrad`; Duchi,
//! Hazan and Singer 2011).
//!
//! For a group with probabilities p, the gradient of an alternative is g = p(i) - [i was chosen].
//! In the order of the alternatives, and for each occurrence of a feature of one with |g| >
//! [`SKIP`]:
//!
//! ```text
//! G += g²;   w -= rate * x * g / sqrt(G + start / x²)
//! ```
//!
//! x is the feature's strength ([`Groups::push_strong`]). The formula is
//! that of a feature that occurs x times, whose weight is given as the sum over its occurrences.
//!
//! Weights and sums of squares are f32, scores and probabilities f64; a score is summed in the
//! order of the features. Groups are taken one after the other in one thread, so that the same
//! groups in the same order give the same weights to the bit, whichever thread has prepared them.

use super::groups::Group;
use super::table::{NOWHERE, Slot, Table};
use dbacl::FeatureId;
use dbacl_numeric::elementary::{LN_2, exp, log, narrow};

/// Alternatives with smaller gradients are skipped; most alternatives soon have hardly any
/// probability.
const SKIP: f64 = 0.001;

/// The initial value of a weight's sum of squared gradients.
const START: f32 = 0.3;

/// Share of the run after which the steps become smaller.
const CONSTANT_SHARE: f64 = 0.5;

/// The length of the last steps as a share of the first ones.
const LAST_SHARE: f64 = 0.2;

/// Settings of the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    /// The first steps' length.
    pub rate: f64,
    /// Number of groups that will be learned in all passes together. The length of a step depends
    /// on the share of them that was learned.
    pub groups: u64,
    /// The initial value of a weight's sum of squared gradients. The larger it is, the more groups
    /// it takes to change weights that [`Fit::recall`] has given.
    pub start: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rate: 0.035, groups: 0, start: START }
    }
}

/// How well a model classifies groups whose choice is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Groups judged.
    pub groups: u64,
    /// Groups whose chosen alternative had the highest probability; of equals the first counts.
    pub first: u64,
    /// Groups whose chosen alternative was among the five likeliest.
    pub first_five: u64,
    /// Sum of the costs of the choices, bits.
    pub bits: f64,
}

impl Tally {
    /// Counts a group with these probabilities, of which `chosen` was chosen.
    pub fn add(&mut self, probabilities: &[f64], chosen: usize) {
        let own = probabilities[chosen];
        let ahead = probabilities.iter().enumerate();
        let ahead = ahead.filter(|&(at, &p)| p > own || p == own && at < chosen).count();
        self.groups += 1;
        self.first += u64::from(ahead == 0);
        self.first_five += u64::from(ahead < 5);
        self.bits -= log(own.max(f64::MIN_POSITIVE)) / LN_2;
    }

    /// Mean cost of a choice, bits.
    #[allow(clippy::cast_precision_loss)] // numbers of groups are far below 2^52
    pub fn mean_bits(&self) -> f64 {
        self.bits / self.groups.max(1) as f64
    }

    /// Share of groups, per cent.
    #[allow(clippy::cast_precision_loss)] // as above
    pub fn percent(&self, groups: u64) -> f64 {
        100.0 * groups as f64 / self.groups.max(1) as f64
    }
}

/// Turns scores, in nats, into probabilities: the softmax.
pub(crate) fn probabilities(scores: &[f64], out: &mut Vec<f64>) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    out.clear();
    out.extend(scores.iter().map(|score| exp(score - highest)));
    let sum: f64 = out.iter().sum();
    for p in &mut *out {
        *p /= sum;
    }
}

/// A model that is being fitted.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    settings: Settings,
    pub(super) table: Table,
    /// Groups learned.
    learned: u64,
    places: Vec<u32>,
    scores: Vec<f64>,
    shares: Vec<f64>,
}

/// Features that are kept at most; further ones are ignored.
const FEATURES: usize = 1 << 25;

/// How many features ahead slots are prefetched.
const AHEAD: usize = 16;

impl Fit {
    /// Nothing learned yet.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            table: Table::new(FEATURES),
            learned: 0,
            places: Vec::new(),
            scores: Vec::new(),
            shares: Vec::new(),
        }
    }

    /// All features with their weights, nats, in no certain order.
    pub(crate) fn weights(&self) -> impl Iterator<Item = (FeatureId, f32)> {
        let slots = self.table.slots.iter().filter(|slot| slot.id.0 != 0);
        slots.map(|slot| (slot.id, slot.weight))
    }

    /// The present length of steps.
    #[allow(clippy::cast_precision_loss)] // numbers of groups are far below 2^52
    fn rate(&self) -> f32 {
        let run = self.learned as f64 / self.settings.groups.max(1) as f64;
        let over = ((run - CONSTANT_SHARE) / (1.0 - CONSTANT_SHARE)).clamp(0.0, 1.0);
        narrow(self.settings.rate * (1.0 - over * (1.0 - LAST_SHARE)))
    }

    /// Finds the features of a group and sums its scores.
    fn look_up(&mut self, group: Group<'_>) {
        let ids = group.ids;
        self.places.clear();
        self.scores.clear();
        for &id in ids.iter().take(AHEAD) {
            self.table.prefetch(id);
        }
        for range in group.ranges() {
            let mut score = 0.0;
            for at in range {
                if let Some(&id) = ids.get(at + AHEAD) {
                    self.table.prefetch(id);
                }
                let (place, weight) = self.table.find(ids[at]);
                self.places.push(place);
                score += f64::from(weight);
            }
            self.scores.push(score);
        }
        probabilities(&self.scores, &mut self.shares);
    }

    /// Gives the features of a group that have no weight yet that of an earlier model, nats.
    /// Features to which it gives 0 stay new.
    pub(crate) fn recall(&mut self, group: Group<'_>, earlier: impl Fn(FeatureId) -> f64) {
        self.table.reserve(group.ids.len());
        for &id in group.ids {
            if self.table.find(id).0 == NOWHERE {
                let weight = narrow(earlier(id));
                if weight != 0.0 {
                    let place = self.table.insert(id);
                    if place != NOWHERE {
                        self.table.at(place).weight = weight;
                    }
                }
            }
        }
    }

    /// Learns a group.
    pub(crate) fn learn(&mut self, group: Group<'_>) {
        self.look_up(group);
        self.take_up(group);
        let (rate, start) = (self.rate(), self.settings.start);
        for (alternative, range) in group.ranges().enumerate() {
            let chosen = f64::from(u8::from(alternative == group.chosen));
            let gradient = self.shares[alternative] - chosen;
            if gradient.abs() <= SKIP {
                continue;
            }
            let gradient = narrow(gradient);
            let strengths = &group.strengths[range.clone()];
            for (&place, &strength) in self.places[range].iter().zip(strengths) {
                if place != NOWHERE {
                    step(self.table.at(place), gradient, (rate, start), f32::from(strength));
                }
            }
        }
        self.learned += 1;
    }

    /// Inserts features of the chosen alternative. Others get no weight: what was never chosen
    /// cannot speak against an alternative, and far fewer features are kept.
    fn take_up(&mut self, group: Group<'_>) {
        let slots = self.table.slots.len();
        self.table.reserve(group.ids.len());
        if self.table.slots.len() != slots {
            for (place, &id) in self.places.iter_mut().zip(group.ids) {
                *place = self.table.find(id).0;
            }
        }
        let mut is_new = false;
        for at in group.ranges().nth(group.chosen).unwrap_or_default() {
            if self.places[at] == NOWHERE {
                self.places[at] = self.table.insert(group.ids[at]);
                is_new = true;
            }
        }
        // Another alternative may have a feature that has just been inserted.
        if is_new {
            for (place, &id) in self.places.iter_mut().zip(group.ids) {
                if *place == NOWHERE {
                    *place = self.table.find(id).0;
                }
            }
        }
    }
}

#[inline]
fn step(slot: &mut Slot, gradient: f32, (rate, start): (f32, f32), strength: f32) {
    slot.squares += gradient * gradient;
    let root = (slot.squares + start / (strength * strength)).sqrt();
    slot.weight -= rate * strength * gradient / root;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Groups;

    /// Groups of three in which feature 1 beats 2 and 3 in `share` of ten, and 4 says nothing.
    fn groups(count: usize, share: usize) -> Groups {
        let mut groups = Groups::default();
        for number in 0..count {
            for id in [1, 2, 3] {
                groups.push_strong(FeatureId(id), 1);
                groups.push_strong(FeatureId(4), 1);
                groups.end_alternative();
            }
            groups.end_group(if number * 7 % 10 < share { 0 } else { 1 + number % 2 });
        }
        groups
    }

    fn fitted(settings: Settings, groups: &Groups) -> Fit {
        let mut fit = Fit::new(settings);
        groups.iter().for_each(|group| fit.learn(group));
        fit
    }

    #[test]
    fn probabilities_come_to_the_shares() {
        let groups = groups(20_000, 7);
        let settings = Settings { rate: 0.1, groups: 20_000, ..Settings::default() };
        let mut fit = fitted(settings, &groups);
        fit.look_up(groups.get(0));
        let shares = &fit.shares;
        for (share, expected) in shares.iter().zip([0.7, 0.1, 0.2]) {
            assert!((share - expected).abs() < 0.03, "{shares:?}");
        }
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let again = fitted(settings, &groups);
        assert_eq!(fit.table.slots, again.table.slots);
    }

    #[test]
    fn what_never_was_chosen_is_left_out() {
        let fit = fitted(Settings { groups: 10, ..Settings::default() }, &groups(10, 10));
        assert_eq!(fit.table.features, 2);
    }

    #[test]
    fn strong_features_take_longer_steps() {
        let mut groups = Groups::default();
        for (id, strength) in [(1, 1), (2, 5), (3, 1)] {
            groups.push_strong(FeatureId(id), strength);
            if id != 1 {
                groups.end_alternative();
            }
        }
        groups.end_group(0);
        let fit = fitted(Settings { groups: 1, ..Settings::default() }, &groups);
        let weight = |id| fit.table.find(FeatureId(id)).1;
        // g = -1/2: rate g / sqrt(1/4 + 0.3), and 5 rate g / sqrt(1/4 + 0.3/25).
        assert!((weight(1) - 0.035 * 0.5 / 0.55f32.sqrt()).abs() < 1e-7);
        assert!((weight(2) - 0.035 * 2.5 / 0.262f32.sqrt()).abs() < 1e-7);
        assert_eq!(weight(3), 0.0);
    }
}
