// SPDX-License-Identifier: GPL-3.0-or-later
//! Drives the targets without a fuzzer: the seeds, then changed seeds, for some rounds.
//!
//! `cargo run --profile checked --package dbacl-fuzz --example drive [ROUNDS [TARGET]]`

use dbacl_fuzz::{TARGETS, changed, grown, processor_time, seeds};
use dbacl_numeric::random::SplitMix64;
use std::time::{Duration, Instant};

/// What an input may take; all are small.
const LIMIT: Duration = Duration::from_secs(10);

/// Seeds, and one of so many inputs, are repeated until they have [`LONG`] bytes, so that what does
/// not grow in proportion to the input is found.
const EVERY: u32 = 50;

/// The bytes of such an input.
const LONG: u32 = 1 << 18;

/// The processor time that each of its bytes may take: 30 times what the slowest text needs.
const PER_BYTE: Duration = Duration::from_micros(10);

fn main() {
    let rounds: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let wanted = std::env::args().nth(2);
    for (name, target) in TARGETS {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let seeds = seeds(name);
        let mut slowest = Duration::ZERO;
        let mut grow = |data: &[u8]| {
            let long = grown(data, LONG as usize);
            let started = processor_time();
            target(&long);
            let taken = processor_time().saturating_sub(started);
            slowest = slowest.max(taken);
            let most = PER_BYTE * LONG;
            let shown = data.escape_ascii();
            assert!(taken <= most, "{name}: {taken:?} for {shown} again and again");
        };
        for seed in &seeds {
            target(seed);
            grow(seed);
        }
        // Every run takes the same way.
        let mut random = SplitMix64::new(1);
        for round in 0..rounds {
            let data = changed(&seeds, 8, &mut random);
            let started = Instant::now();
            target(&data);
            let taken = started.elapsed();
            assert!(taken <= LIMIT, "{name}: {taken:?} for {}", data.escape_ascii());
            if round % EVERY == 0 {
                grow(&data);
            }
        }
        println!(
            "{name}: {} seeds, {rounds} changed inputs; {:.2} µs a byte at most",
            seeds.len(),
            slowest.as_secs_f64() * 1e6 / f64::from(LONG)
        );
    }
}
