// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share: where programs and recorded data are, games to learn from.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The program under test.
pub fn adapter() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_chess-adapter"))
}

/// Says that a test was skipped; this shows although the output of tests is captured.
pub fn skip(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// A file that comes with the sources.
pub fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// What stands in for the classifier where a test is about the protocol.
pub fn fake() -> PathBuf {
    testdata("fake-dbacl")
}

/// The whole file as text.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The recorded inputs that the repository carries.
pub fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/golden/inputs/chess")
}

/// The masters' games and what was recorded of them: the folder that `DBACL_SHARED` names, or the
/// one beside the checkout.
pub fn shared(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let named = std::env::var_os("DBACL_SHARED").map(PathBuf::from);
    let found = [named, Some(beside)]
        .into_iter()
        .flatten()
        .find(|p| p.join("golden/inputs/chess").is_dir());
    if found.is_none() {
        skip(test, "no shared folder beside the checkout");
    }
    found
}

/// The workspace's classifier, beside the adapter; built once if it is not there.
pub fn dbacl(test: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = BUILT.get_or_init(|| {
        let path = adapter().with_file_name("dbacl");
        if !path.is_file() {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let profile = adapter().parent()?.file_name()?.to_str()?.replace("debug", "dev");
            let built = Command::new(env!("CARGO"))
                .args(["build", "-p", "dbacl", "--bin", "dbacl", "--profile", &profile])
                .current_dir(root)
                .status();
            if !built.is_ok_and(|s| s.success()) {
                return None;
            }
        }
        path.is_file().then_some(path)
    });
    if found.is_none() {
        skip(test, "no dbacl beside the adapter, and it could not be built");
    }
    found.clone()
}

/// Runs the adapter, which must succeed; returns what it printed, and the whole output.
#[track_caller]
pub fn run(args: &[&str]) -> (String, Output) {
    let output = Command::new(adapter()).args(args).output().expect("the adapter runs");
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (text, output)
}

/// A file of the first games of the shipped collection.
pub fn some_games(folder: &Path, count: usize) -> String {
    let all = read(&testdata("masters.pgn"));
    let games: Vec<&str> = all.split("[Event ").skip(1).take(count).collect();
    let path = folder.join("some.pgn");
    std::fs::write(&path, format!("[Event {}", games.join("[Event "))).expect("written");
    path.display().to_string()
}

/// Writes a shell script that can be run. A process of its own does that: if this process had the
/// file open for writing while another thread starts a child, the child would hold the file open,
/// too, until it has begun its own program, and running the script would fail with "text file busy"
/// meanwhile.
pub fn script(path: &Path, body: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh"]);
    let written = command.arg(path).arg(body).status().expect("sh starts");
    assert!(written.success(), "{} was not written", path.display());
}
