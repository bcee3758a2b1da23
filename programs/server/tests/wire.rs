// SPDX-License-Identifier: GPL-3.0-or-later
//! A server of a test's own, and clients for it.

use dbacl_testing::mails::{HAM, KINDS, SPAM};
use dbacl_testing::{PATIENCE, Scratch};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

/// A running server; it ends when this is dropped.
pub(crate) struct Server {
    process: Child,
    log: Mutex<Receiver<String>>,
    /// Its folder: `filter` is the default filter, `users` has those of users.
    pub scratch: Scratch,
}

/// A message that is confidently of a kind.
pub(crate) fn mail(kind: &str) -> String {
    let text = if kind == "spam" { SPAM } else { HAM };
    format!("From: a@example.org\nSubject: {text}\n\n{text} now\n")
}

/// Makes a filter in the folder `name`.
pub(crate) fn learn(scratch: &Scratch, name: &str) {
    dbacl_testing::mails::learn(scratch, name, "", KINDS);
}

/// The request of spamc to learn or forget a message of a user, as `fields` say.
pub(crate) fn told(user: &str, fields: &str, mail: &str) -> String {
    let length = mail.len();
    format!("TELL SPAMC/1.5\r\nUser: {user}\r\n{fields}Content-length: {length}\r\n\r\n{mail}")
}

/// The request to learn a message of a user, as ham or spam.
pub(crate) fn lesson(user: &str, class: &str, mail: &str) -> String {
    told(user, &format!("Message-class: {class}\r\nSet: local\r\n"), mail)
}

/// Has glibc take addresses for one heap instead of several of 64 MB, and for large allocations
/// alone.
pub(crate) const FEW_ADDRESSES: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "131072")];

/// The folder of a server, with a default filter.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("users")).expect("a folder");
    learn(&scratch, "filter");
    scratch
}

impl Server {
    /// A server with a default filter and these lines of configuration; it listens at the sockets
    /// `spamc`, `rspamd` and `milter` of its folder.
    pub(crate) fn new(lines: &str) -> Self {
        Self::start(folder(), lines)
    }

    /// The same with a C library that gives freed addresses back, and takes none in advance: how
    /// many the server has does not depend on when its threads run.
    pub(crate) fn with_few_addresses() -> Self {
        Self::launch(folder(), "", &FEW_ADDRESSES)
    }

    /// A server in a folder that is there.
    pub(crate) fn start(scratch: Scratch, lines: &str) -> Self {
        Self::launch(scratch, lines, &[])
    }

    fn launch(scratch: Scratch, lines: &str, environment: &[(&str, &str)]) -> Self {
        let folder = scratch.path("").display().to_string();
        let folder = folder.trim_end_matches('/');
        let (top, tables) = lines.split_at(lines.find('[').unwrap_or(lines.len()));
        let config = format!(
            "default = '{folder}/filter'\nmodels = '{folder}/users/{{user}}'\n{top}\n[listen]\n\
             spamc = '{folder}/spamc'\nrspamd = '{folder}/rspamd'\nmilter = '{folder}/milter'\n\
             status = '{folder}/status'\n\
             {tables}\n"
        );
        scratch.write("server.toml", config);
        let mut server = scratch.program("dbacl-server", ["--config", "server.toml"]);
        server.envs(environment.iter().copied()).stdout(Stdio::null());
        let mut process = server.spawn().expect("the server starts");
        let lines = BufReader::new(process.stderr.take().expect("piped")).lines();
        let (told, log) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        let server = Self { process, log: Mutex::new(log), scratch };
        server.wait_for("event=listens wire=milter");
        server
    }

    /// Waits for a line of the log that holds this text, and returns it.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let log = self.log.lock().expect("no test panics with it");
        loop {
            let line = log.recv_timeout(PATIENCE).expect("a line of the log");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// A connection.
    pub(crate) fn connect(&self, name: &str) -> UnixStream {
        let stream = UnixStream::connect(self.scratch.path(name)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// What the server answers to these bytes, after which the client sends nothing more.
    pub(crate) fn ask(&self, name: &str, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect(name);
        // A server that refuses the request need not read it all.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            // A server that has not read all of a request that it refuses ends so.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            result => assert!(result.is_ok(), "{result:?}"),
        }
        answer
    }

    /// The head and the body of that.
    pub(crate) fn answer(&self, name: &str, request: &[u8]) -> (String, Vec<u8>) {
        split(&self.ask(name, request))
    }

    /// The same as text.
    pub(crate) fn say(&self, name: &str, request: &str) -> String {
        String::from_utf8_lossy(&self.ask(name, request.as_bytes())).into_owned()
    }

    /// The same; `None` if the server goes away.
    pub(crate) fn try_ask(&self, name: &str, request: &[u8]) -> Option<Vec<u8>> {
        let mut stream = UnixStream::connect(self.scratch.path(name)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(request).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        (!answer.is_empty()).then_some(answer)
    }

    /// The number of its process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Another server in the same folder; this one has ended.
    pub(crate) fn start_again(mut self, lines: &str) -> Self {
        self.process.wait().expect("the server has ended");
        let scratch = std::mem::take(&mut self.scratch);
        Self::start(scratch, lines)
    }

    /// The head and the body of the answer to a command of spamc.
    pub(crate) fn spamc(&self, command: &str, user: &str, mail: &[u8]) -> (String, Vec<u8>) {
        let head = format!(
            "{command} SPAMC/1.5\r\nUser: {user}\r\nContent-length: {}\r\n\r\n",
            mail.len()
        );
        self.answer("spamc", &[head.as_bytes(), mail].concat())
    }

    /// The head and the body of the answer to a request over HTTP.
    pub(crate) fn http(&self, request: &str, mail: &[u8]) -> (String, Vec<u8>) {
        let head =
            format!("{request} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", mail.len());
        self.answer("rspamd", &[head.as_bytes(), mail].concat())
    }

    /// The first line that a user's message gets; the message is confidently spam.
    pub(crate) fn verdict(&self, user: &str) -> String {
        let (_, body) = self.spamc("PROCESS", user, mail("spam").as_bytes());
        String::from_utf8_lossy(&body).lines().next().unwrap_or_default().to_owned()
    }

    /// Whether messages get their verdicts.
    pub(crate) fn is_served(&self) -> bool {
        self.verdict("a").starts_with("X-DBACL: spam ")
    }

    /// The memory in kB, by its name in `proc(5)`.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        dbacl_testing::memory(self.process.id(), name)
    }

    /// Sends TERM, and returns the status with which the server ends.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("TERM");
        self.process.wait().expect("the server ends").code()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: &str) {
        dbacl_testing::kill(self.process.id(), signal);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The body of an answer with this status.
#[track_caller]
pub(crate) fn with_status((head, body): (String, Vec<u8>), status: &str) -> Vec<u8> {
    let (_, said) = head.split_once(' ').unwrap_or_default();
    assert!(said.starts_with(status), "{head}");
    body
}

/// The text before the first empty line, and the text after it.
pub(crate) fn split(answer: &[u8]) -> (String, Vec<u8>) {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(answer.len());
    let body = answer.get(end + 4..).unwrap_or_default().to_vec();
    (String::from_utf8_lossy(&answer[..end]).into_owned(), body)
}
