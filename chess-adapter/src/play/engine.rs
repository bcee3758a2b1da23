// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses a move: the voice scores the completions, and the rules choose by these scores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Error, Result};
use chess_search::endgame::EndgameTables;
use chess_search::{Classical, Found, Limits, Request, Searcher};
use shakmaty::{Chess, Color, Move, Position};

use crate::features::basic::Template;
use crate::play::bayes::evaluation::{Evaluation, Purpose};
use crate::play::bayes::parameters::Goal;
use crate::play::book::{self, Book, BookMove, Count};
use crate::play::choose::{self, Scored};
use crate::play::classifier::Program;
use crate::play::cluster::Clusters;
use crate::play::endgames;
use crate::play::interrupts::Interrupts;
use crate::play::models::{self, MANIFEST, Manifest, Voice};
use crate::play::searching::{Allowance, BookAdvice, Waiting};
use crate::play::settings::Settings;
use crate::play::style::{self, Judge, Style};
use crate::play::tables::{Both, Tables};
use crate::random::Random;
use crate::text::encode::Encoding;
use crate::text::game::{Completion, End, Game};
use crate::text::notation::Spelling;

/// Why a move was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The classifier preferred it.
    Classifier,
    /// It mates.
    Mate,
    /// It stands in the book.
    Book,
    /// The classifier preferred it among the best moves of a search.
    Search,
}

/// A chosen move, and the moves from which it was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The move.
    pub completion: Completion,
    /// Who chose.
    pub source: Source,
    /// What was judged, best first; empty if the classifier was not asked.
    pub ranking: Vec<Scored>,
    /// Half-moves looked at, the move itself included.
    pub depth: usize,
    /// What the rule left to choose from, the preferred one first.
    pub considered: Vec<Scored>,
    /// What the search found, if there was one.
    pub found: Option<Found>,
}

impl Choice {
    /// The reply that the search expects to the chosen move.
    pub fn expected_reply(&self) -> Option<Move> {
        let lines = &self.found.as_ref()?.lines;
        lines.iter().find(|l| l.moves.first() == Some(&self.completion.m))?.moves.get(1).copied()
    }
}

