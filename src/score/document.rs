// SPDX-License-Identifier: GPL-3.0-or-later
//! Finishing a document: entropy, divergence, variance, priors, the best category
//! (spec model 13).

use super::scorer::Scorer;
use dbacl_numeric::elementary::{count_f64, exp, log, narrow};
use dbacl_numeric::invalid::{NEGATIVE_NAN, difference, product, quotient, root, sum};

/// A document's result under one category.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CategoryScore {
    /// Log-probability of the document, nats, with the prior if one was asked for.
    pub score: f64,
    /// Complexity: effective number of tokens.
    pub complexity: f64,
    /// Empirical entropy of the document, nats a token; 0 when not measured.
    pub shannon: f64,
    /// Divergence of the document from the category, nats a token; 0 when not measured.
    pub divergence: f64,
    /// Variance of the score.
    pub variance: f64,
}

impl CategoryScore {
    /// Score per unit of complexity, nats; at most about 0.
    pub(crate) fn mean(&self) -> f64 {
        quotient(self.score, self.complexity)
    }

    /// Standard deviation of [`Self::mean`].
    pub(crate) fn deviation(&self) -> f64 {
        root(quotient(self.variance, self.complexity))
    }
}

/// Variance of a sum of `n` terms with sum `x` and sum of squares `s`.
pub(crate) fn variance(s: f64, x: f64, n: f64) -> f64 {
    // Squares are NaN where a score stayed infinite: infinity less infinity, squared.
    let s = if s.is_nan() { NEGATIVE_NAN } else { s };
    quotient(difference(product(n, s), x * x), n * (n - 1.0))
}

impl<D: AsRef<[u8]>> Scorer<D> {
    /// The results of the document scored so far. With `priors` the document's length counts as
    /// well, if every category has learned documents.
    pub(crate) fn category_scores(&mut self, priors: bool) -> Vec<CategoryScore> {
        self.settle_words();
        let priors = priors && self.models().iter().all(|model| model.documents() > 0);
        let finished = self.tallies().iter().zip(self.models()).map(|(tally, model)| {
            let mut category_score = CategoryScore {
                score: tally.score,
                complexity: tally.complexity,
                variance: variance(tally.squares, tally.score, tally.complexity),
                ..CategoryScore::default()
            };
            if self.measures_entropy() {
                let tokens = log(f64::from(narrow(tally.complexity)));
                category_score.shannon = -sum(quotient(tally.shannon, tally.complexity), -tokens);
                category_score.divergence = -sum(category_score.mean(), category_score.shannon);
            }
            if priors {
                let complexity = category_score.complexity;
                category_score.score += log_prior(model.features(), model.documents(), complexity);
            }
            category_score
        });
        finished.collect()
    }

    /// The same; ends the document.
    pub(crate) fn finish(&mut self, priors: bool) -> Vec<CategoryScore> {
        let category_scores = self.category_scores(priors);
        self.start_document();
        category_scores
    }
}

/// Log prior of a document of `complexity` tokens: Poisson, by Stirling's formula, with the
/// category's mean number of features a document.
fn log_prior(features: u64, documents: u32, complexity: f64) -> f64 {
    let lambda = count_f64(features) / f64::from(documents);
    let c = log(2.0 * core::f64::consts::PI) / 2.0;
    sum((-lambda) - c, product(complexity, 1.0 + log(lambda / complexity)))
}

/// Index of the best category: the highest score, the first of equals.
pub(crate) fn best(category_scores: &[CategoryScore]) -> usize {
    let score = |at: usize| category_scores[at].score;
    let better = |best: usize, at: usize| if score(best) < score(at) { at } else { best };
    (0..category_scores.len()).reduce(better).unwrap_or(0)
}

/// Probabilities of the categories given the document, in percent; they add up to 100.
pub(crate) fn percentages(category_scores: &[CategoryScore]) -> Vec<f64> {
    let Some(top) = category_scores.get(best(category_scores)) else { return Vec::new() };
    let odds = || category_scores.iter().map(|own| exp(own.score - top.score));
    let total = odds().fold(0.0, |sum, odds| sum + odds);
    odds().map(|odds| 100.0 * odds / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_category() {
        let scores = |values: &[f64]| -> Vec<CategoryScore> {
            values
                .iter()
                .map(|&score| CategoryScore { score, ..CategoryScore::default() })
                .collect()
        };
        assert_eq!(best(&scores(&[-2.0, -1.0, -1.0])), 1);
        assert_eq!(best(&scores(&[0.0, 0.0])), 0);
        assert_eq!(best(&scores(&[f64::NAN, 1.0])), 0);
        let shares = percentages(&scores(&[-1.0, -1.0, f64::NEG_INFINITY]));
        assert_eq!(shares, [50.0, 50.0, 0.0]);
    }

    #[test]
    fn nothing_over_nothing_has_its_sign_set() {
        assert!(variance(0.0, 0.0, 0.0).is_sign_negative());
        assert!(variance(f64::INFINITY, f64::NEG_INFINITY, 0.0).is_sign_negative());
        assert!(log_prior(3, 1, 0.0).is_sign_negative());
    }

    #[test]
    fn a_variance_below_zero_has_a_root_with_its_sign_set_on_every_machine() {
        let deviation = |variance| {
            CategoryScore { variance, complexity: 1.0, ..CategoryScore::default() }.deviation()
        };
        assert_eq!(deviation(-1e-17).to_bits(), NEGATIVE_NAN.to_bits());
        assert!(deviation(f64::NAN.copysign(1.0)).is_sign_positive());
        assert_eq!(deviation(4.0), 2.0);
    }
}
