// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share: where programs and recorded data are, games to learn from.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;

use dbacl_testing::{Done, PATIENCE, skip};

/// The program under test.
pub fn adapter() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_chess-adapter"))
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

/// Runs the adapter with this input; returns what it printed.
pub fn fed(args: &[&str], input: &[u8]) -> Done {
    let mut command = Command::new(adapter());
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    dbacl_testing::fed(command, input)
}

/// The same without input, where the adapter must succeed.
#[track_caller]
pub fn run(args: &[&str]) -> Done {
    let done = fed(args, b"");
    assert_eq!(done.status, 0, "{args:?}: {}", done.stderr);
    done
}

/// An adapter that plays.
pub struct Adapter {
    pub child: Child,
    pub to: Option<ChildStdin>,
    /// Its lines, which a thread reads.
    pub lines: mpsc::Receiver<String>,
}

impl Adapter {
    /// Starts `play` with these arguments.
    pub fn start(args: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> Self {
        let mut child = Command::new(adapter())
            .arg("play")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the adapter runs");
        let to = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            output.lines().try_for_each(|line| sender.send(line.expect("text")))
        });
        Self { child, to, lines }
    }

    /// Sends lines, each with its end.
    pub fn send(&mut self, lines: &str) {
        self.to.as_mut().expect("open").write_all(lines.as_bytes()).expect("the adapter reads");
    }

    /// The next line; `None` once the adapter has ended, or if it says nothing for long.
    pub fn line(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }

    /// Reads lines until one begins with `start`, and returns it.
    #[track_caller]
    pub fn wait_for(&self, start: &str) -> String {
        loop {
            let line = self.line().unwrap_or_else(|| panic!("no {start:?}"));
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Ends the input and returns the lines that are left. The adapter must end well.
    pub fn finish(mut self) -> Vec<String> {
        self.to = None;
        let lines = std::iter::from_fn(|| self.line()).collect();
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
        lines
    }
}

/// A file of the first games of the shipped collection.
pub fn some_games(folder: &Path, count: usize) -> String {
    let all = read(&testdata("masters.pgn"));
    let games: Vec<&str> = all.split("[Event ").skip(1).take(count).collect();
    let path = folder.join("some.pgn");
    std::fs::write(&path, format!("[Event {}", games.join("[Event "))).expect("written");
    path.display().to_string()
}

/// A model folder, learned with these options from the first of the shipped games.
pub fn learned(folder: &Path, games: usize, options: &[&str]) -> String {
    let pgn = some_games(folder, games);
    let models = folder.join("models").display().to_string();
    run(&[&["learn", &pgn, "-o", &models], options].concat());
    models
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
