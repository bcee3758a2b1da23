// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests that are shell scripts: recipes that are run with the real mail servers and other
//! programs. A script whose programs are not installed is skipped.

use crate::{command, fed, programs, root, skip};
use std::path::Path;
use std::process::{Command, Stdio};

/// Status of a script that cannot be run here.
const SKIPPED: i32 = 77;

/// Writes a program that can be run. Another process writes it: if this one had the file open while
/// another thread starts a child, the child would hold it open, too, until it runs its own program,
/// and starting the script would fail with "text file busy" meanwhile.
#[track_caller]
pub fn write(path: &Path, text: &str) {
    let mut shell = command("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(path);
    fed(shell, text).quiet(0);
}

/// Runs the script `name` in `folder` of the repository.
///
/// # Panics
/// When it fails.
pub fn follow(folder: &str, name: &str) {
    let script = root().join(folder).join(name).with_extension("sh");
    let mut command = Command::new("timeout");
    command.arg("300").arg("sh").arg(script);
    command.env("DBACL_BIN", programs()).stdin(Stdio::null());
    let output = command.output().expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    match output.status.code() {
        Some(0) => {}
        Some(SKIPPED) => {
            let reason = said.lines().last().unwrap_or_default();
            skip(name, reason.strip_prefix("SKIPPED: ").unwrap_or(reason));
        }
        _ => panic!("{name}: {said}"),
    }
}

/// Names of the scripts in `folder` of the repository, in order; `lib` is what they share.
pub fn names(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root().join(folder))
        .expect("the scripts are here")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("plain"))
        .filter_map(|name| name.strip_suffix(".sh").map(str::to_owned))
        .filter(|name| name != "lib")
        .collect();
    names.sort();
    names
}

/// Makes a test for each script of a folder, and one that fails if a script is missing here.
#[macro_export]
macro_rules! scripts {
    ($folder:literal: $($test:ident = $name:literal;)*) => {
        $(#[test] fn $test() { $crate::scripts::follow($folder, $name); })*

        #[test]
        fn every_script_is_run() {
            assert_eq!($crate::scripts::names($folder), [$($name),*]);
        }
    };
}
