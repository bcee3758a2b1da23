// SPDX-License-Identifier: GPL-3.0-or-later
//! Strict mode: status 0 for any verdict, `sysexits.h` for errors; and what is only said on
//! request.

use dbacl_testing::{Done, Scratch, fed, finish, has, kill, wait_until_reading};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

const SPAM: &str = "From: x@example.com\nSubject: cheap pills\n\nbuy cheap pills now\n";
const HAM: &str = "From: y@example.org\nSubject: lunch\n\nsee you at lunch tomorrow\n";

/// A folder with two categories, `spam` and `ham`, and what stands beside them.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("spam.txt", SPAM.repeat(20));
    scratch.write("ham.txt", HAM.repeat(20));
    for name in ["spam", "ham"] {
        scratch.dbacl(&format!("-T email -l ./{name} {name}.txt")).quiet(0);
    }
    scratch.write("empty", "");
    let whole = scratch.read("spam");
    scratch.write("cut", &whole[..whole.len() / 2]);
    scratch.write("noise", [0xa5; 9000]);
    scratch
}

/// Runs dbacl on `HAM` with `DBACL_STRICT` set to `variable`.
fn with_variable(scratch: &Scratch, args: &str, variable: &str) -> Done {
    let mut command = scratch.dbacl_command(args.split_whitespace());
    command.env("DBACL_STRICT", variable);
    fed(command, HAM)
}

/// Arguments, then the status without strict mode and with it.
type Row = (&'static str, i32, i32);

const ROWS: &[Row] = &[
    // verdicts
    ("-c ./spam -c ./ham", 2, 0),
    ("-c ./ham -c ./spam", 1, 0),
    ("-v -c ./spam -c ./ham", 2, 0),
    ("-n -c ./spam -c ./ham -R", 2, 0),
    ("-c ./spam -c ./ham empty", 1, 0),
    ("-c ./spam -c ./ham -f 1", 0, 0),
    // learning
    ("-T email -l ./new", 0, 0),
    // usage
    ("", 1, 64),
    ("-c ./spam -l ./new", 1, 64),
    ("-w 99 -l ./new", 1, 64),
    ("-g ( -l ./new", 1, 64),
    ("-c ./spam -c ./ham --no-such-option", 2, 64),
    ("-c ./spam -c", 1, 64),
    ("-T emial -l ./new", 0, 64),
    ("-e alhpa -l ./new", 0, 64),
    ("-e alpha -c ./spam", 1, 64),
    // data
    ("-v -c ./spam -c ./cut", 1, 65),
    ("-c ./spam -c ./empty", 1, 65),
    ("-v -c ./noise -c ./spam", 1, 65),
    ("-l ./new -o ./noise", 1, 65),
    ("-l ./new empty", 0, 65),
    // no input
    ("-v -c ./spam -c ./missing", 1, 66),
    ("-c ./spam -c .", 1, 66),
    ("-v -c ./spam -c ./ham missing", 1, 66),
    ("-l ./new missing", 1, 66),
    ("-l ./new -O ./missing", 0, 66),
    // cannot create
    ("-l ./no/such/folder/new", 0, 73),
    ("-l ./spam.txt", 1, 73),
];

#[test]
fn every_kind_of_end_has_its_status() {
    for &(args, usual, strict) in ROWS {
        let scratch = prepared();
        let ended = scratch.dbacl_reading(args, HAM);
        assert_eq!(ended.status, usual, "{args}: {ended:?}");
        let by_variable = with_variable(&scratch, args, "1");
        assert_eq!(by_variable.status, strict, "{args}: {by_variable:?}");
        let by_option = scratch.dbacl_reading(&format!("--strict {args}"), HAM);
        assert_eq!(by_option.status, strict, "{args}: {by_option:?}");
        // Only the status differs for verdicts.
        if strict == 0 {
            assert_eq!(by_option.quiet(0), ended.stdout, "{args}");
        } else if strict != 64 || args.contains("-w") {
            by_option.complaint(strict);
        }
        if strict > 64 {
            assert_eq!(ended.stdout, "", "{args}: an error prints no verdict");
        }
        for name in ["spam", "ham"] {
            let kept = scratch.dbacl(&format!("-vc ./{name}"));
            assert_eq!(kept.stdout, format!("{name}\n"), "{args} harmed {name}");
        }
    }
    let off = with_variable(&prepared(), "-c ./spam -c ./ham", "0");
    assert_eq!(off.status, 2, "{off:?}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let scratch = prepared();
    let mut command = scratch.dbacl_command(["--strict", "-v", "-c", "./spam", "-c", "./ham"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    finish(command.stdout(writer).spawn().unwrap()).quiet(75);
}

#[test]
fn a_stopped_run_is_no_success_in_strict_mode() {
    let scratch = prepared();
    let (child, mut stdin) = scratch.typing("--strict -v -c ./spam -c ./ham");
    stdin.write_all(b"a line\n").unwrap();
    wait_until_reading(&child);
    kill(child.id(), "TERM");
    assert_eq!(finish(child).status, 75);
}

#[test]
fn unreadable_things_are_no_input() {
    let scratch = prepared();
    scratch.write("secret", SPAM);
    let secret = scratch.path("secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&secret).is_ok() {
        return; // the superuser reads everything
    }
    scratch.dbacl("--strict -l ./new secret").complaint(66);
}

#[test]
fn scripts_see_no_hints_and_quiet_silences_warnings() {
    let scratch = prepared();
    let text = scratch.dbacl("-h 2 -l ./new spam.txt").stderr;
    has(&text, "dbacl:warning: table full");
    assert!(!text.contains("hint"), "{text}");
    scratch.dbacl("--quiet -h 2 -l ./new spam.txt").quiet(0);
    // Errors are still said.
    scratch.dbacl("--quiet -c ./missing").complaint(1);
}

#[test]
fn zero_bytes_hide_the_rest_of_a_line_unless_they_are_kept() {
    let scratch = prepared();
    let tokens = |option: &str| {
        let dump = scratch.dbacl_reading(&format!("-d -l ./new {option}"), "seen\0hidden\nthird\n");
        ["seen", "hidden", "third"].map(|word| dump.stdout.contains(word))
    };
    assert_eq!(tokens(""), [true, false, true]);
    assert_eq!(tokens("--keep-nul"), [true, true, true]);
}
