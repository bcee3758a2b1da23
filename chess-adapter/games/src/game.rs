// SPDX-License-Identifier: GPL-3.0-or-later
//! The game in progress: positions, half-moves in words, and how games end (spec chess 6).

use anyhow::{Context as _, Result, bail};
use chess_search::board::material;
use chess_search::key_of;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, KnownOutcome, Move, Position, fen::Fen};

use crate::notation::{self, Spelling};

/// How a game ended by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Checkmate; the colour that won.
    Mate(Color),
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// Neither side can mate.
    Material,
    /// The position occurred for the third time.
    Repetition,
    /// A hundred half-moves without capture or pawn move.
    FiftyMoves,
}

impl End {
    /// The result for the score sheet.
    pub const fn result(self) -> KnownOutcome {
        match self {
            Self::Mate(winner) => KnownOutcome::Decisive { winner },
            _ => KnownOutcome::Draw,
        }
    }

    /// The reason as the XBoard protocol writes it.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Mate(Color::White) => "White mates",
            Self::Mate(Color::Black) => "Black mates",
            Self::Stalemate => "Stalemate",
            Self::Material => "Draw by insufficient material",
            Self::Repetition => "Draw by repetition",
            Self::FiftyMoves => "Draw by fifty-move rule",
        }
    }

    /// Whether the rules end the game without anyone's claim.
    pub const fn is_inevitable(self) -> bool {
        matches!(self, Self::Mate(_) | Self::Stalemate | Self::Material)
    }
}

/// A legal half-move and its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The move.
    pub m: Move,
    /// Its SAN as gamelines spell it.
    pub word: String,
    /// Whether it gives mate.
    pub mates: bool,
}

/// A game: where it began, what was played.
#[derive(Clone, Debug)]
pub struct Game {
    positions: Vec<Chess>,
    keys: Vec<u64>,
    moves: Vec<Move>,
    words: Vec<String>,
    spelling: Spelling,
}

impl Default for Game {
    fn default() -> Self {
        Self::new(Chess::default(), Spelling::default())
    }
}

