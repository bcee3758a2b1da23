// SPDX-License-Identifier: GPL-3.0-or-later
//! Known positions that stand in for unknown ones (chess.md 9.15 b).
//!
//! Positions of the training games are grouped by side to move, material and pawns, and within a group by complete-link
//! clustering: two positions of a cluster are never further apart than a given number of single piece moves. A position
//! that the book does not know takes the summed statistics of the nearest cluster.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use shakmaty::{Bitboard, Board, Chess, Color, Position, Role};

use crate::book::{BookMove, Count, Counter, pack, unpack};
use crate::game::position_key;
use crate::prepare::{GameSink, Gameline};

/// First line of a file of clusters.
const MAGIC: &str = "# chess clusters 1";
/// Half-moves whose positions are grouped.
pub const PLIES: usize = 40;
/// The largest group that is clustered whole; of larger ones the most played positions are.
const MAX_GROUP: usize = 256;

/// What must be equal for two positions to be compared: side to move, pawns, number of pieces of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Skeleton {
    white_to_move: bool,
    pawns: [u64; 2],
    pieces: [u8; 10],
}

/// The squares of each kind of piece, pawns left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pieces([Bitboard; 10]);

const ROLES: [Role; 5] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

impl Pieces {
    fn of(board: &Board) -> Self {
        let mut squares = [Bitboard::EMPTY; 10];
        for (i, color) in Color::ALL.into_iter().enumerate() {
            for (j, role) in ROLES.into_iter().enumerate() {
                squares[5 * i + j] = board.by_piece(role.of(color));
            }
        }
        Self(squares)
    }

    /// The least number of single piece moves, rules and captures ignored, between two positions of equal material:
    /// within a kind, pieces on equal squares stay and every other one moves once.
    fn distance(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (*a & !*b).count()).sum()
    }
}

fn skeleton(board: &Board, turn: Color, pieces: &Pieces) -> Skeleton {
    let count = |squares: Bitboard| u8::try_from(squares.count()).unwrap_or(u8::MAX);
    Skeleton {
        white_to_move: turn.is_white(),
        pawns: Color::ALL.map(|c| board.by_piece(c.pawn()).0),
        pieces: pieces.0.map(count),
    }
}

/// Positions that stand for one another, and what was played in them.
#[derive(Clone, Debug, PartialEq)]
struct Cluster {
    members: Vec<Pieces>,
    moves: Vec<(u16, Count)>,
}

/// All clusters, by what their positions have in common.
#[derive(Debug, Default)]
pub struct Clusters {
    reach: usize,
    groups: HashMap<Skeleton, Vec<Cluster>>,
}

/// Collects the boards of positions that a counter has seen often enough: the second pass over the games.
pub struct Collector {
    wanted: HashSet<u64>,
    boards: HashMap<u64, (Board, Color)>,
}

impl Collector {
    /// Takes the positions with a move seen at least that often.
    pub fn new(counter: &Counter, at_least: u32) -> Self {
        let wanted = counter.rows(at_least).into_iter().map(|(key, _, _)| key).collect();
        Self { wanted, boards: HashMap::new() }
    }
}

impl GameSink for Collector {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        let mut position = game.start.clone();
        for &m in game.moves.iter().take(PLIES) {
            let key = position_key(&position);
            if self.wanted.contains(&key) {
                self.boards
                    .entry(key)
                    .or_insert_with(|| (position.board().clone(), position.turn()));
            }
            position.play_unchecked(m);
        }
        Ok(())
    }
}

