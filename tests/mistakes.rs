// SPDX-License-Identifier: GPL-3.0-or-later
//! What people type at first with a mail filter: folders of mailboxes, files that are no mail,
//! arguments in another order. Either it works, or one line says what to type.

use crate::mails::mail;
use dbacl_testing::terminal::shown;
use dbacl_testing::{Scratch, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;

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

const LEARN: &str = "--mail-learn f ham=g.mbox spam=s.mbox";

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
    for (name, content) in [
        ("good/README.txt", &b"These are messages\nfrom friends.\n"[..]),
        ("good/photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("good/x.gz", b"\x1f\x8b\x08\0\0"),
        ("good/dovecot.index.cache", b"\x01\0\0\0\x90\x1f"),
    ] {
        scratch.write(name, content);
    }
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
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    let before = scratch.read("f/ledger");
    scratch.write("g.mbox.xz", b"\xfd7zXZ\0\0\x04");
    scratch.write("random.bin", b"\x07\0\x01\xfe\xb0");
    scratch.write("g.mbox2", mail("ham", 70) + &mail("ham", 0));
    for number in 70..75 {
        scratch.write(&format!("bad/{number}"), mail("spam", number));
        let copied = scratch.read(&format!("good/{:02}", number - 70));
        scratch.write(&format!("bad/copy{number}"), copied);
    }
    scratch.write("only/x.gz", b"\x1f\x8b\x08\0\0");
    for (args, expected) in [
        (
            "f ham=g.mbox.xz spam=bad",
            "g.mbox.xz is not mail but compressed by xz; give mbox files, \
          messages, Maildirs or folders of these, unpacked",
        ),
        ("f ham=random.bin spam=bad", "random.bin is not mail but binary data; give"),
        ("f ham=only spam=bad", "there is no mail to learn in only; nothing was changed"),
        (
            "good ham=good spam=bad",
            "good would be read as mail of good: keep the filter in a \
          folder outside its mail",
        ),
        ("good/filter ham=good spam=bad", "good/filter would be read as mail of good: keep"),
        (
            "f ham=good spam=good",
            "30 of 30 messages of ham are messages of spam as well: give \
          each label mail of its own",
        ),
        ("f ham=good spam=g.mbox", "30 of 30 messages of ham are messages of spam as well"),
        (
            "ham=good spam=bad",
            "the filter's folder is missing before ham=good: dbacl --mail-learn \
          DIR ham=MAIL spam=MAIL",
        ),
    ] {
        let done = scratch.dbacl(&format!("--mail-learn {args}"));
        let said = done.clone().complaint(1);
        assert!(said.contains(&format!("dbacl:error: {expected}")), "{args}: {said}");
        assert_eq!(done.stdout, "", "{args}");
    }
    assert!(scratch.read("f/ledger") == before);
    assert!(!scratch.path("good/filter").exists() && !scratch.path("good/order").exists());
    // A few messages with two labels are only worth a word.
    let done = scratch.dbacl("--mail-learn f ham=good spam=bad");
    assert_eq!(done.status, 0, "{done:?}");
    assert!(
        done.stderr.contains("dbacl:warning: 5 messages are in both ham and spam\n"),
        "{done:?}"
    );
}

#[test]
fn a_label_may_be_given_several_times() {
    let scratch = sorted();
    let said = scratch.dbacl("--mail-learn f ham=good spam=s.mbox ham=g.mbox").quiet(0);
    assert!(said.starts_with("learned 90 messages (ham 60, spam 30)\n"), "{said}");
    let said = scratch.dbacl("--mail-learn f ham=good ham=g.mbox").complaint(1);
    assert!(said.contains("needs two mail folders or more"), "{said}");
}

#[test]
fn each_message_of_a_mailbox_file_gets_a_verdict() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
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
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    scratch.write("message", mail("spam", 70));
    let expected = scratch.dbacl_reading("--mail-filter f", mail("spam", 70)).quiet(0);
    assert!(verdict(&expected).contains("spam"), "{expected}");
    // What is on standard input does not matter.
    assert_eq!(scratch.dbacl_reading("--mail-filter f message", "x").quiet(0), expected);
    // Options stand before or after the folder.
    let with_reasons = scratch.dbacl("--mail-filter f --reasons message").quiet(0);
    assert!(with_reasons.contains("\nX-DBACL-Reasons: "), "{with_reasons}");
    assert_eq!(scratch.dbacl("--mail-filter --reasons f message").quiet(0), with_reasons);
    assert_eq!(scratch.dbacl("--reasons --mail-filter f message").quiet(0), with_reasons);
    for (args, expected) in [
        ("--mail-filter f none", "couldn't open none: No such file"),
        ("--mail-filter f bad", "couldn't open bad: is a directory"),
        ("--mail-filter f message message", "--mail-filter takes one file at a time"),
    ] {
        let done = scratch.dbacl(args);
        assert_eq!(done.stdout, "", "{args}");
        let said = done.complaint(1);
        assert!(said.contains(expected) && said.lines().count() == 1, "{args}: {said}");
    }
    scratch.dbacl("--strict --mail-filter f none").complaint(66);
    // Without a folder the message comes through all the same.
    let done = scratch.dbacl_reading("--mail-filter --reasons", mail("spam", 70));
    assert!(done.stdout.contains("X-DBACL: error\n"), "{done:?}");
    assert!(done.complaint(0).contains("the filter's folder is missing"));
}

