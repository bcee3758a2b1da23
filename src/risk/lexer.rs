// SPDX-License-Identifier: GPL-3.0-or-later
//! Cuts the text of a specification, or of one row's formulas, into tokens (spec tools 1.2).

/// One token. Where several readings are possible the longest wins, then the earlier one here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A word of the language, one of [`KEYWORDS`].
    Keyword(&'a [u8]),
    /// `$` and one digit: a number captured by the row's condition.
    Submatch(u8),
    /// A number as written; its value is `strtod`'s.
    Number(&'a [u8]),
    /// A letter, then letters and digits.
    Name(&'a [u8]),
    /// A regular expression, without its quotes and with its backslashes.
    Regex(&'a [u8]),
    /// The text between `[` and `]`.
    Row(&'a [u8]),
    /// Any other byte.
    Other(u8),
    /// The end of the text.
    End,
}

/// The keywords. `inf` is not one of them: it is a number.
pub(crate) const KEYWORDS: [&[u8]; 6] =
    [b"categories", b"loss_matrix", b"prior", b"complexity", b"exp", b"log"];

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme<'a> {
    /// What it is.
    pub token: Token<'a>,
    /// All its bytes, quotes and brackets included; empty at the end.
    pub text: &'a [u8],
    /// Line from 1 as dbacl 1.14.1 counts: newlines within a regular expression or a row do not
    /// count.
    pub line: usize,
    /// Byte offset of its start.
    pub offset: usize,
}

/// Cuts a text into tokens; after the last one it yields [`Token::End`] for ever.
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    relaxed: bool,
    has_long_names: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `text`, which is a specification. With `relaxed` there may be
    /// comments after other text, carriage returns, numbers like `.5` and `1e5`, and names may
    /// hold `_`, `-` and `.`.
    pub(crate) const fn of_specification(text: &'a [u8], relaxed: bool) -> Self {
        Self { text, at: 0, line: 1, relaxed, has_long_names: relaxed }
    }

    /// A lexer at the start of `text`, which are the formulas of a row. `relaxed` is as above, but
    /// for the names: a hyphen is a minus.
    pub(crate) const fn of_formulas(text: &'a [u8], relaxed: bool) -> Self {
        Self { text, at: 0, line: 1, relaxed, has_long_names: false }
    }

    /// The next token; blanks, newlines and comments are skipped.
    pub(crate) fn next_token(&mut self) -> Lexeme<'a> {
        self.skip();
        let rest = &self.text[self.at..];
        let (token, length) = scan(rest, self.relaxed, self.has_long_names);
        let lexeme = Lexeme { token, text: &rest[..length], line: self.line, offset: self.at };
        self.at += length;
        lexeme
    }

    fn skip(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                }
                b'\r' if self.relaxed => self.at += 1,
                b'#' if self.relaxed => {
                    let rest = &self.text[self.at..];
                    let length = rest.iter().position(|&byte| byte == b'\n');
                    self.at += length.unwrap_or(rest.len());
                }
                // a comment starts in column one and needs a newline after it
                b'#' if self.at == 0 || self.text[self.at - 1] == b'\n' => {
                    match self.text[self.at..].iter().position(|&byte| byte == b'\n') {
                        Some(length) => self.at += length,
                        None => return,
                    }
                }
                _ => return,
            }
        }
    }
}

