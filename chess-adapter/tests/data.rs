// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded inputs and results: gamelines, encodings, completions, descriptions, choices.
//!
//! They are kept in `testdata/`, here and beside the recorded cases.

use chess_games::encode::Encoding;
use chess_games::game::Game;
use dbacl_testing::Scratch;

use crate::support::{Adapter, fed, read, recorded, testdata};

fn prepare(place: &Scratch, args: &str, input: impl AsRef<[u8]>) -> String {
    let done = fed(place, &format!("prepare -o . {args}"), input);
    format!("{}\n{}", done.status, done.stderr)
}

#[test]
fn odd_pgn_becomes_the_expected_gamelines() {
    let place = Scratch::new();
    let odd = std::fs::read(testdata("pgn-odd.pgn")).expect("the odd games");
    let expected = read(&testdata("pgn-odd.expected.txt"));
    let told = prepare(&place, "", &odd);
    assert_eq!(place.text("all.txt"), expected);
    assert!(
        told.starts_with("0\n") && told.contains("games read 17, written 11, skipped 6"),
        "{told}"
    );
    assert!(told.contains("game 4 (unfinished) [Event \"4. unfinished\"]"), "{told}");
    // With other line ends the games are the same.
    let plain: Vec<u8> = odd.iter().copied().filter(|&byte| byte != b'\r').collect();
    let lines: Vec<&[u8]> = plain.split(|&byte| byte == b'\n').collect();
    prepare(&place, "", lines.join(&b"\r\n"[..]));
    assert_eq!(place.text("all.txt"), expected);
    // Unfinished games go into both draw sets when asked for.
    prepare(&place, "--unfinished draw", &odd);
    for set in ["all", "WhiteWinDraw", "BlackWinDraw"] {
        assert!(place.text(&format!("{set}.txt")).lines().any(|l| l == "d4 d5 c4"), "{set}");
    }
}

#[test]
fn nothing_written_is_a_failure_that_changes_no_file() {
    let place = Scratch::new();
    prepare(&place, "", "1. e4 e5 1-0");
    let before = place.text("all.txt");
    assert_eq!(before, "e4 e5 1-0\n");
    for args in ["", "/nonexistent"] {
        let said = prepare(&place, args, "");
        assert!(said.starts_with("1\n") && said.contains("chess-adapter: "), "{args}: {said}");
        assert_eq!(place.text("all.txt"), before, "{args}");
        assert!(!place.path("all.txt.part").exists(), "{args}");
    }
    for preset in ["odds", "essay"] {
        let learned = fed(&place, &format!("learn -o model --preset {preset}"), "");
        assert_eq!(learned.status, 65, "{}", learned.stderr);
        assert!(!place.path("model").exists(), "{preset}");
    }
}

#[test]
fn no_check_marks_change_words() {
    let place = Scratch::new();
    let pgn = "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qe5 4. Be2 1-0";
    prepare(&place, "--no-check-marks --encodings full,shifted", pgn);
    for (set, line) in [
        ("WhiteWin", "e4 d5 exd5 Qxd5 Nc3 Qe5 Be2 1-0\n"),
        ("WhiteWin-full", "e4_d5 exd5_Qxd5 Nc3_Qe5 Be2_1-0\n"),
        ("WhiteWin-shifted", "^_e4 d5_exd5 Qxd5_Nc3 Qe5_Be2 1-0_\n"),
    ] {
        assert_eq!(place.text(&format!("{set}.txt")), line);
    }
}

fn position(name: &str) -> Game {
    let fens = read(&testdata("positions.tsv"));
    let line = fens
        .lines()
        .find(|l| l.starts_with(&format!("{name}\t")))
        .unwrap_or_else(|| panic!("{name}"));
    let mut game = Game::default();
    game.play_words(line.split('\t').nth(1).unwrap_or_default()).expect("legal");
    game
}

#[test]
fn completions_are_those_recorded() {
    let names = ["open", "castle", "promotion", "captures", "mate", "mid-white", "long", "first"];
    for name in names {
        let path = recorded().join(format!("complete-{name}.txt"));
        let expected: Vec<String> =
            read(&path).lines().map(|l| l.trim_start().to_owned()).collect();
        let game = position(name);
        let lines = Encoding::Half.completions(&game, &game.completions(), 0);
        assert_eq!(lines, expected, "{name}");
    }
}

#[test]
fn small_collection_is_split_as_recorded() {
    let place = Scratch::new();
    let games = std::fs::read(recorded().join("masters-small.pgn")).expect("the games");
    prepare(&place, "--encodings full", games);
    for set in
        ["WhiteWin", "BlackWin", "WhiteWinDraw", "BlackWinDraw", "WhiteWin-full", "BlackWin-full"]
    {
        let expected = read(&recorded().join(format!("{set}.txt")));
        assert!(place.text(&format!("{set}.txt")).starts_with(&expected), "{set}");
    }
}

#[test]
fn rules_choose_as_recorded() {
    let (place, inputs) = (Scratch::new(), recorded());
    for (name, options, text) in [
        ("pairs", "-e alnum -w 2 -H 20", "BlackWinDraw.txt"),
        ("sevens", "-e graph -w 7 -H 23", "BlackWin-full.txt"),
    ] {
        place.write(text, read(&inputs.join(text)));
        place.dbacl(&format!("-T text -L uniform -j {options} -l {name} {text}")).output();
    }
    let engine = |model: &str, encoding: &str| {
        let models = format!("--white {model} --black {model} --encoding {encoding}");
        Adapter::start(&place, &format!("{models} --no-mate-keyword"))
    };
    let (mut pairs, mut sevens) = (engine("pairs", "half"), engine("sevens", "full"));
    for row in read(&inputs.join("choices.tsv")).lines().filter(|l| !l.starts_with('#')) {
        let [name, rule, model, expected] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let engine = if model == "half, pairs" { &mut pairs } else { &mut sevens };
        let moves = position(name).gameline().replace(' ', "\nusermove ");
        let start = format!("accepted san\nnew\nforce\noption Rule={rule}\nusermove {moves}\ngo\n");
        engine.send(&start);
        assert_eq!(engine.wait_for("move "), format!("move {expected}"), "{row}");
    }
    pairs.finish();
    sevens.finish();
}
