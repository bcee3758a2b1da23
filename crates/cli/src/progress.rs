// SPDX-License-Identifier: GPL-3.0-or-later
//! A line of progress on the terminal. It appears on standard error when a work takes longer than a
//! second, and never where standard error is a pipe or a file.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

/// No progress is shown for work that takes less.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(200);

/// How many calls of [`watch`] are running. Of nested calls only the innermost one is shown. A
/// process has one terminal, so this is one number for the process.
static DEPTH: AtomicUsize = AtomicUsize::new(0);
/// Whether there is a line on the terminal now.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Runs `work` and shows `what` as its progress. `part` may tell how much is done and how much
/// there is to do.
///
/// ```
/// let sum: u64 = dbacl_cli::progress::watch("adding", || None, || (1..=100).sum());
/// assert_eq!(sum, 5050);
/// ```
pub fn watch<T>(
    what: &'static str,
    part: impl Fn() -> Option<(u64, u64)> + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (finished, told) = mpsc::channel();
        let depth = DEPTH.fetch_add(1, Ordering::Relaxed) + 1;
        let is_innermost = move || DEPTH.load(Ordering::Relaxed) == depth;
        let draw = move || {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            show(&bar.with_message(what), &told, is_innermost, part);
        };
        // If no thread can be started, the work runs without progress.
        let _ = Builder::new().spawn_scoped(scope, draw);
        // Dropping this closes the channel, which ends the drawing thread, also when the work
        // panics.
        let _finished = Finished(finished);
        work()
    })
}

/// Closes the channel to the drawing thread when it is dropped.
struct Finished(#[allow(dead_code)] mpsc::Sender<()>);

impl Drop for Finished {
    fn drop(&mut self) {
        DEPTH.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Erases the line of progress, so that the program can print. The line is drawn again later.
pub fn give_way() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
}

/// Draws the line until the other end of `told` is dropped.
fn show(
    bar: &ProgressBar,
    told: &Receiver<()>,
    is_innermost: impl Fn() -> bool,
    part: impl Fn() -> Option<(u64, u64)>,
) {
    let style =
        |template| ProgressStyle::with_template(template).map(|one| one.progress_chars("#-"));
    let mut wait = PATIENCE;
    while told.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = BETWEEN;
        if !is_innermost() {
            continue;
        }
        let part = part();
        let template = match part {
            Some(_) => "{msg} [{bar:30}] {percent:>3} %, {eta} left",
            None => "{spinner} {msg} {elapsed}",
        };
        if let Ok(style) = style(template) {
            bar.set_style(style);
        }
        // Whatever changes the bar may draw it: the style is first.
        let (done, total) = part.unwrap_or((0, 0));
        if part.is_some() {
            bar.set_length(total.max(done).max(1));
        }
        bar.set_position(done);
        bar.tick();
        SHOWN.store(true, Ordering::Relaxed);
    }
    if SHOWN.swap(false, Ordering::Relaxed) {
        bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    /// What a terminal shows during and after a work of `length`.
    fn screens(length: Duration, part: Option<(u64, u64)>) -> (String, String) {
        let terminal = InMemoryTerm::new(5, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = ProgressBar::with_draw_target(None, target).with_message("reading");
        let (finished, told) = mpsc::channel();
        std::thread::scope(|scope| {
            let shows = scope.spawn(move || show(&bar, &told, || true, || part));
            std::thread::sleep(length);
            let during = terminal.contents();
            drop(finished);
            shows.join().expect("no panic");
            let moves = terminal.moves_since_last_check();
            assert!(!moves.contains("0/"), "a bar without style: {moves}");
            (during, terminal.contents())
        })
    }

    #[test]
    fn short_work_shows_nothing() {
        assert_eq!(screens(Duration::from_millis(1), None), (String::new(), String::new()));
    }

    #[test]
    fn long_work_shows_its_part_and_leaves_nothing() {
        let (during, after) = screens(PATIENCE * 2, Some((20, 60)));
        assert!(during.starts_with("reading [#########"), "{during}");
        assert!(during.contains(" 33 %, "), "{during}");
        assert_eq!(after, "");
        let (during, after) = screens(PATIENCE * 2, None);
        assert!(during.contains(" reading "), "{during}");
        assert_eq!(after, "");
    }
}
