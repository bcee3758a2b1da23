// SPDX-License-Identifier: GPL-3.0-or-later
//! Verdicts as header lines, in the forms that mail programs know (*dialects*), and mail in which
//! these lines replace those that it brought.

use crate::verdict::{Decision, Judged, REQUIRED};

/// A way to write verdicts into headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// `X-DBACL: spam 99.12%`, as `dbacl --mail-filter` writes it.
    Dbacl,
    /// `X-Spam-Status`, `X-Spam-Flag`, `X-Spam-Score` and `X-Spam-Level`.
    Spamassassin,
    /// `X-Spamd-Result`, and `X-Spam` for spam.
    Rspamd,
}

/// A header line without its end. One that is folded has line ends, each before a blank.
pub(crate) type Line = (&'static str, String);

/// The colon after a header field's name is looked for in this many bytes at the line's start.
const LOOK: usize = 64;

/// The name of the line that says which words decided.
const REASONS: &str = "X-DBACL-Reasons";

/// A header without a value, after ours in a message whose first line begins with a blank.
const FOLDED: &[u8] = b"X-DBACL-Folded:";

/// The header lines of a verdict, and of its reasons if it has some. `judged` is `None` for a
/// message that could not be classified; such a message gets `X-DBACL: error` in every dialect, and
/// nothing that looks like a verdict.
pub(crate) fn lines(judged: Option<&Judged>, dialects: &[Dialect]) -> Vec<Line> {
    let Some(judged) = judged else { return vec![("X-DBACL", "error".into())] };
    let (score, symbol) = (judged.score(), judged.symbol());
    let mut lines: Vec<Line> = Vec::new();
    for dialect in dialects {
        match dialect {
            Dialect::Dbacl => lines.push(("X-DBACL", judged.text.clone())),
            Dialect::Spamassassin => {
                let answer = if judged.is_spam() { "Yes" } else { "No" };
                if judged.is_spam() {
                    lines.push(("X-Spam-Flag", "YES".into()));
                }
                lines.push(("X-Spam-Score", format!("{score:.1}")));
                lines.push(("X-Spam-Level", level(score)));
                let status = format!(
                    "{answer}, score={score:.1} required={REQUIRED:.1} tests={symbol} \
                     autolearn=no version=dbacl-{}",
                    env!("CARGO_PKG_VERSION")
                );
                lines.push(("X-Spam-Status", status));
            }
            Dialect::Rspamd => {
                let answer = if judged.is_spam() { "True" } else { "False" };
                let text = &judged.text;
                lines.push((
                    "X-Spamd-Result",
                    format!(
                        "default: {answer} [{score:.2} / {REQUIRED:.2}]; \
                         {symbol}({score:.2})[{text}]"
                    ),
                ));
                if judged.decision == Decision::Spam {
                    lines.push(("X-Spam", "Yes".into()));
                }
            }
        }
    }
    let reasons = judged.reasons.as_deref().and_then(|line| line.split_once(": "));
    lines.extend(reasons.map(|(_, reasons)| (REASONS, reasons.to_owned())));
    lines
}

/// A star for each whole point of the score.
fn level(score: f64) -> String {
    let stars = (1..=50).take_while(|&stars| f64::from(stars) <= score).count();
    "*".repeat(stars)
}

/// Whether a header of this name states a verdict in one of the dialects, or is `X-DBACL` or its
/// reasons. Such headers of an incoming mail are removed, since anybody may have written them.
pub(crate) fn is_forged(name: &[u8], dialects: &[Dialect]) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    let begins = |start: &str| {
        name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    };
    is("X-DBACL")
        || is(REASONS)
        || dialects.iter().any(|dialect| match dialect {
            Dialect::Dbacl => false,
            Dialect::Spamassassin => begins("X-Spam-"),
            Dialect::Rspamd => is("X-Spam") || begins("X-Spamd-") || begins("X-Rspamd-"),
        })
}

