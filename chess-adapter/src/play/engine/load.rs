// SPDX-License-Identifier: GPL-3.0-or-later
//! Loads what the settings name: voices, books, endgame tables, styles.

use std::path::Path;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use shakmaty::Color;

use super::{Engine, index};
use crate::play::models::{MANIFEST, Manifest, ODDS, Voice};
use crate::play::settings::Settings;
use crate::play::style::{self, Judge, Style};
use chess_games::encode::Encoding;
use chess_games::game::Game;
use chess_tables::book::Book;
use chess_tables::syzygy::Tables;

impl Engine {
    /// Loads everything that the settings name and that is not loaded yet. Returns one message for
    /// each thing that cannot be loaded.
    pub fn load(&mut self) -> Vec<String> {
        let mut complaints = Vec::new();
        let is_shared = self.is_one_model();
        if is_shared != self.is_shared {
            (self.is_shared, self.stale) = (is_shared, [true, true]);
        }
        for color in [Color::White, Color::Black] {
            if is_shared && color.is_black() {
                if std::mem::take(&mut self.stale[1]) {
                    self.voices[1] = None;
                }
                continue;
            }
            if std::mem::take(&mut self.stale[index(color)]) {
                match self.load_voice(color) {
                    Ok(voice) => {
                        if voice.is_none() {
                            complaints.push(format!("no model for {color}"));
                        }
                        self.voices[index(color)] = voice;
                    }
                    Err(error) => {
                        self.voices[index(color)] = None;
                        complaints.push(format!("{error:#}"));
                    }
                }
            }
        }
        let Settings { book_file, syzygy_path, .. } = &mut self.settings;
        open(&mut self.book, book_file, Book::open, &mut complaints);
        open(&mut self.tables, syzygy_path, Tables::open, &mut complaints);
        if let Err(error) = self.check_style() {
            complaints.push(format!("{error:#}"));
            self.settings.style_path.clear();
        }
        complaints.extend(self.news());
        complaints
    }

    /// Whether both colours have the same models, which are then loaded once.
    fn is_one_model(&self) -> bool {
        let path = &self.settings.white_model;
        !path.is_empty()
            && *path == self.settings.black_model
            && self.style_voice.is_none()
            && Manifest::read(Path::new(path)).is_ok_and(|m| m.voice == ODDS)
    }

    /// Finds the style's categories, and the voices that play against styles, before the game needs
    /// them.
    fn check_style(&mut self) -> Result<()> {
        if self.settings.style_path.is_empty() || self.style_checked {
            return Ok(());
        }
        Judge::open(Path::new(&self.settings.style_path), &self.program)?;
        for color in [Color::White, Color::Black] {
            let path = match color {
                Color::White => &self.settings.white_model,
                Color::Black => &self.settings.black_model,
            };
            if path.is_empty() {
                continue;
            }
            let manifest = Manifest::read(Path::new(path));
            for voice in [style::DRAWS_VOICE, style::WINS_VOICE] {
                if !manifest.as_ref().is_ok_and(|m| m.voices(color).contains(&voice)) {
                    anyhow::bail!(
                        "{path}: no voice {voice:?} for {color}: play by style needs models of \
                         --preset essay"
                    );
                }
            }
        }
        self.style_checked = true;
        Ok(())
    }

    fn load_voice(&mut self, color: Color) -> Result<Option<Voice>> {
        let path = match color {
            Color::White => &self.settings.white_model,
            Color::Black => &self.settings.black_model,
        };
        if path.is_empty() {
            return Ok(None);
        }
        let path = Path::new(path);
        let program = &self.program;
        let mut voice = if path.is_dir() {
            let manifest = Manifest::read(path)?;
            if manifest.spelling() != self.spelling {
                if self.game.plies() > 0 {
                    anyhow::bail!("{}: its moves are spelt in another way", path.display());
                }
                self.spelling = manifest.spelling();
                self.game = Game::new(self.game.start().clone(), self.spelling);
            }
            let chosen = self.style_voice.unwrap_or(&self.settings.voice);
            let voice = if chosen.is_empty() { &manifest.voice } else { chosen };
            manifest.voice(path, color, voice, program)?
        } else {
            std::fs::metadata(path).with_context(|| Cannot::read(path))?;
            let encoding = self.settings.encoding.unwrap_or(Encoding::of_full_moves(color));
            Voice::of_category(program, path, encoding)
        };
        voice.window = self.settings.window as usize;
        voice.warm_up()?;
        Ok(Some(voice))
    }

    /// Once the opponent has made enough moves: how to play against that style.
    pub(super) fn adapt_to_style(&mut self) -> Result<()> {
        let turn = self.game.turn();
        let theirs = self.game.words().len() / 2;
        if self.settings.style_path.is_empty() || self.style.is_some() || theirs < style::MOVES {
            return Ok(());
        }
        let mut judge = Judge::open(Path::new(&self.settings.style_path), &self.program)?;
        let style = judge.judge(&self.game, turn.other())?;
        self.style = Some(style);
        let wins = match style {
            Style::Attacking => false,
            Style::Positional => true,
            Style::Mixed => self.random.below(2) == 1,
        };
        let aim = if wins { "to win" } else { "not to lose" };
        let style = style.as_str();
        let note = format!("the opponent's style is {style}: playing {aim}");
        // Told in each game.
        self.told.remove(&note);
        self.notes.insert(note);
        let voice = if wins { style::WINS_VOICE } else { style::DRAWS_VOICE };
        let model = match turn {
            Color::White => &self.settings.white_model,
            Color::Black => &self.settings.black_model,
        };
        // Models of the other preset have no voices for it.
        if Manifest::read(Path::new(model)).is_ok_and(|m| m.voices(turn).contains(&voice)) {
            self.style_voice = Some(voice);
            self.voices[index(turn)] = self.load_voice(turn)?;
        }
        Ok(())
    }
}

/// Opens what the setting `path` names, unless it is open already. What cannot be opened is told,
/// and its setting is cleared, so that it is not tried again.
fn open<T>(
    opened: &mut Option<T>,
    path: &mut String,
    open: impl FnOnce(&Path) -> Result<T>,
    complaints: &mut Vec<String>,
) {
    if opened.is_some() || path.is_empty() {
        return;
    }
    match open(Path::new(path.as_str())) {
        Ok(found) => *opened = Some(found),
        Err(error) => {
            complaints.push(format!("{error:#}"));
            path.clear();
        }
    }
}

/// Whether `path` is a model folder: one with a manifest.
pub fn is_model_folder(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}
