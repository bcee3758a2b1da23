// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories as generations: a mail filter is in service while it is learned and
//! corrected, whenever a process is killed and whatever cannot be written.
//!
//! `DBACL_SETS_MAILS` and `DBACL_SETS_KILLS` set the length of a run: with 2,000 and 1,000 every
//! message got a verdict, and no document was lost or counted twice.

use crate::mails::{dbacl, mail, program, spawn};
use dbacl_testing::{Done, command, finish, kill, number, skip};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// System calls that change files.
const CALLS: [&str; 12] = [
    "rename", "link", "linkat", "symlink", "unlink", "unlinkat", "mkdir", "write", "pwrite64",
    "fsync", "chmod", "rmdir",
];

/// A fault for a run of the program: at its call `number` of the system call `call`, `how`
/// happens (an error, or a signal).
pub struct Fault<'a> {
    pub call: &'a str,
    pub number: usize,
    pub how: &'a str,
}

/// Runs the program and lets a system call fail.
pub fn faulty(folder: &Path, fault: &Fault<'_>, args: &[&str], input: &[u8]) -> Done {
    let Fault { call, number, how } = fault;
    let mut run = command("strace");
    run.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
    run.arg("-e").arg(format!("inject={call}:{how}:when={number}"));
    run.arg(program()).args(args);
    finish(spawn(run, folder, input))
}

pub fn has_tracer() -> bool {
    let mut run = Command::new("strace");
    run.args(["-qq", "-o", "/dev/null", "-e", "inject=mkdir:error=ENOSPC:when=1", "true"]);
    run.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

pub const LEARN: [&str; 4] = ["--mail-learn", "f", "ham=ham.mbox", "spam=spam.mbox"];

fn mailbox(folder: &Path, label: &str, mails: impl IntoIterator<Item = usize>) {
    let mails: String = mails.into_iter().map(|number| mail(label, number)).collect();
    fs::write(folder.join(format!("{label}.mbox")), mails).expect("written");
}

/// A folder with 30 messages of either kind in mailboxes, and a filter that has learned them.
pub fn filter() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for label in ["ham", "spam"] {
        mailbox(folder.path(), label, 0..30);
    }
    dbacl(folder.path(), &LEARN, b"").output();
    folder
}

/// The same as an earlier version of dbacl left it: files, no links.
pub fn older_filter() -> tempfile::TempDir {
    older_filter_read("unicode")
}

fn older_filter_read(reading: &str) -> tempfile::TempDir {
    let folder = filter();
    let path = folder.path();
    dbacl(path, &[&LEARN[..], &["--reading", reading]].concat(), b"").output();
    fs::create_dir(path.join("g")).expect("made");
    for name in ["ham", "ham.ordinary", "spam", "spam.ordinary", "ledger", "ledger.state", "order"]
    {
        fs::copy(path.join("f").join(name), path.join("g").join(name)).expect("copied");
    }
    fs::remove_dir_all(path.join("f")).expect("removed");
    fs::rename(path.join("g"), path.join("f")).expect("renamed");
    folder
}

pub fn copy(from: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(folder.path()).status();
    assert!(copied.expect("cp starts").success());
    folder
}

/// The verdict on a message, which must never be `error`.
#[track_caller]
pub fn verdict(folder: &Path, mail: &str) -> String {
    let output = dbacl(folder, &["--mail-filter", "f"], mail);
    let (stdout, stderr) = (output.stdout, output.stderr);
    let line = stdout.lines().find(|line| line.starts_with("X-DBACL: ")).expect("a verdict");
    assert!(!line.contains("error") && stderr.is_empty(), "{line}: {stderr}");
    line.to_owned()
}

/// Documents of the filter, by the head of its ledger.
pub fn documents(folder: &Path) -> u32 {
    let new = fs::read(folder.join("f/ledger.set/current/ledger.head"));
    let head = new.or_else(|_| fs::read(folder.join("f/ledger"))).expect("a ledger");
    u32::from_le_bytes(head[33..37].try_into().expect("four bytes"))
}

