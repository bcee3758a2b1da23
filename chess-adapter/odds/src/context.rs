// SPDX-License-Identifier: GPL-3.0-or-later
//! The third description of a move: what came before it, what stands around it, and the result of
//! the captures after it (docs/chess.md).
//!
//! The words of [`crate::rich`] say what a move does by the rules; these words say where and when
//! it is played. Most of them combine several facts, and there are millions of combinations, so
//! they are written as hashes: a capital letter or a digit for the kind
//! ([`crate::legend::CONTEXT`]) and five characters. Squares are as the mover sees them.

use crate::choices::ShortWord;
use chess_search::board::material;
use shakmaty::{Board, Chess, Move, Position, Role, Square};

use crate::captures::{captures, captures_of_other};
use crate::checks::checks;
use crate::rich::Scene;
use crate::view::{Prospect, View, target};
use crate::words::Words;

/// The name that models record for these words together with the rich ones.
pub(crate) const NAME: &str = "rich-words 1, context-words 1";

/// The characters of hashes: six bits each, all of them visible and none of them ending a word.
const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";

/// A combination of small numbers as a hash.
#[derive(Clone, Copy)]
struct Key(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key {
    const fn with(self, part: u64) -> Self {
        Self((self.0.rotate_left(23) ^ part).wrapping_mul(STEP))
    }

    /// Mixes the bits, since only some of them are written.
    const fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 32)
    }
}

/// The key of a kind of words, before its parts.
const START: Key = Key(STEP);

fn push(out: &mut Words, kind: u8, key: Key) {
    let mut bits = key.finish();
    let mut word = [kind, 0, 0, 0, 0, 0];
    for digit in &mut word[1..] {
        *digit = DIGITS[(bits & 63) as usize];
        bits >>= 6;
    }
    out.push(ShortWord::new(&word));
}

/// What stands on a square: 0 nothing, 1 to 6 ours from pawn to king, 7 to 12 theirs.
type Content = u8;

/// A square beyond the edge.
const BEYOND: Content = 15;

/// The directions of a queen: steps in files and ranks.
const DIRECTIONS: [(i8, i8); 8] =
    [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// The squares next to each, [`u8::MAX`] beyond the edge.
static NEIGHBOURS: [[u8; 8]; 64] = neighbours();

const fn neighbours() -> [[u8; 8]; 64] {
    let mut all = [[u8::MAX; 8]; 64];
    let mut square: u8 = 0;
    while square < 64 {
        let mut direction = 0;
        while direction < 8 {
            let (x, y) = DIRECTIONS[direction];
            let file = (square % 8).checked_add_signed(x);
            let rank = (square / 8).checked_add_signed(y);
            if let (Some(file @ 0..8), Some(rank @ 0..8)) = (file, rank) {
                all[square as usize][direction] = rank * 8 + file;
            }
            direction += 1;
        }
        square += 1;
    }
    all
}

/// Facts about the position before a move that all its moves share.
pub(crate) struct Context<'a> {
    /// What rich words say of it.
    scene: &'a Scene<'a>,
    /// Combined with a square's number (exclusive or), it gives the square as the moving side sees
    /// it.
    flip: u32,
    squares: [Content; 64],
    /// The pieces, and their squares as the moving side sees them.
    pieces: Vec<(Content, u8)>,
    whole: u64,
    pawns: u64,
    own_pawns: u64,
    /// Pawns of each file.
    files: [u64; 8],
    /// The last one, two, three, four half-moves; 0 where the game is younger.
    last: [u64; 4],
    phase: u64,
    /// Moves that were legal at our last turns, the latest turn first.
    earlier: Vec<Vec<Signature>>,
    /// Boards that occurred since the last capture or pawn move, with us having moved.
    boards: Vec<&'a Board>,
    /// Our material less theirs in pawns, from 0 (three or more behind) to 6.
    balance: u64,
    /// Half-moves since the last capture or pawn move, in four classes.
    quiet: u64,
    /// See [`answer()`].
    answer: u64,
    /// The legal moves, each with the result of the captures after it, in pawns, for us.
    prospects: &'a [Prospect],
    outcomes: Vec<i32>,
    /// The best of them.
    best: i32,
    /// The same if we could pass.
    passed: i32,
    /// Our material less theirs, pawns.
    material: i32,
}

