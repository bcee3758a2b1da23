// SPDX-License-Identifier: GPL-3.0-or-later
//! The day of a message: when it arrived, or else when it says that it was sent.

use crate::mail::from_line::FROM;
use crate::mail::from_line::MONTHS;
use crate::mail::header_fields::header_fields;
use crate::mail::reader::canonical;

/// Days from the beginning of 1970 to the day of a message that begins with these bytes: that of
/// the line which separates it from others, of the `Received` that stands first, or of `Date`.
/// `None` if it has none of them.
pub fn day_of(mail: &[u8]) -> Option<i64> {
    let mail = &canonical(mail)[..];
    let first = mail.split(|&byte| byte == b'\n').next()?;
    if let Some(day) = day_in(first).filter(|_| first.starts_with(FROM)) {
        return Some(day);
    }
    let mut sent = None;
    for (name, value) in header_fields(mail) {
        if name.eq_ignore_ascii_case(b"Date") {
            sent = sent.or_else(|| day_in(&value));
        } else if name.eq_ignore_ascii_case(b"Received")
            && let Some(at) = memchr::memrchr(b';', &value)
            && let Some(day) = day_in(&value[at + 1..])
        {
            return Some(day);
        }
    }
    sent
}

/// The day in a text such as `Mon, 1 Jan 2024 10:00:00 +0100` or `a@b.c Mon Jan  1 10:00:00 2024`,
/// as the clock of who wrote it had it.
pub(crate) fn day_in(text: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(text);
    let ends_word = |c: char| c.is_whitespace() || ",-()".contains(c);
    let words: Vec<&str> = text.split(ends_word).filter(|word| !word.is_empty()).collect();
    let month_of = |word: &str| MONTHS.iter().position(|month| word.eq_ignore_ascii_case(month));
    let number = |word: Option<&&str>| -> Option<i64> {
        let word = word.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))?;
        word.parse().ok()
    };
    let is_day = |day: &i64| (1..=31).contains(day);
    (0..words.len()).find_map(|at| {
        let month = i64::try_from(month_of(words[at])?).ok()? + 1;
        if let Some(day) = at.checked_sub(1).and_then(|at| number(words.get(at))).filter(is_day) {
            let year = match number(words.get(at + 1))? {
                year @ 0..=49 => year + 2000,
                year @ 50..=99 => year + 1900,
                year => year,
            };
            return days(year, month, day);
        }
        let day = number(words.get(at + 1)).filter(is_day)?;
        let year =
            words[at + 2..].iter().find_map(|word| number(Some(word)).filter(|&year| year > 99));
        days(year?, month, day)
    })
}

/// Days from the beginning of 1970 to a day of the Gregorian calendar, in years from 1970 to 2999.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..3000).contains(&year) {
        return None;
    }
    // Years that begin in March: the day that some have more is their last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = 365 * year + year / 4 - year / 100 + year / 400;
    Some(of_years + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// A day as in the line before a message of a mailbox. Without one the date is of a year for which
/// [`day_in`] finds no day.
pub(crate) fn in_words(day: Option<i64>) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let Some(day) = day else { return "Mon Jan  1 00:00:00 1900".to_owned() };
    let weekday = WEEKDAYS[usize::try_from(day.rem_euclid(7)).unwrap_or(0)];
    // The year and the month in which the day lies.
    let year = (1970..3000).find(|year| days(year + 1, 1, 1).is_none_or(|next| next > day));
    let year = year.unwrap_or(1970);
    let month = (1..=12).rev().find(|&month| days(year, month, 1).is_some_and(|it| it <= day));
    let month = month.unwrap_or(1);
    let number = day - days(year, month, 1).unwrap_or(day) + 1;
    let month = MONTHS[usize::try_from(month - 1).unwrap_or(0)];
    format!("{weekday} {month} {number:2} 00:00:00 {year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, expected) in [
            ("Thu, 1 Jan 1970 00:00:00 +0000", Some(0)),
            ("Mon, 1 Jan 2024 10:00:00 +0100", Some(19_723)),
            ("29 Feb 2024 10:00", Some(19_782)),
            ("1 Mar 2024 10:00", Some(19_783)),
            ("Thu, 22 Aug 02 12:36:23 -0400 (EDT)", Some(11_921)),
            ("From a@b.c Thu Aug 22 12:36:23 2002", Some(11_921)),
            ("From a@b.c Thu Aug 22 12:36:23 2002\r\n", Some(11_921)),
            ("From - Thu Aug 22 12:36:23 MET DST 2002", Some(11_921)),
            ("22-Aug-2002 12:36", Some(11_921)),
            ("31 Dec 1999", Some(10_956)),
            ("may be 3 apples", None),
            ("Thu, 22 Aug", None),
            ("22 Aug 1500", None),
            ("", None),
        ] {
            assert_eq!(day_in(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn days_are_written_as_they_are_read() {
        for (day, expected) in [
            (Some(0), "Thu Jan  1 00:00:00 1970"),
            (Some(19_782), "Thu Feb 29 00:00:00 2024"),
            (Some(19_722), "Sun Dec 31 00:00:00 2023"),
            (None, "Mon Jan  1 00:00:00 1900"),
        ] {
            let found = in_words(day);
            assert_eq!(found, expected);
            assert_eq!(day_in(found.as_bytes()), day);
        }
        for day in (0..20_000).step_by(13) {
            assert_eq!(day_in(in_words(Some(day)).as_bytes()), Some(day), "{day}");
        }
    }

    #[test]
    fn arrival_counts_before_what_a_sender_says() {
        let received = "Received: from x by y with SMTP id z;\n\tMon, 1 Jan 2024 10:00:00 +0100\n";
        let older = "Received: from w by x; Sun, 31 Dec 2023 10:00:00 +0100\n";
        let date = "Date: Fri, 1 Jan 1988 00:00:00 +0000\n";
        for (mail, expected) in [
            (format!("{date}{received}{older}\n"), Some(19_723)),
            (format!("From a@b.c Tue Jan  2 00:00:00 2024\n{date}{received}\n"), Some(19_724)),
            (format!("From the beginning\n{date}\n"), Some(6_574)),
            (format!("Received: no date\r\n{}\r\n\r\n", date.trim_end()), Some(6_574)),
            (format!("Subject: x\n\n{date}"), None),
            (String::new(), None),
        ] {
            assert_eq!(day_of(mail.as_bytes()), expected, "{mail}");
        }
    }
}
