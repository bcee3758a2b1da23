// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes an ordinary category again from the documents of a ledger, byte for byte as learning them
//! makes it.
//!
//! Records hold everything that learning single words or pairs of words under the uniform measure
//! needs: id, medium, number of character pairs, the second word's id, occurrences, and the order
//! of first appearance, which decides the slots.

use super::ledger::{Fault, Learning, Ledger};
use crate::category::header::Header;
use crate::category::reader::Category;
use crate::fit::documents::FeatureKind;
use crate::learn::counter::Counter;
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::tokens::{TokenList, Unread};
use crate::learn::{LearnSettings, LearnedModel};
use crate::model::medium::Medium;
use crate::model::settings::Scheme;

/// The file of category `label` as learned from the documents of `ledger`; `old` is the ordinary
/// category that was learned from these documents or others. Without documents it has no features.
/// `None` if the ledger does not have everything of which it was made.
///
/// # Errors
/// Numbers are out of range, which means damage, too.
pub fn file<D: AsRef<[u8]>>(
    ledger: &Ledger,
    label: u32,
    old: &Category<D>,
) -> Result<Option<Vec<u8>>, Fault> {
    let learning = ledger.head.names.get(label as usize).map(|name| name.learning);
    let Some(learning) = learning else { return Ok(None) };
    if !can_tell(learning, old.header()) {
        return Ok(None);
    }
    let header = old.header();
    let settings = LearnSettings {
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
    };
    let mut state =
        LearningState::new(settings.bits, settings.options, settings.scheme, settings.min_count);
    state.tokens = TokenList::Unread(Vec::new());
    let mut counter = Counter::new(state, &settings, false);
    // Warnings were printed when the documents were learned.
    let mut silent = |_| {};
    ledger.each(|record, _| {
        if record.label == label {
            for term in &record.terms {
                let FeatureKind { order, medium, pairs, second } = term.kind;
                let feature = Unread { id: term.id, order, pairs, suffix: second };
                counter.count_unread(feature, Medium::new(medium), term.count, &mut silent);
            }
            counter.end_of_file(&mut silent);
        }
    });
    let mut state = counter.into_state(&mut silent);
    let model = LearnedModel::of(&mut state, &settings, header.max_order, &mut silent);
    let model = model.map_err(|_| Fault::Body)?;
    Ok(Some(model.to_bytes(name_of(old), &[], &state.table)))
}

/// Whether the documents of a ledger determine the category that was learned from them.
pub const fn can_tell(learning: Learning, header: &Header) -> bool {
    learning.is_plain && header.max_order <= FeatureKind::PAIR
}

/// The name of a category in its first line.
fn name_of<D: AsRef<[u8]>>(category: &Category<D>) -> &[u8] {
    let line = category.as_bytes().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(category.header().magic()).unwrap_or_default();
    let name = name.strip_prefix(b" ").unwrap_or(name);
    name.strip_suffix(b" ").unwrap_or(name)
}
