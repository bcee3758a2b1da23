// SPDX-License-Identifier: GPL-3.0-or-later
//! Examines files that dbacl has written, from their first byte to their last.

use crate::category::mapped;
use crate::container::{Container, is_model};
use crate::error::{Error, Result};
use crate::fit::rule::Rule;
use crate::store::folder::{JOURNAL, TABLE};
use crate::store::table::WITHDRAWN;
use crate::store::{FilterError, FilterFolder, OpenTables};
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What helps.
    pub help: &'static str,
}

const CHANGE: &str = "the next message that is learned makes it again";
const LEARN: &str = "learn the mail folders again with --mail-learn";
const COPY: &str = "learn it again, or copy it from a backup";

/// What is wrong with the mail filter in the folder `path`, or with the file at `path`: a category
/// or a model of dbacl-text.
///
/// # Errors
/// [`Error::Io`] where nothing can be read at all.
pub(crate) fn examine(path: &Path) -> Result<Vec<Finding>> {
    if !path.is_dir() {
        return examine_file(path);
    }
    let folder = FilterFolder::new(path);
    match folder.open::<Rule>() {
        Ok(tables) => Ok(examine_filter(&folder, &tables)),
        Err(FilterError::NoFilter { .. }) => Err(Error::io(&folder.file(TABLE), NotFound.into())),
        Err(FilterError::Io { path, source }) => Err(Error::io(&path, source)),
        Err(FilterError::Version { .. }) => {
            let what = "it is of another version of dbacl".to_owned();
            Ok(vec![Finding { path: path.into(), what, help: LEARN }])
        }
        Err(_) => {
            let help = if folder.salvage().is_some() { CHANGE } else { LEARN };
            Ok(vec![Finding { path: folder.file(TABLE), what: "it is damaged".into(), help }])
        }
    }
}

fn examine_filter(folder: &FilterFolder, tables: &OpenTables<Rule>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf, help| {
        found.push(Finding { path, what: "it is damaged".into(), help });
    };
    let head = &tables.table.head;
    let documents = folder.documents(tables);
    let help = if documents.is_ok() { CHANGE } else { LEARN };
    let is_there = |&&(_, label): &&(u64, u8)| label != WITHDRAWN;
    let of_table = tables.table.names().map(|names| names.iter().filter(is_there).count());
    let lessons = &tables.journal.lessons;
    let withdrawn = lessons.iter().filter(|lesson| lesson.withdrawn.is_some()).count();
    let fits = |all: usize| {
        let own = of_table.as_ref().ok().map(|own| own + lessons.len() - withdrawn);
        own.is_none_or(|own| own == all)
    };
    if tables.table.check().is_err() {
        add(folder.file(TABLE), help);
    }
    if !documents.is_ok_and(|documents| fits(documents.len())) {
        add(folder.file(&head.ledger), LEARN);
    }
    let general = folder.open_general(tables);
    let is_sound = |own: Option<OpenTables<Rule>>| own.is_none_or(|own| own.table.check().is_ok());
    if !general.is_ok_and(is_sound) {
        add(folder.file(head.general.as_deref().unwrap_or_default()), LEARN);
    }
    found
}

/// When the mail filter in the folder `path` learned or was corrected last; `None` if it is no
/// filter.
pub(crate) fn last_change(path: &Path) -> Option<SystemTime> {
    let changed = |name: &str| path.join(name).metadata().and_then(|it| it.modified()).ok();
    changed(TABLE).map(|table| changed(JOURNAL).map_or(table, |journal| journal.max(table)))
}

fn examine_file(path: &Path) -> Result<Vec<Finding>> {
    let examined = if is_model(path) {
        Container::open(path).map(|_| ())
    } else {
        mapped::open(path).map(|_| ())
    };
    match examined {
        Ok(()) => Ok(Vec::new()),
        Err(error @ Error::Io { .. }) => Err(error),
        Err(error) => Ok(vec![Finding { path: path.into(), what: what(&error, path), help: COPY }]),
    }
}

/// The text of an error about the file at `path`, without the path.
fn what(error: &Error, path: &Path) -> String {
    let text = error.to_string();
    let bare = text.strip_prefix(&format!("{}: ", path.display())).map(str::to_owned);
    bare.unwrap_or(text)
}
