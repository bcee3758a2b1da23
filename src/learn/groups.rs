// SPDX-License-Identifier: GPL-3.0-or-later
//! The features of one order, in groups whose weights change alike.
//!
//! A round of the fit demands the weight `(log count - log total - d) / R + z - s`, which is `(log
//! count - log total - e) / R + z` with `e = R s + d`. So count and `e` decide, and both lie on a
//! grid. Millions of features fall into some ten thousand groups of equal count, `e` and weight.
//!
//! In floating-point numbers the two forms differ by some last places, so members of a group with
//! different suffix sums may get different weights. Such a group is split ([`Groups::part`]).

use super::weights::SlotWeights;
use crate::alloc_hints::with_memory;
use dbacl_numeric::elementary::{count_f64, log};
use dbacl_numeric::logarithms::CountLogs;
use dbacl_numeric::quantize::QuantWeight;
use hashbrown::{HashMap, HashTable};

/// Numbers that all features of an order share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The order R.
    pub order: u8,
    /// Occurrences of the order.
    pub total: u64,
    /// Features with this count or a lower one get no weight.
    pub cut: u64,
}

/// Features with the same count, exponent and weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Group {
    /// `(log count - log total - d) / R`, nats, for the d that can only be used with `suffix`.
    base: f64,
    /// Occurrences of all members.
    occurrences: u64,
    /// Occurrences of each.
    pub count: u64,
    /// `R s + d`, for the suffix sum s and the log reference weight d; steps of 1/32 nat.
    pub exponent: i32,
    /// The suffix sum of the first member, steps.
    suffix: u16,
    /// The weight l, steps.
    pub lambda: u16,
    /// Whether the members are cut off: their weight is 0.
    is_cut: bool,
    /// Whether there are members with other suffix sums, whose weights may differ by some last
    /// places.
    pub is_mixed: bool,
}

impl Group {
    /// What all members have in common.
    const fn key(&self) -> (u64, i32, u16) {
        (self.count, self.exponent, self.lambda)
    }

    /// The weight that the count of the first member demands under the log-partition `z`, nats.
    #[inline]
    pub(super) fn wanted(&self, z: f64) -> f64 {
        if self.is_cut {
            return 0.0;
        }
        self.base + z - f64::from(self.suffix) / 32.0
    }

    /// `R l + R s + d` for order R, steps.
    #[inline]
    pub(super) fn reach(&self, order: u8) -> i32 {
        self.exponent + i32::from(order) * i32::from(self.lambda)
    }
}

/// The groups of an order's features, and which feature is in which.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// What the features share.
    pub scale: Scale,
    log_total: f64,
    logs: CountLogs,
    /// The groups; their weights change.
    pub list: Vec<Group>,
    /// The group of each feature, in hash order.
    pub members: Vec<u32>,
    /// Groups by count, exponent and weight.
    index: HashTable<u32>,
    /// The groups of most features, at the places of [`Near::place`]: they are found without a
    /// search in the index. Each is a [`Near`] as a number, for which the system has zeros.
    near: Vec<u64>,
}

/// What adding a feature must know of a group, in one number: in the upper half the number of the
/// group plus 1, or 0 for no group; below it the suffix sum of the first member; in the lowest bit
/// whether members with other suffix sums change nothing.
struct Near(u64);

/// Features that occur up to so often have places in `near`.
const NEAR_COUNTS: u32 = 32;
/// So many exponents, half of them below 0, have places in `near`; steps.
const NEAR_EXPONENTS: u32 = 1 << 14;

impl Near {
    fn new(number: u32, group: &Group) -> Self {
        let is_open = group.is_mixed || group.is_cut;
        Self((u64::from(number) + 1) << 32 | u64::from(group.suffix) << 1 | u64::from(is_open))
    }

    /// The group, if a member with this suffix sum changes nothing but the number of members.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the halves
    fn group_for(self, suffix: u16) -> Option<u32> {
        let is_known = self.0 & 1 == 1 || (self.0 as u32) >> 1 == u32::from(suffix);
        (self.0 >> 32).checked_sub(1).filter(|_| is_known).map(|number| number as u32)
    }

    /// The place of a group, if it has one: no weight before the fit, and a small count. Groups of
    /// similar exponents are neighbours, so that most features find theirs in few lines of memory.
    #[inline]
    fn place((count, exponent, lambda): (u64, i32, u16)) -> Option<usize> {
        let row = u32::try_from(count.wrapping_sub(1)).ok().filter(|&row| row < NEAR_COUNTS)?;
        let column = exponent.cast_unsigned().wrapping_add(NEAR_EXPONENTS / 2);
        (column < NEAR_EXPONENTS && lambda == 0).then(|| (row * NEAR_EXPONENTS + column) as usize)
    }
}

/// A hash of count, exponent and weight in 64 bits.
#[inline]
fn hash_of((count, exponent, lambda): (u64, i32, u16)) -> u64 {
    let key = count.rotate_left(32) ^ u64::from(exponent.cast_unsigned());
    let product = u128::from(key ^ u64::from(lambda) << 40) * 0x9e37_79b9_7f4a_7c15;
    #[allow(clippy::cast_possible_truncation)] // the middle of the product
    let hash = (product >> 32) as u64;
    hash
}

