// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes features of the last n words.

use super::word::{Word, WordSink};
use super::{BOUNDARY, Feature};
use crate::model::medium::Medium;

/// The last n words, between boundary marks.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    order: u8,
    /// `03 word 03 word 03`: the words of the window.
    buffer: Vec<u8>,
    /// Where each word's leading boundary mark stands in `buffer`.
    starts: Vec<usize>,
}

impl Window {
    /// An empty window of at most `order` words.
    pub(crate) fn new(order: u8) -> Self {
        Self { order, buffer: vec![BOUNDARY], starts: Vec::with_capacity(8) }
    }

    /// Forgets all words, as at the end of a file.
    pub(crate) fn clear(&mut self) {
        self.buffer.truncate(1);
        self.starts.clear();
    }

    /// The window, giving its features of `medium` to `emit`, longest first.
    pub(crate) fn feeding<F: FnMut(Feature<'_>)>(
        &mut self,
        medium: Medium,
        emit: F,
    ) -> FeedingWindow<'_, F> {
        FeedingWindow { window: self, medium, emit }
    }

    /// Appends a word, dropping the oldest if the window is full.
    fn push(&mut self, word: &[u8]) {
        if self.order == 1 {
            self.clear();
        }
        self.starts.push(self.buffer.len() - 1);
        self.buffer.extend_from_slice(word);
        self.buffer.push(BOUNDARY);
        if self.starts.len() > usize::from(self.order) {
            let dropped = self.starts[1];
            self.buffer.drain(..dropped);
            self.starts.remove(0);
            for start in &mut self.starts {
                *start -= dropped;
            }
        }
    }
}

/// A [`Window`] that hands its features on.
pub(crate) struct FeedingWindow<'a, F> {
    window: &'a mut Window,
    medium: Medium,
    emit: F,
}

impl<F: FnMut(Feature<'_>)> WordSink for FeedingWindow<'_, F> {
    fn word(&mut self, word: Word<'_>) {
        self.window.push(word.bytes());
        let words = self.window.starts.len();
        for (skipped, &start) in self.window.starts.iter().enumerate() {
            #[allow(clippy::cast_possible_truncation)] // at most 7 words
            let order = (words - skipped) as u8;
            let body = &self.window.buffer[start..];
            let feature = Feature { body, medium: self.medium, order, pattern: None };
            if !feature.is_blank() {
                (self.emit)(feature);
            }
        }
    }

    fn end_of_line(&mut self) {
        self.window.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::Scheme;
    use crate::token::tokenizer::Tokenizer;

    fn features(order: u8, straddle: bool, lines: &[&str]) -> Vec<String> {
        let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, straddle, order);
        let mut window = Window::new(order);
        let mut found = Vec::new();
        for line in lines {
            let mut feeding = window.feeding(Medium::TEXT, |feature: Feature<'_>| {
                let text: String = feature.body.iter().map(|&b| char::from(b)).collect();
                found.push(format!("{}{}", feature.order, text.replace('\x03', "|")));
            });
            tokenizer.line(&mut line.as_bytes().to_vec(), &mut feeding);
        }
        found
    }

    #[test]
    fn longest_first_and_empty_words_at_line_ends() {
        assert_eq!(features(2, false, &["a b\n"]), ["1|a|", "2|a|b|", "1|b|"]);
        assert_eq!(features(2, false, &["a b. \n"]), ["1|a|", "2|a|b|", "1|b|", "2|b||"]);
        assert_eq!(
            features(3, false, &["a b c d\n"]),
            ["1|a|", "2|a|b|", "1|b|", "3|a|b|c|", "2|b|c|", "1|c|", "3|b|c|d|", "2|c|d|", "1|d|"]
        );
    }

    #[test]
    fn windows_go_on_over_lines_only_when_asked() {
        assert_eq!(features(2, false, &["a\n", "b\n"]), ["1|a|", "1|b|"]);
        assert_eq!(features(2, true, &["a\n", "b\n"]), ["1|a|", "2|a|b|", "1|b|"]);
    }

    #[test]
    fn a_full_window_lets_words_be_one_byte_longer() {
        let long = "y".repeat(40);
        let line = format!("a b {long}\n");
        let found = features(1, false, &[&line]);
        assert_eq!(found[2].len(), 1 + 32);
        let found = features(2, false, &[&line, "a b\n"]);
        assert!(found.contains(&format!("1|{}|", "y".repeat(30))));
        let line = format!("a b c {long}\n");
        let found = features(2, false, &[&line]);
        assert!(found.contains(&format!("1|{}|", "y".repeat(31))), "{found:?}");
    }
}
