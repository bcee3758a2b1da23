// SPDX-License-Identifier: GPL-3.0-or-later
//! Signals as flags, which are checked before each line is read (spec text 12).

use super::messages::MESSAGES;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What signals have asked for.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Reading should end, for either reason below.
    pub stop: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers. A signal whose handler cannot be installed keeps its usual effect.
    pub(super) fn install() -> Self {
        let signals = Self::default();
        for signal in [SIGTERM, SIGHUP, SIGQUIT, SIGINT] {
            let _ = flag::register(signal, Arc::clone(&signals.stop));
        }
        let _ = flag::register(SIGINT, Arc::clone(&signals.interrupt));
        let _ = flag::register(SIGUSR1, Arc::clone(&signals.reload));
        signals
    }

    /// Whether reading was asked to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the run was interrupted: nothing is to be written.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Whether categories should be loaded again; asks once per signal.
    pub(super) fn take_reload(&self) -> bool {
        self.reload.load(Ordering::Relaxed) && self.reload.swap(false, Ordering::Relaxed)
    }
    /// Says of such a signal that nothing is done, where there are no categories.
    pub(super) fn ignore_reload(&self) {
        if self.take_reload() {
            MESSAGES.signal("caught SIGUSR1 request, ignoring");
        }
    }
}
