// SPDX-License-Identifier: GPL-3.0-or-later
//! Whether standard output was closed when the program began, as by `>&-` in a shell.
//!
//! The standard library opens `/dev/null` in the place of a closed standard stream before `main`.
//! What is written then vanishes without an error, which a program that passes mail on must not
//! take for success. So the descriptor is looked at before, by a function that the system calls
//! before the standard library begins.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program began. Known on Linux only; elsewhere the
/// answer is no.
pub fn was_output_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod before_main {
    use super::{Ordering, WAS_CLOSED};

    extern "C" fn look() {
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        WAS_CLOSED.store(flags == Err(rustix::io::Errno::BADF), Ordering::Relaxed);
    }

    // SAFETY: the section holds addresses of functions that the C library calls before `main`, with
    // arguments that this function ignores, as the C calling convention allows. The function makes
    // one system call and sets an atomic value; it uses nothing that the standard library has to
    // prepare, and cannot panic.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
