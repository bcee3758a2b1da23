// SPDX-License-Identifier: GPL-3.0-or-later
//! Compiles a parsed expression into the steps that the matchers follow.
//!
//! A [`Program`] is a graph. *Consuming* steps take one character; the others choose, check or
//! record at one position, and never form a cycle among themselves: they are numbered so that a
//! step's successors have lower numbers. One pass in ascending order therefore settles all of them
//! at a position, which is what makes [`super::sweep`] linear.
//!
//! A loop whose body can be empty would form such a cycle. It is compiled so that an iteration
//! knows whether it has consumed anything, by compiling what follows twice: [`Builder::build`]
//! takes one continuation for "nothing consumed since the iteration began" and one for "something
//! consumed", and only the latter goes round again. An iteration that ends empty after one that
//! did not is undone, as GNU libc does: [`Step::Begin`] and [`Step::Undo`] enclose
//! it, and what groups record between them does not count.

use std::collections::HashMap;

use crate::charset::{CharSet, Membership};
use crate::error::Error;
use crate::syntax::{Assertion, Node, NodeId, Tree};

/// Most steps of a program. More is "could not compile": `([a-z]{1,1000})` needs 3,000 steps,
/// `(a{1,32767})` is refused, for which GNU libc takes gigabytes.
const MAX_STEPS: usize = 1 << 15;
/// Number of groups that expressions can record.
pub const GROUPS: usize = 9;

/// Number of a step in its program.
pub(crate) type StepId = u32;

/// What to do at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Matching fails.
    Fail,
    /// The expression has matched.
    Match,
    /// Take one character of the set with this number, and go on.
    Take(u32, StepId),
    /// Go either way. The first is better unless the second gives a longer match.
    Either(StepId, StepId),
    /// Go on if the assertion holds.
    Check(Assertion, StepId),
    /// A group begins or ends here. The position is stored in the record at this index: 1 for the
    /// beginning of the first group, 2 for its end, 3 for the beginning of the second.
    Mark(u8, StepId),
    /// A loop's iteration begins that does not count if it ends in [`Step::Undo`].
    Begin(StepId),
    /// The iteration was empty: forget what groups recorded since [`Step::Begin`].
    Undo(StepId),
    /// Take what a group matched; the record has the group's beginning at this index. The first
    /// continuation is for an empty match.
    Again(u8, StepId, StepId),
}

impl Step {
    /// The steps that it leads to.
    const fn targets(&mut self) -> [Option<&mut StepId>; 2] {
        match self {
            Self::Fail | Self::Match => [None, None],
            Self::Take(_, next)
            | Self::Check(_, next)
            | Self::Mark(_, next)
            | Self::Begin(next)
            | Self::Undo(next) => [Some(next), None],
            Self::Either(first, second) | Self::Again(_, first, second) => {
                [Some(first), Some(second)]
            }
        }
    }
}

/// A compiled expression.
#[allow(clippy::struct_excessive_bools)] // independent facts, each looked at alone
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// All steps: first those that take a character, then the others with successors first.
    pub steps: Vec<Step>,
    /// Number of [`Step::Take`] steps.
    pub takes: usize,
    /// Where matching begins.
    pub start: StepId,
    /// The sets of [`Step::Take`].
    pub sets: Vec<Membership>,
    /// Number of groups that are recorded.
    pub groups: usize,
    /// Whether the empty string may match.
    pub nullable: bool,
    /// Whether [`Step::Undo`] occurs.
    pub undoes: bool,
    /// Whether an assertion about words or [`Assertion::Start`] occurs, so that a match depends on
    /// where the search began.
    pub looks_back: bool,
    /// Whether an assertion about words occurs.
    pub looks_at_words: bool,
    /// Whether `^` occurs.
    pub line_starts: bool,
    /// Whether back-references occur.
    pub backrefs: bool,
}

/// Compiles `tree`, recording its first `groups` groups.
///
/// # Errors
/// The program would exceed its limit of 32,768 steps.
pub(crate) fn compile(tree: &Tree, groups: usize) -> Result<Program, Error> {
    let backrefs = tree.has(|node| matches!(node, Node::Backref(_)));
    let groups = if backrefs { GROUPS } else { groups.min(GROUPS) };
    let nullable = tree.nullable();
    let root_nullable = nullable[tree.root];
    let mut builder = Builder {
        tree,
        nullable,
        groups: groups.min(tree.groups as usize),
        steps: Vec::new(),
        known: HashMap::new(),
        built: HashMap::new(),
        loops: HashMap::new(),
        sets: Vec::new(),
        set_numbers: HashMap::new(),
    };
    let end = builder.step(Step::Match)?;
    let start = builder.build(tree.root, end, end)?;
    let words = |assertion: &Assertion| {
        !matches!(assertion, Assertion::LineStart | Assertion::End | Assertion::Start)
    };
    let looks_at_words = tree.has(|node| matches!(node, Node::Assert(kind) if words(kind)));
    let at_start = tree.has(|node| matches!(node, Node::Assert(Assertion::Start)));
    let Builder { steps, sets, groups, .. } = builder;
    let (steps, takes, start) = arrange(&steps, start);
    Ok(Program {
        undoes: steps.iter().any(|step| matches!(step, Step::Undo(_))),
        steps,
        takes,
        start,
        sets: sets.into_iter().map(Membership::new).collect(),
        groups,
        nullable: root_nullable,
        looks_back: looks_at_words || at_start,
        looks_at_words,
        line_starts: tree.has(|node| matches!(node, Node::Assert(Assertion::LineStart))),
        backrefs,
    })
}

