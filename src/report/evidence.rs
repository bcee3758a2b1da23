// SPDX-License-Identifier: GPL-3.0-or-later
//! Explanations of verdicts: the evidence of each token for one category and against another, in
//! bits.
//!
//! The sum of the evidence of all tokens, and of the prior, is the logarithm to base 2 of the odds.

use crate::report::html::{escape, page};
use std::collections::HashMap;
use std::fmt::Write;

/// The most tokens that are shown for each side.
pub(crate) const SHOWN: usize = 20;

/// The evidence of one token.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenEvidence {
    /// The token, to be shown.
    pub text: String,
    /// Occurrences.
    pub count: u32,
    /// Bits for the category, negative if against.
    pub bits: f64,
}

/// A piece of the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A token, with the evidence of this occurrence, bits.
    Token(String, f64),
    /// Text between tokens.
    Other(String),
}

/// An explained document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// What is being explained, one line.
    pub heading: String,
    /// What was classified, one line each: names of files and subjects of messages.
    pub sources: Vec<String>,
    /// The category that the evidence is for.
    pub category: String,
    /// The category that it is against.
    pub other: String,
    /// Evidence that comes from no token, bits: the log odds before any token.
    pub prior: f64,
    /// Evidence by token.
    pub tokens: Vec<TokenEvidence>,
    /// The text as it was cut, line by line.
    pub lines: Vec<Vec<Piece>>,
    /// Whether it is mail, of which words that say something to people are shown first.
    pub is_mail: bool,
}

/// Adds up the evidence of occurrences.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    places: HashMap<String, usize>,
    tokens: Vec<TokenEvidence>,
}

impl Gatherer {
    /// An occurrence of a token.
    pub(crate) fn add(&mut self, text: String, bits: f64) {
        self.add_times(text, bits, 1);
    }

    /// So many occurrences of a token, with these bits together.
    pub(crate) fn add_times(&mut self, text: String, bits: f64, times: u32) {
        let place = *self.places.entry(text.clone()).or_insert(self.tokens.len());
        if place == self.tokens.len() {
            self.tokens.push(TokenEvidence { text, count: 0, bits: 0.0 });
        }
        let token = &mut self.tokens[place];
        token.count += times;
        token.bits += bits;
    }

    /// The tokens, as [`strongest_first`] sorts them.
    pub(crate) fn finish(self) -> Vec<TokenEvidence> {
        strongest_first(self.tokens)
    }
}

/// Sorts tokens by strength; equally strong ones by name.
pub(crate) fn strongest_first(mut tokens: Vec<TokenEvidence>) -> Vec<TokenEvidence> {
    tokens.sort_by(|a, b| b.bits.abs().total_cmp(&a.bits.abs()).then_with(|| a.text.cmp(&b.text)));
    tokens
}

/// A token's bytes as text: blanks between the words of an n-gram, no control characters.
pub(crate) fn shown(body: &[u8]) -> String {
    let inner: Vec<u8> =
        body.iter().map(|&byte| if byte == crate::token::BOUNDARY { b' ' } else { byte }).collect();
    printable(String::from_utf8_lossy(&inner).trim())
}

/// Text without characters that control a terminal or the direction of text.
pub(crate) fn printable(text: &str) -> String {
    let is_odd = |c: char| {
        let is_invisible = matches!(c,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}');
        c.is_control() || is_invisible
    };
    text.chars().map(|c| if is_odd(c) { '\u{fffd}' } else { c }).collect()
}

/// Tags of mail that say something to people: of the subject, of sender and receiver, among them
/// mailing lists. Their names are those of `crate::filter::unicode::legend`.
const TELLING: [&str; 8] =
    ["subject", "subject-form", "subject-!", "subject-?", "from", "from-host", "to", "to-host"];

/// Whether a word or tag of mail says something to people, which names of hosts, numbers and shapes
/// hardly do.
pub(crate) fn is_telling(text: &str) -> bool {
    let kind = text.split_once(':').map(|(kind, _)| kind);
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    kind.is_some_and(|kind| TELLING.contains(&kind))
        || !text.contains(|c| ".:@/=_".contains(c)) && 2 * letters > text.chars().count()
}

