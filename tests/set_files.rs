// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a set: whose they are, what of them a power failure leaves, what a copy of them is
//! good for, and what a set never touches.

use crate::mails::mail;
use crate::sets::{
    Fault, LEARN, calls, counted, documents, faulty, filter, is_tidy, mode, news, older_filter,
    verdict,
};
use dbacl_testing::{Scratch, has, has_tracer, skip};
use std::fs;
use std::path::Path;

#[test]
fn labels_that_are_too_long_are_refused() {
    let place = filter();
    let args = format!("--mail-learn g {}=ham.mbox spam=spam.mbox", "a".repeat(238));
    place.dbacl(&args).complains(1, "has 1 to 237 letters");
    assert!(!place.path("g").exists());
}

#[test]
fn locks_have_their_mode_whatever_the_umask() {
    let place = filter();
    place.write("news", news());
    for (umask, of_folder, expected) in
        [("022", 0o755, 0o600), ("277", 0o755, 0o600), ("777", 0o700, 0o600), ("002", 0o775, 0o640)]
    {
        let script = format!(
            "rm -rf g; mkdir g; chmod {of_folder:o} g; umask {umask}
             dbacl --mail-learn g ham=ham.mbox spam=spam.mbox && dbacl --mail-correct g spam news"
        );
        place.sh(&script).output();
        assert_eq!(mode(place.path("g/ledger.lock")), expected, "{umask} {of_folder:o}");
    }
    assert_eq!(documents(&place), 60);
    place.dbacl_reading(LEARN, mail("ham", 1)).says("60 messages");
}

/// Corrections that the filter keeps.
fn corrections(place: &Scratch) -> u32 {
    counted(&place.read("f/ledger.set/current/corrections.head"))
}

/// A message that no other test mail is like.
fn own(number: usize) -> String {
    mail("ham", number) + &format!("with an own word{number}\n")
}

/// A filter of 60 messages that has learned three more, singly.
fn corrected() -> Scratch {
    let place = filter();
    for number in 0..3 {
        assert_eq!(correct(&place, number), "");
    }
    assert_eq!((documents(&place), corrections(&place)), (63, 3));
    place
}

/// What a correction says beside.
#[track_caller]
fn correct(place: &Scratch, number: usize) -> String {
    let done = place.dbacl_reading("--mail-correct f ham", own(number));
    assert_eq!(done.status, 0, "{}", done.stderr);
    done.stderr
}

/// Leaves files of the current generation empty, as a power failure can; without names all that are
/// new in it. `CUT` stands for the ledger, which the generations share: it is as long as after the
/// last full fit.
fn tear(place: &Scratch, names: &str) {
    let names = if names.is_empty() { "$(find . -type f -links 1)" } else { names };
    let script = format!(
        "cd f/ledger.set/current
        for name in {names}; do case $name in
            CUT) truncate -s $(sed -n '/ ledger$/s/ .*//p' ../1/generation) ledger ;;
            *) rm $name; : >$name ;;
        esac; done"
    );
    place.sh(&script).quiet(0);
}

const DAMAGED: &str = "f/ledger.set was damaged, as by a power failure: ";
const NO_LOSS: &str = "no document is lost";
const LOSS: &str = "what was learned since the last fit of all documents is lost";

