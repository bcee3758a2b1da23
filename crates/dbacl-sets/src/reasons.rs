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

use dbacl_joint::explain::shown;
use dbacl_mail::verdict_header::REASONS;
use std::fmt::Write;

/// The most tokens that are named.
pub const NAMED: usize = 10;

/// The most characters of a token that are shown.
const SHOWN: usize = 30;

/// The most characters of a header line, unless a single token is longer.
const WIDTH: usize = 76;

/// What a part of a document adds to the odds.
pub struct Evidence {
    /// The part: a token, a word or a tag.
    pub text: Vec<u8>,
    /// What it adds, bits.
    pub bits: f64,
    /// How many distinct features it has.
    pub features: usize,
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
}

fn hundredths(bits: f64) -> f64 {
    (100.0 * bits).round()
}

impl Reasons {
    /// The tokens that weigh most, at most so many, each once: `+6.31 pills, -0.97 meeting`.
    pub fn strongest(&self, most: usize) -> String {
        let mut named: Vec<(String, f64)> = Vec::new();
        for (token, bits) in &self.tokens {
            let token = word(token);
            if named.len() < most && named.iter().all(|(other, _)| *other != token) {
                named.push((token, *bits));
            }
        }
        let shown =
            named.iter().map(|(token, bits)| format!("{} {token}", signed(hundredths(*bits))));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The header line without its end. Where it is long it is folded: a line end stands before a
    /// blank.
    pub fn header(&self) -> String {
        let mut text = REASONS.to_owned();
        text.push(':');
        let mut width = text.len();
        let named: f64 = self.tokens.iter().map(|&(_, bits)| hundredths(bits)).sum();
        let (total, others) = (hundredths(self.bits), hundredths(self.others));
        let mut items = vec![format!("{} {} =", word(self.category.as_bytes()), signed(total))];
        for (token, bits) in &self.tokens {
            items.push(format!("{} {},", signed(hundredths(*bits)), word(token)));
        }
        if self.number_of_others > 0 {
            items.push(format!("{} in {} others,", signed(others), self.number_of_others));
        }
        let counted = if self.number_of_others > 0 { others } else { 0.0 };
        // The rounding errors are added here, so that the printed numbers add up.
        items.push(format!("{} before any", signed(total - named - counted)));
        for item in items {
            if width + 1 + item.len() > WIDTH && width > REASONS.len() + 1 {
                text.push('\n');
                width = 0;
            }
            let _ = write!(text, " {item}");
            width += 1 + item.len();
        }
        text
    }
}

/// A number of hundredths of a bit, written in bits with its sign.
fn signed(hundredths: f64) -> String {
    // A zero is written without a minus.
    format!("{:+.2}", if hundredths == 0.0 { 0.0 } else { hundredths / 100.0 })
}

/// A token for a header: unchanged if all its characters are harmless there, else as an encoded
/// word (RFC 2047), whose bytes are letters, digits and `=XX`.
fn word(token: &[u8]) -> String {
    let text = shown(token);
    let short: String = text.chars().take(SHOWN).collect();
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
}
