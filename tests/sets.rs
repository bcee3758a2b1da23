// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter is in service while it is learned and corrected, whenever a process is killed and
//! whatever cannot be written.
//!
//! `DBACL_SETS_MAILS` and `DBACL_SETS_KILLS` set the length of a run: with 2,000 and 1,000 every
//! message got a verdict, and no document was lost or counted twice.

use crate::files::without_verdict;
use crate::folders::contents;
use crate::mails::mail;
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::{
    Done, Scratch, done, fed, finish, has, has_tracer, kill, number, programs, skip,
};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// System calls that change files.
const CALLS: [&str; 14] = [
    "fdatasync",
    "ftruncate",
    "rename",
    "link",
    "linkat",
    "symlink",
    "unlink",
    "unlinkat",
    "mkdir",
    "write",
    "pwrite64",
    "fsync",
    "chmod",
    "rmdir",
];

/// A fault for a run of the program: at its call `number` of the system call `call`, `how`
/// happens (an error, or a signal).
pub(crate) struct Fault<'a> {
    pub call: &'a str,
    pub number: usize,
    pub how: &'a str,
}

/// Runs the program under strace with these options.
fn traced(place: &Scratch, options: &str, args: &str, input: &str) -> Done {
    let mut run = place.command("strace");
    run.args(["-f", "-qq"]).args(options.split(' '));
    run.arg(programs().join("dbacl")).args(args.split(' '));
    fed(run, input)
}

/// Runs the program and lets a system call fail.
pub(crate) fn faulty(place: &Scratch, fault: &Fault<'_>, args: &str, input: &str) -> Done {
    let Fault { call, number, how } = fault;
    let inject = format!("inject={call}:{how}:when={number}");
    traced(place, &format!("-o /dev/null -e trace={call} -e {inject}"), args, input)
}

pub(crate) const LEARN: &str = "--mail-learn f ham=ham.mbox spam=spam.mbox";

fn mailbox(place: &Scratch, label: &str, mails: impl IntoIterator<Item = usize>) {
    let mails: String = mails.into_iter().map(|number| mail(label, number)).collect();
    place.write(&format!("{label}.mbox"), mails);
}

/// A folder with 30 messages of either kind in mailboxes.
pub(crate) fn mailboxes() -> Scratch {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
        mailbox(&place, label, 0..30);
    }
    place
}

/// The same, and a filter that has learned them.
pub(crate) fn filter() -> Scratch {
    let place = mailboxes();
    place.dbacl(LEARN).output();
    place
}

/// The verdict on a message, which must never be `error`; the message comes through unchanged, but
/// for verdicts that it brought.
#[track_caller]
pub(crate) fn verdict(place: &Scratch, mail: &str) -> String {
    let filtered = place.dbacl_reading("--mail-filter f", mail).quiet(0);
    let (rest, found) = without_verdict(&filtered);
    assert_eq!(rest, without_verdict(mail).0, "the mail is unchanged");
    assert!(found.lines().count() == 1 && !found.contains("error"), "{filtered}");
    found.trim_end().to_owned()
}

/// Documents of the filter.
#[track_caller]
pub(crate) fn documents(place: &Scratch) -> u32 {
    let filter = MailFilter::open(&place.path("f"), &MailFilterOptions::default());
    filter.expect("a filter").documents()
}

/// Checks that nothing is in a filter's folder that should not be there between two changes.
#[track_caller]
pub(crate) fn is_tidy(place: &Scratch) {
    let entries = fs::read_dir(place.path("f")).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("plain");
    let names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    let ledgers = names.iter().filter(|name| name.starts_with("ledger.")).count();
    let known = ["table", "table.before", "journal", "lock", "review.txt"];
    let others: Vec<&String> = names
        .iter()
        .filter(|name| !name.starts_with("ledger.") && !known.contains(&name.as_str()))
        .collect();
    assert!(others.is_empty() && (1..=2).contains(&ledgers), "{names:?}");
}

