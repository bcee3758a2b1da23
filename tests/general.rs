// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail filters that begin with a general model (`--mail-learn --general`).

use crate::folders::contents;
use crate::mails::dbacl;
use std::fs;
use std::path::Path;

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
fn room() -> tempfile::TempDir {
    let room = tempfile::tempdir().expect("a folder");
    for label in ["ham", "spam"] {
        for (name, mail, number) in [
            ("public", public as fn(&str, usize) -> String, 30),
            ("own", own as fn(&str, usize) -> String, 12),
        ] {
            let mails: String = (0..number).map(|number| mail(label, number)).collect();
            fs::write(room.path().join(format!("{name}.{label}")), mails).expect("written");
        }
    }
    dbacl(room.path(), &["--mail-learn", "g", "ham=public.ham", "spam=public.spam"], "").output();
    room
}

const OWN: [&str; 2] = ["ham=own.ham", "spam=own.spam"];

/// Learns the own mail into the filter `f`.
#[track_caller]
fn learn(folder: &Path, options: &[&str]) -> String {
    dbacl(folder, &[&["--mail-learn", "f"], options, &OWN].concat(), "").output()
}

/// The probability that a message is spam, in %, by the filter `f`.
fn spam_percent(folder: &Path, mail: &str) -> f64 {
    let filtered = dbacl(folder, &["--mail-filter", "f"], mail).output();
    let line = filtered.lines().find_map(|line| line.strip_prefix("X-DBACL: ")).expect("a verdict");
    let mut words = line.split(' ').rev();
    let last = words.next().expect("a word");
    let (label, share) = match last.strip_suffix('%') {
        Some(share) => (words.next().expect("a label"), share),
        None => (last, words.next().expect("a share").trim_end_matches('%')),
    };
    let share: f64 = share.parse().expect("a number");
    if label == "spam" { share } else { 100.0 - share }
}

#[test]
fn a_damaged_general_model_is_named_with_what_helps() {
    let room = room();
    let folder = room.path();
    learn(folder, &["--general", "g"]);
    let current = folder.join("f/ledger.set/current");
    let general = current.join("general.ham");
    let whole = fs::read(&general).expect("a general model");
    fs::write(&general, &whole[..whole.len() / 2]).expect("our own file");
    let before = contents(folder);
    for args in [
        &["--mail-learn", "f", "ham=own.ham", "spam=own.spam"][..],
        &["--mail-correct", "f", "spam"],
        &["--refit", "--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"],
    ] {
        let said = dbacl(folder, args, own("ham", 3)).complaint(1);
        assert!(said.contains("general.ham") && said.contains("--general none"), "{said}");
        // Each path in the message exists.
        let path = said.split(|c: char| c.is_whitespace() || c == ';' || c == '?');
        let mut path = path.map(|word| word.trim_end_matches(':'));
        let path = path.find(|word| word.ends_with("general.ham")).expect("a path");
        assert!(folder.join(path).exists(), "{said}");
        assert_eq!(contents(folder), before, "{args:?}");
    }
    learn(folder, &["--general", "none"]);
}

fn change(folder: &Path, option: &str, label: &str, mail: &str) {
    let set = ["--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
    dbacl(folder, &[&[option, label], &set[..]].concat(), mail).output();
}

/// A message with words of the public corpus only.
fn unknown(label: &str) -> String {
    let words = if label == "spam" { "cheap pills casino" } else { "agenda minutes review" };
    format!("Subject: {words}\n\n{words}\n")
}

#[test]
fn few_own_mails_are_helped_by_those_of_others() {
    let room = room();
    let path = room.path();
    let said = learn(path, &[]);
    assert!(!said.contains("general"), "{said}");
    let alone = spam_percent(path, &unknown("spam")) - spam_percent(path, &unknown("ham"));
    let said = learn(path, &["-v", "--general", "g"]);
    assert!(said.contains(", general 0.5,"), "{said}");
    let both = spam_percent(path, &unknown("spam")) - spam_percent(path, &unknown("ham"));
    assert!(alone.abs() < 1.0 && both > 20.0, "{alone} {both}");
    // Own mail is classified by what it says, and the other filter is needed no more.
    fs::remove_dir_all(path.join("g")).expect("removed");
    assert!(spam_percent(path, &own("spam", 70)) > 60.0);
    assert!(spam_percent(path, &own("ham", 70)) < 40.0);
    // The words of the public corpus are not unusual ones.
    let mail = own("ham", 71).replace("something", "agenda minutes review");
    assert!(spam_percent(path, &mail) < spam_percent(path, &own("ham", 70)) + 1.0);
}

#[test]
fn forgetting_with_a_general_model_is_exact() {
    let room = room();
    let path = room.path();
    learn(path, &["--general", "g"]);
    let settings = |path: &Path| {
        let bytes = fs::read(path.join("f/spam")).expect("there");
        let head = String::from_utf8_lossy(&bytes[..2000]);
        let line = head.lines().find(|line| line.starts_with("# refit")).expect("a line");
        let from = line.find(" cost ").expect("a cost");
        let to = line.find(" documents ").expect("documents");
        (line[from..to].to_owned(), line.contains(" general 0.5 end"))
    };
    assert!(settings(path).1);
    // A message that other tests cannot know, forgotten with the settings that are there.
    let before = contents(path);
    let names: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"general.ham") && names.contains(&"general.spam"), "{names:?}");
    let cost = settings(path);
    change(path, "--update", "spam", &public("spam", 99));
    assert!(contents(path) != before);
    let during = spam_percent(path, &unknown("spam"));
    assert!(during > 50.0, "{during}");
    change(path, "--unlearn", "spam", &public("spam", 99));
    assert_eq!(settings(path), cost);
    assert!(contents(path) == before, "the files are those of never having learned it");
    // The same with a correction that is taken back, and learning again.
    dbacl(path, &["--mail-correct", "f", "spam"], own("ham", 3)).output();
    assert!(contents(path) != before);
    dbacl(path, &["--mail-correct", "f", "ham"], own("ham", 3)).output();
    learn(path, &[]);
    assert!(contents(path) == before, "learning anew keeps the general model");
    dbacl(path, &["--refit", "-c", "./f/ham", "-c", "./f/spam", "--keep", "f/ledger"], "").output();
    assert!(spam_percent(path, &unknown("spam")) > 50.0);
    learn(path, &["--general", "none"]);
    let names: Vec<String> = contents(path).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.starts_with("general")), "{names:?}");
    assert!(!settings(path).1);
}