#[test]
fn a_power_failure_loses_only_what_is_nowhere_else() {
    let start = corrected();
    for (names, is_lost) in [
        ("corrections", false),
        ("corrections.head", false),
        ("corrections corrections.head", false),
        ("ledger.head", false),
        ("ledger", false),
        ("ledger ledger.head", false),
        ("category.ham", false),
        ("category.ham category.spam", false),
        ("category.ham.ordinary", false),
        ("generation", false),
        ("generation ledger.head", false),
        // All files that are new in the generation.
        ("", false),
        ("ledger corrections", false),
        ("ledger ledger.head corrections.head", false),
        ("CUT", false),
        ("CUT ledger.head", false),
        ("CUT corrections", true),
        ("CUT generation corrections.head", true),
    ] {
        let left = if is_lost { 0 } else { 3 };
        let what = if is_lost { LOSS } else { NO_LOSS };
        let place = start.copy();
        tear(&place, names);
        let judged = place.dbacl_reading("--mail-filter f", news());
        assert!(!judged.stdout.contains("X-DBACL: error"), "{names:?}");
        let said = correct(&place, 7);
        let first = format!("{DAMAGED}{}", if is_lost { "" } else { "it is made anew" });
        assert!(said.contains(&first) && said.contains(what), "{names:?}: {said}");
        assert_eq!((documents(&place), corrections(&place)), (61 + left, 1 + left), "{names:?}");
        verdict(&place, &news());
        is_tidy(&place);
        assert_eq!(correct(&place, 8), "");
        let learned = place.dbacl(LEARN).output();
        let applied = format!("{} corrections were applied\n", left + 2);
        assert!(learned.contains(&applied), "{names:?}: {learned}");

        // The folders are learned again at once.
        let place = start.copy();
        tear(&place, names);
        let output = place.dbacl(LEARN);
        let (learned, said) = (output.stdout, output.stderr);
        assert!(output.status == 0, "{names:?}: {said}");
        assert!(said.contains(DAMAGED) && said.contains(what), "{names:?}: {said}");
        assert_eq!(learned.contains("3 corrections were applied\n"), !is_lost, "{names:?}");
        assert_eq!(documents(&place), 60 + left, "{names:?}");
        is_tidy(&place);
    }
}

#[test]
fn files_full_of_zeros_are_damaged_as_well() {
    let start = corrected();
    for name in ["corrections", "corrections.head", "ledger.head"] {
        let place = start.copy();
        let file = format!("f/ledger.set/current/{name}");
        let length = place.read(&file).len();
        fs::remove_file(place.path(&file)).expect("removed");
        place.write(&file, vec![0; length]);
        assert!(correct(&place, 7).contains(NO_LOSS), "{name}");
        assert_eq!((documents(&place), corrections(&place)), (64, 4), "{name}");
    }
    // The end of a file of the right length is noticed when all of it is read.
    let place = start.copy();
    let mut bytes = place.read("f/ledger.set/current/corrections");
    let end = bytes.len() - 30;
    bytes[end..].fill(0);
    place.write("f/ledger.set/current/corrections", bytes);
    let output = place.dbacl(LEARN);
    assert!(output.stderr.contains(NO_LOSS), "{}", output.stderr);
    assert!(output.stdout.contains("3 corrections were applied\n"));
}

#[test]
fn damaged_corrections_of_a_full_fit_stop_learning_with_advice() {
    let place = corrected();
    place.dbacl(LEARN).output();
    place.write("f/ledger.set/current/corrections", "something else");
    let said = "f/ledger.set/current/corrections: not a dbacl ledger";
    place.dbacl(LEARN).complains(1, &format!("{said}|without this file --mail-learn goes on"));
    fs::remove_file(place.path("f/ledger.set/current/corrections")).expect("removed");
    place.dbacl(LEARN).says("60 messages");
}

#[test]
fn a_passing_fault_of_the_disk_is_no_power_failure() {
    if !has_tracer("set_files::a_passing_fault") {
        return;
    }
    let start = corrected();
    let args = "--mail-correct f ham";
    let mail = own(7);
    for number in 1..=calls(&start, "statx", args, &mail) {
        let place = start.copy();
        let fault = Fault { call: "statx", number, how: "error=EIO" };
        let output = faulty(&place, &fault, args, &mail);
        let expected = if output.status == 0 { (64, 4) } else { (63, 3) };
        let said = output.stderr;
        assert_eq!((documents(&place), corrections(&place)), expected, "{number}: {said}");
        assert!(output.status == 0 || !said.is_empty(), "{number}");
    }
}

