// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitted sets of any number of categories, as single documents are learned, put right and
//! forgotten.

use crate::mails::dbacl;
use std::fs;
use std::os::unix::fs::MetadataExt;
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

/// A folder with a filter that has learned 20 messages of each of these kinds.
fn filter(labels: &[&str]) -> tempfile::TempDir {
    filter_read(labels, "unicode")
}

fn filter_read(labels: &[&str], reading: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for label in labels {
        let mails: String = (0..20).map(|number| mail(label, number)).collect();
        fs::write(folder.path().join(format!("{label}.mbox")), mails).expect("written");
    }
    learn_with(folder.path(), labels, &["--reading", reading]);
    folder
}

fn learn(folder: &Path, labels: &[&str]) -> String {
    learn_with(folder, labels, &[])
}

fn learn_with(folder: &Path, labels: &[&str], options: &[&str]) -> String {
    let operands: Vec<String> =
        labels.iter().map(|label| format!("{label}={label}.mbox")).collect();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let learn = ["--mail-learn", "f", "--protect", labels[0]];
    dbacl(folder, &[&learn, options, &operands[..]].concat(), "").output()
}

/// `--update` and its like on the set of a filter.
#[track_caller]
fn change(folder: &Path, labels: &[&str], option: &str, label: &str, mail: &str) {
    let mut args = vec![option.to_owned(), label.into(), "--keep".into(), "f/ledger".into()];
    args.extend(labels.iter().flat_map(|label| ["-c".into(), format!("./f/{label}")]));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    dbacl(folder, &args, mail).output();
}

fn verdict(folder: &Path, mail: &str) -> String {
    let filtered = dbacl(folder, &["--mail-filter", "f"], mail).output();
    let line = filtered.lines().find(|line| line.starts_with("X-DBACL: "));
    line.expect("a verdict").to_owned()
}

/// Whether the last change has left the state as it was written, and its changes beside it.
fn is_quick(folder: &Path) -> bool {
    folder.join("f/ledger.set/current/ledger.changes").exists()
}

/// All files of the filter `f`, but for the list of them.
pub fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.join("f/ledger.set/current")).expect("a set");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().into_string().expect("plain");
            (name, fs::read(entry.path()).expect("there"))
        })
        .filter(|(name, _)| name != "generation" && !name.starts_with("corrections"))
        .collect();
    files.sort();
    files
}

#[test]
fn filters_of_text_and_tags_know_any_number_of_folders() {
    let all = WORDS.map(|(label, _)| label);
    for labels in [&all[..2], &all[..]] {
        let folder = filter_read(labels, "blocks");
        let path = folder.path();
        let learned = contents(path);
        assert!(learned.iter().any(|(name, _)| name == "ledger.state"), "learning stays quick");
        for &label in labels {
            let found = verdict(path, &mail(label, 77));
            assert!(found.contains(label), "{label}: {found}");
            // What is shown adds up and names tags and runs of text.
            let reasons =
                dbacl(path, &["--mail-filter", "f", "--reasons"], mail(label, 77)).output();
            assert!(reasons.contains("X-DBACL-Reasons: "), "{reasons}");
        }
        dbacl(path, &["--mail-correct", "f", labels[1]], mail(labels[0], 3)).output();
        let found = verdict(path, &mail(labels[0], 3));
        assert!(contents(path) != learned, "{found}");
        // The folders do not say so, but the correction is kept, and nothing else has changed.
        dbacl(path, &["--mail-correct", "f", labels[0]], mail(labels[0], 3)).output();
        learn(path, labels);
        assert!(contents(path) == learned, "{labels:?}");
    }
}

