// SPDX-License-Identifier: GPL-3.0-or-later
//! A line on the terminal while something takes time.

use crate::protocol::Meter;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What is done in less needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(200);
const WIDTH: usize = 30;

/// Does `work` and shows on standard error, if that is a terminal, how far `meter` has come.
pub fn watch<T>(meter: &Meter, is_quiet: bool, work: impl FnOnce() -> T) -> T {
    if is_quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (finished, told) = mpsc::channel::<()>();
        scope.spawn(move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut shown = false;
            while told.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = BETWEEN;
                shown = true;
                let (done, total) = meter.read();
                let _ = write!(std::io::stderr(), "\r{}\x1b[K", line(done, total, start.elapsed()));
            }
            if shown {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        let result = work();
        drop(finished);
        result
    })
}

#[allow(clippy::cast_precision_loss)] // numbers of documents
fn line(done: usize, total: usize, elapsed: Duration) -> String {
    let total = total.max(done).max(1);
    let filled = WIDTH * done / total;
    let mut text = format!(
        "[{}{}] {:3} %",
        "#".repeat(filled),
        "-".repeat(WIDTH - filled),
        100 * done / total
    );
    if done > 0 && done < total {
        let left = elapsed.mul_f64((total - done) as f64 / done as f64).as_secs();
        let _ = write!(text, ", {}:{:02} left", left / 60, left % 60);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_tells_share_and_time_left() {
        let line = |done| line(done, 60, Duration::from_secs(50));
        assert_eq!(line(20), "[##########--------------------]  33 %, 1:40 left");
        assert_eq!(line(60), format!("[{}] 100 %", "#".repeat(30)));
        assert_eq!(line(0), format!("[{}]   0 %", "-".repeat(30)));
    }
}
