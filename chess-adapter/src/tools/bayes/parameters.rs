// SPDX-License-Identifier: GPL-3.0-or-later
//! Records of games with perturbed parameters become categories.

use std::path::Path;

use anyhow::{Result, bail};

use crate::play::bayes::evaluation::{Description, FORMAT, Kind};
use crate::play::classifier::Program;
use crate::tools::bayes::selfplay::Record;
use crate::tools::bayes::texts::Texts;

/// Standard errors by which a level has to be better than no perturbation, unless told otherwise.
pub const CAUTION: f64 = 2.0;

/// Learns a folder from records; `caution` as in [`Kind`].
///
/// # Errors
///
/// There is no record, the classifier fails, or files cannot be written.
pub fn learn(records: &[Record], caution: f64, output: &Path, program: &Program) -> Result<()> {
    if records.is_empty() {
        bail!("no record of a game");
    }
    std::fs::create_dir_all(output)?;
    let mut texts = Texts::create(&output.join("text"))?;
    for record in records {
        texts.push(record.stage, record.outcome, &record.levels.words())?;
    }
    texts.learn(output, None, program)?;
    let kind = Kind::Parameters { records: records.len() as u64, caution };
    Description { format: FORMAT, kind }.write(output)
}
