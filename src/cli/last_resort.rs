// SPDX-License-Identifier: GPL-3.0-or-later
//! What a program does when memory that cannot be refused is not there, or when it must stop for
//! another reason that no error can tell: one line, a status, and perhaps something more.
//!
//! Large buffers are asked for so that a refusal is an error like others. A small one that is
//! refused makes the standard library abort the process: status 134, perhaps a memory image on the
//! disk, and a mail on its way would be lost. What is set here comes first.

use crate::alloc_hints::before_abort;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

static PROGRAM: OnceLock<&'static str> = OnceLock::new();
static STATUS: AtomicU8 = AtomicU8::new(1);
static ACTION: OnceLock<fn()> = OnceLock::new();

/// From now on `program` ends with a line and a status where it would abort.
pub fn install(program: &'static str) {
    if PROGRAM.set(program).is_ok() {
        before_abort(end);
    }
}

/// The status of such an end.
pub fn set_status(status: u8) {
    STATUS.store(status, Ordering::Relaxed);
}

/// Does `action` before such an end. It may neither take memory nor wait for a lock.
pub fn set_action(action: fn()) {
    let _ = ACTION.set(action);
}

fn end() {
    // Written piece by piece: there may be no memory to put them together.
    let stderr = rustix::stdio::stderr();
    for part in [PROGRAM.get().copied().unwrap_or_default(), ":error: out of memory, giving up\n"] {
        let _ = rustix::io::write(stderr, part.as_bytes());
    }
    if let Some(action) = ACTION.get() {
        action();
    }
    signal_hook::low_level::exit(STATUS.load(Ordering::Relaxed).into());
}
