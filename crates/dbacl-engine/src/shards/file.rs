// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads and writes counts files of version 1 (`docs/spec/counts-format.md`).

use super::counts::{CountSettings, Counts, Documents, First, Node, ROOT, Shard, repack};
use crate::document::Ending;
use crate::token::BOUNDARY;
use crate::token::word::WORD_WINDOW;
use dbacl_model::settings::{Locale, ModelOptions, Scheme};
use dbacl_numeric::varint;
use std::io::{self, Read, Write};

/// The beginning of all counts files, up to the version.
pub const KIND: &[u8] = b"# dbacl counts ";
/// The first line of this version.
pub const MAGIC: &[u8] = b"# dbacl counts 1\n";

/// Bytes written or read at a time.
const BLOCK: usize = 1 << 16;
/// The most bytes of a feature of a regular expression: eight groups of 30 bytes, and nine boundary
/// marks.
const LONGEST_BODY: usize = 8 * 30 + 9;

const PLACED: u8 = 1;
const KEEPS_NUL: u8 = 2;
const DEPENDS_ON_ROOM: u8 = 1;
const AT_REST: u8 = 2;
const INEXACT: u8 = 4;

/// Why a file could not be read as counts.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
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
pub fn write(out: &mut dyn Write, counts: &Counts) -> io::Result<()> {
    let mut out =
        Summed { out, waiting: Vec::with_capacity(2 * BLOCK), sum: crc32fast::Hasher::new() };
    let settings = &counts.settings;
    let bytes = &mut out.waiting;
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&settings.options.bits().to_le_bytes());
    bytes.push(settings.scheme as u8);
    bytes.push(settings.order);
    bytes.push(u8::from(settings.locale == Locale::Utf8));
    bytes.push(match settings.documents {
        Documents::None => 0,
        Documents::Bags => 1,
        Documents::Sequences => 2,
    });
    let flag = |on: bool, flag: u8| if on { flag } else { 0 };
    bytes.push(flag(counts.is_placed, PLACED) | flag(settings.keeps_nul, KEEPS_NUL));
    varint::append(bytes, settings.patterns.len() as u64);
    for pattern in &settings.patterns {
        varint::append(bytes, pattern.len() as u64);
        bytes.extend_from_slice(pattern);
    }
    varint::append(bytes, counts.shards.len() as u64);
    let mut next_place = 0;
    for shard in &counts.shards {
        varint::append(bytes, u64::from(shard.place - next_place));
        next_place = shard.place.saturating_add(1);
        let Ending { room_bits, depends_on_room, at_rest, is_inexact } = shard.ending;
        bytes.push(
            flag(depends_on_room, DEPENDS_ON_ROOM)
                | flag(at_rest, AT_REST)
                | flag(is_inexact, INEXACT),
        );
        bytes.push(room_bits);
        varint::append(bytes, shard.documents);
    }
    out.spill()?;
    let sequence = counts.sequence();
    let numbers = write_nodes(&mut out, counts, &sequence)?;
    for shard in &counts.shards {
        let packed = repack(counts, shard, |node| numbers[node as usize]);
        varint::append(&mut out.waiting, packed.len() as u64);
        out.waiting.extend_from_slice(&packed);
        out.spill()?;
    }
    out.finish()
}

/// Writes the nodes in order of first appearance; returns their numbers in the file.
fn write_nodes(out: &mut Summed<'_>, counts: &Counts, sequence: &[u32]) -> io::Result<Vec<u32>> {
    varint::append(&mut out.waiting, sequence.len() as u64);
    let mut numbers = vec![ROOT; sequence.len()];
    let mut term_numbers = vec![0u32; counts.terms.size()];
    let mut terms = 0u32;
    let mut last = First { place: 0, ordinal: 0 };
    let mut next_ordinal = 0u32;
    for (number, &at) in (0u32..).zip(sequence) {
        let node = counts.nodes()[at as usize];
        numbers[at as usize] = number;
        let bytes = &mut out.waiting;
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
        out.spill()?;
    }
    Ok(numbers)
}

/// Computes the checksum of what is written.
struct Summed<'a> {
    out: &'a mut dyn Write,
    waiting: Vec<u8>,
    sum: crc32fast::Hasher,
}

impl Summed<'_> {
    fn spill(&mut self) -> io::Result<()> {
        if self.waiting.len() >= BLOCK {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        self.sum.update(&self.waiting);
        self.out.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.write()?;
        let sum = self.sum.finalize();
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.flush()
    }
}

