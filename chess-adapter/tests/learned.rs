// SPDX-License-Identifier: GPL-3.0-or-later
//! The whole way with the real classifier: learn from the shipped games, then play, explain,
//! measure.

use std::collections::BTreeMap;

use dbacl_testing::programs;

use crate::support::{Adapter, fed, learned, run, script, some_games, testdata};

#[test]
fn learn_play_explain_measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 80);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let models = at("models");
    let told = run(&["learn", &pgn, "-o", &models, "--positions", "3000"]).stderr;
    assert!(told.contains("odds: 3000 positions learned, "), "{told}");

    // A match against the random mover is won, and the same games are played each time.
    let play = || run(&["match", &models, "--games", "4", "--json", "--avoid-draws"]).stdout;
    let score: serde_json::Value = serde_json::from_str(&play()).expect("JSON");
    assert_eq!(score["lost"], 0, "{score}");
    assert!(score["won"].as_u64() >= Some(3), "{score}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&play()).expect("JSON"), score);

    // The classifier explains itself.
    // Good models need no warning.
    let why = run(&["why", &models, "--moves", "e4 e5 Nf3", "--move", "Nc6"]).quiet(0);
    assert!(
        why.starts_with("Nc6 is number ") && why.contains("the logarithm of the share"),
        "{why}"
    );
    // What is shown adds up to the logarithm of the share.
    let numbers = |line: &str| -> Vec<f64> {
        let cells = line.split_whitespace().take(2).map(|cell| cell.parse().ok());
        cells.collect::<Option<_>>().unwrap_or_default()
    };
    let rows: Vec<Vec<f64>> = why.lines().map(numbers).filter(|row| row.len() == 2).collect();
    let (totals, parts) = rows.split_last().expect("rows of numbers");
    assert!(parts.len() > 5, "{why}");
    for (at, total) in totals.iter().enumerate() {
        let sum: f64 = parts.iter().map(|row| row[at]).sum();
        assert!((sum - total).abs() < 1e-6, "{sum} {total}: {why}");
        let share =
            why.lines().nth(at).and_then(|line| line.rsplit(' ').nth(1)?.parse::<f64>().ok());
        assert!((100.0 * total.exp2() - share.expect("a share")).abs() < 0.5, "{why}");
    }

    // Moves of the learned games are found more often than by chance.
    let text = folder.path().join("positions.tsv");
    std::fs::write(&text, "e4\te5\ne4 e5 Nf3\tNc6\ne4 e5 Nf3 Nc6 Bb5\ta6\n").expect("written");
    let evaluate = |temperature: &str| -> serde_json::Value {
        let positions = text.display().to_string();
        let args = ["--json", "--positions", &positions, "--temperature", temperature];
        let report = run(&[&["evaluate", &models][..], &args].concat()).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        report["positions"]["all"].clone()
    };
    let all = evaluate("1");
    assert_eq!(all["positions"], 3);
    assert!(all["first_five"].as_f64() > Some(50.0), "{all}");
    assert!(all["bits"].as_f64().is_some_and(|bits| bits > 0.0 && bits < 4.3), "{all}");
    // At a very high temperature all moves are equally likely: 20 in the first position, 29 and 30
    // in the others.
    let uniform = (20f64.log2() + 29f64.log2() + 30f64.log2()) / 3.0;
    let bits = evaluate("1000000000")["bits"].as_f64().expect("a number");
    assert!((bits - uniform).abs() < 0.1, "{bits} {uniform}");

    // A page without scripts, and nothing loaded from outside.
    let page = at("game.html");
    run(&["report", &models, "--pgn", &pgn, "-o", &page]);
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("://") && page.contains("surprise"));
    assert!(page.contains("the sum: the logarithm of the share"), "no reasons");

    // An opponent that does not run, or does not answer, is refused.
    for opponent in ["no-such-program", "true"] {
        let refused = fed(&["match", &models, "--games", "1", "--opponent", opponent], b"");
        assert!(
            refused.stderr.contains("does not speak UCI") && refused.status != 0,
            "{refused:?}"
        );
    }

    // A damaged file is refused.
    std::fs::write(at("models/odds"), "x").expect("written");
    let args = ["match", &models, "--games", "1", "--side", "white"];
    let refused = fed(&args, b"");
    assert!(refused.stderr.contains("learn again") && refused.status != 0, "{refused:?}");
}

