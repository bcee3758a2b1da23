// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitted sets of any number of categories, as single documents are learned, put right and
//! forgotten.

use crate::sets::verdict;
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::{Scratch, has};
use std::fs;
use std::path::Path;

/// What messages of each kind are about.
const WORDS: [(&str, &str); 4] = [
    ("work", "meeting agenda minutes"),
    ("lists", "patch kernel review"),
    ("family", "dinner birthday garden"),
    ("spam", "cheap pills offer"),
];

/// A message of one of the kinds, with a word of its own.
fn mail(label: &str, number: usize) -> String {
    let (_, words) = WORDS.into_iter().find(|(known, _)| *known == label).expect("a kind");
    format!(
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: {label}{}@example.org\nSubject: {words}\n\n\
         {words} number own{number}x and something common for all of us n{}\n\n",
        number % 7,
        number % 5
    )
}

/// A scratch folder with a mailbox of 20 messages for each label.
fn mailboxes(labels: &[&str]) -> Scratch {
    let place = Scratch::new();
    for label in labels {
        let mails: String = (0..20).map(|number| mail(label, number)).collect();
        place.write(&format!("{label}.mbox"), mails);
    }
    place
}

/// The same, and a filter that has learned them.
fn filter(labels: &[&str]) -> Scratch {
    let place = mailboxes(labels);
    learn(&place, labels, "");
    place
}

/// The operands of `--mail-learn` for mailboxes with these labels.
fn operands(labels: &[&str]) -> String {
    labels.iter().map(|label| format!(" {label}={label}.mbox")).collect()
}

fn learn(place: &Scratch, labels: &[&str], options: &str) -> String {
    let learn = format!("--mail-learn f --protect {} {options}{}", labels[0], operands(labels));
    place.dbacl(&learn).output()
}

/// Whether the last change was a lesson, in the journal.
pub(crate) fn is_quick(place: &Scratch) -> bool {
    fs::metadata(place.path("f/journal")).expect("a journal").len() > 100
}

/// All files of the filter `f`, but for the table before and the lock.
pub(crate) fn contents(place: &Scratch) -> Vec<(String, Vec<u8>)> {
    contents_of(&place.path("f"))
}

/// The same of the filter in a folder.
pub(crate) fn contents_of(filter: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(filter).expect("a filter").flatten();
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().expect("plain");
    let files = entries.map(|entry| (name(&entry), entry.path()));
    let is_current = |name: &str| !["table.before", "lock", "review.txt"].contains(&name);
    let files = files.filter(|(name, _)| is_current(name));
    let mut files: Vec<_> =
        files.map(|(name, path)| (name, fs::read(path).expect("there"))).collect();
    let table = files.iter().find(|(name, _)| name == "table").map(|(_, bytes)| bytes.clone());
    let table = String::from_utf8_lossy(&table.unwrap_or_default()).into_owned();
    // The table before may have another ledger, and another general model.
    let is_named = |name: &str| ["ledger.", "general."].iter().any(|it| name.starts_with(it));
    files.retain(|(name, _)| !is_named(name) || table.contains(name.as_str()));
    files.sort();
    files
}

/// The rule in the head of the filter's table.
fn rule(place: &Scratch) -> serde_json::Value {
    let table = place.read("f/table");
    let start = table.iter().position(|&byte| byte == b'{').expect("a head");
    let mut values = serde_json::Deserializer::from_slice(&table[start..]).into_iter();
    let head: serde_json::Value = values.next().expect("a head").expect("JSON");
    head["rule"].clone()
}

