// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs long work without holding the interpreter, so that Ctrl-C can end it.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The time between two checks for signals.
const OFTEN: Duration = Duration::from_millis(50);

/// Messages from the working thread.
pub enum Said<T> {
    /// A line to be shown.
    Line(String),
    /// The result.
    Done(T),
}

/// What happens to the work after a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The work changes only its own memory, so it is left to end by itself.
    Leave,
    /// The work changes files, so its end is waited for.
    Wait,
}

/// Runs `work` on a thread of its own. Its lines are handed to `told`. An exception that a signal
/// or `told` raises sets `stop` and is the result.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    after: After,
    work: impl FnOnce(Sender<Said<T>>) -> T + Send + 'static,
    told: &mut dyn FnMut(String) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name("dbacl".into()).spawn(move || {
        let done = work(sender.clone());
        // The receiver may be gone after an exception.
        let _ = sender.send(Said::Done(done));
    })?;
    let mut failure = None;
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let said = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            receiver.recv_timeout(OFTEN)
        });
        let news = match said {
            Ok(Said::Done(done)) => {
                let _ = thread.join();
                return failure.map_or(Ok(done), Err);
            }
            Ok(Said::Line(line)) if failure.is_none() => told(line),
            Ok(Said::Line(_)) | Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                // The thread has ended without a result: it panicked and has printed its message.
                let what = "dbacl failed: this is an error of the program";
                return Err(pyo3::exceptions::PyRuntimeError::new_err(what));
            }
        };
        if failure.is_none()
            && let Err(error) = news.and_then(|()| py.check_signals())
        {
            stop.store(true, Ordering::Relaxed);
            if after == After::Leave {
                return Err(error);
            }
            failure = Some(error);
        }
    }
}
