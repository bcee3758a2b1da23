// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes from counts the state of a learning run that has read the whole input.

use super::counts::{Counts, Documents, Node};
use super::file::{CountsFile, Fault, Nodes};
use crate::learn::counter::Counter;
use crate::learn::runs::RunCounter;
use crate::model::medium::Medium;
use crate::token::Feature;

/// Why a category cannot be learned from counts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayFault {
    /// Their file is damaged.
    #[error(transparent)]
    File(#[from] Fault),
    /// There are more occurrences than a model can count.
    #[error("more occurrences were counted than a category can hold (2^32 - 2)")]
    TooMany,
}

/// The order in which features are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Features come in the order in which they first appeared: the category is the one that a
    /// single pass over the input would have made.
    Appearance,
    /// Features come in the order of their texts, documents in the order of their contents: the
    /// category is the same for any order of the input.
    Canonical,
}

/// Counts all features of `counts`, as reading the input would.
///
/// # Errors
/// [`ReplayFault`].
pub(crate) fn replay(
    counts: &Counts,
    order: Order,
    counter: &mut Counter,
) -> Result<(), ReplayFault> {
    let before = u64::from(counter.state().total);
    let total = counts.nodes().iter().try_fold(before, |sum, node| sum.checked_add(node.count));
    if total.is_none_or(|total| total >= MOST) {
        return Err(ReplayFault::TooMany);
    }
    let mut body = Vec::new();
    if counts.settings.documents == Documents::None {
        let mut sequence = counts.sequence();
        if order == Order::Canonical {
            sort_by_text(counts, &mut sequence);
        }
        // The total was checked above, so a part of it is less.
        let times =
            |node: u32| u32::try_from(counts.nodes()[node as usize].count).unwrap_or(u32::MAX);
        if let Some(mut runs) = runs_of(counts, counter) {
            for node in sequence {
                runs.count(node, times(node));
            }
            runs.finish();
            return Ok(());
        }
        for node in sequence {
            count_node(counts, node, times(node), &mut body, counter);
        }
        return Ok(());
    }
    let mut is_first = true;
    let mut learn = |document: &[(u32, u64)]| {
        if !std::mem::take(&mut is_first) {
            counter.end_document();
        }
        for &(node, times) in document {
            let times = u32::try_from(times).unwrap_or(u32::MAX);
            count_node(counts, node, times, &mut body, counter);
        }
    };
    if order == Order::Appearance {
        for shard in &counts.shards {
            counts.each_document(shard, &mut learn);
        }
    } else {
        for document in sorted_documents(counts) {
            learn(&document);
        }
    }
    if order == Order::Appearance {
        counter.end_of_file();
    } else if !is_first {
        counter.end_document();
    }
    Ok(())
}

/// Counts so many occurrences of a feature by its text.
fn count_node(counts: &Counts, node: u32, times: u32, body: &mut Vec<u8>, counter: &mut Counter) {
    let (medium, order) = counts.spell(node, body);
    counter.count_times(Feature { body, medium, order, pattern: None }, times);
}

/// A counter of n-grams into `counter` to which those of `counts` have been added, if it takes
/// them.
fn runs_of<'c>(counts: &Counts, counter: &'c mut Counter) -> Option<RunCounter<'c>> {
    let mut runs = RunCounter::new(counter).filter(|_| counts.settings.patterns.is_empty())?;
    let mut words = (0u32..).take(counts.terms.size()).map(|term| counts.terms.get(term));
    if !words.all(|(bytes, tag)| runs.word(bytes, Medium::new(tag & 15))) {
        return None;
    }
    counts.nodes().iter().for_each(|node| runs.add(node.parent, node.term));
    Some(runs)
}

/// As [`replay`] for the counts in a file. Text is counted as it is read, so that the counts are
/// not kept in memory twice.
///
/// # Errors
/// [`ReplayFault`].
pub(crate) fn replay_file(
    file: CountsFile,
    order: Order,
    counter: &mut Counter,
) -> Result<(), ReplayFault> {
    let settings = &file.head.settings;
    let is_plain = settings.documents == Documents::None && settings.patterns.is_empty();
    if is_plain
        && order == Order::Appearance
        && let Some(runs) = RunCounter::new(counter)
    {
        let mut counted = Counted { runs, number: 0, total: 0 };
        file.read_into(&mut counted)?;
        counted.runs.finish();
        return if counted.total < MOST { Ok(()) } else { Err(ReplayFault::TooMany) };
    }
    replay(&file.into_counts()?, order, counter)
}

/// A model holds fewer occurrences.
const MOST: u64 = u32::MAX as u64;

/// Counts n-grams as their file is read.
struct Counted<'c> {
    runs: RunCounter<'c>,
    number: u32,
    total: u64,
}

impl Nodes for Counted<'_> {
    fn word(&mut self, bytes: &[u8], tag: u8) -> bool {
        self.runs.word(bytes, Medium::new(tag & 15))
    }

    fn node(&mut self, node: Node) -> bool {
        self.runs.add(node.parent, node.term);
        self.total = self.total.saturating_add(node.count);
        if self.total < MOST {
            // The total is less than 2^32, and so is this part of it.
            let times = u32::try_from(node.count).unwrap_or(u32::MAX);
            self.runs.count(self.number, times);
        }
        self.number += 1;
        true
    }
}

/// Sorts nodes by medium, order and text.
fn sort_by_text(counts: &Counts, nodes: &mut [u32]) {
    let mut body = Vec::new();
    nodes.sort_by_cached_key(|&node| {
        let (medium, order) = counts.spell(node, &mut body);
        (medium, order, body.clone())
    });
}

/// The documents, each with its features by text - sequences keep their order - and sorted by what
/// they hold.
fn sorted_documents(counts: &Counts) -> Vec<Vec<(u32, u64)>> {
    let mut sequence = counts.sequence();
    sort_by_text(counts, &mut sequence);
    let mut ranks = vec![0u32; sequence.len()];
    for (rank, &node) in (0u32..).zip(&sequence) {
        ranks[node as usize] = rank;
    }
    let mut documents = Vec::new();
    for shard in &counts.shards {
        counts.each_document(shard, |entries| {
            let rank = |&(node, times): &(u32, u64)| (ranks[node as usize], times);
            let mut entries: Vec<_> = entries.iter().map(rank).collect();
            if counts.settings.documents == Documents::Bags {
                entries.sort_unstable();
            }
            documents.push(entries);
        });
    }
    documents.sort_unstable();
    for (rank, _) in documents.iter_mut().flatten() {
        *rank = sequence[*rank as usize];
    }
    documents
}
