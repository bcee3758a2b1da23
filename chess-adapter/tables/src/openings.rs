// SPDX-License-Identifier: GPL-3.0-or-later
//! A book in play: the tree from the last node, clusters and plans out of it, and what it adds to a
//! search.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, ensure};
use chess_games::game::Game;
use chess_games::results::Results;
use chess_search::{Advice, PackedMove, after_move, key_of};
use dbacl_numeric::elementary::log2;
use shakmaty::Move;

use crate::book::{Book, BookMove, Node};
use crate::clusters::Clusters;

/// How much the games of a move count in a search (spec chess 9.15 c).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// Centipawns for a bit of the share of points.
    Bit(f64),
    /// The original's sum of counts, wins less losses and half the draws, as centipawns. Its terms
    /// of time and depth are the same for all moves of a position, and left out.
    Seed,
}

/// The most centipawns that games count in a search.
const MOST: f64 = 200.0;

impl FromStr for Weight {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let bit = text.parse().unwrap_or(f64::NAN);
        let is_seed = text.eq_ignore_ascii_case("seed");
        ensure!(is_seed || (0.0..=1000.0).contains(&bit), "neither seed nor 0 to 1000: {text:?}");
        Ok(if is_seed { Self::Seed } else { Self::Bit(bit) })
    }
}

impl std::fmt::Display for Weight {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bit(centipawns) => centipawns.fmt(out),
            Self::Seed => out.write_str("seed"),
        }
    }
}

impl Weight {
    /// Centipawns for each of the moves that a book knows in a position.
    fn of(self, moves: &[Results]) -> Vec<i32> {
        let bits = |r: &Results| log2((r.points() + 1.0) / (f64::from(r.games()) + 2.0));
        let values: Vec<f64> = match self {
            Self::Bit(centipawns) => moves.iter().map(|r| centipawns * bits(r)).collect(),
            Self::Seed => {
                let sum =
                    |r: &Results| f64::from(r.won) - f64::from(r.lost) + f64::from(r.drawn) / 2.0;
                moves.iter().map(sum).collect()
            }
        };
        // Moves that the book does not know count as its mean move.
        let all = values.iter().fold(0.0, |number, _| number + 1.0);
        let mean = if self == Self::Seed { 0.0 } else { values.iter().sum::<f64>() / all };
        #[expect(clippy::cast_possible_truncation, reason = "held within bounds")]
        let rounded = |value: &f64| (value - mean).clamp(-MOST, MOST).round() as i32;
        values.iter().map(rounded).collect()
    }
}

/// A book in play.
pub struct Openings {
    book: Book,
    clusters: Option<Clusters>,
    /// Half-moves of the game at the last node, and that node.
    last: Option<(usize, Node)>,
    /// Half-moves of the game when the plan begins, and its moves.
    plan: (usize, Vec<Move>),
}

