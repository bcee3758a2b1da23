// SPDX-License-Identifier: GPL-3.0-or-later
//! Entropies of documents, and the gamma distribution of their divergences (spec model 8.2).

use super::fit::Fitted;
use super::state::LearningState;
use super::{LearnSettings, Progress};
use crate::model::moments::Moments;
use dbacl_numeric::cformat::{self, fixed_text};
use dbacl_numeric::elementary::{bits, count_f64, log};
use dbacl_numeric::logarithms::CountLogs;

/// The statistics of the documents in `state`. Sums run in hash order, then in the order of the
/// reservoir's places and of their tokens.
pub(crate) fn measure(
    state: &LearningState,
    settings: &LearnSettings,
    fitted: &Fitted,
    progress: &mut Progress<'_>,
) -> Moments {
    let mut moments = Moments::default();
    let n = f64::from(state.documents);
    if state.measures_entropy() && state.documents > 1 {
        moments = of_documents(n, state.negative_entropy_sum, state.squared_entropy_sum);
    } else {
        let longest = state.table.used().filter(|cell| cell.head.order() == state.max_order);
        moments.shannon = of_counts(longest.map(|cell| cell.count.into()), state.total.into());
    }
    if settings.confidence && state.documents > 0 {
        measure_divergence(&mut moments, state, fitted, n, progress);
    }
    progress.say(|| {
        let Moments { shannon, mu, variance, alpha, beta, .. } = moments;
        let [shannon, mu, variance, alpha, beta] =
            [shannon, mu, variance, alpha, beta].map(|value| fixed_text(bits(value), 0, 6));
        format!(
            "documents {} shannon {shannon} mu {mu} s2 {variance} alpha {alpha} beta {beta}",
            state.documents
        )
    });
    moments
}

/// Mean and variance of the entropies of `n` documents with these sums of negative and of squared
/// entropies.
fn of_documents(n: f64, negative_sum: f64, squared_sum: f64) -> Moments {
    Moments {
        shannon: 0.0 + -(negative_sum / n),
        shannon_variance: (n * squared_sum - negative_sum * negative_sum) / (n * (n - 1.0)),
        ..Moments::default()
    }
}

/// The entropy of a text with these counts of its longest features, and `total` occurrences of all.
fn of_counts(longest: impl Iterator<Item = u64>, total: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // the specification rounds counts to f32
    let rounded = |count: u64| f64::from(count as f32);
    let (mut e, mut logs) = (0.0f64, CountLogs::default());
    for count in longest.map(rounded) {
        e += logs.of(count) * count;
    }
    -(e / count_f64(total) - log(rounded(total)))
}

fn measure_divergence(
    moments: &mut Moments,
    state: &LearningState,
    fitted: &Fitted,
    n: f64,
    progress: &mut Progress<'_>,
) {
    let weight = |at: usize| -> f64 {
        let weights = state.table.weights(at);
        let mut weight = weights.lambda_nats();
        if state.table.cell(at).head.order() == 1 {
            weight += weights.log_reference() - fitted.log_partition;
        }
        weight
    };
    let mut mu = 0.0f64;
    for (at, cell) in state.table.cells().enumerate() {
        if state.table.weights(at).lambda > 0 && !cell.is_empty() {
            mu += weight(at) * f64::from(state.table.spread(at).share);
        }
    }
    mu /= n;
    mu = -(moments.shannon + mu);
    moments.mu = mu;
    let mut sum_of_squares = 0.0f64;
    let mut places = 0.0f64;
    for document in state.reservoir.iter().filter(|document| !document.ids.is_empty()) {
        let mut score = 0.0f64;
        for &id in &document.ids {
            let Some(at) = state.table.find(id) else { continue };
            if state.table.weights(at).lambda > 0 {
                score += weight(at);
            }
        }
        #[allow(clippy::cast_precision_loss)] // tokens of one document
        let length = document.ids.len() as f64;
        score /= length;
        score += document.entropy;
        progress.say(|| {
            let mut text = b"reservoir ( ".to_vec();
            cformat::fixed(&mut text, bits(-score), 5, 2);
            text.extend_from_slice(b" + ");
            cformat::fixed_left(&mut text, bits(document.entropy), 5, 2);
            text.extend_from_slice(format!(" )* {} ", document.ids.len()).as_bytes());
            String::from_utf8_lossy(&text).into_owned()
        });
        let deviation = -score - mu;
        sum_of_squares += deviation * deviation;
        places += 1.0;
    }
    if places > 1.0 {
        moments.variance = sum_of_squares / (places - 1.0);
        moments.alpha = mu * mu / moments.variance;
        moments.beta = moments.variance / mu;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::options::LearnOptions;
    use crate::learn::state::Sampled;
    use crate::model::settings::{ModelOption, ModelOptions};
    use crate::token::id::FeatureId;

    /// Three documents with entropies of 1, 2 and 3 nats: their variance as a sample is 1.
    #[test]
    fn variances_are_those_of_samples() {
        let mut options = ModelOptions::default();
        options.insert(ModelOption::Entropy);
        let mut state = LearningState::new(&LearnSettings::plain(5, None, options));
        state.documents = 3;
        (state.negative_entropy_sum, state.squared_entropy_sum) = (-6.0, 14.0);
        let sampled = |entropy| Sampled { ids: vec![FeatureId(1)], entropy };
        state.reservoir = [1.0, 2.0, 3.0].map(sampled).to_vec();
        let mut settings = LearnOptions::text().settings().clone();
        settings.confidence = true;
        let fitted = Fitted { log_partition: 0.0, divergence: 0.0 };
        let found = measure(&state, &settings, &fitted, &mut Progress::silent());
        assert_eq!((found.shannon, found.shannon_variance), (2.0, 1.0));
        // Without weights a document diverges by its negative entropy, and the mean is -2.
        assert_eq!((found.mu, found.variance), (-2.0, 1.0));
    }
}
