// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a filter: whose they are, what a copy of them is good for, and what a filter never
//! touches.

use crate::mails::mail;
use crate::sets::{Fault, LEARN, calls, documents, faulty, filter, mode, news, verdict};
use dbacl_testing::{Scratch, has_tracer, skip};

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
        assert_eq!(mode(place.path("g/lock")), expected, "{umask} {of_folder:o}");
    }
    assert_eq!(documents(&place), 60);
    place.dbacl_reading(LEARN, mail("ham", 1)).says("60 messages");
}

/// A filter of 60 messages that has learned three more, singly.
fn corrected() -> Scratch {
    let place = filter();
    for number in 0..3 {
        place.dbacl_reading("--mail-correct f ham", own(number)).output();
    }
    assert_eq!(documents(&place), 63);
    place
}

/// A message that no other test mail is like.
fn own(number: usize) -> String {
    mail("ham", number) + &format!("with an own word{number}\n")
}

#[test]
fn a_lost_table_or_journal_loses_only_what_is_nowhere_else() {
    let start = corrected();
    for (lost, left) in [
        ("table", 63),
        ("table table.before", 63),
        ("journal", 60),
        ("table.before", 63),
        ("lock", 63),
        ("table journal", 60),
    ] {
        // A power failure leaves files empty.
        let place = start.copy();
        let empties = format!("cd f; for name in {lost}; do [ ! -e $name ] || : >$name; done");
        place.sh(&empties).quiet(0);
        let done = place.dbacl_reading("--mail-correct f ham", own(7));
        assert_eq!(done.status, 0, "{lost}: {}", done.stderr);
        let says = done.stderr.contains("was damaged, as by a power failure: it is made anew");
        assert_eq!(says, lost.split(' ').any(|name| name == "table"), "{lost}: {}", done.stderr);
        assert_eq!(documents(&place), left + 1, "{lost}");
        verdict(&place, &news());
        place.dbacl("--check f").says("no damage found");
        // The folders are learned again at once.
        let place = start.copy();
        place.sh(&empties).quiet(0);
        let learned = place.dbacl(LEARN);
        assert_eq!(learned.status, 0, "{lost}: {}", learned.stderr);
        assert_eq!(documents(&place), left, "{lost}");
    }
}

#[test]
fn a_passing_fault_of_the_disk_is_no_power_failure() {
    if !has_tracer("set_files::a_passing_fault") {
        return;
    }
    let start = corrected();
    let args = "--mail-correct f ham";
    let mail = own(7);
    for call in ["statx", "pread64", "openat"] {
        for number in 1..=calls(&start, call, args, &mail) {
            let place = start.copy();
            let output = faulty(&place, &Fault { call, number, how: "error=EIO" }, args, &mail);
            let expected = if output.status == 0 { 64 } else { 63 };
            let said = output.stderr;
            assert_eq!(documents(&place), expected, "{call} {number}: {said}");
            assert!(output.status == 0 || !said.is_empty(), "{call} {number}");
        }
    }
}

#[test]
fn something_else_in_the_place_of_a_file_is_never_replaced() {
    for name in ["table", "journal", "lock"] {
        let place = crate::sets::mailboxes();
        place.write(&format!("f/{name}"), "somebody else's");
        let done = place.dbacl(LEARN);
        assert!(done.status != 0 && done.stderr.contains(name), "{name}: {}", done.stderr);
        assert_eq!(place.text(&format!("f/{name}")), "somebody else's");
    }
}

/// Runs a script in which `A` and `M` run a command as one of two users of the group 100, and
/// `alone` as the first without that group. Returns what it printed; `None` where the tests are not
/// run by the superuser.
pub(crate) fn as_users(place: &Scratch, name: &str, script: &str) -> Option<String> {
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
        chgrp -R 100 a; chmod -R g+rX a
        A dbacl --mail-correct a spam <mail; judges a
        A dbacl --mail-learn a ham=ham.mbox spam=spam.mbox --quiet; judges a
        stat -Lc %a:%g a a/table a/journal";
    let Some(said) = as_users(&place, "who_may_read_a_filter_still_may", script) else { return };
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[..2].iter().all(|line| line.starts_with("X-DBACL: ")), "{said}");
    assert_eq!(lines[2..], ["750:100", "640:100", "640:100"], "{said}");
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
        A mkdir new
        dbacl --mail-correct a spam <mail
        dbacl --mail-learn new ham=ham.mbox spam=spam.mbox --quiet
        find . ! -user 1111
        for filter in a new; do
            (cat mail; echo more) | A dbacl --mail-correct $filter ham
            A dbacl --mail-filter $filter <mail | grep '^X-DBACL: [hsu]'
        done";
    let Some(said) = as_users(&place, "what_the_superuser_changes", script) else { return };
    let judged = said.lines().filter(|line| line.starts_with("X-DBACL: ")).count();
    assert_eq!((judged, said.lines().count()), (2, 2), "{said}");
}
