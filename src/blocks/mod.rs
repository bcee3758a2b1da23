// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits categories together on more documents than memory holds, on one machine or several
//! (`docs/text.md`, spec refit 9).
//!
//! ```text
//! documents ─→ tally ─→ frame (features that take part) ─→ numbered documents in blocks and chains
//!                                                              ⇅ tasks: count, round, score
//!                                      leader ─→ weights ─→ compose ─→ categories
//! ```
//!
//! Documents are dealt to *blocks* of a stated size, and blocks to at most [`CHAINS`] *chains*. In
//! each round every chain goes on from the common weights: it fits its blocks in turn and knows
//! nothing of the other chains. Then the changes of all chains are added up in their order. What
//! comes out depends on the documents, their order, the options and the size of a block. It does
//! not depend on how many classes are fitted at a time, on memory, threads or machines.

pub mod chain;
mod coding;
mod compose;
mod error;
pub mod frame;
pub mod leader;
pub mod local;
mod settings;
pub mod tally;

pub use crate::joint::solver::Duals;
pub use chain::{Answer, Share, Task, work};
pub use error::BlockError;
pub use frame::{Frame, Numberer, place};
pub use leader::{BlockFit, Chains, HeldOut, Leader};
pub use local::{LocalBlocks, needed};
pub use settings::{BlockSettings, CHAINS, FEATURES, check};
pub use tally::{Tallier, Tally};
