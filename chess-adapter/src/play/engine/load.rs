// SPDX-License-Identifier: GPL-3.0-or-later
//! Loads what the settings name: voices, books, endgame tables, styles.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow, bail};
use chess_games::cannot::Cannot;
use shakmaty::{ByColor, Color};

use super::{Engine, Trouble};
use crate::play::classifier::Classifier;
use crate::play::models::{Manifest, Voice};
use crate::play::settings::Settings;
use crate::play::style::{self, Aim, Judge, Style};
use chess_games::encode::Encoding;
use chess_games::game::Game;
use chess_tables::mates::Distances;
use chess_tables::openings::Openings;
use chess_tables::syzygy::Tables;

impl Engine {
    /// Loads everything that the settings name and that is not loaded yet. Returns the news,
    /// including what cannot be loaded.
    pub(crate) fn load(&mut self) -> Vec<String> {
        self.begin_with_a_model();
        for color in Color::ALL {
            if std::mem::take(self.stale.get_mut(color)) {
                let loaded = self.load_voice(color).unwrap_or_else(|error| {
                    self.note(&error);
                    None
                });
                if loaded.is_none() && self.settings.models.get(color).as_os_str().is_empty() {
                    self.note(&Trouble::NoModel(color).into());
                }
                *self.voices.get_mut(color) = loaded;
            }
        }
        let program = &self.program;
        let reach = self.settings.book_clusters;
        let Settings { book_file, tables_path, syzygy_path, worth_path, style_path, .. } =
            &mut self.settings;
        let failures = [
            open(&mut self.openings, book_file, |path| Openings::open(path, reach as usize)),
            open(&mut self.endgames.distances, tables_path, Distances::open),
            open(&mut self.endgames.syzygy, syzygy_path, Tables::open),
            open(&mut self.evaluation, worth_path, chess_odds::worth::kind::open),
            open(&mut self.judge, style_path, |folder| Judge::open(folder, program)),
        ];
        if let Some(openings) = self.openings.as_ref().filter(|_| self.settings.book_in_search)
            && self.advice.is_none()
        {
            self.advice = Some(openings.for_search(self.settings.book_weight));
        }
        failures.iter().flatten().for_each(|error| self.note(error));
        self.news()
    }

    fn begin_with_a_model(&mut self) {
        let Some(learn) = self.first_start.take() else { return };
        let models = &mut self.settings.models;
        if models.iter().any(|model| !model.as_os_str().is_empty()) {
            return;
        }
        let interrupts = self.interrupts.clone();
        // Nothing is written yet, and nobody waits for the rest.
        let unless_over = || {
            if interrupts.is_over() {
                std::process::exit(0);
            }
        };
        match learn(&unless_over) {
            Ok(folder) => *models = ByColor::new_with(|_| folder.clone()),
            Err(error) => self.note(&error),
        }
    }

    fn load_voice(&mut self, color: Color) -> Result<Option<Voice>> {
        let (models, other) = (&self.settings.models, color.other());
        if models.get(color).as_os_str().is_empty() {
            return Ok(None);
        }
        if models.is_symmetric()
            && !self.stale.get(other)
            && let Some(Voice::Odds(odds)) = self.voices.get(other)
        {
            return Ok(Some(Voice::Odds(odds.clone())));
        }
        let path = models.get(color).clone();
        let path = path.as_path();
        let (program, window) = (&self.program, self.settings.window as usize);
        let mut voice = if path.is_dir() {
            let manifest = Manifest::read(path)?;
            if manifest.spelling() != self.spelling {
                if self.game.plies() > 0 {
                    bail!("{}: its moves are spelt in another way", path.display());
                }
                self.spelling = manifest.spelling();
                self.game = Game::new(self.game.start().clone(), self.spelling);
            }
            let chosen = self.style_voice.unwrap_or(&self.settings.voice);
            let voice = if chosen.is_empty() { &manifest.voice } else { chosen };
            let voice = manifest.voice(path, color, voice, program, window)?;
            self.practised(path, voice)
        } else {
            std::fs::metadata(path).with_context(|| Cannot::Read(path.into()))?;
            let encoding = self.settings.encoding.unwrap_or(Encoding::of_full_moves(color));
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            let classifier = Classifier::new(program.clone(), vec![path]);
            Voice::Categories { encoding, factors: vec![1.0], classifier, window }
        };
        voice.warm_up()?;
        Ok(Some(voice))
    }

    /// The voice, or what was learned from it in play.
    fn practised(&mut self, models: &Path, voice: Voice) -> Voice {
        let Some(practice) = &mut self.practice else { return voice };
        let learned = match &voice {
            Voice::Odds(odds) => practice.open(models, odds.borrow().sum),
            Voice::Categories { .. } => {
                Err(anyhow!("only models of --preset odds learn from play"))
            }
        };
        match learned {
            Ok(learned) => learned.map_or(voice, Voice::of_odds),
            Err(error) => {
                self.note(&error);
                voice
            }
        }
    }

    /// Once the opponent has made enough moves: how to play against that style.
    pub(super) fn adapt_to_style(&mut self) -> Result<()> {
        let turn = self.game.turn();
        let theirs = self.game.words().len() / 2;
        let is_due = theirs >= style::MOVES && self.aim_of_game.is_none();
        let Some(judge) = self.judge.as_mut().filter(|_| is_due) else { return Ok(()) };
        let game = &self.game;
        let line =
            style::line(game.start(), game.moves(), game.words(), turn.other(), style::MOVES);
        let Style { name, mut aim } = judge.judge(line)?;
        if aim == Aim::Either {
            aim = if self.random.below(2) == 1 { Aim::Win } else { Aim::Hold };
        }
        let (voice, intent) = match aim {
            Aim::Win => (style::WINS_VOICE, "to win"),
            _ => (style::DRAWS_VOICE, "not to lose"),
        };
        let note = format!("the opponent's style is {name}: playing {intent}");
        // Told in each game.
        self.told.remove(&note);
        self.notes.push(note);
        self.aim_of_game = Some(aim);
        self.forget_searches();
        // Models of the essay have voices for it.
        let manifest = Manifest::read(self.settings.models.get(turn));
        if manifest.is_ok_and(|manifest| manifest.voices(turn).contains(&voice)) {
            self.style_voice = Some(voice);
            *self.voices.get_mut(turn) = self.load_voice(turn)?;
        }
        Ok(())
    }
}

/// Opens what the setting `path` names, unless it is open already. If it cannot be opened, its
/// setting is cleared, so that it is not tried again.
fn open<T>(
    opened: &mut Option<T>,
    path: &mut PathBuf,
    open: impl FnOnce(&Path) -> Result<T>,
) -> Option<Error> {
    if opened.is_some() || path.as_os_str().is_empty() {
        return None;
    }
    match open(path) {
        Ok(found) => *opened = Some(found),
        Err(error) => {
            path.as_mut_os_string().clear();
            return Some(error);
        }
    }
    None
}
