// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit of a large category (`--large`): the formulas of [`super::fit`] for counts and ids of 64
//! bits.
//!
//! Features lie order by order, and by id within an order. All sums run in that sequence, so the
//! category depends on the features and their counts only, not on the order of the input.

use super::fit::{Fitted, OrderFit, Reach, Tolerances, lower_orders, masses_of, steps_to_nats};
use super::groups::{Groups, Scale};
use super::moments::{of_counts, of_documents};
use super::weights::SlotWeights;
use super::{LearnSettings, Progress};
use crate::category::header::Header;
use crate::category::writer::{self, LargeSlot};
use crate::error::Result;
use crate::model::digram::DigramTable;
use crate::model::medium::{MEDIA, Medium};
use crate::model::settings::ModelOption;
use crate::token::id::WideId;
use dbacl_numeric::elementary::{count_f64, log};
use dbacl_numeric::exponentials::Exponentials;
use dbacl_numeric::quantize::QuantWeight;
use std::io::{self, Write};
use std::ops::Range;

/// Longest n-gram.
const LONGEST: usize = 7;

/// A feature, as it comes to the fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargeFeature {
    /// Its id.
    pub id: WideId,
    /// Its occurrences.
    pub count: u64,
    /// The place of its longest proper suffix among the features; [`NO_SUFFIX`] for none.
    pub suffix: u32,
    /// Its reference weight.
    pub reference: QuantWeight,
    /// Where it stands in documents.
    pub medium: Medium,
}

/// Marks a feature without a proper suffix that was counted.
pub(crate) const NO_SUFFIX: u32 = u32::MAX;

/// The counts of a large category. A feature has 23 bytes.
#[derive(Debug, Default)]
pub(crate) struct LargeCounts {
    ids: Vec<WideId>,
    counts: Vec<u64>,
    suffixes: Vec<u32>,
    media: Vec<Medium>,
    weights: Vec<SlotWeights>,
    /// For each order, the end of its features.
    ends: Vec<usize>,
    /// Documents: their number, and the sums of their negative and squared entropies.
    pub documents: (u32, f64, f64),
}

impl LargeCounts {
    /// No features, but room for so many.
    pub(crate) fn with_room(features: usize) -> Self {
        Self {
            ids: Vec::with_capacity(features),
            counts: Vec::with_capacity(features),
            suffixes: Vec::with_capacity(features),
            media: Vec::with_capacity(features),
            weights: Vec::with_capacity(features),
            ..Self::default()
        }
    }

    /// Adds a feature of the order that is being filled; ids ascend. Returns its place: that of the
    /// feature before it if that has the same id, since two features with one id are one.
    pub(crate) fn push(&mut self, feature: LargeFeature) -> usize {
        let LargeFeature { id, count, suffix, reference, medium } = feature;
        if self.ids.len() > self.ends.last().copied().unwrap_or(0) && self.ids.last() == Some(&id) {
            let last = self.ids.len() - 1;
            self.counts[last] += count;
            return last;
        }
        self.ids.push(id);
        self.counts.push(count);
        self.suffixes.push(suffix);
        self.media.push(medium);
        self.weights.push(SlotWeights { reference: reference.0, ..SlotWeights::default() });
        self.ids.len() - 1
    }

    /// All features of the order have been added; those of the next one follow.
    pub(crate) fn end_order(&mut self) {
        self.ends.push(self.ids.len());
    }

    /// The places of the features of an order.
    fn places(&self, order: usize) -> Range<usize> {
        let end = |order: usize| order.checked_sub(1).map_or(0, |at| self.ends[at]);
        end(order - 1)..end(order)
    }

    /// Sets the suffix sums of the features at `places`, whose suffixes have been fitted.
    fn add_up_suffixes(&mut self, places: Range<usize>) {
        for at in places {
            let suffix = self.weights.get(self.suffixes[at] as usize);
            let sum = suffix.map_or(0, |it| it.lambda.wrapping_add(it.suffix));
            self.weights[at].suffix = sum;
        }
    }

    /// The features by id. Of several with one id only that of the lowest order is there.
    fn by_id(&self) -> impl Iterator<Item = LargeSlot> + Clone {
        let mut rest = std::array::from_fn::<_, LONGEST, _>(|order| {
            if order < self.ends.len() { self.places(order + 1) } else { 0..0 }
        });
        let mut last = WideId(0);
        std::iter::from_fn(move || {
            loop {
                let heads = rest.iter_mut().filter(|places| places.start < places.end);
                let at = heads.min_by_key(|places| self.ids[places.start])?.next()?;
                let slot =
                    LargeSlot { id: self.ids[at], weight: QuantWeight(self.weights[at].lambda) };
                // An id of 0, or one that was there before, has no slot.
                if slot.id > std::mem::replace(&mut last, slot.id) {
                    return Some(slot);
                }
            }
        })
    }
}

/// A large category as learned, ready to be written.
#[derive(Debug)]
pub(crate) struct LargeModel {
    /// The header's numbers.
    pub header: Header,
    digrams: DigramTable,
    counts: LargeCounts,
}

