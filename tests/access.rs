// SPDX-License-Identifier: GPL-3.0-or-later
//! Folders and files of a set, ledgers and categories that others may write to.

use crate::set_files::as_users;
use crate::sets::{filter, mode, news};
use dbacl_testing::Scratch;

#[test]
fn a_folder_that_was_there_becomes_the_owners_alone() {
    let place = filter();
    let learn = "--mail-learn g ham=ham.mbox spam=spam.mbox --quiet";
    let left = ["", "mkdir g/ledger.set/new.0", "ln -s 7 g/ledger.set/current.new"];
    for left in left {
        for made in [0o777, 0o1777, 0o2770, 0o700] {
            let script =
                format!("rm -rf g; mkdir -p g/ledger.set; chmod {made:o} g/ledger.set; {left}");
            place.sh(&script).quiet(0);
            place.dbacl(learn).quiet(0);
            let set = place.path("g/ledger.set");
            for name in [&set, &set.join("current")] {
                assert_eq!(mode(name), 0o700, "{made:o} {left}: {}", name.display());
            }
        }
    }
    // Who could read the files still can.
    place.sh("cp -rL f older; rm -r older/ledger.set; chmod 640 older/*").quiet(0);
    place.sh("mkdir older/ledger.set; chmod 777 older/ledger.set").quiet(0);
    place.dbacl_reading("--mail-correct older spam", news()).output();
    assert_eq!(mode(place.path("older/ledger.set")), 0o750);
}

#[test]
fn a_set_that_a_group_shares_keeps_its_modes() {
    let place = filter();
    for shared in ["770", "2770"] {
        place.sh(&format!("chmod {shared} f/ledger.set")).quiet(0);
        place.dbacl_reading("--mail-correct f spam", news()).quiet(0);
        assert_eq!(place.sh("stat -c %a f/ledger.set").quiet(0).trim(), shared);
    }
}

#[test]
fn a_folder_of_another_user_is_refused_by_name() {
    let place = filter();
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
    let Some(said) = as_users(&place, "a_folder_of_another_user", script) else { return };
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
fn told(place: &Scratch, line: &str) -> Vec<String> {
    let output = place.dbacl_reading(line, news());
    let said = output.stderr;
    assert!(output.status < 64, "{line}: {said}");
    let told = said.lines().filter_map(|line| line.split_once("anybody may write to "));
    let mut told: Vec<String> = told.map(|(_, name)| name.to_owned()).collect();
    told.sort();
    told
}

#[test]
fn each_file_that_anybody_may_write_to_is_told_once() {
    let place = filter();
    let inside = ["category.spam", "generation", "ledger", "ledger.head", "ledger.state", "order"];
    let inside = inside.map(|name| format!("f/ledger.set/current/{name}"));
    let folders = ["f", "f/ledger.set", "f/ledger.set/current"].map(str::to_owned);
    for name in folders.into_iter().chain(inside) {
        for line in [
            "--mail-filter f",
            "--mail-correct f spam",
            "--mail-correct f ham",
            "--mail-learn f ham=ham.mbox spam=spam.mbox",
        ] {
            // Every change makes another generation, whose folder has the mode of the set's.
            place.sh(&format!("chmod o+w {name}")).quiet(0);
            let found = told(&place, line);
            let found: Vec<&str> =
                found.iter().map(|found| found.strip_prefix("./").unwrap_or(found)).collect();
            assert_eq!(found, [&name], "{line}");
        }
        place.sh("chmod -R o-w f").quiet(0);
    }
}

#[test]
fn categories_and_counts_alone_are_told_as_well() {
    let place = Scratch::new();
    place.write("one", "alpha beta gamma delta\n".repeat(9));
    place.dbacl("-l a -o counts one").output();
    // What the owner's group may do is not told, nor anything with `--quiet`.
    for (mode, line) in [("660", "-c a one"), ("646", "--quiet -c a one")] {
        place.sh(&format!("chmod {mode} a")).quiet(0);
        assert_eq!(told(&place, line), [""; 0], "{line}");
    }
    for (line, expected) in [
        ("-l a one", vec!["a"]),
        ("-l a -1 one", vec!["a"]),
        ("-c a one", vec!["a"]),
        ("-l a -o counts one", vec!["a", "counts"]),
    ] {
        place.sh("chmod 666 a counts").quiet(0);
        assert_eq!(told(&place, line), expected, "{line}");
    }
}
