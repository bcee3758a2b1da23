// SPDX-License-Identifier: GPL-3.0-or-later
//! Target for what the chess adapter reads: both protocols, positions, moves, PGN.

use chess_adapter::protocol::{Output, dialogue::without_models};
use chess_games::prepare::{self, Options, Statistics};

/// The first byte chooses what the rest is: a dialogue in one of the protocols, or a PGN file. No
/// model is loaded, so the engine has nothing to say but must keep to the rules.
pub fn chess_protocol(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    if choice % 3 == 2 {
        let mut statistics = Statistics::default();
        let _ = prepare::read_games(text, &Options::default(), &mut statistics, &mut |_, _| Ok(()));
        let skipped: u64 = statistics.skipped.values().sum();
        assert_eq!(statistics.read, statistics.written + skipped);
        return;
    }
    let text = String::from_utf8_lossy(text);
    // Options that name files are other targets' business.
    let lines = text.lines().filter(|line| !line.contains(['/', '\\']));
    let is_uci = choice % 3 == 1;
    // An empty line ends what XBoard's `bk` shows.
    let out: Output =
        Box::new(move |line| assert!(!line.contains('\n') && (!is_uci || !line.is_empty())));
    let mut answer = without_models(is_uci, out);
    for line in lines {
        answer(line);
    }
}
