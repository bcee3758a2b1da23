// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes how much each word of a message adds to the odds of the category.
//!
//! A word's weight is what it adds to the log-likelihood ratio of the category to its own reference
//! measure: λ − log Z for each feature that ends with it. Together with the reference measure's own
//! log-probabilities these are the terms of the message's score.

use std::collections::HashMap;
use std::ops::Range;

use super::judge::Judge;
use crate::input::lines::{LineReader, Stream};
use crate::token::BOUNDARY;
use dbacl_numeric::elementary::bits;

/// A word on a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// Its position in the line's text, in bytes.
    pub at: Range<usize>,
    /// Its weight, bits: positive speaks for the category.
    pub bits: f64,
}

/// A line of a message as the tokenizer sees it, but with its case.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Line {
    /// The text, decoded, without its end.
    pub text: Vec<u8>,
    /// The words that count, in their order.
    pub words: Vec<Word>,
}

/// A word of the whole message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// The word, as the category knows it.
    pub text: Vec<u8>,
    /// How often it occurs.
    pub count: u32,
    /// Weight of all its occurrences, bits.
    pub bits: f64,
}

/// The lines and words of a message with their weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WordEvidence {
    /// The lines that count.
    pub lines: Vec<Line>,
    /// The words, by decreasing absolute weight.
    pub terms: Vec<Term>,
    /// Whether the message was longer than what was read.
    pub is_cut: bool,
}

/// Weighs the words of `message`, of which at most `limit` bytes are read.
pub(crate) fn evidence(judge: &mut Judge, message: &[u8], limit: usize) -> WordEvidence {
    let is_cut = message.len() > limit;
    let message = &message[..message.len().min(limit)];
    let mut found = WordEvidence { is_cut, ..WordEvidence::default() };
    let mut terms: HashMap<Vec<u8>, (u32, f64)> = HashMap::new();
    let mut stream = Stream::new(Box::new(message));
    let mut reader = LineReader::default();
    let mut line = Vec::new();
    judge.begin();
    loop {
        let is_last = reader.next_line(&mut stream, &mut line);
        let mut is_kept = judge.filter(&mut line);
        while is_kept {
            weigh(judge, &mut line, &mut terms, &mut found.lines);
            is_kept = judge.next_text(&mut line);
        }
        if is_last {
            break;
        }
    }
    judge.end(|judge, line| weigh(judge, line, &mut terms, &mut found.lines));
    judge.finish();
    found.terms =
        terms.into_iter().map(|(text, (count, bits))| Term { text, count, bits }).collect();
    found
        .terms
        .sort_by(|a, b| b.bits.abs().total_cmp(&a.bits.abs()).then_with(|| a.text.cmp(&b.text)));
    found
}

/// Weighs the words of one line of text.
fn weigh(
    judge: &mut Judge,
    line: &mut Vec<u8>,
    terms: &mut HashMap<Vec<u8>, (u32, f64)>,
    lines: &mut Vec<Line>,
) {
    let text = line.clone();
    let mut words: Vec<Word> = Vec::new();
    // Features of one origin come in the order of the text.
    let mut origin = None;
    let mut from = 0;
    let mut pending = 0.0;
    judge.score(line, |feature, cell| {
        if !cell.applies {
            return;
        }
        let weight = bits(f64::from(cell.lambda + cell.multinomial) + cell.renorm);
        let body = feature.body;
        let term = terms.entry(term_text(body)).or_default();
        term.0 += 1;
        term.1 += weight;
        if feature.order > 1 {
            // Longer features come before the word that they end with.
            pending += weight;
            return;
        }
        let word = &body[1..body.len().saturating_sub(1).max(1)];
        if origin != feature.pattern {
            (origin, from) = (feature.pattern, 0);
        }
        if let Some(at) = find(&text, word, from) {
            let end = at + word.len();
            from = if origin.is_none() { end } else { at };
            words.push(Word { at: at..end, bits: weight + pending });
            pending = 0.0;
        }
    });
    if let Some(last) = words.last_mut() {
        last.bits += pending;
    }
    split(&text, words, lines);
}