#[test]
fn filters_of_any_number_of_folders_are_corrected() {
    let all = WORDS.map(|(label, _)| label);
    for labels in [&all[..2], &all[..]] {
        let place = filter(labels);
        let learned = contents(&place);
        for &label in labels {
            let found = verdict(&place, &mail(label, 77));
            has(&found, label);
            // What is shown adds up and names tags and runs of text.
            place
                .dbacl_reading("--mail-filter f --reasons", mail(label, 77))
                .says("X-DBACL-Reasons: ");
        }
        let correct = |label: &str| {
            place.dbacl_reading(&format!("--mail-correct f {label}"), mail(labels[0], 3)).output()
        };
        correct(labels[1]);
        let found = verdict(&place, &mail(labels[0], 3));
        assert!(contents(&place) != learned, "{found}");
        // The user thinks better of it, as the folders say.
        correct(labels[0]);
        learn(&place, labels, "");
        assert!(contents(&place) == learned, "{labels:?}");
    }
}

#[test]
fn caution_decides_how_much_is_unsure() {
    let labels = ["work", "spam"];
    let place = filter(&labels);
    let band = |place: &Scratch| {
        let band = &rule(place)["band"];
        (band[0].as_f64().expect("a number"), band[1].as_f64().expect("a number"))
    };
    let (low, high) = band(&place);
    assert!(low < 0.0 && high > 0.0);
    for (before, caution, factor) in
        [("normal", "low", 0.75), ("low", "high", 1.3), ("high", "normal", 1.0)]
    {
        // A filter of its own: margins of folders of different sizes have other proportions.
        let place = filter(&labels);
        learn(&place, &labels, &format!("--caution {before}"));
        learn(&place, &labels, &format!("--caution {caution}"));
        let (lower, higher) = band(&place);
        assert!((higher - lower - factor * (high - low)).abs() < 1e-4, "{caution}");
        // It stays when single messages are learned.
        place.dbacl_reading("--mail-correct f spam", mail("spam", 90)).output();
        assert_eq!(band(&place), (lower, higher), "{caution}");
    }
    let said = place.dbacl("--mail-learn f --caution no a=b c=d");
    assert!(said.stderr.contains("--caution is low, normal or high, not no"));
}

#[test]
fn a_filter_has_any_number_of_folders() {
    let labels = WORDS.map(|(label, _)| label);
    let place = filter(&labels);
    for label in labels {
        let found = verdict(&place, &mail(label, 77));
        has(&found, label);
        assert!(found.ends_with('%') || found.contains("unsure"), "{found}");
    }
    // Mail about a new subject arrives in the folder `lists`.
    let other = |number: usize| {
        let text = "concert tickets orchestra violin evening programme";
        format!("From: x@example.org\nSubject: {text}\n\n{text} {number} tonight\n")
    };
    for number in 0..6 {
        place.dbacl_reading("--mail-correct f lists", other(number)).output();
        assert!(is_quick(&place), "{number}");
    }
    let found = verdict(&place, &other(99));
    has(&found, "lists");
    // A message that was learned under another label is corrected, and then corrected once more.
    place.dbacl_reading("--mail-correct f family", mail("spam", 3)).output();
    assert!(is_quick(&place));
    let before = contents(&place);
    place.dbacl_reading("--mail-correct f family", mail("spam", 3)).output();
    assert!(contents(&place) == before);
    let said = learn(&place, &labels, "");
    has(&said, "86 messages (work 20, lists 26, family 21, spam 19)|7 corrections were applied\n");
    assert!(!is_quick(&place));
    // After learning fewer folders, the names of the other categories are gone.
    learn(&place, &labels[..3], "");
    let said = place.dbacl_reading("--mail-correct f spam", other(1)).complaint(1);
    assert_eq!(said, "dbacl:error: the filter in f has work, lists and family, but no spam\n");
}

