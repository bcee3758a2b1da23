// SPDX-License-Identifier: GPL-3.0-or-later
//! The protocols of chess interfaces: reads lines, does what they say, and answers.

pub(crate) mod dialogue;
pub(crate) mod uci;
mod xboard;

use std::path::{Path, PathBuf};

use chess_games::notation::Spelling;

use crate::play::classifier::Program;
use crate::play::engine::Engine;
use crate::play::settings::Settings;

/// Takes the lines that go to the interface, one after the other, as soon as they are known.
pub type Output = Box<dyn FnMut(&str)>;
/// Does what a line of the interface says; `false` once the dialogue is over.
pub type Answer = Box<dyn FnMut(&str) -> bool>;

/// A dialogue in UCI or XBoard's protocol, which appends finished games to `log`.
fn dialogue(
    is_uci: bool,
    engine: Engine,
    name: String,
    log: Option<PathBuf>,
    out: Output,
) -> Answer {
    if is_uci {
        let mut uci = uci::Uci::new(engine, name, out);
        Box::new(move |line| uci.answer(line))
    } else {
        let mut xboard = xboard::Xboard::new(engine, name, log, out);
        Box::new(move |line| xboard.answer(line))
    }
}

/// A dialogue with an engine that has no model, for checks of what interfaces may send.
pub fn without_models(is_uci: bool, out: Output) -> Answer {
    let nobody = Path::new("/nonexistent");
    let program = Program::find(Some(nobody), &[]);
    let engine = Engine::new(Settings::default(), program, Spelling::default());
    dialogue(is_uci, engine, "dbacl".to_owned(), None, out)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{Output, dialogue};
    use crate::play::engine::tests::engine;
    use crate::play::settings::Settings;
    use dbacl_numeric::random::SplitMix64;

    #[test]
    fn no_dialogue_panics() {
        let words: Vec<&str> = include_str!("../../testdata/lines.txt").lines().collect();
        for seed in 0..80 {
            let (sent, received) = mpsc::channel();
            let out: Output = Box::new(move |line| drop(sent.send(line.to_owned())));
            let engine = engine(&["e5"], Settings::default());
            let mut answer = dialogue(seed % 2 == 0, engine, "x".to_owned(), None, out);
            // Notes go to the interface, too.
            assert!(answer("accepted debug"));
            let mut random = SplitMix64::new(seed);
            for _ in 0..120 {
                assert!(answer(words[random.below(words.len())]));
            }
            assert!(received.try_iter().all(|line| !line.contains('\n')));
        }
    }
}
