// SPDX-License-Identifier: GPL-3.0-or-later
//! Signals and progress while inputs are read on several processors.

use super::failure::{Failure, Kind};
use super::inputs;
use super::jobs::Reading;
use super::signals::Signals;
use crate::document::ReadOptions;
use crate::shards::parallel::{Inputs, Interrupted, Watcher};
use dbacl_cli::progress;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The longest time between two checks whether reading has ended.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn inputs<'a>(
    reading: &'a Reading,
    options: &'a ReadOptions,
    threads: Option<usize>,
    signals: &'a Signals,
) -> Inputs<'a> {
    Inputs {
        operands: &reading.operands,
        reading: options,
        indented: reading.indented,
        threads,
        stop: &signals.stop,
        watcher: signals,
    }
}

impl Watcher for Signals {
    fn wait(&self, done: &AtomicU64, size: u64, has_ended: &dyn Fn() -> bool) {
        let part = || Some((done.load(Ordering::Relaxed), size));
        progress::watch("reading", part, || {
            let mut pause = Duration::from_millis(1);
            while !has_ended() {
                self.ignore_reload();
                std::thread::sleep(pause);
                pause = (pause * 2).min(TICK);
            }
        });
    }

    fn is_wanted(&self) -> bool {
        inputs::after_signals(self, &mut false).is_ok()
    }
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        // The message about the signal was printed before.
        Self::silent(Kind::Interrupted)
    }
}
