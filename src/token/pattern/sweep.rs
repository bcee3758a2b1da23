// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the leftmost-longest match from every position of a subject in one pass from its end.
//!
//! For every step of the program the sweep keeps, at the current position, the best match of the
//! rest: the one that ends farthest and, among those, the one that the order of the steps prefers
//! (spec text 6.4). A step's best match follows from those of its successors, at the same position
//! or one character on. So a pass over the subject costs subject × program and gives the matches
//! at *all* positions, where searching from each would be quadratic: a megabyte of letters with
//! `([a-z]+)` is a megabyte of work, not half a million megabytes.
//!
//! A best match is a record of `width` numbers: its end, then beginning and end of each group,
//! all plus one, 0 for none; last, if the program undoes empty iterations, whether recording is
//! off.

use super::program::{Program, Step};
use super::subject::{self, STRAY};
use super::syntax::Assertion;
use crate::model::settings::Locale;

/// Positions whose matches are kept at a time. Longer subjects are swept twice: once to keep the
/// state every so often, then in pieces from there.
const PIECE: usize = 1 << 14;
/// Subjects are looked at up to here: positions have 32 bits.
pub const LONGEST: usize = u32::MAX as usize - 16;

/// What is known about a position.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The position plus one.
    pub mark: u32,
    /// Whether the search begins here.
    pub begin: bool,
    /// Whether a line begins here.
    pub line_start: bool,
    /// Whether the subject ends here.
    pub end: bool,
    /// Whether a word character precedes.
    pub word_before: bool,
    /// Whether a word character follows.
    pub word_after: bool,
}

impl Place {
    /// Whether `assertion` holds here.
    pub fn satisfies(&self, assertion: Assertion) -> bool {
        match assertion {
            Assertion::LineStart => self.line_start,
            Assertion::Start => self.begin,
            Assertion::End => self.end,
            Assertion::WordStart => !self.word_before && self.word_after,
            Assertion::WordEnd => self.word_before && !self.word_after,
            Assertion::WordBoundary => self.word_before != self.word_after,
            Assertion::NotWordBoundary => self.word_before == self.word_after,
        }
    }
}

/// A subject and how to look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The text that the search sees.
    pub text: &'a [u8],
    /// What a character is.
    pub locale: Locale,
    /// Whether a line begins where the text begins.
    pub line_start: bool,
    /// The characters of words.
    pub words: &'a super::charset::Membership,
}

impl Subject<'_> {
    /// Whether a character belongs to a word. A stray byte counts as the character of its value.
    pub fn is_word(&self, code: Option<u32>) -> bool {
        code.is_some_and(|code| {
            self.words.holds(if code & STRAY != 0 { code & 0xff } else { code })
        })
    }

    /// The position `at`, between the characters `before` and `after`.
    pub fn place(&self, at: usize, before: Option<u32>, after: Option<u32>, words: bool) -> Place {
        Place {
            mark: mark(at),
            begin: at == 0,
            line_start: at == 0 && self.line_start,
            end: at == self.text.len(),
            word_before: words && self.is_word(before),
            word_after: words && self.is_word(after),
        }
    }
}

/// A position as it stands in records.
pub fn mark(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX - 1) + 1
}

/// Number of words in a record of `program`.
pub fn width(program: &Program) -> usize {
    1 + 2 * program.groups + usize::from(program.undoes)
}

/// Working memory of sweeps, kept from one to the next.
#[derive(Debug, Clone, Default)]
pub struct Sweeper {
    /// Records at the current position, by step.
    now: Vec<u32>,
    /// Records one character on.
    next: Vec<u32>,
    /// Records at positions inside a character, where a search can begin and no match continue.
    lone: Vec<u32>,
    /// Records of the start at each position of the piece under way: for searches that began
    /// before it, and for searches that begin there.
    passing: Vec<u32>,
    beginning: Vec<u32>,
}

/// Where a sweep has got to.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// Position; the records of `now` hold there once it is `settled`.
    at: usize,
    /// The character behind the position.
    after: Option<u32>,
    settled: bool,
}

