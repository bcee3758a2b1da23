// SPDX-License-Identifier: GPL-3.0-or-later
//! Reading on several processors: the input is cut into parts of about equal size, one for each
//! thread, and what was counted of them is put together in their order. What cannot be cut so that one
//! pass would see the same is left to one pass.

use super::MESSAGES;
use super::config::Config;
use super::count::ShardCounts;
use super::echo::Echo;
use super::failure::Failure;
use super::inputs;
use super::signals::Signals;
use crate::document::{Cutter, Ending, FeatureReader, FeatureSink, LineState, ReadOptions};
use crate::error::{Warning, WarningSink};
use crate::input::lines::{LineReader, Stream};
use crate::input::source::{self, Operand, Source};
use crate::learn::LearnSettings;
use crate::learn::count::Counter;
use crate::learn::join::SMALLEST_BITS;
use crate::learn::state::LearningState;
use crate::learn::table::MAX_BITS;
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::scale::counts::{CountSettings, Counts};
use crate::token::Feature;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Inputs of less are not worth a thread, unless threads are asked for.
const WORTH: u64 = 16 << 20;
/// Smallest part, bytes.
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
        // Each thread has a table of its own, and n-grams need large ones; so that is left to those who
        // know their memory.
        None if size < WORTH || config.order > 1 => 1,
        None => std::thread::available_parallelism().map_or(1, Into::into),
    }
}

/// Bits of the largest table of a later part, beyond those of the table of the whole: a part is to
/// find room for all of its features.
const MORE_BITS: u8 = 2;

/// Counts the inputs for a learning run into `counter`, which has counted nothing; returns whether
/// it did. If not, one pass is to read them.
///
/// # Errors
/// An interrupt.
pub fn learn(
    config: &Config,
    learning: &LearnSettings,
    options: &ReadOptions,
    signals: &Signals,
    counter: &mut Counter,
    warnings: WarningSink<'_>,
) -> Result<bool, Failure> {
    let shows = config.form.verbose || config.form.append || config.debug;
    let state = counter.state();
    let is_plain = config.decimation.is_none() && !state.measures_entropy() && state.total == 0;
    if shows || !is_plain || config.keep.is_some() || !options.patterns.is_empty() {
        return Ok(false);
    }
    let Some((parts, size)) = parts(config) else { return Ok(false) };
    let begin = |part: usize| {
        let mut settings = learning.clone();
        if part > 0 {
            let bits = learning.max_bits.unwrap_or(0).max(learning.bits);
            settings.bits = learning.bits.max(SMALLEST_BITS);
            settings.max_bits = Some(bits.saturating_add(MORE_BITS).min(MAX_BITS));
        }
        let state = LearningState::new(
            settings.bits,
            settings.options,
            settings.scheme,
            settings.min_count,
        );
        let mut counter = Counter::new(state, &settings, false);
        counter.expect_words(config.order).then(|| WordCounts::new(config, counter, signals))
    };
    let Some(read) = read_parts(options, &parts, size, signals, begin)? else { return Ok(false) };
    let mut warned = Vec::new();
    let mut read = read.into_iter();
    let Some(mut first) = read.next() else { return Ok(false) };
    warned.append(&mut first.warnings);
    for part in read {
        if !first.counter.join(part.counter, &mut |warning| warned.push(warning)) {
            return Ok(false);
        }
    }
    warned.into_iter().for_each(warnings);
    *counter = first.counter;
    Ok(true)
}

/// The counts of the inputs, each part at a place of its own; `None` if they cannot or need not be
/// read in parallel.
///
/// # Errors
/// An interrupt.
pub fn read(
    config: &Config,
    settings: &CountSettings,
    options: &ReadOptions,
    signals: &Signals,
) -> Result<Option<Counts>, Failure> {
    if !options.patterns.is_empty() {
        return Ok(None);
    }
    let Some((parts, size)) = parts(config) else { return Ok(None) };
    let begin = |part: usize| {
        let mut counts = ShardCounts::new(config, settings.clone(), true, signals);
        counts.counting.start_shard(u32::try_from(part).ok()?);
        Some(counts)
    };
    let Some(read) = read_parts(options, &parts, size, signals, begin)? else { return Ok(None) };
    let mut whole: Option<Counts> = None;
    for reader in read {
        let Some(part) = reader.counting.into_counts() else { return Ok(None) };
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                if whole.absorb(&part).is_err() {
                    return Ok(None);
                }
            }
        }
    }
    Ok(whole.filter(|counts| !counts.is_inexact()))
}

