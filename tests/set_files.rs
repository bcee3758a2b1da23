// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a set: whose they are, what of them a power failure leaves, what a copy of them is
//! good for, and what a set never touches.

use crate::mails::{dbacl, mail, program, spawn};
use crate::sets::{
    Fault, LEARN, calls, copy, documents, faulty, filter, has_tracer, leftovers, mode, news,
    older_filter, verdict,
};
use dbacl_testing::{command, finish, skip};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Runs a script in `folder` in which `dbacl` is the program.
pub fn shell(folder: &Path, script: &str) -> String {
    let mut shell = command("sh");
    let script = script.replace("dbacl ", &format!("\"{}\" ", program().display()));
    shell.args(["-c", &script]);
    finish(spawn(shell, folder, news().as_bytes())).output()
}

#[test]
fn a_folder_of_the_users_own_is_not_made_a_set() {
    let folder = filter();
    let path = folder.path();
    for (label, name) in [("ham", "train"), ("spam", "other")] {
        let mails = format!("{label}.mbox");
        dbacl(path, &["-T", "email", "-l", &format!("./{name}"), &mails], b"").output();
    }
    fs::create_dir_all(path.join("train.set/1")).expect("made");
    fs::write(path.join("train.set/1/essay"), "the only copy").expect("written");
    let refit = ["--refit", "--always", "-c", "./train=ham.mbox", "-c", "./other=spam.mbox"];
    for _ in 0..2 {
        let said = dbacl(path, &refit, b"").complaint(1);
        assert!(said.contains("the folder ./train.set is already used for something"), "{said}");
        assert_eq!(fs::read(path.join("train.set/1/essay")).expect("kept"), b"the only copy");
    }
    fs::rename(path.join("train.set"), path.join("essays")).expect("renamed");
    dbacl(path, &refit, b"").output();
}

#[test]
fn a_category_named_like_an_ordinary_file_is_refused() {
    let folder = filter();
    let path = folder.path();
    for (label, name) in [("ham", "x"), ("spam", "x.ordinary")] {
        let mails = format!("{label}.mbox");
        dbacl(path, &["-T", "email", "-l", &format!("./{name}"), &mails], b"").output();
    }
    let before = fs::read(path.join("x.ordinary")).expect("there");
    let refit = ["--refit", "--always", "-c", "./x=ham.mbox", "-c", "./x.ordinary=spam.mbox"];
    let said = dbacl(path, &refit, b"").complaint(1);
    assert!(said.contains("./x and ./x.ordinary cannot be in one set"), "{said}");
    assert!(fs::read(path.join("x.ordinary")).expect("there") == before);
    assert!(!path.join("x.set").exists());
}

#[test]
fn labels_that_are_too_long_are_refused() {
    let folder = filter();
    let path = folder.path();
    let long = "a".repeat(201);
    let args = [format!("{long}=ham.mbox"), "spam=spam.mbox".into()];
    let args = ["--mail-learn", "g", &args[0], &args[1]];
    let refused = dbacl(path, &args, b"").complaint(1);
    assert!(refused.contains("has 1 to 200 letters"), "{refused}");
    assert!(!path.join("g").exists());
}

#[test]
fn locks_have_their_mode_whatever_the_umask() {
    let folder = filter();
    let path = folder.path();
    for (umask, of_folder, expected) in
        [("022", 0o755, 0o600), ("277", 0o755, 0o600), ("777", 0o700, 0o600), ("002", 0o775, 0o640)]
    {
        let script = format!(
            "rm -rf g; mkdir g; chmod {of_folder:o} g; umask {umask}
             dbacl --mail-learn g ham=ham.mbox spam=spam.mbox && dbacl --mail-correct g spam"
        );
        shell(path, &script);
        assert_eq!(mode(path.join("g/ledger.lock")), expected, "{umask} {of_folder:o}");
    }
    assert_eq!(documents(path), 60);
    let said = dbacl(path, &LEARN, mail("ham", 1)).output();
    assert!(said.contains("60 messages"), "{said}");
}

/// Corrections that the filter keeps.
fn corrections(folder: &Path) -> u32 {
    let head = fs::read(folder.join("f/ledger.set/current/corrections.head")).expect("a head");
    u32::from_le_bytes(head[33..37].try_into().expect("four bytes"))
}

/// A message that no other test mail is like.
fn own(number: usize) -> String {
    mail("ham", number) + &format!("with an own word{number}\n")
}

/// A filter of 60 messages that has learned three more, singly.
fn corrected() -> tempfile::TempDir {
    let folder = filter();
    for number in 0..3 {
        correct(folder.path(), number).quiet();
    }
    assert_eq!((documents(folder.path()), corrections(folder.path())), (63, 3));
    folder
}

