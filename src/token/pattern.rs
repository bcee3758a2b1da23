// SPDX-License-Identifier: GPL-3.0-or-later
//! Features from regular expressions (spec text 6).
//!
//! Expressions are POSIX expressions with the matches that the GNU C library finds: categories of
//! dbacl 1.14.1 were learned with these, and a feature that is cut differently is another feature.
//! The crate [`dbacl_regex`] finds them; this module turns their groups into features.

pub(crate) use dbacl_regex::{Expression, Syntax};

use dbacl_regex::Dialect;

use crate::error::{Error, Result, Warning, WarningSink};
use crate::model::settings::Locale;
use crate::token::{BOUNDARY, PatternId};

/// Most expressions of a run.
pub(crate) const MAX_PATTERNS: usize = 63;
/// The most groups that can enter a feature. A suffix can name a ninth group, which has no effect.
const FEATURE_GROUPS: usize = 8;
/// Bytes that are kept of each group.
const GROUP_BYTES: usize = 30;
/// Longest line of a category file's header that can be read back, in bytes without its newline.
const HEADER_LINE: usize = 511;

/// The groups of an expression that enter its features. Bit n stands for group n, 1 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mask(u16);

impl Mask {
    const NONE: Self = Self(0);
    const ALL: Self = Self(0x3fe);

    const fn has(self, group: usize) -> bool {
        self.0 >> group & 1 == 1
    }

    /// The number of the last group that enters features; 0 if none does.
    fn last(self) -> usize {
        (1..=FEATURE_GROUPS).rev().find(|&group| self.has(group)).unwrap_or(0)
    }
}

/// An expression of the run.
#[derive(Debug, Clone)]
struct Pattern {
    text: Vec<u8>,
    mask: Mask,
    expression: Expression,
}

/// The expressions of a run, in the order in which they were given or loaded.
#[derive(Debug, Clone)]
pub struct PatternList {
    locale: Locale,
    patterns: Vec<Pattern>,
    /// Mask of repeated expressions, waiting for the next new one.
    leaked: Mask,
    /// The feature under construction.
    body: Vec<u8>,
}

impl PatternList {
    /// No expressions.
    pub fn new(locale: Locale) -> Self {
        Self { locale, patterns: Vec::new(), leaked: Mask::NONE, body: Vec::new() }
    }

    /// Reads one `-g` argument or the text of a category file's `# regex` line, and returns the
    /// number of the expression that it stands for: an earlier one's if the texts are equal.
    ///
    /// Compatibility: the mask of such a repeat goes to the next new expression, as in dbacl
    /// 1.14.1 (spec text 6.1; case `text/regex-mask-leak`).
    ///
    /// # Errors
    /// [`Error::Pattern`] if the expression cannot be compiled, [`Error::TooManyPatterns`] for the
    /// 64th.
    pub fn add(&mut self, argument: &[u8], warnings: WarningSink<'_>) -> Result<PatternId> {
        let (text, mask) = cut_suffix(argument, warnings);
        let mask = Mask(mask.0 | self.leaked.0);
        if let Some(known) = self.patterns.iter().position(|pattern| pattern.text == text) {
            self.leaked = mask;
            return Ok(number(known));
        }
        self.leaked = Mask::NONE;
        let text = if text.contains(&b'(') {
            text.to_vec()
        } else {
            let wrapped = [b"(", text, b")"].concat();
            warnings(Warning::new(format!(
                "no captures found in regex, converting to '{}'",
                String::from_utf8_lossy(&wrapped)
            )));
            wrapped
        };
        let dialect = Dialect { syntax: Syntax::Extended, locale: self.locale, ignore_case: false };
        let expression =
            Expression::with_groups(&text, dialect, mask.last()).map_err(|why| Error::Pattern {
                pattern: String::from_utf8_lossy(&text).into_owned(),
                why: why.to_string(),
            })?;
        if self.patterns.len() >= MAX_PATTERNS {
            return Err(Error::TooManyPatterns);
        }
        self.patterns.push(Pattern { text, mask, expression });
        Ok(number(self.patterns.len() - 1))
    }

    /// Number of expressions.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The expression as category files have it: `TEXT||DIGITS` (spec text 6.3). Empty for a
    /// number that [`PatternList::add`] did not return.
    pub(crate) fn stored(&self, id: PatternId) -> Vec<u8> {
        let Some(pattern) = self.patterns.get(usize::from(id.0)) else { return Vec::new() };
        let digits = (b'1'..=b'9').filter(|digit| pattern.mask.has(usize::from(digit - b'0')));
        pattern.text.iter().copied().chain(*b"||").chain(digits).collect()
    }

    /// All of them, as category files store them, in load order.
    pub(crate) fn stored_all(&self) -> Vec<Vec<u8>> {
        (0..self.patterns.len()).map(|index| self.stored(number(index))).collect()
    }