/// Counts what it reads.
trait PartCounts: FeatureSink + Send {
    /// Whether there was too much to count.
    fn has_overflowed(&self) -> bool;

    /// Takes note of the end of the part.
    fn end(&mut self, ending: Ending);
}

impl PartCounts for ShardCounts<'_> {
    fn has_overflowed(&self) -> bool {
        self.counting.has_overflowed()
    }

    fn end(&mut self, ending: Ending) {
        self.counting.end_shard(ending);
    }
}

/// Reads each of `parts` on a thread of its own; `None` if that is not what one pass would read.
fn read_parts<R: PartCounts>(
    options: &ReadOptions,
    parts: &[Vec<Piece>],
    size: u64,
    signals: &Signals,
    begin: impl Fn(usize) -> Option<R> + Sync,
) -> Result<Option<Vec<R>>, Failure> {
    let Some(room) = usual_room(parts) else { return Ok(None) };
    let done = Arc::new(AtomicU64::new(0));
    let read_one = |number: usize, room: u8| {
        let mut counts = begin(number)?;
        let ending = read_part(&parts[number], room, options, signals, &done, &mut counts)?;
        (!counts.has_overflowed()).then_some((counts, ending))
    };
    let first_room = Ending::default().room_bits;
    let room_of = |number: usize| if number == 0 { first_room } else { room };
    let read: Option<Vec<(R, Ending)>> = std::thread::scope(|scope| {
        let read_one = &read_one;
        let start = |number: usize| scope.spawn(move || read_one(number, room_of(number)));
        let workers: Vec<_> = (0..parts.len()).map(start).collect();
        show_progress(&done, size, || workers.iter().all(ScopedJoinHandle::is_finished));
        workers.into_iter().map(|worker| worker.join().ok().flatten()).collect()
    });
    inputs::after_signals(signals, &mut false)?;
    let Some(mut read) = read else { return Ok(None) };
    let mut so_far = read[0].1;
    for (number, part) in read.iter_mut().enumerate().skip(1) {
        if !so_far.at_rest {
            return Ok(None);
        }
        if part.1.depends_on_room && so_far.room_bits != room {
            // Longer lines came before it than was thought.
            let Some(again) = read_one(number, so_far.room_bits) else { return Ok(None) };
            *part = again;
            inputs::after_signals(signals, &mut false)?;
        }
        so_far = Ending {
            room_bits: so_far.room_bits.max(part.1.room_bits),
            depends_on_room: so_far.depends_on_room || part.1.depends_on_room,
            ..part.1
        };
    }
    // Each part was read as behind the ones before it; what comes before all of them is another matter.
    let mut readers = Vec::new();
    for (number, (mut reader, ending)) in read.into_iter().enumerate() {
        let depends_on_room = number == 0 && so_far.depends_on_room;
        reader.end(Ending { depends_on_room, ..ending });
        readers.push(reader);
    }
    Ok(Some(readers))
}

/// Binary logarithm of the room for a line that the beginning of the first part leaves: what later
/// parts are likely to find. `None` if it cannot be read.
fn usual_room(parts: &[Vec<Piece>]) -> Option<u8> {
    /// Bytes looked at.
    const BEGINNING: u64 = 1 << 22;
    let piece = parts.first()?.first()?;
    let file = File::open(&piece.path).ok()?;
    let mut stream = Stream::new(Box::new(file.take(piece.to.min(BEGINNING))), None);
    let (mut reader, mut line) = (LineReader::default(), Vec::new());
    let mut before = reader.room();
    // The last line may have been cut short: what it asks for does not count.
    while !reader.next_line(&mut stream, &mut line) {
        before = reader.room();
    }
    u8::try_from(before.ilog2()).ok()
}

