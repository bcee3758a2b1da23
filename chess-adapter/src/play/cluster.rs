// SPDX-License-Identifier: GPL-3.0-or-later
//! Clusters of known positions, whose statistics are used for similar positions that the book does
//! not know (spec chess 9.15 b).
//!
//! Positions of the training games are grouped by side to move, material and pawns, and within a
//! group by complete-link clustering: two positions of a cluster are never further apart than a
//! given number of single piece moves. A position that the book does not know takes the summed
//! statistics of the nearest cluster.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use dbacl_files::reading::read_text;
use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Move, Position, Role, Square};

use crate::play::book::{BookMove, Count, Counter, pack, unpack};
use crate::text::game::position_key;
use crate::text::prepare::{GameSink, Gameline};

/// First line of a file of clusters.
const MAGIC: &str = "# chess clusters 1";
/// Half-moves whose positions are grouped.
pub const PLIES: usize = 40;
/// Children of a position that take part when branches are compared.
const CHILDREN: usize = 16;
/// Half-moves through which branches are compared.
const BRANCH: usize = 5;
/// The largest group that is clustered whole; of larger ones the most played positions are.
const MAX_GROUP: usize = 256;

/// What must be equal for two positions to be compared: side to move, pawns, number of pieces of
/// each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Shape {
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

    /// The least number of single piece moves, rules and captures ignored, between two positions of
    /// equal material: within a kind, pieces on equal squares stay and every other one moves once.
    fn distance(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (*a & !*b).count()).sum()
    }
}

fn shape(board: &Board, turn: Color, pieces: &Pieces) -> Shape {
    let count = |squares: Bitboard| u8::try_from(squares.count()).unwrap_or(u8::MAX);
    Shape {
        white_to_move: turn.is_white(),
        pawns: Color::ALL.map(|c| board.by_piece(c.pawn()).0),
        pieces: pieces.0.map(count),
    }
}

/// Similar positions, and the moves played in them.
#[derive(Clone, Debug, PartialEq)]
struct Cluster {
    members: Vec<(Pieces, Board)>,
    moves: Vec<(u16, Count)>,
}

/// All clusters, by what their positions have in common.
#[derive(Debug, Default)]
pub struct Clusters {
    reach: usize,
    groups: HashMap<Shape, Vec<Cluster>>,
    /// Where the cluster of a known position stands in `groups`.
    nodes: HashMap<(Board, Color), (Shape, usize)>,
}

/// A move's decisive balance and the board after it, best first.
type Branch = Vec<(f64, Board)>;

/// The board after a packed move that was legal: castling is the king taking its own rook.
fn board_after(board: &Board, packed: u16) -> Board {
    let mut after = board.clone();
    let square = |bits: u16| Square::new(u32::from(bits & 63));
    let (to, from) = (square(packed), square(packed >> 6));
    let Some(piece) = after.remove_piece_at(from) else { return after };
    let rook = piece.color.rook();
    if piece.role == Role::King && board.piece_at(to) == Some(rook) {
        let side = CastlingSide::from_king_side(to > from);
        after.discard_piece_at(to);
        after.set_piece_at(Square::from_coords(side.king_to_file(), from.rank()), piece);
        after.set_piece_at(Square::from_coords(side.rook_to_file(), from.rank()), rook);
        return after;
    }
    if piece.role == Role::Pawn && to.file() != from.file() && board.piece_at(to).is_none() {
        after.discard_piece_at(Square::from_coords(to.file(), from.rank()));
    }
    let role = match packed >> 12 {
        1 => Role::Knight,
        2 => Role::Bishop,
        3 => Role::Rook,
        4 => Role::Queen,
        _ => piece.role,
    };
    after.set_piece_at(to, role.of(piece.color));
    after
}

