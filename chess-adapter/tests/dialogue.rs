// SPDX-License-Identifier: GPL-3.0-or-later
//! Scripted dialogues in both protocols, with a stand-in for the classifier.

use std::io::Write as _;
use std::path::Path;

use dbacl_testing::Scratch;

use crate::support::{Adapter, testdata};

/// Whether the line fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = rest.find(before) else { return false };
            rest = &rest[at + before.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[derive(Default)]
struct Dialogue {
    args: String,
    sent: String,
    expected: Vec<String>,
}

fn read(path: &Path) -> Dialogue {
    let text = std::fs::read_to_string(path).expect("a dialogue");
    let mut dialogue = Dialogue::default();
    for line in text.lines() {
        match line.split_at_checked(2).unwrap_or((line, "")) {
            ("$ ", args) => args.clone_into(&mut dialogue.args),
            ("> ", sent) => dialogue.sent += &format!("{sent}\n"),
            ("< " | "<", expected) => dialogue.expected.push(expected.to_owned()),
            _ => panic!("{}: {line:?}", path.display()),
        }
    }
    dialogue
}

fn hold(place: &Scratch, dialogue: &Dialogue, line_end: &str) -> Vec<String> {
    let mut adapter = Adapter::start(place, &dialogue.args);
    let sent = dialogue.sent.replace('\n', line_end);
    // The adapter does not wait long for an answer once it has read `quit`: the test sends `quit`,
    // and what follows it, after all answers have come.
    let (talk, quit) = sent.split_at(sent.rfind("quit").unwrap_or(sent.len()));
    adapter.send(talk);
    let mut lines = Vec::new();
    while !quit.is_empty() && compare("", &dialogue.expected, &lines).is_err() {
        let Some(line) = adapter.line() else { break };
        lines.push(line);
    }
    // An adapter that has ended by itself reads no more.
    let _ = adapter.to.as_mut().expect("open").write_all(quit.as_bytes());
    lines.extend(adapter.finish());
    lines
}

/// `< *` in a UCI handshake stands for all lines up to `uciok`; `< ...` for lines up to one that
/// fits the next pattern.
fn compare(name: &str, expected: &[String], mut lines: &[String]) -> Result<(), String> {
    for (i, pattern) in expected.iter().enumerate() {
        if pattern == "..." {
            let next = expected.get(i + 1).expect("a pattern after the dots");
            let skipped = lines.iter().position(|l| fits(next, l));
            let skipped = skipped.ok_or_else(|| format!("{name}: no {next:?} in {lines:?}"))?;
            lines = &lines[skipped..];
            continue;
        }
        let Some((line, rest)) = lines.split_first() else {
            return Err(format!("{name}: no line for {pattern:?}"));
        };
        if pattern == "*" && line.starts_with("id name") {
            let end = lines.iter().position(|l| l == "uciok");
            lines = &lines[end.ok_or_else(|| format!("{name}: no uciok"))? + 1..];
            continue;
        }
        if !fits(pattern, line) {
            return Err(format!("{name}: expected {pattern:?}, got {line:?}; then {rest:?}"));
        }
        lines = rest;
    }
    if lines.is_empty() { Ok(()) } else { Err(format!("{name}: unexpected {lines:?}")) }
}

#[test]
fn dialogues_go_as_written() {
    let mut count = 0;
    for entry in std::fs::read_dir(testdata("dialogue")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        for line_end in ["\n", "\r\n"] {
            let (place, dialogue) = (Scratch::new(), read(&path));
            let lines = hold(&place, &dialogue, line_end);
            if let Err(fault) = compare(&name, &dialogue.expected, &lines) {
                panic!("{fault}");
            }
            if name == "xboard-manners.txt" {
                let log = place.text("games.pgn");
                assert!(log.contains("1. e4 e5 {Agreed} 1/2-1/2"), "{log}");
            }
        }
        count += 1;
    }
    assert!(count >= 15, "only {count} dialogues");
}

#[test]
fn patterns_fit() {
    for (pattern, line, fit) in [
        ("a*c", "abc", true),
        ("a*", "b", false),
        ("*", "", true),
        ("a*b*", "axbx", true),
        ("a", "ab", false),
    ] {
        assert_eq!(fits(pattern, line), fit, "{pattern} {line}");
    }
}