/// What is in a set's folder that should not be there between two changes.
pub fn leftovers(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("f/ledger.set")).expect("a set");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "current").collect();
    let generations = names.iter().filter(|name| name.parse::<u64>().is_ok()).count();
    names.retain(|name| name.parse::<u64>().is_err());
    assert!(generations <= 3, "{generations} generations");
    let links = fs::read_dir(folder.join("f")).expect("a folder");
    let links = links.map(|entry| entry.expect("an entry").file_name().into_string().unwrap());
    names.extend(links.filter(|name| name.contains(".link") || name.contains(".tmp")));
    names
}

#[test]
fn a_filter_is_in_service_while_it_is_learned_and_corrected() {
    let folder = filter();
    let path = folder.path();
    let mails = number("DBACL_SETS_MAILS", 60);
    let (ended, judged) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (learned, corrected) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                dbacl(path, &LEARN, b"").output();
                learned.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let number = corrected.fetch_add(1, Ordering::Relaxed);
                let mail = mail("ham", 100 + number % 50) + &format!("word{}\n", number % 50);
                dbacl(path, &["--mail-correct", "f", "ham"], mail).output();
            }
        });
        // A panic here would leave the others running.
        let filtered: Vec<_> = (0..mails)
            .map(|number| {
                let mail = mail("spam", number % 40);
                let output = dbacl(path, &["--mail-filter", "f"], mail);
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
    assert_eq!(leftovers(path), Vec::<String>::new());
    let _ = writeln!(
        std::io::stderr(),
        "{mails} mails filtered, {learned} times learned, {corrected} corrections, no error"
    );
}

/// Runs `args` with a fault at every call that changes files, one after the other, each in a copy
/// of `start`; `check` looks at what is left, and is shown whether the command ended well.
fn at_every_call(
    start: &Path,
    how: &str,
    args: &[&str],
    input: &[u8],
    check: impl Fn(&Path, bool, &str),
) {
    let mut faults = 0;
    for call in CALLS {
        for number in 1..=calls(start, call, args, input) {
            let folder = copy(start);
            let output = faulty(folder.path(), &Fault { call, number, how }, args, input);
            let place = format!("{call} {number}: {}", output.stderr);
            check(folder.path(), output.status == 0, &place);
            faults += 1;
        }
    }
    assert!(faults > 30, "{faults} faults");
}

/// How often a command makes a call.
pub fn calls(start: &Path, call: &str, args: &[&str], input: &[u8]) -> usize {
    let folder = copy(start);
    let log = folder.path().join("calls");
    let mut run = command("strace");
    run.args(["-f", "-qq", "-e", "signal=none", "-o"])
        .arg(&log)
        .arg("-e")
        .arg(format!("trace={call}"));
    run.arg(program()).args(args);
    finish(spawn(run, folder.path(), input)).output();
    fs::read_to_string(log).expect("a log").lines().filter(|line| line.contains(call)).count()
}

/// A good mail that the filter has not seen.
pub fn other() -> String {
    mail("ham", 9) + "quite another one\n"
}

/// A message that the filter has not seen.
pub fn news() -> String {
    mail("spam", 77) + "with a word of its own\n"
}

/// What has changed in the state of a filter since it was written.
const CHANGES: &str = "f/ledger.set/current/ledger.changes";

/// A filter whose state has changed since it was written.
fn filter_with_changes() -> tempfile::TempDir {
    let folder = filter();
    dbacl(folder.path(), &["--mail-correct", "f", "ham"], other()).output();
    assert!(folder.path().join(CHANGES).exists());
    folder
}

/// A message with many words that no filter knows.
fn large() -> String {
    let words: String = (0..700).map(|word| format!("large{word} ")).collect();
    mail("spam", 100) + &words + "\n"
}

/// Filters to be changed, each with its number of documents and a message that it does not know.
fn starts() -> Vec<(tempfile::TempDir, u32, String)> {
    let starts = vec![
        (filter(), 60, news()),
        (older_filter(), 60, news()),
        (filter_with_changes(), 61, news()),
        // The mail has so many new features that the whole state is written again.
        (filter_with_changes(), 61, large()),
    ];
    let is_folded = |(start, _, mail): &(tempfile::TempDir, u32, String)| {
        let folder = copy(start.path());
        dbacl(folder.path(), &["--mail-correct", "f", "spam"], mail).output();
        !folder.path().join(CHANGES).exists()
    };
    assert_eq!(starts.iter().map(is_folded).collect::<Vec<_>>(), [false, false, false, true]);
    starts
}

#[test]
fn a_correction_that_is_killed_anywhere_has_happened_or_not() {
    if !has_tracer() {
        return skip("sets::a_correction_that_is_killed", "no strace that can trace");
    }
    for (start, known, mail) in starts() {
        let args = ["--mail-correct", "f", "spam"];
        at_every_call(start.path(), "signal=KILL", &args, mail.as_bytes(), |path, _, place| {
            verdict(path, &news());
            assert!([known, known + 1].contains(&documents(path)), "{place}");
            dbacl(path, &args, &mail).output();
            assert_eq!(documents(path), known + 1, "{place}");
            assert_eq!(leftovers(path), Vec::<String>::new(), "{place}");
        });
    }
}

#[test]
fn learning_that_is_killed_anywhere_leaves_the_filter_in_service() {
    if !has_tracer() {
        return skip("sets::learning_that_is_killed", "no strace that can trace");
    }
    let start = older_filter();
    dbacl(start.path(), &["--mail-correct", "f", "ham"], other()).output();
    mailbox(start.path(), "ham", 0..35);
    at_every_call(start.path(), "signal=KILL", &LEARN, b"", |path, _, place| {
        verdict(path, &news());
        assert!([61, 66].contains(&documents(path)), "{place}");
        dbacl(path, &LEARN, b"").output();
        assert_eq!(documents(path), 66, "{place}");
        assert_eq!(leftovers(path), Vec::<String>::new(), "{place}");
    });
}

#[test]
fn an_update_that_failed_anywhere_did_nothing() {
    if !has_tracer() {
        return skip("sets::an_update_that_failed", "no strace that can trace");
    }
    let set = ["-c", "./f/ham", "-c", "./f/spam", "--keep", "f/ledger"];
    for (start, known, mail) in starts() {
        let args = [&["--update", "spam"], &set[..]].concat();
        let scores =
            |path: &Path| dbacl(path, &["-n", "-c", "./f/ham", "-c", "./f/spam"], &mail).stdout;
        let before = scores(start.path());
        at_every_call(
            start.path(),
            "error=ENOSPC",
            &args,
            mail.as_bytes(),
            |path, is_well, place| {
                verdict(path, &news());
                if !is_well {
                    assert_eq!((documents(path), scores(path)), (known, before.clone()), "{place}");
                    dbacl(path, &args, &mail).output();
                }
                assert_eq!(documents(path), known + 1, "{place}");
                assert_ne!(scores(path), before, "{place}");
                dbacl(path, &["--mail-correct", "f", "ham"], other()).output();
                assert_eq!(leftovers(path), Vec::<String>::new(), "{place}");
            },
        );
    }
}

#[test]
fn kills_at_any_moment_lose_nothing() {
    let folder = filter();
    let path = folder.path();
    let kills = number("DBACL_SETS_KILLS", 20);
    let (mut corrected, mut killed) = (0, 0);
    let begun = Instant::now();
    dbacl(path, &["--mail-correct", "f", "ham"], mail("ham", 100)).output();
    let usual = u64::try_from(begun.elapsed().as_micros()).expect("not long");
    for round in 0..kills {
        let own = mail("ham", 200) + &format!("unique{round}\n");
        let learns = round % 4 == 3;
        let mut run = command(program());
        if learns {
            run.args(LEARN)
        } else {
            run.args(["--mail-correct", "f", "ham"])
        };
        let mut child = spawn(run, path, own.as_bytes());
        // The moments of the kills are spread evenly over the run; 619 and 1000 have no divisor in
        // common.
        let span = if learns { usual * 8 } else { usual * 2 };
        std::thread::sleep(Duration::from_micros(span * (round as u64 * 619 % 1000) / 1000));
        let _ = child.kill();
        killed += usize::from(!child.wait().expect("it ends").success());
        verdict(path, &own);
        if !learns {
            dbacl(path, &["--mail-correct", "f", "ham"], own).output();
            corrected += 1;
            // The first command after a kill removes what the killed one left.
            assert_eq!(leftovers(path), Vec::<String>::new(), "round {round}");
        }
        assert_eq!(documents(path), 61 + corrected, "round {round}");
    }
    let _ = writeln!(std::io::stderr(), "{killed} of {kills} killed, {corrected} corrections kept");
}

#[test]
fn a_full_disk_changes_nothing() {
    let folder = filter();
    let path = folder.path();
    let small = path.join("small");
    fs::create_dir(&small).expect("made");
    let script = format!(
        "mount -t tmpfs -o size=2500k tmpfs small || exit 99
         cp -a f small/f && cd small || exit 98
         full=0
         for round in 1 2 3 4 5 6 7 8 9; do
             dd if=/dev/zero of=fill bs=1k count=$((2300 - 200 * round)) 2>/dev/null
             (cat ../mail; echo round $round) >../own
             before=$(od -An -tu4 -j33 -N4 f/ledger.set/current/ledger.head)
             if \"{0}\" --update ham -c ./f/ham -c ./f/spam --keep f/ledger ../own 2>../said; then
                 wanted=$((before + 1))
             else
                 wanted=$before full=$((full + 1))
                 grep -q 'No space' ../said || {{ cat ../said; exit 97; }}
             fi
             after=$(od -An -tu4 -j33 -N4 f/ledger.set/current/ledger.head)
             test $after -eq $wanted || {{ echo $before $after $wanted; exit 96; }}
             \"{0}\" --mail-filter f <../mail | grep -q 'X-DBACL: [hsu]' || exit 95
             rm -f fill
         done
         test $full -gt 0 || {{ echo never full; exit 94; }}",
        program().display()
    );
    fs::write(path.join("mail"), mail("ham", 1)).expect("written");
    let mut shell = command("unshare");
    shell.args(["-m", "sh", "-c", &script]);
    let output = finish(spawn(shell, path, b""));
    match output.status {
        0 => {}
        1 | 99 => skip("sets::a_full_disk", "no file system can be mounted"),
        code => panic!("{code:?} {}{}", output.stdout, output.stderr),
    }
}

/// Everything that a set's files say.
pub fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["ham", "spam", "ham.ordinary", "spam.ordinary", "ledger", "ledger.state", "order"];
    let read =
        |name: &&str| ((*name).to_owned(), fs::read(folder.join("f").join(name)).expect("there"));
    names.iter().map(read).collect()
}

