// SPDX-License-Identifier: GPL-3.0-or-later
//! `dbacl-eval` against the program `dbacl`, its page in a browser, the wrappers and the TREC
//! commands.

use dbacl_testing::{Done, Scratch, done, programs, root};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

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

/// A scratch folder with folders `train` and `test` with categories of made-up mail.
fn corpus() -> Scratch {
    let scratch = Scratch::new();
    for (part, count) in [("train", 30), ("test", 10)] {
        for (name, kind) in [("ham", HAM), ("spam", SPAM)] {
            for number in 0..count {
                let text = message(kind, number + if part == "test" { 1000 } else { 0 });
                scratch.write(&format!("{part}/{name}/{number:03}"), text);
            }
        }
    }
    scratch
}

fn run(scratch: &Scratch, args: &[&str]) -> Done {
    done(scratch.command(EVAL).args(args).env("LC_ALL", "C.UTF-8"))
}

/// What `dbacl-eval` prints as JSON.
fn json(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [args, &["--json"]].concat();
    serde_json::from_str(&run(scratch, &args).output()).expect("JSON")
}

fn error(found: &Value) -> f64 {
    found["sets"][0]["error"]["rate"].as_f64().expect("a rate")
}

#[test]
fn verdicts_are_those_of_dbacl() {
    let scratch = corpus();
    for options in
        ["-T email", "-T email -T email:headers -e cef -j -H 18", "-w 2 -e alnum", "-g ([a-z]+)"]
    {
        let words: Vec<&str> =
            options.splitn(if options.starts_with("-g") { 2 } else { 99 }, ' ').collect();
        let dbacl = |args: &[&str]| done(scratch.dbacl_command(args).env("LC_ALL", "C.UTF-8"));
        for category in ["ham", "spam"] {
            let learned = (0..30).map(|number| format!("train/{category}/{number:03}"));
            let learned: Vec<String> = learned.collect();
            let learned = learned.iter().map(String::as_str);
            let args = words.iter().copied().chain(["-l", category]).chain(learned);
            dbacl(&args.collect::<Vec<_>>()).output();
        }
        let set = match words.as_slice() {
            ["-g", pattern] => format!("x: -g '{pattern}'"),
            _ => format!("x: {options}"),
        };
        run(&scratch, &["train", "--test", "test", "-s", &set, "--verdicts", "verdicts"]).output();
        let verdicts = scratch.text("verdicts");
        for line in verdicts.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            let document = value["document"].as_str().expect("a name");
            let asked =
                |how: &str| dbacl(&["--strict", how, "-c", "ham", "-c", "spam", document]).output();
            let scores = asked("-nv");
            let fields: Vec<&str> = scores.split_whitespace().collect();
            for (at, column) in [(0, 1), (1, 5)] {
                let nats = value["scores_nats"][at].as_f64().expect("a score");
                let printed = format!("{:.2}", -nats / std::f64::consts::LN_2);
                assert_eq!(printed, fields[column], "{options}: {document}");
            }
            assert_eq!(asked("-v").trim(), value["verdict"].as_str().expect("a verdict"));
        }
        assert_eq!(verdicts.lines().count(), 20);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let scratch = corpus();
    for protocol in
        [&["-k", "5", "--curve"][..], &["--online"], &["--online", "--feedback", "on-error"]]
    {
        let report = |threads: &str| {
            let sets = ["-s", "a: -T email", "-s", "b: -T email -e cef"];
            let args = [&["train", "test", "-t", threads, "--json"], &sets[..], protocol].concat();
            run(&scratch, &args).output()
        };
        let one = report("1");
        assert_eq!(one, report("3"), "{protocol:?}");
        let value: Value = serde_json::from_str(&one).expect("JSON");
        assert_eq!(value["categories"][1]["judged"], 40);
        assert!(error(&value) < 0.3, "{protocol:?}: {value}");
    }
}