/// What a correction said.
struct Said(String);

impl Said {
    #[track_caller]
    fn quiet(&self) {
        assert_eq!(self.0, "");
    }

    #[track_caller]
    fn has(&self, wanted: &str) {
        assert!(self.0.contains(wanted), "{wanted}: {}", self.0);
    }
}

#[track_caller]
fn correct(folder: &Path, number: usize) -> Said {
    let output = dbacl(folder, &["--mail-correct", "f", "ham"], own(number));
    assert!(output.status == 0, "{}", output.stderr);
    Said(output.stderr)
}

/// In place of a name: the ledger, which the generations share, is as long as after the last full
/// fit.
const CUT: &str = "ledger, cut";

/// Leaves files of the current generation empty, as a power failure can.
fn tear(folder: &Path, names: &[&str]) {
    let current = folder.join("f/ledger.set/current");
    let (cut, names): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| **name == CUT);
    if !cut.is_empty() {
        let list = fs::read_to_string(folder.join("f/ledger.set/1/generation")).expect("a list");
        let line = list.lines().find(|line| line.ends_with(" ledger")).expect("the ledger's line");
        let length = line.split(' ').next().expect("a length").parse().expect("a number");
        let ledger = fs::OpenOptions::new().write(true).open(current.join("ledger"));
        ledger.expect("opened").set_len(length).expect("cut");
    }
    let mut torn: Vec<PathBuf> = names.iter().map(|name| current.join(name)).collect();
    if cut.is_empty() && names.is_empty() {
        // All files that are new in this generation.
        let entries = fs::read_dir(&current).expect("there").map(|entry| entry.expect("one"));
        let new = entries.filter(|entry| entry.metadata().expect("there").nlink() == 1);
        torn.extend(new.map(|entry| entry.path()));
    }
    for path in torn {
        fs::remove_file(&path).expect("removed");
        fs::write(&path, "").expect("written");
    }
}

const DAMAGED: &str = "f/ledger.set was damaged, as by a power failure: ";
const NO_LOSS: &str = "no document is lost";
const LOSS: &str = "what was learned since the last fit of all documents is lost";

#[test]
fn a_power_failure_loses_only_what_is_nowhere_else() {
    let start = corrected();
    for (names, is_lost) in [
        (&["corrections"][..], false),
        (&["corrections.head"], false),
        (&["corrections", "corrections.head"], false),
        (&["ledger.head"], false),
        (&["ledger"], false),
        (&["ledger", "ledger.head"], false),
        (&["category.ham"], false),
        (&["category.ham", "category.spam"], false),
        (&["category.ham.ordinary"], false),
        (&["generation"], false),
        (&["generation", "ledger.head"], false),
        (&[], false),
        (&["ledger", "corrections"], false),
        (&["ledger", "ledger.head", "corrections.head"], false),
        (&[CUT], false),
        (&[CUT, "ledger.head"], false),
        (&[CUT, "corrections"], true),
        (&[CUT, "generation", "corrections.head"], true),
    ] {
        let left = if is_lost { 0 } else { 3 };
        let what = if is_lost { LOSS } else { NO_LOSS };
        let folder = copy(start.path());
        let path = folder.path();
        tear(path, names);
        let judged = dbacl(path, &["--mail-filter", "f"], news());
        assert!(!judged.stdout.contains("X-DBACL: error"), "{names:?}");
        let said = correct(path, 7);
        said.has(&format!("{DAMAGED}{}", if is_lost { "" } else { "it is made anew" }));
        said.has(what);
        assert_eq!((documents(path), corrections(path)), (61 + left, 1 + left), "{names:?}");
        verdict(path, &news());
        assert_eq!(leftovers(path), Vec::<String>::new());
        correct(path, 8).quiet();
        let learned = dbacl(path, &LEARN, b"").output();
        let applied = format!("{} corrections were applied\n", left + 2);
        assert!(learned.contains(&applied), "{names:?}: {learned}");

        // The folders are learned again at once.
        let folder = copy(start.path());
        let path = folder.path();
        tear(path, names);
        let output = dbacl(path, &LEARN, b"");
        let (learned, said) = (output.stdout, output.stderr);
        assert!(output.status == 0, "{names:?}: {said}");
        assert!(said.contains(DAMAGED) && said.contains(what), "{names:?}: {said}");
        assert_eq!(learned.contains("3 corrections were applied\n"), !is_lost, "{names:?}");
        assert_eq!(documents(path), 60 + left, "{names:?}");
        assert_eq!(leftovers(path), Vec::<String>::new());
    }
}