#[test]
fn learning_from_less_than_all_changes_nothing() {
    let folder = filter();
    let path = folder.path();
    let before = contents(path);
    fs::write(path.join("empty"), "").expect("written");
    fs::create_dir(path.join("folder")).expect("made");
    for (spam, said) in [
        ("missing", "couldn't open missing"),
        ("empty", "there is no mail to learn in empty"),
        ("folder", "there is no mail to learn in folder"),
        ("/proc/self/mem", "/proc/self/mem"),
    ] {
        let spam = format!("spam={spam}");
        let output = dbacl(path, &["--mail-learn", "f", "ham=ham.mbox", &spam], b"").complaint(1);
        assert!(output.contains(said), "{spam}: {output}");
        assert!(contents(path) == before, "{spam}");
        assert_eq!(leftovers(path), Vec::<String>::new(), "{spam}");
    }
}

#[test]
fn signals_while_a_set_is_learned_change_nothing() {
    let folder = filter();
    let path = folder.path();
    let before = contents(path);
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().expect("it starts").success());
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let mut run = command(program());
        run.args(["--mail-learn", "f", "ham=ham.mbox", "spam=pipe"]);
        let child = spawn(run, path, b"");
        // This waits until the program opens the pipe, too.
        let mut pipe = fs::OpenOptions::new().write(true).open(path.join("pipe")).expect("opened");
        pipe.write_all(mail("spam", 1).as_bytes()).expect("written");
        kill(child.id(), signal);
        let _ = pipe.write_all(mail("spam", 2).as_bytes());
        drop(pipe);
        let output = finish(child);
        assert_eq!(output.status, 1, "{signal}: {}", output.stderr);
        assert!(contents(path) == before, "{signal}");
        assert_eq!(leftovers(path), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn a_folder_of_an_older_version_is_taken_over_at_the_first_change() {
    let folder = older_filter();
    let path = folder.path();
    let before = verdict(path, &news());
    assert!(!path.join("f/ledger.set").exists());
    dbacl(path, &["--mail-correct", "f", "ham"], other()).output();
    assert_eq!(
        fs::read_link(path.join("f/ham")).unwrap(),
        Path::new("ledger.set/current/category.ham")
    );
    assert_eq!(documents(path), 61);
    let after = verdict(path, &news());
    assert_eq!(before.split(' ').nth(1), after.split(' ').nth(1));
    // What reads ledgers by themselves finds all documents, too.
    let head = fs::read(path.join("f/ledger")).expect("there");
    assert_eq!(u32::from_le_bytes(head[33..37].try_into().unwrap()), 61);
}

pub fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn a_filter_is_its_users_alone_and_modes_survive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for label in ["ham", "spam"] {
        mailbox(path, label, 0..30);
    }
    let shell = |script: &str| {
        let mut shell = command("sh");
        let script = script.replace("dbacl ", &format!("\"{}\" ", program().display()));
        shell.args(["-c", &script]);
        finish(spawn(shell, path, news().as_bytes())).output()
    };
    shell("umask 0; dbacl --mail-learn f ham=ham.mbox spam=spam.mbox");
    shell("umask 0; dbacl --mail-correct f spam");
    let files = ["ham", "spam", "ham.ordinary", "ledger", "ledger.state", "order"];
    for name in files {
        assert_eq!(mode(path.join("f").join(name)), 0o600, "{name}");
    }
    let current = path.join("f/ledger.set/current");
    for name in [path.join("f"), path.join("f/ledger.set"), current.clone()] {
        assert_eq!(mode(&name), 0o700, "{}", name.display());
    }
    for name in ["generation", "corrections", "ledger.head", "ledger.changes"] {
        assert_eq!(mode(current.join(name)), 0o600, "{name}");
    }
    shell("chmod 640 f/ham f/spam; chmod 644 f/order");
    shell("umask 077; dbacl --mail-learn f ham=ham.mbox spam=spam.mbox");
    shell("umask 0; (cat; echo more) | dbacl --mail-correct f ham");
    for (name, expected) in [("ham", 0o640), ("spam", 0o640), ("order", 0o644), ("ledger", 0o600)] {
        assert_eq!(mode(path.join("f").join(name)), expected, "{name}");
    }
    shell("chmod 666 f/spam");
    let output = dbacl(path, &["--mail-filter", "f"], news());
    let stderr = output.stderr;
    assert!(
        stderr.contains("anybody may write to ") && stderr.contains("category.spam"),
        "{stderr}"
    );
    assert!(output.stdout.contains("X-DBACL: "));
}