/// Reads a position in FEN; odd but legal ones are taken, the two counters may be missing. Castling
/// rights that name the rook's file, as Chess960 writes them, are refused.
///
/// # Errors
///
/// What is wrong with it.
pub fn read_fen(text: &str) -> Result<Chess> {
    use shakmaty::PositionError;
    let castling = text.split_whitespace().nth(2).unwrap_or("-");
    if !castling.bytes().all(|b| b"KQkq-".contains(&b)) {
        bail!("castling field {castling:?} in {text:?} is not one of standard chess");
    }
    let fen: Fen = text.trim().parse().with_context(|| format!("unreadable FEN {text:?}"))?;
    fen.into_position(CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .with_context(|| format!("illegal position {text:?}"))
}

impl Game {
    /// A game that begins in this position.
    pub fn new(start: Chess, spelling: Spelling) -> Self {
        let keys = vec![key_of(&start)];
        Self { positions: vec![start], keys, moves: Vec::new(), words: Vec::new(), spelling }
    }

    /// The position now.
    pub fn position(&self) -> &Chess {
        self.positions.last().expect("the start is never taken back")
    }

    /// The position in which the game began.
    pub fn start(&self) -> &Chess {
        &self.positions[0]
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.position().turn()
    }

    /// Who made the first half-move.
    pub fn first(&self) -> Color {
        self.start().turn()
    }

    /// Half-moves played.
    pub const fn plies(&self) -> usize {
        self.moves.len()
    }

    /// The half-moves in words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The half-moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// All positions, from the start to the one now.
    pub fn positions(&self) -> &[Chess] {
        &self.positions
    }

    /// Keys of all positions before the one now.
    pub fn earlier_keys(&self) -> &[u64] {
        &self.keys[..self.keys.len() - 1]
    }

    /// How words are spelt.
    pub const fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// Plays a legal move.
    pub fn play(&mut self, m: Move) {
        let mut next = self.position().clone();
        self.words.push(notation::word_and_play(&mut next, m, self.spelling));
        self.keys.push(key_of(&next));
        self.positions.push(next);
        self.moves.push(m);
    }

    /// Plays the moves that these words mean.
    ///
    /// # Errors
    ///
    /// A word is not a legal move; those before it have been played.
    pub fn play_words(&mut self, words: &str) -> Result<()> {
        for word in words.split_whitespace() {
            self.play(self.read_move(word)?);
        }
        Ok(())
    }

    /// The legal move that a word means.
    ///
    /// # Errors
    ///
    /// It means none, or several.
    pub fn read_move(&self, word: &str) -> Result<Move> {
        notation::read_move(self.position(), word.as_bytes()).with_context(|| word.to_owned())
    }

    /// Takes back half-moves; `false`, and nothing taken back, if there are not so many.
    pub fn undo(&mut self, half_moves: usize) -> bool {
        let Some(left) = self.plies().checked_sub(half_moves) else { return false };
        self.moves.truncate(left);
        self.words.truncate(left);
        self.keys.truncate(left + 1);
        self.positions.truncate(left + 1);
        true
    }

    /// All legal half-moves in byte order of their words.
    pub fn completions(&self) -> Vec<Completion> {
        let position = self.position();
        let mut list: Vec<Completion> = position
            .legal_moves()
            .into_iter()
            .map(|m| {
                let mut after = position.clone();
                let word = notation::word_and_play(&mut after, m, self.spelling);
                Completion { m, word, mates: after.is_checkmate() }
            })
            .collect();
        list.sort_unstable_by(|a, b| a.word.cmp(&b.word));
        list
    }

    /// How often a position has occurred.
    pub fn occurrences(&self, position: &Chess) -> usize {
        let key = key_of(position);
        self.keys.iter().filter(|k| **k == key).count()
    }

    /// Whether and how the rules end the game here.
    pub fn end(&self) -> Option<End> {
        let position = self.position();
        if position.legal_moves().is_empty() {
            return Some(match position.is_check() {
                true => End::Mate(position.turn().other()),
                false => End::Stalemate,
            });
        }
        if position.is_insufficient_material() {
            Some(End::Material)
        } else if self.occurrences(position) >= 3 {
            Some(End::Repetition)
        } else if position.halfmoves() >= 100 {
            Some(End::FiftyMoves)
        } else {
            None
        }
    }

    /// A side's material lead in pawns.
    pub fn lead(&self, side: Color) -> i32 {
        let board = self.position().board();
        material(board, side) - material(board, side.other())
    }

    /// The gameline.
    pub fn gameline(&self) -> String {
        self.words.join(" ")
    }

    /// The game as PGN, with these tags after the required ones.
    pub fn to_pgn(&self, white: &str, black: &str, result: &str, comment: &str) -> String {
        use std::fmt::Write as _;
        let mut out = String::new();
        let clean = |s: &str| s.replace(['"', '\\', '\n'], "'");
        for (name, value) in [
            ("Event", "?"),
            ("Site", "?"),
            ("Date", "????.??.??"),
            ("Round", "?"),
            ("White", white),
            ("Black", black),
            ("Result", result),
        ] {
            let _ = writeln!(out, "[{name} \"{}\"]", clean(value));
        }
        let fen = Fen::from_position(self.start(), EnPassantMode::Legal).to_string();
        if *self.start() != Chess::default() {
            let _ = writeln!(out, "[SetUp \"1\"]\n[FEN \"{fen}\"]");
        }
        let mut words = Vec::new();
        for (i, (word, position)) in self.words.iter().zip(&self.positions).enumerate() {
            if position.turn().is_white() || i == 0 {
                let dots = position.turn().fold_wb(".", "...");
                words.push(format!("{}{dots}", position.fullmoves()));
            }
            words.push(word.clone());
        }
        if !comment.is_empty() {
            words.push(format!("{{{}}}", comment.replace('}', ")")));
        }
        words.push(result.to_owned());
        // The first word begins a line.
        let mut column = usize::MAX;
        for word in words {
            column = column.saturating_add(1 + word.len());
            out.push(if column > 79 { '\n' } else { ' ' });
            column = if column > 79 { word.len() } else { column };
            out.push_str(&word);
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(fen: &str, words: &str) -> Game {
        let start = read_fen(fen).expect("the test's FEN is good");
        let mut game = Game::new(start, Spelling::default());
        game.play_words(words).expect("legal");
        game
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn games_end_by_the_rules() {
        let rows: &[(&str, &str, Option<End>)] = &[
            (START, "f3 e5 g4 Qh4", Some(End::Mate(Color::Black))),
            (START, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1", None),
            (START, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", Some(End::Repetition)),
            ("7k/5Q2/8/8/8/8/8/K7 b - - 0 1", "", Some(End::Stalemate)),
            ("7k/8/8/8/8/8/8/K1N5 w - - 0 1", "", Some(End::Material)),
            ("7k/8/8/8/8/2b5/8/K1B5 w - - 0 1", "", Some(End::Material)),
            ("7k/8/8/8/8/3b4/8/K1B5 w - - 0 1", "", None),
            ("7k/8/8/8/8/8/8/KNN5 w - - 0 1", "", None),
            ("7k/8/8/8/8/8/7P/K7 w - - 99 80", "Kb1", Some(End::FiftyMoves)),
            ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 99 80", "Ra8", Some(End::Mate(Color::White))),
        ];
        for (fen, words, end) in rows {
            assert_eq!(game(fen, words).end(), *end, "{fen} {words}");
        }
    }

    #[test]
    fn undo_restores_every_ply() {
        let mut game = game(START, "e4 e5 Nf3 Nc6");
        let before: Vec<Chess> = game.positions().to_vec();
        for ply in (0..4).rev() {
            assert!(game.undo(1));
            assert_eq!(game.position(), &before[ply]);
            assert_eq!(game.words().len(), ply);
        }
        assert!(!game.undo(1));
    }

    #[test]
    fn pgn_reads_back() {
        let game = game(START, "f3 e5 g4 Qh4");
        let pgn = game.to_pgn("a \"b\"", "c", "0-1", "Black mates");
        assert!(pgn.ends_with("1. f3 e5 2. g4 Qh4# {Black mates} 0-1\n"), "{pgn}");
    }

    #[test]
    fn impossible_positions_are_refused() {
        for fen in [
            "",
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "kk6/8/8/8/8/8/8/K7 w - - 0 1",
            "junk w",
            "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1",
        ] {
            assert!(read_fen(fen).is_err(), "{fen}");
        }
        assert!(read_fen("4k3/8/8/8/8/8/8/4K3 b - -").is_ok());
    }
}
