// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions that are like known ones: clusters of them, and moves that lead to one (spec chess
//! 9.15 b).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use chess_games::game::Game;
use chess_games::notation::{Spelling, to_word};
use chess_games::results::Results;
use chess_search::{after_move, key_of};
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role};

use crate::book::{Book, BookMove, Known, Node, unpack};

/// Half-moves of games whose positions are grouped.
pub const PLIES: usize = 40;
/// The largest group that is clustered whole; of larger ones the positions nearest the start are.
const MAX_GROUP: usize = 256;
/// Half-moves through which branches are compared.
const BRANCH: u32 = 5;
/// The most half-moves of a plan.
const PLAN: usize = 5;

/// What positions of a group have in common: the side to move, the pawns, the number of men of each
/// kind.
type Shape = (Color, Bitboard, [[usize; 6]; 2]);

fn shape(position: &Chess) -> Shape {
    let board = position.board();
    let count = |color| Role::ALL.map(|role| board.by_piece(Role::of(role, color)).count());
    (position.turn(), board.pawns(), [count(Color::White), count(Color::Black)])
}

/// How many men of a side stand elsewhere, if both boards have the same men.
fn moved(a: &Board, b: &Board, side: Color) -> Option<usize> {
    Role::ALL.into_iter().try_fold(0, |sum, role| {
        let [a, b] = [a, b].map(|board| board.by_piece(role.of(side)));
        (a.count() == b.count()).then(|| sum + (a & !b).count())
    })
}

/// The least number of moves of single men, captures and rules ignored, from one board to another
/// with the same men.
fn distance(a: &Board, b: &Board) -> Option<usize> {
    Some(moved(a, b, Color::White)? + moved(a, b, Color::Black)?)
}

/// Similar positions, and the moves played in them.
#[derive(Debug)]
struct Cluster {
    members: Vec<usize>,
    moves: BTreeMap<u16, Results>,
}

/// The known positions of a book, and clusters of them.
#[derive(Debug)]
pub struct Clusters {
    reach: usize,
    known: Vec<Known>,
    groups: HashMap<Shape, Vec<Cluster>>,
}

/// Moves by what games say of them, best first, and the nodes after them.
type Branch = Vec<(f64, Option<Node>)>;

impl Clusters {
    /// Clusters whose positions are at most `reach` moves apart.
    pub fn of(book: &Book, reach: usize) -> Self {
        let known = book.positions();
        let mut groups: HashMap<Shape, Vec<usize>> = HashMap::new();
        for (number, one) in known.iter().enumerate() {
            groups.entry(shape(&one.position)).or_default().push(number);
        }
        let cluster = |members: Vec<usize>| {
            let mut moves: BTreeMap<u16, Results> = BTreeMap::new();
            for row in members.iter().flat_map(|&member| book.rows(known[member].node)) {
                let sum = moves.entry(row.packed).or_default();
                *sum = sum.plus(row.results.unwrap_or_default());
            }
            Cluster { members, moves }
        };
        let clustered = |(shape, members): (Shape, Vec<usize>)| {
            (shape, complete_link(&known, &members, reach).into_iter().map(cluster).collect())
        };
        let groups = groups.into_iter().map(clustered).collect();
        Self { reach, known, groups }
    }

    /// The moves that lead to a known position.
    fn line(&self, number: usize) -> String {
        let Some((before, m)) = self.known[number].before else { return String::new() };
        let word = to_word(&self.known[before].position, m, Spelling::default());
        format!("{} {word}", self.line(before)).trim_start().to_owned()
    }

    /// The clusters of several positions, the largest first: how far apart they are, the moves that
    /// lead to each, and the moves played.
    pub fn to_text(&self) -> String {
        let all = self.groups.values().flatten();
        let mut several: Vec<&Cluster> = all.filter(|c| c.members.len() > 1).collect();
        several.sort_by_key(|c| (std::cmp::Reverse(c.members.len()), c.members[0]));
        let mut out = format!("{} positions, {} clusters\n", self.known.len(), several.len());
        for Cluster { members, moves } in several {
            let far = members.iter().filter_map(|&m| self.furthest(members, m)).max().unwrap_or(0);
            let _ = writeln!(out, "\n{} positions, at most {far} moves apart", members.len());
            for &member in members {
                let _ = writeln!(out, "  {}", self.line(member));
            }
            for (&packed, results) in moves {
                let mut positions = members.iter().map(|&member| &self.known[member].position);
                let word = positions.find_map(|position| {
                    Some(to_word(position, unpack(position, packed)?, Spelling::default()))
                });
                let word = word.unwrap_or_default();
                let _ = writeln!(out, "    {word} {results}");
            }
        }
        out
    }