/// Clusters the collected positions and writes them as text; positions of a cluster are at most `reach` moves apart.
pub fn to_text(counter: &Counter, collector: &Collector, at_least: u32, reach: usize) -> String {
    let mut moves: HashMap<u64, Vec<(u16, Count)>> = HashMap::new();
    for (key, m, count) in counter.rows(at_least) {
        moves.entry(key).or_default().push((m, count));
    }
    let mut groups: HashMap<Skeleton, Vec<(u32, u64)>> = HashMap::new();
    for (key, (board, turn)) in &collector.boards {
        let games = moves.get(key).map_or(0, |m| m.iter().map(|(_, c)| c.games()).sum());
        groups.entry(skeleton(board, *turn, &Pieces::of(board))).or_default().push((games, *key));
    }
    let mut groups: Vec<(Skeleton, Vec<(u32, u64)>)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(skeleton, _)| *skeleton);
    let mut out = format!("{MAGIC} {reach}: positions (p) and moves (m) of each cluster (c)\n");
    for (_, mut members) in groups {
        members.sort_unstable_by_key(|(games, key)| (std::cmp::Reverse(*games), *key));
        members.truncate(MAX_GROUP);
        let pieces: Vec<Pieces> =
            members.iter().map(|(_, key)| Pieces::of(&collector.boards[key].0)).collect();
        for cluster in complete_link(&pieces, reach) {
            out.push_str("c\n");
            let mut sums: HashMap<u16, Count> = HashMap::new();
            for i in cluster {
                let (board, turn) = &collector.boards[&members[i].1];
                let _ = writeln!(out, "p {} {}", board.board_fen(), turn.char());
                for (m, count) in moves.get(&members[i].1).into_iter().flatten() {
                    sums.entry(*m).or_default().merge(*count);
                }
            }
            let mut sums: Vec<(u16, Count)> = sums.into_iter().collect();
            sums.sort_unstable_by_key(|(m, _)| *m);
            for (m, count) in sums {
                let _ = writeln!(out, "m {m:04x} {} {} {}", count.wins, count.draws, count.losses);
            }
        }
    }
    out
}

/// Merges the two nearest clusters until none are within reach; the distance of clusters is that of their furthest
/// members.
fn complete_link(pieces: &[Pieces], reach: usize) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = (0..pieces.len()).map(|i| vec![i]).collect();
    let mut distances: Vec<Vec<usize>> =
        pieces.iter().map(|a| pieces.iter().map(|b| a.distance(b)).collect()).collect();
    loop {
        let mut best = None;
        for (i, row) in distances.iter().enumerate() {
            for (j, &distance) in row.iter().enumerate().skip(i + 1) {
                if distance <= reach && best.is_none_or(|(d, _, _)| distance < d) {
                    best = Some((distance, i, j));
                }
            }
        }
        let Some((_, i, j)) = best else { return clusters };
        let merged = clusters.swap_remove(j);
        clusters[i].extend(merged);
        // The row of `j` goes into that of `i`, the last row takes its place.
        let other = distances[j].clone();
        for (k, theirs) in other.into_iter().enumerate() {
            let furthest = distances[i][k].max(theirs);
            distances[i][k] = furthest;
            distances[k][i] = furthest;
        }
        distances.swap_remove(j);
        for row in &mut distances {
            row.swap_remove(j);
        }
    }
}

impl Clusters {
    /// Reads a file of clusters.
    ///
    /// # Errors
    ///
    /// It cannot be read or is no such file.
    pub fn open(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::from_text(&text).with_context(|| format!("{}", path.display()))
    }

