// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns a category from files and saves it: `dbacl -l CATEGORY FILE...` in a few lines.
//!
//! ```text
//! cargo run --example learn -- CATEGORY FILE...
//! ```

#![allow(clippy::print_stderr)] // an example stands for itself

use dbacl::{LearnOptions, Learner};
use std::error::Error;
use std::fs::File;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let category = arguments.next().ok_or("usage: learn CATEGORY FILE...")?;
    let mut learner = Learner::new(&LearnOptions::text())?;
    for file in arguments {
        learner.read(File::open(file)?)?;
    }
    let learned = learner.finish()?;
    for warning in learned.warnings {
        eprintln!("{warning}");
    }
    learned.category.save(Path::new(&category))?;
    println!("{} features", learned.category.header().unique_features);
    Ok(())
}
