// SPDX-License-Identifier: GPL-3.0-or-later
//! Readers of mailboxes, of headers and of the styles of pages.

use crate::filter::Filter;
use crate::mail::reader::{Canonical, parts};
use crate::mail::scanner::Holds;
use crate::model::settings::{Locale, ModelOption, ModelOptions};
use std::io::Read;

/// Beyond this a reader may stop looking.
const SHORT: usize = 4096;

/// Mailboxes of all forms: the messages and what is between them are all bytes, in order, and small
/// pieces are read as the whole is.
pub fn mailbox(data: &[u8]) {
    let found = parts(data);
    let all: Vec<&[u8]> = found.iter().flat_map(|part| [part.before, part.bytes]).collect();
    assert_eq!(all.concat(), data);
    for holds in [Holds::One, Holds::Mailbox] {
        let read = |input: &mut dyn Read| {
            let mut mail = Vec::new();
            Canonical::new(input, holds).read_to_end(&mut mail).expect("memory");
            mail
        };
        let whole = read(&mut &data[..]);
        if data.len() <= SHORT {
            assert_eq!(read(&mut Pieces(data)), whole, "{}", data.escape_ascii());
        }
        // A line `From ` gets a sender and a day, another one a quotation mark or an end.
        assert!(whole.len() <= 8 * data.len() + 64);
    }
}

/// Gives a byte at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

/// The words of a message, each with its medium, sorted.
fn words(mail: &[u8]) -> Vec<String> {
    let options = ModelOptions::default().with(ModelOption::Mail).with(ModelOption::MailUnicode);
    let mut filter = Filter::new(options, Locale::Utf8);
    let (mut line, mut found) = (Vec::new(), Vec::new());
    let mut take = |filter: &mut Filter| {
        while filter.next_text(&mut line) {
            let medium = filter.medium().number();
            let text = String::from_utf8_lossy(&line).into_owned();
            found.extend(text.split_whitespace().map(|word| format!("{medium} {word}")));
        }
    };
    filter.start_file();
    for line in super::split_lines(mail) {
        filter.take(line);
        take(&mut filter);
    }
    filter.end_file();
    take(&mut filter);
    found.sort();
    found
}

/// Headers: a byte says where a field is inserted. It adds its own words and takes no other.
pub fn mail_header(data: &[u8]) {
    const FIELD: &[u8] = b"X-Inserted: one more\n";
    let Some((&choice, mail)) = data.split_first() else { return };
    if mail.len() > SHORT {
        words(mail);
        return;
    }
    // Places between two fields.
    let is_field = |line: &[u8]| {
        let name = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        name > 0 && line.get(name) == Some(&b':') && line.ends_with(b"\n")
    };
    let (mut at, mut places, mut was_field) = (0, Vec::new(), false);
    for line in super::split_lines(mail) {
        let is_one = is_field(line);
        if !(is_one || was_field && line.starts_with(b" ")) {
            break;
        }
        places.extend((is_one && was_field).then_some(at));
        was_field = true;
        at += line.len();
    }
    if places.is_empty() {
        return;
    }
    let at = places[usize::from(choice) % places.len()];
    let longer = [&mail[..at], FIELD, &mail[at..]].concat();
    let (mut with, without) = (words(&longer), words(mail));
    for word in &without {
        let known = with.iter().position(|other| other == word);
        with.remove(known.unwrap_or_else(|| panic!("{word} is lost")));
    }
    let own = |word: &String| ["X-Inserted:", "one", "more"].iter().any(|it| word.ends_with(it));
    assert!(with.iter().all(own), "{with:?}");
}

/// Styles, in an attribute and in a sheet: a declaration without a valid value, and a rule for
/// nothing on the page, change nothing.
pub fn css(data: &[u8]) {
    let style: Vec<u8> = data[..data.len().min(512)]
        .iter()
        .copied()
        .filter(|byte| !b"<>\"&\r\n\0".contains(byte))
        .collect();
    let page = |before: &str, place: &str| {
        let [open, close] = match place {
            "sheet" => ["<style>", "</style><p class=a id=b>"],
            _ => ["<p class=a id=b style=\"", "\">"],
        };
        let head = "Content-Type: text/html; charset=utf-8\n\n";
        let page = [head.as_bytes(), open.as_bytes(), before.as_bytes(), &style, close.as_bytes()];
        words(&[&page.concat()[..], b"inside <b>bold</b></p> outside\n"].concat())
    };
    for before in ["color: ;", "display: nonesuch;", "font-size: 0zz;", "opacity: x !important;"] {
        assert_eq!(
            page(before, "attribute"),
            page("", "attribute"),
            "{before} {}",
            style.escape_ascii()
        );
    }
    assert_eq!(page(".c{display:none}", "sheet"), page("", "sheet"), "{}", style.escape_ascii());
}
