// SPDX-License-Identifier: GPL-3.0-or-later
//! Where messages of a mailbox begin.
//!
//! The mail filter and the mail tools of the original take any line `From ` behind an empty line
//! for the beginning of a message. People write such lines, and not every program puts a `>` before
//! them. Where the number of messages matters, only a line with a sender and a date is one; others
//! are given the `>` that they lack before the filter sees them.

/// What the line in front of every message begins with.
pub const FROM: &[u8] = b"From ";

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The months, as dates of mail have them.
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Which of the lines that look like the beginning of a message are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// All, as the mail tools of dbacl 1.14.1 have it.
    AnyFrom,
    /// Those with a sender and a date.
    SenderAndDate,
}

/// What a line is to the mailbox that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// A message begins.
    Begins,
    /// It only looks like the beginning of a message: a program that takes any `From ` behind an
    /// empty line would be misled.
    Misleads,
    /// Any other line.
    Plain,
}

/// Says where messages begin, line by line. The beginning of a source counts as an empty line.
#[derive(Debug, Clone, Copy)]
pub struct Boundaries {
    rule: Rule,
    is_after_empty: bool,
    /// The last line goes on: it was longer than a line may be.
    is_within: bool,
}

impl Boundaries {
    /// For a source of which no line has been read.
    pub const fn new(rule: Rule) -> Self {
        Self { rule, is_after_empty: true, is_within: false }
    }

    /// What the next line is. Nothing at all, as behind the last line, is no line.
    pub fn line(&mut self, line: &[u8]) -> Line {
        if line.is_empty() {
            return Line::Plain;
        }
        let begins_line = self.rule == Rule::AnyFrom || !self.is_within;
        let looks_alike = self.is_after_empty && begins_line && line.starts_with(FROM);
        self.is_after_empty = begins_line && is_empty(line);
        self.is_within = !line.ends_with(b"\n");
        match self.rule {
            _ if !looks_alike => Line::Plain,
            Rule::SenderAndDate if !begins_message(line) => Line::Misleads,
            _ => Line::Begins,
        }
    }
}

/// Whether a line, with its end, is an empty one.
pub fn is_empty(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// Whether a source that begins so is a mailbox: its first line that is not empty is a `From `
/// line. A message may have such lines further down, in a patch or in a mailbox that it quotes.
pub fn is_mailbox(beginning: &[u8]) -> bool {
    let mut lines = beginning.split_inclusive(|&byte| byte == b'\n');
    lines.find(|line| !is_empty(line)).is_some_and(|line| line.starts_with(FROM))
}

/// Looks at the lines of a source, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Separators {
    is_first: bool,
    /// Whether the source is a mailbox; `None` as long as all of its lines were empty.
    is_mailbox: Option<bool>,
    boundaries: Boundaries,
}

impl Default for Separators {
    fn default() -> Self {
        let boundaries = Boundaries::new(Rule::SenderAndDate);
        Self { is_first: true, is_mailbox: None, boundaries }
    }
}

impl Separators {
    /// Puts `>` before a line that only looks like the beginning of a message. The first line may
    /// be any; further messages begin only in a source that may hold several and is a mailbox, see
    /// [`is_mailbox`]. Returns whether a message begins.
    pub fn line(&mut self, line: &mut Vec<u8>, may_be_mailbox: bool) -> bool {
        let found = self.boundaries.line(line);
        if self.is_mailbox.is_none() && !is_empty(line) {
            self.is_mailbox = Some(is_mailbox(line));
        }
        if std::mem::replace(&mut self.is_first, false) {
            return true;
        }
        let begins = may_be_mailbox && self.is_mailbox == Some(true) && found == Line::Begins;
        if found != Line::Plain && !begins {
            line.insert(0, b'>');
        }
        begins
    }
}

/// Whether a line is `From SENDER DATE`, with the date as `ctime` writes it, or as in the header of
/// a message; a zone and more may follow.
pub fn begins_message(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(FROM) else { return false };
    let text = String::from_utf8_lossy(rest);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    (0..words.len()).any(|at| is_date(&words[at..]))
}

