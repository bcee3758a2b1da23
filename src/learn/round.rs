// SPDX-License-Identifier: GPL-3.0-or-later
//! One round of the fit over the weights of an order.
//!
//! A weight moves to `base + z - s`, is rounded to f32 and cut to a multiple of 1/32.

use super::groups::{Group, Groups};
use dbacl_numeric::elementary::narrow;
use dbacl_numeric::quantize::QuantWeight;

/// The change for a member of a group may differ from that of the group's first member by at most
/// so many nats. Rounding causes less than a hundredth of it: five roundings, of numbers up to
/// 2^13.
const DOUBT: f64 = 1e-9;

/// The largest change of a weight in a round, nats, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    /// A lower bound.
    pub least: f64,
    /// An upper bound.
    pub most: f64,
}

impl Change {
    /// Whether it is known exactly.
    pub(super) const fn is_exact(self) -> bool {
        self.least.to_bits() == self.most.to_bits()
    }

    /// Updates the bounds for a weight that changes from `old` to a value between `low` and `high`.
    #[inline]
    fn note(&mut self, old: f64, low: f64, high: f64) {
        let (low, high) = ((low - old).abs(), (high - old).abs());
        self.least = self.least.max(low.min(high));
        self.most = self.most.max(low).max(high);
    }
}

/// The results of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    /// The largest change of a weight.
    pub change: Change,
    /// The largest `R l + R s + d`, steps.
    pub max: i32,
}

/// Moves all weights towards the values that their counts demand under the log-partition `z`, nats;
/// where that is infinite, as far as they may move. `suffixes` has the suffix sums of all features
/// in hash order; it is used where members of a group may get different weights, or where
/// `is_enough` does not accept the bounds of the largest change. `before` is scratch memory.
pub(super) fn round<I: Iterator<Item = u16>>(
    groups: &mut Groups,
    before: &mut Vec<u16>,
    z: f64,
    suffixes: impl Fn() -> I,
    is_enough: impl Fn(Change) -> bool,
) -> Moved {
    loop {
        let (moved, mut parting) = try_round(groups, before, z);
        let is_enough = moved.change.is_exact() || is_enough(moved.change);
        if is_enough && parting.is_empty() {
            return moved;
        }
        for (group, &lambda) in groups.list.iter_mut().zip(&*before) {
            group.lambda = lambda;
        }
        if !is_enough {
            let numbered = (0u32..).zip(&groups.list).filter(|(_, group)| group.is_mixed);
            parting.extend(numbered.filter_map(|(number, group)| {
                let mut its = Change { least: 0.0, most: 0.0 };
                let (low, high) = between(group, z);
                its.note(f64::from(group.lambda) / 32.0, low, high);
                (its.most >= moved.change.least).then_some(number)
            }));
        }
        groups.part(&parting, suffixes());
    }
}

/// Moves all weights to the values of the first members of their groups; also returns the groups in
/// which other members may get another weight. `before` gets the old weights.
fn try_round(groups: &mut Groups, before: &mut Vec<u16>, z: f64) -> (Moved, Vec<u32>) {
    let mut doubtful = Vec::new();
    let (mut exact, mut change) = (0.0f64, Change { least: 0.0, most: 0.0 });
    let mut max = i32::MIN;
    let order = groups.scale.order;
    before.clear();
    before.reserve(groups.list.len());
    for (group, number) in groups.list.iter_mut().zip(0..) {
        before.push(group.lambda);
        let old = f64::from(group.lambda) / 32.0;
        if group.is_mixed {
            let (low, high) = between(group, z);
            group.lambda = QuantWeight::from_weight(narrow(low)).0;
            if group.lambda != QuantWeight::from_weight(narrow(high)).0 {
                doubtful.push(number);
            }
            change.note(old, low, high);
        } else {
            let new = limited(group.wanted(z), old);
            group.lambda = QuantWeight::from_weight(narrow(new)).0;
            exact = exact.max((new - old).abs());
        }
        max = max.max(group.reach(order));
    }
    change.note(0.0, exact, exact);
    (Moved { change, max }, doubtful)
}

/// The bounds, nats, of the weights of a mixed group's members after the round.
#[inline]
fn between(group: &Group, z: f64) -> (f64, f64) {
    let (old, wanted) = (f64::from(group.lambda) / 32.0, group.wanted(z));
    (limited(wanted - DOUBT, old), limited(wanted + DOUBT, old))
}

