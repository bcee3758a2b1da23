// SPDX-License-Identifier: GPL-3.0-or-later
//! Features from regular expressions.

use super::PatternId;
use crate::error::{Error, Result, WarningSink};
use crate::model::settings::Locale;

/// The regular expressions of a run.
pub struct PatternList;

#[allow(
    missing_docs,
    clippy::unused_self,
    clippy::missing_errors_doc,
    clippy::needless_pass_by_ref_mut
)]
impl PatternList {
    pub fn new(_: Locale) -> Self {
        Self
    }
    pub fn add(&mut self, argument: &[u8], _: WarningSink<'_>) -> Result<PatternId> {
        let pattern = String::from_utf8_lossy(argument).into_owned();
        Err(Error::Pattern { pattern, why: "not yet".into() })
    }
    pub fn len(&self) -> usize {
        0
    }
    pub fn is_empty(&self) -> bool {
        true
    }
    pub fn stored(&self, _: PatternId) -> Vec<u8> {
        Vec::new()
    }
    pub fn features(&mut self, _: &[u8], _: bool, _: &mut dyn FnMut(PatternId, u8, &[u8])) {}
}
