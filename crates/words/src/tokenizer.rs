// SPDX-License-Identifier: GPL-3.0-or-later
//! Cuts lines into words, with the limits and the rules for lines of spec text 5.2.

use crate::machine::{self, ByteAction, State};
use crate::marks::{Found, Marks, PADDING};
use crate::runs::runs;
use crate::scheme::Scheme;
use crate::unicode::UnicodeTokenizer;
use crate::word::{MAX_WORD, WORD_WINDOW, Word, WordSink};
use std::ops::Range;

/// Cuts lines into words.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    scheme: Scheme,
    keep_case: bool,
    straddle: bool,
    order: usize,
    state: State,
    /// Number of words since n-grams last began again, at most one more than the window holds.
    words: usize,
    word: [u8; WORD_WINDOW],
    length: usize,
    marks: Box<Marks>,
    /// The tokenizer that is used instead for `word`, `glyph` and `gram`.
    unicode: Option<Box<UnicodeTokenizer>>,
}

impl Tokenizer {
    /// A tokenizer at the start of a run, for n-grams of up to `order` words. With `straddle`
    /// (`-S`) line ends are ordinary cuts.
    pub fn new(scheme: Scheme, keep_case: bool, straddle: bool, order: u8) -> Self {
        let word = [0; WORD_WINDOW];
        let order = usize::from(order);
        let state = State::Start;
        let marks = Box::new(Marks::new(scheme, !keep_case, !straddle && order > 1));
        let unicode = scheme
            .is_unicode()
            .then(|| Box::new(UnicodeTokenizer::new(scheme, keep_case, straddle)));
        Self {
            scheme,
            keep_case,
            straddle,
            order,
            state,
            words: 0,
            word,
            length: 0,
            marks,
            unicode,
        }
    }

    /// Takes note that n-grams begin again, as at the end of a file.
    pub fn end_of_file(&mut self) {
        self.words = 0;
    }

    /// Returns to the initial state, so that the next line is cut as at the start of a run. Without
    /// this, some schemes keep their state at the end of a file, as dbacl 1.14.1 does.
    pub fn restart(&mut self) {
        (self.state, self.words, self.length) = (State::Start, 0, 0);
    }

    /// Cuts `line` into words. A word never spans two lines. Schemes of bytes fold the line's case
    /// in place unless case is kept, and want no zero byte in it.
    pub fn line(&mut self, line: &mut Vec<u8>, sink: &mut impl WordSink) {
        if let Some(unicode) = &mut self.unicode {
            return unicode.line(line, sink);
        }
        match self.scheme {
            Scheme::Cef | Scheme::Adp | Scheme::Cef2 => self.line_by_marks(line, sink),
            // A newline within joined lines ends n-grams; only the general code handles that.
            _ if !self.straddle && self.order > 1 && has_inner_newline(line) => {
                self.line_by_state(line, sink);
            }
            Scheme::Alpha => self.line_by_runs(|c| c.is_ascii_alphabetic(), line, sink),
            Scheme::Alnum => self.line_by_runs(|c| c.is_ascii_alphanumeric(), line, sink),
            Scheme::Graph => self.line_by_runs(|c| c.is_ascii_graphic(), line, sink),
            _ => self.line_by_state(line, sink),
        }
    }

    /// Hands a word on, and keeps the number of words; returns the limit for the next word.
    #[inline]
    fn push(&mut self, word: Word<'_>, sink: &mut impl WordSink) -> usize {
        sink.word(word);
        if self.order > 1 && self.words <= self.order {
            self.words += 1;
        }
        if self.words > self.order { MAX_WORD + 1 } else { MAX_WORD }
    }

    fn end_line(&mut self, sink: &mut impl WordSink) {
        sink.end_of_line();
        self.words = 0;
    }

    /// Cuts a line whose words are runs of `members`.
    fn line_by_runs(
        &mut self,
        members: impl Fn(u8) -> bool,
        line: &mut Vec<u8>,
        sink: &mut impl WordSink,
    ) {
        if !self.keep_case {
            line.make_ascii_lowercase();
        }
        let length = line.len();
        line.resize(length + WORD_WINDOW, 0);
        let text = line.as_slice();
        let mut limit = MAX_WORD;
        // Whether the line's last byte was taken into a word that is still open.
        let mut open = false;
        let content = if text[..length].ends_with(b"\n") { length - 1 } else { length };
        runs(members, &text[..content], |mut start, end| {
            loop {
                let piece = (end - start).min(limit);
                let window = text[start..start + WORD_WINDOW].try_into();
                let window = window.expect("lines are padded by a window");
                open = piece < limit && end == content;
                limit = self.push(Word::new(window, piece), sink);
                start += piece;
                if start == end {
                    break;
                }
            }
        });
        if !self.straddle {
            if !open && self.order > 1 {
                self.push(Word::new(&[0; WORD_WINDOW], 0), sink);
            }
            self.end_line(sink);
        }
        line.truncate(length);
    }

    /// The line in which words were found, with case and forms folded; `None` for schemes of bytes,
    /// which fold the line in place.
    pub fn folded(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        self.unicode.as_mut().map(|unicode| unicode.folded(line))
    }

