// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights of a model by slot, beside the count table.

use super::state::LearningState;
use super::{Preload, Progress};
use crate::alloc_hints::with_memory;
use dbacl_numeric::quantize::QuantWeight;

/// The data of the fit for one slot, in stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlotWeights {
    /// The weight λ.
    pub lambda: u16,
    /// Suffix sum: the weights of the feature's proper suffixes, u16 wrapping as in dbacl 1.14.1.
    pub suffix: u16,
    /// The reference weight: minus the reference log-probability.
    pub reference: u16,
}

impl SlotWeights {
    /// `R s + d` for order R, with d the log reference weight; in steps of 1/32 nat.
    #[inline]
    pub fn exponent(self, order: u8) -> i32 {
        i32::from(order) * i32::from(self.suffix) - i32::from(self.reference)
    }
}

/// Weights by slot; as long as the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights(Vec<SlotWeights>);

impl Weights {
    /// Weights before the fit. They are all 0, but suffix sums and reference weights hold traces of
    /// the occurrence counters, with which they share memory in dbacl 1.14.1; the traces remain
    /// where the fit sets neither (spec model 7.4).
    pub fn new(state: &LearningState) -> Self {
        let mut weights = with_memory(state.table.size());
        weights.resize(state.table.size(), SlotWeights::default());
        if state.measures_entropy() {
            for (at, slot) in weights.iter_mut().enumerate() {
                let occurrences = state.table.spread(at).occurrences;
                slot.suffix = (occurrences & 0xffff) as u16;
                slot.reference = (occurrences >> 16) as u16;
            }
        }
        Self(weights)
    }

    /// Starts from the weights of an earlier file (spec model 7.6). A weight whose feature is not
    /// in the table goes to the empty slot where the search for it ends.
    pub fn preload(
        &mut self,
        state: &LearningState,
        preload: &Preload,
        progress: &mut Progress<'_>,
    ) {
        progress.say(|| format!("preloading {} token weights", preload.weights.len()));
        for &(id, weight) in &preload.weights {
            if let Some(at) = state.table.find(id) {
                self.0[at].lambda = weight.0;
            }
        }
    }

    /// The slots in order.
    pub fn slots(&self) -> &[SlotWeights] {
        &self.0
    }

    /// The slots in order, to change.
    pub fn slots_mut(&mut self) -> &mut [SlotWeights] {
        &mut self.0
    }

    /// Sets the weights at `slots`, in steps of 1/32 nat.
    pub fn store(
        &mut self,
        slots: impl Iterator<Item = usize>,
        lambdas: impl Iterator<Item = u16>,
    ) {
        for (at, lambda) in slots.zip(lambdas) {
            self.0[at].lambda = lambda;
        }
    }

    /// The weight at a slot, nats.
    pub fn lambda_nats(&self, at: usize) -> f64 {
        f64::from(QuantWeight(self.0[at].lambda).weight())
    }

    /// The reference log-probability at a slot, nats.
    pub fn log_reference(&self, at: usize) -> f64 {
        f64::from(QuantWeight(self.0[at].reference).log_probability())
    }
}