fn is_date(words: &[&str]) -> bool {
    let [weekday, rest @ ..] = words else { return false };
    let weekday = weekday.strip_suffix(',').unwrap_or(weekday);
    if !WEEKDAYS.contains(&weekday) {
        return false;
    }
    match rest {
        // Mon Jan  1 00:00:00 [MET] 2024
        [month, day, time, years @ ..] if MONTHS.contains(month) => {
            is_day(day) && is_time(time) && years.iter().take(3).any(|word| is_year(word))
        }
        // Mon, 1 Jan 2024 00:00:00 +0000
        [day, month, year, time, ..] => {
            is_day(day) && MONTHS.contains(month) && is_year(year) && is_time(time)
        }
        _ => false,
    }
}

fn in_range(word: &str, lowest: u16, highest: u16) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
    is_plain && word.parse().is_ok_and(|number: u16| (lowest..=highest).contains(&number))
}

fn is_day(word: &str) -> bool {
    word.len() <= 2 && in_range(word, 1, 31)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && in_range(word, 1900, 2999)
}

fn is_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    matches!(parts.len(), 2 | 3)
        && in_range(parts[0], 0, 23)
        && parts[1..].iter().all(|part| part.len() == 2 && in_range(part, 0, 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_with_dates_begin_messages() {
        for line in [
            "From a@b.c Mon Jan  1 00:00:00 2024\n",
            "From a@b.c Mon Jan 01 00:00:00 2024\r\n",
            "From a@b.c  Tue Oct  8 10:56 2002",
            "From - Sat Sep 28 12:00:00 MET DST 2002\n",
            "From MAILER-DAEMON Fri Jul  8 12:08:34 2011 +0200\n",
            "From \"a b\"@c Fri Jul  8 12:08:34 EST 2011\n",
            "From  Fri Jul  8 12:08:34 2011\n",
            "From a@b.c Mon, 1 Jan 2024 00:00:00 +0000\n",
        ] {
            assert!(begins_message(line.as_bytes()), "{line}");
        }
        for line in [
            "From the beginning\n",
            "From Mon to Fri\n",
            "From a Mon Jan 1\n",
            "From a@b.c Mon Jan 32 00:00:00 2024\n",
            "From a@b.c Mon Jan 1 24:00:00 2024\n",
            "From a@b.c Mon Jan 1 00:00:00 24\n",
            "from a@b.c Mon Jan  1 00:00:00 2024\n",
            ">From a@b.c Mon Jan  1 00:00:00 2024\n",
            "From\n",
            "From ",
        ] {
            assert!(!begins_message(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn only_what_would_be_misread_is_quoted() {
        let strict = "From a@b.c Mon Jan  1 00:00:00 2024\n";
        for (lines, may_be_mailbox, quoted, messages) in [
            (vec!["From x\n"], true, vec![], vec![0]),
            (vec!["\n", "From x\n"], true, vec![1], vec![0]),
            (vec!["\r\n", "From x\r\n"], true, vec![1], vec![0]),
            (vec!["a\n", "From x\n"], true, vec![], vec![0]),
            (vec![strict, "\n", strict], true, vec![], vec![0, 2]),
            (vec!["From x\n", "\n", strict], true, vec![], vec![0, 2]),
            (vec!["\r\n", "\n", strict, "\n", strict], true, vec![], vec![0, 2, 4]),
            (vec![strict, "\n", strict], false, vec![2], vec![0]),
            // A message that quotes a mailbox is one message.
            (vec!["a\n", "\n", strict], true, vec![2], vec![0]),
            (vec!["\n", "a\n", "\n", strict], true, vec![3], vec![0]),
            (vec![">From x\n", "\n", strict], true, vec![2], vec![0]),
            (vec!["a\n", "\n", strict], false, vec![2], vec![0]),
            (vec!["a", "\n", "From x\n"], true, vec![], vec![0]),
            (vec!["\n", "\n", "From x\n", "\n", "From y\n"], true, vec![2, 4], vec![0]),
        ] {
            let mut separators = Separators::default();
            for (number, line) in lines.iter().enumerate() {
                let mut seen = line.as_bytes().to_vec();
                let begins = separators.line(&mut seen, may_be_mailbox);
                let was_quoted = seen.len() > line.len();
                assert_eq!(begins, messages.contains(&number), "{lines:?}");
                assert_eq!(was_quoted, quoted.contains(&number), "{lines:?}");
                if !was_quoted {
                    assert_eq!(seen, line.as_bytes());
                    continue;
                }
                assert_eq!(seen, [b">", line.as_bytes()].concat());
            }
        }
    }
}