    fn furthest(&self, members: &[usize], from: usize) -> Option<usize> {
        furthest(&self.known, members, self.known[from].position.board())
    }

    /// The legal moves of the nearest cluster within reach, best first. Of clusters equally near it
    /// is the one whose branch is most similar.
    pub fn suggestions(&self, book: &Book, position: &Chess) -> Vec<BookMove> {
        let board = position.board();
        let mut near: Vec<(usize, &Cluster)> = Vec::new();
        for cluster in self.groups.get(&shape(position)).into_iter().flatten() {
            let far = furthest(&self.known, &cluster.members, board);
            near.extend(far.filter(|&far| far <= self.reach).map(|far| (far, cluster)));
        }
        let nearest = near.iter().map(|(far, _)| *far).min();
        let near = near.into_iter().filter(|(far, _)| Some(*far) == nearest);
        let ours = branch_of_unknown(book, position);
        let unlike = |&(_, cluster): &(usize, &Cluster)| {
            let node = self.known[cluster.members[0]].node;
            branch_distance(book, &ours, &branch(book, Some(node)), BRANCH)
        };
        let best = near.min_by(|a, b| unlike(a).total_cmp(&unlike(b)));
        let legal = |(&packed, &results): (&u16, &Results)| {
            let weight = f64::from(results.games());
            Some(BookMove { m: unpack(position, packed)?, weight, results: Some(results) })
        };
        let moves = best.into_iter().flat_map(|(_, cluster)| &cluster.moves);
        let mut found: Vec<BookMove> = moves.filter_map(legal).collect();
        let value = |b: &BookMove| b.results.map_or(0.0, Results::balance);
        found.sort_by(|a, b| value(b).total_cmp(&value(a)).then(b.weight.total_cmp(&a.weight)));
        found
    }

    /// The fewest moves of both sides, at most five, that lead to a known position that the game
    /// has not been in.
    pub fn plan(&self, game: &Game) -> Option<Vec<Move>> {
        let position = game.position();
        let is_new = |known: &&Known| game.occurrences(&known.position) == 0;
        let all: Vec<&Known> = self.known.iter().filter(is_new).collect();
        (1..=PLAN).find_map(|left| {
            let mut plan = find(position, &within(position, &all, left), left)?;
            plan.reverse();
            Some(plan)
        })
    }

    /// The known positions nearest to one, by the moves that lead to them, and the plan that leads
    /// to one of them.
    pub fn near(&self, game: &Game) -> String {
        let position = game.position();
        let with_distance = |(number, known): (usize, &Known)| {
            Some((distance(position.board(), known.position.board())?, number))
        };
        let all = self.known.iter().enumerate();
        let same_side = all.filter(|(_, known)| known.position.turn() == position.turn());
        let mut near: Vec<(usize, usize)> = same_side.filter_map(with_distance).collect();
        near.sort_unstable();
        let mut out = String::new();
        for &(far, number) in near.iter().take(5) {
            let _ = writeln!(out, "distance {far}: {}", self.line(number));
        }
        let mut after = position.clone();
        let word = |m: Move| {
            let word = to_word(&after, m, Spelling::default());
            after.play_unchecked(m);
            word
        };
        let plan: Option<Vec<String>> =
            self.plan(game).map(|plan| plan.into_iter().map(word).collect());
        let plan = plan.map_or_else(|| "none".to_owned(), |words| words.join(" "));
        let _ = writeln!(out, "plan: {plan}");
        out
    }
}

/// The distance of a board from the furthest of these positions.
fn furthest(known: &[Known], members: &[usize], board: &Board) -> Option<usize> {
    let far = |&member: &usize| distance(known[member].position.board(), board);
    members.iter().map(far).try_fold(0, |most, far| Some(most.max(far?)))
}

