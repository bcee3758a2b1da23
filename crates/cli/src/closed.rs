// SPDX-License-Identifier: GPL-3.0-or-later
//! Whether standard output was closed when the program began, as by `>&-` in a shell.
//!
//! The standard library opens `/dev/null` in the place of a closed standard stream before `main`.
//! What is written then vanishes without an error, which no program may take for success. So a
//! function that the system calls before the standard library begins looks at the descriptor, and
//! puts a device in its place that takes nothing. Linux only.

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
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::{AsRawFd as _, IntoRawFd as _};

    extern "C" fn look() {
        if rustix::io::fcntl_getfd(rustix::stdio::stdout()) != Err(rustix::io::Errno::BADF) {
            return;
        }
        WAS_CLOSED.store(true, Ordering::Relaxed);
        let full = rustix::fs::open(c"/dev/full", OFlags::WRONLY, Mode::empty());
        // The lowest free number may be that of standard output already.
        match full {
            Ok(full) if full.as_raw_fd() == 1 => drop(full.into_raw_fd()),
            Ok(full) => drop(rustix::stdio::dup2_stdout(full)),
            Err(_) => {}
        }
    }

    // SAFETY: the section holds addresses of functions that the C library calls before `main`, with
    // arguments that this function ignores, as the C calling convention allows. The function makes
    // system calls and sets an atomic value; it uses nothing that the standard library has to
    // prepare, takes no memory, and cannot panic.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
