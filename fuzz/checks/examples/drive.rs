// SPDX-License-Identifier: GPL-3.0-or-later
//! Drives the targets without a fuzzer: the seeds, then changed seeds, for some rounds.
//!
//! `cargo run --profile checked --package dbacl-fuzz --example drive [ROUNDS [TARGET]]`

use std::path::Path;
use std::time::{Duration, Instant};

/// What an input may take; all are small.
const LIMIT: Duration = Duration::from_secs(10);

/// A small generator (xorshift): every run takes the same way.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}

/// Changes `data` at one place: a byte, a cut, or a piece of `other`.
fn mutate(data: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(data.len() + 1);
    match random.below(4) {
        0 => data.truncate(at),
        1 => data.insert(at, random.below(256).to_le_bytes()[0]),
        2 => {
            let end = data.len().min(at + random.below(20));
            data.drain(at..end);
        }
        _ => {
            let from = random.below(other.len() + 1);
            let to = other.len().min(from + random.below(60));
            data.splice(at..at, other[from..to].iter().copied());
        }
    }
}

fn main() -> std::io::Result<()> {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let wanted = std::env::args().nth(2);
    for (name, target) in dbacl_fuzz::TARGETS {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(name);
        let mut seeds = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            seeds.push(std::fs::read(entry?.path())?);
        }
        seeds.sort();
        for seed in &seeds {
            target(seed);
        }
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for _ in 0..rounds {
            let mut data = seeds[random.below(seeds.len())].clone();
            for _ in 0..=random.below(8) {
                let other = random.below(seeds.len());
                mutate(&mut data, &seeds[other], &mut random);
            }
            let started = Instant::now();
            target(&data);
            let slow = started.elapsed() > LIMIT;
            assert!(
                !slow,
                "{name}: {:?} for {:?}",
                started.elapsed(),
                data.escape_ascii().to_string()
            );
        }
        println!("{name}: {} seeds, {rounds} changed inputs", seeds.len());
    }
    Ok(())
}