/// A feature's words with blanks between them.
fn term_text(body: &[u8]) -> Vec<u8> {
    let inner = body.strip_prefix(&[BOUNDARY]).unwrap_or(body);
    let inner = inner.strip_suffix(&[BOUNDARY]).unwrap_or(inner);
    inner.iter().map(|&byte| if byte == BOUNDARY { b' ' } else { byte }).collect()
}

/// Number of bytes within which the next word is looked for.
const REACH: usize = 4096;

/// Where `word` stands in `text` from `from` on, whatever its case.
fn find(text: &[u8], word: &[u8], from: usize) -> Option<usize> {
    let first = *word.first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let text = &text[..text.len().min(from + REACH)];
    let mut at = from;
    while let Some(step) = memchr::memchr2(lower, upper, text.get(at..)?) {
        at += step;
        let end = at + word.len();
        if text.get(at..end)?.eq_ignore_ascii_case(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Appends a filtered line, which may hold several newlines, as lines of the message.
fn split(text: &[u8], mut words: Vec<Word>, lines: &mut Vec<Line>) {
    let mut start = 0;
    words.sort_by_key(|word| word.at.start);
    let mut words = words.into_iter().peekable();
    for piece in text.split_inclusive(|&byte| byte == b'\n') {
        let end = start + piece.len();
        let mut line = Line { text: super::select::content(piece).to_vec(), words: Vec::new() };
        while let Some(word) = words.next_if(|word| word.at.start < end) {
            let at = word.at.start.saturating_sub(start)..word.at.end - start;
            if at.end <= line.text.len() {
                line.words.push(Word { at, bits: word.bits });
            }
        }
        let follows_empty = lines.last().is_none_or(|last| last.text.is_empty());
        if !(line.text.is_empty() && follows_empty) {
            lines.push(line);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::mailinspect::mail::sample;

    /// Lines with each word that has a weight in brackets, after `+` or `-`.
    fn marked(found: &WordEvidence) -> Vec<String> {
        let line = |line: &Line| {
            let mut out = Vec::new();
            let mut from = 0;
            for word in line.words.iter().filter(|word| word.bits != 0.0) {
                out.extend_from_slice(&line.text[from..word.at.start]);
                out.push(if word.bits > 0.0 { b'+' } else { b'-' });
                out.push(b'[');
                out.extend_from_slice(&line.text[word.at.clone()]);
                out.push(b']');
                from = word.at.end;
            }
            out.extend_from_slice(&line.text[from..]);
            String::from_utf8(out).expect("text")
        };
        found.lines.iter().map(line).collect()
    }

    #[test]
    fn words_are_found_where_they_stand() {
        let words = [("red", 3, 2.0), ("red", 10, 3.0), ("caf\u{e9}", 3, 1.0)];
        let mut judge = sample::judge(&words, true);
        let message = "From x\nSubject: Red =?utf-8?q?red?=\nX-Red: red\n\n\ninfrared red,REDred\n\
                       \n\ncaf\u{e9} Red";
        let found = evidence(&mut judge, message.as_bytes(), 1 << 16);
        assert_eq!(
            marked(&found),
            ["Subject: +[Red] +[red]", "", "infrared +[red],REDred", "", "caf\u{e9} +[Red]", ""]
        );
        let red = &found.terms[0];
        assert_eq!((&red.text[..], red.count), (&b"red"[..], 4));
        assert!((red.bits - bits(10.0)).abs() < 1e-12, "{}", red.bits);
        assert!(!found.is_cut);
    }

    #[test]
    fn long_messages_are_cut() {
        let mut judge = sample::judge(&[], true);
        let found = evidence(&mut judge, b"From x\n\nred green blue", 13);
        assert!(found.is_cut);
        assert_eq!(found.terms.iter().map(|term| term.count).sum::<u32>(), 2);
    }

    #[test]
    fn decoded_lines_are_split_and_words_stay_with_them() {
        let mut judge = sample::judge(&[("red", 3, 2.0)], true);
        let message = b"Content-Transfer-Encoding: base64\n\nb25lIHJlZAp0d28KcmVkIHRocmVlCg==\n";
        let found = evidence(&mut judge, message, 1 << 16);
        assert_eq!(marked(&found)[..3], ["one +[red]", "two", "+[red] three"]);
    }
}
