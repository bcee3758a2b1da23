// SPDX-License-Identifier: GPL-3.0-or-later
//! Line cutting (spec text 1.3): room limits, zero bytes, missing final newlines.

use std::io::{self, Read};

/// Room for a line at the start of a run, bytes.
const FIRST_ROOM: usize = 4096;

/// Where zero bytes stay, longer lines come in pieces, so that memory does not grow with the line.
/// Only the last piece has a line end.
const LONGEST_PIECE: usize = 1 << 20;

/// Bytes read at a time.
const BLOCK: usize = 1 << 16;

/// Bytes of the first block. Most messages are shorter.
const FIRST: usize = 1 << 13;

/// A byte stream in blocks.
pub(crate) struct Stream<'a> {
    source: Box<dyn Read + 'a>,
    block: Vec<u8>,
    from: usize,
    to: usize,
    /// Whether the block holds zero bytes.
    has_nul: bool,
    /// Bytes before `from`, since the beginning.
    position: u64,
    ended: bool,
    error: Option<io::Error>,
}

impl<'a> Stream<'a> {
    /// The stream of `source`.
    pub(crate) fn new(source: Box<dyn Read + 'a>) -> Self {
        Self::reusing(Vec::new(), source)
    }

    /// The same, with the memory of an earlier stream ([`Self::into_block`]).
    pub(crate) fn reusing(mut block: Vec<u8>, source: Box<dyn Read + 'a>) -> Self {
        if block.is_empty() {
            block = vec![0; FIRST];
        }
        Self {
            source,
            block,
            from: 0,
            to: 0,
            has_nul: false,
            position: 0,
            ended: false,
            error: None,
        }
    }

    /// Memory that a later stream can use.
    pub(crate) fn into_block(self) -> Vec<u8> {
        self.block
    }

    /// Why reading ended, if it was an error.
    pub(crate) fn error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Bytes taken out so far: the offset of what comes next.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// The bytes at hand; reads more when there are none. Empty at the end.
    fn available(&mut self) -> &[u8] {
        while self.from == self.to && !self.ended {
            if self.to == self.block.len() && self.to < BLOCK {
                self.block = vec![0; BLOCK];
            }
            match self.source.read(&mut self.block) {
                Ok(0) => self.ended = true,
                Ok(length) => {
                    (self.from, self.to) = (0, length);
                    self.has_nul = memchr::memchr(0, &self.block[..length]).is_some();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
        }
        &self.block[self.from..self.to]
    }
}

#[derive(Default)]
struct Chunk {
    read: usize,
    visible: usize,
    wanted_more: bool,
}

/// What a zero byte does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nul {
    /// It hides the rest of its chunk, as in dbacl 1.14.1.
    Hides,
    /// It becomes a blank.
    Blank,
    /// It stays.
    Stays,
}

/// Cuts lines; lives for the whole run, because the room for a line never shrinks.
#[derive(Debug, Clone)]
pub(crate) struct LineReader {
    /// Room for a line, bytes: a power of two.
    pub room: usize,
    /// What a zero byte does.
    pub nul: Nul,
    /// The most bytes of a line that are kept beside its end, so that memory does not grow with it.
    pub longest: usize,
    /// Whether a line read so far could have been cut in another way by a reader that had met
    /// longer lines before.
    pub depends_on_room: bool,
    /// What a zero byte hides of the line read last, if it directly follows a `<`.
    pub hidden: Vec<u8>,
}

impl Default for LineReader {
    fn default() -> Self {
        Self {
            room: FIRST_ROOM,
            nul: Nul::Hides,
            longest: usize::MAX,
            depends_on_room: false,
            hidden: Vec::new(),
        }
    }
}

impl LineReader {
    /// Reads the next line, with its end, into `line`; returns whether it was the input's last,
    /// which may be empty.
    ///
    /// A chunk that fills the room is continued by the next, in doubled room; as in the reference a
    /// line of exactly the room's length, newline included, is joined with the line after it
    /// (case text/read-joined-lines).
    pub(crate) fn next_line(&mut self, stream: &mut Stream<'_>, line: &mut Vec<u8>) -> bool {
        line.clear();
        self.hidden.clear();
        let mut limit = self.room;
        let mut ended = false;
        let mut read = 0;
        loop {
            let in_pieces = self.nul == Nul::Stays;
            let most = if in_pieces { LONGEST_PIECE - line.len() } else { usize::MAX };
            let most = most.min(limit - 1);
            let chunk = self.chunk(stream, most, line);
            ended |= chunk.wanted_more;
            read += chunk.read;
            if in_pieces && line.len() == LONGEST_PIECE {
                return ended;
            }
            if chunk.read == limit - 1 {
                self.depends_on_room |= chunk.visible < chunk.read;
            } else if read >= FIRST_ROOM - 1 {
                // A line end within the line shows that it was joined.
                let is_joined =
                    memchr::memchr(b'\n', &line[..line.len().saturating_sub(1)]).is_some();
                self.depends_on_room |= is_near_a_room(read) || is_joined;
            }
            if chunk.visible < limit - 1 || chunk.read == 0 {
                return ended;
            }
            limit = self.room;
            self.room *= 2;
        }
    }

