// SPDX-License-Identifier: GPL-3.0-or-later
//! `dbacl text ...`: the program `dbacl-text`.

use super::failure::{Failure, Kind};
use super::options::Key;
use dbacl_cli::getopt::Event;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "dbacl-text";

/// What `dbacl-text` does; another second word is an operand, as in dbacl 1.14.1.
const VERBS: [&str; 14] = [
    "card", "explain", "fasttext", "features", "forget", "help", "info", "merge", "predict",
    "quantize", "serve", "test", "train", "update",
];

/// Whether a command line is one of `dbacl-text`. Where it has a job of dbacl, `text` is the name
/// of a file.
pub(super) fn is_wanted(args: &[OsString], events: &[Event<Key>]) -> bool {
    let is_job = |event: &Event<Key>| {
        let Event::Option { key, .. } = event else { return false };
        matches!(key, Key::Learn | Key::Category | Key::Count | Key::Merge | Key::VersionText)
    };
    let [first, second, ..] = args else { return false };
    first == "text" && VERBS.iter().any(|verb| second == verb) && !events.iter().any(is_job)
}

/// Becomes that program, which is beside this one or where programs are looked for; returns if it
/// is not there.
pub(super) fn become_it(args: &[OsString]) -> Failure {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(|folder| folder.join(PROGRAM));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let error = Command::new(program).args(args.get(1..).unwrap_or_default()).exec();
    Failure::new(Kind::of_reading(&error), format!("cannot run {PROGRAM}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::dbacl::options::TABLE;

    #[test]
    fn only_verbs_lead_to_the_other_program() {
        for (line, expected) in [
            ("text train X.csv", true),
            ("text help", true),
            ("text", false),
            ("text other", false),
            ("text -l", false),
            ("text train -l words", false),
            ("train text", false),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let events = dbacl_cli::getopt::parse("dbacl".as_ref(), args.clone(), TABLE, false);
            assert_eq!(is_wanted(&args, &events), expected, "{line}");
        }
    }
}
