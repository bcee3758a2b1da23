// SPDX-License-Identifier: GPL-3.0-or-later
//! `test`: model and labelled documents → how well they are classified.

use super::options::{DataArguments, TestArguments};
use super::{Failure, MESSAGES, open, print, read, report, status};
use dbacl::text::TextModel;
use dbacl::text::data::Record;
use dbacl::text::{Evaluation, SeveralEvaluation};
use std::collections::HashMap;

pub(crate) fn run(arguments: &TestArguments) -> Result<(), Failure> {
    print(&measure(&open(&arguments.model)?, &arguments.data, arguments.json)?)
}

/// Classifies labelled documents, and reports how well: for people or as JSON.
pub(crate) fn measure(
    model: &TextModel,
    data: &DataArguments,
    is_json: bool,
) -> Result<String, Failure> {
    let (path, labels) = (&data.data, model.labels());
    let numbers: HashMap<&str, usize> =
        labels.iter().enumerate().map(|(number, label)| (label.as_str(), number)).collect();
    let mut predictor = model.predictor();
    // Counts of confusions grow with the square of the labels; a model with several needs none.
    let labels_of_one = if model.has_several() { 0 } else { labels.len() };
    let mut one = Evaluation::new(labels_of_one);
    let mut several = SeveralEvaluation::new(labels.len());
    let mut unknown: Option<(String, u64)> = None;
    let mut take = |record: Record<'_>| {
        let prediction = predictor.predict(record.text);
        let own = record.labels();
        let truths: Vec<Option<usize>> =
            own.iter().map(|label| numbers.get(label).copied()).collect();
        for (label, _) in own.iter().zip(&truths).filter(|(_, truth)| truth.is_none()) {
            if model.has_several() { several.note_unknown(label) } else { one.note_unknown(label) }
        }
        if let Some(at) = truths.iter().position(Option::is_none) {
            let place = || format!("{}:{}", record.file.display(), record.line);
            let first = || format!("{}: the model does not know the label {}", place(), own[at]);
            unknown.get_or_insert_with(|| (first(), 0)).1 += 1;
        }
        if model.has_several() {
            several.add(&truths, &prediction);
        } else {
            one.add(truths.first().copied().flatten(), &prediction, record.text);
        }
        Ok(())
    };
    read("judging", path, &data.reading(model.has_several(), Some(model)), &mut take)?;
    if let Some((first, count)) = unknown {
        let documents = if count == 1 { "document counts" } else { "documents count" };
        MESSAGES.warning(&format!("{first}; {count} such {documents} as wrong"));
    }
    if one.documents() + several.documents() == 0 {
        let text = format!("{}:1: there are no documents", path.display());
        return Err(Failure::new(status::DATA, &text));
    }
    if !model.has_several() {
        let documents = one.labels().iter().map(|own| own.documents as u64).collect::<Vec<_>>();
        if let Some(text) = shifted(labels, model.documents(), &documents) {
            MESSAGES.warning(&format!("{}: {text}", path.display()));
        }
    }
    Ok(match (model.has_several(), is_json) {
        (false, false) => report::text(&one, labels),
        (false, true) => report::json(&one, labels),
        (true, false) => report::several_text(&several, labels),
        (true, true) => report::several_json(&several, labels),
    })
}

/// The least difference of a label's shares in training and in a test that is named, and the least
/// half sum of all differences.
const SHIFTED: f64 = 0.1;
const ALL_SHIFTED: f64 = 0.2;
/// The fewest documents whose shares say something.
const SHARES_OF: u64 = 100;

/// What is to be said where labels have other shares in a test than in training, by their
/// documents.
fn shifted(labels: &[String], trained: &[u64], tested: &[u64]) -> Option<String> {
    #[allow(clippy::cast_precision_loss)] // numbers of documents
    let shares = |documents: &[u64]| -> Vec<f64> {
        let all = documents.iter().sum::<u64>().max(1) as f64;
        documents.iter().map(|&own| own as f64 / all).collect()
    };
    let (before, now) = (shares(trained), shares(tested));
    let differences: Vec<f64> = before.iter().zip(&now).map(|(a, b)| (a - b).abs()).collect();
    let most = (0..labels.len()).max_by(|&a, &b| differences[a].total_cmp(&differences[b]))?;
    let is_shifted = tested.iter().sum::<u64>() >= SHARES_OF
        && differences[most] >= SHIFTED
        && differences.iter().sum::<f64>() / 2.0 >= ALL_SHIFTED;
    let percent = |shares: &[f64]| 100.0 * shares[most];
    is_shifted.then(|| {
        format!(
            "the shares of the labels are not those of training ({} {:.0} % instead of {:.0} %); \
             predict --adapt finds those of its texts, and training with --for macro-f1 lets them \
             count less",
            labels[most],
            percent(&now),
            percent(&before),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_other_shares_than_in_training_are_named() {
        let labels = ["neg", "neutral", "pos"].map(str::to_owned);
        let told = shifted(&labels, &[240, 520, 240], &[400, 110, 490]);
        let text = "the shares of the labels are not those of training (neutral 11 % instead of 52 \
                    %); predict --adapt finds those of its texts, and training with --for macro-f1 \
                    lets them count less";
        assert_eq!(told.as_deref(), Some(text));
        for tested in [[24, 52, 24], [30, 40, 30], [4, 1, 5], [0, 0, 0]] {
            assert_eq!(shifted(&labels, &[240, 520, 240], &tested), None, "{tested:?}");
        }
    }
}