/// Why no move was chosen.
#[derive(Debug)]
pub enum Trouble {
    /// No legal move.
    NoMove,
    /// No model for this colour.
    NoModel(Color),
    /// The classifier or a file failed.
    Failed(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Where voices come from.
#[derive(Clone, Debug)]
pub struct EngineFactory {
    /// The classifier.
    pub program: Program,
    /// The description words, if not those of the model folder.
    pub template: Option<Template>,
}

/// The engine: a game, two voices, settings.
pub struct Engine {
    game: Game,
    /// White's voice and Black's.
    voices: [Option<Voice>; 2],
    /// Whether White's and Black's voice avoid draws unless told otherwise.
    avoids_draws: [bool; 2],
    stale: [bool; 2],
    settings: Settings,
    factory: EngineFactory,
    spelling: Spelling,
    random: Random,
    /// Whether moves are drawn at random now.
    pub randomised: bool,
    /// Lines of the interface that arrive during a search.
    pub interrupts: Arc<Interrupts>,
    searcher: Option<Searcher>,
    /// A learned evaluation, if one is used.
    evaluation: Option<Evaluation>,
    /// What the searcher's evaluation was made for.
    purpose: Option<Purpose>,
    /// What the evaluation's parameters are chosen for against this opponent.
    style_goal: Option<Goal>,
    /// Whether White's and Black's models ask for a search.
    searches: [bool; 2],
    book: Option<Book>,
    clusters: Option<Clusters>,
    tables: Option<Tables>,
    distances: Option<EndgameTables>,
    watch: Option<PathBuf>,
    bad_moves: u32,
    /// The voice played against the opponent of this game, once the style is known.
    style_voice: Option<&'static str>,
    /// The opponent's style, once it is known.
    style: Option<Style>,
    /// Whether the style's folder and voices were found.
    style_checked: bool,
    /// Notes for the player that were not shown yet.
    notes: BTreeSet<String>,
    /// Notes that were shown.
    told: BTreeSet<String>,
}

const fn index(color: Color) -> usize {
    match color {
        Color::White => 0,
        Color::Black => 1,
    }
}

impl Engine {
    /// An engine in the start position, nothing loaded yet.
    pub fn new(settings: Settings, factory: EngineFactory, spelling: Spelling) -> Self {
        let seed = if settings.seed == 0 { Random::clock_seed() } else { settings.seed };
        Self {
            game: Game::new(Chess::default(), spelling),
            voices: [None, None],
            avoids_draws: [false; 2],
            stale: [true, true],
            randomised: settings.random_play,
            settings,
            factory,
            spelling,
            random: Random::from_seed(seed),
            interrupts: Arc::default(),
            searcher: None,
            evaluation: None,
            purpose: None,
            style_goal: None,
            searches: [false; 2],
            book: None,
            clusters: None,
            tables: None,
            distances: None,
            watch: None,
            bad_moves: 0,
            style_voice: None,
            style: None,
            style_checked: false,
            notes: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// An engine with given voices, for tests and measurements.
    pub fn with_voices(
        settings: Settings,
        factory: EngineFactory,
        voices: [Option<Voice>; 2],
    ) -> Self {
        let mut engine = Self::new(settings, factory, Spelling::default());
        engine.voices = voices;
        engine.stale = [false, false];
        engine
    }

    /// Writes the files to watch under this prefix.
    pub fn watch(&mut self, prefix: Option<PathBuf>) {
        self.watch = prefix;
    }

    /// The game in progress.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// What the engine was told.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts again from this position.
    pub fn set_position(&mut self, start: Chess) {
        self.game = Game::new(start, self.spelling);
        self.bad_moves = 0;
        self.style = None;
        self.style_goal = None;
        if self.style_voice.take().is_some() {
            self.stale = [true, true];
        }
    }

    /// Forgets what earlier searches found.
    pub fn forget_searches(&mut self) {
        if let Some(searcher) = &mut self.searcher {
            searcher.clear();
        }
    }

    /// Starts a new game from the start position; what earlier searches found is forgotten.
    pub fn new_game(&mut self) {
        self.forget_searches();
        self.set_position(Chess::default());
    }

    /// Plays a legal move on the board.
    pub fn play(&mut self, m: Move) {
        self.game.play(m);
    }

    /// Takes back half-moves; `false`, and nothing taken back, if there are not so many.
    pub fn undo(&mut self, half_moves: usize) -> bool {
        let enough = self.game.plies() >= half_moves;
        if enough {
            for _ in 0..half_moves {
                self.game.undo();
            }
        }
        enough
    }

    /// Sets an option; models, books and tables are loaded when next needed.
    ///
    /// # Errors
    ///
    /// The name is unknown or the value bad.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<()> {
        let before = self.settings.clone();
        self.settings.set(name, value)?;
        let now = &self.settings;
        let both = before.voice != now.voice
            || before.encoding != now.encoding
            || before.window != now.window;
        self.stale[0] |= both || before.white_model != now.white_model;
        self.stale[1] |= both || before.black_model != now.black_model;
        if before.book_file != now.book_file {
            self.book = None;
        }
        if before.cluster_file != now.cluster_file {
            self.clusters = None;
        }
        if before.syzygy_path != now.syzygy_path {
            self.tables = None;
        }
        if before.look_ahead != now.look_ahead || both {
            self.told.clear();
        }
        self.style_checked &= before.style_path == now.style_path && !self.stale.contains(&true);
        if before.table_path != now.table_path {
            self.distances = None;
        }
        if before.evaluation_path != now.evaluation_path {
            self.evaluation = None;
        }
        if before.hash != now.hash || before.evaluation_path != now.evaluation_path {
            self.searcher = None;
            self.purpose = None;
        }
        if before.seed != now.seed {
            self.random = Random::from_seed(now.seed);
        }
        if before.random_play != now.random_play {
            self.randomised = now.random_play;
        }
        Ok(())
    }

    /// Loads everything that the settings name and that is not loaded yet. Returns one message for
    /// each thing that cannot be loaded.
    pub fn load(&mut self) -> Vec<String> {
        let mut complaints = Vec::new();
        for color in [Color::White, Color::Black] {
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
        if self.book.is_none() && !self.settings.book_file.is_empty() {
            match Book::open(Path::new(&self.settings.book_file)) {
                Ok(book) => self.book = Some(book),
                Err(error) => {
                    complaints.push(format!("{error:#}"));
                    self.settings.book_file.clear();
                }
            }
        }
        if self.clusters.is_none() && !self.settings.cluster_file.is_empty() {
            match Clusters::open(Path::new(&self.settings.cluster_file)) {
                Ok(clusters) => self.clusters = Some(clusters),
                Err(error) => {
                    complaints.push(format!("{error:#}"));
                    self.settings.cluster_file.clear();
                }
            }
        }
        if self.tables.is_none() && !self.settings.syzygy_path.is_empty() {
            match Tables::open(Path::new(&self.settings.syzygy_path)) {
                Ok(tables) => self.tables = Some(tables),
                Err(error) => {
                    complaints.push(format!("{error:#}"));
                    self.settings.syzygy_path.clear();
                }
            }
        }
        if self.distances.is_none() && !self.settings.table_path.is_empty() {
            match endgames::open(Path::new(&self.settings.table_path)) {
                Ok(tables) => self.distances = Some(tables),
                Err(error) => {
                    complaints.push(format!("{error:#}"));
                    self.settings.table_path.clear();
                }
            }
        }
        if self.evaluation.is_none() && !self.settings.evaluation_path.is_empty() {
            match Evaluation::open(Path::new(&self.settings.evaluation_path)) {
                Ok(evaluation) => self.evaluation = Some(evaluation),
                Err(error) => {
                    complaints.push(format!("{error:#}"));
                    self.settings.evaluation_path.clear();
                }
            }
        }
        if let Err(error) = self.check_style() {
            complaints.push(format!("{error:#}"));
            self.settings.style_path.clear();
        }
        if self.settings.look_ahead > 0
            && self.voices.iter().flatten().any(|voice| !voice.reads_half_moves())
        {
            let text = "look-ahead has no effect with this voice: it needs half-moves";
            self.notes.insert(text.to_owned());
        }
        complaints.extend(self.news());
        complaints
    }

    /// Finds the style's categories, and the voices that play against styles, before the game needs
    /// them.
    fn check_style(&mut self) -> Result<()> {
        if self.settings.style_path.is_empty() || self.style_checked {
            return Ok(());
        }
        Judge::open(Path::new(&self.settings.style_path), &self.factory.program)?;
        for color in [Color::White, Color::Black] {
            let path = match color {
                Color::White => &self.settings.white_model,
                Color::Black => &self.settings.black_model,
            };
            if path.is_empty() {
                continue;
            }
            let voices = Manifest::read(Path::new(path))
                .map(|m| m.side(color).voices.keys().cloned().collect::<BTreeSet<_>>())
                .unwrap_or_default();
            let parameters = matches!(self.evaluation, Some(Evaluation::Parameters(_)));
            for voice in [style::DRAWS_VOICE, style::WINS_VOICE] {
                if !voices.contains(voice) && !parameters {
                    anyhow::bail!(
                        "{path}: no voice {voice:?} for {color}: play by style needs --preset \
                         style, or an evaluation of parameters"
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
        let program = &self.factory.program;
        self.avoids_draws[index(color)] = false;
        self.searches[index(color)] = false;
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
            self.avoids_draws[index(color)] =
                manifest.avoid_draws.iter().any(|v| v.as_str() == voice);
            self.searches[index(color)] =
                SEARCHING_PRESETS.contains(&manifest.preset.as_str()) && *voice == manifest.voice;
            manifest.voice(path, color, voice, self.factory.template.as_ref(), program)?
        } else {
            std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            let encoding = self.settings.encoding.unwrap_or(Encoding::of_full_moves(color));
            Voice::of_category(program, path, encoding)
        };
        voice.window = self.settings.window;
        voice.warm_up()?;
        Ok(Some(voice))
    }

    /// Whether the side to move looks ahead when nothing limits it.
    pub fn searches(&self) -> bool {
        let allowed = Allowance { waiting: Waiting::UntilNextLine, ..Allowance::default() };
        let by_itself = self.searches[index(self.game.turn())];
        self.settings.search.limits(&allowed, by_itself).is_some()
    }

    /// The voice that judges a colour's moves.
    pub fn voice(&mut self, color: Color) -> Option<&mut Voice> {
        self.voices[index(color)].as_mut()
    }

    /// Puts all legal completions, or those asked for, in the classifier's order.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn rank(
        &mut self,
        only: Option<&[Move]>,
        reply_depth: usize,
    ) -> Result<Vec<Scored>, Trouble> {
        let mut completions = self.game.completions();
        if let Some(only) = only {
            completions.retain(|c| only.contains(&c.m));
        }
        if completions.is_empty() {
            return Err(Trouble::NoMove);
        }
        let turn = self.game.turn();
        let voice = self.voices[index(turn)].as_mut().ok_or(Trouble::NoModel(turn))?;
        let mut scores = voice.scores(&self.game, &completions)?;
        let mut is_ahead = false;
        if reply_depth > 0 && voice.reads_half_moves() {
            let ahead = look_ahead(
                voice,
                &self.game,
                &completions,
                self.settings.hard_minimum,
                &self.interrupts,
            )?;
            scores = ahead.unwrap_or(scores);
            is_ahead = true;
        }
        if self.settings.book_weight > 0.0 {
            let mut known = self.suggestions();
            if is_ahead {
                self.add_positions_met(&completions, &mut known);
            }
            book::adjust(&known, &completions, self.settings.book_weight, &mut scores);
        }
        let mut list: Vec<Scored> = completions
            .into_iter()
            .zip(scores)
            .map(|(completion, score)| Scored { completion, score })
            .collect();
        choose::sort(&mut list);
        Ok(list)
    }

    /// Chooses a move for the side to move; `depth` half-moves may be looked at.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn choose(
        &mut self,
        only: Option<&[Move]>,
        depth: Option<usize>,
    ) -> Result<Choice, Trouble> {
        self.choose_within(only, &Allowance::depth(depth), &mut |_| {})
    }

    /// Chooses a move for the side to move within what the protocol allows; `progress` is told what
    /// a search finds.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn choose_within(
        &mut self,
        only: Option<&[Move]>,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice, Trouble> {
        if let Some(choice) = self.book_choice(only) {
            return Ok(choice);
        }
        self.adapt_to_style()?;
        let depth = allowed.limits.depth;
        let replies =
            depth.map_or(usize::MAX, |d| d.saturating_sub(1)).min(self.settings.look_ahead);
        let ranking = self.rank(only, replies)?;
        let mut found = None;
        let mut source = Source::Classifier;
        let mate =
            ranking.iter().find(|s| s.completion.mates).filter(|_| self.settings.mate_keyword);
        let (completion, considered) = if let Some(mate) = mate {
            source = Source::Mate;
            (mate.completion.clone(), Vec::new())
        } else {
            let turn = index(self.game.turn());
            let limits = self.settings.search.limits(allowed, self.searches[turn]);
            let mut list = self.filter(&ranking, limits.is_none());
            if let Some(limits) = limits {
                let margin = self.margin();
                let best = self.look_deep(&list, limits, margin, allowed.waiting, progress);
                list = among_best(&list, &best, margin);
                found = Some(best);
                source = Source::Search;
            }
            let rule = if found.is_some() { choose::Rule::Basic } else { self.settings.rule };
            let candidates = choose::candidates(&list, rule);
            let chosen = if self.randomised {
                choose::draw(&list, &candidates, self.settings.temperature, &mut self.random)
            } else {
                candidates[0]
            };
            let considered: Vec<Scored> = candidates.iter().map(|&i| list[i].clone()).collect();
            (list[chosen].completion.clone(), considered)
        };
        let looks_ahead =
            self.voices[index(self.game.turn())].as_ref().is_some_and(Voice::reads_half_moves);
        let depth = match &found {
            Some(found) => found.depth.max(1),
            None if looks_ahead => 1 + replies,
            None => 1,
        };
        Ok(Choice { completion, source, ranking, depth, considered, found })
    }

    /// Centipawns that a move may be worse than the best one for the classifier to choose it. Draws
    /// in the opening only keep away from blunders, so that they are as varied as the games
    /// learned.
    fn margin(&self) -> u32 {
        let least = match (self.randomised, self.game.plies()) {
            (false, _) => 0,
            (true, ..VARIED) => BLUNDER,
            (true, _) => DRAWN,
        };
        self.settings.search_margin.max(least)
    }

    /// Looks ahead from the game's position, at the moves of this list.
    fn look_deep(
        &mut self,
        list: &[Scored],
        mut limits: Limits,
        margin: u32,
        waiting: Waiting,
        progress: &mut dyn FnMut(&Found),
    ) -> Found {
        limits.overhead = Duration::from_millis(u64::from(self.settings.move_overhead));
        let mut searcher = self
            .searcher
            .take()
            .unwrap_or_else(|| Searcher::new(self.settings.hash, Box::new(Classical::default())));
        if let Some(evaluation) = &self.evaluation {
            let goal = self.style_goal.unwrap_or(self.settings.goal);
            let purpose = evaluation.purpose(self.game.position(), goal);
            if self.purpose != Some(purpose) {
                match evaluation.make(purpose) {
                    Ok(made) => searcher.set_evaluation(made),
                    Err(error) => _ = self.notes.insert(format!("{error:#}")),
                }
                self.purpose = Some(purpose);
            }
        }
        let interrupts = self.interrupts.clone();
        let stop = || {
            interrupts.is_stopped()
                || match waiting {
                    Waiting::No => false,
                    Waiting::UntilNextLine => interrupts.is_line_waiting(),
                    Waiting::UntilStop | Waiting::UntilPonderHit => interrupts.has_ended(),
                }
        };
        let pondering = || waiting == Waiting::UntilPonderHit && !interrupts.is_ponder_hit();
        let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
        let bonus = odds_bonus(list, self.settings.search_odds);
        let weight = self.settings.book_weight;
        let suggestions: Vec<(Move, Count)> = match weight > 0.0 {
            true => self.suggestions().iter().filter_map(|b| Some((b.m, b.count?))).collect(),
            false => Vec::new(),
        };
        let advice =
            BookAdvice::new(self.book.as_ref(), self.game.position(), &suggestions, weight);
        let endgames = Both { distances: self.distances.as_ref(), values: self.tables.as_ref() };
        let has_endgames = self.distances.is_some() || self.tables.is_some();
        let request = Request {
            history: self.game.earlier_keys(),
            moves: &moves,
            bonus: if margin == 0 { &bonus } else { &[] },
            margin: i32::try_from(margin).unwrap_or(0),
            lines: self.settings.multi_pv,
            stop: &stop,
            pondering: &pondering,
            advice: (weight > 0.0).then_some(&advice as &dyn chess_search::Advice),
            endgames: has_endgames.then_some(&endgames as &dyn chess_search::Endgames),
            ..Request::new(self.game.position(), limits)
        };
        let found = searcher.search(&request, progress);
        self.searcher = Some(searcher);
        found
    }

    /// Once the opponent has made enough moves: how to play against that style.
    fn adapt_to_style(&mut self) -> Result<()> {
        let turn = self.game.turn();
        let theirs = self.game.words().len() / 2;
        if self.settings.style_path.is_empty() || self.style.is_some() || theirs < style::MOVES {
            return Ok(());
        }
        let mut judge = Judge::open(Path::new(&self.settings.style_path), &self.factory.program)?;
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
        self.style_goal = Some(if wins { Goal::Win } else { Goal::NotLose });
        let voice = if wins { style::WINS_VOICE } else { style::DRAWS_VOICE };
        let model = match turn {
            Color::White => &self.settings.white_model,
            Color::Black => &self.settings.black_model,
        };
        // Models of other presets have no voices for it; what then changes is the evaluation's
        // goal.
        if Manifest::read(Path::new(model)).is_ok_and(|m| m.side(turn).voices.contains_key(voice)) {
            self.style_voice = Some(voice);
            self.voices[index(turn)] = self.load_voice(turn)?;
        }
        Ok(())
    }

    /// Notes for the player that were not shown yet; each is returned once.
    pub fn news(&mut self) -> Vec<String> {
        let news = std::mem::take(&mut self.notes);
        news.into_iter().filter(|note| self.told.insert(note.clone())).collect()
    }

    /// The opponent's style, once it was judged.
    pub const fn style(&self) -> Option<Style> {
        self.style
    }

    /// The voice of this game, if the opponent's style was judged.
    pub const fn style_voice(&self) -> Option<&'static str> {
        self.style_voice
    }

    fn book_choice(&mut self, only: Option<&[Move]>) -> Option<Choice> {
        if !self.settings.own_book {
            return None;
        }
        let completions = self.game.completions();
        let mut moves = self.book.as_ref()?.moves(self.game.position());
        moves.retain(|b| only.is_none_or(|only| only.contains(&b.m)));
        let chosen = if self.randomised {
            let weights: Vec<f64> = moves.iter().map(|b| b.weight).collect();
            self.random.weighted(&weights)?
        } else {
            0
        };
        let m = moves.get(chosen)?.m;
        let completion = completions.into_iter().find(|c| c.m == m)?;
        Some(Choice {
            completion,
            source: Source::Book,
            ranking: Vec::new(),
            depth: 1,
            considered: Vec::new(),
            found: None,
        })
    }

    /// What [`Engine::choose`] gives without draws.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn choose_best(&mut self) -> Result<Choice, Trouble> {
        let randomised = std::mem::take(&mut self.randomised);
        let choice = self.choose(None, None);
        self.randomised = randomised;
        choice
    }

    /// The book's moves here, best first.
    pub fn book_moves(&self) -> Vec<BookMove> {
        self.book.as_ref().map(|book| book.moves(self.game.position())).unwrap_or_default()
    }

    /// The moves of the book, or of the nearest cluster where the book knows none.
    pub fn suggestions(&self) -> Vec<BookMove> {
        let known = self.book_moves();
        match &self.clusters {
            Some(clusters) if known.is_empty() => clusters.suggestions(self.game.position()),
            _ => known,
        }
    }

    /// Adds completions that lead to a position of the book by a move that the book does not know.
    /// Their statistics are those of the position reached, seen from the other side.
    fn add_positions_met(&self, completions: &[Completion], known: &mut Vec<BookMove>) {
        let Some(book) = &self.book else { return };
        for completion in completions {
            if known.iter().any(|b| b.m == completion.m) {
                continue;
            }
            let mut after = self.game.position().clone();
            after.play_unchecked(completion.m);
            let counts = book.moves(&after).into_iter().filter_map(|reply| reply.count);
            let sum = counts.fold(Count::default(), |mut sum, count| {
                sum.merge(count);
                sum
            });
            if sum.games() > 0 {
                let weight = f64::from(sum.games());
                known.push(BookMove { m: completion.m, weight, count: Some(sum.turned()) });
            }
        }
    }

    /// Leaves out moves that endgame tables and, if it is on, draw avoidance exclude, unless no
    /// move would be left.
    fn filter(&mut self, ranking: &[Scored], avoiding_draws: bool) -> Vec<Scored> {
        let mut list = ranking.to_vec();
        if let Some(tables) = &self.distances {
            let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
            if let Some(good) = endgames::best(tables, self.game.position(), &moves) {
                list.retain(|s| good.contains(&s.completion.m));
            }
        }
        if let Some(tables) = &self.tables {
            let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
            let kept = tables.best(self.game.position(), &moves);
            if let Some(missing) = kept.missing {
                self.notes.insert(format!("endgame tables: {missing}"));
            }
            if let Some(good) = kept.moves {
                list.retain(|s| good.contains(&s.completion.m));
            }
        }
        let lead = self.game.material_balance() * if self.game.turn().is_white() { 1 } else { -1 };
        let default = self.avoids_draws[index(self.game.turn())];
        if avoiding_draws && self.settings.avoid_draws.unwrap_or(default) && lead >= 0 {
            let kept: Vec<Scored> =
                list.iter().filter(|s| !self.draws_at_once(s.completion.m)).cloned().collect();
            if !kept.is_empty() {
                list = kept;
            }
        }
        list
    }

    fn draws_at_once(&self, m: Move) -> bool {
        let mut after = self.game.position().clone();
        after.play_unchecked(m);
        after.is_stalemate()
            || after.is_insufficient_material()
            || self.game.occurrences_after(m) >= 1
    }

    /// Whether the position's material says that it is time to resign; counts own moves.
    pub fn is_resigning(&mut self) -> bool {
        let lead = self.game.material_balance() * if self.game.turn().is_white() { 1 } else { -1 };
        let limit = i32::try_from(self.settings.resign_material).unwrap_or(i32::MAX);
        if limit == 0 || lead > -limit {
            self.bad_moves = 0;
            return false;
        }
        self.bad_moves += 1;
        self.bad_moves >= self.settings.resign_moves
    }

    /// Whether a draw is offered and accepted here.
    pub fn is_drawish(&self) -> bool {
        self.settings.draw_after > 0 && self.game.position().halfmoves() >= self.settings.draw_after
    }

    /// Whether and how the game is over by the rules.
    pub fn end(&self) -> Option<End> {
        self.game.end()
    }

    /// Writes the files to watch, if asked for, before the move is played (spec chess 5.5).
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write_watch_files(&self, choice: &Choice) -> Result<()> {
        use std::fmt::Write as _;
        let Some(prefix) = &self.watch else { return Ok(()) };
        let file = |name: &str, text: &str| {
            let mut path = prefix.as_os_str().to_owned();
            path.push(format!(".current.{name}"));
            models::replace_file(Path::new(&path), text.as_bytes())
        };
        let gameline = self.game.gameline();
        let lines = |list: &[Scored]| {
            list.iter().fold(String::new(), |mut out, s| {
                let space = if gameline.is_empty() { "" } else { " " };
                let _ =
                    writeln!(out, "score {:6.2} {gameline}{space}{}", s.score, s.completion.word);
                out
            })
        };
        let captures: Vec<Scored> =
            choice.considered.iter().filter(|s| s.completion.is_capture()).cloned().collect();
        file("pgn", &self.game.to_pgn("?", "?", "*", ""))?;
        file("gameline", &format!("{gameline}\n"))?;
        file("scores", &lines(&choice.ranking))?;
        file("scores.cap", &lines(&captures))?;
        file("emove", &format!("{}\n", choice.completion.word))
    }
}

/// Presets whose models look ahead by themselves.
const SEARCHING_PRESETS: [&str; 2] = ["best", "odds"];

/// Number of half-moves at the beginning of a game in which a drawn move may be up to [`BLUNDER`]
/// worse than the best.
const VARIED: usize = 10;

/// Centipawns that make a blunder.
const BLUNDER: u32 = 100;

/// Centipawns that a move that is drawn may be worse than the best one, later on.
const DRAWN: u32 = 20;

/// For each move how many centipawns it has to be better to be chosen before the likeliest one,
/// negative, where a bit of the odds counts as so many.
fn odds_bonus(list: &[Scored], centipawns: f64) -> Vec<i32> {
    let shares = choose::shares(list, 1.0);
    let best = shares.first().copied().unwrap_or(1.0);
    let bonus = |share: &f64| {
        let bits = (share / best).max(f64::MIN_POSITIVE).log2();
        #[expect(clippy::cast_possible_truncation, reason = "held within a pawn")]
        let bonus = (centipawns * bits).clamp(-MOST_ODDS, 0.0).round() as i32;
        bonus
    };
    shares.iter().map(bonus).collect()
}

/// The most centipawns that odds may count.
const MOST_ODDS: f64 = 50.0;

/// Positions with values beyond this count as won or lost: there the best move is played, whatever
/// its probability.
const DECIDED: i32 = 600;

/// The moves that are about as good as the best one found, in the classifier's order.
fn among_best(list: &[Scored], found: &Found, margin: u32) -> Vec<Scored> {
    let Some(best) = found.lines.first() else { return list.to_vec() };
    let top = best.value.centipawns();
    let margin = if top.abs() > DECIDED { 0 } else { i32::try_from(margin).unwrap_or(0) };
    let good: Vec<Move> = found
        .lines
        .iter()
        .filter(|l| l.value.centipawns() >= top - margin)
        .filter_map(|l| l.moves.first().copied())
        // Without a margin the move that was found first is taken.
        .take(if margin == 0 { 1 } else { usize::MAX })
        .collect();
    let kept: Vec<Scored> =
        list.iter().filter(|s| good.contains(&s.completion.m)).cloned().collect();
    if kept.is_empty() { list.to_vec() } else { kept }
}

/// Scores every completion by the lines that extend it by each legal reply (spec chess 9.7); `None`
/// when stopped.
fn look_ahead(
    voice: &mut Voice,
    game: &Game,
    completions: &[Completion],
    hard_minimum: bool,
    interrupts: &Interrupts,
) -> Result<Option<Vec<f64>>> {
    let mut scores = Vec::with_capacity(completions.len());
    for completion in completions {
        if interrupts.is_stopped() {
            return Ok(None);
        }
        let mut after = game.clone();
        after.play(completion.m);
        let replies = after.completions();
        if replies.is_empty() {
            scores.push(if completion.mates { f64::MIN } else { f64::MAX });
            continue;
        }
        let line = after.gameline();
        let lines: Vec<String> = replies.iter().map(|r| format!("{line} {}", r.word)).collect();
        let replies = voice.line_scores(game.plies(), &lines)?;
        scores.push(soft_minimum(&replies, hard_minimum));
    }
    Ok(Some(scores))
}

/// `-log2 sum 2^-s`, or the plain minimum.
fn soft_minimum(scores: &[f64], hard: bool) -> f64 {
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
    if hard { best } else { best - scores.iter().map(|s| (best - s).exp2()).sum::<f64>().log2() }
}

/// Whether `path` is a model folder: one with a manifest.
pub fn is_model_folder(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::play::classifier::{ChildProcesses, Scorer};
    use crate::play::models::Document;
    use crate::text::notation;

    /// Prefers words by a list; everything else costs 50 bits.
    pub(crate) struct Fake {
        pub(crate) best: &'static [&'static str],
        sent: Vec<String>,
    }

    impl Scorer for Fake {
        fn ask(&mut self, lines: &[String]) -> Result<()> {
            self.sent = lines.to_vec();
            Ok(())
        }

        fn scores(&mut self) -> Result<Vec<Vec<f64>>> {
            let score = |line: &String| {
                let word = line.rsplit([' ', '_']).next().unwrap_or_default();
                let place =
                    self.best.iter().position(|b| *b == word).and_then(|p| u32::try_from(p).ok());
                vec![place.map_or(50.0, |p| f64::from(p) + 1.0)]
            };
            Ok(self.sent.iter().map(score).collect())
        }
    }

    pub(crate) fn factory() -> EngineFactory {
        let program =
            Program::find(Some(Path::new("/nonexistent")), &[], &ChildProcesses::default());
        EngineFactory { program, template: None }
    }

    pub(crate) fn engine(best: &'static [&'static str], settings: Settings) -> Engine {
        let voice = || {
            let fake = Fake { best, sent: Vec::new() };
            Some(Voice::of_scorer(Box::new(fake), Document::Half))
        };
        Engine::with_voices(settings, factory(), [voice(), voice()])
    }

    fn chosen(fen: &str, best: &'static [&'static str], settings: Settings) -> String {
        let mut engine = engine(best, settings);
        engine.set_position(crate::text::game::read_fen(fen).expect("good FEN"));
        engine.choose(None, None).expect("a move").completion.word
    }

