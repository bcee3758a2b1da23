// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail on its way through the filter: it comes out whole, with one line more, whatever happens.
//!
//! ```text
//! stdin ─→ read, as far as memory goes ─→ verdict, or `error` ─→ header without older verdicts ─→ stdout
//!                              └──────────── what found no memory, block by block ────────────┘
//! ```
//!
//! Reading takes one byte of memory a byte of mail, and judging looks at the first 8 MB. When memory
//! is short after all, what would end the process passes the mail on first ([`on_abort`]).

use super::super::MESSAGES;
use super::super::failure::{Failure, Kind, output_failure};
use super::super::signals::Signals;
use crate::cli::last_resort;
use crate::input::verdict_header::{NAME, begins};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// Bytes of a mail that are judged at most. What says what a mail is stands before that, and a limit
/// bounds memory and time.
const JUDGED: usize = 8 << 20;

/// Bytes moved at a time.
const BLOCK: usize = 1 << 16;

/// Of a line that begins as a verdict, so much is looked at until the colon.
const LOOK: usize = 64;

/// How long a signal that comes just before the wait can stay unnoticed.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The verdict on a mail that cannot be judged.
const ERROR: &[u8] = b"error";

/// The mail as far as it was read.
static MAIL: OnceLock<&'static [u8]> = OnceLock::new();
/// Whether all of it was.
static IS_WHOLE: AtomicBool = AtomicBool::new(false);
/// Whether it is on its way out.
static IS_OUT: AtomicBool = AtomicBool::new(false);
/// Memory for the way out that is there from the beginning.
static ROOM: Mutex<Room> = Mutex::new(Room { out: [0; BLOCK], block: [0; BLOCK] });

struct Room {
    out: [u8; BLOCK],
    block: [u8; BLOCK],
}

/// Passes the mail on standard input on, with the line that `judge` makes of it. Whatever happens the
/// mail comes through; a verdict line that it brought does not.
///
/// # Errors
/// Output that cannot be written; a signal before the mail's end; with strict statuses also what kept
/// a verdict from being made.
pub fn filter(
    judge: impl FnOnce(&[u8]) -> Result<Vec<u8>, Failure>,
    strict: bool,
    signals: &Signals,
) -> Result<u8, Failure> {
    last_resort::set_action(on_abort);
    let (mail, fault) = read(signals)?;
    let mail: &'static [u8] = Vec::leak(mail);
    IS_WHOLE.store(fault.is_none(), Ordering::SeqCst);
    let _ = MAIL.set(mail);
    let judged = match fault {
        Some(failure) => Err(failure),
        None => judge(beginning(mail)),
    };
    let (line, failure) = match judged {
        Ok(line) => (line, None),
        Err(failure) => (ERROR.to_vec(), Some(failure)),
    };
    // Before the mail, which may be long on its way.
    if let Some(failure) = failure.as_ref().filter(|_| !strict) {
        failure.lines.iter().for_each(|line| MESSAGES.error(line));
    }
    pass(&line).map_err(|error| output_failure(&error))?;
    match failure {
        Some(failure) if strict => Err(failure),
        _ => Ok(0),
    }
}

/// What is judged of a mail: all of it, or whole lines of its beginning.
fn beginning(mail: &[u8]) -> &[u8] {
    let Some(beginning) = mail.get(..JUDGED) else { return mail };
    let end = memchr::memrchr(b'\n', beginning).map_or(JUDGED, |at| at + 1);
    &beginning[..end]
}

/// Reads standard input as far as memory goes; why that is not to its end.
fn read(signals: &Signals) -> Result<(Vec<u8>, Option<Failure>), Failure> {
    let mut mail: Vec<u8> = Vec::new();
    // The size of a file is known.
    let length = rustix::fs::fstat(stdin()).map_or(0, |stat| stat.st_size);
    let _ = mail.try_reserve_exact(usize::try_from(length).unwrap_or(0).saturating_add(1));
    let cannot =
        |error: io::Error| Failure::new(Kind::NoInput, format!("cannot read the mail: {error}"));
    loop {
        if signals.stopped() {
            let text = "stopped before the end of the mail; nothing was passed on";
            return Err(Failure::new(Kind::Interrupted, text));
        }
        if mail.len() == mail.capacity() && mail.try_reserve(BLOCK).is_err() {
            let text = format!("no memory to judge a mail of more than {} bytes", mail.len());
            return Ok((mail, Some(Failure::new(Kind::Resources, text))));
        }
        let stdin = stdin();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            // Nobody can be waited for; reading tells what is wrong.
            Ok(_) | Err(_) => {}
        }
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut mail)) {
            Ok(0) => return Ok((mail, None)),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Ok((mail, Some(cannot(error.into())))),
        }
    }
}

