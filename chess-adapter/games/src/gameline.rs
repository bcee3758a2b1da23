// SPDX-License-Identifier: GPL-3.0-or-later
//! A game as words, replayed from PGN.

use std::fmt;

use shakmaty::{CastlingMode, Chess, KnownOutcome, Move, Outcome, Position as _, fen::Fen};

use crate::notation::{self, Spelling, WordError};
use crate::pgn::RawGame;
use crate::signs;

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
    /// Words between the moves that were taken for remarks.
    pub remarks: Vec<String>,
}

/// Why a game cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// In words; there are few.
    pub reason: &'static str,
    /// The word or value that is the reason, if it is one.
    pub word: Option<String>,
}

impl From<&'static str> for Unusable {
    fn from(reason: &'static str) -> Self {
        Self { reason, word: None }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.word {
            None => out.write_str(self.reason),
            Some(word) => write!(out, "{} {word:?}", self.reason),
        }
    }
}

impl Gameline {
    /// Replays a raw game on a board. Piece letters are English, or those of another language in
    /// which the whole game is legal.
    ///
    /// # Errors
    ///
    /// Why the game cannot be used.
    pub fn replay(raw: &RawGame, spelling: Spelling, keep_setup: bool) -> Result<Self, Unusable> {
        if let Some(damage) = raw.damage {
            return Err(damage.into());
        }
        if let Some(variant) = raw.tag("Variant")
            && !matches!(
                variant.to_ascii_lowercase().as_slice(),
                b"" | b"?" | b"standard" | b"normal" | b"regular" | b"chess" | b"from position"
            )
        {
            return Err(unusable("variant", variant));
        }
        let start = match set_up_position(raw) {
            None => Chess::default(),
            Some(_) if !keep_setup => return Err("set-up position".into()),
            Some(fen) => position_of(fen).ok_or_else(|| unusable("unreadable FEN", fen))?,
        };
        let replay = |letters| Self::replay_in(letters, raw, spelling, start.clone());
        let error = match replay(None) {
            Ok(game) => return Ok(game),
            Err(error) => error,
        };
        let mut games = signs::LETTERS.iter().filter_map(|letters| replay(Some(letters)).ok());
        let game = games.next().ok_or(error)?;
        match games.all(|other| other.moves == game.moves) {
            true => Ok(game),
            false => Err("ambiguous piece letters".into()),
        }
    }

    /// Replays with these piece letters, the English ones if there are none.
    fn replay_in(
        letters: Option<&[&str; 5]>,
        raw: &RawGame,
        spelling: Spelling,
        start: Chess,
    ) -> Result<Self, Unusable> {
        let mut position = start.clone();
        let (mut words, mut moves, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        for word in &raw.words {
            let read = match letters {
                None => notation::read_move(&position, word),
                Some(letters) => notation::read_move_in(letters, &position, word),
            };
            match read {
                Ok(m) => {
                    moves.push(m);
                    words.push(notation::word_and_play(&mut position, m, spelling));
                }
                Err(WordError::Unreadable) if signs::is_remark(word) => {
                    remarks.push(String::from_utf8_lossy(word).into_owned());
                }
                Err(error) => return Err(unusable(error.as_str(), word)),
            }
        }
        if moves.is_empty() {
            return Err(Unusable { reason: "no moves", word: remarks.into_iter().next() });
        }
        // `*` says that the game is unfinished; silence lets the tag speak.
        let result = raw.terminator.as_deref().or_else(|| raw.tag("Result"));
        let result = result.and_then(signs::read_result).and_then(Outcome::known);
        Ok(Self { words, result, moves, start, remarks })
    }
}

fn unusable(reason: &'static str, word: &[u8]) -> Unusable {
    Unusable { reason, word: Some(String::from_utf8_lossy(word).into_owned()) }
}

/// The FEN of a game that does not begin in the initial position.
fn set_up_position(raw: &RawGame) -> Option<&[u8]> {
    let fen = raw.tag("FEN")?.trim_ascii();
    let says_nothing = matches!(fen, b"" | b"?" | b"-" | b"*" | b"startpos");
    let is_denied = raw.tag("SetUp").is_some_and(|value| value.trim_ascii() == b"0");
    let is_initial = || {
        position_of(fen).is_some_and(|position| {
            let initial = Chess::default();
            position.board() == initial.board()
                && position.turn() == initial.turn()
                && position.castles().castling_rights() == initial.castles().castling_rights()
        })
    };
    (!says_nothing && !is_denied && !is_initial()).then_some(fen)
}

fn position_of(fen: &[u8]) -> Option<Chess> {
    Fen::from_ascii(fen).ok()?.into_position(CastlingMode::Standard).ok()
}