    #[test]
    fn mate_keyword_and_draw_avoidance() {
        let mate = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1";
        let stalemate = "7k/8/4Q3/6K1/8/8/8/8 w - - 0 1"; // Qf7 draws at once, being ahead
        let on = Settings { avoid_draws: Some(true), ..Settings::default() };
        let off = Settings { mate_keyword: false, ..Settings::default() };
        assert_eq!(chosen(mate, &["Kd2"], Settings::default()), "Ra8#");
        assert_eq!(chosen(mate, &["Kd2"], off), "Kd2");
        assert_eq!(chosen(stalemate, &["Qf7", "Qe5+"], Settings::default()), "Qf7");
        assert_eq!(chosen(stalemate, &["Qf7", "Qe5+"], on), "Qe5+");
    }

    #[test]
    fn look_ahead_sums_over_replies() {
        assert!((soft_minimum(&[3.0, 3.0], false) - 2.0).abs() < 1e-12);
        assert_eq!(soft_minimum(&[4.0, 3.0], true), 3.0);
        let settings = Settings { look_ahead: 1, ..Settings::default() };
        let mut engine = engine(&["e4"], settings);
        engine.choose(None, None).expect("a move");
        engine.interrupts.stop_for_good();
        assert_eq!(engine.choose(None, None).expect("a move").completion.word, "e4");
    }

