// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks after inputs that are read on several processors: signals, and progress on a terminal.

use super::MESSAGES;
use super::config::Config;
use super::failure::{Failure, Kind};
use super::inputs;
use super::signals::Signals;
use crate::document::ReadOptions;
use crate::shards::parallel::{Inputs, Interrupted, Watcher};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Progress is shown after this time, and then as often as that.
const FIRST_NOTE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(50);

/// The inputs of a run.
pub fn inputs<'a>(
    config: &'a Config,
    reading: &'a ReadOptions,
    signals: &'a Signals,
) -> Inputs<'a> {
    Inputs {
        operands: &config.operands,
        reading,
        indented: config.indented,
        threads: config.threads,
        stop: &signals.stop,
        watcher: signals,
    }
}

impl Watcher for Signals {
    fn wait(&self, done: &AtomicU64, size: u64, has_ended: &dyn Fn() -> bool) {
        show_progress(done, size, || {
            if self.take_reload() {
                MESSAGES.signal("caught SIGUSR1 request, ignoring");
            }
            has_ended()
        });
    }

    fn is_wanted(&self) -> bool {
        inputs::after_signals(self, &mut false).is_ok()
    }
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        // The signal has been told.
        Self::silent(Kind::Interrupted)
    }
}

/// Shows on a terminal how far reading has got, until it has ended.
pub fn show_progress(done: &AtomicU64, size: u64, has_ended: impl Fn() -> bool) {
    let start = Instant::now();
    let mut stderr = io::stderr();
    let is_shown = stderr.is_terminal();
    let mut shown = false;
    let mut wait = Duration::from_millis(1);
    while !has_ended() {
        std::thread::sleep(wait);
        wait = (wait * 2).min(TICK);
        if is_shown && start.elapsed() > FIRST_NOTE {
            let done = done.load(Ordering::Relaxed);
            let percent = done.saturating_mul(100) / size.max(1);
            let _ = write!(stderr, "\r{percent:3}% of {} MB", size >> 20);
            shown = true;
        }
    }
    if shown {
        let _ = write!(stderr, "\r{:24}\r", "");
    }
}
