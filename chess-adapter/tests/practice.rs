// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning from play, through the protocols.

use dbacl_testing::Scratch;

use crate::support::{Adapter, learned, run};

/// A dialogue with an engine that learns in this folder.
fn start(place: &Scratch, folder: &str) -> Adapter {
    Adapter::start(place, &format!("models --play human --learn-from-play {folder}"))
}

/// Waits until the engine says so after new games.
fn wait_for(adapter: &mut Adapter, text: &str) -> String {
    loop {
        std::thread::sleep(std::time::Duration::from_millis(20));
        adapter.send("ucinewgame\nisready\n");
        let mut found = None;
        loop {
            let line = adapter.line().unwrap_or_else(|| panic!("no {text:?}"));
            if line == "readyok" {
                break;
            }
            found = found.or(line.contains(text).then_some(line));
        }
        if let Some(found) = found {
            return found;
        }
    }
}

#[test]
fn the_engine_learns_from_finished_games() {
    let place = Scratch::new();
    learned(&place, 30, "--positions 1000 --search-words 0");

    // A game of each protocol is kept, with its result.
    let mut uci = start(&place, "new");
    uci.send("uci\nucinewgame\n");
    let moves = "e2e4 e7e5 f1c4 b8c6 d1h5 a7a6 b1c3 a6a5 a2a3 g8f6";
    for ply in [2, 4, 6, 8, 10] {
        let so_far: Vec<&str> = moves.split(' ').take(ply).collect();
        uci.send(&format!("position startpos moves {}\ngo depth 1\n", so_far.join(" ")));
        uci.wait_for("bestmove");
    }
    uci.send("quit\n");
    uci.finish();
    let kept = place.text("new/games.pgn");
    // A mate is played at once.
    assert!(kept.contains("[White \"dbacl\"]\n") && kept.ends_with(" Qxf7# 1-0\n\n"), "{kept}");
    let mut xboard = start(&place, "new");
    xboard.send("xboard\nprotover 2\nnew\nname Ann\n");
    for m in ["a3", "b3", "c3", "d3", "e3"] {
        xboard.send(&format!("usermove {m}\n"));
        xboard.wait_for("move ");
    }
    xboard.send("result 1-0 {resigns}\nnew\nresult 0-1\nquit\n");
    xboard.finish();
    let both = place.text("new/games.pgn");
    assert!(both.starts_with(&kept) && both.matches("[Event ").count() == 2, "{both}");
    assert!(both.contains("[White \"Ann\"]\n[Black \"dbacl\"]\n[Result \"1-0\"]\n"), "{both}");

    // Games that lie there are learned, and the same games give the same bytes.
    let learn = |name: &str| {
        place.write(&format!("{name}/games.pgn"), place.read("some.pgn"));
        let mut adapter = start(&place, name);
        adapter.send("uci\nisready\n");
        let said = wait_for(&mut adapter, "learned from 30 games");
        assert!(said.contains(" bits a move became "), "{said}");
        adapter.send("quit\n");
        adapter.finish();
        place.read(&format!("{name}/odds"))
    };
    let learned = learn("one");
    assert!(learned == learn("two") && learned != place.read("models/odds"));

    // What is damaged or foreign stays as it is, and the engine plays.
    place.write("one/odds", "x");
    place.write("two/games.pgn", "no games\n");
    run(&place, "learn some.pgn -o models --positions 900 --search-words 0");
    for (name, complaint) in [("one", "damaged"), ("two", "learned from another model")] {
        let file = format!("{name}/odds");
        let odds = place.read(&file);
        let mut adapter = start(&place, name);
        adapter.send("uci\nisready\n");
        let said = adapter.wait_for("info string");
        assert!(said.contains(complaint) && said.contains(&file), "{said}");
        adapter.send("position startpos\ngo depth 1\nquit\n");
        assert_ne!(adapter.wait_for("bestmove"), "bestmove 0000");
        adapter.finish();
        assert!(odds == place.read(&file), "{name}");
    }
}
