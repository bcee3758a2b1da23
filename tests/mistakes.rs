// SPDX-License-Identifier: GPL-3.0-or-later
//! What people type at first with a mail filter: folders of mailboxes, files that are not mail,
//! arguments in another order. Either it works, or one line says what to type.

use crate::folders::contents;
use crate::mails::mail;
use dbacl_testing::mails::not_mail;
use dbacl_testing::terminal::shown;
use dbacl_testing::{Scratch, has, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// A folder with `good`, `bad`: 30 single messages each, and the mailboxes `g.mbox`, `s.mbox`.
fn sorted() -> Scratch {
    let scratch = Scratch::new();
    for (folder, mailbox, label) in [("good", "g.mbox", "ham"), ("bad", "s.mbox", "spam")] {
        for number in 0..30 {
            let message = mail(label, number);
            let (_, message) = message.split_once('\n').expect("a From line");
            scratch.write(&format!("{folder}/{number:02}"), message);
        }
        let all: String = (0..30).map(|number| mail(label, number)).collect();
        scratch.write(mailbox, all);
    }
    scratch
}

/// The same, and the filter `f` that has learned the mailboxes.
fn learned() -> Scratch {
    let scratch = sorted();
    scratch.dbacl("--mail-learn f ham=g.mbox spam=s.mbox").quiet(0);
    scratch
}

/// Rows of two cells.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().map(|row| row.trim().split_once(" => ").expect("two cells"))
}

/// The verdict of the line `X-DBACL`.
fn verdict(filtered: &str) -> &str {
    filtered.lines().find_map(|line| line.strip_prefix("X-DBACL: ")).expect("a verdict")
}

#[test]
fn mailboxes_in_a_folder_are_read_message_by_message() {
    let scratch = sorted();
    for (name, numbers) in [("mm/a", 0..12), ("mm/b", 12..20), ("mm/sub/deep/c", 20..30)] {
        scratch.write(name, numbers.map(|number| mail("ham", number)).collect::<String>());
    }
    let said = scratch.dbacl("--mail-learn one ham=mm spam=bad").quiet(0);
    assert!(said.starts_with("learned 60 messages (ham 30, spam 30)\n"), "{said}");
    // The filter is the one of single messages.
    scratch.dbacl("--mail-learn two ham=good spam=bad").quiet(0);
    for number in [3, 70] {
        let verdict_of = |filter: &str| {
            let args = format!("--mail-filter {filter}");
            scratch.dbacl_reading(&args, mail("ham", number)).quiet(0)
        };
        assert_eq!(verdict_of("one"), verdict_of("two"));
    }
    // A Maildir holds single messages, whatever is quoted in them.
    scratch.sh("mkdir -p box/new").quiet(0);
    scratch.write("box/cur/1", mail("ham", 1) + &mail("ham", 2));
    let said = scratch.dbacl("--mail-learn three ham=box spam=bad");
    assert!(said.stdout.contains("learned 31 messages (ham 1, spam 30)"), "{said:?}");
}

#[test]
fn files_that_are_no_mail_are_left_out_and_named() {
    let scratch = sorted();
    scratch.write("good/README.txt", "These are messages\nfrom friends.\n");
    scratch.write("good/photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF");
    scratch.write("good/x.gz", b"\x1f\x8b\x08\0\0");
    scratch.write("good/dovecot.index.cache", b"\x01\0\0\0\x90\x1f");
    let done = scratch.dbacl("--mail-learn f ham=good spam=bad");
    assert!(done.stdout.starts_with("learned 60 messages (ham 30, spam 30)\n"), "{done:?}");
    assert_eq!(
        done.stderr,
        "dbacl:warning: 4 files are not mail and were left out: good/README.txt (without a \
         header), good/dovecot.index.cache (binary data), good/photo.jpg (a picture) and 1 more\n"
    );
    let quiet = scratch.dbacl("--quiet --mail-learn f ham=good spam=bad");
    assert_eq!(quiet.quiet(0), "");
}

