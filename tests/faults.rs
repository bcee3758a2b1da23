// SPDX-License-Identifier: GPL-3.0-or-later
//! Faults that the program survives: no crash, no hang, no lost or half-written model, one clear
//! line on standard error, a status that says so.

use dbacl_numeric::random::SplitMix64;
use dbacl_testing::{Done, Scratch, finish, has, kill, skip, wait_until_reading};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TEXT: &str = "the cat sat on the mat and the dog sat on the log\n";
const OTHER: &str = "ships sail the seas and seas sink the ships that sail\n";

/// A folder with two texts and the category `cat` learned from the first.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("text", TEXT);
    scratch.write("other", OTHER);
    scratch.dbacl("-l cat text").quiet(0);
    scratch
}

/// The messages, if the program ended with `status`, complained about `what`, and left `before` as
/// it was.
#[track_caller]
fn refused(scratch: &Scratch, done: Done, status: i32, before: &[String], what: &str) -> String {
    let complaint = done.complains(status, what);
    assert_eq!(scratch.names(), before, "{complaint}");
    complaint
}

#[test]
fn a_missing_category_is_named() {
    let scratch = prepared();
    let complaint = scratch.dbacl("-v -c cat -c nothing text").complaint(1);
    assert_eq!(complaint, "dbacl:error: could not load category nothing\n");
    scratch.dbacl("--strict -v -c nothing text").complaint(66);
}

#[test]
fn a_category_that_is_none_is_named() {
    let scratch = prepared();
    let good = scratch.read("cat");
    let cut = &good[..good.len() - 1];
    let noise: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bad in [b"".as_slice(), cut, &good[..100], &noise, b"# dbacl 1.14.1 dlw portable category"]
    {
        scratch.write("bad", bad);
        scratch.dbacl("-v -c bad text").complains(1, "could not load category bad");
        scratch.dbacl("--strict -v -c bad text").complaint(65);
    }
    fs::create_dir(scratch.path("folder")).expect("a new folder");
    scratch.dbacl("-v -c folder text").complaint(1);
}

/// Learns with at most this many blocks of 512 bytes for a file.
fn limited(scratch: &Scratch, blocks: u32, args: &str) -> Done {
    scratch.sh(&format!("ulimit -f {blocks}; exec dbacl {args}"))
}

#[test]
fn beyond_the_file_size_limit_the_old_category_and_the_old_counts_are_kept() {
    let scratch = prepared();
    let (old, names) = (scratch.read("cat"), scratch.names());
    for blocks in [0, 1, 100, 640] {
        let done = limited(&scratch, blocks, "-l cat other");
        refused(&scratch, done, 1, &names, "cat");
        assert_eq!(scratch.read("cat"), old);
    }
    let done = limited(&scratch, 100, "--strict -l cat other");
    refused(&scratch, done, 74, &names, "");
    limited(&scratch, 100_000, "-l cat other").quiet(0);
    assert_ne!(scratch.read("cat"), old);
    scratch.dbacl("-l cat -o counts text").quiet(0);
    let (old, names) = (scratch.read("counts"), scratch.names());
    // Room for the category of 320 KB, not for the counts of 1.9 MB.
    let done = limited(&scratch, 1000, "-l cat -o counts other");
    refused(&scratch, done, 1, &names, "counts");
    assert_eq!(scratch.read("counts"), old);
}

#[test]
fn on_a_full_disk_the_old_category_is_kept() {
    let scratch = prepared();
    fs::create_dir(scratch.path("small")).expect("a new folder");
    // A mount of its own, which nobody else sees and which ends with the shell.
    let small = |script: &str| {
        let script = format!("mount -t tmpfs -o size=512k tmpfs small || exit 99; {script}");
        scratch.command("unshare").args(["-m", "sh", "-c", &script]).spawn()
    };
    match small("true").map(finish) {
        Ok(done) if done.status == 0 => {}
        _ => return skip("faults::on_a_full_disk", "no file system can be mounted"),
    }
    let script = "dbacl -l small/cat text && cp small/cat old &&
        head -c 100000 /dev/zero >small/filler
        dbacl -l small/cat other; status=$?
        cmp old small/cat && ls small && exit $status";
    let done = finish(small(script).expect("unshare starts"));
    assert_eq!(done.stdout, "cat\nfiller\n", "{done:?}");
    done.complains(1, "No space left");
}

