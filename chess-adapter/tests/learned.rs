// SPDX-License-Identifier: GPL-3.0-or-later
//! The whole way with the real classifier: learn from the shipped games, then play, explain,
//! measure.

use std::collections::BTreeMap;

use dbacl_testing::{Scratch, done, programs, root};

use crate::support::{Adapter, fed, learned, run, script, some_games};

#[test]
fn learn_play_explain_measure() {
    let place = Scratch::new();
    let told = learned(&place, 80, "--positions 3000").stderr;
    assert!(told.contains("odds: 3000 positions learned, "), "{told}");

    // A match against the random mover is won, and the same games are played each time.
    let json = |args: &str| -> serde_json::Value {
        serde_json::from_str(&run(&place, args).stdout).expect("JSON")
    };
    let play = || json("match models --games 4 --json --avoid-draws");
    let score = play();
    assert_eq!(score["lost"], 0, "{score}");
    assert!(score["won"].as_u64() >= Some(3), "{score}");
    assert_eq!(play(), score);

    // The classifier explains itself.
    // Good models need no warning.
    let args = ["why", "models", "--moves", "e4 e5 Nf3", "--move", "Nc6"];
    let why = done(&mut place.program("chess-adapter", args)).quiet(0);
    assert!(
        why.starts_with("Nc6 is number ") && why.contains("the logarithm of the share"),
        "{why}"
    );
    // Where no model is named, that of the program is asked.
    for file in ["odds", "manifest.json"] {
        place.write(&format!("known/chess/{file}"), place.read(&format!("models/{file}")));
    }
    let mut unnamed =
        place.program("chess-adapter", ["why", "--moves", "e4 e5 Nf3", "--move", "Nc6"]);
    assert_eq!(done(unnamed.env("DBACL_MODELS", place.path("known"))).quiet(0), why);
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

    // A question before all others is answered, too.
    let asked = fed(&place, "play models", "xboard\nwhy\nquit\n").stderr;
    assert!(asked.contains(" is number 1 of 20: "), "{asked}");

    // Without options the odds choose, and say why; a search is asked for.
    for (args, said) in [
        ("models", "info string the odds chose "),
        ("models --play strong", "info string the search chose "),
    ] {
        let mut adapter = Adapter::start(&place, args);
        adapter.send("uci\nposition startpos moves e2e4\ngo movetime 50\n");
        let line = adapter.wait_for(said);
        assert!(
            line.contains(" %") && line.contains("above all: ") == (args == "models"),
            "{line}"
        );
        adapter.wait_for("bestmove");
        adapter.finish();
    }

    // Moves of the learned games are found more often than by chance.
    place.write("positions.tsv", "e4\te5\ne4 e5 Nf3\tNc6\ne4 e5 Nf3 Nc6 Bb5\ta6\n");
    let evaluate = |temperature: u32| {
        let args = format!("--json --positions positions.tsv --temperature {temperature}");
        json(&format!("evaluate models {args}"))["positions"]["all"].clone()
    };
    let all = evaluate(1);
    assert_eq!(all["positions"], 3);
    assert!(all["first_five"].as_f64() > Some(50.0), "{all}");
    assert!(all["bits"].as_f64().is_some_and(|bits| bits > 0.0 && bits < 4.3), "{all}");
    // At a very high temperature all moves are equally likely: 20 in the first position, 29 and 30
    // in the others.
    let uniform = (20f64.log2() + 29f64.log2() + 30f64.log2()) / 3.0;
    let bits = evaluate(1_000_000_000)["bits"].as_f64().expect("a number");
    assert!((bits - uniform).abs() < 0.1, "{bits} {uniform}");

    // A page without scripts, and nothing loaded from outside.
    run(&place, "report models --pgn some.pgn -o game.html");
    let page = place.text("game.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("://") && page.contains("surprise"));
    assert!(page.contains("the sum: the logarithm of the share"), "no reasons");
    let board = page.split("<table class=\"b\">").nth(1).expect("a board");
    let board = board.split("</table>").next().expect("its end");
    assert!(board.contains('♔') && board.contains('♟'), "{board}");
    assert_eq!((board.matches("<td").count(), board.matches(" m\"").count()), (64, 2));

    // An opponent that does not run, or does not answer, is refused.
    for opponent in ["no-such-program", "true"] {
        let refused = fed(&place, &format!("match models --games 1 --opponent {opponent}"), "");
        assert!(
            refused.stderr.contains("does not speak UCI") && refused.status != 0,
            "{refused:?}"
        );
    }

    // So is play by style without the categories for it.
    let refused = fed(&place, "play models --style none", "").complaint(66);
    assert!(refused.contains("none/attacking: No such file"), "{refused}");

    // So is an empty list of openings.
    place.write("openings", "\n");
    fed(&place, "match models --openings openings", "")
        .complains(65, "openings: there is no opening");

    // A damaged file is refused.
    place.write("models/odds", "x");
    let refused = fed(&place, "match models --games 1 --side white", "");
    assert!(refused.stderr.contains("learn again") && refused.status != 0, "{refused:?}");
}

#[test]
fn draws_begin_games_as_the_masters_did() {
    let place = Scratch::new();
    run(&place, "learn DATA/masters.pgn -o models --positions 12000 --search-words 0");
    // How often each answer to 1.e4 occurs in the games that were learned.
    run(&place, "prepare DATA/masters.pgn -o text");
    let games = place.text("text/all.txt");
    let answers = games.lines().filter_map(|line| line.strip_prefix("e4 ")?.split(' ').next());
    let mut masters: BTreeMap<&str, f64> = BTreeMap::new();
    for answer in answers {
        *masters.entry(answer).or_default() += 1.0;
    }
    let all: f64 = masters.values().sum();
    let mut adapter = Adapter::start(&place, "models --play strong --seed 5");
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
fn play(place: &Scratch, args: &str, commands: &str) -> String {
    let mut adapter = Adapter::start(place, args);
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
    let place = Scratch::new();
    // The stand-in for the classifier begins with a table that is too small.
    let body = format!(
        "set -- $(echo \" $* \" | sed 's/ -H 23 / -h 6 -H 6 /; s/ -H 24 / -H 20 /')\nexec '{}' \
         \"$@\"",
        programs().join("dbacl").display()
    );
    script(&place.path("small"), &body);
    let told = learned(&place, 10, "--preset essay --dbacl ./small").stderr;
    assert!(told.contains("table full") && told.contains("learning again with -H 24"), "{told}");
}

#[test]
fn a_failed_lesson_is_told_and_leaves_no_text() {
    let place = Scratch::new();
    some_games(&place, 10);
    script(&place.path("failing"), "echo 'no space left' >&2; exit 1");
    let learn = "learn some.pgn --preset essay -o m --dbacl ./failing";
    let told = fed(&place, learn, "").complaint(69);
    assert!(told.contains("no space left") && told.contains("could not learn"), "{told}");
    assert!(!place.path("m/text").exists() && !place.path("m/manifest.json").exists());
}

#[test]
fn books_are_made_and_played() {
    let place = Scratch::new();
    some_games(&place, 200);
    let tree = run(&place, "book some.pgn --tree --depth 2 --min-count 5").stdout;
    assert!(tree.lines().next().is_some_and(|l| l.contains(" +")), "{tree}");
    place.write("one.pgn", "1. e4 1-0\n");
    place.write("empty.pgn", "");
    for form in ["", "--polyglot"] {
        run(&place, &format!("book some.pgn -o book {form}"));
        // A book of nothing does not replace one.
        for (pgn, told) in [("one.pgn", "no move was played 3 times"), ("empty.pgn", "no game")] {
            let refused = fed(&place, &format!("book {pgn} -o book {form}"), "");
            assert_eq!(refused.status, 65, "{}", refused.stderr);
            assert!(refused.stderr.contains(told), "{}", refused.stderr);
        }
        let commands = "xboard\naccepted san\npost\nnew\nforce\nbk\ngo\n";
        let told = play(&place, "FAKE --dbacl FAKE --book book", commands);
        assert!(
            told.contains("(book move ") && told.contains("\nmove ") && told.contains('%'),
            "{told}"
        );
    }
}

#[test]
fn books_answer_unknown_positions_and_advise_the_search() {
    let place = Scratch::new();
    some_games(&place, 200);
    run(&place, "book some.pgn -o book --plies 40 --min-count 2");
    let told = run(&place, "book some.pgn --clusters 2 --min-count 2").stdout;
    assert!(told.contains(" positions, at most "), "{told}");
    let near = ["book", "some.pgn", "--near", "e4 e5 Nh3 Nc6"];
    let told = dbacl_testing::fed(place.program("chess-adapter", near), "").stdout;
    assert!(told.contains("distance 1: e4 e5 Nf3 Nc6") && told.contains("plan: "), "{told}");
    let unknown: String = ["e4", "e5", "Nh3", "Nc6"].map(|m| format!("usermove {m}\n")).concat();
    let commands = format!("xboard\naccepted san\npost\nnew\nforce\n{unknown}go\n");
    let told = play(&place, "FAKE --dbacl FAKE --book book --clusters 3", &commands);
    assert!(told.contains("(cluster move ") && told.contains("\nmove "), "{told}");
    let start = "xboard\naccepted san\npost\nnew\nforce\nsd 2\ngo\n";
    let fake = "--dbacl FAKE --white FAKE --black FAKE --encoding half --book book";
    for (set, is_book_move) in [("BookFrom=1", true), ("BookFrom=2", false)] {
        let told = play(&place, &format!("{fake} --set {set}"), start);
        assert_eq!(told.contains("(book move "), is_book_move, "{set} {told}");
    }
    // The book does not choose, but the search does.
    let search = format!("{fake} --search 1 --set BookInSearch=on");
    for weight in ["1000", "seed"] {
        let told = play(&place, &format!("{search} --set BookWeight={weight}"), start);
        let follows_book = told.contains("move e4") || told.contains("move d4");
        assert!(!told.contains("(book move ") && follows_book, "{weight} {told}");
    }
}

#[test]
fn styles_are_learned_and_asked() {
    let place = Scratch::new();
    let players = "--attacking Morphy --positional Capablanca --mixed Lasker --test-every 5";
    let told = run(&place, &format!("style DATA/masters.pgn -o styles {players}")).stdout;
    assert!(told.contains("right after ten moves"), "{told}");
    assert!(told.starts_with("learned: attacking "), "{told}");
    let game =
        "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+ Nc3 Nxe4 O-O Bxc3 d5 Bf6 Re1 Ne7 Rxe4";
    let moves: String = game.split(' ').map(|word| format!("usermove {word}\n")).collect();
    let commands = format!("xboard\nprotover 2\naccepted san\nnew\nforce\n{moves}go\n");
    // The essay's models have voices against styles; others play for something else.
    for options in ["--preset essay", "--search-words 0"] {
        learned(&place, 30, options);
        let told = play(&place, "models --style styles --deterministic", &commands);
        let is_told = told.contains("telluser the opponent's style is ");
        assert!(is_told && told.contains("move "), "{options}: {told}");
    }
    let score = run(&place, "match models --style styles --games 1 --limit 40").stdout;
    assert!(score.contains("half-moves"), "{score}");
}

#[test]
fn values_are_learned_shown_and_played_by() {
    let place = Scratch::new();
    some_games(&place, 12);
    let published = run(&place, "worth some.pgn -o net --games 20 --as-published --seed 2");
    let (told, lines) = (&published.stdout, published.stdout.lines().count());
    assert!(told.contains("\n20 games: ") && lines == 4, "{told}");
    // Each value's share of the games won, drawn and lost.
    let shown = run(&place, "worth show net pawn bNf6").stdout;
    let numbers = |line: &str| -> Option<Vec<f64>> {
        line.split_whitespace().map(|cell| cell.parse().ok()).collect()
    };
    let rows: Vec<Vec<f64>> = shown.lines().filter_map(numbers).collect();
    assert_eq!(rows.len(), 2 * 3 * 5, "{shown}");
    for column in 1..=3 {
        let sum: f64 = rows[..5].iter().map(|row| row[column]).sum();
        assert!((sum - 100.0).abs() < 0.3, "{shown}");
    }
    let refused = fed(&place, "worth show net king", "").complaint(65);
    assert!(refused.contains("no parameter \"king\""), "{refused}");

    // Without proof nothing is kept, and each run of a seed says the same.
    let learn = || fed(&place, "worth some.pgn -o values --games 4 --seed 3", "");
    let (first, again) = (learn(), learn());
    assert_eq!((first.status, &first.stdout), (1, &again.stdout), "{}", first.stderr);
    assert!(first.stdout.ends_with("not better than the base, so they are not kept\n"));
    assert!(!place.path("values/worth.txt").exists());

    // The search plays by values in a folder: here queens are worth nothing.
    let by_hand = root().join("chess-adapter/search/values/by-hand.txt");
    let all = std::fs::read_to_string(by_hand).expect("a file of the sources");
    let line = |line: &str| match line.strip_prefix('Q').and_then(|rest| rest.split(' ').next()) {
        Some(name) => format!("Q{name} 0 0\n"),
        None => format!("{line}\n"),
    };
    place.write("values/worth.txt", all.lines().map(line).collect::<String>());
    learned(&place, 12, "--search-words 0");
    for (args, low, high) in [
        ("--play strong", 700, 1500),
        ("--worth values", -99, 150),
        ("--play strong --learn-from-play values", -99, 150),
    ] {
        let mut adapter = Adapter::start(&place, &format!("models {args}"));
        let queenless = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        adapter.send(&format!("uci\nposition fen {queenless}\ngo depth 2\n"));
        let line = adapter.wait_for("info depth 2 ");
        let value = line.split_once("score cp ").and_then(|(_, rest)| rest.split(' ').next());
        let value: i32 = value.and_then(|value| value.parse().ok()).expect("a value");
        assert!((low..high).contains(&value), "{args}: {line}");
        adapter.wait_for("bestmove");
        adapter.finish();
    }
}
