// SPDX-License-Identifier: GPL-3.0-or-later
//! Files that others can reach, too: whose they are, who may use them, who holds them.

use crate::folders::contents_of;
use crate::sets::mode;
use dbacl_testing::terminal::{shown, shows_escapes};
use dbacl_testing::{Done, PATIENCE, Scratch, done, finish, has, mails, wait_until_reading};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

const TEXT: &str = "the cat sat on the mat and the dog sat on the log\n";

/// A folder with a text, a category and counts learned from it.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("text", TEXT);
    scratch.dbacl("-l cat -o counts text").quiet(0);
    scratch
}

fn chmod(scratch: &Scratch, name: &str, mode: u32) {
    fs::set_permissions(scratch.path(name), Permissions::from_mode(mode)).expect("our own file");
}

#[test]
fn files_keep_their_mode_when_they_are_learned_again() {
    let scratch = prepared();
    for wanted in [0o600, 0o644, 0o640] {
        for name in ["cat", "counts"] {
            chmod(&scratch, name, wanted);
        }
        scratch.sh("umask 000; dbacl -l cat -o counts text").quiet(0);
        for name in ["cat", "counts"] {
            assert_eq!(mode(scratch.path(name)), wanted, "{name}");
        }
    }
    for (mask, wanted) in [("077", 0o600), ("027", 0o640)] {
        scratch.sh(&format!("umask {mask}; dbacl -l {mask} -o {mask}.counts text")).quiet(0);
        assert_eq!(
            ["", ".counts"].map(|end| mode(scratch.path(&format!("{mask}{end}")))),
            [wanted; 2]
        );
    }
}

#[test]
fn what_was_put_in_the_place_of_a_temporary_is_not_written_to() {
    let scratch = prepared();
    let half = b"# dbacl 1.14.1 dlw portable category half of it";
    scratch.write("mine", half);
    fs::hard_link(scratch.path("mine"), scratch.path("cat.tmp.0")).expect("a new link");
    scratch.write("cat.tmp.1", half);
    chmod(&scratch, "cat.tmp.1", 0o666);
    symlink("nowhere", scratch.path("cat.tmp.2")).expect("a new link");
    scratch.write("precious", half);
    symlink("precious", scratch.path("cat.tmp.3")).expect("a new link");
    let names = scratch.names();
    scratch.dbacl("-l cat text").quiet(0);
    assert_eq!(scratch.names(), names);
    for name in ["mine", "cat.tmp.1", "precious"] {
        assert_eq!(scratch.read(name), half, "{name}");
    }
    assert_eq!(fs::metadata(scratch.path("cat")).expect("a file").nlink(), 1);
}

#[test]
fn a_lock_is_not_made_through_a_link() {
    let scratch = prepared();
    symlink("elsewhere", scratch.path("counts.learning")).expect("a new link");
    let said = scratch
        .dbacl("-l cat -o counts text")
        .complains(0, "counts.learning is used for something else");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!scratch.path("elsewhere").exists() && scratch.path("counts").exists());
}

/// Locks a new file as another learner does.
fn hold(path: &Path) -> File {
    let file = File::create(path).expect("a new file");
    file.lock().expect("nobody else has it");
    file
}

const WAITING: [(&str, &str); 2] = [
    ("counts.learning", "-l cat -o counts text"),
    ("filter/lock", "--mail-correct filter ham mail"),
];

