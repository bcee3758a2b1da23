// SPDX-License-Identifier: GPL-3.0-or-later
//! Every verb, with good and with bad input.

use dbacl_testing::{Done, Scratch, command, finish, skip};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Stdio;

/// The program: the one in `DBACL_BIN`, or that just built.
fn program() -> PathBuf {
    let folder =
        std::env::var_os("DBACL_BIN").map(|folder| PathBuf::from(folder).join("dbacl-text"));
    folder.unwrap_or_else(|| env!("CARGO_BIN_EXE_dbacl-text").into())
}

/// Runs the program in the scratch folder; blanks divide arguments.
fn run(scratch: &Scratch, line: &str, input: &str) -> Done {
    let mut command = command(program());
    command.args(line.split_whitespace()).current_dir(scratch.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.as_bytes().to_vec();
    // A program that ends early does not read it all.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let done = finish(child);
    feeder.join().expect("writes do not panic");
    done
}

/// Texts of three labels, one of which is odd.
fn documents() -> String {
    let mut text = String::new();
    for number in 0..24 {
        let _ = writeln!(text, "sea\tthe whale and the ship {number} on the water");
        let _ = writeln!(text, "war\tthe soldiers of nation {number} at the front");
        let _ = writeln!(text, "a/b c\tbread and butter {number} with cheese");
    }
    text
}

fn trained() -> Scratch {
    trained_with("")
}

fn trained_with(options: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let said = run(&scratch, &format!("train train.tsv -o model {options}"), "").quiet(0);
    assert!(said.starts_with("72 documents of 3 labels; 0 errors in "), "{said}");
    scratch
}

#[test]
fn what_was_trained_predicts() {
    let scratch = trained();
    let texts = "a ship\n\nbread of the nation\nbutter\n";
    let said = run(&scratch, "predict model", texts).quiet(0);
    let labels: Vec<&str> = said.lines().map(|line| line.split('\t').next().unwrap()).collect();
    // An empty line gets the first of the labels that are most frequent.
    assert_eq!(labels[..2], ["sea", "a/b c"]);
    assert_eq!((labels[3], labels.len()), ("a/b c", 4));
    assert_eq!(said.lines().nth(1), Some("a/b c\t0.333333"));
    let said = run(&scratch, "predict model - -k 3", "the whale\n").quiet(0);
    let fields: Vec<&str> = said.trim_end().split('\t').collect();
    assert_eq!((fields.len(), fields[0]), (6, "sea"));
    let sum: f64 = [1, 3, 5].iter().map(|&at| fields[at].parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{said}");
    scratch.write("texts.jsonl", "{\"text\":\"the whale\"}\n");
    let said = run(&scratch, "predict model texts.jsonl --format ndjson", "").quiet(0);
    assert!(said.starts_with("{\"label\":\"sea\",\"probability\":"), "{said}");
    let said = run(&scratch, "predict model --format fasttext", "a\n").complaint(65);
    assert!(said.contains("the label 'a/b c' has a blank"), "{said}");
    assert_eq!(run(&scratch, "predict model", "").quiet(0), "");
}

#[test]
fn a_model_that_anybody_may_write_to_is_told_once() {
    let scratch = trained_with("--keep");
    let model = scratch.path("model");
    std::fs::set_permissions(&model, std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .expect("its mode is set");
    for (line, input) in [
        ("predict model", "a ship\n"),
        ("test model train.tsv", ""),
        ("update model train.tsv", ""),
        ("train train.tsv -o model", ""),
        ("info model", ""),
    ] {
        let done = run(&scratch, line, input);
        assert_eq!(done.status, 0, "{line}: {done:?}");
        let told = done.stderr.matches("dbacl-text:warning: anybody may write to model\n").count();
        assert_eq!(told, 1, "{line}: {done:?}");
    }
}

#[test]
fn two_runs_give_the_same_bytes_and_formats_agree() {
    let scratch = trained();
    let first = scratch.read("model");
    let (mut csv, mut json) = ("text,label\n".to_owned(), String::new());
    for line in documents().lines() {
        let (label, text) = line.split_once('\t').unwrap();
        let _ = writeln!(csv, "\"{text}\",{label}");
        let _ = writeln!(json, "{{\"label\":\"{label}\",\"text\":\"{text}\"}}");
    }
    scratch.write("train.csv", csv);
    scratch.write("train.ndjson", json);
    for data in ["train.tsv", "train.csv", "train.ndjson", "- --format tsv"] {
        let line = format!("train {data} -o model --quiet");
        assert_eq!(run(&scratch, &line, &documents()).quiet(0), "");
        assert!(scratch.read("model") == first, "{data}");
    }
}

#[test]
fn a_test_measures() {
    let scratch = trained();
    let said = run(&scratch, "test model train.tsv", "").quiet(0);
    assert!(said.starts_with("documents          72\naccuracy           100.00 (94."), "{said}");
    let data = "sea\tthe ship\nwar\tthe ship\nnone\tthe front\n";
    let done = run(&scratch, "test model - --json", data);
    assert_eq!(done.status, 0);
    let warning = "dbacl-text:warning: -:3: the model does not know the label none; 1 such \
                   document counts as wrong\n";
    assert_eq!(done.stderr, warning);
    let found: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(found["documents"], 3);
    assert_eq!(found["accuracy"]["value"], 1.0 / 3.0);
    assert_eq!(found["worst"][0]["label"], "war");
    assert_eq!(found["worst"][0]["called"], "sea");
}

#[test]
fn unpacked_categories_are_those_of_dbacl() {
    let scratch = trained_with("--pairs");
    let said = run(&scratch, "unpack model -o files", "").quiet(0);
    assert_eq!(said, "files/a%2fb%20c\nfiles/sea\nfiles/war\n");
    scratch.write("text", "the soldiers ate bread at the front\n");
    let verdict = "--verdict -c files/a%2fb%20c -c files/sea -c files/war text";
    let dbacl = program().with_file_name("dbacl");
    if !dbacl.is_file() {
        return skip("unpacked_categories_are_those_of_dbacl", "dbacl was not built");
    }
    let mut command = command(dbacl);
    command.args(verdict.split(' ')).current_dir(scratch.path("."));
    let verdict = command.output().expect("dbacl runs").stdout;
    let verdict = String::from_utf8(verdict).expect("UTF-8");
    let said = run(&scratch, "predict model text", "").quiet(0);
    let (label, probability) = said.trim_end().split_once('\t').unwrap();
    let probability = 100.0 * probability.parse::<f64>().unwrap();
    assert_eq!(verdict.trim_end(), format!("{label} {probability:.2}%"));
}

#[test]
fn explanations_name_words() {
    let scratch = trained();
    let said = run(&scratch, "explain model -n 1000", "the whale ate bread").quiet(0);
    assert!(said.starts_with("sea\t") || said.starts_with("a/b c\t"), "{said}");
    // The features are words of the first view and runs of characters of the second.
    for evidence in ["\twhale\n", "\tbread\n", "\tw h a l\n"] {
        assert!(said.contains(evidence), "{evidence:?}: {said}");
    }
    let said = run(&scratch, "info model", "").quiet(0);
    assert!(said.contains("documents: 72\n") && said.contains("\nsea "), "{said}");
}

#[test]
fn two_views_judge_together() {
    let scratch = trained_with("--both");
    let both = scratch.read("model");
    run(&scratch, "train train.tsv -o default -q", "").quiet(0);
    let options = |path: &str| {
        let said = run(&scratch, &format!("info {path}"), "").quiet(0);
        assert!(said.contains("views: 2\nscale: "), "{said}");
        said.lines().filter(|line| !line.starts_with("options: ")).collect::<String>()
    };
    // A model of so few documents has two views unless options say otherwise.
    assert_eq!(options("default"), options("model"));
    for (preset, view) in [("--pairs", "view1"), ("-e glyph -w 4", "view2")] {
        let said = run(&scratch, "unpack model -o files", "").quiet(0);
        assert_eq!(said.lines().count(), 6);
        let names = ["a%2fb%20c", "sea", "war"].map(|name| format!("files/{view}/{name}"));
        let own = names.each_ref().map(|name| scratch.read(name));
        // Each view is the same as a model with this view alone.
        run(&scratch, &format!("train train.tsv -o one -q {preset}"), "").quiet(0);
        let said = run(&scratch, &format!("unpack one -o files/{view}"), "").quiet(0);
        assert_eq!(said.lines().collect::<Vec<_>>(), names);
        assert!(names.each_ref().map(|name| scratch.read(name)) == own, "{view}");
    }
    // Where there are no words, characters judge alone.
    let said = run(&scratch, "predict model", "wha\nwhale\n").quiet(0);
    assert!(said.lines().all(|line| line.starts_with("sea\t")), "{said}");
    for damage in [both.len() / 2, both.len() - 9] {
        let mut damaged = both.clone();
        damaged[damage] ^= 1;
        scratch.write("damaged", &damaged);
        let said = run(&scratch, "predict damaged", "whale\n").complaint(65);
        assert!(said.starts_with("dbacl-text:error: damaged: damaged: "), "{said}");
    }
    run(&scratch, "train train.tsv -o model --both -g (a)", "").complaint(64);
    assert!(scratch.read("model") == both);
}

#[test]
fn bad_input_gives_one_line() {
    let scratch = trained();
    let before = scratch.read("model");
    for (name, text, status, expected) in [
        ("x.tsv", "", 65, "x.tsv:1: it is empty"),
        ("x.tsv", "no tab\n", 65, "x.tsv:1: there is no tab between label and text"),
        (
            "x.tsv",
            "a\tb\na\tc\n",
            65,
            "x.tsv:1: all documents have the label a: two labels or more",
        ),
        ("x.tsv", "a\tb c\nb\t...\n", 65, "x.tsv:1: the documents of the label b have no words"),
        ("x.csv", "a,b\nc,d\n", 65, "x.csv:1: there is no column \"label\", but \"a\", \"b\""),
        ("x.csv", "label,text\na,\"b\n", 65, "x.csv:2: a quoted field does not end"),
        ("x.txt", "__label__a __label__b c\n", 65, "x.txt:1: there are 2 labels, a and b"),
        ("x.ndjson", "{\"label\":\"a\"\n", 65, "x.ndjson:1: it is no JSON: EOF while parsing"),
        ("x.txt", "plain\n", 65, "x.txt:1: the format cannot be told; it can be given with"),
    ] {
        scratch.write(name, text);
        let said = run(&scratch, &format!("train {name} -o model"), "").complaint(status);
        assert!(said.starts_with(&format!("dbacl-text:error: {expected}")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert!(scratch.read("model") == before, "the old model is kept");
    run(&scratch, "train nothing.tsv -o model", "").complaint(66);
    run(&scratch, "train train.tsv -o no/such/model", "").complaint(73);
    let said = run(&scratch, "train train.tsv -o train.tsv", "").complaint(73);
    assert!(said.contains("train.tsv is already used for something"), "{said}");
    run(&scratch, "train train.tsv", "").complaint(64);
    run(&scratch, "train train.tsv -o model --cost 0", "").complaint(64);
    let said = run(&scratch, "predict train.tsv", "").complaint(65);
    assert_eq!(said, "dbacl-text:error: train.tsv: not a model of dbacl\n");
    scratch.write("cut", &before[..before.len() / 2]);
    let said = run(&scratch, "predict cut", "").complaint(65);
    assert!(said.starts_with("dbacl-text:error: cut: damaged: the model is cut short"), "{said}");
}

#[test]
fn a_folder_of_folders_is_read() {
    let scratch = Scratch::new();
    for number in 0..3 {
        for (label, text) in [("sea", "the whale"), ("war", "the soldiers")] {
            std::fs::create_dir_all(scratch.path(&label_folder(label))).expect("a folder");
            scratch.write(&format!("{}/{number}", label_folder(label)), text);
        }
    }
    let done = run(&scratch, "train data -o model", "");
    assert_eq!(done.status, 0, "{}", done.stderr);
    let warning = "dbacl-text:warning: only 3 documents of the label sea and of another label, \
                   fewer than 20: results may be poor\n";
    assert_eq!(done.stderr, warning);
    assert!(run(&scratch, "predict model", "whale\n").quiet(0).starts_with("sea\t"));
}

fn label_folder(label: &str) -> String {
    format!("data/{label}")
}

#[test]
fn documents_that_are_kept_come_and_go() {
    let scratch = Scratch::new();
    let all = documents();
    let lines: Vec<&str> = all.lines().collect();
    let (old, new) = lines.split_at(40);
    scratch.write("all.tsv", &all);
    scratch.write("old.tsv", old.join("\n"));
    scratch.write("new.tsv", new.join("\n"));
    for (data, model) in [("all", "whole"), ("old", "part"), ("new", "rest")] {
        let line = format!("train {data}.tsv -o {model} --keep --quiet --words");
        assert_eq!(run(&scratch, &line, "").quiet(0), "");
    }
    let whole = scratch.read("whole");
    run(&scratch, "merge part rest -o merged -q", "").quiet(0);
    assert!(scratch.read("merged") == whole);
    let before = scratch.read("part");
    run(&scratch, "update part new.tsv -q", "").quiet(0);
    assert!(scratch.read("part") == whole);
    run(&scratch, "forget part new.tsv -q -o less", "").quiet(0);
    assert!(scratch.read("less") == before);
    let said = run(&scratch, "forget less new.tsv -q", "").complaint(65);
    assert!(said.contains("new.tsv:1: the model has no such document of the label"), "{said}");
    run(&scratch, "train all.tsv -o bare -q", "").quiet(0);
    let said = run(&scratch, "update bare new.tsv", "").complaint(65);
    let expected = "dbacl-text:error: bare: the model keeps no documents: it was trained without \
                    --keep\n";
    assert_eq!(said, expected);
}

#[test]
fn a_search_tells_what_it_tries() {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let done = run(&scratch, "train train.tsv -o model --seconds 0", "");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stderr.ends_with("0 errors in 72, the best so far\n"), "{}", done.stderr);
    assert!(done.stderr.contains(" s  -e word -w 2 "), "{}", done.stderr);
    run(&scratch, "train train.tsv -o again -q -e word -w 2 --choose", "").quiet(0);
    assert!(scratch.read("model") == scratch.read("again"));
    run(&scratch, "train train.tsv -o again --seconds 1 --words", "").complaint(64);
}

#[test]
fn texts_without_labels_are_learned_where_they_help() {
    let scratch = Scratch::new();
    // Each text has three of the eight words of its label, so that few texts do not tell all.
    let text = |label: usize, number: usize| {
        let words = [
            ["whale", "ship", "sailor", "harbour", "wave", "deck", "mast", "anchor"],
            ["nation", "soldier", "battle", "army", "cannon", "general", "peace", "treaty"],
        ];
        let own = |at: usize| words[label][at % 8];
        format!("{} {} {} the {number}", own(number), own(number + 1), own(number * 3))
    };
    let lines = |numbers: Range<usize>, labels: [&str; 2]| -> String {
        let each = numbers.flat_map(|number| [0, 1].map(|label| (label, number)));
        each.map(|(label, number)| format!("{}{}\n", labels[label], text(label, number))).collect()
    };
    scratch.write("few.tsv", lines(0..8, ["sea\t", "war\t"]));
    scratch.write("many.txt", lines(8..200, ["", ""]));
    // Few documents are warned about.
    let train = |line: &str| {
        let done = run(&scratch, line, "");
        assert_eq!(done.status, 0, "{}", done.stderr);
        done.stdout
    };
    let said = train("train few.tsv -o model --unlabelled many.txt");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.contains(" of 384 texts without labels were learned"), "{said}");
    let about = run(&scratch, "info model", "").quiet(0);
    assert!(about.contains("documents without labels"), "{about}");

    scratch.write("none.txt", " \n\t\n");
    let said = train("train few.tsv -o bare --unlabelled none.txt");
    assert!(said.ends_with("none of the 2 texts without labels was learned: they do not help\n"));
    train("train few.tsv -o alone -q");
    assert!(scratch.read("bare") == scratch.read("alone"));
    run(&scratch, "train few.tsv -o x --unlabelled none.txt --keep", "").complaint(64);
    let said = run(&scratch, "train few.tsv -o x --unlabelled missing.txt", "").complaint(66);
    assert!(said.contains("missing.txt"), "{said}");
}

#[test]
fn blocks_make_the_same_model_with_any_memory() {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let train = |line: &str| run(&scratch, &format!("train train.tsv {line}"), "").quiet(0);
    let said = train("-o model --block 10");
    assert!(said.starts_with("72 documents of 3 labels; 0 errors in "), "{said}");
    train("-o tight --block 10 --memory 40M");
    assert!(scratch.read("model") == scratch.read("tight"));
    let about = run(&scratch, "info model", "").quiet(0);
    assert!(about.contains("--block=10") && about.contains("--features=524288"), "{about}");
    let said = run(&scratch, "predict model", "a ship\nbread with butter\n").quiet(0);
    let labels: Vec<&str> = said.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(labels, ["sea", "a/b c"]);

    // As many documents as a block has make the model that they make without blocks.
    train("-o whole");
    train("-o single --block 72");
    assert!(scratch.read("whole") == scratch.read("single"));

    for preset in ["--both", "--chars"] {
        train(&format!("-o whole {preset}"));
        train(&format!("-o single --block 72 {preset}"));
        assert!(scratch.read("whole") == scratch.read("single"), "{preset}");
        train(&format!("-o model --block 10 {preset}"));
        train(&format!("-o tight --block 10 --memory 40M {preset}"));
        assert!(scratch.read("model") == scratch.read("tight"), "{preset}");
        let about = run(&scratch, "info model", "").quiet(0);
        assert!(about.contains("views") && about.contains("scale"), "{about}");
        let said = run(&scratch, "predict model", "a ship\n").quiet(0);
        assert!(said.starts_with("sea\t"), "{said}");
    }

    for line in ["--block 0", "--memory 1G", "--block 10 --keep", "--block 10 --memory 2X"] {
        run(&scratch, &format!("train train.tsv -o x {line}"), "").complaint(64);
    }
    let said = run(&scratch, "train train.tsv -o x --block 10 -L maxent", "").complaint(64);
    assert!(said.contains("blocks need the uniform measure"), "{said}");
    let said = run(&scratch, "train train.tsv -o x --block 10 --memory 1M", "").complaint(64);
    assert!(said.contains("bytes of memory are needed for "), "{said}");
    run(&scratch, "train train.tsv -o nowhere/x --block 10", "").complaint(73);
    assert!(!scratch.path("x").exists());
}

#[test]
fn without_memory_every_verb_ends_with_a_line_and_a_status() {
    let scratch = Scratch::new();
    let mut numbers = dbacl_numeric::random::SplitMix64::new(7);
    let mut text = String::new();
    for number in 0..300 {
        text.push_str(["sea", "war", "bread"][number % 3]);
        text.push('\t');
        (0..60).for_each(|_| text.push_str(&format!("w{} ", numbers.below(9000) * 3 + number % 3)));
        text.push('\n');
    }
    scratch.write("train.tsv", &text);
    scratch.write("text", &text[..2000]);
    let program = program().display().to_string();
    run(&scratch, "train train.tsv -o model --keep -q", "").quiet(0);
    for line in [
        "train train.tsv -o other",
        "update model train.tsv -o other",
        "forget model train.tsv -o other",
        "merge model model -o other",
        "predict model text",
        "test model train.tsv",
        "explain model text",
        "info model",
        "unpack model -o files",
    ] {
        let mut failed = 0;
        // From so many kilobytes that the program hardly starts to more than any verb takes.
        let limits = (3_000..12_000).step_by(750).chain((12_000..60_000).step_by(8_000));
        for limit in limits.chain([400_000]) {
            let script = format!(
                "ulimit -c 0; ulimit -v {limit}; {program} --version >/dev/null 2>&1 || exit 99; \
                 exec {program} {line} >/dev/null"
            );
            let done = scratch.sh(&script);
            if done.status == 99 || done.stderr.contains("annot fork") {
                continue;
            }
            // The texts of a model cannot all be forgotten, which is found out at the end.
            let is_done = done.status == 0 || line.starts_with("forget") && done.status == 65;
            assert!(is_done || [65, 70, 74, 75].contains(&done.status), "{line}: {limit} {done:?}");
            let is_told = done.stderr.contains("dbacl-text:error: ");
            assert!(done.status == 0 || is_told, "{line}: {limit} {done:?}");
            assert!(!done.stderr.contains("panicked"), "{line}: {limit} {done:?}");
            failed += usize::from(!is_done);
        }
        assert!(failed > 0, "{line} never failed");
    }
}