/// The token at the front of `text`, and its length.
fn scan(text: &[u8], relaxed: bool, has_long_names: bool) -> (Token<'_>, usize) {
    let Some(&first) = text.first() else { return (Token::End, 0) };
    match first {
        b'0'..=b'9' => {
            let length = number(text, relaxed);
            (Token::Number(&text[..length]), length)
        }
        b'.' if relaxed && text.get(1).is_some_and(u8::is_ascii_digit) => {
            let length = number(text, relaxed);
            (Token::Number(&text[..length]), length)
        }
        b'a'..=b'z' | b'A'..=b'Z' => word(text, has_long_names),
        b'$' => match text.get(1) {
            Some(digit @ b'0'..=b'9') => (Token::Submatch(digit - b'0'), 2),
            _ => (Token::Other(b'$'), 1),
        },
        b'"' => regex(text).unwrap_or((Token::Other(b'"'), 1)),
        b'[' => match text[1..].iter().position(|byte| matches!(byte, b'[' | b']')) {
            Some(length) if text[1 + length] == b']' => (Token::Row(&text[1..=length]), length + 2),
            _ => (Token::Other(b'['), 1),
        },
        other => (Token::Other(other), 1),
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Length of `D+`, `D+.D*` or `D+.D*e[+-]D+`: an exponent needs a point before it unless `relaxed`.
fn number(text: &[u8], relaxed: bool) -> usize {
    let whole = digits(text);
    let has_point = text.get(whole) == Some(&b'.');
    if !has_point && !relaxed {
        return whole;
    }
    let end = if has_point { whole + 1 + digits(&text[whole + 1..]) } else { whole };
    if !matches!(text.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
    match digits(&text[end + 1 + sign..]) {
        0 => end,
        length => end + 1 + sign + length,
    }
}

/// A keyword, `inf` or a name. (`loss_matrix` is the one word with an underscore.)
fn word(text: &[u8], has_long_names: bool) -> (Token<'_>, usize) {
    let belongs = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || has_long_names && matches!(byte, b'_' | b'-' | b'.')
    };
    let length = if text.starts_with(b"loss_matrix") {
        b"loss_matrix".len()
    } else {
        text.iter().take_while(belongs).count()
    };
    let name = &text[..length];
    let token = match name {
        b"inf" | b"INF" => Token::Number(name),
        _ if KEYWORDS.contains(&name) => Token::Keyword(name),
        _ => Token::Name(name),
    };
    (token, length)
}

/// `"..."`, where a backslash protects the next byte, which may not be a newline.
fn regex(text: &[u8]) -> Option<(Token<'_>, usize)> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some((Token::Regex(&text[1..at]), at + 1)),
            b'\\' if matches!(text.get(at + 1), None | Some(b'\n')) => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A token that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse error at line {line} before '{}'", shown(before))]
pub(crate) struct SyntaxError {
    /// Line, from 1, as dbacl 1.14.1 counts it.
    pub line: usize,
    /// The token's text; empty at the end of the file.
    pub before: Vec<u8>,
    /// The token's byte offset.
    pub offset: usize,
}

impl SyntaxError {
    /// An error at `lexeme`.
    pub(crate) fn before(lexeme: Lexeme<'_>) -> Self {
        Self { line: lexeme.line, before: lexeme.text.to_vec(), offset: lexeme.offset }
    }
}

/// The text up to its first NUL byte.
fn shown(text: &[u8]) -> String {
    let shown = text.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        show_all(Lexer::of_specification(text.as_bytes(), false))
    }

    fn show_all(mut lexer: Lexer<'_>) -> String {
        let mut out = Vec::new();
        loop {
            let Lexeme { token, line, .. } = lexer.next_token();
            let string = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let shown = match token {
                Token::End => return out.join(" "),
                Token::Submatch(digit) => format!("${digit}"),
                Token::Number(text) => format!("n:{}", string(text)),
                Token::Name(text) => format!("w:{}", string(text)),
                Token::Regex(text) => format!("r:{}", string(text)),
                Token::Row(text) => format!("[{}]", string(text)),
                Token::Other(byte) => char::from(byte).to_string(),
                Token::Keyword(word) => format!("k:{}", string(word)),
            };
            out.push(format!("{shown}@{line}"));
        }
    }

    #[test]
    fn longest_reading_wins() {
        for (text, expected) in [
            ("", ""),
            ("categories{a,b2}", "k:categories@1 {@1 w:a@1 ,@1 w:b2@1 }@1"),
            ("loss_matrix prior complexity", "k:loss_matrix@1 k:prior@1 k:complexity@1"),
            ("exp log exp2 logs inf INF Inf infx", {
                "k:exp@1 k:log@1 w:exp2@1 w:logs@1 n:inf@1 n:INF@1 w:Inf@1 w:infx@1"
            }),
            ("$1 $12 $ $x", "$1@1 $1@1 n:2@1 $@1 $@1 w:x@1"),
            ("1. 007 1.E-3 1.5e+7", "n:1.@1 n:007@1 n:1.E-3@1 n:1.5e+7@1"),
            ("1e5 .5 -1 1.5e 1.5e+", {
                "n:1@1 w:e5@1 .@1 n:5@1 -@1 n:1@1 n:1.5@1 w:e@1 n:1.5@1 w:e@1 +@1"
            }),
            ("my_mail", "w:my@1 _@1 w:mail@1"),
            ("loss_matrixx", "k:loss_matrix@1 w:x@1"),
            (r#""a\"b" "" "\\" x"#, r#"r:a\"b@1 r:@1 r:\\@1 w:x@1"#),
            ("\"open", "\"@1 w:open@1"),
            ("\"a\\\nb\"", "\"@1 w:a@1 \\@1 w:b@2 \"@2"),
            ("\"a\nb\" c", "r:a\nb@1 w:c@1"),
            ("[1,\n2] [a [b] ]", "[1,\n2]@1 [@1 w:a@1 [b]@1 ]@1"),
            ("# one\na\n#two\n#\n b", "w:a@2 w:b@5"),
            ("a # no", "w:a@1 #@1 w:no@1"),
            ("a\n#no newline", "w:a@1 #@2 w:no@2 w:newline@2"),
            ("a\r\n", "w:a@1 \r@1"),
        ] {
            assert_eq!(show(text), expected, "{text:?}");
        }
    }

    #[test]
    fn relaxed_rules_take_more_numbers_names_and_comments() {
        for (text, specification, formulas) in [
            (
                "1e5 .5 1.5e .",
                "n:1e5@1 n:.5@1 n:1.5@1 w:e@1 .@1",
                "n:1e5@1 n:.5@1 n:1.5@1 w:e@1 .@1",
            ),
            ("2E-3 .5e+2 1-2", "n:2E-3@1 n:.5e+2@1 n:1@1 -@1 n:2@1", {
                "n:2E-3@1 n:.5e+2@1 n:1@1 -@1 n:2@1"
            }),
            ("a # b\r\nc # d", "w:a@1 w:c@2", "w:a@1 w:c@2"),
            ("not-spam my_mail.old", "w:not-spam@1 w:my_mail.old@1", {
                "w:not@1 -@1 w:spam@1 w:my@1 _@1 w:mail@1 .@1 w:old@1"
            }),
            (
                "loss_matrix prior{",
                "k:loss_matrix@1 k:prior@1 {@1",
                "k:loss_matrix@1 k:prior@1 {@1",
            ),
        ] {
            assert_eq!(show_all(Lexer::of_specification(text.as_bytes(), true)), specification);
            assert_eq!(show_all(Lexer::of_formulas(text.as_bytes(), true)), formulas);
        }
    }

    #[test]
    fn end_repeats_and_has_no_text() {
        let mut lexer = Lexer::of_specification(b"a\n\n", false);
        lexer.next_token();
        for _ in 0..2 {
            let end = lexer.next_token();
            assert_eq!((end.token, end.text, end.line), (Token::End, &b""[..], 3));
        }
    }
}
