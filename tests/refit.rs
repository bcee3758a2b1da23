// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting categories together, by the program: what files and verdicts users see.

use crate::folders::contents;
use crate::mails::mail;
use crate::sets::{LEARN, filter, mailboxes, verdict};
use dbacl_testing::{Scratch, has};
use std::path::PathBuf;

/// The categories of a filter, and what was learned into it.
const SET: &str = "--keep f/ledger -c ./f/ham -c ./f/spam";

/// A filter with this reading, which has learned the messages of [`mailboxes`].
pub fn filter_read(reading: &str) -> Scratch {
    let place = mailboxes();
    place.dbacl(&format!("{LEARN} --reading {reading}")).says("60 messages (ham 30, spam 30)");
    place
}

#[test]
fn a_filter_learns_judges_and_is_corrected() {
    let place = filter();
    assert!(verdict(&place, &mail("spam", 77)).starts_with("X-DBACL: spam "));
    assert!(verdict(&place, &mail("ham", 77)).starts_with("X-DBACL: ham "));
    let forged = mail("spam", 78).replace("Subject", "X-DBACL: ham 100.00%\nSubject");
    assert!(verdict(&place, &forged).starts_with("X-DBACL: spam "));
    let odd = "From: friend@example.org\n\ncheap pills offer from a friend of agenda\n";
    for word in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"] {
        place.dbacl_reading("--mail-correct f ham", format!("{odd}and {word}\n")).output();
    }
    assert!(verdict(&place, odd).contains("ham"), "{}", verdict(&place, odd));
}

#[test]
fn reasons_add_up_to_the_odds() {
    let place = filter();
    let forged = "X-DBACL-Reasons: ham +9.00 =\n +9.00 nothing\n";
    for label in ["spam", "ham"] {
        let odd = "caf\u{e9} \u{1b}[31m a,b=+1.00\r\tX-Evil: yes ".repeat(3);
        let mail = mail(label, 77).replace("common", &format!("common {odd}"));
        let brought = mail.replace("Subject", &format!("{forged}Subject"));
        let output = place.dbacl_reading("--mail-filter f --reasons", brought).output();
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
        place.write("mail", &mail);
        let set = "--verdict --format ndjson -c ./f/ham -c ./f/spam mail";
        let judged: serde_json::Value =
            serde_json::from_str(&place.dbacl(set).stdout).expect("JSON");
        assert!(header.starts_with(&format!("X-DBACL-Reasons: {label} ")), "{header}");
        let own = judged["categories"].as_array().expect("an array").iter();
        let odds = own.filter(|row| row["name"] == label).find_map(|row| row["log_odds"].as_f64());
        let bits = odds.expect("odds") / std::f64::consts::LN_2;
        assert!((bits - sum).abs() < 0.01, "{bits} {header}");
    }
    let plain = place.dbacl_reading("--mail-filter f", mail("spam", 77));
    assert!(!plain.stdout.contains("Reasons"));
}

#[test]
fn a_filter_of_few_mails_says_what_it_does_not_know() {
    let place = Scratch::new();
    let learn = |number: usize| {
        for label in ["ham", "spam"] {
            let all: String = (0..number).map(|number| mail(label, number)).collect();
            place.write(label, all);
        }
        place.dbacl("--mail-learn f --reading unicode ham=ham spam=spam").output()
    };
    for number in [1, 2, 7] {
        let said = learn(number);
        has(&said, "every message will be unsure until there are 8 messages");
        for label in ["ham", "spam"] {
            let line = verdict(&place, &mail(label, 77));
            assert!(line.starts_with("X-DBACL: unsure "), "{line}");
            assert!(number < 7 || line.ends_with(label), "{line}");
        }
    }
    let said = learn(12);
    has(&said, " to be unsure (most probable right: | of 100); usually 22 with 50 of each kind");
    has(&said, "of ham to be called spam (95 % confidence; 0 of 12 here)");
    // This mail has no word that was learned.
    let unlike = "From: x@y.z\nSubject: zebra\n\nokapi gnu kudu eland oryx nyala topi bongo\n";
    assert!(verdict(&place, unlike).starts_with("X-DBACL: unsure "));
}

