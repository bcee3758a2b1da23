// SPDX-License-Identifier: GPL-3.0-or-later
//! Bytes of PGN files to raw games: tags and movetext words, not yet understood as chess.
//!
//! One pass over any [`BufRead`], a byte at a time through a small state machine, so memory does
//! not grow with the file and hostile input takes linear time. Comments, variations, annotation
//! glyphs and escape lines vanish here; what is left are the words of the main line. Specification:
//! spec chess 2.3.

use std::io::{self, BufRead};

use crate::signs;

/// Longest movetext kept of one game, bytes of words. The longest game ever played needs less than
/// 4 kB.
const MAX_MOVETEXT: usize = 1 << 16;
/// Longest tag value and movetext word kept, bytes; the rest is dropped.
const MAX_VALUE: usize = 1 << 10;

/// One game as it stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawGame {
    /// Tags in file order, values with escapes resolved; bytes above 127 as they came.
    pub tags: Vec<(Vec<u8>, Vec<u8>)>,
    /// The words of the main line: half-moves, move numbers already gone.
    pub words: Vec<Vec<u8>>,
    /// Bytes of these words.
    size: usize,
    /// The terminator as it is written, such as `1-0` or `½-½`, if the text has one.
    pub terminator: Option<Vec<u8>>,
    /// Why the movetext cannot be trusted, if so.
    pub damage: Option<&'static str>,
}

impl RawGame {
    /// The value of the first tag of that name.
    pub fn tag(&self, name: &str) -> Option<&[u8]> {
        self.tags.iter().find(|(n, _)| n == name.as_bytes()).map(|(_, v)| v.as_slice())
    }

    fn is_blank(&self) -> bool {
        self.tags.is_empty() && !self.has_movetext()
    }

    fn has_movetext(&self) -> bool {
        !self.words.is_empty() || self.terminator.is_some() || self.damage.is_some()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Word,
    /// After `(` glued to a word that ends in a rank: a promotion `(Q)` or a variation.
    Parenthesis,
    /// After `(Q`.
    PromotionPiece(u8),
    Glyph,
    Brace,
    LineComment,
    TagName,
    TagGap,
    TagValue,
    TagEscape,
    TagEnd,
}

/// Reads games one after the other.
#[derive(Debug)]
pub struct Games<R> {
    input: io::Bytes<R>,
    machine: Machine,
}

/// What is known of the game that is being read.
#[derive(Debug, Default)]
struct Machine {
    state: State,
    depth: usize,
    at_line_start: bool,
    seen: usize,
    word: Vec<u8>,
    name: Vec<u8>,
    value: Vec<u8>,
    /// How many bytes of `[Event "` were seen since the line's start, to recover from an unclosed
    /// comment.
    event_prefix: usize,
    /// A tag that already belongs to the next game.
    held_tag: Option<(Vec<u8>, Vec<u8>)>,
}

const EVENT: &[u8] = b"[Event \"";

impl<R: BufRead> Games<R> {
    /// Starts at the input's beginning; a UTF-8 byte-order mark is skipped.
    pub fn new(input: R) -> Self {
        let machine = Machine { at_line_start: true, ..Machine::default() };
        Self { input: input.bytes(), machine }
    }
}

impl<R: BufRead> Iterator for Games<R> {
    type Item = io::Result<RawGame>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut game = RawGame {
            tags: self.machine.held_tag.take().into_iter().collect(),
            ..RawGame::default()
        };
        for byte in &mut self.input {
            match byte {
                Ok(byte) if !self.machine.step(byte, &mut game) => {}
                complete => return Some(complete.map(|_| game)),
            }
        }
        self.machine.end(&mut game);
        (!game.is_blank()).then_some(Ok(game))
    }
}

impl Machine {
    /// The input has ended.
    fn end(&mut self, game: &mut RawGame) {
        match self.state {
            State::Word => {
                accept_word(&self.word, game);
            }
            State::Between if self.depth == 0 => {}
            _ if game.has_movetext() && self.state == State::Brace || self.depth > 0 => {
                game.damage.get_or_insert("comment or variation without end");
            }
            _ => {}
        }
        (self.state, self.depth) = (State::Between, 0);
    }

