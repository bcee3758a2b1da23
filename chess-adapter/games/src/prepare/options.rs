// SPDX-License-Identifier: GPL-3.0-or-later
//! What is made of games: training sets and encodings.

use shakmaty::{Color, KnownOutcome};

use crate::notation::Spelling;

/// What unfinished games become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Unfinished {
    /// Left out.
    #[default]
    Skip,
    /// Both Draw sets take them, as the essay has it.
    Draw,
}

/// A training set: games that one side won, and draws if it takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingSet {
    /// The file name without its ending.
    pub name: &'static str,
    won: Color,
    draws: bool,
}

impl TrainingSet {
    /// All of them, in the specification's order.
    pub const ALL: [Self; 4] = [
        Self { name: "WhiteWinDraw", won: Color::White, draws: true },
        Self { name: "BlackWinDraw", won: Color::Black, draws: true },
        Self { name: "WhiteWin", won: Color::White, draws: false },
        Self { name: "BlackWin", won: Color::Black, draws: false },
    ];

    /// Whether a game with that result belongs here; `None` is an unfinished one kept as a draw.
    pub fn takes(self, result: Option<KnownOutcome>) -> bool {
        result.and_then(KnownOutcome::winner).map_or(self.draws, |winner| winner == self.won)
    }
}

/// How games become text; the options of every program that reads PGN.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// What to do with unfinished games
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
