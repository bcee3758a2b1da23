// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the leftmost-longest match from every position of a subject in one pass from its end.
//!
//! For every step of the program the sweep keeps, at the current position, the best match of the
//! rest: the one that ends farthest and, among those, the one that the order of the steps
//! prefers. A step's best match follows from those of its successors, at the same position
//! or one character on. So a pass over the subject costs subject × program and gives the matches
//! at *all* positions, where searching from each would be quadratic: a megabyte of letters with
//! `([a-z]+)` is a megabyte of work, not half a million megabytes.
//!
//! A best match is a record of numbers: its end, then beginning and end of each group, all plus
//! one, 0 for none; last, if the program undoes empty iterations, whether recording is off. Records
//! come in a few widths, for each of which the inner loops are compiled.

use crate::charset::Membership;
use crate::locale::Locale;
use crate::program::{Program, Step};
use crate::subject::{self, STRAY};
use crate::syntax::Assertion;

/// Positions whose matches are kept at a time. Longer subjects are swept twice: once to keep the
/// state every so often, then in pieces from there.
const PIECE: usize = 1 << 14;
/// Subjects are looked at up to here: positions have 32 bits.
pub(crate) const LONGEST: usize = u32::MAX as usize - 16;

/// What is known about a position.
#[allow(clippy::struct_excessive_bools)] // independent facts, each looked at alone
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The position plus one.
    pub mark: u32,
    /// Whether the search begins here.
    pub begin: bool,
    /// Whether a line begins here. For GNU libc this is also so after a newline, but only if the
    /// expression has just taken it.
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
    pub(crate) fn satisfies(&self, assertion: Assertion) -> bool {
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
pub(crate) struct Subject<'a> {
    /// The text that the search sees.
    pub text: &'a [u8],
    /// What a character is.
    pub locale: Locale,
    /// Whether a line begins where the text begins.
    pub line_start: bool,
    /// The characters of words.
    pub words: &'a Membership,
}

impl Subject<'_> {
    /// Whether a character belongs to a word. A stray byte counts as the character of its value.
    pub(crate) fn is_word(&self, code: Option<u32>) -> bool {
        code.is_some_and(|code| {
            self.words.holds(if code & STRAY != 0 { code & 0xff } else { code })
        })
    }

    /// The position `at`, between the characters `before` and `after`.
    pub(crate) fn place(
        &self,
        at: usize,
        before: Option<u32>,
        after: Option<u32>,
        words: bool,
    ) -> Place {
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
pub(crate) fn mark(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX - 1) + 1
}

/// Number of words in a record of `program`: 3, 5, 9 or 20.
fn width(program: &Program) -> usize {
    match 1 + 2 * program.groups + usize::from(program.undoes) {
        ..=3 => 3,
        4..=5 => 5,
        6..=9 => 9,
        _ => 20,
    }
}

/// Which searches a match at a position is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Searches that began before, at the beginning of a character.
    Passing = 0,
    /// Searches that begin at the position.
    Beginning = 1,
    /// Searches that began inside the character that the position is in or after: they see its
    /// last bytes as stray bytes.
    Split = 2,
}

/// Working memory of sweeps, kept from one to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sweeper {
    state: State,
    /// The match at each position of the piece under way, by kind.
    tables: [Vec<u32>; 3],
    /// Whether the position is inside a character.
    inside: Vec<bool>,
}

/// Takes kind, position and record of a match.
type Visit<'a> = &'a mut dyn FnMut(Kind, usize, &[u32]);

/// The best matches at one position, for all steps.
#[derive(Debug, Clone, Default)]
struct State {
    now: Vec<u32>,
    /// The same one character on.
    next: Vec<u32>,
    /// The same inside a character, where a search can begin and no character be taken.
    lone: Vec<u32>,
}

/// Where a sweep has got to.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// Position; the records of `now` hold there once it is `settled`.
    at: usize,
    /// The character after the position.
    after: Option<u32>,
    settled: bool,
}

/// The overlapping searches, as far as they have got.
#[derive(Debug, Clone, Copy, Default)]
struct Searches {
    /// Where the search under way began.
    begin: usize,
    /// Whether it began inside a character and has not left it yet.
    split: bool,
}

