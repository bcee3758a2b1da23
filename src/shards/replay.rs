// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes from counts the state of a learning run that has read the whole input.

use super::counts::{Counts, Documents};
use crate::error::WarningSink;
use crate::learn::counter::Counter;
use crate::token::Feature;

/// Why a category cannot be learned from counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplayFault {
    /// There are more occurrences than a model can count.
    #[error("more occurrences were counted than a category can hold (2^32 - 2)")]
    TooMany,
}

/// The order in which features are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
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
pub fn replay(
    counts: &Counts,
    order: Order,
    counter: &mut Counter,
    warnings: WarningSink<'_>,
) -> Result<(), ReplayFault> {
    if !fits(counts, counter) {
        return Err(ReplayFault::TooMany);
    }
    let mut body = Vec::new();
    let mut count = |counter: &mut Counter, node: u32, times: u64| {
        let (medium, order) = counts.spell(node, &mut body);
        let feature = Feature { body: &body, medium, order, pattern: None };
        // The total was checked above, so a part of it is less.
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        counter.count_times(feature, times, warnings);
    };
    if counts.settings.documents == Documents::None {
        let mut sequence = counts.sequence();
        if order == Order::Canonical {
            sort_by_text(counts, &mut sequence);
        }
        for node in sequence {
            let times = counts.nodes()[node as usize].count;
            if times > 0 {
                count(counter, node, times);
            }
        }
    } else if order == Order::Appearance {
        for shard in &counts.shards {
            for document in counts.documents(shard) {
                counts.document(&document, |node, times| count(counter, node, times));
                counter.end_document(&mut |_| {});
            }
        }
    } else {
        for document in sorted_documents(counts) {
            for (node, times) in document {
                count(counter, node, times);
            }
            counter.end_document(&mut |_| {});
        }
    }
    Ok(())
}

/// Whether a model can hold these counts in addition to those in `counter`.
pub fn fits(counts: &Counts, counter: &Counter) -> bool {
    let before = u64::from(counter.state().total);
    let mut counted = counts.nodes().iter().map(|node| node.count);
    let total = counted.try_fold(before, u64::checked_add);
    total.is_some_and(|total| total < u64::from(u32::MAX))
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
        for document in counts.documents(shard) {
            let mut entries = Vec::new();
            counts.document(&document, |node, times| entries.push((ranks[node as usize], times)));
            if counts.settings.documents == Documents::Bags {
                entries.sort_unstable();
            }
            documents.push(entries);
        }
    }
    documents.sort_unstable();
    for (rank, _) in documents.iter_mut().flatten() {
        *rank = sequence[*rank as usize];
    }
    documents
}
