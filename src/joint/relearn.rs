// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes an ordinary category anew from the documents of a ledger, byte for byte as learning them
//! makes it.
//!
//! Records hold everything that learning single words or pairs of words under the uniform measure
//! needs: id, medium, number of character pairs, the second word's id, occurrences, and the order
//! of first appearance, which decides the slots.

use super::documents::Makeup;
use super::ledger::{Fault, Learning, Ledger};
use crate::category::header::Header;
use crate::category::reader::Category;
use crate::error::Result;
use crate::learn::counter::Counter;
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::tokens::{TokenList, Unread};
use crate::learn::{LearnSettings, Progress, empty, finish};
use crate::model::digram::CharacterCounts;
use crate::model::medium::Medium;
use crate::model::settings::Scheme;

/// The file of category `label` as learned from the documents of `ledger`; `old` is the ordinary
/// category that was learned from these documents or others. Without documents it has no features.
/// `None` if the ledger does not have everything of which it was made.
///
/// # Errors
/// A damaged record.
pub fn file<D: AsRef<[u8]>>(
    ledger: &Ledger,
    label: u32,
    old: &Category<D>,
) -> std::result::Result<Option<Vec<u8>>, Fault> {
    let learning = ledger.head.names.get(label as usize).map(|name| name.learning);
    let Some(learning) = learning else { return Ok(None) };
    if !can_tell(learning, old.header()) {
        return Ok(None);
    }
    let settings = settings(learning, old);
    let mut state =
        LearningState::new(settings.bits, settings.options, settings.scheme, settings.min_count);
    state.tokens = TokenList::Unread(Vec::new());
    let mut counter = Counter::new(state, &settings, false);
    // Warnings were printed when the documents were learned.
    let mut silent = |_| {};
    ledger.each(|record, _| {
        if record.label == label {
            for term in &record.terms {
                let Makeup { order, medium, pairs, second } = term.makeup;
                let feature = Unread { id: term.id, order, pairs, suffix: second };
                counter.count_unread(feature, Medium::new(medium), term.count, &mut silent);
            }
            counter.end_of_file(&mut silent);
        }
        true
    })?;
    let state = counter.into_state(&mut silent);
    // Numbers out of range mean damage, too.
    write(state, &settings, old.header().max_order, name_of(old)).map(Some).map_err(|_| Fault::Body)
}

/// Whether the documents of a ledger determine the category that was learned from them.
pub const fn can_tell(learning: Learning, header: &Header) -> bool {
    learning.is_plain && header.max_order <= Makeup::PAIR
}

/// The name of a category in its first line.
fn name_of<D: AsRef<[u8]>>(category: &Category<D>) -> &[u8] {
    let line = category.as_bytes().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(category.header().magic()).unwrap_or_default();
    let name = name.strip_prefix(b" ").unwrap_or(name);
    name.strip_suffix(b" ").unwrap_or(name)
}

fn settings<D: AsRef<[u8]>>(learning: Learning, old: &Category<D>) -> LearnSettings {
    let header = old.header();
    LearnSettings {
        bits: learning.bits,
        max_bits: learning.max_bits,
        decimation: None,
        reference: Reference::Uniform,
        quality: learning.quality,
        min_count: learning.min_count,
        confidence: false,
        reservoir: false,
        options: header.options,
        scheme: header.scheme.unwrap_or(Scheme::Alpha),
    }
}

/// The bytes of the category that was learned with these counts, or of one of `order` without
/// features if there are none.
///
/// # Errors
/// Numbers that leave the range of the formulas.
fn write(
    mut state: LearningState,
    settings: &LearnSettings,
    order: u8,
    name: &[u8],
) -> Result<Vec<u8>> {
    let mut silent = |_| {};
    let progress = &mut Progress::silent();
    let digrams = settings.reference.measure(&CharacterCounts::default(), progress, &mut silent)?;
    let model = if state.used == 0 {
        empty(&state, settings, order, digrams)
    } else {
        finish(&mut state, settings, digrams, None, progress, &mut silent)?
    };
    let mut bytes = Vec::new();
    // writing to memory does not fail
    let _ = model.write(&mut bytes, name, &[], &state.table);
    Ok(bytes)
}