#[test]
fn more_than_two_categories_can_be_unsure() {
    let place = Scratch::new();
    for (name, words) in
        [("sea", "whale ship sea"), ("war", "nation war army"), ("trade", "market price trade")]
    {
        let line = |number: usize| format!("{words} and common words {}\n", number % 5);
        place.write(&format!("{name}.txt"), (0..40).map(line).collect::<String>());
        place.dbacl(&format!("-l ./{name} {name}.txt")).output();
    }
    let set = "-c ./sea=sea.txt -c ./war=war.txt -c ./trade=trade.txt";
    place.dbacl(&format!("--refit --always --once --unsure --documents lines {set}")).output();
    let judge = "--verdict -c ./trade -c ./sea -c ./war";
    let surely = place.dbacl_reading(judge, b"nation war army and common words 3\n");
    assert!(surely.stdout.starts_with("war "), "{}", surely.stdout);
    let judged = place.dbacl_reading(judge, b"zebra okapi gnu kudu\n");
    assert!(judged.stdout.starts_with("unsure "), "{}", judged.stdout);
    assert_eq!(judged.status, 0);
}

#[test]
fn explanations_name_files_and_subjects() {
    let place = filter();
    for number in 0..3 {
        let mail = mail("spam", 200 + number).replace("Subject: ", &format!("Subject: N{number} "));
        place.write(&format!("inbox/{number}"), mail);
    }
    place.write("mbox", mail("ham", 90) + &mail("ham", 91));
    let lines = |operands: &str, input: &str| -> Vec<String> {
        let explain = format!("--explain -c ./f/ham -c ./f/spam {operands}");
        let said = place.dbacl_reading(&explain, input).stdout;
        said.lines().skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let found = lines("inbox", "");
    assert_eq!(found.len(), 3, "{found:?}");
    for (number, line) in found.iter().enumerate() {
        assert!(line.starts_with(&format!("inbox/{number}: N{number} ")), "{line}");
    }
    let found = lines("mbox inbox", "");
    assert!(found[0].starts_with("mbox: ") && found[1].starts_with("mbox: "), "{found:?}");
    assert_eq!(found[3], "and 2 more");
    let found = lines("", "Subject: =?utf-8?q?caf=C3=A9?=\n\npills\n");
    assert_eq!(found, ["caf\u{e9}"]);
    let page = place.dbacl("--explain-html -c ./f/ham -c ./f/spam inbox/1").stdout;
    has(&page, "<p>inbox/1: N1 ");
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    assert!(contents(&filter()) == contents(&filter()));
}

/// Learns and fits the messages of `ham/` and `spam/` below `mails`, in the folder `set`.
fn learn_folders(place: &Scratch, set: &str, mails: &str, more: &str) {
    let script = format!(
        "mkdir {set} && cd {set} && for label in ham spam; do
            dbacl -T email -T email:headers -T email:theaders -L uniform -H 20 -h 6 {more} \
                -l ./$label --keep ledger ../{mails}/$label || exit
        done
        dbacl --refit --always --unsure --cost 1 --blend 0.1 -c ./ham -c ./spam --keep ledger"
    );
    place.sh(&script).output();
}

#[test]
fn forgetting_is_never_having_learned_to_the_byte() {
    for options in ["-e cef", "-e adp", "-e adp -w 2", "-e cef2 -w 2 -S"] {
        forget_to_the_byte(options);
    }
}

fn forget_to_the_byte(options: &str) {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
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
                place.write(&format!("{part}/{label}/{number:02}"), &text);
            }
        }
    }
    learn_folders(&place, "never", "rest", options);
    learn_folders(&place, "forgot", "all", options);
    assert!(place.read("never/ham") != place.read("forgot/ham"));
    for label in ["ham", "spam"] {
        let set = "--keep ledger -c ./ham -c ./spam";
        let unlearn = format!("cd forgot; dbacl --unlearn {label} {set} ../gone/{label}");
        place.sh(&unlearn).quiet(0);
    }
    for name in ["ham", "spam", "ham.ordinary", "spam.ordinary", "ledger", "ledger.state"] {
        let read = |set: &str| place.read(&format!("{set}/{name}"));
        assert!(read("never") == read("forgot"), "{options}: {name}");
    }
    // It does not matter which of two copies is forgotten: the fit is the same.
    place.sh("mv rest/ham/02 rest/ham/09").quiet(0);
    learn_folders(&place, "other", "rest", options);
    let scores = |set: &str| {
        let args = "-n -v -F -c ./ham -c ./spam ../all/ham ../all/spam";
        place.sh(&format!("cd {set}; dbacl {args}")).stdout
    };
    assert!(place.read("never/ledger") != place.read("other/ledger"));
    assert_eq!(scores("never"), scores("other"));
}