/// 0 the opening, 1 other positions, 2 and 3 with at most ten and six pieces.
pub(crate) fn phase(plies: usize, board: &Board) -> usize {
    match (plies, (board.occupied() & !board.pawns() & !board.kings()).count()) {
        (_, ..=4) => 3,
        (_, ..=8) => 2,
        (..24, _) => 0,
        _ => 1,
    }
}

/// What the opponent's last move was: 0 none, 1 quiet, 2 a capture, 3 a check.
pub(crate) fn answer(position: &Chess, past: &[Move]) -> u8 {
    match past.last() {
        Some(m) if m.is_capture() => 2,
        Some(_) if position.is_check() => 3,
        Some(_) => 1,
        None => 0,
    }
}

/// A move without its victim: piece, from, to, promotion.
type Signature = u32;

fn signature(m: Move) -> Signature {
    let from = m.from().map_or(64, u32::from);
    let promotion = m.promotion().map_or(0, u32::from);
    u32::from(m.role()) << 24 | from << 16 | u32::from(m.to()) << 8 | promotion
}

impl<'a> Context<'a> {
    /// A game's positions, the one now last, what that one looks like, all its legal moves, and the
    /// moves between the positions.
    pub(crate) fn new(
        positions: &'a [Chess],
        scene: &'a Scene<'a>,
        prospects: &'a [Prospect],
        moves: &[Move],
    ) -> Self {
        let (before, past) = positions.split_last().expect("the position now");
        assert_eq!(past.len(), moves.len(), "a move leads from each position to the next");
        let board = before.board();
        let us = before.turn();
        let flip = us.fold_wb(0, 56);
        let mut squares = [0; 64];
        let mut pieces = Vec::with_capacity(32);
        let (mut whole, mut pawns, mut own_pawns) = (START, START, START);
        let mut files = [0u64; 8];
        let balance = material(board, us) - material(board, us.other());
        for place in 0..64u32 {
            let square = Square::new(place ^ flip);
            let Some(piece) = board.piece_at(square) else { continue };
            let is_ours = piece.color == us;
            let what = u8::from(piece.role) + if is_ours { 0 } else { 6 };
            squares[place as usize] = what;
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            pieces.push((what, place as u8));
            let part = u64::from(what) << 8 | u64::from(place);
            whole = whole.with(part);
            if piece.role == Role::Pawn {
                pawns = pawns.with(part);
                if is_ours {
                    own_pawns = own_pawns.with(part);
                }
                let bit = 1u64 << place;
                let at = place as usize % 8;
                // Both colours in one number: pawns stand on 48 squares, six of a file.
                let mark = if is_ours { bit } else { bit.rotate_left(32).wrapping_mul(5) };
                files[at] = files[at].wrapping_add(mark.wrapping_mul(STEP));
            }
        }
        let rights = before.castles().castling_rights().0;
        let rights = us.fold_wb(rights, rights.swap_bytes());
        whole = whole.with(rights);
        let mut last = [0; 4];
        let mut key = START;
        for (number, m) in moves.iter().rev().take(4).enumerate() {
            key = key.with(half_move(*m, flip));
            last[number] = key.finish();
        }
        let mut earlier = Vec::with_capacity(3);
        let mut back = past.len();
        while back >= 2 && earlier.len() < 3 {
            back -= 2;
            let legal = past[back].legal_moves();
            earlier.push(legal.iter().map(|&m| signature(m)).collect());
        }
        let quiet = before.halfmoves() as usize;
        let boards = past.iter().rev().take(quiet).step_by(2).map(Position::board).collect();
        let phase = phase(moves.len(), board);
        let outcomes: Vec<i32> = prospects.iter().map(|p| -captures(&p.after)).collect();
        let best = outcomes.iter().copied().max().unwrap_or(0);
        let passed = captures_of_other(before).map_or(balance, |value| -value);
        Self {
            prospects,
            outcomes,
            best,
            passed,
            material: balance,
            scene,
            flip,
            squares,
            pieces,
            whole: whole.finish(),
            pawns: pawns.finish(),
            own_pawns: own_pawns.finish(),
            files,
            last,
            phase: phase as u64,
            earlier,
            boards,
            balance: u64::from(balance.clamp(-3, 3).cast_unsigned().wrapping_add(3)),
            quiet: match quiet {
                0..10 => 0,
                10..30 => 1,
                30..70 => 2,
                _ => 3,
            },
            answer: u64::from(answer(before, moves)),
        }
    }