#[test]
fn a_missing_folder_is_told_and_ends_as_it_always_did() {
    let scratch = prepared();
    let names = scratch.names();
    for (args, status) in
        [("-l no/such text", 0), ("--strict -l no/such text", 73), ("-l cat -o no/such text", 1)]
    {
        refused(&scratch, scratch.dbacl(args), status, &names, "");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let scratch = prepared();
    let (old, names) = (scratch.read("cat"), scratch.names());
    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(scratch.path("cat"), readable).expect("our file");
    let mode = |mode| fs::set_permissions(scratch.path("."), fs::Permissions::from_mode(mode));
    mode(0o555).expect("our folder");
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let permitted = scratch.sh("touch probe").status == 0;
    let prefix = if permitted { nobody } else { "" };
    if permitted {
        fs::remove_file(scratch.path("probe")).expect("just made");
        if scratch.sh(&format!("{nobody} dbacl -V")).status != 0 {
            mode(0o755).expect("our folder");
            return skip("faults::a_folder_that_cannot_be_written", "root cannot become nobody");
        }
    }
    let learned = scratch.sh(&format!("{prefix} dbacl -l cat other"));
    let counted = scratch.sh(&format!("{prefix} dbacl -l cat -o counts other"));
    let strict = scratch.sh(&format!("{prefix} dbacl --strict -l cat other"));
    mode(0o755).expect("our folder");
    learned.complains(1, "cannot open tempfile for writing cat");
    counted.complains(1, "counts");
    strict.complaint(73);
    assert_eq!((scratch.read("cat"), scratch.names()), (old, names));
}

#[test]
fn a_target_that_is_not_ours_is_left_alone() {
    let scratch = prepared();
    scratch.write("foreign", "my diary\n");
    scratch.write("empty", "");
    fs::create_dir(scratch.path("folder")).expect("a new folder");
    symlink("cat", scratch.path("link")).expect("a new link");
    symlink("nowhere", scratch.path("dangling")).expect("a new link");
    let names = scratch.names();
    for target in ["foreign", "empty", "folder", "link", "dangling"] {
        let done = scratch.dbacl(&format!("-l {target} text"));
        refused(&scratch, done, 1, &names, target);
        let done = scratch.dbacl(&format!("--strict -l {target} text"));
        refused(&scratch, done, 73, &names, "");
    }
    assert_eq!(scratch.read("foreign"), b"my diary\n");
    assert!(fs::symlink_metadata(scratch.path("link")).expect("the link").is_symlink());
}

#[test]
fn killed_at_any_moment_the_category_and_the_counts_are_whole() {
    let scratch = Scratch::new();
    scratch.write("text", TEXT);
    scratch.write("other", OTHER);
    let learn = ["-h", "17", "-l", "cat", "-o", "counts"];
    let learning = |scratch: &Scratch, input: &'static str| {
        scratch.dbacl_command(learn.iter().copied().chain([input])).spawn().expect("dbacl starts")
    };
    let started = Instant::now();
    finish(learning(&scratch, "text")).quiet(0);
    // Microseconds until the kill. The time follows the machine's speed, so that about every second
    // run is killed before it ends.
    let mut span = usize::try_from(started.elapsed().as_micros()).expect("short");
    let mut random = SplitMix64::new(1);
    let mut killed = 0;
    for round in 0..60 {
        let mut child = learning(&scratch, if round % 2 == 0 { "other" } else { "text" });
        sleep(Duration::from_micros(random.below(span) as u64));
        child.kill().expect("our child");
        let is_killed = finish(child).status == 128 + 9;
        killed += u32::from(is_killed);
        span = if is_killed { span + span / 10 } else { span - span / 10 }.max(1000);
        // The category and the counts are the old or the new ones; both can be read.
        assert!(scratch.dbacl("-v -c cat text").quiet(1).starts_with("cat"));
        scratch.dbacl("-l copy -o counts text").quiet(0);
    }
    assert!(killed > 10, "{killed} of 60 were killed in time");
    // The next run that ends well removes the temporary files that killed runs left.
    finish(learning(&scratch, "text")).quiet(0);
    finish(learning(&scratch, "text")).quiet(0);
    assert_eq!(scratch.names(), ["cat", "copy", "counts", "other", "text"]);
}

