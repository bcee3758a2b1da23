// SPDX-License-Identifier: GPL-3.0-or-later
//! The maximum-entropy fit: computes weights from counts, one order after the other (spec model 7).
//!
//! The weights of an order change in groups (`Groups`). All weights lie on a grid of 1/32, so sums
//! of weights and maxima are integers and exact in any order; only the sum of exponentials runs as
//! specified, over all features, with one term a group.

use super::groups::{Groups, Scale};
use super::orders::Orders;
use super::prepare::{Preparation, words};
use super::round::{Change, round};
use super::state::LearningState;
use super::table::{FAR_AHEAD, Place};
use super::tokens::TokenList;
use super::weights::SlotWeights;
use super::{LearnSettings, Preload, Progress};
use crate::error::{Error, Result};
use crate::model::digram::DigramTable;
use crate::model::medium::MEDIA;
use crate::model::settings::ModelOption;
use crate::token::id::FeatureId;
use dbacl_numeric::cformat::fixed_text;
use dbacl_numeric::elementary::{exp, log};
use dbacl_numeric::exponentials::{Exponentials, StepExponentials};

/// The results of the fit besides the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fitted {
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
}

/// Fits the weights of all orders.
///
/// # Errors
/// [`Error::Numeric`] when the log-partition leaves the range of numbers.
pub(crate) fn fit(
    state: &mut LearningState,
    settings: &LearnSettings,
    digrams: &DigramTable,
    preload: Option<&Preload>,
    progress: &mut Progress<'_>,
) -> Result<Fitted> {
    let tolerances = Tolerances::of(settings.quality, preload.is_some());
    let multinomial = state.is_multinomial();
    let highest = if multinomial { 1 } else { state.max_order };
    let several = tolerances.several_passes && !multinomial && state.max_order != 1;
    // Damaged counts may have a highest order of 0.
    let orders = Orders::of(&state.table, state.max_order.max(highest));
    let preparation =
        Preparation::new(state, digrams, &orders, (highest, several), preload, progress);
    let (total_of, cut) = (state.total_of, cut_off(state.min_count, state.max_count));
    let scale_of =
        |order| Scale { order, total: total_of[usize::from(order)].into(), cut: cut.into() };
    let room = (1..=highest).map(|order| orders.length(order)).max().unwrap_or(0);
    let mut groups = Groups::with_room(room, scale_of(1));
    let mut exponentials = Exponentials::default();
    let mut fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
    let mut previous = 0.0;
    let mut forward = true;
    progress.say(|| "now maximizing model entropy".into());
    for _ in 0..if several { 50 } else { 1 } {
        // Sum of weight times count over the orders below, steps; exact.
        let mut weight_of_lower = 0;
        let mut reach = Reach::default();
        reach.note(orders.slots(0).map(|at| state.table.weights(at)));
        for order in 1..=highest {
            let slots = orders.slots(order);
            groups.start(scale_of(order));
            preparation.prepare(state, order, slots.clone(), &mut groups);
            let lower = orders.slots_of(0..order).map(|at| state.table.weights(at));
            let log_below = lower_orders(lower, order, &reach, &mut exponentials);
            let occurrences = state.total_of[usize::from(order)];
            let total = f64::from(occurrences);
            let extra = if order == 1 { 0.0 } else { steps_to_nats(weight_of_lower) / total };
            if state.options.has(ModelOption::ReferenceOnly) {
                preparation.pass_over(state, orders.slots_of(2..highest + 1));
                break;
            }
            progress.say(|| {
                let unique = state.unique[usize::from(order)];
                let kappa = fixed_text(kappa(state, &preparation, order), 0, 6);
                format!(
                    "* optimizing order {order} weights ({occurrences} tokens, {unique} unique, \
                     kappa = {kappa})"
                )
            });
            let suffixes = || slots.clone().map(|at| state.table.weights(at).suffix);
            let mut sums = OrderFit::new(&mut groups, total, log_below, &mut exponentials);
            fitted = sums.optimize(&tolerances, extra, suffixes, &mut forward, progress)?;
            weight_of_lower += sums.weight;
            for (at, lambda) in slots.zip(groups.lambdas()) {
                state.table.prefetch_slot(at + FAR_AHEAD);
                let weights = SlotWeights { lambda, ..state.table.weights(at) };
                state.table.set_weights(at, weights);
                if order < highest {
                    reach.note(std::iter::once(weights));
                }
            }
        }
        if (1.0 - previous / fitted.log_partition).abs() < 0.01 {
            break;
        }
        previous = fitted.log_partition;
    }
    Ok(fitted)
}