    /// Appends the words for the legal move of this number.
    pub(crate) fn describe(&self, move_number: usize, out: &mut Words) {
        let prospect = &self.prospects[move_number];
        let m = prospect.m;
        let to = target(m);
        let from = m.from().unwrap_or(to);
        let seen = |square: Square| u64::from(u32::from(square) ^ self.flip);
        let piece = u64::from(m.role());
        let promotion = m.promotion().map_or(0, u64::from);
        let taken = m.capture().map_or(0, u64::from);
        let (there, here) = (seen(to), seen(from));
        let mut squares = self.squares;
        #[expect(clippy::cast_possible_truncation, reason = "squares are below 64")]
        {
            squares[here as usize] = 0;
            if let Some(side) = m.castling_side() {
                let rook = seen(Square::from_coords(side.rook_to_file(), to.rank()));
                squares[seen(m.to()) as usize] = 0;
                squares[rook as usize] = 4;
            }
            if m.is_en_passant() {
                squares[there as usize - 8] = 0;
            }
            squares[there as usize] = if promotion > 0 { promotion as u8 } else { piece as u8 };
        }
        let key = START.with(piece << 16 | here << 10 | there << 4 | promotion);
        let moved = Moved {
            context: self,
            value: self.outcomes[move_number],
            view: &prospect.view,
            m,
            to,
            from,
            after: &prospect.after,
            squares: &squares,
            piece,
            taken,
            there,
            here,
            key,
            short: START.with(piece << 16 | there << 4 | promotion),
        };
        moved.history(out);
        moved.surroundings(out);
        moved.offsets(out);
        moved.replies(out);
        moved.declined(out);
        moved.outcome(out);
    }
}

/// A half-move as the side sees it that is to move next.
fn half_move(m: Move, flip: u32) -> u64 {
    let seen = |square: Square| u64::from(u32::from(square) ^ flip);
    let from = m.from().map_or(0, seen);
    let taken = m.capture().map_or(0, u64::from);
    u64::from(m.role()) << 20 | from << 14 | seen(m.to()) << 8 | taken
}

/// One move with everything its words are made from.
struct Moved<'a> {
    context: &'a Context<'a>,
    /// What the captures after it come to.
    value: i32,
    /// What the board after it says.
    view: &'a View,
    m: Move,
    to: Square,
    from: Square,
    after: &'a Chess,
    /// What stands where after the move.
    squares: &'a [Content; 64],
    piece: u64,
    taken: u64,
    /// The squares as the mover sees them.
    there: u64,
    here: u64,
    /// The move: piece, from, to, promotion.
    key: Key,
    /// Piece, to, promotion.
    short: Key,
}