    #[test]
    fn the_engine_resigns_after_several_bad_moves() {
        let settings = Settings { resign_material: 5, resign_moves: 2, ..Settings::default() };
        let mut engine = engine(&[], settings);
        engine.set_position(
            crate::text::game::read_fen("q3k3/8/8/8/8/8/8/4K3 w - - 0 1").expect("good FEN"),
        );
        assert!(!engine.is_resigning());
        assert!(engine.is_resigning());
    }

    #[test]
    fn watch_files_show_the_choice() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut engine = engine(&["Nf6"], Settings::default());
        engine.watch(Some(folder.path().join("game")));
        let m = notation::read_move(engine.game().position(), b"e4").expect("legal");
        engine.play(m);
        let choice = engine.choose(None, None).expect("a move");
        engine.write_watch_files(&choice).expect("written");
        let read = |name: &str| {
            std::fs::read_to_string(folder.path().join(format!("game.current.{name}"))).expect(name)
        };
        assert_eq!((read("emove").as_str(), read("gameline").as_str()), ("Nf6\n", "e4\n"));
        assert_eq!(read("scores").lines().next(), Some("score   1.00 e4 Nf6"));
        assert_eq!(read("scores").lines().count(), 20);
        assert!(read("pgn").contains("1. e4 *"));
    }
}