    /// Checks that every expression can be read back from a category file.
    ///
    /// # Errors
    /// [`Error::UnstorablePattern`] for an expression that holds a newline or whose line in the
    /// file would be longer than 511 bytes. dbacl 1.14.1 writes a category that it cannot load.
    pub(crate) fn refuse_unstorable(&self) -> Result<()> {
        for (index, pattern) in self.patterns.iter().enumerate() {
            let line = b"# regex ".len() + self.stored(number(index)).len();
            let why = if pattern.text.iter().any(|byte| matches!(byte, b'\n' | 0)) {
                "it holds a newline"
            } else if line > HEADER_LINE {
                "it is too long"
            } else {
                continue;
            };
            let pattern = String::from_utf8_lossy(&pattern.text).into_owned();
            return Err(Error::UnstorablePattern { pattern, why });
        }
        Ok(())
    }

    /// Calls `emit` with number, order and body of every feature that the expressions find in
    /// `line`, in load order (spec text 6.2). The order is stored in three bits: eight groups give
    /// 0. Features of only boundary marks are left out.
    ///
    /// Letters are lower-cased unless `keep_case`. Of each group the first 30 bytes are kept;
    /// bytes 00 to 02, which would end a token, become boundary marks (spec model 17).
    ///
    /// Costs line × expression, however the matches overlap; with back-references up to a limit
    /// of steps, after which the rest of the line is left.
    pub(crate) fn features(
        &mut self,
        line: &[u8],
        keep_case: bool,
        emit: &mut dyn FnMut(PatternId, u8, &[u8]),
    ) {
        let body = &mut self.body;
        for (index, pattern) in self.patterns.iter_mut().enumerate() {
            let Pattern { mask, expression, .. } = pattern;
            let last = mask.last();
            if last == 0 {
                continue;
            }
            expression.overlapping(line, &mut |groups| {
                body.clear();
                body.push(BOUNDARY);
                let mut order: u8 = 0;
                for group in 1..=last {
                    let Some((from, to)) = groups.get(group) else { break };
                    if !mask.has(group) {
                        continue;
                    }
                    order += 1;
                    let word = &line[from..to.min(from + GROUP_BYTES)];
                    body.extend(word.iter().map(|&byte| letter(byte, keep_case)));
                    body.push(BOUNDARY);
                }
                if body.iter().any(|&byte| byte != BOUNDARY) {
                    emit(number(index), order & 7, body);
                }
            });
        }
    }
}

/// A byte of a word as it enters a feature.
fn letter(byte: u8, keep_case: bool) -> u8 {
    let byte = byte.max(BOUNDARY);
    if keep_case { byte } else { byte.to_ascii_lowercase() }
}

/// The number of the expression at `index`, which is less than [`MAX_PATTERNS`].
fn number(index: usize) -> PatternId {
    PatternId(u8::try_from(index).unwrap_or(u8::MAX))
}

