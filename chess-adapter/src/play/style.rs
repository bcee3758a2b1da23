// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies the opponent's style, after BayesChess (spec chess 9.9). Three categories of players
//! judge, once in a game, the opponent's moves.

use std::path::Path;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use chess_search::board::files_beside;
use shakmaty::{Bitboard, Chess, Color, File, Move, Position as _, Rank, Square};

use crate::play::classifier::{Classifier, Program};

/// What the engine plays for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Aim {
    /// As it comes.
    #[default]
    Either,
    /// To win: draws and exchanges are avoided.
    Win,
    /// Not to lose: draws and exchanges are welcome.
    Hold,
}

impl Aim {
    /// 1 to win, -1 not to lose, else 0.
    pub(crate) const fn sign(self) -> i32 {
        match self {
            Self::Either => 0,
            Self::Win => 1,
            Self::Hold => -1,
        }
    }
}

/// A way to play, and what chess-adapter tries against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub name: &'static str,
    /// [`Aim::Either`]: one of the others is drawn.
    pub aim: Aim,
}

/// All of them, in the order of their categories.
pub(crate) const STYLES: [Style; 3] = [
    Style { name: "attacking", aim: Aim::Hold },
    Style { name: "positional", aim: Aim::Win },
    Style { name: "mixed", aim: Aim::Either },
];

/// Number of own half-moves after which a player is classified. Later moves say less about the
/// style than the opening.
pub(crate) const MOVES: usize = 10;

/// The voice that plays against attackers: own wins and draws.
pub(crate) const DRAWS_VOICE: &str = "full-draws";
/// The voice that plays against positional players: own wins.
pub(crate) const WINS_VOICE: &str = "full";

/// The line of words that is classified: features of the game after [`MOVES`] moves, and the
/// player's half-moves, at most `limit`, each with a colour letter in front.
pub(crate) fn line(
    start: &Chess,
    moves: &[Move],
    words: &[String],
    side: Color,
    limit: usize,
) -> String {
    let letter = side.fold_wb('w', 'b');
    let first = usize::from(start.turn() != side);
    let own = words.iter().skip(first).step_by(2);
    let mut line = features(start, moves, side, own.clone().next().map_or("-", String::as_str));
    line.extend(own.take(limit).map(|word| format!("{letter}{word}")));
    line.join(" ")
}

/// The four features of `BayesChess`: the first move, where both sides castled, how many men have
/// crossed the middle, and how many pawns have advanced before the other king.
fn features(start: &Chess, moves: &[Move], side: Color, first: &str) -> Vec<String> {
    let mut position = start.clone();
    moves.iter().take(2 * MOVES).for_each(|&m| position.play_unchecked(m));
    let board = position.board();
    let king = |side: Color| board.king_of(side).unwrap_or(Square::E1).file();
    let wing = |side| match king(side) {
        File::A | File::B | File::C => Some('q'),
        File::G | File::H => Some('k'),
        _ => None,
    };
    let castled = match (wing(side), wing(side.other())) {
        (Some(own), Some(other)) if own == other => "same",
        (Some(_), Some(_)) => "opposed",
        (Some(_), None) => "own",
        (None, Some(_)) => "other",
        (None, None) => "none",
    };
    let beyond = |last: Rank| {
        let ranks =
            Rank::ALL.into_iter().filter(|&rank| side.fold_wb(rank, rank.flip_vertical()) > last);
        board.by_color(side)
            & ranks.fold(Bitboard::EMPTY, |all, rank| all | Bitboard::from_rank(rank))
    };
    let file = king(side.other());
    let near = files_beside(file) | Bitboard::from_file(file);
    let advanced = (beyond(Rank::Fourth) & !board.kings()).count();
    let towards = (beyond(Rank::Third) & board.pawns() & near).count();
    vec![
        format!("first={first}"),
        format!("castled={castled}"),
        format!("advanced={advanced}"),
        format!("towards={towards}"),
    ]
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
    fn features_and_own_words_are_classified() {
        use Color::{Black, White};
        for (words, side, limit, expected) in [
            ("e4 c5 Nf3", White, 10, "first=e4 castled=none advanced=0 towards=1 we4 wNf3"),
            ("e4 c5 Nf3 d6 d4", White, 2, "first=e4 castled=none advanced=0 towards=2 we4 wNf3"),
            ("e4 c5 e5 d6", Black, 10, "first=c5 castled=none advanced=0 towards=0 bc5 bd6"),
            (
                "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4",
                White,
                1,
                "first=e4 castled=own advanced=1 towards=0 we4",
            ),
        ] {
            let mut game = chess_games::game::Game::default();
            game.play_words(words).expect("legal");
            let told = line(game.start(), game.moves(), game.words(), side, limit);
            assert_eq!(told, expected);
        }
    }
}
