// SPDX-License-Identifier: GPL-3.0-or-later
//! The benchmark of mail filters (`benches/field`): its own tests, with the programs just built.

use dbacl_testing::{command, programs, root, skip};

#[test]
fn the_tests_of_the_field_benchmark_pass() {
    let mut python = command("python3");
    python.arg(root().join("benches/field/test_field.py")).arg("--verbose");
    python.env("FIELD_BIN", programs()).env("PYTHONDONTWRITEBYTECODE", "1");
    let Ok(done) = python.output() else {
        return skip("the_tests_of_the_field_benchmark_pass", "python3 is not installed");
    };
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    for line in said.lines().filter(|line| line.contains(" ... skipped ")) {
        skip("benches/field", line);
    }
}
