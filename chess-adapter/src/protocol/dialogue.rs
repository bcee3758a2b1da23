// SPDX-License-Identifier: GPL-3.0-or-later
//! The dialogue over standard input and output: reads lines, calls the protocol, writes and flushes
//! (spec chess 7.1, 7.5).

use std::cell::Cell;
use std::io::{self, BufRead, Read as _, Write as _};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use chess_games::files::of_output;
use chess_games::notation::Spelling;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::play::classifier::{ChildProcesses, Program};
use crate::play::engine::Engine;
use crate::play::interrupts::Interrupts;
use crate::play::settings::Settings;
use crate::protocol::{Output, uci::Uci, xboard::Xboard};

/// Does what a line of the interface says; `false` once the dialogue is over.
pub type Answer = Box<dyn FnMut(&str) -> bool>;

/// A dialogue in UCI, or in XBoard's protocol, which appends finished games to `log`.
pub(super) fn dialogue(
    is_uci: bool,
    engine: Engine,
    name: String,
    log: Option<PathBuf>,
    out: Output,
) -> Answer {
    if is_uci {
        let mut uci = Uci::new(engine, name, out);
        Box::new(move |line| uci.answer(line))
    } else {
        let mut xboard = Xboard::new(engine, name, log, out);
        Box::new(move |line| xboard.answer(line))
    }
}

/// A dialogue with an engine that has no model, for checks of what interfaces may send.
pub fn without_models(is_uci: bool, out: Output) -> Answer {
    let program = Program {
        path: "/nonexistent".into(),
        args: Vec::new(),
        children: ChildProcesses::default(),
    };
    let engine = Engine::new(Settings::default(), program, Spelling::default());
    dialogue(is_uci, engine, "dbacl".to_owned(), None, out)
}

/// Longest line taken from an interface, bytes.
const MAX_LINE: u64 = 1 << 20;
/// How long an answer in progress may delay `quit`.
const QUIT_PATIENCE: Duration = Duration::from_millis(60);

/// Which protocol to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Protocol {
    /// The protocol that the first line names.
    #[default]
    Auto,
    /// XBoard's.
    Xboard,
    /// UCI.
    Uci,
}

/// How long a command in progress may delay `readyok`.
const READY_PATIENCE: Duration = Duration::from_millis(25);

/// A line of the interface.
struct Input {
    line: String,
    /// For `isready`: whether somebody has answered.
    answered: Arc<AtomicBool>,
}

/// The state that the reading thread shares with the thread that answers.
#[derive(Clone)]
struct Shared {
    /// Whether a command of UCI is being handled that `isready` does not wait for.
    busy: Arc<AtomicBool>,
    interrupts: Arc<Interrupts>,
    ended: Arc<AtomicBool>,
    children: ChildProcesses,
}

impl Shared {
    /// Answers `isready` unless its turn comes in time. It waits for short commands and for models
    /// to be loaded, but not for a search, which it does not end either.
    fn answer_in_time(&self, answered: Arc<AtomicBool>) {
        let busy = self.busy.clone();
        thread::spawn(move || {
            let mut since = Instant::now();
            while since.elapsed() < READY_PATIENCE && !answered.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
                if !busy.load(Ordering::SeqCst) {
                    since = Instant::now();
                }
            }
            if !answered.swap(true, Ordering::SeqCst) {
                let mut out = io::stdout().lock();
                let _ = writeln!(out, "readyok").and_then(|()| out.flush());
            }
        });
    }
}

