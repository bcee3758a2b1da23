// SPDX-License-Identifier: GPL-3.0-or-later
//! Examines files that dbacl has written, from their first byte to their last.

use super::filter_folder::{LEDGER, ORDER};
use super::refit::read_state;
use crate::category::mapped;
use crate::container::{Container, is_model};
use crate::error::{Error, Result};
use crate::store::generations::ledger_file::{self, is_ledger};
use crate::store::generations::{Generation, Store, is_fitted};
use std::ffi::OsStr;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
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

/// What is wrong with the mail filter in the folder `path`, with the set that the file at `path`
/// belongs to, or with this file itself: a category, a ledger or a model of dbacl-text.
///
/// # Errors
/// [`Error::Io`] where nothing can be read at all.
pub fn examine(path: &Path) -> Result<Vec<Finding>> {
    let store = if path.is_dir() {
        Some(Store::beside(&path.join(LEDGER)))
    } else {
        Store::of_link(path).map(|(store, _)| store)
    };
    let Some(store) = store else { return examine_file(path) };
    match store.open_to_change() {
        Ok(Some(generation)) => Ok(examine_set(&generation)),
        Ok(None) if path.is_dir() => Err(Error::io(&path.join(ORDER), NotFound.into())),
        Ok(None) => examine_file(path),
        Err(Error::Damaged { path, what }) => Ok(vec![Finding { path, what, help: LEARN }]),
        Err(error) => Err(error),
    }
}

/// When the mail filter in the folder `path` learned or was corrected last; `None` if it is no
/// filter.
pub fn last_change(path: &Path) -> Option<SystemTime> {
    path.join(LEDGER).metadata().and_then(|ledger| ledger.modified()).ok()
}

fn examine_file(path: &Path) -> Result<Vec<Finding>> {
    let examined = if is_ledger(path) {
        ledger_file::load(path).map(|_| ()).map_err(|error| Error::damaged(path, error.to_string()))
    } else if is_model(path) {
        Container::open(path).map(|_| ())
    } else {
        mapped::open_any(path).map(|_| ())
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

fn examine_set(generation: &Generation) -> Vec<Finding> {
    let mut found = Vec::new();
    if generation.has_torn() {
        let what = "files are shorter than they were, as after a power failure".into();
        found.push(Finding { path: generation.folder.clone(), what, help: CHANGE });
    }
    for name in generation.names() {
        let path = generation.path(name);
        let is_small = name.as_encoded_bytes().ends_with(b".ordinary");
        let help = if is_fitted(name) && !is_small { CHANGE } else { LEARN };
        let mut add = |what| found.push(Finding { path: path.clone(), what, help });
        match generation.damaged_blocks(name) {
            Err(error) => add(what(&error, &path)),
            Ok(blocks) if !blocks.is_empty() => add(format!(
                "{} blocks of 1024 bytes are damaged, the first at byte {}",
                blocks.len(),
                blocks[0]
            )),
            Ok(_) if is_ledger(&path) && !name.as_encoded_bytes().ends_with(b".head") => {
                if let Err(error) = ledger_file::load(&path) {
                    add(error.to_string());
                }
            }
            Ok(_) if name.as_encoded_bytes().starts_with(b"category.") => {
                if let Err(error) = mapped::open(&path) {
                    add(what(&error, &path));
                }
            }
            Ok(_) => {}
        }
    }
    let ledger = generation.path(OsStr::new(LEDGER));
    let state = ledger.with_extension("state");
    if state.exists()
        && let Ok(head) = ledger_file::head(&ledger)
        && read_state(&ledger, &head).is_none_or(|(mut state, _)| state.is_damaged_anywhere())
    {
        let what = "it is damaged, or does not fit the ledger".into();
        found.push(Finding { path: state, what, help: CHANGE });
    }
    found
}