#[test]
fn a_copy_without_links_is_in_service_and_can_be_changed() {
    let start = corrected();
    for learns_first in [false, true] {
        let place = start.copy();
        place.sh("mv f g; cp -rL g f; rm -r g").quiet(0);
        let current = place.path("f/ledger.set/current");
        assert!(fs::symlink_metadata(&current).expect("there").is_dir());
        verdict(&place, &news());
        if learns_first {
            place.dbacl(LEARN).says("3 corrections were applied\n");
        } else {
            assert_eq!(correct(&place, 7), "");
            assert_eq!((documents(&place), corrections(&place)), (64, 4));
        }
        for name in ["f/ledger.set/current", "f/ham", "f/ledger"] {
            assert!(place.path(name).is_symlink(), "{name}");
        }
        verdict(&place, &news());
        assert_eq!(correct(&place, 8), "");
        is_tidy(&place);
    }
    // Something else in place of the link is told with advice.
    start.sh("cd f/ledger.set; rm current; echo 4 >current").quiet(0);
    start.dbacl(LEARN).complains(1, "as cp -a does");
}

#[test]
fn an_older_folder_with_a_link_to_another_place_is_taken_over() {
    let place = older_filter();
    place.sh("mkdir disk; mv f/ham disk; ln -s ../disk/ham f/ham").quiet(0);
    let kept = place.read("disk/ham");
    verdict(&place, &news());
    assert_eq!(correct(&place, 7), "");
    assert_eq!(documents(&place), 61);
    let link = fs::read_link(place.path("f/ham")).expect("a link");
    assert_eq!(link, Path::new("ledger.set/current/category.ham"));
    assert!(place.read("disk/ham") == kept);
}