impl Groups {
    /// No features yet, but room for `length` of them.
    pub(super) fn with_room(length: usize, scale: Scale) -> Self {
        let mut groups = Self {
            scale,
            log_total: 0.0,
            logs: CountLogs::default(),
            list: Vec::new(),
            members: with_memory(length),
            index: HashTable::new(),
            near: Vec::new(),
        };
        groups.start(scale);
        groups
    }

    /// Forgets all features, to begin with those of another scale.
    pub(super) fn start(&mut self, scale: Scale) {
        self.list.clear();
        self.members.clear();
        self.index.clear();
        // The system provides zeros as they are needed.
        self.near = vec![0; (NEAR_COUNTS * NEAR_EXPONENTS) as usize];
        self.log_total = log(count_f64(scale.total));
        self.scale = scale;
    }

    /// Adds a feature.
    ///
    /// # Panics
    /// Beyond 2^32 features, more than a table takes.
    #[inline]
    pub(super) fn push(&mut self, count: u64, slot: SlotWeights) {
        let key = (count, slot.exponent(self.scale.order), slot.lambda);
        let place = Near::place(key);
        if let Some(place) = place
            && let Some(group) = Near(self.near[place]).group_for(slot.suffix)
        {
            return self.members.push(group);
        }
        let hash = hash_of(key);
        let list = &self.list;
        let found = self.index.find(hash, |&group| list[group as usize].key() == key).copied();
        let number = found.unwrap_or_else(|| self.add_group(key, slot.suffix));
        self.members.push(number);
        let group = &mut self.list[number as usize];
        if group.suffix != slot.suffix && !group.is_mixed {
            group.is_mixed = !group.is_cut;
        }
        if let Some(place) = place {
            self.near[place] = Near::new(number, group).0;
        }
    }

    /// Adds up the occurrences of the groups, when all features have been added.
    pub(super) fn count(&mut self) {
        let mut members = vec![0u64; self.list.len()];
        for &group in &self.members {
            members[group as usize] += 1;
        }
        for (group, members) in self.list.iter_mut().zip(members) {
            group.occurrences = members * group.count;
        }
    }

    #[cold]
    fn add_group(&mut self, key: (u64, i32, u16), suffix: u16) -> u32 {
        let (count, exponent, lambda) = key;
        let group = self.new_group(count, exponent, lambda, suffix);
        let number = self.add(group);
        let list = &self.list;
        let hash = |&group: &u32| hash_of(list[group as usize].key());
        self.index.insert_unique(hash_of(key), number, hash);
        number
    }

    /// A group without members.
    fn new_group(&mut self, count: u64, exponent: i32, lambda: u16, suffix: u16) -> Group {
        let order = self.scale.order;
        let reference = i32::from(order) * i32::from(suffix) - exponent;
        let reference = u16::try_from(reference).expect("it was stored in 16 bits");
        let log_reference = f64::from(QuantWeight(reference).log_probability());
        let log_count = self.logs.of(count_f64(count));
        let base = (log_count - self.log_total - log_reference) / f64::from(order);
        let is_cut = count <= self.scale.cut;
        Group { base, occurrences: 0, count, exponent, suffix, lambda, is_cut, is_mixed: false }
    }

    fn add(&mut self, group: Group) -> u32 {
        let number = u32::try_from(self.list.len()).expect("fewer than 2^32 features");
        self.list.push(group);
        number
    }

    /// The weights of all features in hash order, steps.
    pub(super) fn lambdas(&self) -> impl ExactSizeIterator<Item = u16> {
        self.members.iter().map(|&group| self.list[group as usize].lambda)
    }

    /// The largest `R l + R s + d`, steps.
    pub(super) fn max(&self) -> i32 {
        let order = self.scale.order;
        self.list.iter().map(|group| group.reach(order)).max().unwrap_or(i32::MIN)
    }

    /// Sum of weight times count over all features, steps.
    pub(super) fn weight(&self) -> u64 {
        self.list.iter().map(|group| u64::from(group.lambda) * group.occurrences).sum()
    }

    /// Splits the mixed groups in `which` by the suffix sums of their members; `suffixes` has those
    /// of all features in hash order.
    pub(super) fn part(&mut self, which: &[u32], suffixes: impl Iterator<Item = u16>) {
        let mut is_parting = vec![false; self.list.len()];
        for &group in which {
            is_parting[group as usize] = true;
            self.list[group as usize].is_mixed = false;
        }
        let mut parts: HashMap<(u32, u16), u32> = HashMap::new();
        for (k, suffix) in suffixes.enumerate().take(self.members.len()) {
            let number = self.members[k];
            let group = self.list[number as usize];
            if !is_parting.get(number as usize).is_some_and(|&parting| parting)
                || group.suffix == suffix
            {
                continue;
            }
            let part = parts.get(&(number, suffix)).copied().unwrap_or_else(|| {
                let part = self.new_group(group.count, group.exponent, group.lambda, suffix);
                let part = self.add(part);
                parts.insert((number, suffix), part);
                part
            });
            self.members[k] = part;
            self.list[part as usize].occurrences += group.count;
            self.list[number as usize].occurrences -= group.count;
        }
    }
}
