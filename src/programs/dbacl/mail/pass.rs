// SPDX-License-Identifier: GPL-3.0-or-later
//! Passes a message through the filter, or each message of a mailbox file. The mail comes out whole
//! with one more line for each message, whatever happens.
//!
//! ```text
//! stdin ─→ read, as far as memory goes ─→ verdict, or `error` ─→ header without old ones ─→ stdout
//!                            └─────────── what found no memory, block by block ───────────┘
//! ```
//!
//! Reading takes one byte of memory for each byte of mail, and only the first 8 MB are classified.
//! If memory runs out, the mail is passed on before the process ends ([`on_abort`]).

use super::super::failure::{Failure, Kind, output_failure, unopened, usage};
use super::super::hints;
use super::super::messages::tell;
use super::super::signals::Signals;
use crate::alloc_hints::{try_room, trying};
use crate::mail::reader::{Part, parts};
use crate::mail::verdict_header::Marker;
use crate::sets::ERROR;
use dbacl_cli::closed::was_output_closed;
use dbacl_cli::last_resort;
use dbacl_cli::terminal::each_visible;
use dbacl_files::reading::open_at_once;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::stdio::{dup2_stdin, stdin, stdout};
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Bytes moved at a time.
const BLOCK: usize = 1 << 16;

/// How long a signal that comes just before the wait can stay unnoticed.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The mail as far as it was read.
static MAIL: OnceLock<&'static [u8]> = OnceLock::new();
/// Whether all of it was.
static IS_WHOLE: AtomicBool = AtomicBool::new(false);
/// Its messages, and how many of them were written.
static PARTS: OnceLock<Vec<Part<'static>>> = OnceLock::new();
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
/// Whether writing a message has begun, and no other follows.
static IS_OUT: AtomicBool = AtomicBool::new(false);
/// Memory for writing the mail, taken at the start.
static BUFFERS: Mutex<Buffers> = Mutex::new(Buffers { out: [0; BLOCK], block: [0; BLOCK] });

struct Buffers {
    out: [u8; BLOCK],
    block: [u8; BLOCK],
}

/// Lets the message come from the file that `operands` name instead of standard input.
pub(crate) fn take_input(operands: &[OsString]) -> Result<(), Failure> {
    let [operand] = operands else {
        if operands.is_empty() && io::stdin().is_terminal() {
            hints::give(hints::TYPED);
        }
        return match operands {
            [] => Ok(()),
            _ => usage("--mail-filter takes one file at a time"),
        };
    };
    let unopened = |error: io::Error| unopened(Path::new(operand), &error);
    let file = open_at_once(Path::new(operand)).map_err(unopened)?;
    if file.metadata().map_err(unopened)?.is_dir() {
        return Err(unopened(io::ErrorKind::IsADirectory.into()));
    }
    dup2_stdin(file).map_err(|error| unopened(error.into()))
}

/// Passes on the mail on standard input, with the line that `verdict` returns; if it is a mailbox
/// and `splits`, each of its messages. Whatever happens the mail comes through; a verdict line that
/// it brought does not.
pub(crate) fn filter(
    mut verdict: impl FnMut(&[u8]) -> Result<Vec<u8>, Failure>,
    splits: bool,
    strict: bool,
    signals: &Signals,
) -> Result<u8, Failure> {
    if was_output_closed() {
        let text = "standard output is closed; the mail was not read, and not passed on";
        return Err(Failure::new(Kind::Write, text));
    }
    last_resort::set_action(on_abort);
    let (mail, mut fault) = read(signals)?;
    let mail: &'static [u8] = Vec::leak(mail);
    IS_WHOLE.store(fault.is_none(), Ordering::SeqCst);
    let _ = MAIL.set(mail);
    let parts = if splits && fault.is_none() { parts(mail) } else { vec![Part::whole(mail)] };
    let parts = PARTS.get_or_init(|| parts);
    let mut failed: Option<Failure> = None;
    for (number, part) in parts.iter().enumerate() {
        let made = match fault.take() {
            Some(failure) => Err(failure),
            None => verdict(&part.message),
        };
        let line = made.unwrap_or_else(|failure| {
            // What keeps all messages of a mailbox from a verdict is said once, and before the
            // message is written, which may take long.
            let is_new = failed.as_ref().is_none_or(|last| last.lines != failure.lines);
            if is_new && !strict {
                tell(&failure);
            }
            failed = Some(failure);
            ERROR.to_vec()
        });
        pass(part.before, part.bytes, &line).map_err(|error| output_failure(&error))?;
        WRITTEN.store(number + 1, Ordering::SeqCst);
        IS_OUT.store(number + 1 == parts.len(), Ordering::SeqCst);
    }
    match failed {
        Some(failure) if strict => Err(failure),
        _ => Ok(0),
    }
}

