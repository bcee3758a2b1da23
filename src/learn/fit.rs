// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts → weights: the maximum-entropy fit, one order after the other (spec model 7).
//!
//! The features of an order are gathered in hash order. All weights lie on a grid of 1/32, so sums of
//! weights and maxima are integers and exact in any order; only the sum of exponentials runs as
//! specified, and its terms come from tables.

use super::prepare::{Preparation, words};
use super::round::{Features, LANES, Round, limited};
use super::state::LearningState;
use super::table::{Cell, Place};
use super::weights::{SlotWeights, Weights};
use super::{LearnSettings, Preload, Progress};
use crate::error::{Error, Result};
use crate::model::digram::DigramTable;
use crate::model::medium::MEDIA;
use crate::model::settings::ModelOption;
use crate::numeric::elementary::{exp, log, narrow};
use crate::numeric::exponentials::{Exponentials, StepExponentials};
use crate::numeric::logarithms::CountLogs;
use crate::numeric::quantize::QuantWeight;
use crate::report::cformat::fixed_text;
use crate::token::id::FeatureId;

/// What the fit found beside the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// log Z of the highest order, nats.
    pub log_partition: f64,
    /// Kullback-Leibler divergence from the reference measure, nats.
    pub divergence: f64,
}

/// When the iteration of an order stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tolerances {
    pub(super) divergence: f64,
    pub(super) lambda: f64,
    pub(super) log_partition: f64,
    pub(super) several_passes: bool,
}

impl Tolerances {
    pub(super) fn of(quality: Option<u8>, preloaded: bool) -> Self {
        let (lambda, log_partition, several_passes) = match quality {
            None if preloaded => (0.03125, 0.05, false),
            None | Some(1) => (0.05, 0.05, false),
            Some(2) => (0.03125, 0.05, false),
            Some(3) => (0.03125, 0.01, false),
            Some(_) => (0.03125, 0.01, true),
        };
        Self { divergence: 0.01, lambda, log_partition, several_passes }
    }

    /// Whether a round changed so much that another is needed.
    fn ask_for_more(&self, divergence: f64, delta: f64, log_partition: f64) -> bool {
        divergence > self.divergence || delta > self.lambda || log_partition > self.log_partition
    }
}

/// Marks empty slots among orders.
const NO_ORDER: u8 = u8::MAX;

/// Fits the weights of all orders.
///
/// # Errors
/// [`Error::Numeric`] when the log-partition leaves the range of numbers.
pub fn fit(
    state: &LearningState,
    settings: &LearnSettings,
    digrams: &DigramTable,
    preload: Option<&Preload>,
    progress: &mut Progress<'_>,
) -> Result<(Fitted, Weights)> {
    let mut weights = Weights::new(state);
    if let Some(preload) = preload {
        weights.preload(state, preload, progress);
    }
    let tolerances = Tolerances::of(settings.quality, preload.is_some());
    let multinomial = state.is_multinomial();
    let highest = if multinomial { 1 } else { state.max_order };
    let several = tolerances.several_passes && !multinomial && state.max_order != 1;
    let preparation = Preparation::new(state, digrams);
    let order_of = |cell: Cell| if cell.is_empty() { NO_ORDER } else { cell.head.order() };
    let orders: Vec<u8> = state.table.cells().map(order_of).collect();
    let mut exponentials = Exponentials::default();
    let mut fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
    let mut previous = 0.0;
    let mut forward = true;
    progress.say(|| "now maximizing model entropy".into());
    for _ in 0..if several { 50 } else { 1 } {
        // Sum of weight times count over the orders below, steps; exact.
        let mut weight_of_lower = 0;
        for order in 1..=highest {
            let slots: Vec<u32> =
                (0u32..).zip(&orders).filter(|&(_, &o)| o == order).map(|(at, _)| at).collect();
            preparation.prepare(state, &mut weights, order, &slots);
            let log_below = lower_orders(&weights, &orders, order, &mut exponentials);
            let occurrences = state.total_of[usize::from(order)];
            let total = f64::from(occurrences);
            let extra = if order == 1 { 0.0 } else { steps_to_nats(weight_of_lower) / total };
            progress.say(|| {
                let unique = state.unique[usize::from(order)];
                let kappa = fixed_text(kappa(state, &weights, order), 0, 6);
                format!(
                    "* optimizing order {order} weights ({occurrences} tokens, {unique} unique, \
                     kappa = {kappa})"
                )
            });
            if state.options.has(ModelOption::ReferenceOnly) {
                break;
            }
            let mut sums =
                OrderFit::gather(state, &weights, slots, order, log_below, &mut exponentials);
            let mut z = sums.log_partition(forward)?;
            let mut divergence = sums.divergence(z);
            forward = !forward;
            for _ in 0..50 {
                let (old_z, old_divergence) = (z, divergence);
                let delta = sums.update(z, forward)?;
                z = sums.log_partition(forward)?;
                divergence = sums.divergence(z);
                forward = !forward;
                progress.say(|| {
                    format!(
                        "entropy change {} --> {} ({}, {})",
                        fixed_text(old_divergence + extra, 0, 6),
                        fixed_text(divergence + extra, 0, 6),
                        fixed_text(delta, 10, 6),
                        fixed_text((z - old_z).abs(), 10, 6)
                    )
                });
                let change = (old_divergence - divergence).abs();
                if !tolerances.ask_for_more(change, delta, (z - old_z).abs()) {
                    break;
                }
            }
            sums.store(&mut weights);
            weight_of_lower += sums.weight;
            fitted = Fitted { log_partition: z, divergence: divergence + extra };
        }
        if (1.0 - previous / fitted.log_partition).abs() < 0.01 {
            break;
        }
        previous = fitted.log_partition;
    }
    Ok((fitted, weights))
}

