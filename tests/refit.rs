// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting categories together, by the program: what files and verdicts users see.

use crate::mails::{dbacl, mail};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with 40 messages of either kind in mailboxes, and a filter that has learned them.
pub fn filter() -> (tempfile::TempDir, PathBuf) {
    filter_read("blocks")
}

/// The same, with messages read so.
pub fn filter_read(reading: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    for label in ["ham", "spam"] {
        let mails: String = (0..40).map(|number| mail(label, number)).collect();
        fs::write(folder.path().join(format!("{label}.mbox")), mails).expect("written");
    }
    let learned = &["--mail-learn", "f", "--reading", reading, "ham=ham.mbox", "spam=spam.mbox"];
    let learned = dbacl(folder.path(), learned, b"").output();
    assert!(learned.contains("80 messages (ham 40, spam 40)"));
    let path = folder.path().to_path_buf();
    (folder, path)
}

pub fn verdict(folder: &Path, mail: &str) -> String {
    let output = dbacl(folder, &["--mail-filter", "f"], mail).output();
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with("X-DBACL")).collect();
    assert_eq!(lines.len(), 1, "{output}");
    let without: String =
        output.split_inclusive('\n').filter(|line| !line.starts_with("X-DBACL")).collect();
    assert_eq!(without, mail.replace("X-DBACL: ham 100.00%\n", ""), "the mail is unchanged");
    lines[0].to_owned()
}

#[test]
fn a_filter_learns_judges_and_is_corrected() {
    let (_folder, path) = filter();
    assert!(verdict(&path, &mail("spam", 77)).starts_with("X-DBACL: spam "));
    assert!(verdict(&path, &mail("ham", 77)).starts_with("X-DBACL: ham "));
    let forged = mail("spam", 78).replace("Subject", "X-DBACL: ham 100.00%\nSubject");
    assert!(verdict(&path, &forged).starts_with("X-DBACL: spam "));
    let odd = "From: friend@example.org\n\ncheap pills offer from a friend of agenda\n";
    for word in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"] {
        let mail = format!("{odd}and {word}\n");
        dbacl(&path, &["--mail-correct", "f", "ham"], mail).output();
    }
    assert!(verdict(&path, odd).contains("ham"), "{}", verdict(&path, odd));
}

#[test]
fn reasons_add_up_to_the_odds() {
    let (_folder, path) = filter();
    let forged = "X-DBACL-Reasons: ham +9.00 =\n +9.00 nothing\n";
    for label in ["spam", "ham"] {
        let odd = "caf\u{e9} \u{1b}[31m a,b=+1.00\r\tX-Evil: yes ".repeat(3);
        let mail = mail(label, 77).replace("common", &format!("common {odd}"));
        let brought = mail.replace("Subject", &format!("{forged}Subject"));
        let output = dbacl(&path, &["--mail-filter", "f", "--reasons"], brought).output();
        let start = output.find("X-DBACL-Reasons:").expect("reasons");
        let end = output.find("From: ").expect("the mail's own header");
        let header = &output[start..end];
        assert_eq!(output.matches("X-DBACL-Reasons").count(), 1, "{output}");
        let verdict = output.find("X-DBACL: ").expect("a verdict");
        assert!(verdict < start, "{output}");
        assert_eq!(output[..verdict].to_owned() + &output[end..], mail, "the mail is unchanged");
        for (number, line) in header.lines().enumerate() {
            assert!(line.len() <= 78 && (number == 0 || line.starts_with(' ')), "{header}");
            assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header}");
        }
        let numbers: Vec<f64> = header
            .split_whitespace()
            .filter(|word| word.starts_with(['+', '-']))
            .filter_map(|word| word.parse().ok())
            .collect();
        assert!((4..=13).contains(&numbers.len()), "{header}");
        let sum: f64 = numbers[1..].iter().sum();
        assert!((numbers[0] - sum).abs() < 1e-6, "{header}");
        fs::write(path.join("mail"), &mail).expect("written");
        let set = ["--verdict", "--format", "ndjson", "-c", "./f/ham", "-c", "./f/spam", "mail"];
        let judged: serde_json::Value =
            serde_json::from_str(&dbacl(&path, &set, b"").stdout).expect("JSON");
        assert!(header.starts_with(&format!("X-DBACL-Reasons: {label} ")), "{header}");
        let own = judged["categories"].as_array().expect("an array").iter();
        let odds = own.filter(|row| row["name"] == label).find_map(|row| row["log_odds"].as_f64());
        let bits = odds.expect("odds") / std::f64::consts::LN_2;
        assert!((bits - sum).abs() < 0.01, "{bits} {header}");
    }
    let plain = dbacl(&path, &["--mail-filter", "f"], mail("spam", 77));
    assert!(!plain.stdout.contains("Reasons"));
}

