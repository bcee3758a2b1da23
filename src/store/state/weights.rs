// SPDX-License-Identifier: GPL-3.0-or-later
//! What the category files of a state hold: weights and log Z.

use super::State;
use super::head::{Numbers, Side};
use super::tables::{Entry, Slot};
use crate::fit::blend::{stored_pair, with_general};
use crate::fit::dataset::BIAS_INPUT;
use crate::fit::scoring::{INTERCEPT, Scoring};
use crate::fit::select::level_of_unseen;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{log, narrow, real};
use dbacl_numeric::quantize::QuantWeight;

/// New weights of features of a category, sorted by id.
pub type Changes = Vec<(FeatureId, QuantWeight)>;

/// What the uniform measure asks for a pair of characters, nats.
const PAIR: f64 = 177.0 / 32.0;

/// The ordinary weight of a feature that occurs so many times among the features of a category's
/// documents, nats: what the fit of single words under the uniform measure ends with (spec model
/// 7.3), on the grid of files.
pub fn ordinary_weight(count: u32, total: f64, pairs: u8, rise: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let weight = base(count, total, pairs) + rise;
    (weight * 32.0).floor().max(0.0) / 32.0
}

/// The ordinary weight of a feature, without the rise of its category.
fn base(count: u32, total: f64, pairs: u8) -> f64 {
    log(f64::from(count) / total) + f64::from(pairs) * PAIR
}

/// The rise of a category whose documents have so many features in all, from the weights that
/// learning has ended with: occurrences, pairs of characters and weight of each feature.
pub fn rise(total: f64, learned: impl Iterator<Item = (u32, u8, QuantWeight)>) -> f64 {
    let mut rises: Vec<f64> = learned
        .filter(|(count, _, weight)| weight.0 > 0 && *count > 0)
        .map(|(count, pairs, weight)| f64::from(weight.weight()) - base(count, total, pairs))
        .collect();
    if rises.is_empty() {
        return 0.0;
    }
    // Weights were cut to the grid: the highest of the differences is nearest. Those of features
    // that share their id with others tell nothing.
    let middle = rises.len() / 2;
    let limit = *rises.select_nth_unstable_by(middle, f64::total_cmp).1 + 1.0 / 32.0;
    rises.into_iter().filter(|&rise| rise <= limit).fold(0.0, f64::max)
}

impl Numbers {
    /// The ordinary weight of a feature in a category, from its entry.
    #[allow(clippy::cast_possible_truncation)] // weights of files have 16 bits
    fn ordinary(&self, side: &Side, own: Entry, pairs: u8) -> f64 {
        if self.counts_ordinary {
            ordinary_weight(own.tally, side.total, pairs, side.rise)
        } else {
            f64::from(QuantWeight(own.tally as u16).weight())
        }
    }

    /// The part that an ordinary weight, or a difference of two, has in a weight.
    fn blended(&self, ordinary: f64) -> f64 {
        let part = self.blend * ordinary;
        if self.counts_ordinary { part } else { f64::from(narrow(part)) }
    }

    /// Nats a unit of complexity that a fit's weight of 1 is.
    fn per_weight(&self) -> f64 {
        self.length / f64::from(self.max_order)
    }
}

