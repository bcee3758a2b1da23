// SPDX-License-Identifier: GPL-3.0-or-later
//! A set of texts on disk in a few lines: it is learned from the lines `LABEL<TAB>TEXT` of standard
//! input, and classifies, corrects and forgets texts.
//!
//! ```text
//! cargo run --example texts -- FOLDER <TABLE              learn a new set
//! cargo run --example texts -- FOLDER "TEXT"              what is the text about?
//! cargo run --example texts -- FOLDER "TEXT" LABEL        it is about this
//! cargo run --example texts -- FOLDER "TEXT" LABEL forget it is not to be remembered
//! ```

use dbacl::{FitOptions, FittedSet, FittedSetOptions, LearnOptions};
use std::error::Error;
use std::path::Path;

/// Does what the arguments ask for, and returns what there is to say.
///
/// # Errors
/// Why it was not done; the set is as it was.
pub fn run(args: &[String], table: &str) -> Result<String, Box<dyn Error>> {
    let [folder, args @ ..] = args else { return Err("usage: texts FOLDER [TEXT [LABEL]]".into()) };
    let (folder, options) = (Path::new(folder), FittedSetOptions::default());
    let [text, args @ ..] = args else {
        let lines = table.lines().filter_map(|line| line.split_once('\t'));
        let (learning, fit) = (LearnOptions::text(), FitOptions::default());
        let (_, learned) = FittedSet::create(folder, lines, &learning, &fit, &options)?;
        return Ok(format!("{} of {:?}", learned.labels.join(", "), learned.documents));
    };
    let mut set = FittedSet::open(folder, &options)?;
    let report = match args {
        [] => return Ok(set.classify(text)?.to_string()),
        [label] => set.correct(label, text)?,
        [label, ..] => set.forget(label, text)?,
    };
    Ok(report.documents[0].outcome.to_string())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_table = args.len() == 1;
    let table = if is_table { std::io::read_to_string(std::io::stdin())? } else { String::new() };
    println!("{}", run(&args, &table)?);
    Ok(())
}
