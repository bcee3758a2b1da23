// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads and writes counts files of version 1 (`docs/spec/counts-format.md`).

use super::counts::{CountSettings, Counts, Documents, First, Node, ROOT, Shard};
use crate::document::Ending;
use crate::model::settings::{Locale, ModelOptions, Scheme};
use crate::token::BOUNDARY;
use crate::token::word::WORD_WINDOW;
use dbacl_numeric::varint;
use std::io::{self, BufWriter, Write};

/// The beginning of all counts files, up to the version.
pub(crate) const KIND: &[u8] = b"# dbacl counts ";
/// The first line of this version.
pub(crate) const MAGIC: &[u8] = b"# dbacl counts 1\n";

/// Bytes written at a time.
const BLOCK: usize = 1 << 16;
/// Bytes of the checksum at the end.
const SUM: usize = 4;
/// The most bytes of a feature of a regular expression: eight groups of 30 bytes, and nine boundary
/// marks.
const LONGEST_BODY: usize = 8 * 30 + 9;

const PLACED: u8 = 1;
const KEEPS_NUL: u8 = 2;
const DEPENDS_ON_ROOM: u8 = 1;
const AT_REST: u8 = 2;
const INEXACT: u8 = 4;

/// Why bytes are not a file of counts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The first line is not that of a counts file.
    #[error("it is not a file of counts")]
    Foreign,
    /// It is a counts file of another version.
    #[error("it is a counts file of another version")]
    Version,
    /// It is damaged; the text says how.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// Writes counts. The bytes depend on the counts only.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(out: &mut dyn Write, counts: &Counts) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BLOCK, Summed::new(out));
    let settings = &counts.settings;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&settings.options.bits().to_le_bytes());
    bytes.push(settings.scheme as u8);
    bytes.push(settings.order);
    bytes.push(u8::from(settings.locale == Locale::Utf8));
    bytes.push(settings.documents as u8);
    let flag = |on: bool, flag: u8| if on { flag } else { 0 };
    bytes.push(flag(counts.is_placed, PLACED) | flag(settings.keeps_nul, KEEPS_NUL));
    varint::append(&mut bytes, settings.patterns.len() as u64);
    for pattern in &settings.patterns {
        varint::append(&mut bytes, pattern.len() as u64);
        bytes.extend_from_slice(pattern);
    }
    varint::append(&mut bytes, counts.shards.len() as u64);
    let mut next_place = 0;
    for shard in &counts.shards {
        varint::append(&mut bytes, u64::from(shard.place - next_place));
        next_place = shard.place.saturating_add(1);
        let Ending { room_bits, depends_on_room, at_rest, is_inexact } = shard.ending;
        bytes.push(
            flag(depends_on_room, DEPENDS_ON_ROOM)
                | flag(at_rest, AT_REST)
                | flag(is_inexact, INEXACT),
        );
        bytes.push(room_bits);
        varint::append(&mut bytes, shard.documents);
    }
    out.write_all(&bytes)?;
    let numbers = write_nodes(&mut out, counts, &mut bytes)?;
    for shard in &counts.shards {
        let packed = counts.repack(shard, |node| numbers[node as usize]);
        bytes.clear();
        varint::append(&mut bytes, packed.len() as u64);
        out.write_all(&bytes)?;
        out.write_all(&packed)?;
    }
    let Summed { out, sum } = out.into_inner()?;
    out.write_all(&sum.finalize().to_le_bytes())?;
    out.flush()
}