#[test]
fn single_mails_keep_the_weights_of_the_general_model() {
    let room = room();
    let path = room.path();
    learn(path, &["--general", "g"]);
    let verdict = |mail: &str| (spam_percent(path, mail) * 100.0).round();
    let before = [unknown("spam"), unknown("ham")].map(|mail| verdict(&mail));
    // It has words of both kinds of the public corpus, so each of them gets a new weight.
    let mixed = format!("Subject: {}", "x\n\ncheap pills casino agenda minutes review\n");
    dbacl(path, &["--mail-correct", "f", "spam"], &mixed).output();
    let state = path.join("f/ledger.set/current/ledger.changes");
    assert!(state.exists(), "the change was a quick one");
    let after = [unknown("spam"), unknown("ham")].map(|mail| verdict(&mail));
    assert!(after[0] - after[1] > 0.5 * (before[0] - before[1]), "{before:?} {after:?}");
}

#[test]
fn filters_that_cannot_be_a_general_model_are_refused() {
    let room = room();
    let path = room.path();
    learn(path, &["--general", "g"]);
    let before = contents(path);
    dbacl(path, &["--mail-learn", "bytes", "--reading", "classic", OWN[0], OWN[1]], "").output();
    dbacl(path, &["--mail-learn", "names", "good=own.ham", "junk=own.spam"], "").output();
    fs::create_dir(path.join("empty")).expect("made");
    for (general, reason) in [
        ("bytes", "dbacl:error: bytes cannot be the general model: it reads mail in another way"),
        ("names", "cannot be the general model: it knows good and junk, and none of ham and spam"),
        (
            "empty",
            "empty cannot be the general model: empty is not a mail filter (no file empty/order)",
        ),
        ("missing", "missing cannot be the general model: missing is not a mail filter (no file"),
    ] {
        let args = [&["--mail-learn", "f", "--general", general], &OWN[..]].concat();
        let refused = dbacl(path, &args, b"");
        assert!(refused.status != 0 && refused.stdout.is_empty(), "{general}");
        let said = refused.stderr;
        assert!(said.contains(reason), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(contents(path) == before, "{general}");
    }
    // Learned with other options, the filter has no use for the general model.
    let said = dbacl(path, &["--mail-learn", "f", "--reading", "classic", OWN[0], OWN[1]], b"");
    assert!(said.status == 0 && said.stderr.contains("general model is left out"));
    let names: Vec<String> = contents(path).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.starts_with("general")), "{names:?}");
    // With a general model that reads so, a new filter does as well.
    dbacl(path, &["--mail-learn", "f2", "--general", "bytes", OWN[0], OWN[1]], "").output();
}

/// Messages about a subject that the general model does not know, in the file `lists`.
fn write_lists(path: &Path, mails: usize) {
    let mail = |number| mail_of("lists", "kernel patch commit", number);
    fs::write(path.join("lists"), (0..mails).map(mail).collect::<String>()).expect("written");
}

/// The probability of each label and the verdict of the filter `f` on a message.
fn verdict(folder: &Path, labels: &[&str], mail: &str) -> String {
    let names: Vec<String> = labels.iter().map(|label| format!("./f/{label}")).collect();
    let set: Vec<&str> = names.iter().flat_map(|name| ["-c", name.as_str()]).collect();
    dbacl(folder, &[&["--strict", "--verdict"], &set[..]].concat(), mail).output()
}