#[test]
fn messages_say_what_to_type() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    scratch.write("x.model", "# dbacl model 1\n...");
    for (args, status, expected) in [
        (
            "--mail-filter none",
            0,
            "dbacl:error: none is not a mail filter (no file none/order); \
          create it with dbacl --mail-learn none ham=MAIL spam=MAIL\n",
        ),
        (
            "--mail-filter",
            1,
            "dbacl:error: --mail-filter needs the filter's folder, such as ~/.dbacl-mail\n",
        ),
        ("--mail-lern f ham=good spam=bad", 1, "dbacl:hint: did you mean --mail-learn?\n"),
        (
            "--mail-forget f message",
            1,
            "dbacl:hint: to forget a message that was learned as spam: dbacl --unlearn spam ",
        ),
        (
            "--mail-correct f forget s.mbox",
            1,
            "dbacl:error: to forget a message that was learned as spam: dbacl --unlearn",
        ),
        ("-c ./x.model", 1, "x.model is a model of dbacl-text: use dbacl-text predict\n"),
    ] {
        let said = scratch.dbacl(args).complaint(status);
        assert!(said.contains(expected), "{args}: {said}");
    }
    // The advice to forget a message works.
    let forget = "--unlearn spam --keep f/ledger -c f/ham -c f/spam message";
    scratch.write("message", mail("spam", 3));
    scratch.dbacl("--mail-correct f spam message").quiet(0);
    let said = scratch.dbacl(forget);
    assert_eq!(said.status, 0, "{said:?}");
    let one = scratch.dbacl("--mail-learn one ham=good/01 spam=bad");
    assert!(one.stderr.contains("only 1 document of category ham"), "{one:?}");
}

#[test]
fn a_filter_that_may_not_be_read_need_not_be_learned_again() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
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
fn a_terminal_is_told_what_the_program_waits_for() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    let Some(seen) = shown(&mut scratch.dbacl_command([] as [&str; 0])) else { return };
    assert!(seen.contains("dbacl --help shows examples and all options"), "{seen}");
    assert!(seen.contains("please use either -c or -l option."), "{seen}");
}

#[test]
fn help_is_help_in_a_file_too() {
    let scratch = Scratch::new();
    scratch.sh("dbacl --help >log 2>&1").quiet(0);
    assert!(scratch.read("log").starts_with(b"Usage: dbacl"));
}

#[test]
fn a_correction_learns_mail_only() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    scratch.write("more/1", "Subject: one more\n\ncheap pills for you\n");
    scratch.write("more/README.txt", "These are messages\nfrom friends.\n");
    let learned = || scratch.read("f/ledger").len();
    let before = learned();
    for (program, what) in [("x.gz", b"\x1f\x8b\x08\0\0"), ("y", b"\x7fELF\0")] {
        scratch.write(program, what);
        let complaint = scratch.dbacl(&format!("--mail-correct f spam {program}")).complaint(1);
        assert!(complaint.contains(&format!("{program} is not mail")), "{complaint}");
    }
    scratch.write("zero", "");
    let complaint = scratch.dbacl("--mail-correct f spam zero").complaint(1);
    assert_eq!(complaint, "dbacl:error: zero: there is no word to learn\n");
    let complaint = scratch.dbacl("--mail-correct f/order spam more").complaint(1);
    assert!(complaint.contains("f/order is a file"), "{complaint}");
    let complaint = scratch.dbacl("--mail-correct f spam nosuch").complaint(1);
    assert!(complaint.contains("nosuch: No such file"), "{complaint}");
    assert_eq!(learned(), before);
    let complaint = scratch.dbacl("--mail-correct f spam more").complaint(0);
    assert!(complaint.contains("left out: more/README.txt (without a header)"), "{complaint}");
    assert!(learned() > before);
}

#[test]
fn a_correction_that_fails_leaves_no_room_taken() {
    let scratch = sorted();
    scratch.dbacl(LEARN).quiet(0);
    let length = || scratch.read("f/ledger").len();
    let (before, blocks) = (length(), length() / 512 + 1);
    let words: String = (0..9000).map(|number| format!("word{number}x ")).collect();
    scratch.write("large", format!("Subject: x\n\n{words}\n"));
    let done = scratch.sh(&format!("ulimit -f {blocks}; dbacl --mail-correct f spam bad/01 large"));
    let complaint = done.complaint(1);
    assert!(complaint.contains("ledger"), "{complaint}");
    assert_eq!(length(), before);
}
