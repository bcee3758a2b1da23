// SPDX-License-Identifier: GPL-3.0-or-later
//! Folders and files of a set, ledgers and categories that others may write to.

use crate::mails::{dbacl, text};
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
            assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
            let set = path.join("g/ledger.set");
            for name in [&set, &set.join("current")] {
                assert_eq!(mode(name), 0o700, "{made:o} {left}: {}", name.display());
            }
        }
    }
    // Who could read the files still can.
    shell(path, "cp -rL f older; rm -r older/ledger.set; chmod 640 older/*");
    shell(path, "mkdir older/ledger.set; chmod 777 older/ledger.set");
    assert!(dbacl(path, &["--mail-correct", "older", "spam"], news().as_bytes()).status.success());
    assert_eq!(mode(path.join("older/ledger.set")), 0o750);
}

#[test]
fn a_set_that_a_group_shares_keeps_its_modes() {
    let folder = filter();
    let path = folder.path();
    for shared in [0o770, 0o2770] {
        chmod(path.join("f/ledger.set"), shared);
        let output = dbacl(path, &["--mail-correct", "f", "spam"], news().as_bytes());
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
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