#[test]
fn a_filter_of_few_mails_says_what_it_does_not_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let learn = |number: usize| {
        for label in ["ham", "spam"] {
            let all: String = (0..number).map(|number| mail(label, number)).collect();
            fs::write(path.join(label), all).expect("written");
        }
        let words = ["--mail-learn", "f", "--reading", "unicode", "ham=ham", "spam=spam"];
        dbacl(path, &words, b"").output()
    };
    for number in [1, 2, 7] {
        let said = learn(number);
        assert!(said.contains("every message will be unsure until there are 8 messages"), "{said}");
        for label in ["ham", "spam"] {
            let line = verdict(path, &mail(label, 77));
            assert!(line.starts_with("X-DBACL: unsure "), "{line}");
            assert!(number < 7 || line.ends_with(label), "{line}");
        }
    }
    let said = learn(12);
    assert!(
        said.contains(" of 100 messages to be unsure; usually 22 with 50 of each kind"),
        "{said}"
    );
    assert!(said.contains("of ham to be called spam (95 % confidence; 0 of 12 here)"), "{said}");
    // This mail has no word that was learned.
    let unlike = "From: x@y.z\nSubject: zebra\n\nokapi gnu kudu eland oryx nyala topi bongo\n";
    assert!(verdict(path, unlike).starts_with("X-DBACL: unsure "));
}

#[test]
fn more_than_two_categories_can_be_unsure() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let words = ["whale ship sea", "nation war army", "market price trade"];
    let documents = |at: usize| -> String {
        let line = |number: usize| format!("{} and common words {}\n", words[at], number % 5);
        (0..40).map(line).collect()
    };
    let names = ["sea", "war", "trade"];
    for (at, name) in names.iter().enumerate() {
        fs::write(path.join(format!("{name}.txt")), documents(at)).expect("written");
        let args = ["-l", &format!("./{name}"), &format!("{name}.txt")];
        dbacl(path, &args, b"").output();
    }
    let sources = names.map(|name| format!("./{name}={name}.txt"));
    let set: Vec<&str> = sources.iter().flat_map(|source| ["-c", source]).collect();
    let fit = [&["--refit", "--always", "--once", "--unsure", "--documents", "lines"][..], &set];
    dbacl(path, &fit.concat(), b"").output();
    let judge = ["--verdict", "-c", "./trade", "-c", "./sea", "-c", "./war"];
    let surely = dbacl(path, &judge, b"nation war army and common words 3\n");
    assert!(surely.stdout.starts_with("war "), "{}", surely.stdout);
    let judged = dbacl(path, &judge, b"zebra okapi gnu kudu\n");
    assert!(judged.stdout.starts_with("unsure "), "{}", judged.stdout);
    assert_eq!(judged.status, 0);
}

