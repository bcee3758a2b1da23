// SPDX-License-Identifier: GPL-3.0-or-later
//! What is measured or known of a model, as text and as JSON.

use dbacl::measures::Rate;
use dbacl::text::TextModel;
use dbacl::text::{AtLeast, ByLength, Evaluation, PerLabel, SeveralEvaluation};
use dbacl_cli::json::Json;
use dbacl_cli::table::aligned;
use std::fmt::Write as _;

/// Errors that are listed.
const WORST: usize = 10;

fn percent(rate: Rate) -> String {
    if rate.value.is_nan() {
        return "-".into();
    }
    format!("{:.2} ({:.2}-{:.2})", 100.0 * rate.value, 100.0 * rate.low, 100.0 * rate.high)
}

/// Percent, `-` where there is nothing.
fn plain(share: f64) -> String {
    if share.is_nan() { "-".into() } else { format!("{:.2}", 100.0 * share) }
}

/// The report of a test for people.
pub(crate) fn text(found: &Evaluation, labels: &[String]) -> String {
    let mut out = String::new();
    // writing to a String cannot fail
    let _ = writeln!(out, "documents          {}", found.documents());
    let _ = writeln!(out, "accuracy           {} %", percent(found.accuracy()));
    let _ = writeln!(out, "macro-F1           {} %", plain(found.macro_f1()));
    let _ = writeln!(out, "log loss           {:.4} bits", found.log_loss());
    let _ = writeln!(out, "calibration error  {:.2} %\n", 100.0 * found.calibration_error());
    out.push_str(&labels_text(labels, found.labels()));
    out.push('\n');
    let heads = ["--at-least", "answered % (95 %)", "wrong of these % (95 %)"];
    let bounds = found
        .at_least()
        .into_iter()
        .map(|one| vec![one.probability.to_string(), percent(one.answered), percent(one.wrong)]);
    out.push_str(&aligned(heads, bounds));
    let lengths = found.by_length();
    if lengths.len() > 1 {
        out.push('\n');
        let heads = ["words", "documents", "right %", "claimed %", "log loss, bits"];
        let rows = lengths.into_iter().map(|one| {
            let documents = one.documents.to_string();
            let loss = format!("{:.4}", one.log_loss);
            vec![one.words, documents, plain(one.right), plain(one.claimed), loss]
        });
        out.push_str(&aligned(heads, rows));
    }
    let worst = found.worst(WORST);
    if !worst.is_empty() {
        out.push('\n');
        let row = |(truth, verdict, texts): (usize, usize, usize)| {
            vec![labels[truth].clone(), labels[verdict].clone(), texts.to_string()]
        };
        let rows = worst.into_iter().map(row);
        out.push_str(&aligned(["label", "was called", "documents"], rows));
    }
    out.push('\n');
    out.push_str(&in_short(found, labels));
    out
}

/// The share of wrong answers that the report in short looks for.
const FEW: f64 = 0.05;

/// The report in three sentences.
fn in_short(found: &Evaluation, labels: &[String]) -> String {
    let of_hundred = |share: f64| format!("{:.0}", 100.0 * share);
    let Rate { value, low, high } = found.accuracy();
    let (value, low, high) = (of_hundred(value), of_hundred(low), of_hundred(high));
    let right = format!(
        "In short: of 100 texts like these, {value} get the right label ({low} to {high}, as these \
         are {}).\n",
        found.documents()
    );
    let has_few = |one: &AtLeast| one.answered.value > 0.0 && one.wrong.value <= FEW;
    let sure = match found.at_least().into_iter().find(has_few) {
        Some(AtLeast { probability, answered, wrong }) => format!(
            "With --at-least {probability}, predict answers {} of 100, and {} of 100 answers are \
             wrong.\n",
            of_hundred(answered.value),
            of_hundred(wrong.value),
        ),
        None => format!(
            "No probability of the label leaves fewer than {} of 100 answers wrong.\n",
            of_hundred(FEW)
        ),
    };
    let worst = match found.worst(1).first() {
        Some(&(truth, verdict, texts)) => format!(
            "The most frequent error: {texts} of the label {} called {}.\n",
            labels[truth], labels[verdict]
        ),
        None => "No text got a wrong label.\n".to_owned(),
    };
    right + &sure + &worst
}

fn put_rate(json: &mut Json, name: &str, Rate { value, low, high }: Rate) {
    json.key(name).object(|json| json.members([("value", value), ("low", low), ("high", high)]));
}