#[test]
fn later_feedback_is_learned_later() {
    let scratch = corpus();
    let errors = |feedback: &str| {
        error(&json(&scratch, &["train", "--online", "--refresh", "0", "--feedback", feedback]))
    };
    // If the truth comes after more messages than there are, nothing is learned, and the first
    // category wins every time.
    assert!((errors("delayed:1000") - 0.5).abs() < 1e-12);
    assert!(errors("immediate") < errors("delayed:20"));
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    let scratch = Scratch::new();
    for (args, status, expected) in [
        (&[][..], 64, "not provided"),
        (&["x", "--folds", "1"], 64, "1 is not in 2"),
        (&["x", "-s", "bad: -w 12"], 64, "\"bad\""),
        (&["x", "--try", "cheese"], 64, "mail, text"),
        (&["x", "--nonsense"], 64, "unexpected argument '--nonsense'"),
        (&["x", "--online", "--test", "y"], 64, "cannot be used with"),
        (&["nowhere"], 66, "nowhere"),
    ] {
        let said = run(&scratch, args).complaint(status);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_category_without_documents_to_learn_is_named() {
    let scratch = corpus();
    fs::create_dir(scratch.path("empty")).expect("a folder");
    for number in 0..3 {
        let text = format!("Subject: {number}\n\nwin a prize\n");
        scratch.write(&format!("copies/{number}"), text);
    }
    for (spam, expected) in [
        ("copies", "all documents of \"spam\" have the same body, so none is left to learn from"),
        (
            "empty",
            "at least two categories are needed, and there is only \"ham\"; empty has no documents",
        ),
    ] {
        let args = ["--try", "mail", "ham=train/ham", &format!("spam={spam}")];
        let said = run(&scratch, &args).complaint(65);
        assert_eq!(said, format!("dbacl-eval: {expected}\n"));
    }
}

/// A page about categories, documents and options with hostile names.
fn page() -> (Scratch, String) {
    let scratch = corpus();
    fs::create_dir(scratch.path("bad")).expect("a folder");
    for (name, bad) in [("ham", "<script>alert(1)<!--"), ("spam", "&\"'><img src=x onerror=y>")] {
        let [old, new] = [format!("train/{name}"), format!("bad/{bad}")];
        fs::rename(scratch.path(&old), scratch.path(&new)).expect("renamed");
    }
    let set = "</title><b onload='x'>: -T email";
    let args = ["bad", "-k", "3", "--html", "page.html", "-s", set, "-s", "cef: -T email -e cef"];
    run(&scratch, &args).output();
    let page = scratch.text("page.html");
    (scratch, page)
}

#[test]
fn page_loads_nothing_and_escapes_all() {
    let (_scratch, page) = page();
    let forbidden = "<script|<img|<b |<link|href|url(|http:|https:|@import| onload=x";
    for forbidden in forbidden.split('|') {
        let at = page.find(forbidden).unwrap_or(0);
        assert!(
            !page.contains(forbidden),
            "{forbidden}: {}",
            &page[at.saturating_sub(80)..at + 80]
        );
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;!--"));
    assert!(page.contains("prefers-color-scheme:dark"));
    // One chart for both sets; of each a table of confusions.
    assert_eq!(page.matches("<svg").count(), 1);
    assert_eq!(page.matches("<table class=\"confusion").count(), 2);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(!page.contains("NaN"));
}

#[test]
fn a_page_that_cannot_be_written_leaves_the_old_one() {
    let scratch = corpus();
    scratch.write("page.html", "old");
    let before = scratch.names();
    let script = format!("ulimit -f 2; exec {EVAL} train -k 2 --html page.html");
    let said = scratch.sh(&script).complaint(74);
    assert!(said.starts_with("dbacl-eval: page.html: File too large"), "{said}");
    assert_eq!((scratch.read("page.html"), scratch.names()), (b"old".to_vec(), before));
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
fn page_of_many() -> (Scratch, String) {
    let scratch = Scratch::new();
    let mut lines = String::new();
    for number in 0..240 {
        let (kind, word) = (number % 6, number * 7919 % 101);
        let theme = "sails oats chess pipes ferns stars".split(' ').nth(kind).expect("six words");
        lines +=
            &format!("<{theme}> & co\t{theme} and {theme} of {word} with common words {number}\n");
    }
    scratch.write("many.tsv", lines);
    let args = ["many.tsv", "-k", "3", "--html", "page.html", "-s", "words: -e alnum"];
    run(&scratch, &args).output();
    let page = scratch.text("page.html");
    (scratch, page)
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
fn opens_in_a_browser(page: fn() -> (Scratch, String)) {
    let Some(browser) = browser() else { return };
    let (scratch, page) = page();
    let open = |extra: &[&str]| {
        let profile = format!("--user-data-dir={}", scratch.path("profile").display());
        let mut command = scratch.command(browser);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--window-size=1240,2400", "--enable-logging=stderr", &profile])
            .args(extra)
            .arg(format!("file://{}", scratch.path("page.html").display()));
        let done = done(&mut command);
        assert_eq!(done.status, 0, "{done:?}");
        done
    };
    let Done { stdout: seen, stderr: console, .. } = open(&["--dump-dom"]);
    assert_eq!(seen.matches("<svg").count(), page.matches("<svg").count());
    assert_eq!(seen.matches("<figure>").count(), page.matches("<figure>").count());
    assert!(!seen.contains("<img") && !seen.contains("<script"));
    // a violation of the page's policy, or a mistake in a picture, would be on the console
    assert!(!console.contains("CONSOLE"), "{console}");
    // light and dark differ, and neither is empty
    let mut pictures = HashMap::new();
    for (name, scheme) in [("light.png", "1"), ("dark.png", "0")] {
        open(&[
            &format!("--screenshot={name}"),
            &format!("--blink-settings=preferredColorScheme={scheme}"),
        ]);
        let picture = scratch.read(name);
        assert!(picture.len() > 50_000, "{name}: {} bytes", picture.len());
        pictures.insert(name, picture);
    }
    assert_ne!(pictures["light.png"], pictures["dark.png"]);
}

#[test]
fn wrappers_run_their_filters() {
    let scratch = corpus();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", programs().display());
    let evaluate = |name: &str| {
        let mut command = scratch.command(EVAL);
        command.env("PATH", &path).env("DBACL_WRAPPER_OPTIONS", "-T email -e cef");
        command.args(["train", "--test", "test", "--json", "-s", "own: -T email -e cef"]);
        command.arg("--filter").arg(root().join("libexec/wrappers").join(name));
        serde_json::from_str::<Value>(&done(&mut command).output()).expect("JSON")
    };
    let found = evaluate("dbacl");
    for member in ["error", "confusion"] {
        assert_eq!(found["sets"][0][member], found["sets"][1][member]);
    }
    for name in ["bogofilter", "spamprobe", "bsfilter"] {
        if !dbacl_testing::is_installed(name, "eval") {
            continue;
        }
        let found = evaluate(name);
        let area = found["sets"][1]["binary"]["one_minus_auc"]["rate"].as_f64().expect("an area");
        assert!(area < 0.2, "{name}: {area}");
    }
}

#[test]
fn trec_commands_and_online_simulation_agree() {
    let scratch = corpus();
    let mut index = String::new();
    for number in 0..10 {
        for category in ["ham", "spam"] {
            let _ = writeln!(index, "{category} test/{category}/{number:03}");
        }
    }
    scratch.write("index", index);
    let mut driver = scratch.command(root().join("integrations/trec/run"));
    driver.arg("index").env("DBACL", programs().join("dbacl"));
    driver.env("TREC_OPTIONS", "-H 20 -1 -T email -T email:headers -e cef");
    let lines = done(&mut driver).output();
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
    let args = ["--index", "index", "--online", "--refresh", "0", "-s", set];
    let ours = error(&json(&scratch, &args)) * 20.0;
    assert!(
        (ours - f64::from(u32::try_from(errors).expect("few"))).abs() <= 3.0,
        "{ours} {errors}"
    );
}

#[test]
fn mistakes_have_subjects_and_the_mail_filter_is_a_candidate() {
    let scratch = corpus();
    // Three spams lie in the folder of good mail.
    for number in 0..3 {
        let text = message(SPAM, 500 + number).replacen("Subject: ", "Subject: odd one out, ", 1);
        scratch.write(&format!("test/ham/odd{number}"), text);
    }
    let args = ["train", "--test", "test", "--try", "mail", "--html", "page.html"];
    let said = run(&scratch, &[&args[..], &["--verdicts", "verdicts"]].concat()).output();
    let row = said.lines().find(|line| line.starts_with("mail filter ")).expect("a row");
    let error: f64 = row.split_whitespace().nth(2).and_then(|word| word.parse().ok()).expect("%");
    assert!(error > 0.0 && error < 20.0, "{row}");
    // With 23 messages, no set of options is better than the others by more than chance.
    let recommended = "\nRecommended: mail filter\n  dbacl --mail-learn DIR ham=MAIL spam=MAIL\n  \
                       dbacl --mail-filter DIR MESSAGE\nWithin chance of it: ";
    assert!(said.contains(recommended), "{said}");
    let page = scratch.text("page.html");
    assert!(page.contains(">odd one out, ") && page.contains("odd1\""), "{page}");
    assert!(page.contains("<p>Recommended: <strong>mail filter</strong></p>"), "{page}");
    let verdicts = scratch.text("verdicts");
    let own = verdicts.lines().filter(|line| line.contains("\"set\":\"mail filter\""));
    assert_eq!(own.filter(|line| line.contains("\"subject\":\"odd one out, ")).count(), 3);
}
