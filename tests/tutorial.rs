// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs the commands of the documents and compares what they print. In a block marked `console` a
//! line `$ COMMAND` is a command of one shell, which lines `> MORE` go on with; the lines below it
//! are its output. After a change `BLESS=1 cargo test --test main tutorial` writes the outputs
//! again.
//!
//! Blocks marked `sh` are run by the scripts of mail programs, those marked `python` by the tests
//! of the Python module. `text` and languages of configuration files mark what is only shown.

use dbacl_testing::{Scratch, command, files_below, holds, programs, root, skip};
use std::fmt::Write;
use std::fs;

/// The line that separates the outputs of the commands.
const MARK: &str = "=== next ===";

/// A part of a document, without outputs: text, or a command.
#[derive(Default)]
struct Part {
    /// Its lines in the document.
    shown: String,
    /// What the shell runs; empty for text.
    command: String,
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    let (mut is_inside, mut has_output) = (false, true);
    for line in text.lines() {
        if line.starts_with("```") {
            is_inside = line == "```console";
            has_output = true;
        } else if is_inside && line.starts_with("$ ") {
            parts.push(Part::default());
            has_output = false;
        } else if is_inside && (has_output || !line.starts_with("> ")) {
            has_output = true;
            continue;
        }
        if !is_inside && !parts[parts.len() - 1].command.is_empty() {
            parts.push(Part::default());
        }
        let part = parts.last_mut().expect("there is one");
        part.shown += &format!("{line}\n");
        if is_inside && !line.starts_with("```") {
            part.command += &format!("{}\n", &line[2..]);
        }
    }
    parts
}

/// Documents whose blocks marked `console` are run here.
const RUN_HERE: [&str; 5] =
    ["docs/tutorial.md", "docs/text.md", "docs/languages.md", "README.md", "docs/packaging.md"];

/// Runs the commands of a document: in an empty home, or in the repository's folder.
fn check(document: &str, in_empty_home: bool) {
    assert!(RUN_HERE.contains(&document), "{document} is not in the list");
    let path = root().join(document);
    let text = fs::read_to_string(&path).expect("the document");
    let parts = parts(&text);
    // The mark must not change what `$?` says.
    let run = |part: &Part| format!("\ns=$?\necho '{MARK}'\n(exit $s)\n{}", part.command);
    let commands = parts.iter().filter(|part| !part.command.is_empty());
    let script: String = commands.map(run).collect();
    let scratch = Scratch::new();
    let mut shell = scratch.command("sh");
    shell
        .env("TMPDIR", scratch.path("."))
        .env("DBACL_MODELS", root().join("models"))
        .args(["-c", &format!("exec 2>&1\n{script}")]);
    if in_empty_home {
        shell.env("HOME", scratch.path("."));
    } else {
        shell.env("DBACL_PATH", scratch.path(".")).current_dir(root());
    }
    let printed = shell.output().expect("sh starts").stdout;
    let printed = String::from_utf8_lossy(&printed);
    let mark = format!("{MARK}\n");
    let mut outputs = printed.split(mark.as_str()).skip(1);
    let mut found = String::new();
    for Part { shown, command } in &parts {
        found.push_str(shown);
        if !command.is_empty() {
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
    check("docs/tutorial.md", false);
}

#[test]
fn the_page_about_text_prints_what_it_says() {
    check("docs/text.md", false);
}

#[test]
fn the_page_about_languages_prints_what_it_says() {
    check("docs/languages.md", false);
}

#[test]
fn the_readme_and_the_packagers_test_print_what_they_say() {
    check("README.md", true);
    check("docs/packaging.md", false);
}

/// What the scripts of a folder say, all together.
fn scripts(folder: &str) -> String {
    let scripts = files_below(&root().join(folder), &[], &["sh"]).into_iter();
    scripts.map(|path| fs::read_to_string(path).expect("a script")).collect()
}

/// Who runs a block of this language below this recipe's mark; nothing if nobody does.
fn runner(document: &str, language: &str, recipe: &str) -> Option<String> {
    let script = |folder: &str, text: &str| {
        let calls = |line: &str| {
            let mut words = line.split_whitespace().map(|word| word.trim_matches(['(', '"', ';']));
            words.any(|word| matches!(word, "recipe" | "follow" | "as_written"))
                && line.split_whitespace().any(|word| word == recipe)
        };
        text.lines().any(calls).then(|| format!("{folder}, recipe {recipe}"))
    };
    match (document, language) {
        (_, "console") => RUN_HERE.contains(&document).then(|| "tests/tutorial.rs".to_owned()),
        ("README.md" | "docs/python.md", "python") => Some("the tests of dbacl-python".to_owned()),
        ("docs/mail.md" | "docs/mail-recipes.md", "sh") => {
            script("tests/mail", &scripts("tests/mail"))
        }
        ("docs/server.md", _) => {
            let folder = "programs/server/tests/servers";
            script(folder, &scripts(folder))
        }
        _ => None,
    }
}

#[test]
fn every_block_of_commands_is_run_and_every_other_one_is_marked() {
    let documents = files_below(&root().join("docs"), &[], &["md"]);
    let documents = documents.iter().map(|path| path.strip_prefix(root()).expect("below"));
    let names = documents.map(|path| path.display().to_string());
    let (mut run, mut shown, mut faults) = (0, 0, String::new());
    for name in names.chain(["README.md".to_owned()]) {
        let text = fs::read_to_string(root().join(&name)).expect("a document");
        let (mut recipe, mut is_inside) = ("end", false);
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = line.strip_prefix("<!-- recipe: ") {
                recipe = mark.trim_end_matches(" -->");
            }
            let Some(language) = line.strip_prefix("```") else { continue };
            is_inside = !is_inside;
            if !is_inside {
                continue;
            }
            let place = format!("{name}:{}: {language}", number + 1);
            if let Some(runner) = runner(&name, language, recipe) {
                println!("{place}, run by {runner}");
                run += 1;
            } else if matches!(language, "" | "console" | "sh" | "python") {
                writeln!(faults, "{place}").expect("a string");
            } else {
                println!("{place}, shown");
                shown += 1;
            }
        }
    }
    assert!(faults.is_empty(), "nothing runs these blocks; mark them as text:\n{faults}");
    assert!(run > 50 && shown > 50, "{run} blocks are run, {shown} are shown");
}

#[test]
fn pictures_show_what_is_measured_and_printed() {
    for name in ["tools", "terminal"] {
        let script = root().join(format!("docs/pictures/{name}.py"));
        let Ok(drawn) = command("python3").arg(script).arg(programs()).output() else {
            return skip("tutorial::pictures_show", "python3 is not installed");
        };
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        holds(&format!("docs/pictures/{name}.svg"), &String::from_utf8_lossy(&drawn.stdout));
    }
}
