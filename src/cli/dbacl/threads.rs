// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning on several processors: the input is cut into units, each is counted as a shard with its
//! number as place, and the counts are merged. What cannot be cut so that one pass would see the same
//! is left to one pass.

use super::config::Config;
use super::count::{Reader, settings};
use super::failure::Failure;
use super::inputs;
use super::signals::Signals;
use crate::error::Warning;
use crate::filter::Filter;
use crate::input::source::{self, Operand, Source};
use crate::learn::count::Counter;
use crate::model::settings::ModelOption;
use crate::pipeline::{Ending, Pipeline};
use crate::scale::counts::{CountSettings, Counts};
use crate::scale::replay;
use crate::token::pattern::PatternList;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Inputs of less are not worth a thread, unless threads are asked for.
const WORTH: u64 = 16 << 20;
/// Units that each thread should get, so that all end at about the same time.
const UNITS_A_THREAD: u64 = 6;
/// Smallest unit cut from a file, bytes.
const SMALLEST: u64 = 1 << 16;
/// Progress is shown after this time, and then as often as that.
const FIRST_NOTE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(50);

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    path: PathBuf,
    from: u64,
    to: u64,
}

/// The threads to use for inputs of `size` bytes.
pub fn number(config: &Config, size: u64) -> usize {
    match config.threads {
        Some(threads) => threads,
        // Counts of n-grams are mostly about as large as the input, and putting them together costs what
        // counting them has saved; so that is left to those who know their input.
        None if size < WORTH || config.order > 1 => 1,
        None => std::thread::available_parallelism().map_or(1, Into::into),
    }
}

/// The counts of the inputs for a learning run; `None` if one pass is to read them.
///
/// # Errors
/// An interrupt.
pub fn count(
    config: &Config,
    patterns: &PatternList,
    signals: &Signals,
    counter: &Counter,
) -> Result<Option<Counts>, Failure> {
    let shows = config.form.verbose || config.form.append || config.debug;
    if shows || config.decimation.is_some() || config.keep.is_some() {
        return Ok(None);
    }
    let counts = read(config, &settings(config), patterns, signals)?;
    Ok(counts.filter(|counts| replay::fits(counts, counter)))
}

/// The counts of the inputs, each unit at a place of its own; `None` if they cannot or need not be
/// read in parallel.
///
/// # Errors
/// An interrupt.
pub fn read(
    config: &Config,
    settings: &CountSettings,
    patterns: &PatternList,
    signals: &Signals,
) -> Result<Option<Counts>, Failure> {
    if config.threads == Some(1) || !patterns.is_empty() || config.operands.is_empty() {
        return Ok(None);
    }
    let Some(pieces) = pieces(config) else { return Ok(None) };
    let size: u64 = pieces.iter().map(|piece| piece.to - piece.from).sum();
    let threads = number(config, size);
    let units = units(pieces, size, threads, lines_are_apart(config));
    if threads < 2 || units.len() < 2 {
        return Ok(None);
    }
    let work = Work {
        units,
        next: AtomicUsize::new(0),
        done: Arc::new(AtomicU64::new(0)),
        failed: AtomicBool::new(false),
    };
    let parts: Vec<Counts> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(work.units.len()))
            .map(|_| scope.spawn(|| work.run(config, settings, signals)))
            .collect();
        show_progress(&work.done, size, || workers.iter().all(ScopedJoinHandle::is_finished));
        let joined: Option<Vec<_>> =
            workers.into_iter().map(|worker| worker.join().ok().flatten()).collect();
        joined.unwrap_or_else(|| {
            work.failed.store(true, Ordering::Relaxed);
            Vec::new()
        })
    });
    inputs::after_signals(signals, &mut false)?;
    let mut parts = parts.into_iter();
    let (false, Some(mut counts)) = (work.failed.into_inner(), parts.next()) else {
        return Ok(None);
    };
    for part in parts {
        if counts.absorb(&part).is_err() {
            return Ok(None);
        }
    }
    Ok((!counts.is_inexact()).then_some(counts))
}

/// Whether a text means the same when it is cut between lines.
fn lines_are_apart(config: &Config) -> bool {
    use ModelOption::{Html, Mail, Straddle, Xml};
    !config.options.has_any(&[Mail, Html, Xml])
        && (config.order == 1 || !config.options.has(Straddle))
}

