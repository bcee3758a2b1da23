// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit, formula by formula (spec model 7).

use super::LiteralState;
use super::table::Slot;
use crate::error::{Error, Result};
use crate::learn::LearnSettings;
use crate::learn::fit::{Fitted, Tolerances, cut_off};
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use dbacl_model::digram::DigramTable;
use dbacl_model::settings::ModelOption;
use dbacl_numeric::elementary::{exp, log, narrow};
use dbacl_numeric::quantize::QuantWeight;

/// Weight of a slot in nats, widened.
fn lambda(slot: &Slot) -> f64 {
    f64::from(QuantWeight(slot.lambda).weight())
}

/// Suffix sum of a slot in nats, widened.
fn suffix_sum(slot: &Slot) -> f64 {
    f64::from(QuantWeight(slot.suffix_sum()).weight())
}

/// Reference log-probability of a slot in nats, widened.
fn reference(slot: &Slot) -> f64 {
    f64::from(QuantWeight(slot.reference()).log_probability())
}

/// Features of one order and what their sums need.
struct OrderSums<'a> {
    state: &'a LiteralState,
    order: u8,
    log_below: f64,
}

impl OrderSums<'_> {
    fn slots(&self, forward: bool) -> Box<dyn Iterator<Item = &Slot> + '_> {
        let order = self.order;
        let slots = self.state.table.used();
        if forward {
            Box::new(slots.filter(move |slot| slot.order == order))
        } else {
            Box::new(slots.rev().filter(move |slot| slot.order == order))
        }
    }

    /// log Z divided by the order, nats.
    fn log_partition(&self, forward: bool) -> Result<f64> {
        let r = f64::from(self.order);
        let mut m = self.log_below;
        for slot in self.slots(forward) {
            let t = r * lambda(slot) + r * suffix_sum(slot) + reference(slot);
            m = if t > m { t } else { m };
        }
        let mut sum = exp(self.log_below - m);
        for slot in self.slots(forward) {
            let t = r * suffix_sum(slot) + reference(slot) - m;
            sum += exp(r * lambda(slot) + t) - exp(t);
        }
        let z = (m + log(sum)) / r;
        if z.is_nan() {
            return Err(Error::Numeric("sorry, partition function went kaboom.".into()));
        }
        Ok(z)
    }

    /// Divergence of this order, nats.
    fn divergence(&self, z: f64, forward: bool, occurrences: f64) -> f64 {
        let mut t = 0.0;
        for slot in self.slots(forward) {
            t += lambda(slot) * f64::from(slot.count);
        }
        -z + t / occurrences
    }
}

/// Fits the weights of all orders; they end up in the table of `state`.
///
/// # Errors
/// [`Error::Numeric`] when the log-partition leaves the range of numbers.
pub fn fit(
    state: &mut LiteralState,
    settings: &LearnSettings,
    digrams: &DigramTable,
    preloaded: bool,
) -> Result<Fitted> {
    let tolerances = Tolerances::of(settings.quality, preloaded);
    let multinomial = state.is_multinomial();
    let orders = if multinomial { 1 } else { state.max_order };
    let several = tolerances.several_passes && !multinomial && state.max_order != 1;
    let cut = cut_off(state.min_count, state.max_count);
    let mut fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
    let mut previous = 0.0;
    let mut forward = true;
    for _ in 0..if several { 50 } else { 1 } {
        for order in 1..=orders {
            let occurrences = state.total_of[usize::from(order)];
            let log_below = prepare(state, digrams, order);
            let total = f64::from(occurrences);
            let extra = if order == 1 {
                0.0
            } else {
                let mut sum = 0.0;
                for slot in state.table.used().filter(|slot| slot.order < order) {
                    sum += lambda(slot) * f64::from(slot.count);
                }
                sum / total
            };
            if state.options.has(ModelOption::ReferenceOnly) {
                break;
            }
            let r = f64::from(order);
            let sums = |state: &LiteralState, forward: bool| -> Result<(f64, f64)> {
                let sums = OrderSums { state, order, log_below };
                let z = sums.log_partition(forward)?;
                Ok((z, sums.divergence(z, forward, total)))
            };
            let (mut z, mut divergence) = sums(state, forward)?;
            forward = !forward;
            for _ in 0..50 {
                let (old_divergence, old_z) = (divergence, z);
                let mut delta = 0.0f64;
                for at in 0..state.table.slots().len() {
                    let slot = state.table.slots()[at];
                    if slot.is_empty() || slot.order != order {
                        continue;
                    }
                    let old = lambda(&slot);
                    let mut new = if slot.count > cut {
                        (log(f64::from(slot.count)) - log(total) - reference(&slot)) / r + z
                            - suffix_sum(&slot)
                    } else {
                        0.0
                    };
                    if new.is_nan() {
                        z = OrderSums { state, order, log_below }.log_partition(forward)?;
                        continue;
                    }
                    if new > old + 100.0 {
                        new = old + 100.0;
                    } else if new < old - 100.0 {
                        new = old - 100.0;
                    }
                    if new < 0.0 {
                        new = 0.0;
                    }
                    let change = (new - old).abs();
                    delta = if change > delta { change } else { delta };
                    state.table.slots_mut()[at].lambda = QuantWeight::from_weight(narrow(new)).0;
                }
                (z, divergence) = sums(state, forward)?;
                forward = !forward;
                if !((old_divergence - divergence).abs() > tolerances.divergence
                    || delta > tolerances.lambda
                    || (z - old_z).abs() > tolerances.log_partition)
                {
                    break;
                }
            }
            fitted = Fitted { log_partition: z, divergence: divergence + extra };
        }
        if (1.0 - previous / fitted.log_partition).abs() < 0.01 {
            break;
        }
        previous = fitted.log_partition;
    }
    Ok(fitted)
}

/// Sets reference weight and suffix sum of the features of `order`; returns the log mass of
/// everything below it and kappa, the mass of the reference measure on the features
/// (spec model 7.4).
fn prepare(state: &mut LiteralState, digrams: &DigramTable, order: u8) -> f64 {
    let r = f64::from(order);
    let mut max = 0.0f64;
    let tokens = std::mem::take(&mut state.tokens);
    for (body, medium) in crate::learn::tokens::tokens_in(&tokens) {
        let Some(at) = state.table.find(FeatureId::of(body, medium)) else { continue };
        let slot = state.table.slots()[at];
        let words = memchr::memchr_iter(BOUNDARY, body).count() - 1;
        if words != usize::from(slot.order) || slot.order > order {
            continue;
        }
        if slot.order == order {
            let weight = QuantWeight::from_log_probability(digrams.log_reference(body)).0;
            let mut sum = 0u16;
            for start in 1..body.len().saturating_sub(1) {
                if body[start] == BOUNDARY
                    && let Some(at) = state.table.find(FeatureId::of(&body[start..], medium))
                {
                    sum = sum.wrapping_add(state.table.slots()[at].lambda);
                }
            }
            state.table.slots_mut()[at].set_fit_fields(weight, sum);
        } else if slot.lambda > 0 {
            let t = r * lambda(&slot) + r * suffix_sum(&slot) + reference(&slot);
            max = if t > max { t } else { max };
        }
    }
    state.tokens = tokens;
    let mut g = 1.0f64; // dbacl 1.14.1 starts from 1, not from exp(-max)
    for slot in state.table.used().filter(|slot| slot.order < order && slot.lambda > 0) {
        let t = -max + r * suffix_sum(slot) + reference(slot);
        g += exp(r * lambda(slot) + t) - exp(t);
    }
    max + log(g)
}