/// Runs a script in which `A` and `M` run a command as one of two users of the group 100, and
/// `alone` as the first without that group. Returns what it printed; `None` where the tests are not
/// run by the superuser.
pub fn as_users(place: &Scratch, name: &str, script: &str) -> Option<String> {
    let users = "
        A() { setpriv --reuid=1111 --regid=1111 --groups=100,1111 \"$@\"; }
        M() { setpriv --reuid=2222 --regid=2222 --groups=100,2222 \"$@\"; }
        alone() { setpriv --reuid=1111 --regid=1111 --groups=1111 \"$@\"; }
        chmod 755 .; chmod 644 *.mbox
        A dbacl -V >/dev/null 2>&1 || { echo SKIPPED; exit 0; }
        judges() { M dbacl --mail-filter \"$1\" <mail 2>/dev/null | grep '^X-DBACL: [hsu]'; }
        chmod 644 mail
        set -e\n";
    place.write("mail", news());
    let said = place.sh(&format!("{users}{script}")).output();
    if said == "SKIPPED\n" {
        skip(&format!("set_files::{name}"), "this user cannot become another one");
        return None;
    }
    Some(said)
}

#[test]
fn who_may_read_a_filter_still_may_after_each_change() {
    let place = filter();
    let script = "
        chmod 777 .
        A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet
        A cp -rL a older; rm -r older/ledger.set
        chgrp -R 100 a older; chmod -R g+rX a older
        A cp -a a inherits; find inherits -type d -exec chmod g+s {} +
        for filter in a older; do
            A dbacl --mail-correct $filter spam <mail; judges $filter
            A dbacl --mail-learn $filter ham=ham.mbox spam=spam.mbox --quiet; judges $filter
            stat -Lc %a:%g $filter/ledger.set $filter/ham
        done
        alone dbacl --mail-correct inherits spam <mail 2>&1; judges inherits
        cp -a a lost; chown -R 1111 lost
        alone dbacl --mail-correct lost ham <mail 2>&1";
    let Some(said) = as_users(&place, "who_may_read_a_filter_still_may", script) else { return };
    let lines: Vec<&str> = said.lines().collect();
    let modes = ["750:100", "640:100"];
    assert!(lines[..2].iter().all(|line| line.starts_with("X-DBACL: ")), "{said}");
    assert_eq!(lines[2..4], modes, "{said}");
    assert!(lines[4..6].iter().all(|line| line.starts_with("X-DBACL: ")), "{said}");
    assert_eq!(lines[6..8], modes, "{said}");
    assert!(lines[8].starts_with("X-DBACL: "), "{said}");
    assert!(lines[9].contains("cannot be given to the group"), "{said}");
    assert_eq!(lines.len(), 10, "{said}");
}

#[test]
fn all_members_of_a_group_can_correct_a_filter_that_they_share() {
    let place = filter();
    let script = "
        chmod 777 .
        for inherits in no yes; do
            rm -rf a
            A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet
            chgrp -R 100 a; chmod -R g+rwX a
            [ $inherits = no ] || find a -type d -exec chmod g+s {} +
            number=0
            for who in M A M A; do
                number=$((number + 1))
                (cat mail; echo own$number) >own
                $who dbacl --mail-correct a spam <own 2>/dev/null
                judges a
            done
            M dbacl --mail-learn a ham=ham.mbox spam=spam.mbox 2>/dev/null | grep corrections
            A dbacl --mail-correct a ham <own 2>/dev/null
            judges a
        done";
    let Some(said) = as_users(&place, "all_members_of_a_group_can_correct", script) else { return };
    let judged = said.lines().filter(|line| line.starts_with("X-DBACL: ")).count();
    let applied = said.lines().filter(|line| *line == "4 corrections were applied").count();
    assert_eq!((judged, applied), (10, 2), "{said}");
}

#[test]
fn what_the_superuser_changes_belongs_to_the_owner() {
    let place = filter();
    let script = "
        mkdir home; chown 1111:1111 home; chmod 700 home
        A cp ham.mbox spam.mbox mail home; cd home
        A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet
        A cp -rL a older; A rm -r older/ledger.set older/ledger.lock
        A mkdir new
        dbacl --mail-correct older spam <mail
        dbacl --mail-correct a spam <mail
        dbacl --mail-learn new ham=ham.mbox spam=spam.mbox --quiet
        find . ! -user 1111 -o ! -group 1111
        for filter in a older new; do
            (cat mail; echo more) | A dbacl --mail-correct $filter ham
            A dbacl --mail-filter $filter <mail | grep '^X-DBACL: [hsu]'
        done";
    let Some(said) = as_users(&place, "what_the_superuser_changes", script) else { return };
    let judged = said.lines().filter(|line| line.starts_with("X-DBACL: ")).count();
    assert_eq!((judged, said.lines().count()), (3, 3), "{said}");
}

#[test]
fn damaged_files_are_named_as_users_know_them_and_there_is_advice() {
    let start = filter();
    let anew = "order is damaged: learn the mail folders again with --mail-learn";
    let advice = "ledger.set from a copy, or learn the documents of the set again";
    for (name, expected) in
        [("ledger.head", "f/ledger.set/current/ledger.head: "), ("ledger", "f/ledger: ")]
    {
        for length in [0, 20] {
            for line in ["--mail-correct f spam", "--mail-forget f spam"] {
                let place = start.copy();
                place.sh(&format!("truncate -s {length} f/ledger.set/current/{name}")).quiet(0);
                let said = place.dbacl_reading(line, news()).stderr;
                assert!(said.contains(expected) && said.contains(advice), "{name} {line}: {said}");
            }
        }
    }
    for content in ["# dbacl mail filter\nham\nspa", "", "noise"] {
        for line in ["--mail-filter f", "--mail-correct f spam"] {
            let place = start.copy();
            place.write("f/ledger.set/current/order", content);
            let said = place.dbacl_reading(line, news()).stderr;
            assert!(said.starts_with(&format!("dbacl:error: f/{anew}\n")), "{line}: {said}");
        }
    }
    let place = start.copy();
    fs::remove_file(place.path("f/ledger.set/current/category.ham")).expect("there");
    let said = place.dbacl_reading("--mail-filter f", news()).stderr;
    has(&said, "could not load category ./f/ham");
    has(&said, advice);
    let place = start.copy();
    place.write("f/ledger.set/current/ledger.state", "noise");
    let said = place.dbacl_reading("--mail-correct f spam", news()).stderr;
    assert_eq!(said, "dbacl:warning: f/ledger.state did not fit its ledger and was made anew\n");
    assert_eq!(documents(&place), 61);
}
