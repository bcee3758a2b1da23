// SPDX-License-Identifier: GPL-3.0-or-later
//! Folders of learned evaluations, and the evaluations that a search gets from them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use chess_search::Evaluate;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::play::bayes::parameters::{Goal, Heuristic, Learned};
use crate::play::bayes::positions::{self, PositionValue};
use crate::play::bayes::stage::Stage;
use crate::play::files::{read_json, write_json};

/// The name of a folder's description.
pub const DESCRIPTION: &str = "bayes.json";
/// The only format so far.
pub const FORMAT: u32 = 1;

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Kind {
    /// Categories of perturbed parameters.
    Parameters {
        /// Records of games, one for each stage that a game reached.
        records: u64,
        /// By how many standard errors a level has to be better than no perturbation.
        caution: f64,
    },
    /// Categories of positions.
    Positions {
        /// The name of the words that describe positions.
        words: String,
        /// Positions learned.
        positions: u64,
        /// The temperature of each stage: logarithms of the odds are divided by it, which
        /// calibrates them.
        temperatures: [f64; 3],
    },
}

/// The description of a folder, as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// [`FORMAT`].
    pub format: u32,
    /// What the folder holds.
    #[serde(flatten)]
    pub kind: Kind,
}

impl Description {
    /// Reads the description of a folder.
    ///
    /// # Errors
    ///
    /// It is missing, damaged or of another format.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(DESCRIPTION);
        let read: Self = read_json(&path)?;
        if read.format != FORMAT {
            bail!("{}: format {} is not known here", path.display(), read.format);
        }
        Ok(read)
    }

    /// Writes the description to a temporary file, which is then renamed.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_json(&folder.join(DESCRIPTION), self)
    }
}

/// A learned evaluation.
pub enum Evaluation {
    /// Parameters by stage.
    Parameters(Box<Learned>),
    /// Words of positions: the folder and the temperatures.
    Positions(PathBuf, [f64; 3]),
}

/// What an evaluation was made for. A search for another purpose needs a new evaluation.
pub type Purpose = Option<(Stage, Goal)>;

impl Evaluation {
    /// Opens a folder.
    ///
    /// # Errors
    ///
    /// The folder holds no evaluation, or one of other words.
    pub fn open(folder: &Path) -> Result<Self> {
        match Description::read(folder)?.kind {
            Kind::Parameters { caution, .. } => {
                Ok(Self::Parameters(Box::new(Learned::open(folder, caution)?)))
            }
            Kind::Positions { words, temperatures, .. } => {
                if words != positions::NAME {
                    bail!(
                        "{}: its positions are {words:?}, this program has {:?}; learn again",
                        folder.display(),
                        positions::NAME
                    );
                }
                PositionValue::open(folder, temperatures)?;
                Ok(Self::Positions(folder.to_path_buf(), temperatures))
            }
        }
    }

    /// The parameters of a folder.
    ///
    /// # Errors
    ///
    /// The folder holds something else.
    pub fn parameters(folder: &Path) -> Result<Learned> {
        match Self::open(folder)? {
            Self::Parameters(learned) => Ok(*learned),
            Self::Positions(..) => bail!("{}: not parameters but positions", folder.display()),
        }
    }

    /// What an evaluation for searches from this position is made for.
    pub fn purpose(&self, position: &Chess, goal: Goal) -> Purpose {
        match self {
            Self::Parameters(_) => Some((Stage::of(position), goal)),
            Self::Positions(..) => None,
        }
    }

    /// Makes the evaluation.
    ///
    /// # Errors
    ///
    /// A category is no longer there.
    pub fn make(&self, purpose: Purpose) -> Result<Box<dyn Evaluate>> {
        Ok(match (self, purpose) {
            (Self::Parameters(learned), purpose) => {
                let (stage, goal) = purpose.unwrap_or((Stage::Middle, Goal::Win));
                Box::new(Heuristic::new(learned.levels(stage, goal), stage))
            }
            (Self::Positions(folder, temperatures), _) => {
                Box::new(PositionValue::open(folder, *temperatures)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_written_and_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Description::read(folder.path()).is_err());
        let words = positions::NAME.to_owned();
        for kind in [
            Kind::Parameters { records: 300, caution: 2.0 },
            Kind::Positions { words, positions: 5, temperatures: [1.0, 0.5, 2.0] },
        ] {
            let description = Description { format: FORMAT, kind };
            description.write(folder.path()).expect("written");
            assert_eq!(Description::read(folder.path()).expect("read"), description);
            let error = Evaluation::open(folder.path()).err().expect("no categories");
            assert!(error.to_string().contains("no "), "{error:#}");
        }
        Description { format: 9, kind: Kind::Parameters { records: 1, caution: 0.0 } }
            .write(folder.path())
            .expect("written");
        assert!(Description::read(folder.path()).is_err());
    }
}