/// Takes apart `TEXT||DIGITS`. The suffix counts only if its `||` ends in the last `|` of all.
fn cut_suffix<'a>(argument: &'a [u8], warnings: WarningSink<'_>) -> (&'a [u8], Mask) {
    let bar = argument.iter().rposition(|&byte| byte == b'|').filter(|&bar| bar > 0);
    let Some(bar) = bar.filter(|&bar| argument[bar - 1] == b'|') else {
        return (argument, Mask::ALL);
    };
    let (text, suffix) = (&argument[..bar - 1], &argument[bar + 1..]);
    let mut mask = Mask::NONE;
    for &byte in suffix {
        match byte {
            b'1'..=b'9' => mask.0 |= 1 << (byte - b'0'),
            b'\n' => {}
            _ => warnings(Warning::new(format!(
                "could not decode || suffix for '{}'.",
                String::from_utf8_lossy(text)
            ))),
        }
    }
    (text, mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(arguments: &[&str]) -> (PatternList, Vec<String>) {
        let (mut list, mut said) = (PatternList::new(Locale::C), Vec::new());
        for argument in arguments {
            list.add(argument.as_bytes(), &mut |warning| said.push(warning.0)).unwrap();
        }
        (list, said)
    }

    fn stored(list: &PatternList) -> Vec<String> {
        (0..list.len()).map(|at| String::from_utf8(list.stored(number(at))).unwrap()).collect()
    }

    fn features(list: &mut PatternList, line: &[u8], keep_case: bool) -> Vec<String> {
        let mut found = Vec::new();
        list.features(line, keep_case, &mut |id, order, body| {
            let body = body.escape_ascii().to_string().replace("\\x03", "_");
            found.push(format!("{}:{order}:{body}", id.0));
        });
        found
    }

    #[test]
    fn arguments_are_taken_apart() {
        for (arguments, texts, warnings) in [
            (&["(a)"][..], &["(a)||123456789"][..], &[][..]),
            (&["(a)(b)||2"], &["(a)(b)||2"], &[]),
            (&["(a)||"], &["(a)||"], &[]),
            (&["(a)||31"], &["(a)||13"], &[]),
            (&["(a|b)"], &["(a|b)||123456789"], &[]),
            (&["(a)||1x"], &["(a)||1"], &["could not decode || suffix for '(a)'."]),
            (&["(a)||1\n"], &["(a)||1"], &[]),
            (
                &["foo"],
                &["(foo)||123456789"],
                &["no captures found in regex, converting to '(foo)'"],
            ),
            // The comparison is with the text before wrapping.
            (
                &["foo", "foo"],
                &["(foo)||123456789", "(foo)||123456789"],
                &["no captures found in regex, converting to '(foo)'"; 2],
            ),
            (&["[(]"], &["[(]||123456789"], &[]),
            (&["(a)", "(a)"], &["(a)||123456789"], &[]),
            // A repeat's mask goes to the next new expression.
            (&["(a)(b)||1", "(a)(b)||2", "(b)(.)||2"], &["(a)(b)||1", "(b)(.)||2"], &[]),
            (&["(a)||1", "(a)", "(b)||2", "(c)||3"], &["(a)||1", "(b)||123456789", "(c)||3"], &[]),
        ] {
            let (list, said) = list(arguments);
            assert_eq!(stored(&list), texts, "{arguments:?}");
            assert_eq!(said, warnings, "{arguments:?}");
        }
    }

    #[test]
    fn what_cannot_be_compiled_is_named_as_it_was_wrapped() {
        for (argument, message) in [
            ("(a", "'(a': group without a closing parenthesis"),
            ("(a||b)", "'(a': group without a closing parenthesis"),
            ("[a", "'([a)': a bracket that is not closed"),
            ("(a)\\2", "'(a)\\2': back-reference to a group that is not complete"),
            ("(a{1,32767})", "'(a{1,32767})': too large"),
        ] {
            let mut list = PatternList::new(Locale::C);
            let error = list.add(argument.as_bytes(), &mut |_| {}).unwrap_err();
            let message = format!("could not compile regular expression {message}");
            assert_eq!(error.to_string(), message);
            assert!(list.is_empty());
        }
    }

    #[test]
    fn the_sixty_fourth_expression_is_refused() {
        let mut list = PatternList::new(Locale::C);
        for at in 0..MAX_PATTERNS {
            let id = list.add(format!("(a{at})").as_bytes(), &mut |_| {}).unwrap();
            assert_eq!(usize::from(id.0), at);
        }
        assert!(matches!(list.add(b"(b)", &mut |_| {}), Err(Error::TooManyPatterns)));
        assert!(list.add(b"(a7)", &mut |_| {}).is_ok_and(|id| id == PatternId(7)));
    }

    #[test]
    fn features_follow_masks_and_overlap() {
        for (argument, line, expected) in [
            ("([a-z]+)", "fox\n", &["0:1:_fox_", "0:1:_ox_", "0:1:_x_"][..]),
            ("(a)(b)||2", "ab\n", &["0:1:_b_"]),
            ("(a)(b)||", "ab\n", &[]),
            ("(a)(b)||9", "ab\n", &[]),
            ("(x)|(y)", "xy", &["0:1:_x_"]),
            ("(x)?(y)||2", "xy", &["0:1:_y_"]),
            ("(x*)(y)", "y", &["0:2:__y_"]),
            ("(x*)", "yy", &[]),
            ("(A)(.)", "AB", &["0:2:_a_b_"]),
            ("^(a)", "aaa", &["0:1:_a_"]),
            ("(a)$", "aa\n", &[]),
            ("(a)$", "aa", &["0:1:_a_"]),
            ("\\<(.)", "ab", &["0:1:_a_", "0:1:_b_"]),
            ("(\\Bb)", "abb", &["0:1:_b_"]),
            ("(.)\\1", "aabb", &["0:1:_a_", "0:1:_b_"]),
            ("(a)(a)(a)(a)(a)(a)(a)(a)(a)", "aaaaaaaaa", &["0:0:_a_a_a_a_a_a_a_a_"]),
            ("(a.b)", "a\x02b", &["0:1:_a_b_"]),
            ("^(.*)", "0123456789012345678901234567890", &["0:1:_012345678901234567890123456789_"]),
        ] {
            let (mut list, _) = list(&[argument]);
            let found = features(&mut list, line.as_bytes(), false);
            assert_eq!(found, expected, "{argument}");
        }
        let (mut list, _) = list(&["(B+)", "(a)"]);
        assert_eq!(features(&mut list, b"aB", true), ["0:1:_B_", "1:1:_a_"]);
    }

    #[test]
    fn only_what_can_be_read_back_is_storable() {
        let longest = format!("({})", "a".repeat(511 - 8 - 2 - 11));
        for (argument, storable) in
            [("(a)", true), ("(a\nb)", false), (&longest, true), (&format!("{longest}a"), false)]
        {
            let (list, _) = list(&[argument]);
            assert_eq!(list.refuse_unstorable().is_ok(), storable, "{argument}");
        }
    }

    #[test]
    fn a_hostile_back_reference_is_given_up() {
        let (mut list, _) = list(&["((a*)*)*\\2c"]);
        let line = format!("{}bc", "a".repeat(200));
        features(&mut list, line.as_bytes(), false);
        assert_eq!(list.patterns[0].expression.abandoned(), 1);
    }
}
