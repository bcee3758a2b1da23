// SPDX-License-Identifier: GPL-3.0-or-later
//! What a search finds about the moves of a position, as words.
//!
//! The search is that of `chess-search` with its own evaluation. Its tables are emptied before
//! every position, so that what it finds depends on the position alone. After each depth, moves up
//! to [`MARGIN`] worse than the best one have values; all others are *beyond*.

use crate::choices::normalise;
use chess_search::{Found, Limits, Request, Searcher, Value, key_of};
use dbacl_numeric::elementary::exp;
use shakmaty::{Chess, Move, Position as _};

use crate::Games;
use crate::context::{answer, phase};
use crate::games::{Place, Turn};

/// The name of these words and of the search behind them. Weights fit only the search with which
/// they were learned: when a test says that its values have changed, this name has to change.
pub(crate) const NAME: &str = "search-words 3";

/// Moves up to this many centipawns below the best one get exact values.
const MARGIN: i32 = 200;

/// A word: its kind and up to three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(pub [u8; 4]);

/// What is known of the moves of a position, in the order in which they were given.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// 0 the opening, 1 other positions, 2 and 3 with at most ten and six pieces.
    pub phase: usize,
    /// The words of each move.
    pub words: Vec<Vec<Word>>,
    /// What was found out about each move at the last depth.
    pub seen: Vec<Seen>,
}

/// What the last depth says of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// How many moves are better; `None` for a move that is beyond.
    pub rank: Option<usize>,
    /// Centipawns less than the best move, if it is not beyond.
    pub loss: i32,
    /// It mates in so many moves.
    pub mate: Option<i32>,
}

/// A position of a game with what the first stage and the search say of its moves.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Number of the game.
    pub game: u32,
    /// Logarithms of the first stage's probabilities.
    pub first: Vec<f64>,
    /// What the search says.
    pub looked: Looked,
    /// The move that was played.
    pub played: usize,
}

impl Row {
    /// The quickest mate that the search has seen, if any: masters resign before it, but it is what
    /// they would play.
    pub(crate) fn mate(&self) -> Option<usize> {
        let mates = self.looked.seen.iter().enumerate().filter_map(|(at, s)| Some((s.mate?, at)));
        mates.min().map(|(_, at)| at)
    }
}

/// Looks at positions, one after the other.
pub(crate) struct Looker {
    searcher: Searcher,
    depth: usize,
}

impl Looker {
    /// Looks so many half-moves ahead.
    pub(crate) fn new(depth: usize) -> Self {
        Self { searcher: Searcher::new(1), depth }
    }

    /// The row of a position of a game; `first` has the logarithms of the first stage's
    /// probabilities, up to a constant.
    pub(crate) fn row(&mut self, games: &Games, place: Place, first: &[f64]) -> Row {
        let replayed = games.replay(place);
        let mut first = first.to_vec();
        normalise(&mut first);
        let looked = self.look(replayed.turn(), &first);
        Row { game: place.0, first, looked, played: replayed.played }
    }

    /// Looks at the moves; `first` has the logarithms of the first stage's probabilities.
    pub(crate) fn look(&mut self, turn: Turn<'_>, first: &[f64]) -> Looked {
        let (position, before) = turn.positions.split_last().expect("the position now");
        let depths = self.search(position, before);
        let scene = Scene::new(turn, first, &depths);
        let numbers = 0..turn.moves.len();
        Looked {
            phase: usize::from(scene.phase),
            words: numbers.clone().map(|at| scene.words(at)).collect(),
            seen: numbers.map(|at| scene.seen(at)).collect(),
        }
    }

    /// The moves with exact values and these values, best first, after each depth.
    fn search(&mut self, position: &Chess, before: &[Chess]) -> Vec<Vec<(Move, Value)>> {
        let repeatable = usize::try_from(position.halfmoves()).unwrap_or(0).min(before.len());
        let keys: Vec<u64> = before[before.len() - repeatable..].iter().map(key_of).collect();
        let mut depths = Vec::new();
        let mut progress = |found: &Found| {
            let lines = found.lines.iter();
            depths.push(lines.filter_map(|l| Some((*l.moves.first()?, l.value))).collect());
        };
        self.searcher.clear();
        let limits = Limits::depth(self.depth.max(1));
        let request = Request { history: &keys, margin: MARGIN, ..Request::new(position, limits) };
        self.searcher.search(&request, &mut progress);
        depths
    }
}

