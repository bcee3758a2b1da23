// SPDX-License-Identifier: GPL-3.0-or-later
//! Opening books: counted from games, or any Polyglot file (spec chess 9.11, 9.15).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chess_search::{PackedMove, after_move, key_of};
use dbacl_files::reading::read_regular;
use shakmaty::{Chess, Move, Position, Square};

use chess_games::cannot::Cannot;
use chess_games::notation::{Spelling, to_word};
use chess_games::prepare::Gameline;
use chess_games::results::Results;

/// First line of a book in text form.
const TEXT_MAGIC: &str = "# chess book 1";
/// Moves of a position that are kept, the best ones.
const CHILDREN: usize = 16;

/// A move the book knows in some position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BookMove {
    /// The move.
    pub m: Move,
    /// Weight in a draw.
    pub weight: f64,
    /// The games of the side that played it; `None` in a Polyglot book.
    pub results: Option<Results>,
}

/// A move in a book.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    key: u64,
    /// The move.
    pub packed: u16,
    weight: f64,
    /// Its games, if they are known.
    pub results: Option<Results>,
    /// The node of the position after it, if it is reached from the start position.
    pub next: Option<Node>,
}

impl Row {
    /// The move and the position after it.
    pub(crate) fn follow(&self, position: &Chess) -> Option<(Move, Chess)> {
        let m = unpack(position, self.packed)?;
        Some((m, after_move(position, m)))
    }

    /// By how much games speak for the move.
    pub(crate) fn balance(&self) -> f64 {
        self.results.map_or(0.0, Results::balance)
    }
}

/// A position of a book: the place of its first row.
pub(crate) type Node = usize;

/// A position that is reached in a book.
#[derive(Debug)]
pub(crate) struct Known {
    pub position: Chess,
    pub node: Node,
    /// The known position before it, and the move between them.
    pub before: Option<(usize, Move)>,
}

/// A book: rows sorted by key, those of a position best first. Moves lead from node to node.
#[derive(Debug)]
pub struct Book(Vec<Row>);

/// The legal move that is meant, castling in either spelling.
pub(crate) fn unpack(position: &Chess, packed: u16) -> Option<Move> {
    let moves = position.legal_moves();
    let exact = moves.iter().find(|&&m| PackedMove::from(m).0 == packed).copied();
    exact.or_else(|| {
        let square = |bits: u16| Square::try_from(u8::try_from(bits & 63).ok()?).ok();
        let (to, from) = (square(packed)?, square(packed >> 6)?);
        moves.iter().copied().find(|m| {
            m.from() == Some(from)
                && m.castling_side()
                    .is_some_and(|side| to == Square::from_coords(side.king_to_file(), from.rank()))
        })
    })
}

