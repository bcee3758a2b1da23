// SPDX-License-Identifier: GPL-3.0-or-later
//! Inputs that differ a little from others.

use dbacl_numeric::random::SplitMix64;
use dbacl_testing::change;
use std::time::Duration;

/// One of `seeds`, changed at up to `places` places.
pub fn changed(seeds: &[Vec<u8>], places: usize, random: &mut SplitMix64) -> Vec<u8> {
    let mut data = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(places) {
        let other = random.below(seeds.len());
        change(&mut data, &seeds[other], random);
    }
    data
}

/// `data` over and over, until it has so many bytes.
pub fn grown(data: &[u8], size: usize) -> Vec<u8> {
    data.iter().copied().cycle().take(if data.is_empty() { 0 } else { size }).collect()
}

/// The processor time that this thread has taken. Unlike the time of day it hardly depends on what
/// else the machine does.
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let part = |part: i64| u64::try_from(part).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The seeds of a target, in the order of their bytes.
///
/// # Panics
/// When they cannot be read.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target);
    let entries = std::fs::read_dir(folder).expect("a folder of seeds");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read(entry.expect("an entry").path()).expect("a seed")
    };
    let mut seeds: Vec<Vec<u8>> = entries.map(read).collect();
    seeds.sort();
    seeds
}
