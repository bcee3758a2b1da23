// SPDX-License-Identifier: GPL-3.0-or-later
//! One compiled expression.

use crate::backtrack::Backtracker;
use crate::charset::{self, Membership};
use crate::error::Error;
use crate::locale::Locale;
use crate::prefilter::Prefilter;
use crate::program::{self, GROUPS, Program};
use crate::sweep::{LONGEST, Subject, Sweeper};
use crate::syntax::{self, Dialect, Syntax};

/// Steps that a search with back-references may take before it gives up; see [`budget`].
const BUDGET: u64 = 4_000_000;
const BUDGET_PER_BYTE: u64 = 1_000;

/// Where a group matched: its beginning and its end, in bytes.
pub type Span = (usize, usize);

/// A POSIX expression, ready to search: leftmost match, then longest, with the groups that the GNU
/// C library reports.
///
/// ```
/// use dbacl_regex::{Expression, Locale, Syntax};
///
/// let mut expression = Expression::new(b"(a|ab)(c|bcd)(d*)", Syntax::Extended, Locale::C)?;
/// let mut groups = [None; 9];
/// assert!(expression.captures(b"xabcd", 0, true, &mut groups));
/// assert_eq!(groups[..3], [Some((1, 2)), Some((2, 5)), Some((5, 5))]);
/// # Ok::<(), dbacl_regex::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    program: Program,
    prefilter: Option<Prefilter>,
    words: Membership,
    dialect: Dialect,
    sweeper: Sweeper,
    backtracker: Backtracker,
    abandoned: u64,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What the C library refuses is refused, groups and quantifiers nested more than 250 deep, and
    /// expressions whose counts amount to more than 32,768 steps.
    pub fn new(pattern: &[u8], syntax: Syntax, locale: Locale) -> Result<Self, Error> {
        Self::with_groups(pattern, Dialect { syntax, locale, ignore_case: false }, GROUPS)
    }

    /// Compiles an expression whose letters stand for both cases.
    ///
    /// # Errors
    /// As [`Expression::new`].
    pub fn ignoring_case(pattern: &[u8], syntax: Syntax, locale: Locale) -> Result<Self, Error> {
        Self::with_groups(pattern, Dialect { syntax, locale, ignore_case: true }, GROUPS)
    }

    /// Compiles an expression of which only the first `groups` groups are of interest. The others
    /// are then reported as not matched, and searching is faster.
    ///
    /// # Errors
    /// As [`Expression::new`].
    pub fn with_groups(pattern: &[u8], dialect: Dialect, groups: usize) -> Result<Self, Error> {
        let tree = syntax::parse(pattern, dialect)?;
        let program = program::compile(&tree, groups)?;
        Ok(Self {
            prefilter: Prefilter::new(&tree, dialect.locale),
            words: Membership::new(charset::word(dialect.locale)),
            program,
            dialect,
            sweeper: Sweeper::default(),
            backtracker: Backtracker::default(),
            abandoned: 0,
        })
    }

    /// Searches `subject` from `at` on, which is the beginning of what the search sees: only `bol`
    /// says whether a line begins there. Fills in where the groups matched, from the beginning of
    /// `subject`, if there is a match.
    ///
    /// Costs subject × program. With back-references it can cost more, up to a limit: see
    /// [`Expression::abandoned`].
    pub fn captures(
        &mut self,
        subject: &[u8],
        at: usize,
        bol: bool,
        slots: &mut [Option<Span>; GROUPS],
    ) -> bool {
        let Some((_, record)) = self.search(subject, at, bol) else { return false };
        let groups = Groups { record, at };
        for (group, slot) in (1..).zip(slots) {
            *slot = groups.get(group);
        }
        true
    }

    /// Where the leftmost-longest match in `subject` from `at` on lies, if there is one.
    pub fn find(&mut self, subject: &[u8], at: usize, bol: bool) -> Option<Span> {
        let (start, record) = self.search(subject, at, bol)?;
        Some((at + start, at + record[0] as usize - 1))
    }

    /// Whether `subject`, taken as a line, holds a match.
    pub fn is_match(&mut self, subject: &[u8]) -> bool {
        self.search(subject, 0, true).is_some()
    }

    /// How many searches were given up. Only expressions with back-references can come to that;
    /// such a search counts as finding nothing, or the best it had found.
    pub fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// The leftmost-longest match from `at` on: its start and record, both counted from `at`.
    fn search(&mut self, text: &[u8], at: usize, bol: bool) -> Option<(usize, &[u32])> {
        let text = text.get(at..)?;
        let text = &text[..text.len().min(LONGEST)];
        let from = self.prefilter.as_mut().map_or(Some(0), |prefilter| prefilter.first(text))?;
        let subject =
            Subject { text, locale: self.dialect.locale, line_start: bol, words: &self.words };
        if !self.program.backrefs {
            return self.sweeper.first(&self.program, subject, from);
        }
        let mut budget = budget(text);
        let case = self.dialect.ignore_case;
        let found = self.backtracker.first(&self.program, subject, from, case, &mut budget);
        self.abandoned += u64::from(budget == 0);
        found
    }

    /// Calls `emit` with the groups of every match that overlapping searches find in `line`: the
    /// first search begins at 0, each next one after the first byte of the match before.
    ///
    /// ```
    /// use dbacl_regex::{Expression, Locale, Syntax};
    ///
    /// let mut expression = Expression::new(b"([a-z]+)", Syntax::Extended, Locale::C)?;
    /// let mut found = Vec::new();
    /// expression.overlapping(b"fox", &mut |groups| found.push(groups.get(1)));
    /// assert_eq!(found, [Some((0, 3)), Some((1, 3)), Some((2, 3))]);
    /// # Ok::<(), dbacl_regex::Error>(())
    /// ```
    pub fn overlapping(&mut self, line: &[u8], emit: &mut dyn FnMut(Groups<'_>)) {
        let line = &line[..line.len().min(LONGEST)];
        let from = self.prefilter.as_mut().map_or(Some(0), |prefilter| prefilter.first(line));
        let Some(from) = from else { return };
        let locale = self.dialect.locale;
        let subject = Subject { text: line, locale, line_start: true, words: &self.words };
        if !self.program.backrefs {
            let emit = &mut |record: &[u32]| emit(Groups { record, at: 0 });
            return self.sweeper.all(&self.program, subject, from, emit);
        }
        let mut budget = budget(line);
        let mut at = 0;
        while at < line.len() {
            let subject = Subject { text: &line[at..], line_start: at == 0, ..subject };
            let from = from.saturating_sub(at);
            let case = self.dialect.ignore_case;
            let found = self.backtracker.first(&self.program, subject, from, case, &mut budget);
            let Some((start, record)) = found else { break };
            emit(Groups { record, at });
            at += start + 1;
        }
        self.abandoned += u64::from(budget == 0);
    }
}

