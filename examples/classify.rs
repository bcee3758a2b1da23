// SPDX-License-Identifier: GPL-3.0-or-later
//! Compares standard input with categories and prints the tokens that decided.
//!
//! ```text
//! cargo run --example classify -- CATEGORY CATEGORY... <TEXT
//! ```

use dbacl::CategorySet;
use std::error::Error;
use std::io::Read;

fn main() -> Result<(), Box<dyn Error>> {
    let categories: Vec<_> = std::env::args_os().skip(1).collect();
    let set = CategorySet::open(&categories)?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let verdict = set.classify(&text);
    for (name, score) in verdict.names().iter().zip(verdict.scores()) {
        println!("{name}: {:.2} bits", -score / std::f64::consts::LN_2);
    }
    println!("best: {} ({:.1} %)", verdict.best(), 100.0 * verdict.probability());
    if verdict.names().len() > 1 {
        for token in set.explain(&text)?.explanation.tokens.iter().take(5) {
            println!("{:+9.2} bits  {}", token.bits, token.text);
        }
    }
    Ok(())
}
