// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns from the games that the engine plays (`--learn-from-play`).
//!
//! ```text
//! a finished game ─→ DIR/games.pgn ─→ a thread: all games, MODELS/odds ─→ DIR/odds ─→ next game
//! ```
//!
//! Where the engine searches, the thread also refines the values of the search after every
//! [`ENOUGH`] games, and writes `DIR/worth.txt` if they are better. It rests while the engine
//! thinks. MODELS stays as it is; DIR is a model folder, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use chess_games::cannot::Cannot;
use chess_games::prepare::{Options, Statistics, Take, Unfinished, read_games};
use chess_odds::worth::Kind;
use chess_odds::worth::games::Pace;
use chess_odds::worth::kind::FILE;
use chess_odds::worth::learning::Given;
use chess_odds::worth::refining::{Effort, refine};
use chess_odds::{Games, Odds, practise};
use dbacl_files::atomic_file::{Disk, replace};
use dbacl_files::lock::{Lock, Patience, USUAL_LIMIT};
use dbacl_files::reading::read_regular;
use dbacl_numeric::random::SplitMix64;

use crate::play::models::{MANIFEST, ODDS, read_odds};

const GAMES: &str = "games.pgn";

/// The file that says after how many games the values were refined last.
const REFINED: &str = "worth.games";
/// After so many more games they are refined again.
const ENOUGH: usize = 50;

/// The folder, and the thread that learns.
pub(crate) struct Practice {
    folder: PathBuf,
    thread: Option<JoinHandle<Result<Option<String>>>>,
    /// While this is true, the thread rests.
    thinks: Arc<AtomicBool>,
}

impl Practice {
    /// Games, and what is learned from them, are kept in this folder.
    pub(crate) fn new(folder: PathBuf, thinks: Arc<AtomicBool>) -> Self {
        Self { folder, thread: None, thinks }
    }

    /// What was learned from the model in the folder `models`, whose file has this checksum.
    pub(crate) fn open(&mut self, models: &Path, sum: u32) -> Result<Option<Odds>> {
        if self.thread.is_none() {
            self.learn(models, None);
        }
        learned(&self.folder, sum)
    }

    pub(crate) fn keep(&self, pgn: &str) -> Result<()> {
        dbacl_files::atomic_file::make_folder(&self.folder)
            .with_context(|| Cannot::Write(self.folder.clone()))?;
        let patience = Patience { limit: USUAL_LIMIT, stop: &AtomicBool::new(false) };
        let _lock = Lock::take(&self.folder.join("games.lock"), patience, &mut || ())?.vanishing();
        let path = self.folder.join(GAMES);
        let old = if path.exists() { read_regular(&path)? } else { Vec::new() };
        let new = [&old, pgn.as_bytes(), b"\n"].concat();
        Ok(replace(&Disk, &path, b"[Event ", &mut |out| out.write_all(&new))?)
    }

    /// Begins to learn, unless a thread is about it; returns what the last one has to say. With
    /// `worth`, the folder of the search's values or an empty path, these are refined, too.
    pub(crate) fn learn(&mut self, models: &Path, worth: Option<&Path>) -> Option<Result<String>> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return None;
        }
        let said = self.thread.take().and_then(|thread| thread.join().ok()?.transpose());
        let (folder, models, thinks) =
            (self.folder.clone(), models.to_owned(), self.thinks.clone());
        let worth = worth.map(Path::to_owned);
        let learn = move || learn(&folder, &models, worth.as_deref(), &thinks);
        self.thread = thread::Builder::new().spawn(learn).ok();
        said
    }

    /// The folder, if it has values of the search.
    pub(crate) fn values(&self) -> Option<&Path> {
        self.folder.join(FILE).exists().then_some(&self.folder)
    }
}

/// What the folder has of the model with this checksum.
fn learned(folder: &Path, sum: u32) -> Result<Option<Odds>> {
    let path = folder.join(ODDS);
    if !path.exists() {
        return Ok(None);
    }
    let odds = read_odds(&path)?;
    let is_ours = odds.base.is_some_and(|base| base.sum == sum);
    ensure!(is_ours, "{} was learned from another model", path.display());
    Ok(Some(odds))
}

/// Learns the games that there are, first the odds, next time the values; `None` if nothing is new.
fn learn(
    folder: &Path,
    models: &Path,
    worth: Option<&Path>,
    thinks: &AtomicBool,
) -> Result<Option<String>> {
    let path = folder.join(GAMES);
    if !path.exists() {
        return Ok(None);
    }
    let rest = || {
        while thinks.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let put = |name: &str, beginning: &[u8], contents: &[u8]| {
        replace(&Disk, &folder.join(name), beginning, &mut |out| out.write_all(contents))
    };
    let model = read_odds(&models.join(ODDS))?;
    let known = learned(folder, model.sum)?.and_then(|odds| odds.base);
    let bytes = read_regular(&path).with_context(|| Cannot::Read(path.clone()))?;
    let read = |take: Take<'_>| {
        let options = Options { unfinished: Unfinished::Draw, ..Options::default() };
        read_games(&bytes[..], &options, &mut Statistics::default(), take)
    };
    let mut games = Games::default();
    read(&mut |game, _| {
        games.push(game.start.clone(), &game.moves);
        Ok(())
    })?;
    if games.count() != known.map_or(0, |base| base.games) {
        let practised = practise(&model, &games, &rest)?;
        let manifest = std::fs::read(models.join(MANIFEST))?;
        put(MANIFEST, b"{", &manifest)?;
        put(ODDS, b"# chess odds", &practised.file)?;
        return Ok(Some(practised.to_string()));
    }
    let refined = std::fs::read_to_string(folder.join(REFINED)).ok();
    let refined: usize = refined.and_then(|number| number.trim().parse().ok()).unwrap_or(0);
    let Some(worth) = worth.filter(|_| games.count() >= refined + ENOUGH) else { return Ok(None) };
    let (mut given, mut random) = (Given::default(), SplitMix64::new(0));
    read(&mut |game, _| {
        given.take(game, 1, &mut random);
        Ok(())
    })?;
    let known = Kind::of_folder(worth)?;
    let (kind, base) = known.unwrap_or_else(|| (Kind::Terms, Kind::Terms.base()));
    let pace = Pace { threads: 1, rest: &rest, done: &|| {} };
    let refined = refine(&given, kind, &base, &Effort::default(), &pace);
    if let Some(values) = &refined.values {
        put(FILE, b"# chess values", kind.to_text(values).as_bytes())?;
    }
    put(REFINED, b"", format!("{}\n", games.count()).as_bytes())?;
    let end = if refined.values.is_some() { "they are kept" } else { "so the old ones stay" };
    Ok(Some(format!("values learned from {} games: {}; {end}", games.count(), refined.result)))
}
