// SPDX-License-Identifier: GPL-3.0-or-later
//! The set of the features that a long document has had so far. A feature takes two bytes: the
//! lower half of its id. The upper half says in which group it is.

use crate::token::id::FeatureId;

/// Number of groups.
const GROUPS: usize = 1 << 16;

/// A set of features. An empty one takes no memory.
#[derive(Debug, Clone, Default)]
pub struct SeenFeatures {
    /// Where each group ends in `lower`; it begins where the one before it ends.
    ends: Vec<u32>,
    /// Lower halves of ids, group by group, sorted within each.
    lower: Vec<u16>,
}

#[allow(clippy::cast_possible_truncation)] // the lower half
const fn halves(id: FeatureId) -> (usize, u16) {
    ((id.0 >> 16) as usize, id.0 as u16)
}

impl SeenFeatures {
    /// Whether a feature is in the set.
    pub fn has(&self, id: FeatureId) -> bool {
        if self.ends.is_empty() {
            return false;
        }
        let (group, lower) = halves(id);
        self.lower[self.start(group)..self.ends[group] as usize].binary_search(&lower).is_ok()
    }

    fn start(&self, group: usize) -> usize {
        group.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Adds features that are not in the set; their ids rise. Takes no memory beside the set.
    #[allow(clippy::cast_possible_truncation)] // there are no more than 2^32 ids
    pub fn add(&mut self, mut ids: &[FeatureId]) {
        self.ends.resize(GROUPS, 0);
        let size = self.lower.len() + ids.len();
        self.lower.reserve_exact(ids.len());
        self.lower.resize(size, 0);
        // Both lists are merged from their ends, so that nothing is overwritten.
        let mut to = size;
        for group in (0..GROUPS).rev() {
            if ids.is_empty() {
                // The groups before stay where they are.
                return;
            }
            let (start, mut from) = (self.start(group), self.ends[group] as usize);
            self.ends[group] = to as u32;
            while let Some((&id, rest)) = ids.split_last() {
                let (own, lower) = halves(id);
                if own != group {
                    break;
                }
                while from > start && self.lower[from - 1] > lower {
                    (from, to) = (from - 1, to - 1);
                    self.lower[to] = self.lower[from];
                }
                to -= 1;
                self.lower[to] = lower;
                ids = rest;
            }
            to -= from - start;
            self.lower.copy_within(start..from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn id() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            0..300u32,
            (u32::MAX - 300)..=u32::MAX,
            (7u32 << 16)..((7u32 << 16) + 300)
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_set(
            batches in vec(btree_set(id(), 0..200), 1..6),
            asked in vec(id(), 100),
        ) {
            let (mut seen, mut expected) = (SeenFeatures::default(), BTreeSet::new());
            for batch in batches {
                let new: Vec<FeatureId> =
                    batch.difference(&expected).copied().map(FeatureId).collect();
                seen.add(&new);
                expected.extend(batch);
                for id in asked.iter().chain(&expected) {
                    prop_assert_eq!(seen.has(FeatureId(*id)), expected.contains(id));
                }
                prop_assert_eq!(seen.lower.len(), expected.len());
            }
        }
    }
}
