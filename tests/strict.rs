// SPDX-License-Identifier: GPL-3.0-or-later
//! Strict mode: status 0 for any verdict, `sysexits.h` for errors; and what is only said on
//! request.

use dbacl_testing::wait_until_reading;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SPAM: &str = "From: x@example.com\nSubject: cheap pills\n\nbuy cheap pills now\n";
const HAM: &str = "From: y@example.org\nSubject: lunch\n\nsee you at lunch tomorrow\n";

/// A folder with two categories, `spam` and `ham`, and what stands beside them.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("spam.txt"), SPAM.repeat(20)).unwrap();
    fs::write(path.join("ham.txt"), HAM.repeat(20)).unwrap();
    for name in ["spam", "ham"] {
        let text = format!("{name}.txt");
        let learned = run(path, &["-T", "email", "-l", &format!("./{name}"), &text], b"", &[]);
        assert_eq!(learned.status.code(), Some(0), "{learned:?}");
    }
    fs::write(path.join("empty"), "").unwrap();
    let whole = fs::read(path.join("spam")).unwrap();
    fs::write(path.join("cut"), &whole[..whole.len() / 2]).unwrap();
    fs::write(path.join("noise"), [0xa5; 9000]).unwrap();
    folder
}

fn dbacl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbacl"));
    command.args(args).current_dir(folder).env_clear().env("LC_ALL", "C");
    command
}