/// Where the groups of a match lie.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    record: &'a [u32],
    /// Where the record's search began.
    at: usize,
}

impl Groups<'_> {
    /// Where a group matched, 1 to 9, in bytes from the beginning of the subject; `None` if it had
    /// no part in the match.
    #[inline]
    pub fn get(&self, group: usize) -> Option<Span> {
        let [open, close] = *self.record.get(2 * group.checked_sub(1)? + 1..)?.first_chunk()?;
        Some((self.at + open.checked_sub(1)? as usize, self.at + close.checked_sub(1)? as usize))
    }
}

/// The steps allowed for all searches in a text: about a tenth of a second, or a few microseconds
/// for every byte of a long text.
fn budget(text: &[u8]) -> u64 {
    BUDGET + BUDGET_PER_BYTE * text.len() as u64
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Undoes Rust's escapes of bytes.
    fn unescape(text: &str) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
        while let [first, tail @ ..] = rest {
            rest = tail;
            match (first, tail) {
                (b'\\', [b'x', high, low, after @ ..]) => {
                    let digits = [*high, *low];
                    let digits = std::str::from_utf8(&digits).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    rest = after;
                }
                (b'\\', [kind, after @ ..]) => {
                    bytes.push(match kind {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        other => *other,
                    });
                    rest = after;
                }
                _ => bytes.push(*first),
            }
        }
        bytes
    }

    fn print(span: Option<Span>) -> String {
        span.map_or("-".to_owned(), |(from, to)| format!("{from}:{to}"))
    }

    /// Rows: expression, subject, whether a line begins there, span of the match, spans of the nine
    /// groups; as the GNU C library 2.36 reported them.
    #[test]
    fn matches_are_those_of_the_c_library() {
        for (file, syntax, locale) in [
            ("extended-c", Syntax::Extended, Locale::C),
            ("extended-utf8", Syntax::Extended, Locale::Utf8),
            ("basic-c", Syntax::Basic, Locale::C),
            ("basic-utf8", Syntax::Basic, Locale::Utf8),
        ] {
            let path = format!("{}/testdata/{file}.tsv", env!("CARGO_MANIFEST_DIR"));
            let rows = std::fs::read_to_string(path).unwrap();
            assert!(rows.lines().count() > 30);
            for row in rows.lines() {
                let fields: Vec<&str> = row.split('\t').collect();
                let (pattern, subject) = (unescape(fields[0]), unescape(fields[1]));
                let mut expression = Expression::new(&pattern, syntax, locale).unwrap();
                let bol = fields[2] == "1";
                let mut slots = [None; 9];
                expression.captures(&subject, 0, bol, &mut slots);
                let mut found = print(expression.find(&subject, 0, bol));
                for (group, slot) in slots.into_iter().enumerate() {
                    let between = if group == 0 { '\t' } else { ',' };
                    write!(found, "{between}{}", print(slot)).unwrap();
                }
                assert_eq!(found, fields[3..].join("\t"), "{file}: {row}");
            }
        }
    }

    #[test]
    fn what_the_c_library_refuses_is_refused() {
        for (pattern, extended, basic) in [
            ("(*a)", false, true),
            ("(^*a)", false, true),
            ("a|*b", false, true),
            ("a)", true, true),
            ("(a", false, true),
            ("[a", false, false),
            ("a{1", false, true),
            ("a\\", false, false),
            ("a\\{2", true, false),
            ("a{,2}", true, true),
            ("a{}", false, true),
            ("a{2,1}", false, true),
            ("a{32768}", false, true),
            ("a**", true, false),
            ("[z-a]", false, false),
            ("[a-c-e]", false, false),
            ("[[:digit:]-z]", false, false),
            ("[[:foo:]]", false, false),
            ("[[.hyphen.]]", false, false),
            ("(a)\\2", false, false),
            ("(a\\1)", false, false),
            ("(a)|\\1", false, false),
            ("\\(a\\)\\1", false, true),
            ("\\)", true, false),
            ("\\<*", false, true),
        ] {
            for (syntax, expected) in [(Syntax::Extended, extended), (Syntax::Basic, basic)] {
                let compiled = Expression::new(pattern.as_bytes(), syntax, Locale::C);
                assert_eq!(compiled.is_ok(), expected, "{pattern} {syntax:?}");
            }
        }
        for (pattern, c, utf8) in [("[à-ï]", true, false), ("[é]", true, true), ("é+", true, true)]
        {
            for (locale, expected) in [(Locale::C, c), (Locale::Utf8, utf8)] {
                let compiled = Expression::new(pattern.as_bytes(), Syntax::Extended, locale);
                assert_eq!(compiled.is_ok(), expected, "{pattern} {locale:?}");
            }
        }
    }

    #[test]
    fn an_empty_last_iteration_is_undone() {
        for (pattern, group) in [
            ("(a*)*", (0, 2)),
            ("(a*)+", (0, 2)),
            ("(a*)?*", (0, 2)),
            ("(a*){1,2}", (0, 2)),
            ("(a*){2}", (2, 2)),
            ("(a*){0,2}", (2, 2)),
            ("(a*){1,3}", (2, 2)),
            ("(a*){2,3}", (0, 2)),
            ("(a*){2,4}", (2, 2)),
            ("(a*){2,}", (0, 2)),
            ("(a+){0,2}", (1, 2)),
            ("(|a)+", (1, 2)),
        ] {
            let mut expression =
                Expression::new(pattern.as_bytes(), Syntax::Extended, Locale::C).unwrap();
            let mut slots = [None; 9];
            assert!(expression.captures(b"aa", 0, true, &mut slots));
            assert_eq!(slots[0], Some(group), "{pattern}");
        }
    }

    #[test]
    fn case_can_be_ignored() {
        for (pattern, subject, locale, expected) in [
            ("a[b-c]", "xAB", Locale::C, Some((1, 3))),
            ("[^a]", "Ab", Locale::C, Some((1, 2))),
            ("[[:upper:]]", "a", Locale::C, Some((0, 1))),
            ("(a)\\1", "aA", Locale::C, Some((0, 2))),
            ("é", "É", Locale::C, None),
            ("é", "É", Locale::Utf8, Some((0, 2))),
            // As the C library has it: one capital form. K is the sign for kelvin.
            ("[r-t]", "ſ", Locale::Utf8, Some((0, 2))),
            ("ſ", "s", Locale::Utf8, Some((0, 1))),
            ("ς", "σ", Locale::Utf8, Some((0, 2))),
            ("ǅ", "ǆ", Locale::Utf8, Some((0, 2))),
            ("I", "ı", Locale::Utf8, Some((0, 2))),
            ("i", "İ", Locale::Utf8, None),
            ("k", "\u{212a}", Locale::Utf8, None),
            ("[^k]", "\u{212a}", Locale::Utf8, Some((0, 3))),
            ("[[:lower:]]", "\u{212a}", Locale::Utf8, Some((0, 3))),
            ("ß", "ẞ", Locale::Utf8, None),
        ] {
            let mut expression =
                Expression::ignoring_case(pattern.as_bytes(), Syntax::Extended, locale).unwrap();
            assert_eq!(expression.find(subject.as_bytes(), 0, true), expected, "{pattern}");
        }
    }

    #[test]
    fn a_caret_matches_behind_a_newline_only_if_that_was_taken() {
        let mut expression = Expression::new(b"(\n|b)^a", Syntax::Extended, Locale::C).unwrap();
        assert_eq!(expression.find(b"\nba\na", 0, true), Some((3, 5)));
        let mut expression = Expression::new(b"^a", Syntax::Extended, Locale::C).unwrap();
        assert_eq!(expression.find(b"b\na", 0, true), None);
    }

    /// What the overlapping searches find, in pieces of `piece` bytes.
    fn in_pieces(expression: &mut Expression, text: &[u8], piece: usize) -> Vec<Vec<u32>> {
        let Expression { program, sweeper, words, dialect, .. } = expression;
        let subject = Subject { text, locale: dialect.locale, line_start: true, words };
        let mut found = Vec::new();
        sweeper
            .all_in_pieces(program, subject, 0, piece, &mut |record| found.push(record.to_vec()));
        found
    }

    #[test]
    fn a_search_inside_a_character_goes_on_in_the_next_piece() {
        // The second search begins after the first byte of a letter, which is the end of a piece.
        let mut expression =
            Expression::new(b"^|\\<", Syntax::Extended, Locale::Utf8).expect("valid");
        let subject = "\u{e9}aaaaaaaaaa".as_bytes();
        let whole = in_pieces(&mut expression, subject, usize::MAX / 2);
        assert_eq!(whole.len(), 11);
        for piece in 1..12 {
            assert_eq!(in_pieces(&mut expression, subject, piece), whole, "pieces of {piece}");
        }
    }

    /// Text that is likely to make sense as an expression.
    fn operators() -> impl Strategy<Value = Vec<u8>> {
        let pieces = r"a b é . [ab] [^a] | ( ( ) ) * + ? {1,2} {2} ^ $ \< \b \w \1 \( \)";
        let pieces: Vec<&[u8]> = pieces.split(' ').map(str::as_bytes).collect();
        prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|all| all.concat())
    }

    fn subjects() -> impl Strategy<Value = Vec<u8>> {
        let bytes: &[u8] = b"aab\n \xc3\xa9\xe2\x82\xac_";
        prop::collection::vec(prop::sample::select(bytes), 0..40)
    }

    fn modes() -> impl Strategy<Value = (Syntax, Locale)> {
        let syntax = prop::sample::select(vec![Syntax::Basic, Syntax::Extended]);
        (syntax, prop::sample::select(vec![Locale::C, Locale::Utf8]))
    }

    proptest! {
        // The same cases each time, so that a failure can be repeated.
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(20261121),
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_bytes_end_in_an_error_or_in_spans_of_the_subject(
            pattern in prop_oneof![prop::collection::vec(any::<u8>(), 0..30), operators()],
            subject in prop_oneof![prop::collection::vec(any::<u8>(), 0..60), subjects()],
            (syntax, locale) in modes(),
            at in 0..60usize,
        ) {
            if let Ok(mut expression) = Expression::new(&pattern, syntax, locale) {
                let mut slots = [None; 9];
                let found = expression.captures(&subject, at, at == 0, &mut slots);
                let whole = expression.find(&subject, at, at == 0);
                prop_assert_eq!(found, whole.is_some());
                for (from, to) in slots.into_iter().flatten().chain(whole) {
                    prop_assert!(at <= from && from <= to && to <= subject.len());
                }
                expression.overlapping(&subject, &mut |_| {});
            }
        }

        #[test]
        fn pieces_make_no_difference(
            pattern in operators(), subject in subjects(), (syntax, locale) in modes(),
            piece in 1..9usize,
        ) {
            if let Ok(mut expression) = Expression::new(&pattern, syntax, locale)
                && !expression.program.backrefs
            {
                let whole = in_pieces(&mut expression, &subject, usize::MAX / 2);
                prop_assert_eq!(in_pieces(&mut expression, &subject, piece), whole.clone());
                // The prefilter may only leave out what holds no match.
                let mut filtered = Vec::new();
                let mut take = |groups: Groups<'_>| filtered.push(groups.record.to_vec());
                expression.overlapping(&subject, &mut take);
                prop_assert_eq!(filtered, whole);
            }
        }
    }
}
