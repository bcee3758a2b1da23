// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests with the Unicode consortium's own test files, as Debian's package `unicode-data` installs
//! them, and a list of intended differences.

use super::table::{Table, composes, is_disguise};
use super::tests::{Shown, words};
use super::*;
use dbacl_testing::skip;
use std::path::PathBuf;
use std::process::Command;

/// A file of the package, or of the folder that `UNICODE_DATA` names.
fn file(name: &str) -> Option<String> {
    let folder = std::env::var_os("UNICODE_DATA").unwrap_or("/usr/share/unicode".into());
    let path = PathBuf::from(folder).join(name);
    // The package has its longest file compressed.
    let unpack = || {
        let done = Command::new("bzip2").arg("-dc").arg(path.with_extension("txt.bz2")).output();
        done.ok().and_then(|done| String::from_utf8(done.stdout).ok())
    };
    let text = std::fs::read_to_string(&path).ok().or_else(unpack).filter(|text| !text.is_empty());
    if text.is_none() {
        skip(name, "Debian's package unicode-data is not installed");
    }
    text
}

/// The lines of a file without comments.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    rows.filter(|row| !row.is_empty() && !row.starts_with('@'))
}

/// Code points in hexadecimal, as text. Halves of surrogate pairs are none.
fn text(codes: &str) -> Option<String> {
    let code = |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
    codes.split_whitespace().map(code).collect()
}

fn glyphs(line: &str) -> String {
    let mut sink = Shown::default();
    let mut tokenizer = UnicodeTokenizer::new(Scheme::Glyph, false, false);
    tokenizer.line(line.as_bytes(), &mut sink);
    sink.0
}

#[test]
fn all_forms_of_a_text_have_the_same_words() {
    let Some(file) = file("NormalizationTest.txt") else { return };
    let mut tested = 0;
    for row in rows(&file) {
        let forms: Vec<String> = row.split(';').filter_map(text).take(5).collect();
        assert_eq!(forms.len(), 5, "{row}");
        let (expected, letters) = (words(&forms[0]), glyphs(&forms[0]));
        for form in &forms[1..] {
            assert_eq!(words(form), expected, "{row}");
            assert_eq!(glyphs(form), letters, "{row}");
        }
        tested += 1;
    }
    assert!(tested > 18_000, "{tested} rows");
}

#[test]
fn characters_fold_as_the_standard_says() {
    let Some(file) = file("DerivedNormalizationProps.txt") else { return };
    let table = Table::new(false);
    let mut tested = 0;
    for row in rows(&file) {
        let fields: Vec<&str> = row.split(';').map(str::trim).collect();
        let &[codes, "NFKC_CF", folded] = fields.as_slice() else { continue };
        let (first, last) = codes.split_once("..").unwrap_or((codes, codes));
        let number = |code: &str| u32::from_str_radix(code, 16).expect("a code point");
        let expected = text(folded).expect("no surrogates");
        for character in (number(first)..=number(last)).filter_map(char::from_u32) {
            let found: String = table.folded(character).into_iter().collect();
            assert_eq!(found, expected, "{character:?}");
            tested += 1;
        }
    }
    assert!(tested > 10_000, "{tested} characters");
}

/// Why the words of a line of WordBreakTest.txt differ on purpose, if they do.
fn reason(line: &str) -> Option<&'static str> {
    let has = |wanted: fn(char) -> bool| line.chars().any(wanted);
    if has(|c| c == ':') {
        return Some("a colon does not join letters: it stands before answers and ports");
    }
    if has(|c| matches!(c, '\u{3031}' | '\u{30a2}')) {
        return Some("kana are cut into pairs");
    }
    if has(|c| c == '"') && has(|c| matches!(c, '\u{5d0}'..='\u{5ea}')) {
        return Some("Hebrew abbreviations have their own sign, not the quotation mark");
    }
    if has(|c| c == '.') && has(|c| c.is_ascii_digit()) && has(char::is_alphabetic) {
        return Some("a full stop joins letters and digits in names of hosts and files");
    }
    if has(|c| matches!(c, '\u{231a}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{2701}' | '\u{1f6d1}')) {
        return Some("pictures joined by U+200D are single pictures");
    }
    if has(|c| matches!(c, '\u{300}'..='\u{36f}')) {
        return Some("a mark without a letter is left out");
    }
    if has(|c| c == ',' || c == ';') && has(|c| c == '_') {
        return Some("a low line is no digit");
    }
    None
}

/// The words of a text, wherever its lines end.
fn words_of_lines(text: &str) -> String {
    words(text).replace('/', "")
}

#[test]
fn words_are_those_of_uax_29_but_for_a_list_of_differences() {
    let Some(file) = file("auxiliary/WordBreakTest.txt") else { return };
    let (mut same, mut other) = (0, std::collections::BTreeMap::new());
    for row in rows(&file) {
        let segments: Vec<String> = row
            .split('÷')
            .map(|segment| segment.replace('×', " "))
            .filter(|segment| !segment.trim().is_empty())
            .map(|segment| text(&segment).expect("no surrogates"))
            .collect();
        let line = segments.concat();
        // Words of segments that are one in the standard, each cut by itself.
        let expected: Vec<String> = segments
            .iter()
            .map(|segment| words_of_lines(segment))
            .filter(|w| !w.is_empty())
            .collect();
        if words_of_lines(&line) == expected.join(" ")
            && !expected.iter().any(|word| word.contains(' '))
        {
            same += 1;
            continue;
        }
        let reason = reason(&line);
        assert!(reason.is_some(), "{row}: {:?}, not {expected:?}", words_of_lines(&line));
        *other.entry(reason).or_insert(0) += 1;
    }
    assert!(same > 1_000, "{same} lines are the same, others: {other:#?}");
}

#[test]
fn letters_that_look_alike_bring_the_word_that_they_look_like() {
    let mut tested = 0;
    for character in '\u{370}'..='\u{58f}' {
        let mut bytes = [0; 4];
        let skeleton: String =
            unicode_security::skeleton(character.encode_utf8(&mut bytes)).collect();
        let folded = Table::new(false).folded(character);
        if folded != [character]
            || composes(character)
            || is_disguise(character)
            || skeleton.len() != 1
            || !skeleton.chars().all(|c| c.is_ascii_alphabetic())
        {
            continue;
        }
        let disguised = format!("vi{character}gra");
        let plain = format!("vi{}gra", skeleton.to_ascii_lowercase());
        assert_eq!(words(&disguised), format!("{disguised} {plain}"), "{character:?}");
        tested += 1;
    }
    assert!(tested > 20, "{tested} letters");
}