#[test]
fn mail_of_many_folders_can_be_unsure_and_some_can_be_protected() {
    let labels = WORDS.map(|(label, _)| label);
    let place = filter(&labels);
    // The verdict on mail that is like the mail of one folder is that folder, and sure.
    let sure = labels.iter().filter(|label| {
        let found = verdict(&place, &mail(label, 81));
        has(&found, label);
        found.starts_with(&format!("X-DBACL: {label} "))
    });
    assert_eq!(sure.count(), 4);
    // The verdict on mail that is like no folder is unsure.
    let words = "zebra okapi gnu kudu eland oryx";
    let found = verdict(&place, &format!("From: x@y.z\nSubject: {words}\n\n{words} {words}\n"));
    assert!(found.starts_with("X-DBACL: unsure "), "{found}");
    let rates = |labels: &str, expected: [Option<f64>; 4]| {
        let (rule, filter) =
            (rule(&place), MailFilter::open(&place.path("f"), &MailFilterOptions::default()));
        assert_eq!(filter.expect("a filter").labels().join(" "), labels);
        let found = |name: &str, at: usize| rule[name][at].as_f64();
        assert_eq!([0, 1, 2, 3].map(|at| found("protected", at)), expected);
        // A protected folder has a limit of its own, and each a gap.
        assert_eq!(
            [0, 1, 2, 3].map(|at| found("limits", at).is_some()),
            expected.map(|it| it.is_some())
        );
        assert!([0, 1, 2, 3].iter().all(|&at| found("gaps", at).is_some_and(|gap| gap >= 0.0)));
    };
    rates("work lists family spam", [Some(0.001), None, None, None]);
    let learn =
        |options: &str| place.dbacl(&format!("--mail-learn f {options}{}", operands(&labels)));
    let said = learn("--protect family:2% --protect work:0.0005");
    let said = said.says(" of 100 messages to be unsure (most probable right: ");
    has(&said, " of work to be called something else (95 % confidence; 0 of 20");
    let (order, expected) = ("work family lists spam", [Some(0.0005), Some(0.02), None, None]);
    rates(order, expected);
    // The rates that were asked for stay when a correction changes the filter.
    place.dbacl_reading("--mail-correct f lists", mail("lists", 60)).output();
    rates(order, expected);
    for wrong in ["family:0", "family:2", "other", "family:x"] {
        learn(&format!("--protect {wrong}")).complains(1, "--protect");
    }
    rates(order, expected);
    // Without `--protect`, only folders with names such as `ham` are protected; here none is.
    learn("").output();
    rates("work lists family spam", [None; 4]);
}

#[test]
fn both_of_two_folders_can_be_protected() {
    let labels = ["work", "spam"];
    let place = filter(&labels);
    learn(&place, &labels, "--protect spam:1%");
    let protected = || rule(&place)["protected"].clone();
    assert_eq!(protected(), serde_json::json!([0.001, 0.01]));
    place.dbacl_reading("--mail-correct f spam", mail("work", 3)).output();
    assert_eq!(protected(), serde_json::json!([0.001, 0.01]));
}

#[test]
fn forgetting_leaves_no_trace_of_what_was_learned_or_put_right() {
    let all = WORDS.map(|(label, _)| label);
    for labels in [&["work", "spam"][..], &all[..]] {
        let filter = || filter(labels);
        let (one, other, third) = (filter(), filter(), filter());
        let mail = |number: usize| mail("spam", number) + "and a word that nobody else has\n";
        let correct = |place: &Scratch, label: &str, number: usize| {
            place.dbacl_reading(&format!("--mail-correct f {label}"), mail(number)).output()
        };
        let forget = |place: &Scratch, label: &str, number: usize| {
            place.dbacl_reading(&format!("--mail-forget f {label}"), mail(number))
        };
        // Learned and forgotten, which cannot be done twice.
        let before = contents(&one);
        correct(&one, "spam", 90);
        assert!(contents(&one) != before);
        forget(&one, "spam", 90).output();
        assert!(contents(&one) == before && !one.path("f/table.before").exists(), "{labels:?}");
        forget(&one, "spam", 90).complains(1, "no such message was learned");
        // The other filter learns and forgets another message.
        correct(&other, "spam", 91);
        forget(&other, "spam", 91).output();
        assert!(contents(&one) == contents(&other), "{labels:?}");
        // Learned, put right twice, and forgotten.
        correct(&third, "spam", 92);
        let learned = contents(&third);
        correct(&third, "work", 92);
        assert!(contents(&third) != learned);
        correct(&third, "spam", 92);
        correct(&third, "work", 92);
        forget(&third, "work", 92).output();
        assert!(contents(&third) == contents(&one), "{labels:?}");
    }
}

