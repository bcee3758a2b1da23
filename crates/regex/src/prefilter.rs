// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds out quickly that a subject holds no match, or where the first one could start.
//!
//! This is a search for a simpler expression that matches wherever the real one does: without
//! groups, assertions and large counts, with any text for a back-reference and any run of high
//! bytes for a character beyond ASCII. Where text has no match for the simpler expression, a usual
//! engine skips it at the speed of memory. It never decides what a match is.

use regex_automata::Input;
use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Repetition};

use crate::charset::CharSet;
use crate::locale::Locale;
use crate::syntax::{Node, Tree};

/// Bound on the engine's own program, in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// Counts above this are not distinguished.
const COUNT_LIMIT: u32 = 4;

/// A search for places where an expression could match.
#[derive(Debug, Clone)]
pub(crate) struct Prefilter {
    engine: Regex,
    cache: Cache,
}

impl Prefilter {
    /// The prefilter of an expression; `None` if it would not help.
    pub(crate) fn new(tree: &Tree, locale: Locale) -> Option<Self> {
        let simple = simplify(tree, locale);
        if simple.properties().minimum_len() == Some(0) {
            return None;
        }
        let config = Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(SIZE_LIMIT))
            .which_captures(WhichCaptures::Implicit);
        let engine = Regex::builder().configure(config).build_from_hir(&simple).ok()?;
        let cache = engine.create_cache();
        Some(Self { engine, cache })
    }

    /// A position that no match precedes, as far right as is easily known; `None` if there is no
    /// match.
    pub(crate) fn first(&mut self, text: &[u8]) -> Option<usize> {
        let input = Input::new(text);
        self.engine.search_with(&mut self.cache, &input).map(|found| found.start())
    }
}

/// An expression that matches at least what the tree matches.
fn simplify(tree: &Tree, locale: Locale) -> Hir {
    let mut done: Vec<Hir> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let simple = match node {
            Node::Empty | Node::Assert(_) => Hir::empty(),
            Node::Class(set) => class(set, locale),
            Node::Backref(_) => run(Hir::class(bytes(0, 0xff)), 0, None),
            Node::Group(_, inner) => take(&mut done, *inner),
            Node::Cat(parts) => Hir::concat(parts.iter().map(|&at| take(&mut done, at)).collect()),
            Node::Alt(parts) => {
                Hir::alternation(parts.iter().map(|&at| take(&mut done, at)).collect())
            }
            Node::Repeat { node, min, max } => {
                let max = max.filter(|&max| max <= COUNT_LIMIT);
                run(take(&mut done, *node), (*min).min(COUNT_LIMIT), max)
            }
        };
        done.push(simple);
    }
    take(&mut done, tree.root)
}

/// A node's expression; every node has one parent.
fn take(done: &mut [Hir], at: usize) -> Hir {
    std::mem::replace(&mut done[at], Hir::empty())
}

fn run(expression: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(expression) })
}

fn bytes(low: u8, high: u8) -> Class {
    Class::Bytes(ClassBytes::new([ClassBytesRange::new(low, high)]))
}

fn class(set: &CharSet, locale: Locale) -> Hir {
    let ranges = set.ranges.as_slice();
    if let (Locale::Utf8, &[(code, last)]) = (locale, ranges)
        && let Some(only) = char::from_u32(code).filter(|_| code == last)
    {
        return Hir::literal(only.to_string().into_bytes());
    }
    let top = if locale == Locale::C { 0xff } else { 0x7f };
    let narrow = ranges.iter().filter_map(|&(low, high)| {
        let low = u8::try_from(low).ok().filter(|&low| low <= top)?;
        let high = u8::try_from(high).unwrap_or(u8::MAX).min(top);
        Some(ClassBytesRange::new(low, high))
    });
    let narrow = Hir::class(Class::Bytes(ClassBytes::new(narrow)));
    if ranges.iter().all(|range| range.1 <= u32::from(top)) {
        return narrow;
    }
    let wide = run(Hir::class(bytes(0x80, 0xff)), 1, None);
    Hir::alternation(vec![narrow, wide])
}
