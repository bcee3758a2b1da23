// SPDX-License-Identifier: GPL-3.0-or-later
//! Cross-validation and online simulations of mail filters, with filters of a line of shell.

use dbacl_testing::{Done, Scratch, fed, scripts};
use std::path::Path;

/// Runs one of the programs, with commands of the user's, on words divided at blanks.
fn run(scratch: &Scratch, program: &str, line: &str, input: &str) -> Done {
    args(scratch, program, &line.split_whitespace().collect::<Vec<_>>(), input)
}

fn args(scratch: &Scratch, program: &str, args: &[&str], input: &str) -> Done {
    let path = Path::new(env!("CARGO_BIN_EXE_mailcross")).with_file_name(program);
    let mut command = scratch.command(path);
    command
        .args(args)
        .env("HOME", scratch.path(""))
        .env("MAILCROSS_LEARNER", "cat >/dev/null; echo")
        .env("MAILCROSS_FILTER", "if grep -q free; then echo spam; else echo ham; fi; :")
        .env("MAILTOE_FILTER", "case $(cat) in *free*) printf spam;; *two*) echo a b;; esac; :");
    fed(command, input)
}

#[test]
fn mistakes_are_reported_with_the_usage() {
    let scratch = Scratch::new();
    let none = "Error: No results found. You must run the cross validation first.";
    for (line, first, status) in [
        ("", "", 1),
        ("dance", "", 1),
        ("prepare", "Error: Please specify a number.", 1),
        ("prepare x", "Error: Please specify a number greater than zero.", 1),
        ("prepare -1", "Error: Please specify a number greater than zero.", 1),
        ("add", "error: missing category name.", 1),
        ("add x", "error: you need to prepare first.", 1),
        ("run", "error: you need to prepare first.", 1),
        ("summarize", none, 1),
        ("review x", "Error: Missing category, e.g. mailcross review notspam spam", 0),
        ("clean", "Nothing to clean", 0),
        ("-V", "mailcross version 1.14.1", 0),
    ] {
        let done = run(&scratch, "mailcross", line, "");
        let found = done.stdout.lines().next().unwrap_or_default();
        assert_eq!((done.status, found), (status, first), "{line}");
    }
}

#[test]
fn cross_validation_runs_from_mail_to_tables() {
    let scratch = Scratch::new();
    let call = |line: &str, input: &str| run(&scratch, "mailcross", line, input);
    assert_eq!(call("prepare 2", "").quiet(0), "");
    assert_eq!(call("prepare 2", "").status, 1);
    let ham = "From a x\n\nhello\n\nFrom b x\n\nfree beer\n\n".repeat(2);
    assert_eq!(call("--seed 1 add ham", &ham).quiet(0), "");
    assert_eq!(call("add spam", &"From c x\n\nfree\n\n".repeat(3)).quiet(0), "");
    assert_eq!(call("learn", "").quiet(0), "");
    assert_eq!(call("run", "").quiet(0), "");
    let tables = call("summarize", "").quiet(0);
    assert!(tables.contains("ham        |     50.00%    50.00%"), "{tables}");
    assert!(tables.contains("spam       |      0.00%   100.00%"), "{tables}");
    let lines = call("review ham spam", "").stdout;
    assert_eq!(lines.lines().filter(|line| line.ends_with("ham spam b x")).count(), 2);
    let reviewed = std::fs::read_dir(scratch.path("mailcross.d/review")).expect("a folder");
    assert_eq!(reviewed.count(), 2);
    assert_eq!(call("clean", "").quiet(0), "");
    assert!(!scratch.path("mailcross.d").exists());
}

#[test]
fn names_that_would_divide_a_line_of_the_log_are_refused() {
    let scratch = Scratch::new();
    for program in ["mailcross", "mailtoe"] {
        run(&scratch, program, "prepare 1", "").quiet(0);
        for name in ["sp am", "sp\tam", "sp\nam", "a/b"] {
            let done = args(&scratch, program, &["add", name], "From a x\n\nhi\n");
            assert_eq!(done.status, 1);
            let (said, expected) = (done.stderr, format!("{program}:error: {name:?} cannot be a"));
            assert!(said.starts_with(&expected) && said.lines().count() == 1, "{said}");
        }
    }
}