impl Sweeper {
    /// The leftmost match at or after `from`, which no match may precede: position and record.
    pub fn first(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
    ) -> Option<(usize, &[u32])> {
        let mut found = None;
        self.beginning.clear();
        self.beginning.resize(width(program), 0);
        let mut cursor = self.start(program, subject);
        self.run(program, subject, &mut cursor, from, |sweeper, at, passing| {
            if passing && sweeper.start_record(program)[0] != 0 {
                found = Some(at);
                let begin = program.start as usize * width(program);
                let record = begin..begin + width(program);
                sweeper.beginning.copy_from_slice(&sweeper.now[record]);
            }
        });
        found.map(|at| (at, &self.beginning[..]))
    }

    /// Calls `emit` for every match that the overlapping searches of spec text 6.2 find, in order:
    /// the first search begins at 0, each next one behind the start of the match before. No match
    /// may start before `from`.
    ///
    /// Costs subject × program, whatever the matches; memory for a piece of the subject and, for
    /// subjects longer than that, less than a record for every position.
    pub fn all(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
        emit: &mut dyn FnMut(&[u32]),
    ) {
        let piece = PIECE.max(program.steps.len() * width(program));
        let mut saved = Vec::new();
        let mut cursor = self.start(program, subject);
        if cursor.at - from > piece {
            while cursor.at > from + piece {
                let until = cursor.at - piece;
                self.run(program, subject, &mut cursor, until, |_, _, _| {});
                saved.push((cursor, self.now.clone()));
            }
            saved.reverse();
        }
        let mut search = 0;
        let mut low = from;
        for (cursor, records) in saved {
            self.now.copy_from_slice(&records);
            self.piece(program, subject, cursor, low, &mut search, emit);
            low = cursor.at;
        }
        let cursor = self.start(program, subject);
        self.piece(program, subject, cursor, low, &mut search, emit);
    }

    /// Sweeps from `cursor` down to `low` and reports the matches in between in forward order.
    /// `search` is where the search under way began.
    fn piece(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        mut cursor: Cursor,
        low: usize,
        search: &mut usize,
        emit: &mut dyn FnMut(&[u32]),
    ) {
        let width = width(program);
        // A character that begins before `low` may reach behind it.
        let base = low.saturating_sub(8);
        let high = cursor.at + usize::from(!cursor.settled);
        let two = depends_on_begin(program, subject);
        for table in [&mut self.passing, &mut self.beginning] {
            table.clear();
            table.resize((high - base) * width, 0);
        }
        self.run(program, subject, &mut cursor, low, |sweeper, at, passing| {
            let row = (at - base) * width;
            let begin = program.start as usize * width;
            let (records, table) = if passing {
                (&sweeper.now, &mut sweeper.passing)
            } else {
                (&sweeper.lone, &mut sweeper.beginning)
            };
            table[row..row + width].copy_from_slice(&records[begin..begin + width]);
        });
        for at in base..high {
            let row = (at - base) * width;
            let table = if two && at == *search { &self.beginning } else { &self.passing };
            let record = &table[row..row + width];
            if at >= *search && record[0] != 0 {
                emit(record);
                *search = at + 1;
            }
        }
    }

    /// The end of the subject, before anything is known there.
    fn start(&mut self, program: &Program, subject: Subject<'_>) -> Cursor {
        let size = program.steps.len() * width(program);
        for records in [&mut self.now, &mut self.next, &mut self.lone] {
            records.clear();
            records.resize(size, 0);
        }
        Cursor { at: subject.text.len(), after: None, settled: false }
    }

    fn start_record(&self, program: &Program) -> &[u32] {
        let begin = program.start as usize * width(program);
        &self.now[begin..begin + width(program)]
    }

