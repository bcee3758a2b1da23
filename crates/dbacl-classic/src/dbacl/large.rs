// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning a large category (`--large`).

use super::count;
use super::failure::{Failure, Kind};
use super::jobs::LearnJob;
use super::learn::{INEXACT, locks, nothing_learned, report, save_status, say, whole_text};
use super::messages::{MESSAGES, warn};
use super::signals::Signals;
use dbacl_cli::output::Output;
use dbacl_engine::shards::counts::{CountSettings, Counts, Documents};
use dbacl_files::lock::Lock;
use dbacl_sets::learned;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

/// Learns a large category.
pub fn run(job: &mut LearnJob, signals: &Signals, output: &mut Output) -> Result<u8, Failure> {
    let counts = counts(job, signals)?;
    if counts.features() == 0 {
        return nothing_learned(job, output);
    }
    let mut say_line = |line: &str| say(output, line);
    let mut progress = report(job.verbose, &mut say_line);
    let model = counts.learn_large(&job.settings, &mut progress, &mut warn)?;
    let mut locks = locks(job, signals)?;
    let name = job.path.as_os_str().as_bytes();
    progress.say(|| format!("saving category to file {}", job.path.display()));
    let mut write = |out: &mut dyn Write| model.write(out, name);
    let saved = learned::replace_category(&job.path, &mut write, &mut warn);
    let status = save_status(job, saved, output)?;
    locks.iter_mut().for_each(Lock::stay);
    whole_text(job, signals, status)
}

/// The counts of the inputs, or those of `--fit`.
fn counts(job: &mut LearnJob, signals: &Signals) -> Result<Counts, Failure> {
    let Some((counts, _)) = job.counts.take() else {
        let options = job.reading.read_options();
        let how = CountSettings::of(&options, false);
        return count::count(&job.reading, &options, how, (None, job.threads), signals);
    };
    if counts.settings().documents == Documents::Sequences {
        let text = "--large cannot use counts with the order of tokens in documents (-X)";
        return Err(Failure::new(Kind::Usage, text));
    }
    if counts.is_inexact() {
        MESSAGES.warning(INEXACT);
    }
    counts.into_counts()
}
