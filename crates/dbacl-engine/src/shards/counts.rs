// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts of the features of a part of an input, and of merged parts.
//!
//! Features are paths in a tree of words: an n-gram is the n-gram without its last word, and that
//! word. Each node knows where it first appeared: in which shard, and after which others of that
//! shard. The earliest place is kept when counts are merged, so that merging gives the same in any
//! order and in any grouping.

use crate::alloc_hints::prefetch;
use crate::document::Ending;
use crate::learn::runs::NO_WORDS;
use crate::token::{BOUNDARY, Feature};
use dbacl_model::medium::Medium;
use dbacl_model::settings::{Locale, ModelOption, ModelOptions, Scheme};
use dbacl_numeric::varint;
use hashbrown::HashTable;

/// What is kept of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    /// Nothing: text has none.
    None,
    /// Each document's features and how often they occur, in order of first occurrence.
    Bags,
    /// Each document's features in order, with repeats, as confidences (`-X`) need them.
    Sequences,
}

/// How features were cut from the input; counts made with other settings cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountSettings {
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
pub fn counting_options(options: ModelOptions) -> ModelOptions {
    use ModelOption::{Entropy, Multinomial, Overflow, ReferenceOnly, Wide};
    let mut options = options;
    for option in [ReferenceOnly, Wide, Entropy, Multinomial, Overflow] {
        options.remove(option);
    }
    options
}

impl CountSettings {
    /// The name of the first setting that differs, for messages; `None` if the settings agree.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.options != other.options {
            return Some("other options (-T, -j, -S or -g)");
        }
        if self.scheme != other.scheme {
            return Some("another tokenizing scheme (-e)");
        }
        if self.order != other.order {
            return Some("another order of n-grams (-w)");
        }
        if self.patterns != other.patterns {
            return Some("other regular expressions (-g)");
        }
        if self.locale != other.locale {
            return Some("another character set (LC_ALL)");
        }
        if self.keeps_nul != other.keeps_nul {
            return Some("other zero bytes (--keep-nul)");
        }
        (self.documents != other.documents).then_some("other statistics of documents (-X)")
    }
}

/// Why counts cannot be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MergeFault {
    /// They were made with other settings.
    #[error("it was counted with {0}")]
    Settings(&'static str),
    /// Only one of the two has places in a sequence.
    #[error("some counts have a place in the sequence (--place) and some have none")]
    Placement,
    /// Both have a shard at this place.
    #[error("the shard of place {0} is there already")]
    SamePlace(u32),
    /// A number does not fit its width.
    #[error("there are too many features or occurrences to count")]
    Overflow,
}

/// A shard: a part of the input that was read in one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
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
pub const ROOT: u32 = NO_WORDS;

/// A feature, or the beginning of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The n-gram without its last word, or [`ROOT`].
    pub parent: u32,
    /// The last word.
    pub term: u32,
    /// Number of occurrences; 0 for a node that is only the beginning of features.
    pub count: u64,
    /// Where it first appeared.
    pub first: First,
}

/// Place of a first appearance; earlier places compare as less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct First {
    /// Place of the shard.
    pub place: u32,
    /// Number among the nodes of the shard.
    pub ordinal: u32,
}

/// Words, each with a tag: the medium, and for features of regular expressions, whose whole body
/// counts as one word, additionally the order times 16.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    bytes: Vec<u8>,
    /// For each word, its end in `bytes` and its tag.
    words: Vec<(usize, u8)>,
    index: HashTable<u32>,
}

impl Terms {
    /// Number of words.
    pub fn size(&self) -> usize {
        self.words.len()
    }

    /// A word's bytes and tag.
    #[inline]
    pub fn get(&self, term: u32) -> (&[u8], u8) {
        let at = term as usize;
        let from = if at == 0 { 0 } else { self.words[at - 1].0 };
        let (to, tag) = self.words[at];
        (&self.bytes[from..to], tag)
    }

