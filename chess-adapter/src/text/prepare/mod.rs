// SPDX-License-Identifier: GPL-3.0-or-later
//! PGN files to training text: gamelines, the four training sets, encodings, descriptions (spec
//! chess 2.3).

mod descriptions;
mod files;
mod gameline;
mod options;
mod output;
mod read;
mod statistics;

pub use files::{TextFiles, position_word};
pub use gameline::Gameline;
pub use options::{
    Describe, Describe2, Options, PHASE_ENDS, PHASES, TrainingSet, Unfinished, phase_of,
};
pub use read::{GameSink, read_files, read_games};
pub use statistics::Statistics;