    /// Appends one chunk to `line`: bytes up to and including a newline, at most `limit`, as far as
    /// they stand before the first zero byte, or all of them, as [`Self::nul`] says. What would
    /// make `line` longer than [`Self::longest`] is left out, but for a line end. Returns how many
    /// bytes were read, how many of them are visible, and whether more bytes were wanted and there
    /// were none.
    fn chunk(&mut self, stream: &mut Stream<'_>, limit: usize, line: &mut Vec<u8>) -> Chunk {
        let mut chunk = Chunk::default();
        let mut is_cut = false;
        let start = line.len();
        while chunk.read < limit {
            if stream.available().is_empty() {
                chunk.wanted_more = true;
                break;
            }
            let available = &stream.block[stream.from..stream.to];
            let window = &available[..available.len().min(limit - chunk.read)];
            let newline = memchr::memchr(b'\n', window);
            let piece = &window[..newline.map_or(window.len(), |at| at + 1)];
            if is_cut {
                self.hide(line, piece);
            } else {
                let looks = stream.has_nul && self.nul == Nul::Hides;
                let nul = if looks { memchr::memchr(0, piece) } else { None };
                let visible = &piece[..nul.unwrap_or(piece.len())];
                let kept = visible.len().min(self.longest.saturating_sub(line.len()));
                line.extend_from_slice(&visible[..kept]);
                if kept < visible.len() && visible.ends_with(b"\n") {
                    line.push(b'\n');
                }
                chunk.visible += visible.len();
                if let Some(at) = nul {
                    is_cut = true;
                    self.hide(line, &piece[at + 1..]);
                }
            }
            let taken = piece.len();
            chunk.read += taken;
            stream.from += taken;
            stream.position += taken as u64;
            if newline.is_some() {
                break;
            }
        }
        if self.nul == Nul::Blank {
            let mut rest = &mut line[start..];
            while let Some(at) = memchr::memchr(0, rest) {
                rest[at] = b' ';
                rest = &mut rest[at + 1..];
            }
        }
        chunk
    }

