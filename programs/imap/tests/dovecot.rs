// SPDX-License-Identifier: GPL-3.0-or-later
//! Debian's Dovecot with one user, and a plain client for it.

use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::mails::{HAM, KINDS, SPAM, learn, text, word};
use dbacl_testing::wait_until_reading;
use dbacl_testing::{Done, PATIENCE, Scratch, command, done, holds_soon, root, skip};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// A server of a test's own; it ends when this is dropped.
pub(crate) struct Dovecot {
    process: Child,
    /// Its folder: `filter` is the filter, `state` the state of the program.
    pub scratch: Scratch,
    /// Its port without TLS, and that with TLS.
    pub ports: (u16, u16),
    config: PathBuf,
}

/// The folder of Dovecot's package for IMAP, which `.ci/unpack` has fetched.
fn package() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = target.unwrap_or_else(|| root().join("target")).join("unpacked/dovecot-imapd");
    folder.join(".whole").exists().then_some(folder)
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0\t"))
}

/// A message of its own; of a kind, or in between.
pub(crate) fn mail(kind: &str, number: usize) -> String {
    let text = match kind {
        "spam" => SPAM,
        "ham" => HAM,
        _ => "Whatever this is, it may come again",
    };
    let mark = word(number);
    format!(
        "Message-ID: <{number}@example.org>\r\nFrom: a@example.org\r\nTo: alice@example.net\r\n\
         Subject: {text} {mark}\r\nDate: Mon, 1 Jan 2024 10:00:00 +0000\r\n\r\n{text}. {text}.\r\n\
         mark{mark} sign{mark} note{mark}\r\n"
    )
}

/// In place of flags: a message without any came a long time ago.
pub(crate) const OLD: &str = "() \"01-Jan-2024 10:00:00 +0000\"";

/// A message that is confidently of a label.
pub(crate) fn letter(label: &str, number: usize) -> String {
    let (text, mark) = (text(label), word(number));
    format!("Message-ID: <{number}@example.org>\r\nSubject: {text}\r\n\r\n{text} {mark}\r\n")
}

impl Dovecot {
    /// Starts Dovecot with these lines of configuration; `None`, with a word to the user, where it
    /// cannot be had.
    pub(crate) fn start(test: &str, lines: &str) -> Option<Self> {
        let Some(package) =
            package().filter(|_| is_root() && Path::new("/usr/sbin/dovecot").exists())
        else {
            skip(
                test,
                "Dovecot is not installed, or dovecot-imapd not fetched, or this is not root",
            );
            return None;
        };
        let scratch = Scratch::new();
        command("chmod").arg("755").arg(scratch.path(".")).status().expect("chmod");
        for folder in ["run", "mail", "mail/alice"] {
            fs::create_dir(scratch.path(folder)).expect("a folder");
        }
        let done = command("chown").args(["-R", "mail:mail"]).arg(scratch.path("mail")).status();
        assert!(done.expect("chown").success());
        let ports = dbacl_testing::free_ports();
        let config = scratch.path("dovecot.conf");
        let work = scratch.path("").display().to_string();
        let work = work.trim_end_matches('/');
        let programs = package.join("usr/lib/dovecot").display().to_string();
        let others: String =
            ["imap-urlauth", "imap-urlauth-login", "imap-urlauth-worker", "imap-hibernate"]
                .iter()
                .map(|name| format!("service {name} {{\n executable = {programs}/{name}\n}}\n"))
                .collect();
        let (plain, tls) = ports;
        let ssl = if lines.contains("ssl_cert") { "yes" } else { "no" };
        let text = format!(
            "base_dir = {work}/run\nstate_dir = {work}/run\nlog_path = {work}/dovecot.log\n\
             protocols = imap\nlisten = 127.0.0.1\nssl = {ssl}\ndisable_plaintext_auth = no\n\
             first_valid_uid = 1\nmail_location = maildir:~/Maildir\n\
             default_internal_user = dovecot\nmail_fsync = never\nmail_max_userip_connections = \
             100\n\
             service imap-login {{\n inet_listener imap {{\n  port = {plain}\n }}\n \
             inet_listener imaps {{\n  port = {tls}\n  ssl = yes\n }}\n \
             executable = {programs}/imap-login\n}}\n\
             service imap {{\n executable = {programs}/imap\n}}\n{others}\
             userdb {{\n driver = static\n args = uid=mail gid=mail home={work}/mail/%u\n}}\n\
             namespace inbox {{\n inbox = yes\n separator = /\n \
             mailbox Junk {{\n  special_use = \\Junk\n  auto = create\n }}\n \
             mailbox Trash {{\n  special_use = \\Trash\n  auto = create\n }}\n \
             mailbox Archive {{\n  auto = create\n }}\n \
             mailbox Other {{\n  auto = create\n }}\n}}\n{lines}"
        );
        let text = if lines.contains("passdb") {
            text
        } else {
            text + "passdb {\n driver = static\n args = password=secret\n}\n"
        };
        fs::write(&config, text.replace("@WORK@", work)).expect("a configuration");
        let mut dovecot = command("/usr/sbin/dovecot");
        dovecot.arg("-F").arg("-c").arg(&config).stdin(Stdio::null());
        let log = fs::File::create(scratch.path("start.log")).expect("a log");
        dovecot.stdout(Stdio::null()).stderr(log);
        let process = dovecot.spawn().expect("Dovecot starts");
        let server = Self { process, scratch, ports, config };
        let has_begun = || TcpStream::connect(("127.0.0.1", plain)).is_ok();
        assert!(holds_soon(has_begun), "Dovecot does not begin: {}", server.logs());
        learn(&server.scratch, "filter", "", KINDS);
        Some(server)
    }

