// SPDX-License-Identifier: GPL-3.0-or-later
//! The three stages of a game.

use shakmaty::{Chess, Position as _};

/// A stage of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The first ten moves.
    Opening,
    /// The part of a game that is neither opening nor end.
    Middle,
    /// No queens, or fewer than ten men.
    End,
}

/// The last move of the opening.
const OPENING_MOVES: u32 = 10;

/// With fewer men, kings and pawns included, the end begins.
const MEN: usize = 10;

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Opening, Self::Middle, Self::End];

    /// The stage of a position.
    pub fn of(position: &Chess) -> Self {
        let board = position.board();
        if position.fullmoves().get() <= OPENING_MOVES {
            Self::Opening
        } else if board.queens().is_empty() || board.occupied().count() < MEN {
            Self::End
        } else {
            Self::Middle
        }
    }

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == text)
    }
}

/// How a game ended for one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It won.
    Win,
    /// Nobody won.
    Draw,
    /// It lost.
    Loss,
}

impl Outcome {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Win, Self::Draw, Self::Loss];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// The name of the category of a stage and an outcome, and of its text.
pub fn category(stage: Stage, outcome: Outcome) -> String {
    format!("{}-{}", stage.as_str(), outcome.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::game::read_fen;

    #[test]
    fn stages_follow_moves_queens_and_men() {
        let full = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0";
        let stage = |fen: &str| Stage::of(&read_fen(fen).expect("good FEN"));
        assert_eq!(stage(&format!("{full} 10")), Stage::Opening);
        assert_eq!(stage(&format!("{full} 11")), Stage::Middle);
        let no_queens = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 11";
        assert_eq!(stage(no_queens), Stage::End);
        assert_eq!(stage("3qk3/ppp5/8/8/8/8/PP6/3QK3 w - - 0 40"), Stage::End);
        assert_eq!(stage("3qk3/ppp5/8/8/8/8/PPP5/3QK3 w - - 0 40"), Stage::Middle);
        for stage in Stage::ALL {
            assert_eq!(Stage::parse(stage.as_str()), Some(stage));
        }
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
        }
    }
}
