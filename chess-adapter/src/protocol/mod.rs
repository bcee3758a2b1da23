// SPDX-License-Identifier: GPL-3.0-or-later
//! The protocols of chess interfaces: reads lines, does what they say, and answers.

pub mod dialogue;
pub(crate) mod uci;
mod xboard;

/// Takes the lines that go to the interface, one after the other, as soon as they are known.
pub type Output = Box<dyn FnMut(&str)>;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{Output, dialogue::dialogue};
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