/// A program under construction.
struct Builder<'a> {
    tree: &'a Tree,
    nullable: Vec<bool>,
    groups: usize,
    steps: Vec<Step>,
    /// Equal steps are made once.
    known: HashMap<Step, StepId>,
    /// Entries of nodes already built with the same continuations.
    built: HashMap<(NodeId, StepId, StepId), StepId>,
    /// What a loop's later iterations begin with, by its body and what follows it.
    loops: HashMap<(NodeId, StepId), StepId>,
    sets: Vec<CharSet>,
    set_numbers: HashMap<CharSet, u32>,
}

impl Builder<'_> {
    fn step(&mut self, step: Step) -> Result<StepId, Error> {
        if let Some(&known) = self.known.get(&step) {
            return Ok(known);
        }
        let id = self.reserve(step)?;
        self.known.insert(step, id);
        Ok(id)
    }

    /// A step of its own, to be filled in later.
    fn reserve(&mut self, step: Step) -> Result<StepId, Error> {
        if self.steps.len() >= MAX_STEPS {
            return Err(Error::TooLarge);
        }
        self.steps.push(step);
        StepId::try_from(self.steps.len() - 1).map_err(|_| Error::TooLarge)
    }

    /// The entry to `node`, which goes on to `empty` if it consumes nothing, else to `more`.
    fn build(&mut self, node: NodeId, empty: StepId, more: StepId) -> Result<StepId, Error> {
        let key = (node, empty, more);
        if let Some(&entry) = self.built.get(&key) {
            return Ok(entry);
        }
        let tree = self.tree;
        let entry = match &tree.nodes[node] {
            Node::Empty => empty,
            Node::Class(set) => {
                let number = self.set_number(set);
                self.step(Step::Take(number, more))?
            }
            Node::Assert(assertion) => self.step(Step::Check(*assertion, empty))?,
            Node::Backref(number) => self.step(Step::Again(place(*number), empty, more))?,
            Node::Group(number, inner) if *number as usize <= self.groups => {
                let end = place(*number) + 1;
                let close_empty = self.step(Step::Mark(end, empty))?;
                let close_more = self.step(Step::Mark(end, more))?;
                let inside = self.build(*inner, close_empty, close_more)?;
                self.step(Step::Mark(place(*number), inside))?
            }
            Node::Group(_, inner) => self.build(*inner, empty, more)?,
            Node::Cat(parts) => {
                let (mut empty, mut more) = (empty, more);
                for &part in parts.iter().rev() {
                    let entry = self.build(part, empty, more)?;
                    more = if empty == more { entry } else { self.build(part, more, more)? };
                    empty = entry;
                }
                empty
            }
            Node::Alt(branches) => {
                let mut entry = None;
                for &branch in branches.iter().rev() {
                    let this = self.build(branch, empty, more)?;
                    entry = Some(match entry {
                        Some(rest) => self.step(Step::Either(this, rest))?,
                        None => this,
                    });
                }
                entry.map_or_else(|| self.step(Step::Fail), Ok)?
            }
            Node::Repeat { node, min, max } => self.repeat(*node, *min, *max, empty, more)?,
        };
        self.built.insert(key, entry);
        Ok(entry)
    }

    /// The entry to a repeated node. The copies behave like `min` times the node, then either a
    /// loop or, for `max - min` more, `((x)?x)?` nested to the left.
    fn repeat(
        &mut self,
        node: NodeId,
        min: u32,
        max: Option<u32>,
        empty: StepId,
        more: StepId,
    ) -> Result<StepId, Error> {
        let (mut fresh, mut moved) = match max {
            None => self.star(node, empty, more)?,
            Some(max) => self.options(node, max - min, empty, more)?,
        };
        // An optional copy after an empty one brings back what was recorded before both.
        let optional = max != Some(min);
        for _ in 0..min {
            let entry = self.build(node, fresh, moved)?;
            moved = if fresh == moved {
                entry
            } else if optional {
                self.undoable(node, moved, moved)?
            } else {
                self.build(node, moved, moved)?
            };
            fresh = entry;
        }
        let _ = moved;
        Ok(fresh)
    }

    /// The two entries of `x*`: before anything was consumed by earlier copies, and after.
    fn star(
        &mut self,
        node: NodeId,
        empty: StepId,
        more: StepId,
    ) -> Result<(StepId, StepId), Error> {
        let again = self.later_iterations(node, more)?;
        if empty == more && !self.nullable[node] {
            return Ok((again, again));
        }
        let body = self.build(node, empty, again)?;
        Ok((self.step(Step::Either(body, empty))?, again))
    }

    /// The entry to `x*` after an iteration that consumed something.
    fn later_iterations(&mut self, node: NodeId, more: StepId) -> Result<StepId, Error> {
        if let Some(&known) = self.loops.get(&(node, more)) {
            return Ok(known);
        }
        let again = self.reserve(Step::Fail)?;
        self.loops.insert((node, more), again);
        let body = self.undoable(node, more, again)?;
        self.steps[again as usize] = Step::Either(body, more);
        Ok(again)
    }

    /// Makes up to `count` optional copies; returns the two steps at which they can be entered.
    fn options(
        &mut self,
        node: NodeId,
        count: u32,
        empty: StepId,
        more: StepId,
    ) -> Result<(StepId, StepId), Error> {
        // What follows when 0, 1, 2, ... of the last copies are still to be gone through.
        let mut exits = vec![(empty, more)];
        for copy in 1..=count {
            let (empty, more) = exits[exits.len() - 1];
            let fresh = self.build(node, empty, more)?;
            // Only the first copy to be gone through is optional by itself.
            let moved = if copy == count {
                self.undoable(node, more, more)?
            } else {
                self.build(node, more, more)?
            };
            exits.push((fresh, moved));
        }
        let mut entry = exits.pop().unwrap_or((empty, more));
        while let Some(skip) = exits.pop() {
            let fresh = self.step(Step::Either(entry.0, skip.0))?;
            entry = (fresh, self.step(Step::Either(entry.1, skip.1))?);
        }
        Ok(entry)
    }

    /// An optional copy after one that was not empty: a group is forgotten if it turns out empty.
    fn undoable(&mut self, node: NodeId, empty: StepId, more: StepId) -> Result<StepId, Error> {
        if !self.nullable[node] {
            return self.build(node, more, more);
        }
        if !matches!(self.tree.nodes[node], Node::Group(..)) {
            return self.build(node, empty, more);
        }
        let undo = self.step(Step::Undo(empty))?;
        let body = self.build(node, undo, more)?;
        self.step(Step::Begin(body))
    }

    fn set_number(&mut self, set: &CharSet) -> u32 {
        if let Some(&known) = self.set_numbers.get(set) {
            return known;
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.set_numbers.insert(set.clone(), number);
        number
    }
}