    /// Takes one byte; `true` when it completes the game.
    fn step(&mut self, byte: u8, game: &mut RawGame) -> bool {
        if self.seen < 3 {
            let mark = [0xef, 0xbb, 0xbf][self.seen];
            if byte == mark {
                self.seen += 1;
                return false;
            }
            self.seen = 3;
        }
        let line_start = std::mem::replace(&mut self.at_line_start, matches!(byte, b'\n' | b'\r'));
        let line_end = self.at_line_start;
        if line_start {
            self.event_prefix = 0;
        }
        let goes_on = line_start || self.event_prefix > 0;
        self.event_prefix = match EVENT.get(self.event_prefix) {
            Some(&next) if goes_on && byte == next => self.event_prefix + 1,
            _ => usize::MAX,
        };
        if self.event_prefix == EVENT.len()
            && (self.state == State::Brace || (self.depth > 0 && self.state != State::LineComment))
        {
            // A new game begins inside what claims to be a comment: the comment was never closed.
            game.damage.get_or_insert("comment or variation without end");
            self.depth = 0;
            self.name.clear();
            self.name.extend_from_slice(b"Event");
            self.value.clear();
            self.state = State::TagValue;
            return false;
        }
        match self.state {
            State::Between => self.between(byte, line_start, game),
            State::Word => self.in_word(byte, game),
            State::Parenthesis if byte.is_ascii_alphabetic() => {
                self.enter(State::PromotionPiece(byte))
            }
            State::PromotionPiece(piece) if byte == b')' => {
                self.word.extend_from_slice(&[b'=', piece.to_ascii_uppercase()]);
                self.enter(State::Word)
            }
            State::Parenthesis | State::PromotionPiece(_) => {
                self.open_variation(game);
                self.between(byte, line_start, game)
            }
            State::Glyph if byte.is_ascii_digit() => false,
            State::Glyph => {
                self.state = State::Between;
                self.between(byte, line_start, game)
            }
            State::Brace => self.leave(byte == b'}'),
            State::LineComment => self.leave(line_end),
            State::TagEnd => self.leave(byte == b']' || line_end),
            State::TagName | State::TagGap => {
                match byte {
                    b'"' => self.state = State::TagValue,
                    b']' | b'\n' | b'\r' => self.state = State::Between,
                    _ if self.state == State::TagGap => {}
                    b' ' | b'\t' if self.name.is_empty() => {}
                    b' ' | b'\t' => self.state = State::TagGap,
                    _ if self.name.len() < MAX_VALUE => self.name.push(byte),
                    _ => {}
                }
                false
            }
            State::TagValue => match byte {
                b'"' => {
                    self.state = State::TagEnd;
                    self.end_tag(game)
                }
                b'\n' | b'\r' => {
                    self.state = State::Between;
                    self.end_tag(game)
                }
                b'\\' => self.enter(State::TagEscape),
                _ => self.push_value(byte),
            },
            State::TagEscape if line_end => {
                self.push_value(b'\\');
                self.state = State::Between;
                self.end_tag(game)
            }
            State::TagEscape => {
                if !matches!(byte, b'"' | b'\\') {
                    self.push_value(b'\\');
                }
                self.push_value(byte);
                self.enter(State::TagValue)
            }
        }
    }

    fn push_value(&mut self, byte: u8) -> bool {
        if self.value.len() < MAX_VALUE {
            self.value.push(byte);
        }
        false
    }

    /// Goes on within the same game.
    const fn enter(&mut self, state: State) -> bool {
        self.state = state;
        false
    }

    /// The same, between words if what was entered ends here.
    const fn leave(&mut self, ends: bool) -> bool {
        if ends {
            self.state = State::Between;
        }
        false
    }

    fn between(&mut self, byte: u8, line_start: bool, game: &mut RawGame) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' | b'}' | b']' | b'<' | b'>' | b'.' => {
                false
            }
            b'{' => self.enter(State::Brace),
            b'%' if line_start => self.enter(State::LineComment),
            b';' => self.enter(State::LineComment),
            b'$' => self.enter(State::Glyph),
            b'(' => {
                self.depth += 1;
                false
            }
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                false
            }
            b'[' if self.depth == 0 => {
                self.name.clear();
                self.value.clear();
                self.enter(State::TagName)
            }
            b'*' => {
                if self.depth == 0 && !game.is_blank() {
                    game.terminator = Some(b"*".to_vec());
                    return true;
                }
                false
            }
            _ => {
                if self.depth == 0 {
                    self.word.clear();
                    self.word.push(byte);
                    self.state = State::Word;
                }
                false
            }
        }
    }

    fn in_word(&mut self, byte: u8, game: &mut RawGame) -> bool {
        match byte {
            b'.' if self.word.iter().all(u8::is_ascii_digit) => {
                // A move number: its dots are eaten between words.
                self.word.clear();
                self.enter(State::Between)
            }
            b'(' if ends_on_last_rank(&self.word) => self.enter(State::Parenthesis),
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' | b'{' | b'}' | b'(' | b')' | b';'
            | b'[' | b']' | b'$' | b'<' | b'>' | b'*' => {
                self.state = State::Between;
                let ended = accept_word(&self.word, game);
                self.word.clear();
                let byte_ends = self.between(byte, false, game);
                ended || byte_ends
            }
            _ => {
                if self.word.len() < MAX_VALUE {
                    self.word.push(byte);
                }
                false
            }
        }
    }

    fn open_variation(&mut self, game: &mut RawGame) {
        accept_word(&self.word, game);
        self.word.clear();
        self.depth += 1;
        self.state = State::Between;
    }

    /// Files the tag; `true` when it opens the next game.
    fn end_tag(&mut self, game: &mut RawGame) -> bool {
        let tag = (std::mem::take(&mut self.name), std::mem::take(&mut self.value));
        let is_next = game.has_movetext() || (tag.0 == b"Event" && game.tag("Event").is_some());
        if is_next {
            self.held_tag = Some(tag);
        } else if game.tags.len() < 256 {
            game.tags.push(tag);
        }
        is_next
    }
}

