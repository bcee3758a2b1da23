// SPDX-License-Identifier: GPL-3.0-or-later
//! Explains what is probably wrong with a specification.
//!
//! Messages in the form of dbacl 1.14.1 name a line and a token. Advice names line and column as
//! editors count them, and says what to write instead.

use super::expression::{self, Values};
use super::lexer::KEYWORDS;
use super::parse::{Row, Specification, SyntaxError};

/// One remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Byte offset of the place in the file.
    pub offset: usize,
    /// The remark, without a full stop.
    pub text: String,
}

/// Line and column of a byte, both from 1, every newline counted.
pub(crate) fn position(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.split(|&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    (line, before.len() - start + 1)
}

/// What probably led to a syntax error at `offset` of the file.
pub(crate) fn on_syntax_error(text: &[u8], offset: usize) -> Advice {
    let before = text[..offset.min(text.len())].last().copied().unwrap_or(b'\n');
    let rest = text.get(offset..).unwrap_or_default();
    let second_is_digit = rest.get(1).is_some_and(u8::is_ascii_digit);
    if let Some(name) = crooked_name(text, offset) {
        let text = format!(
            "a category's name is letters and digits only, '{name}' is not: rename the category's \
             file, learn it anew or link to it"
        );
        return Advice { offset, text };
    }
    let remark = match rest.first() {
        None => "the file ends too early",
        Some(b'\r') => "lines end in CR LF here: they must end in a plain newline",
        Some(b'#') if before == b'\n' => "a comment needs a newline at its end",
        Some(b'#') => "a comment must begin in the first column",
        Some(b'.') if second_is_digit => "a number needs a digit before its point: 0.5, not .5",
        Some(b'+' | b'-') if second_is_digit => "a number has no sign; losses cannot be negative",
        Some(b'e' | b'E') if before.is_ascii_digit() => {
            "a number with an exponent needs a point: 1.e5, not 1e5"
        }
        Some(b'"') => "a regular expression does not end, or does not belong here",
        Some(b'[') => "a row of losses does not end, or does not belong here",
        Some(b'a'..=b'z' | b'A'..=b'Z') if is_reserved(rest) => {
            "this word is part of the language and cannot be a name"
        }
        _ => {
            "expected: categories { NAME, ... } prior { NUMBER, ... } \
             loss_matrix { \"REGEX\" NAME [ LOSS, ... ] ... }"
        }
    };
    Advice { offset, text: remark.to_owned() }
}

/// The word around `offset` if it would be a name but for an underscore, hyphen or dot in it.
fn crooked_name(text: &[u8], offset: usize) -> Option<String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !matches!(text.get(offset), Some(b'_' | b'-' | b'.')) {
        return None;
    }
    let start = text[..offset].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let length = text[start..].iter().take_while(|byte| is_part(byte)).count();
    let word = &text[start..start + length];
    let is_name = start < offset && word.first().is_some_and(u8::is_ascii_alphabetic);
    is_name.then(|| String::from_utf8_lossy(word).into_owned())
}

fn is_reserved(text: &[u8]) -> bool {
    let length = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let word = &text[..length];
    KEYWORDS.contains(&word) || matches!(word, b"inf" | b"INF")
}

/// What is odd about a specification that can be read.
pub(crate) fn on_specification(specification: &Specification) -> Vec<Advice> {
    let mut advice = Vec::new();
    let mut tell = |offset, text: &str| advice.push(Advice { offset, text: text.to_owned() });
    for category in 0..specification.categories.len() {
        let name = &specification.categories[category];
        let mut is_dead = false;
        for (index, row) in specification.rows_of(category).enumerate() {
            let row = &specification.rows[row];
            if is_dead {
                let why = format!("a row of {name} before it always applies");
                tell(row.condition_offset, &format!("this row is never used: {why}"));
            }
            is_dead |= row.condition.is_empty();
            on_condition(row, &mut tell);
            on_formulas(specification, row, index, &mut tell);
        }
    }
    advice.sort_by_key(|remark| remark.offset);
    advice
}

/// Takes a remark on a byte of the file.
type Tell<'a> = dyn FnMut(usize, &str) + 'a;

