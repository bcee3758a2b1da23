// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning in parts: the parts of an input are counted separately, in any process; the counts are
//! merged in any grouping; and one fit makes the category.
//!
//! ```text
//! features ─→ counting ─→ counts ⇄ counts file
//!                           │ merge (any tree)
//!                           └─→ replay ─→ learn::counter::Counter ─→ fit
//! ```
//!
//! What a category is made from depends on the input only through its distinct features in order of
//! first appearance, their counts, and - for mail - the documents in order: growth and fullness of
//! the table, collisions of ids and sums over documents follow from these, and are worked out when
//! the counts are replayed. [`counts::Counts`] holds exactly this; nothing in it is rounded.

pub(crate) mod collect;
pub(crate) mod counts;
pub(crate) mod dump;
pub(crate) mod file;
pub(crate) mod parallel;
pub(crate) mod part;
pub(crate) mod replay;
#[cfg(test)]
mod tests;
