// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning with a ledger (`--keep`) and counts (`-o`): documents are in all files or in none.

use crate::mails::{dbacl, text};
use crate::set_files::{as_users, shell};
use crate::sets::filter;
use std::fs;

/// Two texts, the first of which is learned if `is_learned`.
fn texts(is_learned: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("one"), "alpha beta gamma delta\n".repeat(9)).expect("written");
    fs::write(path.join("two"), "ships and whales at sea\n".repeat(9)).expect("written");
    if is_learned {
        assert!(dbacl(path, &learn("one"), b"").status.success());
    }
    folder
}

fn learn(text: &str) -> [&str; 11] {
    ["-h", "8", "-L", "uniform", "-l", "cat", "-o", "counts", "--keep", "kept", text]
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
        assert!(!output.status.success(), "{line}");
        assert!(!path.join(lock).exists(), "{line}: {}", text(&output.stderr));
        assert_eq!(fs::read_dir(path).expect("a folder").count(), before, "{line}");
    }
    assert!(dbacl(path, &learn("two"), b"").status.success());
    assert!(path.join("kept.lock").exists());
}
