// SPDX-License-Identifier: GPL-3.0-or-later
//! `make check-systems`: daily tasks where HOME, a writable `/tmp`, the locale, `/proc`, memory or
//! system calls of newer kernels are missing.

use dbacl_testing::{command, programs, root, skip};

#[test]
fn daily_tasks_succeed_on_systems_that_lack_something() {
    let script = root().join("tests/systems/run");
    let output = command(script).arg(programs()).output().expect("the script starts");
    let said = String::from_utf8_lossy(&output.stdout);
    for line in said.lines() {
        if let Some(reason) = line.strip_prefix("SKIPPED: ") {
            skip("systems", reason);
        }
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("an ordinary system: passed"), "{said}");
}
