// SPDX-License-Identifier: GPL-3.0-or-later
//! `dbacl-eval` against the program `dbacl`, its page in a browser, the wrappers and the TREC
//! commands.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dbacl_testing::{programs, root};

const EVAL: &str = env!("CARGO_BIN_EXE_dbacl-eval");

const HAM: &[&str] =
    &["meeting", "report", "thanks", "lunch", "minutes", "draft", "monday", "budget"];
const SPAM: &[&str] = &["lottery", "winner", "cheap", "pills", "click", "million", "offer", "free"];
const BOTH: &[&str] =
    &["the", "and", "you", "for", "with", "today", "please", "now", "here", "from"];

/// A made-up message: words of its kind among words of both.
fn message(kind: &[&str], number: usize) -> String {
    let mut state = number * 7919 + kind[0].len() * 104_729 + 17;
    let mut pick = |words: &[&str]| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words[(state >> 33) % words.len()].to_owned()
    };
    let mut text = format!("From: somebody{number}@example.org\nSubject: {}\n\n", pick(kind));
    for word in 0..40 {
        let words = if word % 4 == 0 { kind } else { BOTH };
        let _ = write!(text, "{}{}", pick(words), if word % 8 == 7 { "\n" } else { " " });
    }
    text
}

/// Folders `train` and `test` with categories of made-up mail.
fn corpus(place: &Path) {
    for (part, count) in [("train", 30), ("test", 10)] {
        for (name, kind) in [("ham", HAM), ("spam", SPAM)] {
            let folder = place.join(part).join(name);
            fs::create_dir_all(&folder).expect("a folder");
            for number in 0..count {
                let text = message(kind, number + if part == "test" { 1000 } else { 0 });
                fs::write(folder.join(format!("{number:03}")), text).expect("written");
            }
        }
    }
}

fn run(place: &Path, program: impl AsRef<OsStr>, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(place).args(args).env("LC_ALL", "C.UTF-8").env_remove("DBACL_STRICT");
    command.output().expect("the program starts")
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Names of a folder's files, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn verdicts_are_those_of_dbacl() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    for options in
        ["-T email", "-T email -T email:headers -e cef -j -H 18", "-w 2 -e alnum", "-g ([a-z]+)"]
    {
        let words: Vec<&str> =
            options.splitn(if options.starts_with("-g") { 2 } else { 99 }, ' ').collect();
        for category in ["ham", "spam"] {
            let mut args = words.clone();
            args.extend(["-l", category]);
            let learned = files(&place.join("train").join(category));
            args.extend(learned.iter().map(|path| path.to_str().expect("a name")));
            text(&run(place, programs().join("dbacl"), &args));
        }
        let set = match words.as_slice() {
            ["-g", pattern] => format!("x: -g '{pattern}'"),
            _ => format!("x: {options}"),
        };
        text(&run(place, EVAL, &["train", "--test", "test", "-s", &set, "--verdicts", "verdicts"]));
        let verdicts = fs::read_to_string(place.join("verdicts")).expect("verdicts");
        let mut seen = 0;
        for line in verdicts.lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let document = value["document"].as_str().expect("a name");
            let output = run(
                place,
                programs().join("dbacl"),
                &["--strict", "-nv", "-c", "ham", "-c", "spam", document],
            );
            let scores = text(&output);
            let fields: Vec<&str> = scores.split_whitespace().collect();
            for (at, column) in [(0, 1), (1, 5)] {
                let nats = value["scores_nats"][at].as_f64().expect("a score");
                let printed = format!("{:.2}", -nats / std::f64::consts::LN_2);
                assert_eq!(printed, fields[column], "{options}: {document}");
            }
            let output = run(
                place,
                programs().join("dbacl"),
                &["--strict", "-v", "-c", "ham", "-c", "spam", document],
            );
            assert_eq!(text(&output).trim(), value["verdict"].as_str().expect("a verdict"));
            seen += 1;
        }
        assert_eq!(seen, 20);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    for protocol in
        [&["-k", "5", "--curve"][..], &["--online"], &["--online", "--feedback", "on-error"]]
    {
        let report = |threads: &str| {
            let mut args = vec!["train", "test", "--json", "-t", threads, "-s", "a: -T email"];
            args.extend(["-s", "b: -T email -e cef"]);
            args.extend(protocol);
            text(&run(place, EVAL, &args))
        };
        let one = report("1");
        assert_eq!(one, report("3"), "{protocol:?}");
        let value: serde_json::Value = serde_json::from_str(&one).expect("JSON");
        assert_eq!(value["categories"][1]["judged"], 40);
        let error = value["sets"][0]["error"]["rate"].as_f64().expect("a rate");
        assert!(error < 0.3, "{protocol:?}: {error}");
    }
}