#[test]
fn draws_begin_games_as_the_masters_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = testdata("masters.pgn").display().to_string();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let models = at("models");
    run(&["learn", &pgn, "-o", &models, "--positions", "12000", "--search-words", "0"]);
    // How often each answer to 1.e4 occurs in the games that were learned.
    run(&["prepare", &pgn, "-o", &at("text")]);
    let games = std::fs::read_to_string(at("text/all.txt")).expect("the games");
    let answers = games.lines().filter_map(|line| line.strip_prefix("e4 ")?.split(' ').next());
    let mut masters: BTreeMap<&str, f64> = BTreeMap::new();
    for answer in answers {
        *masters.entry(answer).or_default() += 1.0;
    }
    let all: f64 = masters.values().sum();
    let mut adapter = Adapter::start([&models, "--seed", "5"]);
    let mut drawn: BTreeMap<String, f64> = BTreeMap::new();
    adapter.send("xboard\nprotover 2\naccepted san\n");
    for _ in 0..100 {
        // What XBoard says of itself before each game.
        adapter.send("new\nrandom\nsd 2\nforce\nusermove e4\ngo\n");
        let answer = adapter.wait_for("move ").split_off("move ".len());
        *drawn.entry(answer).or_default() += 1.0;
    }
    adapter.finish();
    assert!(drawn.len() >= 4, "{drawn:?}");
    for (answer, count) in &masters {
        let share = count / all;
        let expected = 100.0 * share;
        if expected >= 2.0 {
            let own = drawn.get(*answer).copied().unwrap_or(0.0);
            // Three standard deviations of the draw.
            let error = 3.0 * (expected * (1.0 - share)).sqrt();
            assert!((own - expected).abs() <= error, "{answer}: {own} {expected} {drawn:?}");
        }
    }
}

/// What the adapter says to these commands. Their end is the end of the game, so it comes after a
/// move for each `go`: an adapter that is to end moves no more.
fn play(args: &[&str], commands: &str) -> String {
    let mut adapter = Adapter::start(args);
    adapter.send(commands);
    let (mut lines, mut awaited) = (Vec::new(), commands.matches("\ngo\n").count());
    while awaited > 0 {
        let line = adapter.line().unwrap_or_else(|| panic!("ended before it moved: {lines:?}"));
        awaited -= usize::from(line.starts_with("move "));
        lines.push(line);
    }
    lines.extend(adapter.finish());
    lines.join("\n")
}

#[test]
fn small_tables_grow_until_nothing_is_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 10);
    // The stand-in for the classifier begins with a table that is too small.
    let small = folder.path().join("small");
    let body = format!(
        "set -- $(echo \" $* \" | sed 's/ -H 23 / -h 6 -H 6 /; s/ -H 24 / -H 20 /')\nexec '{}' \
         \"$@\"",
        programs().join("dbacl").display()
    );
    script(&small, &body);
    let models = folder.path().join("m").display().to_string();
    let small = small.display().to_string();
    let args = ["learn", &pgn, "-o", &models, "--preset", "essay", "--dbacl", &small];
    let told = run(&args).stderr;
    assert!(told.contains("table full") && told.contains("learning again with -H 24"), "{told}");
}

#[test]
fn a_failed_lesson_is_told_and_leaves_no_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 10);
    let failing = folder.path().join("failing");
    script(&failing, "echo 'no space left' >&2; exit 1");
    let models = folder.path().join("m");
    let (output, program) = (models.display().to_string(), failing.display().to_string());
    let args = ["learn", &pgn, "--preset", "essay", "-o", &output, "--dbacl", &program];
    let told = fed(&args, b"").complaint(69);
    assert!(told.contains("no space left") && told.contains("could not learn"), "{told}");
    assert!(!models.join("text").exists() && !models.join("manifest.json").exists());
}

#[test]
fn books_are_made_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 200);
    let tree = run(&["book", &pgn, "--tree", "--depth", "2", "--min-count", "5"]).stdout;
    assert!(tree.lines().next().is_some_and(|l| l.contains(" +")), "{tree}");
    for form in [&[][..], &["--polyglot"]] {
        let book = folder.path().join("book").display().to_string();
        let mut args = vec!["book", pgn.as_str(), "-o", book.as_str()];
        args.extend(form);
        run(&args);
        let commands = "xboard\naccepted san\npost\nnew\nforce\nbk\ngo\n";
        let told = play(&["--book", &book], commands);
        assert!(
            told.contains("(book move ") && told.contains("\nmove ") && told.contains('%'),
            "{told}"
        );
    }
}

#[test]
fn styles_are_learned_and_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = testdata("masters.pgn").display().to_string();
    let styles = folder.path().join("styles").display().to_string();
    let players = ["--attacking", "Morphy", "--positional", "Capablanca", "--mixed", "Lasker"];
    let more = ["--test-every", "5"];
    let told = run(&[&["style", &pgn, "-o", &styles], &players[..], &more[..]].concat()).stdout;
    assert!(told.contains("judged rightly"), "{told}");
    assert!(told.starts_with("learned: attacking "), "{told}");
    let models = learned(folder.path(), 30, &["--preset", "essay"]);
    let game =
        "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+ Nc3 Nxe4 O-O Bxc3 d5 Bf6 Re1 Ne7 Rxe4";
    let moves: String = game.split(' ').map(|word| format!("usermove {word}\n")).collect();
    let commands = format!("xboard\nprotover 2\naccepted san\nnew\nforce\n{moves}go\n");
    let told = play(&[&models, "--style", &styles, "--deterministic"], &commands);
    assert!(told.contains("telluser the opponent's style is ") && told.contains("move "), "{told}");
    let match_args = ["match", &models, "--style", &styles, "--games", "1", "--limit", "40"];
    let score = run(&match_args).stdout;
    assert!(score.contains("half-moves"), "{score}");
}