#[test]
fn caution_decides_how_much_is_unsure() {
    let labels = ["work", "spam"];
    let folder = filter_read(&labels, "blocks");
    let path = folder.path();
    let band = |path: &Path| {
        let line = refit_lines(path, &labels).remove(0);
        let number = |name: &str| -> f64 {
            let rest = line.split_once(name).expect("there").1;
            rest.split(' ').next().expect("a number").parse().expect("a number")
        };
        (number(" low "), number(" high "))
    };
    let (low, high) = band(path);
    assert!(low < 0.0 && high > 0.0);
    for (before, caution, factor) in
        [("normal", "low", 0.75), ("low", "high", 1.3), ("high", "normal", 1.0)]
    {
        // A filter of its own: margins of folders of different sizes have other proportions.
        let folder = filter_read(&labels, "blocks");
        let path = folder.path();
        learn_with(path, &labels, &["--caution", before]);
        learn_with(path, &labels, &["--caution", caution]);
        let (lower, higher) = band(path);
        assert!((higher - lower - factor * (high - low)).abs() < 1e-4, "{caution}");
        // It stays when single messages are learned.
        change(path, &labels, "--update", "spam", &mail("spam", 90));
        assert_eq!(band(path), (lower, higher), "{caution}");
    }
    let said = dbacl(path, &["--mail-learn", "f", "--caution", "no", "a=b", "c=d"], b"");
    assert!(said.stderr.contains("--caution is low, normal or high, not no"));
}

#[test]
fn a_filter_has_any_number_of_folders() {
    let labels = WORDS.map(|(label, _)| label);
    let folder = filter(&labels);
    let path = folder.path();
    let order = fs::read_to_string(path.join("f/order")).expect("there");
    assert_eq!(order, "# dbacl mail filter\nwork\nlists\nfamily\nspam\n");
    for label in labels {
        let found = verdict(path, &mail(label, 77));
        assert!(
            found.contains(label) && found.ends_with('%') || found.contains("unsure"),
            "{found}"
        );
        assert!(found.contains(label), "{found}");
    }
    // Mail about a new subject arrives in the folder `lists`.
    let other = |number: usize| {
        let text = "concert tickets orchestra violin evening programme";
        format!("From: x@example.org\nSubject: {text}\n\n{text} {number} tonight\n")
    };
    let corrections = || path.join("f/ledger.set/current/corrections");
    let mut files = Vec::new();
    for number in 0..6 {
        dbacl(path, &["--mail-correct", "f", "lists"], other(number)).output();
        assert!(is_quick(path), "{number}");
        files.push(fs::metadata(corrections()).expect("there").ino());
    }
    // Corrections of new messages are added to one file, however many there are.
    assert!(files.iter().all(|file| *file == files[0]), "{files:?}");
    let found = verdict(path, &other(99));
    assert!(found.contains("lists"), "{found}");
    // A message that was learned under another label is corrected, and then corrected once more.
    dbacl(path, &["--mail-correct", "f", "family"], mail("spam", 3)).output();
    assert!(is_quick(path));
    let before = contents(path);
    dbacl(path, &["--mail-correct", "f", "family"], mail("spam", 3)).output();
    assert!(contents(path) == before);
    let said = learn(path, &labels);
    assert!(said.contains("86 messages (work 20, lists 26, family 21, spam 19)"), "{said}");
    assert!(said.contains("7 corrections were applied\n"), "{said}");
    assert!(!is_quick(path));
    // After learning fewer folders, the names of the other categories are gone.
    learn(path, &labels[..3]);
    assert!(fs::symlink_metadata(path.join("f/spam")).is_err());
    let wrong = dbacl(path, &["--mail-correct", "f", "spam"], other(1));
    let said = wrong.stderr;
    assert_eq!(said, "dbacl:error: the filter in f has work, lists and family, but no spam\n");
}

/// Lines `# refit` of the categories of a filter.
fn refit_lines(folder: &Path, labels: &[&str]) -> Vec<String> {
    let line = |label: &&str| {
        let bytes = fs::read(folder.join("f").join(label)).expect("a category");
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let line = lines.find(|line| line.starts_with(b"# refit ")).expect("a line");
        String::from_utf8_lossy(line).into_owned()
    };
    labels.iter().map(line).collect()
}