#[test]
fn later_feedback_is_learned_later() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    let errors = |feedback: &str| {
        let args = ["train", "--online", "--refresh", "0", "--feedback", feedback, "--json"];
        let value: serde_json::Value =
            serde_json::from_str(&text(&run(place, EVAL, &args))).expect("JSON");
        value["sets"][0]["error"]["rate"].as_f64().expect("a rate")
    };
    // If the truth comes after more messages than there are, nothing is learned, and the first
    // category wins every time.
    assert!((errors("delayed:1000") - 0.5).abs() < 1e-12);
    assert!(errors("immediate") < errors("delayed:20"));
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    let place = tempfile::tempdir().expect("a temporary folder");
    for (args, status, expected) in [
        (&[][..], 64, "not provided"),
        (&["x", "--folds", "1"], 64, "1 is not in 2"),
        (&["x", "-s", "bad: -w 12"], 64, "\"bad\""),
        (&["x", "--try", "cheese"], 64, "mail, text"),
        (&["x", "--nonsense"], 64, "unexpected argument '--nonsense'"),
        (&["x", "--online", "--test", "y"], 64, "cannot be used with"),
        (&["nowhere"], 66, "nowhere"),
    ] {
        let output = run(place.path(), EVAL, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_category_without_documents_to_learn_is_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    for folder in ["empty", "copies"] {
        fs::create_dir(place.join(folder)).expect("a folder");
    }
    for number in 0..3 {
        let text = format!("Subject: {number}\n\nwin a prize\n");
        fs::write(place.join(format!("copies/{number}")), text).expect("written");
    }
    for (spam, expected) in [
        ("copies", "all documents of \"spam\" have the same body, so none is left to learn from"),
        (
            "empty",
            "at least two categories are needed, and there is only \"ham\"; empty has no documents",
        ),
    ] {
        let args = ["--try", "mail", "ham=train/ham", &format!("spam={spam}")];
        let output = run(place, EVAL, &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, format!("dbacl-eval: {expected}\n"));
        assert_eq!(output.status.code(), Some(65));
    }
}

/// A page about categories, documents and options with hostile names.
fn page(place: &Path) -> String {
    corpus(place);
    let bad = place.join("bad");
    fs::create_dir_all(&bad).expect("a folder");
    fs::rename(place.join("train/ham"), bad.join("<script>alert(1)<!--")).expect("renamed");
    fs::rename(place.join("train/spam"), bad.join("&\"'><img src=x onerror=y>")).expect("renamed");
    let set = "</title><b onload='x'>: -T email";
    let args = ["bad", "-k", "3", "--html", "page.html", "-s", set, "-s", "cef: -T email -e cef"];
    text(&run(place, EVAL, &args));
    fs::read_to_string(place.join("page.html")).expect("a page")
}

#[test]
fn page_loads_nothing_and_escapes_all() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let page = page(place.path());
    for forbidden in [
        "<script",
        "<img",
        "<b ",
        "<link",
        "href",
        "url(",
        "http:",
        "https:",
        "@import",
        " onload=x",
    ] {
        let at = page.find(forbidden).unwrap_or(0);
        assert!(
            !page.contains(forbidden),
            "{forbidden}: {}",
            &page[at.saturating_sub(80)..at + 80]
        );
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;!--"));
    assert!(page.contains("prefers-color-scheme:dark"));
    // two sets: four curves, then histogram and calibration of each
    assert_eq!(page.matches("<svg").count(), 8);
    assert_eq!(page.matches("<table class=\"confusion").count(), 2);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(!page.contains("NaN"));
}

#[test]
fn a_page_that_cannot_be_written_leaves_the_old_one() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    fs::write(place.join("page.html"), "old").expect("written");
    let before = files(place);
    let script = "ulimit -f 2; exec \"$0\" train -k 2 --html page.html";
    let output = run(place, "sh", &["-c", script, EVAL]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(said.starts_with("dbacl-eval: page.html: File too large"), "{said}");
    assert_eq!(fs::read_to_string(place.join("page.html")).expect("a page"), "old");
    assert_eq!(files(place), before);
}

fn browser() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        dbacl_testing::skip("eval", "no chromium");
    }
    found
}

