// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts of the features of a part of an input, and of merged parts.
//!
//! Features are paths in a tree of words: an n-gram is the n-gram without its last word, and that
//! word. Each node knows where it first appeared: in which shard, and after which others of that
//! shard. The earliest place is kept when counts are merged, so that merging gives the same in any
//! order and in any grouping.

use crate::alloc_hints::prefetch;
use crate::document::Ending;
use crate::error::{Error, Result};
use crate::learn::runs::NO_WORDS;
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use crate::token::BOUNDARY;
use dbacl_numeric::keyed::HashKey;
use dbacl_numeric::varint;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// What is kept of documents, with its number in files of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Documents {
    /// Nothing: text has none.
    None = 0,
    /// Each document's features and how often they occur, in order of first occurrence.
    Bags = 1,
    /// Each document's features in order, with repeats, as confidences (`-X`) need them.
    Sequences = 2,
}

/// How features were cut from the input; counts made with other settings cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountSettings {
    /// Options that decide what a feature is; see [`counting_options`].
    pub options: ModelOptions,
    /// How text is cut into words.
    pub scheme: Scheme,
    /// Longest n-gram.
    pub order: u8,
    /// The character set of the run.
    pub locale: Locale,
    /// What is kept of documents.
    pub documents: Documents,
    /// Whether zero bytes are read as blanks (`--keep-nul`).
    pub keeps_nul: bool,
    /// The regular expressions, as category files store them.
    pub patterns: Vec<Vec<u8>>,
}

/// The options that decide what a feature is. The others concern only the fit.
pub(crate) fn counting_options(options: ModelOptions) -> ModelOptions {
    use ModelOption::{Entropy, Multinomial, Overflow, ReferenceOnly, Wide};
    let mut options = options;
    for option in [ReferenceOnly, Wide, Entropy, Multinomial, Overflow] {
        options.remove(option);
    }
    options
}

impl CountSettings {
    /// The name of the first setting that differs, for messages; `None` if the settings agree.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        let agree = [
            (self.options == other.options, "other options (-T, -j, -S or -g)"),
            (self.scheme == other.scheme, "another tokenizing scheme (-e)"),
            (self.order == other.order, "another order of n-grams (-w)"),
            (self.patterns == other.patterns, "other regular expressions (-g)"),
            (self.locale == other.locale, "another character set (LC_ALL)"),
            (self.keeps_nul == other.keeps_nul, "other zero bytes (--keep-nul)"),
            (self.documents == other.documents, "other statistics of documents (-X)"),
        ];
        agree.into_iter().find(|(agrees, _)| !agrees).map(|(_, what)| what)
    }
}

/// A shard: a part of the input that was read in one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Its place in the sequence.
    pub place: u32,
    /// The state at its end, which the reading of the next shard would start from.
    pub ending: Ending,
    /// Number of documents.
    pub documents: u64,
    /// The documents: for each its length, then its nodes; in bags each node with its occurrences.
    pub packed: Vec<u8>,
}

/// The node above all features.
pub(crate) const ROOT: u32 = NO_WORDS;

/// A feature, or the beginning of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The n-gram without its last word, or [`ROOT`].
    pub parent: u32,
    /// The last word.
    pub term: u32,
    /// Number of occurrences; 0 for a node that is only the beginning of features.
    pub count: u64,
    /// Where it first appeared.
    pub first: First,
}

impl Node {
    /// Adds occurrences; `None` if they are too many to count.
    #[inline]
    fn add(&mut self, times: u64) -> Option<()> {
        self.count = self.count.checked_add(times)?;
        Some(())
    }
}

/// Place of a first appearance; earlier places compare as less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct First {
    /// Place of the shard.
    pub place: u32,
    /// Number among the nodes of the shard.
    pub ordinal: u32,
}

/// Words, each with a tag: the medium, and for features of regular expressions, whose whole body
/// counts as one word, additionally the order times 16.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    bytes: Vec<u8>,
    /// For each word, its end in `bytes` and its tag.
    words: Vec<(usize, u8)>,
    index: HashTable<u32>,
    hashing: DefaultHashBuilder,
}