#[test]
fn nobody_waits_for_ever_and_the_holder_is_named() {
    let scratch = with_filter();
    scratch.write("text", TEXT);
    for (lock, args) in WAITING {
        let before = contents_of(&scratch.path("filter"));
        let _held = hold(&scratch.path(lock));
        let start = Instant::now();
        let complaint = scratch.dbacl(&format!("--lock-timeout 1 {args}")).complaint(1);
        assert!(start.elapsed() > Duration::from_millis(900), "{args}");
        let named = complaint.contains(&format!("process {}", std::process::id()));
        assert!(named || !Path::new("/proc/locks").exists(), "{args}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        scratch.dbacl(&format!("--strict --lock-timeout 0 {args}")).complaint(75);
        assert_eq!(contents_of(&scratch.path("filter")), before, "{args}");
    }
}

#[test]
fn a_path_with_a_line_end_is_refused() {
    let scratch = with_filter();
    let name = "two\nlines";
    fs::create_dir(scratch.path(name)).expect("a new folder");
    for args in [vec!["-l", name, "ham"], vec!["-l", "two\nlines/ham", "ham"]] {
        let complaint = scratch.dbacl_args(&args).complaint(1);
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        has(&complaint, r"two\nlines");
    }
}

/// Sends TERM until the process ends.
fn terminate(mut child: Child) -> Done {
    let id = Pid::from_child(&child);
    wait_until_reading(&child);
    let start = Instant::now();
    while child.try_wait().expect("our child").is_none() {
        assert!(start.elapsed() < PATIENCE, "it waits on");
        kill_process(id, Signal::TERM).expect("our child");
        sleep(Duration::from_millis(20));
    }
    finish(child)
}

#[test]
fn a_signal_ends_the_wait_for_a_lock() {
    let scratch = with_filter();
    scratch.write("text", TEXT);
    scratch.dbacl("-l cat -o counts text").quiet(0);
    for (lock, args) in WAITING {
        let before = (contents_of(&scratch.path("filter")), scratch.read("counts"));
        let _held = hold(&scratch.path(lock));
        let args = format!("--lock-timeout 600 {args}");
        let child = scratch.dbacl_command(args.split_whitespace()).spawn().expect("dbacl starts");
        let done = terminate(child);
        assert_ne!(done.status, 0, "{args}: {done:?}");
        assert_eq!(
            (contents_of(&scratch.path("filter")), scratch.read("counts")),
            before,
            "{args}"
        );
    }
}

const MAIL: &str = "From: ann@example.org\nSubject: lunch\n\nshall we have lunch at noon in town\n";
const ADVERT: &str =
    "From: win@example.com\nSubject: winner\n\ncheap pills and free money for all\n";

/// A folder with a mail filter in `filter`.
fn with_filter() -> Scratch {
    let scratch = Scratch::new();
    for (name, mail) in [("ham", MAIL), ("spam", ADVERT)] {
        let mails: Vec<String> = (0..30)
            .map(|n| format!("From a@b Mon Jan  1 00:00:0{} 2024\n{mail}number {n}\n\n", n % 10))
            .collect();
        scratch.write(name, mails.concat());
    }
    let learned = scratch.dbacl("--mail-learn filter ham=ham spam=spam");
    assert_eq!(learned.status, 0, "{learned:?}");
    scratch.write("mail", MAIL);
    scratch
}

/// A message as the filter passed it on, without the line that it added, and that line.
#[track_caller]
pub(crate) fn without_verdict(mail: &str) -> (String, String) {
    let (mut rest, mut verdicts) = (String::new(), String::new());
    for line in mail.split_inclusive('\n') {
        let is_verdict = line.starts_with("X-DBACL: ");
        if is_verdict { &mut verdicts } else { &mut rest }.push_str(line);
    }
    (rest, verdicts)
}

/// Limits of address space, in kB: from so little that a program hardly starts to enough for every
/// test in this file.
fn limits() -> impl Iterator<Item = u32> {
    let where_programs_start = (3_000..12_000).step_by(250).chain((12_000..24_000).step_by(500));
    where_programs_start.chain((24_000..60_000).step_by(4_000)).chain([100_000, 400_000])
}

/// How many kB fewer a program must have to start, so that it starts with certainty: where the
/// system puts stack and libraries differs from run to run.
const MARGIN: u32 = 200;

/// Runs a program with so many kB of address space; `None` if it would hardly start.
fn limited(scratch: &Scratch, limit: u32, program: &str, args: &str) -> Option<Done> {
    let less = limit - MARGIN;
    let script = format!(
        "ulimit -c 0; (ulimit -v {less}; {program} --version >/dev/null 2>&1) || exit 99
         ulimit -v {limit}; exec {program} {args}"
    );
    let mut command = scratch.command("bash");
    let done = done(command.args(["-c", &script]));
    let has_started = ![99, 127].contains(&done.status) && !done.stderr.contains("annot fork");
    has_started.then_some(done)
}

#[test]
fn without_memory_a_mail_comes_through() {
    let scratch = with_filter();
    let large =
        MAIL.to_owned() + &"words and more words of every kind in a long mail\n".repeat(80_000);
    scratch.write("large", &large);
    let mut words = MAIL.to_owned();
    for number in 0..200_000 {
        words.push_str(&format!("w{number}{} ", if number % 12 == 11 { "\n" } else { "" }));
    }
    scratch.write("words", &words);
    for (name, mail) in [("mail", MAIL), ("large", &large), ("words", &words)] {
        let (mut judged, mut errors) = (0, 0);
        for limit in limits() {
            for how in [format!("<{name}"), format!("< <(cat {name})")] {
                let args = format!("--mail-filter filter {how}");
                let Some(done) = limited(&scratch, limit, "dbacl", &args) else { continue };
                let (rest, verdict) = without_verdict(&done.stdout);
                assert_eq!(done.status, 0, "{limit} {how}: {}", done.stderr);
                assert!(rest == mail, "{limit} {how}: {} of {}", rest.len(), mail.len());
                assert_eq!(verdict.lines().count(), 1, "{limit} {how}: {verdict}");
                if verdict.contains("error") {
                    assert!(done.stderr.contains("dbacl:error: "), "{limit}: {}", done.stderr);
                    errors += 1;
                } else {
                    judged += 1;
                }
            }
        }
        assert!(judged > 0, "{name}: never judged");
        assert!(errors > 0 || name == "mail", "{name}: always judged");
    }
}

#[test]
fn an_evaluation_without_memory_ends_with_a_line_and_a_status() {
    let scratch = with_filter();
    let args = "-q --folds 2 -s 'now: -T email' ham=ham spam=spam >/dev/null";
    let (mut ended, mut last) = (0, String::new());
    for limit in limits().step_by(4) {
        let Some(done) = limited(&scratch, limit, "dbacl-eval", args) else { continue };
        ended += 1;
        let seen = format!("in {limit} kB: {done:?}");
        assert!([0, 65, 75].contains(&done.status), "{seen}");
        // The C library has words of its own where a thread cannot begin.
        let own = done.stderr.lines().filter(|line| !line.starts_with("Fatal glibc error: "));
        let own: Vec<&str> = own.collect();
        assert_eq!(own.len(), usize::from(done.status != 0), "{seen}");
        assert!(own.iter().all(|line| line.starts_with("dbacl-eval: ")), "{seen}");
        last = seen;
    }
    assert!(ended > 0, "it never starts");
    assert!(last.contains("status: 0"), "the most memory is too little: {last}");
}

#[test]
fn without_memory_learning_ends_with_a_line_and_a_status() {
    let scratch = with_filter();
    let words: String = (0..30_000).map(|number| mails::word(number) + " ").collect();
    scratch.write("words", &words);
    scratch.write("text", TEXT);
    scratch.dbacl("-l cat -h 18 words").quiet(0);
    scratch.dbacl("-l dog text").quiet(0);
    scratch.dbacl("--count one words").quiet(0);
    for args in [
        "-l new -H 20 words",
        "-l new -w 2 -H 20 words",
        "--count new -w 2 words",
        "--merge new one one",
        "-l new --fit one -H 20",
        "-c cat -c dog words -v",
        "-l new --threads 2 -H 20 words text",
        "--count new -w 5 words",
        "--mail-correct filter spam <mail",
        "--mail-learn learned ham=ham spam=spam",
    ] {
        let mut failed = 0;
        let step = if args.starts_with("--mail") { 3 } else { 1 };
        for limit in limits().step_by(step) {
            let _ = fs::remove_file(scratch.path("new"));
            let Some(done) = limited(&scratch, limit, "dbacl", args) else { continue };
            let is_answer = args.contains("-c cat") && done.stderr.is_empty();
            assert!(done.status < 3, "{args} in {limit} kB: {done:?}");
            if done.status != 0 && !is_answer {
                failed += 1;
                let is_message = |line: &str| line.starts_with("dbacl:");
                assert!(done.stderr.lines().all(is_message), "{args} in {limit} kB: {done:?}");
                assert!(!done.stderr.is_empty(), "{args} in {limit} kB: {done:?}");
            }
        }
        // Some of this takes so little that it succeeds whenever the program starts.
        let is_small = ["--merge", "--mail"].iter().any(|small| args.starts_with(small));
        assert!(failed > 0 || is_small, "{args} never failed");
    }
}

#[test]
fn a_mail_takes_no_more_than_twice_its_size() {
    let scratch = with_filter();
    let peak = |megabytes: usize| -> u64 {
        let line = "a line of a very long mail that nobody will ever read to its end\n";
        let mail = MAIL.to_owned() + &line.repeat((megabytes << 20) / line.len());
        scratch.write("mail", mail);
        let (megabytes, said) = crate::memory::peak(&scratch, "--mail-filter filter");
        // The first bytes of the message, and nothing on standard error.
        assert_eq!(said.len(), 2000, "{said}");
        megabytes
    };
    let (small, large) = (peak(16), peak(112));
    assert!(large - small <= 2 * 96, "{small} MB, then {large} MB");
}

#[test]
fn a_category_cut_short_while_it_is_used_is_used_to_the_end() {
    let scratch = prepared();
    let mut words = String::new();
    (0..40_000).for_each(|number| words.push_str(&format!("w{number} ")));
    scratch.write("words", &words);
    scratch.dbacl("-l large -h 17 words").quiet(0);
    let (mut child, mut stdin) = scratch.typing("-c large -c cat -f large");
    let mut stdout = child.stdout.take().expect("piped");
    stdin.write_all(b"w1 w2 w3\n".repeat(2000).as_slice()).expect("a reader");
    let mut block = [0; 1000];
    stdout.read_exact(&mut block).expect("lines");
    fs::OpenOptions::new().write(true).open(scratch.path("large")).unwrap().set_len(5000).unwrap();
    let mut expected = 2000 * 9 - block.len();
    for number in 0..400 {
        let line = format!("w{} w{} w{}\n", number * 100, number * 99, number * 98);
        stdin.write_all(line.as_bytes()).expect("a reader");
        expected += line.len();
    }
    drop(stdin);
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).expect("lines");
    assert_eq!(finish(child).status, 0);
    assert_eq!(rest.len(), expected);
}

