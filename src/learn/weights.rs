// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights of a model by slot, beside the count table.

use super::state::LearningState;
use super::{Preload, Progress};
use crate::numeric::quantize::QuantWeight;

/// What the fit knows of each slot; all vectors are as long as the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// The weight λ, stored form.
    pub lambda: Vec<u16>,
    /// Suffix sum: the weights of the feature's proper suffixes, u16 wrapping as in the reference.
    pub suffix: Vec<u16>,
    /// The reference weight: minus the reference log-probability, stored form.
    pub reference: Vec<u16>,
}

impl Weights {
    /// Weights before the fit: all 0, but for traces of the occurrence counters, which share their
    /// memory with suffix sum and reference weight in the reference and show where the fit never
    /// sets those (spec model 7.4).
    pub fn new(state: &LearningState) -> Self {
        let size = state.table.cells().len();
        let mut weights =
            Self { lambda: vec![0; size], suffix: vec![0; size], reference: vec![0; size] };
        if state.measures_entropy() {
            for at in 0..size {
                let occurrences = state.table.spread(at).occurrences;
                weights.suffix[at] = (occurrences & 0xffff) as u16;
                weights.reference[at] = (occurrences >> 16) as u16;
            }
        }
        weights
    }

    /// Starts from the weights of an earlier file (spec model 7.6). A weight whose feature is not in
    /// the table goes to the empty slot where the search for it ends.
    pub fn preload(
        &mut self,
        state: &LearningState,
        preload: &Preload,
        progress: &mut Progress<'_>,
    ) {
        progress.say(|| format!("preloading {} token weights", preload.weights.len()));
        for &(id, weight) in &preload.weights {
            if let Some(at) = state.table.find(id) {
                self.lambda[at] = weight.0;
            }
        }
    }

    /// The weight at a slot, nats.
    pub fn lambda_nats(&self, at: usize) -> f64 {
        f64::from(QuantWeight(self.lambda[at]).weight())
    }

    /// The reference log-probability at a slot, nats.
    pub fn log_reference(&self, at: usize) -> f64 {
        f64::from(QuantWeight(self.reference[at]).log_probability())
    }
}
