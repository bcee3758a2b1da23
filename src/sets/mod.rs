// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories that are fitted together, for callers who have documents in memory: fitting
//! them, and judging mail by a filter's folder.
//!
//! ```text
//! CategorySet + labelled documents ─→ JointFit ─→ Fit ─→ CategorySet
//! folder of a mail filter, mail    ─→ MailFilter ─→ MailVerdict, or the mail with its verdict
//! ```
//!
//! The mathematics is in [`crate::joint`]; how sets judge is in [`crate::classify`].

mod joint_fit;
pub mod mail_filter;
mod reading;

pub use joint_fit::{Fit, JointFit};
pub use mail_filter::{MailFilter, MailFilterError, MailVerdict};
