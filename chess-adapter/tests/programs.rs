// SPDX-License-Identifier: GPL-3.0-or-later
//! Games through other people's programs: python-chess, and a real xboard against fairymax and
//! itself.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use dbacl_testing::{Scratch, programs, root, skip};

use crate::support::learned;

/// A small model folder of the default preset.
static LEARNED: LazyLock<Scratch> = LazyLock::new(|| {
    let place = Scratch::new();
    learned(&place, 80, "");
    place
});

/// A command with the paths of the adapter and the models as its last arguments.
fn with_models(mut command: Command) -> Command {
    command.arg(programs().join("chess-adapter")).arg(LEARNED.path("models"));
    command
}

/// Runs a script of this folder and returns what it printed; `None` if it was skipped.
fn drive(test: &str, command: &mut Command) -> Option<String> {
    let output = command.output().expect("the script starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{complaint}");
    if let Some(reason) = told.strip_prefix("SKIPPED: ") {
        skip(test, reason.trim_end());
        return None;
    }
    Some(told)
}

/// A Python that has python-chess: that of `make setup`, else the system's.
fn python() -> PathBuf {
    let own = programs().parent().map(|target| target.join("python/bin/python3"));
    own.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("python3"))
}

fn here(name: &str) -> PathBuf {
    root().join("chess-adapter/tests").join(name)
}

#[test]
fn python_chess_finds_every_move_legal() {
    let test = "python_chess_finds_every_move_legal";
    if !Command::new(python()).arg("--version").output().is_ok_and(|o| o.status.success()) {
        return skip(test, "no python3");
    }
    let mut command = Command::new(python());
    command.arg(here("drive.py"));
    let Some(told) = drive(test, with_models(command).arg("10")) else { return };
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    for (line, protocol) in lines.iter().zip(["uci", "xboard"]) {
        assert!(line.starts_with(&format!("{protocol}: 20 games, ")), "{told}");
    }
}

#[test]
fn xboard_plays_matches_to_a_clean_end() {
    let test = "xboard_plays_matches_to_a_clean_end";
    let mut command = with_models(Command::new(here("xboard.sh")));
    let Some(told) = drive(test, command.arg("2")) else { return };
    assert!(told.contains("fairymax: 2 games") && told.contains("itself: 2 games"), "{told}");
}
