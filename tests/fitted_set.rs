// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitted sets on disk, changed through the library: the program does the same, to the byte.

use crate::folders::files_of;
use crate::mails::mail;
use crate::refit::nameless;
use crate::sets::filter;
use dbacl::{
    CategorySet, FitOptions, FittedSet, FittedSetError, FittedSetOptions, LearnOptions, Outcome,
    SetReport,
};
use dbacl_testing::{Scratch, has};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

#[allow(dead_code)] // its main function
#[path = "../examples/texts.rs"]
mod texts;

/// All files of the current generation, without the first lines of categories, in which paths
/// stand, and their checksums.
fn contents(filter: &Path) -> Vec<(String, Vec<u8>)> {
    // The checksums cover the paths.
    let files = files_of(filter).into_iter().filter(|(name, _)| name != "sums");
    let pathless = |(name, bytes): (String, Vec<u8>)| {
        let bytes = if name.starts_with("category.") { nameless(&bytes) } else { bytes };
        (name, bytes)
    };
    files.map(pathless).collect()
}

fn open(filter: &Path) -> FittedSet {
    FittedSet::open(filter, &FittedSetOptions::default()).expect("a filter")
}

#[track_caller]
fn outcomes(report: &SetReport) -> Vec<Outcome> {
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
    let set = "--keep f/ledger -c ./f/ham -c ./f/spam";
    for (option, label, mail, expected) in [
        ("--update", "spam", &new, Outcome::Learned),
        ("--update", "spam", &known, Outcome::LearnedAgain),
        ("--learn-error", "ham", &new, Outcome::Learned),
        ("--learn-error", "spam", &mail("spam", 3), Outcome::Sure),
        ("--correct", "spam", &new, Outcome::Learned),
        ("--correct", "ham", &known, Outcome::Known),
        ("--correct", "spam", &known, moved("ham")),
        ("--unlearn", "ham", &known, Outcome::Forgotten { from: "ham".into() }),
    ] {
        let case = format!("{option} {label} {expected}");
        let (by_program, by_library) = (start.copy(), start.copy());
        by_program.dbacl_reading(&format!("{option} {label} {set}"), mail).output();
        let mut set = open(&by_library.path("f"));
        let before = set.generation();
        let report = match option {
            "--update" => set.learn(label, mail.as_bytes()),
            "--learn-error" => set.learn_error(label, mail.as_bytes()),
            "--correct" => set.correct(label, mail.as_bytes()),
            _ => set.forget(label, mail.as_bytes()),
        };
        let report = report.expect("it is changed");
        assert_eq!(outcomes(&report), [expected], "{case}");
        assert_eq!(report.documents[0].id, set.id(mail.as_bytes()));
        assert_eq!(report.is_changed, set.generation() != before, "{case}");
        assert_eq!(report.generation, set.generation());
        let [expected, found] = [by_program, by_library].map(|place| contents(&place.path("f")));
        assert!(found == expected, "{case}");
    }
}

/// Texts of three categories, each with its label.
fn labelled_texts() -> Vec<(&'static str, String)> {
    let words = [
        ("sea", "whale ship sailor harbour sail"),
        ("war", "nation army soldier regiment gun"),
        ("law", "court judge statute jury appeal"),
    ];
    let text = |number: usize| {
        let (label, own) = words[number % 3];
        let own: Vec<&str> = own.split(' ').collect();
        let [a, b] = [number, number * number].map(|at| own[at / 3 % own.len()]);
        (label, format!("the {a} and the {b} of day{}\n", number % 7))
    };
    (0..36).map(text).collect()
}

