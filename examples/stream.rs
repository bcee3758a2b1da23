// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies each line of standard input.
//!
//! ```text
//! cargo run --example stream -- CATEGORY CATEGORY... <LINES
//! ```

use dbacl::CategorySet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = CategorySet::open(&std::env::args_os().skip(1).collect::<Vec<_>>())?;
    let mut classifier = set.classifier();
    for line in std::io::stdin().lines() {
        println!("{}", classifier.classify(line?).best());
    }
    Ok(())
}
