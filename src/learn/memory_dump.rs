// SPDX-License-Identifier: GPL-3.0-or-later
//! Online dumps: files with the state of learning (`-o`, `-O`; spec model 10).
//!
//! The layout is the memory image of dbacl 1.14.1 on x86-64 Linux, little endian: a first line, a
//! record of fixed size, the slots, the token list. Pointers are written as 0 and ignored when
//! read; all sizes are checked against each other and against the file before use.

use super::state::{LearningState, ORDERS};
use super::table::{Cell, Head, MAX_BITS, Place, Spread, Table};
use super::tokens::{TOKEN_END, TokenList, append_text, tokens_in};
use crate::error::{Warning, WarningSink};
use crate::model::digram::SYMBOLS;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian as LE};
use std::io::{self, Read, Write};

/// The first line.
pub(crate) const MAGIC: &[u8] = b"# dbacl 1.14.1 dlw portable online memory dump\n";

/// The first line of a dump whose text was read as Unicode, which dbacl 1.14.1 refuses.
pub(crate) const UNICODE_MAGIC: &[u8] = b"# dbacl 1.15 dlw unicode online memory dump\n";

/// The first line of a dump of `state`.
pub(crate) const fn magic(state: &LearningState) -> &'static [u8] {
    if state.options.read_unicode(state.scheme) { UNICODE_MAGIC } else { MAGIC }
}

/// The first line of a dump that begins with `bytes`, if it is one.
fn magic_of(bytes: &[u8]) -> Option<&'static [u8]> {
    [MAGIC, UNICODE_MAGIC].into_iter().find(|magic| bytes.starts_with(magic))
}

/// Whether a file that begins with `bytes` is a dump.
pub(crate) fn is_dump(bytes: &[u8]) -> bool {
    magic_of(bytes).is_some()
}

/// The first 35 bytes of the first line, which dumps of other builds share.
const MAGIC_KIND: usize = 35;

/// Bytes of the state record.
const RECORD: usize = 263_760;

/// Bytes of a slot.
const SLOT: usize = 19;

/// The token list grows by this many bytes at a time.
const LIST_STEP: usize = 1 << 20;

/// Offsets in the state record.
mod at {
    pub(super) const LIST_USED: usize = 40;
    pub(super) const LIST_ROOM: usize = 48;
    pub(super) const PATTERNS: usize = 88;
    pub(super) const MAX_ORDER: usize = 96;
    pub(super) const TOTALS: usize = 100;
    pub(super) const UNIQUES: usize = 136;
    pub(super) const BITS: usize = 172;
    pub(super) const SIZE: usize = 176;
    pub(super) const TOTAL: usize = 180;
    pub(super) const USED: usize = 184;
    pub(super) const MAX_COUNT: usize = 188;
    pub(super) const OPTIONS: usize = 384;
    pub(super) const SCHEME: usize = 388;
    pub(super) const MIN_COUNT: usize = 396;
    pub(super) const USER_OPTIONS: usize = 400;
    pub(super) const CHARACTERS: usize = 440;
    pub(super) const ENTROPY_SUMS: usize = 263_104;
    pub(super) const DOCUMENTS: usize = 263_120;
    pub(super) const DROPPED: usize = 263_128;
    pub(super) const LAST_ENTROPY: usize = 263_152;
}

/// Why a file cannot be used as a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DumpFault {
    /// Its first line is not that of a dump.
    Foreign,
    /// It is a dump of another version.
    Version,
    /// It is damaged; the text says which part.
    Damaged(&'static str),
}

/// A dump as read: counts, and which expressions they were made with.
#[derive(Debug, Clone)]
pub(crate) struct Dump {
    /// The counts.
    pub state: LearningState,
    /// Bit set of regular expressions; not 0 when the counts came from some.
    pub patterns: u64,
}

