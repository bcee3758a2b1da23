// SPDX-License-Identifier: GPL-3.0-or-later
//! The log: each event is one line of words `key=value` on standard error.
//!
//! ```text
//! event ─→ queue of limited size ─→ a thread that writes ─→ standard error
//! ```
//!
//! A reader of the log that stands still therefore delays nobody: lines for which the queue has no
//! room are dropped, and the next line that is written says how many.

use std::fmt::{self, Display, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime};

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Silent,
    Error,
    /// Errors, and what else an administrator should know.
    Warn,
    /// All of that, and every message.
    Info,
}

/// The most bytes of lines that wait to be written.
const ROOM: usize = 1 << 20;

/// How long the end of the program waits for the last lines.
const PATIENCE: Duration = Duration::from_secs(1);

/// Something that is known of an event.
pub(crate) type Fact<'a> = (&'static str, &'a dyn Display);

/// The time, to the second, in UTC.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Where events go. Copies share one queue.
#[derive(Debug, Clone)]
pub struct Log {
    level: Level,
    queue: Arc<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Where lines go; none for no log.
    lines: Option<Sender<String>>,
    /// Bytes of the lines that wait or are being written.
    bytes: Arc<AtomicUsize>,
    /// Lines that found no room since the last one that did.
    dropped: AtomicU64,
    /// Lines that have found no room.
    dropped_in_all: AtomicU64,
}

impl Queue {
    /// Adds a line, or counts it if there is no room.
    fn add(&self, line: String) {
        let Some(lines) = &self.lines else { return };
        let fits = |bytes: usize| Some(bytes + line.len()).filter(|&bytes| bytes <= ROOM);
        if self.bytes.fetch_update(Relaxed, Relaxed, fits).is_err() {
            self.dropped.fetch_add(1, Relaxed);
            self.dropped_in_all.fetch_add(1, Relaxed);
            return;
        }
        let dropped = self.dropped.swap(0, Relaxed);
        if dropped > 0 {
            let said = self::line(Level::Warn, "dropped", &[("lines", &dropped)]);
            self.bytes.fetch_add(said.len(), Relaxed);
            let _ = lines.send(said);
        }
        // The thread takes lines as long as there is a sender, so this does not fail.
        let _ = lines.send(line);
    }
}

impl Log {
    /// No log.
    pub fn silent() -> Self {
        Self { level: Level::Silent, queue: Arc::default() }
    }

    /// A log on standard error, which a thread of its own writes. The thread has a descriptor of
    /// its own, so that no other part of the program waits for it.
    pub(crate) fn new(level: Level) -> io::Result<Self> {
        let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        Self::to(level, out)
    }

    /// The same, written to `out`.
    pub(crate) fn to(level: Level, mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let mut queue = Queue::default();
        if level > Level::Silent {
            let (lines, waiting) = channel();
            queue.lines = Some(lines);
            let bytes = Arc::clone(&queue.bytes);
            let writes = move || {
                for line in waiting {
                    // Failures to write are ignored.
                    let _ = out.write_all(line.as_bytes());
                    bytes.fetch_sub(line.len(), Relaxed);
                }
            };
            std::thread::Builder::new().name("log".into()).spawn(writes)?;
        }
        Ok(Self { level, queue: Arc::new(queue) })
    }

    /// Adds an event with its facts, in order. This never waits for whoever reads the log.
    pub(crate) fn event(&self, level: Level, event: &str, facts: &[Fact<'_>]) {
        if level <= self.level {
            self.queue.add(line(level, event, facts));
        }
    }

    /// The same log with another level.
    pub(crate) fn at(&self, level: Level) -> io::Result<Self> {
        match self.level {
            Level::Silent => Self::new(level),
            _ => Ok(Self { level, queue: Arc::clone(&self.queue) }),
        }
    }

    /// Lines that were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.queue.dropped_in_all.load(Relaxed)
    }

    /// Whether events of this level are logged.
    pub(crate) fn has(&self, level: Level) -> bool {
        level <= self.level
    }

    /// Ends the log: waits until the last lines have been written, but only for a moment.
    pub(crate) fn finish(&self) {
        let end = Instant::now() + PATIENCE;
        while self.queue.bytes.load(Relaxed) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn line(level: Level, event: &str, facts: &[Fact<'_>]) -> String {
    let level = ["silent", "error", "warn", "info"][level as usize];
    let mut line = format!("time={} level={level} event={event}", now());
    for (key, value) in facts {
        // A string can be written.
        let _ = write!(line, " {key}={}", Quoted(&value.to_string()));
    }
    line.push('\n');
    line
}

/// A value that stays one word of one line, whatever it holds.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_word = |letter: char| letter.is_ascii_graphic() && !"\"\\=".contains(letter);
        if !self.0.is_empty() && self.0.chars().all(is_word) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                ' '..='~' => f.write_char(letter)?,
                _ if letter.is_alphanumeric() => f.write_char(letter)?,
                _ => write!(f, "\\u{{{:x}}}", u32::from(letter))?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn an_event_is_one_line_of_words() {
        let facts: [Fact<'_>; 4] = [
            ("user", &"alice"),
            ("error", &"no \"filter\"\nlevel=info"),
            ("ms", &2.5),
            ("to", &""),
        ];
        let line = line(Level::Error, "classified", &facts);
        let (time, rest) = line.split_once(' ').expect("words");
        assert!(time.starts_with("time=2") && time.ends_with('Z') && time.len() == 25, "{time}");
        assert_eq!(
            rest,
            "level=error event=classified user=alice error=\"no \\\"filter\\\"\\u{a}level=info\" \
             ms=2.5 to=\"\"\n"
        );
    }

    /// A reader that stands still until it is let go.
    struct Still(mpsc::Receiver<()>, mpsc::Sender<String>);

    impl Write for Still {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_nothing_else() {
        let (go, waits) = mpsc::channel();
        let (told, hears) = mpsc::channel();
        let log = Log::to(Level::Info, Still(waits, told)).expect("a thread");
        let (long, lines) = ("x".repeat(10_000), 3 * ROOM / 10_000);
        for _ in 0..lines {
            log.event(Level::Info, "classified", &[("user", &long)]);
        }
        drop(go);
        // A line as short as the last one still has room.
        let first = hears.recv().expect("a line");
        log.event(Level::Info, "last", &[]);
        log.finish();
        drop(log);
        let rest: Vec<String> = hears.iter().collect();
        let written = 1 + rest.iter().filter(|line| line.contains("event=classified")).count();
        assert!(
            first.contains("event=classified") && written * 10_000 <= ROOM + 20_000,
            "{written}"
        );
        let said = rest.iter().filter_map(|line| line.split_once("event=dropped lines="));
        let said: usize = said.map(|(_, number)| number.trim_end().parse().unwrap_or(0)).sum();
        assert_eq!(said, lines - written);
        assert!(rest.last().is_some_and(|line| line.contains("event=last")));
    }
}
