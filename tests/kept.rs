// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning with a ledger (`--keep`) and counts (`-o`): documents are in all files or in none.

use crate::set_files::as_users;
use crate::sets::{Fault, calls, faulty, filter};
use dbacl_testing::{Scratch, has_tracer};
use std::fs;

const FILES: [&str; 3] = ["cat", "counts", "kept"];

const ONE: &str = "-h 8 -L uniform -l cat -o counts --keep kept one";
const TWO: &str = "-h 8 -L uniform -l cat -o counts --keep kept two";

/// Two texts, the first of which is learned if `is_learned`.
fn texts(is_learned: bool) -> Scratch {
    let place = Scratch::new();
    place.write("one", "alpha beta gamma delta\n".repeat(9));
    place.write("two", "ships and whales at sea\n".repeat(9));
    if is_learned {
        place.dbacl(ONE).output();
    }
    place
}

fn contents(place: &Scratch) -> [Vec<u8>; 3] {
    FILES.map(|name| fs::read(place.path(name)).unwrap_or_default())
}

#[test]
fn a_repetition_after_a_kill_counts_documents_once() {
    if !has_tracer("kept::a_repetition_after_a_kill") {
        return;
    }
    for is_learned in [true, false] {
        let start = texts(is_learned);
        let whole = start.copy();
        whole.dbacl(TWO).output();
        let expected = contents(&whole);
        let (mut put_back, mut ended) = (0, 0);
        for call in ["rename", "link", "linkat", "unlink", "unlinkat"] {
            for number in 1..=calls(&start, call, TWO, "") {
                let place = start.copy();
                let fault = Fault { call, number, how: "signal=KILL" };
                let killed = faulty(&place, &fault, TWO, "");
                if killed.status == 0 || contents(&place)[2] == expected[2] {
                    // The documents are in the ledger, so they are learned.
                    assert!(contents(&place) == expected, "{call} {number}");
                    ended += 1;
                    continue;
                }
                let again = place.dbacl(TWO);
                let said = again.stderr;
                assert!(again.status == 0, "{call} {number}: {said}");
                assert!(contents(&place) == expected, "{call} {number}: {said}");
                put_back += usize::from(said.contains("counts and kept are as before"));
                let is_left = |name: &String| name.contains(".before-");
                assert!(!place.names().iter().any(is_left), "{call} {number}");
            }
        }
        assert!(put_back > 0 && ended > 0, "{put_back} {ended}");
    }
}

#[test]
fn what_cannot_be_put_back_is_told() {
    if !has_tracer("kept::what_cannot_be_put_back") {
        return;
    }
    let place = texts(true);
    // The renames are those of the category, the counts and the ledger.
    let fault = Fault { call: "rename", number: 3, how: "signal=KILL" };
    assert_ne!(faulty(&place, &fault, TWO, "").status, 0);
    let said = place.dbacl("-h 8 -L uniform -l cat -o counts two").stderr;
    assert!(said.contains("counts may have documents that the ledger does not have"), "{said}");
    place.dbacl("-l b -L uniform --keep kept one").output();
    let said = place.dbacl(TWO).stderr;
    assert!(
        said.contains("kept was changed since") && said.contains("are in counts.before-"),
        "{said}"
    );
}

#[test]
fn files_of_a_folder_that_cannot_be_read_are_errors() {
    let place = filter();
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
    let Some(said) = as_users(&place, "files_of_a_folder", script) else { return };
    let refused = "dbacl:error: couldn't open texts/two\n1\n";
    assert_eq!(said, refused.repeat(3) + "0\n");
}

#[test]
fn a_refused_command_leaves_no_lock() {
    let place = texts(true);
    fs::remove_file(place.path("kept.lock")).expect("there was one");
    for (line, lock) in [
        ("-c ./cat --refit -c ./none", "cat.lock"),
        ("--refit -c ./cat=one -c ./other=none", "cat.lock"),
        ("-l cat -w 3 --keep kept one", "kept.lock"),
        ("--update cat --keep kept -c ./cat -c ./other one", "kept.lock"),
    ] {
        place.sh("[ -e other ] || dbacl -h 8 -L uniform -l other two").output();
        let before = place.names();
        let output = place.dbacl(line);
        assert!(output.status != 0, "{line}");
        assert!(!before.iter().any(|name| name == lock), "{line}");
        assert_eq!(place.names(), before, "{line}: {}", output.stderr);
    }
    place.dbacl(TWO).output();
    assert!(place.path("kept.lock").exists());
}

#[test]
fn a_category_that_cannot_get_its_old_content_back_is_told() {
    let place = texts(true);
    // The ledger comes into a set, and no generation can come after the last number.
    let script = "
        dbacl -h 8 -L uniform -l b --keep kept two
        dbacl --refit --always -c ./cat -c ./b --keep kept
        mkdir -p kept.set/18446744073709551615/full
        cp -L cat cat.copy; rm cat; mv cat.copy cat";
    place.sh(script).output();
    let args = "-h 8 -L uniform -l new --keep kept one";
    place.dbacl("-h 8 -L uniform -l new two").output();
    let before = place.read("new");
    let said = place.dbacl(args).stderr;
    assert!(said.contains("no generation can come after") && said.contains("nothing was changed"));
    assert!(place.read("new") == before, "{said}");
    // No name is free for the old content.
    place.sh("for number in $(seq 1 99); do mkdir new.tmp.$number; done").quiet(0);
    let output = place.dbacl(args);
    let said = output.stderr;
    assert!(said.ends_with("; new has its new content all the same\n"), "{said}");
    assert!(output.status != 0 && !said.contains("nothing was changed"), "{said}");
}

#[test]
fn learning_into_a_set_warns_as_other_changes_do() {
    let place = filter();
    let script = "
        chmod 777 .
        A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet
        chgrp -R 100 a; chmod -R g+rX a; chown -R 1111 a
        alone dbacl -T email -l a/ham ham.mbox 2>&1";
    let Some(said) = as_users(&place, "learning_into_a_set", script) else { return };
    assert_eq!(said.matches("cannot be given to the group").count(), 1, "{said}");
}
