// SPDX-License-Identifier: GPL-3.0-or-later
//! Simulates how a filter of several folders is used: each message is classified, then learned
//! under the folder that it belongs to.
//!
//! ```text
//! cargo run --release --example folder_stream -- FOLDERS [FIRST [MAILS]]
//! ```
//!
//! FOLDERS holds one folder for each category, with a message in each file. FIRST messages of each
//! folder (10 by default) are learned at once; then MAILS messages (by default all) are classified
//! and learned one by one, in an order that depends on their names only. `docs/lab/mail.md`
//! reports the second half of the stream.

use dbacl::{MailFilter, MailFilterOptions, MailFolder, MailLearnOptions};
use dbacl_numeric::elementary::real;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

/// Number of messages in each line of the report.
const PART: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let folders = args.next().ok_or("which folder?")?;
    let first: usize = args.next().map_or(Ok(10), |first| first.parse())?;
    let most: usize = args.next().map_or(Ok(usize::MAX), |most| most.parse())?;
    let mut mails: Vec<(PathBuf, String)> = Vec::new();
    for folder in fs::read_dir(folders)? {
        let folder = folder?;
        let label = folder.file_name().to_string_lossy().replace('.', "-");
        for mail in fs::read_dir(folder.path())? {
            mails.push((mail?.path(), label.clone()));
        }
    }
    mails.sort_by_key(|(path, _)| hash(path));
    let room = tempfile::tempdir()?;
    let mut beginning: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    let mut stream = Vec::new();
    for (path, label) in &mails {
        let own = beginning.entry(label).or_default();
        if own.len() < first { own.push(path) } else { stream.push((path, label)) }
    }
    stream.truncate(most);
    let folders: Vec<MailFolder> = beginning
        .iter()
        .map(|(label, paths)| {
            let folder = MailFolder::new(*label, paths[0]);
            paths[1..].iter().fold(folder, MailFolder::and)
        })
        .collect();
    let filter = room.path().join("filter");
    MailFilter::learn_folders(&filter, &folders, &MailLearnOptions::default())?;
    let mut set = MailFilter::open(&filter, &MailFilterOptions::default())?;
    println!("{} folders, {first} mails of each learned at once", folders.len());
    let half = stream.len() / 2;
    let (mut part, mut late) = (Part::default(), Part::default());
    for (number, (path, label)) in stream.iter().enumerate() {
        let mail = fs::read(path)?;
        let verdict = set.classify(&mail)?;
        let (begun, used) = (Instant::now(), processor_time());
        let report = set.correct(label, &mail)?;
        let times = (begun.elapsed(), processor_time().saturating_sub(used));
        let parts = [Some(&mut part), (number >= half).then_some(&mut late)];
        for part in parts.into_iter().flatten() {
            part.mails += 1;
            part.right += usize::from(verdict.category == **label);
            part.unsure += usize::from(verdict.is_unsure);
            part.misled += usize::from(!verdict.is_unsure && verdict.category != **label);
            if report.is_refitted {
                part.fits += 1;
            } else {
                part.elapsed.push(times.0);
                part.used.push(times.1);
            }
        }
        if (number + 1) % PART == 0 {
            println!("up to {:5}: {}", number + 1, part.text());
            part = Part::default();
        }
    }
    println!("second half: {}", late.text());
    Ok(())
}

/// A part of the stream.
#[derive(Default)]
struct Part {
    mails: usize,
    right: usize,
    unsure: usize,
    /// Messages with a wrong verdict that was not `unsure`.
    misled: usize,
    fits: usize,
    /// What each update took, from beginning to end.
    elapsed: Vec<Duration>,
    /// What it took of the processor.
    used: Vec<Duration>,
}

impl Part {
    fn text(&mut self) -> String {
        let elapsed = Self::at(&mut self.elapsed);
        let used = Self::at(&mut self.used);
        let share = |number: usize| 100.0 * real(number) / real(self.mails.max(1));
        format!(
            "{:.2} % right, {:.1} % unsure, {:.2} % surely wrong; an update {:.1} ms, nine in ten \
             up to {:.1} ms; of the processor {:.1} and {:.1} ms; {} fits of all",
            share(self.right),
            share(self.unsure),
            share(self.misled),
            elapsed[0],
            elapsed[1],
            used[0],
            used[1],
            self.fits
        )
    }

    /// The median of times, and what nine in ten do not exceed, ms.
    fn at(times: &mut [Duration]) -> [f64; 2] {
        times.sort();
        [50, 90].map(|share| {
            let time = times.get(times.len() * share / 100);
            time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
        })
    }
}

/// What this process has used of the processors.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// A hash of a path's last two parts.
fn hash(path: &Path) -> u64 {
    let parts = path.iter().rev().take(2).flat_map(OsStr::as_encoded_bytes);
    parts.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