impl Explanation {
    /// The sum of all evidence, bits: the prior and all tokens.
    pub fn total(&self) -> f64 {
        self.prior + self.tokens.iter().map(|token| token.bits).sum::<f64>()
    }

    fn strongest(&self, is_for: bool) -> Vec<&TokenEvidence> {
        let fits = |token: &&TokenEvidence| {
            if is_for { token.bits > 0.0 } else { token.bits < 0.0 }
        };
        let mut found: Vec<_> = self.tokens.iter().filter(fits).take(SHOWN).collect();
        found.sort_by_key(|token| self.is_mail && !is_telling(&token.text));
        found
    }

    /// The explanation as text, for a terminal or a file.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.heading);
        for source in &self.sources {
            text.push_str(source);
            text.push('\n');
        }
        text.push('\n');
        for (is_for, name) in [(true, &self.category), (false, &self.other)] {
            let _ = writeln!(text, "     bits  times  evidence for {name}");
            for token in self.strongest(is_for) {
                let _ =
                    writeln!(text, "{:>9.2} {:>6}  {}", token.bits.abs(), token.count, token.text);
            }
            text.push('\n');
        }
        let shown: f64 = [true, false]
            .into_iter()
            .flat_map(|side| self.strongest(side))
            .map(|one| one.bits)
            .sum();
        let total = self.total();
        let rest = total - shown - self.prior;
        for (bits, what) in
            [(rest, "all other tokens"), (self.prior, "before any token"), (total, "together")]
        {
            let _ = writeln!(text, "{bits:>+9.2}  {what}");
        }
        text
    }

    /// The explanation as one HTML page without scripts, which loads nothing; all text is escaped.
    pub fn html(&self) -> String {
        let mut html = format!("<h1>{}</h1>\n", escape(&self.heading));
        for source in &self.sources {
            let _ = writeln!(html, "<p>{}</p>", escape(source));
        }
        html.push_str("<div class=\"sides\">\n");
        for (is_for, name, class) in [(true, &self.category, "f"), (false, &self.other, "a")] {
            let _ = write!(
                html,
                "<table><caption>Evidence for <b class=\"{class}3\">{}</b></caption>\n\
                 <tr><th>bits</th><th>times</th><th>token</th></tr>\n",
                escape(name)
            );
            for token in self.strongest(is_for) {
                let _ = writeln!(
                    html,
                    "<tr><td>{:.2}</td><td>{}</td><td>{}</td></tr>",
                    token.bits.abs(),
                    token.count,
                    escape(&token.text)
                );
            }
            html.push_str("</table>\n");
        }
        let _ = write!(
            html,
            "</div>\n<p>All evidence together, with {:.2} bits before any token: <b>{:+.2} \
             bits</b> \
             for {}.</p>\n<pre>",
            self.prior,
            self.total(),
            escape(&self.category)
        );
        let strongest = self.tokens.first().map_or(0.0, |token| token.bits.abs());
        for line in &self.lines {
            for piece in line {
                match piece {
                    Piece::Other(text) => html.push_str(&escape(text)),
                    Piece::Token(text, bits) => {
                        let level = level(*bits, strongest);
                        if level == 0 {
                            html.push_str(&escape(text));
                        } else {
                            let side = if *bits > 0.0 { 'f' } else { 'a' };
                            let _ = write!(
                                html,
                                "<span class=\"{side}{level}\" title=\"{bits:+.2} bits\">{}</span>",
                                escape(text)
                            );
                        }
                    }
                }
            }
            html.push('\n');
        }
        html.push_str("</pre>\n");
        page(&self.heading, STYLE, &html)
    }
}

/// Strength of the tint, 0 to 3, on a scale that the strongest token sets.
fn level(bits: f64, strongest: f64) -> u8 {
    let share = bits.abs() / strongest.max(1e-9);
    match share {
        share if share >= 0.5 => 3,
        share if share >= 0.2 => 2,
        share if share >= 0.05 => 1,
        _ => 0,
    }
}