/// What [`read_line`] found.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads one line. A line that is too long is skipped whole.
fn read_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Line> {
    bytes.clear();
    if input.take(MAX_LINE).read_until(b'\n', bytes)? == 0 {
        return Ok(Line::End);
    }
    if bytes.ends_with(b"\n") || (bytes.len() as u64) < MAX_LINE {
        return Ok(Line::Whole);
    }
    bytes.clear();
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

/// Sends lines, and `None` at the end of the input.
fn read_lines(lines: &mpsc::Sender<Option<Input>>, shared: &Shared) {
    let mut input = io::stdin().lock();
    let mut bytes = Vec::new();
    loop {
        match read_line(&mut input, &mut bytes) {
            Ok(Line::Whole) => {}
            Ok(Line::TooLong) => {
                let text = format!("a line of more than {MAX_LINE} bytes is ignored");
                dbacl_cli::arguments::say("chess-adapter", &text);
                continue;
            }
            Ok(Line::End) | Err(_) => {
                shared.interrupts.end();
                let _ = lines.send(None);
                return;
            }
        }
        let line = String::from_utf8_lossy(&bytes).trim().to_owned();
        let input = Input { line: line.clone(), answered: Arc::default() };
        if line == "quit" {
            shared.interrupts.stop_for_good();
            let _ = lines.send(Some(input));
            thread::sleep(QUIT_PATIENCE);
            shared.ended.store(true, Ordering::SeqCst);
            shared.children.close();
            return;
        }
        shared.interrupts.read(&line);
        let answered = input.answered.clone();
        if lines.send(Some(input)).is_err() {
            return;
        }
        if line == "isready" {
            shared.answer_in_time(answered);
        }
    }
}

/// Ends the dialogue on SIGTERM. SIGINT is ignored, because interfaces send it out of habit.
fn watch_signals(lines: mpsc::Sender<Option<Input>>, shared: Shared) -> Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).context("signals")?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTERM {
                shared.ended.store(true, Ordering::SeqCst);
                shared.interrupts.stop_for_good();
                shared.children.close();
                let _ = lines.send(None);
            }
        }
    });
    Ok(())
}

/// Plays until the interface ends it; the classifiers have ended when this returns.
pub(crate) fn run(
    engine: Engine,
    protocol: Protocol,
    name: &str,
    log: Option<&PathBuf>,
) -> Result<()> {
    let (lines, queue) = mpsc::channel();
    let shared = Shared {
        busy: Arc::default(),
        interrupts: engine.interrupts.clone(),
        ended: Arc::default(),
        children: engine.program.children.clone(),
    };
    watch_signals(lines.clone(), shared.clone())?;
    let reader = shared.clone();
    thread::spawn(move || read_lines(&lines, &reader));
    let done = converse(engine, protocol, name, log, &queue, &shared);
    shared.children.close();
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done.map_err(of_output)?),
    }
}

/// Writes lines to standard output and flushes each; the first error is kept in `failed`.
fn output(shared: &Shared, failed: &Rc<Cell<Option<io::Error>>>) -> Output {
    let (ended, failed) = (shared.ended.clone(), failed.clone());
    Box::new(move |line| {
        // What fails while ending is not news.
        if !ended.load(Ordering::SeqCst) {
            let mut out = io::stdout().lock();
            if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
                failed.set(Some(failed.take().unwrap_or(error)));
            }
        }
    })
}

fn converse(
    engine: Engine,
    protocol: Protocol,
    name: &str,
    log: Option<&PathBuf>,
    queue: &mpsc::Receiver<Option<Input>>,
    shared: &Shared,
) -> io::Result<()> {
    let Ok(Some(first)) = queue.recv() else { return Ok(()) };
    let is_uci = match protocol {
        Protocol::Auto => first.line == "uci",
        Protocol::Uci => true,
        Protocol::Xboard => false,
    };
    let failed = Rc::default();
    let out = output(shared, &failed);
    let mut answer = dialogue(is_uci, engine, name.to_owned(), log.cloned(), out);
    let mut next = Some(first);
    while let Some(Input { line, answered }) = next {
        let may_wait = matches!(line.as_str(), "uci" | "isready");
        shared.busy.store(is_uci && !may_wait, Ordering::SeqCst);
        shared.interrupts.take(&line);
        let goes_on = answered.swap(true, Ordering::SeqCst) || answer(&line);
        shared.busy.store(false, Ordering::SeqCst);
        if let Some(error) = failed.take() {
            return Err(error);
        }
        if !goes_on {
            return Ok(());
        }
        next = queue.recv().ok().flatten();
    }
    answer("quit");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_no_command() {
        let long = usize::try_from(MAX_LINE).expect("a megabyte");
        let text = format!("a\n{}quit\nb\n{}", " ".repeat(long), "x".repeat(long - 1));
        let (mut input, mut bytes) = (text.as_bytes(), Vec::new());
        for (line, found) in [("a\n", Line::Whole), ("", Line::TooLong), ("b\n", Line::Whole)] {
            assert_eq!(read_line(&mut input, &mut bytes).expect("memory"), found);
            assert_eq!(bytes, line.as_bytes());
        }
        assert_eq!(read_line(&mut input, &mut bytes).expect("memory"), Line::Whole);
        assert_eq!(read_line(&mut input, &mut bytes).expect("memory"), Line::End);
    }
}
