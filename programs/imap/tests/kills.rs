// SPDX-License-Identifier: GPL-3.0-or-later
//! The program is killed at a command that it sends to the server; the next look finishes its work.

use crate::dovecot::{Dovecot, mail};
use dbacl_testing::done;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// When the program is to be killed: at the first command with this word, before or after it has
/// reached the server.
type Moment = Option<(&'static str, bool)>;

/// Passes connections on to the server's port. Whoever has the other ends of the channels chooses
/// the next moment, and hears when it has come; then nothing more is passed on.
fn gate(server: u16, moments: Receiver<Moment>, told: Sender<()>) -> u16 {
    let door = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = door.local_addr().expect("an address").port();
    thread::spawn(move || {
        while let (Ok((mut client, _)), Ok(moment)) = (door.accept(), moments.recv()) {
            let mut upstream = TcpStream::connect(("127.0.0.1", server)).expect("Dovecot listens");
            let (mut back, mut from) =
                (client.try_clone().expect("a handle"), upstream.try_clone().expect("a handle"));
            let answers = thread::spawn(move || drop(std::io::copy(&mut from, &mut back)));
            let mut block = [0; 1 << 14];
            while let Ok(length @ 1..) = client.read(&mut block) {
                let commands = String::from_utf8_lossy(&block[..length]);
                let is_now = moment.filter(|(word, _)| commands.contains(word));
                if is_now.is_none_or(|(_, is_after)| is_after) {
                    let _ = upstream.write_all(&block[..length]);
                }
                if is_now.is_some() {
                    // What was passed on is done before the connection ends.
                    thread::sleep(std::time::Duration::from_millis(200));
                    told.send(()).expect("somebody waits");
                    break;
                }
            }
            let _ = upstream.shutdown(Shutdown::Both);
            answers.join().expect("no panic");
        }
    });
    port
}

#[test]
fn what_was_to_be_moved_is_moved_after_a_kill_and_teaches_nothing() {
    let plain = "protocol imap {\n imap_capability = IMAP4rev1 UIDPLUS\n}\n";
    for (lines, words) in [("", &["UID MOVE"][..]), (plain, &["UID COPY", "UID STORE", "EXPUNGE"])]
    {
        let Some(server) = Dovecot::start("what_was_to_be_moved", lines) else { return };
        let mut client = server.client();
        let (moments, next) = channel();
        let (told, has_come) = channel();
        let port = gate(server.ports.0, next, told).to_string();
        let look = |moment: Moment| {
            moments.send(moment).expect("the gate is open");
            let own = ["--server=127.0.0.1", "--plain", "--user=alice", "--filter=filter"];
            let mut program = server.scratch.program("dbacl-imap", own);
            program.args(["--state=state", "--move-spam", "--once", "--port", &port]);
            program.arg("--password-command=echo secret");
            if moment.is_none() {
                let done = done(&mut program);
                assert_eq!(done.status, 0, "{}\n{}", done.stderr, server.logs());
                return done.stderr;
            }
            let mut running = program.stderr(Stdio::null()).spawn().expect("it starts");
            has_come.recv().expect("the command");
            running.kill().expect("it runs");
            running.wait().expect("it ends");
            String::new()
        };
        look(None);
        let mut number = 0;
        for &word in words {
            for is_after in [false, true] {
                let mails: Vec<usize> = (number..number + 3).collect();
                number += 3;
                for &number in &mails {
                    client.append("INBOX", "", &mail("spam", number));
                }
                look(Some((word, is_after)));
                let said = look(None) + &look(None);
                for &number in &mails {
                    for (folder, expected) in [("INBOX", 0), ("Junk", 1)] {
                        client.run(&format!("SELECT {folder}"));
                        let found = client.find(number).len();
                        assert_eq!(found, expected, "{word} {is_after} {folder}: {said}");
                    }
                    assert_eq!(server.label(&mail("spam", number)), None, "{word}: {said}");
                }
            }
        }
        // What somebody moves back meanwhile stays there, and is learned.
        client.append("INBOX", "", &mail("spam", 900));
        look(Some((words[0], true)));
        if words.len() == 1 {
            client.moves(900, "Junk", "INBOX");
            let said = look(None) + &look(None);
            client.run("SELECT INBOX");
            assert_eq!(client.find(900).len(), 1, "{said}");
        }
    }
}