fn best_first(mut children: Vec<(Count, Board)>) -> Branch {
    children.sort_by(|(a, _), (b, _)| {
        let by_balance = b.decisive_balance().total_cmp(&a.decisive_balance());
        by_balance.then(b.games().cmp(&a.games()))
    });
    children.truncate(CHILDREN);
    children.into_iter().map(|(count, board)| (count.decisive_balance(), board)).collect()
}

/// Collects the boards of positions that a counter has seen often enough: the second pass over the
/// games.
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

/// Clusters the collected positions and writes them as text; positions of a cluster are at most
/// `reach` moves apart.
pub fn to_text(counter: &Counter, collector: &Collector, at_least: u32, reach: usize) -> String {
    let mut moves: HashMap<u64, Vec<(u16, Count)>> = HashMap::new();
    for (key, m, count) in counter.rows(at_least) {
        moves.entry(key).or_default().push((m, count));
    }
    let mut groups: HashMap<Shape, Vec<(u32, u64)>> = HashMap::new();
    for (key, (board, turn)) in &collector.boards {
        let games = moves.get(key).map_or(0, |m| m.iter().map(|(_, c)| c.games()).sum());
        groups.entry(shape(board, *turn, &Pieces::of(board))).or_default().push((games, *key));
    }
    let mut groups: Vec<(Shape, Vec<(u32, u64)>)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(shape, _)| *shape);
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

