// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes the state, from which single documents are learned, after a complete fit.

use super::State;
use super::head::{MOST, Numbers, Side};
use super::tables::Sizes;
use super::weights::rise;
use crate::category::reader::Category;
use crate::fit::joint::{FittedWeights, Solution};
use crate::store::ledger::Ledger;
use crate::store::relearn;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::real;
use dbacl_numeric::quantize::QuantWeight;

/// The state of a fit of the documents of `ledger`; `ordinary` are the categories that it started
/// from. `None` if the fit was not used, or if the files of more than two categories were written
/// with `--exact`.
pub fn state_of<D: AsRef<[u8]>>(
    ledger: &Ledger,
    ordinary: &[Category<D>],
    solution: &Solution,
) -> Option<State> {
    let Solution { data, choice, fitted, is_sparse, .. } = solution;
    let FittedWeights { fits, set, .. } = fitted.as_ref()?;
    let categories = ordinary.len();
    let is_possible = categories == 2 || *is_sparse && categories <= MOST;
    if !is_possible || data.len() != ledger.head.documents as usize {
        return None;
    }
    let unit = data.scoring.unit();
    let of_bias = unit * data.bias_input();
    // One fit is that of the second of two categories.
    let mut biases: Vec<f64> = fits.iter().map(|fit| fit.bias).collect();
    biases.splice(..0, (fits.len()..categories).map(|_| 0.0));
    let mean = biases.iter().sum::<f64>() / real(categories);
    let sides = biases.iter().zip(&set.log_partitions).map(|(&bias, log_partition)| {
        let log_partition = log_partition + of_bias * (bias - mean);
        Side { log_partition, bias, ..Side::default() }
    });
    let mut names = ledger.head.names.iter().zip(ordinary);
    let numbers = Numbers {
        set: set.name,
        ledger: ledger.head.sum,
        ledger_length: ledger.head.length,
        cost: choice.settings.cost,
        blend: choice.settings.blend,
        length: data.length * unit,
        // They do if the ledger has all that they are made of.
        counts_ordinary: data.max_order == 1
            && names.all(|(name, own)| relearn::can_tell(name.learning, own.header())),
        max_order: data.max_order,
        scoring: data.scoring,
        contrast: data.contrast,
        fitted: u32::try_from(data.len()).unwrap_or(u32::MAX),
        key: key_of(ledger),
        sides: sides.collect(),
    };
    // A feature is known to one category at least, and each category has each of its own once.
    let known = ordinary.iter().map(|own| own.header().unique_features as usize);
    let (slots, most) = (known.clone().sum::<usize>(), known.max().unwrap_or(0));
    let rows = if fits.len() > 1 { data.ids.len() } else { 0 };
    let room = Sizes { documents: data.len(), slots, rows, entries: slots - most };
    let mut state = State::new(numbers, room);
    let mut offset = 0;
    ledger.each(|record, bytes| {
        let number = state.tables.push_document(offset, record.fingerprint);
        offset += bytes.len() as u64;
        for (at, fit) in fits.iter().enumerate() {
            state.tables.put_duals(number, at, fit.duals[number]);
        }
        state.count(record, record.label, false);
    });
    for (feature, id) in data.ids.iter().enumerate() {
        if let Some(at) = state.tables.find(id.0) {
            let weights: Vec<f32> = fits.iter().map(|fit| fit.weights[feature].value).collect();
            state.tables.put_weights(at, &weights);
        }
    }
    if state.numbers.counts_ordinary {
        state.set_rises(ordinary);
    } else {
        state.keep_ordinary(ordinary);
    }
    state.tables = state.tables.by_frequency();
    Some(state)
}

/// The key of the searches for features: a number that follows from the documents, so that the same
/// documents give the same file, and that strangers who send some of them do not know.
#[allow(clippy::cast_possible_truncation)] // the low half
const fn key_of(ledger: &Ledger) -> u32 {
    ledger.head.sum.value() as u32
}

/// The weight of a feature in a category as it was learned.
fn learned<D: AsRef<[u8]>>(category: &Category<D>, id: u32) -> QuantWeight {
    let id = FeatureId(id);
    let slot = category.find(id).filter(|slot| slot.id == id);
    slot.map_or_else(QuantWeight::default, |slot| slot.weight)
}

impl State {
    /// Finds the rises of the categories, from their counts and their ordinary weights.
    fn set_rises<D: AsRef<[u8]>>(&mut self, ordinary: &[Category<D>]) {
        let mut known = vec![Vec::new(); ordinary.len()];
        for at in 0..self.tables.used.slots {
            let slot = self.tables.slot(at);
            self.tables.entries(&slot, |own| {
                let category = usize::from(own.category);
                let weight = learned(&ordinary[category], slot.id);
                known[category].push((own.tally, slot.pairs, weight));
            });
        }
        for (side, known) in self.numbers.sides.iter_mut().zip(known) {
            side.rise = rise(side.total, known.into_iter());
        }
    }

    /// Takes over the ordinary weights, which stay what they are. Of more than two categories, only
    /// those matter whose documents contain a feature.
    fn keep_ordinary<D: AsRef<[u8]>>(&mut self, ordinary: &[Category<D>]) {
        let is_pair = ordinary.len() == 2;
        for at in 0..self.tables.used.slots {
            let id = self.tables.slot(at).id;
            for (category, ordinary) in (0..).zip(ordinary) {
                let weight = learned(ordinary, id);
                if weight.0 > 0 {
                    self.tables.change_entry(at, category, is_pair, |own| {
                        own.tally = u32::from(weight.0);
                    });
                }
            }
        }
    }
}