/// Reads a dump.
///
/// # Errors
/// [`DumpFault`].
pub(crate) fn read(bytes: &[u8]) -> Result<Dump, DumpFault> {
    let Some(magic) = magic_of(bytes) else {
        let kind = bytes.get(..MAGIC_KIND).is_some_and(|kind| MAGIC.starts_with(kind));
        return Err(if kind { DumpFault::Version } else { DumpFault::Foreign });
    };
    let bytes = &bytes[magic.len()..];
    let record = bytes.get(..RECORD).ok_or(DumpFault::Damaged("it is cut short"))?;
    let u32_at = |offset: usize| LE::read_u32(&record[offset..]);
    let size_at = |offset: usize| usize::try_from(LE::read_u64(&record[offset..])).ok();
    let bits = record[at::BITS];
    let size = u32_at(at::SIZE);
    if bits > MAX_BITS || size != 1 << bits {
        return Err(DumpFault::Damaged("its table has an impossible size"));
    }
    let slots_length = SLOT * size as usize;
    let list = bytes.get(RECORD + slots_length..).ok_or(DumpFault::Damaged("it is cut short"))?;
    let used = size_at(at::LIST_USED).filter(|&used| used <= list.len());
    let room = size_at(at::LIST_ROOM).filter(|&room| room == list.len());
    let (Some(used), Some(_)) = (used, room) else {
        return Err(DumpFault::Damaged("its token list does not fill the file"));
    };
    let tokens = list[..used].to_vec();
    if tokens.last().is_some_and(|&last| last != TOKEN_END) {
        return Err(DumpFault::Damaged("its token list breaks off"));
    }
    let options = ModelOptions::from_bits(u32_at(at::OPTIONS));
    let slots = bytes[RECORD..RECORD + slots_length].chunks_exact(SLOT);
    let cells: Vec<Cell> = slots.clone().map(read_cell).collect();
    // Counts of a document that was being read are dropped, since a dump begins a new document.
    let share = |slot: &[u8]| Spread { occurrences: 0, share: LE::read_f32(&slot[4..]) };
    let entropy = options.has(ModelOption::Entropy);
    let spreads = if entropy { slots.map(share).collect() } else { Vec::new() };
    let table = Table::from_parts(&cells, spreads)
        .ok_or(DumpFault::Damaged("its table has an impossible size"))?;
    let used_slots = table.used().count();
    if used_slots != u32_at(at::USED) as usize {
        return Err(DumpFault::Damaged("its count of features is wrong"));
    }
    let max_order = u8::try_from(u32_at(at::MAX_ORDER)).ok().filter(|&order| order < 8);
    let max_order = max_order.ok_or(DumpFault::Damaged("its order is impossible"))?;
    let mut cells = vec![0.0; SYMBOLS * SYMBOLS];
    LE::read_f32_into(&record[at::CHARACTERS..at::CHARACTERS + 4 * cells.len()], &mut cells);
    if cells.iter().any(|&cell| !(0.0..=16_777_216.0 * 256.0).contains(&cell)) {
        return Err(DumpFault::Damaged("its character counts are impossible"));
    }
    let scheme = Scheme::by_number(i64::from(u32_at(at::SCHEME)))
        .ok_or(DumpFault::Damaged("its tokenizing scheme is unknown"))?;
    if options.read_unicode(scheme) != (magic == UNICODE_MAGIC) {
        return Err(DumpFault::Damaged("its first line does not go with how text was read"));
    }
    let min_count = LE::read_i32(&record[at::MIN_COUNT..]);
    let mut state = LearningState::of(table, TokenList::Texts(tokens), options, scheme, min_count);
    state.characters.cells_mut().copy_from_slice(&cells);
    state.max_order = max_order;
    LE::read_u32_into(&record[at::TOTALS..at::TOTALS + 4 * ORDERS], &mut state.total_of);
    LE::read_u32_into(&record[at::UNIQUES..at::UNIQUES + 4 * ORDERS], &mut state.unique);
    state.total = u32_at(at::TOTAL);
    state.used = u32_at(at::USED);
    state.max_count = u32_at(at::MAX_COUNT);
    state.negative_entropy_sum = LE::read_f64(&record[at::ENTROPY_SUMS..]);
    state.squared_entropy_sum = LE::read_f64(&record[at::ENTROPY_SUMS + 8..]);
    state.documents = u32_at(at::DOCUMENTS);
    state.empty_documents = u32_at(at::DOCUMENTS + 4);
    state.message_dropped = u32_at(at::DROPPED) != 0;
    state.last_entropy = LE::read_f64(&record[at::LAST_ENTROPY..]);
    Ok(Dump { state, patterns: LE::read_u64(&record[at::PATTERNS..]) })
}

