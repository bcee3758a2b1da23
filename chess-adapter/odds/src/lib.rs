// SPDX-License-Identifier: GPL-3.0-or-later
//! What is learned from games of chess: the probabilities of moves, and what a position is worth
//! ([`worth`]).
//!
//! ```text
//! moves ─→ words (rich, context) ─→ fit: first stage, millions of words
//!    └──→ a search (look) ─→ search words ─→ second stage: some hundred weights more ─→ Odds
//! ```
//!
//! Words say what each legal move does and what came before it. [`fit`] learns a weight for each
//! word from all positions of most games. Then the search of `chess-search` looks at positions of
//! games that this stage has not seen, and a second stage weighs what it found and the first
//! stage's probabilities. [`Odds`] is both stages in use.
#![warn(missing_docs)]

mod captures;
mod checks;
mod choices;
mod context;
mod exchange;
pub mod fit;
mod games;
mod legend;
mod look;
mod odds;
mod practice;
mod rich;
mod second;
#[cfg(test)]
mod testing;
mod view;
mod weights;
mod words;
pub mod worth;

pub use choices::{Judged, Tally};
pub use games::{Games, Turn};
pub use odds::{Base, Odds};
pub use practice::{Practised, practise};
pub use second::Part;