#[test]
fn a_filter_is_in_service_while_it_is_learned_and_corrected() {
    let place = filter();
    let mails = number("DBACL_SETS_MAILS", 60);
    let (ended, judged) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (learned, corrected) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                place.dbacl(LEARN).output();
                learned.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let number = corrected.fetch_add(1, Ordering::Relaxed);
                let mail = mail("ham", 100 + number % 50) + &format!("word{}\n", number % 50);
                place.dbacl_reading("--mail-correct f ham", mail).output();
            }
        });
        // A panic here would leave the others running.
        let filtered: Vec<_> = (0..mails)
            .map(|number| {
                let mail = mail("spam", number % 40);
                let output = place.dbacl_reading("--mail-filter f", mail);
                judged.fetch_add(1, Ordering::Relaxed);
                (output.stdout, output.stderr)
            })
            .filter(|(out, err)| out.contains("X-DBACL: error") || !err.is_empty())
            .collect();
        ended.store(true, Ordering::Relaxed);
        assert!(filtered.is_empty(), "{} of {mails}: {:?}", filtered.len(), filtered[0]);
    });
    let (learned, corrected) = (learned.into_inner(), corrected.into_inner());
    assert!(learned > 0 && corrected > 0);
    is_tidy(&place);
    let _ = writeln!(
        std::io::stderr(),
        "{mails} mails filtered, {learned} times learned, {corrected} corrections, no error"
    );
}

/// Runs `args` with a fault at every call that changes files, one after the other, each in a copy
/// of `start`; `check` looks at what is left, and is shown whether the command ended well.
fn at_every_call(
    start: &Scratch,
    how: &str,
    args: &str,
    input: &str,
    check: impl Fn(&Scratch, bool, &str),
) {
    let mut faults = 0;
    for call in CALLS {
        for number in 1..=calls(start, call, args, input) {
            let place = start.copy();
            let done = faulty(&place, &Fault { call, number, how }, args, input);
            check(&place, done.status == 0, &format!("{call} {number}: {}", done.stderr));
            is_tidy(&place);
            faults += 1;
        }
    }
    assert!(faults > 2, "{faults} faults");
}

/// How often a command makes a call.
pub(crate) fn calls(start: &Scratch, call: &str, args: &str, input: &str) -> usize {
    let place = start.copy();
    traced(&place, &format!("-e signal=none -o calls -e trace={call}"), args, input).output();
    place.text("calls").lines().filter(|line| line.contains(call)).count()
}

/// A good mail that the filter has not seen.
pub(crate) fn other() -> String {
    mail("ham", 9) + "quite another one\n"
}

/// A message that the filter has not seen.
pub(crate) fn news() -> String {
    mail("spam", 77) + "with a word of its own\n"
}

/// A message with many words that no filter knows.
fn large(number: usize) -> String {
    let words: String = (0..700).map(|word| format!("large{number}x{word} ")).collect();
    mail("spam", 100) + &words + "\n"
}

/// Filters to be changed, each with its number of documents and a message that it does not know.
fn starts() -> Vec<(Scratch, u32, String)> {
    // The next message is a quarter more than at the last fit, or folds a full journal.
    let (fitted, folded) = (filter(), filter());
    for number in 0..14 {
        fitted.dbacl_reading("--mail-correct f spam", mail("spam", 200 + number)).output();
    }
    let journal = || fs::metadata(folded.path("f/journal")).expect("there").len();
    let mut known = 60;
    while known < 74 {
        folded.dbacl_reading("--mail-correct f spam", large(known)).output();
        known += 1;
    }
    assert!(journal() < 1 << 18);
    let known = u32::try_from(known).expect("few");
    vec![(filter(), 60, news()), (fitted, 74, news()), (folded, known, large(99))]
}

#[test]
fn a_correction_that_is_killed_anywhere_has_happened_or_not() {
    if !has_tracer("sets::a_correction_that_is_killed") {
        return;
    }
    for (start, known, mail) in starts() {
        let args = "--mail-correct f spam";
        at_every_call(&start, "signal=KILL", args, &mail, |place, _, at| {
            verdict(place, &news());
            assert!([known, known + 1].contains(&documents(place)), "{at}");
            place.dbacl_reading(args, &mail).output();
            assert_eq!(documents(place), known + 1, "{at}");
        });
    }
}

#[test]
fn learning_that_is_killed_anywhere_leaves_the_filter_in_service() {
    if !has_tracer("sets::learning_that_is_killed") {
        return;
    }
    let start = filter();
    start.dbacl_reading("--mail-correct f ham", other()).output();
    mailbox(&start, "ham", 0..35);
    at_every_call(&start, "signal=KILL", LEARN, "", |place, _, at| {
        verdict(place, &news());
        assert!([61, 66].contains(&documents(place)), "{at}");
        place.dbacl(LEARN).output();
        assert_eq!(documents(place), 66, "{at}");
    });
}