/// The mail with these lines before its header, and without other header lines that state a
/// verdict. An envelope line `From ` stays the first. These are two parts: the new header, and what
/// stays as it is, which begins with the empty line that ends the header.
pub(crate) fn rewritten_header<'a>(
    mail: &'a [u8],
    lines: &[Line],
    dialects: &[Dialect],
) -> (Vec<u8>, &'a [u8]) {
    let line_end: &[u8] = match memchr(mail) {
        Some(at) if at > 0 && mail[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    let mut header = Vec::with_capacity(512);
    let mut rest = mail;
    if mail.starts_with(b"From ")
        && let Some(end) = memchr(mail)
    {
        header.extend_from_slice(&mail[..=end]);
        rest = &mail[end + 1..];
    }
    for (name, value) in lines {
        header.extend_from_slice(name.as_bytes());
        header.extend_from_slice(b": ");
        for part in value.split('\n') {
            header.extend_from_slice(part.as_bytes());
            header.extend_from_slice(line_end);
        }
    }
    // Behind our lines, one that begins with a blank would go on with them.
    if matches!(rest.first(), Some(b' ' | b'\t')) {
        header.extend_from_slice(FOLDED);
        header.extend_from_slice(line_end);
    }
    let mut brought = HeaderLines::default();
    while !rest.is_empty() && !is_empty(rest) {
        let (line, after) = rest.split_at(memchr(rest).map_or(rest.len(), |at| at + 1));
        if brought.keep(line, dialects) {
            header.extend_from_slice(line);
        }
        rest = after;
    }
    (header, rest)
}

/// Looks at the lines of a message, one after the other, for verdicts in its header.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeaderLines {
    is_over: bool,
    drops: bool,
}

impl HeaderLines {
    /// Whether the next line, with its end or without, stays in the mail.
    pub(crate) fn keep(&mut self, line: &[u8], dialects: &[Dialect]) -> bool {
        if self.is_over || line.is_empty() || is_empty(line) {
            self.is_over = true;
            return true;
        }
        if !matches!(line[0], b' ' | b'\t') {
            self.drops = name_of(line).is_some_and(|name| is_forged(name, dialects));
        }
        !self.drops
    }
}

/// Whether the first line is empty.
fn is_empty(lines: &[u8]) -> bool {
    lines.starts_with(b"\n") || lines.starts_with(b"\r\n")
}

/// The name of the header that a line begins. Blanks may stand before the colon, and even if they
/// are so many that the colon lies beyond [`LOOK`], the name counts.
fn name_of(line: &[u8]) -> Option<&[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_graphic() && *byte != b':';
    let (name, rest) = line.split_at(line.iter().position(|byte| !is_part(byte))?);
    let blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\n';
    let colon = rest.iter().position(|byte| !blank(byte))?;
    (!name.is_empty() && (rest[colon] == b':' || name.len() + colon >= LOOK)).then_some(name)
}

/// The bytes at the beginning of a message in which fields are looked for.
const SEARCHED: usize = 64 << 10;

/// The value of the first header field of this name, which is in small letters. Of a folded field
/// this is the first line that is not empty.
pub(crate) fn field(mail: &[u8], name: &str) -> Option<String> {
    let mut lines = mail[..mail.len().min(SEARCHED)].split(|&byte| byte == b'\n');
    let mut header = lines.by_ref().take_while(|line| !line.trim_ascii().is_empty());
    let value = header.find_map(|line| {
        let (own, rest) = line.split_at_checked(name.len())?;
        let rest = rest.trim_ascii_start();
        own.eq_ignore_ascii_case(name.as_bytes()).then(|| rest.strip_prefix(b":"))?
    })?;
    let value = match value.trim_ascii() {
        b"" => header.next().filter(|line| line.starts_with(b" ") || line.starts_with(b"\t"))?,
        value => value,
    };
    Some(String::from_utf8_lossy(value.trim_ascii()).into_owned()).filter(|text| !text.is_empty())
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Dialect] = &[Dialect::Dbacl, Dialect::Spamassassin, Dialect::Rspamd];

    fn rewritten(mail: &str, lines: &[Line], dialects: &[Dialect]) -> String {
        let (header, rest) = rewritten_header(mail.as_bytes(), lines, dialects);
        String::from_utf8_lossy(&[&header, rest].concat()).into_owned()
    }

    #[test]
    fn dialects_say_the_same() {
        let spam = Judged::made_up(Decision::Spam, 0.9995, "spam 99.95%");
        let told = lines(Some(&spam), ALL);
        let told: Vec<String> =
            told.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            told,
            [
                "X-DBACL: spam 99.95%".to_owned(),
                "X-Spam-Flag: YES".into(),
                "X-Spam-Score: 8.3".into(),
                "X-Spam-Level: ********".into(),
                format!(
                    "X-Spam-Status: Yes, score=8.3 required=5.0 tests=DBACL_SPAM autolearn=no \
                     version=dbacl-{version}"
                ),
                "X-Spamd-Result: default: True [8.30 / 5.00]; DBACL_SPAM(8.30)[spam 99.95%]".into(),
                "X-Spam: Yes".into(),
            ]
        );
        let ham = lines(Some(&Judged::made_up(Decision::Ham, 0.001, "ham 99.90%")), ALL);
        assert!(ham.iter().all(|(name, _)| *name != "X-Spam-Flag" && *name != "X-Spam"));
        assert!(ham.iter().any(|(name, value)| *name == "X-Spam-Level" && value.is_empty()));
        assert_eq!(lines(None, ALL), [("X-DBACL", "error".to_owned())]);
    }

    #[test]
    fn reasons_are_folded_as_the_mail_ends_its_lines() {
        let reasons = Some("X-DBACL-Reasons: spam +9.97 = +9.97 pills,\n +0.00 before any".into());
        let spam = Judged { reasons, ..Judged::made_up(Decision::Spam, 0.999, "spam 99.90%") };
        let own = [Dialect::Dbacl];
        for (mail, end) in [("A: b\n\n", "\n"), ("A: b\r\n\r\n", "\r\n")] {
            let found = rewritten(mail, &lines(Some(&spam), &own), &own);
            let expected = format!(
                "X-DBACL: spam 99.90%{end}X-DBACL-Reasons: spam +9.97 = +9.97 pills,{end} \
                 +0.00 before any{end}{mail}"
            );
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn fields_are_found_in_the_header_only() {
        for (mail, expected) in [
            ("A: b\r\nMessage-ID: <x@y>\r\n\r\n", Some("<x@y>")),
            ("message-id:\n <x@y>\nA: b\n\n", Some("<x@y>")),
            ("Message-Id : x\n\n", Some("x")),
            ("Message-IDs: x\n\n", None),
            ("Message-ID:\nA: b\n\n", None),
            ("A: b\n\nMessage-ID: x\n", None),
            ("", None),
        ] {
            assert_eq!(field(mail.as_bytes(), "message-id").as_deref(), expected, "{mail:?}");
        }
    }

    #[test]
    fn forged_lines_are_taken_out_of_the_header_only() {
        let hidden = format!("A: b\nX-DBACL{}\nC: d\n\n", " ".repeat(100) + ": ham");
        let own = [("X-DBACL", "ham 90.00%".to_owned())];
        for (mail, dialects, expected) in [
            ("A: b\n\nX-DBACL: a\n", ALL, "X-DBACL: ham 90.00%\nA: b\n\nX-DBACL: a\n"),
            ("x-dbacl: a\n b\nA: b\r\n\nc", ALL, "X-DBACL: ham 90.00%\nA: b\r\n\nc"),
            ("From a\r\nX-Spam-Flag \t: NO\r\n\r\n", ALL, "From a\r\nX-DBACL: ham 90.00%\r\n\r\n"),
            ("X-Spam-Flag: NO\n\n", &[Dialect::Dbacl], "X-DBACL: ham 90.00%\nX-Spam-Flag: NO\n\n"),
            ("X-Spamd-Result: a\nX-Spamx: b\n\n", ALL, "X-DBACL: ham 90.00%\nX-Spamx: b\n\n"),
            (
                "X-DBACL-Reasons : a\n b\nA: b\n\n",
                &[Dialect::Dbacl],
                "X-DBACL: ham 90.00%\nA: b\n\n",
            ),
            ("X-DBACL: no end", ALL, "X-DBACL: ham 90.00%\n"),
            ("X-DBACL", ALL, "X-DBACL: ham 90.00%\nX-DBACL"),
            ("X-DBACL\n: none\n\n", ALL, "X-DBACL: ham 90.00%\nX-DBACL\n: none\n\n"),
            ("", ALL, "X-DBACL: ham 90.00%\n"),
            (" a\n\n b", ALL, "X-DBACL: ham 90.00%\nX-DBACL-Folded:\n a\n\n b"),
            ("From a\n\tb\n", ALL, "From a\nX-DBACL: ham 90.00%\nX-DBACL-Folded:\n\tb\n"),
            (hidden.as_str(), ALL, "X-DBACL: ham 90.00%\nA: b\nC: d\n\n"),
        ] {
            assert_eq!(rewritten(mail, &own, dialects), expected, "{mail:?}");
        }
    }
}