impl State {
    /// New weights of all features whose weights may have changed, by category. `general` gives
    /// what a general model adds to a feature's weights, by category, if it knows the feature.
    pub fn changes(&mut self, general: impl Fn(FeatureId) -> Option<Vec<f64>>) -> Vec<Changes> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let touched = std::mem::take(&mut self.touched);
        let mut changes = vec![Vec::new(); self.tables.categories];
        let (mut weights, mut entries) = (Vec::new(), Vec::new());
        for id in touched {
            let Some(at) = self.tables.find(id) else { continue };
            let slot = self.tables.slot(at);
            weights.clear();
            self.tables.weights(&slot, &mut weights);
            entries.clear();
            self.tables.entries(&slot, |own| entries.push(own));
            let general = general(FeatureId(id)).unwrap_or_default();
            if let [first, second] = changes.as_mut_slice() {
                let [one, other] = self.pair(&slot, weights[0], &entries, &general);
                first.push((FeatureId(id), one));
                second.push((FeatureId(id), other));
            } else {
                self.each(&slot, &weights, (&entries, &general), |category, weight| {
                    changes[category].push((FeatureId(id), weight));
                });
            }
        }
        changes
    }

    /// The weights of a feature in two categories: none is below 0, one of them is 0.
    fn pair(
        &self,
        slot: &Slot,
        weight: f32,
        entries: &[Entry],
        general: &[f64],
    ) -> [QuantWeight; 2] {
        let mut ordinary = [0.0; 2];
        for own in entries {
            let category = usize::from(own.category);
            let side = &self.numbers.sides[category];
            ordinary[category] = self.numbers.ordinary(side, *own, slot.pairs);
        }
        let is_general = !general.is_empty();
        let general = if let [one, other] = *general { other - one } else { 0.0 };
        let ordinary = self.numbers.blended(ordinary[1] - ordinary[0]);
        let unit = self.numbers.scoring.unit();
        let difference = ordinary + f64::from(weight) * self.numbers.per_weight() + unit * general;
        if self.is_unknown(slot) && !is_general {
            return [QuantWeight::default(); 2];
        }
        stored_pair(difference, self.numbers.scoring != Scoring::Counts)
    }

    /// Whether a feature counts as unknown, where the known ones of a block are its length.
    fn is_unknown(&self, slot: &Slot) -> bool {
        self.numbers.scoring == Scoring::Blocks && slot.documents < self.least_documents()
    }

    /// Calls `look` with the weight of a feature in each of more than two categories, without those
    /// whose documents never contained it: what a general model gives them stays as it is.
    fn each(
        &self,
        slot: &Slot,
        weights: &[f32],
        (entries, general): (&[Entry], &[f64]),
        mut look: impl FnMut(usize, QuantWeight),
    ) {
        let is_once = self.numbers.scoring != Scoring::Counts;
        let is_unknown = self.is_unknown(slot);
        let unit = self.numbers.scoring.unit();
        let per_weight = self.numbers.per_weight();
        let seen = entries.iter().filter(|own| own.documents > 0);
        let seen = seen.fold(0u64, |seen, own| seen | 1 << own.category);
        let sides = weights.iter().enumerate();
        let level =
            level_of_unseen(sides.map(|(at, &weight)| (f64::from(weight), seen >> at & 1 == 1)));
        for own in entries {
            let category = usize::from(own.category);
            let ordinary = self.numbers.ordinary(&self.numbers.sides[category], *own, slot.pairs);
            let fitted = per_weight * (f64::from(weights[category]) - level);
            let is_seen = own.documents > 0 && !is_unknown;
            let value = if is_seen { self.numbers.blended(ordinary) + fitted } else { 0.0 };
            let general = unit * general.get(category).copied().unwrap_or(0.0);
            look(category, with_general(value, general, is_seen && is_once, is_once));
        }
    }

    /// Makes [`Self::changes`] return all features.
    #[doc(hidden)]
    pub fn touch_all(&mut self) {
        let slots = 0..self.tables.used.slots;
        self.touched = slots.map(|at| self.tables.slot(at).id).collect();
    }

    /// log Z of the categories, nats.
    pub fn log_partitions(&self) -> Vec<f64> {
        let bias_input = match self.numbers.scoring {
            Scoring::Blocks => INTERCEPT,
            Scoring::Counts | Scoring::Once => BIAS_INPUT,
        };
        let of_bias = bias_input * self.numbers.per_weight();
        let sides = &self.numbers.sides;
        let mean = sides.iter().map(|side| side.bias).sum::<f64>() / real(sides.len().max(1));
        sides.iter().map(|side| side.log_partition - of_bias * (side.bias - mean)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::blend::stored;
    use crate::fit::documents::{FeatureKind, Term};
    use crate::store::ledger::Record;
    use crate::store::state::tables::Sizes;

    #[test]
    fn ordinary_weights_keep_up_with_the_counts() {
        let side = Side { log_partition: 1.0, total: 1.0, rise: 3.0, ..Side::default() };
        let mut state = State::new(
            Numbers {
                cost: 1e-9, // the fit stays out of it
                blend: 0.5,
                length: 2.0,
                counts_ordinary: true,
                max_order: 1,
                sides: vec![side; 2],
                ..Numbers::default()
            },
            Sizes::default(),
        );
        let term = |id, count, pairs| {
            let kind = FeatureKind { order: 1, medium: 1, pairs, second: FeatureId(0) };
            Term { id: FeatureId(id), count, kind }
        };
        for (label, terms) in [(0, vec![term(1, 2, 3), term(2, 6, 2)]), (1, vec![term(1, 4, 3)])] {
            let occurrences = terms.iter().map(|term| term.count).sum();
            let record = Record { label, occurrences, terms, fingerprint: 0 };
            state.learn(&record, 0, |_| None);
        }
        // Totals start from 1 here: the logarithms of counts and shares differ by 2/9 and 4/5.
        let grid = |x: f64| (x * 32.0).floor() / 32.0;
        let weight = |share: f64, pairs: f64| grid(share.ln() + 177.0 / 32.0 * pairs + 3.0);
        let seen = weight(4.0 / 5.0, 3.0) - weight(2.0 / 9.0, 3.0);
        let alone = weight(6.0 / 9.0, 2.0);
        let expected = [[0.0, 0.5 * alone], [0.5 * seen, 0.0]]
            .map(|[one, other]| vec![(FeatureId(1), stored(one)), (FeatureId(2), stored(other))]);
        assert_eq!(state.changes(|_| None), expected);
    }

    #[test]
    fn the_rise_is_that_of_most_features() {
        let total = 1000.0;
        let mut learned: Vec<(u32, u8, QuantWeight)> = (1..60u8)
            .map(|count| (u32::from(count), 2 + count % 5))
            .map(|(count, pairs)| {
                (count, pairs, stored(ordinary_weight(count, total, pairs, 3.3125)))
            })
            .collect();
        let found = rise(total, learned.iter().copied());
        assert!(found <= 3.3125 && found > 3.3125 - 1.0 / 64.0, "{found}");
        for &(count, pairs, weight) in &learned {
            assert_eq!(stored(ordinary_weight(count, total, pairs, found)), weight);
        }
        // Its weight was learned from another text.
        learned.push((3, 4, stored(100.0)));
        assert_eq!(rise(total, learned.into_iter()).to_bits(), found.to_bits());
        assert_eq!(rise(total, [].into_iter()).to_bits(), 0.0f64.to_bits());
    }
}