#[test]
fn an_update_that_failed_anywhere_did_nothing() {
    if !has_tracer("sets::an_update_that_failed") {
        return;
    }
    let args = "--mail-correct f spam";
    for (start, known, mail) in starts() {
        let scores = |place: &Scratch| verdict(place, &mail);
        let before = scores(&start);
        at_every_call(&start, "error=ENOSPC", args, &mail, |place, is_well, at| {
            if !is_well {
                assert_eq!((documents(place), scores(place)), (known, before.clone()), "{at}");
                place.dbacl_reading(args, &mail).output();
            }
            assert_eq!(documents(place), known + 1, "{at}");
            assert_ne!(scores(place), before, "{at}");
            place.dbacl_reading("--mail-correct f ham", other()).output();
        });
    }
}

#[test]
fn kills_at_any_moment_lose_nothing() {
    let place = filter();
    let kills = number("DBACL_SETS_KILLS", 20);
    let (mut corrected, mut killed) = (0, 0);
    let begun = Instant::now();
    place.dbacl_reading("--mail-correct f ham", mail("ham", 100)).output();
    let usual = u64::try_from(begun.elapsed().as_micros()).expect("not long");
    for round in 0..kills {
        let own = mail("ham", 200) + &format!("unique{round}\n");
        let learns = round % 4 == 3;
        place.write("own", &own);
        let args = if learns { LEARN } else { "--mail-correct f ham own" };
        let mut child = place.dbacl_command(args.split(' ')).spawn().expect("dbacl starts");
        // The moments of the kills are spread evenly over the run; 619 and 1000 have no divisor in
        // common.
        let span = if learns { usual * 8 } else { usual * 2 };
        std::thread::sleep(Duration::from_micros(span * (round as u64 * 619 % 1000) / 1000));
        let _ = child.kill();
        killed += usize::from(!child.wait().expect("it ends").success());
        verdict(&place, &own);
        if !learns {
            place.dbacl_reading("--mail-correct f ham", own).output();
            corrected += 1;
            // The first command after a kill removes what the killed one left.
            is_tidy(&place);
        }
        assert_eq!(documents(&place), 61 + corrected, "round {round}");
    }
    let _ = writeln!(std::io::stderr(), "{killed} of {kills} killed, {corrected} corrections kept");
}

#[test]
fn a_full_disk_changes_nothing() {
    let place = filter();
    let script = "
         mkdir small; mount -t tmpfs -o size=2500k tmpfs small || exit 99
         cp -a f small/f && cd small || exit 98
         full=0
         count() { stat -c %s f/journal; }
         for round in 1 2 3 4 5 6 7 8 9; do
             [ $round -gt 4 ] || dd if=/dev/zero of=fill bs=1k 2>/dev/null
             (cat ../mail; echo round $round; seq $round 1000) >../own
             before=$(count)
             if dbacl --mail-correct f ham ../own 2>../said; then
                 wanted=-gt
             else
                 wanted=-eq full=$((full + 1))
                 grep -q 'No space' ../said || { cat ../said; exit 97; }
             fi
             after=$(count)
             test $after $wanted $before || { echo $before $after $wanted; exit 96; }
             dbacl --mail-filter f <../mail | grep -q 'X-DBACL: [hsu]' || exit 95
             rm -f fill
         done
         test $full -gt 0 || { echo never full; exit 94; }";
    place.write("mail", mail("ham", 1));
    let mut shell = place.command("unshare");
    let output = done(shell.args(["-m", "sh", "-c", script]));
    match output.status {
        0 => {}
        1 | 99 => skip("sets::a_full_disk", "no file system can be mounted"),
        code => panic!("{code:?} {}{}", output.stdout, output.stderr),
    }
}

#[test]
fn learning_from_less_than_all_changes_nothing() {
    let place = filter();
    let before = contents(&place);
    place.write("empty", "");
    fs::create_dir(place.path("folder")).expect("made");
    for (spam, said) in [
        ("missing", "couldn't open missing"),
        ("empty", "there is no mail to learn in empty"),
        ("folder", "there is no mail to learn in folder"),
        ("/proc/self/mem", "/proc/self/mem"),
    ] {
        let args = format!("--mail-learn f ham=ham.mbox spam={spam}");
        place.dbacl(&args).complains(1, said);
        assert!(contents(&place) == before, "{spam}");
        is_tidy(&place);
    }
}

