// SPDX-License-Identifier: GPL-3.0-or-later
//! A terminal shows that work goes on; a pipe gets nothing of it.

use dbacl_testing::{Scratch, is_installed, mails};

#[test]
fn a_pipe_gets_no_progress() {
    let place = Scratch::new();
    let said = place.sh("(sleep 1.5; echo some words) | dbacl -L uniform -l category");
    assert_eq!(said.quiet(0), "");
}

#[test]
fn a_terminal_shows_that_learning_goes_on() {
    if !is_installed("script", "progress on a terminal") {
        return;
    }
    let place = Scratch::new();
    // Input is fed to the program once its progress line has appeared, or after a minute.
    let feed = "n=0\nuntil grep -q learning log || test $n = 600; do\n  \
                sleep 0.1; n=$((n + 1))\ndone\necho some words\n";
    place.write("feed", feed);
    place.write("log", "");
    place.sh("script -qefc 'sh feed | dbacl -l category' log");
    let log = place.text("log");
    assert!(log.contains("learning"), "{log}");
    assert!(place.names().contains(&"category".to_owned()), "{log}");
}

/// What a terminal shows of a command, with its output.
fn shown(place: &Scratch, command: &str) -> String {
    place.write("log", "");
    place.write("command", command);
    place.sh("script -qec 'sh command' log </dev/null");
    place.text("log").replace('\r', "")
}

#[test]
fn a_terminal_is_told_of_likely_mistakes_and_a_pipe_is_not() {
    if !is_installed("script", "hints on a terminal") {
        return;
    }
    let place = Scratch::new();
    let prose = "call me ishmael some years ago never mind how long precisely\n".repeat(60);
    place.write("prose", &prose);
    place.write("mail", format!("Return-Path: <a@b.c>\nSubject: x\n\n{prose}"));
    place.write("short", "a few words only\n");
    let many: Vec<String> = (0..3000).map(mails::word).collect();
    place.write("many", many.join(" "));
    place.dbacl("-l one prose").quiet(0);
    place.dbacl("-w 2 -l two prose").quiet(0);
    for (command, hint) in [
        ("dbacl -l mail mail", "this looks like mail; learn mail with -T email"),
        ("dbacl -l short short", "learned from 4 tokens only"),
        ("dbacl -h 8 -l many many", "different features; -H 12 makes room for them"),
        ("dbacl -c one -v prose", "one category is always the best"),
        ("dbacl -c one -c two prose", "one and two were learned with different options"),
        ("dbacl --catgory one prose", "did you mean --category?"),
        ("dbacl -T emial -l x prose", "kinds of -T are text, xml, email"),
        ("dbacl -f one prose", "-f names one of the categories"),
        ("dbacl -g '(a' -l x prose", "(a: group without a closing parenthesis"),
        ("dbacl -l x -O nothing prose", "nothing: no such counts, not added"),
        ("dbacl -l x", "reading the text from the terminal; it ends with Ctrl-D"),
    ] {
        let told = shown(&place, command);
        assert!(told.contains(hint), "{command}: {told}");
        let quiet = shown(&place, &command.replacen("dbacl", "dbacl --quiet", 1));
        assert!(!quiet.contains(hint), "{command}: {quiet}");
        let piped = place.sh(command);
        let piped = format!("{}{}", piped.stdout, piped.stderr);
        // The original had no long options, so a script may be told of a misspelt one.
        assert_eq!(piped.contains(hint), command.contains("--"), "{command}: {piped}");
    }
}
