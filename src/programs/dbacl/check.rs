// SPDX-License-Identifier: GPL-3.0-or-later
//! Examines a mail filter, a category or a model (`--check`).

use super::failure::{Failure, usage};
use super::messages::{MESSAGES, print};
use super::options::Key;
use crate::sets::check::{examine, last_change};
use dbacl_cli::getopt::Event;
use dbacl_cli::output::Output;
use dbacl_cli::status;
use std::ffi::OsString;
use std::path::Path;

/// The files and folders that are to be examined; `None` for another job.
pub(super) fn wanted(events: &[Event<Key>]) -> Result<Option<Vec<OsString>>, Failure> {
    let is_check = |event: &Event<Key>| matches!(event, Event::Option { key: Key::Check, .. });
    if !events.iter().any(is_check) {
        return Ok(None);
    }
    let mut paths = Vec::new();
    for event in events {
        match event {
            Event::Option { key: Key::Check, value } => paths.extend(value.clone()),
            Event::Operand(path) => paths.push(path.clone()),
            Event::Option { key: Key::Strict | Key::Quiet, .. } => {}
            Event::Option { .. } | Event::Complaint(_) => {
                return usage("--check takes only names of folders and files");
            }
        }
    }
    Ok(Some(paths))
}

/// Days after which mail has usually changed.
const OLD: u64 = 180;

/// How long ago the filter at `path` was changed, and what helps if that is long; nothing where
/// there is none.
fn age(path: &Path) -> String {
    let Some(age) = last_change(path).and_then(|changed| changed.elapsed().ok()) else {
        return String::new();
    };
    match age.as_secs() / (24 * 60 * 60) {
        0 => "; changed today".into(),
        1 => "; changed 1 day ago".into(),
        days if days < OLD => format!("; changed {days} days ago"),
        days => format!("; changed {days} days ago: learn newer mail"),
    }
}

/// Says of each file or folder whether it is whole; what is not, with what helps.
pub(super) fn run(paths: &[OsString], output: &mut Output) -> Result<u8, Failure> {
    let (mut text, mut result) = (String::new(), 0);
    for path in paths {
        let shown = Path::new(path).display();
        match examine(Path::new(path)) {
            Ok(found) if found.is_empty() => {
                text += &format!("{shown}: no damage found{}\n", age(Path::new(path)));
            }
            Ok(found) => {
                result = status::DATA;
                for finding in found {
                    let name = finding.path.display();
                    text += &format!("{name}: {}: {}\n", finding.what, finding.help);
                }
            }
            Err(error) => {
                MESSAGES.error(&error.to_string());
                result = result.max(status::NO_INPUT);
            }
        }
    }
    print(output, &text)?;
    Ok(result)
}
