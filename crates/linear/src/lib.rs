// SPDX-License-Identifier: GPL-3.0-or-later
//! Linear classifiers over blocks of present features: the fit, learning and forgetting of single
//! documents, and probabilities. There are no files here, no text and no threads, only numbers.
//!
//! ```text
//! columns of each document ─→ Documents ─┐
//! documents with each column ─→ scales ──┴→ solve ─→ Table and dual variables ─→ margins
//!                                                       ↑ ↓ learn, forget          │
//! margins of documents that were left out ─→ calibrate ─→ Calibration ─→ probabilities
//! ```
//!
//! # What is fitted
//!
//! A document has one or more *blocks* of features, such as its words and its runs of characters.
//! A feature is present or absent; it has a *column*, and a column belongs to one block. Each
//! block b of document d has one *input* for all of its features,
//!
//! ```text
//! x_bd = v_b / sqrt(u_bd)        v_b: weight of the block; u_bd: its features in the document
//! ```
//!
//! see [`input`]. Whether u counts all features or only known ones is for the caller to say. Each
//! *problem* k asks whether a document is of class k: `y_dk` is 1 or -1. Two classes are one
//! problem; K > 2 classes are K problems, each class against the rest; labels that may come
//! together are a problem each. With the scale `f_t` of column t ([`scales`]) and the input q of
//! the intercept, the fit minimises for each problem
//!
//! ```text
//! 1/2 (sum_t (w_t - start_t)²/f_t + v²) + sum_d C_d max(0, 1 - y_d m_d)²
//! m_d = sum_b x_bd sum_{t in b} w_t + q v
//! ```
//!
//! by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate
//! descent method for large-scale linear SVM", 2008), see [`solve`].
//!
//! # Duals
//!
//! Each document has one dual variable `a_dk` ≥ 0 a problem, and what is kept of column t is a sum
//! over documents, from which the weight follows:
//!
//! ```text
//! w_tk = f_t A_tk,        A_tk = start_tk/f_t + sum_d a_dk y_dk x_bd
//! ```
//!
//! So one document is learned by a step of its own coordinate ([`Table::visit`]), learned once more
//! by another step, and forgotten by taking its part of the sums away ([`Table::forget`]). Scales
//! may change between the steps, as when the numbers of documents do. With sums of the kind
//! [`Exact`] forgetting is exact to the bit, in whatever order documents came and went. Sums of the
//! kind `f32` take half of the memory, for those who do not forget.
//!
//! ```
//! use dbacl_linear::{Block, Training, Documents, Exact, Member, Table, scales, solve};
//!
//! // Two blocks: columns 0 to 2 are of the text, columns 3 and 4 are tags. One problem: spam?
//! let blocks =
//!     |text: usize, tags: usize| [Block::new(text, 1.0, text), Block::new(tags, 0.85, tags)];
//! let mut mail = Documents::default();
//! for (key, [text, tags], is_spam) in [
//!     (1, [&[0, 1][..], &[3][..]], true),
//!     (2, [&[0, 2], &[3, 4]], true),
//!     (3, [&[1, 2], &[4]], false),
//!     (4, [&[2], &[4]], false),
//! ] {
//!     let positive: &[u32] = if is_spam { &[0] } else { &[] };
//!     let (columns, blocks) = ([text, tags].concat(), blocks(text.len(), tags.len()));
//!     mail.push(key, &Member { columns: &columns, blocks: &blocks, positive, cost: 1.0 });
//! }
//! let all = mail.all();
//! let scale = |df| scales::rarity(all.len(), df, 0.75);
//! let scales: Vec<f32> = scales::frequencies(&mail, &all, 5).into_iter().map(scale).collect();
//!
//! let mut table = Table::<Exact>::new(0..1, &scales, 0.3);
//! let training = Training { part: &all, cost: 1.0, passes: 10 };
//! let mut duals = solve(&mut table, &mail, &training, &mut |_| true).expect("nobody stops it");
//! let mut margin = [0.0];
//! table.margins(&mail.member(0), &mut margin);
//! assert!(margin[0] > 0.5);
//!
//! // Learn a fifth message with one step, and forget it again.
//! let before = table.clone();
//! let blocks = blocks(2, 0);
//! let fifth = Member { columns: &[1, 2], blocks: &blocks, positive: &[0], cost: 1.0 };
//! let mut own = [0.0];
//! table.visit(&fifth, &mut own);
//! assert!(own[0] > 0.0 && table != before);
//! table.forget(&fifth, &mut own);
//! assert_eq!(table, before);
//!
//! // Forget the first one of the fit, too.
//! table.forget(&mail.member(0), &mut duals[..1]);
//! assert_eq!(duals[0], 0.0);
//! ```
//!
//! # Reproducibility
//!
//! Documents are visited in an order that follows from their keys alone. The same documents give
//! the same bits in whatever order they were pushed, with any number of threads outside, and
//! whether the problems are solved together or in several ranges.

#![warn(missing_docs)]

mod calibration;
mod documents;
pub mod scales;
mod solver;
mod sums;
mod table;

pub use calibration::{Calibration, Sample, calibrate};
pub use documents::{Block, Documents, Member, input};
pub use solver::{Training, resume, solve};
pub use sums::{Exact, Sum};
pub use table::{Table, step};