/// Reads a part, behind inputs that left `room` for a line; `None` if it cannot be read to its end.
fn read_part(
    part: &[Piece],
    room: u8,
    options: &ReadOptions,
    signals: &Signals,
    done: &Arc<AtomicU64>,
    counts: &mut impl PartCounts,
) -> Option<Ending> {
    let mut reader = FeatureReader::stoppable(options, &signals.stop).with_room(room);
    for piece in part {
        let mut file = File::open(&piece.path).ok()?;
        file.seek(SeekFrom::Start(piece.from)).ok()?;
        let metered = Metered { inner: file.take(piece.to - piece.from), done: done.clone() };
        let source = Source { name: Vec::new(), reader: Box::new(metered) };
        if reader.read(source, counts).ok()?.is_some() {
            return None;
        }
    }
    Some(reader.ending())
}

/// Counts words for a learning run.
struct WordCounts<'a> {
    counter: Counter,
    echo: Echo,
    signals: &'a Signals,
    warnings: Vec<Warning>,
}

impl<'a> WordCounts<'a> {
    fn new(config: &Config, counter: Counter, signals: &'a Signals) -> Self {
        let echo = Echo { append: false, indented: config.indented };
        Self { counter, echo, signals, warnings: Vec::new() }
    }
}

impl PartCounts for WordCounts<'_> {
    fn has_overflowed(&self) -> bool {
        // Joining looks at the counters.
        false
    }

    fn end(&mut self, _: Ending) {}
}

impl FeatureSink for WordCounts<'_> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.signals.take_reload() {
            MESSAGES.signal("caught SIGUSR1 request, ignoring");
        }
        Ok(self.echo.is_processed(line))
    }

    fn text(&mut self, _: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        self.counter.line_of_mail(state.in_header, &mut |warning| self.warnings.push(warning));
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        let Self { counter, warnings, .. } = self;
        let mut warn = |warning| warnings.push(warning);
        cutter.words(line, &mut counter.words(medium, &mut warn));
        counter.end_of_words(&mut warn);
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.counter.count(feature, &mut |warning| self.warnings.push(warning));
    }

    fn end_of_source(&mut self, _: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.counter.end_of_file(&mut |warning| self.warnings.push(warning));
        Ok(())
    }
}

/// The inputs cut for as many threads as there are to be, and their size in bytes; `None` if one
/// pass is to read them.
fn parts(config: &Config) -> Option<(Vec<Vec<Piece>>, u64)> {
    if config.threads == Some(1) || config.operands.is_empty() {
        return None;
    }
    let pieces = pieces(config)?;
    let size: u64 = pieces.iter().map(|piece| piece.to - piece.from).sum();
    let parts = cut(pieces, size, number(config, size), lines_are_apart(config));
    (parts.len() > 1).then_some((parts, size))
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

/// Deals the files out to `threads` in their order, cutting them between lines if that `cuts` no text.
fn cut(pieces: Vec<Piece>, size: u64, threads: usize, cuts: bool) -> Vec<Vec<Piece>> {
    let share = size.div_ceil(threads.max(1) as u64).max(SMALLEST);
    let mut parts: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut filled = 0;
    for mut rest in pieces {
        while filled + (rest.to - rest.from) > share && parts.len() < threads {
            let room = share.saturating_sub(filled);
            let at = if cuts { next_line(&rest.path, rest.from + room) } else { None };
            let at = at.filter(|&at| at > rest.from && at < rest.to);
            let is_mostly_next = room < (rest.to - rest.from) / 2;
            if let (Some(at), Some(part)) = (at, parts.last_mut()) {
                part.push(Piece { to: at, ..rest.clone() });
                rest.from = at;
            } else if filled == 0 || !is_mostly_next {
                break;
            }
            parts.push(Vec::new());
            filled = 0;
        }
        filled += rest.to - rest.from;
        if let Some(part) = parts.last_mut() {
            part.push(rest);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where the first line begins at or behind `from`.
fn next_line(path: &Path, from: u64) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from - 1)).ok()?;
    let mut line = Vec::new();
    let length = BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(from - 1 + length as u64)
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