#[test]
fn mail_of_many_folders_can_be_unsure_and_some_can_be_protected() {
    let labels = WORDS.map(|(label, _)| label);
    let folder = filter(&labels);
    let path = folder.path();
    // The verdict on mail that is like the mail of one folder is that folder, and sure.
    let sure = labels.iter().filter(|label| {
        let found = verdict(path, &mail(label, 81));
        assert!(found.contains(**label), "{found}");
        found.starts_with(&format!("X-DBACL: {label} "))
    });
    assert_eq!(sure.count(), 4);
    // The verdict on mail that is like no folder is unsure.
    let words = "zebra okapi gnu kudu eland oryx";
    let found = verdict(path, &format!("From: x@y.z\nSubject: {words}\n\n{words} {words}\n"));
    assert!(found.starts_with("X-DBACL: unsure "), "{found}");
    let rates = |expected: [Option<&str>; 4]| {
        for (line, rate) in refit_lines(path, &labels).iter().zip(expected) {
            assert!(line.contains(" unsure ") && line.contains(" limit "), "{line}");
            let found = line.split_once(" rate ").and_then(|(_, rest)| rest.split(' ').next());
            assert_eq!(found, rate, "{line}");
        }
    };
    rates([Some("0.001"), None, None, None]);
    let operands: Vec<String> =
        labels.iter().map(|label| format!("{label}={label}.mbox")).collect();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let protect = ["--protect", "family:2%", "--protect", "work:0.0005"];
    let said =
        dbacl(path, &[&["--mail-learn", "f"], &protect[..], &operands].concat(), "").output();
    assert!(said.contains(" of 100 messages to be unsure\n"), "{said}");
    assert!(
        said.contains(" of work to be called something else (95 % confidence; 0 of 20"),
        "{said}"
    );
    let order = fs::read_to_string(path.join("f/order")).expect("there");
    assert_eq!(order, "# dbacl mail filter\nwork\nfamily\nlists\nspam\n");
    let expected = [Some("0.0005"), None, Some("0.02"), None];
    rates(expected);
    // The rates that were asked for stay in the categories when a correction changes them.
    dbacl(path, &["--mail-correct", "f", "lists"], mail("lists", 60)).output();
    rates(expected);
    for wrong in ["family:0", "family:2", "other", "family:x"] {
        let args = [&["--mail-learn", "f", "--protect", wrong], &operands[..]].concat();
        let refused = dbacl(path, &args, b"");
        assert!(refused.status != 0, "{wrong}");
        assert!(refused.stderr.contains("--protect"), "{}", refused.stderr);
    }
    rates(expected);
    // Without `--protect`, only folders with names such as `ham` are protected; here none is.
    dbacl(path, &[&["--mail-learn", "f"], &operands[..]].concat(), "").output();
    rates([None; 4]);
}

#[test]
fn both_of_two_folders_can_be_protected() {
    let labels = ["work", "spam"];
    let folder = filter(&labels);
    let path = folder.path();
    let learn = ["--mail-learn", "f", "work=work.mbox", "spam=spam.mbox"];
    dbacl(path, &[&learn[..], &["--protect", "work", "--protect", "spam:1%"]].concat(), "")
        .output();
    let lines = refit_lines(path, &labels);
    assert!(lines[0].contains(" fp 0.001 unsure ") && !lines[0].contains(" rate "), "{lines:?}");
    assert!(lines[1].contains(" rate 0.01 "), "{lines:?}");
    dbacl(path, &["--mail-correct", "f", "spam"], mail("work", 3)).output();
    assert!(refit_lines(path, &labels)[1].contains(" rate 0.01 "));
}