    /// Moves down to `until` or just below it, to the beginning of a character, and calls `visit`
    /// at every position with the records in `now`: with `true` for searches that began before it
    /// and, where that makes a difference, first with `false` for searches that begin there. At
    /// positions inside characters there is only the latter, with the records in `lone`.
    fn run(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        cursor: &mut Cursor,
        until: usize,
        mut visit: impl FnMut(&mut Self, usize, bool),
    ) {
        let Subject { text, locale, .. } = subject;
        let words = program.looks_at_words;
        let two = depends_on_begin(program, subject);
        loop {
            let before = subject::last(&text[..cursor.at], locale);
            if cursor.settled {
                let Some((code, length)) = before else { return };
                if cursor.at <= until {
                    return;
                }
                for inside in (1..length).rev().filter(|_| program.nullable) {
                    let at = cursor.at - length + inside;
                    let stray = Some(STRAY | u32::from(text[at]));
                    let place = Place { begin: true, ..subject.place(at, None, stray, words) };
                    settle(program, &mut self.lone, place);
                    visit(self, at, false);
                }
                std::mem::swap(&mut self.now, &mut self.next);
                take(program, &self.next, &mut self.now, code);
                *cursor = Cursor { at: cursor.at - length, after: Some(code), settled: false };
                continue;
            }
            let before = before.map(|found| found.0);
            if two {
                let place = subject.place(cursor.at, None, cursor.after, words);
                settle(program, &mut self.now, Place { begin: true, ..place });
                let start = program.start as usize * width(program);
                let record = start..start + width(program);
                let (now, lone) = (&self.now, &mut self.lone);
                lone[record.clone()].copy_from_slice(&now[record]);
                visit(self, cursor.at, false);
            }
            settle(program, &mut self.now, subject.place(cursor.at, before, cursor.after, words));
            cursor.settled = true;
            visit(self, cursor.at, true);
        }
    }
}

/// Whether a match at a position can depend on whether the search begins there.
fn depends_on_begin(program: &Program, subject: Subject<'_>) -> bool {
    program.looks_back || (program.nullable && subject.locale == Locale::Utf8)
}

/// Fills in the records of the steps that take a character, from those behind it.
fn take(program: &Program, behind: &[u32], records: &mut [u32], code: u32) {
    let width = width(program);
    for (step, record) in program.steps[..program.takes].iter().zip(records.chunks_exact_mut(width))
    {
        let Step::Take(set, next) = *step else { continue };
        let from = next as usize * width;
        if behind[from] != 0 && program.sets[set as usize].holds(code) {
            record.copy_from_slice(&behind[from..from + width]);
        } else {
            record[0] = 0;
        }
    }
}

/// Fills in the records of all other steps, from those of the steps that take a character.
fn settle(program: &Program, records: &mut [u32], place: Place) {
    let width = width(program);
    for (number, &step) in program.steps.iter().enumerate().skip(program.takes) {
        let at = number * width;
        let source = match step {
            Step::Fail | Step::Take(..) | Step::Again(..) => None,
            Step::Match => {
                records[at..at + width].fill(0);
                records[at] = place.mark;
                continue;
            }
            Step::Either(a, b) => {
                let farther = records[b as usize * width] > records[a as usize * width];
                Some(if farther { b } else { a })
            }
            Step::Check(assertion, next) => place.satisfies(assertion).then_some(next),
            Step::Open(_, next) | Step::Close(_, next) | Step::Begin(next) | Step::Undo(next) => {
                Some(next)
            }
        };
        let Some(source) = source.map(|step| step as usize * width) else {
            records[at] = 0;
            continue;
        };
        records.copy_within(source..source + width, at);
        if records[at] == 0 {
            continue;
        }
        let recording = !program.undoes || records[at + width - 1] == 0;
        match step {
            // The pass runs backwards: what is found first is the group's last iteration.
            Step::Close(group, _) if recording => {
                let close = at + 2 + 2 * usize::from(group);
                if records[close] == 0 {
                    records[close] = place.mark;
                }
            }
            Step::Open(group, _) if recording => {
                let open = at + 1 + 2 * usize::from(group);
                if records[open] == 0 {
                    records[open] = place.mark;
                }
            }
            Step::Undo(_) => records[at + width - 1] = 1,
            Step::Begin(_) => records[at + width - 1] = 0,
            _ => {}
        }
    }
}
