// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts an input on several processors. The input is cut into parts of about equal size, one for
//! each thread, and the counts of the parts are merged in their order. If the cuts would change the
//! counts, the input is read in one pass instead.

use super::collect::Counting;
use super::counts::{CountSettings, Counts};
use crate::alloc_hints::has_addresses_to_spare;
use crate::document::decoding;
use crate::document::{Ending, FeatureReader, FeatureSink, ReadOptions};
use crate::error::Warning;
use crate::input::lines::{LineReader, Stream};
use crate::input::source::{self, Operand, Source};
use crate::learn::LearnSettings;
use crate::learn::counter::Counter;
use crate::learn::merge::SMALLEST_BITS;
use crate::learn::table::MAX_BITS;
use crate::model::settings::ModelOption;
use dbacl_files::reading::{open_known, open_regular, read_beginning};
use dbacl_words::charset::Charset;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

/// Shows progress and handles signals while threads read.
pub(crate) trait Watcher: Sync {
    /// Waits until `has_ended`; `done` is the number of bytes, of `size`, that have been read so
    /// far.
    fn wait(&self, done: &AtomicU64, size: u64, has_ended: &dyn Fn() -> bool);

    /// Whether the counts are wanted; called when reading has ended.
    fn is_wanted(&self) -> bool;
}

/// The error of a reading that was interrupted, whose counts are not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// The files to read, and how to read them.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// Files and folders.
    pub operands: &'a [OsString],
    /// How they are read.
    pub reading: &'a ReadOptions,
    /// Read only lines that begin with a blank.
    pub indented: bool,
    /// The number of threads to use; `None` chooses it by the size of the inputs.
    pub threads: Option<usize>,
    /// Ends reading early once it is set.
    pub stop: &'a AtomicBool,
    /// Looks after it.
    pub watcher: &'a dyn Watcher,
}

/// Inputs with fewer bytes are read in one pass, unless a number of threads is given.
const WORTH: u64 = 16 << 20;
/// Smallest part, bytes.
const SMALLEST: u64 = 1 << 16;
/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    path: PathBuf,
    from: u64,
    to: u64,
}

/// By how many bits the largest table of a later part may exceed the table of the whole, so that it
/// holds all features of the part.
const MORE_BITS: u8 = 2;