/// Merges the two nearest clusters until none are within reach; the distance of clusters is that of
/// their furthest members. What a large group leaves over stays alone.
fn complete_link(known: &[Known], members: &[usize], reach: usize) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = members.iter().map(|&member| vec![member]).collect();
    let rest = clusters.split_off(clusters.len().min(MAX_GROUP));
    let apart = |a: &Vec<usize>, b: &Vec<usize>| {
        distance(known[a[0]].position.board(), known[b[0]].position.board()).unwrap_or(usize::MAX)
    };
    let row = |a| clusters.iter().map(|b| apart(a, b)).collect();
    let mut distances: Vec<Vec<usize>> = clusters.iter().map(row).collect();
    loop {
        let pairs = (0..clusters.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let nearest = pairs.min_by_key(|&(i, j)| distances[i][j]);
        let Some((i, j)) = nearest.filter(|&(i, j)| distances[i][j] <= reach) else { break };
        let merged = clusters.swap_remove(j);
        clusters[i].extend(merged);
        for k in 0..distances.len() {
            let far = distances[i][k].max(distances[j][k]);
            distances[i][k] = far;
            distances[k][i] = far;
        }
        // The last cluster takes the place of `j`.
        distances.swap_remove(j);
        for row in &mut distances {
            row.swap_remove(j);
        }
    }
    clusters.extend(rest);
    clusters
}

fn branch(book: &Book, node: Option<Node>) -> Branch {
    let rows = node.map(|node| book.rows(node)).unwrap_or_default();
    rows.iter().map(|row| (row.balance(), row.next)).collect()
}

/// The moves that lead from an unknown position to known ones.
fn branch_of_unknown(book: &Book, position: &Chess) -> Branch {
    let to_known = |m: Move| {
        let node = book.node(key_of(&after_move(position, m)))?;
        Some((-book.games(node).balance(), Some(node)))
    };
    let mut branch: Branch = position.legal_moves().into_iter().filter_map(to_known).collect();
    branch.sort_by(|a, b| b.0.total_cmp(&a.0));
    branch
}

/// How much two branches differ, move by move in their order: the difference of the balances, and
/// that of what follows, `depth` half-moves deep. A missing move has balance 0 and nothing after.
fn branch_distance(book: &Book, a: &Branch, b: &Branch, depth: u32) -> f64 {
    let missing = (0.0, None);
    let pair = |at| [a, b].map(|branch| branch.get(at).copied().unwrap_or(missing));
    let differ = |[(one, next), (other, after)]: [(f64, Option<Node>); 2]| {
        let is_last = depth <= 1 || (next.is_none() && after.is_none());
        let deeper = || branch_distance(book, &branch(book, next), &branch(book, after), depth - 1);
        (one - other).abs() + if is_last { 0.0 } else { deeper() }
    };
    (0..a.len().max(b.len())).map(pair).map(differ).sum()
}

/// The positions that so many half-moves could reach, captures left out.
fn within<'a>(position: &Chess, known: &[&'a Known], left: usize) -> Vec<&'a Known> {
    let (board, turn) = (position.board(), position.turn());
    let reached = |known: &&&Known| {
        let same_side = (known.position.turn() == turn) == left.is_multiple_of(2);
        let moved = |side| moved(board, known.position.board(), side);
        same_side
            && moved(turn).is_some_and(|n| n <= left.div_ceil(2))
            && moved(turn.other()).is_some_and(|n| n <= left / 2)
    };
    known.iter().filter(reached).copied().collect()
}