#[test]
fn ordinary_files_learn_what_single_documents_told() {
    let place = filter();
    let extra = mail("spam", 99) + "quite unlike the others\n";
    for job in ["--update spam", "--refit --always --once"] {
        place.dbacl_reading(&format!("{job} {SET}"), &extra).output();
    }
    place.write("spam.mbox", place.text("spam.mbox") + &extra);
    place.dbacl("--mail-learn g ham=ham.mbox spam=spam.mbox").output();
    for name in ["ham.ordinary", "spam.ordinary"] {
        // The path of the category stands in the first line.
        let slots = |filter: &str| nameless(&place.read(&format!("{filter}/{name}")));
        assert!(slots("f") == slots("g"), "{name}");
    }
}

#[test]
fn verdicts_come_as_json_and_tables() {
    let place = filter_read("unicode");
    for label in ["ham", "spam"] {
        place.write(label, mail(label, 77));
    }
    let judge = |args: &str, status: i32| {
        place.dbacl(&format!("--verdict -c ./f/spam -c ./f/ham --format {args}")).quiet(status)
    };
    let json = |said: &str| -> serde_json::Value { serde_json::from_str(said).expect("JSON") };
    // The status names the first category given.
    let one = json(&judge("ndjson spam", 1));
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

    let all = json(&judge("json -F ham spam", 1));
    assert_eq!((&all[0]["best"], &all[1]["best"]), (&"ham".into(), &"spam".into()));
    assert_eq!(all[1], one, "the same verdict in every form");
    let table = judge("tsv -F ham spam", 1);
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
    place.write("none", "");
    let none = json(&judge("ndjson none", 0));
    assert_eq!((&none["unsure"], &none["probability"]), (&true.into(), &0.5.into()));
    assert!(none["categories"][0]["log_odds"].is_null());
    place
        .dbacl("--verdict --input lines -c ./f/spam -c ./f/ham")
        .complains(1, "--input cannot be used with --verdict");
}

#[test]
fn repeating_a_word_does_not_change_a_verdict_that_counts_words_once() {
    let place = filter_read("unicode");
    let mail = "From: a@b.c\nSubject: pills\n\nmeeting agenda pills offer minutes\n";
    let repeated = mail.to_owned() + &"pills\n".repeat(200);
    let judge = |mail: &str| place.dbacl_reading("--verdict -c ./f/ham -c ./f/spam", mail).stdout;
    assert_eq!(judge(mail), judge(&repeated));
    assert_eq!(verdict(&place, mail), verdict(&place, &repeated), "the filter judges so, too");
    assert_eq!(verdict(&place, mail), format!("X-DBACL: {}", judge(mail).trim_end()));
    let explained = place.dbacl_reading("--explain -c ./f/ham -c ./f/spam", &repeated).stdout;
    let row = explained.lines().find(|line| line.ends_with("  pills")).expect("it is evidence");
    assert_eq!(row.split_whitespace().nth(1), Some("202"), "{row}");
    let together = explained.lines().find(|line| line.ends_with("together")).expect("a sum");
    let bits: f64 = together.split_whitespace().next().expect("bits").parse().expect("a number");
    let percent = explained.split(' ').find_map(|word| word.parse::<f64>().ok()).expect("percent");
    assert!((100.0 / (1.0 + (-bits).exp2()) - percent).abs() < 0.1, "{explained}");
    // After a fit without `--once`, repeating a word changes the verdict.
    place.dbacl(&format!("--refit --always {SET}")).output();
    assert_ne!(judge(mail), judge(&repeated));
}

