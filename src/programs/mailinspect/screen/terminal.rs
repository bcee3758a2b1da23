// SPDX-License-Identifier: GPL-3.0-or-later
//! The loop between terminal, index and state, and the work that keys ask for.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, IsTerminal, Write, stdout};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::batch::pipe;
use super::super::{Config, refusal};
use super::commands;
use super::state::{Effect, State};
use super::view;
use crate::model::settings::Locale;
use crate::programs::mailinspect::mail::evidence::evidence;
use crate::programs::mailinspect::mail::index::Entry;
use crate::programs::mailinspect::mail::judge::Judge;
use crate::programs::mailinspect::mail::mailbox::Mailbox;
use crate::programs::mailinspect::mail::select::{Selection, content};
use crate::token::pattern::{Expression, Syntax};
use dbacl_cli::names::lossy;
use dbacl_files::reading::read_small;

/// Bytes of a message that the preview looks at.
const PREVIEW_BYTES: usize = 1 << 16;
/// How often the screen is drawn while the index grows.
const TICK: Duration = Duration::from_millis(100);
/// Messages of the index are handed over in groups of at most this many.
const GROUP: usize = 500;

/// What the thread that makes the index reports.
enum News {
    /// Messages, and bytes read so far.
    Entries(Vec<Entry>, u64),
    /// Something a user should know.
    Warning(String),
}

/// An index in the making: what its thread reports, and the bytes to be read. The thread ends once
/// this is dropped.
struct Indexing {
    news: Receiver<News>,
    size: u64,
}

impl Indexing {
    /// Scores all messages of `mailbox` in a thread of its own.
    fn start(mailbox: &Mailbox, mut judge: Judge, mut selection: Selection) -> Self {
        let (sender, news) = channel();
        let (mailbox, size) = (mailbox.clone(), mailbox.size());
        thread::spawn(move || index(&mailbox, &mut judge, &mut selection, &sender));
        Self { news, size }
    }
}

fn index(mailbox: &Mailbox, judge: &mut Judge, selection: &mut Selection, news: &Sender<News>) {
    let mut waiting = Vec::new();
    let mut since = Instant::now();
    let (mut read, mut file, mut before) = (0, 0, 0);
    let mut warn = |warning: crate::Warning| {
        let _ = news.send(News::Warning(warning.0));
    };
    mailbox.index(judge, selection, &mut warn, &mut |entry| {
        if entry.file != file {
            (file, before) = (entry.file, read);
        }
        read = before + entry.place.end;
        waiting.push(entry);
        if waiting.len() >= GROUP || since.elapsed() > TICK / 2 {
            since = Instant::now();
            if news.send(News::Entries(std::mem::take(&mut waiting), read)).is_err() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    let _ = news.send(News::Entries(waiting, read));
}

/// The terminal in the state that the screen needs; restored when this goes.
struct Screen(Terminal<CrosstermBackend<io::Stdout>>);

impl Screen {
    fn open() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        enter()?;
        Ok(Self(terminal))
    }

    /// Gives the terminal to `work`, then takes it back.
    fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        leave()?;
        let result = work();
        enter()?;
        // A new one draws everything; clearing the old would ask the terminal where its cursor is.
        self.0 = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, Clear(ClearType::All), EnableMouseCapture)
}

fn leave() -> io::Result<()> {
    let result = execute!(
        stdout(),
        DisableMouseCapture,
        LeaveAlternateScreen,
        ratatui::crossterm::cursor::Show
    );
    disable_raw_mode().and(result)
}

/// Whether there is a terminal to work on.
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && stdout().is_terminal()
}