#[test]
fn explanations_name_files_and_subjects() {
    let (_folder, path) = filter();
    fs::create_dir(path.join("inbox")).expect("a folder");
    for number in 0..3 {
        let mail = mail("spam", 200 + number).replace("Subject: ", &format!("Subject: N{number} "));
        fs::write(path.join(format!("inbox/{number}")), mail).expect("written");
    }
    fs::write(path.join("mbox"), mail("ham", 90) + &mail("ham", 91)).expect("written");
    let explain = ["--explain", "-c", "./f/ham", "-c", "./f/spam"];
    let said = |operands: &[&str], input: &str| {
        dbacl(&path, &[&explain[..], operands].concat(), input).stdout
    };
    let lines = |said: &str| -> Vec<String> {
        said.lines().skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let found = lines(&said(&["inbox"], ""));
    assert_eq!(found.len(), 3, "{found:?}");
    for (number, line) in found.iter().enumerate() {
        assert!(line.starts_with(&format!("inbox/{number}: N{number} ")), "{line}");
    }
    let found = lines(&said(&["mbox", "inbox"], ""));
    assert!(found[0].starts_with("mbox: ") && found[1].starts_with("mbox: "), "{found:?}");
    assert_eq!(found[3], "and 2 more");
    let found = lines(&said(&[], "Subject: =?utf-8?q?caf=C3=A9?=\n\npills\n"));
    assert_eq!(found, ["caf\u{e9}"]);
    let page =
        dbacl(&path, &["--explain-html", "-c", "./f/ham", "-c", "./f/spam", "inbox/1"], b"").stdout;
    assert!(page.contains("<p>inbox/1: N1 "), "{page}");
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    let (_one, one) = filter();
    let (_other, other) = filter();
    for name in ["ham", "spam", "ledger", "ledger.state"] {
        let read = |folder: &Path| fs::read(folder.join("f").join(name)).expect("there");
        assert!(read(&one) == read(&other), "{name}");
    }
}

#[test]
fn learning_and_forgetting_leaves_no_trace() {
    let (_folder, path) = filter();
    let set = ["-c", "./f/ham", "-c", "./f/spam", "--keep", "f/ledger"];
    // A state made again from the ledger, to compare with.
    let change = |option: &str, mail: &str| {
        let args = [&[option, "spam"], &set[..]].concat();
        dbacl(&path, &args, mail).output();
    };
    let extra = mail("spam", 99) + "quite unlike the others\n";
    let before = fs::read(path.join("f/ledger")).expect("there");
    let tables =
        |path: &Path| dbacl(path, &["-n", "-c", "./f/ham", "-c", "./f/spam"], &extra).stdout;
    let scores = tables(&path);
    change("--update", &extra);
    assert!(fs::read(path.join("f/ledger")).expect("there") != before);
    assert_ne!(tables(&path), scores);
    change("--unlearn", &extra);
    assert!(fs::read(path.join("f/ledger")).expect("there") == before);
    assert_eq!(tables(&path), scores);
    let args = [&["--unlearn", "spam"], &set[..]].concat();
    let again = dbacl(&path, &args, extra).complaint(1);
    assert!(again.contains("no such document"), "{}", again);
}

/// Learns and fits the messages of `ham/` and `spam/` below `mails`, in the folder `set`.
fn learn_folders(path: &Path, set: &str, mails: &str, more: &str) -> PathBuf {
    let folder = path.join(set);
    fs::create_dir(&folder).expect("made");
    let options = "-T email -T email:headers -T email:theaders -L uniform -H 20 -h 6";
    let options: Vec<&str> = options.split(' ').chain(more.split(' ')).collect();
    for label in ["ham", "spam"] {
        let (category, mails) = (format!("./{label}"), format!("../{mails}/{label}"));
        let args = [&options[..], &["-l", &category, "--keep", "ledger", &mails]].concat();
        dbacl(&folder, &args, b"").output();
    }
    let fitted = ["-c", "./ham", "-c", "./spam", "--keep", "ledger"];
    let settings = ["--refit", "--always", "--unsure", "--cost", "1", "--blend", "0.1"];
    dbacl(&folder, &[&settings[..], &fitted].concat(), b"").output();
    folder
}

#[test]
fn forgetting_is_never_having_learned_to_the_byte() {
    for options in ["-e cef", "-e adp", "-e adp -w 2", "-e cef2 -w 2 -S"] {
        forget_to_the_byte(options);
    }
}

fn forget_to_the_byte(options: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for label in ["ham", "spam"] {
        for part in ["all", "rest", "gone"] {
            fs::create_dir_all(path.join(part).join(label)).expect("made");
        }
        for number in 0..60 {
            // Each tenth mail is a copy of an earlier one; of those that go one is the second of
            // two copies, others are broken: what waits in a decoder or a tokenizer stays their
            // own.
            let word = if number % 10 == 9 { number - 7 } else { number };
            let text = format!("{}word{word} word{} own{word}\n", mail(label, word), word / 3);
            let broken = "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGEgdGl0b";
            let text = if number % 20 == 4 {
                text.replacen("\n\n", &format!("\n{broken}"), 1)
            } else if number == 17 {
                let html = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable";
                let cut = "      here.<FONT color=3D#666600></A></FONT>.</FONT></TD></TA=\n";
                text.replacen("\n\n", &format!("\n{html}\n\n"), 1) + cut
            } else {
                text
            };
            let part = if [4, 9, 17, 30, 44].contains(&number) { "gone" } else { "rest" };
            for part in [part, "all"] {
                fs::write(path.join(part).join(label).join(format!("{number:02}")), &text)
                    .expect("written");
            }
        }
    }
    let never = learn_folders(path, "never", "rest", options);
    let forgot = learn_folders(path, "forgot", "all", options);
    assert!(fs::read(never.join("ham")).unwrap() != fs::read(forgot.join("ham")).unwrap());
    let names = ["ham", "spam", "ham.ordinary", "spam.ordinary", "ledger", "ledger.state"];
    for label in ["ham", "spam"] {
        let mails = format!("../gone/{label}");
        let set = ["--keep", "ledger", "-c", "./ham", "-c", "./spam", &mails];
        let done = dbacl(&forgot, &[&["--unlearn", label], &set[..]].concat(), b"");
        assert!(done.status == 0 && done.stderr.is_empty(), "{}", done.stderr);
    }
    for name in names {
        let read = |folder: &Path| fs::read(folder.join(name)).expect("there");
        assert!(read(&never) == read(&forgot), "{options}: {name}");
    }
    // It does not matter which of two copies is forgotten: the fit is the same.
    fs::rename(path.join("rest/ham/02"), path.join("rest/ham/09")).expect("renamed");
    let other = learn_folders(path, "other", "rest", options);
    let scores = |folder: &Path| {
        let args = ["-n", "-v", "-F", "-c", "./ham", "-c", "./spam", "../all/ham", "../all/spam"];
        dbacl(folder, &args, b"").stdout
    };
    assert!(fs::read(never.join("ledger")).unwrap() != fs::read(other.join("ledger")).unwrap());
    assert_eq!(scores(&never), scores(&other));
}

#[test]
fn ordinary_files_learn_what_single_documents_told() {
    let (_folder, path) = filter();
    let set = ["-c", "./f/ham", "-c", "./f/spam", "--keep", "f/ledger"];
    let extra = mail("spam", 99) + "quite unlike the others\n";
    for args in [&["--update", "spam"][..], &["--refit", "--always", "--once"]] {
        dbacl(&path, &[args, &set[..]].concat(), &extra).output();
    }
    fs::write(path.join("more.mbox"), fs::read(path.join("spam.mbox")).unwrap()).expect("written");
    let mut mails = fs::read(path.join("spam.mbox")).expect("there");
    mails.extend_from_slice(extra.as_bytes());
    fs::write(path.join("spam.mbox"), mails).expect("written");
    dbacl(&path, &["--mail-learn", "g", "ham=ham.mbox", "spam=spam.mbox"], b"").output();
    for name in ["ham.ordinary", "spam.ordinary"] {
        let slots = |folder: &str| {
            let bytes = fs::read(path.join(folder).join(name)).expect("there");
            let line = bytes.iter().position(|&byte| byte == b'\n').expect("a first line");
            bytes[line..].to_vec() // the path of the category stands in it
        };
        assert!(slots("f") == slots("g"), "{name}");
    }
}

#[test]
fn verdicts_come_as_json_and_tables() {
    let (_folder, path) = filter_read("unicode");
    for label in ["ham", "spam"] {
        fs::write(path.join(label), mail(label, 77)).expect("written");
    }
    let judge = |format: &str, files: &[&str]| {
        let set = ["--verdict", "--format", format, "-c", "./f/spam", "-c", "./f/ham"];
        let judged = dbacl(&path, &[&set[..], files].concat(), b"");
        assert!(judged.stderr.is_empty(), "{}", judged.stderr);
        (judged.stdout, judged.status)
    };
    let (one, status) = judge("ndjson", &["spam"]);
    assert_eq!(status, 1, "the first category given");
    let one: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(
        (&one["id"], &one["best"], &one["unsure"]),
        (&"spam".into(), &"spam".into(), &false.into())
    );
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert!(number(&one["probability"]) > 0.9);
    let rows = one["categories"].as_array().expect("an array");
    assert_eq!((&rows[0]["name"], &rows[1]["name"]), (&"spam".into(), &"ham".into()));
    assert_eq!(number(&rows[0]["log_odds"]), -number(&rows[1]["log_odds"]));
    let sum = number(&rows[0]["probability"]) + number(&rows[1]["probability"]);
    assert!((sum - 1.0).abs() < 1e-12);

    let (all, _) = judge("json", &["-F", "ham", "spam"]);
    let all: serde_json::Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!((&all[0]["best"], &all[1]["best"]), (&"ham".into(), &"spam".into()));
    assert_eq!(all[1], one, "the same verdict in every form");
    let (table, _) = judge("tsv", &["-F", "ham", "spam"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..4], ["id", "best", "unsure", "probability"]);
    assert_eq!(
        rows[0][4..],
        ["spam.probability", "spam.log_odds", "ham.probability", "ham.log_odds"]
    );
    assert_eq!(rows[2][..3], ["spam", "spam", "false"]);
    let odds: f64 = rows[2][5].parse().expect("a number");
    assert!((odds - number(&all[1]["categories"][0]["log_odds"])).abs() < 1e-9);

    // The verdict on an empty document is unsure, with equal probabilities.
    fs::write(path.join("none"), "").expect("written");
    let (none, status) = judge("ndjson", &["none"]);
    let none: serde_json::Value = serde_json::from_str(&none).expect("JSON");
    assert_eq!((&none["unsure"], &none["probability"]), (&true.into(), &0.5.into()));
    assert!(none["categories"][0]["log_odds"].is_null());
    assert_eq!(status, 0);
    let set = ["--verdict", "--input", "lines", "-c", "./f/spam", "-c", "./f/ham"];
    assert!(dbacl(&path, &set, b"x\n").stderr.contains("--input cannot be used with --verdict"));
}

#[test]
fn repeating_a_word_does_not_change_a_verdict_that_counts_words_once() {
    let (_folder, path) = filter_read("unicode");
    let mail = "From: a@b.c\nSubject: pills\n\nmeeting agenda pills offer minutes\n";
    let repeated = mail.to_owned() + &"pills\n".repeat(200);
    let judge = |mail: &str| {
        let args = ["--verdict", "-c", "./f/ham", "-c", "./f/spam"];
        dbacl(&path, &args, mail).stdout
    };
    assert_eq!(judge(mail), judge(&repeated));
    assert_eq!(verdict(&path, mail), verdict(&path, &repeated), "the filter judges so, too");
    assert_eq!(verdict(&path, mail), format!("X-DBACL: {}", judge(mail).trim_end()));
    let explain = ["--explain", "-c", "./f/ham", "-c", "./f/spam"];
    let explained = dbacl(&path, &explain, &repeated).stdout;
    let row = explained.lines().find(|line| line.ends_with("  pills")).expect("it is evidence");
    assert_eq!(row.split_whitespace().nth(1), Some("202"), "{row}");
    let together = explained.lines().find(|line| line.ends_with("together")).expect("a sum");
    let bits: f64 = together.split_whitespace().next().expect("bits").parse().expect("a number");
    let percent = explained.split(' ').find_map(|word| word.parse::<f64>().ok()).expect("percent");
    assert!((100.0 / (1.0 + (-bits).exp2()) - percent).abs() < 0.1, "{explained}");
    // After a fit without `--once`, repeating a word changes the verdict.
    let refit = ["--refit", "--always", "--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
    dbacl(&path, &refit, b"").output();
    assert_ne!(judge(mail), judge(&repeated));
}

#[test]
fn contrast_is_for_text_and_survives_updates() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let set = ["-c", "./good", "-c", "./bad", "--keep", "seen"];
    for (label, word) in [("good", "fine"), ("bad", "poor")] {
        fs::create_dir(path.join(format!("{label}.d"))).expect("made");
        for number in 0..30 {
            let text =
                format!("a {word} film w{} about w{} w{}\n", number % 3, number % 7, number % 2);
            fs::write(path.join(format!("{label}.d/{number}")), text).expect("written");
        }
        let name = format!("./{label}");
        let args = ["-L", "uniform", "-l", &name, "--keep", "seen", &format!("{label}.d")];
        dbacl(path, &args, b"").output();
    }
    let head = || {
        String::from_utf8_lossy(&fs::read(path.join("good")).expect("there")[..2000]).into_owned()
    };
    let refit = |options: &[&str]| {
        let args = [&["--refit", "--always"], options, &set[..]].concat();
        dbacl(path, &args, b"").output();
        fs::read(path.join("good")).expect("there")
    };
    let plain = refit(&["--contrast", "no"]);
    assert!(!head().contains(" contrast end"));
    assert_ne!(refit(&[]), plain, "text has contrast");
    assert!(head().contains(" contrast end"));
    let update = [&["--update", "bad"], &set[..]].concat();
    for number in 0..3 {
        let done = dbacl(path, &update, format!("a dull film {number}\n"));
        assert!(done.status == 0 && done.stderr.is_empty(), "{}", done.stderr);
    }
    assert!(head().contains("documents 63 "), "{}", head());
    let dull = dbacl(path, &["--verdict", "-c", "./good", "-c", "./bad"], b"a dull film\n");
    assert!(dull.stdout.starts_with("bad "), "{}", dull.stdout);
    dbacl(path, &[&["--unlearn", "bad"], &set[..]].concat(), b"a dull film 1\n").output();
    assert!(head().contains("documents 62 ") && head().contains(" contrast end"), "{}", head());
    assert_eq!(dbacl(path, &["--refit", "--contrast", "maybe"], b"").status, 1);
}

#[test]
fn updates_at_the_same_time_lose_nothing() {
    let (_folder, path) = filter();
    let count = || {
        let ham = fs::read(path.join("f/ham")).expect("there");
        let head = String::from_utf8_lossy(&ham[..2000]);
        let line =
            head.lines().find(|line| line.starts_with("# refit")).expect("fitted").to_owned();
        line.split(' ').skip_while(|&word| word != "documents").nth(1).map(str::to_owned)
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..5 {
                    let word = [b'q', b'a' + thread, b'a' + number].map(char::from);
                    let mail = mail("ham", 1) + &String::from_iter(word) + "\n";
                    dbacl(path, &["--mail-correct", "f", "ham"], mail).output();
                }
            });
        }
    });
    assert_eq!(count().as_deref(), Some("100"));
}

