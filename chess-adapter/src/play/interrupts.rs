// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines of the interface that arrive while the engine searches.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chess_games::notation;

/// What a line means for a search in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Begins to look for a move.
    Start,
    Stop,
    /// The answer is no longer wanted.
    Abandon,
    /// The expected move was played: from now on time counts.
    PonderHit,
    None,
}

fn meaning(line: &str) -> Meaning {
    let word = line.split_whitespace().next().unwrap_or_default();
    match word {
        "go" | "usermove" | "analyze" | "hint" => Meaning::Start,
        "stop" | "?" | "quit" => Meaning::Stop,
        "ponderhit" => Meaning::PonderHit,
        "force" | "new" | "result" | "setboard" | "undo" | "remove" | "edit" | "exit" => {
            Meaning::Abandon
        }
        _ if notation::looks_like_move(word.as_bytes()) => Meaning::Start,
        _ => Meaning::None,
    }
}

#[derive(Debug, Default)]
struct State {
    /// Number of lines that begin a search: read, and handled.
    read: u64,
    taken: u64,
    /// Lines that are read and not handled yet: the number of the search that they concern, and
    /// what they mean for it.
    signals: VecDeque<(u64, Meaning)>,
}

/// Lines that were read and not yet handled, as far as they concern a search. Each concerns the
/// search that the last line before it asked for, so that it may be read long before it is handled.
#[derive(Debug, Default)]
pub struct Interrupts {
    state: Mutex<State>,
    waiting: AtomicUsize,
    stopped: AtomicBool,
    ended: AtomicBool,
}

impl Interrupts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line was read.
    pub fn read(&self, line: &str) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state();
        match meaning(line) {
            Meaning::Start => state.read += 1,
            Meaning::None => {}
            signal => {
                let about = state.read;
                state.signals.push_back((about, signal));
            }
        }
    }

    /// A line that was read is handled from now on.
    pub fn take(&self, line: &str) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let mut state = self.state();
        match meaning(line) {
            Meaning::Start => state.taken += 1,
            Meaning::None => {}
            // Lines are handled in the order in which they were read.
            _ => drop(state.signals.pop_front()),
        }
    }

    /// No more lines will come.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Ends the search in progress and all later ones.
    pub fn stop_for_good(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.end();
    }

    fn has(&self, wanted: &[Meaning]) -> bool {
        let state = self.state();
        state.signals.iter().any(|(about, signal)| *about == state.taken && wanted.contains(signal))
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.has(&[Meaning::Stop, Meaning::Abandon])
    }

    /// Whether the answer is not wanted any more.
    pub fn is_abandoned(&self) -> bool {
        self.has(&[Meaning::Abandon])
    }

    /// Whether the move that was pondered on was played.
    pub fn is_ponder_hit(&self) -> bool {
        self.has(&[Meaning::PonderHit])
    }

    /// Whether any line waits, or none will ever come.
    pub fn is_line_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0 || self.has_ended()
    }

    /// Whether no more lines will come.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_about_the_search_before_it() {
        let interrupts = Interrupts::default();
        // All lines are read before the first is handled.
        for line in
            ["go depth 3", "go infinite", "stop", "usermove e4", "force", "go ponder", "ponderhit"]
        {
            interrupts.read(line);
        }
        interrupts.take("go depth 3");
        assert!(!interrupts.is_stopped() && interrupts.is_line_waiting());
        interrupts.take("go infinite");
        assert!(interrupts.is_stopped() && !interrupts.is_abandoned());
        interrupts.take("stop");
        assert!(!interrupts.is_stopped());
        interrupts.take("usermove e4");
        assert!(interrupts.is_stopped() && interrupts.is_abandoned());
        interrupts.take("force");
        interrupts.take("go ponder");
        assert!(interrupts.is_ponder_hit() && !interrupts.is_stopped());
        interrupts.take("ponderhit");
        assert!(!interrupts.is_line_waiting() && !interrupts.is_ponder_hit());
        interrupts.stop_for_good();
        assert!(interrupts.is_stopped() && interrupts.is_line_waiting());
    }
}
