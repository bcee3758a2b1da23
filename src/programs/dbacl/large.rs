// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning a large category (`--large`).

use super::config::Config;
use super::count;
use super::failure::{Failure, usage};
use super::learn::{INEXACT, nothing_learned, report, save, say, whole_text};
use super::messages::{MESSAGES, warn};
use super::signals::Signals;
use crate::shards::counts::{CountSettings, Counts, Documents};
use dbacl_cli::output::Output;
use dbacl_files::atomic_file::Draft;
use std::os::unix::ffi::OsStrExt;

/// Learns a large category.
pub(super) fn run(
    config: &mut Config,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let counts = counts(config, signals)?;
    if counts.features() == 0 {
        return nothing_learned(config, output);
    }
    let mut say_line = |line: &str| say(output, line);
    let mut progress = report(config.form.verbose, &mut say_line);
    let model = counts.learn_large(&config.learn_settings(), &mut progress, &mut warn)?;
    let name = config.target.as_os_str().as_bytes();
    progress.say(|| format!("saving category to file {}", config.target.display()));
    let mut write = |out: &mut dyn Draft| model.write(out, name);
    save(config, &mut write, output)?;
    whole_text(config, signals)
}

/// The counts of the inputs, or those of `--fit`.
fn counts(config: &mut Config, signals: &Signals) -> Result<Counts, Failure> {
    let Some(counts) = config.counts.take() else {
        let options = config.reading.read_options();
        let how = CountSettings::of(&options, false);
        return count::count(&config.reading, &options, how, (None, config.threads), signals);
    };
    if counts.settings().documents == Documents::Sequences {
        return usage("--large cannot use counts with the order of tokens in documents (-X)");
    }
    if counts.is_inexact() {
        MESSAGES.warning(INEXACT);
    }
    counts.into_counts()
}