/// Writes the nodes in order of first appearance; returns their numbers in the file.
fn write_nodes(out: &mut impl Write, counts: &Counts, bytes: &mut Vec<u8>) -> io::Result<Vec<u32>> {
    let sequence = counts.sequence();
    bytes.clear();
    varint::append(bytes, sequence.len() as u64);
    let mut numbers = vec![ROOT; sequence.len()];
    let mut term_numbers = vec![0u32; counts.terms.size()];
    let mut terms = 0u32;
    let mut last = First { place: 0, ordinal: 0 };
    let mut next_ordinal = 0u32;
    for (number, &at) in (0u32..).zip(&sequence) {
        let node = counts.nodes()[at as usize];
        numbers[at as usize] = number;
        let distance = match node.parent {
            ROOT => 0,
            parent => number - numbers[parent as usize],
        };
        varint::append(bytes, u64::from(distance));
        let term = &mut term_numbers[node.term as usize];
        varint::append(bytes, u64::from(*term));
        if *term == 0 {
            terms += 1;
            *term = terms;
            let (word, tag) = counts.terms.get(node.term);
            bytes.push(tag);
            varint::append(bytes, word.len() as u64);
            bytes.extend_from_slice(word);
        }
        varint::append(bytes, node.count);
        if counts.is_placed {
            let steps = node.first.place - last.place;
            let base = if steps == 0 { next_ordinal } else { 0 };
            let skipped = u64::from(node.first.ordinal - base);
            varint::append(bytes, skipped << 1 | u64::from(steps > 0));
            if steps > 0 {
                varint::append(bytes, u64::from(steps));
            }
            last = node.first;
            next_ordinal = last.ordinal.saturating_add(1);
        }
        if bytes.len() >= BLOCK {
            out.write_all(bytes)?;
            bytes.clear();
        }
    }
    out.write_all(bytes)?;
    Ok(numbers)
}

/// Reads counts.
///
/// # Errors
/// [`Fault`].
pub(crate) fn read(bytes: Vec<u8>) -> Result<Counts, Fault> {
    CountsFile::open(bytes)?.into_counts()
}

/// A file of counts of which the beginning has been read.
pub(crate) struct CountsFile {
    bytes: Vec<u8>,
    /// Where the nodes begin.
    nodes: usize,
    /// What was counted, and its shards; without nodes.
    pub head: Counts,
}

/// Takes words and nodes in the order of the file.
pub(super) trait Nodes {
    /// Takes a word; returns whether it is new and possible.
    fn word(&mut self, bytes: &[u8], tag: u8) -> bool;

    /// Takes a node, whose parent and word have been taken before; returns whether it is new, as
    /// far as that is checked.
    fn node(&mut self, node: Node) -> bool;
}

impl Nodes for Counts {
    fn word(&mut self, bytes: &[u8], tag: u8) -> bool {
        let known = self.terms.size();
        self.terms.intern(bytes, tag).is_some_and(|term| term as usize == known)
    }

    fn node(&mut self, node: Node) -> bool {
        let before = self.nodes().len();
        let at = self.child(node.parent, node.term, node.first, false);
        self.nodes().len() > before && at.and_then(|at| self.add(at, node.count)).is_some()
    }
}

impl CountsFile {
    /// Reads the beginning.
    ///
    /// # Errors
    /// [`Fault`].
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Self, Fault> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(if bytes.starts_with(KIND) { Fault::Version } else { Fault::Foreign });
        };
        let end = rest.len().checked_sub(SUM).ok_or(CUT)?;
        let mut input = Input(&rest[..end]);
        let head = read_head(&mut input)?;
        let nodes = bytes.len() - SUM - input.0.len();
        Ok(Self { bytes, nodes, head })
    }

    /// The counts.
    ///
    /// # Errors
    /// [`Fault`].
    pub(crate) fn into_counts(self) -> Result<Counts, Fault> {
        let mut counts = Counts::new(self.head.settings.clone(), self.head.is_placed);
        let rest = self.read_nodes(&mut counts)?;
        counts.shards.clone_from(&self.head.shards);
        self.finish(rest, &mut counts)?;
        Ok(counts)
    }

    /// Reads the words and nodes into `nodes`, and the rest, which has no documents.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn read_into(self, nodes: &mut impl Nodes) -> Result<(), Fault> {
        let rest = self.read_nodes(nodes)?;
        self.finish(rest, &mut self.head.clone())
    }

    /// Reads the words and nodes; returns what comes after them.
    fn read_nodes(&self, nodes: &mut impl Nodes) -> Result<Input<'_>, Fault> {
        let mut input = Input(&self.bytes[self.nodes..self.bytes.len() - SUM]);
        read_nodes(&mut input, &self.head, nodes)?;
        Ok(input)
    }

    /// Reads the documents, and checks that nothing follows them, and the checksum.
    fn finish(&self, mut rest: Input<'_>, counts: &mut Counts) -> Result<(), Fault> {
        read_documents(&mut rest, counts)?;
        if !rest.0.is_empty() {
            return Err(Fault::Damaged("something follows"));
        }
        let is_right = self
            .bytes
            .split_last_chunk()
            .is_some_and(|(summed, sum)| crc32fast::hash(summed) == u32::from_le_bytes(*sum));
        is_right.then_some(()).ok_or(Fault::Damaged("its checksum is wrong"))
    }
}