/// A page about six categories.
fn page_of_many(place: &Path) -> String {
    let mut lines = String::new();
    for number in 0..240 {
        let (kind, word) = (number % 6, number * 7919 % 101);
        let theme = "sails oats chess pipes ferns stars".split(' ').nth(kind).expect("six words");
        lines +=
            &format!("<{theme}> & co\t{theme} and {theme} of {word} with common words {number}\n");
    }
    fs::write(place.join("many.tsv"), lines).expect("written");
    let args = ["many.tsv", "-k", "3", "--html", "page.html", "-s", "words: -e alnum"];
    text(&run(place, EVAL, &args));
    fs::read_to_string(place.join("page.html")).expect("a page")
}

#[test]
fn page_opens_in_a_browser() {
    opens_in_a_browser(page);
}

#[test]
fn page_of_many_categories_opens_in_a_browser() {
    opens_in_a_browser(page_of_many);
}

/// Opens a page, which is made in a folder, and looks at it in light and dark.
fn opens_in_a_browser(page: fn(&Path) -> String) {
    let Some(browser) = browser() else { return };
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    let page = page(place);
    let open = |extra: &[&str]| {
        let profile = place.join("profile");
        let output = Command::new(browser)
            .current_dir(place)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--window-size=1240,2400", "--enable-logging=stderr"])
            .arg(
                [OsStr::new("--user-data-dir="), profile.as_os_str()]
                    .iter()
                    .copied()
                    .collect::<std::ffi::OsString>(),
            )
            .args(extra)
            .arg(format!("file://{}", place.join("page.html").display()))
            .output()
            .expect("the browser starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let output = open(&["--dump-dom"]);
    let seen = String::from_utf8_lossy(&output.stdout);
    assert_eq!(seen.matches("<svg").count(), page.matches("<svg").count());
    assert_eq!(seen.matches("<figure>").count(), page.matches("<figure>").count());
    assert!(!seen.contains("<img") && !seen.contains("<script"));
    // a violation of the page's policy, or a mistake in a picture, would be on the console
    let console = String::from_utf8_lossy(&output.stderr);
    assert!(!console.contains("CONSOLE"), "{console}");
    // light and dark differ, and neither is empty
    let mut pictures = HashMap::new();
    for (name, scheme) in [("light.png", "1"), ("dark.png", "0")] {
        open(&[
            &format!("--screenshot={name}"),
            &format!("--blink-settings=preferredColorScheme={scheme}"),
        ]);
        let picture = fs::read(place.join(name)).expect("a picture");
        assert!(picture.len() > 50_000, "{name}: {} bytes", picture.len());
        pictures.insert(name, picture);
    }
    assert_ne!(pictures["light.png"], pictures["dark.png"]);
}

#[test]
fn wrappers_run_their_filters() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    let wrappers = root().join("libexec/wrappers");
    let programs = programs();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.clone()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("a path");
    let evaluate = |name: &str| {
        let mut command = Command::new(EVAL);
        command
            .current_dir(place)
            .env("PATH", &path)
            .env("DBACL_WRAPPER_OPTIONS", "-T email -e cef");
        command.args([
            "train",
            "--test",
            "test",
            "--json",
            "-s",
            "own: -T email -e cef",
            "--filter",
        ]);
        let output = command.arg(wrappers.join(name)).output().expect("the program starts");
        serde_json::from_str::<serde_json::Value>(&text(&output)).expect("JSON")
    };
    let found = evaluate("dbacl");
    for member in ["error", "confusion"] {
        assert_eq!(found["sets"][0][member], found["sets"][1][member]);
    }
    for (name, program) in
        [("bogofilter", "bogofilter"), ("spamprobe", "spamprobe"), ("bsfilter", "bsfilter")]
    {
        if Command::new(program).arg("--version").output().is_err() {
            dbacl_testing::skip("eval", &format!("no {program}"));
            continue;
        }
        let found = evaluate(name);
        let area = found["sets"][1]["binary"]["one_minus_auc"]["rate"].as_f64().expect("an area");
        assert!(area < 0.2, "{name}: {area}");
    }
}

#[test]
fn trec_commands_and_online_simulation_agree() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    let mut index = String::new();
    for number in 0..10 {
        for category in ["ham", "spam"] {
            let _ = writeln!(index, "{category} test/{category}/{number:03}");
        }
    }
    fs::write(place.join("index"), index).expect("written");
    let driver = root().join("integrations/trec/run");
    let output = Command::new(driver)
        .current_dir(place)
        .args(["index"])
        .env("DBACL", programs().join("dbacl"))
        .env("TREC_OPTIONS", "-H 20 -1 -T email -T email:headers -e cef")
        .output()
        .expect("the driver starts");
    let lines = text(&output);
    assert_eq!(lines.lines().count(), 20);
    let errors = lines
        .lines()
        .filter(|line| {
            !line.contains("judge=ham class=ham") && !line.contains("judge=spam class=spam")
        })
        .count();
    assert!(errors < 10, "{lines}");
    // the driver also learns an empty message, so only the first results may differ
    let set = "x: -H 20 -T email -T email:headers -e cef";
    let args = ["--index", "index", "--online", "--refresh", "0", "--json", "-s", set];
    let value: serde_json::Value =
        serde_json::from_str(&text(&run(place, EVAL, &args))).expect("JSON");
    let ours = value["sets"][0]["error"]["rate"].as_f64().expect("a rate") * 20.0;
    assert!(
        (ours - f64::from(u32::try_from(errors).expect("few"))).abs() <= 3.0,
        "{ours} {errors}"
    );
}

