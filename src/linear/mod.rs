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
//! 1/2 (sum_t w_t²/f_t + v²) + sum_d C_d max(0, 1 - y_d m_d)²
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
//! w_tk = f_t A_tk,        A_tk = sum_d a_dk y_dk x_bd
//! ```
//!
//! So one document is learned by a step of its own coordinate ([`Table::visit`]), learned once more
//! by another step, and forgotten by taking its part of the sums away, as the store of mail filters
//! does. Scales may change between the steps, as when the numbers of documents do. With sums of the
//! kind [`Exact`] forgetting is exact to the bit, in whatever order documents came and went. Sums
//! of the kind `f32` take half of the memory, for those who do not forget.
//!
//! # Reproducibility
//!
//! Documents are visited in an order that follows from their keys alone. The same documents give
//! the same bits in whatever order they were pushed, with any number of threads outside, and
//! whether the problems are solved together or in several ranges.

mod calibration;
mod documents;
pub(crate) mod scales;
mod solver;
mod sums;
mod table;

pub(crate) use calibration::{Calibration, Sample, calibrate};
pub(crate) use documents::{Block, Documents, Member, input};
pub(crate) use solver::{Training, resume, solve};
pub(crate) use sums::{Exact, Sum};
pub(crate) use table::Table;
