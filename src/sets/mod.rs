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
//! The mathematics of the filter is in [`crate::fit`], its files are in [`crate::store`].

mod asking;
mod change;
pub(crate) mod check;
pub(crate) mod classify;
mod copying;
mod drift;
pub(crate) mod error;
mod filter_folder;
mod fitted_set;
pub(crate) mod fitting;
mod folder_mail;
mod general;
pub(crate) mod learn_folders;
mod mail_filter;
mod mail_folders;
mod mail_reading;
mod mailboxes;
mod mend;
mod message;
mod misfiled;
mod options;
mod protection;
mod reading;
mod reasons;
mod report;
mod roles;
mod runs;
mod weighing;

pub use crate::store::Stamp as FilterStamp;
pub(crate) use asking::{Question, each_message};
pub use error::FittedSetError;
pub use filter_folder::{FilterPlace, MailFilterError};
pub use fitted_set::FittedSet;
pub(crate) use mail_filter::ERROR;
pub use mail_filter::{MailFilter, SetVerdict};
pub use mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
pub use options::FittedSetOptions;
pub use reasons::Reasons;
pub use report::{DocumentId, DocumentReport, Outcome, SetReport};
pub use roles::MailRole;
