// SPDX-License-Identifier: GPL-3.0-or-later
//! Why a model cannot be read.

use std::fmt;

/// Refuses words of another version.
pub(crate) fn known_words(found: &str, own: &'static str) -> Result<(), Unreadable> {
    if found == own { Ok(()) } else { Err(Unreadable::Other { found: found.to_owned(), own }) }
}

/// Why a model cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is damaged, or something else.
    Damaged,
    /// Its words are of another version.
    Other {
        /// The words of the file.
        found: String,
        /// The words of this program.
        own: &'static str,
    },
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => out.write_str("damaged; learn again"),
            Self::Other { found, own } => {
                write!(out, "its words are {found:?}, this program has {own:?}; learn again")
            }
        }
    }
}

impl std::error::Error for Unreadable {}
