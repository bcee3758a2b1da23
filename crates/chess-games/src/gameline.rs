// SPDX-License-Identifier: GPL-3.0-or-later
//! A game as words, replayed from PGN.

use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen};

use crate::notation::{self, Spelling};
use crate::pgn::{GameResult, RawGame};

/// One legal game, ready to be written.
#[derive(Debug, Default)]
pub struct Gameline {
    /// The half-moves in SAN, one after the other.
    text: String,
    ends: Vec<usize>,
    /// Who moves first.
    pub first: Option<Color>,
    /// The result, unless unfinished.
    pub result: Option<GameResult>,
    /// The moves, for those who need the board.
    pub moves: Vec<shakmaty::Move>,
    /// Where the game began.
    pub start: Chess,
}

impl Gameline {
    /// The half-moves.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// Number of half-moves.
    pub fn plies(&self) -> usize {
        self.ends.len()
    }

    /// Replays a raw game on a board.
    ///
    /// # Errors
    ///
    /// Why the game cannot be used.
    pub fn replay(
        &mut self,
        raw: &RawGame,
        spelling: Spelling,
        keep_setup: bool,
    ) -> Result<(), &'static str> {
        self.ends.clear();
        self.moves.clear();
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
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
        let mut position = match raw.tag("FEN") {
            None => Chess::default(),
            Some(_) if !keep_setup => return Err("set-up position"),
            Some(fen) => Fen::from_ascii(fen)
                .ok()
                .and_then(|fen| fen.into_position(CastlingMode::Standard).ok())
                .ok_or("unreadable FEN")?,
        };
        if raw.is_without_moves() {
            return Err("no moves");
        }
        self.first = Some(position.turn());
        self.start = position.clone();
        for word in raw.words() {
            let m = notation::respell_and_play(&mut position, word, spelling, &mut bytes)
                .map_err(notation::WordError::as_str)?;
            self.ends.push(bytes.len());
            self.moves.push(m);
        }
        self.text = String::from_utf8(bytes).expect("SAN is ASCII");
        let text = raw.terminator.as_deref().and_then(GameResult::from_bytes);
        self.result = text.or_else(|| {
            // `*` says that the game is unfinished; silence lets the tag speak.
            if raw.terminator.is_some() {
                None
            } else {
                raw.tag("Result").and_then(GameResult::from_bytes)
            }
        });
        Ok(())
    }
}
