// SPDX-License-Identifier: GPL-3.0-or-later
//! Counting without learning (`--count`), and merging counts (`--merge`).

use super::config::Config;
use super::count_files::load_all;
use super::failure::{Failure, Kind, output_failure};
use super::inputs;
use super::jobs::Reading;
use super::learn::INEXACT;
use super::messages::MESSAGES;
use super::signals::Signals;
use super::threads;
use crate::document::ReadOptions;
use crate::shards::collect::Counting;
use crate::shards::counts::{CountSettings, Counts};
use crate::shards::file;
use dbacl_cli::output::Output;
use dbacl_files::atomic_file::{self, Disk, Draft, SaveError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Counts the inputs, and saves the counts.
pub(super) fn run(
    config: &mut Config,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let options = config.reading.read_options();
    let how = CountSettings::of(&options, config.form.confidence);
    let counts = count(&config.reading, &options, how, (config.place, config.threads), signals)?;
    if counts.features() == 0 {
        MESSAGES.warning("no tokens matched - have I counted nothing?");
    }
    save(&config.target, &counts, output)
}

/// Counts the inputs, on so many processors, as the part of `place`.
pub(super) fn count(
    reading: &Reading,
    options: &ReadOptions,
    how: CountSettings,
    (place, threads): (Option<u32>, Option<usize>),
    signals: &Signals,
) -> Result<Counts, Failure> {
    options.patterns.refuse_unstorable()?;
    let in_parallel = threads::inputs(reading, options, threads, signals).count(&how)?;
    let counts = match (in_parallel, place) {
        (Some(counts), None) => counts.without_places(),
        (Some(counts), Some(place)) => counts.at_place(place),
        (None, _) => {
            let mut counting = Counting::new(how, place.is_some());
            counting.start_shard(place.unwrap_or(0));
            let mut reader = inputs::reader(reading, options, signals).indented(reading.indented);
            inputs::read(reading, signals, &mut reader, &mut counting, |_, _| {
                signals.ignore_reload();
                Ok(())
            })?;
            signals.ignore_reload();
            counting.end_shard(reader.ending());
            counting.into_counts()
        }
    };
    let too_many = "there are too many features or occurrences to count";
    counts.ok_or_else(|| Failure::new(Kind::Data, too_many))
}

/// Merges counts.
pub(super) fn merge(
    config: &Config,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let sources: Vec<PathBuf> = config.reading.operands.iter().map(PathBuf::from).collect();
    let counts = load_all(&sources, config.reading.locale, &signals.stop)?;
    if counts.is_inexact() {
        MESSAGES.warning(INEXACT);
    }
    save(&config.target, &counts, output)
}

fn save(target: &Path, counts: &Counts, output: &mut Output) -> Result<u8, Failure> {
    if target == Path::new("-") {
        let mut out = Through(output);
        file::write(&mut out, counts).map_err(|error| output_failure(&error))?;
        return Ok(0);
    }
    let write = &mut |out: &mut dyn Draft| file::write(out, counts);
    atomic_file::replace(&Disk, target, file::KIND, write).map_err(|error| {
        let kind = match &error {
            SaveError::Occupied { .. } | SaveError::Temporary { .. } => Kind::Create,
            SaveError::Io { .. } => Kind::Write,
            SaveError::Unforced { .. } | SaveError::Divided { .. } => {
                return Failure::new(Kind::Write, error.to_string());
            }
        };
        Failure::new(kind, format!("{error}; no counts were written"))
    })?;
    output.flush().map_err(|error| output_failure(&error))?;
    Ok(0)
}

/// Standard output as a writer.
struct Through<'a>(&'a mut Output);

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.buffer().extend_from_slice(bytes);
        self.0.spill()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
