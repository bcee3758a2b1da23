// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns from the games that the engine plays (`--learn-from-play`).
//!
//! ```text
//! a finished game ─→ DIR/games.pgn ─→ a thread: all games, MODELS/odds ─→ DIR/odds ─→ next game
//! ```
//!
//! The thread rests while the engine thinks. MODELS stays as it is; DIR is a model folder, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use chess_games::cannot::Cannot;
use chess_games::prepare::{Options, Statistics, Unfinished, read_games};
use chess_odds::{Games, Odds, practise};
use dbacl_files::atomic_file::{Disk, replace};
use dbacl_files::lock::{Lock, Patience, USUAL_LIMIT};
use dbacl_files::reading::read_regular;

use crate::play::models::{MANIFEST, ODDS, read_odds};

const GAMES: &str = "games.pgn";

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
            self.learn(models);
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

    /// Begins to learn, unless a thread is about it; returns what the last one has to say.
    pub(crate) fn learn(&mut self, models: &Path) -> Option<Result<String>> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return None;
        }
        let said = self.thread.take().and_then(|thread| thread.join().ok()?.transpose());
        let (folder, models, thinks) =
            (self.folder.clone(), models.to_owned(), self.thinks.clone());
        self.thread = thread::Builder::new().spawn(move || learn(&folder, &models, &thinks)).ok();
        said
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

/// Learns the games that there are; `None` if nothing is new.
fn learn(folder: &Path, models: &Path, thinks: &AtomicBool) -> Result<Option<String>> {
    let path = folder.join(GAMES);
    if !path.exists() {
        return Ok(None);
    }
    let model = read_odds(&models.join(ODDS))?;
    let known = learned(folder, model.sum)?.and_then(|odds| odds.base);
    let bytes = read_regular(&path).with_context(|| Cannot::Read(path.clone()))?;
    let (mut games, mut statistics) = (Games::default(), Statistics::default());
    let options = Options { unfinished: Unfinished::Draw, ..Options::default() };
    read_games(&bytes[..], &options, &mut statistics, &mut |game, _| {
        games.push(game.start.clone(), &game.moves);
        Ok(())
    })?;
    if games.count() == known.map_or(0, |base| base.games) {
        return Ok(None);
    }
    let rest = || {
        while thinks.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let practised = practise(&model, &games, &rest)?;
    let manifest = std::fs::read(models.join(MANIFEST))?;
    replace(&Disk, &folder.join(MANIFEST), b"{", &mut |out| out.write_all(&manifest))?;
    replace(&Disk, &folder.join(ODDS), b"# chess odds", &mut |out| out.write_all(&practised.file))?;
    Ok(Some(practised.to_string()))
}
