// SPDX-License-Identifier: GPL-3.0-or-later
//! Trains a classifier on a file of labelled texts, tests it on another, saves it, and labels the
//! texts of a third one, on all processors.
//!
//!     cargo run --release -p dbacl-text --example text_classifier -- TRAIN TEST TEXTS MODEL
//!
//! TRAIN and TEST are whatever `dbacl-text train` reads, TEXTS has a text in each line.

#![allow(clippy::print_stderr)] // an example stands for itself

use dbacl::text::data::{Reading, read};
use dbacl::text::{Evaluation, Recipe, TextModel, Trainer, threads};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, texts, path] = arguments.as_slice() else {
        return Err("give four files: TRAIN TEST TEXTS MODEL".into());
    };

    // Words and pairs of words alone; the default looks at characters, too, where texts are short.
    let recipe = Recipe { order: Some(2), ..Recipe::default() };
    let mut trainer = Trainer::of_recipe(&recipe, &mut |warning| eprintln!("{warning}"))?;
    read(Path::new(train), &Reading::default(), &mut |record| {
        trainer.add(record.label, record.text);
        Ok(())
    })?;
    let trained = trainer.train()?;
    println!("{} errors in {} by cross-validation", trained.errors, trained.judged);
    trained.model.save(Path::new(path))?;

    // The file is the one that `dbacl-text` makes of these documents, and reads.
    let model = TextModel::open(Path::new(path))?;
    let (labels, mut predictor) = (model.labels(), model.predictor());
    let mut found = Evaluation::new(labels.len());
    read(Path::new(test), &Reading::default(), &mut |record| {
        let truth = labels.iter().position(|label| label == record.label);
        found.add(truth, &predictor.predict(record.text), record.text);
        Ok(())
    })?;
    println!("accuracy {:.2} %", 100.0 * found.accuracy().value);

    // A model is shared between threads; each has a predictor of its own.
    let texts = std::fs::read_to_string(texts)?;
    let texts: Vec<&str> = texts.lines().collect();
    let parts = texts.chunks(texts.len().div_ceil(threads::wanted(0)).max(1));
    let lines = threads::each(parts, |part: &[&str]| -> Vec<String> {
        let mut predictor = model.predictor();
        let line = |text: &&str| {
            let prediction = predictor.predict(text.as_bytes());
            let best = prediction.best();
            format!("{}\t{:.6}", labels[best], prediction.probabilities()[best])
        };
        part.iter().map(line).collect()
    });
    for line in lines.into_iter().flatten() {
        println!("{line}");
    }
    Ok(())
}