#[test]
fn any_number_of_folders_begins_with_a_general_model() {
    let room = room();
    let path = room.path();
    write_lists(path, 12);
    let labels = ["lists", "ham", "spam"];
    let folders = ["lists=lists", OWN[0], OWN[1], "--general", "g"];
    let learned = dbacl(path, &[&["--mail-learn", "f", "-v"], &folders[..]].concat(), b"");
    let warning = "dbacl:warning: the general model g knows ham and spam: it cannot tell lists \
                   from other mail\n";
    assert!(learned.stderr.contains(warning), "{}", learned.stderr);
    assert!(learned.stdout.contains(", general 0.5,"), "{}", learned.stdout);
    let both = |path: &Path| ["spam", "ham"].map(|label| verdict(path, &labels, &unknown(label)));
    let is_told = |said: [String; 2]| said[0].contains("spam") && said[1].contains("ham");
    assert!(is_told(both(path)), "{:?}", both(path));
    let found = verdict(path, &labels, &mail_of("lists", "kernel patch commit", 70));
    assert!(found.contains("lists"), "{found}");
    // A message with words of the general model, learned alone, changes what it says and no more.
    let before = contents(path);
    let set = ["--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/lists", "-c", "./f/spam"];
    let mixed = "Subject: x\n\ncasino kernel\n";
    dbacl(path, &[&["--update", "lists"], &set[..]].concat(), mixed).output();
    assert!(
        path.join("f/ledger.set/current/ledger.changes").exists(),
        "the change was a quick one"
    );
    assert!(is_told(both(path)), "{:?}", both(path));
    dbacl(path, &[&["--unlearn", "lists"], &set[..]].concat(), mixed).output();
    assert!(contents(path) == before, "the files are those of never having learned it");
    dbacl(path, &["--mail-learn", "f", "lists=lists", OWN[0], OWN[1]], "").output();
    assert!(contents(path) == before, "learning anew keeps the general model");
    // What the general model has besides stands for other folders.
    fs::create_dir(path.join("none")).expect("made");
    let said = dbacl(
        path,
        &["--mail-learn", "f2", "--general", "g", "lists=lists", "friends=none", "spam=none"],
        b"",
    );
    assert!(said.stderr.contains("it cannot tell lists and friends from other mail"));
    let filtered = dbacl(path, &["--mail-filter", "f2"], unknown("spam")).output();
    assert!(filtered.lines().next().expect("a line").ends_with(" spam"), "{filtered}");
    // Of a general model with more folders those count that the filter has, too.
    dbacl(path, &["--mail-learn", "g", "lists=lists", "ham=public.ham", "spam=public.spam"], "")
        .output();
    learn(path, &["--general", "g"]);
    assert!(spam_percent(path, &unknown("spam")) > 60.0);
    assert!(spam_percent(path, &unknown("ham")) < 40.0);
}

#[test]
fn a_filter_without_own_mail_is_the_general_model() {
    let room = room();
    let path = room.path();
    for name in ["good", "junk"] {
        fs::create_dir(path.join(name)).expect("made");
    }
    let none = ["--mail-learn", "f", "ham=good", "spam=junk"];
    let refused = dbacl(path, &none, b"");
    assert!(refused.stderr.contains("there is no mail to learn in good"));
    assert!(!path.join("f").exists());
    let said = dbacl(path, &[&none[..], &["--general", "g"]].concat(), "").output();
    assert!(
        said.contains("every message will be unsure until there are 8 messages of each kind\n")
    );
    assert!(!said.contains("NaN") && !said.contains("inf"), "{said}");
    // Nothing is sure, and the probabilities are those of the general model.
    for label in ["ham", "spam"] {
        let filtered = dbacl(path, &["--mail-filter", "f"], unknown(label)).output();
        assert!(filtered.contains("X-DBACL: unsure "), "{filtered}");
        let of_general = dbacl(path, &["--mail-filter", "g"], unknown(label)).output();
        let percent = |said: &str| -> f64 {
            let line = said.lines().next().expect("a line");
            let share = line.split(' ').find_map(|word| word.strip_suffix('%')).expect("a share");
            share.parse().expect("a number")
        };
        assert!((percent(&filtered) - percent(&of_general)).abs() < 1.0, "{filtered}{of_general}");
    }
    // Own messages are learned and forgotten as in any filter.
    let before = contents(path);
    let mails: Vec<String> = (0..3).map(|number| own("spam", number)).collect();
    for mail in &mails {
        dbacl(path, &["--mail-correct", "f", "spam"], mail).output();
    }
    assert!(spam_percent(path, &own("spam", 50)) > 50.0);
    for mail in &mails {
        change(path, "--unlearn", "spam", mail);
    }
    assert!(contents(path) == before, "the files are those of never having learned them");
    // Learning again with folders that are still empty keeps corrections.
    dbacl(path, &["--mail-correct", "f", "ham"], own("ham", 7)).output();
    let said = dbacl(path, &none, "").output();
    assert!(said.contains("1 message (ham 1, spam 0)"), "{said}");
    assert!(said.contains("1 correction was applied"), "{said}");
    // Mail that was learned from a folder must not disappear without a word.
    fs::write(path.join("good/1"), own("ham", 8)).expect("written");
    dbacl(path, &none, "").output();
    fs::remove_file(path.join("good/1")).expect("removed");
    let refused = dbacl(path, &none, b"");
    assert!(refused.stderr.contains("there is no mail to learn in good"));
}
