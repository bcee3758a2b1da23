// SPDX-License-Identifier: GPL-3.0-or-later
//! `test`: model and labelled documents → how well they are classified.

use super::options::{DataArguments, TestArguments};
use super::{Failure, MESSAGES, open, print, read, report, status};
use crate::data::Record;
use crate::evaluate::{Evaluation, SeveralEvaluation};
use crate::model::TextModel;
use std::collections::HashMap;

pub enum Measured {
    One(Box<Evaluation>),
    Several(SeveralEvaluation),
}

impl Measured {
    /// The report for people.
    pub fn text(&self, labels: &[String]) -> String {
        match self {
            Self::One(found) => report::text(found, labels),
            Self::Several(found) => report::several_text(found, labels),
        }
    }

    fn json(&self, labels: &[String]) -> String {
        match self {
            Self::One(found) => report::json(found, labels),
            Self::Several(found) => report::several_json(found, labels),
        }
    }
}

pub fn run(arguments: &TestArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let found = measure(&model, &arguments.data)?;
    let labels = model.labels();
    print(&if arguments.json { found.json(labels) } else { found.text(labels) })
}

/// Classifies labelled documents, and measures how well.
pub fn measure(model: &TextModel, data: &DataArguments) -> Result<Measured, Failure> {
    let path = &data.data;
    let numbers: HashMap<&str, usize> =
        model.labels().iter().enumerate().map(|(number, label)| (label.as_str(), number)).collect();
    let mut predictor = model.predictor();
    let labels = model.labels().len();
    let mut found = if model.has_several() {
        Measured::Several(SeveralEvaluation::new(labels))
    } else {
        Measured::One(Box::new(Evaluation::new(labels)))
    };
    let mut unknown: Option<(String, u64)> = None;
    let mut take = |record: Record<'_>| {
        let prediction = predictor.predict(record.text);
        let labels = record.labels();
        let truths: Vec<Option<usize>> =
            labels.iter().map(|label| numbers.get(label).copied()).collect();
        if let Some(at) = truths.iter().position(Option::is_none) {
            let place = || format!("{}:{}", record.file.display(), record.line);
            let first = || format!("{}: the model does not know the label {}", place(), labels[at]);
            unknown.get_or_insert_with(|| (first(), 0)).1 += 1;
        }
        match &mut found {
            Measured::One(found) => {
                found.add(truths.first().copied().flatten(), &prediction, record.text);
            }
            Measured::Several(found) => found.add(&truths, &prediction),
        }
        Ok(())
    };
    read("judging", path, &data.reading(model.has_several()), &mut take)?;
    if let Some((first, count)) = unknown {
        let documents = if count == 1 { "document counts" } else { "documents count" };
        MESSAGES.warning(&format!("{first}; {count} such {documents} as wrong"));
    }
    let documents = match &found {
        Measured::One(found) => found.documents(),
        Measured::Several(found) => found.documents(),
    };
    if documents == 0 {
        let text = format!("{}:1: there are no documents", path.display());
        return Err(Failure::new(status::DATA, &text));
    }
    Ok(found)
}
