// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of counts, and online memory dumps, as counts (`--merge`, `--fit`).

use super::failure::{Failure, Kind, usage};
use crate::input::patient::UntilStopped;
use crate::input::source::{open_regular, standard_input};
use crate::learn::counter::Counter;
use crate::learn::memory_dump;
use crate::model::settings::Locale;
use crate::shards::counts::{CountSettings, Counts};
use crate::shards::dump;
use crate::shards::file::{CountsFile, KIND};
use crate::shards::replay::{Order, ReplayFault, replay, replay_file};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Loads and merges counts, and online memory dumps. Once `stop` is set, standard input is not
/// waited for any more.
pub(super) fn load_all(
    paths: &[PathBuf],
    locale: Locale,
    stop: &AtomicBool,
) -> Result<Counts, Failure> {
    let mut merged: Option<Counts> = None;
    for path in paths {
        let loaded = Fitted::open(path, locale, stop).and_then(Fitted::into_counts);
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
    merged.map_or_else(|| usage("there are no counts to merge"), Ok)
}

/// Counts to learn from.
pub(super) enum Fitted {
    /// Read, or merged from several files.
    Whole(Counts),
    /// A file of which the beginning has been parsed, and its name.
    File(PathBuf, CountsFile),
}

impl Fitted {
    /// The counts of these files, whose settings are known.
    pub(super) fn open_all(
        paths: &[PathBuf],
        locale: Locale,
        stop: &AtomicBool,
    ) -> Result<Self, Failure> {
        match paths {
            [path] => Self::open(path, locale, stop),
            _ => load_all(paths, locale, stop).map(Self::Whole),
        }
    }

    fn open(path: &Path, locale: Locale, stop: &AtomicBool) -> Result<Self, Failure> {
        let name = path.display();
        let unopened = |error: io::Error| Failure::new(Kind::NoInput, format!("{name}: {error}"));
        let mut source: Box<dyn Read + '_> = if path == Path::new("-") {
            Box::new(UntilStopped { input: standard_input().reader, stop })
        } else {
            if path.is_dir() {
                return Err(unopened(io::ErrorKind::IsADirectory.into()));
            }
            Box::new(open_regular(path).map_err(unopened)?)
        };
        let mut bytes = Vec::new();
        let length = memory_dump::MAGIC.len() as u64;
        source.by_ref().take(length).read_to_end(&mut bytes).map_err(unopened)?;
        if memory_dump::is_dump(&bytes) {
            source.read_to_end(&mut bytes).map_err(unopened)?;
            let read = memory_dump::read(&bytes);
            let read = read.map_err(|fault| unusable(path, &dump::reason(&fault)))?;
            return dump::counts(&read, locale)
                .map(Self::Whole)
                .map_err(|fault| unusable(path, &fault));
        }
        // What is of another kind may have no end.
        if bytes.starts_with(KIND) {
            source.read_to_end(&mut bytes).map_err(|error| unusable(path, &error))?;
        }
        let file = CountsFile::open(bytes).map_err(|fault| unusable(path, &fault))?;
        Ok(Self::File(path.to_path_buf(), file))
    }

    /// How their features were cut.
    pub(super) const fn settings(&self) -> &CountSettings {
        match self {
            Self::Whole(counts) => &counts.settings,
            Self::File(_, file) => &file.head.settings,
        }
    }

    /// Whether a part was read otherwise than in one pass.
    pub(super) fn is_inexact(&self) -> bool {
        match self {
            Self::Whole(counts) => counts.is_inexact(),
            Self::File(_, file) => file.head.is_inexact(),
        }
    }

    /// All of them.
    pub(super) fn into_counts(self) -> Result<Counts, Failure> {
        match self {
            Self::Whole(counts) => Ok(counts),
            Self::File(path, file) => file.into_counts().map_err(|fault| unusable(&path, &fault)),
        }
    }

    /// Counts their features in `counter`.
    pub(super) fn replay(self, order: Order, counter: &mut Counter) -> Result<(), Failure> {
        let too_many = |fault: &ReplayFault| Failure::new(Kind::Data, fault.to_string());
        match self {
            Self::Whole(counts) => {
                replay(&counts, order, counter).map_err(|fault| too_many(&fault))
            }
            Self::File(path, file) => {
                replay_file(file, order, counter).map_err(|fault| match fault {
                    ReplayFault::File(fault) => unusable(&path, &fault),
                    ReplayFault::TooMany => too_many(&fault),
                })
            }
        }
    }
}

fn unusable(path: &Path, what: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::Data, format!("cannot use the counts in {}: {what}", path.display()))
}