    /// Whether the next text would be cut as by a new tokenizer. The state of `cef`, `adp` and
    /// `cef2` is kept over the ends of lines and files.
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Start
    }

    /// Cuts a line by the scheme's state machine, byte by byte.
    fn line_by_state(&mut self, line: &mut [u8], sink: &mut impl WordSink) {
        let mut limit = MAX_WORD;
        self.length = 0;
        for at in 0..=line.len() {
            limit = self.step(line, at, limit, sink);
        }
    }

    /// Cuts a line as the state machine does, but asks the machine only where the classes of a byte
    /// and its neighbours do not decide.
    fn line_by_marks(&mut self, line: &mut Vec<u8>, sink: &mut impl WordSink) {
        let length = line.len();
        line.resize(length + PADDING, 0);
        self.marks.forget();
        self.length = 0;
        let ends_lines = !self.straddle && self.order > 1;
        let mut limit = MAX_WORD;
        let mut at = 0;
        // Whether the line's last byte was taken into a word that is still open.
        let mut open = false;
        while at < length {
            if self.state == State::Start && self.length == 0 {
                match self.marks.find(line, length, at) {
                    Found::Nothing => break,
                    Found::Ask(start) => at = start,
                    Found::Word { start, end } => {
                        let full;
                        (limit, full) = self.push_run(line, start..end, limit, sink);
                        at = end;
                        // With `adp` the last byte of a word ends it. With the other schemes the
                        // next byte ends it and is dropped.
                        if self.scheme == Scheme::Adp {
                            continue;
                        }
                        if end == length {
                            open = !full;
                        } else if !(ends_lines && line[end] == b'\n') {
                            at += 1;
                        } else if !full {
                            self.end_line(sink);
                            limit = MAX_WORD;
                            at += 1;
                        }
                        continue;
                    }
                }
            }
            limit = self.step(&mut line[..length], at, limit, sink);
            at += 1;
        }
        line.truncate(length);
        if !self.keep_case {
            line.make_ascii_lowercase();
        }
        if self.length > 0 || ends_lines && !open && !line.ends_with(b"\n") {
            let word = self.word;
            self.push(Word::new(&word, self.length), sink);
            self.length = 0;
        }
        if !(self.straddle || ends_lines && line.ends_with(b"\n")) {
            self.end_line(sink);
        }
    }

    /// Hands on the words in a run of bytes, all of which are taken; returns the limit for the next
    /// word, and whether the last one was full.
    #[inline]
    fn push_run(
        &mut self,
        padded: &[u8],
        run: Range<usize>,
        mut limit: usize,
        sink: &mut impl WordSink,
    ) -> (usize, bool) {
        let mut start = run.start;
        loop {
            let piece = (run.end - start).min(limit);
            let window = padded[start..start + WORD_WINDOW].try_into();
            let mut window: [u8; WORD_WINDOW] = window.expect("lines are padded by a window");
            if !self.keep_case {
                window.make_ascii_lowercase();
            }
            let full = piece == limit;
            limit = self.push(Word::new(&window, piece), sink);
            start += piece;
            if start == run.end {
                return (limit, full);
            }
        }
    }

    /// Gives the state machine the byte at position `at`, or the end of the line there; returns the
    /// limit for the word that is open.
    fn step(
        &mut self,
        line: &mut [u8],
        at: usize,
        limit: usize,
        sink: &mut impl WordSink,
    ) -> usize {
        let mut c = 0;
        if let Some(byte) = line.get_mut(at) {
            if !self.keep_case {
                byte.make_ascii_lowercase();
            }
            c = *byte;
        }
        let mut action = machine::action(self.scheme, &mut self.state, c, &line[at..]);
        match action {
            ByteAction::Skip => return limit,
            ByteAction::Take if self.length < limit - 1 => {
                self.take(c);
                return limit;
            }
            ByteAction::Take => action = ByteAction::TakeEnd, // too long: the word ends here
            ByteAction::TakeEnd | ByteAction::Cut => {}
        }
        if action == ByteAction::TakeEnd && self.length < limit {
            self.take(c);
        }
        let mut limit = limit;
        let ends_line = !self.straddle && matches!(c, 0 | b'\n');
        if ends_line || self.length > 0 {
            let word = self.word;
            limit = self.push(Word::new(&word, self.length), sink);
            self.length = 0;
        }
        if ends_line {
            self.end_line(sink);
            limit = MAX_WORD;
        }
        limit
    }

    fn take(&mut self, c: u8) {
        self.word[self.length] = c;
        self.length += 1;
    }
}

