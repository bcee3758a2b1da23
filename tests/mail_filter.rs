// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitted sets on disk, changed through the library: the program does the same, to the byte.

use crate::folders::contents_of as contents;
use crate::mails::mail;
use crate::sets::filter;
use dbacl::{ChangeReport, MailFilter, MailFilterError, MailFilterOptions, Outcome};
use dbacl_testing::{Scratch, has};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

fn open(filter: &Path) -> MailFilter {
    MailFilter::open(filter, &MailFilterOptions::default()).expect("a filter")
}

#[track_caller]
fn outcomes(report: &ChangeReport) -> Vec<Outcome> {
    assert_eq!(report.warnings, []);
    report.documents.iter().map(|document| document.outcome.clone()).collect()
}

fn moved(from: &str) -> Outcome {
    Outcome::Moved { from: from.into() }
}

#[test]
fn the_library_changes_a_set_as_the_program_does() {
    let start = filter();
    let (new, known) = (mail("spam", 99) + "unheard of\n", mail("ham", 3));
    for (job, label, mail, expected) in [
        ("--mail-correct f spam", "spam", &new, Outcome::Learned),
        ("--mail-correct f ham", "ham", &known, Outcome::Known),
        ("--mail-correct f spam", "spam", &known, moved("ham")),
        ("--mail-forget f ham", "ham", &known, Outcome::Forgotten { from: "ham".into() }),
    ] {
        let case = format!("{job} {expected}");
        let (by_program, by_library) = (start.copy(), start.copy());
        by_program.dbacl_reading(job, mail).output();
        let mut set = open(&by_library.path("f"));
        let report = if job.contains("forget") {
            set.forget(label, mail.as_bytes())
        } else {
            set.correct(label, mail.as_bytes())
        };
        let report = report.expect("it is changed");
        assert_eq!(outcomes(&report), [expected], "{case}");
        assert_eq!(report.documents[0].id, set.id(mail.as_bytes()));
        assert_eq!(report.is_changed, report.documents[0].outcome != Outcome::Known, "{case}");
        let [expected, found] = [by_program, by_library].map(|place| contents(&place.path("f")));
        assert!(found == expected, "{case}");
    }
}

#[test]
fn a_mail_that_is_there_several_times_is_corrected_without_fitting_all() {
    let place = filter();
    let twice = b"From: s@example.org\nSubject: seen twice\n\nan offer that came twice\n";
    let mut set = open(&place.path("f"));
    set.learn_all("spam", [&twice[..], &twice[..]]).unwrap();
    let documents = set.documents();
    let report = set.correct("ham", twice).unwrap();
    assert_eq!(outcomes(&report), [moved("spam")]);
    assert!(report.is_changed && !report.is_refitted);
    let id = set.id(twice).unwrap();
    assert_eq!((set.labels_of(id).unwrap(), set.documents()), (vec!["ham".to_owned()], documents));
    assert!(!set.correct("ham", twice).unwrap().is_changed);
    // Back again.
    assert!(!set.correct("spam", twice).unwrap().is_refitted);
    assert_eq!((set.labels_of(id).unwrap(), set.documents()), (vec!["spam".to_owned()], documents));
    // It is forgotten twice, and then there is nothing more to forget.
    for _ in 0..2 {
        assert!(set.forget("spam", twice).unwrap().is_changed);
    }
    assert_eq!(set.documents(), documents - 2);
    assert!(set.labels_of(id).unwrap().is_empty());
}