#[test]
fn mails_in_the_wrong_folder_are_named_and_silence_nothing() {
    let room = Scratch::new();
    let write = |label: &str, misfiled: &[usize]| {
        let other = if label == "work" { "spam" } else { "work" };
        let mut mails: Vec<String> = (0..150).map(|number| mail(label, number)).collect();
        for &at in misfiled {
            mails.insert(at, mail(other, 500 + at));
        }
        room.write(&format!("{label}.mbox"), mails.concat());
    };
    let learned = |quiet: &str| {
        let folders = "--protect work work=work.mbox spam=spam.mbox";
        let output = room.dbacl(&format!("{quiet} --mail-learn f {folders}"));
        assert!(output.status == 0, "{}", output.stderr);
        (output.stdout, output.stderr)
    };
    write("work", &[]);
    write("spam", &[]);
    let (clean, said) = learned("");
    assert_eq!(said, "");
    let unsure = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("expect about ")).expect("an outlook");
        line.split(' ').nth(2).and_then(|number| number.parse::<u32>().ok()).expect("a share")
    };
    assert!(unsure(&clean) <= 15, "{clean}");
    write("work", &[7, 30, 31, 32, 90, 120, 121, 140]);
    let (mixed, said) = learned("");
    assert!(unsure(&mixed) <= 15, "{mixed} {said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!((3..=9).contains(&lines.len()), "{said}");
    assert!(lines[0].ends_with("look at it: dbacl --mail-review f"), "{said}");
    for line in &lines[1..] {
        let words = "looks like spam, not work: cheap pills offer";
        assert!(line.starts_with("dbacl:warning: work.mbox, message ") && line.ends_with(words));
        let place = ["8", "31", "32", "33", "91", "121", "122", "141"];
        let number = line.split(' ').nth(3).unwrap_or_default();
        assert!(place.contains(&number), "{line}");
    }
    assert_eq!(learned("--quiet"), (String::new(), String::new()));
}

#[test]
fn old_mail_leaves_no_trace_in_a_window() {
    let labels = ["work", "spam"];
    let (one, other) = (Scratch::new(), Scratch::new());
    // Mail of 2024 and mail of 2001, once with each message in a file of its own, and once in
    // mailboxes.
    let old = |label: &str, number: usize| {
        let mail =
            mail(label, number).replace("Mon Jan  1 00:00:00 2024", "Mon Jan  1 00:00:00 2001");
        mail.replace("own", "old")
    };
    for label in labels {
        let new: String = (0..20).map(|number| mail(label, number)).collect();
        let both: String = (0..15).map(|number| old(label, number)).collect::<String>() + &new;
        one.write(&format!("all-{label}/mbox"), both + &old(label, 99));
        other.write(&format!("all-{label}/mbox"), new);
        for (place, years) in [(&one, &[2001, 2024][..]), (&other, &[2024])] {
            for year in years {
                let text = mail(label, 40).split_once('\n').expect("lines").1.to_owned();
                let head = format!("Received: by x;\n Mon, 1 Jan {year} 00:00:00 +0000\n");
                place.write(&format!("{label}/{year}"), head + &text);
            }
            place.write(&format!("{label}/dateless"), "Subject: minutes\n\noffer agenda\n");
        }
    }
    let days = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let today = days.expect("after 1970").as_secs() / 86400;
    // The number of days since the beginning of 2020.
    let window = today - 18_262;
    for place in [&one, &other] {
        let learn = |args: &str| place.dbacl(&format!("--mail-learn {args} --window {window}"));
        learn("g work=all-work/mbox spam=all-spam/mbox").says("40 messages (work 20, spam 20)");
        learn("h work=work spam=spam").says("4 messages (work 2, spam 2)");
    }
    for set in ["g", "h"] {
        assert!(contents_of(&one.path(set)) == contents_of(&other.path(set)), "{set}");
    }
    for wrong in ["0", "-1", "x", ""] {
        let refused = one.dbacl_args(["--mail-learn", "g", "--window", wrong, "work=work"]);
        assert!(refused.stderr.contains("--window needs a number of days (got"), "{wrong}");
    }
    let all_old = one.dbacl("--mail-learn g --window 1 work=all-work/mbox spam=all-spam/mbox");
    assert!(all_old.stderr.contains("all mail in all-work/mbox is older than --window allows"));
}

