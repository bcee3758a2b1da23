// SPDX-License-Identifier: GPL-3.0-or-later
//! Target for what the chess adapter reads: both protocols, positions, moves, PGN.

use chess_adapter::protocol::{Output, dialogue::without_models};
use chess_games::pgn::Games;
use chess_games::prepare::{self, Options, Statistics};
use std::io::BufReader;

/// The first byte chooses what the rest is: a dialogue in one of the protocols, or a PGN file. No
/// model is loaded, so the engine has nothing to say but must keep to the rules.
pub(crate) fn chess_protocol(data: &[u8]) {
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

/// PGN of any program: games are read in pieces as in one, and a game that begins with its event is
/// read whatever was before it.
pub(crate) fn pgn(data: &[u8]) {
    let last = b"\n\n[Event \"last\"]\n[White \"w\"]\n\n1. e4 e5 2. Nf3 1-0\n";
    // Of a game 256 tags are kept.
    let text = [&data[..data.len().min(1 << 10)], last].concat();
    let read = |size| {
        let input = BufReader::with_capacity(size, &text[..]);
        Games::new(input).collect::<Result<Vec<_>, _>>().expect("memory")
    };
    let games = read(1 << 16);
    assert_eq!(read(7), games);
    let game = games.last().expect("a game");
    // Tags without moves before it are the game's own.
    let white = game.tags.iter().rfind(|tag| tag.0 == b"White");
    assert_eq!(white.map(|tag| &tag.1[..]), Some(&b"w"[..]), "{}", data.escape_ascii());
    assert_eq!(game.words.join(&b' '), b"e4 e5 Nf3");
    assert_eq!(game.terminator.as_deref(), Some(&b"1-0"[..]));
}