#[test]
fn corrections_outlive_learning_anew_until_the_folders_agree() {
    let folder = filter();
    let path = folder.path();
    // Two corrections: one message of the folder of good mail is spam, and the other mail was never
    // in a folder.
    let wrong = mail("ham", 5);
    for mail in [&wrong, &news()] {
        dbacl(path, &["--mail-correct", "f", "spam"], mail).output();
    }
    assert_eq!(documents(path), 61);
    let said = dbacl(path, &LEARN, b"").output();
    assert!(said.contains("61 messages (ham 29, spam 32)"), "{said}");
    assert!(said.contains("2 corrections were applied\n"), "{said}");
    // The user moves the first of the two messages into the folder of spam.
    mailbox(path, "ham", (0..30).filter(|&number| number != 5));
    let spam = fs::read_to_string(path.join("spam.mbox")).expect("there") + &wrong;
    fs::write(path.join("spam.mbox"), spam).expect("written");
    let said = dbacl(path, &LEARN, b"").output();
    assert!(said.contains("61 messages (ham 29, spam 32)"), "{said}");
    assert!(said.contains("1 correction was applied\n"), "{said}");
    let turned = ["--mail-learn", "f", "spam=spam.mbox", "ham=ham.mbox"];
    let again = dbacl(path, &turned, b"").output();
    assert_eq!(again, said, "the order of the operands does not matter");
    // The opposite correction of the second mail takes its correction back.
    dbacl(path, &["--mail-correct", "f", "ham"], news()).output();
    let said = dbacl(path, &LEARN, b"").output();
    assert!(said.contains("61 messages (ham 30, spam 31)"), "{said}");
}