#[test]
fn control_bytes_do_not_reach_a_terminal() {
    let scratch = with_filter();
    let name = "a\x1b[31mred";
    scratch.write("text", TEXT);
    scratch.dbacl_args(["-l", name, "text"]).quiet(0);
    for (args, raw) in [
        (vec!["-v", "-c", name, "text"], "a\x1b[31mred"),
        (vec!["-v", "-c", name, "-c", "no\x1b[31mfile", "text"], "no\x1b[31mfile"),
        (vec!["-T", "no\x1b[2Jtype", "-l", "new", "text"], "no\x1b[2Jtype"),
    ] {
        shows_escapes(&mut scratch.dbacl_command(&args), raw);
    }
    for (program, args, raw) in [
        ("bayesol", &["-c", "no\x1b[2Jfile"][..], "could not read no\x1b[2Jfile"),
        ("bayesol", &["-\x1b"], "invalid option -- '\x1b'"),
        ("hypex", &["no\x1b[2Jfile", "other"], "couldn't open no\x1b[2Jfile"),
        ("hypex", &["-\x1b", "x"], "invalid option -- '\x1b'"),
        ("dbacl-eval", &["no\x1b[2Jfile"], "no\x1b[2Jfile"),
        ("mailcross", &["-\x1b"], "invalid option -- '\x1b'"),
    ] {
        let mut command = dbacl_testing::command(dbacl_testing::programs().join(program));
        shows_escapes(command.args(args).current_dir(scratch.path(".")), raw);
    }
}

