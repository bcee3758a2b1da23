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

use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;
use std::fs;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

static BEGINNING: OnceLock<[&'static str; 2]> = OnceLock::new();
static STATUS: AtomicU8 = AtomicU8::new(1);
/// The thread that ends the process, by the address of its `OWN`; 0 for none.
static ENDS: AtomicUsize = AtomicUsize::new(0);
static ACTION: OnceLock<fn()> = OnceLock::new();
thread_local! {
    /// Its address differs from thread to thread, on all systems, and takes no memory to ask for.
    static OWN: u8 = const { 0 };
}

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
/// only its text sets it apart from other panics. Should a later Rust change the text, that panic
/// is printed before our line.
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

/// The stack that the first thread may need, in bytes.
const STACK: usize = 256 << 10;

/// Has the stack of the first thread grow to what it may need, where the addresses of the process
/// are limited; ends the process if there are too few. Once they are used up, a stack that has to
/// grow ends the process by a signal, without a line.
pub fn grow_stack() {
    let limits = [Resource::As, Resource::Stack].map(|what| getrlimit(what).current);
    let [Some(addresses), stack] = limits else { return };
    if stack.is_some_and(|most| most < 2 * STACK as u64) {
        return;
    }
    let pages = || fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok();
    let Some(used) = pages().map(|pages: u64| pages.saturating_mul(page_size() as u64)) else {
        return;
    };
    if used.saturating_add(2 * STACK as u64) > addresses {
        end();
    }
    touch_stack();
}

/// Touches each page of so much stack.
#[inline(never)]
#[allow(clippy::large_stack_arrays, reason = "the stack is what is to grow")]
fn touch_stack() {
    black_box(&mut [MaybeUninit::<u8>::uninit(); STACK]);
}

/// Ends the process as when memory runs out: the line, the action, the status. Takes no memory.
/// Only one thread prints the line; the others stand still.
pub fn end() {
    let own = OWN.with(|own| std::ptr::from_ref(own).addr());
    if let Err(first) = ENDS.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        if first != own {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        signal_hook::low_level::exit(STATUS.load(Ordering::Relaxed).into());
    }
    // One write, so that no line of the C library comes between; there may be no memory for it.
    let (mut line, mut length) = ([0; 128], 0);
    let [program, mark] = BEGINNING.get().copied().unwrap_or_default();
    for part in [program, mark, "out of memory, giving up\n"] {
        if let Some(room) = line.get_mut(length..length + part.len()) {
            room.copy_from_slice(part.as_bytes());
            length += part.len();
        }
    }
    let _ = rustix::io::write(rustix::stdio::stderr(), &line[..length]);
    if let Some(action) = ACTION.get() {
        action();
    }
    signal_hook::low_level::exit(STATUS.load(Ordering::Relaxed).into());
}