#[test]
fn corrections_wait_for_the_folder_of_their_label() {
    let folder = filter();
    let path = folder.path();
    for number in [3, 4] {
        dbacl(path, &["--mail-correct", "f", "spam"], mail("ham", number)).output();
    }
    let learned = |label: &str| {
        let spam = format!("{label}=spam.mbox");
        let output = dbacl(path, &["--mail-learn", "f", "ham=ham.mbox", &spam], b"");
        assert_eq!(output.status, 0, "{}", output.stderr);
        (output.stdout, output.stderr)
    };
    for _ in 0..2 {
        let (said, warnings) = learned("junk");
        assert!(said.contains("60 messages (ham 30, junk 30)"), "{said}");
        assert!(!said.contains("applied"), "{said}");
        let expected = "2 corrections to spam were not applied, since no folder is called spam: \
                        they are kept until one is";
        assert!(warnings.contains(expected), "{warnings}");
    }
    // Meanwhile one of the messages is corrected to the new label, and another one is, too.
    for mail in [mail("ham", 4), news()] {
        dbacl(path, &["--mail-correct", "f", "junk"], mail).output();
    }
    let (said, warnings) = learned("junk");
    assert!(said.contains("61 messages (ham 29, junk 32)"), "{said}");
    assert!(said.contains("2 corrections were applied\n"), "{said}");
    assert!(warnings.contains("1 correction to spam was not applied"), "{warnings}");
    let (said, warnings) = learned("spam");
    assert!(said.contains("60 messages (ham 29, spam 31)"), "{said}");
    assert!(said.contains("1 correction was applied\n"), "{said}");
    assert!(warnings.contains("2 corrections to junk were not applied"), "{warnings}");
    // What a user says of a document that has a correction counts, whatever folders there are.
    for mail in [mail("ham", 4), news()] {
        dbacl(path, &["--mail-correct", "f", "spam"], mail).output();
    }
    let (said, warnings) = learned("spam");
    assert!(said.contains("61 messages (ham 28, spam 33)"), "{said}");
    assert!(said.contains("3 corrections were applied\n") && warnings.is_empty(), "{warnings}");
}

