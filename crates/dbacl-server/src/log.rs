// SPDX-License-Identifier: GPL-3.0-or-later
//! The log: each event is one line of words `key=value` on standard error.

use std::fmt::{self, Display, Write as _};
use std::io::Write as _;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing.
    Silent,
    /// Errors.
    Error,
    /// Errors, and what else an administrator should know.
    Warn,
    /// All of that, and every mail.
    Info,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
        }
    }
}

/// Where events go.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    /// Events above this level are left out.
    pub level: Level,
}

impl Log {
    /// Writes an event with its facts, in order. Failures to write are ignored.
    pub fn event(self, level: Level, event: &str, facts: &[(&str, &dyn Display)]) {
        if level <= self.level {
            let line = line(level, event, facts);
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

fn line(level: Level, event: &str, facts: &[(&str, &dyn Display)]) -> String {
    let mut line = format!("level={} event={event}", level.word());
    for (key, value) in facts {
        // A string can be written.
        let _ = write!(line, " {key}={}", Quoted(&value.to_string()));
    }
    line.push('\n');
    line
}

/// A value that stays one word of one line, whatever it holds.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_word = |letter: char| letter.is_ascii_graphic() && !"\"\\=".contains(letter);
        if !self.0.is_empty() && self.0.chars().all(is_word) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                ' '..='~' => f.write_char(letter)?,
                _ if letter.is_alphanumeric() => f.write_char(letter)?,
                _ => write!(f, "\\u{{{:x}}}", u32::from(letter))?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_words() {
        let facts: [(&str, &dyn Display); 4] = [
            ("user", &"alice"),
            ("error", &"no \"filter\"\nlevel=info"),
            ("ms", &2.5),
            ("to", &""),
        ];
        assert_eq!(
            line(Level::Error, "judged", &facts),
            "level=error event=judged user=alice error=\"no \\\"filter\\\"\\u{a}level=info\" \
             ms=2.5 to=\"\"\n"
        );
    }
}
