// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail filters that begin with a general model (`--mail-learn --general`).

use crate::folders::{contents, is_quick};
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::{Scratch, has};
use std::fs;

/// A message of a public corpus, about what all good mail or all spam is about there.
fn public(label: &str, number: usize) -> String {
    let words = if label == "spam" { "cheap pills casino" } else { "agenda minutes review" };
    mail_of(label, words, number)
}

/// A message of the user.
fn own(label: &str, number: usize) -> String {
    let words = if label == "spam" { "invoice parcel prize" } else { "garden dinner birthday" };
    mail_of(label, words, number)
}

fn mail_of(label: &str, words: &str, number: usize) -> String {
    format!(
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: x{}@example.org\nSubject: {words}\n\n{words} \
         and something {label}{number}z for all of us n{}\n\n",
        number % 7,
        number % 5
    )
}

/// A folder with mailboxes of the public corpus, the filter `g` that has learned them, and 12 own
/// messages of each kind.
fn room() -> Scratch {
    let room = Scratch::new();
    for label in ["ham", "spam"] {
        for (name, mail, number) in [
            ("public", public as fn(&str, usize) -> String, 30),
            ("own", own as fn(&str, usize) -> String, 12),
        ] {
            let mails: String = (0..number).map(|number| mail(label, number)).collect();
            room.write(&format!("{name}.{label}"), mails);
        }
    }
    room.dbacl("--mail-learn g ham=public.ham spam=public.spam").output();
    room
}

const OWN: &str = "ham=own.ham spam=own.spam";

/// Learns the own mail into the filter `f`.
#[track_caller]
fn learn(place: &Scratch, options: &str) -> String {
    place.dbacl(&format!("--mail-learn f {options} {OWN}")).output()
}

/// The probability that a message is spam, in %, by the filter `f`.
fn spam_percent(place: &Scratch, mail: &str) -> f64 {
    let filter =
        MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter");
    let spam = filter.labels().iter().position(|name| name == "spam").expect("a label");
    100.0 * filter.classify(mail).expect("a verdict").probabilities[spam]
}

#[test]
fn a_damaged_general_model_is_named_with_what_helps() {
    let place = room();
    learn(&place, "--general g");
    let name = place.sh("ls f/general.*").output().trim().to_owned();
    let whole = place.read(&name);
    place.write(&name, &whole[..whole.len() / 2]);
    let before = contents(&place);
    let learn_again = format!("--mail-learn f {OWN}");
    for args in ["--mail-filter f", "--mail-correct f spam", &learn_again] {
        let said = place.dbacl_reading(args, own("ham", 3)).stderr;
        has(&said, &format!("{name} is damaged|--general none"));
        assert_eq!(contents(&place), before, "{args:?}");
    }
    // The table before may still need it.
    (0..2).for_each(|_| drop(learn(&place, "--general none")));
    assert!(!place.path(&name).exists());
}

/// A message with words of the public corpus only.
fn unknown(label: &str) -> String {
    let words = if label == "spam" { "cheap pills casino" } else { "agenda minutes review" };
    format!("Subject: {words}\n\n{words}\n")
}

#[test]
fn few_own_mails_are_helped_by_those_of_others() {
    let place = room();
    let said = learn(&place, "");
    assert!(!said.contains("general"), "{said}");
    let alone = spam_percent(&place, &unknown("spam")) - spam_percent(&place, &unknown("ham"));
    let said = learn(&place, "-v --general g");
    has(&said, ", general 0.5\n");
    let both = spam_percent(&place, &unknown("spam")) - spam_percent(&place, &unknown("ham"));
    assert!(alone.abs() < 1.0 && both > 20.0, "{alone} {both}");
    // Own mail is classified by what it says, and the other filter is needed no more.
    fs::remove_dir_all(place.path("g")).expect("removed");
    for label in ["ham", "spam"] {
        let filtered = place.dbacl_reading("--mail-filter f", own(label, 70)).says("X-DBACL: ");
        assert!(!filtered.contains("error"), "{filtered}");
    }
    assert!(spam_percent(&place, &own("spam", 70)) > 60.0);
    assert!(spam_percent(&place, &own("ham", 70)) < 40.0);
    // The words of the public corpus are not unusual ones.
    let mail = own("ham", 71).replace("something", "agenda minutes review");
    assert!(spam_percent(&place, &mail) < spam_percent(&place, &own("ham", 70)) + 1.0);
}

