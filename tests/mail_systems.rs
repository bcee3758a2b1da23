// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/mail.md`, followed in an empty home folder with the real mail programs.
//! Each is a script in `tests/mail/`; without its programs it is skipped.

use dbacl_testing::{programs, root, skip};
use std::process::Command;

/// Status of a script that cannot be run here.
const SKIPPED: i32 = 77;

fn follow(name: &str) {
    let script = root().join("tests/mail").join(name).with_extension("sh");
    let mut command = Command::new("timeout");
    command.arg("300").arg("sh").arg(script).env("DBACL_BIN", programs());
    let output = command.stdin(std::process::Stdio::null()).output().expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    match output.status.code() {
        Some(0) => {}
        Some(SKIPPED) => {
            let reason = said.lines().last().unwrap_or_default();
            skip(name, reason.strip_prefix("SKIPPED: ").unwrap_or(reason));
        }
        _ => panic!("{name}: {said}"),
    }
}

macro_rules! recipes {
    ($($test:ident = $name:literal;)*) => {
        $(#[test] fn $test() { follow($name); })*

        #[test]
        fn every_script_is_run() {
            let mut scripts: Vec<String> = std::fs::read_dir(root().join("tests/mail"))
                .expect("the scripts are here")
                .map(|entry| entry.expect("readable").file_name().into_string().expect("plain"))
                .filter_map(|name| name.strip_suffix(".sh").map(str::to_owned))
                .filter(|name| name != "lib")
                .collect();
            scripts.sort();
            assert_eq!(scripts, [$($name),*]);
        }
    };
}

recipes! {
    folders_are_learned_by_cron = "cron-learning";
    fdm_delivers_by_verdict = "fdm";
    maildrop_delivers_by_verdict = "maildrop";
    notmuch_tags_by_verdict = "notmuch";
    postfix_gets_status_75_for_errors = "postfix-pipe";
    procmail_delivers_by_verdict = "procmail";
    a_message_is_retrained = "retrain";
    sieve_asks_a_program = "sieve-pipe";
    two_commands_make_a_filter = "two-commands";
}