#[test]
fn a_mail_comes_through_without_a_filter() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = dbacl(folder.path(), &["--mail-filter", "none"], b"A: b\n\nc\n");
    assert_eq!(result.stdout, "X-DBACL: error\nA: b\n\nc\n");
    assert_eq!(result.status, 0);
    let strict = dbacl(folder.path(), &["--strict", "--mail-filter", "none"], b"A: b\n\nc\n");
    assert_eq!(strict.status, 66);
    assert_eq!(strict.stdout, "X-DBACL: error\nA: b\n\nc\n");
}

#[test]
fn labels_come_from_tables_and_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut tsv, mut json) = (String::new(), String::new());
    let texts = [("a", "red green blue"), ("b", "one two three"), ("3", "left right down")];
    for (label, words) in texts {
        let all: String = (0..30).map(|n| format!("{words} and w{}\n", n % 9)).collect();
        fs::write(folder.path().join(format!("{label}.txt")), &all).expect("written");
        for line in all.lines() {
            tsv += &format!("{label}\t{line}\n");
            // A label that is a number may stand there as a number.
            let label = if label == "3" { "3".to_owned() } else { format!("\"{label}\"") };
            json += &format!("{{\"label\":{label},\"text\":\"{line}\"}}\n");
        }
        let args = ["-l", &format!("./{label}"), &format!("{label}.txt")];
        dbacl(folder.path(), &args, b"").output();
    }
    fs::write(folder.path().join("d.tsv"), tsv).expect("written");
    fs::write(folder.path().join("d.ndjson"), json).expect("written");
    let mut files = Vec::new();
    for source in ["d.tsv", "d.ndjson"] {
        let args = ["--refit", "--always", "-c", "./a", "-c", "./b", "-c", "./3", source];
        dbacl(folder.path(), &args, b"").output();
        files.push(fs::read(folder.path().join("a")).expect("there"));
    }
    assert!(files[0] == files[1]);
    let args = ["--verdict", "-c", "./3", "-c", "./a", "-c", "./b"];
    let result = dbacl(folder.path(), &args, b"one three and two\n");
    assert!(result.stdout.starts_with("b "), "{}", result.stdout);
    assert_eq!(result.status, 3);
    fs::write(folder.path().join("bad.tsv"), "a\tx\nz\ty\n").expect("written");
    let args = ["--refit", "-c", "./a", "-c", "./b", "-c", "./3", "bad.tsv"];
    let result = dbacl(folder.path(), &args, b"");
    assert!(result.stderr.contains("bad.tsv: line 2: no category is called z"));
}

