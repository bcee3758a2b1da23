// SPDX-License-Identifier: GPL-3.0-or-later
//! Standard output and standard error of a program.

use crate::closed::was_output_closed;
use crate::progress;
use crate::terminal::Shown;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are collected before they are written, as in the C library.
const BLOCK: usize = 4096;

/// Standard output: in blocks, or by lines on a terminal.
pub struct Output {
    stdout: Shown<StdoutLock<'static>>,
    waiting: Vec<u8>,
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Output {
    /// The program's standard output.
    pub fn new() -> Self {
        let stdout = Shown::new(io::stdout().lock());
        Self { stdout, waiting: Vec::with_capacity(2 * BLOCK) }
    }

    /// The bytes that are not written yet; the next [`Self::spill`] writes what is appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.waiting
    }

    /// Writes what fills whole blocks, or whole lines on a terminal.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn spill(&mut self) -> io::Result<()> {
        let length = if self.stdout.is_terminal() {
            self.waiting.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
        } else {
            self.waiting.len() / BLOCK * BLOCK
        };
        if length > 0 {
            self.write(length)?;
            self.waiting.drain(..length);
        }
        Ok(())
    }

    /// Writes everything.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write(self.waiting.len())?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes the first `length` bytes past the standard library's line buffer.
    fn write(&mut self, length: usize) -> io::Result<()> {
        if self.stdout.is_terminal() && length > 0 {
            progress::give_way();
        }
        self.stdout.write_all(&self.waiting[..length])?;
        self.stdout.flush()
    }
}

/// Standard error: messages with the program's name before them.
#[derive(Debug)]
pub struct Messages {
    program: &'static str,
    is_classic: bool,
    is_quiet: AtomicBool,
}

impl Messages {
    /// Messages of `program` in the form of dbacl 1.14.1: `PROGRAM:error: TEXT`.
    pub const fn of(program: &'static str) -> Self {
        Self { program, is_classic: true, is_quiet: AtomicBool::new(false) }
    }

    /// Messages of a newer `program`: `PROGRAM: TEXT` for errors, `PROGRAM: warning: TEXT` for
    /// others.
    pub const fn plain(program: &'static str) -> Self {
        Self { program, is_classic: false, is_quiet: AtomicBool::new(false) }
    }

    /// Writes an error.
    pub fn error(&self, text: &str) {
        self.line("error", text);
    }

    /// Writes a warning, unless warnings are not wanted.
    pub fn warning(&self, text: &str) {
        if !self.is_quiet() {
            self.line("warning", text);
        }
    }

    /// Says on a terminal that another process is waited for, which changes the file at `path`.
    pub fn waiting(&self, path: &Path) {
        if io::stderr().is_terminal() {
            self.warning(&format!("waiting for another process to change {}", path.display()));
        }
    }

    /// Writes a hint.
    pub fn hint(&self, text: &str) {
        self.line("hint", text);
    }

    /// From now on warnings are left out.
    pub fn be_quiet(&self) {
        self.is_quiet.store(true, Ordering::Relaxed);
    }

    /// Whether warnings are left out.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// Writes what a signal did.
    pub fn signal(&self, text: &str) {
        self.line("signal", text);
    }

    fn line(&self, kind: &str, text: &str) {
        // A name with a line end in it must not look like a second message in a log. The one text
        // of dbacl 1.14.1 that has several lines indents them.
        let (text, end) = text.strip_suffix('\n').map_or((text, ""), |text| (text, "\n"));
        let text = text.replace('\n', "^J").replace("^J ", "\n ") + end;
        let line = match (self.is_classic, kind) {
            (true, _) => format!("{}:{kind}: {text}", self.program),
            (false, "error") => format!("{}: {text}", self.program),
            (false, _) => format!("{}: {kind}: {text}", self.program),
        };
        raw(line.as_bytes());
    }
}

/// Writes `text` to standard output at once. A terminal is shown its control characters.
///
/// # Errors
/// Those of the operating system.
pub fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = Shown::new(io::stdout().lock());
    stdout.write_all(text)?;
    stdout.flush()
}

/// What is said when standard output cannot be written; nothing if its reader has gone away.
pub fn complaint(error: &io::Error) -> Option<String> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => None,
        _ if was_output_closed() => Some("cannot write standard output: it is closed".to_owned()),
        _ => Some(format!("cannot write standard output: {error}")),
    }
}

/// Writes a line on standard error. A failure is ignored, since it could not be reported anywhere.
pub fn raw(line: &[u8]) {
    progress::give_way();
    let _ = Shown::new(io::stderr()).write_all(&[line, b"\n"].concat());
}
