// SPDX-License-Identifier: GPL-3.0-or-later
//! Target for what the chess adapter reads: both protocols, positions, moves, PGN.

use chess_adapter::play::classifier::{ChildProcesses, Program};
use chess_adapter::play::engine::{Engine, EngineFactory};
use chess_adapter::play::settings::Settings;
use chess_adapter::protocol::{uci, xboard};
use chess_games::notation::Spelling;
use chess_games::prepare::{self, Options, Statistics};
use std::path::Path;

fn engine() -> Engine {
    let nobody = Path::new("/nonexistent");
    let program = Program::find(Some(nobody), &[], &ChildProcesses::default());
    Engine::new(Settings::default(), EngineFactory { program }, Spelling::default())
}

/// The first byte chooses what the rest is: a dialogue in one of the protocols, or a PGN file. No
/// model is loaded, so the engine has nothing to say but must keep to the rules.
pub fn chess_protocol(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    if choice % 3 == 2 {
        let mut statistics = Statistics::default();
        let _ = prepare::read_games(text, &Options::default(), &mut statistics, &mut []);
        let skipped: u64 = statistics.skipped.values().sum();
        assert_eq!(statistics.read, statistics.written + skipped);
        return;
    }
    let text = String::from_utf8_lossy(text);
    // Options that name files are other targets' business.
    let lines = text.lines().filter(|line| !line.contains(['/', '\\']));
    if choice % 3 == 0 {
        let mut dialogue = xboard::Xboard::new(engine(), String::from("fuzz"), None);
        for line in lines {
            let command = dialogue.parse(line);
            for reply in dialogue.handle(command) {
                // An empty line ends what `bk` shows.
                let may_be_empty = matches!(reply, xboard::Reply::BookLine(_));
                assert!(may_be_empty || !reply.to_string().is_empty());
            }
        }
    } else {
        let mut dialogue = uci::Uci::new(engine(), String::from("fuzz"));
        for line in lines {
            for reply in dialogue.handle(uci::Command::parse(line)) {
                assert!(!reply.to_string().is_empty());
            }
        }
    }
}
