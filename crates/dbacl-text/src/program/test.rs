// SPDX-License-Identifier: GPL-3.0-or-later
//! `test`: model and labelled documents → how well they are classified.

use super::options::{DataArguments, TestArguments};
use super::{Failure, MESSAGES, open, print, read, report, status};
use crate::data::Record;
use crate::evaluate::{Evaluation, SeveralEvaluation};
use crate::model::TextModel;
use std::collections::HashMap;

pub fn run(arguments: &TestArguments) -> Result<(), Failure> {
    print(&measure(&open(&arguments.model)?, &arguments.data, arguments.json)?)
}

/// Classifies labelled documents, and reports how well: for people or as JSON.
pub fn measure(model: &TextModel, data: &DataArguments, is_json: bool) -> Result<String, Failure> {
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
    Ok(match (model.has_several(), is_json) {
        (false, false) => report::text(&one, labels),
        (false, true) => report::json(&one, labels),
        (true, false) => report::several_text(&several, labels),
        (true, true) => report::several_json(&several, labels),
    })
}
