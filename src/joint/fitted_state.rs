// SPDX-License-Identifier: GPL-3.0-or-later
//! A complete fit of two categories → the state from which single documents are learned.

use super::dataset::BIAS_INPUT;
use super::fit::{FittedWeights, Solution};
use super::incremental::{self, Numbers, State, ordinary_part};
use super::ledger::{Fault, Ledger};
use super::relearn;
use crate::category::reader::Category;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;

/// The state of a fit of the documents of `ledger`; `ordinary` are the categories that it started
/// from. `None` where the fit was not taken. Takes the evidence out of `solution`.
///
/// # Errors
/// A damaged record.
pub fn state_of<D: AsRef<[u8]>>(
    ledger: &Ledger,
    ordinary: &[Category<D>],
    solution: &mut Solution,
) -> Result<Option<State>, Fault> {
    let mut evidence = std::mem::take(&mut solution.evidence);
    let Solution { data, choice, fitted, .. } = &*solution;
    let Some(FittedWeights { fits, set, .. }) = fitted else { return Ok(None) };
    let (fit, settings) = (&fits[0], choice.settings);
    let by_side = data.documents_by_category();
    let half = BIAS_INPUT * data.length / f64::from(data.max_order) * fit.bias / 2.0;
    let mut totals = [0.0; 2];
    for (&label, &occurrences) in data.labels.iter().zip(&data.occurrences) {
        totals[usize::from(label == 1)] += f64::from(occurrences);
    }
    let learned = |at: usize, id: FeatureId| {
        let slot = ordinary[at].find(id).filter(|slot| slot.id == id);
        slot.map_or_else(QuantWeight::default, |slot| slot.weight)
    };
    let mut names = ledger.head.names.iter().zip(ordinary);
    let mut numbers = Numbers {
        set: set.name,
        ledger: ledger.head.sum,
        ledger_length: ledger.head.length,
        cost: settings.cost,
        blend: settings.blend,
        length: data.length,
        bias: fit.bias,
        log_partitions: [set.log_partitions[0] - half, set.log_partitions[1] + half],
        totals,
        rises: [0.0; 2],
        counts_ordinary: data.max_order == 1
            && names.all(|(name, own)| relearn::can_tell(name.learning, own)),
        max_order: data.max_order,
        scoring: data.scoring,
        contrast: data.contrast,
        documents: 0,
        sides: [0, 1].map(|at| u32::try_from(by_side[at]).unwrap_or(u32::MAX)),
        fitted: u32::try_from(data.len()).unwrap_or(u32::MAX),
        features: 0,
    };
    if numbers.counts_ordinary {
        numbers.rises = [0, 1]
            .map(|at| numbers.rise(at, evidence.iter().map(|(id, own)| (own, learned(at, *id)))));
    } else {
        for (id, own) in &mut evidence {
            own.ordinary = ordinary_part(learned(0, *id), learned(1, *id), settings.blend);
        }
    }
    let documents = incremental::documents(ledger)?;
    Ok(Some(State::new(numbers, data, fit, &evidence, &documents)))
}