#[test]
fn forgetting_leaves_no_trace_of_what_was_learned_or_put_right() {
    let all = WORDS.map(|(label, _)| label);
    let all = &all[..];
    let two = &["work", "spam"][..];
    for (labels, reading) in [(two, "unicode"), (all, "unicode"), (two, "blocks"), (all, "blocks")]
    {
        // A change of many features is not written beside a small state.
        let is_quick = |path: &Path| reading == "blocks" || is_quick(path);
        let filter = || filter_read(labels, reading);
        let (one, other, third) = (filter(), filter(), filter());
        let mail = |number: usize| mail("spam", number) + "and a word that nobody else has\n";
        // Learned and forgotten.
        change(one.path(), labels, "--update", "spam", &mail(90));
        assert!(is_quick(one.path()));
        change(one.path(), labels, "--unlearn", "spam", &mail(90));
        // The other filter learns and forgets another message.
        change(other.path(), labels, "--update", "spam", &mail(91));
        change(other.path(), labels, "--unlearn", "spam", &mail(91));
        assert!(contents(one.path()) == contents(other.path()), "{labels:?} {reading}");
        // Learned, put right twice, and forgotten.
        change(third.path(), labels, "--update", "spam", &mail(92));
        let learned = contents(third.path());
        change(third.path(), labels, "--correct", "work", &mail(92));
        assert!(is_quick(third.path()) && contents(third.path()) != learned);
        change(third.path(), labels, "--correct", "spam", &mail(92));
        assert!(is_quick(third.path()));
        change(third.path(), labels, "--correct", "work", &mail(92));
        let missing = dbacl(
            third.path(),
            &["--unlearn", "spam", "--keep", "f/ledger", "-c", "./f/work", "-c", "./f/spam"],
            mail(92),
        );
        assert!(missing.status != 0);
        change(third.path(), labels, "--unlearn", "work", &mail(92));
        for (file, same) in contents(third.path()).iter().zip(contents(one.path())) {
            assert_eq!(file.0, same.0);
            assert!(file.1 == same.1, "{} {labels:?}", file.0);
        }
    }
}

#[test]
fn a_state_of_many_categories_is_made_anew_when_it_is_damaged() {
    let labels = WORDS.map(|(label, _)| label);
    let folder = filter(&labels);
    let path = folder.path();
    let state = path.join("f/ledger.state");
    let update = |number: usize| {
        let args = ["--mail-correct", "f", "lists"];
        let output = dbacl(path, &args, mail("lists", number));
        assert!(output.status == 0, "{}", output.stderr);
        output.stderr
    };
    let length = fs::metadata(&state).expect("there").len();
    let mut number = 100;
    let mut next = || {
        number += 1;
        update(number)
    };
    let mut found = 0;
    for block in (0..length).step_by(1024) {
        assert_eq!(next(), "");
        let mut bytes = fs::read(&state).expect("there");
        bytes[usize::try_from(block).expect("small") + 130] ^= 1;
        fs::write(&state, &bytes).expect("written");
        let said = next();
        if said.is_empty() {
            // The damaged block was not read, so the damage was not noticed.
            fs::remove_file(fs::canonicalize(&state).expect("there")).expect("removed");
            assert!(next().contains("did not fit its ledger and was made anew"));
        } else {
            assert!(said.contains("and was made anew") && said.lines().count() == 1, "{said}");
            found += 1;
        }
    }
    assert!(found > 3, "{found}");
    assert!(verdict(path, &mail("spam", 500)).contains("spam"));
}

#[test]
fn pairs_of_words_and_contrast_are_learned_without_a_fit_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for label in ["work", "spam"] {
        let mails: String = (0..20).map(|number| mail(label, number)).collect();
        fs::write(path.join(format!("{label}.mbox")), mails).expect("written");
        let mbox = format!("{label}.mbox");
        dbacl(
            path,
            &["-T", "email", "-w", "2", "-H", "18", "--keep", "seen", "-l", label, &mbox],
            "",
        )
        .output();
    }
    let set = ["--keep", "seen", "-c", "./work", "-c", "./spam"];
    let fit = ["--refit", "--always", "--contrast", "yes", "--once"];
    dbacl(path, &[&fit[..], &set[..]].concat(), "").output();
    let changes = path.join("seen.set/current/ledger.changes");
    for (option, label) in [("--update", "spam"), ("--correct", "work"), ("--correct", "spam")] {
        dbacl(path, &[&[option, label], &set[..]].concat(), mail("spam", 50)).output();
        assert!(changes.exists(), "{option} {label}");
    }
    let verdict = dbacl(path, &["--verdict", "-c", "./work", "-c", "./spam"], mail("spam", 51));
    assert!(verdict.stdout.contains("spam"), "{}", verdict.stdout);
}