/// Features with this count or a lower one get no weight (spec model 7.2).
#[allow(clippy::cast_sign_loss)] // wraps on purpose, as dbacl 1.14.1 does
pub(super) const fn cut_off(min_count: i32, max_count: u32) -> u32 {
    if min_count >= 0 { min_count as u32 } else { (min_count as u32).wrapping_add(max_count) }
}

/// By order R, the largest `R l + R s + d` of weighty features of the orders fitted so far, steps;
/// at least 0.
#[derive(Debug, Default)]
struct Reach([i32; 8]);

impl Reach {
    /// Updates the reach with these features.
    #[inline]
    pub(super) fn note(&mut self, slots: impl Iterator<Item = SlotWeights>) {
        for SlotWeights { lambda, suffix, reference } in slots {
            if lambda == 0 {
                continue;
            }
            let rise = i32::from(lambda) + i32::from(suffix);
            for (order, max) in (0..).zip(&mut self.0) {
                *max = (*max).max(order * rise - i32::from(reference));
            }
        }
    }
}

/// Log mass of everything below `order`, the features `lower`: maximum first, then the sum in their
/// order. As in dbacl 1.14.1, the sum starts from 1 and not from exp(-max).
fn lower_orders(
    lower: impl Iterator<Item = SlotWeights>,
    order: u8,
    reach: &Reach,
    exponentials: &mut Exponentials,
) -> f64 {
    if order <= 1 {
        return 0.0;
    }
    let max = f64::from(reach.0[usize::from(order)]) / 32.0;
    exponentials.set_shift(max);
    let lower = lower.filter(|slot| slot.lambda > 0);
    let lower = lower.map(|slot| (slot.exponent(order), i32::from(order) * i32::from(slot.lambda)));
    let mut g = 1.0f64;
    exponentials.differences(lower, |term| g += term);
    max + log(g)
}

/// Whole steps of 1/32 nat, below 2^53 of them, as nats; exact.
#[allow(clippy::cast_precision_loss)]
fn steps_to_nats(steps: u64) -> f64 {
    steps as f64 / 32.0
}

/// Mass of the reference measure on the features of up to `order`, in order of first appearance;
/// shown in progress texts only.
fn kappa(state: &LearningState, preparation: &Preparation<'_>, order: u8) -> f64 {
    let (table, mut kappa) = (&state.table, 0.0);
    if let TokenList::Terms(list) = &state.tokens
        && !state.is_multinomial()
    {
        // These features are sorted by their numbers of words.
        let mut exponentials = StepExponentials::default();
        for at in list.ids.iter().filter_map(|&id| table.place(id).found()) {
            if table.cell(at).head.order() <= order {
                kappa += exponentials.get(-i32::from(table.weights(at).reference));
            }
        }
        return kappa;
    }
    state.tokens.for_each(preparation.counted(table), |body, medium| {
        if let Place::Found(at) = table.place(FeatureId::of(body, medium)) {
            let of = table.cell(at).head.order();
            if words(body) == usize::from(of) && of <= order {
                kappa += exp(table.weights(at).log_reference());
            }
        }
    });
    kappa
}

/// The fit of one order.
pub(super) struct OrderFit<'a> {
    groups: &'a mut Groups,
    /// Log mass of everything below the order, nats.
    log_below: f64,
    /// Occurrences of the order.
    total: f64,
    /// Largest `R l + R s + d`, steps.
    max: i32,
    /// Sum of weight times count, steps; as of the last log-partition.
    pub(super) weight: u64,
    exponentials: &'a mut Exponentials,
    /// What a member of each group adds to the sum of exponentials.
    terms: Vec<f64>,
    /// The weights of the groups before the round that is under way.
    before: Vec<u16>,
}

impl<'a> OrderFit<'a> {
    pub(super) fn new(
        groups: &'a mut Groups,
        total: f64,
        log_below: f64,
        exponentials: &'a mut Exponentials,
    ) -> Self {
        groups.count();
        let max = groups.max();
        let (terms, before) = (Vec::new(), Vec::new());
        Self { groups, log_below, total, max, weight: 0, exponentials, terms, before }
    }