/// Lets the user look through `mailbox` until they quit.
pub(crate) fn run(config: &Config, mailbox: &Mailbox, first: Judge) -> io::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    // An interrupt ends the command that has the terminal, not the session.
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))?;
    let mut screen = Screen::open()?;
    let mut session = Session::new(config, mailbox, first, interrupted);
    let mut is_stale = true;
    while !stop.load(Ordering::Relaxed) {
        is_stale |= session.take_news();
        if is_stale {
            let size = screen.0.size()?;
            session.state.resize(Rect::new(0, 0, size.width, size.height));
            session.weigh();
            screen.0.draw(|frame| view::draw(frame, &session.state))?;
            is_stale = false;
        }
        if !may_ask(TICK)? {
            return Ok(());
        }
        // Keys that were typed ahead are all taken before the screen is drawn again.
        while event::poll(Duration::ZERO)? {
            let effect = match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => session.state.key(key),
                Event::Mouse(mouse) => {
                    session.state.mouse(mouse);
                    None
                }
                _ => None,
            };
            is_stale = true;
            match effect {
                Some(Effect::Quit) => return Ok(()),
                Some(effect) => session.act(effect, &mut screen)?,
                None => {}
            }
            if !may_ask(Duration::ZERO)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits for keys, but no longer than `limit`. Returns whether the terminal is still there: one
/// that has gone away gives no keys, and whoever asks for some would wait in a busy loop for ever.
fn may_ask(limit: Duration) -> io::Result<bool> {
    let input = io::stdin();
    let mut keys = [PollFd::new(&input, PollFlags::IN)];
    let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut keys, Some(&limit)) {
        Ok(_) => {
            let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
            Ok(!keys[0].revents().intersects(gone))
        }
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

struct Session<'a> {
    config: Config,
    mailbox: &'a Mailbox,
    state: State,
    indexing: Option<Indexing>,
    /// Weighs the words of the highlighted message.
    weigher: Option<Judge>,
    /// Set by an interrupt.
    interrupted: Arc<AtomicBool>,
}

impl<'a> Session<'a> {
    fn new(
        config: &Config,
        mailbox: &'a Mailbox,
        first: Judge,
        interrupted: Arc<AtomicBool>,
    ) -> Self {
        let config = config.clone();
        let home = std::env::var_os("HOME").unwrap_or_default();
        let commands = read_small(&Path::new(&home).join(".mailinspectrc")).unwrap_or_default();
        let has_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let state = State {
            mailbox: config.mailbox.to_string_lossy().into_owned(),
            category: lossy(&config.name),
            scoring: config.scoring,
            is_summary: config.is_summary.unwrap_or(true),
            is_reversed: config.reverse,
            is_utf8: config.locale() == Locale::Utf8,
            has_colour,
            has_preview: true,
            commands: commands::parse(&lossy(&commands)),
            ..State::default()
        };
        let mut session =
            Self { config, mailbox, state, indexing: None, weigher: None, interrupted };
        session.start(first);
        session
    }

    fn start(&mut self, judge: Judge) {
        let config = &self.config;
        self.weigher = config.judge(&mut |_| {}).ok();
        let selection = Selection::new(config.rules.clone());
        let indexing = Indexing::start(self.mailbox, judge, selection);
        self.state.progress = Some((0, indexing.size));
        self.indexing = Some(indexing);
    }

    /// Takes over what the thread that makes the index has reported; returns whether there was
    /// anything.
    fn take_news(&mut self) -> bool {
        let Some(indexing) = &self.indexing else { return false };
        let mut has_news = false;
        loop {
            match indexing.news.try_recv() {
                Ok(News::Entries(entries, read)) => {
                    self.state.progress = Some((read, indexing.size));
                    self.state.add(entries);
                }
                Ok(News::Warning(text)) => self.state.notice = text,
                Err(TryRecvError::Empty) => return has_news,
                Err(TryRecvError::Disconnected) => {
                    self.indexing = None;
                    self.state.progress = None;
                    return true;
                }
            }
            has_news = true;
        }
    }

    /// Weighs the words of the highlighted message, if the preview shows another.
    fn weigh(&mut self) {
        let state = &mut self.state;
        let Some(current) = state.current() else { return };
        let is_known = state.evidence.as_ref().is_some_and(|(about, _)| *about == current);
        if is_known || state.areas().preview.is_none() {
            return;
        }
        let limit = PREVIEW_BYTES as u64 + 1;
        let message = self.mailbox.read(&state.entries[current], limit);
        if let (Some(weigher), Ok(message)) = (&mut self.weigher, message) {
            let found = evidence(weigher, &message, PREVIEW_BYTES);
            state.evidence = Some((current, found));
        }
    }

    fn act(&mut self, effect: Effect, screen: &mut Screen) -> io::Result<()> {
        let mailbox = self.mailbox;
        let entries = &self.state.entries;
        match effect {
            Effect::Quit => {}
            Effect::Page(entry) => {
                let entry = &entries[entry];
                let result = screen.lend(|| page(mailbox, entry))?;
                self.report(result);
            }
            Effect::Pipe { command, messages } => {
                let interrupted = &self.interrupted;
                interrupted.store(false, Ordering::Relaxed);
                let result = screen.lend(|| {
                    for entry in messages {
                        if interrupted.load(Ordering::Relaxed) {
                            break;
                        }
                        pipe(OsStr::new(&command), mailbox, &entries[entry])?;
                    }
                    wait_for_return()
                })?;
                self.report(result);
            }
            Effect::Search { pattern, wants_matches, among } => {
                self.search(&pattern, wants_matches, &among);
            }
            Effect::Load(name) => self.load(&name),
            Effect::Save { path, messages } => {
                let count = messages.len();
                let entries = messages.into_iter().map(|entry| &entries[entry]);
                match save(mailbox, Path::new(&path), entries) {
                    Ok(()) => self.state.notice = format!("{count} messages appended to {path}"),
                    Err(error) => self.state.notice = format!("{path}: {error}"),
                }
            }
        }
        Ok(())
    }

    fn report(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.state.notice = error.to_string();
        }
    }

    fn search(&mut self, pattern: &str, wants_matches: bool, among: &[usize]) {
        let (text, locale) = (pattern.as_bytes(), self.config.locale());
        let expression = if self.config.keep_case {
            Expression::new(text, Syntax::Extended, locale)
        } else {
            Expression::ignoring_case(text, Syntax::Extended, locale)
        };
        let mut expression = match expression {
            Ok(expression) => expression,
            Err(why) => {
                self.state.notice = refusal(pattern, why);
                return;
            }
        };
        let matches = |&entry: &usize| {
            has_line(self.mailbox, &self.state.entries[entry], &mut expression) == wants_matches
        };
        let found: Vec<usize> = among.iter().copied().filter(matches).collect();
        self.state.found(&found);
    }

    fn load(&mut self, name: &str) {
        let folder = std::env::var_os("DBACL_PATH");
        let mut config = self.config.clone();
        config.take(folder.as_deref(), name.as_bytes());
        match config.judge(&mut |_| {}) {
            Ok(judge) => {
                self.config = config;
                self.state.restart(lossy(&self.config.name));
                self.start(judge);
            }
            Err(lines) => self.state.notice = lines.join("; "),
        }
    }
}