fn ends_on_last_rank(word: &[u8]) -> bool {
    matches!(word, [.., b'a'..=b'h', b'1' | b'8'])
}

/// Adds a word of the main line to the game; `true` when it is the terminator.
fn accept_word(word: &[u8], game: &mut RawGame) -> bool {
    if word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'!' | b'?')) {
        return false; // move number without dots, lone suffix
    }
    if matches!(word, b"e.p." | b"ep" | b"e.p" | b"ep.") {
        if let Some(last) = game.words.last_mut() {
            last.extend_from_slice(b"e.p.");
        }
        return false;
    }
    if signs::read_result(word).is_some() {
        game.terminator = Some(word.to_vec());
        return true;
    }
    if game.size + word.len() > MAX_MOVETEXT {
        game.damage.get_or_insert("too many moves");
    } else {
        game.size += word.len();
        game.words.push(word.to_vec());
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String, usize, bool)> {
        let row = |game: io::Result<RawGame>| {
            let game = game.expect("memory does not fail");
            let words: Vec<_> =
                game.words.iter().map(|word| String::from_utf8_lossy(word)).collect();
            let end = game.terminator.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            (words.join(" "), end.into_owned(), game.tags.len(), game.damage.is_some())
        };
        Games::new(text.as_bytes()).map(row).collect()
    }

    #[test]
    fn an_escape_does_not_take_the_end_of_a_line() {
        let text = "[Site \"a\\\n[White \"w\"]\n\n1. e4 *\n";
        let game = Games::new(text.as_bytes()).next().expect("a game").expect("memory");
        assert_eq!(game.tag("Site"), Some(&b"a\\"[..]));
        assert_eq!(game.tag("White"), Some(&b"w"[..]));
    }

    #[test]
    fn movetext_words_survive_decoration() {
        let rows: &[(&str, &str, &str)] = &[
            ("1. e4 e5 1-0", "e4 e5", "1-0"),
            ("1.e4 1...e5 *", "e4 e5", "*"),
            (
                "\u{feff}1. e4 {(} e5 {a ( b} 2. Nf3 (2. f4 (2. d4 d5) exf4) Nc6 1/2-1/2",
                "e4 e5 Nf3 Nc6",
                "1/2-1/2",
            ),
            ("1. e4 $1 e5$2 2. Nf3!? ; rest (\nNc6 0-1", "e4 e5 Nf3!? Nc6", "0-1"),
            ("% escape 1. d4\n1. e4 % e5\n1-0", "e4 % e5", "1-0"),
            ("1. e8(Q) e1(n) Re8(Rd8) 1-0", "e8=Q e1=N Re8", "1-0"),
            ("1. exd6 e.p. Kf7 1-0", "exd6e.p. Kf7", "1-0"),
            ("1. e4 = e5 ± 2. Nf3 ½-½", "e4 = e5 ± Nf3", "½-½"),
            ("1. e8(D) 1:0", "e8=D", "1:0"),
            ("1. e4 e5", "e4 e5", ""),
            ("1 e4 e5 !? 2 Nf3 1-0", "e4 e5 Nf3", "1-0"),
            ("1. e4{c}e5(1... c5)2. Nf3 1-0", "e4 e5 Nf3", "1-0"),
        ];
        for (text, words, end) in rows {
            for text in [(*text).to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
                assert_eq!(
                    read(&text),
                    [((*words).to_owned(), (*end).to_owned(), 0, false)],
                    "{text:?}"
                );
            }
        }
    }

    #[test]
    fn games_end_at_terminator_or_next_tag() {
        let text = "[Event \"a\"]\n[Result \"1-0\"]\n1. e4\n[Event \"b\"]\n\n1. d4 1-0\n1. c4 *\n\
                    [Event \"c\"]\n[Event \"d\"]\n";
        let games = read(text);
        let words: Vec<&str> = games.iter().map(|g| g.0.as_str()).collect();
        assert_eq!(words, ["e4", "d4", "c4", "", ""]);
        assert_eq!(games.iter().map(|g| g.2).collect::<Vec<_>>(), [2, 1, 0, 1, 1]);
    }

    #[test]
    fn unclosed_comment_damages_one_game_only() {
        let text = "[Event \"a\"]\n\n1. e4 { no end\n[Event \"b\"]\n\n1. d4 (1. c4\n[Event \
                    \"c\"]\n\n1. f4 1-0\n";
        let games = read(text);
        assert_eq!(games.iter().map(|g| g.3).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(games[2].0, "f4");
    }

    #[test]
    fn tag_values_keep_quotes_and_bytes() {
        let text = b"[White \"a \\\"b\\\" J\xe9r\"]\n\n1. e4 1-0";
        let game = Games::new(&text[..]).next().expect("a game").expect("memory does not fail");
        assert_eq!(game.tag("White"), Some(&b"a \"b\" J\xe9r"[..]));
    }

    #[test]
    fn endless_movetext_is_bounded() {
        let text = "e4 ".repeat(100_000);
        let games = read(&text);
        assert_eq!(games.len(), 1);
        assert!(games[0].3 && games[0].0.len() < 2 * MAX_MOVETEXT);
    }
}
