// SPDX-License-Identifier: GPL-3.0-or-later
//! Completions and the manual page say what the options are. After a change of the options,
//! `BLESS=1 cargo test -p dbacl-server interface` writes them anew.

use clap::CommandFactory;
use dbacl_server::options::Options;
use dbacl_testing::completions::{self, Program};
use dbacl_testing::{Scratch, clap_options, command, finish, manual, programs};
use std::process::{Command, Stdio};

#[test]
fn completions_and_the_manual_page_list_the_options() {
    let options = clap_options(&Options::command());
    assert!(options.len() > 8, "{options:?}");
    manual::check("dbacl-server", &options);
    completions::check(&Program { name: "dbacl-server", options, commands: &[] });
}

fn server(scratch: &Scratch, arguments: &[&str]) -> dbacl_testing::Done {
    let mut server: Command = command(programs().join("dbacl-server"));
    server.args(arguments).current_dir(scratch.path("."));
    server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(server.spawn().expect("the server starts"))
}

#[test]
fn files_are_judged_in_one_process() {
    let scratch = Scratch::new();
    crate::wire::learn(&scratch, "filter");
    let mut names = String::new();
    for kind in ["ham", "spam"] {
        let name = scratch.path(&format!("a mail of {kind}")).display().to_string();
        std::fs::write(&name, crate::wire::mail(kind)).expect("a mail");
        names += &format!("{name}\n");
    }
    scratch.write("names", format!("{names}missing\n\n"));
    let filter = scratch.path("filter").display().to_string();
    let mut judge = command(programs().join("dbacl-server"));
    judge.args(["--judge", "--default", &filter]).current_dir(scratch.path("."));
    judge.stdin(std::fs::File::open(scratch.path("names")).expect("the names"));
    judge.stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = finish(judge.spawn().expect("the program starts"));
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!((done.status, lines.len()), (75, 3), "{done:?}");
    for (line, kind) in lines.iter().zip(["ham", "spam"]) {
        assert!(line.starts_with(&format!("{kind} ")), "{line}");
        assert!(
            line.ends_with(&format!("\t{}", scratch.path(&format!("a mail of {kind}")).display()))
        );
    }
    assert_eq!(lines[2], "error\tmissing");
    assert!(done.stderr.contains("missing: No such file"), "{}", done.stderr);
    let said = server(&scratch, &["--judge", "--default", "/nowhere"]).complaint(69);
    assert!(said.contains("/nowhere"), "{said}");
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
        let said = server(&scratch, arguments).complaint(64);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(server(&scratch, &["--config", "right.toml", "--check"]).quiet(0), "");
    assert!(server(&scratch, &["--help"]).quiet(0).contains("--opensmtpd"));
    assert!(server(&scratch, &["--version"]).quiet(0).starts_with("dbacl-server 2."));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = taken.local_addr().expect("a port").to_string();
    let said = server(&scratch, &["--spamc", &place]).complaint(69);
    assert!(said.contains(&format!("cannot listen at {place}")), "{said}");
}
