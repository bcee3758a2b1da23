// SPDX-License-Identifier: GPL-3.0-or-later
//! The features of one order in hash order, in columns: what a round of the fit and the sums read.

use super::round::in_fixed_point;
use super::state::LearningState;
use super::weights::{SlotWeights, Weights};
use crate::memory::with_memory;
use crate::numeric::elementary::log;
use crate::numeric::logarithms::CountLogs;
use crate::numeric::quantize::QuantWeight;

/// What the features of an order are measured by.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The order R.
    pub order: u8,
    /// Occurrences of the order.
    pub total: u32,
    /// Features counted that often or less get no weight.
    pub cut: u32,
}

/// Features of an order. Weights are in steps of 1/32 nat.
#[derive(Debug, Clone)]
pub struct Features {
    /// The order R.
    pub order: u8,
    /// Occurrences.
    pub counts: Vec<u32>,
    /// `R s + d`, for the suffix sum s and the log reference weight d.
    pub exponents: Vec<i32>,
    /// Suffix sums s.
    pub suffixes: Vec<u16>,
    /// `(log count - log total - d) / R - s` in fixed point.
    pub pulls: Vec<i32>,
    /// Weights l.
    pub lambdas: Vec<u16>,
    /// Whether all bases are finite.
    pub is_finite: bool,
    log_total: f64,
    cut: u32,
    logs: CountLogs,
}

impl Features {
    /// No features yet.
    pub fn new(scale: Scale) -> Self {
        let mut features = Self {
            order: 0,
            counts: Vec::new(),
            exponents: Vec::new(),
            suffixes: Vec::new(),
            pulls: Vec::new(),
            lambdas: Vec::new(),
            is_finite: true,
            log_total: 0.0,
            cut: 0,
            logs: CountLogs::default(),
        };
        features.start(scale);
        features
    }

    /// No features, with room for `length` of them.
    pub fn with_room(length: usize, scale: Scale) -> Self {
        Self {
            counts: with_memory(length),
            exponents: with_memory(length),
            suffixes: with_memory(length),
            pulls: with_memory(length),
            lambdas: with_memory(length),
            ..Self::new(scale)
        }
    }

    /// Forgets all features; others of another scale are to come.
    pub fn start(&mut self, scale: Scale) {
        self.counts.clear();
        self.exponents.clear();
        self.suffixes.clear();
        self.pulls.clear();
        self.lambdas.clear();
        self.is_finite = true;
        self.order = scale.order;
        self.log_total = log(f64::from(scale.total));
        self.cut = scale.cut;
    }

    /// Takes the features in `slots`.
    pub fn gather(&mut self, state: &LearningState, weights: &Weights, slots: &[u32]) {
        for &at in slots {
            self.push(state.table.count(at as usize), weights.slots()[at as usize]);
        }
    }

    /// Adds a feature.
    #[inline]
    pub fn push(&mut self, count: u32, slot: SlotWeights) {
        let SlotWeights { lambda, suffix, reference } = slot;
        let base = self.base(count, reference);
        self.is_finite &= base.is_finite();
        let pull = if count > self.cut { base - f64::from(suffix) / 32.0 } else { f64::MIN };
        self.counts.push(count);
        self.exponents.push(slot.exponent(self.order));
        self.suffixes.push(suffix);
        self.pulls.push(in_fixed_point(pull));
        self.lambdas.push(lambda);
    }

    /// `(log count - log total - d) / R`, nats.
    #[inline]
    fn base(&mut self, count: u32, reference: u16) -> f64 {
        let log_reference = f64::from(QuantWeight(reference).log_probability());
        (self.logs.of(f64::from(count)) - self.log_total - log_reference) / f64::from(self.order)
    }

    /// The weight that the feature at `k` asks for under the log-partition `z`, nats.
    #[inline]
    pub fn wanted(&mut self, k: usize, z: f64) -> f64 {
        let (count, suffix) = (self.counts[k], self.suffixes[k]);
        if count <= self.cut {
            return 0.0;
        }
        let reference = i32::from(self.order) * i32::from(suffix) - self.exponents[k];
        let reference = u16::try_from(reference).expect("it was stored in 16 bits");
        self.base(count, reference) + z - f64::from(suffix) / 32.0
    }

    /// The largest `R l + R s + d`, steps.
    pub fn max(&self) -> i32 {
        let order = i32::from(self.order);
        let items = self.exponents.iter().zip(&self.lambdas);
        let reach = items.map(|(&exponent, &lambda)| exponent + order * i32::from(lambda));
        reach.max().unwrap_or(i32::MIN)
    }
}