#[test]
fn signals_while_a_set_is_learned_change_nothing() {
    let place = filter();
    let before = contents(&place);
    place.sh("mkfifo pipe").quiet(0);
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let mut run = place.dbacl_command(["--mail-learn", "f", "ham=ham.mbox", "spam=pipe"]);
        let child = run.spawn().expect("dbacl starts");
        // This waits until the program opens the pipe, too.
        let mut pipe = fs::OpenOptions::new().write(true).open(place.path("pipe")).expect("opened");
        pipe.write_all(mail("spam", 1).as_bytes()).expect("written");
        kill(child.id(), signal);
        let _ = pipe.write_all(mail("spam", 2).as_bytes());
        drop(pipe);
        let output = finish(child);
        assert_eq!(output.status, 1, "{signal}: {}", output.stderr);
        assert!(contents(&place) == before, "{signal}");
        is_tidy(&place);
    }
}

#[test]
fn a_filter_of_an_older_version_is_learned_again_in_one_command() {
    let place = filter();
    place.sh(
        "cd f; rm table* journal ledger.* lock; mkdir -p ledger.set/1; echo x >ledger.set/1/ledger
         printf '# dbacl mail filter\\nham\\nspam\\n' >order; echo x >ham; echo x >ham.ordinary
         ln -s ledger.set/1/ledger ledger; echo mine >notes",
    )
    .quiet(0);
    let help = "dbacl:error: f is a filter of another version of dbacl: learn again: dbacl \
                --mail-learn f ham=MAIL spam=MAIL\n";
    for args in ["--mail-filter f", "--mail-correct f spam", "--mail-ask f ham.mbox"] {
        assert_eq!(place.dbacl_reading(args, news()).stderr, help, "{args}");
    }
    place.dbacl("--mail-learn f ham=ham.mbox spam=no").complains(1, "couldn't open no");
    assert_eq!(place.dbacl("--mail-filter f").stderr, help);
    place.dbacl(LEARN).says("60 messages (ham 30, spam 30)");
    assert_eq!(place.text("f/notes"), "mine\n");
    place.sh("rm f/notes").quiet(0);
    is_tidy(&place);
    verdict(&place, &news());
}

pub(crate) fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn a_filter_is_its_users_alone_and_modes_survive() {
    let place = mailboxes();
    place.write("news", news());
    let shell = |script: &str| place.sh(script).output();
    shell("umask 0; dbacl --mail-learn f ham=ham.mbox spam=spam.mbox");
    shell("umask 0; dbacl --mail-correct f spam news");
    let ledger = || place.sh("ls f/ledger.*").output().trim().to_owned();
    for name in ["f/table", "f/journal", "f/lock", &ledger()] {
        assert_eq!(mode(place.path(name)), 0o600, "{name}");
    }
    assert_eq!(mode(place.path("f")), 0o700);
    shell("chmod 640 f/table f/journal f/ledger.*");
    shell("umask 077; dbacl --mail-learn f ham=ham.mbox spam=spam.mbox");
    shell("umask 0; (cat news; echo more) | dbacl --mail-correct f ham");
    for name in ["f/table", "f/journal", ledger().split('\n').next_back().expect("a ledger")] {
        assert_eq!(mode(place.path(name)), 0o640, "{name}");
    }
}

#[test]
fn corrections_outlive_learning_anew_until_the_folders_agree() {
    let place = filter();
    // Two corrections: one message of the folder of good mail is spam, and the other mail was never
    // in a folder.
    let wrong = mail("ham", 5);
    correct(&place, "spam", [&wrong, &news()]);
    assert_eq!(documents(&place), 61);
    place.dbacl(LEARN).says("61 messages (ham 29, spam 32)|2 corrections were applied\n");
    // The user moves the first of the two messages into the folder of spam.
    mailbox(&place, "ham", (0..30).filter(|&number| number != 5));
    place.write("spam.mbox", place.text("spam.mbox") + &wrong);
    let said = place.dbacl(LEARN).says("61 messages (ham 29, spam 32)|1 correction was applied\n");
    let again = place.dbacl("--mail-learn f spam=spam.mbox ham=ham.mbox").output();
    assert_eq!(again, said, "the order of the operands does not matter");
    // The opposite correction of the second mail takes its correction back.
    correct(&place, "ham", [news()]);
    place.dbacl(LEARN).says("61 messages (ham 30, spam 31)");
}

fn correct(place: &Scratch, label: &str, mails: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    for mail in mails {
        place.dbacl_reading(&format!("--mail-correct f {label}"), mail).output();
    }
}

/// Learns, and checks what is said on standard output, and in a warning, if there is one.
#[track_caller]
fn learn(place: &Scratch, args: &str, said: &str, warning: &str) {
    let done = place.dbacl(args);
    assert_eq!(warning.is_empty(), done.stderr.is_empty(), "{}", done.stderr);
    has(&done.stderr, warning);
    let is_applied = said.contains("applied");
    assert_eq!(done.says(said).contains("applied"), is_applied);
}

