// SPDX-License-Identifier: GPL-3.0-or-later
//! PGN files to training text: gamelines, the four training sets, encodings (spec chess 2.3).

mod files;
mod open;
mod options;
mod read;
mod statistics;

pub use crate::gameline::Gameline;
pub use files::TextFiles;
pub use open::open;
pub use options::{Options, TrainingSet, Unfinished};
pub use read::{Take, read_files, read_games};
pub use statistics::Statistics;
