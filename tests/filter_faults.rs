// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of a mail filter that are damaged: what the program says, and what it makes again.

use crate::mails::mail;
use crate::sets::{filter, verdict};
use dbacl_testing::has;
use std::cell::Cell;

#[test]
fn a_damaged_state_is_made_anew_from_the_ledger() {
    let place = filter();
    let (state, changes) = ("f/ledger.state", "f/ledger.set/current/ledger.changes");
    let number = Cell::new(60);
    let update_once = || {
        number.set(number.get() + 1);
        place.dbacl_reading("--mail-correct f ham", mail("ham", number.get()))
    };
    let remove = |file: &str| place.sh(&format!("rm $(readlink -f {file})")).quiet(0);
    let update_to = |said: &str| {
        let done = update_once();
        assert!(done.status == 0, "{}", done.stderr);
        let found = done.stderr;
        has(&found, said);
        assert_eq!(found.lines().count(), usize::from(!said.is_empty()), "{found}");
    };
    let whole = place.read(state);
    update_to("");
    assert!(place.read(state) == whole, "only what has changed is written");
    let not_fitting = "f/ledger.state did not fit its ledger and was made anew";
    let damages: [fn(Vec<u8>) -> Vec<u8>; 7] = [
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| [&bytes[..100], &[bytes[100] ^ 1], &bytes[101..]].concat(),
        |_| b"# dbacl state 2\n".to_vec(),
        |_| Vec::new(),
        |bytes| bytes[..1].to_vec(),
        // Only the state is so long, with a head that must be there.
        |bytes| bytes[..9].to_vec(),
        |bytes| [&bytes[..192], &[0; 8], &bytes[200..]].concat(),
    ];
    let of_changes = damages[..5].iter().map(|damage| (changes, damage));
    for (file, damage) in damages.iter().map(|damage| (state, damage)).chain(of_changes) {
        // The one before has made the state again, and has no changes.
        update_to("");
        place.write(file, damage(place.read(file)));
        update_to(not_fitting);
        update_to("");
    }
    for file in [state, changes] {
        remove(file);
        update_to(not_fitting);
        update_to("");
    }
    // Blocks are looked at when they are needed: of documents at once, of features later on.
    let good = place.read(state);
    let blocks = (1024..good.len()).step_by(3072);
    let mut found = [0; 2];
    for block in blocks {
        update_to("");
        // Fits of all documents make it larger.
        let mut damaged = place.read(state);
        damaged[block + 1000] ^= 1;
        place.write(state, damaged);
        let done = update_once();
        let said = done.stderr;
        assert!(done.status == 0 && said.lines().count() <= 1, "{said}");
        let is_needed = usize::from(said.contains("is damaged and was made anew"));
        if is_needed == 1 || said.contains(not_fitting) {
            found[is_needed] += 1;
            update_to("");
        } else {
            assert!(said.is_empty(), "{said}");
            remove(state);
            update_to(not_fitting);
        }
        update_to("");
    }
    assert!(found[0] > 0 && found[1] > 0, "{found:?}");
    assert!(verdict(&place, &mail("spam", 77)).starts_with("X-DBACL: spam "));
}

#[test]
fn damaged_categories_of_a_filter_are_refused_and_made_again() {
    let place = filter();
    let good = place.read("f/ham");
    let filter = || place.dbacl_reading("--mail-filter f", mail("ham", 1));
    let correct = |number: usize| place.dbacl_reading("--mail-correct f ham", mail("ham", number));
    for (number, length) in [good.len() / 2, 300, 0].into_iter().enumerate() {
        place.write("f/ham", &good[..length]);
        // The first damage leaves nothing to classify with, later ones what was before.
        let result = filter();
        let said = ["could not load category ./f/ham", "what was before them is used"];
        has(&result.stderr, said[usize::from(number > 0)]);
        assert_eq!(result.stdout.contains("X-DBACL: error\n"), number == 0);
        let mended = correct(90 + number);
        assert!(mended.status == 0, "{}", mended.stderr);
        assert!(filter().stderr.is_empty(), "it is whole again");
    }
    // Without the ordinary file, or where something else is: refused, and nothing is learned.
    let ledger = place.read("f/ledger");
    let refused = |content: &[u8]| {
        place.write("f/ham", content);
        correct(1).complaint(1);
        assert!(place.read("f/ham") == content);
        assert!(place.read("f/ledger") == ledger);
    };
    refused(b"something else");
    place.sh("rm $(readlink -f f/ham.ordinary)").quiet(0);
    refused(b"");
}
