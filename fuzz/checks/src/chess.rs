// SPDX-License-Identifier: GPL-3.0-or-later
//! Target for what the chess adapter reads: both protocols, positions, moves, PGN.

use chess_adapter::play::classifier::{ChildProcesses, Program};
use chess_adapter::play::engine::Engine;
use chess_adapter::play::settings::Settings;
use chess_adapter::protocol::{Output, uci::Uci, xboard::Xboard};
use chess_games::notation::Spelling;
use chess_games::prepare::{self, Options, Statistics};
use std::path::Path;

fn engine() -> Engine {
    let nobody = Path::new("/nonexistent");
    let program = Program::find(Some(nobody), &[], &ChildProcesses::default());
    Engine::new(Settings::default(), program, Spelling::default())
}

/// The first byte chooses what the rest is: a dialogue in one of the protocols, or a PGN file. No
/// model is loaded, so the engine has nothing to say but must keep to the rules.
pub fn chess_protocol(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    if choice % 3 == 2 {
        let mut statistics = Statistics::default();
        let _ = prepare::read_games(text, &Options::default(), &mut statistics, &mut |_| Ok(()));
        let skipped: u64 = statistics.skipped.values().sum();
        assert_eq!(statistics.read, statistics.written + skipped);
        return;
    }
    let text = String::from_utf8_lossy(text);
    // Options that name files are other targets' business.
    let lines = text.lines().filter(|line| !line.contains(['/', '\\']));
    let name = String::from("fuzz");
    let is_uci = choice % 3 == 1;
    // An empty line ends what XBoard's `bk` shows.
    let out: Output =
        Box::new(move |line| assert!(!line.contains('\n') && (!is_uci || !line.is_empty())));
    let mut answer: Box<dyn FnMut(&str) -> bool> = if is_uci {
        let mut dialogue = Uci::new(engine(), name, out);
        Box::new(move |line| dialogue.answer(line))
    } else {
        let mut dialogue = Xboard::new(engine(), name, None, out);
        Box::new(move |line| dialogue.answer(line))
    };
    for line in lines {
        answer(line);
    }
}
