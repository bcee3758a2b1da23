// SPDX-License-Identifier: GPL-3.0-or-later
//! Inputs that differ a little from others.

use dbacl::numeric::random::SplitMix64;

/// Changes `data` at one place: a byte, a cut, or a piece of `other`.
pub fn change(data: &mut Vec<u8>, other: &[u8], random: &mut SplitMix64) {
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

/// One of `seeds`, changed at up to `places` places.
pub fn changed(seeds: &[Vec<u8>], places: usize, random: &mut SplitMix64) -> Vec<u8> {
    let mut data = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(places) {
        let other = random.below(seeds.len());
        change(&mut data, &seeds[other], random);
    }
    data
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