impl Terms {
    /// Number of words.
    pub(crate) fn size(&self) -> usize {
        self.words.len()
    }

    /// A word's bytes and tag.
    #[inline]
    pub(crate) fn get(&self, term: u32) -> (&[u8], u8) {
        word(&self.words, &self.bytes, term)
    }

    /// The number of a word, which gets a new one if it has not been seen before; `None` if there
    /// are too many words.
    #[inline]
    pub(crate) fn intern(&mut self, bytes: &[u8], tag: u8) -> Option<u32> {
        let Self { bytes: pool, words, index, hashing } = self;
        let hash = hashing.hash_one((bytes, tag));
        if let Some(&term) = index.find(hash, |&term| word(words, pool, term) == (bytes, tag)) {
            return Some(term);
        }
        let term = u32::try_from(words.len()).ok().filter(|&term| term < ROOT - 1)?;
        index.insert_unique(hash, term, |&term| hashing.hash_one(word(words, pool, term)));
        pool.extend_from_slice(bytes);
        words.push((pool.len(), tag));
        Some(term)
    }
}

#[inline]
fn word<'a>(words: &[(usize, u8)], pool: &'a [u8], term: u32) -> (&'a [u8], u8) {
    let at = term as usize;
    let from = if at == 0 { 0 } else { words[at - 1].0 };
    (&pool[from..words[at].0], words[at].1)
}

/// Nodes by parent and term: open addressing, at most two thirds full. An entry holds all that
/// counting an occurrence needs, so that it takes one access to memory.
#[derive(Debug, Clone, Default)]
struct Index {
    entries: Vec<Entry>,
    /// 64 minus the binary logarithm of the size.
    shift: u32,
    hashing: HashKey,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    parent: u32,
    term: u32,
    /// [`ROOT`] in a free entry.
    node: u32,
    /// Occurrences that have not been added to the node yet.
    waiting: u32,
}

/// What a search has found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The node, or [`ROOT`].
    pub node: u32,
    /// Its place in the index when that had this size.
    at: usize,
    size: usize,
}

const FREE: Entry = Entry { parent: 0, term: 0, node: ROOT, waiting: 0 };
const FIRST_BITS: u32 = 10;

impl Index {
    /// The index where the search begins.
    #[inline]
    fn home(&self, parent: u32, term: u32) -> usize {
        let key = u64::from(parent) << 32 | u64::from(term);
        #[allow(clippy::cast_possible_truncation)] // an index below the table's size
        let home = (self.hashing.of_number(key) >> self.shift) as usize;
        home
    }

    /// The index of the entry, or of the free entry where it would be inserted.
    #[inline]
    fn find(&self, parent: u32, term: u32) -> Result<usize, usize> {
        self.find_from(self.home(parent, term), parent, term)
    }

    /// The same for an entry with this home.
    #[inline]
    fn find_from(&self, mut at: usize, parent: u32, term: u32) -> Result<usize, usize> {
        if self.entries.is_empty() {
            return Err(0);
        }
        let mask = self.entries.len() - 1;
        loop {
            let entry = &self.entries[at & mask];
            if entry.node == ROOT {
                return Err(at & mask);
            }
            if entry.term == term && entry.parent == parent {
                return Ok(at & mask);
            }
            at += 1;
        }
    }

    /// Inserts an entry at the index that [`Self::find`] returned; `used` is the number of entries
    /// including it. Returns the entry's index, which differs if the table has grown.
    fn insert(&mut self, entry: Entry, at: usize, used: usize) -> usize {
        if used * 3 <= self.entries.len() * 2 {
            self.entries[at] = entry;
            return at;
        }
        let size = (self.entries.len() * 2).max(1 << FIRST_BITS);
        self.shift = 64 - size.ilog2();
        let old = std::mem::replace(&mut self.entries, vec![FREE; size]);
        let mut place = 0;
        for entry in old.into_iter().filter(|entry| entry.node != ROOT).chain([entry]) {
            let (Ok(at) | Err(at)) = self.find(entry.parent, entry.term);
            self.entries[at] = entry;
            place = at;
        }
        place
    }
}

