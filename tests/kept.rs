// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning with a ledger (`--keep`) and counts (`-o`): documents are in all files or in none.

use crate::mails::dbacl;
use crate::set_files::{as_users, shell};
use crate::sets::{Fault, calls, copy, faulty, filter, has_tracer};
use dbacl_testing::skip;
use std::fs;
use std::path::Path;

const FILES: [&str; 3] = ["cat", "counts", "kept"];

/// Two texts, the first of which is learned if `is_learned`.
fn texts(is_learned: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("one"), "alpha beta gamma delta\n".repeat(9)).expect("written");
    fs::write(path.join("two"), "ships and whales at sea\n".repeat(9)).expect("written");
    if is_learned {
        dbacl(path, &learn("one"), b"").output();
    }
    folder
}

fn learn(text: &str) -> [&str; 11] {
    ["-h", "8", "-L", "uniform", "-l", "cat", "-o", "counts", "--keep", "kept", text]
}

fn contents(folder: &Path) -> [Vec<u8>; 3] {
    FILES.map(|name| fs::read(folder.join(name)).unwrap_or_default())
}

#[test]
fn a_repetition_after_a_kill_counts_documents_once() {
    if !has_tracer() {
        return skip("kept::a_repetition_after_a_kill", "there is no strace");
    }
    let twice = learn("two");
    for is_learned in [true, false] {
        let start = texts(is_learned);
        let whole = copy(start.path());
        dbacl(whole.path(), &twice, b"").output();
        let expected = contents(whole.path());
        let (mut put_back, mut ended) = (0, 0);
        for call in ["rename", "link", "linkat", "unlink", "unlinkat"] {
            for number in 1..=calls(start.path(), call, &twice, b"") {
                let folder = copy(start.path());
                let path = folder.path();
                let fault = Fault { call, number, how: "signal=KILL" };
                let killed = faulty(path, &fault, &twice, b"");
                if killed.status == 0 || contents(path)[2] == expected[2] {
                    // The documents are in the ledger, so they are learned.
                    assert!(contents(path) == expected, "{call} {number}");
                    ended += 1;
                    continue;
                }
                let again = dbacl(path, &twice, b"");
                let said = again.stderr;
                assert!(again.status == 0, "{call} {number}: {said}");
                assert!(contents(path) == expected, "{call} {number}: {said}");
                put_back += usize::from(said.contains("counts and kept are as before"));
                let names = fs::read_dir(path).expect("a folder");
                let names = names.map(|entry| entry.expect("a name").file_name());
                let is_left =
                    |name: &std::ffi::OsString| name.to_string_lossy().contains(".before-");
                assert!(!names.into_iter().any(|name| is_left(&name)), "{call} {number}");
            }
        }
        assert!(put_back > 0 && ended > 0, "{put_back} {ended}");
    }
}

#[test]
fn what_cannot_be_put_back_is_told() {
    if !has_tracer() {
        return skip("kept::what_cannot_be_put_back", "there is no strace");
    }
    let folder = texts(true);
    let path = folder.path();
    // The renames are those of the category, the counts and the ledger.
    let fault = Fault { call: "rename", number: 3, how: "signal=KILL" };
    assert_ne!(faulty(path, &fault, &learn("two"), b"").status, 0);
    let without =
        dbacl(path, &["-h", "8", "-L", "uniform", "-l", "cat", "-o", "counts", "two"], b"");
    let said = without.stderr;
    assert!(said.contains("counts may have documents that the ledger does not have"), "{said}");
    dbacl(path, &["-l", "b", "-L", "uniform", "--keep", "kept", "one"], b"").output();
    let said = dbacl(path, &learn("two"), b"").stderr;
    assert!(
        said.contains("kept was changed since") && said.contains("are in counts.before-"),
        "{said}"
    );
}

#[test]
fn files_of_a_folder_that_cannot_be_read_are_errors() {
    let folder = filter();
    let script = "
        chmod 777 .; A mkdir texts; echo alpha beta >texts/one; echo alpha gamma >texts/two
        A dbacl -l a --keep kept texts; A dbacl --count counts texts
        cp a a.old; cp kept kept.old; cp counts counts.old
        chmod 0 texts/two
        A dbacl -l a --keep kept texts 2>&1 || echo $?
        A dbacl --count counts texts 2>&1 || echo $?
        A dbacl --count counts --threads 2 texts 2>&1 || echo $?
        cmp a a.old; cmp kept kept.old; cmp counts counts.old
        A dbacl -l a texts; echo $?";
    let Some(said) = as_users(folder.path(), "files_of_a_folder", script) else { return };
    let refused = "dbacl:error: couldn't open texts/two\n1\n";
    assert_eq!(said, refused.repeat(3) + "0\n");
}

#[test]
fn a_refused_command_leaves_no_lock() {
    let folder = texts(true);
    let path = folder.path();
    fs::remove_file(path.join("kept.lock")).expect("there was one");
    for (line, lock) in [
        ("-c ./cat --refit -c ./none", "cat.lock"),
        ("--refit -c ./cat=one -c ./other=none", "cat.lock"),
        ("-l cat -w 3 --keep kept one", "kept.lock"),
        ("--update cat --keep kept -c ./cat -c ./other one", "kept.lock"),
    ] {
        shell(path, "[ -e other ] || dbacl -h 8 -L uniform -l other two");
        let before = fs::read_dir(path).expect("a folder").count();
        let output = dbacl(path, &line.split(' ').collect::<Vec<_>>(), b"");
        assert!(output.status != 0, "{line}");
        assert!(!path.join(lock).exists(), "{line}: {}", output.stderr);
        assert_eq!(fs::read_dir(path).expect("a folder").count(), before, "{line}");
    }
    dbacl(path, &learn("two"), b"").output();
    assert!(path.join("kept.lock").exists());
}

#[test]
fn a_category_that_cannot_get_its_old_content_back_is_told() {
    let folder = texts(true);
    let path = folder.path();
    // The ledger comes into a set, and no generation can come after the last number.
    let script = "
        dbacl -h 8 -L uniform -l b --keep kept two
        dbacl --refit --always -c ./cat -c ./b --keep kept
        mkdir -p kept.set/18446744073709551615/full
        cp -L cat cat.copy; rm cat; mv cat.copy cat";
    shell(path, script);
    let args = ["-h", "8", "-L", "uniform", "-l", "new", "--keep", "kept", "one"];
    shell(path, "dbacl -h 8 -L uniform -l new two");
    let before = fs::read(path.join("new")).expect("there");
    let said = dbacl(path, &args, b"").stderr;
    assert!(said.contains("no generation can come after") && said.contains("nothing was changed"));
    assert!(fs::read(path.join("new")).expect("there") == before, "{said}");
    // No name is free for the old content.
    shell(path, "for number in $(seq 1 99); do mkdir new.tmp.$number; done");
    let output = dbacl(path, &args, b"");
    let said = output.stderr;
    assert!(said.ends_with("; new has its new content all the same\n"), "{said}");
    assert!(output.status != 0 && !said.contains("nothing was changed"), "{said}");
}

#[test]
fn learning_into_a_set_warns_as_other_changes_do() {
    let folder = filter();
    let script = "
        chmod 777 .
        A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet
        chgrp -R 100 a; chmod -R g+rX a; chown -R 1111 a
        alone dbacl -T email -l a/ham ham.mbox 2>&1";
    let Some(said) = as_users(folder.path(), "learning_into_a_set", script) else { return };
    assert_eq!(said.matches("cannot be given to the group").count(), 1, "{said}");
}
