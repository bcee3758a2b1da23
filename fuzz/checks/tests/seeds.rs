// SPDX-License-Identifier: GPL-3.0-or-later
//! Every input that was found by fuzzing or written for it keeps the rules of its target.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;

use dbacl_fuzz::TARGETS;
use dbacl_testing::root;

/// The names of the files or folders in a folder of the repository, without their endings.
fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder").flatten();
    let stem = |path: std::path::PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    entries.filter_map(|entry| stem(entry.path())).collect()
}

#[test]
fn seeds_keep_the_rules() {
    // The target mail_filter runs the program.
    assert!(dbacl_testing::programs().join("dbacl").is_file());
    let mut broken = Vec::new();
    for (name, target) in TARGETS {
        let folder = root().join("fuzz/seeds").join(name);
        let mut seeds: Vec<_> =
            fs::read_dir(&folder).expect("seeds").flatten().map(|entry| entry.path()).collect();
        seeds.sort();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            let data = fs::read(&seed).expect("a seed");
            if catch_unwind(|| target(&data)).is_err() {
                broken.push(seed);
            }
        }
    }
    assert!(broken.is_empty(), "rules are broken by {broken:?}");
}

#[test]
fn each_target_has_seeds() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, names("fuzz/seeds"));
}