#[test]
fn corrections_wait_for_the_reading_that_they_were_made_with() {
    let folder = filter();
    let path = folder.path();
    let learned = |reading: &str| {
        let output = dbacl(path, &[&LEARN[..], &["--reading", reading]].concat(), b"");
        assert_eq!(output.status, 0, "{}", output.stderr);
        (output.stdout, output.stderr)
    };
    let correct = |mail: &str| {
        dbacl(path, &["--mail-correct", "f", "spam"], mail).output();
    };
    correct(&mail("ham", 3));
    correct(&news());
    let (said, warnings) = learned("classic");
    assert!(said.contains("60 messages (ham 30, spam 30)"), "{said}");
    let expected = "2 corrections were made with --reading blocks and were not applied: they are \
                    kept until mail is read so again";
    assert!(warnings.contains(expected), "{warnings}");
    correct(&mail("ham", 5));
    let (said, warnings) = learned("classic");
    assert!(said.contains("60 messages (ham 29, spam 31)") && warnings.is_empty(), "{warnings}");
    let (said, warnings) = learned("blocks");
    assert!(said.contains("61 messages (ham 29, spam 32)"), "{said}");
    assert!(said.contains("2 corrections were applied\n"), "{said}");
    assert!(warnings.contains("1 correction was made with --reading classic"), "{warnings}");
    correct(&mail("ham", 7));
    let (said, _) = learned("blocks");
    assert!(said.contains("3 corrections were applied\n"), "{said}");
    let (said, _) = learned("classic");
    assert!(said.contains("60 messages (ham 29, spam 31)"), "{said}");
    assert!(said.contains("1 correction was applied\n"), "{said}");
}

