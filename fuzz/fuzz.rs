// SPDX-License-Identifier: GPL-3.0-or-later
//! The target that `FUZZ_TARGET` names, as a program of libFuzzer.

#![no_main]

use dbacl_fuzz::{TARGETS, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    found.expect("FUZZ_TARGET should name a target").1
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
