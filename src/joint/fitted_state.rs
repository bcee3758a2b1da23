// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes the state, from which single documents are learned, after a complete fit.

use super::dataset::BIAS_INPUT;
use super::fit::{FittedWeights, Solution};
use super::incremental::{self, Numbers, State, ordinary_part};
use super::index::FeatureIndex;
use super::ledger::{Fault, Ledger};
use super::many::{self, DocumentOfFit, Evidence, FeatureOfFit, Side};
use super::real;
use super::relearn;
use super::select::Form;
use super::set_state::SetState;
use super::solver::Fit;
use crate::category::reader::Category;
use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;

/// The state of a fit of the documents of `ledger`; `ordinary` are the categories that it started
/// from. `None` if the fit was not used, or if the files of more than two categories were written
/// with `--exact`. Moves the evidence out of `solution`.
///
/// # Errors
/// A damaged record.
pub fn state_of<D: AsRef<[u8]>>(
    ledger: &Ledger,
    ordinary: &[Category<D>],
    solution: &mut Solution,
) -> Result<Option<SetState>, Fault> {
    if ordinary.len() == 2 {
        return Ok(state_of_pair(ledger, ordinary, solution)?.map(SetState::Pair));
    }
    Ok(state_of_many(ledger, ordinary, solution)?.map(SetState::Many))
}

/// The weight of a feature in a category as it was learned.
fn learned<D: AsRef<[u8]>>(category: &Category<D>, id: FeatureId) -> QuantWeight {
    let slot = category.find(id).filter(|slot| slot.id == id);
    slot.map_or_else(QuantWeight::default, |slot| slot.weight)
}

/// Whether the ledger has everything that determines the ordinary weights.
fn counts_ordinary<D: AsRef<[u8]>>(
    ledger: &Ledger,
    ordinary: &[Category<D>],
    max_order: u8,
) -> bool {
    let mut names = ledger.head.names.iter().zip(ordinary);
    max_order == 1 && names.all(|(name, own)| relearn::can_tell(name.learning, own.header()))
}

fn state_of_many<D: AsRef<[u8]>>(
    ledger: &Ledger,
    ordinary: &[Category<D>],
    solution: &Solution,
) -> Result<Option<many::State>, Fault> {
    let Solution { data, choice, fitted, form, .. } = solution;
    let Some(FittedWeights { fits, set, .. }) = fitted else { return Ok(None) };
    let width = ordinary.len();
    if *form == Form::Exact || width > many::MOST {
        return Ok(None);
    }
    let settings = choice.settings;
    let counts_ordinary = counts_ordinary(ledger, ordinary, data.max_order);
    let of_bias = BIAS_INPUT * data.length / f64::from(data.max_order);
    let mean = fits.iter().map(|fit| fit.bias).sum::<f64>() / real(width);
    let side = |(fit, log_partition): (&Fit, &f64)| Side {
        log_partition: log_partition + of_bias * (fit.bias - mean),
        bias: fit.bias,
        ..Side::default()
    };
    let mut sides: Vec<Side> = fits.iter().zip(&set.log_partitions).map(side).collect();
    let mut index = FeatureIndex::default();
    let mut features: Vec<FeatureOfFit> = Vec::new();
    ledger.each(|record, _| {
        let (Ok(category), Some(side)) =
            (u8::try_from(record.label), sides.get_mut(record.label as usize))
        else {
            return false;
        };
        side.total += f64::from(record.occurrences);
        side.documents = side.documents.saturating_add(1);
        for term in &record.terms {
            let at = index.insert(term.id) as usize;
            if at == features.len() {
                let (id, pairs) = (term.id, term.makeup.pairs);
                features.push(FeatureOfFit { id, pairs, ..FeatureOfFit::default() });
            }
            let known = &mut features[at].evidence;
            let place = known.iter().position(|own| own.category == category);
            let place = place.unwrap_or_else(|| {
                known.push(Evidence { category, ..Evidence::default() });
                known.len() - 1
            });
            let own = &mut known[place];
            own.documents = own.documents.saturating_add(1);
            own.count = own.count.saturating_add(term.count);
        }
        true
    })?;
    let fitted = FeatureIndex::of(data.ids.clone());
    for feature in &mut features {
        if let Some(at) = fitted.get(feature.id) {
            feature.weights = fits.iter().map(|fit| fit.weights[at].value).collect();
        }
        feature.evidence.sort_by_key(|own| own.category);
        if !counts_ordinary {
            for own in &mut feature.evidence {
                let weight = learned(&ordinary[usize::from(own.category)], feature.id);
                own.ordinary = narrow(settings.blend * f64::from(weight.weight()));
            }
        }
    }
    if counts_ordinary {
        for (at, side) in sides.iter_mut().enumerate() {
            let of = |own: &Evidence| usize::from(own.category) == at;
            let each = features.iter().filter_map(|feature| {
                let own = feature.evidence.iter().find(|own| of(own))?;
                Some((own.count, feature.pairs, learned(&ordinary[at], feature.id)))
            });
            side.rise = incremental::rise(side.total, each);
        }
    }
    let documents_of =
        |feature: &FeatureOfFit| -> u32 { feature.evidence.iter().map(|own| own.documents).sum() };
    // Features of many documents come first, so that the slots that an update changes lie close
    // together.
    features.sort_by_key(|feature| std::cmp::Reverse(documents_of(feature)));
    let numbers = many::Numbers {
        set: set.name,
        ledger: ledger.head.sum,
        ledger_length: ledger.head.length,
        cost: settings.cost,
        blend: settings.blend,
        length: data.length,
        counts_ordinary,
        max_order: data.max_order,
        scoring: data.scoring,
        contrast: data.contrast,
        documents: 0,
        fitted: u32::try_from(data.len()).unwrap_or(u32::MAX),
        sides,
    };
    let duals = |number: usize| fits.iter().map(|fit| fit.duals[number]).collect();
    let documents = incremental::documents(ledger)?.into_iter().enumerate();
    let documents: Vec<DocumentOfFit> = documents
        .map(|(number, (offset, name))| DocumentOfFit { offset, name, duals: duals(number) })
        .collect();
    Ok(Some(many::State::new(numbers, &features, &documents)))
}

fn state_of_pair<D: AsRef<[u8]>>(
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
    let learned = |at: usize, id: FeatureId| learned(&ordinary[at], id);
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
        counts_ordinary: counts_ordinary(ledger, ordinary, data.max_order),
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
