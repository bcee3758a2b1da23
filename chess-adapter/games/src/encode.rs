// SPDX-License-Identifier: GPL-3.0-or-later
//! Half-moves to the words of a gameline (spec chess 3).

use shakmaty::Color;

use crate::game::{Completion, Game};

/// How half-moves are joined into words.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One word a half-move: `e4 c5 Nf3`.
    Half,
    /// White's move and Black's reply: `e4_c5 Nf3_`. Complete when Black chooses.
    Full,
    /// Black's move and White's reply: `^_e4 c5_Nf3`. Complete when White chooses.
    Shifted,
}

impl Encoding {
    /// The name in file names and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::Full => "full",
            Self::Shifted => "shifted",
        }
    }

    /// The encoding whose words are complete when this side chooses.
    pub fn of_full_moves(side: Color) -> Self {
        side.fold_wb(Self::Shifted, Self::Full)
    }

    /// Appends one word of the plain gameline, `index` words after the start, made by `first` if
    /// `index` is even.
    ///
    /// Words must come in order; what is needed before the word (space, underscore, pad) is written
    /// here.
    pub fn push_word(self, out: &mut String, index: usize, first: Color, word: &str) {
        let mover = if index.is_multiple_of(2) { first } else { first.other() };
        // Whether this half-move is the first of a pair; `None` where they stand alone.
        let opens = match self {
            Self::Half => None,
            Self::Full => Some(mover.is_white()),
            Self::Shifted => Some(mover.is_black()),
        };
        if index > 0 && opens != Some(false) {
            out.push(' ');
        }
        if index == 0 && opens == Some(false) {
            // A pair without a partner before it.
            out.push_str("^_");
        }
        out.push_str(word);
        if opens == Some(true) {
            out.push('_');
        }
    }

    /// The whole line of words, the first made by `first`.
    pub fn line<'a>(self, first: Color, words: impl IntoIterator<Item = &'a str>) -> String {
        let mut out = String::new();
        for (index, word) in words.into_iter().enumerate() {
            self.push_word(&mut out, index, first, word);
        }
        out
    }

    /// The game's line with each of these completions, cut to the last `window` words if that is
    /// not 0.
    pub fn completions(
        self,
        game: &Game,
        completions: &[Completion],
        window: usize,
    ) -> Vec<String> {
        let prefix = self.line(game.first(), game.words().iter().map(String::as_str));
        let line = |c: &Completion| {
            let mut line = prefix.clone();
            self.push_word(&mut line, game.plies(), game.first(), &c.word);
            cut_to_last_words(&line, window).to_owned()
        };
        completions.iter().map(line).collect()
    }
}

/// Keeps the last `words` words of a line, 0 for all (spec chess 4.2, `--window`).
fn cut_to_last_words(line: &str, words: usize) -> &str {
    if words == 0 {
        return line;
    }
    line.rmatch_indices(' ').nth(words - 1).map_or(line, |(at, _)| &line[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pair_by_colour() {
        let rows: &[(Encoding, Color, &str, &str)] = &[
            (Encoding::Half, Color::White, "e4 c5 Nf3", "e4 c5 Nf3"),
            (Encoding::Full, Color::White, "e4 c5 Nf3", "e4_c5 Nf3_"),
            (Encoding::Full, Color::White, "e4 c5", "e4_c5"),
            (Encoding::Shifted, Color::White, "e4", "^_e4"),
            (Encoding::Shifted, Color::White, "e4 c5 Nf3 e6 d3", "^_e4 c5_Nf3 e6_d3"),
            (Encoding::Shifted, Color::White, "e4 c5", "^_e4 c5_"),
            (Encoding::Full, Color::Black, "Nf6", "^_Nf6"),
            (Encoding::Full, Color::Black, "Nf6 e4 d5", "^_Nf6 e4_d5"),
            (Encoding::Shifted, Color::Black, "Nf6 e4", "Nf6_e4"),
            (Encoding::Full, Color::White, "", ""),
        ];
        for (encoding, first, words, line) in rows {
            assert_eq!(encoding.line(*first, words.split_whitespace()), *line);
        }
    }

    #[test]
    fn window_keeps_the_last_words() {
        assert_eq!(cut_to_last_words("a b c d", 2), "c d");
        assert_eq!(cut_to_last_words("a b", 5), "a b");
        assert_eq!(cut_to_last_words("a b", 0), "a b");
    }
}
