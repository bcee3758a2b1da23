// SPDX-License-Identifier: GPL-3.0-or-later
//! What makes an engine; the same for every verb that needs one.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::play::classifier::ProgramArgs;
use crate::play::engine::Engine;
use crate::play::searching::SearchMode;
use crate::play::settings::{Settings, name_and_value};
use crate::play::style::Judge;
use crate::tools::first;
use chess_games::notation::Spelling;
use shakmaty::ByColor;

/// Engines of the essay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Essay {
    Basic,
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    #[value(name = "3")]
    Three,
    #[value(name = "4")]
    Four,
    Final,
}

/// Which models judge moves, and how they are asked.
#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    /// Model folder for both colours; default: the one that comes with the program, or one that is
    /// learned at the first start
    #[arg(value_name = "MODELS")]
    pub models: Option<PathBuf>,
    /// White's model: a folder or a category
    #[arg(long, value_name = "MODEL")]
    white: Option<PathBuf>,
    /// Black's model: a folder or a category
    #[arg(long, value_name = "MODEL")]
    black: Option<PathBuf>,
    /// Which voice of the model folder plays; default: its preset's
    #[arg(long, value_name = "NAME")]
    voice: Option<String>,
    /// How the gamelines of a category are encoded: half, full, shifted or auto
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<String>,
    /// Divide differences of scores by T in probabilities and draws; 0 takes the best move
    #[arg(long, value_name = "T")]
    temperature: Option<String>,
    /// Send only the last N words to the classifier
    #[arg(long, value_name = "N")]
    window: Option<String>,
    /// Gamelines have no + and #
    #[arg(long)]
    no_check_marks: bool,
    /// Set any option by its protocol name
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// What makes an engine that plays.
#[derive(Debug, Args)]
pub(super) struct EngineArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How to play: human (default), the move that the learned odds prefer; strong, a search by
    /// values of pieces and squares, which the odds advise; auto, a search where the interface
    /// limits it
    #[arg(long, value_name = "MANNER")]
    play: Option<String>,
    /// Which completions are preferred: basic, captures or tactical
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Play as that engine of the essay
    #[arg(long, value_enum, value_name = "ENGINE")]
    essay: Option<Essay>,
    /// Draw moves by their probability
    #[arg(long)]
    random: bool,
    /// Seed of the draws
    #[arg(long, value_name = "N")]
    seed: Option<String>,
    /// Ignore the interface's command to play at random
    #[arg(long)]
    deterministic: bool,
    /// Do not play mates at once
    #[arg(long)]
    no_mate_keyword: bool,
    /// Leave out moves that draw at once, unless behind
    #[arg(long)]
    avoid_draws: bool,
    /// Take moves from this opening book, ours or Polyglot
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Out of the book, take moves from clusters of its positions that are at most D moves apart
    #[arg(long, value_name = "D", requires = "book")]
    clusters: Option<String>,
    /// Look ahead a number of half-moves, or a time (as 500ms or 0.5s); on, off, or auto
    #[arg(long, value_name = "DEPTH|TIME", conflicts_with = "play")]
    search: Option<String>,
    /// Folder of endgame tables made by the verb tables
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Search by the values in this folder, which the verb worth has learned
    #[arg(long, value_name = "DIR")]
    worth: Option<PathBuf>,
    /// Folder of Syzygy endgame tables
    #[arg(long, value_name = "DIR")]
    syzygy: Option<PathBuf>,
    /// Folder of style categories: play to win, or not to lose, by the
    /// opponent's style
    #[arg(long, value_name = "DIR")]
    style: Option<PathBuf>,
}

fn set_all(settings: &mut Settings, values: &[(&str, &Option<String>)]) -> Result<()> {
    for (name, value) in values {
        if let Some(value) = value {
            settings.set(name, value).with_context(|| name.to_lowercase())?;
        }
    }
    Ok(())
}

impl ModelArgs {
    fn apply(&self, settings: &mut Settings) -> Result<()> {
        for (own, place) in
            [(&self.white, &mut settings.models.white), (&self.black, &mut settings.models.black)]
        {
            if let Some(path) = own.as_ref().or(self.models.as_ref()) {
                place.clone_from(path);
            }
        }
        set_all(
            settings,
            &[
                ("Voice", &self.voice),
                ("Encoding", &self.encoding),
                ("Temperature", &self.temperature),
                ("Window", &self.window),
            ],
        )?;
        for pair in &self.set {
            let (name, value) = name_and_value(pair)?;
            settings.set(name, value).with_context(|| pair.clone())?;
        }
        Ok(())
    }

    fn engine_of(&self, mut settings: Settings) -> Engine {
        let spelling = Spelling { check_marks: !self.no_check_marks };
        let is_named = settings.models.iter().any(|model| !model.as_os_str().is_empty());
        let known = if is_named { None } else { first::known() };
        if let Some(folder) = &known {
            settings.models = ByColor::new_with(|_| folder.clone());
        }
        let mut engine = Engine::new(settings, self.program.program(), spelling);
        engine.first_start = (!is_named && known.is_none()).then_some(first::learn);
        engine
    }

    /// An engine that ranks moves, with its models loaded.
    pub(super) fn loaded_engine(&self) -> Result<Engine> {
        let mut settings = Settings::default();
        self.apply(&mut settings)?;
        Ok(loaded(self.engine_of(settings)))
    }
}

fn loaded(mut engine: Engine) -> Engine {
    for complaint in engine.load() {
        dbacl_cli::arguments::say("chess-adapter", &complaint);
    }
    engine
}

impl EngineArgs {
    pub(super) fn engine(&self) -> Result<Engine> {
        let mut settings = Settings::default();
        if let Some(essay) = self.essay {
            settings.mate_keyword = false;
            settings.avoid_draws = Some(false);
            settings.deterministic = essay != Essay::Final;
            let (rule, encoding, voice) = match essay {
                Essay::Basic => ("basic", "half", "pairs"),
                Essay::One => ("basic", "auto", "full"),
                Essay::Two => ("captures", "auto", "full"),
                Essay::Three | Essay::Final => ("tactical", "auto", "full"),
                Essay::Four => ("basic", "auto", "carrot"),
            };
            settings.set("Rule", rule)?;
            settings.set("Encoding", encoding)?;
            settings.set("Voice", voice)?;
        }
        set_all(
            &mut settings,
            &[
                ("Play", &self.play),
                ("Rule", &self.rule),
                ("Seed", &self.seed),
                ("Search", &self.search),
                ("BookClusters", &self.clusters),
            ],
        )?;
        for (own, place) in [
            (&self.book, &mut settings.book_file),
            (&self.tables, &mut settings.tables_path),
            (&self.syzygy, &mut settings.syzygy_path),
            (&self.worth, &mut settings.worth_path),
            (&self.style, &mut settings.style_path),
        ] {
            *place = own.clone().unwrap_or_default();
        }
        if self.worth.is_some() && self.play.is_none() && self.search.is_none() {
            settings.search = SearchMode::On;
        }
        settings.random_play |= self.random;
        settings.deterministic |= self.deterministic;
        settings.mate_keyword &= !self.no_mate_keyword;
        if self.avoid_draws {
            settings.avoid_draws = Some(true);
        }
        settings.own_book = self.book.is_some();
        self.model.apply(&mut settings)?;
        if let Some(folder) = &self.style {
            Judge::open(folder, &self.model.program.program())?;
        }
        Ok(self.model.engine_of(settings))
    }

    /// An engine whose models are loaded.
    pub(super) fn loaded_engine(&self) -> Result<Engine> {
        Ok(loaded(self.engine()?))
    }
}
