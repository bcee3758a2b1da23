// SPDX-License-Identifier: GPL-3.0-or-later
//! What is made of games: training sets and encodings.

use crate::notation::Spelling;
use crate::pgn::GameResult;

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

/// How games become text; the options of every program that reads PGN.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// What unfinished games become
    #[arg(long, value_enum, default_value_t)]
    pub unfinished: Unfinished,
    /// Take games from set-up positions too
    #[arg(long)]
    pub keep_setup: bool,
    /// Leave out + and #
    #[arg(long)]
    pub no_check_marks: bool,
}

impl Options {
    /// How moves are spelt.
    pub const fn spelling(&self) -> Spelling {
        Spelling { check_marks: !self.no_check_marks }
    }
}