#[test]
fn corrections_wait_for_the_folder_of_their_label() {
    let place = filter();
    correct(&place, "spam", [3, 4].map(|number| mail("ham", number)));
    let [junk, spam] =
        ["junk", "spam"].map(|label| format!("--mail-learn f ham=ham.mbox {label}=spam.mbox"));
    for _ in 0..2 {
        let warning = "2 corrections to spam were not applied, since no folder is called spam: \
                       they are kept until one is";
        learn(&place, &junk, "60 messages (ham 30, junk 30)", warning);
    }
    // Meanwhile one of the messages is corrected to the new label, and another one is, too.
    correct(&place, "junk", [mail("ham", 4), news()]);
    let applied = "61 messages (ham 29, junk 32)|2 corrections were applied\n";
    learn(&place, &junk, applied, "1 correction to spam was not applied");
    let applied = "60 messages (ham 29, spam 31)|1 correction was applied\n";
    learn(&place, &spam, applied, "2 corrections to junk were not applied");
    // What a user says of a document that has a correction counts, whatever folders there are.
    correct(&place, "spam", [mail("ham", 4), news()]);
    learn(&place, &spam, "61 messages (ham 28, spam 33)|3 corrections were applied\n", "");
}

#[test]
fn labels_tell_what_is_protected() {
    let place = filter();
    place.dbacl("--mail-learn f a=ham.mbox b=spam.mbox").complains(1, "--protect a or --protect b");
    place.dbacl("--mail-learn f --protect b a=spam.mbox b=ham.mbox").output();
    let filter =
        MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter");
    assert_eq!(filter.labels(), ["b", "a"]);
    assert!(verdict(&place, &mail("spam", 77)).starts_with("X-DBACL: a "));
}

#[test]
fn mistakes_of_a_first_command_are_told_and_make_nothing() {
    let place = filter();
    let before = contents(&place);
    for (args, said) in [
        ("f ham=ham.mbox", "two mail folders"),
        ("f ham.mbox spam.mbox", "HAM=MAIL and SPAM=MAIL, not ham.mbox"),
        ("f ham=ham.mbox spam=no*.mbox", "no file or folder is called no*.mbox"),
        ("f a/b=ham.mbox spam=spam.mbox", "a/b cannot be a label"),
        ("f --protct ham ham=ham.mbox spam=spam.mbox", "option '--protct'"),
        (
            "f -n ham=ham.mbox spam=spam.mbox",
            "-n (--scores) cannot be used with --mail-learn; --mail-help lists what can",
        ),
    ] {
        place.dbacl(&format!("--mail-learn {args}")).complains(1, said);
        assert!(contents(&place) == before, "{args:?}");
    }
    assert_eq!(place.dbacl(&format!("--quiet {LEARN}")).quiet(0), "");
}

#[test]
fn mails_with_lines_that_look_like_separators_are_counted_once() {
    let place = filter();
    let spam = place.text("spam.mbox");
    let spam = spam
        .replace("\n\n", "\n\nFrom now on\n\nContent-Type: text/plain\n\nFrom the start: all\n\n");
    place.write("spam.mbox", spam);
    place.dbacl(LEARN).says("60 messages (ham 30, spam 30)");
}

#[test]
fn the_locale_of_who_learns_does_not_matter_to_a_filter() {
    // A reference to a character is a letter of its own in one locale and a blank in the other.
    let accented = |label: &str, number: usize| {
        mail(label, number) + "Content-Type: text/html\n\n<p>caf&eacute; na&iuml;ve</p>\n"
    };
    let learned = |locale: &str| {
        let place = Scratch::new();
        for label in ["ham", "spam"] {
            let mails: String = (0..30)
                .map(|number| {
                    format!(
                        "From ann@example.org Mon Jan  1 00:00:00 2024\n\
                         Content-Type: text/html\n{}\n",
                        accented(label, number)
                    )
                })
                .collect();
            place.write(&format!("{label}.mbox"), mails);
        }
        let run = |args: &str, input: &str| {
            let mut run = place.dbacl_command(args.split(' '));
            run.env("LC_ALL", locale);
            fed(run, input).output()
        };
        run(LEARN, "");
        run("--mail-correct f spam", &accented("ham", 99));
        contents(&place)
    };
    assert_eq!(learned("C"), learned("C.UTF-8"));
}
