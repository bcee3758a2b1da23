// SPDX-License-Identifier: GPL-3.0-or-later
//! The replies of the XBoard protocol, written as lines.

use std::fmt;

use chess_search::{Found, Line};
use shakmaty::{Chess, Position as _};

use chess_games::game::End;
use chess_games::notation;

/// One line to the interface.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `feature ...`
    Feature(String),
    /// `move M`
    Move(String),
    /// The result line
    Result(End),
    /// `pong N`
    Pong(String),
    /// `Illegal move (why): M`
    Illegal {
        /// Why, if known.
        reason: &'static str,
        /// The move as it was received.
        word: String,
    },
    /// `Error (what): line`
    Error {
        /// What is wrong.
        what: &'static str,
        /// The line as it was received.
        line: String,
    },
    /// `tellusererror ...`
    TellUserError(String),
    /// `telluser ...`
    TellUser(String),
    /// `Hint: M`
    Hint(String),
    /// A line of the book answer, which starts with a space; the empty line ends it.
    BookLine(String),
    /// Thinking output
    Thinking(String),
    /// `stat01: ...`
    Status(usize),
    /// `offer draw`
    OfferDraw,
    /// `resign`
    Resign,
    /// A comment, `# ...`, which interfaces show only in their logs.
    Note(String),
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature(text) => write!(f, "feature {text}"),
            Self::Move(word) => write!(f, "move {word}"),
            Self::Result(end) => write!(f, "{} {{{}}}", end.result().as_str(), end.reason()),
            Self::Pong(n) => write!(f, "pong {n}"),
            Self::Illegal { reason: "", word } => {
                write!(f, "Illegal move: {word}")
            }
            Self::Illegal { reason, word } => write!(f, "Illegal move ({reason}): {word}"),
            Self::Error { what, line } => write!(f, "Error ({what}): {line}"),
            Self::TellUserError(text) => write!(f, "tellusererror {text}"),
            Self::TellUser(text) => write!(f, "telluser {text}"),
            Self::Hint(word) => write!(f, "Hint: {word}"),
            Self::BookLine(text) | Self::Thinking(text) => f.write_str(text),
            Self::Status(moves) => write!(f, "stat01: 0 {moves} 1 0 {moves}"),
            Self::OfferDraw => f.write_str("offer draw"),
            Self::Resign => f.write_str("resign"),
            Self::Note(text) => write!(f, "# {text}"),
        }
    }
}

/// Depth, value, time, nodes and moves of a search, as thinking output has them.
pub(super) fn search_line(
    found: &Found,
    line: &Line,
    position: &Chess,
    san: bool,
    spelling: notation::Spelling,
) -> String {
    let value = match line.value.mate_in() {
        Some(moves) if moves > 0 => 100_000 + moves,
        Some(moves) => -100_000 + moves,
        None => line.value.centipawns(),
    };
    let mut position = position.clone();
    let mut words = String::new();
    for &m in &line.moves {
        let word = if san {
            notation::to_word(&position, m, spelling)
        } else {
            notation::to_coordinates(m)
        };
        words.push(' ');
        words.push_str(&word);
        position.play_unchecked(m);
    }
    let centiseconds = found.time.as_millis() / 10;
    format!("{} {value} {centiseconds} {}{words}", found.depth, found.nodes)
}