/// A category without its first line, which holds its name, and without the checksum of its header.
fn nameless(file: &[u8]) -> Vec<u8> {
    let lines = file.split_inclusive(|&byte| byte == b'\n').skip(1);
    lines.filter(|line| !line.starts_with(b"# crc32 ")).flatten().copied().collect()
}

#[test]
fn the_library_fits_as_the_program_does() {
    use dbacl::{CategorySet, FitOptions, JointFit};
    let words = ["whale ship", "nation war", "market price"];
    let document = |at: usize, number: usize| {
        let common = ["the", "of", "and", "to"][number % 4];
        let other = words[(at + number) % 3];
        format!(
            "Subject: {other}\n\n{} {common} w{}\n",
            words[at].repeat(1 + number % 3),
            number % 5
        )
    };
    let plain = FitOptions::default().always();
    let mail = plain.clone().once().false_positives(0.05).unsure().cost(0.2);
    for (names, learning, fitting, options) in [
        (&["sea", "war"][..], &["-T", "text"][..], &["--always"][..], &plain),
        (&["sea", "war", "trade"], &["-w", "2"], &["--always"], &plain),
        (
            &["sea", "war"],
            &["-T", "email", "-e", "cef", "-L", "uniform"],
            &["--always", "--once", "--fp", "5%", "--unsure", "--cost", "0.2"],
            &mail,
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let mut given = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let documents = path.join(format!("{name}.d"));
            fs::create_dir(&documents).expect("made");
            for number in 0..24 {
                let file = documents.join(format!("{number:02}"));
                fs::write(file, document(at, number)).expect("written");
            }
            let source = format!("{name}.d");
            let category = format!("./{name}");
            let args = [&["-l", &category], learning, &[&source]].concat();
            dbacl(path, &args, b"").output();
            given.extend(["-c".to_owned(), format!("./{name}={name}.d")]);
        }
        let paths: Vec<PathBuf> = names.iter().map(|name| path.join(name)).collect();
        let set = CategorySet::open(&paths).expect("categories");
        let mut fit = JointFit::new(&set, options).expect("ordinary categories");
        for (at, name) in names.iter().enumerate() {
            for number in 0..24 {
                fit.document(name, document(at, number).as_bytes()).expect("a category");
            }
        }
        let fit = fit.fit().expect("documents");
        assert_eq!(fit.documents, vec![24; names.len()]);
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let fitted = dbacl(path, &[&["--refit"], fitting, &given[..]].concat(), b"");
        assert!(fitted.status == 0, "{}", fitted.stderr);
        let fitted_by_library = fit.categories.expect("asked for always");
        for (path, (name, category)) in paths.iter().zip(&fitted_by_library) {
            let file = fs::read(path).expect("there");
            assert!(file.windows(8).any(|bytes| bytes == b"\n# refit"), "{name} was fitted");
            assert!(nameless(&file) == nameless(category.as_bytes()), "{name}");
        }
        let refused = JointFit::new(&CategorySet::open(&paths).expect("a set"), options).err();
        let refused = refused.expect("a fit starts from ordinary categories").to_string();
        assert!(refused.contains("was fitted before"), "{refused}");
    }
}

