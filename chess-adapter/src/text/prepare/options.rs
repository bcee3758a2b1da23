// SPDX-License-Identifier: GPL-3.0-or-later
//! What is made of games: training sets, encodings, descriptions, phases.

use crate::features::basic::Template;
use crate::text::encode::Encoding;
use crate::text::notation::Spelling;
use crate::text::pgn::GameResult;

/// What unfinished games become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Unfinished {
    /// Left out.
    #[default]
    Skip,
    /// Both Draw sets take them, as the essay has it.
    Draw,
}

/// The four training sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrainingSet {
    /// White wins and draws.
    WhiteWinDraw,
    /// Black wins and draws.
    BlackWinDraw,
    /// White wins.
    WhiteWin,
    /// Black wins.
    BlackWin,
}

impl TrainingSet {
    /// All of them, in the specification's order.
    pub const ALL: [Self; 4] =
        [Self::WhiteWinDraw, Self::BlackWinDraw, Self::WhiteWin, Self::BlackWin];

    /// The file name without its ending.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WhiteWinDraw => "WhiteWinDraw",
            Self::BlackWinDraw => "BlackWinDraw",
            Self::WhiteWin => "WhiteWin",
            Self::BlackWin => "BlackWin",
        }
    }

    /// Whether a game with that result belongs here; `None` is an unfinished one kept as a draw.
    pub const fn takes(self, result: Option<GameResult>) -> bool {
        match result {
            Some(GameResult::WhiteWins) => matches!(self, Self::WhiteWinDraw | Self::WhiteWin),
            Some(GameResult::BlackWins) => matches!(self, Self::BlackWinDraw | Self::BlackWin),
            Some(GameResult::Draw) | None => {
                matches!(self, Self::WhiteWinDraw | Self::BlackWinDraw)
            }
        }
    }
}

/// Options of the preparation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Also write the sets in these encodings, beside the plain gamelines.
    pub encodings: Vec<Encoding>,
    /// What to do with unfinished games.
    pub unfinished: Unfinished,
    /// Take games from set-up positions too.
    pub keep_setup: bool,
    /// How moves are spelt.
    pub spelling: Spelling,
    /// Write descriptions of played and not played moves.
    pub describe: Option<Describe>,
    /// Write descriptions of many words.
    pub describe2: Option<Describe2>,
    /// Write position words (spec chess 9.8 b).
    pub position_words: bool,
    /// Cut the encoded sets into three phases, with this many words of overlap (spec chess 9.8 a).
    pub phases: Option<usize>,
}

/// Which moves are described, and how.
#[derive(Clone, Debug)]
pub struct Describe {
    /// The words.
    pub template: Template,
    /// The most games a colour, drawn uniformly from all; 0 for all.
    pub games: usize,
    /// Other legal moves drawn from each position.
    pub alternatives: usize,
    /// Seed of the draw.
    pub seed: u64,
}

/// Which moves are described in many words.
#[derive(Clone, Copy, Debug)]
pub struct Describe2 {
    /// The most positions, drawn uniformly from all of all games, for both colours together; 0 for
    /// all.
    pub positions: usize,
    /// Other legal moves drawn from each position.
    pub alternatives: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            encodings: Vec::new(),
            unfinished: Unfinished::Skip,
            keep_setup: false,
            spelling: Spelling::default(),
            describe: None,
            describe2: None,
            position_words: false,
            phases: None,
        }
    }
}

/// The last half-move of opening and middle game, exclusive (spec chess 9.8 a).
pub const PHASE_ENDS: [usize; 2] = [24, 70];
/// Names of the phases in file names.
pub const PHASES: [&str; 3] = ["opening", "middle", "end"];

/// The phase in which the half-move with that number (from 0) is played.
pub const fn phase_of(ply: usize) -> usize {
    if ply < PHASE_ENDS[0] {
        0
    } else if ply < PHASE_ENDS[1] {
        1
    } else {
        2
    }
}
