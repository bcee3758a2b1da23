// SPDX-License-Identifier: GPL-3.0-or-later
//! The medium of a token: which part of a document it came from.

/// Number of media that a model distinguishes.
pub(crate) const MEDIA: usize = 16;

/// The part of a document a token came from, 0..=15. Features of different media differ: the
/// medium enters the feature's hash. Plain text has medium 1; mail uses 1 to 15 (spec email 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Medium(u8);

impl Medium {
    /// Plain text, and mail whose n-grams run on over lines.
    pub const TEXT: Self = Self(1);

    /// The medium with this number.
    ///
    /// # Panics
    /// If `number` is 16 or more; numbers come from our own tables.
    pub(crate) const fn new(number: u8) -> Self {
        assert!(number < 16, "a medium has four bits");
        Self(number)
    }

    /// The medium's number, 0..=15.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether tokens come from the header of a message, not from what it says.
    pub(crate) const fn is_header(self) -> bool {
        self.0 > 3
    }

    /// The medium as an index into tables of an entry for each medium.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}
