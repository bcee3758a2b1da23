// SPDX-License-Identifier: GPL-3.0-or-later
//! Measures how good a classifier is, by cross-validation and online simulations. It runs dbacl's
//! classifier in memory, and any other command that classifies mail.
//!
//! ```text
//! dbacl-eval   operands ─ corpus → documents ─ protocol → verdicts ─ measures → text, JSON, page
//! mailcross    mailboxes ─ mbox → messages ─ folder → folds
//! mailtoe      folds ─ command (learner, filter) → log ─ table → recall, precision, total
//! mailfoot
//! ```

mod command;
mod corpus;
mod json;
mod mail_filter;
pub mod mailcross;
mod mbox;
mod measures;
mod options;
mod order;
mod page;
mod peer;
mod program;
mod protocol;
mod report;
mod sets;
mod text;

pub use options::Options;
pub use program::main;