#[test]
fn a_verdict_that_is_not_one_word_is_an_error() {
    let scratch = Scratch::new();
    let call = |line: &str, input: &str| run(&scratch, "mailtoe", line, input);
    call("prepare 1", "").quiet(0);
    call("add spam", "From a x\n\nfree\n\nFrom b x\n\nno\n\nFrom c x\n\ntwo\n\n").quiet(0);
    assert_eq!(call("learn", "").quiet(0), "This command is not meaningful.\n");
    assert_eq!(call("run", "").status, 0);
    let log = "# location | true | predicted | from\n0 spam spam a x\n0 spam ? b x\n\
               0 spam ? c x\n";
    assert_eq!(scratch.text("mailtoe.d/log/toe.log"), log);
    call("plot", "").quiet(0);
    assert_eq!(scratch.text("mailtoe.d/plots/toe.plotdata"), "\n 1 0\n 2 1\n 3 2\n");
}

/// A filter that calls mail with `free` in it spam, as a wrapper.
const WRAPPER: &str = "#!/bin/sh
case $1 in
  describe) echo 'the word free' ;;
  bootstrap) cp \"$0\" \"$2\"; echo selected ;;
  learn) cat > /dev/null; : > \"$2.known\" ;;
  clean) rm -f \"$2\"/*/*.known ;;
  filter | toe) [ -e \"$2.known\" ] && if grep -q free; then printf spam; else printf ham; fi ;;
esac
";

#[test]
fn wrappers_are_selected_run_and_summarized() {
    for program in ["mailcross", "mailtoe"] {
        let scratch = Scratch::new();
        scripts::write(&scratch.path("word"), WRAPPER);
        let call = |line: &str, input: &str| run(&scratch, program, line, input);
        call("prepare 2", "").quiet(0);
        call("add ham", &"From a x\n\nhello\n\n".repeat(4)).quiet(0);
        call("add spam", &"From a x\n\nfree\n\nFrom b x\n\nhi\n\n".repeat(2)).quiet(0);
        call("add spam", &"From a x\n\nfree\n\n".repeat(2)).quiet(0);
        let suite = |line: &str| call(&format!("testsuite {line}"), "");
        assert_eq!(suite("status").quiet(0), "No filters found\n");
        assert_eq!(suite("select ./word").quiet(0), "selected\n");
        assert_eq!(suite("status").quiet(0), "word: the word free\n");
        assert_eq!(suite("summarize").status, 1);
        assert_eq!(suite("run").quiet(0), "testing the word free\n");
        let summary = suite("summarize").quiet(0);
        assert!(summary.starts_with("the word free\n\nWhere do"), "{summary}");
        assert!(summary.contains("80.00%"), "{summary}");
        suite("deselect word").quiet(0);
        assert_eq!(suite("status").quiet(0), "No filters found\n");
    }
}

#[test]
fn wrappers_that_do_not_start_or_fail_are_errors() {
    let scratch = Scratch::new();
    let suite = |line: &str| run(&scratch, "mailcross", &format!("testsuite {line}"), "");
    run(&scratch, "mailcross", "prepare 2", "").quiet(0);
    scripts::write(&scratch.path("word"), WRAPPER);
    scripts::write(&scratch.path("lost"), "#!/no/such/interpreter\n");
    scripts::write(&scratch.path("ill"), "#!/bin/sh\necho sorry; exit 3\n");
    // The others are selected all the same.
    let Done { status, stdout, stderr } = suite("select ./lost ./ill nowhere ./word");
    assert_eq!((status, &stdout[..]), (1, "sorry\nselected\n"));
    let lines: Vec<&str> = stderr.lines().collect();
    let [lost, ill, nowhere] = lines[..] else { panic!("{stderr}") };
    assert!(lost.starts_with("mailcross:error: ") && lost.contains("/lost: "), "{lost}");
    assert!(ill.contains("/ill bootstrap: exit status: 3"), "{ill}");
    assert_eq!(nowhere, "mailcross:error: no wrapper called nowhere");
    // A wrapper that no longer works after it was selected.
    scripts::write(&scratch.path("mailcross.d/filters/word"), "#!/no/such/interpreter\n");
    for command in ["status", "run"] {
        let Done { status, stdout, stderr } = suite(command);
        assert_eq!((status, &stdout[..]), (1, ""), "{command}");
        assert!(stderr.contains("/filters/word: "), "{command}: {stderr}");
    }
    let Done { status, stderr, .. } = suite("deselect word word");
    assert_eq!((status, &stderr[..]), (1, "mailcross:error: word was not selected\n"));
}