#[test]
fn texts_make_the_set_that_the_program_makes() {
    let place = Scratch::new();
    let [by_program, by_library] = ["p", "l"].map(|name| place.path(name));
    fs::create_dir(&by_program).expect("made");
    let texts = labelled_texts();
    for label in ["sea", "war", "law"] {
        let mut args = format!("-H 25 -L uniform -l p/{label} --keep p/ledger");
        for (at, (_, text)) in texts.iter().enumerate().filter(|(_, (own, _))| *own == label) {
            place.write(&format!("{at}.txt"), text);
            args += &format!(" {at}.txt");
        }
        place.dbacl(&args).output();
    }
    let files = "-c p/sea -c p/war -c p/law --keep p/ledger";
    place.dbacl(&format!("--refit --always {files}")).output();
    let (learning, fit) = (LearnOptions::text(), FitOptions::default());
    let create = |folder: &Path| {
        let texts = texts.iter().map(|(label, text)| (label, text));
        FittedSet::create(folder, texts, &learning, &fit, &FittedSetOptions::default())
    };
    let (mut set, learned) = create(&by_library).expect("created");
    assert_eq!((learned.labels.join(" "), learned.documents), ("sea war law".into(), vec![12; 3]));
    let compare = || {
        let files = contents(&by_library).into_iter().filter(|(name, _)| name != "order");
        for (found, expected) in files.zip(contents(&by_program)) {
            assert!(found == expected, "{} {}", found.0, expected.0);
        }
    };
    compare();
    // A change is made as by the program, too, and is not noted as one of mail.
    let lesson = "an admiral of the army";
    assert_eq!(outcomes(&set.correct("sea", lesson).expect("corrected")), [Outcome::Learned]);
    place.dbacl_reading(&format!("--correct sea {files}"), lesson).output();
    compare();
    // A folder that has a set keeps it.
    assert!(matches!(create(&by_library), Err(FittedSetError::Folder { .. })));
    compare();
    for wrong in [&["sea"][..], &["sea", "a/b"], &["sea", "ledger"]] {
        let folder = place.path("none");
        let texts = wrong.iter().map(|label| (label, "a text"));
        let options = FittedSetOptions::default();
        FittedSet::create(&folder, texts, &learning, &fit, &options).expect_err("refused");
        assert!(!folder.exists(), "{wrong:?}");
    }
}

#[test]
fn messages_in_memory_make_a_mail_filter_that_recognises_them() {
    let place = Scratch::new();
    let folder = place.path("f");
    let marked = |label, number| format!("X-DBACL: spam 99%\n{}", mail(label, number));
    let mails = (0..30).flat_map(|number| ["ham", "spam"].map(|label| (label, number)));
    let mails = mails.map(|(label, number)| (label, marked(label, number)));
    let (learning, fit) = (LearnOptions::mail(), FitOptions::mail());
    let options = FittedSetOptions::default();
    let (mut set, learned) =
        FittedSet::create(&folder, mails, &learning, &fit, &options).expect("created");
    assert!(set.is_mail() && learned.documents == [30, 30]);
    let known = mail("ham", 3);
    assert_eq!(outcomes(&set.correct("ham", &known).expect("corrected")), [Outcome::Known]);
    assert_eq!(outcomes(&set.correct("spam", &known).expect("corrected")), [moved("ham")]);
    assert!(folder.join("ledger.set/current/corrections").exists());
    let filter = dbacl::MailFilter::open(&folder, &mut |_| {}).expect("a filter");
    assert_eq!(filter.classify(mail("spam", 40)).expect("a verdict").category, "spam");
}