    /// Moves the weights until they change little. `extra` is the divergence that the lower orders
    /// add, nats; `suffixes` has the suffix sums of all features in their order, in which sums run
    /// to and fro.
    pub(super) fn optimize<I: Iterator<Item = u16>>(
        &mut self,
        tolerances: &Tolerances,
        extra: f64,
        suffixes: impl Fn() -> I + Copy,
        forward: &mut bool,
        progress: &mut Progress<'_>,
    ) -> Result<Fitted> {
        let is_heard = progress.is_heard();
        let is_enough = |change: Change| {
            !is_heard && (change.least > tolerances.lambda || change.most <= tolerances.lambda)
        };
        let mut z = self.log_partition(*forward)?;
        let mut divergence = self.divergence(z);
        *forward = !*forward;
        for _ in 0..50 {
            let (old_z, old_divergence) = (z, divergence);
            let moved = round(self.groups, &mut self.before, z, suffixes, is_enough);
            self.max = moved.max;
            let delta = moved.change.most;
            z = self.log_partition(*forward)?;
            divergence = self.divergence(z);
            *forward = !*forward;
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
            // Another round follows if this one changed much.
            if !(change > tolerances.divergence
                || delta > tolerances.lambda
                || (z - old_z).abs() > tolerances.log_partition)
            {
                break;
            }
        }
        Ok(Fitted { log_partition: z, divergence: divergence + extra })
    }

    /// log Z divided by the order, nats. The sum runs over the slots of the table from the first to
    /// the last if `forward`, else from the last to the first.
    fn log_partition(&mut self, forward: bool) -> Result<f64> {
        let max = f64::from(self.max) / 32.0;
        let m = if max > self.log_below { max } else { self.log_below };
        self.exponentials.set_shift(m);
        let order = i32::from(self.groups.scale.order);
        let list = &self.groups.list;
        let items = list.iter().map(|group| (group.exponent, order * i32::from(group.lambda)));
        self.terms.clear();
        self.terms.reserve(list.len());
        self.exponentials.differences(items, |term| self.terms.push(term));
        let mut sum = exp(self.log_below - m);
        let mut add = |&group: &u32| sum += self.terms[group as usize];
        if forward {
            self.groups.members.iter().for_each(&mut add);
        } else {
            self.groups.members.iter().rev().for_each(&mut add);
        }
        self.weight = self.groups.weight();
        let z = (m + log(sum)) / f64::from(order);
        if z.is_nan() {
            return Err(Error::Numeric("sorry, partition function went kaboom.".into()));
        }
        Ok(z)
    }

    /// Divergence of this order from the reference measure, nats.
    fn divergence(&self, z: f64) -> f64 {
        -z + steps_to_nats(self.weight) / self.total
    }
}

/// Probability mass of each medium under the model (spec model 7.5).
pub(crate) fn class_masses(state: &LearningState, log_partition: f64) -> [f64; MEDIA] {
    let table = &state.table;
    let slots = (0..table.size()).map(|at| (at, table.weights(at)));
    let (order, mut masses) = (state.max_order, [1.0 / 16.0; MEDIA]);
    let mut exponentials = StepExponentials::default();
    for (at, slot) in slots.filter(|&(at, slot)| slot.lambda > 0 && table.cell(at).id.0 != 0) {
        let steps = slot.exponent(order);
        let rise = i32::from(order) * i32::from(slot.lambda);
        masses[table.medium(at).index()] +=
            exponentials.get(steps + rise) - exponentials.get(steps);
    }
    masses.map(|mass| mass * exp(-log_partition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::ModelOptions;

    #[test]
    fn counts_with_a_highest_order_of_zero_are_fitted() {
        let options = ModelOptions::default().with(ModelOption::Multinomial);
        let settings = LearnSettings::plain(3, None, options);
        let mut state = LearningState::new(&settings);
        assert_eq!(state.max_order, 0);
        let digrams = DigramTable::zero();
        let fitted = fit(&mut state, &settings, &digrams, None, &mut Progress::silent());
        assert!(fitted.is_ok());
    }
}
