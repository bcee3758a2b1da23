// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies the opponent's style, after BayesChess (spec chess 9.9). Three categories of players
//! judge, once in a game, the opponent's moves.

use std::path::Path;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use shakmaty::Color;

use crate::play::classifier::{Classifier, Program};

/// A way to play, and what chess-adapter tries against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub name: &'static str,
    /// Whether to win, rather than not to lose; `None` if that is drawn at random.
    pub wins: Option<bool>,
}

/// All of them, in the order of their categories.
pub(crate) const STYLES: [Style; 3] = [
    Style { name: "attacking", wins: Some(false) },
    Style { name: "positional", wins: Some(true) },
    Style { name: "mixed", wins: None },
];

/// Number of own half-moves after which a player is classified. Later moves say less about the
/// style than the opening.
pub(crate) const MOVES: usize = 10;

/// The voice that plays against attackers: own wins and draws.
pub(crate) const DRAWS_VOICE: &str = "full-draws";
/// The voice that plays against positional players: own wins.
pub(crate) const WINS_VOICE: &str = "full";

/// The line of words that is classified: of half-moves, of which this colour has made the first, at
/// most `limit` of the player, each with a colour letter in front.
pub(crate) fn line(words: &[String], first: Color, side: Color, limit: usize) -> String {
    let letter = side.fold_wb('w', 'b');
    let own = words.iter().skip(usize::from(first != side)).step_by(2).take(limit);
    own.map(|word| format!("{letter}{word}")).collect::<Vec<_>>().join(" ")
}

/// Recognises styles by three categories in a folder.
pub(crate) struct Judge(Classifier);

impl Judge {
    pub(crate) fn open(folder: &Path, program: &Program) -> Result<Self> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let file = |style: Style| {
            let path = folder.join(style.name);
            std::fs::metadata(&path).with_context(|| Cannot::Read(path.clone()))?;
            Ok(path)
        };
        let files: Result<_> = STYLES.into_iter().map(file).collect();
        Ok(Self(Classifier::new(program.clone(), files?)))
    }

    /// The likeliest style of the player of this [`line`] of [`MOVES`].
    pub(crate) fn judge(&mut self, line: String) -> Result<Style> {
        let rows = self.0.scores(&[line])?;
        let scores = rows.first().context("no answer")?.iter().zip(STYLES);
        let best = scores.min_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(best.context("no answer")?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn own_words_carry_the_colour() {
        use Color::{Black, White};
        for (words, first, side, limit, expected) in [
            ("e4 c5 Nf3 d6 d4", White, White, 10, "we4 wNf3 wd4"),
            ("e4 c5 Nf3 d6 d4", White, White, 2, "we4 wNf3"),
            ("e4 c5 Nf3 d6 d4", White, Black, 10, "bc5 bd6"),
            ("Kd7 Kd1 Kc6", Black, Black, 10, "bKd7 bKc6"),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(line(&words, first, side, limit), expected);
        }
    }
}
