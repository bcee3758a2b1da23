// SPDX-License-Identifier: GPL-3.0-or-later
//! Continuous integration runs the tests that it names: each filter of its `cargo test` commands,
//! and of those under Miri, is part of a test's name.

use dbacl_testing::{files_below, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A command that runs tests of some packages.
#[derive(Default)]
struct Command<'a> {
    packages: Vec<&'a str>,
    /// The folder of the tests in each package: `src`, or `tests` with `--test main`.
    folder: &'static str,
    /// Parts of names of tests; if there are any, others are left out.
    filters: Vec<&'a str>,
    /// Parts of names of tests that are left out.
    skipped: Vec<&'a str>,
}

impl<'a> Command<'a> {
    /// Reads the words after `cargo test`; `None` if it runs whole packages.
    fn of(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        // The next step of a workflow begins with a hyphen or a key.
        let ends = |word: &&str| *word != "-" && (!word.ends_with(':') || word.ends_with("::"));
        let mut words = words.take_while(ends).filter(|word| *word != "\\");
        let mut command = Self::default();
        while let Some(word) = words.next() {
            match word {
                "-p" | "--package" => command.packages.extend(words.next()),
                "--workspace" => command.packages.push("dbacl"),
                "--lib" => command.folder = "src",
                "--test" => {
                    assert_eq!(words.next(), Some("main"));
                    command.folder = "tests";
                }
                "--skip" => command.skipped.extend(words.next()),
                "--profile" | "--target" => {
                    // `${{ matrix.target }}` is three words.
                    if words.next() == Some("${{") {
                        words.find(|word| *word == "}}");
                    }
                }
                _ if word.starts_with('-') => {}
                filter => command.filters.push(filter),
            }
        }
        (!command.folder.is_empty()).then_some(command)
    }
}

/// The folders of all packages, by name.
fn packages() -> BTreeMap<String, PathBuf> {
    let manifests = files_below(&root(), &["target", ".git", "fuzz"], &["toml"]);
    let named = manifests.into_iter().filter_map(|path| {
        let text = fs::read_to_string(&path).expect("text");
        let (_, package) = text.split_once("[package]\n")?;
        let name = package.lines().find_map(|line| line.strip_prefix("name = "))?;
        Some((name.trim_matches('"').to_owned(), path.parent()?.to_owned()))
    });
    named.collect()
}

/// The names of the tests whose sources are below `folder`, as `cargo test` prints them.
fn tests(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for path in files_below(folder, &[], &["rs"]) {
        let place = path.strip_prefix(folder).expect("below the folder").with_extension("");
        let parts: Vec<_> = place.iter().map(|part| part.to_str().expect("a plain name")).collect();
        let mut modules = parts.as_slice();
        if let [before @ .., "mod" | "lib" | "main"] = modules {
            modules = before;
        }
        let (mut inline, mut is_test) = (None, false);
        for line in fs::read_to_string(&path).expect("text").lines() {
            if let Some(module) = line.strip_prefix("mod ").and_then(|it| it.strip_suffix(" {")) {
                inline = Some(module.to_owned());
            } else if line == "}" {
                inline = None;
            } else if line.trim() == "#[test]" {
                is_test = true;
            } else if let Some((_, name)) = line.split_once("fn ").filter(|_| is_test) {
                let name = name.split('(').next().unwrap_or_default();
                let path = modules.iter().copied().chain(inline.as_deref()).chain([name]);
                names.push(path.collect::<Vec<_>>().join("::"));
                is_test = false;
            }
        }
    }
    names
}

#[test]
fn every_filter_of_a_workflow_matches_tests() {
    let text = |name: &str| {
        let text = fs::read_to_string(root().join(name)).expect("text");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (workflow, miri) = (text(".github/workflows/ci.yml"), text(".ci/miri"));
    let ours = workflow.split("cargo test").skip(1);
    let mut commands: Vec<Command> =
        ours.filter_map(|rest| Command::of(rest.split_whitespace())).collect();
    // A function of the script takes the package first.
    let under_miri = miri.split("\ntests ").skip(1);
    commands.extend(under_miri.filter_map(|rest| {
        Command::of(["--lib", "-p"].into_iter().chain(rest.split_whitespace()))
    }));
    assert!(commands.len() > 5, "only {} commands", commands.len());

    let packages = packages();
    for command in commands {
        let mut names = Vec::new();
        for package in command.packages {
            let folder = packages.get(package).unwrap_or_else(|| panic!("no package {package}"));
            let mut own = tests(&folder.join(command.folder));
            own.retain(|name| !command.skipped.iter().any(|part| name.contains(part)));
            let is_named = |name: &String| command.filters.iter().any(|part| name.contains(part));
            let runs = command.filters.is_empty() && !own.is_empty() || own.iter().any(is_named);
            assert!(runs, "no test of {package} is called like {:?}", command.filters);
            names.append(&mut own);
        }
        for filter in command.filters {
            assert!(names.iter().any(|name| name.contains(filter)), "no test has {filter}");
        }
    }
}
