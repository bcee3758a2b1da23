// SPDX-License-Identifier: GPL-3.0-or-later
//! Which messages seem to be in the wrong folder, where messages that belong together may be there
//! together.
//!
//! A fit that has learned some mail of a sender in the wrong folder classifies the rest likewise.
//! So groups of messages are left out as wholes.

use super::{LeftOut, Problem, TELLING, WRONG, together};
use crate::fit::blocks::best_other;
use crate::fit::dataset::Dataset;
use crate::fit::stop::Stopped;
use dbacl_numeric::random::SplitMix64;

/// Parts that the groups are divided into.
const FOLDS: usize = 8;

/// The share of [`WRONG`] with which a message is clearly doubtful: somebody looks at it before
/// anything happens.
const DOUBTFUL: f64 = 0.25;

/// A message that seems to be in the wrong folder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Doubt {
    /// Its number among all messages.
    pub document: usize,
    /// The label that it looks as if it had.
    pub looks_like: usize,
    /// Whether it does so clearly.
    pub is_clear: bool,
    /// How far it, and its group on average, are taken for messages of another label.
    excess: f64,
}

impl Problem<'_> {
    /// The messages that seem to be in the wrong folder, those that do most first. `groups` has the
    /// number of the group of each message; all messages of a group have one label.
    ///
    /// # Errors
    /// [`Stopped`]
    pub(crate) fn doubts(&self, groups: &[usize]) -> Result<Vec<Doubt>, Stopped> {
        let data = self.data;
        if data.documents().iter().any(|&own| own < TELLING) {
            return Ok(Vec::new());
        }
        let (scores, _): (_, Vec<LeftOut>) = self.cross_validate(&folds(data, groups))?;
        let mut sums = vec![(0.0, 0.0); groups.iter().max().map_or(0, |last| last + 1)];
        let mut found: Vec<Doubt> = Vec::new();
        for (document, scores) in scores.chunks_exact(data.width).enumerate() {
            let label = data.labels[document];
            let looks_like = best_other(scores, label);
            let excess = scores[looks_like] - scores[label];
            found.push(Doubt { document, looks_like, is_clear: false, excess });
            let (sum, number) = &mut sums[groups[document]];
            *sum += excess;
            *number += 1.0;
        }
        // The scores of two labels are those of one fit; of more, each has its own.
        let limit = if data.width == 2 { WRONG } else { 2.0 * WRONG } * DOUBTFUL;
        for doubt in &mut found {
            let (sum, number) = sums[groups[doubt.document]];
            doubt.excess = f64::midpoint(doubt.excess, sum / number);
            doubt.is_clear = doubt.excess > limit;
        }
        found.retain(|doubt| doubt.excess > 0.0);
        found.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        Ok(found)
    }
}

/// A fold for each message, so that each has about as many messages of every label. Groups are in
/// one fold, as are small ones that follow each other (see [`together`]).
fn folds(data: &Dataset, groups: &[usize]) -> Vec<usize> {
    let mut folds = vec![0; data.len()];
    let mut shuffle = SplitMix64::new(2);
    let mut firsts: Vec<usize> = (0..data.len()).collect();
    for at in (0..data.len()).rev() {
        firsts[groups[at]] = at;
    }
    for label in 0..data.width {
        let mut own: Vec<usize> = (0..data.len()).filter(|&at| data.labels[at] == label).collect();
        own.sort_by_key(|&at| firsts[groups[at]]);
        let together = together(own.len());
        let mut wholes: Vec<Vec<usize>> = Vec::new();
        for group in own.chunk_by(|&a, &b| groups[a] == groups[b]) {
            match wholes.last_mut().filter(|whole| whole.len() + group.len() <= together) {
                Some(whole) => whole.extend_from_slice(group),
                None => wholes.push(group.to_vec()),
            }
        }
        shuffle.shuffle(&mut wholes);
        wholes.sort_by_key(|whole| std::cmp::Reverse(whole.len()));
        let mut sizes = [0; FOLDS];
        for whole in wholes {
            let fold = (0..FOLDS).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
            sizes[fold] += whole.len();
            for document in whole {
                folds[document] = fold;
            }
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_neighbours_are_in_one_fold_and_folds_are_of_one_size() {
        let mut data = Dataset::new(2);
        for at in 0..400_u32 {
            data.push(
                usize::from(at >= 240),
                u64::from(at),
                [vec![at + 1], Vec::new(), Vec::new()],
            );
        }
        // Every tenth message of the first label is of one group.
        let group = |at: usize| if at < 240 && at % 10 == 3 { 3 } else { at };
        let groups: Vec<usize> = (0..400).map(group).collect();
        let found = folds(&data, &groups);
        assert!((0..24).all(|at| found[10 * at + 3] == found[3]));
        let size = |fold: usize, label: usize| {
            (0..400).filter(|&at| found[at] == fold && data.labels[at] == label).count()
        };
        for fold in 0..FOLDS {
            assert!((15..=45).contains(&size(fold, 0)) && (10..=30).contains(&size(fold, 1)));
        }
        let pairs = (240..399).filter(|&at| found[at] == found[at + 1]).count();
        assert!(pairs > 130, "{pairs}");
    }
}