#[test]
fn what_is_given_as_mail_and_is_none_is_refused() {
    let scratch = learned();
    let before = contents(&scratch);
    scratch.write("g.mbox.xz", b"\xfd7zXZ\0\0\x04");
    scratch.write("random.bin", b"\x07\0\x01\xfe\xb0");
    scratch.write("g.mbox2", mail("ham", 70) + &mail("ham", 0));
    for number in 70..75 {
        scratch.write(&format!("bad/{number}"), mail("spam", number));
        let copied = scratch.read(&format!("good/{:02}", number - 70));
        scratch.write(&format!("bad/copy{number}"), copied);
    }
    scratch.write("only/x.gz", b"\x1f\x8b\x08\0\0");
    for (args, expected) in rows(
        "f ham=g.mbox.xz spam=bad => g.mbox.xz is not mail but compressed by xz; give mbox files, \
             messages, Maildirs or folders of these, unpacked
         f ham=random.bin spam=bad => random.bin is not mail but binary data; give
         f ham=only spam=bad => there is no mail to learn in only; nothing was changed
         good ham=good spam=bad => good would be read as mail of good: keep the filter in a folder \
             outside its mail
         good/filter ham=good spam=bad => good/filter would be read as mail of good: keep
         f ham=good spam=good => 30 of 30 messages of ham are messages of spam as well: give each \
             label mail of its own
         f ham=good spam=g.mbox => 30 of 30 messages of ham are messages of spam as well
         ham=good spam=bad => the filter's folder is missing before ham=good: dbacl --mail-learn \
             DIR ham=MAIL spam=MAIL",
    ) {
        let done = scratch.dbacl(&format!("--mail-learn {args}"));
        done.clone().complains(1, &format!("dbacl:error: {expected}"));
        assert_eq!(done.stdout, "", "{args}");
    }
    assert!(contents(&scratch) == before);
    assert!(!scratch.path("good/filter").exists() && !scratch.path("good/table").exists());
    // A few messages with two labels are only worth a word.
    let learn = "--mail-learn f ham=good spam=bad";
    scratch.dbacl(learn).complains(0, "dbacl:warning: 5 messages are in both ham and spam\n");
}

#[test]
fn a_label_may_be_given_several_times() {
    let scratch = sorted();
    let said = scratch.dbacl("--mail-learn f ham=good spam=s.mbox ham=g.mbox").quiet(0);
    assert!(said.starts_with("learned 90 messages (ham 60, spam 30)\n"), "{said}");
    let one = "--mail-learn f ham=good ham=g.mbox";
    scratch.dbacl(one).complains(1, "needs two mail folders or more");
}

#[test]
fn each_message_of_a_mailbox_file_gets_a_verdict() {
    let scratch = learned();
    let forged = mail("ham", 70).replacen('\n', "\nX-DBACL: spam 99.99%\n", 1);
    let parts = [mail("spam", 70), forged, mail("spam", 71)];
    scratch.write("mixed.mbox", parts.concat());
    let each = parts.map(|part| scratch.dbacl_reading("--mail-filter f", part).quiet(0));
    assert!(each[0].contains("\nX-DBACL: spam ") && each[1].contains("\nX-DBACL: ham "));
    assert_eq!(scratch.dbacl("--mail-filter f mixed.mbox").quiet(0), each.concat());
    // Without a filter the mail comes through all the same, and the reason is given once.
    let done = scratch.dbacl("--mail-filter none mixed.mbox");
    assert_eq!(done.stdout.matches("\nX-DBACL: error\n").count(), 3, "{}", done.stdout);
    assert_eq!(done.stdout.matches("\nX-DBACL: ").count(), 3, "{}", done.stdout);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
}

