// SPDX-License-Identifier: GPL-3.0-or-later
//! What comments and documents refer to exists: numbered sections of `docs/spec`, files that links
//! lead to, and documents that comments name. docs/README.md lists every document.

use dbacl_testing::{files_below, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the specification.
const PARTS: [&str; 6] = ["model", "text", "email", "refit", "tools", "chess"];

/// Folders whose files are not ours to read: products, recorded data, corpora.
const LEFT_OUT: [&str; 6] = ["target", ".git", "golden", "corpus", "artifacts", "vendor"];

/// Files that hold text for people or comments.
const KINDS: [&str; 8] = ["rs", "md", "toml", "py", "sh", "awk", "yml", "1"];

/// Every file with text or comments: its name below the repository, and what it says.
fn texts() -> Vec<(String, String)> {
    let found = files_below(&root(), &LEFT_OUT, &KINDS);
    let text = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("below the root").display().to_string();
        (name, fs::read_to_string(path).expect("text"))
    };
    found.into_iter().map(text).filter(|(name, _)| name != "tests/citations.rs").collect()
}

/// The sections of the specification, such as `model 7.4` and `chess appendix A`.
fn sections() -> BTreeSet<String> {
    let mut sections = BTreeSet::new();
    for part in PARTS {
        let path = root().join(format!("docs/spec/{part}.md"));
        for line in fs::read_to_string(path).expect("a part of the specification").lines() {
            let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "))
            else {
                continue;
            };
            let mut words = heading.split(' ');
            let first = words.next().unwrap_or_default();
            let number = match first {
                "Appendix" => format!("appendix {}", words.next().unwrap_or_default()),
                _ => first.to_owned(),
            };
            let is_new = sections.insert(format!("{part} {}", number.trim_end_matches('.')));
            assert!(is_new, "docs/spec/{part}.md has two sections {number}");
        }
    }
    sections
}

/// Words of a text, with the marks of comments left out so that a citation may go over a line's
/// end.
fn words(text: &str) -> Vec<&str> {
    let is_mark = |word: &&str| !matches!(*word, "//" | "///" | "//!" | "#" | ".\\\"");
    text.split_whitespace().filter(is_mark).collect()
}

/// The number that a word begins with: `7.4),` has 7.4.
fn number(word: &str) -> Option<&str> {
    let word = word.trim_start_matches('(');
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let number = word[..end].trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(number)
}

/// The sections that a text cites: `spec model 7.4`, `spec text 10.2, model 9.1`,
/// `spec model 12 to 14`, `spec email 3-7`.
fn citations(text: &str) -> Vec<String> {
    let words = words(text);
    let mut cited = Vec::new();
    let mut at = 0;
    while at + 2 < words.len() {
        at += 1;
        if words[at - 1].trim_start_matches(['(', '`', '"']) != "spec" {
            continue;
        }
        let mut part = None;
        while at < words.len() {
            let word = words[at];
            let goes_on = if PARTS.contains(&word) && part != Some(word) {
                part = Some(word);
                true
            } else if part.is_none() {
                false
            } else if word == "appendix" {
                at += 1;
                let letter = words.get(at).map_or("", |word| &word[..1]);
                cited.push(format!("{} appendix {letter}", part.unwrap_or_default()));
                words.get(at).is_some_and(|word| word.ends_with(','))
            } else if let Some(number) = number(word) {
                let part = part.unwrap_or_default();
                cited.push(format!("{part} {number}"));
                let rest = &word.trim_start_matches('(')[number.len()..];
                if let Some(last) = rest.strip_prefix('-').and_then(self::number) {
                    cited.push(format!("{part} {last}"));
                }
                rest.is_empty() || rest == ","
            } else {
                matches!(word, "and" | "to")
            };
            if !goes_on {
                break;
            }
            at += 1;
        }
    }
    cited
}

#[test]
fn citations_lead_to_sections() {
    let sections = sections();
    let mut number = 0;
    for (name, text) in texts() {
        for cited in citations(&text) {
            number += 1;
            assert!(
                sections.contains(&cited),
                "{name} cites {cited}, which docs/spec does not have"
            );
        }
        for part in PARTS {
            let other = format!("{part}.md ");
            let mut rest = text.as_str();
            while let Some(at) = rest.find(&other) {
                rest = &rest[at + other.len()..];
                let is_citation = rest.starts_with(|c: char| c.is_ascii_digit());
                assert!(!is_citation, "{name}: say \"spec {part} N\" for \"{other}N\"");
            }
        }
    }
    assert!(number > 100, "only {number} citations were found");
}

#[test]
fn citations_are_read_in_all_their_forms() {
    let cases = [
        ("//! The fit (spec model 7).", vec!["model 7"]),
        ("(spec text 10.2, model 9.1)", vec!["text 10.2", "model 9.1"]),
        ("spec model 12 to 14).", vec!["model 12", "model 14"]),
        ("(spec email 3-7)", vec!["email 3", "email 7"]),
        ("(spec text\n//! 6.1, 6.2)", vec!["text 6.1", "text 6.2"]),
        ("(spec refit 1, *once*)", vec!["refit 1"]),
        ("(spec model 5, step 6)", vec!["model 5"]),
        ("(spec chess 9.3, appendix A)", vec!["chess 9.3", "chess appendix A"]),
        ("`spec chess 9.8 a`; 3 of them", vec!["chess 9.8"]),
        ("couldn't parse spec for 7", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(citations(text), expected, "{text}");
    }
}

#[test]
fn links_lead_to_files() {
    for (name, text) in texts() {
        if Path::new(&name).extension().is_none_or(|kind| kind != "md") {
            continue;
        }
        let folder = root().join(&name).parent().expect("a folder").to_path_buf();
        // What stands between marks of code is not a link: every second piece, of blocks and of
        // spans.
        let prose: String =
            text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2)).collect();
        for link in prose.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            assert!(folder.join(target).exists(), "{name} links to {target}, which is not there");
        }
    }
}

#[test]
fn documents_that_comments_name_exist() {
    for (name, text) in texts() {
        for rest in text.split("docs/").skip(1) {
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let document = rest[..end].trim_end_matches('.');
            let is_markdown = Path::new(document).extension().is_some_and(|kind| kind == "md");
            let exists = root().join("docs").join(document).exists();
            assert!(exists || !is_markdown, "{name} names docs/{document}, which is not there");
        }
    }
}

#[test]
fn the_index_lists_every_document() {
    let index = fs::read_to_string(root().join("docs/README.md")).expect("docs/README.md");
    for folder in ["", "lab/"] {
        let Ok(entries) = fs::read_dir(root().join("docs").join(folder)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().into_string().expect("a name of letters");
            if name != "README.md" && Path::new(&name).extension().is_some_and(|kind| kind == "md")
            {
                let link = format!("]({folder}{name})");
                assert!(index.contains(&link), "docs/README.md has no link to {folder}{name}");
            }
        }
    }
}
