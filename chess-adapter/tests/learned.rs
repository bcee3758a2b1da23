// SPDX-License-Identifier: GPL-3.0-or-later
//! The whole way with the real classifier: learn from the shipped games, then play, explain,
//! measure.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use crate::support::{adapter, dbacl, run, script, some_games, testdata};

#[test]
fn learn_play_explain_measure() {
    if dbacl("learn_play_explain_measure").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 80);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let models = at("models");
    run(&["learn", &pgn, "-o", &models, "--preset", "best"]);
    assert!(!Path::new(&at("models/text")).exists(), "the training text is not kept");

    // A match against the random mover is won, and the same games are played each time.
    let play = || run(&["match", &models, "--games", "4", "--json", "--avoid-draws"]).0;
    let score: serde_json::Value = serde_json::from_str(&play()).expect("JSON");
    assert_eq!(score["lost"], 0, "{score}");
    assert!(score["won"].as_u64() >= Some(3), "{score}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&play()).expect("JSON"), score);

    // The classifier explains itself.
    let (why, output) = run(&["why", &models, "--moves", "e4 e5 Nf3", "--move", "Nc6"]);
    assert!(why.starts_with("Nc6 is number ") && why.contains("sbNb1c3"), "{why}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "good models need no warning");

    // Moves of the learned games are found more often than by chance.
    let text = folder.path().join("positions.tsv");
    std::fs::write(&text, "e4\te5\ne4 e5 Nf3\tNc6\ne4 e5 Nf3 Nc6 Bb5\ta6\n").expect("written");
    let (report, _) =
        run(&["evaluate", &models, "--json", "--positions", &text.display().to_string()]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let all = &report["positions"]["all"];
    assert_eq!(all["positions"], 3);
    assert!(all["first_five"].as_f64() > Some(50.0), "{report}");

    // A page without scripts, and nothing loaded from outside.
    let page = at("game.html");
    run(&["report", &models, "--pgn", &pgn, "-o", &page]);
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("http") && page.contains("surprise"));
    assert!(page.contains("What the evidence says") && page.contains("<td>o"), "no legend");

    // A category that is not the one that was learned is refused.
    std::fs::write(at("models/BlackWin-full-graph7"), "x").expect("written");
    let (_, output) = run(&["match", &models, "--games", "1", "--side", "white"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("learn again"));
}

#[test]
fn odds_are_learned_and_drawn_from() {
    if dbacl("odds_are_learned_and_drawn_from").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 120);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let models = at("models");
    let args = ["learn", &pgn, "-o", &models, "--describe-positions", "4000"];
    let (_, output) = run(&args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("odds: 4000 positions learned, "), "{told}");
    let text = folder.path().join("positions.tsv");
    std::fs::write(&text, "e4\te5\ne4 e5 Nf3\tNc6\ne4 e5 Nf3 Nc6 Bb5\ta6\n").expect("written");
    let positions = text.display().to_string();
    let (report, _) = run(&["evaluate", &models, "--json", "--positions", &positions]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let all = &report["positions"]["all"];
    assert!(all["bits"].as_f64().is_some_and(|bits| bits > 0.0 && bits < 4.3), "{report}");
    // With the temperature in the manifest, displayed probabilities predict moves best.
    let manifest = folder.path().join("models/manifest.json");
    let bits = |temperature: f64| {
        let told = std::fs::read(&manifest).expect("the manifest");
        let mut told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
        told["temperatures"]["odds"] = temperature.into();
        std::fs::write(&manifest, told.to_string()).expect("written");
        let (report, _) = run(&["evaluate", &models, "--json", "--positions", &positions]);
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        report["positions"]["all"]["bits"].as_f64().expect("a number")
    };
    let told = std::fs::read(&manifest).expect("the manifest");
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    assert!(told["curvatures"]["odds"].as_f64().is_some_and(|c| c >= 0.0), "{told}");
    // At a very high temperature all moves are equally likely: 20 in the first position, 29 and 30
    // in the others.
    let uniform = (20f64.log2() + 29f64.log2() + 30f64.log2()) / 3.0;
    assert!((bits(1e9) - uniform).abs() < 0.1, "{} {uniform}", bits(1e9));
    let (_, output) = run(&["why", &models, "--moves", "e4 e5 Nf3", "--move", "Nc6"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "good models need no warning");
}

#[test]
fn draws_begin_games_as_the_masters_did() {
    if dbacl("draws_begin_games_as_the_masters_did").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = testdata("masters.pgn").display().to_string();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let models = at("models");
    run(&["learn", &pgn, "-o", &models, "--describe-positions", "12000"]);
    // How often each answer to 1.e4 occurs in the games that were learned.
    run(&["prepare", &pgn, "-o", &at("text")]);
    let games = std::fs::read_to_string(at("text/all.txt")).expect("the games");
    let answers = games.lines().filter_map(|line| line.strip_prefix("e4 ")?.split(' ').next());
    let mut masters: BTreeMap<&str, f64> = BTreeMap::new();
    for answer in answers {
        *masters.entry(answer).or_default() += 1.0;
    }
    let all: f64 = masters.values().sum();
    let mut child = Command::new(adapter())
        .args(["play", &models, "--seed", "5"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the adapter runs");
    let mut to = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut drawn: BTreeMap<String, f64> = BTreeMap::new();
    writeln!(to, "xboard\nprotover 2\naccepted san").expect("read");
    for _ in 0..100 {
        // What XBoard says of itself before each game.
        writeln!(to, "new\nrandom\nsd 2\nforce\nusermove e4\ngo").expect("read");
        let answer = lines
            .by_ref()
            .map(|line| line.expect("text"))
            .find_map(|line| line.strip_prefix("move ").map(str::to_owned));
        *drawn.entry(answer.expect("a move")).or_default() += 1.0;
    }
    drop(to);
    child.wait().expect("it ends");
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
    let mut child = Command::new(adapter())
        .args(args)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the adapter runs");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    to.write_all(commands.as_bytes()).expect("the adapter reads");
    let mut awaited = commands.lines().filter(|line| line.split(' ').next() == Some("go")).count();
    let mut told = String::new();
    while awaited > 0 {
        let start = told.len();
        assert!(from.read_line(&mut told).expect("ASCII") > 0, "ended before it moved: {told}");
        let word = told[start..].split_whitespace().next();
        awaited -= usize::from(matches!(word, Some("move" | "bestmove")));
    }
    drop(to);
    from.read_to_string(&mut told).expect("ASCII");
    assert!(child.wait().expect("it ends").success(), "{told}");
    told
}

#[test]
fn parameters_are_learned_from_games_and_played() {
    if dbacl("parameters_are_learned_from_games_and_played").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (records, learned) = (at("records"), at("learned"));
    let (told, _) = run(&["bayes", "play", "--games", "200", "-o", &records]);
    assert!(told.starts_with("perturbed parameters won "), "{told}");
    let (told, _) = run(&["bayes", "learn", &records, "-o", &learned]);
    assert!(told.ends_with(" records learned\n"), "{told}");
    assert!(!Path::new(&at("learned/text")).exists(), "the training text is not kept");
    let (told, _) = run(&["bayes", "show", &learned]);
    assert!(told.contains("838 parameters") && told.contains("queen's value"), "{told}");
    // What was learned is better than chance: it wins most points against new perturbations.
    let against = ["bayes", "play", "--games", "200", "--seed", "9", "--against", &learned];
    let (told, _) = run(&against);
    let points = told.split_whitespace().find_map(|word| word.parse::<f64>().ok());
    let share = told.split(": ").nth(1).and_then(|rest| rest.split(' ').next());
    let share: f64 = share.and_then(|share| share.parse().ok()).expect("a share");
    assert!(points.is_some() && share > 50.0, "{told}");
    assert_eq!(run(&against).0, told, "games repeat");
    // Records of fewer games, and the other goal.
    run(&["bayes", "learn", &records, "--games", "50", "--caution", "0", "-o", &learned]);
    let (told, _) = run(&["bayes", "show", &learned, "--all"]);
    assert!(told.contains("white knight on f3") && told.contains("king on h8"), "{told}");
    // All won games have the same level of one parameter now. With caution that level is taken, but
    // few of the others are.
    let lines = std::fs::read_to_string(&records).expect("records");
    let all_won = |line: &str| match line.strip_prefix("opening\twin\t") {
        Some(levels) => format!("opening\twin\te{}\n", &levels[1..]),
        None => format!("{line}\n"),
    };
    std::fs::write(&records, lines.lines().map(all_won).collect::<String>()).expect("written");
    let share_moved = |caution: &str| {
        run(&["bayes", "learn", &records, "--caution", caution, "-o", &learned]);
        let (told, _) = run(&["bayes", "show", &learned, "--all"]);
        let first = |line: &str| {
            let numbers: Option<Vec<u32>> =
                line.split_whitespace().rev().take(6).map(|word| word.parse().ok()).collect();
            numbers.filter(|numbers| numbers.len() == 6).map(|numbers| numbers[5])
        };
        let moved: Vec<u32> = told.lines().filter_map(first).collect();
        assert_eq!((moved.len(), moved[0]), (838, 140), "{told}");
        moved.iter().filter(|&&per_cent| per_cent != 100).count()
    };
    let (cautious, bold) = (share_moved("2"), share_moved("0"));
    assert!((2..250).contains(&cautious) && bold > 500, "{cautious} {bold}");
    // A search with it.
    let commands = "uci\nsetoption name EvaluationGoal value not-lose\nposition startpos\n\
        go depth 3\n";
    let fake = crate::support::fake().display().to_string();
    let engine = ["play", "--dbacl", &fake, "--white", &fake, "--search", "on", "--evaluation"];
    let told = play(&[&engine[..], &[&learned]].concat(), commands);
    assert!(told.contains("info depth 3 ") && told.contains("bestmove "), "{told}");
    let told = play(&[&engine[..], &["nosuch"]].concat(), commands);
    assert!(told.contains("nosuch") && told.contains("bestmove "), "{told}");
}

#[test]
fn positions_are_worth_what_the_classifier_says() {
    use chess_adapter::play::bayes::positions;
    use chess_adapter::play::bayes::stage::{Outcome, Stage};
    use chess_adapter::play::bayes::weights::{Weights, feature};

    let Some(dbacl) = dbacl("positions_are_worth_what_the_classifier_says") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (games, learned) = (at("games.pgn"), at("learned"));
    let drawn = ["bayes", "play", "--games", "300", "--drawn-moves", "12", "--pgn", &games];
    run(&drawn);
    let (told, _) = run(&["bayes", "learn", "--positions", &games, "-o", &learned]);
    assert!(told.contains(" positions learned") && told.contains("temperature"), "{told}");
    let (told, _) = run(&["bayes", "show", &learned]);
    assert!(told.contains("centipawns of"), "{told}");
    let value = |fen: &str| -> i32 {
        let (told, _) = run(&["bayes", "show", &learned, "--fen", fen]);
        let value = told.lines().last().and_then(|line| line.rsplit(' ').next());
        value.and_then(|value| value.parse().ok()).expect("a value")
    };
    let ending = |white: &str| format!("4k3/5ppp/8/8/8/8/5PPP/{white}K3 w - - 0 40");
    assert!(value(&ending("3Q")) > value(&ending("4")) + 100);
    assert!(value("3qk3/5ppp/8/8/8/8/5PPP/4K3 w - - 0 40") < -100);
    // The learned evaluation of a position is the difference of the classifier's two scores of its
    // words.
    let position = chess_adapter::text::game::read_fen(&ending("3R")).expect("good FEN");
    let line = positions::words(&position);
    let path = |outcome: Outcome| at("learned/") + "end-" + outcome.as_str();
    let mut child = Command::new(dbacl)
        .args(["-n", "-c", &path(Outcome::Win), "-c", &path(Outcome::Draw)])
        .args(["-c", &path(Outcome::Loss), "-f", "1,2,3"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the classifier runs");
    let text = format!("{line}\n");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes())
        .expect("read");
    let told = String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("ASCII");
    let scores: Vec<f64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let weights = |outcome| {
        let weights = Weights::open(Path::new(&learned), Stage::End, outcome).expect("a category");
        line.split(' ').map(|word| weights.of(feature(word))).sum::<f64>()
    };
    let own = (weights(Outcome::Win) - weights(Outcome::Loss)) / std::f64::consts::LN_2;
    let theirs = scores[2] - scores[0];
    assert!((own - theirs).abs() < 0.05 + theirs.abs() * 1e-4, "{own} {theirs} {told}");
}

#[test]
fn small_tables_grow_until_nothing_is_ignored() {
    let Some(dbacl) = dbacl("small_tables_grow_until_nothing_is_ignored") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 10);
    // The stand-in for the classifier begins with a table that is too small.
    let small = folder.path().join("small");
    let body = format!(
        "set -- $(echo \" $* \" | sed 's/ -H 23 / -h 6 -H 6 /; s/ -H 24 / -H 20 /')\nexec '{}' \
         \"$@\"",
        dbacl.display()
    );
    script(&small, &body);
    let models = folder.path().join("m").display().to_string();
    let small = small.display().to_string();
    let args = ["learn", &pgn, "-o", &models, "--preset", "full", "--dbacl", &small];
    let (_, output) = run(&args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("table full") && told.contains("learning again with -H 24"), "{told}");
}

#[test]
fn a_failed_lesson_is_told_and_leaves_no_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 10);
    let failing = folder.path().join("failing");
    script(&failing, "echo 'no space left' >&2; exit 1");
    let models = folder.path().join("m");
    let output = Command::new(adapter())
        .args(["learn", &pgn, "--preset", "full", "-o"])
        .arg(&models)
        .arg("--dbacl")
        .arg(&failing)
        .output()
        .expect("the adapter runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("no space left") && told.contains("could not learn"), "{told}");
    assert!(!models.join("text").exists() && !models.join("manifest.json").exists());
}

#[test]
fn books_are_made_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = some_games(folder.path(), 200);
    let (tree, _) = run(&["book", &pgn, "--tree", "--depth", "2", "--min-count", "5"]);
    assert!(tree.lines().next().is_some_and(|l| l.contains(" +")), "{tree}");
    for form in [&[][..], &["--polyglot"]] {
        let book = folder.path().join("book").display().to_string();
        let mut args = vec!["book", pgn.as_str(), "-o", book.as_str()];
        args.extend(form);
        run(&args);
        let commands = "xboard\naccepted san\npost\nnew\nforce\nbk\ngo\n";
        let told = play(&["play", "--book", &book], commands);
        assert!(
            told.contains("(book move ") && told.contains("\nmove ") && told.contains('%'),
            "{told}"
        );
    }
}

#[test]
fn styles_are_learned_and_asked() {
    if dbacl("styles_are_learned_and_asked").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pgn = testdata("masters.pgn").display().to_string();
    let styles = folder.path().join("styles").display().to_string();
    let players = ["--attacking", "Morphy", "--positional", "Capablanca", "--mixed", "Lasker"];
    let style = |more: [&str; 2]| {
        run(&[&["style", &pgn, "-o", &styles], &players[..], &more[..]].concat()).0
    };
    let told = style(["--test-every", "5"]);
    assert!(told.contains("judged rightly"), "{told}");
    // The same by the four features, and what it tells in a game.
    let told = style(["--words", "features"]);
    assert!(told.starts_with("learned: attacking "), "{told}");
    let some = some_games(folder.path(), 30);
    let models = folder.path().join("models").display().to_string();
    run(&["learn", &some, "-o", &models, "--preset", "style"]);
    let game =
        "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+ Nc3 Nxe4 O-O Bxc3 d5 Bf6 Re1 Ne7 Rxe4";
    let moves: String = game.split(' ').map(|word| format!("usermove {word}\n")).collect();
    let commands = format!("xboard\nprotover 2\naccepted san\nnew\nforce\n{moves}go\n");
    let told = play(&["play", &models, "--style", &styles, "--deterministic"], &commands);
    assert!(told.contains("telluser the opponent's style is ") && told.contains("move "), "{told}");
    let (score, _) = run(&["match", &models, "--style", &styles, "--games", "1", "--limit", "40"]);
    assert!(score.contains("half-moves"), "{score}");
}

#[test]
fn endgame_tables_are_made_kept_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = folder.path().display().to_string();
    let (_, output) = run(&["tables", "KRK", "KQK", "-o", &tables]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("1/2 KRK: longest mate 16 moves"), "{told}");
    let (_, output) = run(&["tables", "KRK", "-o", &tables]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is there"));
    // Two random movers would shuffle for ever; with the tables the rook mates.
    let fake = crate::support::fake().display().to_string();
    let question = "uci\nposition fen 7k/8/6K1/8/8/8/8/R7 b - - 0 1\ngo\n\
        position fen 6k1/8/6K1/8/8/8/8/R7 w - - 0 1\ngo\n";
    let engine = ["play", "--dbacl", &fake, "--white", &fake, "--black", &fake];
    let with_tables = ["--encoding", "half", "--tables", &tables];
    let text = play(&[&engine[..], &with_tables].concat(), question);
    assert!(text.contains("bestmove h8g8") && text.contains("bestmove a1a8"), "{text}");
    let (status, told) = {
        let output = Command::new(crate::support::adapter())
            .args(["tables", "KQRKQ", "-o", &tables])
            .output()
            .expect("the adapter runs");
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(!status.success() && told.contains("KQRKQ has more than 4 men"), "{told}");
}