impl Book {
    /// Opens a book in either form.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a book.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = read_regular(path).with_context(|| Cannot::Read(path.into()))?;
        if bytes.starts_with(TEXT_MAGIC.as_bytes()) {
            let text = std::str::from_utf8(&bytes).map_err(anyhow::Error::from);
            return text.and_then(Self::from_text).with_context(|| path.display().to_string());
        }
        let (records, rest) = bytes.as_chunks();
        let rows: Vec<Row> = records.iter().map(row_of_record).collect();
        if rows.is_empty() || !rest.is_empty() || !rows.is_sorted_by_key(|row| row.key) {
            bail!("{} is not an opening book", path.display());
        }
        Ok(Self::of(rows))
    }

    fn from_text(text: &str) -> Result<Self> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        let row = |(number, line): (usize, &str)| {
            parse_row(line).with_context(|| format!("line {}: {line:?}", number + 1))
        };
        Ok(Self::of(lines.map(row).collect::<Result<Vec<Row>>>()?))
    }

    /// Orders the rows and links the nodes.
    pub(crate) fn of(mut rows: Vec<Row>) -> Self {
        rows.sort_by(|a, b| {
            let by_balance = b.balance().total_cmp(&a.balance());
            let by_worth = by_balance.then(b.weight.total_cmp(&a.weight));
            a.key.cmp(&b.key).then(by_worth).then(a.packed.cmp(&b.packed))
        });
        let nodes = rows.chunk_by(|a, b| a.key == b.key);
        let mut book = Self(nodes.flat_map(|node| node.iter().take(CHILDREN)).copied().collect());
        for known in book.positions() {
            for place in known.node..known.node + book.rows(known.node).len() {
                let next = book.0[place].follow(&known.position);
                book.0[place].next = next.and_then(|(_, after)| book.node(key_of(&after)));
            }
        }
        book
    }

    /// The positions that are reached from the start position, nearest first.
    pub(crate) fn positions(&self) -> Vec<Known> {
        let start = Chess::default();
        let first = self.node(key_of(&start));
        let known = |node| Known { position: start, node, before: None };
        let mut found: Vec<Known> = first.map(known).into_iter().collect();
        let mut seen: HashSet<Node> = first.into_iter().collect();
        let mut number = 0;
        while let Some(known) = found.get(number) {
            let (position, node) = (known.position.clone(), known.node);
            for (m, after) in self.rows(node).iter().filter_map(|row| row.follow(&position)) {
                let next = self.node(key_of(&after)).filter(|&next| seen.insert(next));
                let known = |node| Known { position: after, node, before: Some((number, m)) };
                found.extend(next.map(known));
            }
            number += 1;
        }
        found
    }

    /// The node of the position with this key.
    pub(crate) fn node(&self, key: u64) -> Option<Node> {
        let first = self.0.partition_point(|row| row.key < key);
        self.is_at(first, key).then_some(first)
    }

    /// Whether this is the node of the position with this key.
    pub(crate) fn is_at(&self, node: Node, key: u64) -> bool {
        self.0.get(node).is_some_and(|row| row.key == key)
    }

    /// The moves of a node, best first.
    pub(crate) fn rows(&self, node: Node) -> &[Row] {
        self.0[node..].chunk_by(|a, b| a.key == b.key).next().unwrap_or_default()
    }

    /// The games of a node, for the side to move.
    pub(crate) fn games(&self, node: Node) -> Results {
        let results = self.rows(node).iter().filter_map(|row| row.results);
        results.fold(Results::default(), Results::plus)
    }

    /// The moves of a node in that position, best first.
    pub(crate) fn moves_of(&self, node: Node, position: &Chess) -> Vec<BookMove> {
        let book_move = |row: &Row| {
            let m = unpack(position, row.packed)?;
            Some(BookMove { m, weight: row.weight, results: row.results })
        };
        self.rows(node).iter().filter_map(book_move).collect()
    }

    /// All positions and their moves.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (u64, &[Row])> {
        self.0.chunk_by(|a, b| a.key == b.key).map(|rows| (rows[0].key, rows))
    }

    /// The book as an indented tree from the start position (spec chess 9.15). A position met
    /// before is named, not opened again.
    pub fn to_tree(&self, depth: usize) -> String {
        let (mut out, start) = (String::new(), Chess::default());
        if let Some(node) = self.node(key_of(&start)) {
            self.write_node(node, &start, 0, depth, &mut HashSet::new(), &mut out);
        }
        out
    }

    fn write_node(
        &self,
        node: Node,
        position: &Chess,
        level: usize,
        depth: usize,
        seen: &mut HashSet<Node>,
        out: &mut String,
    ) {
        let space = "  ".repeat(level);
        if level >= depth {
            return;
        }
        if !seen.insert(node) {
            let _ = writeln!(out, "{space}(as above)");
            return;
        }
        for row in self.rows(node) {
            let Some((m, after)) = row.follow(position) else { continue };
            let word = to_word(position, m, Spelling::default());
            let results = row.results.unwrap_or_default();
            let _ = writeln!(out, "{space}{word} {results} {:+.2}", row.balance());
            if let Some(next) = row.next {
                self.write_node(next, &after, level + 1, depth, seen, out);
            }
        }
    }
}

/// Reads a record of a Polyglot file: key, move, weight and four bytes that are not used here.
fn row_of_record(record: &[u8; 16]) -> Row {
    let key = u64::from_be_bytes(*record.first_chunk().expect("eight bytes"));
    let number = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    Row { key, packed: number(8), weight: f64::from(number(10)), results: None, next: None }
}

fn parse_row(line: &str) -> Option<Row> {
    let mut fields = line.split_ascii_whitespace();
    let key = u64::from_str_radix(fields.next()?, 16).ok()?;
    let packed = u16::from_str_radix(fields.next()?, 16).ok()?;
    let mut number = || fields.next()?.parse().ok();
    let results = Results { won: number()?, drawn: number()?, lost: number()? };
    results.won.checked_add(results.drawn)?.checked_add(results.lost)?;
    Some(counted(key, packed, results))
}

fn counted(key: u64, packed: u16, results: Results) -> Row {
    Row { key, packed, weight: f64::from(results.games()), results: Some(results), next: None }
}

/// Counts the first half-moves of games.
#[derive(Debug)]
pub struct Counter {
    plies: usize,
    counts: HashMap<(u64, u16), Results>,
}

impl Counter {
    /// Counts that many half-moves of each game.
    pub fn new(plies: usize) -> Self {
        Self { plies, counts: HashMap::new() }
    }

    /// Counts a game, if it is finished and began in the start position.
    pub fn take(&mut self, game: &Gameline) {
        let finished = game.result.filter(|_| game.start == Chess::default());
        let Some(result) = finished else { return };
        let mut position = game.start.clone();
        for &m in game.moves.iter().take(self.plies) {
            let place = (key_of(&position), PackedMove::from(m).0);
            self.counts.entry(place).or_default().add(result.winner(), position.turn());
            position.play_unchecked(m);
        }
    }

    /// Moves seen at least that often, in order of key and move.
    fn rows(&self, at_least: u32) -> Vec<(u64, u16, Results)> {
        let all = self.counts.iter().map(|(&(key, m), &results)| (key, m, results));
        let mut rows: Vec<_> = all.filter(|(.., results)| results.games() >= at_least).collect();
        rows.sort_unstable_by_key(|&(key, m, _)| (key, m));
        rows
    }