fn on_condition(row: &Row, tell: &mut Tell<'_>) {
    if row.condition.starts_with(b"^") && !matches!(row.condition.get(1), None | Some(b' ' | b'$'))
    {
        tell(
            row.condition_offset,
            "dbacl -a puts a blank before each line, so write '^ ' to match a line's start",
        );
    }
    let is_dollar = row.condition.ends_with(b"$") && !row.condition.ends_with(b"\\$");
    if is_dollar && row.condition != b"^$" {
        tell(
            row.condition_offset,
            "'$' matches behind a line's newline only, so this matches a last line without newline",
        );
    }
}

fn on_formulas(specification: &Specification, row: &Row, index: usize, tell: &mut Tell<'_>) {
    let (order, relaxed) = (specification.categories.len(), specification.relaxed);
    let found = expression::evaluate(&row.formulas, Some(&Values::default()), relaxed);
    if let Some(SyntaxError { offset, .. }) = found.error {
        return tell(row.offset + offset, "this row cannot be read from here on");
    }
    let columns = found.columns.len();
    if columns < order {
        let missing = format!("{} of {order} losses are missing", order - columns);
        tell(row.offset, &format!("{missing}; they count as 1"));
    } else if columns > order {
        tell(row.offset, &format!("{} losses too many; they are ignored", columns - order));
    }
    if found.uses_submatch && (index > 0 || row.condition.is_empty()) {
        tell(
            row.offset,
            "$1 to $9 are the numbers captured by the category's first row, not by this one",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn complete(rows: &str) -> String {
        format!(
            "categories {{ a, b }}\nprior {{ 1, 1 }}\nloss_matrix {{\n{rows}\n\"\" b [1, 0]\n}}"
        )
    }

    #[test]
    fn syntax_errors_are_explained() {
        for (text, expected) in [
            ("categories { my_mail }", "'my_mail' is not"),
            ("categories { not-spam }", "'not-spam' is not"),
            ("categories { spam.v2 }", "'spam.v2' is not"),
            ("categories { a }\r\n", "CR LF"),
            ("categories { a } # x\n", "first column"),
            ("categories { a }\n# x", "newline at its end"),
            ("categories { a } prior { 1e5 }", "1.e5"),
            ("categories { a } prior { .5 }", "0.5"),
            ("categories { a } prior { -1 }", "no sign"),
            ("categories { log }", "part of the language"),
            ("categories { a } prior { 1 } loss_matrix { \"x a [1] }", "does not end"),
            ("categories { a } prior { 1 } loss_matrix { \"\" a [1 }", "row of losses"),
            ("categories { a", "too early"),
            ("rules { a }", "expected: categories"),
        ] {
            let error = parse(text.as_bytes(), false, &mut |_| {}).expect_err("an error");
            let advice = on_syntax_error(text.as_bytes(), error.offset);
            assert!(advice.text.contains(expected), "{text:?}: {}", advice.text);
        }
    }

    #[test]
    fn likely_mistakes_in_valid_specifications_are_reported() {
        for (rows, expected) in [
            ("\"\" a [0, 1]", &[][..]),
            ("\"\" a [0, 1]\n\"x\" a [0, 1]", &["(5, 1) this row is never used"]),
            ("\"\" a [0]", &["(4, 7) 1 of 2 losses are missing"]),
            ("\"\" a [0, 1, 2]", &["(4, 7) 1 losses too many"]),
            ("\"x\" a [0, ,]\n\"\" a [0, 1]", &["(4, 11) this row cannot be read"]),
            ("\"(x)\" a [0, $1]\n\"\" a [0, 1]", &[]),
            ("\"x\" a [0, 1]\n\"(y)\" a [$1, 1]\n\"\" a [0, 1]", &["(5, 10) $1 to $9"]),
            ("\"^x\" a [0, 1]\n\"\" a [0, 1]", &["(4, 1) dbacl -a puts"]),
            ("\"^ x\" a [0, 1]\n\"^$\" a [0, 1]\n\"\" a [0, 1]", &[]),
            ("\"x$\" a [0, 1]\n\"x\\$\" a [0, 1]\n\"\" a [0, 1]", &["(4, 1) '$' matches"]),
        ] {
            let text = complete(rows);
            let specification = parse(text.as_bytes(), false, &mut |_| {}).expect("readable");
            let advice = on_specification(&specification);
            assert_eq!(advice.len(), expected.len(), "{rows}: {advice:?}");
            for (advice, expected) in advice.iter().zip(expected) {
                let (line, column) = position(text.as_bytes(), advice.offset);
                let shown = format!("({line}, {column}) {}", advice.text);
                assert!(shown.starts_with(expected), "{shown}");
            }
        }
    }
}