impl Inputs<'_> {
    /// Counts the inputs for a learning run; `None` if one pass is to read them.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub(crate) fn learn(&self, learning: &LearnSettings) -> Result<Option<Counter>, Interrupted> {
        let Some((parts, size)) = self.parts() else { return Ok(None) };
        let begin = |part: usize| {
            let mut settings = learning.clone();
            if part > 0 {
                let bits = learning.max_bits.unwrap_or(0).max(learning.bits);
                settings.bits = learning.bits.max(SMALLEST_BITS);
                settings.max_bits = Some(bits.saturating_add(MORE_BITS).min(MAX_BITS));
            }
            let mut counter = Counter::empty(&settings);
            counter.expect_words(self.reading.order).then_some(counter)
        };
        let Some(read) = self.read_parts(&parts, size, begin)? else { return Ok(None) };
        let mut read = read.into_iter().map(|(part, _)| part);
        let Some(mut first) = read.next() else { return Ok(None) };
        Ok(read.all(|part| first.merge(part)).then_some(first))
    }

    /// The counts of the inputs, each part at a place of its own; `None` if they cannot or need not
    /// be read in parallel.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub(crate) fn count(&self, settings: &CountSettings) -> Result<Option<Counts>, Interrupted> {
        if !self.reading.patterns.is_empty() {
            return Ok(None);
        }
        let Some((parts, size)) = self.parts() else { return Ok(None) };
        let begin = |part: usize| {
            let mut counting = Counting::new(settings.clone(), true);
            counting.start_shard(u32::try_from(part).ok()?);
            Some(counting)
        };
        let Some(read) = self.read_parts(&parts, size, begin)? else { return Ok(None) };
        let mut whole: Option<Counts> = None;
        for (mut counting, ending) in read {
            counting.end_shard(ending);
            let Some(part) = counting.into_counts() else { return Ok(None) };
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => {
                    if whole.merge(&part).is_err() {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(whole.filter(|counts| !counts.is_inexact()))
    }

    /// The inputs cut into one part for each thread, and their size in bytes; `None` if one pass is
    /// to read them.
    fn parts(&self) -> Option<(Vec<Vec<Piece>>, u64)> {
        if self.threads == Some(1) || self.operands.is_empty() {
            return None;
        }
        let pieces = pieces(self.operands)?;
        let has_mark = |piece: &Piece| {
            read_beginning(&piece.path, 4).is_ok_and(|bytes| decoding::utf_16(&bytes).is_some())
        };
        // A file in UTF-16 is not cut, because its line ends are not single bytes.
        if self.reading.scheme.is_unicode() && pieces.iter().any(has_mark) {
            return None;
        }
        let size: u64 = pieces.iter().map(|piece| piece.to - piece.from).sum();
        let parts = cut(pieces, size, self.number_of_threads(size), lines_are_apart(self.reading));
        (parts.len() > 1).then_some((parts, size))
    }

    /// The threads to use for inputs of `size` bytes.
    fn number_of_threads(&self, size: u64) -> usize {
        match self.threads {
            // Each thread has its own table, and a limited address space may hold only one.
            _ if !has_addresses_to_spare() => 1,
            Some(threads) => threads,
            // Each thread has its own table, and n-grams need large tables, so several threads read
            // them only if the user gives the number.
            None if size < WORTH || self.reading.order > 1 => 1,
            None => std::thread::available_parallelism().map_or(1, Into::into),
        }
    }

    /// Reads each of `parts` on a thread of its own; the counts come with the state at the end of
    /// their part. `None` if that is not what one pass would read.
    fn read_parts<R: FeatureSink + Send>(
        &self,
        parts: &[Vec<Piece>],
        size: u64,
        begin: impl Fn(usize) -> Option<R> + Sync,
    ) -> Result<Option<Vec<(R, Ending)>>, Interrupted> {
        let Some(room) = usual_room(parts) else { return Ok(None) };
        let done = AtomicU64::new(0);
        let read_one = |number: usize, room: u8| {
            let mut counts = begin(number)?;
            let ending = self.read_part(&parts[number], room, &done, &mut counts)?;
            Some((counts, ending))
        };
        let first_room = Ending::default().room_bits;
        let room_of = |number: usize| if number == 0 { first_room } else { room };
        let read: Option<Vec<(R, Ending)>> = std::thread::scope(|scope| {
            let read_one = &read_one;
            let start = |number: usize| {
                let read = move || read_one(number, room_of(number));
                Builder::new().spawn_scoped(scope, read).ok()
            };
            let workers: Vec<_> = (0..parts.len()).map(start).collect();
            let have_ended = || workers.iter().flatten().all(ScopedJoinHandle::is_finished);
            self.watcher.wait(&done, size, &have_ended);
            let join = |(number, worker): (usize, Option<ScopedJoinHandle<'_, _>>)| match worker {
                Some(worker) => worker.join().ok().flatten(),
                // The system could not start another thread.
                None => read_one(number, room_of(number)),
            };
            workers.into_iter().enumerate().map(join).collect()
        });
        self.check()?;
        let Some(mut read) = read else { return Ok(None) };
        let mut so_far = read[0].1;
        for (number, part) in read.iter_mut().enumerate().skip(1) {
            if !so_far.at_rest {
                return Ok(None);
            }
            if part.1.depends_on_room && so_far.room_bits != room {
                // The parts before it have longer lines than was assumed.
                let Some(again) = read_one(number, so_far.room_bits) else { return Ok(None) };
                *part = again;
                self.check()?;
            }
            so_far = so_far.then(part.1);
        }
        // Each part was read with the line buffer that the parts before it leave. Only what
        // precedes the first part is unknown, so the first part notes whether any part depends on
        // it.
        for (number, (_, ending)) in read.iter_mut().enumerate() {
            ending.depends_on_room = number == 0 && so_far.depends_on_room;
        }
        Ok(Some(read))
    }

    fn check(&self) -> Result<(), Interrupted> {
        if self.watcher.is_wanted() { Ok(()) } else { Err(Interrupted) }
    }

    /// Reads a part that follows inputs after which the line buffer has 2^`room` bytes; `None` if
    /// it cannot be read to its end.
    fn read_part(
        &self,
        part: &[Piece],
        room: u8,
        done: &AtomicU64,
        counts: &mut impl FeatureSink,
    ) -> Option<Ending> {
        let reader = FeatureReader::new(self.reading).until(Some(self.stop));
        let mut reader = reader.with_room(room).indented(self.indented);
        for piece in part {
            let mut file = open_regular(&piece.path).ok()?;
            file.seek(SeekFrom::Start(piece.from)).ok()?;
            let metered = Metered { inner: file.take(piece.to - piece.from), done };
            let source = Source { name: Vec::new(), reader: Box::new(metered) };
            if reader.read(source, counts).ok()?.is_some() {
                return None;
            }
        }
        Some(reader.ending())
    }
}

/// Binary logarithm of the size of the line buffer after the beginning of the first part, which is
/// likely to be the size for later parts as well. `None` if that part cannot be read.
fn usual_room(parts: &[Vec<Piece>]) -> Option<u8> {
    /// Bytes looked at.
    const BEGINNING: u64 = 1 << 22;
    let piece = parts.first()?.first()?;
    let file = open_regular(&piece.path).ok()?;
    let mut stream = Stream::new(Box::new(file.take(piece.to.min(BEGINNING))));
    let (mut reader, mut line) = (LineReader::default(), Vec::new());
    let mut before = reader.room;
    // The last line may be incomplete, so its length does not count.
    while !reader.next_line(&mut stream, &mut line) {
        before = reader.room;
    }
    u8::try_from(before.ilog2()).ok()
}

/// Whether cutting a text between lines leaves its features the same.
fn lines_are_apart(reading: &ReadOptions) -> bool {
    use ModelOption::{Html, Mail, Straddle, Xml};
    !reading.options.has_any(&[Mail, Html, Xml])
        && (reading.order == 1 || !reading.has(Straddle))
        && reading.charset.is_none_or(Charset::keeps_ascii)
}

/// The files named by the operands; `None` if one is missing or not a regular file, or a folder
/// cannot be listed.
fn pieces(operands: &[OsString]) -> Option<Vec<Piece>> {
    let mut paths = Vec::new();
    for operand in operands {
        let found = std::fs::metadata(operand).ok()?;
        if found.is_dir() {
            let mut clean = true;
            let opened = source::open(operand, &mut |_: Warning| clean = false).ok()?;
            let Operand::Folder(entries) = opened else { return None };
            // One pass warns of a folder that cannot be listed.
            if !clean {
                return None;
            }
            paths.extend(entries);
        } else if found.is_file() {
            paths.push(operand.into());
        } else {
            return None;
        }
    }
    let piece = |path: PathBuf| {
        let (_, found) = open_known(&path).ok()?;
        Some(Piece { path, from: 0, to: found.len() })
    };
    paths.into_iter().map(piece).collect()
}

/// Distributes the files among `threads` in their order; with `cuts` also cuts files between lines.
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

/// Where the first line begins at or after `from`.
fn next_line(path: &Path, from: u64) -> Option<u64> {
    let mut file = open_regular(path).ok()?;
    file.seek(SeekFrom::Start(from - 1)).ok()?;
    let mut line = Vec::new();
    let length = BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(from - 1 + length as u64)
}

/// Counts the bytes that are read.
struct Metered<'a, R> {
    inner: R,
    done: &'a AtomicU64,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.done.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::learner::{Learner, conclude};
    use crate::learn::options::LearnOptions;
    use crate::model::settings::Scheme;
    use std::fs;

    /// Waits until all has been read; the counts are wanted or not.
    struct Patience(bool);

    impl Watcher for Patience {
        fn wait(&self, done: &AtomicU64, size: u64, has_ended: &dyn Fn() -> bool) {
            while !has_ended() {
                std::thread::yield_now();
            }
            assert_eq!(done.load(Ordering::Relaxed), size);
        }

        fn is_wanted(&self) -> bool {
            self.0
        }
    }

    fn inputs<'a>(operands: &'a [OsString], reading: &'a ReadOptions) -> Inputs<'a> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let (indented, threads, watcher) = (false, Some(3), &Patience(true));
        Inputs { operands, reading, indented, threads, stop: &NEVER, watcher }
    }

    /// Messages of 100 bytes, some lines indented, and from number `long` on two long lines.
    fn text(messages: usize, long: usize) -> Vec<u8> {
        let line = |number: usize| {
            let letter = |unit: usize| char::from(b"abcdefg"[number / unit % 7]);
            let word: String = [letter(1), letter(7), letter(1), letter(49)].iter().collect();
            let end = if (long..long + 2).contains(&number) { 9000 } else { 49 };
            format!("From {word} {word:>8}\nSubject: {word}\n\n {word} {:>end$}\n", "z")
        };
        (0..messages).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn parts_side_by_side_are_one_pass() {
        let folder = tempfile::tempdir().unwrap();
        let files = [text(2500, 9999), text(1500, 1000), text(1200, 500)];
        for (name, file) in ["a", "b", "c"].iter().zip(&files) {
            fs::write(folder.path().join(name), file).unwrap();
        }
        let operands = [folder.path().into()];
        let text = LearnOptions::text;
        let mail = LearnOptions::mail();
        for (options, indented) in [(text(), true), (text().order(2), false), (mail, false)] {
            let reading = options.reading();
            for threads in [3, 7] {
                let mut learner = Learner::new(&options).unwrap();
                for file in &files {
                    let lines = file.split_inclusive(|&byte| byte == b'\n');
                    let blank = |line: &'_ [u8]| line.strip_prefix(b" ").map(<[u8]>::to_vec);
                    let kept: Vec<u8> = lines.filter_map(blank).flatten().collect();
                    learner.learn(if indented { &kept } else { file });
                }
                let expected = learner.finish().unwrap().category;
                let threads = Some(threads);
                let inputs = Inputs { indented, threads, ..inputs(&operands, reading) };
                let settings = CountSettings::of(reading, false);
                let counts = inputs.count(&settings).unwrap().expect("counts");
                assert!(counts.shards.len() > 2 && counts.nodes()[0].first.ordinal == 0);
                let counted = counts.learn(&options).unwrap().category;
                assert!(counted.as_bytes() == expected.as_bytes());
                let learned = inputs.learn(options.settings()).unwrap();
                // Statistics of messages cannot be merged.
                assert_eq!(learned.is_none(), reading.reads_mail());
                if let Some(counter) = learned {
                    let state = counter.into_state().0;
                    let learned = conclude(state, options.settings(), &[], Vec::new());
                    assert!(learned.unwrap().category.as_bytes() == expected.as_bytes());
                }
            }
        }
    }

    #[test]
    fn one_pass_reads_what_cannot_be_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("text"), text(2000, 9999)).unwrap();
        fs::write(path("mark"), b"\xff\xfea\0").unwrap();
        fs::write(path("small"), b"a b\n").unwrap();
        for (names, scheme, threads, is_cut) in [
            (&["text"][..], Scheme::Alpha, Some(2), true),
            (&["text"], Scheme::Alpha, Some(1), false),
            (&["text"], Scheme::Alpha, None, false),
            (&["small"], Scheme::Alpha, Some(2), false),
            (&["text", "none"], Scheme::Alpha, Some(2), false),
            (&["text", "mark"], Scheme::Alpha, Some(2), true),
            (&["text", "mark"], Scheme::Word, Some(2), false),
            (&["text", "small"], Scheme::Word, Some(2), true),
            (&[], Scheme::Alpha, Some(2), false),
        ] {
            let reading = ReadOptions { scheme, ..ReadOptions::text() };
            let operands: Vec<OsString> = names.iter().map(|name| path(name).into()).collect();
            let inputs = Inputs { threads, ..inputs(&operands, &reading) };
            assert_eq!(inputs.parts().is_some(), is_cut, "{names:?} {threads:?}");
            let unwanted = Inputs { watcher: &Patience(false), ..inputs };
            let counted = unwanted.count(&CountSettings::of(&reading, false));
            assert_eq!(counted.err(), is_cut.then_some(Interrupted));
        }
    }

    #[test]
    fn threads_get_shares_of_about_one_size() {
        let halves = SMALLEST / 2;
        for (sizes, threads, expected) in [
            (&[2, 2, 2, 2][..], 2, &[&[2, 2][..], &[2, 2]][..]),
            (&[2, 2, 2, 2], 9, &[&[2], &[2], &[2], &[2]]),
            (&[6, 2], 2, &[&[6], &[2]]),
            (&[2, 6], 2, &[&[2], &[6]]),
            (&[6, 4, 2], 2, &[&[6], &[4, 2]]),
            (&[8, 8, 8], 2, &[&[8, 8], &[8]]),
            (&[8, 10, 6], 2, &[&[8], &[10, 6]]),
            (&[], 2, &[]),
        ] {
            let piece = |&size: &u64| Piece { path: "none".into(), from: 0, to: size * halves };
            let pieces: Vec<Piece> = sizes.iter().map(piece).collect();
            let size = sizes.iter().sum::<u64>() * halves;
            let of = |part: Vec<Piece>| part.iter().map(|own| own.to / halves).collect::<Vec<_>>();
            let parts: Vec<_> = cut(pieces, size, threads, true).into_iter().map(of).collect();
            assert_eq!(parts, expected, "{sizes:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for (line, ends) in [(64, [133_376, 266_752]), (100, [133_400, 266_800])] {
            fs::write(&path, format!("{:>line$}", "\n").repeat(400_000 / line)).unwrap();
            let whole = Piece { path: path.clone(), from: 0, to: 400_000 };
            let parts = cut(vec![whole], 400_000, 3, true);
            let ends_of: Vec<u64> = parts.iter().map(|part| part[0].to).collect();
            assert_eq!(ends_of, [ends[0], ends[1], 400_000]);
        }
    }
}
