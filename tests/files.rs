// SPDX-License-Identifier: GPL-3.0-or-later
//! Files that others can reach, too: whose they are, who may use them, who holds them.

use dbacl_testing::{PATIENCE, Scratch, finish, wait_until_reading};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, Permissions};
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

fn mode(scratch: &Scratch, name: &str) -> u32 {
    fs::metadata(scratch.path(name)).expect("a file").mode() & 0o7777
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
            assert_eq!(mode(&scratch, name), wanted, "{name}");
        }
    }
    scratch.sh("umask 077; dbacl -l new text").quiet(0);
    assert_eq!(mode(&scratch, "new"), 0o600);
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
    let names = scratch.names();
    scratch.dbacl("-l cat text").quiet(0);
    assert_eq!(scratch.names(), names);
    for name in ["mine", "cat.tmp.1"] {
        assert_eq!(scratch.read(name), half, "{name}");
    }
    assert_eq!(fs::metadata(scratch.path("cat")).expect("a file").nlink(), 1);
}

#[test]
fn a_lock_is_not_made_through_a_link() {
    let scratch = prepared();
    symlink("elsewhere", scratch.path("counts.learning")).expect("a new link");
    scratch.dbacl("-l cat -o counts text").quiet(0);
    assert!(!scratch.path("elsewhere").exists());
    symlink("elsewhere", scratch.path("ledger.lock")).expect("a new link");
    let complaint = scratch.dbacl("-l cat --keep ledger text").complaint(1);
    assert!(complaint.contains("ledger.lock"), "{complaint}");
    assert!(!scratch.path("elsewhere").exists());
    assert!(!scratch.path("ledger").exists());
}

/// Locks a new file as another learner does.
fn hold(path: &Path) -> File {
    let file = File::create(path).expect("a new file");
    file.lock().expect("nobody else has it");
    file
}

const WAITING: [(&str, &str); 3] = [
    ("counts.learning", "-l cat -o counts text"),
    ("ledger.lock", "-l cat --keep ledger text"),
    ("ledger.lock", "--refit --keep ledger -c cat -c dog"),
];

#[test]
fn nobody_waits_for_ever_and_the_holder_is_named() {
    let scratch = prepared();
    scratch.dbacl("-l cat --keep ledger text").quiet(0);
    scratch.dbacl("-l dog --keep ledger text").quiet(0);
    for (lock, args) in WAITING {
        let before = scratch.read("ledger");
        let _held = hold(&scratch.path(lock));
        let start = Instant::now();
        let complaint = scratch.dbacl(&format!("--lock-timeout 1 {args}")).complaint(1);
        assert!(start.elapsed() > Duration::from_millis(900), "{args}");
        let named = complaint.contains(&format!("process {}", std::process::id()));
        assert!(named || !Path::new("/proc/locks").exists(), "{args}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        scratch.dbacl(&format!("--strict --lock-timeout 0 {args}")).complaint(75);
        assert_eq!(scratch.read("ledger"), before, "{args}");
    }
}

/// Sends TERM until the process ends.
fn terminate(mut child: Child) -> dbacl_testing::Done {
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
    let scratch = prepared();
    scratch.dbacl("-l cat --keep ledger text").quiet(0);
    scratch.dbacl("-l dog --keep ledger text").quiet(0);
    for (lock, args) in WAITING {
        let before = (scratch.read("ledger"), scratch.read("counts"));
        let _held = hold(&scratch.path(lock));
        let args = format!("--lock-timeout 600 {args}");
        let child = scratch.dbacl_command(args.split_whitespace()).spawn().expect("dbacl starts");
        let done = terminate(child);
        assert_ne!(done.status, 0, "{args}: {done:?}");
        assert_eq!((scratch.read("ledger"), scratch.read("counts")), before, "{args}");
    }
}