#[test]
fn mail_folders_of_all_kinds_make_the_same_filter() {
    use dbacl::{MailFolder, MailLearnOptions};
    let place = filter();
    let by_program = place.path("f");
    for label in ["ham", "spam"] {
        for number in 0..30 {
            let mail = mail(label, number);
            let half = if number < 15 { "1" } else { "2" };
            place.write(&format!("{label}.mh/{}", 100 + number), &mail);
            place.write(&format!("{label}.parent/{half}/cur/{number:02}:2,S"), &mail);
            place.write(&format!("{label}.glob.{half}/{number:02}"), &mail);
        }
        place.sh(&format!("mkdir {label}.parent/1/new {label}.parent/2/new")).quiet(0);
        place.write(&format!("{label}.mh/.mh_sequences"), "unseen: 1-30");
        place.write(&format!("{label}.mh/,99"), place.read("spam.mbox"));
    }
    // Single files are read without the lines between messages of an mbox file: ledgers are
    // compared.
    let ledger = |folder: &Path| {
        let files = contents(folder).into_iter().filter(|(name, _)| name.starts_with("ledger"));
        files.collect::<Vec<_>>()
    };
    for kind in ["mbox", "mh", "parent"] {
        let folders = ["spam", "ham"]
            .map(|label| MailFolder::new(label, place.path(&format!("{label}.{kind}"))));
        let folder = place.path(&format!("of-{kind}"));
        let options = MailLearnOptions::default();
        let learned = MailFilter::learn_folders(&folder, &folders, &options).expect("learned");
        assert_eq!((learned.0.documents(), &learned.1.documents[..]), (60, &[30, 30][..]));
        assert_eq!(learned.1.labels, ["ham", "spam"]);
        assert!(learned.1.verdicts.judged == 60 && learned.1.warnings.is_empty());
        if kind == "mbox" {
            assert!(contents(&folder) == contents(&by_program), "as the program");
        }
        assert!(ledger(&folder) == ledger(&by_program), "{kind}");
    }
    let globs = "ham=ham.glob.* spam=spam.glob.[12]";
    place.dbacl(&format!("--quiet --mail-learn of-glob {globs}")).output();
    assert!(ledger(&place.path("of-glob")) == ledger(&by_program));
}

#[test]
fn corrections_are_told_apart_and_doing_them_twice_changes_nothing() {
    let place = filter();
    let mut set = open(&place.path("f"));
    assert_eq!((set.labels(), set.documents()), (&["ham".to_owned(), "spam".to_owned()][..], 60));
    let odd = mail("spam", 99) + "unheard of\n";
    let before = set.classify(odd.as_bytes()).expect("files");
    let first = set.correct("ham", odd.as_bytes()).expect("learned");
    assert_eq!(outcomes(&first), [Outcome::Learned]);
    assert_ne!(set.classify(odd.as_bytes()).expect("files"), before);
    assert_eq!(set.documents(), 61);
    let id = first.documents[0].id.expect("features");
    assert_eq!(set.labels_of(id).expect("a ledger"), ["ham"]);
    let again = set.correct("ham", odd.as_bytes()).expect("known");
    assert_eq!(outcomes(&again), [Outcome::Known]);
    assert!(!again.is_changed);
    // The second of two equal messages in it counts as
    // known.
    let batch = [odd.as_bytes(), b"\n", odd.as_bytes(), b"Subject: other news\n\nof today\n"];
    let moved_all = set.correct_all("spam", batch).expect("moved");
    let expected = [moved("ham"), Outcome::Empty, Outcome::Known, Outcome::Learned];
    assert_eq!(outcomes(&moved_all), expected);
    assert_eq!(moved_all.documents[1].id, None);
    assert_eq!(set.labels_of(id).expect("a ledger"), ["spam"]);
    let gone = set.forget_id(id).expect("forgotten");
    assert_eq!(outcomes(&gone), [Outcome::Forgotten { from: "spam".into() }]);
    assert!(gone.is_refitted);
    assert!(set.labels_of(id).expect("a ledger").is_empty());
    let nothing = set.forget("spam", odd.as_bytes()).expect("nothing to do");
    assert_eq!((outcomes(&nothing), nothing.is_changed), (vec![Outcome::NotKnown], false));
}

