// SPDX-License-Identifier: GPL-3.0-or-later
//! The completions say what the option tables say. After a change of a table,
//! `BLESS=1 cargo test --test main interface` writes them again.

use dbacl_classic::dbacl::options::TABLE;
use dbacl_classic::{bayesol, hypex};
use dbacl_cli::getopt::without_keys;
use dbacl_testing::completions::{Program, check};
use dbacl_testing::{Scratch, root, skip};
use std::fs;
use std::process::Command;

#[test]
fn completions_list_the_option_tables() {
    check(&Program { name: "dbacl", options: without_keys(TABLE), commands: &[] });
    check(&Program { name: "bayesol", options: bayesol::options(), commands: &[] });
    check(&Program { name: "hypex", options: hypex::options(), commands: &[] });
}

#[test]
fn bash_completes_categories_below_the_path_and_values() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("categories")).expect("a folder");
    for name in ["spam", "spain", "ham"] {
        fs::write(scratch.path("categories").join(name), "").expect("a file");
    }
    let complete = |words: &[&str]| {
        let file = root().join("docs/completions/dbacl.bash");
        let script = format!(
            "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _dbacl; printf '%s\\n' \
             \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len() - 1
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &script]).current_dir(scratch.path("."));
        let output = bash.env("DBACL_PATH", scratch.path("categories")).output().ok()?;
        let mut found: Vec<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        found.sort();
        Some(found)
    };
    let Some(found) = complete(&["dbacl", "-c", "sp"]) else {
        return skip("bash_completes_categories_below_the_path_and_values", "there is no bash");
    };
    assert_eq!(found, ["spain", "spam"]);
    let cases: [(&[&str], &[&str]); 5] = [
        (&["dbacl", "--category", "=", "h"], &["ham"]),
        (&["dbacl", "-e", "c"], &["cef", "cef2", "char"]),
        (&["dbacl", "--format", "=", ""], &["json", "ndjson", "tsv"]),
        (&["dbacl", "--mail-learn", "c"], &["categories"]),
        (&["dbacl", "--mail-f"], &["--mail-filter"]),
    ];
    for (words, expected) in cases {
        assert_eq!(complete(words).expect("bash"), expected, "{words:?}");
    }
}