#[test]
fn a_message_is_read_from_a_file() {
    let scratch = learned();
    scratch.write("message", mail("spam", 70));
    let expected = scratch.dbacl_reading("--mail-filter f", mail("spam", 70)).quiet(0);
    assert!(verdict(&expected).contains("spam"), "{expected}");
    // What is on standard input does not matter.
    assert_eq!(scratch.dbacl_reading("--mail-filter f message", "x").quiet(0), expected);
    // Options stand before or after the folder.
    let with_reasons = scratch.dbacl("--mail-filter f --reasons message").quiet(0);
    has(&with_reasons, "\nX-DBACL-Reasons: ");
    assert_eq!(scratch.dbacl("--mail-filter --reasons f message").quiet(0), with_reasons);
    assert_eq!(scratch.dbacl("--reasons --mail-filter f message").quiet(0), with_reasons);
    for (args, expected) in [
        ("--mail-filter f none", "couldn't open none: No such file"),
        ("--mail-filter f bad", "couldn't open bad: is a directory"),
        ("--mail-filter f message message", "--mail-filter takes one file at a time"),
    ] {
        let done = scratch.dbacl(args);
        assert_eq!(done.stdout, "", "{args}");
        let said = done.complains(1, expected);
        assert!(said.lines().count() == 1, "{args}: {said}");
    }
    scratch.dbacl("--strict --mail-filter f none").complaint(66);
    // Without a folder the message comes through all the same.
    let done = scratch.dbacl_reading("--mail-filter --reasons", mail("spam", 70));
    assert!(done.stdout.contains("X-DBACL: error\n"), "{done:?}");
    done.complains(0, "the filter's folder is missing");
}

#[test]
fn messages_say_what_to_type() {
    let scratch = learned();
    scratch.write("x.model", "# dbacl model 1\n...");
    scratch.dbacl("--mail-filter none").complains(
        0,
        "dbacl:error: none is not a mail filter (no file none/table); create it with dbacl \
         --mail-learn none ham=MAIL spam=MAIL\n",
    );
    for (args, expected) in [
        ("--mail-lern f ham=good spam=bad", "dbacl:hint: did you mean --mail-learn?\n"),
        (
            "--mail-forget f",
            "dbacl:error: --mail-forget needs the filter's folder and what the message was",
        ),
        (
            "--mail-correct f forget s.mbox",
            "dbacl:error: dbacl --mail-forget DIR LABEL MESSAGE forgets a message",
        ),
        ("--window 9 -c f", "dbacl:error: --window can only be used with --mail-learn\n"),
        ("--general f", "dbacl:error: --general can only be used with --mail-learn\n"),
        ("--reasons f", "dbacl:error: --reasons can only be used with --mail-filter and"),
        ("--mail-verdict f --window 3", "--window can only be used with --mail-learn"),
        ("-c ./x.model", "x.model is a model of dbacl-text: use dbacl-text predict\n"),
        (
            "--mail-verdict f --mail-correct f spam s.mbox",
            "dbacl:error: please use only one job of the mail filter, and once\n",
        ),
        ("--mail-verdict s.mbox s.mbox", "s.mbox is a file, not the folder of a filter\n"),
        ("--mail-learn f --general f ham=good spam=bad", "--general names the filter that is made"),
    ] {
        scratch.dbacl(args).complains(1, expected);
    }
    // A message is passed on whatever is wrong with the folder, and errors have their status
    // wherever --strict stands.
    scratch.write("file", "no filter\n");
    for (args, status, expected) in [
        (
            "--mail-filter",
            0,
            "dbacl:error: --mail-filter needs the filter's folder, such as ~/.dbacl-mail\n",
        ),
        ("--mail-filter=", 0, "the name of the filter's folder is empty"),
        ("--mail-filter file", 0, "file is a file, not the folder of a filter"),
        ("--mail-filter f --mail-correct f", 0, "only one job of the mail filter"),
        ("--mail-filter nowhere --strict", 66, "nowhere is not a mail filter"),
    ] {
        let done = scratch.dbacl_reading(args, mail("spam", 3));
        assert!(done.stdout.contains("\nX-DBACL: error"), "{args}: {done:?}");
        done.complains(status, expected);
    }
    scratch.dbacl("-l x -c y --strict").complains(64, "cannot use options -l and -c together");
    // The advice to forget a message works.
    scratch.write("message", mail("spam", 3));
    scratch.dbacl("--mail-correct f spam message").quiet(0);
    scratch.dbacl("--mail-forget f spam message").quiet(0);
    scratch.dbacl("--mail-forget f spam message").complains(1, "was learned as spam");
    let one = "--mail-learn one ham=good/01 spam=bad";
    scratch.dbacl(one).complains(0, "only 1 message of ham");
}