fn run(folder: &Path, args: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Output {
    let mut command = dbacl(folder, args);
    command.envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Arguments, then the status without strict mode and with it.
type Row = (&'static [&'static str], i32, i32);

const ROWS: &[Row] = &[
    // verdicts
    (&["-c", "./spam", "-c", "./ham"], 2, 0),
    (&["-c", "./ham", "-c", "./spam"], 1, 0),
    (&["-v", "-c", "./spam", "-c", "./ham"], 2, 0),
    (&["-n", "-c", "./spam", "-c", "./ham", "-R"], 2, 0),
    (&["-c", "./spam", "-c", "./ham", "empty"], 1, 0),
    (&["-c", "./spam", "-c", "./ham", "-f", "1"], 0, 0),
    // learning
    (&["-T", "email", "-l", "./new"], 0, 0),
    // usage
    (&[], 1, 64),
    (&["-c", "./spam", "-l", "./new"], 1, 64),
    (&["-w", "99", "-l", "./new"], 1, 64),
    (&["-g", "(", "-l", "./new"], 1, 64),
    (&["-c", "./spam", "-c", "./ham", "--no-such-option"], 2, 64),
    (&["-c", "./spam", "-c"], 1, 64),
    (&["-T", "emial", "-l", "./new"], 0, 64),
    (&["-e", "alhpa", "-l", "./new"], 0, 64),
    (&["-e", "alpha", "-c", "./spam"], 1, 64),
    // data
    (&["-c", "./spam", "-c", "./cut"], 1, 65),
    (&["-c", "./spam", "-c", "./empty"], 1, 65),
    (&["-c", "./noise", "-c", "./spam"], 1, 65),
    (&["-l", "./new", "-o", "./noise"], 1, 65),
    (&["-l", "./new", "empty"], 0, 65),
    // no input
    (&["-c", "./spam", "-c", "./missing"], 1, 66),
    (&["-c", "./spam", "-c", "."], 1, 66),
    (&["-c", "./spam", "-c", "./ham", "missing"], 1, 66),
    (&["-l", "./new", "missing"], 1, 66),
    (&["-l", "./new", "-O", "./missing"], 0, 66),
    // cannot create
    (&["-l", "./no/such/folder/new"], 0, 73),
    (&["-l", "./spam.txt"], 1, 73),
];

#[test]
fn every_kind_of_end_has_its_status() {
    for &(args, usual, strict) in ROWS {
        let folder = folder();
        let path = folder.path();
        let ended = run(path, args, HAM.as_bytes(), &[]);
        assert_eq!(ended.status.code(), Some(usual), "{args:?}: {ended:?}");
        let by_variable = run(path, args, HAM.as_bytes(), &[("DBACL_STRICT", "1")]);
        assert_eq!(by_variable.status.code(), Some(strict), "{args:?}: {by_variable:?}");
        let by_option = run(path, &[&["--strict"], args].concat(), HAM.as_bytes(), &[]);
        assert_eq!(by_option.status.code(), Some(strict), "{args:?}: {by_option:?}");
        // Only the status differs for verdicts.
        if strict == 0 {
            assert_eq!(ended.stdout, by_option.stdout, "{args:?}");
            assert!(by_option.stderr.is_empty(), "{args:?}: {by_option:?}");
        } else if strict != 64 || args.contains(&"-w") {
            assert!(!by_option.stderr.is_empty(), "{args:?}");
        }
        for name in ["spam", "ham"] {
            let kept = run(path, &["-vc", &format!("./{name}")], b"", &[]);
            assert_eq!(kept.stdout, format!("{name}\n").as_bytes(), "{args:?} harmed {name}");
        }
    }
}

#[test]
fn an_error_prints_no_verdict() {
    let folder = folder();
    for args in [
        &["-v", "-c", "./spam", "-c", "./missing"][..],
        &["-v", "-c", "./cut", "-c", "./spam"],
        &["-v", "-c", "./spam", "-c", "./ham", "missing"],
    ] {
        let ended = run(folder.path(), args, SPAM.as_bytes(), &[]);
        assert!(ended.stdout.is_empty(), "{args:?}: {ended:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = folder();
    for (device, usual, strict) in [("/dev/full", 1, 74)] {
        for (option, expected) in [("-v", usual), ("--strict", strict)] {
            let full = fs::OpenOptions::new().write(true).open(device).unwrap();
            let mut command = dbacl(folder.path(), &["-v", option, "-c", "./spam", "-c", "./ham"]);
            let ended = command.stdin(Stdio::null()).stdout(full).output().unwrap();
            assert_eq!(ended.status.code(), Some(expected), "{option}: {ended:?}");
            assert!(!ended.stderr.is_empty());
        }
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = folder();
    let mut command = dbacl(folder.path(), &["--strict", "-v", "-c", "./spam", "-c", "./ham"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = command.stdin(Stdio::null()).stdout(writer).output().unwrap();
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn a_stopped_run_is_no_success_in_strict_mode() {
    let folder = folder();
    let mut command = dbacl(folder.path(), &["--strict", "-v", "-c", "./spam", "-c", "./ham"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"a line\n").unwrap();
    wait_until_reading(&child);
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(75));
}

#[test]
fn unreadable_things_are_no_input() {
    let folder = folder();
    let secret = folder.path().join("secret");
    fs::write(&secret, SPAM).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&secret).is_ok() {
        return; // the superuser reads everything
    }
    let ended = run(folder.path(), &["--strict", "-l", "./new", "secret"], b"", &[]);
    assert_eq!(ended.status.code(), Some(66), "{ended:?}");
}

#[test]
fn scripts_see_no_hints_and_quiet_silences_warnings() {
    let folder = folder();
    let args = ["-h", "2", "-l", "./new", "spam.txt"];
    let usual = run(folder.path(), &args, b"", &[]);
    let text = String::from_utf8(usual.stderr).unwrap();
    assert!(text.contains("dbacl:warning: table full"), "{text}");
    assert!(!text.contains("hint"), "{text}");
    let quiet = run(folder.path(), &[&["--quiet"][..], &args].concat(), b"", &[]);
    assert!(quiet.stderr.is_empty() && quiet.status.success(), "{quiet:?}");
    // Errors are still said.
    let quiet = run(folder.path(), &["--quiet", "-c", "./missing"], b"", &[]);
    assert!(!quiet.stderr.is_empty(), "{quiet:?}");
}

#[test]
fn a_terminal_gets_hints() {
    // `script` of util-linux gives a program a terminal.
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_dbacl");
    for (args, hint) in [
        ("-h 8 -l ./new words.txt", "-H 12 makes room"),
        ("-l ./new mail.txt", "learn mail with -T email"),
        ("-l ./new spam.txt", "tokens only"),
        ("-c ./spam -c ./pairs ham.txt", "different options"),
        ("-v -c ./spam ham.txt", "learn its opposite"),
        ("-l ./new", "Ctrl-D"),
        ("-l ./new -O ./nothing spam.txt", "no such counts"),
    ] {
        let path = folder.path();
        let mail = format!("From x@example.com  Mon Jan  1 10:00:00 2024\n{SPAM}");
        fs::write(path.join("mail.txt"), mail).unwrap();
        let letters =
            |number: u32| (0..12).map(move |bit| if number >> bit & 1 == 1 { 'x' } else { 'o' });
        let words: Vec<String> = (0..3000).map(|number| letters(number).collect()).collect();
        fs::write(path.join("words.txt"), words.join("\n")).unwrap();
        let pairs = run(path, &["-T", "email", "-w", "2", "-l", "./pairs", "ham.txt"], b"", &[]);
        assert!(pairs.status.success());
        for (quiet, expected) in [("", true), ("--quiet ", false)] {
            let mut command = Command::new("script");
            command.args(["-qec", &format!("{program} {quiet}{args}"), "/dev/null"]);
            let output = command.current_dir(path).stdin(Stdio::null()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text.contains(hint), expected, "{quiet}{args}: {text}");
        }
    }
}

#[test]
fn zero_bytes_hide_the_rest_of_a_line_unless_they_are_kept() {
    let folder = folder();
    let tokens = |option: &[&str]| {
        let args = [&["-d", "-l", "./new"], option].concat();
        let dump = run(folder.path(), &args, b"seen\0hidden\nthird\n", &[]);
        let dump = String::from_utf8(dump.stdout).unwrap();
        ["seen", "hidden", "third"].map(|word| dump.contains(word))
    };
    assert_eq!(tokens(&[]), [true, false, true]);
    assert_eq!(tokens(&["--keep-nul"]), [true, true, true]);
}
