// SPDX-License-Identifier: GPL-3.0-or-later
//! Document statistics, as learning measures them and a category file stores them.

/// Document statistics of a model; all 0 where they could not be measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// Mean entropy of a document, nats a token.
    pub shannon: f64,
    /// Variance of that entropy.
    pub shannon_variance: f64,
    /// Shape of the gamma distribution of divergences.
    pub alpha: f64,
    /// Scale of that distribution.
    pub beta: f64,
    /// Mean divergence, nats.
    pub mu: f64,
    /// Variance of the divergence.
    pub variance: f64,
}