#[test]
fn files_full_of_zeros_are_damaged_as_well() {
    let start = corrected();
    for name in ["corrections", "corrections.head", "ledger.head"] {
        let folder = copy(start.path());
        let file = folder.path().join("f/ledger.set/current").join(name);
        let length = fs::read(&file).expect("there").len();
        fs::remove_file(&file).expect("removed");
        fs::write(&file, vec![0; length]).expect("written");
        correct(folder.path(), 7).has(NO_LOSS);
        assert_eq!((documents(folder.path()), corrections(folder.path())), (64, 4), "{name}");
    }
    // The end of a file of the right length is noticed when all of it is read.
    let folder = copy(start.path());
    let file = folder.path().join("f/ledger.set/current/corrections");
    let mut bytes = fs::read(&file).expect("there");
    let end = bytes.len() - 30;
    bytes[end..].fill(0);
    fs::write(&file, bytes).expect("written");
    let output = dbacl(folder.path(), &LEARN, b"");
    assert!(output.stderr.contains(NO_LOSS), "{}", output.stderr);
    assert!(output.stdout.contains("3 corrections were applied\n"));
}

#[test]
fn damaged_corrections_of_a_full_fit_stop_learning_with_advice() {
    let folder = corrected();
    let path = folder.path();
    dbacl(path, &LEARN, b"").output();
    let file = path.join("f/ledger.set/current/corrections");
    fs::write(&file, "something else").expect("written");
    let output = dbacl(path, &LEARN, b"");
    assert_eq!(output.status, 1);
    let said = output.stderr;
    assert!(said.contains("f/ledger.set/current/corrections: not a dbacl ledger"), "{said}");
    assert!(said.contains("without this file --mail-learn goes on"), "{said}");
    fs::remove_file(&file).expect("removed");
    let said = dbacl(path, &LEARN, b"").output();
    assert!(said.contains("60 messages"), "{said}");
}

#[test]
fn a_passing_fault_of_the_disk_is_no_power_failure() {
    if !has_tracer() {
        return skip("set_files::a_passing_fault", "there is no strace");
    }
    let start = corrected();
    let args = ["--mail-correct", "f", "ham"];
    let mail = own(7);
    let number = calls(start.path(), "statx", &args, mail.as_bytes());
    for number in 1..=number {
        let folder = copy(start.path());
        let path = folder.path();
        let fault = Fault { call: "statx", number, how: "error=EIO" };
        let output = faulty(path, &fault, &args, mail.as_bytes());
        let expected = if output.status == 0 { (64, 4) } else { (63, 3) };
        let said = output.stderr;
        assert_eq!((documents(path), corrections(path)), expected, "{number}: {said}");
        assert!(output.status == 0 || !said.is_empty(), "{number}");
    }
}

#[test]
fn a_copy_without_links_is_in_service_and_can_be_changed() {
    let start = corrected();
    for learns_first in [false, true] {
        let folder = copy(start.path());
        let path = folder.path();
        shell(path, "mv f g; cp -rL g f; rm -r g");
        let current = path.join("f/ledger.set/current");
        assert!(fs::symlink_metadata(&current).expect("there").is_dir());
        verdict(path, &news());
        if learns_first {
            let said = dbacl(path, &LEARN, b"").output();
            assert!(said.contains("3 corrections were applied\n"), "{said}");
        } else {
            correct(path, 7).quiet();
            assert_eq!((documents(path), corrections(path)), (64, 4));
        }
        for name in ["f/ledger.set/current", "f/ham", "f/ledger"] {
            assert!(path.join(name).is_symlink(), "{name}");
        }
        verdict(path, &news());
        correct(path, 8).quiet();
        assert_eq!(leftovers(path), Vec::<String>::new());
    }
    // Something else in place of the link is told with advice.
    let current = start.path().join("f/ledger.set/current");
    fs::remove_file(&current).expect("removed");
    fs::write(&current, "4").expect("written");
    let output = dbacl(start.path(), &LEARN, b"").complaint(1);
    assert!(output.contains("as cp -a does"), "{output}");
}

#[test]
fn an_older_folder_with_a_link_to_another_place_is_taken_over() {
    let folder = older_filter();
    let path = folder.path();
    shell(path, "mkdir disk; mv f/ham disk; ln -s ../disk/ham f/ham");
    let kept = fs::read(path.join("disk/ham")).expect("there");
    verdict(path, &news());
    correct(path, 7).quiet();
    assert_eq!(documents(path), 61);
    let link = fs::read_link(path.join("f/ham")).expect("a link");
    assert_eq!(link, Path::new("ledger.set/current/category.ham"));
    assert!(fs::read(path.join("disk/ham")).expect("there") == kept);
}

