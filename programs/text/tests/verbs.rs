// SPDX-License-Identifier: GPL-3.0-or-later
//! Every verb, with good and with bad input.

use dbacl_files::lock::{Lock, Patience};
use dbacl_testing::{Done, Scratch, fed};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::Range;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The program: the one in `DBACL_BIN`, or that just built.
pub(crate) fn program() -> PathBuf {
    let folder =
        std::env::var_os("DBACL_BIN").map(|folder| PathBuf::from(folder).join("dbacl-text"));
    folder.unwrap_or_else(|| env!("CARGO_BIN_EXE_dbacl-text").into())
}

/// Runs the program in the scratch folder; blanks divide arguments.
fn run(scratch: &Scratch, line: &str, input: &str) -> Done {
    let mut command = scratch.command(program());
    command.args(line.split_whitespace());
    fed(command, input)
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

pub(crate) fn trained() -> Scratch {
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
fn a_card_says_how_to_make_the_model_again() {
    let scratch = trained_with("--words --case-sensitive");
    let page = run(&scratch, "card model train.tsv", "").quiet(0);
    for part in [
        "# model\n\nA text classifier of 3 labels, learned from 72 documents by dbacl-text 2.",
        "\n## Measured on train.tsv\n\n```text\ndocuments          72\naccuracy           100.00 ",
        "\n--at-least  ",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let again = page.lines().find_map(|line| line.strip_prefix("    dbacl-text "));
    let again = again.expect("a command").replace("DOCUMENTS -o model", "train.tsv -o again");
    run(&scratch, &again, "").quiet(0);
    assert_eq!(scratch.read("again"), scratch.read("model"), "{again}");
    run(&scratch, "card none train.tsv", "").complaint(66);
    run(&scratch, "card model none", "").complaint(66);
}

#[test]
fn texts_of_none_of_the_labels_are_refused() {
    let scratch = Scratch::new();
    let mut text = String::new();
    for number in 0..80 {
        let _ = writeln!(text, "sea\tthe whale and the ship {number} on the water");
        let _ = writeln!(text, "war\tthe soldiers of nation {number} at the front");
        let _ = writeln!(text, "tea\tbread and butter {number} with cheese");
    }
    scratch.write("train.tsv", text);
    scratch.write("none.txt", "how many moons has a planet\nhow far is that star\n".repeat(20));
    run(&scratch, "train train.tsv -o plain", "").quiet(0);
    run(&scratch, "train train.tsv --none none.txt -o model", "").quiet(0);
    let texts = "the ship on the water\nhow many stars\n\n";
    for model in ["plain", "model"] {
        let line = format!("predict {model} --keep 0.95");
        let said = run(&scratch, &line, texts).quiet(0);
        let labels: Vec<&str> = said.lines().filter_map(|line| line.split('\t').next()).collect();
        // Without examples, a short text of other words is as odd as many short texts.
        let is_right = labels == ["sea", "none", "none"] || model == "plain" && labels[2] == "none";
        assert!(is_right && labels[0] == "sea", "{said}");
        let said = run(&scratch, &format!("{line} --format ndjson"), texts).quiet(0);
        assert!(said.lines().nth(2).is_some_and(|line| line.starts_with(r#"{"label":"none","#)));
    }
    // Without --keep it is a label as any other.
    let said = run(&scratch, "predict model", "how many stars\n").quiet(0);
    assert!(said.starts_with("none\t"), "{said}");
    let said = run(&scratch, "predict model -k 4 --keep 0.9", "the ship\n").quiet(0);
    assert!(said.ends_with("\tnone\t0.000000\n"), "{said}");
    scratch.write("few.tsv", documents().lines().take(60).collect::<Vec<_>>().join("\n"));
    run(&scratch, "train few.tsv -o few -q", "").quiet(0);
    let said = run(&scratch, "predict few --keep 0.9", "a ship\n").complaint(65);
    assert!(said.contains("--keep: the model does not know"), "{said}");
    run(&scratch, "predict model --keep 0.5", "").complaint(64);
}

#[test]
fn answers_adapt_to_the_shares_of_the_texts() {
    let scratch = Scratch::new();
    let mut text = String::new();
    for number in 0..200 {
        // Four of five texts are of one label; the others have its words, too.
        let label = if number % 5 == 0 { "few" } else { "many" };
        let word = if number % 3 == 0 { "red" } else { "blue" };
        let _ =
            writeln!(text, "{label}\t{word} things {}", if number % 10 < 6 { label } else { "" });
    }
    scratch.write("train.tsv", text);
    run(&scratch, "train train.tsv -o model --words", "").quiet(0);
    let texts = "few\n".repeat(60) + "red\n";
    let last = |options: &str| -> (usize, f64) {
        let said = run(&scratch, &format!("predict model {options}"), &texts).quiet(0);
        let fields = said.lines().last().and_then(|line| line.split_once('\t')).expect("a line");
        let p: f64 = fields.1.parse().expect("a number");
        (said.lines().count(), if fields.0 == "few" { p } else { 1.0 - p })
    };
    let (plain, adapted) = (last(""), last("--adapt"));
    assert!(plain.0 == 61 && adapted.0 == 61);
    assert!(plain.1 < 0.5 && adapted.1 > plain.1 + 0.2, "{plain:?} {adapted:?}");
    assert_eq!(last("--adapt --threads 2"), adapted);
    run(&scratch, "predict model --adapt", "").quiet(0);
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
        let told = done.stderr.matches("dbacl-text: warning: anybody may write to model\n").count();
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
    let said = run(&scratch, "test model -", "none\tthe ship\n").output();
    assert!(said.contains("\nmacro-F1           0.00 %\n"), "{said}");
    let data = "sea\tthe ship\nwar\tthe ship\nnone\tthe front\n";
    let done = run(&scratch, "test model - --json", data);
    assert_eq!(done.status, 0);
    let warning = "dbacl-text: warning: -:3: the model does not know the label none; 1 such \
                   document counts as wrong\n";
    assert_eq!(done.stderr, warning);
    let found: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(found["documents"], 3);
    assert_eq!(found["accuracy"]["value"], 1.0 / 3.0);
    assert_eq!(found["worst"][0]["label"], "war");
    assert_eq!(found["worst"][0]["called"], "sea");
}

#[test]
fn a_text_that_cannot_be_read_does_not_end_a_run() {
    let scratch = trained();
    let long = "x".repeat(9 << 20);
    for (options, input, labels) in [
        (
            "--input ndjson",
            "{\"text\":\"a ship \\ud83d\"}\n{\n{\"text\":7}\n{\"text\":[]}\n{\"text\":\"cheese\"}\n"
                .to_owned(),
            "sea error a/b_c error a/b_c",
        ),
        ("--input csv", "id,text\n1,a ship\n2\n3,cheese\n".to_owned(), "sea error a/b_c"),
        ("--input tsv", "x\ta ship\ncheese\nx\tcheese\n".to_owned(), "sea error a/b_c"),
        ("--threads 2", format!("a ship\n{long}\ncheese\n"), "sea error a/b_c"),
    ] {
        let done = run(&scratch, &format!("predict model - {options}"), &input);
        let label = |line: &str| line.split('\t').next().unwrap().replace(' ', "_");
        let found: Vec<String> = done.stdout.lines().map(label).collect();
        assert_eq!((found.join(" ").as_str(), done.status), (labels, 65), "{options}: {done:?}");
        let number = labels.matches("error").count();
        let texts = if number == 1 { "text" } else { "texts" };
        let end = format!("\ndbacl-text: -: {number} {texts} could not be read\n");
        assert!(done.stderr.ends_with(&end), "{options}: {done:?}");
    }
    let line = "predict model - --input ndjson --format ndjson";
    let done = run(&scratch, line, "[]\n{\"text\":\"a ship\"}\n");
    assert!(
        done.stdout.starts_with("{\"error\":\"-:1: it is no JSON object\"}\n{\"label\":\"sea\"")
    );
    scratch.write("a.txt", "a ship");
    let done = run(&scratch, "predict model --files a.txt none a.txt", "");
    let found: Vec<&str> = done.stdout.lines().map(|line| &line[..10]).collect();
    assert_eq!(
        (found.join(" ").as_str(), done.status),
        ("a.txt\tsea\t none\terror a.txt\tsea\t", 66)
    );
}

#[test]
fn columns_of_training_are_those_of_tests_and_texts() {
    let scratch = Scratch::new();
    let mut table = "id,topic,utterance\n".to_owned();
    for (number, line) in documents().lines().enumerate() {
        let (label, text) = line.split_once('\t').unwrap();
        let _ = writeln!(table, "{number},{label},{text}");
    }
    scratch.write("train.csv", &table);
    let told = "dbacl-text: warning: train.csv: labels are in the column 'topic', texts in the \
                column 'utterance'\n";
    let done = run(&scratch, "train train.csv -o model --keep", "");
    assert_eq!((done.stderr.as_str(), done.status), (told, 0));
    let info = run(&scratch, "info model", "").quiet(0);
    assert!(info.starts_with("label column: topic\ntext columns: utterance\n"), "{info}");
    // What was found is not said again.
    let said = run(&scratch, "test model train.csv", "").quiet(0);
    assert!(said.starts_with("documents          72\naccuracy           100.00 ("), "{said}");
    let said = run(&scratch, "card model train.csv", "").quiet(0);
    assert!(said.contains("accuracy           100.00 ("), "{said}");
    let by_name = run(&scratch, "predict model train.csv", "").quiet(0);
    assert_eq!(by_name.lines().count(), 72);
    // A table is one without its name, too, and a model that learns more keeps its columns.
    let done = run(&scratch, "predict model", &table);
    assert_eq!((done.stdout == by_name, done.status), (true, 0), "{done:?}");
    assert!(done.stderr.contains("-:1: the line names columns"), "{done:?}");
    run(&scratch, "update model train.csv -o more -q", "").quiet(0);
    run(&scratch, "test more train.csv", "").quiet(0);
    // Texts are in the columns that are named, and labels where they were in training.
    scratch.write("other.csv", table.replace("utterance", "body"));
    run(&scratch, "test model other.csv --text-column body", "").quiet(0);
    let said = run(&scratch, "test model other.csv", "").complaint(65);
    assert!(said.contains("there is no column \"utterance\""), "{said}");
    // Two columns, in UTF-16; the heading of lines.
    let two: String = documents().lines().map(|line| line.replacen('\t', ";", 1) + "\n").collect();
    scratch.write(
        "two.csv",
        format!("\u{feff}a;b\n{two}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    let done = run(&scratch, "train two.csv -o two", "");
    assert!(done.stdout.starts_with("72 documents of 3 labels"), "{done:?}");
    scratch.write("heading.tsv", format!("label\ttext\n{}", documents()));
    let done = run(&scratch, "train heading.tsv -o two", "");
    assert!(done.stdout.starts_with("72 documents of 3 labels"), "{done:?}");
    assert!(done.stderr.contains("heading.tsv:1: the line names columns"), "{done:?}");
}

/// A file of testdata/packed: two lines, whose labels are `sea` and `war`.
fn packed(ending: &str) -> Vec<u8> {
    let path = dbacl_testing::root().join("testdata/packed/two.tsv").with_extension(ending);
    std::fs::read(path).expect("a file of the repository")
}

#[test]
fn compressed_files_are_read_by_every_verb() {
    let scratch = trained();
    scratch.write("two.tsv", "sea\tthe whale and the ship\nwar\tthe nation and the war\n");
    let lines = [
        "predict model FILE --input tsv",
        "predict model --input tsv FILE -k 3",
        "predict model --files FILE",
        "test model FILE",
        "test model FILE --json",
        "explain model FILE",
        "features model FILE",
        "fasttext predict model FILE",
    ];
    let plain = |line: &str| run(&scratch, &line.replace("FILE", "two.tsv"), "");
    let expected = lines.map(plain);
    for ending in ["tsv.gz", "tsv.bz2", "tsv.xz", "tsv.zst"] {
        let name = format!("two.{ending}");
        scratch.write(&name, packed(ending));
        for (line, plain) in lines.iter().zip(&expected) {
            let done = run(&scratch, &line.replace("FILE", &name), "");
            assert_eq!(done.stdout.replace(&name, "two.tsv"), plain.stdout, "{line} {ending}");
            assert_eq!(done.stderr.replace(&name, "two.tsv"), plain.stderr, "{line} {ending}");
        }
        // By the first bytes, not by the name.
        scratch.write("any", packed(ending));
        for name in ["any", &name] {
            let done = run(&scratch, &format!("train {name} -o two.model"), "");
            assert!(done.stdout.starts_with("2 documents of 2 labels"), "{name}: {done:?}");
        }
        let half = &packed(ending)[..30];
        scratch.write("half", half);
        for line in ["predict model half --input tsv", "test model half", "train half -o x"] {
            let said = run(&scratch, line, "").complaint(65);
            assert!(said.contains(": half: it is compressed by "), "{line}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        let done = run(&scratch, "predict model --files half", "");
        assert_eq!((done.stdout.as_str(), done.status), ("half\terror\n", 65));
    }
    assert!(!scratch.path("x").exists());
}

#[test]
fn explanations_name_words() {
    let scratch = trained();
    let said = run(&scratch, "explain model -n 1000", "the whale ate bread").quiet(0);
    assert!(said.starts_with("sea\t") || said.starts_with("a/b c\t"), "{said}");
    // The features are words and runs of characters.
    for evidence in ["\twhale\n", "\tbread\n", "\twhal\n"] {
        assert!(said.contains(evidence), "{evidence:?}: {said}");
    }
    let said = run(&scratch, "info model", "").quiet(0);
    assert!(said.contains("documents: 72\n") && said.contains("\nsea "), "{said}");
}

#[test]
fn damaged_models_are_refused() {
    let scratch = trained();
    let model = scratch.read("model");
    for damage in [model.len() / 2, model.len() - 9] {
        let mut damaged = model.clone();
        damaged[damage] ^= 1;
        scratch.write("damaged", &damaged);
        let said = run(&scratch, "predict damaged", "whale\n").complaint(65);
        assert!(said.starts_with("dbacl-text: damaged: damaged: "), "{said}");
    }
    run(&scratch, "train train.tsv -o model --both -g (a)", "").complaint(64);
    assert!(scratch.read("model") == model);
}

#[test]
fn texts_in_a_pipe_are_answered_one_by_one() {
    let scratch = trained();
    let mut command = scratch.command(program());
    command.args(["predict", "model"]).stdin(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    for (text, label) in [("the whale", "sea"), ("bread and cheese", "a/b c"), ("a ship", "sea")] {
        writeln!(stdin, "{text}").expect("the program reads");
        let answer = answers.next().expect("an answer").expect("UTF-8");
        assert!(answer.starts_with(&format!("{label}\t")), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn files_and_rows_keep_their_names_with_any_number_of_threads() {
    let scratch = trained();
    scratch.write("a.txt", "the whale\non the water\n");
    scratch.write("b.txt", "bread and butter");
    let said = run(&scratch, "predict model --files a.txt b.txt", "").quiet(0);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("a.txt\tsea\t"), "{said}");
    assert!(lines[1].starts_with("b.txt\ta/b c\t"), "{said}");
    let done = run(&scratch, "predict model --files a.txt missing.txt", "");
    assert!(done.stdout.starts_with("a.txt\tsea\t"), "{done:?}");
    done.complaint(66);
    // Names of files are bytes. The shell writes this one, as no Rust text can.
    let name = r#"n=$(printf 'caf\351'); cp a.txt "$n""#;
    let prints = "LC_ALL=C od -An -c | head -n 1";
    let said = scratch.sh(&format!(r#"{name}; dbacl-text predict model --files "$n" | {prints}"#));
    assert!(said.quiet(0).replace(' ', "").starts_with(r"caf351\tsea"));

    let mut csv = "key,text\n".to_owned();
    (0..9000).for_each(|at| csv.push_str(&format!("k{at},{}\n", ["whale", "bread"][at % 2])));
    scratch.write("texts.csv", csv);
    let one = run(&scratch, "predict model texts.csv --id-column key", "").quiet(0);
    let three = run(&scratch, "predict model texts.csv --id-column key --threads 3", "").quiet(0);
    assert!(one == three && one.lines().count() == 9000);
    assert!(one.starts_with("k0\tsea\t") && one.contains("\nk8999\ta/b c\t"), "{}", &one[..80]);
}

#[test]
fn what_is_odd_about_texts_is_told() {
    let scratch = trained();
    let done = run(&scratch, "predict model train.tsv", "");
    assert!(done.status == 0 && done.stderr.contains("--input tsv"), "{}", done.stderr);
    let done = run(&scratch, "predict model -k 9", "a whale\n");
    assert_eq!(done.stderr, "dbacl-text: warning: -k 9: the model has 3 labels\n");
    let said = run(&scratch, "predict model --at-least 0.5", "zzz\nthe whale ship\n").quiet(0);
    assert!(said.starts_with("unsure\t0.333333\nsea\t"), "{said}");
    let said = run(&scratch, "train train.tsv -o x --prais", "").complaint(64);
    assert!(said.contains("--pairs"), "{said}");
    // The columns of training are those of texts.
    scratch.write(
        "titles.csv",
        documents().replace('\t', ",").replacen("sea,", "label,title\nsea,", 1),
    );
    run(&scratch, "train titles.csv -o titles --text-column title -q", "").quiet(0);
    scratch.write("texts.csv", "title\nthe whale\n");
    let said = run(&scratch, "predict titles texts.csv", "").quiet(0);
    assert!(said.starts_with("sea\t"), "{said}");
}

#[test]
fn documents_may_have_several_labels() {
    let scratch = Scratch::new();
    let mut text = String::new();
    for number in 0..30 {
        let _ = writeln!(text, "sea\tthe whale and ship {number}");
        let _ = writeln!(text, "war\tthe soldiers of nation {number}");
        let _ = writeln!(text, "war, sea\tthe soldiers on a ship of the nation {number}");
        let _ = writeln!(text, "\tbread and butter {number}");
    }
    scratch.write("train.tsv", &text);
    let said = run(&scratch, "train train.tsv -o model --several", "").quiet(0);
    assert!(said.starts_with("120 documents of 2 labels; "), "{said}");
    let page = run(&scratch, "card model train.tsv", "").quiet(0);
    assert!(page.contains("\nall labels right   100.00 "), "{page}");
    let texts = "soldiers on a ship of the nation\nbread and butter\nthe whale and ship\n";
    let said = run(&scratch, "predict model", texts).quiet(0);
    let lines: Vec<Vec<&str>> =
        said.lines().map(|line| line.split('\t').step_by(2).collect()).collect();
    assert_eq!(lines, [vec!["sea", "war"], vec![""], vec!["sea"]]);
    let said = run(&scratch, "predict model --format ndjson", "bread and butter\n").quiet(0);
    assert_eq!(said, "{\"labels\":[]}\n");
    let said = run(&scratch, "test model train.tsv --json", "").quiet(0);
    let found: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert!(found["subset_accuracy"]["value"].as_f64() > Some(0.95), "{found}");
    assert!(found["micro_f1"].as_f64() > Some(0.95), "{found}");
    let said = run(&scratch, "test model train.tsv", "").quiet(0);
    assert!(said.contains("all labels right"), "{said}");
    run(&scratch, "train train.tsv -o x --several --keep", "").complaint(64);
    let said = run(&scratch, "train train.tsv -o x", "").complaint(65);
    assert!(said.contains("train.tsv:4: the label is empty"), "{said}");
}

#[test]
fn commands_of_fasttext_are_taken() {
    let scratch = Scratch::new();
    let mut lines = String::new();
    for number in 0..24 {
        let _ = writeln!(lines, "__label__sea the whale and the ship {number} on the water");
        let _ = writeln!(lines, "the soldiers of nation {number} __label__war");
    }
    scratch.write("train.txt", format!("{lines}no label\n"));
    let train = "fasttext supervised -input train.txt -output model -epoch 5 -verbose 0";
    assert_eq!(run(&scratch, train, "").quiet(0), "");
    let texts = "a ship\n\nsoldiers __label__sea\n";
    let said = run(&scratch, "fasttext predict model.bin -", texts).quiet(0);
    assert_eq!(said, "__label__sea\n__label__sea\n__label__war\n");
    let said = run(&scratch, "fasttext predict-prob model.bin - 2 0.3", "whale\n\n").quiet(0);
    let (first, second) = said.split_once('\n').unwrap();
    assert!(first.starts_with("__label__sea 0.") && !first.contains("war"), "{said}");
    assert_eq!(second, "__label__sea 0.5 __label__war 0.5\n");
    let wrong = "__label__war whale\n__label__lake a\na\n";
    let said = run(&scratch, "fasttext test model.bin - 2", &(lines.clone() + wrong)).quiet(0);
    assert_eq!(said, "N\t49\nP@2\t0.5\nR@2\t1\n");
    let said = run(&scratch, "fasttext test model.bin - 1", &(lines.clone() + wrong)).quiet(0);
    assert_eq!(said, "N\t49\nP@1\t0.98\nR@1\t0.98\n");
    // Options that are not needed are named, and several labels are learned as such.
    scratch.write("several.txt", lines + "__label__sea __label__war ship of soldiers\n");
    let train = "fasttext supervised -input several.txt -output model -lr 1 -minn 2 -maxn 4";
    let done = run(&scratch, train, "");
    assert!(done.status == 0 && done.stderr.contains("without effect: -lr\n"), "{done:?}");
    let said = run(&scratch, "info model.bin", "").quiet(0);
    assert!(said.contains("--several") && said.contains("--chars"), "{said}");
    for (line, part) in [
        ("fasttext cbow -input x", "'cbow' is not known"),
        ("fasttext predict model.bin", "MODEL FILE [K]"),
        ("fasttext test model.bin - 0", "above 0"),
    ] {
        assert!(run(&scratch, line, "").complaint(64).contains(part), "{line}");
    }
}

#[test]
fn models_can_be_made_smaller() {
    let scratch = trained();
    let before = scratch.read("model").len();
    let size = before * 2 / 3;
    run(&scratch, &format!("quantize model -o small --size {size} -q"), "").quiet(0);
    assert!(scratch.read("small").len() <= size);
    let said = run(&scratch, "predict small", "the whale and the ship\n").quiet(0);
    assert!(said.starts_with("sea\t"), "{said}");
    let said = run(&scratch, "quantize model -o none --size 10", "").complaint(65);
    assert!(said.contains("cannot be smaller than"), "{said}");
    assert!(!scratch.path("none").exists());
    scratch.write("texts", "the whale and the ship\nbread\n");
    let said = run(&scratch, "features model texts -n 3", "").quiet(0);
    assert!(said.contains("sea\t+"), "{said}");
}

#[test]
fn rare_labels_can_be_preferred() {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let said = run(&scratch, "train train.tsv -o model --balance --for macro-f1", "").quiet(0);
    assert!(said.contains("labels: for macro-F1"), "{said}");
    let about = run(&scratch, "info model", "").quiet(0);
    assert!(about.contains("--balance=0.5") && about.contains("--for=macro-f1"), "{about}");
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
        ("x.tsv", "a\tb c\nb\t \n", 65, "x.tsv:1: the documents of the label b have no words"),
        ("x.csv", "a,b\nc,d\n", 65, "x.csv:1: there is no column \"label\", but \"a\", \"b\""),
        ("x.csv", "label,text\na,\"b\n", 65, "x.csv:2: a quoted field does not end"),
        ("x.txt", "__label__a __label__b c\n", 65, "x.txt:1: there are 2 labels, a and b"),
        ("x.ndjson", "{\"label\":\"a\"\n", 65, "x.ndjson:1: it is no JSON: EOF while parsing"),
        (
            "x.txt",
            "plain\n",
            65,
            "x.txt:1: the format is not known by its name or first line; give --format",
        ),
    ] {
        scratch.write(name, text);
        let said = run(&scratch, &format!("train {name} -o model"), "").complaint(status);
        assert!(said.starts_with(&format!("dbacl-text: {expected}")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert!(scratch.read("model") == before, "the old model is kept");
    run(&scratch, "train nothing.tsv -o model", "").complaint(66);
    // The folder is looked at before the documents are.
    let said = run(&scratch, "train nothing.tsv -o no/such/model", "").complaint(73);
    let cause = "cannot write no/such/model: no/such/model.learning: No such file";
    assert!(said.starts_with(&format!("dbacl-text: {cause}")), "{said}");
    for line in ["train nothing.tsv -o train.tsv", "update model nothing.tsv -o train.tsv"] {
        let said = run(&scratch, line, "").complaint(73);
        let expected = "dbacl-text: the file train.tsv is already used for something\n";
        assert_eq!(said, expected, "{line}");
    }
    run(&scratch, "train train.tsv -o model --cost 0", "").complaint(64);
    let said = run(&scratch, "predict train.tsv", "").complaint(65);
    assert_eq!(said, "dbacl-text: train.tsv: not a dbacl-text model (a category? use dbacl -c)\n");
    let said = run(&scratch, "predict nothing", "").complaint(66);
    assert!(said.contains("nothing: No such file") && said.contains("/nothing.model"), "{said}");
    scratch.write("cut", &before[..before.len() / 2]);
    let said = run(&scratch, "predict cut", "").complaint(65);
    assert!(said.starts_with("dbacl-text: cut: damaged: the model is cut short"), "{said}");
}

#[test]
fn a_model_that_cannot_be_written_leaves_the_old_one() {
    let scratch = trained();
    let (before, names) = (scratch.read("model"), scratch.names());
    let program = program().display().to_string();
    let script = format!("ulimit -f 2; exec {program} train train.tsv -o model");
    let said = scratch.sh(&script).complaint(74);
    assert!(said.starts_with("dbacl-text: model: File too large"), "{said}");
    assert!(scratch.read("model") == before && scratch.names() == names);
}

#[test]
fn a_folder_of_folders_is_read() {
    let scratch = Scratch::new();
    for number in 0..3 {
        for (label, text) in [("sea", "the whale"), ("war", "the soldiers")] {
            scratch.write(&format!("data/{label}/{number}"), text);
        }
    }
    let done = run(&scratch, "train data -o model", "");
    assert_eq!(done.status, 0, "{}", done.stderr);
    let warning = "dbacl-text: warning: only 3 documents of the label sea and few of another \
                   label: with fewer than 20 results may be poor\n";
    assert_eq!(done.stderr, warning);
    assert!(run(&scratch, "predict model", "whale\n").quiet(0).starts_with("sea\t"));
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
    let expected = "dbacl-text: bare: the model keeps no documents: it was trained without \
                    --keep\n";
    assert_eq!(said, expected);
}

#[test]
fn a_model_is_changed_by_one_process_at_a_time() {
    let scratch = Scratch::new();
    let all = documents();
    scratch.write("all.tsv", &all);
    let lines: Vec<&str> = all.lines().collect();
    for (number, part) in lines.chunks(18).enumerate() {
        scratch.write(&format!("{number}.tsv"), part.join("\n"));
    }
    for line in ["0.tsv -o model", "all.tsv -o whole"] {
        run(&scratch, &format!("train {line} --keep -q --words"), "").quiet(0);
    }
    let update = format!("{} update model $n.tsv -q --lock-timeout 600", program().display());
    scratch.sh(&format!("for n in 1 2 3; do {update} & done; wait")).quiet(0);
    let before = scratch.read("model");
    let [about, expected] = ["model", "whole"].map(|it| run(&scratch, &format!("info {it}"), ""));
    assert_eq!(about, expected);
    let (limit, stop) = (Duration::ZERO, &AtomicBool::new(false));
    let lock = scratch.path("model.learning");
    let _held = Lock::take(&lock, Patience { limit, stop }, &mut || {}).expect("it is free");
    for line in [
        "train all.tsv -o model",
        "update model 1.tsv",
        "forget model 1.tsv",
        "merge whole whole -o model",
        "quantize whole -o model",
    ] {
        let said = run(&scratch, &format!("{line} --lock-timeout 0"), "").complaint(75);
        assert!(said.starts_with("dbacl-text: model is being changed by "), "{line}: {said}");
    }
    assert!(scratch.read("model") == before);
}

#[test]
fn a_search_tells_what_it_tries() {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let done = run(&scratch, "train train.tsv -o model --autotune 0", "");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stderr.ends_with("0 errors in 72, the best so far\n"), "{}", done.stderr);
    assert!(done.stderr.contains(" s  (default) "), "{}", done.stderr);
    run(&scratch, "train train.tsv -o again -q", "").quiet(0);
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
    assert!(said.contains("texts without labels: 384 "), "{said}");
    let about = run(&scratch, "info model", "").quiet(0);
    assert!(about.contains("texts without labels: 384 "), "{about}");

    scratch.write("none.txt", " \n\t\n");
    let said = train("train few.tsv -o bare --unlabelled none.txt");
    assert!(said.contains("texts without labels: 2 not used: "), "{said}");
    run(&scratch, "train few.tsv -o x --unlabelled none.txt --keep", "").complaint(64);
    let said = run(&scratch, "train few.tsv -o x --unlabelled missing.txt", "").complaint(66);
    assert!(said.contains("missing.txt"), "{said}");
}

#[test]
fn words_of_the_names_of_labels_are_learned() {
    let scratch = Scratch::new();
    let lines = |label: &str, text: &str| format!("{label}\t{text} today\n").repeat(3);
    let few =
        lines("card_lost", "a thief took it") + &lines("exchangeRate", "what are euros worth");
    scratch.write("few.tsv", few);
    let answer = |options: &str| {
        let line = format!("train few.tsv -o model --keep {options}");
        assert_eq!(run(&scratch, &line, "").status, 0);
        run(&scratch, "predict model", "lost card\nrate\n").quiet(0)
    };
    let (without, with) = (answer(""), answer("--label-names"));
    assert!(without.starts_with("exchangeRate"), "{without}");
    let labels: Vec<&str> = with.lines().map(|line| line.split_once('\t').unwrap().0).collect();
    assert_eq!(labels, ["card_lost", "exchangeRate"]);
    let about = run(&scratch, "info model", "").quiet(0);
    assert!(about.contains("documents: 6") && about.contains("--label-names"), "{about}");
    // A model that keeps its documents keeps the wish, too.
    let before = scratch.read("model");
    assert_eq!(run(&scratch, "update model few.tsv -o more", "").status, 0);
    assert_eq!(run(&scratch, "forget more few.tsv -o less", "").status, 0);
    assert!(before == scratch.read("less"));
    run(&scratch, "train few.tsv -o x --label-names --block 9", "").complaint(64);
    // A dash is no name of a file.
    for line in ["train few.tsv -o -", "update model few.tsv -o -", "quantize model -o -"] {
        let said = run(&scratch, line, "").complaint(64);
        assert!(said.contains("standard output"), "{line}: {said}");
    }
    assert!(!scratch.path("-").exists());
}

#[test]
fn blocks_make_the_same_model_with_any_memory() {
    let scratch = Scratch::new();
    scratch.write("train.tsv", documents());
    let train = |line: &str| run(&scratch, &format!("train train.tsv {line}"), "").quiet(0);
    let said = train("-o model --block 10");
    let tested = "72 documents of 3 labels; none was kept apart to test with\n";
    assert!(said.starts_with(tested), "{said}");
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
        let said = run(&scratch, "predict model", "a ship\n").quiet(0);
        assert!(said.starts_with("sea\t"), "{said}");
    }

    for line in [
        "--block 0",
        "--memory 1G",
        "--block 10 --keep",
        "--block 10 --memory 2X",
        "--block 2 --start 0",
    ] {
        run(&scratch, &format!("train train.tsv -o x {line}"), "").complaint(64);
    }
    let said = run(&scratch, "train train.tsv -o x --block 10 --memory 1M", "").complaint(64);
    assert!(said.contains("need a memory of "), "{said}");
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
    // Limits of memory, kilobytes: from the least with which the program starts to more than any
    // verb needs.
    let starts = |limit: &i32| {
        let script = format!("ulimit -c 0; ulimit -v {limit}; {program} --version >/dev/null 2>&1");
        scratch.sh(&script).status == 0
    };
    let least = (3_000..400_000).step_by(250).find(starts).expect("enough for the program");
    for line in [
        "train train.tsv -o other",
        "update model train.tsv -o other",
        "forget model train.tsv -o other",
        "merge model model -o other",
        "predict model text",
        "test model train.tsv",
        "explain model text",
        "info model",
        "quantize model -o small",
    ] {
        let mut failed = 0;
        let near = (least..least + 6_000).step_by(750);
        for limit in near.chain((least + 6_000..60_000).step_by(16_000)).chain([400_000]) {
            let script =
                format!("ulimit -c 0; ulimit -v {limit}; exec {program} {line} >/dev/null");
            let done = scratch.sh(&script);
            if done.stderr.contains("annot fork") {
                continue;
            }
            // The texts of a model cannot all be forgotten, which is found out at the end.
            let is_done = done.status == 0 || line.starts_with("forget") && done.status == 65;
            assert!(is_done || [65, 70, 74, 75].contains(&done.status), "{line}: {limit} {done:?}");
            let is_told = done.stderr.contains("dbacl-text: ");
            assert!(done.status == 0 || is_told, "{line}: {limit} {done:?}");
            assert!(!done.stderr.contains("panicked"), "{line}: {limit} {done:?}");
            failed += usize::from(!is_done);
        }
        assert!(failed > 0, "{line} never failed");
    }
}

#[test]
fn two_commands_train_and_test() {
    let scratch = Scratch::new();
    scratch.write("X.csv", "sentiment,review\ngood,the ship is fine\nbad,the ship is a wreck\n");
    let done = run(&scratch, "train X.csv", "");
    assert!(done.stdout.ends_with("\nmodel: X.model\n"), "{done:?}");
    let columns = "X.csv: labels are in the column 'sentiment', texts in the column 'review'";
    assert!(done.stderr.contains(columns), "{done:?}");
    scratch.write("Y.csv", "review,sentiment\na fine ship,good\na wreck of a ship,bad\n");
    let said = run(&scratch, "test X.model Y.csv", "").output();
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    assert!(last[2].starts_with("In short: of 100 texts like these, 100 get the right"), "{said}");
    assert_eq!(last[0], "No text got a wrong label.");
    scratch.write("folder/a/1", "the whale");
    scratch.write("folder/b/1", "the nation");
    run(&scratch, "train folder", "").output();
    assert!(scratch.path("folder.model").exists());
    scratch.write("Z.tsv.gz", packed("tsv.gz"));
    run(&scratch, "train Z.tsv.gz -q", "").output();
    assert!(scratch.path("Z.model").exists());
    assert!(run(&scratch, "train -", "a\tb\n").complaint(64).contains("-o is missing"));
    // What is not a model stays.
    scratch.write("X.model", "letters");
    run(&scratch, "train X.csv", "").complaint(73);
    assert_eq!(scratch.text("X.model"), "letters");
}

#[test]
fn dbacl_knows_every_verb() {
    let known = include_str!("../../../src/programs/dbacl/companion.rs");
    let help = run(&Scratch::new(), "help", "").stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 10, "{help}");
    for verb in verbs {
        assert!(known.contains(&format!("\"{verb}\"")), "{verb}");
    }
}
