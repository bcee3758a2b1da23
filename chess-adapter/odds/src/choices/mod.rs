// SPDX-License-Identifier: GPL-3.0-or-later
//! The odds of one alternative among several: a conditional maximum-entropy fit over groups of
//! alternatives of which one was chosen (spec chess 9.18).
//!
//! ```text
//! groups (feature ids) ─→ fit (weights) ─→ calibrate (temperature, curvature)
//! ```
//!
//! Each alternative i has the score `s_i`, the sum of the weights of its features, in nats; a
//! feature that occurs twice counts twice. The model's probability of i within its group is
//!
//! ```text
//! p(i) = exp(s_i) / sum over j of exp(s_j)
//! ```
//!
//! Only differences between the scores of one group matter. So there is no bias, and features that
//! all alternatives of a group have in common have no effect.

mod calibrate;
mod fit;
mod groups;
mod table;

pub use calibrate::Judged;
pub(crate) use calibrate::{Calibration, Quality, normalise};
pub(crate) use dbacl::{FeatureId, ShortWord};
pub use fit::Tally;
pub(crate) use fit::{Fit, Settings, probabilities};
pub(crate) use groups::{Group, Groups};