#[test]
fn mails_in_the_wrong_folder_are_named_and_silence_nothing() {
    let room = tempfile::tempdir().expect("a folder");
    let write = |label: &str, misfiled: &[usize]| {
        let other = if label == "work" { "spam" } else { "work" };
        let mut mails: Vec<String> = (0..150).map(|number| mail(label, number)).collect();
        for &at in misfiled {
            mails.insert(at, mail(other, 500 + at));
        }
        fs::write(room.path().join(format!("{label}.mbox")), mails.concat()).expect("written");
    };
    let learned = |quiet: &[&str]| {
        let command = [quiet, &["--mail-learn", "f", "--protect", "work"]].concat();
        let folders = ["work=work.mbox", "spam=spam.mbox"];
        let output = dbacl(room.path(), &[&command[..], &folders].concat(), b"");
        assert!(output.status == 0, "{}", output.stderr);
        (output.stdout, output.stderr)
    };
    write("work", &[]);
    write("spam", &[]);
    let (clean, said) = learned(&[]);
    assert_eq!(said, "");
    let unsure = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("expect about ")).expect("an outlook");
        line.split(' ').nth(2).and_then(|number| number.parse::<u32>().ok()).expect("a share")
    };
    assert!(unsure(&clean) <= 15, "{clean}");
    write("work", &[7, 30, 31, 32, 90, 120, 121, 140]);
    let (mixed, said) = learned(&[]);
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
    assert_eq!(learned(&["--quiet"]), (String::new(), String::new()));
}