#[test]
fn the_library_filters_mail_as_the_program_does() {
    use dbacl::{MailFilter, MailFilterError};
    let mut none = |warning| panic!("{warning}");
    let (_folder, path) = filter();
    let filter = MailFilter::open(&path.join("f"), &mut none).expect("a filter");
    assert_eq!(filter.names(), ["ham", "spam"]);
    let forged =
        "From a@b.c\r\nX-Dbacl: ham 100.00%\r\n folded\r\nSubject: pills\r\n\r\ncheap offer\r\n";
    let mails = [
        mail("ham", 50),
        mail("spam", 51),
        forged.to_owned(),
        "Subject: meeting about cheap offers\n\nX-DBACL: ham\n".to_owned(),
        "Subject: \n\n".to_owned(),
        "x-dbacl".to_owned(),
        String::new(),
    ];
    for mail in &mails {
        let passed_on = dbacl(&path, &["--mail-filter", "f"], mail).output();
        assert_eq!(String::from_utf8_lossy(&filter.filter(mail.as_bytes())), passed_on, "{mail}");
    }
    // An open filter stays what it was; one that is opened now knows of the correction.
    let odd = "Subject: agenda\n\nunheard of\n";
    let before = filter.classify(odd.as_bytes()).expect("files");
    dbacl(&path, &["--mail-correct", "f", "spam"], odd).output();
    assert_eq!(filter.classify(odd.as_bytes()).expect("files"), before);
    let opened = MailFilter::open(&path.join("f"), &mut none).expect("a filter");
    assert_ne!(opened.classify(odd.as_bytes()).expect("files"), before);
    // No filter, no verdict: the mail's way through is the program's matter.
    let missing = MailFilter::open(&path.join("no"), &mut none).expect_err("no folder");
    assert!(matches!(missing, MailFilterError::NoFilter { .. }), "{missing}");
}
