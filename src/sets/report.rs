// SPDX-License-Identifier: GPL-3.0-or-later
//! Reports what a change of a mail filter has done.

use crate::error::Warning;
use std::fmt;
use std::str::FromStr;

/// The result of a change of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeReport {
    /// What became of each document, in the order in which they were given.
    pub documents: Vec<DocumentReport>,
    /// Whether the filter changed.
    pub is_changed: bool,
    /// Whether the whole filter was fitted again. Forgetting always does that, learning sometimes.
    pub is_refitted: bool,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// The result for one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentReport {
    /// The document's id; `None` for a document without features.
    pub id: Option<DocumentId>,
    /// What was done.
    pub outcome: Outcome,
}

/// What was done with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The filter did not know the document and has learned it.
    Learned,
    /// The filter knew the document, under this or another label, and has learned it once more.
    LearnedAgain,
    /// The filter knows the document under this label already; nothing was done.
    Known,
    /// The filter knew the document under another label, and knows it under this one now.
    Moved {
        /// The other label.
        from: String,
    },
    /// The filter has forgotten the document.
    Forgotten {
        /// The label under which it knew it.
        from: String,
    },
    /// The filter does not know the document under this label; nothing was forgotten.
    NotKnown,
    /// The document has no features; there is nothing to learn or forget.
    Empty,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Learned => f.write_str("learned"),
            Self::LearnedAgain => f.write_str("learned once more"),
            Self::Known => f.write_str("already known"),
            Self::Moved { from } => write!(f, "moved from {from}"),
            Self::Forgotten { from } => write!(f, "forgotten from {from}"),
            Self::NotKnown => f.write_str("not known"),
            Self::Empty => f.write_str("without features"),
        }
    }
}

/// The id by which a filter recognises a document: a checksum of its features. Parts of a message
/// that give no features, such as headers that mail systems add, do not change it. Shown as sixteen
/// hexadecimal digits.
///
/// ```
/// use dbacl::DocumentId;
///
/// let id: DocumentId = "00000000deadbeef".parse()?;
/// assert_eq!(id.to_string(), "00000000deadbeef");
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(pub(crate) u64);

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for DocumentId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}