/// Reads counts to the end of `source`.
///
/// # Errors
/// [`Fault`].
pub fn read<'a>(source: impl Read + 'a) -> Result<Counts, Fault> {
    CountsFile::open(Box::new(source))?.into_counts()
}

/// A file of counts of which the beginning has been read: what was counted, and its shards.
pub struct CountsFile<'a> {
    input: Input<'a>,
    /// Without nodes.
    counts: Counts,
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
        self.push_node(node)
    }
}

impl<'a> CountsFile<'a> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn open(source: Box<dyn Read + 'a>) -> Result<Self, Fault> {
        let mut input = Input::new(source);
        let counts = read_head(&mut input)?;
        Ok(Self { input, counts })
    }

    /// How features were cut.
    pub const fn settings(&self) -> &CountSettings {
        &self.counts.settings
    }

    /// See [`Counts::is_inexact`].
    pub fn is_inexact(&self) -> bool {
        self.counts.is_inexact()
    }

    /// The counts.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn into_counts(mut self) -> Result<Counts, Fault> {
        let shape = Shape::of(&self.counts);
        read_nodes(&mut self.input, &shape, &mut self.counts)?;
        self.finish()
    }

    /// Reads the words and nodes into `nodes`, and the rest, which has no documents.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn read_into(mut self, nodes: &mut impl Nodes) -> Result<(), Fault> {
        read_nodes(&mut self.input, &Shape::of(&self.counts), nodes)?;
        self.finish().map(|_| ())
    }

    fn finish(mut self) -> Result<Counts, Fault> {
        read_documents(&mut self.input, &mut self.counts)?;
        self.input.finish()?;
        Ok(self.counts)
    }
}

/// Reads all before the nodes.
fn read_head(input: &mut Input<'_>) -> Result<Counts, Fault> {
    input.magic()?;
    let fixed = input.bytes(9)?;
    let &[a, b, c, d, scheme, order, locale, documents, flags] = fixed else {
        return Err(Fault::Damaged("it is cut short"));
    };
    let options = ModelOptions::from_bits(u32::from_le_bytes([a, b, c, d]));
    let damaged = |what| Err(Fault::Damaged(what));
    let Some(scheme) = Scheme::by_number(i64::from(scheme)) else {
        return damaged("its tokenizing scheme is unknown");
    };
    if !(1..=7).contains(&order) {
        return damaged("its order is impossible");
    }
    let locale = match locale {
        0 => Locale::C,
        1 => Locale::Utf8,
        _ => return damaged("its character set is unknown"),
    };
    let documents = match documents {
        0 => Documents::None,
        1 => Documents::Bags,
        2 => Documents::Sequences,
        _ => return damaged("its statistics of documents are unknown"),
    };
    if flags > PLACED | KEEPS_NUL {
        return damaged("it has unknown flags");
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
        let Some(place) = place.filter(|&place| counts.is_placed || place == 0) else {
            return damaged("its shards are out of order");
        };
        next_place = place.checked_add(1);
        let &[flags, room_bits] = input.bytes(2)? else { return damaged("it is cut short") };
        if flags > DEPENDS_ON_ROOM | AT_REST | INEXACT || !(12..=63).contains(&room_bits) {
            return damaged("it has unknown flags");
        }
        let ending = Ending {
            room_bits,
            depends_on_room: flags & DEPENDS_ON_ROOM != 0,
            at_rest: flags & AT_REST != 0,
            is_inexact: flags & INEXACT != 0,
        };
        let documents = input.number()?;
        if documents > 0 && counts.settings.documents == Documents::None {
            return damaged("it has documents that it does not keep");
        }
        counts.shards.push(Shard { place, ending, documents, packed: Vec::new() });
    }
    Ok(counts)
}

/// What the nodes of a file must be like.
struct Shape {
    /// The most words of a node.
    order: u8,
    /// Whether they are words, not what regular expressions found.
    by_words: bool,
    /// The places of shards, if they have some.
    places: Option<Vec<u32>>,
    has_shards: bool,
}

impl Shape {
    fn of(counts: &Counts) -> Self {
        let by_words = counts.settings.patterns.is_empty();
        let places = || counts.shards.iter().map(|shard| shard.place).collect();
        Self {
            order: if by_words { counts.settings.order } else { 1 },
            by_words,
            places: counts.is_placed.then(places),
            has_shards: !counts.shards.is_empty(),
        }
    }
}

