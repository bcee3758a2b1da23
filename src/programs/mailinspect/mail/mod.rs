// SPDX-License-Identifier: GPL-3.0-or-later
//! The messages of a mailbox, their scores against a category, and the words that decide a score
//! (spec tools 2).
//!
//! ```text
//! mailbox → lines ─ index: where messages begin, their headers ─┬→ entries → order → a list
//!                 └ mail filter → tokens → sums → measures ─────┘
//! message → lines → mail filter → tokens → evidence: which words weigh how much
//! ```

pub(super) mod evidence;
pub(super) mod index;
pub(super) mod judge;
pub(super) mod mailbox;
pub(super) mod order;
pub(super) mod select;

#[cfg(test)]
pub(crate) mod sample;
