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
    /// Cannot be handled before a search without end, which it therefore ends.
    Overtake,
}

fn meaning(line: &str) -> Option<Meaning> {
    let word = line.split_whitespace().next().unwrap_or_default();
    match word {
        "go" | "usermove" | "analyze" | "hint" => Some(Meaning::Start),
        "stop" | "?" | "quit" => Some(Meaning::Stop),
        "ponderhit" => Some(Meaning::PonderHit),
        "ucinewgame" | "setoption" => Some(Meaning::Overtake),
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
pub(crate) struct Interrupts(Mutex<State>);

impl Interrupts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line was read.
    pub(crate) fn read(&self, line: &str) {
        let mut state = self.state();
        state.waiting += 1;
        if let Some(meaning) = meaning(line) {
            let about = state.read;
            state.signals.push_back((about, meaning));
            state.read += u64::from(meaning == Meaning::Start);
        }
    }

    /// A line that was read is handled from now on.
    pub(crate) fn take(&self, line: &str) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
        if let Some(meaning) = meaning(line) {
            // Lines are handled in the order in which they were read.
            state.signals.pop_front();
            state.taken += u64::from(meaning == Meaning::Start);
        }
    }

    /// No more lines will come.
    pub(crate) fn end(&self) {
        self.state().ended = true;
    }

    /// Ends the search in progress and all later ones.
    pub(crate) fn stop_for_good(&self) {
        self.state().stopped = true;
        self.end();
    }

    /// Whether the dialogue is over.
    pub(crate) fn is_over(&self) -> bool {
        self.state().stopped
    }

    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.state();
        state.stopped || state.has(Meaning::Stop) || state.has(Meaning::Abandon)
    }

    /// Whether the answer is not wanted any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.state().has(Meaning::Abandon)
    }

    /// Whether the move that was pondered on was played.
    pub(crate) fn is_ponder_hit(&self) -> bool {
        self.state().has(Meaning::PonderHit)
    }

    /// Whether a search without end has to end, because of another command or because no more lines
    /// will come.
    pub(crate) fn is_overtaken(&self) -> bool {
        let state = self.state();
        state.ended || state.has(Meaning::Overtake) || state.has(Meaning::Start)
    }

    /// Whether any line waits, or none will ever come.
    pub(crate) fn is_line_waiting(&self) -> bool {
        let state = self.state();
        state.waiting > 0 || state.ended
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
        interrupts.read("go infinite");
        interrupts.take("go infinite");
        assert!(!interrupts.is_overtaken());
        for line in ["setoption name Hash value 1", "go infinite", "go depth 1"] {
            interrupts.read(line);
        }
        assert!(interrupts.is_overtaken() && !interrupts.is_stopped());
        interrupts.take("setoption name Hash value 1");
        interrupts.take("go infinite");
        assert!(interrupts.is_overtaken());
        interrupts.take("go depth 1");
        assert!(!interrupts.is_overtaken());
        assert!(!interrupts.is_line_waiting() && !interrupts.is_ponder_hit());
        interrupts.stop_for_good();
        assert!(interrupts.is_stopped() && interrupts.is_line_waiting());
    }
}
