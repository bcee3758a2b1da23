// SPDX-License-Identifier: GPL-3.0-or-later
//! The letter of a week: one message to the inbox that says what was done.

use crate::state::State;
use crate::week::{Doubt, Week};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use dbacl::mail::header_fields::header_fields;
use maud::html;
use std::fmt::Write as _;

/// What helps against wrong verdicts.
const ADVICE: &str = "To correct the filter, move a message to where it belongs.";

/// The message. `week` has ended at second `now`; `user` is the account's user, and `change` says
/// that mail has changed, and what to do.
pub(crate) fn message(state: &State, week: &Week, user: &str, change: &str, now: u64) -> Vec<u8> {
    let at = |second: u64| DateTime::from_timestamp(i64::try_from(second).unwrap_or(0), 0);
    let day = |second| at(second).map_or_else(String::new, |it| it.format("%Y-%m-%d").to_string());
    let title = format!("dbacl: mail from {} to {}", day(week.since), day(now));
    let mut text = format!("{title}\n\n");
    for (count, what) in week.counts() {
        // A string can be written.
        let _ = writeln!(text, "{count:>8}  {what}");
    }
    if !week.doubts.is_empty() {
        text.push_str("\nThe filter was least sure of:\n");
    }
    for Doubt { verdict, about, reasons, .. } in &week.doubts {
        let _ = write!(text, "\n  {verdict}: {about}\n    because of {reasons}\n");
    }
    for line in [change, ADVICE].into_iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "\n{line}");
    }
    let page = html! {
        h2 { (title) }
        table {
            @for (count, what) in week.counts() {
                tr { td align="right" { (count) } td { (what) } }
            }
        }
        @if !week.doubts.is_empty() {
            p { "The filter was least sure of:" }
            ol {
                @for Doubt { verdict, about, reasons, .. } in &week.doubts {
                    li { (verdict) ": " b { (about) } br; "because of " (reasons) }
                }
            }
        }
        @if !change.is_empty() { p { (change) } }
        p { (ADVICE) }
    };
    let is_address = user.contains('@')
        && user.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>()[],;:\\\"".contains(&byte));
    let address = if is_address { user } else { "dbacl-imap@localhost" };
    let date = at(now).map_or_else(String::new, |it| it.to_rfc2822());
    let (id, border) = (id(state, week.number + 1), "=_dbacl_letter");
    let mut message = format!(
        "Date: {date}\r\nFrom: dbacl-imap <{address}>\r\nTo: <{address}>\r\nSubject: {title}\r\n\
         Message-ID: <{id}>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/alternative; boundary=\"{border}\"\r\n\r\n"
    );
    for (kind, part) in [("plain", text), ("html", page.into_string())] {
        let _ = write!(
            message,
            "--{border}\r\nContent-Type: text/{kind}; charset=utf-8\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n"
        );
        for line in STANDARD.encode(part).as_bytes().chunks(76) {
            message.extend(line.iter().copied().map(char::from));
            message.push_str("\r\n");
        }
    }
    message.push_str(&format!("--{border}--\r\n"));
    message.into_bytes()
}

/// The Message-ID of a letter, which nobody else can guess.
fn id(state: &State, number: u32) -> String {
    let sum = u64::from_le_bytes(state.identity(number, b"letter"));
    format!("letter-{sum:016x}@dbacl-imap.invalid")
}

/// Whether a message is the last letter.
pub(crate) fn is_own(state: &State, mail: &[u8]) -> bool {
    let id = format!("<{}>", id(state, state.week.number));
    header_fields(mail)
        .any(|(name, value)| name == b"Message-ID" && value.trim_ascii() == id.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::week::{NAMED, WEEK};

    fn doubt(is_unsure: bool, millionths: u32, subject: &str) -> Doubt {
        let (verdict, reasons) = ("unsure 50.00% ham".into(), String::new());
        Doubt { is_unsure, millionths, verdict, about: subject.into(), reasons }
    }

    #[test]
    fn a_letter_counts_a_week_and_names_the_least_sure() {
        let mut week = Week { since: 1_700_000_000, ..Week::default() };
        for number in 0..20 {
            week.count(doubt(false, 990_000 - number, &format!("sure {number}")), String::new);
        }
        week.count(doubt(true, 998_000, "<b>Münze & Co"), || "+6.31 pills".into());
        week.moved("Junk".into(), 2, false);
        week.learned += 3;
        assert_eq!(week.doubts.len(), NAMED);
        assert!(!week.is_over(week.since + WEEK - 1) && week.is_over(week.since + WEEK));
        let mut state = State::new("alice");
        let now = week.since + WEEK;
        state.week = week.clone();
        let ended = state.week.end(now, false).expect("a week");
        let letter = message(&state, &ended, "alice@example.org", "It changed.", now);
        assert!(is_own(&state, &letter));
        assert!(!is_own(&State::new("alice"), &letter) && !is_own(&state, b"Subject: x\n\n"));
        let letter = String::from_utf8(letter).expect("ASCII");
        assert!(letter.is_ascii() && letter.lines().all(|line| line.len() < 100));
        assert!(
            letter.contains("Subject: dbacl: mail from 2023-11-14 to 2023-11-21\r\n"),
            "{letter}"
        );
        let parts = letter.split("base64\r\n\r\n").skip(1).map(|part| {
            let code = part.split("--").next().expect("a part").replace("\r\n", "");
            String::from_utf8(STANDARD.decode(code).expect("base64")).expect("UTF-8")
        });
        let parts: Vec<String> = parts.collect();
        for line in [
            "      21  came to the inbox\n",
            "       2  moved to Junk\n",
            "       1  unsure, left in the inbox\n",
            "       3  learned from what you moved or marked\n",
            "sure of:\n\n  unsure 50.00% ham: <b>Münze & Co\n    because of +6.31 pills\n",
            "sure 11\n",
            "\nIt changed.\n",
        ] {
            assert!(parts[0].contains(line), "{line}: {}", parts[0]);
        }
        assert!(!parts[0].contains("sure 10\n"), "{}", parts[0]);
        assert!(
            parts[1].contains("&lt;b&gt;Münze &amp; Co")
                && parts[1].contains("<td>unsure, left in the inbox</td>")
        );
        // An empty week has no letter, unless one is asked for.
        assert_eq!(state.week.end(now + WEEK, false), None);
        assert!(state.week.end(now + WEEK, true).is_some_and(|week| week.came == 0));
        // What is moved because it is unsure is counted once.
        week.moved("Unsure".into(), 1, true);
        assert!(week.counts().iter().all(|(_, what)| !what.contains("left in the inbox")));
    }
}