/// The report of a test as a JSON object and a line end.
pub(crate) fn json(found: &Evaluation, labels: &[String]) -> String {
    Json::line(|json| {
        json.key("documents").integer(found.documents() as u64);
        put_rate(json, "accuracy", found.accuracy());
        json.members([
            ("macro_f1", found.macro_f1()),
            ("log_loss_bits", found.log_loss()),
            ("calibration_error", found.calibration_error()),
        ]);
        put_labels(json, labels, found.labels());
        json.key("at_least").objects(found.at_least(), |json, one| {
            json.key("probability").number(one.probability);
            put_rate(json, "answered", one.answered);
            put_rate(json, "wrong", one.wrong);
        });
        json.key("lengths").objects(found.by_length(), |json, one| {
            json.key("words").string(&one.words);
            json.key("documents").integer(one.documents as u64);
            let ByLength { right, claimed, log_loss, .. } = one;
            json.members([("right", right), ("claimed", claimed), ("log_loss_bits", log_loss)]);
        });
        json.key("worst").objects(found.worst(WORST), |json, (truth, verdict, texts)| {
            json.key("label").string(&labels[truth]);
            json.key("called").string(&labels[verdict]);
            json.key("documents").integer(texts as u64);
        });
    })
}

/// The report of a test of a model with several labels a text, for people.
pub(crate) fn several_text(found: &SeveralEvaluation, labels: &[String]) -> String {
    let mut out = String::new();
    // writing to a String cannot fail
    let _ = writeln!(out, "documents          {}", found.documents());
    let _ = writeln!(out, "all labels right   {} %", percent(found.exact()));
    let _ = writeln!(out, "micro-F1           {} %", plain(found.micro_f1()));
    let _ = writeln!(out, "macro-F1           {} %", plain(found.macro_f1()));
    let _ = writeln!(out, "log loss a label   {:.4} bits\n", found.log_loss());
    out.push_str(&labels_text(labels, found.labels()));
    out
}

fn labels_text(labels: &[String], found: Vec<PerLabel>) -> String {
    let heads = ["label", "documents", "precision % (95 %)", "recall % (95 %)", "F1 %"];
    let rows = labels.iter().zip(found).map(|(label, one)| {
        let (precision, recall) = (percent(one.precision), percent(one.recall));
        vec![label.clone(), one.documents.to_string(), precision, recall, plain(one.f1)]
    });
    aligned(heads, rows)
}

/// The same as a JSON object and a line end.
pub(crate) fn several_json(found: &SeveralEvaluation, labels: &[String]) -> String {
    Json::line(|json| {
        json.key("documents").integer(found.documents() as u64);
        put_rate(json, "subset_accuracy", found.exact());
        json.members([
            ("micro_f1", found.micro_f1()),
            ("macro_f1", found.macro_f1()),
            ("log_loss_bits", found.log_loss()),
        ]);
        put_labels(json, labels, found.labels());
    })
}

fn put_labels(json: &mut Json, labels: &[String], found: Vec<PerLabel>) {
    json.key("labels").objects(labels.iter().zip(found), |json, (label, one)| {
        json.key("label").string(label);
        json.key("documents").integer(one.documents as u64);
        put_rate(json, "precision", one.precision);
        put_rate(json, "recall", one.recall);
        json.key("f1").number(one.f1);
    });
}

pub(crate) fn info_text(model: &TextModel) -> String {
    let mut out = String::new();
    for (name, value) in model.about() {
        // writing to a String cannot fail
        let _ = writeln!(out, "{name}: {value}");
    }
    let each = model.labels().iter().zip(model.documents()).zip(model.features());
    let rows = each.map(|((label, documents), features)| {
        vec![label.clone(), documents.to_string(), features.to_string()]
    });
    out.push('\n');
    out.push_str(&aligned(["label", "documents", "features"], rows));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl::text::Trainer;

    #[test]
    fn a_report_ends_with_three_sentences() {
        let mut trainer = Trainer::default();
        let texts = [("sea", "the whale and the ship"), ("war", "soldiers of the nation")];
        for (label, text) in texts.iter().cycle().take(40) {
            trainer.add(label, text.as_bytes());
        }
        let model = trainer.train().expect("a model").model;
        let found = |number: usize, truth: fn(usize) -> usize| {
            let mut found = Evaluation::new(2);
            for at in 0..number {
                let text = texts[at % 2].1.as_bytes();
                found.add(Some(truth(at % 2)), &model.predictor().predict(text), text);
            }
            in_short(&found, model.labels())
        };
        assert_eq!(
            found(100, |at| at),
            "In short: of 100 texts like these, 100 get the right label (96 to 100, as these are \
             100).\nWith --at-least 0.5, predict answers 100 of 100, and 0 of 100 answers are \
             wrong.\nNo text got a wrong label.\n"
        );
        assert_eq!(
            found(10, |_| 0),
            "In short: of 100 texts like these, 50 get the right label (24 to 76, as these are \
             10).\nNo probability of the label leaves fewer than 5 of 100 answers wrong.\nThe most \
             frequent error: 5 of the label sea called war.\n"
        );
    }
}
