// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded inputs and results: gamelines, encodings, completions, descriptions, choices.
//!
//! They are kept in `testdata/`, here and beside the recorded cases; only the masters' games are
//! used where the project's shared folder is beside the checkout, and SKIPPED otherwise.

use std::path::Path;
use std::process::{Command, Stdio};

use chess_games::encode::Encoding;
use chess_games::game::Game;

use dbacl_testing::programs;

use crate::support::{Adapter, fed, read, recorded, shared, testdata};

fn prepare(args: &[&str], input: &[u8], folder: &Path) -> String {
    let folder = folder.display().to_string();
    let done = fed(&[&["prepare", "-o", &folder], args].concat(), input);
    format!("{}\n{}", done.status, done.stderr)
}

#[test]
fn odd_pgn_becomes_the_expected_gamelines() {
    let folder = tempfile::tempdir().expect("a folder");
    let odd = std::fs::read(testdata("pgn-odd.pgn")).expect("the odd games");
    let expected = read(&testdata("pgn-odd.expected.txt"));
    let told = prepare(&[], &odd, folder.path());
    assert_eq!(read(&folder.path().join("all.txt")), expected);
    assert!(
        told.starts_with("0\n") && told.contains("games read 17, written 11, skipped 6"),
        "{told}"
    );
    assert!(told.contains("game 4 (unfinished) [Event \"4. unfinished\"]"), "{told}");
    // With other line ends the games are the same.
    let crlf: Vec<u8> = odd
        .iter()
        .filter(|b| **b != b'\r')
        .flat_map(|&b| if b == b'\n' { vec![b'\r', b'\n'] } else { vec![b] })
        .collect();
    prepare(&[], &crlf, folder.path());
    assert_eq!(read(&folder.path().join("all.txt")), expected);
    // Unfinished games go into both draw sets when asked for.
    prepare(&["--unfinished", "draw"], &odd, folder.path());
    for set in ["all", "WhiteWinDraw", "BlackWinDraw"] {
        assert!(
            read(&folder.path().join(format!("{set}.txt"))).lines().any(|l| l == "d4 d5 c4"),
            "{set}"
        );
    }
}

#[test]
fn nothing_written_is_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(prepare(&[], b"", folder.path()).starts_with("1\n"));
    assert!(prepare(&["/nonexistent"], b"", folder.path()).starts_with("1\n"));
}

#[test]
fn no_check_marks_change_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = b"1. e4 d5 2. exd5 Qxd5 3. Nc3 Qe5 4. Be2 1-0";
    prepare(&["--no-check-marks", "--encodings", "full,shifted"], pgn, folder.path());
    assert_eq!(read(&folder.path().join("WhiteWin.txt")), "e4 d5 exd5 Qxd5 Nc3 Qe5 Be2 1-0\n");
    assert_eq!(read(&folder.path().join("WhiteWin-full.txt")), "e4_d5 exd5_Qxd5 Nc3_Qe5 Be2_1-0\n");
    assert_eq!(
        read(&folder.path().join("WhiteWin-shifted.txt")),
        "^_e4 d5_exd5 Qxd5_Nc3 Qe5_Be2 1-0_\n"
    );
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
    let folder = tempfile::tempdir().expect("a folder");
    let games = recorded().join("masters-small.pgn");
    let games = std::fs::read(games).expect("the games");
    prepare(&["--encodings", "full"], &games, folder.path());
    for set in
        ["WhiteWin", "BlackWin", "WhiteWinDraw", "BlackWinDraw", "WhiteWin-full", "BlackWin-full"]
    {
        let expected = read(&recorded().join(format!("{set}.txt")));
        let written = read(&folder.path().join(format!("{set}.txt")));
        assert!(written.starts_with(&expected), "{set}");
    }
}

fn learn(dbacl: &Path, options: &str, category: &Path, text: &Path) {
    let done = Command::new(dbacl)
        .args(["-T", "text", "-L", "uniform", "-j"])
        .args(options.split_whitespace())
        .arg("-l")
        .args([category, text])
        .stderr(Stdio::null())
        .status();
    assert!(done.expect("the classifier runs").success());
}

#[test]
fn rules_choose_as_recorded() {
    let dbacl = programs().join("dbacl");
    let inputs = recorded();
    let folder = tempfile::tempdir().expect("a folder");
    let (pairs, sevens) = (folder.path().join("pairs"), folder.path().join("sevens"));
    learn(&dbacl, "-e alnum -w 2 -H 20", &pairs, &inputs.join("BlackWinDraw.txt"));
    learn(&dbacl, "-e graph -w 7 -H 23", &sevens, &inputs.join("BlackWin-full.txt"));
    let dbacl = dbacl.display().to_string();
    let engine = |model: &Path, encoding: &str| {
        let model = model.display().to_string();
        let set = ["--encoding", encoding, "--no-mate-keyword"];
        Adapter::start(
            [&set[..], &["--dbacl", &dbacl, "--white", &model, "--black", &model]].concat(),
        )
    };
    let (mut pairs, mut sevens) = (engine(&pairs, "half"), engine(&sevens, "full"));
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

#[test]
#[ignore = "replays 46,245 games; run it with --release"]
fn gamelines_of_the_masters_have_the_recorded_hash() {
    let Some(shared) = shared("gamelines_of_the_masters_have_the_recorded_hash") else { return };
    let packed = shared.join("data/chess/masters-46k.pgn.xz");
    let folder = tempfile::tempdir().expect("a folder");
    let games = Command::new("xz").arg("-dc").arg(packed).output().expect("xz runs").stdout;
    let told = prepare(&[], &games, folder.path());
    assert!(told.contains("games read 46245, written 46245, skipped 0"), "{told}");
    for (set, lines) in [
        ("WhiteWin", 16_088),
        ("BlackWin", 11_154),
        ("WhiteWinDraw", 35_091),
        ("BlackWinDraw", 30_157),
    ] {
        assert_eq!(read(&folder.path().join(format!("{set}.txt"))).lines().count(), lines, "{set}");
    }
    let hash = Command::new("sha256sum")
        .arg(folder.path().join("all.txt"))
        .output()
        .expect("sha256sum runs");
    let hash = String::from_utf8(hash.stdout).expect("ASCII");
    assert!(
        hash.starts_with("024f95b6b677f10cf967a637ea4e151bc518addf05381d8fe3026318e93af772"),
        "{hash}"
    );
}
