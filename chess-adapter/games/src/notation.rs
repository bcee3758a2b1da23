// SPDX-License-Identifier: GPL-3.0-or-later
//! Moves in words: any notation in, one spelling of SAN out (spec chess 2.3 and 6).

use std::fmt;

use shakmaty::san::{San, SanError, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move};

use crate::signs;

/// Why a word is not a move here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordError {
    /// Not a move in any notation read here.
    Unreadable,
    /// A null move.
    Null,
    /// A move, but not a legal one.
    Illegal,
    /// More than one legal move is meant.
    Ambiguous,
}

impl fmt::Display for WordError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl std::error::Error for WordError {}

impl WordError {
    /// What to tell a person.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable word",
            Self::Null => "null move",
            Self::Illegal => "illegal move",
            Self::Ambiguous => "ambiguous move",
        }
    }
}

/// How half-moves are written in gamelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Write `+` and `#`.
    pub check_marks: bool,
}

impl Default for Spelling {
    fn default() -> Self {
        Self { check_marks: true }
    }
}

/// Finds the legal move that a word means.
///
/// Read are SAN with missing, wrong or doubled check marks and any signs after it,
/// over-disambiguated SAN, captures without `x` or with a colon, figurines, coordinates with and
/// without a hyphen, castling with zeros or small letters, promotions as `=Q`, `Q` and `(Q)`, and a
/// glued `e.p.`, which must be true.
///
/// # Errors
///
/// [`WordError`] says what is wrong.
pub fn read_move(position: &Chess, word: &[u8]) -> Result<Move, WordError> {
    // The common case first: SAN as it should be.
    if let Ok(plus) = SanPlus::from_ascii(word)
        && let Ok(m) = plus.san.to_move(position)
    {
        return Ok(m);
    }
    read_plain(position, &signs::plain(word))
}

/// The same where pieces have the letters of another language.
///
/// # Errors
///
/// As [`read_move`].
pub fn read_move_in(letters: &[&str; 5], position: &Chess, word: &[u8]) -> Result<Move, WordError> {
    let word = signs::translated(&signs::plain(word), letters).ok_or(WordError::Unreadable)?;
    read_plain(position, &word)
}

fn read_plain(position: &Chess, word: &str) -> Result<Move, WordError> {
    read_marked(position, word).or_else(|error| match word.strip_suffix(['N', 'D']) {
        // `Nf3N` is a novelty, and `Nf3D` has a diagram.
        Some(word) if !word.ends_with(char::is_alphabetic) => read_marked(position, word),
        _ => Err(error),
    })
}

fn read_marked(position: &Chess, word: &str) -> Result<Move, WordError> {
    let (text, passes) = normalise(word.as_bytes())?;
    let m = read_normal(position, &text)?;
    if passes && !m.is_en_passant() { Err(WordError::Illegal) } else { Ok(m) }
}

fn read_normal(position: &Chess, text: &[u8]) -> Result<Move, WordError> {
    let meant = |san: San| match san.to_move(position) {
        Ok(m) => Ok(Some(m)),
        Err(SanError::AmbiguousSan) => Err(WordError::Ambiguous),
        Err(SanError::IllegalSan) => Ok(None),
    };
    let san = San::from_ascii(text);
    if let Ok(san) = san {
        if matches!(san, San::Null | San::Put { .. }) {
            return Err(WordError::Null);
        }
        if let Some(m) = meant(san)? {
            return Ok(m);
        }
        if let San::Normal { role, file, rank, capture: false, to, promotion } = san
            && let Some(m) = meant(San::Normal { role, file, rank, capture: true, to, promotion })?
        {
            return Ok(m);
        }
    }
    let lower: Vec<u8> = text.iter().filter(|&&b| b != b'=').map(u8::to_ascii_lowercase).collect();
    if let Ok(uci @ UciMove::Normal { .. }) = UciMove::from_ascii(&lower) {
        return uci.to_move(position).map_err(|_| WordError::Illegal);
    }
    Err(if san.is_ok() { WordError::Illegal } else { WordError::Unreadable })
}

/// Whether a line is a move in SAN or coordinates, legal or not (for a bare move of the interface).
pub fn looks_like_move(word: &[u8]) -> bool {
    let Ok((text, _)) = normalise(signs::plain(word).as_bytes()) else { return false };
    // `Put` is a drop of another game; null moves are none.
    matches!(San::from_ascii(&text), Ok(San::Normal { .. } | San::Castle(_)))
        || matches!(UciMove::from_ascii(&text), Ok(UciMove::Normal { .. }))
}