/// Where the beginning of a group, 1 to 9, stands in records; its end follows.
fn place(group: u32) -> u8 {
    u8::try_from(2 * group - 1).unwrap_or(u8::MAX)
}

/// Numbers the steps that can be reached: those that take a character first, the others after all
/// their followers. Returns the steps, the number of the former, and the new start.
fn arrange(steps: &[Step], start: StepId) -> (Vec<Step>, usize, StepId) {
    const UNSEEN: StepId = StepId::MAX;
    let mut number = vec![UNSEEN; steps.len()];
    let (mut takes, mut others) = (Vec::new(), Vec::new());
    // Entries still to be explored, each from scratch, and the path of the one under way.
    let mut entries = vec![start];
    let mut path: Vec<(StepId, bool)> = Vec::new();
    while let Some(entry) = entries.pop() {
        path.push((entry, false));
        while let Some((id, finished)) = path.pop() {
            let at = id as usize;
            if finished {
                others.push(id);
                continue;
            }
            if number[at] != UNSEEN {
                continue;
            }
            number[at] = 0;
            let mut step = steps[at];
            let mut ahead = step.targets().map(Option::<&mut StepId>::copied);
            match step {
                Step::Take(..) => {
                    takes.push(id);
                    entries.extend(ahead[0]);
                    continue;
                }
                // The second step is reached at a later position, but the program has to hold it.
                Step::Again(..) => entries.extend(ahead[1].take()),
                _ => {}
            }
            path.push((id, true));
            path.extend(ahead.into_iter().flatten().map(|next| (next, false)));
        }
    }
    let order = || takes.iter().chain(&others);
    for (new, &old) in (0..).zip(order()) {
        number[old as usize] = new;
    }
    let arranged = order().map(|&old| {
        let mut step = steps[old as usize];
        step.targets().into_iter().flatten().for_each(|next| *next = number[*next as usize]);
        step
    });
    (arranged.collect(), takes.len(), number[start as usize])
}