/// Exact counts of the features of some documents: all that is needed to learn a category.
///
/// See [`super::part::PartCounter`] for an example.
#[derive(Debug, Clone)]
pub struct Counts {
    /// How features were cut.
    pub(crate) settings: CountSettings,
    /// Whether shards have places of their own in the sequence; otherwise counts follow each other
    /// in the order in which they are merged.
    pub(crate) is_placed: bool,
    /// The words.
    pub(crate) terms: Terms,
    nodes: Vec<Node>,
    index: Index,
    /// The shards, by place.
    pub(crate) shards: Vec<Shard>,
}

impl Counts {
    /// Nothing counted yet.
    pub(crate) fn new(settings: CountSettings, is_placed: bool) -> Self {
        Self {
            settings,
            is_placed,
            terms: Terms::default(),
            nodes: Vec::new(),
            index: Index::default(),
            shards: Vec::new(),
        }
    }

    /// The nodes; a node's parent stands before it.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of features.
    pub(crate) fn features(&self) -> usize {
        self.nodes.iter().filter(|node| node.count > 0).count()
    }

    /// The node of `term` below `parent`, created with the place `first` if it is new. If it
    /// `counts`, one occurrence is counted, which [`Self::settle`] adds to the node later. `None`
    /// if there are too many nodes.
    #[inline]
    pub(crate) fn child(
        &mut self,
        parent: u32,
        term: u32,
        first: First,
        counts: bool,
    ) -> Option<u32> {
        let at = match self.index.find(parent, term) {
            Ok(at) => at,
            Err(at) => self.insert(parent, term, first, at)?,
        };
        if counts { self.count_entry(at) } else { Some(self.index.entries[at].node) }
    }

    #[inline]
    fn count_entry(&mut self, at: usize) -> Option<u32> {
        let entry = &mut self.index.entries[at];
        entry.waiting += 1;
        if entry.waiting == u32::MAX {
            self.nodes[entry.node as usize].add(u64::from(entry.waiting))?;
            entry.waiting = 0;
        }
        Some(entry.node)
    }

    /// Searches for nodes, given by parent and term, side by side, and sets `found` to what is
    /// known of each. Searches below [`ROOT`] find nothing.
    pub(super) fn find_all(
        &self,
        wanted: impl Iterator<Item = (u32, u32)> + Clone,
        found: &mut Vec<Known>,
    ) {
        found.clear();
        found.extend(wanted.clone().map(|(parent, term)| {
            let at = self.index.home(parent, term);
            prefetch(&self.index.entries, at);
            Known { node: ROOT, at, size: self.index.entries.len() }
        }));
        for (known, (parent, term)) in found.iter_mut().zip(wanted) {
            if parent != ROOT
                && let Ok(at) = self.index.find_from(known.at, parent, term)
            {
                *known = Known { node: self.index.entries[at].node, at, ..*known };
            }
        }
    }

    /// Counts one more occurrence of a node that was found, if it is known where it is; returns
    /// whether it is.
    #[inline]
    pub(super) fn count_known(&mut self, known: Known) -> bool {
        known.node != ROOT
            && known.size == self.index.entries.len()
            && self.count_entry(known.at).is_some()
    }

    #[cold]
    fn insert(&mut self, parent: u32, term: u32, first: First, at: usize) -> Option<usize> {
        let node = u32::try_from(self.nodes.len()).ok().filter(|&node| node < ROOT - 1)?;
        self.nodes.push(Node { parent, term, count: 0, first });
        Some(self.index.insert(Entry { parent, term, node, waiting: 0 }, at, self.nodes.len()))
    }

    /// Adds the occurrences that [`Self::child`] has set aside to the counts of the nodes;
    /// `None` if a count overflows.
    #[must_use]
    pub(crate) fn settle(&mut self) -> Option<()> {
        let Self { index, nodes, .. } = self;
        let mut waiting = index.entries.iter_mut().filter(|entry| entry.waiting > 0);
        waiting.try_for_each(|entry| {
            nodes[entry.node as usize].add(std::mem::take(&mut entry.waiting).into())
        })
    }

