// SPDX-License-Identifier: GPL-3.0-or-later
//! The second description of a move: 48 words on average, in terms of the rules (docs/chess.md
//! lists them).
//!
//! Squares are named as the moving side sees them, so that one model serves both colours. Words
//! state results of exchanges, threats, and the pieces that moved last. Whether any of it is good
//! is left to the classifier.

mod board;
mod letters;
mod scene;
mod words;

pub(crate) use scene::Scene;

#[cfg(test)]
mod tests {
    use crate::testing::words;

    #[test]
    fn words_say_what_a_move_does() {
        let rows = [
            // A pawn takes back what took.
            ("e4 d5 exd5", "Qxd5", "xbQPpr"),
            ("e4 e5 Nf3 Nc6 Bb5 a6 Bxc6", "dxc6", "xbPBmr"),
            // A queen where a knight can take it.
            ("e4 e5 Nf3 Nc6 Nc3 Nf6 d4 h6 dxe5 Nxe5", "Qd5", "xaQ-R"),
            // The piece that was attacked goes away from the one that attacked it.
            ("e4 e5 Nf3 Nc6 Bb5 a6", "Ba4", "ldPBym0"),
            ("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6", "O-O", "kskad"),
            ("e4 f5 Be2 g5", "Bh5#", "ckB+00"),
            // Squares as Black sees them.
            ("e4", "e5", "sbPe2e4"),
            ("Nf3", "Nf6", "odNy4a"),
            ("Nf3 Nf6 Ng1", "Ng8", "oaNNyy-o"),
        ];
        for (moves, m, word) in rows {
            let all = words(moves, m);
            assert!(all.iter().any(|w| w == word), "{moves} {m}: no {word} in {all:?}");
        }
    }
}
