// SPDX-License-Identifier: GPL-3.0-or-later
//! Folders and files of a set, ledgers and categories that others may write to.

use crate::mails::dbacl;
use crate::set_files::{as_users, shell};
use crate::sets::{filter, mode, news};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

fn chmod(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("its mode is set");
}

#[test]
fn a_folder_that_was_there_becomes_the_owners_alone() {
    let folder = filter();
    let path = folder.path();
    let learn = ["--mail-learn", "g", "ham=ham.mbox", "spam=spam.mbox", "--quiet"];
    let left = ["", "mkdir g/ledger.set/new.0", "ln -s 7 g/ledger.set/current.new"];
    for left in left {
        for made in [0o777, 0o1777, 0o2770, 0o700] {
            shell(path, &format!("rm -rf g; mkdir -p g/ledger.set; chmod {made:o} g/ledger.set"));
            shell(path, left);
            let output = dbacl(path, &learn, b"");
            assert_eq!((output.status, &*output.stderr), (0, ""));
            let set = path.join("g/ledger.set");
            for name in [&set, &set.join("current")] {
                assert_eq!(mode(name), 0o700, "{made:o} {left}: {}", name.display());
            }
        }
    }
    // Who could read the files still can.
    shell(path, "cp -rL f older; rm -r older/ledger.set; chmod 640 older/*");
    shell(path, "mkdir older/ledger.set; chmod 777 older/ledger.set");
    dbacl(path, &["--mail-correct", "older", "spam"], news()).output();
    assert_eq!(mode(path.join("older/ledger.set")), 0o750);
}

#[test]
fn a_set_that_a_group_shares_keeps_its_modes() {
    let folder = filter();
    let path = folder.path();
    for shared in [0o770, 0o2770] {
        chmod(path.join("f/ledger.set"), shared);
        let output = dbacl(path, &["--mail-correct", "f", "spam"], news());
        assert!(output.status == 0 && output.stderr.is_empty(), "{}", output.stderr);
        let found = fs::metadata(path.join("f/ledger.set")).expect("it is there").mode() & 0o7777;
        assert_eq!(found, shared);
    }
}

#[test]
fn a_folder_of_another_user_is_refused_by_name() {
    let folder = filter();
    let script = "
        chmod 777 .; mkdir home shared; chown 1111:1111 home; chmod 777 home shared
        LEARN='ham=ham.mbox spam=spam.mbox --quiet'
        for filter in home shared; do
            M mkdir $filter/ledger.set; chmod 777 $filter/ledger.set
            A dbacl --mail-learn $filter $LEARN 2>&1 || echo $?
            M mkdir $filter/ledger.set/new.0
            A dbacl --mail-learn $filter $LEARN 2>&1 || echo $?
        done
        dbacl --mail-learn home $LEARN 2>&1 || echo $?
        ls -A home shared
        rm -r home/ledger.set; A mkdir -m 777 home/ledger.set
        dbacl --mail-learn home $LEARN 2>/dev/null
        stat -c %a:%u home/ledger.set";
    let Some(said) = as_users(folder.path(), "a_folder_of_another_user", script) else { return };
    let lines: Vec<&str> = said.lines().collect();
    for (at, name) in ["home", "home", "shared", "shared", "home"].into_iter().enumerate() {
        let refused = format!("the folder ./{name}/ledger.set is another user's, or others may");
        assert!(lines[2 * at].contains(&refused), "{at}: {said}");
        assert_eq!(lines[2 * at + 1], "1", "{said}");
    }
    let rest = ["home:", "ledger.set", "", "shared:", "ledger.set", "700:1111"];
    assert_eq!(lines[10..], rest, "{said}");
}

/// The files and folders of which the program says that anybody may write to them, in order.
fn told(folder: &Path, line: &str) -> Vec<String> {
    let args: Vec<&str> = line.split(' ').collect();
    let output = dbacl(folder, &args, news());
    let said = output.stderr;
    assert!(output.status < 64, "{line}: {said}");
    let told = said.lines().filter_map(|line| line.split_once("anybody may write to "));
    let mut told: Vec<String> = told.map(|(_, name)| name.to_owned()).collect();
    told.sort();
    told
}

#[test]
fn each_file_that_anybody_may_write_to_is_told_once() {
    let folder = filter();
    let path = folder.path();
    let inside = ["category.spam", "generation", "ledger", "ledger.head", "ledger.state", "order"];
    let inside = inside.map(|name| format!("f/ledger.set/current/{name}"));
    let folders = ["f", "f/ledger.set", "f/ledger.set/current"].map(str::to_owned);
    for name in folders.into_iter().chain(inside) {
        for line in [
            "--mail-filter f",
            "--mail-correct f spam",
            "--mail-correct f ham",
            "--mail-learn f ham=ham.mbox spam=spam.mbox",
            "-c ./f/ham -c ./f/spam ham.mbox",
            "--refit -c ./f/ham -c ./f/spam --keep ./f/ledger",
        ] {
            // Every change makes another generation, whose folder has the mode of the set's.
            let file = path.join(&name);
            chmod(&file, fs::metadata(&file).expect("it is there").mode() | 0o002);
            let found = told(path, line);
            let found: Vec<&str> =
                found.iter().map(|found| found.strip_prefix("./").unwrap_or(found)).collect();
            assert_eq!(found, [&name], "{line}");
        }
        shell(path, "chmod -R o-w f");
    }
}

#[test]
fn ledgers_categories_and_counts_alone_are_told_as_well() {
    let folder = filter();
    let path = folder.path();
    fs::write(path.join("one"), "alpha beta gamma delta\n".repeat(9)).expect("written");
    fs::write(path.join("two"), "ships and whales at sea\n".repeat(9)).expect("written");
    let learn =
        "dbacl -L uniform -l a --keep kept -o counts one; dbacl -L uniform -l b --keep kept two";
    shell(path, learn);
    let refit = "--refit --always -c ./a -c ./b --keep kept";
    for (line, expected) in [
        ("-l a -L uniform one", vec!["a"]),
        ("-l a -L uniform -1 one", vec!["a"]),
        ("-c a one", vec!["a"]),
        ("-l a -L uniform --keep kept -o counts one", vec!["a", "counts", "kept"]),
        ("-l b -L uniform --keep kept two", vec!["kept"]),
        (refit, vec!["./a", "kept"]),
    ] {
        shell(path, "chmod 666 a counts kept");
        assert_eq!(told(path, line), expected, "{line}");
    }
    // The files are in a set now.
    let all = ["category.a", "ledger"].map(|name| format!("./kept.set/current/{name}"));
    for line in ["-l a -L uniform --keep kept two", "-l a -L uniform two", refit] {
        let found = told(path, line);
        let found: Vec<String> = found
            .iter()
            .map(|name| if name.starts_with('.') { name.clone() } else { format!("./{name}") })
            .collect();
        assert_eq!(found, all, "{line}");
    }
}
