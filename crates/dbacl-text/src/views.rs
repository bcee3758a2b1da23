// SPDX-License-Identifier: GPL-3.0-or-later
//! Views of a text, each with categories of its own → one judgement.
//!
//! ```text
//! text ─┬→ words ──────→ categories ─→ probabilities ─┬→ mean of logarithms, times a scale ─→ ...
//!       └→ characters ─→ categories ─→ probabilities ─┘
//! ```
//!
//! Each view has been calibrated by itself. If both said the same, the mean of the logarithms would
//! be right as it is; if they knew nothing of each other, their sum would be. The scale, from 1 to
//! the number of views, is the one under which documents that were held out are most probable.
//!
//! Where the calibrations rest on labels that were guessed, what the views say together is too
//! sure: the logarithms of the probabilities are then divided by a temperature.

use dbacl_numeric::elementary::{exp, log};

/// Probabilities below this are taken for it, so that no view can rule out a label.
const SMALLEST: f64 = 1e-12;
/// The highest temperature.
const HOTTEST: f64 = 10.0;

/// What several views say together: `views` are the probabilities that each finds. A view that
/// finds nothing has none that are numbers, and is left out; `None` if all are.
pub fn combine<V: AsRef<[f64]>>(views: &[V], scale: f64) -> Option<Vec<f64>> {
    let is_telling = |view: &&[f64]| view.iter().all(|one| one.is_finite());
    let telling: Vec<&[f64]> = views.iter().map(V::as_ref).filter(is_telling).collect();
    match telling.as_slice() {
        [] => None,
        // What one view says by itself is calibrated.
        [only] => Some(only.to_vec()),
        several => Some(shares(&means(several), scale)),
    }
}

/// The probabilities after their logarithms have been divided by `temperature`; at 1 they stay as
/// they are. Those that are less than [`SMALLEST`] are taken for it.
pub fn cooled(probabilities: Vec<f64>, temperature: f64) -> Vec<f64> {
    if temperature == 1.0 {
        return probabilities;
    }
    shares(&means(&[&probabilities]), 1.0 / temperature)
}

/// The temperature, from 1 to 10, at which these documents are most probable, given by the
/// probabilities that were found and by the number of their label. Two decimals, as it is written.
pub fn temperature(documents: &[(Vec<f64>, u32)]) -> f64 {
    let scores: Vec<f64> = documents.iter().flat_map(|(found, _)| means(&[found])).collect();
    let labels: Vec<u32> = documents.iter().map(|&(_, label)| label).collect();
    let best = 1.0 / dbacl::temperature(&scores, &labels);
    (100.0 * best.clamp(1.0, HOTTEST)).round() / 100.0
}

/// The means of the logarithms of what each view finds.
fn means<V: AsRef<[f64]>>(views: &[V]) -> Vec<f64> {
    let labels = views.first().map_or(0, |view| view.as_ref().len());
    #[allow(clippy::cast_precision_loss)] // a number of views
    let number = views.len() as f64;
    let mean = |label: usize| {
        let logarithms = views.iter().map(|view| log(view.as_ref()[label].max(SMALLEST)));
        logarithms.sum::<f64>() / number
    };
    (0..labels).map(mean).collect()
}

/// Probabilities proportional to `exp(scale * score)`.
fn shares(scores: &[f64], scale: f64) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = scores.iter().map(|score| exp(scale * (score - highest))).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|part| part / sum).collect()
}

/// The scale of these documents, given by what each view finds and by the number of their label;
/// two decimals, as it is written.
pub fn scale<V: AsRef<[f64]>>(documents: &[(Vec<V>, u32)]) -> f64 {
    let most = documents.first().map_or(1, |(views, _)| views.len());
    let scores: Vec<f64> = documents.iter().flat_map(|(views, _)| means(views)).collect();
    let labels: Vec<u32> = documents.iter().map(|&(_, label)| label).collect();
    let best = dbacl::temperature(&scores, &labels);
    #[allow(clippy::cast_precision_loss)] // a number of views
    let scale = best.clamp(1.0, most as f64);
    (100.0 * scale).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_that_agree_are_surer_than_each() {
        let views = [vec![0.8, 0.2], vec![0.6, 0.4]];
        let both = combine(&views, 2.0).unwrap();
        // odds of 4 times 1.5
        assert!((both[0] - 6.0 / 7.0).abs() < 1e-12 && (both[0] + both[1] - 1.0).abs() < 1e-12);
        let same = combine(&[views[0].clone(), views[0].clone()], 1.0).unwrap();
        assert!((same[0] - 0.8).abs() < 1e-12);
    }

    #[test]
    fn views_that_find_nothing_are_left_out() {
        let silent = vec![f64::NAN, f64::NAN];
        assert_eq!(combine(&[silent.clone(), vec![0.7, 0.3]], 1.5), Some(vec![0.7, 0.3]));
        assert_eq!(combine(&[silent.clone(), silent], 1.5), None);
        let certain = combine(&[vec![1.0, 0.0], vec![0.0, 1.0]], 1.5).unwrap();
        assert_eq!(certain, [0.5, 0.5]);
    }

    #[test]
    fn the_temperature_makes_claims_true() {
        // Nine of ten are right, and all are claimed with 99 %.
        let sure = |right: u32| (vec![0.99, 0.01], 1 - right);
        let claims: Vec<(Vec<f64>, u32)> =
            (0..100).map(|at| sure(u32::from(at % 10 > 0))).collect();
        let found = temperature(&claims);
        // The odds of 99 become those of 9.
        assert!((found - 99f64.ln() / 9f64.ln()).abs() < 0.01, "{found}");
        let cool = cooled(vec![0.99, 0.01], found);
        assert!((cool[0] - 0.9).abs() < 0.002 && (cool[0] + cool[1] - 1.0).abs() < 1e-12);
        assert_eq!(cooled(vec![0.99, 0.0], 1.0), [0.99, 0.0]);

        let right: Vec<(Vec<f64>, u32)> = (0..100).map(|_| sure(1)).collect();
        let wrong: Vec<(Vec<f64>, u32)> = (0..100).map(|_| sure(0)).collect();
        assert_eq!((temperature(&right), temperature(&wrong), temperature(&[])), (1.0, 10.0, 1.0));
    }

    #[test]
    fn the_scale_lies_between_one_and_the_number_of_views() {
        let (sure, torn) = (vec![0.9, 0.1], vec![0.5, 0.5]);
        // Right in nine of ten cases, as both views say.
        let same: Vec<(Vec<&Vec<f64>>, u32)> =
            (0..50).map(|at| (vec![&sure, &sure], u32::from(at % 10 == 0))).collect();
        assert_eq!(scale(&same), 1.0);
        // Always right although one view cannot tell.
        let right: Vec<(Vec<&Vec<f64>>, u32)> = (0..50).map(|_| (vec![&sure, &torn], 0)).collect();
        assert_eq!(scale(&right), 2.0);
        assert_eq!(scale::<Vec<f64>>(&[]), 1.0);
    }
}