#[test]
fn an_open_set_stays_what_it_was_until_it_is_asked_to_reload() {
    let place = filter();
    let path = place.path("f");
    let mut set = open(&path);
    let odd = "Subject: agenda\n\nunheard of\n".as_bytes();
    let before = set.classify(odd).expect("files");
    assert!(!set.reload_if_changed().expect("a set"));
    place.dbacl_reading("--mail-correct f spam", odd).output();
    assert_eq!(set.classify(odd).expect("files"), before);
    assert!(set.reload_if_changed().expect("a set"));
    assert!(!set.reload_if_changed().expect("a set"));
    assert_ne!(set.classify(odd).expect("files"), before);
    // A change through a set that was opened earlier starts from what others have changed since.
    let mut late = open(&path);
    assert_eq!(outcomes(&set.correct("spam", odd).expect("known")), [Outcome::Known]);
    place.dbacl_reading("--mail-correct f ham", odd).output();
    assert_eq!(outcomes(&late.correct("spam", odd).expect("moved")), [moved("ham")]);
    // The filter's folder is removed, and a filter with other labels is made in its place.
    fs::remove_dir_all(&path).expect("removed");
    place.dbacl("--mail-learn f good=ham.mbox junk=spam.mbox").output();
    assert!(set.reload_if_changed().expect("a set"));
    assert_eq!(set.labels(), ["good", "junk"]);
}

#[test]
fn changes_that_cannot_be_made_change_nothing() {
    let place = filter();
    let path = place.path("f");
    let before = contents(&path);
    let missing = MailFilter::open(&place.path("no"), &MailFilterOptions::default());
    assert!(matches!(missing, Err(MailFilterError::Open(_))), "{missing:?}");
    let stop = Arc::new(AtomicBool::new(true));
    let options = MailFilterOptions::default().stop(stop);
    let mut set = MailFilter::open(&path, &options).expect("a filter");
    let stopped = set.learn("spam", b"Subject: x\n\nnew words\n").expect_err("it is to stop");
    assert!(matches!(stopped, MailFilterError::Stopped), "{stopped}");
    let stop = Arc::new(AtomicBool::new(false));
    let options = MailFilterOptions::default().stop(Arc::clone(&stop));
    let mut set = MailFilter::open(&path, &options).expect("a filter");
    let document: &[u8] = b"Subject: x\n\nnew words\n";
    let read_until_stopped = [document].into_iter().inspect(|_| stop.store(true, Relaxed));
    let stopped = set.correct_all("spam", read_until_stopped).expect_err("stopped while reading");
    assert!(matches!(stopped, MailFilterError::Stopped), "{stopped}");
    let lock = fs::File::create(path.join("lock")).expect("a lock");
    lock.lock().expect("free");
    let options = MailFilterOptions::default().lock_timeout(Duration::from_millis(30));
    let mut set = MailFilter::open(&path, &options).expect("a filter");
    let held = set.learn("spam", b"Subject: x\n\nnew words\n").expect_err("the lock is held");
    let text = held.to_string();
    has(&text, "f is being changed by process");
    drop(lock);
    let unknown = set.correct("other", b"Subject: x\n\nnew words\n").expect_err("no such label");
    let folder = path.display();
    assert_eq!(
        unknown.to_string(),
        format!("the filter in {folder} has ham and spam, but no other")
    );
    assert!(contents(&path) == before);
}

