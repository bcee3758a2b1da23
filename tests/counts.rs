// SPDX-License-Identifier: GPL-3.0-or-later
//! Counting, merging and fitting as separate processes; threads; documents as records.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn dbacl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbacl"));
    command.current_dir(folder).args(args).env("LC_ALL", "C").env_remove("DBACL_PATH");
    command.stdin(Stdio::null()).output().unwrap()
}

fn succeeds(folder: &Path, args: &[&str]) -> Output {
    let output = dbacl(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A category's bytes behind its first line, which holds its name.
fn body(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    bytes[end..].to_vec()
}

/// Numbers that look like chance.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for at in 0..words {
            let (a, b) = (self.below(40), self.below(40));
            let rare = if at % 7 == 0 { format!("x{}", self.below(900)) } else { String::new() };
            text += &format!("w{}{rare}", a * b);
            text.push(if at % 9 == 8 { '\n' } else { ' ' });
        }
        text + "\n"
    }
}

#[test]
fn shards_of_processes_merged_in_trees_are_one_pass() {
    let mut draws = Draws(5);
    let cases: [(&[&str], &[&str], bool); 6] = [
        (&[], &["-H", "12", "-h", "6"], false),
        (&["-w", "3", "-e", "alnum"], &["-h", "9"], false),
        (&["-w", "7", "-e", "graph", "-S"], &["-H", "18", "-q", "2"], false),
        (&["-g", "w([0-9]+)x"], &["-L", "uniform", "-h", "8"], false),
        (&["-T", "email"], &["-H", "13"], true),
        (&["-T", "email", "-w", "2", "-X"], &["-h", "10", "-M"], true),
    ];
    for (count, fit, mail) in cases {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names: Vec<String> = (0..7).map(|k| format!("part-{k}")).collect();
        for name in &names {
            let mut text = String::new();
            for k in 0..5 {
                if mail {
                    let subject = draws.below(90);
                    text += &format!(
                        "From a@b.org Mon Jan  1 00:00:00 2001\nSubject: s{subject} {k}\n\n"
                    );
                }
                text += &draws.text(120);
            }
            fs::write(at(name), text).unwrap();
        }
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let args = [&["-l", "./one"], count, fit, files.as_slice()].concat();
        succeeds(folder.path(), &args);
        let mut trees = Vec::new();
        for (k, file) in files.iter().enumerate() {
            let (target, place) = (format!("{k}.counts"), (k * 10).to_string());
            let place = ["--count", target.as_str(), "--place", place.as_str()];
            succeeds(folder.path(), &[&place, count, &[file]].concat());
            trees.push(target);
        }
        while trees.len() > 1 {
            let left = trees.remove(draws.below(trees.len()));
            let right = trees.remove(draws.below(trees.len()));
            let target = format!("m{left}");
            succeeds(folder.path(), &["--merge", &target, &left, &right]);
            trees.push(target);
        }
        let with_x: &[&str] = if count.contains(&"-X") { &["-X"] } else { &[] };
        let args = [&["-l", "./merged", "--fit", &trees[0]], fit, with_x].concat();
        succeeds(folder.path(), &args);
        assert!(body(&at("one")) == body(&at("merged")), "{count:?} {fit:?}");
        let threads = ["-l", "./threads", "--threads", "3"];
        succeeds(folder.path(), &[&threads, count, fit, files.as_slice()].concat());
        assert!(body(&at("one")) == body(&at("threads")), "threads {count:?} {fit:?}");
    }
}

#[test]
fn a_file_cut_for_threads_is_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let long_line = "y ".repeat(2047) + "\n"; // fills the room for a line: joined with the next
    for (name, extra) in [("plain", ""), ("long", long_line.as_str())] {
        let text = Draws(3).text(60_000);
        let (head, tail) = text.split_at(text.len() / 2);
        let end = tail.find('\n').unwrap() + 1;
        let whole = [head, &tail[..end], extra, &tail[end..]].concat();
        fs::write(folder.path().join(name), whole).unwrap();
        for order in ["1", "2"] {
            for threads in ["1", "2"] {
                let target = format!("./c{threads}");
                let args = ["-l", &target, "-w", order, "-H", "20", "--threads", threads, name];
                succeeds(folder.path(), &args);
            }
            assert!(body(&folder.path().join("c1")) == body(&folder.path().join("c2")), "{name}");
        }
    }
}