    /// Adds occurrences of a node; `None` if they are too many to count.
    #[inline]
    #[must_use]
    pub(crate) fn add(&mut self, node: u32, times: u64) -> Option<()> {
        self.nodes[node as usize].add(times)
    }

    /// Writes the text of a feature to `body`; returns its medium and its order.
    pub(crate) fn spell(&self, node: u32, body: &mut Vec<u8>) -> (Medium, u8) {
        body.clear();
        let mut path = [0u32; 8];
        let mut length = 0;
        let mut at = node;
        while at != ROOT && length < path.len() {
            path[length] = self.nodes[at as usize].term;
            length += 1;
            at = self.nodes[at as usize].parent;
        }
        let (bytes, tag) = self.terms.get(path[0]);
        let medium = Medium::new(tag & 15);
        if !self.settings.patterns.is_empty() {
            body.extend_from_slice(bytes);
            return (medium, tag >> 4);
        }
        body.push(BOUNDARY);
        for &term in path[..length].iter().rev() {
            body.extend_from_slice(self.terms.get(term).0);
            body.push(BOUNDARY);
        }
        #[allow(clippy::cast_possible_truncation)] // at most 8
        let order = length as u8;
        (medium, order)
    }

    /// Calls `each` for each document of a shard, with its nodes and how often each occurs. Returns
    /// `None` if the documents are broken, which reading a file rules out.
    pub(crate) fn each_document(
        &self,
        shard: &Shard,
        mut each: impl FnMut(&[(u32, u64)]),
    ) -> Option<()> {
        let has_times = self.settings.documents == Documents::Bags;
        let (mut rest, mut entries) = (shard.packed.as_slice(), Vec::new());
        for _ in 0..shard.documents {
            entries.clear();
            for _ in 0..varint::take(&mut rest)? {
                let node = u32::try_from(varint::take(&mut rest)?).ok()?;
                entries.push((node, if has_times { varint::take(&mut rest)? } else { 1 }));
            }
            each(&entries);
        }
        rest.is_empty().then_some(())
    }

    /// Appends a document to `packed`.
    pub(super) fn pack(
        &self,
        entries: impl ExactSizeIterator<Item = (u32, u64)>,
        packed: &mut Vec<u8>,
    ) {
        varint::append(packed, entries.len() as u64);
        for (node, times) in entries {
            varint::append(packed, node.into());
            if self.settings.documents == Documents::Bags {
                varint::append(packed, times);
            }
        }
    }

    /// A shard's documents, packed with other numbers of the nodes.
    pub(super) fn repack(&self, shard: &Shard, number: impl Fn(u32) -> u32) -> Vec<u8> {
        let mut packed = Vec::with_capacity(shard.packed.len());
        self.each_document(shard, |entries| {
            self.pack(entries.iter().map(|&(node, times)| (number(node), times)), &mut packed);
        });
        packed
    }

    /// The nodes in order of first appearance.
    pub(crate) fn sequence(&self) -> Vec<u32> {
        let first = |&at: &u32| self.nodes[at as usize].first;
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 nodes
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        if !order.is_sorted_by_key(first) {
            order.sort_unstable_by_key(first);
        }
        order
    }
}

impl Counts {
    /// Adds the counts of `other`: after these counts, or at its places (`--place`).
    ///
    /// # Errors
    /// [`Error::Counts`] for counts that were made with other settings, or numbers that do not fit
    /// their width; these counts are then unusable.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if let Some(what) = self.settings.difference(&other.settings) {
            return Err(Error::Counts(format!("it was counted with {what}")));
        }
        if self.is_placed != other.is_placed {
            let text = "some counts have a place in the sequence (--place) and some have none";
            return Err(Error::Counts(text.into()));
        }
        let is_ours = |theirs: &&Shard| self.shards.iter().any(|own| own.place == theirs.place);
        if self.is_placed
            && let Some(Shard { place, .. }) = other.shards.iter().find(is_ours)
        {
            return Err(Error::Counts(format!("the shard of place {place} is there already")));
        }
        let too_many = "there are too many features or occurrences to count";
        self.absorb(other).ok_or_else(|| Error::Counts(too_many.into()))
    }
}

