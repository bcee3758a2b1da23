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

/// Whether a command line is one of `dbacl-text`. Where it has a job of dbacl, `text` is the name
/// of a file.
pub(super) fn is_wanted(args: &[OsString], events: &[Event<Key>]) -> bool {
    let is_job = |event: &Event<Key>| {
        let Event::Option { key, .. } = event else { return false };
        matches!(key, Key::Learn | Key::Category | Key::Count | Key::Merge | Key::VersionText)
    };
    args.first().is_some_and(|first| first == "text") && !events.iter().any(is_job)
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
