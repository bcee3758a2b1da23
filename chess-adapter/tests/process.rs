// SPDX-License-Identifier: GPL-3.0-or-later
//! The adapter as a process: signals, dying classifiers, closed pipes, long games.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Command;
use std::sync::mpsc;

use dbacl_testing::{Scratch, holds_soon, kill};

use crate::support::{Adapter, script};

/// An adapter whose two colours are scored by this program.
fn start(place: &Scratch, classifier: &str, args: &str) -> Adapter {
    let models = "--encoding half --white FAKE --black FAKE";
    Adapter::start(place, &format!("--dbacl {classifier} {models} {args}"))
}

/// The running processes and their parents; those that ended and were not waited for are left out.
fn processes() -> BTreeMap<u32, u32> {
    let list = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat="]).output();
    let list = String::from_utf8(list.expect("ps runs").stdout).expect("ASCII");
    let numbers = |line: &str| -> Option<(u32, u32)> {
        let [process, parent, state] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        (!state.starts_with('Z')).then_some((process.parse().ok()?, parent.parse().ok()?))
    };
    list.lines().filter_map(numbers).collect()
}

impl Adapter {
    /// Process numbers of the adapter's children.
    fn children(&self) -> Vec<u32> {
        let own = processes().into_iter().filter(|&(_, parent)| parent == self.child.id());
        own.map(|(child, _)| child).collect()
    }

    /// Waits for the adapter's end and says whether it was successful. A classifier that hangs
    /// does so for longer.
    #[track_caller]
    fn ends_well(&mut self) -> bool {
        let mut status = None;
        let ended = holds_soon(|| {
            status = self.child.try_wait().expect("our child");
            status.is_some()
        });
        if !ended {
            let _ = self.child.kill();
            panic!("the adapter did not end");
        }
        status.is_some_and(|status| status.success())
    }

    /// The process numbers of its two classifiers, as soon as they run.
    #[track_caller]
    fn classifiers(&self) -> Vec<u32> {
        assert!(holds_soon(|| self.children().len() == 2), "one classifier a colour");
        self.children()
    }
}

fn started() -> (Adapter, Vec<u32>, Scratch) {
    let place = Scratch::new();
    let mut adapter = start(&place, "FAKE", "");
    adapter.send("xboard\nprotover 2\naccepted san\nnew\nusermove e4\n");
    adapter.wait_for("feature done=1");
    assert_eq!(adapter.wait_for("move"), "move e5");
    let children = adapter.classifiers();
    (adapter, children, place)
}

#[track_caller]
fn gone(children: &[u32]) {
    for &child in children {
        assert!(
            holds_soon(|| !processes().contains_key(&child)),
            "process {child} was left behind"
        );
    }
}

#[test]
fn quit_end_of_input_and_sigterm_leave_nothing_behind() {
    for way in ["quit", "end", "TERM", "pipe"] {
        let (mut adapter, children, _place) = started();
        match way {
            "quit" => adapter.send("quit\n"),
            "end" => adapter.to = None,
            "TERM" => kill(adapter.child.id(), "TERM"),
            _ => {
                // Nobody reads its output any more, so the adapter ends when it answers.
                adapter.lines = mpsc::channel().1;
                let mut to = adapter.to.take().expect("open");
                assert!(holds_soon(|| to.write_all(b"ping 1\n").is_err()));
            }
        }
        assert!(adapter.ends_well(), "{way}");
        gone(&children);
    }
}

#[test]
fn interrupts_are_ignored() {
    let (mut adapter, _, _place) = started();
    kill(adapter.child.id(), "INT");
    adapter.send("usermove Nf3\n");
    assert_eq!(adapter.wait_for("move"), "move Nf6");
    adapter.finish();
}

#[test]
fn a_killed_classifier_comes_back() {
    let (mut adapter, children, _place) = started();
    for child in &children {
        kill(*child, "KILL");
    }
    adapter.send("usermove Nf3\n");
    assert_eq!(adapter.wait_for("move"), "move Nf6");
    adapter.finish();
}

/// An adapter whose classifiers never answer, and the folder that holds them.
fn hanging() -> (Adapter, Scratch) {
    let place = Scratch::new();
    script(&place.path("hanging"), "exec sleep 1000");
    (start(&place, "./hanging", ""), place)
}

#[test]
fn a_hanging_classifier_does_not_delay_quitting() {
    // The second time with a signal, too, while an answer is awaited.
    for is_signalled in [false, true] {
        let (mut adapter, _place) = hanging();
        adapter.send("xboard\nprotover 2\nnew\nusermove e4\n");
        adapter.wait_for("feature done=1");
        let children = adapter.classifiers();
        adapter.send("quit\n");
        if is_signalled {
            kill(adapter.child.id(), "TERM");
        }
        assert!(adapter.ends_well());
        gone(&children);
    }
}

#[test]
fn isready_is_answered_while_thinking() {
    let (mut adapter, _place) = hanging();
    adapter.send("uci\nisready\n");
    adapter.wait_for("readyok");
    // Another command waits for its turn, too.
    adapter.send("position startpos\ngo\nsetoption name Seed value 1\nisready\n");
    adapter.wait_for("readyok");
    adapter.send("quit\n");
    assert!(adapter.ends_well());
}

#[test]
fn a_search_without_end_gives_way() {
    let place = Scratch::new();
    let mut adapter = start(&place, "FAKE", "--search on");
    adapter.send("uci\n");
    adapter.wait_for("uciok");
    for go in ["go infinite", "go ponder wtime 60000 btime 60000"] {
        // All lines come at once: the search has not begun when the last is read.
        adapter.send(&format!("position startpos moves e2e4\n{go}\nisready\n"));
        adapter.wait_for("readyok");
        for next in
            ["ucinewgame", "setoption name MultiPV value 1", "position startpos\ngo nodes 9"]
        {
            adapter.send(&format!("{next}\n"));
            adapter.wait_for("bestmove");
            if next.contains("go") {
                adapter.wait_for("bestmove");
            }
            adapter.send(&format!("isready\nposition startpos moves e2e4\n{go}\n"));
            adapter.wait_for("readyok");
        }
        adapter.send("stop\n");
        adapter.wait_for("bestmove");
    }
    adapter.finish();
}

#[test]
fn a_game_of_six_hundred_half_moves_goes_on() {
    let place = Scratch::new();
    let mut adapter = start(&place, "FAKE", "");
    adapter.send("uci\n");
    adapter.wait_for("uciok");
    // Rooks and knights walk about so that neither repetition nor fifty moves matter to UCI.
    let cycle = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let mut moves = Vec::new();
    for ply in 0..600 {
        moves.push(cycle[ply % 4]);
        if ply % 50 == 49 {
            adapter.send(&format!("position startpos moves {}\ngo movetime 1\n", moves.join(" ")));
            assert!(adapter.wait_for("bestmove").len() >= "bestmove e2e4".len());
        }
    }
    adapter.finish();
}

#[test]
fn random_play_follows_the_seed() {
    let place = Scratch::new();
    let play = |seed: u32| {
        let mut adapter = start(&place, "FAKE", &format!("--seed {seed} --temperature 20"));
        adapter.send("xboard\nrandom\nforce\nusermove e4\n");
        let mut moves = String::new();
        for _ in 0..8 {
            adapter.send("go\n");
            moves.push_str(&adapter.wait_for("move"));
        }
        adapter.finish();
        moves
    };
    assert_eq!(play(5), play(5));
    assert_ne!(play(5), play(6));
}