/// Merges the two nearest clusters until none are within reach; the distance of clusters is that of
/// their furthest members.
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
    /// The file cannot be read, or holds no clusters.
    pub fn open(path: &Path) -> Result<Self> {
        let text = read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::from_text(&text).with_context(|| format!("{}", path.display()))
    }

    fn from_text(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let head =
            lines.next().and_then(|l| l.strip_prefix(MAGIC)).context("not a file of clusters")?;
        let reach =
            head.split(':').next().unwrap_or_default().trim().parse().context("no distance")?;
        let mut clusters = Self { reach, groups: HashMap::new(), nodes: HashMap::new() };
        let mut open: Option<(Shape, Cluster)> = None;
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
                    let shape = shape(&board, turn, &pieces);
                    let new = || (shape, Cluster { members: Vec::new(), moves: Vec::new() });
                    open.get_or_insert_with(new).1.members.push((pieces, board));
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

    fn file(&mut self, cluster: Option<(Shape, Cluster)>) {
        if let Some((shape, cluster)) = cluster {
            let turn = Color::from_white(shape.white_to_move);
            let group = self.groups.entry(shape).or_default();
            for (_, board) in &cluster.members {
                self.nodes.insert((board.clone(), turn), (shape, group.len()));
            }
            group.push(cluster);
        }
    }

    fn cluster_of(&self, board: &Board, turn: Color) -> Option<&Cluster> {
        let (shape, place) = self.nodes.get(&(board.clone(), turn))?;
        self.groups.get(shape)?.get(*place)
    }

    /// The moves played in a known position, or in its cluster; empty for other positions.
    fn branch(&self, board: &Board, turn: Color) -> Branch {
        let moves = self.cluster_of(board, turn).map(|c| c.moves.as_slice()).unwrap_or_default();
        best_first(moves.iter().map(|(m, count)| (*count, board_after(board, *m))).collect())
    }

    /// The moves that lead from an unknown position to known ones.
    fn branch_of_unknown(&self, position: &Chess) -> Branch {
        let known = |m: Move| {
            let mut after = position.clone();
            after.play_unchecked(m);
            let mut sum = Count::default();
            for (_, count) in &self.cluster_of(after.board(), after.turn())?.moves {
                sum.merge(*count);
            }
            Some((sum.turned(), after.board().clone()))
        };
        best_first(position.legal_moves().into_iter().filter_map(known).collect())
    }

    /// How much two branches differ, child by child in their order: the difference of the balances,
    /// and that of what follows, `depth` half-moves deep. A missing child has balance 0 and nothing
    /// after it.
    fn branch_distance(&self, a: &Branch, b: &Branch, turn: Color, depth: usize) -> f64 {
        let pairs = (0..a.len().max(b.len())).map(|at| (a.get(at), b.get(at)));
        let balance = |child: Option<&(f64, Board)>| child.map_or(0.0, |(balance, _)| *balance);
        let mut sum = 0.0;
        for (one, other) in pairs {
            sum += (balance(one) - balance(other)).abs();
            if depth > 1 {
                let next = |child: Option<&(f64, Board)>| {
                    child.map_or_else(Branch::new, |(_, board)| self.branch(board, turn))
                };
                sum += self.branch_distance(&next(one), &next(other), turn.other(), depth - 1);
            }
        }
        sum
    }

    /// The legal moves of the nearest cluster within reach; of clusters equally near that whose
    /// best known member has the most similar branch, then the one with more games.
    pub fn suggestions(&self, position: &Chess) -> Vec<BookMove> {
        let pieces = Pieces::of(position.board());
        let shape = shape(position.board(), position.turn(), &pieces);
        let near = self.groups.get(&shape).into_iter().flatten().filter_map(|cluster| {
            let distance = cluster.members.iter().map(|(m, _)| m.distance(&pieces)).max()?;
            (distance <= self.reach).then_some((distance, cluster))
        });
        let mut near: Vec<(usize, &Cluster)> = near.collect();
        let Some(nearest) = near.iter().map(|(distance, _)| *distance).min() else {
            return Vec::new();
        };
        near.retain(|(distance, _)| *distance == nearest);
        let Some(cluster) = self.most_similar(position, near.iter().map(|(_, c)| *c).collect())
        else {
            return Vec::new();
        };
        let legal = |&(packed, count): &(u16, Count)| {
            let m = unpack(position, packed).filter(|m| pack(*m) == packed)?;
            Some(BookMove { m, weight: f64::from(count.games()), count: Some(count) })
        };
        cluster.moves.iter().filter_map(legal).collect()
    }

    fn most_similar<'a>(&self, position: &Chess, near: Vec<&'a Cluster>) -> Option<&'a Cluster> {
        if near.len() < 2 {
            return near.into_iter().next();
        }
        let turn = position.turn();
        let ours = self.branch_of_unknown(position);
        let rated = near.into_iter().filter_map(|cluster| {
            let theirs = self.branch(&cluster.members.first()?.1, turn);
            let distance = self.branch_distance(&ours, &theirs, turn.other(), BRANCH);
            let games: u32 = cluster.moves.iter().map(|(_, c)| c.games()).sum();
            Some((distance, games, cluster))
        });
        let closer = rated.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        closer.map(|(_, _, cluster)| cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::game::read_fen;
    use crate::text::prepare::{self, Options, Statistics};

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
    fn boards_follow_packed_moves() {
        let rows = [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "a legal castling"),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "en passant"),
            ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "promotions"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "the other side"),
        ];
        for (fen, name) in rows {
            let position = read_fen(fen).expect("good FEN");
            for m in position.legal_moves() {
                let mut after = position.clone();
                after.play_unchecked(m);
                assert_eq!(&board_after(position.board(), pack(m)), after.board(), "{name} {m}");
            }
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
        // Five half-moves with one child each, which always won or always lost, against nothing
        // known.
        let single = Clusters::from_text(&to_text(&counter, &collector, 2, 0)).expect("good text");
        let known = single.branch(Chess::default().board(), Color::White);
        let unknown = single.branch(far.board(), Color::White);
        let distance = |a, b, depth| single.branch_distance(a, b, Color::Black, depth);
        assert_eq!(distance(&known, &known, BRANCH), 0.0);
        for depth in [1, 3, BRANCH] {
            let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0][depth];
            assert_eq!(distance(&known, &unknown, depth), expected, "{depth}");
            assert_eq!(distance(&unknown, &known, depth), expected, "{depth}");
        }
    }
}
