// SPDX-License-Identifier: GPL-3.0-or-later
//! Drives the targets without a fuzzer: the seeds, then changed seeds, for some rounds.
//!
//! `cargo run --profile checked --package dbacl-fuzz --example drive [ROUNDS [TARGET]]`

use dbacl::numeric::random::SplitMix64;
use dbacl_fuzz::{TARGETS, changed, seeds};
use std::time::{Duration, Instant};

/// What an input may take; all are small.
const LIMIT: Duration = Duration::from_secs(10);

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let wanted = std::env::args().nth(2);
    for (name, target) in TARGETS {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let seeds = seeds(name);
        for seed in &seeds {
            target(seed);
        }
        // Every run takes the same way.
        let mut random = SplitMix64::new(1);
        for _ in 0..rounds {
            let data = changed(&seeds, 8, &mut random);
            let started = Instant::now();
            target(&data);
            let taken = started.elapsed();
            assert!(taken <= LIMIT, "{name}: {taken:?} for {}", data.escape_ascii());
        }
        println!("{name}: {} seeds, {rounds} changed inputs", seeds.len());
    }
}