/// The files that the operands stand for; `None` if one is no regular file, or not there.
fn pieces(config: &Config) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut push = |path: &Path| -> Option<()> {
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        File::open(path).ok()?;
        pieces.push(Piece { path: path.to_path_buf(), from: 0, to: metadata.len() });
        Some(())
    };
    for operand in &config.operands {
        let path = Path::new(operand);
        if std::fs::metadata(path).ok()?.is_dir() {
            let mut clean = true;
            let opened = source::open(operand, &mut |_: Warning| clean = false).ok()?;
            let Operand::Folder(paths) = opened else { return None };
            for path in paths.iter().filter(|_| clean) {
                push(path)?;
            }
        } else {
            push(path)?;
        }
    }
    Some(pieces)
}

/// Groups and cuts files so that there are some units for each thread.
fn units(pieces: Vec<Piece>, size: u64, threads: usize, cuts: bool) -> Vec<Vec<Piece>> {
    let wanted = (size / (threads.max(1) as u64 * UNITS_A_THREAD)).max(SMALLEST);
    let mut units: Vec<Vec<Piece>> = Vec::new();
    let mut filled = u64::MAX;
    for piece in pieces {
        let mut rest = piece;
        while cuts && rest.to - rest.from > wanted + wanted / 2 {
            let Some(at) = next_line(&rest.path, rest.from + wanted).filter(|&at| at < rest.to)
            else {
                break;
            };
            units.push(vec![Piece { to: at, ..rest.clone() }]);
            rest.from = at;
            filled = u64::MAX;
        }
        let length = rest.to - rest.from;
        match units.last_mut() {
            Some(unit) if filled.saturating_add(length) <= wanted => {
                unit.push(rest);
                filled += length;
            }
            _ => {
                units.push(vec![rest]);
                filled = length;
            }
        }
    }
    units
}

/// Where the first line begins at or behind `from`.
fn next_line(path: &Path, from: u64) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from - 1)).ok()?;
    let mut line = Vec::new();
    let length = BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(from - 1 + length as u64)
}

/// What the threads share.
struct Work {
    units: Vec<Vec<Piece>>,
    next: AtomicUsize,
    /// Bytes read so far.
    done: Arc<AtomicU64>,
    failed: AtomicBool,
}

impl Work {
    /// Counts units until there are none left.
    fn run(&self, config: &Config, settings: &CountSettings, signals: &Signals) -> Option<Counts> {
        let mut reader = Reader::new(config, settings.clone(), true, signals);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = self.units.get(number) else { break };
            if self.failed.load(Ordering::Relaxed) || signals.stopped() {
                break;
            }
            let ending = u32::try_from(number).ok().and_then(|place| {
                reader.counting.start_shard(place);
                self.count_unit(unit, config, signals, &mut reader)
            });
            let Some(ending) = ending.filter(|_| !reader.counting.has_overflowed()) else {
                self.failed.store(true, Ordering::Relaxed);
                break;
            };
            reader.counting.end_shard(ending);
        }
        reader.counting.into_counts()
    }

    /// `None` if the unit cannot be read to its end.
    fn count_unit(
        &self,
        unit: &[Piece],
        config: &Config,
        signals: &Signals,
        reader: &mut Reader<'_>,
    ) -> Option<Ending> {
        let filter = Filter::new(config.options, config.locale);
        let mut pipeline = Pipeline::new(filter, true, Some(&signals.stop));
        if config.keep_nul {
            pipeline = pipeline.keeping_nul();
        }
        for piece in unit {
            let mut file = File::open(&piece.path).ok()?;
            file.seek(SeekFrom::Start(piece.from)).ok()?;
            let metered =
                Metered { inner: file.take(piece.to - piece.from), done: self.done.clone() };
            let source = Source { name: Vec::new(), reader: Box::new(metered) };
            if pipeline.run(source, reader).ok()?.is_some() {
                return None;
            }
        }
        Some(pipeline.ending())
    }
}

/// Counts the bytes that are read.
struct Metered<R> {
    inner: R,
    done: Arc<AtomicU64>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.done.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Shows on a terminal how far reading has got, until it has ended.
pub fn show_progress(done: &AtomicU64, size: u64, has_ended: impl Fn() -> bool) {
    let start = Instant::now();
    let mut stderr = io::stderr();
    let is_shown = stderr.is_terminal();
    let mut shown = false;
    let mut wait = Duration::from_millis(1);
    while !has_ended() {
        std::thread::sleep(wait);
        wait = (wait * 2).min(TICK);
        if is_shown && start.elapsed() > FIRST_NOTE {
            let done = done.load(Ordering::Relaxed);
            let percent = done.saturating_mul(100) / size.max(1);
            let _ = write!(stderr, "\r{percent:3}% of {} MB", size >> 20);
            shown = true;
        }
    }
    if shown {
        let _ = write!(stderr, "\r{:24}\r", "");
    }
}
