// SPDX-License-Identifier: GPL-3.0-or-later
//! The odds of one text among several: a conditional maximum-entropy fit over groups of
//! alternatives of which one was chosen (`docs/refit.md`, "Choices").
//!
//! ```text
//! groups (feature ids) ─→ fit (weights) ─→ publish (two category files)
//!                           └→ calibrate (temperature, curvature) ┘
//! ```
//!
//! Each alternative i has the score `s_i`, the sum of the weights of its features, in nats. A
//! feature that occurs twice counts twice, as it does in the scores of `dbacl -n`. The model's
//! probability of i within its group is
//!
//! ```text
//! p(i) = exp(s_i) / sum over j of exp(s_j)
//! ```
//!
//! Only differences between the scores of one group matter. So there is no bias, and features that
//! all alternatives of a group have in common have no effect.
//!
//! The weights are written as two ordinary categories. The difference of their scores is the
//! model's score, so that any dbacl can compute the odds.
//!
//! ```
//! use dbacl_choices::{Fit, Form, Groups, Settings, Tally, files};
//!
//! let mut groups = Groups::default();
//! for _ in 0..100 {
//!     for text in ["their house", "there house"] {
//!         text.split(' ').for_each(|word| groups.push_word(word.as_bytes(), 1));
//!         groups.end_alternative();
//!     }
//!     groups.end_group(0); // "their" was right
//! }
//! let mut fit = Fit::new(Settings { rate: 0.2, groups: 100, ..Settings::default() });
//! fit.learn(&groups, &mut Tally::default());
//! let (_, probabilities) = fit.judge(groups.get(0));
//! assert!(probabilities[0] > 0.9);
//! let [right, wrong] = files(&fit, &Form::of_words(100), [b"right", b"wrong"]);
//! assert!(right.starts_with(b"# dbacl") && wrong.starts_with(b"# dbacl"));
//! ```

#![warn(missing_docs)]

mod calibrate;
mod fit;
mod groups;
mod publish;
mod table;

pub use calibrate::{Calibration, Judged, Quality, normalise};
pub use dbacl_engine::token::id::{FeatureId, ShortWord};
pub use fit::{
    CONSTANT_SHARE, Fit, LAST_SHARE, SKIP, START, Settings, Tally, probabilities, rate_for,
};
pub use groups::{Group, Groups};
pub use publish::{Form, files};
