// SPDX-License-Identifier: GPL-3.0-or-later
//! A line that is being typed, with a history.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The state of a line after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Typing goes on.
    Open,
    /// It is complete.
    Entered(String),
    /// It was cancelled.
    Cancelled,
}

/// A line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
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
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.len(), ..Self::default() }
    }

    /// The text, before and behind the cursor.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.at)
    }

    /// Takes a key. `history` has the latest line last.
    pub fn key(&mut self, key: KeyEvent, history: &[String]) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Outcome::Entered(self.text.clone()),
            KeyCode::Esc => return Outcome::Cancelled,
            KeyCode::Char('c' | 'g') if control => return Outcome::Cancelled,
            KeyCode::Char('a') if control => self.at = 0,
            KeyCode::Char('e') if control => self.at = self.text.len(),
            KeyCode::Char('u') if control => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('k') if control => self.text.truncate(self.at),
            KeyCode::Char('w') if control => self.erase_word(),
            KeyCode::Char('p') if control => self.recall(history, self.back + 1),
            KeyCode::Char('n') if control => self.recall(history, self.back.saturating_sub(1)),
            KeyCode::Char(character) if !control => {
                self.text.insert(self.at, character);
                self.at += character.len_utf8();
            }
            KeyCode::Backspace => {
                if let Some(previous) = self.previous() {
                    self.text.remove(previous);
                    self.at = previous;
                }
            }
            KeyCode::Delete if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            KeyCode::Left => self.at = self.previous().unwrap_or(0),
            KeyCode::Right => {
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            }
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            KeyCode::Up => self.recall(history, self.back + 1),
            KeyCode::Down => self.recall(history, self.back.saturating_sub(1)),
            _ => {}
        }
        Outcome::Open
    }

    /// Where the character before the cursor begins.
    fn previous(&self) -> Option<usize> {
        self.text[..self.at].char_indices().next_back().map(|(at, _)| at)
    }

    fn erase_word(&mut self) {
        let before = self.text[..self.at].trim_end();
        let start = before.rfind(' ').map_or(0, |blank| blank + 1);
        self.text.drain(start..self.at);
        self.at = start;
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
    fn typed(start: &str, keys: &str, history: &[&str]) -> (String, Outcome) {
        let history: Vec<String> = history.iter().map(ToString::to_string).collect();
        let mut prompt = Prompt::new(start);
        let mut outcome = Outcome::Open;
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
            assert_eq!(found, (expected.to_owned(), Outcome::Open), "{start} {keys}");
        }
        assert_eq!(typed("a", "b<enter>", &[]).1, Outcome::Entered("ab".into()));
        assert_eq!(typed("a", "b<esc>", &[]).1, Outcome::Cancelled);
        assert_eq!(typed("a", "<ctrl-c>", &[]).1, Outcome::Cancelled);
    }
}