#[test]
fn a_filter_that_may_not_be_read_need_not_be_learned_again() {
    let scratch = learned();
    let chmod = |mode| {
        fs::set_permissions(scratch.path("f"), fs::Permissions::from_mode(mode)).expect("ours");
    };
    chmod(0);
    if fs::read_dir(scratch.path("f")).is_ok() {
        chmod(0o700);
        return skip("mistakes::a_filter_that_may_not_be_read", "the superuser reads everything");
    }
    let done = scratch.dbacl("--mail-filter f");
    chmod(0o700);
    assert!(
        done.stderr.contains("Permission denied") && !done.stderr.contains("learn"),
        "{done:?}"
    );
}

#[test]
fn a_terminal_is_told_what_the_program_waits_for_and_a_file_gets_help_too() {
    let scratch = learned();
    scratch.sh("dbacl --help >log 2>&1").quiet(0);
    assert!(scratch.read("log").starts_with(b"Usage: dbacl"));
    let Some(seen) = shown(&mut scratch.dbacl_command([] as [&str; 0])) else { return };
    has(
        &seen,
        "dbacl --mail-learn DIR|dbacl --mail-verdict DIR|--mail-help and dbacl --help|\
         please use either -c or -l option.",
    );
}

#[test]
fn a_correction_learns_mail_only() {
    let scratch = learned();
    scratch.write("more/1", "Subject: one more\n\ncheap pills for you\n");
    scratch.write("more/README.txt", "These are messages\nfrom friends.\n");
    let learned = || scratch.read("f/journal").len();
    let before = learned();
    for (bytes, what) in not_mail(&scratch.path("f")) {
        scratch.write("x", &bytes);
        let done = scratch.dbacl("--mail-correct f spam x");
        done.complains(1, &format!("x is not mail but {what}"));
        scratch.dbacl_reading("--mail-correct f spam", &bytes).complaint(1);
    }
    scratch.write("zero", "");
    let complaint = scratch.dbacl("--mail-correct f spam zero").complaint(1);
    assert_eq!(complaint, "dbacl:error: zero: there is no word to learn\n");
    scratch.dbacl("--mail-correct f/table spam more").complains(1, "f/table is a file");
    scratch.dbacl("--mail-correct f spam nosuch").complains(1, "nosuch: No such file");
    assert_eq!(learned(), before);
    let done = scratch.dbacl("--mail-correct f spam more");
    done.complains(0, "left out: more/README.txt (without a header)");
    assert!(learned() > before);
}