    /// The number of a word, which gets a new one if it has not been seen before; `None` if there
    /// are too many words.
    #[inline]
    pub fn intern(&mut self, bytes: &[u8], tag: u8) -> Option<u32> {
        let hash = hash_bytes(bytes, tag);
        let (words, pool) = (&self.words, &self.bytes);
        let word = |term: u32| {
            let at = term as usize;
            let from = if at == 0 { 0 } else { words[at - 1].0 };
            (&pool[from..words[at].0], words[at].1)
        };
        if let Some(&term) = self.index.find(hash, |&term| word(term) == (bytes, tag)) {
            return Some(term);
        }
        let term = u32::try_from(self.words.len()).ok().filter(|&term| term < ROOT - 1)?;
        self.index.insert_unique(hash, term, |&term| {
            let (bytes, tag) = word(term);
            hash_bytes(bytes, tag)
        });
        self.bytes.extend_from_slice(bytes);
        self.words.push((self.bytes.len(), tag));
        Some(term)
    }
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn fold(hash: u64, part: u64) -> u64 {
    let product = u128::from(hash ^ part).wrapping_mul(u128::from(MULTIPLIER));
    #[allow(clippy::cast_possible_truncation)] // both halves are used
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high.rotate_left(17)
}

fn hash_bytes(bytes: &[u8], tag: u8) -> u64 {
    let mut hash = fold(u64::from(tag) << 32 | bytes.len() as u64, MULTIPLIER.rotate_left(9));
    let (blocks, rest) = bytes.as_chunks::<8>();
    for block in blocks {
        hash = fold(hash, u64::from_le_bytes(*block));
    }
    let last = rest.iter().rev().fold(0u64, |last, &byte| last << 8 | u64::from(byte));
    fold(hash, last)
}

/// Nodes by parent and term: open addressing, at most two thirds full. An entry holds all that
/// counting an occurrence needs, so that it takes one access to memory.
#[derive(Debug, Clone, Default)]
struct Index {
    entries: Vec<Entry>,
    /// 64 minus the binary logarithm of the size.
    shift: u32,
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
        let mixed = (key ^ key >> 29).wrapping_mul(MULTIPLIER);
        #[allow(clippy::cast_possible_truncation)] // an index below the table's size
        let home = ((mixed ^ mixed >> 32).wrapping_mul(MULTIPLIER) >> self.shift) as usize;
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
    #[doc(hidden)]
    pub settings: CountSettings,
    /// Whether shards have places of their own in the sequence; otherwise counts follow each other
    /// in the order in which they are merged.
    #[doc(hidden)]
    pub is_placed: bool,
    /// The words.
    #[doc(hidden)]
    pub terms: Terms,
    nodes: Vec<Node>,
    index: Index,
    /// The shards, by place.
    #[doc(hidden)]
    pub shards: Vec<Shard>,
}

#[doc(hidden)]
impl Counts {
    /// Nothing counted yet.
    pub fn new(settings: CountSettings, is_placed: bool) -> Self {
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
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.nodes.iter().filter(|node| node.count > 0).count()
    }

    /// The node of `term` below `parent`, created with the place `first` if it is new. `None` if
    /// there are too many nodes.
    #[inline]
    pub fn child(&mut self, parent: u32, term: u32, first: First) -> Option<u32> {
        let at = self.entry(parent, term, first)?;
        Some(self.index.entries[at].node)
    }

    /// As [`Self::child`], and counts one occurrence, which [`Self::settle`] adds to the node
    /// later.
    #[inline]
    pub fn count_child(&mut self, parent: u32, term: u32, first: First) -> Option<u32> {
        let at = self.entry(parent, term, first)?;
        self.count_entry(at)
    }

