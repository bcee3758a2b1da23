// SPDX-License-Identifier: GPL-3.0-or-later
//! Describes a legal move by a short document: words that say what the move does (spec chess 9.3,
//! appendix A).
//!
//! The words are defined by a template, a text with one word a line and `{symbols}` in it, so that
//! they can be changed without changing code.

use anyhow::{Context as _, Result, bail};
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Role, Square, san::San};

/// The words of appendix A.
const EIGHT_WORDS: &str = include_str!("../../templates/eight-words.txt");

/// What a template can say about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Piece,
    Taken,
    AttackedFrom,
    AttackedTo,
    GuardedFrom,
    GuardedTo,
    Phase,
    From,
    To,
    Hanging,
    Threat,
    Check,
    Mate,
    Special,
}

const SYMBOLS: &[(&str, Symbol)] = &[
    ("piece", Symbol::Piece),
    ("taken", Symbol::Taken),
    ("attacked-from", Symbol::AttackedFrom),
    ("attacked-to", Symbol::AttackedTo),
    ("guarded-from", Symbol::GuardedFrom),
    ("guarded-to", Symbol::GuardedTo),
    ("phase", Symbol::Phase),
    ("from", Symbol::From),
    ("to", Symbol::To),
    ("hanging", Symbol::Hanging),
    ("threat", Symbol::Threat),
    ("check", Symbol::Check),
    ("mate", Symbol::Mate),
    ("special", Symbol::Special),
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Symbol(Symbol),
}

/// The list of words that describe a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    name: String,
    fingerprint: u64,
    parts: Vec<Part>,
}

impl Default for Template {
    fn default() -> Self {
        Self::parse(EIGHT_WORDS).expect("the built-in template is good")
    }
}

impl Template {
    /// Reads a template: one word a line, `{symbol}` for what depends on the move, `#` before
    /// remarks, one of which must be `# name: NAME`.
    ///
    /// # Errors
    ///
    /// An unknown symbol, a brace without partner, no name or no word.
    pub fn parse(text: &str) -> Result<Self> {
        let mut name = None;
        let mut parts = Vec::new();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
            if let Some(remark) = line.strip_prefix('#') {
                if let Some(value) = remark.trim().strip_prefix("name:") {
                    name = Some(value.trim().to_owned());
                }
                continue;
            }
            if line.contains(char::is_whitespace) {
                bail!("template: more than one word in the line {line:?}");
            }
            let space = if parts.is_empty() { "" } else { " " };
            let mut rest = line;
            let mut text = space.to_owned();
            while let Some(open) = rest.find('{') {
                text.push_str(&rest[..open]);
                let (symbol, after) = rest[open + 1..]
                    .split_once('}')
                    .with_context(|| format!("template: no }} in {line:?}"))?;
                let known = SYMBOLS.iter().find(|(n, _)| *n == symbol);
                let (_, symbol) =
                    known.with_context(|| format!("template: unknown symbol {{{symbol}}}"))?;
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Symbol(*symbol));
                rest = after;
            }
            text.push_str(rest);
            parts.push(Part::Text(text));
        }
        if parts.is_empty() {
            bail!("template: no words");
        }
        let name = name.context("template: no line '# name: NAME'")?;
        Ok(Self { name, fingerprint: fingerprint(&parts), parts })
    }

    /// The name given in the template's text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name and a hash of the words, as recorded beside the models: two templates with the same one
    /// are the same.
    pub fn identity(&self) -> String {
        format!("{} {:016x}", self.name, self.fingerprint)
    }

    /// Appends the description of a legal move; `plies` half-moves were played before it.
    pub fn describe(&self, before: &Chess, m: Move, plies: usize, out: &mut String) {
        let facts = Facts::new(before, m, plies);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Symbol(symbol) => facts.write(*symbol, out),
            }
        }
    }
}

