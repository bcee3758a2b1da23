// SPDX-License-Identifier: GPL-3.0-or-later
//! Large categories (`--large`): learned in several ways, scored, and refused where they cannot be
//! used.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn dbacl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbacl"));
    command.current_dir(folder).args(args).env("LC_ALL", "C").env_remove("DBACL_PATH");
    command.stdin(Stdio::null()).output().unwrap()
}

fn succeeds(folder: &Path, args: &[&str]) {
    let output = dbacl(folder, args);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    assert_eq!(output.status.code(), Some(0), "{args:?}");
}

/// A category's bytes without the line of its name and the checksum that depends on it.
fn body(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let sum = bytes.windows(8).position(|at| at == b"# crc32 ").unwrap();
    [&bytes[end..sum], &bytes[sum + 17..]].concat()
}

/// Two texts and a question, of words that look like chance.
fn texts(folder: &Path) {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for (name, words, shift) in [("one", 20_000, 0), ("two", 20_000, 9), ("asked", 300, 4)] {
        let mut text = String::new();
        for number in 1..=words {
            let word = next(40) * next(30) + shift;
            let letters = word.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
            let letters: String = letters;
            let end = if number % 11 == 0 { '\n' } else { ' ' };
            write!(text, "{letters}{end}").unwrap();
        }
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn a_large_category_is_one_whatever_way_it_was_learned_and_scores_as_a_classic_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    texts(folder);
    for options in [&["-w", "1"][..], &["-w", "3", "-z", "1"], &["-e", "alnum", "-j"]] {
        let learn = |name: &str, more: &[&str]| {
            succeeds(folder, &[&["-l", name], more, options].concat());
            body(&folder.join(name))
        };
        let one = learn("./l1", &["--large", "one"]);
        assert_eq!(learn("./again", &["--large", "one"]), one);
        assert_eq!(learn("./threads", &["--large", "--threads", "2", "one"]), one);
        let (how, fit) = if options.len() > 2 && options[2] == "-z" {
            (&options[..2], &options[2..])
        } else {
            (options, &[][..])
        };
        succeeds(folder, &[&["--count", "counts", "one"], how].concat());
        succeeds(folder, &[&["-l", "./fitted", "--large", "--fit", "counts"], fit].concat());
        assert_eq!(body(&folder.join("fitted")), one);
        learn("./l2", &["--large", "two"]);
        for (name, text) in [("./c1", "one"), ("./c2", "two")] {
            succeeds(folder, &[&["-l", name, "-H", "20", text], options].concat());
        }
        let printed = |args: &[&str]| {
            let output = dbacl(folder, args);
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
            String::from_utf8(output.stdout).unwrap().replace("l1", "c1").replace("l2", "c2")
        };
        for form in ["-n", "-N", "-vna", "-vU", "-nP"] {
            let classic = printed(&["-c", "./c1", "-c", "./c2", form, "asked"]);
            assert_eq!(printed(&["-c", "./l1", "-c", "./l2", form, "asked"]), classic);
            assert_eq!(printed(&["-m", "-c", "./l1", "-c", "./l2", form, "asked"]), classic);
            assert_eq!(printed(&["-c", "./c1", "-c", "./l2", form, "asked"]), classic);
        }
    }
}

#[test]
fn a_large_category_is_refused_where_only_a_classic_one_can_be_used() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    texts(folder);
    for (name, text) in [("./l1", "one"), ("./l2", "two")] {
        succeeds(folder, &["-l", name, "--large", text]);
        assert!(fs::read(folder.join(name)).unwrap().starts_with(b"# dbacl 1.15 dlw large 1 cat"));
    }
    succeeds(folder, &["--check", "./l1"]);
    let refused = |args: &[&str], wanted: &str| {
        let output = dbacl(folder, args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(wanted), "{args:?}: {error}");
        assert_ne!(output.status.code(), Some(0), "{args:?}");
    };
    for (args, option) in [
        (&["-o", "dump"][..], "-o"),
        (&["-O", "dump"], "-O"),
        (&["-g", "(a)"], "-g"),
        (&["-H", "20"], "-H"),
        (&["-M"], "-M"),
        (&["-x", "2"], "-x"),
        (&["-X", "-T", "email"], "-X"),
        (&["--keep", "ledger"], "--keep"),
    ] {
        let wanted = format!("--large cannot be used with {option}\n");
        refused(&[&["-l", "./new", "--large", "one"], args].concat(), &wanted);
        assert!(!folder.join("new").exists());
    }
    refused(&["-c", "./l1", "--large", "one"], "--large can only be used with -l\n");
    let scored = "l1: a large category (--large) can only be scored\n";
    refused(&["--refit", "-c", "./l1=one", "-c", "./l2=two"], scored);
    // A category of the other kind is replaced in either direction.
    succeeds(folder, &["-l", "./l1", "one"]);
    succeeds(folder, &["-l", "./l1", "--large", "one"]);
    let before = fs::read(folder.join("l1")).unwrap();
    fs::write(folder.join("blank"), "\n").unwrap();
    let empty = dbacl(folder, &["-l", "./l1", "--large", "blank"]);
    assert!(String::from_utf8_lossy(&empty.stderr).contains("no tokens matched"));
    assert_eq!(fs::read(folder.join("l1")).unwrap(), before);
    // Only the checksum says that a weight has changed.
    let mut damaged = before;
    let at = damaged.len() - 1000;
    damaged[at] ^= 4;
    fs::write(folder.join("l1"), damaged).unwrap();
    refused(&["-c", "./l1", "-n", "asked"], "l1: damaged: the tables do not fit");
}
