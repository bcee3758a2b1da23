// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories that are fitted together: fitting them in memory, judging by them, and
//! changing them on disk.
//!
//! ```text
//! CategorySet + labelled documents ─→ JointFit ─→ Fit ─→ CategorySet
//! folder of a mail filter, mail    ─→ MailFilter ─→ SetVerdict, or the mail with its verdict
//! labelled documents               ─→ FittedSet::create ────────→ FittedSet, LearnedSet
//! mail folders                     ─→ FittedSet::learn_folders ─→ FittedSet, LearnedSet
//! files, documents                 ─→ FittedSet ─→ SetVerdict, SetReport, changed files
//! ```
//!
//! The mathematics is in [`dbacl_joint`]; how sets in memory judge is in [`crate::classify`].

#![warn(missing_docs)]

mod asking;
pub mod check;
pub mod classify;
mod copying;
mod create;
mod drift;
pub mod error;
pub mod files;
pub mod filter_folder;
mod fitted_set;
mod folder_counts;
mod general;
#[cfg(test)]
mod general_model;
mod joint_fit;
mod judging;
pub mod learn_folders;
pub mod learned;
mod mail_folders;
mod mail_reading;
mod mailboxes;
mod mend;
mod misfiled;
mod open_set;
mod options;
mod patching;
mod protection;
mod reading;
mod reasons;
pub mod refit;
mod report;
mod roles;
mod runs;
mod salvage;
pub mod unfinished;
pub mod update;

pub use asking::{Question, each_message};
pub use error::FittedSetError;
pub use filter_folder::{FilterPlace, MailFilterError};
pub use fitted_set::FittedSet;
pub use joint_fit::{Fit, JointFit};
pub use mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
pub use mail_reading::MailReading;
pub use open_set::{ERROR, MailFilter, SetVerdict, direct};
pub use options::FittedSetOptions;
pub use reasons::Reasons;
pub use report::{DocumentId, DocumentReport, Outcome, SetReport};
pub use roles::MailRole;
