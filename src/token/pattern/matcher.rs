// SPDX-License-Identifier: GPL-3.0-or-later
//! One compiled expression.

use super::backtrack::Backtracker;
use super::charset::{self, Membership};
use super::prefilter::Prefilter;
use super::program::{self, GROUPS, Program};
use super::sweep::{LONGEST, Subject, Sweeper};
use super::syntax::{self, Dialect, Reason, Syntax};
use crate::error::{Error, Result};
use crate::model::settings::Locale;

/// Steps that a search with back-references may take before it gives up; see [`budget`].
const BUDGET: u64 = 4_000_000;
const BUDGET_PER_BYTE: u64 = 1_000;

/// Where a group matched: its beginning and its end, in bytes.
pub type Span = (usize, usize);

/// A POSIX expression, ready to search: leftmost match, then longest, with the groups that the GNU
/// C library reports (spec text 6.4).
///
/// ```
/// use dbacl::model::settings::Locale;
/// use dbacl::token::pattern::{Expression, Syntax};
///
/// let mut expression = Expression::new(b"(a|ab)(c|bcd)(d*)", Syntax::Extended, Locale::C)?;
/// let mut groups = [None; 9];
/// assert!(expression.captures(b"xabcd", 0, true, &mut groups));
/// assert_eq!(groups[..3], [Some((1, 2)), Some((2, 5)), Some((5, 5))]);
/// # Ok::<(), dbacl::Error>(())
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
    /// [`Error::Pattern`] for what the C library refuses, for groups and quantifiers nested more
    /// than 250 deep and for expressions whose counts amount to more than 32,768 steps.
    pub fn new(pattern: &[u8], syntax: Syntax, locale: Locale) -> Result<Self> {
        let dialect = Dialect { syntax, locale, ignore_case: false };
        Self::with(pattern, dialect, GROUPS).map_err(|why| refusal(pattern, why))
    }

    /// Compiles an expression whose letters stand for both cases.
    ///
    /// # Errors
    /// As [`Expression::new`].
    pub fn ignoring_case(pattern: &[u8], syntax: Syntax, locale: Locale) -> Result<Self> {
        let dialect = Dialect { syntax, locale, ignore_case: true };
        Self::with(pattern, dialect, GROUPS).map_err(|why| refusal(pattern, why))
    }

    /// Compiles an expression of which only the first `groups` groups are of interest.
    pub(super) fn with(pattern: &[u8], dialect: Dialect, groups: usize) -> Result<Self, Reason> {
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
    /// tells whether a line begins there. Fills in where the groups matched, from the beginning of
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
        let groups = self.program.groups;
        let Some((_, record)) = self.search(subject, at, bol) else { return false };
        slots.fill(None);
        for (group, slot) in slots.iter_mut().enumerate().take(groups) {
            *slot = recorded(record, group).map(|span| (at + span.0, at + span.1));
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
        let from = match &mut self.prefilter {
            Some(prefilter) => prefilter.first(text)?,
            None => 0,
        };
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

    /// Calls `emit` with the record of every match of the overlapping searches of spec text 6.2:
    /// the first begins at 0, each next one behind the start of the match before.
    pub(super) fn overlapping(&mut self, line: &[u8], emit: &mut dyn FnMut(&[u32], usize)) {
        let line = &line[..line.len().min(LONGEST)];
        let from = match &mut self.prefilter {
            Some(prefilter) => match prefilter.first(line) {
                Some(from) => from,
                None => return,
            },
            None => 0,
        };
        let locale = self.dialect.locale;
        let subject = Subject { text: line, locale, line_start: true, words: &self.words };
        if !self.program.backrefs {
            return self.sweeper.all(&self.program, subject, from, &mut |record| emit(record, 0));
        }
        let mut budget = budget(line);
        let mut at = 0;
        while at < line.len() {
            let subject = Subject { text: &line[at..], line_start: at == 0, ..subject };
            let from = from.saturating_sub(at);
            let case = self.dialect.ignore_case;
            let found = self.backtracker.first(&self.program, subject, from, case, &mut budget);
            if let Some((start, record)) = found {
                emit(record, at);
                at += start + 1;
            } else {
                break;
            }
        }
        self.abandoned += u64::from(budget == 0);
    }
}

/// Where a group matched according to a record, counted from where the record's search began.
pub(super) fn recorded(record: &[u32], group: usize) -> Option<Span> {
    let open = *record.get(1 + 2 * group)?;
    let close = *record.get(2 + 2 * group)?;
    Some((open.checked_sub(1)? as usize, close.checked_sub(1)? as usize))
}

/// The steps allowed for all searches in a text: about a tenth of a second, or a few microseconds
/// for every byte of a long text.
fn budget(text: &[u8]) -> u64 {
    BUDGET + BUDGET_PER_BYTE * text.len() as u64
}

/// The error for an expression that cannot be compiled.
pub(super) fn refusal(pattern: &[u8], why: Reason) -> Error {
    Error::Pattern { pattern: String::from_utf8_lossy(pattern).into_owned(), why: why.to_owned() }
}