#[test]
fn the_example_learns_corrects_and_forgets_texts() {
    let place = Scratch::new();
    let folder = place.path("set").into_os_string().into_string().expect("a name");
    let run = |args: &[&str], table: &str| {
        let args = [&[folder.as_str()], args].concat();
        texts::run(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), table)
    };
    let table = labelled_texts().into_iter().map(|(label, text)| format!("{label}\t{text}"));
    let learned = run(&[], &table.collect::<String>()).expect("learned");
    assert_eq!(learned, "sea, war, law of [12, 12, 12]");
    assert!(run(&["the jury of the court"], "").expect("a verdict").starts_with("law "));
    for (args, expected) in [
        (&["a new day", "war"][..], "learned"),
        (&["a new day", "war"], "already known"),
        (&["a new day", "law"], "moved from war"),
        (&["a new day", "law", "forget"], "forgotten from law"),
    ] {
        assert_eq!(run(args, "").expect("changed"), expected, "{args:?}");
    }
    assert!(run(&["a new day", "sport"], "").is_err());
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
    // Back again; then a fit of all finds the same documents.
    assert!(!set.correct("spam", twice).unwrap().is_refitted);
    assert!(set.refit().unwrap().is_refitted);
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
        let learned = FittedSet::learn_folders(&folder, &folders, &options).expect("learned");
        assert_eq!((learned.0.documents(), &learned.1.documents[..]), (60, &[30, 30][..]));
        assert_eq!(learned.1.labels, ["ham", "spam"]);
        assert!(learned.1.verdicts.is_some() && learned.1.warnings.is_empty());
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
    assert!(!again.is_changed && again.generation == first.generation);
    // A batch of messages makes one generation. The second of two equal messages in it counts as
    // known.
    let batch = [odd.as_bytes(), b"\n", odd.as_bytes(), b"Subject: other news\n\nof today\n"];
    let moved_all = set.correct_all("spam", batch).expect("moved");
    let expected = [moved("ham"), Outcome::Empty, Outcome::Known, Outcome::Learned];
    assert_eq!(outcomes(&moved_all), expected);
    assert_eq!(moved_all.documents[1].id, None);
    assert_eq!(moved_all.generation, first.generation.map(|number| number + 1));
    assert_eq!(set.labels_of(id).expect("a ledger"), ["spam"]);
    let gone = set.forget_id(id).expect("forgotten");
    assert_eq!(outcomes(&gone), [Outcome::Forgotten { from: "spam".into() }]);
    assert!(gone.is_refitted);
    assert!(set.labels_of(id).expect("a ledger").is_empty());
    let nothing = set.forget("spam", odd.as_bytes()).expect("nothing to do");
    assert_eq!((outcomes(&nothing), nothing.is_changed), (vec![Outcome::NotKnown], false));
    assert!(set.refit().expect("documents").is_refitted);
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
fn sets_that_are_no_mail_filter_are_opened_by_their_files() {
    let place = Scratch::new();
    for (label, words) in [("sea", "whale ship sailors"), ("war", "nation soldiers battle")] {
        for number in 0..20 {
            let text = format!("the {words} of w{} and n{number}\n", number % 7);
            place.write(&format!("{label}.d/{number}"), text);
        }
        place.dbacl(&format!("-l ./{label} -L uniform --keep ledger {label}.d")).output();
    }
    let set = "--keep ledger -c ./sea -c ./war";
    place.dbacl(&format!("--refit --always --contrast no {set}")).output();
    let names = ["sea", "war"].map(|label| place.path(label));
    let ledger = place.path("ledger");
    let options = FittedSetOptions::default();
    let mut fitted = FittedSet::open_files(&names, &ledger, &options).expect("a set");
    assert!(!fitted.is_mail());
    let verdict = fitted.classify(b"the battle of sailors and whale").expect("files");
    assert_eq!(verdict.category, "sea");
    assert!((verdict.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(verdict.probabilities[0].to_bits(), verdict.probability.to_bits());
    let report = fitted.learn("war", b"sailors of the nation").expect("learned");
    assert_eq!(outcomes(&report), [Outcome::Learned]);
    assert_eq!(fitted.documents(), 41);
    let unknown = fitted.learn("air", b"sailors").expect_err("no such category");
    assert!(matches!(unknown, FittedSetError::UnknownLabel { .. }), "{unknown}");
    let turned = [&names[1], &names[0]];
    let mut turned = FittedSet::open_files(&turned, &ledger, &options).expect("a set");
    assert_eq!(turned.classify(b"the whale").expect("files").category, "sea");
    let refused = turned.learn("sea", b"sailors").expect_err("the ledger has another order");
    assert!(matches!(refused, FittedSetError::OtherCategories { .. }), "{refused}");
}

#[test]
fn changes_that_cannot_be_made_change_nothing() {
    let place = filter();
    let path = place.path("f");
    let before = contents(&path);
    let missing = FittedSet::open(&place.path("no"), &FittedSetOptions::default());
    assert!(matches!(missing, Err(FittedSetError::Open(_))), "{missing:?}");
    let stop = Arc::new(AtomicBool::new(true));
    let options = FittedSetOptions::default().stop(stop);
    let mut set = FittedSet::open(&path, &options).expect("a filter");
    let stopped = set.learn("spam", b"Subject: x\n\nnew words\n").expect_err("it is to stop");
    assert!(matches!(stopped, FittedSetError::StoppedWaiting { .. }), "{stopped}");
    let stop = Arc::new(AtomicBool::new(false));
    let options = FittedSetOptions::default().stop(Arc::clone(&stop));
    let mut set = FittedSet::open(&path, &options).expect("a filter");
    let document: &[u8] = b"Subject: x\n\nnew words\n";
    let read_until_stopped = [document].into_iter().inspect(|_| stop.store(true, Relaxed));
    let stopped = set.correct_all("spam", read_until_stopped).expect_err("stopped while reading");
    assert!(matches!(stopped, FittedSetError::Stopped), "{stopped}");
    let lock = fs::File::create(path.join("ledger.lock")).expect("a lock");
    lock.lock().expect("free");
    let options = FittedSetOptions::default().lock_timeout(Duration::from_millis(30));
    let mut set = FittedSet::open(&path, &options).expect("a filter");
    let held = set.learn("spam", b"Subject: x\n\nnew words\n").expect_err("the lock is held");
    let text = held.to_string();
    has(&text, "f/ledger is being changed by process");
    drop(lock);
    let unknown = set.correct("other", b"Subject: x\n\nnew words\n").expect_err("no such label");
    let folder = path.display();
    assert_eq!(
        unknown.to_string(),
        format!("the filter in {folder} has ham and spam, but no other")
    );
    assert!(contents(&path) == before);
    let leftovers = fs::read_dir(path.join("ledger.set")).expect("a set");
    assert_eq!(leftovers.count(), 2, "a generation and the link to it");
}

#[test]
fn a_filter_with_a_damaged_category_is_mended() {
    let whole = filter();
    let options = FittedSetOptions::default();
    let copied = whole.copy();
    let refitted = copied.path("f");
    FittedSet::open(&refitted, &options).expect("whole").refit().expect("fitted anew");
    for name in ["empty", "cut", "another header"] {
        for label in ["ham", "spam"] {
            let copied = whole.copy();
            let filter = copied.path("f");
            let category = filter.join("ledger.set/current").join(format!("category.{label}"));
            let mut bytes = fs::read(&category).expect("a category");
            match name {
                "empty" => bytes.clear(),
                "cut" => bytes.truncate(bytes.len() / 2),
                _ => bytes[20..40].fill(b'x'),
            }
            fs::write(&category, bytes).expect("written");
            let error = FittedSet::open(&filter, &options).err();
            assert!(matches!(error, Some(FittedSetError::Open(_))), "{name} {label}: {error:?}");
            let set = FittedSet::mend(&filter, &options)
                .unwrap_or_else(|error| panic!("{name} {label}: {error}"));
            let verdict = set.classify(mail("spam", 7).as_bytes()).expect("a verdict");
            assert_eq!(verdict.category, "spam", "{name} {label}");
            assert!(contents(&filter) == contents(&refitted), "{name} {label}");
        }
    }
    let error = FittedSet::mend(&whole.path("nothing"), &options).err();
    assert!(matches!(error, Some(FittedSetError::Open(_))), "{error:?}");
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
        "FittedSet { place: Folder(\"PATH\"), labels: [\"ham\", \"spam\"], documents: 60, \
         generation: Some(1), .. }"
    );
    let names = ["ham", "spam"].map(|label| path.join(label));
    let set = CategorySet::open(&names).expect("categories");
    assert_eq!(
        format!("{set:?}"),
        "CategorySet { names: [\"ham\", \"spam\"], is_fitted: true, .. }"
    );
    let category = format!("{:?}", set.categories().flatten().next().expect("two"));
    assert!(category.starts_with("Category { documents: 30, features: "), "{category}");
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
    for reading in ["blocks", "unicode", "classic"] {
        let learn = format!("--mail-learn filter ham=ham spam=spam --reading {reading}");
        place.dbacl(&learn).output();
        let mut set = open(&place.path("filter"));
        for mail in mails {
            let judged = format!("X-DBACL: unsure 50.00%\nX-DBACL-Reasons: a +1\n b -1\n{mail}");
            for mail in [mail, &judged] {
                let report = set.correct("ham", mail.as_bytes()).expect("corrected");
                assert_eq!(outcomes(&report), [Outcome::Known], "{reading}: {mail}");
            }
        }
        // The text of the body counts.
        let without = quoted.replace("X-DBACL: spam 99.90%\n folded words\n", "");
        assert_ne!(set.id(quoted.as_bytes()), set.id(without.as_bytes()));
    }
}