/// Reads all between the first line and the nodes.
fn read_head(input: &mut Input<'_>) -> Result<Counts, Fault> {
    let &[a, b, c, d, scheme, order, locale, documents, flags] = input.array()?;
    let options = ModelOptions::from_bits(u32::from_le_bytes([a, b, c, d]));
    let damaged = Fault::Damaged;
    let scheme =
        Scheme::by_number(i64::from(scheme)).ok_or(damaged("its tokenizing scheme is unknown"))?;
    if !(1..=7).contains(&order) {
        return Err(damaged("its order is impossible"));
    }
    let locale = *[Locale::C, Locale::Utf8]
        .get(usize::from(locale))
        .ok_or(damaged("its character set is unknown"))?;
    let documents = *[Documents::None, Documents::Bags, Documents::Sequences]
        .get(usize::from(documents))
        .ok_or(damaged("its statistics of documents are unknown"))?;
    if flags > PLACED | KEEPS_NUL {
        return Err(damaged("it has unknown flags"));
    }
    let keeps_nul = flags & KEEPS_NUL != 0;
    let mut patterns = Vec::new();
    for _ in 0..input.number_below(64)? {
        let length = input.number_below(512)?;
        patterns.push(input.bytes(length)?.to_vec());
    }
    let settings = CountSettings { options, scheme, order, locale, documents, keeps_nul, patterns };
    let mut counts = Counts::new(settings, flags & PLACED != 0);
    let mut next_place = Some(0u32);
    for _ in 0..input.number()? {
        let step = u32::try_from(input.number()?).ok();
        let place = next_place.zip(step).and_then(|(next, step)| next.checked_add(step));
        let place = place
            .filter(|&place| counts.is_placed || place == 0)
            .ok_or(damaged("its shards are out of order"))?;
        next_place = place.checked_add(1);
        let &[flags, room_bits] = input.array()?;
        if flags > DEPENDS_ON_ROOM | AT_REST | INEXACT || !(12..=63).contains(&room_bits) {
            return Err(damaged("it has unknown flags"));
        }
        let ending = Ending {
            room_bits,
            depends_on_room: flags & DEPENDS_ON_ROOM != 0,
            at_rest: flags & AT_REST != 0,
            is_inexact: flags & INEXACT != 0,
        };
        let documents = input.number()?;
        if documents > 0 && counts.settings.documents == Documents::None {
            return Err(damaged("it has documents that it does not keep"));
        }
        counts.shards.push(Shard { place, ending, documents, packed: Vec::new() });
    }
    Ok(counts)
}

