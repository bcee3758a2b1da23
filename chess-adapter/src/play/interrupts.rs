// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines of the interface that arrive while the engine searches.

use std::collections::VecDeque;
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
}

fn meaning(line: &str) -> Option<Meaning> {
    let word = line.split_whitespace().next().unwrap_or_default();
    match word {
        "go" | "usermove" | "analyze" | "hint" => Some(Meaning::Start),
        "stop" | "?" | "quit" => Some(Meaning::Stop),
        "ponderhit" => Some(Meaning::PonderHit),
        "force" | "new" | "result" | "setboard" | "undo" | "remove" | "edit" | "exit" => {
            Some(Meaning::Abandon)
        }
        _ => notation::looks_like_move(word.as_bytes()).then_some(Meaning::Start),
    }
}

#[derive(Debug, Default)]
struct State {
    /// Number of lines that are read and not handled yet.
    waiting: usize,
    /// Number of lines that begin a search: read, and handled.
    read: u64,
    taken: u64,
    /// Lines that are read and not handled yet: the number of the search that they concern, and
    /// what they mean for it.
    signals: VecDeque<(u64, Meaning)>,
    stopped: bool,
    ended: bool,
}

impl State {
    fn has(&self, wanted: Meaning) -> bool {
        self.signals.contains(&(self.taken, wanted))
    }
}

/// Lines that were read and not yet handled, as far as they concern a search. Each concerns the
/// search that the last line before it asked for, so that it may be read long before it is handled.
#[derive(Debug, Default)]
pub struct Interrupts(Mutex<State>);

impl Interrupts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line was read.
    pub fn read(&self, line: &str) {
        let mut state = self.state();
        state.waiting += 1;
        match meaning(line) {
            Some(Meaning::Start) => state.read += 1,
            Some(signal) => {
                let about = state.read;
                state.signals.push_back((about, signal));
            }
            None => {}
        }
    }

    /// A line that was read is handled from now on.
    pub fn take(&self, line: &str) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
        match meaning(line) {
            Some(Meaning::Start) => state.taken += 1,
            // Lines are handled in the order in which they were read.
            Some(_) => drop(state.signals.pop_front()),
            None => {}
        }
    }

    /// No more lines will come.
    pub fn end(&self) {
        self.state().ended = true;
    }

    /// Ends the search in progress and all later ones.
    pub fn stop_for_good(&self) {
        self.state().stopped = true;
        self.end();
    }

    pub fn is_stopped(&self) -> bool {
        let state = self.state();
        state.stopped || state.has(Meaning::Stop) || state.has(Meaning::Abandon)
    }

    /// Whether the answer is not wanted any more.
    pub fn is_abandoned(&self) -> bool {
        self.state().has(Meaning::Abandon)
    }

    /// Whether the move that was pondered on was played.
    pub fn is_ponder_hit(&self) -> bool {
        self.state().has(Meaning::PonderHit)
    }

    /// Whether any line waits, or none will ever come.
    pub fn is_line_waiting(&self) -> bool {
        let state = self.state();
        state.waiting > 0 || state.ended
    }

    /// Whether no more lines will come.
    pub fn has_ended(&self) -> bool {
        self.state().ended
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
