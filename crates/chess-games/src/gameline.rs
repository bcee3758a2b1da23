// SPDX-License-Identifier: GPL-3.0-or-later
//! A game as words, replayed from PGN.

use shakmaty::{CastlingMode, Chess, KnownOutcome, Move, fen::Fen};

use crate::notation::{self, Spelling};
use crate::pgn::RawGame;

/// One legal game, ready to be written.
#[derive(Debug)]
pub struct Gameline {
    /// The half-moves in SAN.
    pub words: Vec<String>,
    /// The result, unless unfinished.
    pub result: Option<KnownOutcome>,
    /// The moves, for those who need the board.
    pub moves: Vec<Move>,
    /// Where the game began.
    pub start: Chess,
}

impl Gameline {
    /// Replays a raw game on a board.
    ///
    /// # Errors
    ///
    /// Why the game cannot be used.
    pub fn replay(
        raw: &RawGame,
        spelling: Spelling,
        keep_setup: bool,
    ) -> Result<Self, &'static str> {
        if let Some(damage) = raw.damage {
            return Err(damage);
        }
        if let Some(variant) = raw.tag("Variant")
            && !matches!(
                variant.to_ascii_lowercase().as_slice(),
                b"standard" | b"normal" | b"chess" | b"from position"
            )
        {
            return Err("variant");
        }
        let start = match raw.tag("FEN") {
            None => Chess::default(),
            Some(_) if !keep_setup => return Err("set-up position"),
            Some(fen) => Fen::from_ascii(fen)
                .ok()
                .and_then(|fen| fen.into_position(CastlingMode::Standard).ok())
                .ok_or("unreadable FEN")?,
        };
        if raw.words.is_empty() {
            return Err("no moves");
        }
        let mut position = start.clone();
        let played = raw.words.iter().map(|word| {
            let m = notation::read_move(&position, word)?;
            Ok((m, notation::word_and_play(&mut position, m, spelling)))
        });
        let (moves, words) =
            played.collect::<Result<_, _>>().map_err(notation::WordError::as_str)?;
        // `*` says that the game is unfinished; silence lets the tag speak.
        let result = raw.terminator.as_deref().or_else(|| raw.tag("Result"));
        let result = result.and_then(|text| KnownOutcome::from_ascii(text).ok());
        Ok(Self { words, result, moves, start })
    }
}