/// Passes the mail on as one that could not be judged, where the process would end without.
fn on_abort() {
    if !IS_OUT.load(Ordering::SeqCst) && pass(ERROR).is_ok() {
        last_resort::set_status(if STRICT.load(Ordering::SeqCst) { 75 } else { 0 });
    }
}

/// Whether statuses are those of strict mode.
static STRICT: AtomicBool = AtomicBool::new(false);

/// Says that statuses are those of strict mode.
pub fn be_strict() {
    STRICT.store(true, Ordering::SeqCst);
}

/// Writes the mail with its verdict; what was not read yet follows block by block. Takes no memory.
fn pass(verdict: &[u8]) -> io::Result<()> {
    IS_OUT.store(true, Ordering::SeqCst);
    let mut room = ROOM.try_lock().map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
    let Room { out, block } = &mut *room;
    let mut mail = MAIL.get().copied().unwrap_or_default();
    let is_whole = IS_WHOLE.load(Ordering::SeqCst);
    let mut first = 0;
    if mail.is_empty() && !is_whole {
        // Enough to see how it begins.
        while first < BLOCK {
            match read_some(&mut block[first..])? {
                0 => break,
                read => first += read,
            }
        }
    }
    let start = if first > 0 { &block[..first] } else { mail };
    let line_end: &[u8] = match memchr::memchr(b'\n', start) {
        Some(at) if at > 0 && start[at - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    };
    let mut gather = Gather { room: out, filled: 0 };
    let mut is_said = false;
    let say = |gather: &mut Gather<'_>| {
        [b"X-DBACL: ", verdict, line_end].iter().try_for_each(|part| gather.push(part))
    };
    let mut keep = |piece: &[u8]| -> io::Result<()> {
        let is_first = !std::mem::replace(&mut is_said, true);
        let is_envelope = is_first && piece.starts_with(b"From ") && piece.ends_with(b"\n");
        if is_first && !is_envelope {
            say(&mut gather)?;
        }
        gather.push(piece)?;
        if is_envelope { say(&mut gather) } else { Ok(()) }
    };
    let mut remover = Remover::default();
    if first > 0 {
        remover.feed(&block[..first], &mut keep)?;
        mail = &[];
    }
    remover.feed(mail, &mut keep)?;
    if !is_whole {
        loop {
            match read_some(block)? {
                0 => break,
                read => remover.feed(&block[..read], &mut keep)?,
            }
        }
    }
    remover.finish(&mut keep)?;
    if !is_said {
        say(&mut gather)?;
    }
    gather.flush()
}

fn read_some(block: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(stdin(), &mut *block) {
            Err(rustix::io::Errno::INTR) => {}
            // What cannot be read ends the mail.
            Err(rustix::io::Errno::IO) => return Ok(0),
            read => return Ok(read?),
        }
    }
}

/// Small pieces on their way to standard output, together.
struct Gather<'a> {
    room: &'a mut [u8; BLOCK],
    filled: usize,
}

impl Gather<'_> {
    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.filled + piece.len() > BLOCK {
            self.flush()?;
        }
        if piece.len() >= BLOCK {
            return write_all(piece);
        }
        self.room[self.filled..][..piece.len()].copy_from_slice(piece);
        self.filled += piece.len();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let filled = std::mem::take(&mut self.filled);
        write_all(&self.room[..filled])
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Takes the verdicts that a mail brings out of its header, in pieces of any size.
struct Remover {
    place: Place,
    /// The beginning of a line that does not tell yet what it is.
    held: [u8; LOOK],
    length: usize,
    /// Whether the header line before was taken out; lines that go on with it are, too.
    drops: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Kept,
    Dropped,
    Body,
}

type Keep<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

impl Default for Remover {
    fn default() -> Self {
        Self { place: Place::Start, held: [0; LOOK], length: 0, drops: false }
    }
}