#[test]
fn contrast_is_for_text_and_survives_updates() {
    let place = Scratch::new();
    let set = "-c ./good -c ./bad --keep seen";
    for (label, word) in [("good", "fine"), ("bad", "poor")] {
        for number in 0..30 {
            let text =
                format!("a {word} film w{} about w{} w{}\n", number % 3, number % 7, number % 2);
            place.write(&format!("{label}.d/{number}"), text);
        }
        place.dbacl(&format!("-L uniform -l ./{label} --keep seen {label}.d")).output();
    }
    let head = || String::from_utf8_lossy(&place.read("good")[..2000]).into_owned();
    let refit = |options: &str| {
        place.dbacl(&format!("--refit --always {options} {set}")).output();
        place.read("good")
    };
    let plain = refit("--contrast no");
    assert!(!head().contains(" contrast end"));
    assert_ne!(refit(""), plain, "text has contrast");
    assert!(head().contains(" contrast end"));
    for number in 0..3 {
        let text = format!("a dull film {number}\n");
        place.dbacl_reading(&format!("--update bad {set}"), text).quiet(0);
    }
    assert!(head().contains("documents 63 "), "{}", head());
    let dull = place.dbacl_reading("--verdict -c ./good -c ./bad", b"a dull film\n");
    assert!(dull.stdout.starts_with("bad "), "{}", dull.stdout);
    place.dbacl_reading(&format!("--unlearn bad {set}"), b"a dull film 1\n").output();
    assert!(head().contains("documents 62 ") && head().contains(" contrast end"), "{}", head());
    assert_eq!(place.dbacl("--refit --contrast maybe").status, 1);
}

#[test]
fn updates_at_the_same_time_lose_nothing() {
    let place = filter();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for number in 0..5 {
                    let word = [b'q', b'a' + thread, b'a' + number].map(char::from);
                    let mail = mail("ham", 1) + &String::from_iter(word) + "\n";
                    place.dbacl_reading("--mail-correct f ham", mail).output();
                }
            });
        }
    });
    let category = place.text("f/ham");
    let line = category.lines().find(|line| line.starts_with("# refit")).expect("fitted");
    has(line, " documents 80 ");
}

#[test]
fn a_mail_comes_through_without_a_filter() {
    let place = Scratch::new();
    for (options, status) in [("", 0), ("--strict", 66)] {
        let result = place.dbacl_reading(&format!("{options} --mail-filter none"), "A: b\n\nc\n");
        assert_eq!((result.status, &*result.stdout), (status, "X-DBACL: error\nA: b\n\nc\n"));
    }
}

#[test]
fn labels_come_from_tables_and_records() {
    let place = Scratch::new();
    let (mut tsv, mut json) = (String::new(), String::new());
    let texts = [("a", "red green blue"), ("b", "one two three"), ("3", "left right down")];
    for (label, words) in texts {
        let all: String = (0..30).map(|n| format!("{words} and w{}\n", n % 9)).collect();
        place.write(&format!("{label}.txt"), &all);
        for line in all.lines() {
            tsv += &format!("{label}\t{line}\n");
            // A label that is a number may stand there as a number.
            let label = if label == "3" { "3".to_owned() } else { format!("\"{label}\"") };
            json += &format!("{{\"label\":{label},\"text\":\"{line}\"}}\n");
        }
        place.dbacl(&format!("-l ./{label} {label}.txt")).output();
    }
    place.write("d.tsv", tsv);
    place.write("d.ndjson", json);
    let fitted = |source: &str| {
        place.dbacl(&format!("--refit --always -c ./a -c ./b -c ./3 {source}")).output();
        place.read("a")
    };
    assert!(fitted("d.tsv") == fitted("d.ndjson"));
    let result = place.dbacl_reading("--verdict -c ./3 -c ./a -c ./b", "one three and two\n");
    assert!(result.stdout.starts_with("b "), "{}", result.stdout);
    assert_eq!(result.status, 3);
    place.write("bad.tsv", "a\tx\nz\ty\n");
    place
        .dbacl("--refit -c ./a -c ./b -c ./3 bad.tsv")
        .complains(1, "bad.tsv: line 2: no category is called z");
}