fn has_inner_newline(line: &[u8]) -> bool {
    memchr::memchr(b'\n', line).is_some_and(|at| at + 1 < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Words and line ends as text: words between bars, `/` for a line's end.
    #[derive(Default)]
    struct Words(String);

    impl WordSink for Words {
        fn word(&mut self, word: Word<'_>) {
            self.0.extend(word.bytes().iter().map(|&byte| char::from(byte)));
            self.0.push('|');
        }
        fn end_of_line(&mut self) {
            self.0.push('/');
        }
    }

    fn tokenizer(scheme: Scheme, keep_case: bool) -> Tokenizer {
        Tokenizer::new(scheme, keep_case, false, 1)
    }

    fn words(scheme: Scheme, keep_case: bool, line: &str) -> String {
        let mut sink = Words::default();
        tokenizer(scheme, keep_case).line(&mut line.as_bytes().to_vec(), &mut sink);
        sink.0
            .replace('/', "")
            .split('|')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn words_of_each_scheme() {
        for (scheme, line, expected) in [
            (Scheme::Alpha, "Don't pay $5!\n", "don t pay"),
            (Scheme::Alnum, "B2B, 3x\n", "b2b 3x"),
            (Scheme::Graph, "a-b c;\n", "a-b c;"),
            (Scheme::Char, "Hi!\n", "h i !"),
            (Scheme::Cef, "don't U.S.A. $1,000.00 x99 7up\n", "don't u.s.a $1,000.00 x99 7up"),
            (Scheme::Cef, "wow!!!!!! ok\n", "wow!!! ok"),
            (Scheme::Cef, "<joe@example.com>\n", "joe example.com"),
            (Scheme::Adp, "yes!!!!! aaaaaa 12:30 !!!!!\n", "yes!! aaa 12: 30 !!!"),
            (Scheme::Cef2, "a.b@c.de x:y.\n", "a.b c.de x:y"),
        ] {
            assert_eq!(words(scheme, false, line), expected, "{scheme:?} {line}");
        }
    }

    #[test]
    fn long_words_are_cut_at_thirty_bytes() {
        let line = "x".repeat(65);
        let expected = ["x".repeat(30), "x".repeat(30), "x".repeat(5)].join(" ");
        assert_eq!(words(Scheme::Alpha, false, &line), expected);
    }

    #[test]
    fn case_is_kept_on_request() {
        assert_eq!(words(Scheme::Alpha, true, "Tom tom"), "Tom tom");
        assert_eq!(words(Scheme::Adp, true, "AAAAAA"), "AAA");
        assert_eq!(words(Scheme::Adp, false, "AAAAAA"), "aaaaaa");
    }

    #[test]
    fn padding_hides_what_is_behind_a_word() {
        let window = *b"abcdefghijklmnopqrstuvwxyzABCDEF";
        for length in 0..WORD_WINDOW {
            let padded = Word::new(&window, length).padded().map(u64::to_le_bytes);
            let padded = padded.as_flattened();
            assert_eq!(padded[..length], window[..length]);
            assert!(padded[length..].iter().all(|&byte| byte == 0), "{length}");
        }
    }

    proptest! {
        #[test]
        fn runs_and_states_cut_alike(
            lines in proptest::collection::vec(line(), 1..5),
            scheme in 0..6usize,
            keep_case: bool,
            straddle: bool,
            order in 1..4u8,
        ) {
            let scheme = [
                Scheme::Alpha, Scheme::Alnum, Scheme::Graph, Scheme::Cef, Scheme::Adp, Scheme::Cef2,
            ][scheme];
            let mut fast = Tokenizer::new(scheme, keep_case, straddle, order);
            let mut slow = fast.clone();
            let (mut fast_words, mut slow_words) = (Words::default(), Words::default());
            for mut line in lines {
                line.retain(|&byte| byte != 0);
                let mut same = line.clone();
                fast.line(&mut line, &mut fast_words);
                slow.line_by_state(&mut same, &mut slow_words);
                prop_assert_eq!(line, same);
                prop_assert_eq!(fast.state, slow.state);
            }
            // Behind a newline the state machine sees the end of the line once more, which gives an
            // empty word in an empty window. Without n-grams empty words have no effect.
            let normal = |words: Words| {
                let ends = if order == 1 { &['|', '/'][..] } else { &['/'] };
                let parts = words.0.split(ends).filter(|part| !matches!(*part, "" | "|"));
                parts.collect::<Vec<_>>().join("/")
            };
            prop_assert_eq!(normal(fast_words), normal(slow_words));
        }
    }

    /// Lines of every sort: words, amounts, addresses, repetitions, other scripts, any bytes.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => "[a-c A-B0-1.\u{e9}]{0,80}",
            8 => "([a-z]{1,9}[ ,.:'$<>@-]{0,2}[0-9]{0,2}[ \n]?){0,20}",
            4 => "([aA!]{0,4}[ b1]{0,2}){0,12}",
            2 => "\\PC{0,40}",
            2 => "[a-z]{0,70}",
            1 => "(ab1 ){240,270}[a-z.]{0,1100}",
            1 => " {1015,1030}[a-z. ]{0,20}",
        ];
        let piece = prop_oneof![
            20 => piece.prop_map(String::into_bytes),
            2 => proptest::collection::vec(any::<u8>(), 0..40),
            2 => proptest::collection::vec(0x80u8.., 0..5),
        ];
        let pieces = proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
        (pieces, any::<bool>()).prop_map(|(mut line, ends)| {
            if ends {
                line.push(b'\n');
            }
            line
        })
    }
}