fn fingerprint(parts: &[Part]) -> u64 {
    // FNV-1a, 64 bits: stable across releases and machines.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in format!("{parts:?}").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// Pieces grouped by value, cheapest first.
const CLASSES: [(Role, char); 6] = [
    (Role::Pawn, 'p'),
    (Role::Knight, 'm'),
    (Role::Bishop, 'm'),
    (Role::Rook, 'r'),
    (Role::Queen, 'q'),
    (Role::King, 'k'),
];

/// A piece's worth in pawns, as the descriptions and the material balance count it.
pub const fn value(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// The cheapest piece of `side` that attacks the square, pins ignored.
fn cheapest_attacker(board: &Board, square: Square, side: Color) -> Option<(Role, char)> {
    let attackers = board.attacks_to(square, side, board.occupied());
    CLASSES.into_iter().find(|(role, _)| !(attackers & board.by_role(*role)).is_empty())
}

/// The dearest class among the pieces on these squares, `0` for none.
fn dearest(board: &Board, squares: Bitboard) -> char {
    let found = CLASSES.iter().rev().find(|(role, _)| !(squares & board.by_role(*role)).is_empty());
    found.map_or('0', |(_, class)| *class)
}

/// Facts about one move, for all symbols of a template.
struct Facts<'a> {
    before: &'a Chess,
    after: Chess,
    m: Move,
    from: Square,
    to: Square,
    plies: usize,
}

impl<'a> Facts<'a> {
    fn new(before: &'a Chess, m: Move, plies: usize) -> Self {
        let mut after = before.clone();
        after.play_unchecked(m);
        let from = m.from().unwrap_or(m.to());
        // Castling is described as the king's move.
        let to = m
            .castling_side()
            .map_or(m.to(), |side| Square::from_coords(side.king_to_file(), from.rank()));
        Self { before, after, m, from, to, plies }
    }

    fn us(&self) -> Color {
        self.before.turn()
    }

    fn write(&self, symbol: Symbol, out: &mut String) {
        let (before, after) = (self.before.board(), self.after.board());
        let (us, them) = (self.us(), self.us().other());
        let class =
            |board, square| cheapest_attacker(board, square, them).map_or('0', |(_, class)| class);
        let guard = |board: &Board, square| {
            if board.attacks_to(square, us, board.occupied()).is_empty() { '-' } else { 'd' }
        };
        match symbol {
            Symbol::Piece => out.push(self.m.role().upper_char()),
            Symbol::Taken => out.push(self.m.capture().map_or('-', Role::upper_char)),
            Symbol::AttackedFrom => out.push(class(before, self.from)),
            Symbol::AttackedTo => out.push(class(after, self.to)),
            Symbol::GuardedFrom => out.push(guard(before, self.from)),
            Symbol::GuardedTo => out.push(guard(after, self.to)),
            Symbol::Phase => out.push(match self.plies {
                0..24 => 'o',
                24..70 => 'm',
                _ => 'e',
            }),
            Symbol::From => out.push_str(square_name(self.from, &mut [0; 2])),
            Symbol::To => out.push_str(square_name(self.to, &mut [0; 2])),
            Symbol::Hanging => out.push(self.hanging()),
            Symbol::Threat => {
                out.push(dearest(after, after.attacks_from(self.to) & after.by_color(them)));
            }
            Symbol::Check => out.push(if self.after.is_check() { '+' } else { '-' }),
            Symbol::Mate => {
                out.push(if self.after.is_check() { '+' } else { '-' });
                if self.after.is_checkmate() {
                    out.push('#');
                }
            }
            Symbol::Special => {
                if self.m.is_castle() || self.m.is_promotion() {
                    San::from_move(self.before, self.m).append_to_string(out);
                } else {
                    out.push('-');
                }
            }
        }
    }

    /// The dearest of our pieces, but pawns, king and the one that moved, that stands to be lost
    /// after the move.
    fn hanging(&self) -> char {
        let board = self.after.board();
        let (us, them) = (self.us(), self.us().other());
        let mut pieces = board.by_color(us) & !board.pawns() & !board.kings();
        pieces.discard(self.to);
        let mut lost = Bitboard::EMPTY;
        for square in pieces {
            let Some((attacker, _)) = cheapest_attacker(board, square, them) else { continue };
            let worth = board.role_at(square).map_or(0, value);
            if value(attacker) < worth || board.attacks_to(square, us, board.occupied()).is_empty()
            {
                lost.add(square);
            }
        }
        dearest(board, lost)
    }
}

fn square_name(square: Square, name: &mut [u8; 2]) -> &str {
    *name = [square.file().char() as u8, square.rank().char() as u8];
    std::str::from_utf8(name).expect("square names are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::notation;

    #[test]
    fn appendix_example() {
        let mut position = Chess::default();
        let d4 = notation::read_move(&position, b"d4").expect("legal");
        position.play_unchecked(d4);
        let m = notation::read_move(&position, b"Nf6").expect("legal");
        let mut out = String::new();
        Template::default().describe(&position, m, 1, &mut out);
        assert_eq!(out, "xN-0d fN0d- toNf6 gNg8f6 h0-- aN00 k-N c-");
    }

    #[test]
    fn templates_are_checked() {
        for bad in [
            "# name: a",
            "x{piece}",
            "# name: a\nx{nothing}",
            "# name: a\nx{piece",
            "# name: a\nx y",
        ] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
        let one = Template::parse("# name: a\n{piece}{to}\n").expect("good");
        let other = Template::parse("# name: a\n{piece}\n{to}\n").expect("good");
        assert_ne!(one.identity(), other.identity());
        assert_eq!(other.name(), "a");
    }
}
