// SPDX-License-Identifier: GPL-3.0-or-later
//! A line that is being typed, with a history.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::ops::ControlFlow;

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Prompt {
    text: String,
    /// Where the next character goes, bytes; always between characters.
    at: usize,
    /// How far back in the history it is; 0 is the line itself.
    back: usize,
    /// What was typed before going back.
    typed: String,
}

impl Prompt {
    /// A line that begins as `text`.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.len(), ..Self::default() }
    }

    /// The text, before and after the cursor.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.at)
    }

    /// Takes a key, which may be the last: then this breaks with the line, if it is complete and
    /// was not cancelled. `history` has the latest line last.
    pub(super) fn key(&mut self, key: KeyEvent, history: &[String]) -> ControlFlow<Option<String>> {
        use KeyCode::{Backspace, Char, Delete, Down, End, Enter, Esc, Home, Left, Right, Up};
        match (key.modifiers.contains(KeyModifiers::CONTROL), key.code) {
            (_, Enter) => return ControlFlow::Break(Some(self.text.clone())),
            (_, Esc) | (true, Char('c' | 'g')) => return ControlFlow::Break(None),
            (_, Home) | (true, Char('a')) => self.at = 0,
            (_, End) | (true, Char('e')) => self.at = self.text.len(),
            (true, Char('u')) => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            (true, Char('k')) => self.text.truncate(self.at),
            (true, Char('w')) => {
                let before = self.text[..self.at].trim_end();
                let start = before.rfind(' ').map_or(0, |blank| blank + 1);
                self.text.drain(start..self.at);
                self.at = start;
            }
            (_, Up) | (true, Char('p')) => self.recall(history, self.back + 1),
            (_, Down) | (true, Char('n')) => self.recall(history, self.back.saturating_sub(1)),
            (false, Char(character)) => {
                self.text.insert(self.at, character);
                self.at += character.len_utf8();
            }
            (_, Backspace) => {
                if let Some(previous) = self.previous() {
                    self.text.remove(previous);
                    self.at = previous;
                }
            }
            (_, Delete) if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            (_, Left) => self.at = self.previous().unwrap_or(0),
            (_, Right) => {
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Where the character before the cursor begins.
    fn previous(&self) -> Option<usize> {
        self.text[..self.at].char_indices().next_back().map(|(at, _)| at)
    }

    fn recall(&mut self, history: &[String], back: usize) {
        if back > history.len() || back == self.back {
            return;
        }
        if self.back == 0 {
            self.typed.clone_from(&self.text);
        }
        self.back = back;
        let line = if back == 0 { &self.typed } else { &history[history.len() - back] };
        self.text.clone_from(line);
        self.at = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types `keys`: characters, or names in angle brackets.
    fn typed(start: &str, keys: &str, history: &[&str]) -> (String, ControlFlow<Option<String>>) {
        let history: Vec<String> = history.iter().map(ToString::to_string).collect();
        let mut prompt = Prompt::new(start);
        let mut outcome = ControlFlow::Continue(());
        for key in super::super::keys(keys) {
            outcome = prompt.key(key, &history);
        }
        let (before, behind) = prompt.parts();
        (format!("{before}|{behind}"), outcome)
    }

    #[test]
    fn lines_are_edited_by_character_and_word() {
        for (start, keys, expected) in [
            ("", "abc", "abc|"),
            ("abc", "<left>x", "abx|c"),
            ("abc", "<home>x<end>y", "xabcy|"),
            ("aé", "<backspace><backspace><backspace>", "|"),
            ("aé", "<left><delete><delete>", "a|"),
            ("é", "<left><left>x<right><right>y", "xéy|"),
            ("grep foo bar", "<ctrl-w>", "grep foo |"),
            ("grep foo ", "<ctrl-w>", "grep |"),
            ("abc", "<left><ctrl-u>", "|c"),
            ("abc", "<ctrl-a><ctrl-k>", "|"),
            ("x", "<up>", "two|"),
            ("x", "<up><up><up>", "one|"),
            ("x", "<up><up><down>", "two|"),
            ("x", "<up><ctrl-n>", "x|"),
        ] {
            let found = typed(start, keys, &["one", "two"]);
            assert_eq!(found, (expected.to_owned(), ControlFlow::Continue(())), "{start} {keys}");
        }
        assert_eq!(typed("a", "b<enter>", &[]).1, ControlFlow::Break(Some("ab".into())));
        for keys in ["b<esc>", "<ctrl-c>"] {
            assert_eq!(typed("a", keys, &[]).1, ControlFlow::Break(None), "{keys}");
        }
    }
}