/// Reads standard input as far as there is memory. Also returns why it was not read to its end, if
/// so.
fn read(signals: &Signals) -> Result<(Vec<u8>, Option<Failure>), Failure> {
    let mut mail: Vec<u8> = Vec::new();
    // The size of a regular file is known, and it need not be waited for.
    let (length, waits) = rustix::fs::fstat(stdin())
        .map_or((0, true), |stat| (stat.st_size, !FileType::from_raw_mode(stat.st_mode).is_file()));
    let _ = try_room(&mut mail, usize::try_from(length).unwrap_or(0).saturating_add(1));
    let cannot =
        |error: io::Error| Failure::new(Kind::NoInput, format!("cannot read the mail: {error}"));
    loop {
        if signals.stopped() {
            let text = "stopped before the end of the mail; nothing was passed on";
            return Err(Failure::new(Kind::Interrupted, text));
        }
        if mail.len() == mail.capacity() && trying(|| mail.try_reserve(BLOCK)).is_err() {
            let text = format!("no memory to classify a message of more than {} bytes", mail.len());
            return Ok((mail, Some(Failure::new(Kind::Resources, text))));
        }
        let stdin = stdin();
        // If waiting fails, reading reports the error.
        let ready = || poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE));
        if waits && matches!(ready(), Ok(0) | Err(Errno::INTR)) {
            continue;
        }
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut mail)) {
            Ok(0) => return Ok((mail, None)),
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Ok((mail, Some(cannot(error.into())))),
        }
    }
}

/// Passes on what is not written yet as mail that could not be classified, when the process is
/// about to abort.
fn on_abort() {
    if IS_OUT.load(Ordering::SeqCst) {
        return;
    }
    let mail = MAIL.get().copied().unwrap_or_default();
    let passed = match PARTS.get() {
        Some(parts) => {
            let rest = &parts[WRITTEN.load(Ordering::SeqCst)..];
            rest.iter().try_for_each(|part| pass(part.before, part.bytes, ERROR))
        }
        None => pass(&[], mail, ERROR),
    };
    if passed.is_ok() {
        last_resort::set_status(if STRICT.load(Ordering::SeqCst) { 75 } else { 0 });
    }
}

/// Whether statuses are those of strict mode.
static STRICT: AtomicBool = AtomicBool::new(false);

/// Sets statuses to those of strict mode.
pub(crate) fn be_strict() {
    STRICT.store(true, Ordering::SeqCst);
}

/// Writes a message with its verdict, after what stands before it; what was not read yet follows in
/// blocks. Takes no memory.
fn pass(before: &[u8], mut mail: &[u8], verdict: &[u8]) -> io::Result<()> {
    IS_OUT.store(true, Ordering::SeqCst);
    let mut buffers = BUFFERS.try_lock().map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
    let Buffers { out, block } = &mut *buffers;
    let is_whole = IS_WHOLE.load(Ordering::SeqCst);
    let mut first = 0;
    if mail.is_empty() && !is_whole {
        // Enough is read to recognise the beginning of the mail.
        while first < BLOCK {
            match read_some(&mut block[first..]) {
                0 => break,
                read => first += read,
            }
        }
    }
    let start = if first > 0 { &block[..first] } else { mail };
    let mut marker = Marker::new(verdict, start);
    let mut gather = Gather { buffer: out, filled: 0, is_terminal: stdout().is_terminal() };
    let mut keep = |piece: &[u8]| gather.push(piece);
    keep(before)?;
    if first > 0 {
        marker.feed(&block[..first], &mut keep)?;
        mail = &[];
    }
    marker.feed(mail, &mut keep)?;
    if !is_whole {
        loop {
            match read_some(block) {
                0 => break,
                read => marker.feed(&block[..read], &mut keep)?,
            }
        }
    }
    marker.finish(&mut keep)?;
    gather.flush()
}

fn read_some(block: &mut [u8]) -> usize {
    loop {
        match rustix::io::read(stdin(), &mut *block) {
            Err(Errno::INTR) => {}
            // Input that is not there yet is waited for. If waiting fails, reading says why.
            Err(Errno::AGAIN) => {
                let stdin = stdin();
                let _ = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE));
            }
            // What cannot be read ends the mail; that was said when reading failed first.
            Err(_) => return 0,
            Ok(read) => return read,
        }
    }
}

/// Collects small pieces for standard output. A terminal gets each piece at once, with its control
/// characters shown.
struct Gather<'a> {
    buffer: &'a mut [u8; BLOCK],
    filled: usize,
    is_terminal: bool,
}

impl Gather<'_> {
    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.is_terminal {
            return each_visible(piece, &mut write_all);
        }
        if self.filled + piece.len() > BLOCK {
            self.flush()?;
        }
        if piece.len() >= BLOCK {
            return write_all(piece);
        }
        self.buffer[self.filled..][..piece.len()].copy_from_slice(piece);
        self.filled += piece.len();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let filled = std::mem::take(&mut self.filled);
        write_all(&self.buffer[..filled])
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
