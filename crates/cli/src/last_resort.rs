// SPDX-License-Identifier: GPL-3.0-or-later
//! The end of a program that runs out of memory where that cannot be reported as an error, or that
//! aborts for another reason: it prints one line, ends with a status, and may do something before.
//!
//! If a large buffer cannot be had, that is an ordinary error. But when a small allocation fails,
//! the standard library aborts the process: the status is 134, a memory image may be written, and a
//! mail that is being passed on would be lost. The handler that is installed here runs first.
//!
//! Registering the handler is one of two places of this crate with `unsafe`; `closed` has
//! the other.

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

static BEGINNING: OnceLock<[&'static str; 2]> = OnceLock::new();
static STATUS: AtomicU8 = AtomicU8::new(1);
static ACTION: OnceLock<fn()> = OnceLock::new();

/// From now on `program` prints a line and ends with a status when it would abort. Its name and
/// `mark` begin the line: `:error: ` in the programs of dbacl 1.14.1, `: ` in newer ones. A write
/// beyond the limit of a file's size fails, and no longer kills the process.
pub fn install(program: &'static str, mark: &'static str) {
    if BEGINNING.set([program, mark]).is_ok() {
        before_abort();
        before_panic();
        // A signal that is caught, unlike one that is ignored, has its usual effect in programs
        // that this one starts.
        let _ = flag::register(SIGXFSZ, Arc::default());
    }
}

/// The status of such an end.
pub fn set_status(status: u8) {
    STATUS.store(status, Ordering::Relaxed);
}

/// Has `action` called before such an end. It may neither allocate memory nor wait for a lock.
pub fn set_action(action: fn()) {
    let _ = ACTION.set(action);
}

/// Has [`end`] called before the process aborts, which it does when the system refuses memory.
#[allow(unsafe_code)]
fn before_abort() {
    // SAFETY: the action does only what a signal handler may: it writes to a descriptor, uses
    // atomic values, and ends the process; the documentation of `set_action` demands the same of
    // the program. Nothing but `abort` of this process raises the signal, in the thread that calls
    // it, at a place where it holds none of the locks that the action could want; sent from
    // outside, it finds the action using the same calls, none of which takes memory.
    let _ = unsafe { signal_hook::low_level::register(signal_hook::consts::SIGABRT, end) };
}

/// Has [`end`] called in place of the panic of the standard library where a new thread cannot have
/// the small stack on which it would report an overflow. That panic ends the process in any case;
/// only its text tells it from other panics. Should a later Rust change the text, that panic is
/// printed before our line.
fn before_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if text.is_some_and(|text| text.contains(" alternative stack")) {
            end();
        }
        usual(panic);
    }));
}

/// Ends the process as when memory runs out: the line, the action, the status. Takes no memory.
pub fn end() {
    // The pieces are written one by one, since there may be no memory to join them.
    let stderr = rustix::stdio::stderr();
    let [program, mark] = BEGINNING.get().copied().unwrap_or_default();
    for part in [program, mark, "out of memory, giving up\n"] {
        let _ = rustix::io::write(stderr, part.as_bytes());
    }
    if let Some(action) = ACTION.get() {
        action();
    }
    signal_hook::low_level::exit(STATUS.load(Ordering::Relaxed).into());
}