#[test]
fn mistakes_have_subjects_and_the_mail_filter_is_a_candidate() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path();
    corpus(place);
    // Three spams lie in the folder of good mail.
    for number in 0..3 {
        let text = message(SPAM, 500 + number).replacen("Subject: ", "Subject: odd one out, ", 1);
        fs::write(place.join(format!("test/ham/odd{number}")), text).expect("written");
    }
    let args = ["train", "--test", "test", "--try", "mail", "--html", "page.html"];
    let said = text(&run(place, EVAL, &[&args[..], &["--verdicts", "verdicts"]].concat()));
    let row = said.lines().find(|line| line.starts_with("mail filter ")).expect("a row");
    let error: f64 = row.split_whitespace().nth(2).and_then(|word| word.parse().ok()).expect("%");
    assert!(error > 0.0 && error < 20.0, "{row}");
    // With 23 messages, no set of options is better than the others by more than chance.
    let recommended = "\nRecommended: mail filter\n  dbacl --mail-learn DIR ham=MAIL spam=MAIL\n  \
                       dbacl --mail-filter DIR MESSAGE\nWithin chance of it: ";
    assert!(said.contains(recommended), "{said}");
    let page = fs::read_to_string(place.join("page.html")).expect("a page");
    assert!(page.contains(">odd one out, ") && page.contains("odd1\""), "{page}");
    assert!(page.contains("<p>Recommended: <strong>mail filter</strong></p>"), "{page}");
    let verdicts = fs::read_to_string(place.join("verdicts")).expect("verdicts");
    let own = verdicts.lines().filter(|line| line.contains("\"set\":\"mail filter\""));
    assert_eq!(own.filter(|line| line.contains("\"subject\":\"odd one out, ")).count(), 3);
}
