// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines → words, with the limits and line rules of spec text 5.2.

use super::scheme::{Ahead, State, Verdict, verdict};
use crate::model::settings::Scheme;

/// Longest word, bytes. Once the window of the last n words has been full on a line, one more fits.
pub const MAX_WORD: usize = 30;

/// Receives the words of a line.
pub trait WordSink {
    /// A word ended. It is empty where a line ends behind a byte that belongs to no word; such words
    /// take their place in n-grams. Returns whether the window of the last n words was full and had
    /// to drop its oldest, for words behind it may then be one byte longer.
    fn word(&mut self, word: &[u8]) -> bool;

    /// The line ended: n-grams do not go on behind it.
    fn end_of_line(&mut self);
}

/// Cuts lines into words.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    scheme: Scheme,
    keep_case: bool,
    straddle: bool,
    state: State,
    word: Vec<u8>,
}

impl Tokenizer {
    /// A tokenizer at the start of a run. With `straddle` (`-S`) line ends are ordinary cuts.
    pub fn new(scheme: Scheme, keep_case: bool, straddle: bool) -> Self {
        Self { scheme, keep_case, straddle, state: State::Start, word: Vec::with_capacity(64) }
    }

    /// Cuts `line`, which holds no zero byte, into words; folds its case in place unless case is
    /// kept. A word never spans two lines.
    pub fn line(&mut self, line: &mut [u8], sink: &mut impl WordSink) {
        let mut limit = MAX_WORD;
        self.word.clear();
        for at in 0..=line.len() {
            let mut c = 0;
            if let Some(byte) = line.get_mut(at) {
                if !self.keep_case {
                    byte.make_ascii_lowercase();
                }
                c = *byte;
            }
            let mut verdict = verdict(self.scheme, &mut self.state, c, Ahead::new(line, at));
            match verdict {
                Verdict::Skip => continue,
                Verdict::Take if self.word.len() < limit - 1 => {
                    self.word.push(c);
                    continue;
                }
                Verdict::Take => verdict = Verdict::TakeEnd, // too long: the word ends here
                Verdict::TakeEnd | Verdict::Cut => {}
            }
            if verdict == Verdict::TakeEnd && self.word.len() < limit {
                self.word.push(c);
            }
            let ends_line = !self.straddle && matches!(c, 0 | b'\n');
            if ends_line || !self.word.is_empty() {
                let was_full = sink.word(&self.word);
                self.word.clear();
                if was_full {
                    limit = MAX_WORD + 1;
                }
            }
            if ends_line {
                sink.end_of_line();
                limit = MAX_WORD;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Words(Vec<String>);

    impl WordSink for Words {
        fn word(&mut self, word: &[u8]) -> bool {
            if !word.is_empty() {
                self.0.push(word.iter().map(|&byte| char::from(byte)).collect());
            }
            false
        }
        fn end_of_line(&mut self) {}
    }

    fn words(scheme: Scheme, keep_case: bool, line: &str) -> String {
        let mut tokenizer = Tokenizer::new(scheme, keep_case, false);
        let mut sink = Words::default();
        tokenizer.line(&mut line.as_bytes().to_vec(), &mut sink);
        sink.0.join(" ")
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
}
