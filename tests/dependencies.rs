// SPDX-License-Identifier: GPL-3.0-or-later
//! Declared dependencies are used, and the library needs none of the programs'.

use dbacl_testing::{files_below, root};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `cargo` prints, without the network.
fn cargo(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).args(["--offline", "--locked"]).current_dir(root());
    let output = command.output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {said}", args.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// The packages of the workspace, as `cargo metadata` describes them.
pub(crate) fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// What the Rust files below these folders say.
fn sources(folder: &Path, names: &[&str]) -> String {
    let files = names.iter().flat_map(|name| files_below(&folder.join(name), &[], &["rs"]));
    files.map(|path| fs::read_to_string(path).expect("source text")).collect()
}

/// Whether a text names the crate `name` where code does: `name::`, `use name` or `use name as`.
fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
        let ends = after.starts_with(';') || after.starts_with(" as ");
        begins && (after.starts_with("::") || before.ends_with("use ") && ends)
    })
}

#[test]
fn every_declared_dependency_is_used() {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let packages = packages();
    assert!(packages.len() > 5, "only {} packages", packages.len());
    for package in packages {
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().expect("the package's folder");
        let tests = sources(folder, &["tests", "examples", "benches"]);
        let sources = sources(folder, &["src"]);
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["rename"]
                .as_str()
                .unwrap_or(&text(&dependency["name"]))
                .replace('-', "_");
            let is_used =
                uses(&sources, &name) || dependency["kind"] == "dev" && uses(&tests, &name);
            assert!(is_used, "{manifest} declares {name}, which nothing uses");
        }
    }
}

#[test]
fn the_library_needs_nothing_of_the_programs() {
    let args = ["tree", "--package", "dbacl", "--no-default-features", "--edges", "normal"];
    let tree = cargo(&[&args[..], &["--prefix", "none", "--format", "{p}"]].concat());
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"dbacl-regex"), "{names:?}");
    let programs = "anyhow clap crossterm dbacl-cli glob indicatif ratatui signal-hook strsim";
    for program in programs.split(' ') {
        assert!(!names.contains(&program), "the library depends on {program}");
    }
}

#[test]
fn uses_of_crates_are_told_from_other_words() {
    for (text, expected) in [
        ("use clap::Parser;", true),
        ("#[derive(clap::Parser)]", true),
        ("use clap;", true),
        ("pub use clap as options;", true),
        ("handclap::new()", false),
        ("a::clap::b", false),
        ("// clap is not used", false),
    ] {
        assert_eq!(uses(text, "clap"), expected, "{text}");
    }
}