/// The word without what may stand after it, castling, captures and promotion as SAN has them; and
/// whether it claims to capture in passing.
fn normalise(mut word: &[u8]) -> Result<(Vec<u8>, bool), WordError> {
    if matches!(word, b"--" | b"Z0" | b"0000" | b"null" | b"<>") {
        return Err(WordError::Null);
    }
    let mut passes = false;
    loop {
        word = match word {
            [rest @ .., b'e', b'.', b'p', b'.'] | [rest @ .., b'e', b'p'] => {
                passes = true;
                rest
            }
            // Marks of checks and of good moves, assessments in ASCII (`+/=`) and other signs.
            [rest @ .., sign] if !sign.is_ascii_alphanumeric() && *sign != b')' => rest,
            _ => break,
        };
    }
    match word {
        b"0-0" | b"o-o" | b"O-O" => return Ok((b"O-O".to_vec(), passes)),
        b"0-0-0" | b"o-o-o" | b"O-O-O" => return Ok((b"O-O-O".to_vec(), passes)),
        _ => {}
    }
    let (body, promotion) = match word {
        [body @ .., b'(', piece, b')'] | [body @ .., b'=', piece] => (body, Some(*piece)),
        [body @ .., piece @ (b'Q' | b'R' | b'B' | b'N' | b'q' | b'r' | b'b' | b'n')]
            if matches!(body, [b'a'..=b'h', .., b'1' | b'8']) =>
        {
            (body.strip_suffix(b"-").unwrap_or(body), Some(*piece))
        }
        _ => (word, None),
    };
    if body.is_empty() || body.len() > 12 {
        return Err(WordError::Unreadable);
    }
    let promotion = promotion.map(|piece| [b'=', piece.to_ascii_uppercase()]);
    // The hyphen of `Ng1-f3`.
    let mut text: Vec<u8> = body.iter().copied().filter(|&byte| byte != b'-').collect();
    text.extend(promotion.iter().flatten());
    Ok((text, passes))
}

/// Plays the move on `position`; returns it in SAN as gamelines spell it.
pub fn word_and_play(position: &mut Chess, m: Move, spelling: Spelling) -> String {
    let mut word = SanPlus::from_move_and_play_unchecked(position, m);
    if !spelling.check_marks {
        word.suffix = None;
    }
    word.to_string()
}

/// The move in SAN as gamelines spell it.
pub fn to_word(position: &Chess, m: Move, spelling: Spelling) -> String {
    word_and_play(&mut position.clone(), m, spelling)
}

/// The move in coordinates, castling as the king's move.
pub fn to_coordinates(m: Move) -> String {
    UciMove::from_standard(m).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::read_fen;

    fn at(fen: &str) -> Chess {
        read_fen(fen).expect("the test's position is legal")
    }

    #[test]
    fn many_spellings_mean_one_move() {
        let castle = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let promote = "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1";
        let passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let rows: &[(&str, &[&str], &str)] = &[
            (castle, &["O-O", "0-0", "o-o", "e1g1", "O-O+", "0-0!?", "0−0"], "O-O"),
            (castle, &["O-O-O", "0-0-0", "e1c1"], "O-O-O"),
            (promote, &["a8=Q", "a8Q", "a8(Q)", "a7a8q", "a8=Q+", "a8Q#", "a7a8Q"], "a8=Q"),
            (promote, &["axb8=N", "axb8N", "axb8(N)", "a7xb8=N", "a7b8n"], "axb8=N"),
            (
                passant,
                &["exd6", "exd6e.p.", "e5d6", "exd6ep", "exd6e.p.!", "exd6!?e.p.+", "e5xd6!"],
                "exd6",
            ),
            (start, &["Nf3", "Ng1f3", "Ngf3", "N1f3", "g1f3", "Nf3++", "Nf3?!"], "Nf3"),
            (
                start,
                &[
                    "Nf3!?±",
                    "Nf3+/=",
                    "Nf3+-",
                    "Nf3N",
                    "Nf3D",
                    "Ng1-f3",
                    "♘f3",
                    "♞\u{fe0e}f3",
                    "1…Nf3",
                ],
                "Nf3",
            ),
            (start, &["e4", "e2e4", "E2E4", "e2-e4", "e2–e4", "♙e4", "e4="], "e4"),
            (promote, &["a7-a8Q", "a7-a8=Q", "a8Q+-"], "a8=Q"),
            (promote, &["ab8=N", "a:b8N", "a7:b8=N", "a7-b8=N"], "axb8=N"),
        ];
        for (fen, words, san) in rows {
            let position = at(fen);
            for word in *words {
                let m = read_move(&position, word.as_bytes())
                    .unwrap_or_else(|e| panic!("{word}: {e:?}"));
                let spelling = Spelling { check_marks: false };
                assert_eq!(to_word(&position, m, spelling), *san, "{word}");
            }
        }
    }

    #[test]
    fn other_words_are_refused() {
        let rows: &[(&str, WordError)] = &[
            ("e2-e5", WordError::Illegal),
            ("exd5", WordError::Illegal),
            ("e4e.p.", WordError::Illegal),
            ("Sf3", WordError::Unreadable),
            ("--", WordError::Null),
            ("Z0", WordError::Null),
            ("e5", WordError::Illegal),
            ("e2e5", WordError::Illegal),
            ("O-O", WordError::Illegal),
            ("hello", WordError::Unreadable),
            ("", WordError::Unreadable),
            ("P@e4", WordError::Null),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", WordError::Unreadable),
        ];
        for (word, error) in rows {
            let found = read_move(&Chess::default(), word.as_bytes());
            assert_eq!(found, Err(*error), "{word}");
        }
        // A dash of Windows.
        assert!(read_move(&Chess::default(), b"e2\x96e4").is_ok());
        let rooks = at("4k3/8/8/8/8/8/4K3/R6R w - - 0 1");
        assert_eq!(read_move(&rooks, b"Rd1"), Err(WordError::Ambiguous));
    }

    #[test]
    fn pinned_pieces_do_not_disambiguate_and_mates_are_marked() {
        let pinned = at("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1");
        let m = read_move(&pinned, b"Ne2").expect("only one knight may move");
        assert_eq!(to_word(&pinned, m, Spelling::default()), "Ne2");
        let mate = at("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1");
        let m = read_move(&mate, b"Ra8+").expect("legal");
        assert_eq!(to_word(&mate, m, Spelling::default()), "Ra8#");
    }
}
