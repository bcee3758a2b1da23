// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual page says what the options are. After a change of the options,
//! `BLESS=1 cargo test -p dbacl-server interface` writes it again.

use clap::CommandFactory;
use dbacl_server::Options;
use dbacl_testing::terminal::{shown, shows_escapes};
use dbacl_testing::verbs::check_manual;
use dbacl_testing::{Scratch, command, done, programs};
use std::process::Command;

#[test]
fn the_manual_page_lists_the_options() {
    check_manual("dbacl-server", &Options::command());
}

fn server(scratch: &Scratch, arguments: &[&str]) -> dbacl_testing::Done {
    done(&mut scratch.program("dbacl-server", arguments))
}

/// A folder with a filter, a message of each kind, and a file of names to classify.
fn folder(names: &str) -> Scratch {
    let scratch = Scratch::new();
    crate::wire::learn(&scratch, "filter");
    for kind in ["ham", "spam"] {
        scratch.write(&format!("a mail of {kind}"), crate::wire::mail(kind));
    }
    scratch.write("names", names);
    scratch
}

/// The program that classifies the files of these names.
fn judge(scratch: &Scratch) -> Command {
    let filter = scratch.path("filter").display().to_string();
    let mut judge = scratch.program("dbacl-server", ["--judge", "--default", &filter]);
    judge.stdin(std::fs::File::open(scratch.path("names")).expect("the names"));
    judge
}

#[test]
fn files_are_judged_in_one_process() {
    let scratch = folder("a mail of ham\na mail of spam\nmissing\n\n");
    let done = done(&mut judge(&scratch));
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!((done.status, lines.len()), (75, 3), "{done:?}");
    for (line, kind) in lines.iter().zip(["ham", "spam"]) {
        assert!(line.starts_with(&format!("{kind} ")), "{line}");
        assert!(line.ends_with(&format!("\ta mail of {kind}")), "{line}");
    }
    assert_eq!(lines[2], "error\tmissing");
    assert!(done.stderr.contains("missing: No such file"), "{}", done.stderr);
    server(&scratch, &["--judge", "--default", "/nowhere"]).complains(69, "/nowhere");
}

#[test]
fn verdicts_that_cannot_be_written_are_an_error() {
    let scratch = folder("a mail of ham\na mail of ham\n");
    let filter = scratch.path("filter").display().to_string();
    let program = programs().join("dbacl-server").display().to_string();
    let judge = format!("{program} --judge --default '{filter}'");
    let done = scratch.sh(&format!("{judge} <names >/dev/full"));
    let said = done.complaint(74);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("cannot write standard output: No space left"), "{said}");
    // A reader that has seen enough is not a fault.
    let done = scratch.sh(&format!("{judge} <names | true; echo judged"));
    assert_eq!(done.quiet(0), "judged\n");
}

#[test]
fn pipes_and_devices_are_not_judged() {
    let scratch = folder("pipe\n/dev/zero\n.\na mail of ham\n");
    scratch.sh("mkfifo pipe").quiet(0);
    let done = done(&mut judge(&scratch));
    assert!(done.stdout.starts_with("error\tpipe\nerror\t/dev/zero\nerror\t.\nham "), "{done:?}");
    let said = done.complaint(75);
    for name in ["pipe", "/dev/zero", "."] {
        let line = format!("dbacl-server: {name}: not a regular file\n");
        assert!(said.contains(&line), "{said}");
    }
}

#[test]
fn words_of_the_command_line_do_not_control_the_terminal() {
    let mut server = command(programs().join("dbacl-server"));
    shows_escapes(server.arg("--no\x1b[2J"), "--no\x1b[2J");
    let Some(seen) = shown(&mut judge(&folder("no\x1b[2Jmail\n"))) else { return };
    assert!(seen.contains("error\tno^[[2Jmail") && !seen.contains('\x1b'), "{seen:?}");
}

#[test]
fn a_check_says_whether_the_default_filter_is_there() {
    let scratch = Scratch::new();
    crate::wire::learn(&scratch, "filter");
    let there = scratch.path("filter").display().to_string();
    let missing = scratch.path("missing").display().to_string();
    let said = server(&scratch, &["--check", "--default", &there]).quiet(0);
    assert_eq!(
        said,
        format!(
            "ok\nspamc at 127.0.0.1:783\nmilter at 127.0.0.1:8893\n\
             the default filter in {there}: ham, spam after 160 messages\nfilters of users: 0\n"
        )
    );
    let said = server(&scratch, &["--check", "--default", &missing]).complaint(69);
    assert!(said.contains(&format!("there is no default filter in {missing}")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    scratch.sh("echo x >filter/table");
    server(&scratch, &["--check", "--default", &there]).complaint(69);
}

#[test]
fn mistakes_are_told_before_anything_is_done() {
    let scratch = Scratch::new();
    let missing = scratch.path("missing").display().to_string();
    scratch.write("wrong.toml", "headers = ['dbacl']\nlisten = 5\n");
    scratch.write("nobody.toml", "user = 'no-such-user-here'\n");
    scratch.write("right.toml", "headers = ['rspamd']\n[listen]\nspamc = '/run/s'\n");
    for (arguments, expected) in [
        (&["--no-such-option"][..], "unexpected argument '--no-such-option'"),
        (&["--spamc", "host"], "host is neither a path that begins with / nor"),
        (&["--config", &missing], "missing: No such file"),
        (&["--config", "wrong.toml", "--check"], "wrong.toml: line 2: invalid type"),
        (&["--config", "nobody.toml", "--check"], "there is no user no-such-user-here"),
        (&["--default", "relative", "--check"], "relative does not begin with /"),
    ] {
        server(&scratch, arguments).complains(64, expected);
    }
    let right = ["--config", "right.toml", "--check"];
    let said = server(&scratch, &right).stderr;
    assert!(said.is_empty() || said.contains("there is no default filter"), "{said}");
    assert!(server(&scratch, &["--help"]).quiet(0).contains("--opensmtpd"));
    assert!(server(&scratch, &["--version"]).quiet(0).starts_with("dbacl-server 2."));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = taken.local_addr().expect("a port").to_string();
    server(&scratch, &["--spamc", &place]).complains(69, &format!("cannot listen at {place}"));
}
