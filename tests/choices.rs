// SPDX-License-Identifier: GPL-3.0-or-later
//! `--refit --choices`: the odds of one text among several, by the program.

use dbacl_choices::{Fit, Form, Groups, Settings, Tally, files};
use dbacl_testing::{Done, Scratch, finish, has};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;

/// The words that are easily mixed up, and what follows each.
const WORDS: [(&str, [&str; 4]); 3] = [
    ("their", ["house", "children", "own", "car"]),
    ("there", ["is", "are", "was", "stood"]),
    ("theyre", ["going", "late", "coming", "not"]),
];

/// A sentence with each of the words, and which of them is right.
fn sentence(number: usize) -> ([String; 3], usize) {
    let chosen = number % 3;
    let next = WORDS[chosen].1[number / 3 % 4];
    let begin = ["I think", "We know that", "Some say"][number / 7 % 3];
    (WORDS.map(|(word, _)| format!("{begin} {word} {next} today")), chosen)
}

fn as_json(count: usize) -> String {
    let line = |number| {
        let (choices, chosen) = sentence(number);
        serde_json::json!({ "choices": choices, "chosen": chosen }).to_string() + "\n"
    };
    (0..count).map(line).collect()
}

fn as_lines(count: usize) -> String {
    let group = |number| {
        let (choices, chosen) = sentence(number);
        let line = |(at, text)| format!("{}{text}\n", if at == chosen { '+' } else { '-' });
        choices.iter().enumerate().map(line).collect::<String>() + "\n"
    };
    (0..count).map(group).collect()
}

const LEARN: &str = "--refit -T text -w 2 -c right -c wrong";

fn learn(place: &Scratch, choices: &str, input: &str) -> Done {
    place.dbacl_reading(&format!("{LEARN} --choices {choices}"), input)
}

/// The scores of two categories for each line, bits.
fn scores(place: &Scratch, [a, b]: [&str; 2], lines: &[String]) -> Vec<[f64; 2]> {
    let lines = lines.join("\n") + "\n";
    let judged = place.dbacl_reading(&format!("-n -c {a} -c {b} -f 1,2"), lines).output();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!([words[0], words[2]], [a, b]);
        [words[1], words[3]].map(|score| score.parse().expect("a score"))
    };
    judged.lines().map(row).collect()
}

#[test]
fn the_right_word_is_told_from_what_follows() {
    let place = Scratch::new();
    place.write("groups.ndjson", as_json(300));
    let said = learn(&place, "groups.ndjson", "").output();
    assert!(said.starts_with("300 groups, 900 texts, "), "{said}");
    has(&said, "30 groups kept back: first choice 100.0 %");
    for number in 0..24 {
        let (choices, chosen) = sentence(number);
        let rows = scores(&place, ["right", "wrong"], &choices);
        let odds: Vec<f64> = rows.iter().map(|[right, wrong]| (wrong - right).exp2()).collect();
        let share = odds[chosen] / odds.iter().sum::<f64>();
        assert!(share > 0.8, "{choices:?} {share}");
    }
    // The same groups as lines, from standard input, give the same files.
    let files = || ["right", "wrong"].map(|name| place.read(name));
    let before = files();
    let again = learn(&place, "-", &as_lines(300));
    assert_eq!(again.stdout, said, "{}", again.stderr);
    assert!(files() == before, "other bytes");
}

#[test]
fn scores_of_the_files_are_those_of_the_fit() {
    let place = Scratch::new();
    let mut groups = Groups::default();
    let push = |line: &str, groups: &mut Groups| {
        line.split(' ').for_each(|word| groups.push_word(word.as_bytes(), 1));
        groups.end_alternative();
    };
    for number in 0..300 {
        let (choices, chosen) = sentence(number);
        // A word that comes twice counts twice.
        for line in &choices {
            push(&format!("{line} today"), &mut groups);
        }
        groups.end_group(chosen);
    }
    let settings = Settings { rate: 0.5, groups: 300, ..Settings::default() };
    let mut fit = Fit::new(settings);
    fit.learn(&groups, &mut Tally::default());
    for scale in [1.0, 8.0] {
        let files = files(&fit, &Form { scale, ..Form::of_words(300) }, [b"a", b"b"]);
        for (name, bytes) in ["a", "b"].into_iter().zip(files) {
            place.write(name, bytes);
        }
        for number in 0..12 {
            let (choices, _) = sentence(number);
            let lines: Vec<String> = choices.iter().map(|line| format!("{line} today")).collect();
            let rows = scores(&place, ["a", "b"], &lines);
            let expected = fit.judge(groups.get(number)).0;
            for (row, score) in rows.iter().zip(expected) {
                let found = (row[1] - row[0]) * std::f64::consts::LN_2 / scale;
                // Seven words of the grid, and scores of two decimals.
                let grid = (7.0 / 64.0 + 0.01) / scale;
                assert!((found - score).abs() <= grid, "{number}: {found} {score}");
            }
        }
    }
}

#[test]
fn what_cannot_be_learned_is_named_and_files_stay() {
    let place = Scratch::new();
    place.write("right", "not a category\n");
    for (input, message) in [
        ("", "stdin: no groups of choices"),
        ("+a\n-b\n\n-a\n-b\n", "stdin: line 5: no text of the group is marked with +"),
        ("+a\n+b\n", "stdin: line 2: a second text of the group is marked with +"),
        ("a\n", "stdin: line 1: a text begins with + or -"),
        ("{\"choices\":[\"a\"],\"chosen\":1}\n", "stdin: line 1: chosen is not the number"),
        (&as_lines(60), "right"),
    ] {
        learn(&place, "-", input).complains(1, message);
        assert_eq!(place.read("right"), b"not a category\n");
        assert!(!place.path("wrong").exists());
    }
    has(&learn(&place, "nowhere", "").stderr, "couldn't open nowhere");
    for args in ["-c right", "-c right -c right", "-c right -c w -g ^(a)", "-c right -c w operand"]
    {
        let said = place.dbacl_reading(&format!("--refit --choices - {args}"), "+a\n-b\n");
        assert!(said.complaint(1).contains("--choices"), "{args}");
    }
}

#[test]
fn a_signal_while_groups_are_read_changes_nothing() {
    let scratch = Scratch::new();
    let (child, mut input) = scratch.typing(&format!("{LEARN} --choices -"));
    // This is more than a pipe holds, so the program has begun to read.
    input.write_all(as_lines(20_000).as_bytes()).expect("it reads");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("our child");
    let complaint = finish(child).complaint(1);
    drop(input);
    assert_eq!(complaint, "dbacl:error: stopped by a signal; nothing was changed\n");
    assert_eq!(scratch.names(), [""; 0]);
}