/// Features seen that often or less get no weight (spec model 7.2).
#[allow(clippy::cast_sign_loss)] // wraps on purpose, as the reference does
pub(super) const fn cut_off(min_count: i32, max_count: u32) -> u32 {
    if min_count >= 0 { min_count as u32 } else { (min_count as u32).wrapping_add(max_count) }
}

/// A slot's exponent `R s + d` in steps of 1/32 nat.
fn exponent(order: u8, slot: SlotWeights) -> i32 {
    i32::from(order) * i32::from(slot.suffix) - i32::from(slot.reference)
}

/// Log mass of everything below `order`: maximum first, then the sum in hash order. The reference
/// starts the sum from 1, not from exp(-max).
fn lower_orders(
    weights: &Weights,
    orders: &[u8],
    order: u8,
    exponentials: &mut Exponentials,
) -> f64 {
    if order <= 1 {
        return 0.0;
    }
    let lower = || {
        let slots = orders.iter().zip(weights.slots());
        let lower = slots.filter(|&(&of, slot)| of < order && slot.lambda > 0);
        lower.map(|(_, slot)| (exponent(order, *slot), i32::from(order) * i32::from(slot.lambda)))
    };
    let max = lower().map(|(steps, rise)| steps + rise).max().unwrap_or(0).max(0);
    let max = f64::from(max) / 32.0;
    exponentials.set_shift(max);
    let mut g = 1.0f64;
    exponentials.add_differences(&mut g, lower());
    max + log(g)
}

/// Whole steps of 1/32 nat, below 2^53 of them, as nats; exact.
#[allow(clippy::cast_precision_loss)]
fn steps_to_nats(steps: u64) -> f64 {
    steps as f64 / 32.0
}

/// Mass of the reference measure on the features of up to `order`, in order of first appearance;
/// shown in progress texts only.
fn kappa(state: &LearningState, weights: &Weights, order: u8) -> f64 {
    let mut kappa = 0.0;
    state.tokens.for_each(&state.table, |body, medium| {
        if let Place::Found(at) = state.table.place(FeatureId::of(body, medium)) {
            let of = state.table.head(at).order();
            if words(body) == usize::from(of) && of <= order {
                kappa += exp(weights.log_reference(at));
            }
        }
    });
    kappa
}

/// The features of one order in hash order, and what their sums need.
struct OrderFit<'a> {
    order: u8,
    /// Log mass of everything below the order, nats.
    log_below: f64,
    /// Occurrences of the order.
    total: f64,
    slots: Vec<u32>,
    counts: Vec<u32>,
    /// `(log count - log total - d) / R`, nats.
    bases: Vec<f64>,
    /// `R s + d`, steps.
    exponents: Vec<i32>,
    suffixes: Vec<u16>,
    lambdas: Vec<u16>,
    cut: u32,
    /// Largest `R l + R s + d`, steps.
    max: i32,
    /// Sum of weight times count, steps.
    weight: u64,
    /// Whether all bases are finite.
    is_finite: bool,
    exponentials: &'a mut Exponentials,
}

impl<'a> OrderFit<'a> {
    fn gather(
        state: &LearningState,
        weights: &Weights,
        slots: Vec<u32>,
        order: u8,
        log_below: f64,
        exponentials: &'a mut Exponentials,
    ) -> Self {
        let total = f64::from(state.total_of[usize::from(order)]);
        let log_total = log(total);
        let r = f64::from(order);
        let mut logs = CountLogs::default();
        let length = slots.len();
        let mut fit = Self {
            order,
            log_below,
            total,
            counts: Vec::with_capacity(length),
            bases: Vec::with_capacity(length),
            exponents: Vec::with_capacity(length),
            suffixes: Vec::with_capacity(length),
            lambdas: Vec::with_capacity(length),
            cut: cut_off(state.min_count, state.max_count),
            max: i32::MIN,
            weight: 0,
            is_finite: true,
            slots,
            exponentials,
        };
        for &at in &fit.slots {
            let at = at as usize;
            let (count, slot) = (state.table.count(at), weights.slots()[at]);
            fit.counts.push(count);
            fit.bases.push((logs.of(f64::from(count)) - log_total - weights.log_reference(at)) / r);
            fit.exponents.push(exponent(order, slot));
            fit.suffixes.push(slot.suffix);
            fit.lambdas.push(slot.lambda);
        }
        fit.is_finite = fit.bases.iter().all(|base| base.is_finite());
        fit.note_all();
        fit
    }