    /// The book as text: key, packed move, wins, draws, losses; one row a position and move.
    pub fn to_text(&self, at_least: u32) -> String {
        let mut out =
            format!("{TEXT_MAGIC}: key, move, wins, draws, losses of the side that moved\n");
        for (key, m, Results { won, drawn, lost }) in self.rows(at_least) {
            let _ = writeln!(out, "{key:016x} {m:04x} {won} {drawn} {lost}");
        }
        out
    }

    /// The book as a Polyglot file; the weight is twice the wins plus the draws, scaled to fit.
    /// Castling is the king taking its own rook.
    pub fn to_polyglot(&self, at_least: u32) -> Vec<u8> {
        let rows = self.rows(at_least);
        let points = |c: &Results| u64::from(c.won) * 2 + u64::from(c.drawn);
        let mut out = Vec::with_capacity(rows.len() * 16);
        for group in rows.chunk_by(|a, b| a.0 == b.0) {
            let most = group.iter().map(|(_, _, c)| points(c)).max().unwrap_or(0).max(0xffff);
            for (key, m, results) in group {
                let weight = u16::try_from(points(results) * 0xffff / most).unwrap_or(u16::MAX);
                out.extend_from_slice(&key.to_be_bytes());
                out.extend_from_slice(&m.to_be_bytes());
                out.extend_from_slice(&weight.to_be_bytes());
                out.extend_from_slice(&[0; 4]);
            }
        }
        out
    }

    /// The book.
    pub fn to_book(&self, at_least: u32) -> Book {
        Book::of(self.rows(at_least).into_iter().map(|(key, m, c)| counted(key, m, c)).collect())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use chess_games::game::Game;
    use chess_games::prepare::{Options, Statistics, read_games};

    const GAMES: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O 1-0\n1. e4 e5 2. Nf3 Nc6 0-1\n\
                         1. e4 c5 1/2-1/2\n1. d4 d5 1-0\n1. Nf3 e5 2. e4 1-0\n";

    fn counter() -> Counter {
        counted(GAMES, 5)
    }

    /// Counts games, of which there are so many.
    pub(crate) fn counted(pgn: &str, games: u64) -> Counter {
        let mut counter = Counter::new(24);
        let mut statistics = Statistics::default();
        let read =
            read_games(pgn.as_bytes(), &Options::default(), &mut statistics, &mut |game, _| {
                counter.take(game);
                Ok(())
            });
        read.expect("memory does not fail");
        assert_eq!(statistics.written, games);
        counter
    }

    fn words(book: &Book, moves: &str) -> Vec<String> {
        let mut game = Game::default();
        game.play_words(moves).expect("legal");
        let word = |b: &BookMove| to_word(game.position(), b.m, Spelling::default());
        let node = book.node(key_of(game.position()));
        let moves = node.map(|node| book.moves_of(node, game.position()));
        moves.unwrap_or_default().iter().map(word).collect()
    }

    #[test]
    fn start_position_has_polyglots_key() {
        assert_eq!(key_of(&Chess::default()), 0x463b_9618_1691_fc9c);
    }

    #[test]
    fn books_survive_both_forms() {
        let folder = tempfile::tempdir().expect("a folder");
        let (text, bin) = (folder.path().join("a.txt"), folder.path().join("a.bin"));
        std::fs::write(&text, counter().to_text(1)).expect("written");
        std::fs::write(&bin, counter().to_polyglot(1)).expect("written");
        for path in [text, bin] {
            let book = Book::open(&path).expect("a book");
            assert_eq!(words(&book, "e4 e5 Nf3 Nc6 Bb5 Nf6"), ["O-O"]);
            // e4 and Nf3 transpose: the node is shared.
            assert_eq!(words(&book, "e4 e5"), ["Nf3"]);
            assert_eq!(words(&book, "a4"), Vec::<String>::new());
            assert_eq!(words(&book, "").len(), 3);
        }
    }

    #[test]
    fn wins_rank_moves() {
        let book = Book::from_text(&counter().to_text(1)).expect("a book");
        // d4 and Nf3 won their only game; e4 scored +1 =1 -1.
        assert_eq!(words(&book, "").last().map(String::as_str), Some("e4"));
        let frequent = Book::from_text(&counter().to_text(2)).expect("a book");
        assert_eq!(words(&frequent, ""), ["e4"]);
    }

    #[test]
    fn tree_shares_transpositions() {
        let tree = counter().to_book(1).to_tree(4);
        assert!(tree.contains("e4 +1 =1 -1 +0.00"), "{tree}");
        assert!(tree.contains("    Nf3 +1 =0 -1"), "{tree}");
    }

    #[test]
    fn damaged_books_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        for bytes in [&b""[..], b"123", b"# chess book 1\nxyz\n", &[255; 17]] {
            std::fs::write(&path, bytes).expect("written");
            assert!(Book::open(&path).is_err(), "{bytes:?}");
        }
    }
}
