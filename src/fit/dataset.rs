// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages over dense numbers of features, as the fit sees them.

use crate::fit::blocks::BLOCKS;
use hashbrown::HashMap;

/// Messages over dense numbers of features, which are called columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dataset {
    /// Number of labels.
    pub width: usize,
    /// The ids of the features, by column.
    pub ids: Vec<u32>,
    /// Messages that contain each.
    pub with: Vec<u32>,
    /// The label of each message.
    pub labels: Vec<usize>,
    /// The key of each message, which decides when the fit visits it.
    pub keys: Vec<u64>,
    /// The columns of each message by block.
    rows: Vec<[Vec<u32>; BLOCKS]>,
    index: HashMap<u32, u32>,
}

impl Dataset {
    /// No messages yet, of so many labels.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a message with these ids of features by block. Columns take their place in memory.
    pub(crate) fn push(&mut self, label: usize, key: u64, mut features: [Vec<u32>; BLOCKS]) {
        for id in features.iter_mut().flatten() {
            let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
            let column = *self.index.entry(*id).or_insert(next);
            if column == next {
                self.ids.push(*id);
                self.with.push(0);
            }
            self.with[column as usize] += 1;
            *id = column;
        }
        self.rows.push(features);
        self.labels.push(label);
        self.keys.push(key);
    }

    /// Ends adding: what only that needs is freed.
    #[must_use]
    pub(crate) fn complete(mut self) -> Self {
        self.index = HashMap::new();
        self
    }

    /// Number of messages.
    pub(crate) const fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The columns of a message by block.
    pub(crate) fn row(&self, document: usize) -> [&[u32]; BLOCKS] {
        self.rows[document].each_ref().map(Vec::as_slice)
    }

    /// Gives back the ids of the features of each message by block.
    pub(crate) fn into_features(self) -> impl Iterator<Item = [Vec<u32>; BLOCKS]> {
        let Self { ids, rows, .. } = self;
        rows.into_iter().map(move |mut row| {
            row.iter_mut().flatten().for_each(|column| *column = ids[*column as usize]);
            row
        })
    }

    /// Messages of each label.
    pub(crate) fn documents(&self) -> Vec<u32> {
        let mut documents = vec![0; self.width];
        for &label in &self.labels {
            documents[label] += 1;
        }
        documents
    }

    /// How many different messages each label has, counted up to `most`: further copies of one,
    /// such as a circular, are not counted.
    pub(crate) fn different(&self, most: usize) -> Vec<usize> {
        let mut kept: Vec<Vec<Vec<u32>>> = vec![Vec::new(); self.width];
        for (document, &label) in self.labels.iter().enumerate() {
            let kept = &mut kept[label];
            if kept.len() < most {
                let mut own = self.row(document).concat();
                own.sort_unstable();
                if !kept.iter().any(|other| are_copies(&own, other)) {
                    kept.push(own);
                }
            }
        }
        kept.iter().map(Vec::len).collect()
    }

    /// The share of the text's features of each message that messages of other folds have, too, or
    /// that are known otherwise: `knows` says so by column, or is empty. What no message of other
    /// folds has a fit without its fold has not learned.
    pub(crate) fn known_shares(&self, folds: &[usize], knows: &[bool]) -> Vec<f64> {
        /// A feature that no message has, or that messages of several folds have.
        const NONE: u32 = u32::MAX;
        const SEVERAL: u32 = NONE - 1;
        let mut only = vec![NONE; self.ids.len()];
        let fold = |document: usize| u32::try_from(folds[document]).unwrap_or(SEVERAL);
        for document in 0..self.len() {
            for &column in self.row(document).into_iter().flatten() {
                let known = &mut only[column as usize];
                *known =
                    if [NONE, fold(document)].contains(known) { fold(document) } else { SEVERAL };
            }
        }
        let share = |document: usize| {
            let is_known = |&&column: &&u32| {
                let is_in_others = only[column as usize] != fold(document);
                knows.get(column as usize) == Some(&true) || is_in_others
            };
            let [text, ..] = self.row(document);
            share(text.iter().filter(is_known).count(), text.len())
        };
        (0..self.len()).map(share).collect()
    }
}

/// The share of `known` features among `all` of a message; 1 where there are none.
pub(crate) fn share(known: usize, all: usize) -> f64 {
    use dbacl_numeric::elementary::real;
    if all == 0 { 1.0 } else { real(known) / real(all) }
}

/// Whether two messages share 49 in 50 of the features that either has; both lists rise. Copies
/// of a message differ in addresses and ids.
fn are_copies(one: &[u32], other: &[u32]) -> bool {
    let shared = one.iter().filter(|feature| other.binary_search(feature).is_ok()).count();
    50 * shared >= 49 * (one.len() + other.len() - shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_message_count_once() {
        let mut data = Dataset::new(2);
        let mut push = |label, from: u32, to: u32| {
            let ids: Vec<u32> = (from..to).collect();
            data.push(label, 0, [ids, vec![], vec![]]);
        };
        push(0, 1, 50);
        push(1, 1, 50);
        push(0, 1, 51); // 49 of 50
        push(0, 2, 51); // 48 of 50
        push(1, 1, 49); // 48 of 49
        push(1, 60, 62);
        push(1, 70, 72);
        assert_eq!((data.different(8), data.different(1)), (vec![2, 4], vec![1, 1]));
        assert_eq!((data.documents(), data.len(), data.ids.len()), (vec![3, 4], 7, 54));
    }

    #[test]
    fn what_other_folds_have_is_known() {
        let mut data = Dataset::new(2);
        // 1 and 2 are words of all, 12 is a tag, the others are words of one message each.
        for number in 0..4 {
            let own = 100 + u32::try_from(number).unwrap();
            data.push(number % 2, 0, [vec![1, 2, own], vec![12], vec![]]);
        }
        assert_eq!(data.row(1)[1], [3]);
        assert_eq!(data.known_shares(&[0, 0, 1, 1], &[]), [2.0 / 3.0; 4]);
        // Nothing is known to others where all are in one fold.
        assert_eq!(data.known_shares(&[0; 4], &[]), [0.0; 4]);
        // A general model knows the second word.
        assert_eq!(data.known_shares(&[0; 4], &[false, true]), [1.0 / 3.0; 4]);
        assert_eq!((share(1, 4), share(0, 0)), (0.25, 1.0));
        assert_eq!(data.into_features().nth(1).unwrap(), [vec![1, 2, 101], vec![12], vec![]]);
    }
}
