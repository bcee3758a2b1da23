// SPDX-License-Identifier: GPL-3.0-or-later
//! Opening books: counted from games, or any Polyglot file (spec chess 9.11, 9.15).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chess_search::{PackedMove, key_of};
use dbacl_files::reading::read_regular;
use shakmaty::{Chess, Color, KnownOutcome, Move, Position, Square};

use chess_games::cannot::Cannot;
use chess_games::notation::{Spelling, to_word};
use chess_games::prepare::Gameline;

/// First line of a book in text form.
const TEXT_MAGIC: &str = "# chess book 1";
/// The variance of one game's result, where a win is 1 and a loss -1.
const VARIANCE: f64 = 0.55;
/// A normal deviate surpasses minus so many standard deviations with nine chances in ten.
const NINE_IN_TEN: f64 = 1.28;

/// How often a move won, drew and lost for the side that played it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Count {
    /// All games.
    pub const fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Wins less losses, per game.
    pub fn balance(self) -> f64 {
        ratio(f64::from(self.wins) - f64::from(self.losses), f64::from(self.games()))
    }

    /// A [`Count::balance`] that the move surpasses with nine chances in ten, as far as its games
    /// tell: a move that nobody plays has no such games.
    pub fn sure_balance(self) -> f64 {
        self.balance() - NINE_IN_TEN * (VARIANCE / f64::from(self.games().max(1))).sqrt()
    }

    /// Wins less losses, per decisive game; 0 without decisive games.
    fn decisive_balance(self) -> f64 {
        ratio(f64::from(self.wins) - f64::from(self.losses), f64::from(self.wins + self.losses))
    }

    fn add(&mut self, result: KnownOutcome, side: Color) {
        match result.winner() {
            None => self.draws += 1,
            Some(winner) if winner == side => self.wins += 1,
            Some(_) => self.losses += 1,
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A move the book knows in some position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BookMove {
    /// The move.
    pub m: Move,
    /// Weight in a draw.
    pub weight: f64,
    /// Statistics; `None` in a Polyglot book.
    pub count: Option<Count>,
}

/// A move in a book: the position's key, the move, its weight, and its games if they are known.
type Row = (u64, u16, f64, Option<Count>);

/// A book: rows sorted by key.
#[derive(Debug)]
pub struct Book(Vec<Row>);

/// The legal move that is meant, castling in either spelling.
fn unpack(position: &Chess, packed: u16) -> Option<Move> {
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
    /// The file cannot be read, or is no book.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = read_regular(path).with_context(|| Cannot::Read(path.into()))?;
        if bytes.starts_with(TEXT_MAGIC.as_bytes()) {
            let text = std::str::from_utf8(&bytes).map_err(anyhow::Error::from);
            return text.and_then(Self::from_text).with_context(|| path.display().to_string());
        }
        let (records, rest) = bytes.as_chunks();
        let rows: Vec<Row> = records.iter().map(row_of_record).collect();
        if rows.is_empty() || !rest.is_empty() || !rows.is_sorted_by_key(|row| row.0) {
            bail!("{} is no opening book", path.display());
        }
        Ok(Self(rows))
    }

    fn from_text(text: &str) -> Result<Self> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        let row = |(number, line): (usize, &str)| {
            parse_row(line).with_context(|| format!("line {}: {line:?}", number + 1))
        };
        let mut rows = lines.map(row).collect::<Result<Vec<Row>>>()?;
        rows.sort_by_key(|row| row.0);
        Ok(Self(rows))
    }

    /// The moves known here, best first.
    pub fn moves(&self, position: &Chess) -> Vec<BookMove> {
        let key = key_of(position);
        let first = self.0.partition_point(|row| row.0 < key);
        let own = self.0[first..].iter().take_while(|row| row.0 == key);
        let book_move = |&(_, packed, weight, count): &Row| {
            Some(BookMove { m: unpack(position, packed)?, weight, count })
        };
        let mut found: Vec<BookMove> = own.filter_map(book_move).collect();
        let value = |b: &BookMove| b.count.map_or(b.weight, Count::sure_balance);
        found.sort_by(|a, b| value(b).total_cmp(&value(a)).then(b.weight.total_cmp(&a.weight)));
        found
    }
}

/// Reads a record of a Polyglot file: key, move, weight and four bytes that are not used here.
fn row_of_record(record: &[u8; 16]) -> Row {
    let key = u64::from_be_bytes(*record.first_chunk().expect("eight bytes"));
    let number = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    (key, number(8), f64::from(number(10)), None)
}

fn parse_row(line: &str) -> Option<Row> {
    let mut fields = line.split_ascii_whitespace();
    let key = u64::from_str_radix(fields.next()?, 16).ok()?;
    let m = u16::from_str_radix(fields.next()?, 16).ok()?;
    let mut number = || fields.next()?.parse().ok();
    let count = Count { wins: number()?, draws: number()?, losses: number()? };
    Some((key, m, f64::from(count.games()), Some(count)))
}