    /// Replaces the filter by one that has these labels, in this order.
    #[track_caller]
    pub(crate) fn relearn(&self, labels: &str) {
        fs::remove_dir_all(self.scratch.path("filter")).expect("a filter");
        learn(&self.scratch, "filter", "", labels.split(' '));
    }

    /// What Dovecot and the program have logged.
    pub(crate) fn logs(&self) -> String {
        let read = |name| fs::read_to_string(self.scratch.path(name)).unwrap_or_default();
        let tail = |text: String| text.lines().rev().take(40).collect::<Vec<_>>().join("\n");
        ["start.log", "dovecot.log", "program.log"].map(|name| tail(read(name))).join("\n--\n")
    }

    /// Gives a folder another UIDVALIDITY.
    pub(crate) fn renumber(&self, folder: &str, validity: u32) {
        let mut doveadm = command("/usr/bin/doveadm");
        doveadm.arg("-c").arg(&self.config).args(["mailbox", "update", "-u", "alice"]);
        doveadm.args(["--uid-validity", &validity.to_string(), folder]);
        let done = doveadm.output().expect("doveadm starts");
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{text}");
    }

    /// Ends all connections of the user.
    pub(crate) fn kick(&self) {
        let mut doveadm = command("/usr/bin/doveadm");
        doveadm.arg("-c").arg(&self.config).args(["kick", "alice"]);
        // Nobody may be there.
        let _ = doveadm.output();
    }

