// SPDX-License-Identifier: GPL-3.0-or-later
//! Counting, merging and fitting as separate processes; threads; documents as records.

use dbacl_numeric::random::SplitMix64;
use dbacl_testing::Scratch;
use std::io::{BufRead, BufReader, Write};

/// A category's bytes behind its first line, which holds its name.
pub(crate) fn body(place: &Scratch, name: &str) -> Vec<u8> {
    let bytes = place.read(name);
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a first line");
    bytes[end..].to_vec()
}

/// A text of words, some of which come again.
fn text(draws: &mut SplitMix64, words: usize) -> String {
    let mut text = String::new();
    for at in 0..words {
        let (a, b) = (draws.below(40), draws.below(40));
        let rare = if at % 7 == 0 { format!("x{}", draws.below(900)) } else { String::new() };
        text += &format!("w{}{rare}", a * b);
        text.push(if at % 9 == 8 { '\n' } else { ' ' });
    }
    text + "\n"
}

#[test]
fn shards_of_processes_merged_in_trees_are_one_pass() {
    let mut draws = SplitMix64::new(5);
    for (count, fit, is_mail) in [
        ("", "-H 12 -h 6", false),
        ("-w 3 -e alnum", "-h 9", false),
        ("-w 7 -e graph -S", "-H 18 -q 2", false),
        ("-g w([0-9]+)x", "-L uniform -h 8", false),
        ("-T email", "-H 13", true),
        ("-T email -w 2 -X", "-h 10 -M", true),
    ] {
        let place = Scratch::new();
        let succeeds = |args: &str| place.dbacl(args).output();
        let files: Vec<String> = (0..7).map(|k| format!("part-{k}")).collect();
        for name in &files {
            let mut all = String::new();
            for k in 0..5 {
                if is_mail {
                    let subject = draws.below(90);
                    all += &format!(
                        "From a@b.org Mon Jan  1 00:00:00 2001\nSubject: s{subject} {k}\n\n"
                    );
                }
                all += &text(&mut draws, 120);
            }
            place.write(name, all);
        }
        let learn = format!("{count} {fit} {}", files.join(" "));
        succeeds(&format!("-l ./one {learn}"));
        let mut trees = Vec::new();
        for (k, file) in files.iter().enumerate() {
            succeeds(&format!("--count {k}.counts --place {} {count} {file}", k * 10));
            trees.push(format!("{k}.counts"));
        }
        while trees.len() > 1 {
            let left = trees.remove(draws.below(trees.len()));
            let right = trees.remove(draws.below(trees.len()));
            succeeds(&format!("--merge m{left} {left} {right}"));
            trees.push(format!("m{left}"));
        }
        let with_x = if count.contains("-X") { "-X" } else { "" };
        succeeds(&format!("-l ./merged --fit {} {fit} {with_x}", trees[0]));
        succeeds(&format!("-l ./threads --threads 3 {learn}"));
        for other in ["merged", "threads"] {
            assert!(body(&place, "one") == body(&place, other), "{other} {count} {fit}");
        }
    }
}

#[test]
fn a_file_cut_for_threads_is_one_pass() {
    let place = Scratch::new();
    let long_line = "y ".repeat(2047) + "\n"; // fills the room for a line: joined with the next
    for (name, extra) in [("plain", ""), ("long", long_line.as_str())] {
        let text = text(&mut SplitMix64::new(3), 60_000);
        let (head, tail) = text.split_at(text.len() / 2);
        let end = tail.find('\n').expect("lines") + 1;
        place.write(name, [head, &tail[..end], extra, &tail[end..]].concat());
        for order in ["1", "2"] {
            let [one, two] = ["1", "2"].map(|threads| {
                let how = format!("-w {order} -H 20 --threads {threads}");
                place.dbacl(&format!("-l ./cat {how} {name}")).output();
                body(&place, "cat")
            });
            assert!(one == two, "{name} {order}");
        }
    }
}

