// SPDX-License-Identifier: GPL-3.0-or-later
//! A text classifier from one file of labelled documents: train, save, load, predict, measure.
//!
//! ```text
//! file or folder ─→ data ─→ records ─→ Trainer ─→ TextModel ─→ file
//!                                                    └→ Predictor ─→ probabilities ─→ Evaluation
//! ```
//!
//! The program `dbacl-text` is made of this library, and so can other programs and languages be.
//! Documents are read by the library `dbacl`, and fitted by `dbacl-fit`.
//!
//! ```
//! use dbacl::text::{TextModel, Trainer};
//!
//! let mut trainer = Trainer::default();
//! for (label, text) in [
//!     ("sea", "the whale and the ship"),
//!     ("sea", "sailors of the whale ship"),
//!     ("war", "the nation and the war"),
//!     ("war", "soldiers of the war"),
//! ] {
//!     trainer.add(label, text.as_bytes());
//! }
//! let trained = trainer.train()?;
//! let bytes = trained.model.to_bytes();
//!
//! let model = TextModel::from_bytes(bytes)?;
//! assert_eq!(model.labels(), ["sea", "war"]);
//! let prediction = model.predictor().predict(b"a ship of sailors");
//! assert_eq!(model.labels()[prediction.best()], "sea");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod blocks;
mod bytes;
mod calibrate;
mod evaluate;
mod explain;
mod features;
mod fold;
mod index;
mod kept;
mod learn;
mod model;
mod none;
pub mod recipe;
mod rows;
pub mod search;
mod shares;
mod shorten;
mod table;
pub mod threads;
mod train;

pub use crate::corpus as data;
pub use crate::corpus::label::{LabelFault, check as check_label};
pub use crate::corpus::{DataError, Format, Reading, Record};
pub use blocks::{Ask, BlockPlan, BlockTrainer, BlockWork, Frame};
pub use evaluate::{AtLeast, ByLength, Evaluation, PerLabel, SeveralEvaluation};
pub use learn::Watch;
pub use model::{ModelError, Prediction, Predictor, TextModel};
pub use none::NONE;
pub use recipe::{InBlocks, Preset, Recipe};
pub use train::{TrainError, Trained, Trainer, unusual_columns};
