// SPDX-License-Identifier: GPL-3.0-or-later
//! `test`: model and labelled documents → how well they are classified.

use super::options::TestArguments;
use super::train::labels_of;
use super::{Failure, MESSAGES, open, report, status};
use crate::data::{self, Record};
use crate::evaluate::{Evaluation, SeveralEvaluation};
use dbacl_cli::output::Output;
use dbacl_cli::progress;
use std::collections::HashMap;

pub fn run(arguments: &TestArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let path = &arguments.data.data;
    let numbers: HashMap<&str, usize> =
        model.labels().iter().enumerate().map(|(number, label)| (label.as_str(), number)).collect();
    let mut predictor = model.predictor();
    let mut found = Evaluation::new(model.labels().len());
    let mut several = SeveralEvaluation::new(model.labels().len());
    let mut unknown: Option<(String, u64)> = None;
    let mut take = |record: Record<'_>| {
        let prediction = predictor.predict(record.text);
        let labels = labels_of(record.label);
        let truths: Vec<Option<usize>> =
            labels.iter().map(|label| numbers.get(label).copied()).collect();
        if let Some(at) = truths.iter().position(Option::is_none) {
            let place = || format!("{}:{}", record.file.display(), record.line);
            let first = || format!("{}: the model does not know the label {}", place(), labels[at]);
            unknown.get_or_insert_with(|| (first(), 0)).1 += 1;
        }
        if model.has_several() {
            several.add(&truths, &prediction);
        } else {
            found.add_text(truths.first().copied().flatten(), &prediction, record.text);
        }
        Ok(())
    };
    let read = || data::read(path, &arguments.data.reading(model.has_several()), &mut take);
    let notes = progress::watch("judging", || None, read)?;
    if let Some(note) = notes.text(path) {
        MESSAGES.warning(&note);
    }
    if let Some((first, count)) = unknown {
        let documents = if count == 1 { "document counts" } else { "documents count" };
        MESSAGES.warning(&format!("{first}; {count} such {documents} as wrong"));
    }
    if found.documents() + several.documents() == 0 {
        let text = format!("{}:1: there are no documents", path.display());
        return Err(Failure::new(status::DATA, &text));
    }
    let mut out = Output::new();
    let labels = model.labels();
    let text = match (model.has_several(), arguments.json) {
        (false, true) => report::json(&found, labels),
        (false, false) => report::text(&found, labels),
        (true, true) => report::several_json(&several, labels),
        (true, false) => report::several_text(&several, labels),
    };
    out.buffer().extend_from_slice(text.as_bytes());
    Ok(out.flush()?)
}
