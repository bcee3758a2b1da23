// SPDX-License-Identifier: GPL-3.0-or-later
//! A text classifier from one file of labelled documents: train, save, load, predict, measure.
//!
//! ```text
//! file or folder ─→ data ─→ records ─→ Trainer ─→ TextModel ─→ file (a container of categories)
//!                                                    └→ Predictor ─→ probabilities ─→ Evaluation
//! ```
//!
//! The program `dbacl-text` is made of this library, and so can other programs and languages be.
//! The categories are those of the library `dbacl`, fitted together on the documents.
//!
//! ```
//! use dbacl_text::{TextModel, TrainOptions, Trainer};
//!
//! let mut trainer = Trainer::new(&TrainOptions::default());
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

#![warn(missing_docs)]

pub mod blocks;
pub mod data;
mod evaluate;
mod kept;
mod label;
mod model;
#[cfg(feature = "program")]
pub mod program;
pub mod recipe;
pub mod search;
mod train;
pub mod unlabelled;
mod views;

pub use blocks::{Ask, BlockPlan, BlockTrainer, Frames};
pub use data::{DataError, Format, Reading, Record};
pub use evaluate::{Evaluation, PerLabel};
pub use label::{LabelFault, check as check_label, file_name};
pub use model::{ModelError, Prediction, Predictor, TextModel};
pub use recipe::{InBlocks, Recipe};
pub use train::{ChangeError, Preset, SecondView, TrainError, TrainOptions, Trained, Trainer};
