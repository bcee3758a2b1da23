// SPDX-License-Identifier: GPL-3.0-or-later
//! How sure a verdict is: p-values of divergences (`-X`) and the normal approximation of scores
//! (`-U`), spec model 13.

use super::document::{CategoryScore, best};
use crate::model::moments::Moments;
use dbacl_numeric::elementary::exp;
use dbacl_numeric::special::{igamc, ndtr};

/// The two-sided p-value in thousandths, 0 to 1000, of the hypothesis that a document of this
/// divergence belongs to a category with these moments, and the note of an underflow, which dbacl
/// 1.14.1 prints among its results.
pub(crate) fn confidence(divergence: f64, moments: &Moments) -> (i32, Option<&'static str>) {
    let Moments { alpha, beta, .. } = *moments;
    if divergence <= 0.0 || alpha <= 0.0 || beta <= 0.0 || divergence > 120.0 {
        return (0, None);
    }
    let integral = igamc(alpha, divergence / beta);
    let m = integral.value;
    #[allow(clippy::cast_possible_truncation)] // 0..=1000; NaN becomes 0
    let permille = (2000.0 * if m > 0.5 { 1.0 - m } else { m }) as i32;
    (permille, integral.underflow)
}

/// Nodes and weights of the quadrature, from the most negative node up.
const NODES: [(f64, f64); 10] = [
    (-3.4361591188, 1.0254516913),
    (-2.5327316742, 0.8206661264),
    (-1.7566836492, 0.7414419319),
    (-1.0366108297, 0.7032963231),
    (-0.3429013272, 0.6870818539),
    (0.3429013272, 0.6870818539),
    (1.0366108297, 0.7032963231),
    (1.7566836492, 0.7414419319),
    (2.5327316742, 0.8206661264),
    (3.4361591188, 1.0254516913),
];

/// Certainty of the verdict in percent: how far the best category's score is below all others,
/// measured by their deviations. `None` where that is not a number.
pub(crate) fn certainty(category_scores: &[CategoryScore]) -> Option<i32> {
    let mu: Vec<f64> =
        category_scores.iter().map(|category_score| -category_score.mean()).collect();
    let sigma: Vec<f64> = category_scores.iter().map(CategoryScore::deviation).collect();
    // Probability that category k has the smallest score.
    let smallest = |k: usize| {
        let root = sigma[k] * core::f64::consts::SQRT_2;
        let mut p = 0.0;
        for (x, w) in NODES {
            let mut g = exp(-x * x);
            for j in 0..mu.len() {
                if !(g > 0.01) {
                    break;
                }
                if j != k {
                    g *= 1.0 - ndtr(((mu[k] + x * root) - mu[j]) / sigma[j]);
                }
            }
            p += w * g;
        }
        p * std::f64::consts::FRAC_2_SQRT_PI / 2.0
    };
    let mut total = 0.0;
    for k in 0..mu.len() {
        total += smallest(k);
    }
    let u = 2.0 * smallest(best(category_scores)) / total - 1.0;
    #[allow(clippy::cast_possible_truncation)] // a percentage
    u.is_finite().then(|| (u * 100.0).ceil() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_percent_count_as_one() {
        let category_score = |score| CategoryScore {
            score,
            complexity: 1.0,
            variance: 1.0,
            ..CategoryScore::default()
        };
        let of = |scores: [f64; 2]| certainty(&scores.map(category_score));
        assert_eq!(of([-10.0, -10.001]), Some(1));
        assert_eq!(of([-10.0, -100.0]), Some(100));
    }
}