    /// A connection of somebody's mail program.
    pub(crate) fn client(&self) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.ports.0)).expect("Dovecot listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        let mut client = Client { stream: BufReader::new(stream), number: 0 };
        client.line();
        client.run("LOGIN alice secret");
        client
    }

    /// The program, with the options that every test gives it.
    pub(crate) fn program(&self, options: &[&str]) -> std::process::Command {
        self.program_with("--password-command", "echo secret", options)
    }

    /// The same with another way to log in.
    pub(crate) fn program_with(
        &self,
        proof: &str,
        secret: &str,
        options: &[&str],
    ) -> std::process::Command {
        let port = self.ports.0.to_string();
        let server = ["--server", "127.0.0.1", "--port", &port, "--plain"];
        let mut program = self.scratch.program("dbacl-imap", server);
        program.args(["--user", "alice", proof, secret]);
        program.args(["--filter", "filter", "--state", "state", "--folder", "Archive"]);
        program.args(options).env("HOME", self.scratch.path("."));
        program
    }

    /// Runs the program.
    pub(crate) fn run(&self, options: &[&str]) -> Done {
        done(&mut self.program(options))
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub(crate) fn runs(&self, options: &[&str]) -> Done {
        let done = self.run(options);
        assert_eq!(done.status, 0, "{}\n{}", done.stderr, self.logs());
        done
    }

    /// Looks once; returns what the program says.
    #[track_caller]
    pub(crate) fn once(&self, options: &[&str]) -> String {
        let done = self.runs(&[options, &["--once"]].concat());
        assert_eq!(done.stdout, "");
        done.stderr
    }

    /// Looks once; the program must say this.
    #[track_caller]
    pub(crate) fn says(&self, options: &[&str], text: &str) {
        let said = self.once(options);
        assert!(said.contains(text), "{said}");
    }

    /// Starts the program; its log is `program.log`.
    pub(crate) fn watch(&self, options: &[&str]) -> Program {
        let mut program = self.program(options);
        let log =
            fs::File::options().create(true).append(true).open(self.scratch.path("program.log"));
        program.stderr(log.expect("a log")).stdout(Stdio::null());
        let process = program.spawn().expect("the program starts");
        // A signal that comes earlier would end it.
        wait_until_reading(&process);
        Program { process }
    }

    /// As what the filter has learned a message.
    pub(crate) fn label(&self, mail: &str) -> Option<String> {
        let set = MailFilter::open(&self.scratch.path("filter"), &MailFilterOptions::default());
        let set = set.expect("the filter");
        let id = set.id(mail.as_bytes()).expect("a mail with words");
        let labels = set.labels_of(id).expect("the ledger");
        assert!(labels.len() < 2, "learned as both");
        labels.into_iter().next()
    }

    /// When the program has looked last.
    pub(crate) fn looked(&self) -> SystemTime {
        let state = fs::metadata(self.scratch.path("state")).and_then(|file| file.modified());
        state.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        let _ = command("kill").args(["-TERM", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

/// The program in the background; it is killed when this is dropped.
pub(crate) struct Program {
    process: Child,
}

impl Program {
    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        // It may have ended by itself.
        let _ = command("kill").args([name, &id]).stderr(Stdio::null()).status();
    }

    /// Waits for its end; returns its status.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.process.wait().expect("it can be waited for").code()
    }

    /// Its largest memory so far, in kB.
    pub(crate) fn memory(&self) -> u64 {
        dbacl_testing::memory(self.process.id(), "VmHWM")
    }

    /// Waits until a look has begun and ended that saw all that has happened until now.
    #[track_caller]
    pub(crate) fn settle(&self, server: &Dovecot) {
        for _ in 0..2 {
            let before = server.looked();
            let end = Instant::now() + PATIENCE;
            let mut tries = 0;
            while server.looked() == before {
                if tries % 25 == 0 {
                    self.signal("-HUP");
                }
                tries += 1;
                assert!(Instant::now() < end, "no look: {}", server.logs());
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Somebody's mail program.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    number: usize,
}

impl Client {
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.stream.read_line(&mut line).expect("an answer") > 0, "Dovecot went away");
        line
    }

    /// Does a command that must succeed; returns all lines of the answer.
    #[track_caller]
    pub(crate) fn run(&mut self, command: &str) -> Vec<String> {
        self.number += 1;
        let text = format!("a{} {command}\r\n", self.number);
        self.stream.get_mut().write_all(text.as_bytes()).expect("Dovecot listens");
        self.answer(command)
    }

    fn answer(&mut self, command: &str) -> Vec<String> {
        let tag = format!("a{} ", self.number);
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if let Some(rest) = line.strip_prefix(&tag) {
                assert!(rest.starts_with("OK"), "{command}: {line}");
                return lines;
            }
            lines.push(line);
        }
    }

    /// Adds a message to a folder, with these flags, or as it came a long time ago ([`OLD`]).
    pub(crate) fn append(&mut self, folder: &str, flags: &str, mail: &str) {
        self.number += 1;
        let (number, length) = (self.number, mail.len());
        let how = if flags == OLD { flags } else { &format!("({flags})") };
        let text = format!("a{number} APPEND {folder} {how} {{{length}+}}\r\n{mail}\r\n");
        self.stream.get_mut().write_all(text.as_bytes()).expect("Dovecot listens");
        self.answer("APPEND");
    }

    /// Numbers of the messages with this Message-ID in the folder that is selected.
    pub(crate) fn find(&mut self, number: usize) -> Vec<u32> {
        let lines =
            self.run(&format!("UID SEARCH UNDELETED HEADER Message-ID \"<{number}@example.org>\""));
        let line = lines.iter().find_map(|line| line.strip_prefix("* SEARCH")).expect("an answer");
        line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }

    /// The number of a message that is there once.
    #[track_caller]
    pub(crate) fn only(&mut self, number: usize) -> u32 {
        let uids = self.find(number);
        assert!(!uids.is_empty(), "mail {number} is not here");
        uids[0]
    }

    /// Moves a message.
    pub(crate) fn moves(&mut self, number: usize, from: &str, to: &str) {
        self.run(&format!("SELECT {from}"));
        let uid = self.only(number);
        self.run(&format!("UID MOVE {uid} {to}"));
    }
}