#[test]
fn forgetting_with_a_general_model_is_exact() {
    let place = room();
    learn(&place, "--general g");
    let general = || place.text("f/table").contains("\"general\":0.5");
    assert!(general());
    // A message that other tests cannot know, forgotten with the settings that are there.
    let before = contents(&place);
    let names: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("general.")), "{names:?}");
    place.dbacl_reading("--mail-correct f spam", public("spam", 99)).output();
    assert!(contents(&place) != before);
    let during = spam_percent(&place, &unknown("spam"));
    assert!(during > 50.0, "{during}");
    place.dbacl_reading("--mail-forget f spam", public("spam", 99)).output();
    assert!(general());
    assert!(contents(&place) == before, "the files are those of never having learned it");
    // The same with a correction that is taken back, and learning again.
    place.dbacl_reading("--mail-correct f spam", own("ham", 3)).output();
    assert!(contents(&place) != before);
    place.dbacl_reading("--mail-correct f ham", own("ham", 3)).output();
    learn(&place, "");
    assert!(contents(&place) == before, "learning anew keeps the general model");
    learn(&place, "--general none");
    let names: Vec<String> = contents(&place).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.starts_with("general")), "{names:?}");
    assert!(!general());
}

#[test]
fn single_mails_keep_the_weights_of_the_general_model() {
    let place = room();
    learn(&place, "--general g");
    let verdict = |mail: &str| (spam_percent(&place, mail) * 100.0).round();
    let before = [unknown("spam"), unknown("ham")].map(|mail| verdict(&mail));
    // It has words of both kinds of the public corpus, so each of them gets a new weight.
    let mixed = format!("Subject: {}", "x\n\ncheap pills casino agenda minutes review\n");
    place.dbacl_reading("--mail-correct f spam", &mixed).output();
    assert!(is_quick(&place));
    let after = [unknown("spam"), unknown("ham")].map(|mail| verdict(&mail));
    assert!(after[0] - after[1] > 0.5 * (before[0] - before[1]), "{before:?} {after:?}");
}

#[test]
fn filters_that_cannot_be_a_general_model_are_refused() {
    let place = room();
    learn(&place, "--general g");
    let before = contents(&place);
    place.dbacl("--mail-learn names good=own.ham junk=own.spam").output();
    fs::create_dir(place.path("empty")).expect("made");
    for (general, reason) in [
        ("names", "cannot be the general model: it knows good and junk, and none of ham and spam"),
        (
            "empty",
            "empty cannot be the general model: empty is not a mail filter (no file empty/table)",
        ),
        ("missing", "missing cannot be the general model: missing is not a mail filter (no file"),
    ] {
        let refused = place.dbacl(&format!("--mail-learn f --general {general} {OWN}"));
        assert!(refused.status != 0 && refused.stdout.is_empty(), "{general}");
        let said = refused.stderr;
        has(&said, reason);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(contents(&place) == before, "{general}");
    }
}

/// The probability of each label and the verdict of the filter `f` on a message.
fn verdict(place: &Scratch, mail: &str) -> String {
    let filter =
        MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter");
    filter.classify(mail).expect("a verdict").to_string()
}

