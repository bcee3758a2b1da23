// SPDX-License-Identifier: GPL-3.0-or-later
//! What a fitted set keeps on disk beside its categories: the ledger of its documents, the state of
//! its fit, and the generations in which its files change together.

pub mod corrections;
pub mod filter;
pub mod forgetting;
pub mod generations;
pub mod ledger;
pub mod pages;
mod record;
pub mod relearn;
pub mod state;

#[cfg(test)]
mod tests;
