// SPDX-License-Identifier: GPL-3.0-or-later
//! A terminal shows that work goes on; a pipe gets nothing of it.

use dbacl_testing::{Scratch, skip};
use std::process::Command;

#[test]
fn a_pipe_gets_no_progress() {
    let place = Scratch::new();
    assert_eq!(
        place.sh("(sleep 1.5; echo some words) | dbacl -L uniform -l category").quiet(0),
        ""
    );
}

#[test]
fn a_terminal_shows_that_learning_goes_on() {
    if Command::new("script").arg("--version").output().is_err() {
        return skip("progress on a terminal", "script is not installed");
    }
    let place = Scratch::new();
    // The text comes when the line has been seen, or after a minute.
    let feed = "n=0\nuntil grep -q learning log || test $n = 600; do\n  \
                sleep 0.1; n=$((n + 1))\ndone\necho some words\n";
    place.write("feed", feed);
    place.write("log", "");
    place.sh("script -qefc 'sh feed | dbacl -l category' log");
    let log = place.read("log");
    let log = String::from_utf8_lossy(&log);
    assert!(log.contains("learning"), "{log}");
    assert!(place.names().contains(&"category".to_owned()), "{log}");
}