impl LargeModel {
    /// Fits what was counted.
    ///
    /// # Errors
    /// A number that leaves the range of the formulas.
    pub(crate) fn of(
        mut counts: LargeCounts,
        digrams: DigramTable,
        settings: &LearnSettings,
        progress: &mut Progress<'_>,
    ) -> Result<Self> {
        let fitted = fit(&mut counts, settings, progress)?;
        let order = counts.ends.len();
        let max_order = u8::try_from(order).unwrap_or(u8::MAX);
        let weighty = counts.media.iter().zip(&counts.weights);
        let weighty = weighty.filter(|(_, slot)| slot.lambda > 0);
        let weighty = weighty.map(|(medium, slot)| (*medium, *slot));
        let masses: [f64; MEDIA] = masses_of(weighty, max_order, fitted.log_partition);
        let total = counts.counts.iter().sum();
        let (documents, negative_sum, squared_sum) = counts.documents;
        let mut moments = of_documents(f64::from(documents), negative_sum, squared_sum);
        if documents < 2 {
            let longest = counts.counts[counts.places(order)].iter().copied();
            (moments.shannon, moments.shannon_variance) = (of_counts(longest, total), 0.0);
        }
        let header = Header {
            reference_only: settings.options.has(ModelOption::ReferenceOnly),
            divergence: fitted.divergence,
            log_partition: fitted.log_partition,
            max_order,
            multinomial: false,
            bits: 0,
            large: Some(writer::large_size(counts.by_id().map(|slot| slot.id))),
            features: total,
            unique_features: u32::try_from(counts.ids.len()).unwrap_or(u32::MAX),
            documents,
            moments,
            log_masses: masses.map(|mass| -log(mass)),
            options: settings.options,
            scheme: Some(settings.scheme),
        };
        Ok(Self { header, digrams, counts })
    }

    /// Writes the category file; `name` is the category's name in its first line.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(&self, out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
        writer::write_large(out, &self.header, name, &self.digrams, self.counts.by_id())
    }
}

/// Fits the weights of all orders, as [`super::fit::joint`] does.
fn fit(
    counts: &mut LargeCounts,
    settings: &LearnSettings,
    progress: &mut Progress<'_>,
) -> Result<Fitted> {
    let tolerances = Tolerances::of(settings.quality, false);
    let highest = counts.ends.len();
    let rounds = if tolerances.several_passes && highest > 1 { 50 } else { 1 };
    let max_count = counts.counts.iter().copied().max().unwrap_or(0);
    let cut = match u64::try_from(settings.min_count) {
        Ok(cut) => cut,
        Err(_) => max_count.wrapping_add_signed(settings.min_count.into()),
    };
    let scale_of = |counts: &LargeCounts, order: u8| {
        let places = counts.places(order.into());
        Scale { order, total: counts.counts[places].iter().sum(), cut }
    };
    let room = (1..=highest).map(|order| counts.places(order).len()).max().unwrap_or(0);
    let mut groups = Groups::with_room(room, scale_of(counts, 1));
    let mut exponentials = Exponentials::default();
    let mut fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
    let (mut previous, mut forward) = (0.0, true);
    progress.say(|| "now maximizing model entropy".into());
    for _ in 0..rounds {
        let mut weight_of_lower = 0;
        let mut reach = Reach::default();
        for order in (1..).take(highest) {
            let places = counts.places(order.into());
            counts.add_up_suffixes(places.clone());
            if settings.options.has(ModelOption::ReferenceOnly) {
                break;
            }
            let lower = counts.weights[..places.start].iter().copied();
            let log_below = lower_orders(lower, order, &reach, &mut exponentials);
            let scale = scale_of(counts, order);
            let total = count_f64(scale.total);
            let extra = if order == 1 { 0.0 } else { steps_to_nats(weight_of_lower) / total };
            progress.say(|| {
                let (occurrences, unique) = (scale.total, places.len());
                format!(
                    "* optimizing order {order} weights ({occurrences} tokens, {unique} unique)"
                )
            });
            groups.start(scale);
            let slots = &counts.weights[places.clone()];
            for (&count, slot) in counts.counts[places.clone()].iter().zip(slots) {
                groups.push(count, *slot);
            }
            let suffixes = || slots.iter().map(|slot| slot.suffix);
            let mut sums = OrderFit::new(&mut groups, total, log_below, &mut exponentials);
            fitted = sums.optimize(&tolerances, extra, suffixes, &mut forward, progress)?;
            weight_of_lower += sums.weight;
            for (slot, lambda) in counts.weights[places.clone()].iter_mut().zip(groups.lambdas()) {
                slot.lambda = lambda;
            }
            reach.note(counts.weights[places].iter().copied());
        }
        if (1.0 - previous / fitted.log_partition).abs() < 0.01 {
            break;
        }
        previous = fitted.log_partition;
    }
    Ok(fitted)
}
