// SPDX-License-Identifier: GPL-3.0-or-later
//! Features → numbers of columns, by one look-up in a table of open addressing.

/// Finds the place of a feature.
#[derive(Debug, Clone)]
pub struct Index {
    /// Feature and column + 1; 0 where there is none. At least a third is free.
    slots: Vec<(u32, u32)>,
    length: u32,
}

impl Default for Index {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 16], length: 0 }
    }
}

impl Index {
    /// The index of these features, whose columns are their places.
    pub fn of(features: &[u32]) -> Self {
        let room = (features.len() + features.len() / 2 + 16).next_power_of_two();
        let mut index = Self { slots: vec![(0, 0); room], length: 0 };
        for &feature in features {
            index.insert(feature);
        }
        index
    }

    fn place(&self, feature: u32) -> usize {
        let mask = self.slots.len() - 1;
        // Features are hashes.
        let mut at = feature.wrapping_mul(0x9e37_79b1) as usize & mask;
        while self.slots[at].1 != 0 && self.slots[at].0 != feature {
            at = (at + 1) & mask;
        }
        at
    }

    /// The column of a feature.
    pub fn get(&self, feature: u32) -> Option<u32> {
        self.slots[self.place(feature)].1.checked_sub(1)
    }

    /// The column of a feature, a new one if it has none.
    pub fn insert(&mut self, feature: u32) -> u32 {
        if (self.length as usize + 1) * 3 > self.slots.len() * 2 {
            let room = self.slots.len() * 2;
            let old = std::mem::replace(&mut self.slots, vec![(0, 0); room]);
            for slot in old.into_iter().filter(|slot| slot.1 != 0) {
                let at = self.place(slot.0);
                self.slots[at] = slot;
            }
        }
        let at = self.place(feature);
        if self.slots[at].1 == 0 {
            self.length += 1;
            self.slots[at] = (feature, self.length);
        }
        self.slots[at].1 - 1
    }

    /// Number of features.
    pub const fn len(&self) -> usize {
        self.length as usize
    }

    /// The features by column.
    pub fn features(&self) -> Vec<u32> {
        let mut features = vec![0; self.len()];
        for &(feature, number) in self.slots.iter().filter(|slot| slot.1 != 0) {
            features[number as usize - 1] = feature;
        }
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_keep_their_columns() {
        let mut index = Index::default();
        let features: Vec<u32> = (0..1000u32).map(|at| at.wrapping_mul(1 << 20)).collect();
        for (at, &feature) in features.iter().enumerate() {
            assert_eq!((index.insert(feature) as usize, index.insert(feature) as usize), (at, at));
        }
        assert_eq!((index.len(), index.features() == features), (1000, true));
        assert_eq!((index.get(5), Index::default().get(0)), (None, None));
        let again = Index::of(&features);
        assert!(features.iter().all(|&feature| again.get(feature) == index.get(feature)));
    }
}