/// The number of the first bound that is not below a value.
fn bucket(value: i32, bounds: &[i32]) -> u8 {
    u8::try_from(bounds.partition_point(|&bound| bound < value)).unwrap_or(u8::MAX)
}

/// Bounds of losses, centipawns; there is one bucket more, and [`BEYOND`].
const LOSSES: [i32; 9] = [0, 8, 15, 25, 40, 60, 85, 120, 160];
const BEYOND: u8 = 10;
/// Bounds of numbers of better moves; there is one bucket more, which beyond also counts as.
const RANKS: [i32; 8] = [0, 1, 2, 3, 4, 6, 9, 14];
#[expect(clippy::cast_possible_truncation, reason = "eight")]
const LAST_RANK: u8 = RANKS.len() as u8;
/// Bounds of the best move's value.
const VALUES: [i32; 11] = [-800, -400, -200, -100, -40, 40, 100, 200, 400, 800, 30_000];
/// Moves that are at most so many centipawns worse than the best count as about as good.
const CLOSE: i32 = 30;

fn rank_bucket(rank: usize) -> u8 {
    bucket(i32::try_from(rank).unwrap_or(i32::MAX), &RANKS)
}

/// A number of steps as a byte, at most so many.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held within bounds")]
fn steps(value: f64, most: u8) -> u8 {
    value.clamp(0.0, f64::from(most)) as u8
}

/// The chance of winning that a value in centipawns stands for.
fn chance(centipawns: i32) -> f64 {
    1.0 / (1.0 + exp(-f64::from(centipawns.clamp(-4_000, 4_000)) / 200.0))
}

/// A position, and what its moves are compared by.
struct Scene<'a> {
    moves: &'a [Move],
    first: &'a [f64],
    /// For each depth the rank and the loss of each move.
    depths: Vec<Vec<Option<(usize, i32)>>>,
    /// The values of the last depth.
    last: &'a [(Move, Value)],
    phase: u8,
    best: i32,
    best_bucket: u8,
    second_loss: u8,
    close: u8,
    highest: f64,
    /// The first stage's rank of each move.
    ranks: Vec<usize>,
    own_last: Option<Move>,
    their_last: Option<Move>,
    answer: u8,
}

impl<'a> Scene<'a> {
    fn new(turn: Turn<'a>, first: &'a [f64], depths: &'a [Vec<(Move, Value)>]) -> Self {
        let Turn { positions, past, moves } = turn;
        let position = &positions[past.len()];
        let place = |lines: &Vec<(Move, Value)>| -> Vec<Option<(usize, i32)>> {
            let value = |m: &Move| lines.iter().find(|(own, _)| own == m).map(|(_, v)| *v);
            let best = lines.first().map_or(0, |(_, value)| value.centipawns());
            let place = |m: &Move| {
                let own = value(m)?;
                let rank = lines.iter().filter(|(_, other)| *other > own).count();
                Some((rank, best - own.centipawns()))
            };
            moves.iter().map(place).collect()
        };
        let last = depths.last().map_or(&[][..], Vec::as_slice);
        let value = |at: usize| last.get(at).map(|(_, value)| value.centipawns());
        let best = value(0).unwrap_or(0);
        let second_loss = value(1).map_or(BEYOND, |second| bucket(best - second, &LOSSES));
        let close = last.iter().filter(|(_, v)| best - v.centipawns() <= CLOSE).count();
        let rank = |own: &f64| first.iter().filter(|other| *other > own).count();
        Self {
            moves,
            first,
            depths: depths.iter().map(place).collect(),
            last,
            phase: u8::try_from(phase(past.len(), position.board())).unwrap_or(3),
            best,
            best_bucket: bucket(best, &VALUES),
            second_loss,
            close: u8::try_from(close.min(8)).unwrap_or(8),
            highest: first.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ranks: first.iter().map(rank).collect(),
            own_last: past.len().checked_sub(2).map(|at| past[at]),
            their_last: past.last().copied(),
            answer: answer(position, past),
        }
    }

    fn value(&self, at: usize) -> Option<Value> {
        self.last.iter().find(|(m, _)| *m == self.moves[at]).map(|(_, value)| *value)
    }

    fn seen(&self, at: usize) -> Seen {
        let place = self.depths.last().and_then(|places| places[at]);
        Seen {
            rank: place.map(|(rank, _)| rank),
            loss: place.map_or(0, |(_, loss)| loss),
            mate: self.value(at).and_then(Value::mate_in).filter(|&moves| moves > 0),
        }
    }