#[test]
fn wrong_files_are_named_and_nothing_is_written() {
    let place = Scratch::new();
    place.write("text", "one two three\n");
    for args in ["a", "b -w 2", "placed --place 1"] {
        place.dbacl(&format!("--count {args} text")).output();
    }
    let mut damaged = place.read("a");
    place.write("cut", &damaged[..damaged.len() - 6]);
    *damaged.last_mut().expect("bytes") ^= 1;
    place.write("damaged", damaged);
    for (args, named) in [
        ("--merge out a b", "cannot merge b: it was counted with another order"),
        ("--merge out a placed", "cannot merge placed: some counts have a place"),
        ("--merge out placed placed", "the shard of place 1 is there already"),
        ("--merge out a damaged", "the counts in damaged: it is damaged: its checksum"),
        ("--merge out cut", "the counts in cut: it is damaged"),
        ("--merge out text", "the counts in text: it is not a file of counts"),
        ("--merge out nowhere", "nowhere: No such file"),
        ("--merge out", "--merge needs counts to merge"),
        ("-l ./out --fit text", "it is not a file of counts"),
        ("-l ./out --fit damaged", "the counts in damaged: it is damaged"),
        ("-l ./out --fit cut", "the counts in cut: it is damaged"),
        ("-l ./out --fit b -w 3", "another order of n-grams (-w)"),
        ("-l ./out --fit b -e alnum", "another tokenizing scheme (-e)"),
        ("-l ./out --fit b -j", "other options (-T, -j or -S)"),
        ("-l ./out --fit b text", "--fit reads no other input"),
        ("--count out -x 2 text", "-x (--decimate) cannot be used with --count: it draws lots"),
        ("--count text text", "already used for something"),
    ] {
        let errors = place.dbacl(args).complains(1, named);
        assert_eq!(errors.lines().count(), 1, "{args} {errors}");
        assert!(!place.path("out").exists(), "{args}");
    }
    assert_eq!(place.read("text"), b"one two three\n");
}

#[test]
fn records_are_documents_of_their_own_in_order() {
    let place = Scratch::new();
    let mut draws = SplitMix64::new(11);
    for name in ["a", "b"] {
        place.write("text", text(&mut draws, 900));
        place.dbacl(&format!("-l ./{name} text")).output();
    }
    let texts: Vec<String> = (0..3000).map(|_| text(&mut draws, 12)).collect();
    let record = |(k, text)| serde_json::json!({ "id": format!("d{k}"), "text": text });
    let records: Vec<String> = texts.iter().enumerate().map(|it| record(it).to_string()).collect();
    place.write("records", records.join("\n"));
    let run = |threads: &str| {
        let how = format!("--input ndjson --threads {threads}");
        place.dbacl(&format!("-c ./a -c ./b {how} records")).output()
    };
    let one = run("1");
    assert!(one == run("2"), "the same with two threads");
    let json = |said: &str| -> serde_json::Value { serde_json::from_str(said).expect("JSON") };
    let lines: Vec<serde_json::Value> = one.lines().map(json).collect();
    assert_eq!(lines.len(), texts.len());
    // Programs of Windows write a mark before the first record.
    place.write("records", format!("\u{feff}{}", records.join("\n")));
    assert!(one == run("2"), "the same with a byte order mark");
    // What was found before an error is whole.
    let done = place.dbacl("-c ./a -c ./b --format json -F text nowhere");
    assert_eq!(done.status, 1, "{done:?}");
    assert_eq!(json(&done.stdout).as_array().map(Vec::len), Some(1), "{done:?}");
    for (k, (line, text)) in lines.iter().zip(&texts).enumerate().step_by(301) {
        assert_eq!(line["id"], format!("d{k}"));
        place.write("doc", text);
        let alone = json(&place.dbacl("-c ./a -c ./b --format json doc").stdout);
        assert_eq!(line["categories"], alone[0]["categories"], "{k}");
        assert_eq!(line["best"], alone[0]["best"]);
    }
}

#[test]
fn a_program_can_talk_record_by_record() {
    let place = Scratch::new();
    place.write("text", "one two three\n");
    place.dbacl("-l ./a text").output();
    let (mut child, mut input) = place.typing("-c ./a --input ndjson --format tsv");
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