impl Sweeper {
    /// The leftmost match at or after `from`, which no match may precede: position and record.
    pub(crate) fn first(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
    ) -> Option<(usize, &[u32])> {
        let mut found = None;
        let [best, ..] = &mut self.tables;
        best.clear();
        best.resize(width(program), 0);
        let mut cursor = self.state.start(program, subject);
        self.state.run(program, subject, &mut cursor, from, &mut |kind, at, record| {
            if kind == Kind::Passing && record[0] != 0 {
                found = Some(at);
                best.copy_from_slice(record);
            }
        });
        found.map(|at| (at, &best[..]))
    }

    /// Calls `emit` for every match that the overlapping searches find, in order:
    /// the first search begins at 0, each next one after the start of the match before. No match
    /// may start before `from`.
    ///
    /// Costs subject × program, whatever the matches; memory for a piece of the subject and, for
    /// subjects longer than that, less than a record for every position.
    pub(crate) fn all(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
        emit: &mut dyn FnMut(&[u32]),
    ) {
        let piece = PIECE.max(program.steps.len() * width(program));
        self.all_in_pieces(program, subject, from, piece, emit);
    }

    /// The same in pieces of `piece` bytes.
    pub(super) fn all_in_pieces(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
        piece: usize,
        emit: &mut dyn FnMut(&[u32]),
    ) {
        let mut saved = Vec::new();
        let mut cursor = self.state.start(program, subject);
        while cursor.at > from + piece {
            let until = cursor.at - piece;
            self.state.run(program, subject, &mut cursor, until, &mut |_, _, _| {});
            saved.push((cursor, self.state.now.clone()));
        }
        let mut searches = Searches::default();
        let mut low = from;
        while let Some((cursor, records)) = saved.pop() {
            self.state.now.copy_from_slice(&records);
            self.piece(program, subject, cursor, low, &mut searches, emit);
            low = cursor.at;
        }
        let cursor = self.state.start(program, subject);
        self.piece(program, subject, cursor, low, &mut searches, emit);
    }

    /// Sweeps from `cursor` down to `low` and reports the matches in between in forward order.
    fn piece(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        mut cursor: Cursor,
        low: usize,
        searches: &mut Searches,
        emit: &mut dyn FnMut(&[u32]),
    ) {
        let Self { state, tables, inside } = self;
        let width = width(program);
        // A character that begins before `low` may reach after it.
        let base = low.saturating_sub(8);
        let high = cursor.at + usize::from(!cursor.settled);
        let kinds = [
            true,
            depends_on_begin(program, subject),
            program.looks_at_words && subject.locale == Locale::Utf8,
        ];
        for (table, _) in tables.iter_mut().zip(kinds).filter(|(_, wanted)| *wanted) {
            table.clear();
            table.resize((high - base) * width, 0);
        }
        inside.clear();
        inside.resize(high - base, false);
        let mut above = cursor.at;
        state.run(program, subject, &mut cursor, low, &mut |kind, at, record| {
            let row = (at - base) * width;
            tables[kind as usize][row..row + width].copy_from_slice(record);
            if kind == Kind::Passing {
                inside[(at + 1).min(above) - base..above - base].fill(true);
                above = at;
            }
        });
        // What is below `low` has been looked at in the piece before.
        for at in searches.begin.max(low)..high {
            if at < searches.begin {
                continue;
            }
            let inside = inside[at - base];
            let kind = match at == searches.begin {
                true => Kind::Beginning,
                false if searches.split => Kind::Split,
                false => Kind::Passing,
            };
            let table = if kinds[kind as usize] { kind } else { Kind::Passing };
            let row = (at - base) * width;
            let record = &tables[table as usize][row..row + width];
            searches.split = inside && kind != Kind::Passing;
            if record[0] != 0 {
                emit(record);
                *searches = Searches { begin: at + 1, split: false };
            }
        }
    }
}

impl State {
    /// The end of the subject, before anything is known there.
    fn start(&mut self, program: &Program, subject: Subject<'_>) -> Cursor {
        let size = program.steps.len() * width(program);
        for records in [&mut self.now, &mut self.next, &mut self.lone] {
            records.clear();
            records.resize(size, 0);
        }
        Cursor { at: subject.text.len(), after: None, settled: false }
    }

    /// Moves down to `until` or just below it, to the beginning of a character, and calls `visit`
    /// with kind, position and record of the matches at every position.
    fn run(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        cursor: &mut Cursor,
        until: usize,
        visit: Visit<'_>,
    ) {
        match width(program) {
            3 => self.run_in::<3>(program, subject, cursor, until, visit),
            5 => self.run_in::<5>(program, subject, cursor, until, visit),
            9 => self.run_in::<9>(program, subject, cursor, until, visit),
            _ => self.run_in::<20>(program, subject, cursor, until, visit),
        }
    }