impl Remover {
    /// Takes the next piece of the mail; `keep` gets what stays, lines of the header one by one where
    /// the piece holds them whole.
    fn feed(&mut self, mut bytes: &[u8], keep: Keep<'_>) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.place {
                Place::Body => return keep(bytes),
                Place::Start if self.length == 0 => {
                    if let Some(place) = kind(&bytes[..bytes.len().min(LOOK)], self.drops) {
                        self.enter(place);
                    } else {
                        self.held[..bytes.len()].copy_from_slice(bytes);
                        self.length = bytes.len();
                        return Ok(());
                    }
                }
                Place::Start => {
                    self.held[self.length] = bytes[0];
                    self.length += 1;
                    bytes = &bytes[1..];
                    let held = self.held;
                    let held = &held[..self.length];
                    if let Some(place) = kind(held, self.drops) {
                        self.length = 0;
                        self.enter(place);
                        if place != Place::Dropped {
                            keep(held)?;
                        }
                        if place != Place::Body && held.ends_with(b"\n") {
                            self.place = Place::Start;
                        }
                    }
                }
                Place::Kept | Place::Dropped => {
                    let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
                    let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    if self.place == Place::Kept {
                        keep(line)?;
                    }
                    if end.is_some() {
                        self.place = Place::Start;
                    }
                    bytes = rest;
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, place: Place) {
        self.place = place;
        self.drops = place == Place::Dropped;
    }

    /// Ends the mail.
    fn finish(self, keep: Keep<'_>) -> io::Result<()> {
        keep_some(&self.held[..self.length], keep)
    }
}

fn keep_some(bytes: &[u8], keep: Keep<'_>) -> io::Result<()> {
    if bytes.is_empty() { Ok(()) } else { keep(bytes) }
}

/// What the line is that begins so; `None` if more of it is needed. `drops` says what became of the
/// line before.
fn kind(line: &[u8], drops: bool) -> Option<Place> {
    if line.starts_with(b"\n") || line.starts_with(b"\r\n") {
        return Some(Place::Body);
    }
    if matches!(line[0], b' ' | b'\t') {
        return Some(if drops { Place::Dropped } else { Place::Kept });
    }
    if begins(line) {
        return Some(Place::Dropped);
    }
    if line == b"\r" {
        return None;
    }
    let length = line.len().min(NAME.len());
    let is_name = line[..length].eq_ignore_ascii_case(&NAME[..length]);
    let goes_on = is_name && line[length..].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    match goes_on {
        // So many blanks have no other use than to hide a verdict.
        true if line.len() == LOOK => Some(Place::Dropped),
        true => None,
        false => Some(Place::Kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a mail that comes in pieces of `size` bytes.
    fn removed(mail: &[u8], size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut remover = Remover::default();
        let mut keep = |piece: &[u8]| {
            out.extend_from_slice(piece);
            Ok(())
        };
        for piece in mail.chunks(size) {
            remover.feed(piece, &mut keep).unwrap();
        }
        remover.finish(&mut keep).unwrap();
        out
    }

    #[test]
    fn forged_verdicts_are_taken_out_of_the_header_only() {
        let hidden = format!("A: b\nX-DBACL{}: ham\nC: d\n\n", " ".repeat(100));
        for (mail, expected) in [
            ("A: b\n\nX-DBACL: ham\n", "A: b\n\nX-DBACL: ham\n"),
            ("x-dbacl: ham\n 100%\nA: b\n\nc\n", "A: b\n\nc\n"),
            ("From a\nA: b\nX-Dbacl:ham\n\n", "From a\nA: b\n\n"),
            ("From a\r\nX-DBACL \t: ham\r\n\r\n\r\n", "From a\r\n\r\n\r\n"),
            ("A: b\n\tX-DBACL: c\n\n", "A: b\n\tX-DBACL: c\n\n"),
            ("X-DBACL-Other: d\r\n\r\n", "X-DBACL-Other: d\r\n\r\n"),
            ("X-DBACL: no end", ""),
            ("X-DBACL: a\nX-DBACL: b\n c\n d\nE: f\n g\n", "E: f\n g\n"),
            ("X-DBACL", "X-DBACL"),
            ("X-DBACL\nX\nx-d: e\n\r", "X-DBACL\nX\nx-d: e\n\r"),
            ("A: b\rX-DBACL: c\n\rX-DBACL: d\n\n", "A: b\rX-DBACL: c\n\rX-DBACL: d\n\n"),
            (hidden.as_str(), "A: b\nC: d\n\n"),
            ("", ""),
        ] {
            for size in 1..=mail.len().max(1) {
                let found = removed(mail.as_bytes(), size);
                assert_eq!(found, expected.as_bytes(), "{mail:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn whole_lines_are_judged_of_a_large_mail() {
        let line = b"so many words in a line\n";
        let mail = line.repeat(JUDGED / line.len() + 2);
        let found = beginning(&mail);
        assert!(found.len() <= JUDGED && found.len() > JUDGED - line.len());
        assert!(found.ends_with(b"line\n"));
        assert_eq!(beginning(line), line);
        let long = vec![b'x'; JUDGED + 1];
        assert_eq!(beginning(&long).len(), JUDGED);
    }
}