/// Whether the filter reads mail as dbacl 1.14.1 does; the first line of its categories tells.
fn is_classic(folder: &Path) -> bool {
    let category = fs::read(folder.join("f/spam")).expect("there");
    // Other filters have this first line, which dbacl 1.14.1 refuses.
    !category.starts_with(b"# dbacl 1.15 dlw unicode category ")
}

#[test]
fn a_filter_keeps_its_reading_until_another_is_asked_for() {
    // The letters of two alphabets look alike, and only readings of Unicode know it.
    let disguised = "From: a@b.c\nSubject: \u{441}he\u{430}p pi\u{406}ls\n\n\u{43e}ffer\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for label in ["ham", "spam"] {
        mailbox(path, label, 0..30);
    }
    let classic = [&LEARN[..], &["--reading", "classic"]].concat();
    dbacl(path, &classic, b"").output();
    assert!(is_classic(path));
    let before = verdict(path, disguised);
    // Corrections and learning again go on as the filter began.
    let other = mail("spam", 40);
    dbacl(path, &["--mail-correct", "f", "ham"], other).output();
    assert!(dbacl(path, &LEARN, b"").output().contains("1 correction was applied\n"));
    assert!(is_classic(path));
    let blocks = [&LEARN[..], &["--reading", "blocks"]].concat();
    dbacl(path, &blocks, b"").output();
    assert!(!is_classic(path));
    assert_ne!(verdict(path, disguised), before);
    dbacl(path, &LEARN, b"").output();
    assert!(!is_classic(path));
    // A new filter reads what people read.
    let anew = filter();
    assert!(!is_classic(anew.path()));
    assert_eq!(verdict(anew.path(), disguised), verdict(path, disguised));
}

#[test]
fn a_filter_of_an_older_version_keeps_its_reading() {
    let folder = older_filter_read("classic");
    dbacl(folder.path(), &LEARN, b"").output();
    assert!(is_classic(folder.path()));
}

#[test]
fn labels_tell_what_is_protected() {
    let folder = filter();
    let path = folder.path();
    let order = |path: &Path| fs::read_to_string(path.join("f/order")).expect("there");
    assert_eq!(order(path), "# dbacl mail filter\nham\nspam\n");
    let refused =
        dbacl(path, &["--mail-learn", "f", "a=ham.mbox", "b=spam.mbox"], b"").complaint(1);
    assert!(refused.contains("--protect a or --protect b"));
    let protect = ["--mail-learn", "f", "--protect", "b", "a=spam.mbox", "b=ham.mbox"];
    dbacl(path, &protect, b"").output();
    assert_eq!(order(path), "# dbacl mail filter\nb\na\n");
    assert!(verdict(path, &mail("spam", 77)).starts_with("X-DBACL: a "));
    assert!(!path.join("f/ham").exists() && fs::symlink_metadata(path.join("f/ham")).is_err());
}

#[test]
fn mistakes_of_a_first_command_are_told_and_make_nothing() {
    let folder = filter();
    let path = folder.path();
    let before = contents(path);
    for (args, said) in [
        (&["f", "ham=ham.mbox"][..], "two mail folders"),
        (&["f", "ham.mbox", "spam.mbox"], "HAM=MAIL and SPAM=MAIL, not ham.mbox"),
        (&["f", "ham=ham.mbox", "spam=no*.mbox"], "no file or folder is called no*.mbox"),
        (&["f", "a/b=ham.mbox", "spam=spam.mbox"], "a/b cannot be a label"),
        (&["f", "--protct", "ham", "ham=ham.mbox", "spam=spam.mbox"], "option '--protct'"),
        (&["f", "-n", "ham=ham.mbox", "spam=spam.mbox"], "takes no other options"),
        (&["f", "--reading", "no", "ham=ham.mbox", "spam=spam.mbox"], "unicode or classic, not no"),
    ] {
        let output = dbacl(path, &[&["--mail-learn"], args].concat(), b"").complaint(1);
        assert!(output.contains(said), "{args:?}: {output}");
        assert!(contents(path) == before, "{args:?}");
    }
    let quiet = dbacl(path, &[&["--quiet"], &LEARN[..]].concat(), b"");
    assert_eq!((quiet.stdout, quiet.stderr), (String::new(), String::new()));
    assert_eq!(quiet.status, 0);
}

