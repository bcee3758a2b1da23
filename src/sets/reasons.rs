// SPDX-License-Identifier: GPL-3.0-or-later
//! The reasons of a filter's verdict on a message, as one header line.
//!
//! ```text
//! X-DBACL-Reasons: spam +14.62 = +6.31 pills, +4.20 =?utf-8?q?caf=C3=A9?=, -0.97 meeting,
//!  +4.11 in 83 others, +0.97 before any
//! ```
//!
//! The numbers are logarithms to base 2 of odds (bits) for the category that is named. Those after
//! the `=` add up to the first one, exactly as they are printed.

use crate::mail::verdict_header::REASONS;
use crate::report::evidence::{is_telling, shown};
use std::fmt::Write;

/// The most tokens that are named.
pub(super) const NAMED: usize = 10;

/// Of so many tokens those are chosen that people are shown.
pub(super) const POOL: usize = 30;

/// A token with less than this share of the strongest one's bits takes the place of no stronger
/// one.
const LEAST: f64 = 0.2;

/// The most characters of a token that are shown.
const SHOWN: usize = 30;

/// The most characters of a header line, unless a single token is longer.
const WIDTH: usize = 76;

/// What a part of a document adds to the odds.
pub(super) struct Evidence {
    /// The part: a token, a word or a tag.
    pub text: Vec<u8>,
    /// What it adds, bits.
    pub bits: f64,
    /// How many distinct features it has.
    pub features: usize,
    /// How often it is there.
    pub times: u32,
}

/// The reasons of a verdict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reasons {
    /// The category of the verdict.
    pub category: String,
    /// Logarithm to base 2 of the odds of that category against all others.
    pub bits: f64,
    /// The tokens that weigh most, with what they add to these bits; at most ten. Where features
    /// count by blocks: words of the text, and tags with the names of their kinds.
    pub tokens: Vec<(Vec<u8>, f64)>,
    /// What all other tokens add.
    pub others: f64,
    /// How many features these are.
    pub number_of_others: usize,
    /// The part of the bits that does not depend on the tokens, but only on their number.
    pub before: f64,
    /// What made the verdict unsure besides these bits, in words: `a part that looks like spam`.
    pub doubt: Option<String>,
    /// The tokens that are named to people, with their bits.
    pub(crate) telling: Vec<(String, f64)>,
}

/// The tokens that are named to people, of these, the strongest first: before others those that say
/// something to them, unless these weigh little.
pub(super) fn telling(pool: &[Evidence]) -> Vec<(String, f64)> {
    let least = LEAST * pool.first().map_or(0.0, |first| first.bits.abs());
    let strong = pool.iter().filter(|own| own.bits.abs() >= least);
    let mut all: Vec<(String, f64)> = Vec::new();
    for own in strong {
        let text = short(&own.text);
        if all.iter().all(|(other, _)| *other != text) {
            all.push((text, own.bits));
        }
    }
    all.sort_by_key(|(text, _)| !is_telling(text));
    all.truncate(NAMED);
    all
}

fn hundredths(bits: f64) -> f64 {
    (100.0 * bits).round()
}

impl Reasons {
    /// What says most to people, at most so many tokens: `+6.31 pills, +4.20 café, -0.97 meeting`.
    pub fn strongest(&self, most: usize) -> String {
        let tokens = self.telling.iter().take(most);
        let tokens = tokens.map(|(token, bits)| format!("{} {token}", signed(hundredths(*bits))));
        self.doubt.iter().cloned().chain(tokens).collect::<Vec<_>>().join(", ")
    }

    /// The header line without its end. Where it is long it is folded: a line end stands before a
    /// blank.
    pub fn header(&self) -> String {
        self.lines(&self.tokens, word)
    }

    /// The same for a terminal: without codes, and tokens first that say something to people.
    pub fn text(&self) -> String {
        let mut tokens = self.tokens.clone();
        tokens.sort_by_key(|(token, _)| !is_telling(&short(token)));
        self.lines(&tokens, short)
    }

    fn lines(&self, tokens: &[(Vec<u8>, f64)], word: fn(&[u8]) -> String) -> String {
        let mut text = REASONS.to_owned();
        text.push(':');
        let mut width = text.len();
        let named: f64 = self.tokens.iter().map(|&(_, bits)| hundredths(bits)).sum();
        let (total, others) = (hundredths(self.bits), hundredths(self.others));
        let mut items = vec![format!("{} {} =", word(self.category.as_bytes()), signed(total))];
        for (token, bits) in tokens {
            items.push(format!("{} {},", signed(hundredths(*bits)), word(token)));
        }
        if self.number_of_others > 0 {
            items.push(format!("{} in {} others,", signed(others), self.number_of_others));
        }
        let counted = if self.number_of_others > 0 { others } else { 0.0 };
        // The rounding errors are added here, so that the printed numbers add up.
        let comma = if self.doubt.is_some() { "," } else { "" };
        items.push(format!("{} before any{comma}", signed(total - named - counted)));
        items.extend(self.doubt.clone());
        for item in items {
            let own = 1 + item.chars().count();
            if width + own > WIDTH && width > REASONS.len() + 1 {
                text.push('\n');
                width = 0;
            }
            let _ = write!(text, " {item}");
            width += own;
        }
        text
    }
}

/// A number of hundredths of a bit, written in bits with its sign.
fn signed(hundredths: f64) -> String {
    // A zero is written without a minus.
    format!("{:+.2}", if hundredths == 0.0 { 0.0 } else { hundredths / 100.0 })
}

/// The beginning of a token, for people.
fn short(token: &[u8]) -> String {
    shown(token).chars().take(SHOWN).collect()
}