/// What a slot counts.
fn read_cell(bytes: &[u8]) -> Cell {
    Cell {
        id: FeatureId(LE::read_u32(&bytes[14..])),
        count: LE::read_u32(bytes),
        head: Head::new(bytes[18] >> 4 & 7, u32::from(bytes[18] & 15)),
        suffix: FeatureId(0),
    }
}

/// Settings of the run that a dump holds because dbacl 1.14.1 reads them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunFlags {
    /// Bit set of regular expressions.
    pub patterns: u64,
    /// The user options of dbacl 1.14.1 as bits.
    pub user_options: u32,
}

/// Writes a dump.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(out: &mut dyn Write, state: &LearningState, flags: RunFlags) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    out.write_all(magic(state))?;
    let tokens = state.tokens.to_texts(&state.table);
    let room = list_room(&tokens);
    let mut record = vec![0u8; RECORD];
    let r = &mut record;
    LE::write_u64(&mut r[at::LIST_USED..], tokens.len() as u64);
    LE::write_u64(&mut r[at::LIST_ROOM..], room as u64);
    LE::write_u64(&mut r[at::PATTERNS..], flags.patterns);
    LE::write_u32(&mut r[at::MAX_ORDER..], u32::from(state.max_order));
    LE::write_u32_into(&state.total_of, &mut r[at::TOTALS..at::TOTALS + 4 * ORDERS]);
    LE::write_u32_into(&state.unique, &mut r[at::UNIQUES..at::UNIQUES + 4 * ORDERS]);
    r[at::BITS] = state.table.bits();
    LE::write_u32(&mut r[at::SIZE..], 1 << state.table.bits());
    LE::write_u32(&mut r[at::TOTAL..], state.total);
    LE::write_u32(&mut r[at::USED..], state.used);
    LE::write_u32(&mut r[at::MAX_COUNT..], state.max_count);
    LE::write_u32(&mut r[at::OPTIONS..], state.options.bits());
    LE::write_u32(&mut r[at::SCHEME..], state.scheme as u32);
    LE::write_i32(&mut r[at::MIN_COUNT..], state.min_count);
    LE::write_u32(&mut r[at::USER_OPTIONS..], flags.user_options);
    let cells = state.characters.cells();
    LE::write_f32_into(cells, &mut r[at::CHARACTERS..at::CHARACTERS + 4 * cells.len()]);
    LE::write_f64(&mut r[at::ENTROPY_SUMS..], state.negative_entropy_sum);
    LE::write_f64(&mut r[at::ENTROPY_SUMS + 8..], state.squared_entropy_sum);
    LE::write_u32(&mut r[at::DOCUMENTS..], state.documents);
    LE::write_u32(&mut r[at::DOCUMENTS + 4..], state.empty_documents);
    LE::write_u32(&mut r[at::DROPPED..], u32::from(state.message_dropped));
    LE::write_f64(&mut r[at::LAST_ENTROPY..], state.last_entropy);
    out.write_all(&record)?;
    let mut bytes = [0u8; SLOT];
    for (at, cell) in state.table.cells().enumerate() {
        let spread = state.table.spread(at);
        LE::write_u32(&mut bytes, cell.count);
        LE::write_f32(&mut bytes[4..], spread.share);
        LE::write_u16(&mut bytes[8..], 0);
        LE::write_u32(&mut bytes[10..], spread.occurrences);
        LE::write_u32(&mut bytes[14..], cell.id.0);
        bytes[18] =
            if cell.is_empty() { 0 } else { state.medium(&cell).number() | cell.head.order() << 4 };
        out.write_all(&bytes)?;
    }
    out.write_all(&tokens)?;
    io::copy(&mut io::repeat(0).take((room - tokens.len()) as u64), &mut out)?;
    out.flush()
}