    /// Takes what follows the zero byte that ended `line`.
    fn hide(&mut self, line: &[u8], bytes: &[u8]) {
        if line.ends_with(b"<") {
            self.hidden.extend_from_slice(bytes);
        }
    }
}

/// Whether a line of `length` bytes would just fill the chunks of some room. A reader with room for
/// `r` bytes takes `r - 1`, `r - 1`, `2r - 1`, `4r - 1`, … bytes at a time: together that is a
/// power of two, less a few.
fn is_near_a_room(length: usize) -> bool {
    let power = (length + 1).next_power_of_two();
    power - length <= (power.ilog2() - FIRST_ROOM.ilog2() + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_depend_on_the_room_are_noticed() {
        for length in (4000..4200).chain(8000..8300).chain(16300..16500).chain(32700..32800) {
            let line = [vec![b'x'; length - 1], vec![b'\n']].concat();
            let input = [line, b"next\n".to_vec()].concat();
            let cut = |room: usize| {
                let mut stream = Stream::new(Box::new(input.as_slice()));
                let mut reader = LineReader { room, ..LineReader::default() };
                let mut line = Vec::new();
                reader.next_line(&mut stream, &mut line);
                (line.len(), reader)
            };
            let (alone, reader) = cut(FIRST_ROOM);
            for room in (12..20).map(|bits| 1 << bits) {
                let (found, other) = cut(room);
                let same = found == alone && other.room == reader.room.max(room);
                assert!(same || reader.depends_on_room, "{length} {room}");
            }
        }
    }

    fn lines(input: &[u8]) -> Vec<Vec<u8>> {
        lines_of(Nul::Hides, input)
    }

    fn lines_of(nul: Nul, input: &[u8]) -> Vec<Vec<u8>> {
        cut(LineReader { nul, ..LineReader::default() }, input)
    }

    fn cut(mut reader: LineReader, input: &[u8]) -> Vec<Vec<u8>> {
        let mut stream = Stream::new(Box::new(input));
        let mut lines = Vec::new();
        let mut line = Vec::new();
        loop {
            let last = reader.next_line(&mut stream, &mut line);
            lines.push(line.clone());
            if last {
                return lines;
            }
        }
    }

    #[test]
    fn ends_of_input() {
        for (input, expected) in [
            (&b"a\n"[..], vec![&b"a\n"[..], b""]),
            (b"a", vec![b"a"]),
            (b"", vec![b""]),
            (b"a\r\n\nb", vec![b"a\r\n", b"\n", b"b"]),
            (b"a\0b\nc\n", vec![b"a", b"c\n", b""]),
        ] {
            assert_eq!(lines(input), expected, "{input:?}");
        }
    }

    #[test]
    fn lines_that_fill_the_room_are_joined_with_the_next() {
        let line = |length: usize| [vec![b'x'; length - 1], vec![b'\n']].concat();
        for (length, joined) in [(4094, false), (4095, true), (4096, false), (8190, true)] {
            let input = [line(length), b"next\n".to_vec()].concat();
            assert_eq!(lines(&input)[0].len() > length, joined, "{length}");
        }
        // The room stays: 4095 is no limit any more once a longer line was read.
        let input = [line(5000), line(4095), b"next\n".to_vec()].concat();
        assert_eq!(lines(&input).len(), 4);
    }

    #[test]
    fn what_a_zero_byte_hides_after_a_bracket_is_kept_for_markup() {
        let far = [b"<\0".as_slice(), &vec![b'x'; FIRST], b"\n"].concat();
        for (input, expected) in [
            (&b"a <\0b\0c\nd\n"[..], &b"b\0c\n"[..]),
            (b"a\0<\0b\n", b""),
            (b"a <\n\0", b""),
            (&far, &far[2..FIRST_ROOM - 1]),
        ] {
            let (mut reader, mut line) = (LineReader::default(), Vec::new());
            reader.next_line(&mut Stream::new(Box::new(input)), &mut line);
            assert_eq!(
                reader.hidden.escape_ascii().to_string(),
                expected.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn a_zero_byte_hides_the_rest_of_its_chunk_only() {
        let mut input = vec![b'x'; 5000];
        input[10] = 0;
        input.push(b'\n');
        let found = lines(&input);
        assert_eq!(found[0].len(), 10);
        assert_eq!(found[1].len(), 5001 - 4095);
    }

    #[test]
    fn zero_bytes_are_blanks_when_they_are_kept() {
        for (input, expected) in [
            (&b"a\0b\nc\n"[..], vec![&b"a b\n"[..], b"c\n", b""]),
            (b"\0\0\n\0", vec![b"  \n", b" "]),
        ] {
            assert_eq!(lines_of(Nul::Blank, input), expected, "{input:?}");
        }
        let mut input = vec![b'x'; 5000];
        input[10] = 0;
        assert_eq!(lines_of(Nul::Blank, &input)[0].len(), 5000);
    }

    #[test]
    fn of_a_long_line_the_beginning_is_kept_and_the_next_line_is_whole() {
        let input = [vec![b'x'; 20_000], b"\nnext\n".to_vec(), vec![b'y'; 9], vec![0; 9]].concat();
        for most in [4, 8, 5000, 19_999, 20_000, usize::MAX] {
            let found = cut(LineReader { longest: most, ..LineReader::default() }, &input);
            let first = [&input[..most.min(20_000)], b"\n"].concat();
            let last = vec![b'y'; most.min(9)];
            assert_eq!(found, [first, b"next\n".to_vec(), last], "{most}");
        }
    }

    #[test]
    fn long_lines_come_in_pieces_where_zero_bytes_stay() {
        let long = [vec![b'x'; 2 * LONGEST_PIECE + 5], b"\nnext\n".to_vec()].concat();
        let found = lines_of(Nul::Stays, &long);
        let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(lengths, [LONGEST_PIECE, LONGEST_PIECE, 6, 5, 0]);
        assert!(found.concat() == long);
        // Where a line ends just so, its end is a piece.
        let exact = [vec![b'x'; LONGEST_PIECE], b"\nnext\n".to_vec()].concat();
        let found = lines_of(Nul::Stays, &exact);
        assert_eq!(found[1..], [b"\n".to_vec(), b"next\n".to_vec(), Vec::new()]);
        assert_eq!(lines_of(Nul::Blank, &exact)[0].len(), LONGEST_PIECE + 1);
    }
}
