// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies the opponent's style, after BayesChess (spec chess 9.9). Three categories of players
//! judge, once in a game, the opponent's moves.

use std::path::Path;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use shakmaty::Color;

use crate::play::classifier::{Classifier, Program};
use chess_games::game::Game;

/// A way to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Against this style chess-adapter tries not to lose: it chooses by its own wins and draws.
    Attacking,
    /// Against this style chess-adapter tries to win: it chooses by its own wins.
    Positional,
    /// Against this style one of the two voices is drawn at random.
    Mixed,
}

impl Style {
    /// All of them, in the order of their categories.
    pub const ALL: [Self; 3] = [Self::Attacking, Self::Positional, Self::Mixed];

    /// The category's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attacking => "attacking",
            Self::Positional => "positional",
            Self::Mixed => "mixed",
        }
    }
}

/// Number of own half-moves after which a player is classified. Later moves say less about the
/// style than the opening.
pub const MOVES: usize = 10;

/// The voice that plays against attackers: own wins and draws.
pub const DRAWS_VOICE: &str = "full-draws";
/// The voice that plays against positional players: own wins.
pub const WINS_VOICE: &str = "full";

/// One side's half-moves, each with a colour letter in front; at most `limit` of them.
pub fn own_words<'a>(
    words: impl Iterator<Item = &'a str>,
    first: Color,
    side: Color,
    limit: usize,
) -> String {
    let letter = side.fold_wb('w', 'b');
    let skip = usize::from(first != side);
    let own = words.skip(skip).step_by(2).take(limit);
    own.map(|word| format!("{letter}{word}")).collect::<Vec<_>>().join(" ")
}

/// The line of words that is classified, after at most `limit` own moves of the player.
pub fn line(game: &Game, side: Color, limit: usize) -> String {
    own_words(game.words().iter().map(String::as_str), game.first(), side, limit)
}

/// Recognises styles by three categories in a folder.
pub struct Judge(Classifier);

impl Judge {
    /// Opens the categories.
    ///
    /// # Errors
    ///
    /// One of them is missing.
    pub fn open(folder: &Path, program: &Program) -> Result<Self> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let mut files = Vec::new();
        for style in Style::ALL {
            let path = folder.join(style.as_str());
            std::fs::metadata(&path).with_context(|| Cannot::read(&path))?;
            files.push(path);
        }
        Ok(Self(Classifier::new(program.clone(), files)))
    }

    /// The likeliest style of a player of this game.
    ///
    /// # Errors
    ///
    /// The classifier fails.
    pub fn judge(&mut self, game: &Game, side: Color) -> Result<Style> {
        self.0.ask(&[line(game, side, MOVES)])?;
        let rows = self.0.scores()?;
        let scores = rows.first().context("no answer")?;
        let best = scores.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        Ok(best.map_or(Style::Mixed, |(i, _)| Style::ALL[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_carry_the_colour() {
        let words = || "e4 c5 Nf3 d6 d4".split(' ');
        let rows = [
            (Color::White, Color::White, 10, "we4 wNf3 wd4"),
            (Color::White, Color::Black, 10, "bc5 bd6"),
            (Color::Black, Color::Black, 2, "be4 bNf3"),
        ];
        for (first, side, limit, line) in rows {
            assert_eq!(own_words(words(), first, side, limit), line);
        }
    }
}
