// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories that classify documents: ordinary ones in memory ([`crate::sets::classify`]),
//! and those of a mail filter on disk.
//!
//! ```text
//! mail folders           ─→ MailFilter::learn_folders ─→ MailFilter, LearnedSet
//! MailFilter, a message  ─→ MailVerdict, Reasons, or the message with its verdict
//! MailFilter, lessons    ─→ ChangeReport, changed files
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
pub(crate) mod fitting;
mod folder_mail;
mod general;
mod kin;
pub(crate) mod learn_folders;
mod mail_filter;
mod mail_folders;
mod mail_reading;
mod mailboxes;
mod mend;
mod message;
mod misfiled;
mod open_filter;
mod options;
mod protection;
mod reading;
mod reasons;
mod recent;
mod report;
mod review;
mod roles;
mod runs;
#[cfg(test)]
mod tests;
mod weighing;

pub(crate) use asking::{Question, each_message};
pub(crate) use change::ChangeKind;
pub use error::MailFilterError;
pub use filter_folder::{FilterOpenError, FilterPlace};
pub use mail_filter::MailFilter;
pub use mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
pub use open_filter::MailVerdict;
pub(crate) use open_filter::{ERROR, OpenFilter};
pub use options::MailFilterOptions;
pub use reasons::Reasons;
pub use recent::{ManyUnsure, RecentVerdicts};
pub use report::{ChangeReport, DocumentId, DocumentReport, Outcome};
pub(crate) use review::Review;
pub use roles::MailRole;