/// Moves that lead to one of these positions, the last one first.
fn find(position: &Chess, known: &[&Known], left: usize) -> Option<Vec<Move>> {
    if left == 0 || known.is_empty() {
        let key = key_of(position);
        return known.iter().any(|known| key_of(&known.position) == key).then(Vec::new);
    }
    position.legal_moves().into_iter().find_map(|m| {
        let after = after_move(position, m);
        let mut plan = find(&after, &within(&after, known, left - 1), left - 1)?;
        plan.push(m);
        Some(plan)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::book::tests::counted;
    use chess_games::game::read_fen;

    /// Twenty games: knights come out in different orders.
    pub(crate) fn book() -> Book {
        let rows = [
            ("e4 e5 Nf3 Nc6 Bb5 a6 1-0", 6),
            ("e4 e5 Nf3 Nf6 Nxe5 d6 1/2-1/2", 4),
            ("e4 e5 Nc3 Nf6 f4 d5 0-1", 3),
            ("e4 e5 Nc3 Nc6 f4 exf4 1-0", 2),
            ("d4 d5 c4 e6 Nc3 Nf6 1-0", 3),
            ("d4 Nf6 c4 e6 Nc3 d5 0-1", 2),
        ];
        let pgn: String = rows.iter().map(|&(game, n)| format!("{game}\n").repeat(n)).collect();
        counted(&pgn, 20).to_book(1)
    }

    fn game(words: &str) -> Game {
        let mut game = Game::default();
        game.play_words(words).expect("legal");
        game
    }

    fn after(words: &str) -> Chess {
        game(words).position().clone()
    }

    #[test]
    fn distances_count_the_men_that_moved() {
        let start = "4k3/8/8/8/8/8/8/RN2K2R";
        for (other, far) in [
            ("4k3/8/8/8/8/8/8/RN2K2R", Some(0)),
            ("4k3/8/8/8/8/2N5/8/R3K2R", Some(1)),
            ("3k4/8/8/8/8/2N5/8/R3KR2", Some(3)),
            ("4k3/8/8/8/8/8/8/R3K2R", None),
        ] {
            let [a, b] = [start, other].map(|board| read_fen(&format!("{board} w - - 0 1")));
            let [a, b] = [a, b].map(|position| position.expect("a position"));
            assert_eq!(distance(a.board(), b.board()), far, "{other}");
        }
    }

    #[test]
    fn clusters_hold_positions_within_reach() {
        let book = book();
        // A knight on c3 in place of one on f3 is two men elsewhere; both sides' knights are four.
        for (reach, several) in [(0, 0), (1, 0), (2, 4), (3, 4), (4, 3)] {
            let clusters = Clusters::of(&book, reach);
            let all: Vec<&Cluster> = clusters.groups.values().flatten().collect();
            let members: usize = all.iter().map(|cluster| cluster.members.len()).sum();
            assert_eq!(members, clusters.known.len());
            for cluster in &all {
                for &member in &cluster.members {
                    assert!(clusters.furthest(&cluster.members, member) <= Some(reach));
                }
            }
            let found = all.iter().filter(|cluster| cluster.members.len() > 1).count();
            assert_eq!(found, several, "{}", clusters.to_text());
        }
    }

    #[test]
    fn unknown_positions_take_the_moves_of_the_nearest_cluster() {
        let book = book();
        let clusters = Clusters::of(&book, 3);
        let words = |words: &str| -> Vec<String> {
            let position = after(words);
            let moves = clusters.suggestions(&book, &position).into_iter();
            moves.map(|b| to_word(&position, b.m, Spelling::default())).collect()
        };
        // Of the cluster with Nf3 Nc6, Nf3 Nf6 and neither; Nf3 and Nxe5 are illegal here.
        assert_eq!(words("e4 e5 Nh3 Nc6"), ["Bb5", "Nc3"]);
        assert_eq!(words("a4 a5"), Vec::<String>::new());
        assert!(clusters.to_text().contains("2 positions, at most"), "{}", clusters.to_text());
    }

    #[test]
    fn plans_lead_back_to_known_positions() {
        let book = book();
        let clusters = Clusters::of(&book, 0);
        for (words, plan) in [("e4 Nc6", "Nc3 e5"), ("e4 e5 Nf3 d6", "none"), ("Nf3 Nc6", "e4 e5")]
        {
            let near = clusters.near(&game(words));
            assert!(near.contains(&format!("plan: {plan}\n")), "{words}: {near}");
        }
    }

    #[test]
    fn branches_differ_by_balances_and_what_follows() {
        let book = book();
        let node = |words: &str| branch(&book, book.node(key_of(&after(words))));
        let (won, lost) = (node("e4 e5 Nf3 Nc6"), node("e4 e5 Nc3 Nf6"));
        // One move each, that always won and that always lost, and one after that.
        for (depth, far) in [(1, 2.0), (2, 4.0), (5, 4.0)] {
            assert!((branch_distance(&book, &won, &lost, depth) - far).abs() < 1e-12);
            assert!(branch_distance(&book, &won, &won, depth).abs() < 1e-12);
        }
        assert!((branch_distance(&book, &won, &Branch::new(), 5) - 2.0).abs() < 1e-12);
    }
}