#[test]
fn too_many_labels_end_with_one_line_at_once() {
    let scratch = learned();
    let start = Instant::now();
    let folders = (0..50_000).map(|number| format!("l{number}=good"));
    let args: Vec<String> =
        ["--mail-learn", "g"].map(str::to_owned).into_iter().chain(folders).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = scratch.dbacl_args(&args).complains(1, "two mail folders or more, up to 64");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn what_is_not_mail_gets_no_verdict() {
    let scratch = learned();
    for (bytes, what) in not_mail(&scratch.path("f")) {
        scratch.write("x", &bytes);
        for options in ["", "--reasons"] {
            scratch.sh(&format!("dbacl --mail-filter f {options} <x >y 2>said")).quiet(0);
            let passed = scratch.read("y");
            assert!(passed.starts_with(b"X-DBACL: error") && passed.ends_with(&bytes), "{what}");
            has(&scratch.text("said"), &format!("this is not mail but {what}"));
        }
    }
    // Without a header, it is text all the same.
    scratch.dbacl_reading("--mail-filter f", "cheap pills\n").says("X-DBACL: |cheap pills\n");
}

#[test]
fn a_correction_that_fails_leaves_no_room_taken() {
    let scratch = learned();
    let length = || scratch.read("f/journal").len();
    let (before, blocks) = (length(), length() / 512 + 1);
    let words: String = (0..9000).map(|number| format!("word{number}x ")).collect();
    scratch.write("large", format!("Subject: x\n\n{words}\n"));
    let done = scratch.sh(&format!("ulimit -f {blocks}; dbacl --mail-correct f spam bad/01 large"));
    done.complains(1, "journal");
    assert_eq!(length(), before);
}

#[test]
fn verdicts_are_lines_for_people_and_tables_for_programs() {
    let scratch = learned();
    scratch.write("two.mbox", mail("spam", 70) + &mail("ham", 70));
    scratch.write("folder/1", mail("ham", 71));
    let said = scratch.dbacl("--mail-verdict f two.mbox folder").quiet(0);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    for (line, verdict, place) in [
        (lines[0], "spam ", " two.mbox, message 1: "),
        (lines[1], "ham ", " two.mbox, message 2: "),
        (lines[2], "ham ", " folder/1: "),
    ] {
        assert!(line.starts_with(verdict) && line.contains(place), "{said}");
    }
    let piped = scratch.dbacl_reading("--mail-verdict f --reasons", mail("spam", 70)).quiet(0);
    assert!(piped.contains(" stdin: ") && piped.contains("; because of +"), "{piped}");
    assert_eq!(piped.lines().count(), 1, "{piped}");
    let table = scratch.dbacl("--mail-verdict f --format tsv two.mbox").quiet(0);
    let heading = "id\tbest\tunsure\tprobability\tham.probability\tspam.probability\tsubject\tfrom";
    assert_eq!(table.lines().next(), Some(heading));
    assert!(table.lines().nth(1).is_some_and(|row| row.contains("\tspam\tfalse\t0.9")), "{table}");
    let json = scratch.dbacl("--mail-verdict f --reasons --format json two.mbox").quiet(0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json[0]["best"], &json[1]["best"]), (&"spam".into(), &"ham".into()));
    assert!(json[0]["reasons"].as_str().is_some_and(|reasons| reasons.contains('+')), "{json}");
    // A file that cannot be read is named, and the others are classified.
    let done = scratch.dbacl("--mail-verdict f none folder");
    assert!(done.stdout.starts_with("ham ") && done.stdout.lines().count() == 1, "{done:?}");
    done.complains(1, "none");
    scratch.dbacl("--strict --mail-verdict none folder").complaint(66);
    scratch.write("empty", "");
    scratch.dbacl("--mail-verdict f empty").complains(0, "empty: there is no message in it");
    scratch.dbacl_reading("--mail-verdict f", "").complains(0, "stdin: there is no message in it");
    scratch.dbacl("--mail-verdict f --format xml folder").complains(1, "--format needs one of");
}

#[test]
fn the_mail_filter_has_a_help_of_its_own() {
    let scratch = Scratch::new();
    let help = scratch.dbacl("--mail-help").quiet(0);
    assert!(help.lines().count() < 60 && help.lines().all(|line| line.len() < 100), "{help}");
    has(&help, "Usage: dbacl --mail-learn DIR LABEL=MAIL|--mail-review DIR|With --mail-filter and");
    assert!(help.contains("leave older mail out") && !help.contains("--hash-bits"), "{help}");
    assert_eq!(scratch.dbacl("--mail-learn --help").quiet(0), help);
    let all = scratch.dbacl("--help").quiet(0);
    assert!(all.contains("--mail-verdict DIR") && !all.contains("--window"), "{all}");
}
