// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual page says what the options are. After a change of the options,
//! `BLESS=1 cargo test -p dbacl-imap interface` writes it again.

use clap::CommandFactory;
use dbacl_imap::Options;
use dbacl_testing::mails::{KINDS, learn};
use dbacl_testing::terminal::shows_escapes;
use dbacl_testing::verbs::check_manual;
use dbacl_testing::{Scratch, command, done, free_ports, programs};
use std::io::{Read, Write};

#[test]
fn the_manual_page_lists_the_options() {
    check_manual("dbacl-imap", &Options::command());
}

fn imap(scratch: &Scratch, arguments: &[&str]) -> dbacl_testing::Done {
    done(scratch.program("dbacl-imap", arguments).env("HOME", scratch.path(".")))
}

#[test]
fn mistakes_are_told_in_one_line() {
    let scratch = Scratch::new();
    scratch.write("wrong.toml", "servr = 'a'\n");
    scratch.write("none.pem", "no certificate\n");
    let account = ["--server", "127.0.0.1", "--user", "alice", "--filter", "missing", "--plain"];
    let with = |more: &[&'static str]| [&account[..], more].concat();
    let secret = "--password-command=echo secret";
    for (arguments, status, expected) in [
        (vec!["--no-such-option"], 64, "unexpected argument '--no-such-option'"),
        (vec![], 64, "no server: set server"),
        (vec!["--config", "missing.toml"], 64, "missing.toml: No such file"),
        (vec!["--config", "wrong.toml"], 64, "wrong.toml: line 1: unknown field `servr`"),
        (with(&[]), 64, "password-command"),
        (with(&[secret, "--status"]), 69, "nothing is known yet"),
        (with(&[secret, "--once"]), 66, "missing is not a mail filter"),
        (with(&[secret]), 66, "missing is not a mail filter"),
        (
            vec!["--server=a", "--user=b", "--filter=c", secret, "--certificates=none.pem"],
            64,
            "none.pem: there is no certificate in it",
        ),
    ] {
        let done = imap(&scratch, &arguments);
        let said = done.complaint(status);
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(status == 64 || said.lines().count() == 1, "{said}");
    }
    assert!(imap(&scratch, &["--help"]).quiet(0).contains("--move-spam"));
    assert!(imap(&scratch, &["--version"]).quiet(0).starts_with("dbacl-imap 2."));
}

/// A folder with a filter, and with settings of an account at a port of this machine.
fn account(port: u16) -> Scratch {
    let scratch = Scratch::new();
    learn(&scratch, "filter", "", KINDS);
    scratch.write(
        "imap.toml",
        format!(
            "server = '127.0.0.1'\nport = {port}\nuser = 'alice'\npassword-command = 'echo x'\n\
             plain = true\nfilter = 'filter'\nstate = 'state'\n"
        ),
    );
    scratch
}

#[test]
fn files_of_others_are_neither_written_nor_waited_for() {
    let scratch = account(free_ports().0);
    let once = ["--config", "imap.toml", "--once"];
    scratch.write("mine", "precious\n");
    for (way, status, said) in [
        ("ln -s mine state.lock", 69, "state.lock: the name of the lock is used"),
        ("ln -s nothing state.lock", 69, "state.lock: the name of the lock is used"),
        ("mkfifo state.lock", 69, "state.lock: "),
        ("ln mine state.lock", 69, "state.lock: the name of the lock is used"),
        ("mkfifo state", 69, "state: not a regular file"),
        ("ln -s /dev/zero state", 69, "state: not a regular file"),
        ("cp mine state", 69, "state: not a state of dbacl-imap"),
        ("printf 'dbacl-im' >state", 75, "state: the state is damaged"),
        (": >state", 75, "state: the state is damaged"),
    ] {
        scratch.sh(&format!("rm -f state state.lock; {way}")).quiet(0);
        let done = imap(&scratch, &once);
        assert!(done.stderr.contains(said), "{way}: {done:?}");
        assert_eq!(done.status, status, "{way}: {done:?}");
        assert_eq!(scratch.read("mine"), b"precious\n", "{way}");
        assert!(!scratch.path("nothing").exists(), "{way}");
    }
    let done = imap(&scratch, &["--config", "imap.toml", "--status"]);
    assert!(done.complaint(69).contains("state: the state is damaged"));
}

#[test]
fn two_processes_do_not_share_a_state() {
    let scratch = account(free_ports().0);
    let held = std::fs::File::create(scratch.path("state.lock")).expect("a file");
    held.lock().expect("nobody has it");
    let said = imap(&scratch, &["--config", "imap.toml", "--once"]).complaint(75);
    let holder = format!("another dbacl-imap uses this state (process {})", std::process::id());
    assert!(said.contains(&holder), "{said}");
}

#[test]
fn faults_of_the_connection_name_the_server() {
    let door = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = door.local_addr().expect("an address").port();
    let scratch = account(port);
    let server = std::thread::spawn(move || drop(door.accept().expect("a client")));
    let said = imap(&scratch, &["--config", "imap.toml", "--once"]).complaint(75);
    server.join().expect("no panic");
    let (begin, end) = (said.get(..33), said.get(33..).unwrap_or_default());
    // A log has the time.
    assert!(
        begin.is_some_and(|it| it.starts_with("dbacl-imap: 2") && it.ends_with("Z ")),
        "{said}"
    );
    assert!(end.starts_with(&format!("127.0.0.1:{port}: the server has closed")), "{said}");
}

#[test]
fn a_greeting_in_another_character_set_is_a_greeting() {
    let door = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let scratch = account(door.local_addr().expect("an address").port());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = door.accept().expect("a client");
        stream.write_all(b"* OK Gr\xfc\xdfe von \xff\xfe\r\n").expect("it reads");
        let mut command = [0; 16];
        let length = stream.read(&mut command).expect("a command");
        stream.write_all(b"* BYE until tomorrow\r\n").expect("it reads");
        String::from_utf8_lossy(&command[..length]).into_owned()
    });
    imap(&scratch, &["--config", "imap.toml", "--once"])
        .complains(75, "closed the connection: until tomorrow");
    assert!(server.join().expect("no panic").contains("CAPABILITY"));
}

