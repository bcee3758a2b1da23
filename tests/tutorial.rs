// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs the commands of the documents and compares what they print. In a block marked `console` a
//! line `$ COMMAND` is a command of one shell; the lines below it are its output. After a change
//! `BLESS=1 cargo test --test main tutorial` writes the outputs anew.

use dbacl_testing::{Scratch, command, programs, root};
use std::fmt::Write;
use std::fs;

/// The line that separates the outputs of the commands.
const MARK: &str = "=== next ===";

/// Runs the commands of a document in the repository's folder.
fn check(document: &str) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).expect("the document");
    let mut script = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            // The mark must not change what `$?` says.
            writeln!(script, "s=$?\necho '{MARK}'\n(exit $s)\n{command}").expect("a string");
        }
    }
    let scratch = Scratch::new();
    let mut shell = command("sh");
    let search = std::env::var("PATH").unwrap_or_default();
    shell
        .env("PATH", format!("{}:{search}", programs().display()))
        .env("TMPDIR", scratch.path("."))
        .env("DBACL_PATH", scratch.path("."))
        .current_dir(root())
        .args(["-c", &format!("exec 2>&1\n{script}")]);
    let printed = shell.output().expect("sh starts").stdout;
    let printed = String::from_utf8_lossy(&printed);
    let mark = format!("{MARK}\n");
    let mut outputs = printed.split(mark.as_str()).skip(1);
    let mut found = String::new();
    let (mut inside, mut output) = (false, false);
    for line in text.lines() {
        if line.starts_with("```") {
            (inside, output) = (line == "```console", false);
        }
        let is_command = inside && line.starts_with("$ ");
        output = inside && (output || is_command);
        if !output || is_command {
            found.push_str(line);
            found.push('\n');
        }
        if is_command {
            found.push_str(outputs.next().expect("one output a command"));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &found).expect("a writable repository");
    }
    for (number, (expected, found)) in text.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{document}, line {}", number + 1);
    }
    assert_eq!(text.lines().count(), found.lines().count(), "{document}");
}

#[test]
fn the_tutorial_prints_what_it_says() {
    check("docs/tutorial.md");
}

#[test]
fn the_page_about_languages_prints_what_it_says() {
    check("docs/languages.md");
}

#[test]
fn the_readme_and_the_packagers_test_print_what_they_say() {
    check("README.md");
    check("docs/packaging.md");
}