/// Reads the nodes of counts with this beginning.
fn read_nodes(input: &mut Input<'_>, head: &Counts, nodes: &mut impl Nodes) -> Result<(), Fault> {
    let damaged = |what| Err(Fault::Damaged(what));
    let Some(number) = u32::try_from(input.number()?).ok().filter(|&number| number < ROOT) else {
        return damaged("its number of features is impossible");
    };
    let by_words = head.settings.patterns.is_empty();
    let (order, longest) =
        if by_words { (head.settings.order, WORD_WINDOW - 1) } else { (1, LONGEST_BODY) };
    // The number of words of each node.
    let mut depths: Vec<u8> = Vec::new();
    let (mut words, mut first) = (0u32, First { place: 0, ordinal: 0 });
    let mut next_ordinal = 0u32;
    let mut places = head.shards.iter().map(|shard| shard.place);
    let mut place = None;
    for at in 0..number {
        let (parent, depth) = match u32::try_from(input.number()?) {
            Ok(0) => (ROOT, 1),
            Ok(distance) if distance <= at => (at - distance, depths[(at - distance) as usize] + 1),
            _ => return damaged("a feature has no beginning"),
        };
        if depth > order {
            return damaged("a feature has too many words");
        }
        depths.push(depth);
        let term = match input.number()? {
            0 => {
                let &[tag] = input.array()?;
                let length = input.number_below(longest as u64 + 1)?;
                let word = input.bytes(length)?;
                // Words of the tokenizer hold no marks. The text of a pattern's feature holds no
                // bytes below 3, and at least one above.
                let possible = if by_words {
                    tag < 16 && !word.iter().any(|&byte| byte <= BOUNDARY)
                } else {
                    !word.iter().any(|&byte| byte < 3) && word.iter().any(|&byte| byte > 3)
                };
                if !(possible && nodes.word(word, tag)) {
                    return damaged("a word is impossible");
                }
                words += 1;
                words - 1
            }
            known => match u32::try_from(known - 1) {
                Ok(term) if term < words => term,
                _ => return damaged("a word is impossible"),
            },
        };
        let count = input.number()?;
        if head.is_placed {
            let skipped = input.number()?;
            let moves = skipped & 1 == 1;
            if moves || place.is_none() {
                let steps = if moves { input.number()? } else { 0 };
                let target = u32::try_from(steps).ok().and_then(|s| first.place.checked_add(s));
                place = places.find(|&known| Some(known) >= target);
                if place.is_none() || place != target {
                    return damaged("a feature is from a shard that it does not have");
                }
                first.place = place.unwrap_or(0);
                next_ordinal = 0;
            }
            let Some(ordinal) =
                u32::try_from(skipped >> 1).ok().and_then(|s| next_ordinal.checked_add(s))
            else {
                return damaged("its features are out of order");
            };
            first.ordinal = ordinal;
            next_ordinal = ordinal.saturating_add(1);
        } else {
            first.ordinal = at;
        }
        if !nodes.node(Node { parent, term, count, first }) {
            return damaged("a feature is there twice");
        }
    }
    if number > 0 && head.shards.is_empty() {
        return damaged("it has features from no shard");
    }
    Ok(())
}

/// Reads the documents, and checks that their features add up to the counts.
fn read_documents(input: &mut Input<'_>, counts: &mut Counts) -> Result<(), Fault> {
    let mut left: Vec<u64> = counts.nodes().iter().map(|node| node.count).collect();
    let mut fits = true;
    for at in 0..counts.shards.len() {
        let length = input.number()?;
        let length = usize::try_from(length).map_err(|_| CUT)?;
        counts.shards[at].packed = input.bytes(length)?.to_vec();
        let whole = counts.each_document(&counts.shards[at], |entries| {
            for &(node, times) in entries {
                let less = left.get(node as usize).and_then(|left| left.checked_sub(times));
                match less.filter(|_| times > 0) {
                    Some(less) => left[node as usize] = less,
                    None => fits = false,
                }
            }
        });
        fits &= whole.is_some();
    }
    let is_kept = counts.settings.documents != Documents::None;
    let adds_up = fits && !(is_kept && left.iter().any(|&left| left > 0));
    adds_up.then_some(()).ok_or(Fault::Damaged("its documents do not hold what was counted"))
}

const CUT: Fault = Fault::Damaged("it is cut short");

/// The part of a file before its checksum that has not been read yet.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    #[inline]
    fn number(&mut self) -> Result<u64, Fault> {
        varint::take(&mut self.0).ok_or(Fault::Damaged("it is cut short or a number is broken"))
    }

    /// A number that must be less than `limit`.
    fn number_below(&mut self, limit: u64) -> Result<usize, Fault> {
        let number = self.number()?;
        let small = usize::try_from(number).ok().filter(|_| number < limit);
        small.ok_or(Fault::Damaged("a length is impossible"))
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(CUT)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Fault> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(CUT)?;
        self.0 = rest;
        Ok(bytes)
    }
}

/// A writer that computes the checksum of what it writes.
struct Summed<W> {
    /// Where it writes.
    out: W,
    /// The checksum so far.
    sum: crc32fast::Hasher,
}

impl<W> Summed<W> {
    /// Nothing written yet.
    fn new(out: W) -> Self {
        Self { out, sum: crc32fast::Hasher::new() }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