#[test]
fn a_damaged_filter_is_made_again_by_the_next_lesson() {
    let whole = filter();
    let options = MailFilterOptions::default();
    let table = whole.read("f/table");
    for (case, damage) in [
        ("empty", Vec::new()),
        ("cut", table[..table.len() / 2].to_vec()),
        ("another head", [&table[..40], b"xxxx", &table[44..]].concat()),
        ("zeros", vec![0; table.len()]),
        ("one block", [&table[..5000], b"xxxx", &table[5004..]].concat()),
    ] {
        let copied = whole.copy();
        let path = copied.path("f");
        copied.dbacl_reading("--mail-correct f ham", mail("ham", 80)).output();
        fs::write(path.join("table"), damage).expect("written");
        let mut set = MailFilter::open_to_change(&path, &options)
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        let said = set.warnings();
        let report = set.correct("spam", mail("spam", 81)).expect("learned");
        let said = [said, report.warnings].concat();
        assert!(said.iter().any(|it| it.0.contains("no document is lost")), "{case}: {said:?}");
        assert_eq!(set.documents(), 62, "{case}");
        let verdict = set.classify(mail("spam", 7)).expect("a verdict");
        assert_eq!(verdict.category, "spam", "{case}");
        copied.dbacl("--check f").says("no damage found");
    }
    let error = MailFilter::open_to_change(&whole.path("nothing"), &options).err();
    assert!(matches!(error, Some(MailFilterError::Open(_))), "{error:?}");
}

#[test]
fn a_message_that_begins_with_a_blank_and_its_marked_copy_are_one() {
    let place = filter();
    let mut set = open(&place.path("f"));
    for message in [" folded\nSubject: b\n\nc d\n", "From a@b\n\tfolded\nSubject: b\n\nc d\n"] {
        let marked = set.filter(message.as_bytes());
        assert!(marked.windows(16).any(|part| part == b"X-DBACL-Folded:\n"));
        assert!(set.id(message.as_bytes()).is_some());
        assert_eq!(set.id(&marked), set.id(message.as_bytes()), "{message}");
        set.correct("spam", message.as_bytes()).expect("learned");
        let again = set.correct("spam", set.filter(message.as_bytes())).expect("known");
        assert_eq!(outcomes(&again), [Outcome::Known], "{message}");
    }
}

#[test]
fn debug_forms_tell_what_was_learned_and_leave_the_rest_out() {
    let place = filter();
    let path = place.path("f");
    let set = format!("{:?}", open(&path)).replace(path.to_str().expect("UTF-8"), "PATH");
    assert_eq!(
        set,
        "MailFilter { folder: \"PATH\", labels: [\"ham\", \"spam\"], documents: 60, .. }"
    );
}

#[test]
fn only_verdicts_in_the_header_are_left_out_when_mail_is_learned_and_corrected() {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
        for number in 0..5 {
            place.write(&format!("{label}/{number}"), mail(label, number));
        }
    }
    let quoted =
        "Subject: your filter\n\nIt told me:\nX-DBACL: spam 99.90%\n folded words\n\nWhy?\n";
    let forwarded = "Subject: a forwarded mail\nContent-Type: message/rfc822\n\n\
                     X-DBACL: spam 99.90%\n folded words\nSubject: pills\n\nbuy these\n";
    let blank = "Subject: a blank\nX-DBACL : spam forged\n more of it\nTo: me\n\ntext\n";
    let mails = [quoted, forwarded, blank];
    for (name, mail) in ["quoted", "forwarded", "blank"].into_iter().zip(mails) {
        place.write(&format!("ham/{name}"), mail);
    }
    place.write("more/1", "Subject: more\n\nmore of all\n");
    for more in ["", " more=more"] {
        place.dbacl(&format!("--mail-learn filter ham=ham spam=spam{more}")).output();
        let mut set = open(&place.path("filter"));
        for mail in mails {
            let judged = format!("X-DBACL: unsure 50.00%\nX-DBACL-Reasons: a +1\n b -1\n{mail}");
            for mail in [mail, &judged] {
                let report = set.correct("ham", mail.as_bytes()).expect("corrected");
                assert_eq!(outcomes(&report), [Outcome::Known], "{more}: {mail}");
            }
        }
        // The text of the body counts.
        let without = quoted.replace("X-DBACL: spam 99.90%\n folded words\n", "");
        assert_ne!(set.id(quoted.as_bytes()), set.id(without.as_bytes()));
    }
}