#[test]
fn learners_of_one_category_leave_one_whole_file() {
    let scratch = prepared();
    let start = |input: &str| {
        scratch.dbacl_command(["-h", "16", "-l", "cat", input]).spawn().expect("dbacl starts")
    };
    finish(start("text")).quiet(0);
    let one = scratch.read("cat");
    finish(start("other")).quiet(0);
    let two = scratch.read("cat");
    for _ in 0..5 {
        let all: Vec<Child> = (0..6).map(|n| start(["text", "other"][n % 2])).collect();
        for child in all {
            finish(child).quiet(0);
        }
        let found = scratch.read("cat");
        assert!(found == one || found == two);
        assert_eq!(scratch.names(), ["cat", "other", "text"]);
    }
}

#[test]
fn learners_of_one_counts_file_wait_for_each_other() {
    let scratch = Scratch::new();
    scratch.write("text", TEXT);
    let start = || scratch.dbacl_command(["-l", "cat", "-o", "counts", "text"]).spawn();
    for child in [(); 8].map(|()| start().expect("dbacl starts")) {
        finish(child).quiet(0);
    }
    let category = String::from_utf8_lossy(&scratch.read("cat")).into_owned();
    let words = TEXT.split_whitespace().count() * 8;
    has(&category, &format!(" features {words} "));
    assert_eq!(scratch.names(), ["cat", "counts", "text"]);
}

#[test]
fn a_category_replaced_while_in_use_is_used_to_the_end_and_reloaded_on_request() {
    let scratch = prepared();
    let (mut child, mut stdin) = listening(&scratch, "-c cat -f 1 -n");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut ask = || {
        writeln!(stdin, "the cat sat").expect("the program reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the program answers");
        line
    };
    let before = ask();
    scratch.dbacl("-l cat other").quiet(0);
    assert_eq!(ask(), before);
    kill(child.id(), "USR1");
    sleep(Duration::from_millis(100));
    let reloaded = [ask(), ask()];
    assert_ne!(reloaded[1], before);
    // A category that cannot be loaded leaves the one in use.
    fs::write(scratch.path("cat.new"), "rubbish").expect("a new file");
    fs::rename(scratch.path("cat.new"), scratch.path("cat")).expect("our folder");
    kill(child.id(), "USR1");
    sleep(Duration::from_millis(100));
    assert_eq!([ask(), ask()], [reloaded[1].clone(), reloaded[1].clone()]);
    drop(stdin);
    let done = finish(child);
    assert_eq!(done.status, 0);
    assert!(done.stderr.contains("keeping the old one"), "{done:?}");
}

#[test]
fn damaged_counts_end_the_run_at_once() {
    let scratch = prepared();
    scratch.dbacl("-l cat -o counts text").quiet(0);
    let (category, counts) = (scratch.read("cat"), scratch.read("counts"));
    for length in [0, 10, 46, 47, 1000, 263_000, 300_000, counts.len() - 1] {
        scratch.write("counts", &counts[..length]);
        for option in ["-o", "-O"] {
            let done = scratch.sh(&format!("timeout 120 dbacl -l cat {option} counts other"));
            done.complains(1, "counts");
        }
        assert_eq!(scratch.read("cat"), category, "{length}");
        assert_eq!(scratch.read("counts").len(), length);
    }
    scratch.dbacl("--strict -l cat -o counts text -O counts").complaint(65);
}

#[test]
fn missing_counts_to_merge_are_nothing_unless_strict() {
    let scratch = prepared();
    scratch.dbacl("-l new -O nothing text").quiet(0);
    assert_eq!(scratch.read("new").len(), scratch.read("cat").len());
    let names = scratch.names();
    let done = scratch.dbacl("--strict -l cat -O nothing other");
    refused(&scratch, done, 66, &names, "nothing");
}

#[test]
fn absurd_sizes_in_a_header_are_refused() {
    let scratch = prepared();
    let good = scratch.read("cat");
    let header = good.windows(3).position(|bytes| bytes == b"\n#\n").expect("a header") + 3;
    let text = String::from_utf8_lossy(&good[..header]).into_owned();
    let sizes = "40 64 31 -1 16 99999999999999999999".split(' ').map(|to| ("hash_size 15", to));
    for (from, to) in sizes.chain(["8", "-1", "0"].map(|to| ("max_order 1", to))) {
        has(&text, from);
        let (name, _) = from.split_once(' ').expect("a name");
        let bad = text.replace(from, &format!("{name} {to}"));
        let bad = [bad.as_bytes(), &good[header..]].concat();
        scratch.write("bad", bad);
        scratch.dbacl("-v -n -c bad -c cat text").complaint(1);
    }
}

