// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories that classify documents: ordinary ones in memory ([`crate::sets::classify`]),
//! and those of a mail filter on disk.
//!
//! ```text
//! mail folders          ─→ FittedSet::learn_folders ─→ FittedSet, LearnedSet
//! a filter's folder     ─→ MailFilter ─→ SetVerdict, or the mail with its verdict
//! FittedSet, messages   ─→ SetVerdict, SetReport, changed files
//! ```
//!
//! The mathematics of the filter is in [`crate::fit`].

mod asking;
pub mod check;
pub mod classify;
mod copying;
mod drift;
pub mod error;
pub mod files;
pub mod filter_folder;
mod fitted;
mod fitted_set;
mod folder_counts;
mod general;
mod judging;
pub mod learn_folders;
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
pub mod update;

pub use asking::{Question, each_message};
pub use error::FittedSetError;
pub use filter_folder::{FilterPlace, MailFilterError};
pub use fitted_set::FittedSet;
pub use mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
pub use open_set::{ERROR, MailFilter, SetVerdict};
pub use options::FittedSetOptions;
pub use reasons::Reasons;
pub use report::{DocumentId, DocumentReport, Outcome, SetReport};
pub use roles::MailRole;