#[test]
fn old_mail_leaves_no_trace_in_a_window() {
    let labels = ["work", "spam"];
    let (one, other) = (filter(&labels), filter(&labels));
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
        fs::write(one.path().join(format!("{label}.mbox")), both + &old(label, 99))
            .expect("written");
        fs::write(other.path().join(format!("{label}.mbox")), new).expect("written");
        for (folder, years) in [(one.path(), &[2001, 2024][..]), (other.path(), &[2024])] {
            let mails = folder.join(label);
            fs::create_dir(&mails).expect("made");
            for year in years {
                let text = mail(label, 40).split_once('\n').expect("lines").1.to_owned();
                let head = format!("Received: by x;\n Mon, 1 Jan {year} 00:00:00 +0000\n");
                fs::write(mails.join(year.to_string()), head + &text).expect("written");
            }
            fs::write(mails.join("dateless"), "Subject: minutes\n\noffer agenda\n")
                .expect("written");
        }
    }
    let days = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let today = days.expect("after 1970").as_secs() / 86400;
    // The number of days since the beginning of 2020.
    let window = (today - 18_262).to_string();
    for folder in [one.path(), other.path()] {
        for label in labels {
            // A mailbox and a folder of files are learned under the same label.
            let place = folder.join(format!("all-{label}"));
            fs::create_dir(&place).expect("made");
            fs::rename(folder.join(format!("{label}.mbox")), place.join("mbox")).expect("moved");
        }
        let learn = ["--mail-learn", "g", "--window", &window];
        let boxes = ["work=all-work/mbox", "spam=all-spam/mbox"];
        let said = dbacl(folder, &[&learn[..], &boxes].concat(), "").output();
        assert!(said.contains("40 messages (work 20, spam 20)"), "{said}");
        let learn = ["--mail-learn", "h", "--window", &window, "work=work", "spam=spam"];
        let said = dbacl(folder, &learn, "").output();
        assert!(said.contains("4 messages (work 2, spam 2)"), "{said}");
    }
    for set in ["g", "h"] {
        let files = |folder: &Path| {
            let mut files = Vec::new();
            for entry in fs::read_dir(folder.join(set).join("ledger.set/current")).expect("a set") {
                let entry = entry.expect("an entry");
                let name = entry.file_name().into_string().expect("plain");
                if name != "generation" && !name.starts_with("corrections") {
                    files.push((name, fs::read(entry.path()).expect("there")));
                }
            }
            files.sort();
            files
        };
        assert!(files(one.path()) == files(other.path()), "{set}");
    }
    for wrong in ["0", "-1", "x", ""] {
        let refused =
            dbacl(one.path(), &["--mail-learn", "g", "--window", wrong, "work=work"], b"");
        assert!(refused.stderr.contains("--window needs a number of days (got"), "{wrong}");
    }
    let all_old = dbacl(
        one.path(),
        &["--mail-learn", "g", "--window", "1", "work=all-work/mbox", "spam=all-spam/mbox"],
        b"",
    );
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
    let room = tempfile::tempdir().expect("a folder");
    let learned = |quiet: &[&str], mails: &[(char, std::ops::Range<usize>)]| {
        for label in ["ham", "spam"] {
            let each = mails.iter().flat_map(|(time, numbers)| {
                numbers.clone().map(move |number| mail_of(*time, label, number))
            });
            let file = room.path().join(format!("{label}.mbox"));
            fs::write(file, each.collect::<String>()).expect("written");
        }
        let args = [quiet, &["--mail-learn", "f", "ham=ham.mbox", "spam=spam.mbox"]].concat();
        let output = dbacl(room.path(), &args, b"");
        assert!(output.status == 0, "{}", output.stderr);
        output.stderr
    };
    assert_eq!(learned(&[], &[('x', 0..120)]), "");
    // Nothing new, and new mail like the old.
    assert_eq!(learned(&[], &[('x', 0..120)]), "");
    assert_eq!(learned(&[], &[('x', 0..150)]), "");
    let later = [('x', 0..150), ('y', 0..40)];
    let said = learned(&[], &later);
    assert_eq!(said.lines().count(), 1, "{said}");
    let begin = "dbacl:warning: mail has changed since the filter in f was learned: ";
    assert!(said.starts_with(begin) && said.contains("of 40 new messages of ham"), "{said}");
    assert!(said.trim_end().ends_with("--window DAYS"), "{said}");
    // What the filter has learned it knows.
    assert_eq!(learned(&[], &later), "");
    assert_eq!(learned(&["--quiet"], &[('x', 0..150), ('z', 0..40)]), "");
}

#[test]
fn forgetting_the_last_mail_of_a_folder_leaves_nothing_of_it() {
    let ordinary = |last: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let ham: String = (0..20).map(|number| mail("work", number)).collect();
        fs::write(path.join("ham.mbox"), ham).expect("written");
        fs::write(path.join("spam.mbox"), last).expect("written");
        dbacl(path, &["--mail-learn", "f", "ham=ham.mbox", "spam=spam.mbox"], "").output();
        let before = fs::read(path.join("f/spam.ordinary")).expect("there");
        let set = ["--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
        dbacl(path, &[&["--unlearn", "spam"], &set[..]].concat(), last).output();
        assert!(verdict(path, last).contains("unsure"));
        let after = fs::read(path.join("f/spam.ordinary")).expect("there");
        assert!(after != before);
        // The category can be learned again.
        dbacl(path, &["--mail-correct", "f", "spam"], last).output();
        dbacl(path, &[&["--refit", "--always"], &set[..]].concat(), "").output();
        assert!(fs::read(path.join("f/spam.ordinary")).expect("there") == before);
        after
    };
    let (one, other) = (ordinary(&mail("spam", 1)), ordinary(&mail("lists", 2)));
    assert!(one == other, "a category without mails is the same, whatever it had learned");
}