/// The most bytes of a node: five numbers; and a new word's tag, length and bytes.
const LONGEST_NODE: usize = 5 * varint::LONGEST + 1 + varint::LONGEST + LONGEST_BODY;

fn read_nodes(input: &mut Input<'_>, shape: &Shape, nodes: &mut impl Nodes) -> Result<(), Fault> {
    let damaged = |what| Err(Fault::Damaged(what));
    let number = input.number()?;
    let Some(number) = u32::try_from(number).ok().filter(|&number| number < ROOT) else {
        return damaged("its number of features is impossible");
    };
    let longest = if shape.by_words { WORD_WINDOW - 1 } else { LONGEST_BODY };
    // The number of words of each node.
    let mut depths: Vec<u8> = Vec::new();
    let (mut words, mut first) = (0u32, First { place: 0, ordinal: 0 });
    let mut next_ordinal = 0u32;
    let mut places = shape.places.iter().flatten().copied();
    let mut place = None;
    for at in 0..number {
        let bytes = input.ahead(LONGEST_NODE)?;
        let mut rest = bytes;
        let (parent, depth) = match u32::try_from(number_of(&mut rest)?) {
            Ok(0) => (ROOT, 1),
            Ok(distance) if distance <= at => (at - distance, depths[(at - distance) as usize] + 1),
            _ => return damaged("a feature has no beginning"),
        };
        if depth > shape.order {
            return damaged("a feature has too many words");
        }
        depths.push(depth);
        let term = match number_of(&mut rest)? {
            0 => {
                let (word, tag) = new_word(&mut rest, longest)?;
                // Words of the tokenizer hold no marks. The text of a pattern's feature holds no
                // bytes below 3, and at least one above.
                let possible = if shape.by_words {
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
        let count = number_of(&mut rest)?;
        if shape.places.is_some() {
            let skipped = number_of(&mut rest)?;
            let moves = skipped & 1 == 1;
            if moves || place.is_none() {
                let steps = if moves { number_of(&mut rest)? } else { 0 };
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
        let length = bytes.len() - rest.len();
        input.at += length;
        if !nodes.node(Node { parent, term, count, first }) {
            return damaged("a feature is there twice");
        }
    }
    if number > 0 && !shape.has_shards {
        return damaged("it has features from no shard");
    }
    Ok(())
}

/// The number at the beginning of `bytes`.
#[inline]
fn number_of(bytes: &mut &[u8]) -> Result<u64, Fault> {
    varint::take(bytes).ok_or(Fault::Damaged("it is cut short or a number is broken"))
}

/// The word at the beginning of `bytes`, of at most `longest`, and its tag.
fn new_word<'a>(bytes: &mut &'a [u8], longest: usize) -> Result<(&'a [u8], u8), Fault> {
    let short = Fault::Damaged("it is cut short");
    let Some((&tag, rest)) = bytes.split_first() else { return Err(short) };
    *bytes = rest;
    let length = usize::try_from(number_of(bytes)?).unwrap_or(usize::MAX);
    if length > longest {
        return Err(Fault::Damaged("a length is impossible"));
    }
    let Some((word, rest)) = bytes.split_at_checked(length) else { return Err(short) };
    *bytes = rest;
    Ok((word, tag))
}

/// Reads the documents, and checks that their features add up to the counts.
fn read_documents(input: &mut Input<'_>, counts: &mut Counts) -> Result<(), Fault> {
    let wrong = || Fault::Damaged("its documents do not hold what was counted");
    let nodes = counts.nodes().len() as u64;
    let mut left: Vec<u64> = counts.nodes().iter().map(|node| node.count).collect();
    let is_kept = counts.settings.documents != Documents::None;
    let has_times = counts.settings.documents == Documents::Bags;
    for at in 0..counts.shards.len() {
        let length = input.number()?;
        let mut packed = Vec::new();
        input.append(length, &mut packed)?;
        let mut rest = packed.as_slice();
        for _ in 0..counts.shards[at].documents {
            let entries = varint::take(&mut rest).ok_or_else(wrong)?;
            for _ in 0..entries {
                let node = varint::take(&mut rest).filter(|&node| node < nodes);
                let times = if has_times { varint::take(&mut rest) } else { Some(1) };
                let (Some(node), Some(times)) = (node, times) else { return Err(wrong()) };
                #[allow(clippy::cast_possible_truncation)] // below the number of nodes
                let left = &mut left[node as usize];
                *left = left.checked_sub(times).filter(|_| times > 0).ok_or_else(wrong)?;
            }
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
        counts.shards[at].packed = packed;
    }
    if is_kept && left.iter().any(|&left| left > 0) {
        return Err(wrong());
    }
    Ok(())
}

/// Reads, and computes the checksum of all but the last four bytes, which are the checksum
/// themselves.
struct Input<'a> {
    source: Box<dyn Read + 'a>,
    block: Vec<u8>,
    at: usize,
    summed: usize,
    ended: bool,
    sum: crc32fast::Hasher,
}

const SUM: usize = 4;

impl<'a> Input<'a> {
    fn new(source: Box<dyn Read + 'a>) -> Self {
        let sum = crc32fast::Hasher::new();
        Self { source, block: Vec::new(), at: 0, summed: 0, ended: false, sum }
    }

    /// Reads until `wanted` bytes and the checksum are in the buffer, or the input ends.
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<usize, Fault> {
        if self.block.len() - self.at < wanted + SUM && !self.ended {
            self.read_block(wanted)?;
        }
        Ok((self.block.len() - self.at).saturating_sub(SUM))
    }

    #[cold]
    fn read_block(&mut self, wanted: usize) -> Result<(), Fault> {
        self.sum.update(&self.block[self.summed..self.at]);
        self.block.drain(..self.at);
        (self.at, self.summed) = (0, 0);
        while self.block.len() < wanted + SUM && !self.ended {
            let before = self.block.len();
            let limit = BLOCK.max(wanted) as u64;
            let read = Read::take(&mut self.source, limit).read_to_end(&mut self.block)?;
            self.ended = self.block.len() == before || (read as u64) < limit;
        }
        Ok(())
    }

    fn magic(&mut self) -> Result<(), Fault> {
        self.fill(MAGIC.len())?;
        if !self.block.starts_with(KIND) {
            return Err(Fault::Foreign);
        }
        if !self.block.starts_with(MAGIC) {
            return Err(Fault::Version);
        }
        self.at = MAGIC.len();
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<u64, Fault> {
        let bytes = self.ahead(varint::LONGEST)?;
        let mut rest = bytes;
        let value = number_of(&mut rest)?;
        let length = bytes.len() - rest.len();
        self.at += length;
        Ok(value)
    }

    /// At least the next `wanted` bytes, or all that are left; they stay unread.
    #[inline]
    fn ahead(&mut self, wanted: usize) -> Result<&[u8], Fault> {
        let available = self.fill(wanted)?;
        Ok(&self.block[self.at..self.at + available])
    }

    /// A number that must be less than `limit`.
    fn number_below(&mut self, limit: u64) -> Result<usize, Fault> {
        let number = self.number()?;
        let small = usize::try_from(number).ok().filter(|_| number < limit);
        small.ok_or(Fault::Damaged("a length is impossible"))
    }

    /// The next `length` bytes, which must fit the buffer.
    fn bytes(&mut self, length: usize) -> Result<&[u8], Fault> {
        if self.fill(length)? < length {
            return Err(Fault::Damaged("it is cut short"));
        }
        let from = self.at;
        self.at += length;
        Ok(&self.block[from..self.at])
    }

    /// Appends the next `length` bytes to `out`, which grows as they are read, so that a wrong
    /// length costs no memory.
    fn append(&mut self, mut length: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        while length > 0 {
            #[allow(clippy::cast_possible_truncation)] // at most a block
            let step = length.min(BLOCK as u64) as usize;
            out.extend_from_slice(self.bytes(step)?);
            length -= step as u64;
        }
        Ok(())
    }

    /// Checks the checksum, and that nothing follows it.
    fn finish(mut self) -> Result<(), Fault> {
        self.fill(1)?;
        let rest = &self.block[self.at..];
        if rest.len() != SUM {
            let short = rest.len() < SUM;
            return Err(Fault::Damaged(if short {
                "it is cut short"
            } else {
                "something follows"
            }));
        }
        let stored = rest.to_vec();
        self.sum.update(&self.block[self.summed..self.at]);
        if self.sum.finalize().to_le_bytes() == stored[..] {
            Ok(())
        } else {
            Err(Fault::Damaged("its checksum is wrong"))
        }
    }
}
