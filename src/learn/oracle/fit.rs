// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit, formula by formula (spec model 7).

use super::LiteralState;
use super::table::Slot;
use crate::error::{Error, Result};
use crate::learn::LearnSettings;
use crate::learn::fit::{Fitted, Tolerances, cut_off};
use crate::learn::prepare::words;
use crate::learn::tokens::tokens_in;
use crate::model::digram::DigramTable;
use crate::model::settings::ModelOption;
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{exp, log, narrow};
use dbacl_numeric::quantize::QuantWeight;

/// Weight of a slot in nats, widened.
fn lambda(slot: &Slot) -> f64 {
    f64::from(QuantWeight(slot.lambda).weight())
}

/// Suffix sum of a slot in nats, widened.
fn suffix_sum(slot: &Slot) -> f64 {
    f64::from(QuantWeight((slot.shared & 0xffff) as u16).weight())
}

/// Reference log-probability of a slot in nats, widened.
fn reference(slot: &Slot) -> f64 {
    f64::from(QuantWeight((slot.shared >> 16) as u16).log_probability())
}

/// log Z divided by the order, nats, and the divergence of the order, which occurs `total` times.
fn sums(
    state: &LiteralState,
    order: u8,
    log_below: f64,
    forward: bool,
    total: f64,
) -> Result<(f64, f64)> {
    let mut slots: Vec<&Slot> = state.table.used().filter(|slot| slot.order == order).collect();
    if !forward {
        slots.reverse();
    }
    let r = f64::from(order);
    let reach = |slot: &&Slot| r * lambda(slot) + r * suffix_sum(slot) + reference(slot);
    let m = slots.iter().map(reach).fold(log_below, |m, t| if t > m { t } else { m });
    let mut sum = exp(log_below - m);
    let mut weight = 0.0;
    for slot in slots {
        let t = r * suffix_sum(slot) + reference(slot) - m;
        sum += exp(r * lambda(slot) + t) - exp(t);
        weight += lambda(slot) * f64::from(slot.count);
    }
    let z = (m + log(sum)) / r;
    if z.is_nan() {
        return Err(Error::Numeric("sorry, partition function went kaboom.".into()));
    }
    Ok((z, -z + weight / total))
}

/// Fits the weights of all orders; they end up in the table of `state`.
///
/// # Errors
/// [`Error::Numeric`] when the log-partition leaves the range of numbers.
pub(super) fn fit(
    state: &mut LiteralState,
    settings: &LearnSettings,
    digrams: &DigramTable,
) -> Result<Fitted> {
    let tolerances = Tolerances::of(settings.quality, false);
    let multinomial = state.is_multinomial();
    let orders = if multinomial { 1 } else { state.max_order };
    let several = tolerances.several_passes && !multinomial && state.max_order != 1;
    let cut = cut_off(state.min_count, state.max_count);
    let mut fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
    let mut previous = 0.0;
    let mut forward = true;
    for _ in 0..if several { 50 } else { 1 } {
        for order in 1..=orders {
            let log_below = prepare(state, digrams, order);
            let total = f64::from(state.total_of[usize::from(order)]);
            let mut extra = 0.0;
            for slot in state.table.used().filter(|slot| slot.order < order) {
                extra += lambda(slot) * f64::from(slot.count);
            }
            let extra = if order == 1 { 0.0 } else { extra / total };
            if state.options.has(ModelOption::ReferenceOnly) {
                break;
            }
            let r = f64::from(order);
            let (mut z, mut divergence) = sums(state, order, log_below, forward, total)?;
            forward = !forward;
            for _ in 0..50 {
                let (old_divergence, old_z) = (divergence, z);
                let mut delta = 0.0f64;
                for at in 0..state.table.slots.len() {
                    let slot = state.table.slots[at];
                    if slot.is_empty() || slot.order != order {
                        continue;
                    }
                    let old = lambda(&slot);
                    let new = if slot.count > cut {
                        (log(f64::from(slot.count)) - log(total) - reference(&slot)) / r + z
                            - suffix_sum(&slot)
                    } else {
                        0.0
                    };
                    if new.is_nan() {
                        z = sums(state, order, log_below, forward, total)?.0;
                        continue;
                    }
                    let new = new.clamp(old - 100.0, old + 100.0).max(0.0);
                    delta = delta.max((new - old).abs());
                    state.table.slots[at].lambda = QuantWeight::from_weight(narrow(new)).0;
                }
                (z, divergence) = sums(state, order, log_below, forward, total)?;
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
/// everything below it (spec model 7.4).
fn prepare(state: &mut LiteralState, digrams: &DigramTable, order: u8) -> f64 {
    let r = f64::from(order);
    let mut max = 0.0f64;
    let LiteralState { tokens, table, .. } = state;
    for (body, medium) in tokens_in(tokens) {
        let id = FeatureId::of(body, medium);
        let Some(&mut slot) = table.find(id) else { continue };
        if words(body) != usize::from(slot.order) || slot.order > order {
            continue;
        }
        if slot.order == order {
            let weight = QuantWeight::from_log_probability(digrams.log_reference(body)).0;
            let mut sum = 0u16;
            for start in 1..body.len().saturating_sub(1) {
                if body[start] == BOUNDARY
                    && let Some(suffix) = table.find(FeatureId::of(&body[start..], medium))
                {
                    sum = sum.wrapping_add(suffix.lambda);
                }
            }
            if let Some(slot) = table.find(id) {
                slot.shared = u32::from(weight) << 16 | u32::from(sum);
            }
        } else if slot.lambda > 0 {
            let t = r * lambda(&slot) + r * suffix_sum(&slot) + reference(&slot);
            max = if t > max { t } else { max };
        }
    }
    let mut g = 1.0f64; // dbacl 1.14.1 starts from 1, not from exp(-max)
    for slot in table.used().filter(|slot| slot.order < order && slot.lambda > 0) {
        let t = -max + r * suffix_sum(slot) + reference(slot);
        g += exp(r * lambda(slot) + t) - exp(t);
    }
    max + log(g)
}