impl Moved<'_> {
    fn history(&self, out: &mut Words) {
        let c = self.context;
        push(out, b'A', self.key.with(c.whole));
        push(out, b'B', self.key.with(c.pawns));
        push(out, b'C', self.key.with(c.own_pawns));
        for (number, kind) in [(1, b'D'), (2, b'E'), (3, b'F')] {
            if c.last[number] != 0 {
                push(out, kind, self.key.with(c.last[number]));
            }
        }
        push(out, b'W', self.key.with(c.last[0]));
        if c.scene.plies < 60 {
            push(out, b'G', self.key.with(c.scene.plies as u64));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "squares are below 64")]
    fn around(squares: &[Content; 64], place: u64) -> u64 {
        let mut all = 0;
        for &next in &NEIGHBOURS[place as usize] {
            let what = if next == u8::MAX { BEYOND } else { squares[usize::from(next)] };
            all = all << 4 | u64::from(what);
        }
        all
    }

    /// The first piece on each of the eight rays.
    #[expect(clippy::cast_possible_truncation, reason = "squares are below 64")]
    fn rays(&self) -> u64 {
        let mut all = 0;
        for direction in 0..8 {
            let mut at = self.there as usize;
            let found = loop {
                let next = NEIGHBOURS[at][direction];
                if next == u8::MAX {
                    break BEYOND;
                }
                at = usize::from(next);
                if self.squares[at] != 0 {
                    break self.squares[at];
                }
            };
            all = all << 4 | u64::from(found);
        }
        all
    }

    /// Attackers of both sides by role, up to two each.
    fn attackers(&self, board: &Board, square: Square) -> (u64, bool) {
        let us = self.context.scene.us;
        let all = board.attacks_to(square, us, board.occupied())
            | board.attacks_to(square, us.other(), board.occupied());
        let mut counts = 0;
        for side in [us, us.other()] {
            let own = all & board.by_color(side);
            for role in Role::ALL {
                counts = counts << 2 | (own & board.by_role(role)).count().min(2) as u64;
            }
        }
        (counts, !(all & board.by_color(us.other())).is_empty())
    }

    fn surroundings(&self, out: &mut Words) {
        let c = self.context;
        let us = c.scene.us;
        let piece = START.with(self.piece << 4 | self.taken);
        push(out, b'H', piece.with(Self::around(self.squares, self.there)));
        push(out, b'I', START.with(self.piece).with(Self::around(&c.squares, self.here)));
        let board = self.after.board();
        let (counts, is_attacked) = self.attackers(board, self.to);
        push(out, b'J', piece.with(counts));
        let (before, _) = self.attackers(c.scene.before.board(), self.from);
        let was_attacked = c.scene.view.their_attacks.contains(self.to);
        push(out, b'K', piece.with(before).with(u64::from(was_attacked)));
        let reach = self.view.reach(self.to) & board.by_color(us.other());
        let guards = self.view.their_attacks;
        let mut attacked = 0;
        for role in Role::ALL {
            let own = reach & board.by_role(role);
            let guarded = (own & guards).count().min(3) as u64;
            let free = (own & !guards).count().min(3) as u64;
            attacked = attacked << 4 | guarded << 2 | free;
        }
        let is_guarded = !board.attacks_to(self.to, us, board.occupied()).is_empty();
        let state = u64::from(is_attacked) << 1 | u64::from(is_guarded);
        push(out, b'L', START.with(self.piece).with(attacked).with(state));
        let file = (self.there % 8) as usize;
        let beside = &c.files[file.saturating_sub(1)..=(file + 1).min(7)];
        let near = beside.iter().copied().fold(0, u64::wrapping_add);
        push(out, b'M', self.key.with(near));
        push(out, b'N', self.short.with(self.taken).with(c.files[file]));
        push(out, b'O', START.with(self.piece).with(self.rays()));
    }

    fn offsets(&self, out: &mut Words) {
        let c = self.context;
        let relative = |place: u8, from: u64| {
            let file = u64::from(place % 8) + 8 - from % 8;
            let rank = u64::from(place / 8) + 8 - from / 8;
            file << 4 | rank
        };
        for &(what, place) in &c.pieces {
            if u64::from(place) == self.here {
                continue;
            }
            let part = u64::from(what) << 16 | self.piece << 12;
            push(out, b'Q', START.with(part << 8 | relative(place, self.here)));
            if self.squares[usize::from(place)] == what && u64::from(place) != self.there {
                push(out, b'P', START.with(part << 8 | relative(place, self.there)));
            }
        }
    }

    fn replies(&self, out: &mut Words) {
        let is_check = self.after.is_check();
        let (count, mates) = checks(self.after);
        push(out, b'R', START.with(u64::from(mates) << 1 | u64::from(is_check)));
        push(out, b'S', START.with(self.piece << 4 | count.min(6)));
    }

    fn outcome(&self, out: &mut Words) {
        let c = self.context;
        let value = self.value;
        let part = |n: i32, most: i32| u64::from(n.clamp(-most, most).cast_unsigned());
        let less = part(c.best - value, 9);
        let gain = part(value - c.material, 9);
        let threat = part(c.passed - c.material, 9);
        let opponent_passes = captures_of_other(self.after).unwrap_or(value);
        let more = part(opponent_passes - value, 9);
        push(out, b'1', START.with(self.piece << 4 | self.taken).with(more).with(less));
        push(out, b'2', START.with(more).with(part(c.best - c.material, 9)).with(gain));
        push(out, b'X', START.with(self.piece << 4 | self.taken).with(less).with(gain));
        push(out, b'Y', START.with(gain).with(threat).with(c.phase));
        push(out, b'Z', START.with(less).with(part(c.best - c.material, 9)).with(c.phase));
    }

    fn declined(&self, out: &mut Words) {
        let c = self.context;
        let own = signature(self.m);
        let count = c.earlier.iter().take_while(|moves| moves.contains(&own)).count() as u64;
        let turns = c.earlier.len() as u64;
        push(out, b'T', self.key.with(count << 2 | turns));
        let recaptures = u64::from(c.scene.last.map(target) == Some(self.to));
        let kind = self.piece << 12 | self.taken << 8 | c.answer << 5 | recaptures << 4;
        push(out, b'U', START.with(kind | count << 2 | turns).with(c.phase));
        let board = self.after.board();
        let seen = c.boards.iter().filter(|&&earlier| earlier == board).count() as u64;
        if seen > 0 || c.quiet > 0 {
            let part = seen.min(2) << 8 | c.balance << 5 | c.quiet << 3 | self.piece;
            push(out, b'V', START.with(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::words;

    fn kind(words: &[String], kind: &str) -> Vec<String> {
        words.iter().filter(|word| word.starts_with(kind)).cloned().collect()
    }

    #[test]
    fn words_are_short_and_distinct() {
        let mut all = words("e4 e5 Nf3 Nc6 Bb5 a6", "Ba4");
        all.retain(|word| !word.starts_with(|c: char| c.is_ascii_lowercase()));
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        // 31 other pieces seen from either square, less none taken.
        assert_eq!((kind(&all, "P").len(), kind(&all, "Q").len()), (31, 31));
        for word in &all {
            assert!(word.len() == 6 && word.bytes().all(|b| b.is_ascii_graphic()), "{word}");
        }
    }

    #[test]
    fn both_colours_are_described_alike() {
        // The same position with colours changed, a move later.
        let white = words("e3 e5 Nf3 Nc6", "d4");
        let black = words("a3 e6 e4 Nf6 Nc3", "d5");
        for same in ["H", "J", "X", "Y", "1", "sb", "pf"] {
            assert_eq!(kind(&white, same), kind(&black, same), "{same}");
        }
        for other in ["A", "sm"] {
            assert_ne!(kind(&white, other), kind(&black, other), "{other}");
        }
    }

    #[test]
    fn words_differ_by_what_came_before() {
        let one = words("e4 e5 Nf3 Nc6", "Bb5");
        let other = words("Nf3 Nc6 e4 e5", "Bb5");
        // The position is the same, the way to it is not.
        assert_eq!(kind(&one, "A"), kind(&other, "A"));
        assert_ne!(kind(&one, "D"), kind(&other, "D"));
        // A move that could have been played the turn before, and one that could not.
        let offered = words("e4 e5 Bc4 Nc6", "Nf3");
        let fresh = words("e4 e5 Nc3 Nc6", "Nd5");
        assert_ne!(kind(&offered, "T"), kind(&fresh, "T"));
        // The position after the move occurred before.
        assert!(kind(&words("Nf3 Nf6 Ng1", "Ng8"), "V").len() == 1);
        assert!(kind(&words("Nf3 Nf6 Ng1", "Nc6"), "V").is_empty());
    }
}
