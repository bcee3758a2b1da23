// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of a filter, categories and counts that others may write to.

use crate::sets::{filter, news};
use dbacl_testing::Scratch;

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
    for name in ["f", "f/table", "f/journal", "f/ledger.*"] {
        for line in [
            "--mail-filter f",
            "--mail-correct f spam",
            "--mail-correct f ham",
            "--mail-learn f ham=ham.mbox spam=spam.mbox",
        ] {
            let name = place.sh(&format!("ls -d {name} | head -n 1")).output().trim().to_owned();
            // A new file has the mode of the old one.
            place.sh(&format!("chmod -R o-w f; chmod o+w {name}")).quiet(0);
            assert_eq!(told(&place, line), [name], "{line}");
        }
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