#[test]
fn a_mail_that_is_filtered_does_not_control_the_terminal() {
    let scratch = with_filter();
    // A letter of two bytes stays whole, and so do tabs and the ends of lines.
    let mail = "Subject: r\u{e9}d\r\n\r\nbeware\x1b[2J\tof \u{9b}31m this\x07\r\n";
    scratch.write("mail", mail);
    for args in ["--mail-filter filter", "--mail-filter filter --reasons"] {
        assert!(scratch.dbacl_reading(args, mail).quiet(0).ends_with(mail));
        let mut command = scratch.dbacl_command(args.split(' '));
        command.stdin(File::open(scratch.path("mail")).expect("the mail"));
        let Some(seen) = shown(&mut command) else { return };
        has(&seen, "r\u{e9}d|beware^[[2J\tof M-^[31m this^G");
        assert!(!seen.contains(['\x1b', '\x07', '\u{9b}']), "{seen:?}");
    }
}

#[test]
fn a_mail_that_cannot_be_read_or_written_is_told_and_ends_with_a_status() {
    let scratch = with_filter();
    scratch.write("mail", MAIL);
    let done = scratch.sh("dbacl --mail-filter filter <filter");
    let said = "dbacl:error: cannot read the mail: Is a directory (os error 21)\n";
    assert_eq!((done.status, done.stderr.as_str()), (0, said));
    assert_eq!(done.stdout, "X-DBACL: error\n");
    let done = scratch.sh("dbacl --strict --mail-filter filter <filter");
    assert_eq!((done.status, done.stderr.as_str()), (66, said));
    // Without standard output the mail would be lost, so it is not even read.
    for (strict, status) in [("", 1), ("--strict", 74)] {
        let script = format!("dbacl {strict} --mail-filter filter >&-; echo $? >&2; cat");
        let script = format!("{{ {script}; }} <mail");
        let done = scratch.sh(&script);
        assert_eq!(
            done.stderr,
            format!(
                "dbacl:error: standard output is closed; the mail was not read, and not passed \
                 on\n{status}\n"
            )
        );
        assert_eq!(done.stdout, MAIL);
    }
}