#[test]
fn any_number_of_folders_begins_with_a_general_model() {
    let place = room();
    // Messages about a subject that the general model does not know.
    let list = |number| mail_of("lists", "kernel patch commit", number);
    place.write("lists", (0..12).map(list).collect::<String>());
    let learned = place.dbacl(&format!("--mail-learn f -v lists=lists {OWN} --general g"));
    let warning = "dbacl:warning: the general model g knows ham and spam: it cannot tell lists \
                   from other mail\n";
    assert!(learned.stderr.contains(warning), "{}", learned.stderr);
    assert!(learned.stdout.contains(", general 0.5\n"), "{}", learned.stdout);
    let both = || ["spam", "ham"].map(|label| verdict(&place, &unknown(label)));
    let is_told = |said: [String; 2]| said[0].contains("spam") && said[1].contains("ham");
    assert!(is_told(both()), "{:?}", both());
    let found = verdict(&place, &list(70));
    has(&found, "lists");
    // A message with words of the general model, learned alone, changes what it says and no more.
    let before = contents(&place);
    let mixed = "Subject: kernel patch\n\nkernel patch commit, no casino here\n";
    place.dbacl_reading("--mail-correct f lists", mixed).output();
    assert!(is_quick(&place));
    assert!(is_told(both()), "{:?}", both());
    place.dbacl_reading("--mail-forget f lists", mixed).output();
    assert!(contents(&place) == before, "the files are those of never having learned it");
    place.dbacl(&format!("--mail-learn f lists=lists {OWN}")).output();
    assert!(contents(&place) == before, "learning anew keeps the general model");
    // What the general model has besides stands for other folders.
    fs::create_dir(place.path("none")).expect("made");
    let said = place.dbacl("--mail-learn f2 --general g lists=lists friends=none spam=none");
    assert!(said.stderr.contains("it cannot tell lists and friends from other mail"));
    let filtered = place.dbacl_reading("--mail-filter f2", unknown("spam")).output();
    assert!(filtered.lines().next().expect("a line").ends_with(" spam"), "{filtered}");
    // Of a general model with more folders those count that the filter has, too.
    place.dbacl("--mail-learn g lists=lists ham=public.ham spam=public.spam").output();
    learn(&place, "--general g");
    assert!(spam_percent(&place, &unknown("spam")) > 60.0);
    assert!(spam_percent(&place, &unknown("ham")) < 40.0);
}

#[test]
fn a_filter_without_own_mail_is_the_general_model() {
    let place = room();
    place.sh("mkdir good junk").quiet(0);
    let none = "--mail-learn f ham=good spam=junk";
    place.dbacl(none).complains(1, "there is no mail to learn in good");
    assert!(!place.path("f").exists());
    let said = place
        .dbacl(&format!("{none} --general g"))
        .says("every message will be unsure until there are 8 messages of each kind\n");
    assert!(!said.contains("NaN") && !said.contains("inf"), "{said}");
    // Nothing is sure, and the probabilities are those of the general model.
    for label in ["ham", "spam"] {
        let filtered =
            place.dbacl_reading("--mail-filter f", unknown(label)).says("X-DBACL: unsure ");
        let of_general = place.dbacl_reading("--mail-filter g", unknown(label)).output();
        let percent = |said: &str| -> f64 {
            let line = said.lines().next().expect("a line");
            let share = line.split(' ').find_map(|word| word.strip_suffix('%')).expect("a share");
            share.parse().expect("a number")
        };
        assert!((percent(&filtered) - percent(&of_general)).abs() < 1.0, "{filtered}{of_general}");
    }
    // Own messages are learned and forgotten as in any filter.
    let before = contents(&place);
    let mails: Vec<String> = (0..3).map(|number| own("spam", number)).collect();
    for mail in &mails {
        place.dbacl_reading("--mail-correct f spam", mail).output();
    }
    assert!(spam_percent(&place, &own("spam", 50)) > 50.0);
    for mail in &mails {
        place.dbacl_reading("--mail-forget f spam", mail).output();
    }
    assert!(contents(&place) == before, "the files are those of never having learned them");
    // Learning again with folders that are still empty keeps corrections.
    place.dbacl_reading("--mail-correct f ham", own("ham", 7)).output();
    place.dbacl(none).says("1 message (ham 1, spam 0)|1 correction was applied");
    // Mail that was learned from a folder must not disappear without a word.
    place.write("good/1", own("ham", 8));
    place.dbacl(none).output();
    fs::remove_file(place.path("good/1")).expect("removed");
    place.dbacl(none).complains(1, "there is no mail to learn in good");
}
