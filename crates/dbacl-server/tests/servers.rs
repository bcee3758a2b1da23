// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/server.md`, with the real mail programs. Each is a script in
//! `tests/servers`; without its programs it is skipped.

use dbacl_testing::{programs, root, skip};
use std::process::{Command, Stdio};

/// Status of a script that cannot be run here.
const SKIPPED: i32 = 77;

fn follow(name: &str) {
    let folder = root().join("crates/dbacl-server/tests/servers");
    let mut command = Command::new("timeout");
    command.arg("300").arg("sh").arg(folder.join(name).with_extension("sh"));
    command.env("DBACL_BIN", programs()).stdin(Stdio::null());
    let output = command.output().expect("a shell");
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
            let folder = root().join("crates/dbacl-server/tests/servers");
            let mut scripts: Vec<String> = std::fs::read_dir(folder)
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
    dovecot_tells_of_moves = "dovecot";
    exim_asks_as_it_asks_spamassassin = "exim";
    miltertest_sees_headers_and_refusals = "milter";
    opensmtpd_runs_the_filter = "opensmtpd";
    postfix_asks_the_milter = "postfix";
    rspamc_reads_the_verdict = "rspamc";
    sieve_sorts_by_the_score = "sieve";
    spamc_speaks_with_the_server = "spamc";
}