/// A message of another time has other words beside those that its kind always has.
fn mail_of(time: char, label: &str, number: usize) -> String {
    let words: Vec<String> =
        (0..12).map(|word| format!("{label}{time}{}", (number * 7 + word * 5) % 60)).collect();
    let head = "From a@b.c Mon Jan  1 00:00:00 2024";
    format!("{head}\nSubject: {label} {}\n\n{} for all of us\n\n", words[0], words.join(" "))
}

#[test]
fn mail_that_has_changed_is_told_once() {
    let room = Scratch::new();
    let learned = |quiet: &str, mails: &[(char, std::ops::Range<usize>)]| {
        for label in ["ham", "spam"] {
            let each = mails.iter().flat_map(|(time, numbers)| {
                numbers.clone().map(move |number| mail_of(*time, label, number))
            });
            room.write(&format!("{label}.mbox"), each.collect::<String>());
        }
        let args = format!("{quiet} --mail-learn f ham=ham.mbox spam=spam.mbox");
        let output = room.dbacl(&args);
        assert!(output.status == 0, "{}", output.stderr);
        output.stderr
    };
    assert_eq!(learned("", &[('x', 0..120)]), "");
    // Nothing new, and new mail like the old.
    assert_eq!(learned("", &[('x', 0..120)]), "");
    assert_eq!(learned("", &[('x', 0..150)]), "");
    let later = [('x', 0..150), ('y', 0..40)];
    let said = learned("", &later);
    assert_eq!(said.lines().count(), 1, "{said}");
    let begin = "dbacl:warning: mail has changed since the filter in f was learned: ";
    has(&said, "of 40 new messages of ham");
    assert!(said.starts_with(begin), "{said}");
    assert!(said.trim_end().ends_with("--window DAYS"), "{said}");
    // What the filter has learned it knows.
    assert_eq!(learned("", &later), "");
    assert_eq!(learned("--quiet", &[('x', 0..150), ('z', 0..40)]), "");
}

#[test]
fn forgetting_the_last_mail_of_a_folder_leaves_nothing_of_it() {
    let forgotten = |last: &str| {
        let place = Scratch::new();
        let ham: String = (0..20).map(|number| mail("work", number)).collect();
        place.write("ham.mbox", ham);
        place.write("spam.mbox", last);
        place.dbacl("--mail-learn f ham=ham.mbox spam=spam.mbox").output();
        place.dbacl_reading("--mail-forget f spam", last).output();
        assert!(verdict(&place, last).contains("unsure"));
        let after = contents(&place);
        // The category can be learned again.
        place.dbacl_reading("--mail-correct f spam", last).output();
        assert!(contents(&place) != after);
        after
    };
    let (one, other) = (forgotten(&mail("spam", 1)), forgotten(&mail("lists", 2)));
    let ledger = |files: &[(String, Vec<u8>)]| {
        files.iter().find(|(name, _)| name.starts_with("ledger.")).map(|(_, bytes)| bytes.clone())
    };
    assert!(ledger(&one) == ledger(&other), "whatever it had learned");
}