/// Runs dbacl with the words of `args`, which must not wait for anything.
#[track_caller]
fn ends(scratch: &Scratch, args: &str) -> Done {
    let mut command = scratch.dbacl_command(args.split_whitespace());
    let mut child = command.spawn().expect("dbacl starts");
    let start = Instant::now();
    while child.try_wait().expect("our child").is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("our child");
            panic!("{args}: waits");
        }
        sleep(Duration::from_millis(5));
    }
    finish(child)
}

#[test]
fn no_file_of_a_set_is_waited_for() {
    let scratch = with_filter();
    scratch.write("wrong", MAIL.replace("Subject: ", "Subject: but "));
    scratch.dbacl("--mail-correct filter spam wrong").quiet(0);
    let ledger = scratch.sh("cd filter; ls ledger.*").output().trim().to_owned();
    for name in ["table", "table.before", "journal", "lock", "review.txt", &ledger] {
        for (odd, put) in [("pipe", "mkfifo"), ("device", "ln -s /dev/zero")] {
            for args in [
                "--mail-filter changed",
                "--mail-correct changed spam mail",
                "--mail-learn changed ham=ham spam=spam",
            ] {
                let script = format!(
                    "rm -rf changed; cp -a filter changed
                     rm -f changed/{name}; {put} changed/{name}"
                );
                scratch.sh(&script).quiet(0);
                // Some files can be made again or are not needed; what counts is that it ends.
                let done = ends(&scratch, args);
                assert!(done.status <= 1, "{name} is a {odd}, {args}: {done:?}");
            }
        }
    }
    let (child, mut stdin) = scratch.typing("--mail-filter filter");
    stdin.write_all(b"Subject: half\n").expect("a reader");
    let done = terminate(child);
    assert_eq!((done.status, done.stdout.as_str()), (1, ""));
    drop(stdin);
}

#[test]
fn a_signal_ends_the_wait_for_mail_and_nothing_is_learned() {
    let scratch = with_filter();
    scratch.sh("mkfifo pipe").quiet(0);
    let before = contents_of(&scratch.path("filter"));
    for args in [
        "--mail-correct filter spam",
        "--mail-correct filter spam pipe",
        "--mail-learn filter ham=pipe spam=spam",
        "--mail-learn filter --window 100000 ham=pipe spam=spam",
    ] {
        // As long as the input lives, it has no end.
        let (child, _input) = scratch.typing(args);
        let complaint = terminate(child).complaint(1);
        assert!(complaint.ends_with("stopped by a signal; nothing was changed\n"), "{complaint}");
        assert_eq!(contents_of(&scratch.path("filter")), before, "{args}");
    }
}