/// Whether a line of the message matches.
fn has_line(mailbox: &Mailbox, entry: &Entry, expression: &mut Expression) -> bool {
    let Ok(message) = mailbox.open(entry) else { return false };
    let mut message = BufReader::new(message);
    let mut line = Vec::new();
    loop {
        line.clear();
        match message.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if expression.is_match(content(&line)) => return true,
            Ok(_) => {}
        }
    }
}

/// Shows a message in the user's pager.
fn page(mailbox: &Mailbox, entry: &Entry) -> io::Result<()> {
    let pager = std::env::var_os("PAGER").filter(|pager| !pager.is_empty());
    pipe(&pager.unwrap_or_else(|| "less".into()), mailbox, entry)
}

/// Lets the user read what a command has printed.
fn wait_for_return() -> io::Result<()> {
    let mut out = stdout();
    out.write_all(b"\n[press return]")?;
    out.flush()?;
    // A shell reads from the terminal as commands do; its line is of no interest.
    Command::new("/bin/sh").args(["-c", "read -r line"]).stdout(Stdio::null()).status()?;
    Ok(())
}

/// Appends messages to an mbox.
fn save<'a>(
    mailbox: &Mailbox,
    path: &Path,
    entries: impl Iterator<Item = &'a Entry>,
) -> io::Result<()> {
    let mut file = io::BufWriter::new(OpenOptions::new().append(true).create(true).open(path)?);
    for entry in entries {
        let mut message = Vec::new();
        if !entry.from_line.starts_with(b"From ") {
            message.extend_from_slice(b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n");
        }
        message.extend(mailbox.read(entry, u64::MAX)?);
        if !message.ends_with(b"\n") {
            message.push(b'\n');
        }
        if !message.ends_with(b"\n\n") && !message.ends_with(b"\n\r\n") {
            message.push(b'\n');
        }
        file.write_all(&message)?;
    }
    file.flush()
}