    fn words(&self, at: usize) -> Vec<Word> {
        let mut out = Vec::with_capacity(32);
        let mut word = |kind: u8, parts: &[u8]| {
            let mut bytes = [kind, 0, 0, 0];
            bytes[1..=parts.len()].copy_from_slice(parts);
            out.push(Word(bytes));
        };
        let (mut loss, mut rank) = (BEYOND, LAST_RANK);
        for (depth, places) in (1..).zip(&self.depths) {
            (rank, loss) = match places[at] {
                Some((rank, loss)) => (rank_bucket(rank), bucket(loss, &LOSSES)),
                None => (LAST_RANK, BEYOND),
            };
            word(b'd', &[depth, loss]);
            word(b'r', &[depth, rank]);
        }
        let phase = self.phase;
        word(b'p', &[phase, loss]);
        word(b'q', &[phase, rank]);
        // State of the game, and whether there is but one good move.
        word(b'b', &[self.best_bucket, loss]);
        let lost = match self.value(at) {
            Some(own) => steps(40.0 * (chance(self.best) - chance(own.centipawns())), 18),
            None => 19,
        };
        word(b'c', &[lost]);
        word(b'e', &[phase, lost]);
        word(b'o', &[self.second_loss, rank.min(2)]);
        word(b'n', &[self.close, loss]);
        word(b'u', &[self.close, rank]);
        // The last moves.
        let m = self.moves[at];
        let again = self.own_last.is_some_and(|own| m.from() == Some(own.to()));
        let takes_back = self
            .their_last
            .is_some_and(|theirs| theirs.is_capture() && m.is_capture() && m.to() == theirs.to());
        let takes_back = u8::from(takes_back);
        word(b's', &[u8::from(again), loss]);
        word(b't', &[takes_back, loss]);
        word(b'l', &[self.answer, loss]);
        word(b'm', &[self.answer, rank, takes_back]);
        // What the first stage says.
        let less = steps(2.0 * (self.highest - self.first[at]), 15);
        let place = rank_bucket(self.ranks[at]);
        word(b'f', &[less]);
        word(b'g', &[less, loss]);
        word(b'h', &[place, rank]);
        word(b'i', &[place, loss, phase]);
        word(b'j', &[steps(-self.highest / 0.35, 9), loss]);
        if let Some(moves) = self.seen(at).mate {
            word(b'z', &[bucket(moves, &[1, 2, 3])]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_fen;

    fn looked(fen: &str, depth: usize) -> (Vec<Move>, Looked) {
        let position = read_fen(fen).expect("good FEN");
        let moves: Vec<Move> = position.legal_moves().into_iter().collect();
        let mut first = vec![0.0; moves.len()];
        normalise(&mut first);
        let turn = Turn { positions: &[position], past: &[], moves: &moves };
        let looked = Looker::new(depth).look(turn, &first);
        (moves, looked)
    }

    #[test]
    fn a_mate_is_seen_and_all_else_is_beyond() {
        let (moves, looked) = looked("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 3);
        let mate = moves.iter().position(|m| m.to().to_string() == "a8").expect("legal");
        for (at, seen) in looked.seen.iter().enumerate() {
            assert_eq!(seen.mate, (at == mate).then_some(1), "{}", moves[at]);
            assert_eq!(seen.rank, (at == mate).then_some(0), "{}", moves[at]);
        }
        assert!(looked.words[mate].contains(&Word([b'z', 0, 0, 0])), "{:?}", looked.words[mate]);
        assert_eq!(looked.phase, 3);
    }

    /// Weights of search words fit one search. If this fails because the search or its evaluation
    /// has changed, give [`NAME`] another number, so that models learned before are refused.
    #[test]
    fn the_search_is_the_one_that_the_name_stands_for() {
        let fen = "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 b kq - 0 6";
        let (_, looked) = looked(fen, 4);
        let mut losses: Vec<i32> =
            looked.seen.iter().filter(|s| s.rank.is_some()).map(|s| s.loss).collect();
        losses.sort_unstable();
        assert_eq!((NAME, losses), ("search-words 3", LOSSES_FOUND.to_vec()));
    }

    const LOSSES_FOUND: &[i32] = &[
        0, 7, 19, 23, 24, 27, 29, 34, 34, 37, 38, 40, 40, 45, 47, 54, 60, 64, 66, 67, 78, 91, 101,
        122, 125, 131, 146, 153, 175, 192,
    ];
}
