// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits categories together on the lines `LABEL<TAB>TEXT` of standard input, and saves them as
//! `LABEL.fitted`. A label is the name of a category's file.
//!
//! ```text
//! cargo run --example fit -- CATEGORY CATEGORY... <TABLE
//! ```

use dbacl::{CategorySet, FitOptions, JointFit};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = CategorySet::open(&std::env::args_os().skip(1).collect::<Vec<_>>())?;
    let mut fit = JointFit::new(&set, &FitOptions::default())?;
    for line in std::io::stdin().lines() {
        let line = line?;
        let (label, text) = line.split_once('\t').ok_or("a line without a tab")?;
        fit.document(label, text)?;
    }
    let fit = fit.fit()?;
    fit.notes.iter().for_each(|note| println!("{note}"));
    // Where the fit is no better than the learned categories there is none.
    for (label, category) in fit.categories.unwrap_or_default() {
        category.save(Path::new(&format!("{label}.fitted")))?;
    }
    Ok(())
}
