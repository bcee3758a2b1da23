// SPDX-License-Identifier: GPL-3.0-or-later
//! Matches expressions with back-references, by trying.
//!
//! Such expressions are not regular, and matching them can take exponential time, so the number of
//! steps is limited: a search that exceeds its budget ends as if nothing (more) matched. All ways
//! are tried in the order of the program's steps; the first of the longest wins, as in
//! [`super::sweep`].

use crate::program::{GROUPS, Program, Step};
use crate::subject;
use crate::sweep::{Subject, mark};

/// Numbers in a record: the end of the match, then beginning and end of each group, plus one.
const WIDTH: usize = 1 + 2 * GROUPS;
type Record = [u32; WIDTH];

/// A way not yet tried.
#[derive(Debug, Clone, Copy)]
struct Way {
    step: u32,
    at: usize,
    record: Record,
    /// What groups had recorded when the innermost undoable iteration began.
    kept: Record,
}

/// Working memory of searches, kept from one to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backtracker {
    ways: Vec<Way>,
    best: Vec<u32>,
}

impl Backtracker {
    /// The leftmost match at or after `from`: its position and record. Takes the steps that it
    /// needed from `budget`; a budget of 0 afterwards says that the search was given up.
    pub(crate) fn first(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        from: usize,
        ignore_case: bool,
        budget: &mut u64,
    ) -> Option<(usize, &[u32])> {
        let mut at = 0;
        loop {
            if at >= from && self.longest(program, subject, at, ignore_case, budget) {
                return Some((at, &self.best[..=2 * program.groups]));
            }
            let (_, length) = subject::first(&subject.text[at..], subject.locale)?;
            at += length;
        }
    }

    /// Whether there is a match at `start`; the longest is left in `best`.
    fn longest(
        &mut self,
        program: &Program,
        subject: Subject<'_>,
        start: usize,
        ignore_case: bool,
        budget: &mut u64,
    ) -> bool {
        let Subject { text, locale, .. } = subject;
        self.best.clear();
        self.best.resize(WIDTH, 0);
        self.ways.clear();
        let nothing = [0; WIDTH];
        self.ways.push(Way { step: program.start, at: start, record: nothing, kept: nothing });
        while let Some(mut way) = self.ways.pop() {
            loop {
                if *budget == 0 {
                    return self.best[0] != 0;
                }
                *budget -= 1;
                way.step = match program.steps[way.step as usize] {
                    Step::Fail => break,
                    Step::Match => {
                        if mark(way.at) > self.best[0] {
                            self.best.copy_from_slice(&way.record);
                            self.best[0] = mark(way.at);
                        }
                        if way.at == text.len() {
                            return true;
                        }
                        break;
                    }
                    Step::Take(set, next) => match subject::first(&text[way.at..], locale) {
                        Some((code, length)) if program.sets[set as usize].holds(code) => {
                            way.at += length;
                            next
                        }
                        _ => break,
                    },
                    Step::Either(a, b) => {
                        self.ways.push(Way { step: b, ..way });
                        a
                    }
                    Step::Check(assertion, next) => {
                        let before = subject::last(&text[..way.at], locale).map(|found| found.0);
                        let after = subject::first(&text[way.at..], locale).map(|found| found.0);
                        let words = program.looks_at_words;
                        let mut place = subject.place(way.at, before, after, words);
                        place.line_start |= way.at > start && before == Some(u32::from(b'\n'));
                        if !place.satisfies(assertion) {
                            break;
                        }
                        next
                    }
                    Step::Mark(slot, next) => {
                        way.record[usize::from(slot)] = mark(way.at);
                        next
                    }
                    Step::Begin(next) => {
                        way.kept = way.record;
                        next
                    }
                    Step::Undo(next) => {
                        way.record = way.kept;
                        next
                    }
                    Step::Again(slot, empty, more) => {
                        let open = usize::from(slot);
                        match captured(text, way.record[open], way.record[open + 1]) {
                            Some([]) => empty,
                            Some(wanted) if begins_with(&text[way.at..], wanted, ignore_case) => {
                                way.at += wanted.len();
                                more
                            }
                            _ => break,
                        }
                    }
                };
            }
        }
        self.best[0] != 0
    }
}

/// The text between two marks; `None` if the group has not matched.
fn captured(text: &[u8], open: u32, close: u32) -> Option<&[u8]> {
    let open = usize::try_from(open.checked_sub(1)?).ok()?;
    let close = usize::try_from(close.checked_sub(1)?).ok()?;
    text.get(open..close)
}

fn begins_with(text: &[u8], wanted: &[u8], ignore_case: bool) -> bool {
    match text.get(..wanted.len()) {
        Some(found) if ignore_case => found.eq_ignore_ascii_case(wanted),
        Some(found) => found == wanted,
        None => false,
    }
}