/// Runs a script in which `A` and `M` run a command as one of two users of the group 100, and
/// `alone` as the first without that group. Returns what it printed; `None` where the tests are not
/// run by the superuser.
pub fn as_users(folder: &Path, name: &str, script: &str) -> Option<String> {
    let users = "
        A() { setpriv --reuid=1111 --regid=1111 --groups=100,1111 \"$@\"; }
        M() { setpriv --reuid=2222 --regid=2222 --groups=100,2222 \"$@\"; }
        alone() { setpriv --reuid=1111 --regid=1111 --groups=1111 \"$@\"; }
        chmod 755 .; chmod 644 *.mbox
        A dbacl -V >/dev/null 2>&1 || { echo SKIPPED; exit 0; }
        judges() { M dbacl --mail-filter \"$1\" <mail 2>/dev/null | grep '^X-DBACL: [hsu]'; }
        cat >mail; chmod 644 mail
        set -e\n";
    let said = shell(folder, &format!("{users}{script}"));
    if said == "SKIPPED\n" {
        skip(&format!("set_files::{name}"), "this user cannot become another one");
        return None;
    }
    Some(said)
}

#[test]
fn who_may_read_a_filter_still_may_after_each_change() {
    let folder = filter();
    let path = folder.path();
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
    let name = "who_may_read_a_filter_still_may";
    let Some(said) = as_users(path, name, script) else { return };
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
    let folder = filter();
    let path = folder.path();
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
    let name = "all_members_of_a_group_can_correct";
    let Some(said) = as_users(path, name, script) else { return };
    let judged = said.lines().filter(|line| line.starts_with("X-DBACL: ")).count();
    let applied = said.lines().filter(|line| *line == "4 corrections were applied").count();
    assert_eq!((judged, applied), (10, 2), "{said}");
}

#[test]
fn what_the_superuser_changes_belongs_to_the_owner() {
    let folder = filter();
    let path = folder.path();
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
    let name = "what_the_superuser_changes";
    let Some(said) = as_users(path, name, script) else { return };
    let judged = said.lines().filter(|line| line.starts_with("X-DBACL: ")).count();
    assert_eq!((judged, said.lines().count()), (3, 3), "{said}");
}

#[test]
fn damaged_files_are_named_as_users_know_them_and_there_is_advice() {
    let start = filter();
    let anew = "order is damaged: learn the mail folders again with --mail-learn";
    let advice = "ledger.set from a copy, or learn the documents of the set again";
    let update = "--update spam --keep f/ledger -c f/ham -c f/spam";
    for (name, expected) in
        [("ledger.head", "f/ledger.set/current/ledger.head: "), ("ledger", "f/ledger: ")]
    {
        for length in [0, 20] {
            for line in ["--mail-correct f spam", update, "-l f/ham --keep f/ledger ham.mbox"] {
                let folder = copy(start.path());
                let path = folder.path();
                let file = path.join("f/ledger.set/current").join(name);
                fs::OpenOptions::new()
                    .write(true)
                    .open(file)
                    .expect("there")
                    .set_len(length)
                    .expect("cut");
                let args: Vec<&str> = line.split(' ').collect();
                let said = dbacl(path, &args, news()).stderr;
                assert!(said.contains(expected) && said.contains(advice), "{name} {line}: {said}");
            }
        }
    }
    for content in ["# dbacl mail filter\nham\nspa", "", "noise"] {
        for line in ["--mail-filter f", "--mail-correct f spam"] {
            let folder = copy(start.path());
            fs::write(folder.path().join("f/ledger.set/current/order"), content).expect("written");
            let args: Vec<&str> = line.split(' ').collect();
            let said = dbacl(folder.path(), &args, news()).stderr;
            assert!(said.starts_with(&format!("dbacl:error: f/{anew}\n")), "{line}: {said}");
        }
    }
    let folder = copy(start.path());
    let path = folder.path();
    fs::remove_file(path.join("f/ledger.set/current/category.ham")).expect("there");
    let said = dbacl(path, &["--mail-filter", "f"], news()).stderr;
    assert!(said.contains(advice) && said.contains("could not load category ./f/ham"), "{said}");
    let folder = copy(start.path());
    let path = folder.path();
    fs::write(path.join("f/ledger.set/current/ledger.state"), "noise").expect("written");
    let said = dbacl(path, &["--mail-correct", "f", "spam"], news()).stderr;
    assert_eq!(said, "dbacl:warning: ./f/ledger.state did not fit its ledger and was made anew\n");
    assert_eq!(documents(path), 61);
}