/// Counts the first half-moves of games.
#[derive(Debug)]
pub struct Counter {
    plies: usize,
    counts: HashMap<(u64, u16), Count>,
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
            self.counts.entry(place).or_default().add(result, position.turn());
            position.play_unchecked(m);
        }
    }

    /// Moves seen at least that often, in order of key and move.
    fn rows(&self, at_least: u32) -> Vec<(u64, u16, Count)> {
        let mut rows: Vec<(u64, u16, Count)> = self
            .counts
            .iter()
            .filter(|(_, count)| count.games() >= at_least)
            .map(|(&(key, m), &count)| (key, m, count))
            .collect();
        rows.sort_unstable_by_key(|&(key, m, _)| (key, m));
        rows
    }

    /// The book as text: key, packed move, wins, draws, losses; one row a position and move.
    pub fn to_text(&self, at_least: u32) -> String {
        let mut out =
            format!("{TEXT_MAGIC}: key, move, wins, draws, losses of the side that moved\n");
        for (key, m, Count { wins, draws, losses }) in self.rows(at_least) {
            let _ = writeln!(out, "{key:016x} {m:04x} {wins} {draws} {losses}");
        }
        out
    }

    /// The book as a Polyglot file; the weight is twice the wins plus the draws, scaled to fit.
    /// Castling is the king taking its own rook.
    pub fn to_polyglot(&self, at_least: u32) -> Vec<u8> {
        let rows = self.rows(at_least);
        let points = |c: &Count| u64::from(c.wins) * 2 + u64::from(c.draws);
        let mut out = Vec::with_capacity(rows.len() * 16);
        for group in rows.chunk_by(|a, b| a.0 == b.0) {
            let most = group.iter().map(|(_, _, c)| points(c)).max().unwrap_or(0).max(0xffff);
            for (key, m, count) in group {
                let weight = u16::try_from(points(count) * 0xffff / most).unwrap_or(u16::MAX);
                out.extend_from_slice(&key.to_be_bytes());
                out.extend_from_slice(&m.to_be_bytes());
                out.extend_from_slice(&weight.to_be_bytes());
                out.extend_from_slice(&[0; 4]);
            }
        }
        out
    }

    /// The book as an indented tree from the start position (spec chess 9.15).
    ///
    /// Children are ordered by wins less losses among decisive games, ties by games, at most 16 of
    /// them. A position met before is named, not opened again.
    pub fn to_tree(&self, depth: usize, at_least: u32) -> String {
        let mut nodes: HashMap<u64, Vec<(u16, Count)>> = HashMap::new();
        for (key, m, count) in self.rows(at_least) {
            nodes.entry(key).or_default().push((m, count));
        }
        for children in nodes.values_mut() {
            children.sort_by(|(a_move, a), (b_move, b)| {
                let by_balance = b.decisive_balance().total_cmp(&a.decisive_balance());
                by_balance.then(b.games().cmp(&a.games())).then(a_move.cmp(b_move))
            });
            children.truncate(16);
        }
        let mut out = String::new();
        write_node(&nodes, &Chess::default(), 0, depth, &mut HashSet::new(), &mut out);
        out
    }
}

fn write_node(
    nodes: &HashMap<u64, Vec<(u16, Count)>>,
    position: &Chess,
    level: usize,
    depth: usize,
    seen: &mut HashSet<u64>,
    out: &mut String,
) {
    let key = key_of(position);
    let Some(children) = nodes.get(&key) else { return };
    if level >= depth {
        return;
    }
    if !seen.insert(key) {
        let _ = writeln!(out, "{}(as above)", "  ".repeat(level));
        return;
    }
    for &(packed, count) in children {
        let Some(m) = unpack(position, packed) else { continue };
        let word = to_word(position, m, Spelling::default());
        let Count { wins, draws, losses } = count;
        let balance = count.decisive_balance();
        let _ =
            writeln!(out, "{}{word} +{wins} ={draws} -{losses} {balance:+.2}", "  ".repeat(level));
        let mut next = position.clone();
        next.play_unchecked(m);
        write_node(nodes, &next, level + 1, depth, seen, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::Game;
    use chess_games::prepare::{Options, Statistics, read_games};

    const GAMES: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O 1-0\n1. e4 e5 2. Nf3 Nc6 0-1\n\
                         1. e4 c5 1/2-1/2\n1. d4 d5 1-0\n1. Nf3 e5 2. e4 1-0\n";

    fn counter() -> Counter {
        let mut counter = Counter::new(24);
        let mut statistics = Statistics::default();
        let read =
            read_games(GAMES.as_bytes(), &Options::default(), &mut statistics, &mut |game, _| {
                counter.take(game);
                Ok(())
            });
        read.expect("memory does not fail");
        assert_eq!(statistics.written, 5);
        counter
    }

    fn words(book: &Book, moves: &str) -> Vec<String> {
        let mut game = Game::default();
        game.play_words(moves).expect("legal");
        let word = |b: &BookMove| to_word(game.position(), b.m, Spelling::default());
        book.moves(game.position()).iter().map(word).collect()
    }

    #[test]
    fn few_games_do_not_outrank_many() {
        // The masters' answers to 1.e4: of 90 games with Nc6 a few more were won than lost.
        let count = |wins, draws, losses| Count { wins, draws, losses };
        let (rare, usual) = (count(34, 25, 31), count(3900, 3800, 4000));
        assert!(rare.balance() > usual.balance());
        assert!(rare.sure_balance() < usual.sure_balance());
        // A difference that many games show stays.
        assert!(count(600, 300, 300).sure_balance() > usual.sure_balance());
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
        let tree = counter().to_tree(4, 1);
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
