// SPDX-License-Identifier: GPL-3.0-or-later
//! Predictions of many texts → the shares that the labels have among them, and predictions that
//! know these shares.
//!
//! Where labels have other shares than in training, short texts drown in those of training. The
//! shares q of a batch are found by expectation and maximisation (Saerens, Latinne and Decaestecker
//! 2002):
//!
//! ```text
//! p'_k ∝ p_k q_k / prior_k        q_k = (sum of p'_k + A prior_k) / (N + A)
//! ```

use dbacl_numeric::elementary::real;

/// Texts with the shares of training that are added, so that a few texts change little.
const ADDED: f64 = 10.0;
/// Rounds at most, and the change of a share below which they end.
const ROUNDS: usize = 200;
const NEAR: f64 = 1e-6;

/// The shares of labels among texts with these probabilities; `priors` are the shares of training.
pub(super) fn shares<'a>(
    predictions: &(impl Iterator<Item = &'a [f64]> + Clone),
    priors: &[f64],
) -> Vec<f64> {
    let mut shares = priors.to_vec();
    let mut own = vec![0.0; priors.len()];
    for _ in 0..ROUNDS {
        let mut next: Vec<f64> = priors.iter().map(|prior| ADDED * prior).collect();
        let mut number = 0usize;
        for prediction in predictions.clone() {
            number += 1;
            own.copy_from_slice(prediction);
            apply(&mut own, &shares, priors);
            next.iter_mut().zip(&own).for_each(|(sum, p)| *sum += p);
        }
        for share in &mut next {
            *share /= real(number) + ADDED;
        }
        let change = shares.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        shares = next;
        if change < NEAR {
            break;
        }
    }
    shares
}

/// Makes probabilities those of a text from among texts with other shares than in training.
pub(super) fn apply(probabilities: &mut [f64], shares: &[f64], priors: &[f64]) {
    let mut sum = 0.0;
    for (p, (share, prior)) in probabilities.iter_mut().zip(shares.iter().zip(priors)) {
        // Every label has documents, but for files of others.
        *p *= share / prior.max(f64::MIN_POSITIVE);
        sum += *p;
    }
    if sum > 0.0 {
        for p in probabilities {
            *p /= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_texts() {
        let priors = [0.8, 0.2];
        // A text of the first label shows a sign in 9 of 10 cases, one of the second in 3 of 10.
        let posterior =
            |[a, b]: [f64; 2]| [a * 0.8 / (a * 0.8 + b * 0.2), b * 0.2 / (a * 0.8 + b * 0.2)];
        let (with, without) = (posterior([0.9, 0.3]), posterior([0.1, 0.7]));
        // With equal shares the sign is in 6 of 10 texts.
        let texts = [[with; 6].as_slice(), &[without; 4]].concat().repeat(400);
        let found = shares(&texts.iter().map(<[f64; 2]>::as_slice), &priors);
        assert!((found[0] - 0.5).abs() < 0.01, "{found:?}");
        let mut own = without;
        apply(&mut own, &found, &priors);
        assert!((own[1] - 0.875).abs() < 0.01, "{own:?}");
        // One text alone changes little, and none nothing.
        let one = shares(&std::iter::once(without.as_slice()), &priors);
        assert!((one[0] - 0.8).abs() < 0.06, "{one:?}");
        assert_eq!(shares(&std::iter::empty(), &priors), priors);
    }
}
