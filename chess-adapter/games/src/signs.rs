// SPDX-License-Identifier: GPL-3.0-or-later
//! Words of movetext as people have them: signs in plain ASCII, results, remarks, piece letters.

use shakmaty::{Color, KnownOutcome, Outcome};

/// Letters of king, queen, rook, bishop and knight where they are not English. Languages with the
/// same letters, as German and Swedish, share a row.
pub(crate) const LETTERS: [[&str; 5]; 20] = [
    ["K", "D", "T", "L", "S"], // German, Swedish, Danish, Norwegian, Croatian, Slovene
    ["R", "D", "T", "F", "C"], // French
    ["R", "D", "T", "A", "C"], // Spanish, Italian, Catalan
    ["Кр", "Ф", "Л", "С", "К"], // Russian
    ["K", "D", "T", "L", "P"], // Dutch
    ["K", "H", "W", "G", "S"], // Polish
    ["K", "D", "V", "S", "J"], // Czech, Slovak
    ["R", "D", "T", "B", "C"], // Portuguese
    ["K", "V", "B", "F", "H"], // Hungarian
    ["R", "D", "T", "N", "C"], // Romanian
    ["K", "D", "T", "L", "R"], // Finnish
    ["K", "D", "H", "B", "R"], // Icelandic
    ["K", "D", "T", "L", "Z"], // Latvian
    ["K", "L", "V", "O", "R"], // Estonian
    ["K", "V", "B", "R", "Ž"], // Lithuanian
    ["Ş", "V", "K", "F", "A"], // Turkish
    ["Кр", "Ф", "Т", "С", "К"], // Ukrainian
    ["Ц", "Д", "Т", "О", "К"], // Bulgarian
    ["К", "Д", "Т", "Л", "С"], // Serbian
    ["Ρ", "Β", "Π", "Α", "Ι"], // Greek
];

/// The word with signs that mean the same in their plain form: figurines as letters, any dash as
/// `-`, colons and crosses as `x`. What is not UTF-8 is Windows-1252. A move number before dots
/// vanishes.
pub(crate) fn plain(word: &[u8]) -> String {
    let out = in_ascii(word);
    let start = out.trim_start_matches(|c: char| c.is_ascii_digit());
    match start.strip_prefix('.') {
        Some(rest) => rest.trim_start_matches('.').to_owned(),
        None => out,
    }
}

fn in_ascii(word: &[u8]) -> String {
    let text = match str::from_utf8(word) {
        Ok(text) => text.to_owned(),
        Err(_) => word.iter().map(|&byte| char::from(byte)).collect(),
    };
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '♔' | '♚' => out.push('K'),
            '♕' | '♛' => out.push('Q'),
            '♖' | '♜' => out.push('R'),
            '♗' | '♝' => out.push('B'),
            '♘' | '♞' => out.push('N'),
            // Pawns have no letter; U+FE0E and U+FE0F say how the sign before them is drawn.
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' => {}
            '\u{2010}'..='\u{2015}' | '−' | '\u{96}' | '\u{97}' => out.push('-'),
            ':' | '×' => out.push('x'),
            '…' | '\u{85}' => out.push('.'),
            other => out.push(other),
        }
    }
    out
}

/// The plain word with these piece letters as English ones; `None` if a capital is not a piece
/// there.
pub(crate) fn translated(word: &str, letters: &[&str; 5]) -> Option<String> {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(next) = rest.chars().next() {
        // The king is tried first: its letters `Кр` begin with the letter of the knight, `К`.
        let piece = letters.iter().position(|letter| rest.starts_with(letter));
        match piece {
            Some(piece) => out.push(char::from(b"KQRBN"[piece])),
            None if next.is_uppercase() && next != 'O' => return None,
            None => out.push(next),
        }
        rest = &rest[piece.map_or(next.len_utf8(), |piece| letters[piece].len())..];
    }
    Some(out)
}

/// The result that a word says, which is not known yet for `*`; `None` for other words.
pub(crate) fn read_result(word: &[u8]) -> Option<Outcome> {
    let word = in_ascii(word).replace('x', "-").replace('½', "1/2").replace(',', ".");
    let winner = match word.trim() {
        "*" => return Some(Outcome::Unknown),
        "1-0" => Color::White,
        "0-1" => Color::Black,
        "1/2" | "1/2-1/2" | "0.5-0.5" | ".5-.5" => return Some(Outcome::Known(KnownOutcome::Draw)),
        _ => return None,
    };
    Some(Outcome::Known(KnownOutcome::Decisive { winner }))
}

/// Whether a word between moves is not an attempt at one: assessments (`±`, `+/=`), `N` for a
/// novelty, `D` for a diagram, words of text. Moves name a square (or `f9`), castle, pass (`--`),
/// or are cut short (`exd`, `Nf`).
pub(crate) fn is_remark(word: &[u8]) -> bool {
    let word = plain(word);
    let bytes = word.as_bytes();
    let has_square = bytes
        .windows(2)
        .any(|two| matches!(two[0].to_ascii_lowercase(), b'a'..=b'h') && two[1].is_ascii_digit());
    let castles = matches!(bytes, [b'O' | b'o' | b'0', b'-', b'O' | b'o' | b'0', ..]);
    let is_cut_short = match bytes {
        [b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N', b'x', ..]
        | [b'K' | b'Q' | b'R' | b'B' | b'N', b'a'..=b'h'] => true,
        [from @ b'a'..=b'h', to @ b'a'..=b'h'] => from.abs_diff(*to) == 1,
        _ => false,
    };
    !has_square && !castles && !is_cut_short && !matches!(bytes, b"--" | b"Z0" | b"<>" | b"null")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_told_from_moves() {
        let remarks = "= ± ∓ +/= =/+ -/+ +-- N D TN RR → ∞ ⩲ ch mate White resigns - – . Novelty";
        for word in remarks.split(' ') {
            assert!(is_remark(word.as_bytes()), "{word}");
        }
        for word in "e4 Xf3 e9 E2E4 -- Z0 O-O 0–0–0 exd Nf Bx ed Сg5 e5?? 1…e5".split(' ') {
            assert!(!is_remark(word.as_bytes()), "{word}");
        }
    }
}