#[test]
fn mails_with_lines_that_look_like_separators_are_counted_once() {
    let folder = filter();
    let path = folder.path();
    let spam = fs::read_to_string(path.join("spam.mbox")).expect("there");
    let spam = spam
        .replace("\n\n", "\n\nFrom now on\n\nContent-Type: text/plain\n\nFrom the start: all\n\n");
    fs::write(path.join("spam.mbox"), spam).expect("written");
    let said = dbacl(path, &LEARN, b"").output();
    assert!(said.contains("60 messages (ham 30, spam 30)"), "{said}");
}

#[test]
fn any_categories_are_a_set_that_the_old_program_can_read() {
    let folder = filter();
    let path = folder.path();
    for label in ["ham", "spam"] {
        let args = ["-T", "email", "-l", &format!("./{label}"), &format!("{label}.mbox")];
        dbacl(path, &args, b"").output();
    }
    fs::create_dir(path.join("sub")).expect("made");
    fs::rename(path.join("spam"), path.join("sub/ham")).expect("renamed");
    let set = ["-c", "./ham", "-c", "./sub/ham"];
    let fit = ["--refit", "--always", "-c", "./ham=ham.mbox", "-c", "./sub/ham=spam.mbox"];
    dbacl(path, &fit, b"").output();
    assert_eq!(fs::read_link(path.join("ham")).unwrap(), Path::new("ham.set/current/category.ham"));
    let other = fs::read_link(path.join("sub/ham")).unwrap();
    assert!(other.is_absolute() && other.ends_with("ham.set/current/category.ham.other"));
    let judged = dbacl(path, &[&["--verdict"], &set[..]].concat(), news());
    assert_eq!(judged.status, 2, "{}", judged.stderr);
    // Learning one of them again makes it an ordinary category again, in the set.
    dbacl(path, &["-T", "email", "-l", "./ham", "ham.mbox"], b"").output();
    assert!(fs::read_link(path.join("ham")).is_ok());
    let head = String::from_utf8_lossy(&fs::read(path.join("ham")).unwrap()[..600]).into_owned();
    assert!(head.starts_with("# dbacl 1.14.1") && !head.contains("# refit"), "{head}");
    // A file in the place of a link is taken over; one of something else is not.
    let bytes = fs::read(path.join("ham")).expect("there");
    fs::remove_file(path.join("ham")).expect("removed");
    fs::write(path.join("ham"), bytes).expect("written");
    dbacl(path, &fit, b"").output();
    assert!(fs::read_link(path.join("ham")).is_ok());
    assert_eq!(
        OsStr::new("ham.set"),
        fs::read_link(path.join("ham")).unwrap().iter().next().unwrap()
    );
}

#[test]
fn the_locale_of_who_learns_does_not_matter_to_a_filter() {
    // A reference to a character is a letter of its own in one locale and a blank in the other.
    let accented = |label: &str, number: usize| {
        mail(label, number) + "Content-Type: text/html\n\n<p>caf&eacute; na&iuml;ve</p>\n"
    };
    let learned = |locale: &str| {
        let folder = tempfile::tempdir().unwrap();
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
            fs::write(folder.path().join(format!("{label}.mbox")), mails).unwrap();
        }
        let run = |args: &[&str], input: &[u8]| {
            let mut run = command(program());
            run.args(args).env("LC_ALL", locale);
            finish(spawn(run, folder.path(), input)).output()
        };
        run(&["--mail-learn", "f", "ham=ham.mbox", "spam=spam.mbox"], b"");
        run(&["--mail-correct", "f", "spam"], accented("ham", 99).as_bytes());
        contents(folder.path())
    };
    assert_eq!(learned("C"), learned("C.UTF-8"));
}