    /// The same for records of `W` words.
    fn run_in<const W: usize>(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        cursor: &mut Cursor,
        until: usize,
        visit: Visit<'_>,
    ) {
        let Subject { text, locale, .. } = subject;
        let words = program.looks_at_words;
        let begins = depends_on_begin(program, subject);
        let start = program.start as usize;
        let (mut now, mut next) = (self.now.as_chunks_mut().0, self.next.as_chunks_mut().0);
        let lone = self.lone.as_chunks_mut().0;
        let mut swapped = false;
        let stray = |at: usize| Some(STRAY | u32::from(text[at]));
        loop {
            let before = subject::last(&text[..cursor.at], locale);
            if cursor.settled {
                let Some((code, length)) = before.filter(|_| cursor.at > until) else { break };
                if program.nullable {
                    for at in (cursor.at + 1 - length..cursor.at).rev() {
                        let place = subject.place(at, None, stray(at), words);
                        settle::<W>(program, lone, Place { begin: true, ..place });
                        visit(Kind::Beginning, at, &lone[start]);
                        if words {
                            let place = subject.place(at, stray(at - 1), stray(at), words);
                            settle::<W>(program, lone, place);
                            visit(Kind::Split, at, &lone[start]);
                        }
                    }
                }
                (now, next) = (next, now);
                swapped = !swapped;
                take::<W>(program, next, now, code);
                *cursor = Cursor { at: cursor.at - length, after: Some(code), settled: false };
                continue;
            }
            let Cursor { at, after, .. } = *cursor;
            if begins {
                let place = subject.place(at, None, after, words);
                settle::<W>(program, now, Place { begin: true, ..place });
                visit(Kind::Beginning, at, &now[start]);
            }
            if words && before.is_some_and(|found| found.1 > 1) {
                let place = subject.place(at, stray(at - 1), after, words);
                settle::<W>(program, now, place);
                visit(Kind::Split, at, &now[start]);
            }
            let place = subject.place(at, before.map(|found| found.0), after, words);
            settle::<W>(program, now, place);
            visit(Kind::Passing, at, &now[start]);
            if program.line_starts && before.is_some_and(|found| found.0 == u32::from(b'\n')) {
                settle::<W>(program, now, Place { line_start: true, ..place });
            }
            cursor.settled = true;
        }
        if swapped {
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }
}

/// Whether a match at a position can depend on whether the search begins there.
fn depends_on_begin(program: &Program, subject: Subject<'_>) -> bool {
    program.looks_back || (program.nullable && subject.locale == Locale::Utf8)
}

/// Fills in the records of the steps that take a character, from those after it.
fn take<const W: usize>(
    program: &Program,
    behind: &[[u32; W]],
    records: &mut [[u32; W]],
    code: u32,
) {
    for (step, record) in program.steps[..program.takes].iter().zip(records) {
        let Step::Take(set, next) = *step else { continue };
        if program.sets[set as usize].holds(code) {
            *record = behind[next as usize];
        } else {
            record[0] = 0;
        }
    }
}

/// Fills in the records of all other steps, from those of the steps that take a character.
fn settle<const W: usize>(program: &Program, records: &mut [[u32; W]], place: Place) {
    for (number, &step) in program.steps.iter().enumerate().skip(program.takes) {
        let (done, rest) = records.split_at_mut(number);
        let record = &mut rest[0];
        match step {
            Step::Fail | Step::Take(..) | Step::Again(..) => record[0] = 0,
            Step::Match => {
                *record = [0; W];
                record[0] = place.mark;
            }
            Step::Either(a, b) => {
                let (first, second) = (&done[a as usize], &done[b as usize]);
                *record = if second[0] > first[0] { *second } else { *first };
            }
            Step::Check(assertion, next) => {
                *record = done[next as usize];
                if !place.satisfies(assertion) {
                    record[0] = 0;
                }
            }
            // While recording is on, only an empty place is marked: the pass runs backwards, so the
            // group's last iteration is found first.
            Step::Mark(slot, next) => {
                *record = done[next as usize];
                let slot = usize::from(slot);
                let recording = !program.undoes || record[W - 1] == 0;
                if recording && record[slot] == 0 {
                    record[slot] = place.mark;
                }
            }
            Step::Begin(next) => {
                *record = done[next as usize];
                record[W - 1] = 0;
            }
            Step::Undo(next) => {
                *record = done[next as usize];
                record[W - 1] = 1;
            }
        }
    }
}