/// A new weight, at most 100 nats from the old one and not negative.
#[inline]
fn limited(new: f64, old: f64) -> f64 {
    let (low, high) = (old - 100.0, old + 100.0);
    let new = if new > high { high } else { new };
    let new = if new < low { low } else { new };
    if new < 0.0 { 0.0 } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::groups::Scale;
    use crate::learn::weights::SlotWeights;
    use dbacl_numeric::elementary::{count_f64, log};
    use proptest::prelude::*;

    /// The weight that a feature's count demands, as specified.
    fn wanted((count, slot): (u64, SlotWeights), scale: Scale, z: f64) -> f64 {
        if count <= scale.cut {
            return 0.0;
        }
        let log_reference = f64::from(QuantWeight(slot.reference).log_probability());
        (log(count_f64(count)) - log(count_f64(scale.total)) - log_reference)
            / f64::from(scale.order)
            + z
            - f64::from(slot.suffix) / 32.0
    }

    /// Features of few exponents, but of different suffix sums: count, exponent, suffix sum,
    /// weight.
    fn features(order: u8) -> impl Strategy<Value = Vec<(u64, SlotWeights)>> {
        let feature = (1..4u64, 0..20i32, 0..3000u16, 0..2u16).prop_map(
            move |(count, exponent, suffix, lambda)| {
                let reference = i32::from(order) * i32::from(suffix) + exponent;
                let reference = u16::try_from(reference).expect("small");
                (count, SlotWeights { lambda: lambda * 9000, suffix, reference })
            },
        );
        proptest::collection::vec(feature, 1..60)
    }

    /// Where weights change, or nearly so, or far from there.
    fn pulls() -> impl Strategy<Value = f64> {
        let steps = (-70_000..70_000i32).prop_map(|steps| f64::from(steps) / 32.0);
        let last_places = (-40..40i32).prop_map(|places| f64::from(places) * 2.0f64.powi(-45));
        let roundings = (-9..9i32).prop_map(|places| f64::from(places) * 2.0f64.powi(-19));
        prop_oneof![
            (steps.clone(), last_places).prop_map(|(step, off)| step + off),
            (steps, roundings).prop_map(|(step, off)| step + off),
            -300.0..300.0f64,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn groups_move_as_each_of_their_features_does(
            (order, features) in (1..=7u8).prop_flat_map(|order| (Just(order), features(order))),
            pulls in proptest::collection::vec(pulls(), 1..4),
            (cut, total) in (0..3u64, 1..100_000u64),
            every_digit: bool,
        ) {
            let scale = Scale { order, total, cut };
            let mut groups = Groups::with_room(features.len(), scale);
            for &(count, slot) in &features {
                groups.push(count, slot);
            }
            groups.count();
            let mut expected = features;
            let suffixes: Vec<u16> = expected.iter().map(|(_, slot)| slot.suffix).collect();
            let (mut before, order) = (Vec::new(), i32::from(order));
            for pull in pulls {
                // z so that the first feature's weight ends up where asked for.
                let z = pull - wanted(expected[0], scale, 0.0);
                let mut delta = 0.0f64;
                for feature in &mut expected {
                    let old = f64::from(feature.1.lambda) / 32.0;
                    let new = limited(wanted(*feature, scale, z), old);
                    delta = delta.max((new - old).abs());
                    feature.1.lambda = QuantWeight::from_weight(narrow(new)).0;
                }
                let all = || suffixes.iter().copied();
                let moved = round(&mut groups, &mut before, z, all, |_| !every_digit);
                let change = moved.change;
                let lambdas: Vec<u16> = expected.iter().map(|(_, slot)| slot.lambda).collect();
                prop_assert_eq!(groups.lambdas().collect::<Vec<u16>>(), lambdas);
                prop_assert!(change.least <= delta && delta <= change.most);
                if every_digit {
                    prop_assert_eq!(change.most.to_bits(), delta.to_bits());
                }
                let reach = |(_, slot): &(u64, SlotWeights)| {
                    order * (i32::from(slot.lambda) + i32::from(slot.suffix))
                        - i32::from(slot.reference)
                };
                prop_assert_eq!(Some(moved.max), expected.iter().map(reach).max());
                prop_assert_eq!(moved.max, groups.max());
                let weight = |(count, slot): &(u64, SlotWeights)| {
                    u64::from(slot.lambda) * count
                };
                prop_assert_eq!(groups.weight(), expected.iter().map(weight).sum::<u64>());
            }
        }
    }
}