impl Openings {
    /// Opens a book. With a reach, clusters of its positions stand in for positions that it does
    /// not know.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn open(path: &Path, reach: usize) -> Result<Self> {
        let book = Book::open(path)?;
        let clusters = (reach > 0).then(|| Clusters::of(&book, reach));
        Ok(Self { book, clusters, last: None, plan: (0, Vec::new()) })
    }

    /// The book's moves in the game's position, best first. They are looked for among the children
    /// of the last node first.
    pub fn moves(&mut self, game: &Game) -> Vec<BookMove> {
        let key = key_of(game.position());
        let followed = self.last.and_then(|(plies, node)| {
            let mut played = game.moves().get(plies..)?.iter();
            played.try_fold(node, |node, &m| {
                let mut children = self.book.rows(node).iter();
                children.find(|row| row.packed == PackedMove::from(m).0)?.next
            })
        });
        let followed = followed.filter(|&node| self.book.is_at(node, key));
        let node = followed.or_else(|| self.book.node(key));
        self.last = node.map(|node| (game.plies(), node)).or(self.last);
        node.map(|node| self.book.moves_of(node, game.position())).unwrap_or_default()
    }

    /// Moves for the game's position, best first, and where they come from: the book, the nearest
    /// cluster, or a plan that leads back to a known position.
    pub fn advise(&mut self, game: &Game) -> (Vec<BookMove>, &'static str) {
        let moves = self.moves(game);
        let Some(clusters) = self.clusters.as_ref().filter(|_| moves.is_empty()) else {
            return (moves, "book move");
        };
        let (begun, plan) = &self.plan;
        let is_kept = game.moves().get(*begun..).is_some_and(|played| {
            !played.is_empty() && plan.len() > played.len() && plan.starts_with(played)
        });
        if !is_kept {
            let mut suggested = clusters.suggestions(&self.book, game.position());
            suggested.retain(|b| game.occurrences(&after_move(game.position(), b.m)) == 0);
            if !suggested.is_empty() {
                return (suggested, "cluster move");
            }
            self.plan = (game.plies(), clusters.plan(game).unwrap_or_default());
        }
        let next = self.plan.1.get(game.plies() - self.plan.0);
        let planned = next.map(|&m| BookMove { m, weight: 1.0, results: None });
        (planned.into_iter().collect(), "planned move")
    }

    /// What a search adds to the values of moves whose games are known.
    pub fn for_search(&self, weight: Weight) -> Advice {
        let advice = self.book.nodes().map(|(key, rows)| {
            let known = rows.iter().filter_map(|row| Some((PackedMove(row.packed), row.results?)));
            let (moves, results): (Vec<PackedMove>, Vec<Results>) = known.unzip();
            (key, moves.into_iter().zip(weight.of(&results)).collect())
        });
        advice.collect::<HashMap<_, _>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::tests::book;
    use chess_games::notation::{Spelling, to_word};

    fn advice(openings: &mut Openings, game: &Game) -> String {
        let (moves, source) = openings.advise(game);
        let first = moves.first().map(|b| to_word(game.position(), b.m, Spelling::default()));
        format!("{source} {}", first.unwrap_or_default())
    }

    #[test]
    fn books_clusters_and_plans_take_turns() {
        let book = book();
        let clusters = Some(Clusters::of(&book, 3));
        let mut planned = Game::default();
        planned.play_words("a3 a6 b3").expect("legal");
        let plan = (0, planned.moves().to_vec());
        let mut openings = Openings { book, clusters, last: None, plan };
        for (words, expected) in [
            // The last node is followed; a game that was taken back is found by its key.
            ("", "book move e4"),
            ("e4 e5", "book move Nf3"),
            ("e4 e5 Nf3 Nc6", "book move Bb5"),
            ("d4 d5", "book move c4"),
            ("e4 e5 Nh3 Nc6", "cluster move Bb5"),
            // The opponent has kept to the plan, and not.
            ("a3 a6", "planned move b3"),
            ("a3 a5", "planned move "),
            ("e4 Nc6", "planned move Nc3"),
        ] {
            let mut game = Game::default();
            game.play_words(words).expect("legal");
            assert_eq!(advice(&mut openings, &game), expected, "{words}");
        }
    }

    #[test]
    fn games_count_by_the_share_of_points_or_as_the_seed_has_it() {
        let counts = [(3, 0, 0), (0, 0, 3), (0, 2, 0)];
        let counts = counts.map(|(won, drawn, lost)| Results { won, drawn, lost });
        assert_eq!(Weight::Seed.of(&counts), [3, -3, 1]);
        // Four fifths, a fifth and a half: 2 bits between the first two.
        assert_eq!(Weight::Bit(30.0).of(&counts), [27, -33, 6]);
        assert_eq!(Weight::Bit(1000.0).of(&counts), [200, -200, 200]);
        assert!("1001".parse::<Weight>().is_err() && "seed".parse::<Weight>().is_ok());
    }
}
