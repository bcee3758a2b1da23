// SPDX-License-Identifier: GPL-3.0-or-later
//! `make signature`: one hash over the outputs for a fixed corpus; and the demonstration.

use dbacl_testing::{command, programs, root};

#[test]
fn outputs_for_the_fixed_corpus_have_the_expected_hash() {
    let folder = root().join("testdata/signature");
    let output = command(folder.join("run")).arg(programs()).output().expect("the script starts");
    let expected = std::fs::read_to_string(folder.join("expected")).expect("the expected hash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn the_demonstration_finds_every_author() {
    let script = root().join("testdata/demo/run");
    let output = command(script).arg(programs()).output().expect("the script starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("7 of 7 right"), "{stdout}");
}