const STYLE: &str = "\
:root { --for: 200,40,20; --against: 20,110,40 }
@media (prefers-color-scheme: dark) { :root { --for: 255,110,80; --against: 90,210,120 } }
main { max-width: 70rem }
h1 { font-size: 1.3rem }
.sides { display: flex; gap: 3rem; flex-wrap: wrap }
caption { text-align: left; padding-bottom: .3rem }
td, th { text-align: right; padding: 0 .8rem 0 0; font-variant-numeric: tabular-nums }
td:last-child, th:last-child { text-align: left; font-family: monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-top: 1px solid; padding-top: 1rem }
.f1 { background: rgba(var(--for),.15) } .f2 { background: rgba(var(--for),.35) }
.f3 { background: rgba(var(--for),.6) }
.a1 { background: rgba(var(--against),.15) } .a2 { background: rgba(var(--against),.35) }
.a3 { background: rgba(var(--against),.6) }
";

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation() -> Explanation {
        let mut gatherer = Gatherer::default();
        for (text, bits) in [("free", 4.0), ("re", -2.0), ("free", 4.0), ("<b>", 1.0)] {
            gatherer.add(text.into(), bits);
        }
        Explanation {
            heading: "spam & eggs".into(),
            sources: vec!["inbox/1: <i>".into()],
            category: "spam".into(),
            other: "ham".into(),
            prior: -0.5,
            tokens: gatherer.finish(),
            lines: vec![vec![
                Piece::Token("free".into(), 4.0),
                Piece::Other(" <script>\u{1b}".into()),
            ]],
            is_mail: false,
        }
    }

    #[test]
    fn evidence_adds_up() {
        let explanation = explanation();
        assert_eq!(
            explanation.tokens[0],
            TokenEvidence { text: "free".into(), count: 2, bits: 8.0 }
        );
        assert_eq!(explanation.total(), 8.0 - 2.0 + 1.0 - 0.5);
        let text = explanation.text();
        assert!(text.starts_with("spam & eggs\ninbox/1: <i>\n\n "), "{text}");
        assert!(text.contains("     8.00      2  free"), "{text}");
        assert!(text.contains("    +6.50  together"), "{text}");
    }

    #[test]
    fn nothing_in_the_text_becomes_markup() {
        let html = explanation().html();
        assert!(html.contains("<span class=\"f3\" title=\"+4.00 bits\">free</span>"), "{html}");
        assert!(html.contains("&lt;script&gt;\u{fffd}") && !html.contains("<script"));
        assert!(html.contains("<p>inbox/1: &lt;i&gt;</p>"), "{html}");
        assert!(html.contains("spam &amp; eggs") && html.contains("<td>&lt;b&gt;</td>"));
        assert!(html.contains("Evidence for <b class=\"f3\">spam</b>"), "{html}");
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));
    }

    #[test]
    fn the_tint_grows_with_the_share_of_the_strongest_evidence() {
        let found = [8.0, -4.0, 3.9, 1.6, -1.5, 0.4, 0.39].map(|bits| level(bits, 8.0));
        assert_eq!(found, [3, 3, 2, 2, 1, 1, 0]);
        assert_eq!(level(0.0, 0.0), 0);
    }

    #[test]
    fn tokens_for_people() {
        assert_eq!(shown(b"\x03two\x03words\x03"), "two words");
        assert_eq!(shown(b"\x03a\x1b[2J\x03"), "a\u{fffd}[2J");
        assert_eq!(printable("a\u{202e}b\u{200d}c"), "a\u{fffd}b\u{200d}c");
    }

    #[test]
    fn of_mail_words_come_before_hosts_and_numbers() {
        let tokens = [
            ("origin-host:lair.example", 9.0),
            ("64.161.22.236", 8.0),
            ("20020828184218.399ce43f99", 7.0),
            ("subject:lunch", 5.0),
            ("from-host:example.org", 4.0),
            ("发票", 3.0),
            ("wörter2", 2.0),
        ];
        let tokens = tokens.map(|(text, bits)| TokenEvidence { text: text.into(), count: 1, bits });
        let mail = Explanation { tokens: tokens.to_vec(), is_mail: true, ..explanation() };
        let shown = |explanation: &Explanation| -> Vec<String> {
            explanation.strongest(true).iter().map(|token| token.text.clone()).collect()
        };
        let first = ["subject:lunch", "from-host:example.org", "发票", "wörter2"];
        assert_eq!(shown(&mail)[..4], first);
        assert_eq!(shown(&Explanation { is_mail: false, ..mail })[0], tokens[0].text);
    }
}
