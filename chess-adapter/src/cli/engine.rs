// SPDX-License-Identifier: GPL-3.0-or-later
//! What makes an engine; the same for every verb that needs one.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use super::shared::{ProgramArgs, template};
use crate::play::classifier::ChildProcesses;
use crate::play::engine::{Engine, EngineFactory};
use crate::play::settings::{Settings, name_and_value};
use crate::text::notation::Spelling;

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
    Final,
}

/// What makes an engine; the same for every verb that needs one.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// Model folder for both colours
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
    /// Which completions are preferred: basic, captures or tactical
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// How the gamelines of a category are encoded: half, full, shifted or auto
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<String>,
    /// Play as that engine of the essay
    #[arg(long, value_enum, value_name = "ENGINE")]
    essay: Option<Essay>,
    /// Draw moves by their probability
    #[arg(long)]
    random: bool,
    /// Divide score differences in draws by T; 0 takes the best move
    #[arg(long, value_name = "T")]
    temperature: Option<String>,
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
    /// Rank moves by the lines that extend them by every reply (half-move models)
    #[arg(long)]
    look_ahead: bool,
    /// Send only the last N words to the classifier
    #[arg(long, value_name = "N")]
    window: Option<String>,
    /// Take moves from this opening book, ours or Polyglot
    #[arg(long, value_name = "FILE")]
    book: Option<String>,
    /// Look ahead: so many half-moves, or so long (as 500ms or 0.5s), on, off, or auto
    #[arg(long, value_name = "DEPTH|TIME")]
    search: Option<String>,
    /// Folder of Syzygy endgame tables
    #[arg(long, value_name = "DIR")]
    syzygy: Option<String>,
    /// Folder of endgame tables made by the verb tables
    #[arg(long, value_name = "DIR")]
    tables: Option<String>,
    /// Folder of style categories: play by the opponent's style (preset style)
    #[arg(long, value_name = "DIR")]
    style: Option<String>,
    /// Folder of an evaluation made by the verb bayes: searches judge positions by it
    #[arg(long, value_name = "DIR")]
    evaluation: Option<String>,
    /// Set any option by its protocol name
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Template of the descriptions, if not the models' own
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Gamelines have no + and #
    #[arg(long)]
    no_check_marks: bool,
    /// Gamelines name captured pieces
    #[arg(long)]
    victims: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

impl EngineArgs {
    fn settings(&self) -> Result<Settings> {
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
            };
            settings.set("Rule", rule)?;
            settings.set("Encoding", encoding)?;
            settings.set("Voice", voice)?;
        }
        let path = |p: &PathBuf| p.to_string_lossy().into_owned();
        let shared = self.models.as_ref().map(path);
        let white = self.white.as_ref().map(path).or_else(|| shared.clone());
        let black = self.black.as_ref().map(path).or(shared);
        for (name, value) in [
            ("WhiteModel", &white),
            ("BlackModel", &black),
            ("Voice", &self.voice),
            ("Rule", &self.rule),
            ("Encoding", &self.encoding),
            ("Temperature", &self.temperature),
            ("Seed", &self.seed),
            ("Window", &self.window),
            ("BookFile", &self.book),
            ("SyzygyPath", &self.syzygy),
            ("TablePath", &self.tables),
            ("StylePath", &self.style),
            ("EvaluationPath", &self.evaluation),
            ("Search", &self.search),
        ] {
            if let Some(value) = value {
                settings.set(name, value).with_context(|| name.to_lowercase())?;
            }
        }
        settings.random_play |= self.random;
        settings.deterministic |= self.deterministic;
        settings.mate_keyword &= !self.no_mate_keyword;
        if self.avoid_draws {
            settings.avoid_draws = Some(true);
        }
        settings.look_ahead = usize::from(self.look_ahead);
        settings.own_book = self.book.is_some();
        for pair in &self.set {
            let (name, value) = name_and_value(pair)?;
            settings.set(name, value).with_context(|| pair.clone())?;
        }
        Ok(settings)
    }

    pub fn engine(&self, children: &ChildProcesses) -> Result<Engine> {
        let template = match &self.template {
            None => None,
            Some(path) => Some(template(Some(path))?),
        };
        let factory = EngineFactory { program: self.program.program(children), template };
        let spelling = Spelling { check_marks: !self.no_check_marks, victims: self.victims };
        Ok(Engine::new(self.settings()?, factory, spelling))
    }

    /// An engine whose models are loaded.
    pub fn loaded_engine(&self, children: &ChildProcesses) -> Result<Engine> {
        let mut engine = self.engine(children)?;
        for complaint in engine.load() {
            dbacl_cli::arguments::say("chess-adapter", &complaint);
        }
        Ok(engine)
    }
}