#[test]
fn empty_input_is_answered_and_learns_nothing() {
    let scratch = prepared();
    scratch.dbacl("-l two other").quiet(0);
    assert_eq!(scratch.dbacl("-v -c cat -c two").quiet(1), "cat\n");
    assert_eq!(scratch.dbacl("-n -c cat -c two").quiet(1), "cat -0.00 two -0.00 \n");
    assert_eq!(scratch.dbacl("-N -c cat -c two").quiet(1), "cat 50.00% two 50.00% \n");
    let complaint = scratch.dbacl("-l new").complaint(0);
    assert_eq!(complaint, "dbacl:warning: no tokens matched - have I learned nothing?\n");
    assert!(!scratch.path("new").exists());
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let scratch = prepared();
    scratch.write("long", TEXT.repeat(20_000));
    for command in ["dbacl -c cat -f 1 -n long", "dbacl -c cat -a -n long", "dbacl -l new -a long"]
    {
        let done = scratch.sh(&format!("{{ {command}; echo $? >status; }} | head -n 1 >/dev/null"));
        assert_eq!(done.quiet(0), "", "{command}");
        assert_eq!(scratch.read("status"), b"1\n", "{command}");
    }
}

#[test]
fn output_that_cannot_be_written_is_told() {
    if !Path::new("/dev/full").exists() {
        return skip("faults::output_that_cannot_be_written", "no /dev/full");
    }
    let scratch = prepared();
    for args in ["-v -c cat text", "-c cat -f 1 text", "-V", "--help", "-d -l new text"] {
        let done = scratch.sh(&format!("dbacl {args} >/dev/full"));
        assert!(done.complaint(1).contains("cannot write standard output"), "{args}");
        scratch.sh(&format!("dbacl --strict {args} >/dev/full")).complaint(74);
    }
}

#[test]
fn closed_output_is_told_by_every_program() {
    if !Path::new("/dev/full").exists() {
        return skip("faults::closed_output", "no /dev/full");
    }
    let scratch = prepared();
    scratch.write("d.tsv", "a\tball\nb\tchip\n".repeat(4));
    scratch.sh("dbacl-text train d.tsv -o model -q").quiet(0);
    for (command, status) in [
        ("dbacl -v -c cat text", 1),
        ("dbacl --strict -v -c cat text", 74),
        ("bayesol --help", 0),
        ("hypex -V", 0),
        ("mailinspect --help", 74),
        ("mailcross --help", 1),
        ("dbacl-text predict model d.tsv", 74),
        ("dbacl-text --help", 74),
        ("dbacl-eval --help", 74),
        ("dbacl-server --help", 74),
        ("dbacl-imap --help", 74),
        ("chess-adapter --help", 74),
    ] {
        let complaint = scratch.sh(&format!("{command} >&-")).complaint(status);
        assert!(complaint.ends_with("cannot write standard output: it is closed\n"), "{complaint}");
    }
    // Nothing was to be written.
    scratch.sh("dbacl -c cat text >&-").quiet(1);
}

#[test]
fn output_of_bayesol_and_hypex_that_cannot_be_written_is_told() {
    if !Path::new("/dev/full").exists() {
        return skip("faults::output_of_bayesol_and_hypex", "no /dev/full");
    }
    let scratch = prepared();
    scratch.sh("dbacl -d -l one text >first; dbacl -d -l two text >second").quiet(0);
    let specification = "categories { one, two }\nprior { 1, 1 }\nloss_matrix {\n\"\" one \
                         [ 0, 1 ]\n\"\" two [ 1, 0 ]\n}\n";
    scratch.write("specification", specification);
    scratch.write("scores", "# scores one 5.20 * 412.0 two 5.10 * 412.0 \n");
    for (program, args) in [
        ("bayesol", "-v -c specification scores"),
        ("bayesol", "-V"),
        ("bayesol", "--help"),
        ("hypex", "first second"),
        ("hypex", "-V"),
    ] {
        let usual = scratch.sh(&format!("{program} {args}"));
        assert!(!usual.stdout.is_empty(), "{program} {args}");
        // The status is the answer, or always 0.
        let complaint = scratch.sh(&format!("{program} {args} >/dev/full")).complaint(usual.status);
        let expected = format!("{program}:error: cannot write standard output: No space left on");
        assert!(complaint.starts_with(&expected) && complaint.lines().count() == 1, "{complaint}");
        scratch.sh(&format!("{program} {args} >&-")).complaint(usual.status);
    }
}