#[test]
fn settings_that_anybody_may_write_are_refused() {
    let scratch = account(free_ports().0);
    let text = String::from_utf8(scratch.read("imap.toml")).expect("text");
    scratch.write("imap.toml", text.replace("echo x", "touch ran; echo x"));
    scratch.sh("chmod 666 imap.toml").quiet(0);
    let once = ["--config", "imap.toml", "--once"];
    let said = imap(&scratch, &once).complaint(64);
    assert!(
        said.contains("anybody may write to imap.toml") && said.contains("chmod o-w"),
        "{said}"
    );
    assert!(!scratch.path("ran").exists());
    // Permission for a group counts as intended.
    scratch.sh("chmod 664 imap.toml").quiet(0);
    assert_eq!(imap(&scratch, &once).status, 75);
    assert!(scratch.path("ran").exists());
}

#[test]
fn words_of_the_command_line_do_not_control_the_terminal() {
    let mut program = command(programs().join("dbacl-imap"));
    shows_escapes(program.arg("--no\x1b[2J"), "--no\x1b[2J");
}

#[test]
fn without_tls_only_this_machine_is_spoken_with() {
    let scratch = account(free_ports().0);
    let account = ["--user=alice", "--filter=filter", "--plain", "--password-command=echo x"];
    // An address that is kept for documents: nothing is sent there.
    let arguments = [&account[..], &["--server=192.0.2.1", "--once"]].concat();
    imap(&scratch, &arguments).complains(75, "192.0.2.1 is not this machine");
}
