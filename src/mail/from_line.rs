// SPDX-License-Identifier: GPL-3.0-or-later
//! The line before each message of a mailbox: `From`, a sender and a date, or less.

/// The months, as dates of mail have them.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What such a line begins with.
pub const FROM: &[u8] = b"From ";

/// How much a line that begins with `From ` looks like one before a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FromLine {
    /// Text like other text.
    Text,
    /// One word, which may be a sender.
    Word,
    /// An address.
    Address,
    /// A date in any order and language, or nothing, as Thunderbird writes it.
    DateOrNothing,
    /// A date as `ctime` writes it or as in the header of a message.
    Exact,
}

impl FromLine {
    /// What a line is; `None` if it does not begin with `From `.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(FROM)?;
        let text = String::from_utf8_lossy(rest);
        let words: Vec<&str> = text.split_ascii_whitespace().take(MOST_WORDS).collect();
        Some(match words.as_slice() {
            _ if (0..words.len()).any(|at| is_exact_date(&words[at..])) => Self::Exact,
            [] | ["-"] => Self::DateOrNothing,
            words if is_any_date(words) => Self::DateOrNothing,
            [word] if word.contains('@') => Self::Address,
            [_] => Self::Word,
            _ => Self::Text,
        })
    }
}

/// Words of a line that are looked at.
const MOST_WORDS: usize = 24;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn is_exact_date(words: &[&str]) -> bool {
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

/// Whether a date is among words: numbers with two marks between them, or a day and a year with a
/// time or the name of a month. Names may be of any language.
fn is_any_date(words: &[&str]) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let is_numeric = |word: &str| {
        let day = word.split_once('T').map_or(word, |(day, _)| day);
        let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
        parts.len() == 3 && parts.iter().all(|part| part.len() <= 4 && is_number(part))
    };
    let plain = |word: &&str| word.trim_matches([',', '.', '(', ')']).to_owned();
    let words: Vec<String> = words.iter().map(plain).collect();
    let any = |is: &dyn Fn(&str) -> bool| words.iter().any(|word| is(word));
    let is_month = |word: &str| MONTHS.iter().any(|month| month.eq_ignore_ascii_case(word));
    let has_day = any(&is_day);
    let has_year = any(&is_year) || words.iter().filter(|word| is_number(word)).count() > 1;
    any(&is_numeric) || has_day && has_year && (any(&is_time) || any(&is_month))
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
    fn lines_look_more_or_less_like_those_before_messages() {
        use FromLine::{Address, DateOrNothing, Exact, Text, Word};
        for (line, expected) in [
            ("From a@b.c Mon Jan  1 00:00:00 2024\n", Some(Exact)),
            ("From a@b.c Mon Jan 01 00:00:00 2024\r\n", Some(Exact)),
            ("From a@b.c  Tue Oct  8 10:56 2002", Some(Exact)),
            ("From - Sat Sep 28 12:00:00 MET DST 2002\n", Some(Exact)),
            ("From MAILER-DAEMON Fri Jul  8 12:08:34 2011 +0200\n", Some(Exact)),
            ("From \"a b\"@c Fri Jul  8 12:08:34 EST 2011\n", Some(Exact)),
            ("From  Fri Jul  8 12:08:34 2011\n", Some(Exact)),
            ("From a@b.c Mon, 1 Jan 2024 00:00:00 +0000\n", Some(Exact)),
            ("From \r\n", Some(DateOrNothing)),
            ("From -\n", Some(DateOrNothing)),
            ("From - Sat Apr 12 2025 15:59:28\n", Some(DateOrNothing)),
            ("From a@b.c Mo Jan  1 00:00:00 2024\n", Some(DateOrNothing)),
            ("From a@b.c lun. 1 janv. 2024 10:00\n", Some(DateOrNothing)),
            ("From a@b.c 1 Jul 94 10:00:00\n", Some(DateOrNothing)),
            ("From a@b.c 1 Jul 94\n", Some(DateOrNothing)),
            ("From a@b.c 2024-01-01T10:00:00Z\n", Some(DateOrNothing)),
            ("From a@b.c 01.02.2024 10:00\n", Some(DateOrNothing)),
            ("From a@b.c Mon Jan  1 00:00:00 24\n", Some(DateOrNothing)),
            ("From a@b.c\n", Some(Address)),
            ("From ann\n", Some(Word)),
            ("From the beginning\n", Some(Text)),
            ("From Mon to Fri\n", Some(Text)),
            ("From 9:00 to 17:00\n", Some(Text)),
            ("From a Mon Jan 1\n", Some(Text)),
            ("from a@b.c Mon Jan  1 00:00:00 2024\n", None),
            (">From a@b.c Mon Jan  1 00:00:00 2024\n", None),
            ("From\n", None),
        ] {
            assert_eq!(FromLine::of(line.as_bytes()), expected, "{line}");
        }
    }
}