/// Room of the token list in dbacl 1.14.1, which enlarges it when fewer than 60 bytes would be left
/// for the next token.
fn list_room(tokens: &[u8]) -> usize {
    let mut room = 0;
    let mut used = 0;
    for token in tokens.split_inclusive(|&byte| byte == TOKEN_END) {
        while used + 60 >= room || used + token.len() > room {
            room += LIST_STEP;
        }
        used += token.len();
    }
    room
}

/// Adds the counts of `source` to `target`, both with token lists of texts, growing the target's
/// table up to 2^`max_bits` slots (spec model 10, "Merging"). The documents' shares of each feature
/// are not added; dbacl 1.14.1 does not add them either.
pub(crate) fn merge(
    target: &mut LearningState,
    source: &LearningState,
    max_bits: &mut Option<u8>,
    warnings: WarningSink<'_>,
) {
    if let (TokenList::Texts(list), TokenList::Texts(more)) = (&mut target.tokens, &source.tokens) {
        for (body, medium) in tokens_in(more) {
            let id = FeatureId::of(body, medium);
            if !matches!(target.table.place(id), Place::Found(_)) {
                append_text(list, body, medium);
            }
        }
    }
    let mut overflow = false;
    for cell in source.table.used() {
        let feature = Cell { suffix: FeatureId(0), ..cell };
        let home = target.table.home(cell.id);
        let (at, _) = target.place_from(home, feature, max_bits, warnings);
        let Some(at) = at else { continue };
        let mut add = |counter: &mut u32| {
            if *counter < u32::MAX - cell.count {
                *counter += cell.count;
            } else {
                overflow = true;
            }
        };
        add(target.table.count_mut(at));
        let into = target.table.cell(at);
        target.max_count = target.max_count.max(into.count);
        let order = if into.is_empty() { 0 } else { into.head.order() };
        add(&mut target.total);
        add(&mut target.total_of[usize::from(order)]);
    }
    if overflow {
        target.options.insert(ModelOption::Overflow);
        warnings(Warning::new("ran out of integers (too much data), results may be skewed."));
    }
    target.characters.add(&source.characters);
    target.negative_entropy_sum += source.negative_entropy_sum;
    target.squared_entropy_sum += source.squared_entropy_sum;
    target.documents = target.documents.saturating_add(source.documents);
    target.empty_documents = target.empty_documents.saturating_add(source.empty_documents);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::LearnSettings;

    #[test]
    fn other_first_lines_are_refused() {
        let options = ModelOptions::default().with(ModelOption::MailUnicode);
        let state = LearningState::new(&LearnSettings::plain(3, None, options));
        let mut bytes = Vec::new();
        write(&mut bytes, &state, RunFlags::default()).unwrap();
        assert!(read(&bytes).is_ok());
        let renamed = [MAGIC, &bytes[UNICODE_MAGIC.len()..]].concat();
        assert!(matches!(read(&renamed).unwrap_err(), DumpFault::Damaged(_)));
        for (line, fault) in [
            ("# dbacl 1.14.1 dlw portable category x", DumpFault::Foreign),
            ("# dbacl 1.14.1 dlw portable online other\n", DumpFault::Version),
        ] {
            assert_eq!(read(line.as_bytes()).unwrap_err(), fault);
        }
    }
}