#[test]
fn too_little_memory_is_told() {
    let scratch = prepared();
    let done = scratch.sh("ulimit -v 400000; dbacl -h 28 -l new text");
    done.complains(1, "not enough memory");
    assert!(!scratch.path("new").exists());
}

#[test]
fn inputs_that_cannot_be_read_are_told() {
    let scratch = prepared();
    let complaint = scratch.dbacl("-l new text nothing").complaint(1);
    assert_eq!(complaint, "dbacl:error: couldn't open nothing\n");
    assert!(!scratch.path("new").exists());
    scratch.dbacl("--strict -c cat nothing").complaint(66);
    // A closed standard input is an empty one.
    assert_eq!(scratch.sh("dbacl -v -c cat <&-").quiet(1), "cat\n");
    let done = scratch.sh("timeout 120 dbacl -v -c cat <.");
    assert_eq!((done.status, done.stdout.as_str()), (1, "cat\n"), "{done:?}");
}

/// Starts `dbacl` and waits until it listens to signals and reads.
fn listening(scratch: &Scratch, args: &str) -> (Child, ChildStdin) {
    let (child, stdin) = scratch.typing(args);
    wait_until_reading(&child);
    (child, stdin)
}

/// Learns from a pipe, sends a signal when the text has been read, and says how it ended.
fn learning_with_signal(scratch: &Scratch, name: &str) -> Done {
    let (child, mut stdin) = listening(scratch, "-l new -o counts");
    stdin.write_all(TEXT.as_bytes()).expect("the program reads");
    wait_until_reading(&child);
    kill(child.id(), name);
    if name == "USR1" {
        wait_until_reading(&child);
        stdin.write_all(OTHER.as_bytes()).expect("the program reads on");
        drop(stdin);
        return finish(child);
    }
    // The pipe stays open: the program ends by itself.
    let done = finish(child);
    drop(stdin);
    done
}

#[test]
fn asked_to_end_while_learning_it_saves_what_it_has_read() {
    let scratch = prepared();
    scratch.dbacl("-l whole -o all text").quiet(0);
    for name in ["TERM", "HUP", "QUIT"] {
        let done = learning_with_signal(&scratch, name);
        let text = "dbacl:signal: caught termination request, ignoring further input\n";
        assert_eq!((done.status, done.stderr.as_str()), (0, text), "{name}");
        // The first line has the category's name: `new` is two letters shorter than `whole`.
        assert_eq!(scratch.read("new").len() + 2, scratch.read("whole").len(), "{name}");
        assert_eq!(scratch.read("counts").len(), scratch.read("all").len());
        fs::remove_file(scratch.path("new")).expect("just learned");
        fs::remove_file(scratch.path("counts")).expect("just learned");
    }
}

#[test]
fn interrupted_while_learning_it_writes_nothing() {
    let scratch = prepared();
    let names = scratch.names();
    let done = learning_with_signal(&scratch, "INT");
    let complaint = refused(&scratch, done, 1, &names, "");
    assert_eq!(complaint, "dbacl:signal: caught interrupt request, exiting\n");
}

#[test]
fn asked_to_reload_while_learning_it_goes_on() {
    let scratch = prepared();
    let done = learning_with_signal(&scratch, "USR1");
    let complaint = done.complaint(0);
    assert_eq!(complaint, "dbacl:signal: caught SIGUSR1 request, ignoring\n");
    let category = String::from_utf8_lossy(&scratch.read("new")).into_owned();
    let words = TEXT.split_whitespace().chain(OTHER.split_whitespace()).count();
    has(&category, &format!(" features {words} "));
}

#[test]
fn asked_to_end_while_classifying_it_tells_the_verdict_so_far() {
    let scratch = prepared();
    scratch.dbacl("-l two other").quiet(0);
    for (name, status, stdout) in [("TERM", 2, "two\n"), ("INT", 1, "")] {
        let (child, mut stdin) = listening(&scratch, "-v -c cat -c two");
        stdin.write_all(OTHER.as_bytes()).expect("the program reads");
        wait_until_reading(&child);
        kill(child.id(), name);
        let done = finish(child);
        assert_eq!((done.status, done.stdout.as_str()), (status, stdout), "{name}: {done:?}");
        drop(stdin);
    }
}