    fn from_text(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let head =
            lines.next().and_then(|l| l.strip_prefix(MAGIC)).context("not a file of clusters")?;
        let reach =
            head.split(':').next().unwrap_or_default().trim().parse().context("no distance")?;
        let mut clusters = Self { reach, groups: HashMap::new() };
        let mut open: Option<(Skeleton, Cluster)> = None;
        for line in lines {
            let bad = || format!("bad line {line:?}");
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "c" => clusters.file(open.take()),
                "p" => {
                    let (board, turn) = rest.split_once(' ').with_context(bad)?;
                    let board =
                        Board::from_ascii_board_fen(board.as_bytes()).ok().with_context(bad)?;
                    let turn = Color::from_white(turn == "w");
                    let pieces = Pieces::of(&board);
                    let skeleton = skeleton(&board, turn, &pieces);
                    let new = || (skeleton, Cluster { members: Vec::new(), moves: Vec::new() });
                    open.get_or_insert_with(new).1.members.push(pieces);
                }
                "m" => {
                    let numbers: Vec<&str> = rest.split(' ').collect();
                    let [m, wins, draws, losses] = numbers[..] else { bail!(bad()) };
                    let m = u16::from_str_radix(m, 16).with_context(bad)?;
                    let number = |n: &str| n.parse::<u32>().with_context(bad);
                    let count = Count {
                        wins: number(wins)?,
                        draws: number(draws)?,
                        losses: number(losses)?,
                    };
                    open.as_mut().with_context(bad)?.1.moves.push((m, count));
                }
                _ => bail!(bad()),
            }
        }
        clusters.file(open);
        Ok(clusters)
    }

    fn file(&mut self, cluster: Option<(Skeleton, Cluster)>) {
        if let Some((skeleton, cluster)) = cluster {
            self.groups.entry(skeleton).or_default().push(cluster);
        }
    }

    /// The legal moves of the nearest cluster within reach; clusters equally near are told apart by their games.
    pub fn suggestions(&self, position: &Chess) -> Vec<BookMove> {
        let pieces = Pieces::of(position.board());
        let skeleton = skeleton(position.board(), position.turn(), &pieces);
        let near = self.groups.get(&skeleton).into_iter().flatten().filter_map(|cluster| {
            let distance = cluster.members.iter().map(|m| m.distance(&pieces)).max()?;
            let games: u32 = cluster.moves.iter().map(|(_, c)| c.games()).sum();
            (distance <= self.reach).then_some((distance, std::cmp::Reverse(games), cluster))
        });
        let Some((_, _, cluster)) = near.min_by_key(|(distance, games, _)| (*distance, *games))
        else {
            return Vec::new();
        };
        let legal = |&(packed, count): &(u16, Count)| {
            let m = unpack(position, packed).filter(|m| pack(*m) == packed)?;
            Some(BookMove { m, weight: f64::from(count.games()), count: Some(count) })
        };
        cluster.moves.iter().filter_map(legal).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::read_fen;
    use crate::prepare::{self, Options, Statistics};

    fn pieces(fen: &str) -> Pieces {
        Pieces::of(read_fen(fen).expect("good FEN").board())
    }

    #[test]
    fn distance_counts_moved_pieces() {
        let rows = [
            ("4k3/8/8/8/8/8/8/RN2K3 w - - 0 1", "4k3/8/8/8/8/8/8/RN2K3 w - - 0 1", 0),
            ("4k3/8/8/8/8/8/8/RN2K3 w - - 0 1", "4k3/8/8/8/8/2N5/8/R3K3 w - - 0 1", 1),
            ("4k3/8/8/8/8/8/8/RN2K2R w - - 0 1", "3k4/8/8/8/8/2N5/8/R3KR2 w - - 0 1", 3),
        ];
        for (a, b, distance) in rows {
            assert_eq!(pieces(a).distance(&pieces(b)), distance, "{a} {b}");
        }
    }

    #[test]
    fn members_stay_within_reach() {
        let fens = [
            "N3k3/8/8/8/8/8/8/4K3",
            "1N2k3/8/8/8/8/8/8/4K3",
            "1N1k4/8/8/8/8/8/8/4K3",
            "1N1k4/8/8/8/8/8/8/3K4",
        ];
        let all: Vec<Pieces> = fens.iter().map(|f| pieces(&format!("{f} w - - 0 1"))).collect();
        for reach in 0..4 {
            let clusters = complete_link(&all, reach);
            assert_eq!(clusters.iter().map(Vec::len).sum::<usize>(), 4);
            for cluster in &clusters {
                for &i in cluster {
                    assert!(cluster.iter().all(|&j| all[i].distance(&all[j]) <= reach), "{reach}");
                }
            }
        }
        assert_eq!(complete_link(&all, 3).len(), 1);
    }

    #[test]
    fn unknown_positions_take_the_nearest_clusters_moves() {
        let pgn = "1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n";
        let mut counter = Counter::new(PLIES);
        let read = |sink: &mut dyn GameSink| {
            let mut statistics = Statistics::default();
            prepare::read_games(pgn.as_bytes(), &Options::default(), &mut statistics, &mut [sink])
                .expect("read");
        };
        read(&mut counter);
        let mut collector = Collector::new(&counter, 2);
        read(&mut collector);
        let clusters =
            Clusters::from_text(&to_text(&counter, &collector, 2, 2)).expect("good text");
        // Nf6 in place of Nc6: one piece stands elsewhere.
        let near = read_fen("rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
            .expect("good");
        let words: Vec<String> =
            clusters.suggestions(&near).iter().map(|b| b.m.to_string()).collect();
        assert_eq!(words, ["Bf1-b5"]);
        let far = read_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").expect("good");
        assert!(clusters.suggestions(&far).is_empty());
        assert!(Clusters::from_text("junk").is_err());
    }
}