    /// log Z divided by the order, nats: the sum runs in hash order or against it.
    fn log_partition(&mut self, forward: bool) -> Result<f64> {
        let max = f64::from(self.max) / 32.0;
        let m = if max > self.log_below { max } else { self.log_below };
        self.exponentials.set_shift(m);
        let mut sum = exp(self.log_below - m);
        let order = i32::from(self.order);
        let items = self.exponents.iter().zip(&self.lambdas);
        let items = items.map(|(&exponent, &lambda)| (exponent, order * i32::from(lambda)));
        if forward {
            self.exponentials.add_differences(&mut sum, items);
        } else {
            self.exponentials.add_differences(&mut sum, items.rev());
        }
        let z = (m + log(sum)) / f64::from(self.order);
        if z.is_nan() {
            return Err(Error::Numeric("sorry, partition function went kaboom.".into()));
        }
        Ok(z)
    }

    /// Divergence of this order from the reference measure, nats.
    fn divergence(&self, z: f64) -> f64 {
        -z + steps_to_nats(self.weight) / self.total
    }

    /// One round: every weight moves towards what its count asks for under log-partition `z`.
    /// Returns the largest change, nats.
    fn update(&mut self, z: f64, forward: bool) -> Result<f64> {
        if !(z.is_finite() && self.is_finite) {
            return self.update_carefully(z, forward);
        }
        let mut round = Round::new(self.order, z, self.cut);
        let whole = self.lambdas.len() / LANES * LANES;
        let (lambdas, last) = self.lambdas.split_at_mut(whole);
        let columns = self.counts.as_chunks().0.iter().zip(self.bases.as_chunks().0);
        let columns =
            columns.zip(self.suffixes.as_chunks().0.iter().zip(self.exponents.as_chunks().0));
        let chunks = lambdas.as_chunks_mut::<LANES>().0.iter_mut();
        for (lambdas, ((counts, bases), (suffixes, exponents))) in chunks.zip(columns) {
            round.update(lambdas, Features { counts, bases, suffixes, exponents });
        }
        for (lambda, k) in last.iter_mut().zip(whole..) {
            let features = Features {
                counts: &[self.counts[k]],
                bases: &[self.bases[k]],
                suffixes: &[self.suffixes[k]],
                exponents: &[self.exponents[k]],
            };
            round.update(std::array::from_mut(lambda), features);
        }
        (self.max, self.weight) = (round.max(), round.weight());
        Ok(round.delta())
    }

    /// The same when numbers are not finite: a weight that is not a number stays, and the
    /// log-partition is worked out anew.
    #[cold]
    fn update_carefully(&mut self, mut z: f64, forward: bool) -> Result<f64> {
        let mut delta = 0.0f64;
        for k in 0..self.slots.len() {
            let old = f64::from(self.lambdas[k]) / 32.0;
            let new = if self.counts[k] > self.cut {
                self.bases[k] + z - f64::from(self.suffixes[k]) / 32.0
            } else {
                0.0
            };
            if new.is_nan() {
                self.note_all();
                z = self.log_partition(forward)?;
                continue;
            }
            let new = limited(new, old);
            let change = (new - old).abs();
            delta = if change > delta { change } else { delta };
            self.lambdas[k] = QuantWeight::from_weight(narrow(new)).0;
        }
        self.note_all();
        Ok(delta)
    }

    /// Sets the maximum and the weighted sum from scratch.
    fn note_all(&mut self) {
        (self.max, self.weight) = (i32::MIN, 0);
        let order = i32::from(self.order);
        for ((&lambda, &count), &exponent) in
            self.lambdas.iter().zip(&self.counts).zip(&self.exponents)
        {
            self.max = self.max.max(exponent + order * i32::from(lambda));
            self.weight += u64::from(lambda) * u64::from(count);
        }
    }

    /// Puts the weights back into their slots.
    fn store(&self, weights: &mut Weights) {
        for (&at, &lambda) in self.slots.iter().zip(&self.lambdas) {
            weights.slots_mut()[at as usize].lambda = lambda;
        }
    }
}

/// Probability mass of each medium under the model (spec model 7.5).
pub fn class_masses(state: &LearningState, weights: &Weights, log_partition: f64) -> [f64; MEDIA] {
    let mut masses = [1.0 / 16.0; MEDIA];
    let order = state.max_order;
    let mut exponentials = StepExponentials::default();
    let only_medium = state.only_medium();
    for (cell, slot) in state.table.cells().zip(weights.slots()) {
        if slot.lambda > 0 && !cell.is_empty() {
            let steps = exponent(order, *slot);
            let rise = i32::from(order) * i32::from(slot.lambda);
            let medium = only_medium.unwrap_or_else(|| state.medium(&cell));
            masses[medium.index()] += exponentials.get(steps + rise) - exponentials.get(steps);
        }
    }
    masses.map(|mass| mass * exp(-log_partition))
}