#[test]
fn wrong_files_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("text"), "one two three\n").unwrap();
    for (target, options) in
        [("a", vec![]), ("b", vec!["-w", "2"]), ("placed", vec!["--place", "1"])]
    {
        succeeds(folder.path(), &[&["--count", target], options.as_slice(), &["text"]].concat());
    }
    let mut damaged = fs::read(at("a")).unwrap();
    fs::write(at("cut"), &damaged[..damaged.len() - 6]).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(at("damaged"), damaged).unwrap();
    for (args, named) in [
        (vec!["--merge", "out", "a", "b"], "cannot merge b: it was counted with another order"),
        (vec!["--merge", "out", "a", "placed"], "cannot merge placed: some counts have a place"),
        (vec!["--merge", "out", "placed", "placed"], "the shard of place 1 is there already"),
        (
            vec!["--merge", "out", "a", "damaged"],
            "the counts in damaged: it is damaged: its checksum",
        ),
        (vec!["--merge", "out", "cut"], "the counts in cut: it is damaged"),
        (vec!["--merge", "out", "text"], "the counts in text: it is not a file of counts"),
        (vec!["--merge", "out", "nowhere"], "nowhere: No such file"),
        (vec!["--merge", "out"], "--merge needs counts to merge"),
        (vec!["-l", "./out", "--fit", "text"], "it is not a file of counts"),
        (vec!["-l", "./out", "--fit", "damaged"], "the counts in damaged: it is damaged"),
        (vec!["-l", "./out", "--fit", "cut"], "the counts in cut: it is damaged"),
        (vec!["-l", "./out", "--fit", "b", "-w", "3"], "another order of n-grams (-w)"),
        (vec!["-l", "./out", "--fit", "b", "-e", "alnum"], "another tokenizing scheme (-e)"),
        (vec!["-l", "./out", "--fit", "b", "-j"], "other options (-T, -j or -S)"),
        (vec!["-l", "./out", "--fit", "b", "text"], "--fit reads no other input"),
        (vec!["--count", "out", "-x", "2", "text"], "-x draws lots"),
        (vec!["--count", "text", "text"], "already used for something"),
    ] {
        let output = dbacl(folder.path(), &args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?} {errors}");
        assert!(errors.contains(named), "{args:?} {errors}");
        assert_eq!(errors.lines().count(), 1, "{args:?} {errors}");
        assert!(!at("out").exists(), "{args:?}");
    }
    assert_eq!(fs::read(at("text")).unwrap(), b"one two three\n");
}

#[test]
fn records_are_documents_of_their_own_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Draws(11);
    for name in ["a", "b"] {
        fs::write(folder.path().join("text"), draws.text(900)).unwrap();
        succeeds(folder.path(), &["-l", &format!("./{name}"), "text"]);
    }
    let texts: Vec<String> = (0..3000).map(|_| draws.text(12)).collect();
    let records: String = (0..)
        .zip(&texts)
        .map(|(k, text)| {
            format!("{{\"id\":\"d{k}\",\"text\":\"{}\"}}\n", text.replace('\n', "\\n"))
        })
        .collect();
    fs::write(folder.path().join("records"), records).unwrap();
    let run = |threads: &str| {
        let args = ["-c", "./a", "-c", "./b", "--input", "ndjson", "--threads", threads, "records"];
        succeeds(folder.path(), &args).stdout
    };
    let one = run("1");
    assert!(one == run("2"), "the same with two threads");
    let lines: Vec<serde_json::Value> =
        one.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(lines.len(), texts.len());
    for (k, (line, text)) in lines.iter().zip(&texts).enumerate().step_by(301) {
        assert_eq!(line["id"], format!("d{k}"));
        fs::write(folder.path().join("doc"), text).unwrap();
        let alone = dbacl(folder.path(), &["-c", "./a", "-c", "./b", "--format", "json", "doc"]);
        let alone: serde_json::Value = serde_json::from_slice(&alone.stdout).unwrap();
        assert_eq!(line["categories"], alone[0]["categories"], "{k}");
        assert_eq!(line["best"], alone[0]["best"]);
    }
}

#[test]
fn a_program_can_talk_record_by_record() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text"), "one two three\n").unwrap();
    succeeds(folder.path(), &["-l", "./a", "text"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dbacl"))
        .args(["-c", "./a", "--input", "ndjson", "--format", "tsv"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for (record, expected) in [
        (r#"{"id":"x\ty","text":"one"}"#, "x\\ty\ta\t"),
        (r#"{"text":"one two"}"#, "2\ta\t"),
        ("[]", "3\t# not an object"),
        (r#"{"id":null,"text":""}"#, "null\ta\t0.0\t\t0.0\t1.0\t"),
    ] {
        writeln!(input, "{record}").unwrap();
        let mut line = output.next().unwrap().unwrap();
        if line.starts_with("id\t") {
            line = output.next().unwrap().unwrap();
        }
        assert!(line.starts_with(expected), "{record}: {line}");
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(1), "a record was none");
}