    #[inline]
    fn count_entry(&mut self, at: usize) -> Option<u32> {
        let entry = &mut self.index.entries[at];
        entry.waiting += 1;
        if entry.waiting == u32::MAX {
            let count = &mut self.nodes[entry.node as usize].count;
            *count = count.checked_add(u64::from(entry.waiting))?;
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

    #[inline]
    fn entry(&mut self, parent: u32, term: u32, first: First) -> Option<usize> {
        match self.index.find(parent, term) {
            Ok(at) => Some(at),
            Err(at) => self.insert(parent, term, first, at),
        }
    }

    #[cold]
    fn insert(&mut self, parent: u32, term: u32, first: First, at: usize) -> Option<usize> {
        let node = u32::try_from(self.nodes.len()).ok().filter(|&node| node < ROOT - 1)?;
        self.nodes.push(Node { parent, term, count: 0, first });
        Some(self.index.insert(Entry { parent, term, node, waiting: 0 }, at, self.nodes.len()))
    }

    /// Adds the occurrences that [`Self::count_child`] has set aside to the counts of the nodes;
    /// `false` if a count overflows.
    #[must_use]
    pub fn settle(&mut self) -> bool {
        for entry in &mut self.index.entries {
            let waiting = std::mem::take(&mut entry.waiting);
            if waiting > 0 {
                let count = &mut self.nodes[entry.node as usize].count;
                match count.checked_add(u64::from(waiting)) {
                    Some(sum) => *count = sum,
                    None => return false,
                }
            }
        }
        true
    }

    /// Frees the memory of the search for nodes, which is at an end.
    pub fn forget_index(&mut self) {
        self.index = Index::default();
    }

    /// The node of `term` below `parent`, if there is one.
    pub fn find(&self, parent: u32, term: u32) -> Option<u32> {
        self.index.find(parent, term).ok().map(|at| self.index.entries[at].node)
    }

    /// Adds occurrences of a node; `false` if they are too many to count.
    #[inline]
    #[must_use]
    pub fn add(&mut self, node: u32, times: u64) -> bool {
        let node = &mut self.nodes[node as usize];
        match node.count.checked_add(times) {
            Some(count) => node.count = count,
            None => return false,
        }
        true
    }

    /// Writes the text of a feature to `body`; returns its medium and its order.
    pub fn spell(&self, node: u32, body: &mut Vec<u8>) -> (Medium, u8) {
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

    /// Calls `each` for a document's features and their occurrences there.
    pub fn document(&self, document: &Document<'_>, mut each: impl FnMut(u32, u64)) {
        let mut rest = document.entries;
        for _ in 0..document.length {
            let Some(node) = varint::take(&mut rest) else { return };
            let times = match self.settings.documents {
                Documents::Bags => varint::take(&mut rest).unwrap_or(0),
                _ => 1,
            };
            #[allow(clippy::cast_possible_truncation)] // nodes are below 2^32, checked when read
            each(node as u32, times);
        }
    }

    /// The documents of a shard.
    pub fn documents<'a>(&self, shard: &'a Shard) -> DocumentsOf<'a> {
        let has_times = self.settings.documents == Documents::Bags;
        DocumentsOf { rest: &shard.packed, left: shard.documents, has_times }
    }

    /// The nodes in order of first appearance.
    pub fn sequence(&self) -> Vec<u32> {
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
    /// [`crate::error::Error::Counts`] for counts that were made with other settings, or numbers
    /// that do not fit their width; these counts are then unusable.
    pub fn merge(&mut self, other: &Self) -> crate::error::Result<()> {
        self.add_parts(other).map_err(|fault| crate::error::Error::Counts(fault.to_string()))
    }
}

#[doc(hidden)]
impl Counts {
    pub(super) fn add_parts(&mut self, other: &Self) -> Result<(), MergeFault> {
        if let Some(what) = self.settings.difference(&other.settings) {
            return Err(MergeFault::Settings(what));
        }
        if self.is_placed != other.is_placed {
            return Err(MergeFault::Placement);
        }
        for shard in &other.shards {
            if self.is_placed && self.shards.iter().any(|ours| ours.place == shard.place) {
                return Err(MergeFault::SamePlace(shard.place));
            }
        }
        self.absorb_anyhow(other)
    }

    /// Adds counts whose settings agree. If both have a shard at a place, the two become one.
    pub(super) fn absorb_anyhow(&mut self, other: &Self) -> Result<(), MergeFault> {
        let overflow = MergeFault::Overflow;
        let mut terms = Vec::with_capacity(other.terms.size());
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 terms
        for term in 0..other.terms.size() as u32 {
            let (bytes, tag) = other.terms.get(term);
            terms.push(self.terms.intern(bytes, tag).ok_or(overflow)?);
        }
        let mut nodes = vec![ROOT; other.nodes.len()];
        for at in other.sequence() {
            let node = other.nodes[at as usize];
            let parent = if node.parent == ROOT { ROOT } else { nodes[node.parent as usize] };
            let first = if self.is_placed {
                node.first
            } else {
                First { place: 0, ordinal: u32::try_from(self.nodes.len()).map_err(|_| overflow)? }
            };
            let here = self.child(parent, terms[node.term as usize], first).ok_or(overflow)?;
            nodes[at as usize] = here;
            let ours = &mut self.nodes[here as usize];
            ours.first = ours.first.min(first);
            if !self.add(here, node.count) {
                return Err(overflow);
            }
        }
        for shard in &other.shards {
            let packed = repack(other, shard, |node| nodes[node as usize]);
            self.add_shard(Shard { packed, ..*shard }).ok_or(overflow)?;
        }
        Ok(())
    }

    /// Adds a shard whose documents hold nodes of these counts.
    fn add_shard(&mut self, shard: Shard) -> Option<()> {
        let place = if self.is_placed { shard.place } else { 0 };
        match self.shards.binary_search_by_key(&place, |shard| shard.place) {
            Ok(at) => {
                let ours = &mut self.shards[at];
                ours.ending = ours.ending.then(shard.ending);
                ours.documents = ours.documents.checked_add(shard.documents)?;
                ours.packed.extend_from_slice(&shard.packed);
            }
            Err(at) => self.shards.insert(at, Shard { place, ..shard }),
        }
        Some(())
    }

    /// Joins all shards to one without a place, as if they had been merged in order.
    #[must_use]
    pub fn without_places(&self) -> Option<Self> {
        let mut all = Self::new(self.settings.clone(), false);
        all.absorb_anyhow(self).ok()?;
        Some(all)
    }

    /// Joins all shards to one at `place`.
    #[must_use]
    pub fn at_place(&self, place: u32) -> Option<Self> {
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
    pub fn is_inexact(&self) -> bool {
        let endings = self.shards.iter().map(|shard| shard.ending);
        endings.reduce(Ending::then).is_some_and(|ending| ending.is_inexact)
    }

    /// Adds a node as it stands in a file of counts.
    pub(super) fn push_node(&mut self, node: Node) -> bool {
        let before = self.nodes.len();
        let at = self.child(node.parent, node.term, node.first);
        at.is_some_and(|at| self.nodes.len() > before && self.add(at, node.count))
    }
}

/// A shard's documents, packed with other numbers of the nodes.
pub(super) fn repack(counts: &Counts, shard: &Shard, number: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut packed = Vec::with_capacity(shard.packed.len());
    let has_times = counts.settings.documents == Documents::Bags;
    for document in counts.documents(shard) {
        varint::append(&mut packed, document.length);
        counts.document(&document, |node, times| {
            varint::append(&mut packed, u64::from(number(node)));
            if has_times {
                varint::append(&mut packed, times);
            }
        });
    }
    packed
}

/// A document of a shard.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Number of entries.
    pub length: u64,
    /// Nodes, with their occurrences in bags.
    pub entries: &'a [u8],
}

/// Iterates over the documents of a shard.
#[derive(Debug, Clone)]
pub struct DocumentsOf<'a> {
    rest: &'a [u8],
    left: u64,
    has_times: bool,
}

impl<'a> Iterator for DocumentsOf<'a> {
    type Item = Document<'a>;

    fn next(&mut self) -> Option<Document<'a>> {
        self.left = self.left.checked_sub(1)?;
        let length = varint::take(&mut self.rest)?;
        let start = self.rest;
        let numbers = if self.has_times { length.checked_mul(2)? } else { length };
        for _ in 0..numbers {
            varint::take(&mut self.rest)?;
        }
        Some(Document { length, entries: &start[..start.len() - self.rest.len()] })
    }
}

/// The tag of a feature that a regular expression found.
pub(super) fn pattern_tag(feature: &Feature<'_>) -> u8 {
    feature.medium.number() | (feature.order & 7) << 4
}