/// A category without its first line, which holds its name, and without the checksum of its header.
pub fn nameless(file: &[u8]) -> Vec<u8> {
    let end = file.windows(3).position(|bytes| bytes == b"\n#\n").expect("a header") + 1;
    let (header, tables) = file.split_at(end);
    let lines = header.split_inclusive(|&byte| byte == b'\n').skip(1);
    let lines = lines.filter(|line| !line.starts_with(b"# crc32 "));
    lines.flatten().chain(tables).copied().collect()
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
        (&["sea", "war"][..], "-T text", "--always", &plain),
        (&["sea", "war", "trade"], "-w 2", "--always", &plain),
        (
            &["sea", "war"],
            "-T email -e cef -L uniform",
            "--always --once --fp 5% --unsure --cost 0.2",
            &mail,
        ),
    ] {
        let place = Scratch::new();
        let mut given = String::new();
        for (at, name) in names.iter().enumerate() {
            for number in 0..24 {
                place.write(&format!("{name}.d/{number:02}"), document(at, number));
            }
            place.dbacl(&format!("-l ./{name} {learning} {name}.d")).output();
            given += &format!(" -c ./{name}={name}.d");
        }
        let paths: Vec<PathBuf> = names.iter().map(|name| place.path(name)).collect();
        let set = CategorySet::open(&paths).expect("categories");
        let mut fit = JointFit::new(&set, options).expect("ordinary categories");
        for (at, name) in names.iter().enumerate() {
            for number in 0..24 {
                fit.document(name, document(at, number).as_bytes()).expect("a category");
            }
        }
        let fit = fit.fit().expect("documents");
        assert_eq!(fit.documents, vec![24; names.len()]);
        place.dbacl(&format!("--refit {fitting}{given}")).output();
        let fitted_by_library = fit.categories.expect("asked for always");
        for (name, category) in &fitted_by_library {
            let file = place.read(name);
            assert!(file.windows(8).any(|bytes| bytes == b"\n# refit"), "{name} was fitted");
            assert!(nameless(&file) == nameless(category.as_bytes()), "{name}");
        }
        let refused = JointFit::new(&CategorySet::open(&paths).expect("a set"), options).err();
        let refused = refused.expect("a fit starts from ordinary categories").to_string();
        has(&refused, "was fitted before");
    }
}

#[test]
fn the_library_filters_mail_as_the_program_does() {
    use dbacl::{MailFilter, MailFilterError};
    let mut none = |warning| panic!("{warning}");
    let place = filter();
    let filter = MailFilter::open(&place.path("f"), &mut none).expect("a filter");
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
        let passed_on = place.dbacl_reading("--mail-filter f", mail).output();
        assert_eq!(String::from_utf8_lossy(&filter.filter(mail.as_bytes())), passed_on, "{mail}");
    }
    // An open filter stays what it was; one that is opened now knows of the correction.
    let odd = "Subject: agenda\n\nunheard of\n";
    let before = filter.classify(odd.as_bytes()).expect("files");
    place.dbacl_reading("--mail-correct f spam", odd).output();
    assert_eq!(filter.classify(odd.as_bytes()).expect("files"), before);
    let opened = MailFilter::open(&place.path("f"), &mut none).expect("a filter");
    assert_ne!(opened.classify(odd.as_bytes()).expect("files"), before);
    // No filter, no verdict: the mail's way through is the program's matter.
    let missing = MailFilter::open(&place.path("no"), &mut none).expect_err("no folder");
    assert!(matches!(missing, MailFilterError::NoFilter { .. }), "{missing}");
}
