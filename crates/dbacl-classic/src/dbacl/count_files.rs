// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of counts, and online memory dumps, as counts (`--merge`, `--fit`).

use super::failure::{Failure, Kind};
use dbacl_engine::input::patient::UntilStopped;
use dbacl_engine::input::source::{open_regular, standard_input};
use dbacl_engine::learn::memory_dump;
use dbacl_engine::shards::counts::Counts;
use dbacl_engine::shards::{dump, file};
use dbacl_model::settings::Locale;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Loads and merges counts, and online memory dumps. Once `stop` is set, standard input is not
/// waited for any more.
///
/// # Errors
/// The first file that cannot be read or merged.
pub fn load_all(paths: &[PathBuf], locale: Locale, stop: &AtomicBool) -> Result<Counts, Failure> {
    let mut merged: Option<Counts> = None;
    for path in paths {
        let loaded = load(path, locale, stop);
        if stop.load(Ordering::Relaxed) {
            let text = "stopped by a signal; the counts were not used";
            return Err(Failure::new(Kind::Interrupted, text));
        }
        let counts = loaded?;
        match &mut merged {
            None => merged = Some(counts),
            Some(merged) => merged.merge(&counts).map_err(|fault| {
                let text = format!("cannot merge {}: {fault}", path.display());
                Failure::new(Kind::Data, text)
            })?,
        }
    }
    merged.ok_or_else(|| Failure::new(Kind::Usage, "there are no counts to merge"))
}

fn load(path: &Path, locale: Locale, stop: &AtomicBool) -> Result<Counts, Failure> {
    let name = path.display();
    let unopened = |error: io::Error| Failure::new(Kind::NoInput, format!("{name}: {error}"));
    let mut source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(UntilStopped { input: standard_input().reader, stop })
    } else {
        if path.is_dir() {
            return Err(unopened(io::ErrorKind::IsADirectory.into()));
        }
        Box::new(open_regular(path).map_err(unopened)?)
    };
    let mut beginning = Vec::new();
    let length = memory_dump::MAGIC.len() as u64;
    source.by_ref().take(length).read_to_end(&mut beginning).map_err(unopened)?;
    let is_dump = memory_dump::is_dump(&beginning);
    let mut whole = beginning.as_slice().chain(source);
    let unusable = |what: &dyn std::fmt::Display| {
        Failure::new(Kind::Data, format!("cannot use the counts in {name}: {what}"))
    };
    if is_dump {
        let mut bytes = Vec::new();
        whole.read_to_end(&mut bytes).map_err(unopened)?;
        let read = memory_dump::read(&bytes).map_err(|fault| unusable(&dump::reason(&fault)))?;
        return dump::counts(&read, locale).map_err(|fault| unusable(&fault));
    }
    file::read(&mut whole).map_err(|fault| unusable(&fault))
}