impl Counts {
    /// Adds counts whose settings agree. If both have a shard at a place, the two become one.
    /// `None` if a number does not fit its width.
    fn absorb(&mut self, other: &Self) -> Option<()> {
        let mut terms = Vec::with_capacity(other.terms.size());
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 terms
        for term in 0..other.terms.size() as u32 {
            let (bytes, tag) = other.terms.get(term);
            terms.push(self.terms.intern(bytes, tag)?);
        }
        let mut nodes = vec![ROOT; other.nodes.len()];
        for at in other.sequence() {
            let node = other.nodes[at as usize];
            let parent = if node.parent == ROOT { ROOT } else { nodes[node.parent as usize] };
            let first = if self.is_placed {
                node.first
            } else {
                First { place: 0, ordinal: u32::try_from(self.nodes.len()).ok()? }
            };
            let here = self.child(parent, terms[node.term as usize], first, false)?;
            nodes[at as usize] = here;
            let ours = &mut self.nodes[here as usize];
            ours.first = ours.first.min(first);
            ours.add(node.count)?;
        }
        for shard in &other.shards {
            let packed = other.repack(shard, |node| nodes[node as usize]);
            let place = if self.is_placed { shard.place } else { 0 };
            match self.shards.binary_search_by_key(&place, |own| own.place) {
                Ok(at) => {
                    let ours = &mut self.shards[at];
                    ours.ending = ours.ending.then(shard.ending);
                    ours.documents = ours.documents.checked_add(shard.documents)?;
                    ours.packed.extend_from_slice(&packed);
                }
                Err(at) => self.shards.insert(at, Shard { place, packed, ..*shard }),
            }
        }
        Some(())
    }

    /// Joins all shards to one without a place, as if they had been merged in order.
    #[must_use]
    pub(crate) fn without_places(&self) -> Option<Self> {
        let mut all = Self::new(self.settings.clone(), false);
        all.absorb(self)?;
        Some(all)
    }

    /// Joins all shards to one at `place`.
    #[must_use]
    pub(crate) fn at_place(&self, place: u32) -> Option<Self> {
        let mut all = self.without_places()?;
        all.is_placed = true;
        for node in &mut all.nodes {
            node.first.place = place;
        }
        for shard in &mut all.shards {
            shard.place = place;
        }
        Some(all)
    }

    /// Whether reading all shards in one pass would have read a later shard differently because of
    /// an earlier one.
    pub(crate) fn is_inexact(&self) -> bool {
        let endings = self.shards.iter().map(|shard| shard.ending);
        endings.reduce(Ending::then).is_some_and(|ending| ending.is_inexact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_somebody_chose_are_found_as_soon_as_others() {
        // Words below one word, in a text of ordinary words, whose hash without a key began with
        // eight certain bits.
        let collides = |term: &u32| {
            const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
            let key = 5 << 32 | u64::from(*term);
            let mixed = (key ^ key >> 29).wrapping_mul(MULTIPLIER);
            (mixed ^ mixed >> 32).wrapping_mul(MULTIPLIER) >> 56 == 9
        };
        let chosen: Vec<u32> = (0..).filter(collides).take(8000).collect();
        for number in [4000, 8000] {
            let mut index = Index::default();
            for (node, &term) in (0..).zip(&chosen[..number]) {
                let at = index.find(5, term).expect_err("it is new");
                index.insert(Entry { parent: 5, term, node, waiting: 0 }, at, node as usize + 1);
            }
            let mask = index.entries.len() - 1;
            let used = index.entries.iter().enumerate().filter(|(_, entry)| entry.node != ROOT);
            let steps: usize = used
                .map(|(at, entry)| at.wrapping_sub(index.home(entry.parent, entry.term)) & mask)
                .sum();
            // About one each on average.
            assert!(steps < 50 * number, "{steps} steps for {number} nodes");
        }
    }
}
