// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights of a feature. They stand in its slot of the count table, where the fit puts them in the
//! place of what the feature is made of.

use dbacl_numeric::quantize::QuantWeight;

/// The data of the fit for one slot, in stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SlotWeights {
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
    pub(crate) fn exponent(self, order: u8) -> i32 {
        i32::from(order) * i32::from(self.suffix) - i32::from(self.reference)
    }

    /// The weight, nats.
    pub(crate) fn lambda_nats(self) -> f64 {
        f64::from(QuantWeight(self.lambda).weight())
    }

    /// The reference log-probability, nats.
    pub(crate) fn log_reference(self) -> f64 {
        f64::from(QuantWeight(self.reference).log_probability())
    }
}
