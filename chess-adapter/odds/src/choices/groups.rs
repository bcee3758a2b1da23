// SPDX-License-Identifier: GPL-3.0-or-later
//! Groups of alternatives in the form that the fit reads: arrays of features, and arrays of the
//! places where alternatives and groups end.

use dbacl::FeatureId;

/// A sequence of groups. Features of all alternatives of all groups stand one after the other; five
/// bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    ids: Vec<FeatureId>,
    /// The strength of each of them.
    strengths: Vec<u8>,
    /// Where each alternative ends in `ids`.
    alternative_ends: Vec<usize>,
    /// Where each group ends in `alternative_ends`, and which of its alternatives was chosen.
    group_ends: Vec<(usize, usize)>,
}

/// One group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The features of all alternatives, one after the other.
    pub ids: &'a [FeatureId],
    /// Their strengths.
    pub strengths: &'a [u8],
    /// Where the group's ids begin in the array that the ends refer to.
    start: usize,
    ends: &'a [usize],
    /// Which alternative was chosen, from 0.
    pub chosen: usize,
}

impl Groups {
    /// Adds a feature to the alternative that is being built. Its weight changes as if each
    /// occurrence were `strength` occurrences (at least one). Rare features that say much need more
    /// than 1. The strength of a feature must be the same wherever it occurs.
    pub(crate) fn push_strong(&mut self, id: FeatureId, strength: u8) {
        self.ids.push(id);
        self.strengths.push(strength.max(1));
    }

    /// Ends the alternative that is being built; it may have no features.
    pub(crate) fn end_alternative(&mut self) {
        self.alternative_ends.push(self.ids.len());
    }

    /// Ends the group; `chosen` is the number of the chosen alternative, from 0.
    ///
    /// # Panics
    /// If the group has no such alternative.
    pub(crate) fn end_group(&mut self, chosen: usize) {
        let (begun, end) = (self.group_ends.last(), self.alternative_ends.len());
        let is_one = chosen < end - begun.map_or(0, |&(end, _)| end);
        assert!(is_one, "one of the alternatives is chosen");
        self.group_ends.push((end, chosen));
    }

    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.strengths.clear();
        self.alternative_ends.clear();
        self.group_ends.clear();
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.group_ends.len()
    }

    /// Group number `at`, from 0.
    ///
    /// # Panics
    /// If there is no such group.
    pub(crate) fn get(&self, at: usize) -> Group<'_> {
        let first = at.checked_sub(1).map_or(0, |before| self.group_ends[before].0);
        let (end, chosen) = self.group_ends[at];
        let ends = &self.alternative_ends[first..end];
        let start = first.checked_sub(1).map_or(0, |before| self.alternative_ends[before]);
        let stop = ends.last().copied().unwrap_or(start);
        let (ids, strengths) = (&self.ids[start..stop], &self.strengths[start..stop]);
        Group { ids, strengths, start, ends, chosen }
    }

    /// The groups in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }
}

impl<'a> Group<'a> {
    /// Where the features of each alternative lie in [`Self::ids`].
    pub(crate) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let (start, ends) = (self.start, self.ends);
        let mut from = 0;
        ends.iter().map(move |&end| {
            let range = from..end - start;
            from = range.end;
            range
        })
    }
}
