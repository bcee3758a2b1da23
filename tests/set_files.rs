// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a set: whose they are, what of them a power failure leaves, what a copy of them is
//! good for, and what a set never touches.

use crate::mails::{dbacl, mail, program, spawn, text};
use crate::sets::{LEARN, documents, done, filter, mode, news};
use dbacl_testing::command;
use std::fs;
use std::path::Path;

/// Runs a script in `folder` in which `dbacl` is the program.
fn shell(folder: &Path, script: &str) -> String {
    let mut shell = command("sh");
    let script = script.replace("dbacl ", &format!("\"{}\" ", program().display()));
    shell.args(["-c", &script]);
    done(spawn(shell, folder, news().as_bytes()).wait_with_output().expect("it ends"))
}

#[test]
fn a_folder_of_the_users_own_is_not_made_a_set() {
    let folder = filter();
    let path = folder.path();
    for (label, name) in [("ham", "train"), ("spam", "other")] {
        let mails = format!("{label}.mbox");
        done(dbacl(path, &["-T", "email", "-l", &format!("./{name}"), &mails], b""));
    }
    fs::create_dir_all(path.join("train.set/1")).expect("made");
    fs::write(path.join("train.set/1/essay"), "the only copy").expect("written");
    let refit = ["--refit", "--always", "-c", "./train=ham.mbox", "-c", "./other=spam.mbox"];
    for _ in 0..2 {
        let refused = dbacl(path, &refit, b"");
        assert_eq!(refused.status.code(), Some(1));
        let said = text(&refused.stderr);
        assert!(said.contains("the folder ./train.set is already used for something"), "{said}");
        assert_eq!(fs::read(path.join("train.set/1/essay")).expect("kept"), b"the only copy");
    }
    fs::rename(path.join("train.set"), path.join("essays")).expect("renamed");
    done(dbacl(path, &refit, b""));
}

#[test]
fn a_category_named_like_an_ordinary_file_is_refused() {
    let folder = filter();
    let path = folder.path();
    for (label, name) in [("ham", "x"), ("spam", "x.ordinary")] {
        let mails = format!("{label}.mbox");
        done(dbacl(path, &["-T", "email", "-l", &format!("./{name}"), &mails], b""));
    }
    let before = fs::read(path.join("x.ordinary")).expect("there");
    let refit = ["--refit", "--always", "-c", "./x=ham.mbox", "-c", "./x.ordinary=spam.mbox"];
    let refused = dbacl(path, &refit, b"");
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("./x and ./x.ordinary cannot be in one set"), "{said}");
    assert!(fs::read(path.join("x.ordinary")).expect("there") == before);
    assert!(!path.join("x.set").exists());
}

#[test]
fn labels_that_are_too_long_are_refused() {
    let folder = filter();
    let path = folder.path();
    let long = "a".repeat(201);
    let args = [format!("{long}=ham.mbox"), "spam=spam.mbox".into()];
    let args = ["--mail-learn", "g", &args[0], &args[1]];
    let refused = dbacl(path, &args, b"");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("has 1 to 200 letters"), "{}", text(&refused.stderr));
    assert!(!path.join("g").exists());
}

#[test]
fn locks_have_their_mode_whatever_the_umask() {
    let folder = filter();
    let path = folder.path();
    for (umask, of_folder, expected) in
        [("022", 0o755, 0o600), ("277", 0o755, 0o600), ("777", 0o700, 0o600), ("002", 0o775, 0o640)]
    {
        let script = format!(
            "rm -rf g; mkdir g; chmod {of_folder:o} g; umask {umask}
             dbacl --mail-learn g ham=ham.mbox spam=spam.mbox && dbacl --mail-correct g spam"
        );
        shell(path, &script);
        assert_eq!(mode(path.join("g/ledger.lock")), expected, "{umask} {of_folder:o}");
    }
    assert_eq!(documents(path), 60);
    let said = done(dbacl(path, &LEARN, mail("ham", 1).as_bytes()));
    assert!(said.contains("60 documents"), "{said}");
}
