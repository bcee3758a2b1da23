// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share: the adapter in a folder of its own, recorded data, games to learn from.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;

use dbacl_testing::{Done, PATIENCE, Scratch, root};

/// A file that comes with the sources.
pub(crate) fn testdata(name: &str) -> PathBuf {
    root().join("chess-adapter/testdata").join(name)
}

/// The whole file as text.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The recorded inputs that the repository carries.
pub(crate) fn recorded() -> PathBuf {
    root().join("testdata/golden/inputs/chess")
}

/// Runs the adapter in a folder. `DATA/` is the folder of the test data, `FAKE` what stands in for
/// the classifier where a test is about the protocol.
fn command(place: &Scratch, args: &str) -> Command {
    let [data, fake] = ["", "fake-dbacl"].map(|name| testdata(name).display().to_string());
    let words = args.split_whitespace();
    let words = words.map(|word| word.replace("DATA/", &data).replace("FAKE", &fake));
    place.program("chess-adapter", words)
}

/// Runs the adapter with this input; returns what it printed.
pub(crate) fn fed(place: &Scratch, args: &str, input: impl AsRef<[u8]>) -> Done {
    dbacl_testing::fed(command(place, args), input)
}

/// The same without input, where the adapter must succeed.
#[track_caller]
pub(crate) fn run(place: &Scratch, args: &str) -> Done {
    let done = fed(place, args, "");
    assert_eq!(done.status, 0, "{args}: {}", done.stderr);
    done
}

/// An adapter that plays.
pub(crate) struct Adapter {
    pub child: Child,
    pub to: Option<ChildStdin>,
    /// Its lines, which a thread reads.
    pub lines: mpsc::Receiver<String>,
}

impl Adapter {
    /// Starts `play` with these arguments.
    pub(crate) fn start(place: &Scratch, args: &str) -> Self {
        let mut command = command(place, &format!("play {args}"));
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the adapter runs");
        let to = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            output.lines().try_for_each(|line| sender.send(line.expect("text")))
        });
        Self { child, to, lines }
    }

    /// Sends lines, each with its end.
    pub(crate) fn send(&mut self, lines: &str) {
        self.to.as_mut().expect("open").write_all(lines.as_bytes()).expect("the adapter reads");
    }

    /// The next line; `None` once the adapter has ended, or if it says nothing for long.
    pub(crate) fn line(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }

    /// Reads lines until one begins with `start`, and returns it.
    #[track_caller]
    pub(crate) fn wait_for(&self, start: &str) -> String {
        loop {
            let line = self.line().unwrap_or_else(|| panic!("no {start:?}"));
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Ends the input and returns the lines that are left. The adapter must end well.
    pub(crate) fn finish(mut self) -> Vec<String> {
        self.to = None;
        let lines = std::iter::from_fn(|| self.line()).collect();
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
        lines
    }
}

/// Writes a file `some.pgn` of the first games of the shipped collection.
pub(crate) fn some_games(place: &Scratch, count: usize) {
    let all = read(&testdata("masters.pgn"));
    let games: Vec<&str> = all.split("[Event ").skip(1).take(count).collect();
    place.write("some.pgn", format!("[Event {}", games.join("[Event ")));
}

/// Learns a folder `models`, with these options, from the first of the shipped games.
pub(crate) fn learned(place: &Scratch, games: usize, options: &str) -> Done {
    some_games(place, games);
    run(place, &format!("learn some.pgn -o models {options}"))
}

/// Writes a shell script that can be run.
pub(crate) fn script(path: &Path, body: &str) {
    dbacl_testing::scripts::write(path, &format!("#!/bin/sh\n{body}\n"));
}