/// A token for a header: unchanged if all its characters are harmless there, else as an encoded
/// word (RFC 2047), whose bytes are letters, digits and `=XX`.
fn word(token: &[u8]) -> String {
    let short = short(token);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@/$!'%&*:~#".contains(&byte);
    if !short.is_empty() && !short.starts_with('-') && short.bytes().all(is_plain) {
        return short;
    }
    let mut encoded = String::from("=?utf-8?q?");
    let mut left = WIDTH - 1 - "=?utf-8?q??=,".len() - "+1234.56 ".len();
    for character in short.chars() {
        let mut bytes = [0; 4];
        let mut piece = String::new();
        for byte in character.encode_utf8(&mut bytes).bytes() {
            match byte {
                b' ' => piece.push('_'),
                byte if byte.is_ascii_alphanumeric() => piece.push(char::from(byte)),
                byte => {
                    let _ = write!(piece, "={byte:02X}");
                }
            }
        }
        // A piece never ends within a character.
        let Some(rest) = left.checked_sub(piece.len()) else { break };
        left = rest;
        encoded.push_str(&piece);
    }
    encoded + "?="
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(tokens: &[(&[u8], f64)]) -> Reasons {
        let tokens: Vec<(Vec<u8>, f64)> =
            tokens.iter().map(|&(token, bits)| (token.to_vec(), bits)).collect();
        let named: f64 = tokens.iter().map(|&(_, bits)| bits).sum();
        Reasons {
            category: "spam".into(),
            bits: named + 0.125 - 0.5,
            tokens,
            others: 0.125,
            number_of_others: 7,
            before: -0.5,
            doubt: None,
            telling: Vec::new(),
        }
    }

    /// The first number, and the sum of the others.
    fn numbers(header: &str) -> (f64, f64) {
        let found: Vec<f64> = header
            .split_whitespace()
            .filter(|word| word.starts_with(['+', '-']))
            .filter_map(|word| word.parse().ok())
            .collect();
        (found[0], found[1..].iter().sum())
    }

    #[test]
    fn the_numbers_add_up_as_they_stand() {
        let tokens: Vec<(&[u8], f64)> =
            (0..10).map(|k| (b"pills".as_slice(), 0.333 + f64::from(k) / 7.0)).collect();
        let reasons = reasons(&tokens);
        let header = reasons.header();
        let (total, sum) = numbers(&header);
        assert!((total - sum).abs() < 1e-9 && (total - reasons.bits).abs() <= 0.005, "{header}");
        assert!(header.starts_with("X-DBACL-Reasons: spam +"), "{header}");
    }

    #[test]
    fn lines_are_short_and_folded_before_blanks() {
        let long = [b'x'; 400];
        let tokens = [(long.as_slice(), 1.0); 10];
        let odd = "\u{1f600}".repeat(60);
        for tokens in [tokens.to_vec(), vec![(odd.as_bytes(), 2.0); 10]] {
            let header = reasons(&tokens).header();
            for (number, line) in header.lines().enumerate() {
                assert!(line.len() <= 78, "{line}");
                assert!(number == 0 || line.starts_with(' '), "{line}");
            }
        }
    }

    #[test]
    fn nothing_in_a_token_gets_out_of_the_header() {
        for token in [
            b"a\r\nX-Forged: yes".as_slice(),
            b"a\nb",
            b"\x1b[2J\x07",
            b"\xff\xfe",
            b"a, +99.00 b",
            b"=?utf-8?q?x?=",
            b"",
            "caf\u{e9}".as_bytes(),
            "\u{202e}\u{2028}".as_bytes(),
        ] {
            let header = reasons(&[(token, 3.0)]).header();
            let is_safe = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
            assert!(header.bytes().all(is_safe), "{header:?}");
            assert!(header.lines().skip(1).all(|line| line.starts_with(' ')), "{header:?}");
            let (total, sum) = numbers(&header);
            assert!((total - sum).abs() < 1e-9, "{header}");
        }
        assert_eq!(word("caf\u{e9}".as_bytes()), "=?utf-8?q?caf=C3=A9?=");
        assert_eq!(word(b"\x03two\x03words\x03"), "=?utf-8?q?two_words?=");
        assert_eq!(word(b"plain-word"), "plain-word");
    }

    #[test]
    fn people_are_shown_words_without_codes_and_why_it_is_unsure() {
        let evidence = |text: &str, bits| Evidence {
            text: text.as_bytes().to_vec(),
            bits,
            features: 1,
            times: 1,
        };
        let pool = [
            evidence("origin-host:lair.example", 8.0),
            evidence("本公司代开发票", -4.0),
            evidence("subject:>", 2.0),
            evidence("weak", 1.0),
        ];
        let tokens: Vec<(&[u8], f64)> =
            pool.iter().map(|own| (own.text.as_slice(), own.bits)).collect();
        let doubt = Some("a part that looks like spam".to_owned());
        let reasons = Reasons { doubt, telling: telling(&pool), ..reasons(&tokens) };
        assert_eq!(
            reasons.strongest(2),
            "a part that looks like spam, -4.00 本公司代开发票, +2.00 subject:>"
        );
        let (header, text) = (reasons.header(), reasons.text());
        assert!(header.ends_with("-0.50 before any, a part that looks like spam"), "{header}");
        assert!(
            header.contains("= +8.00 origin-host:lair.example,\n -4.00 =?utf-8?q?"),
            "{header}"
        );
        assert!(text.contains("= -4.00 本公司代开发票, +2.00 subject:>, +1.00"), "{text}");
        let ((total, sum), (header_total, _)) = (numbers(&text), numbers(&header));
        assert!((total - sum).abs() < 1e-9 && (total - header_total).abs() < 1e-9, "{text}");
    }
}
