// SPDX-License-Identifier: GPL-3.0-or-later
//! A chosen move, or why there is none.

use std::fmt;

use chess_search::{Found, Line};
use shakmaty::{Color, Move};

use crate::play::choose::Scored;
use chess_games::game::Completion;

/// A chosen move, and the moves from which it was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub completion: Completion,
    /// What it is if neither the classifier nor a search chose it: `mate`, or a move of the book,
    /// of a cluster, or of a plan.
    pub special: Option<&'static str>,
    /// What was classified, best first; empty if the classifier was not asked.
    pub ranking: Vec<Scored>,
    /// What the rule left to choose from, the preferred one first.
    pub considered: Vec<Scored>,
    pub found: Option<Found>,
}

impl Choice {
    /// What the search found, and the chosen move's line in it.
    pub(crate) fn line(&self) -> Option<(&Found, &Line)> {
        let found = self.found.as_ref()?;
        let m = Some(&self.completion.m);
        Some((found, found.lines.iter().find(|l| l.moves.first() == m)?))
    }

    /// The reply that the search expects to the chosen move.
    pub(crate) fn expected_reply(&self) -> Option<Move> {
        self.line()?.1.moves.get(1).copied()
    }
}

/// Why no move was chosen, unless the classifier or a file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    NoMove,
    NoModel(Color),
}

impl std::error::Error for Trouble {}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMove => out.write_str("no legal move"),
            Self::NoModel(color) => write!(out, "no model for {color}"),
        }
    }
}
