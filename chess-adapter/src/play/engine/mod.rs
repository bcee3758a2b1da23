// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses a move: the voice scores the completions, and the rules choose by these scores.

mod choice;
mod choosing;
mod load;
mod looking_ahead;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use anyhow::{Error, Result};
use chess_search::{Advice, Evaluate, Searcher};
use shakmaty::{ByColor, Chess, Color, Move, Position};

use crate::play::choose::Scored;
use crate::play::classifier::Program;
use crate::play::interrupts::Interrupts;
use crate::play::models::Voice;
use crate::play::practice::Practice;
use crate::play::searching::{Allowance, SearchMode, Waiting};
use crate::play::settings::Settings;
use crate::play::style::{Aim, Judge};
use chess_games::files::replace_file;
use chess_games::game::Game;
use chess_games::notation::Spelling;
use chess_tables::endgames::Endgames;
use chess_tables::openings::Openings;
use dbacl_files::atomic_file::{Unforced, beside};
use dbacl_numeric::random::SplitMix64;

pub(crate) use choice::{Choice, Trouble};

/// Learns a model; what it is given is called now and then.
pub(crate) type FirstStart = fn(&dyn Fn()) -> Result<PathBuf>;

/// The engine: a game, two voices, settings.
pub(crate) struct Engine {
    /// The game in progress; [`Engine::set_position`] begins another one.
    pub game: Game,
    /// Learns a model, where none is named and none is known; returns its folder.
    pub first_start: Option<FirstStart>,
    voices: ByColor<Option<Voice>>,
    stale: ByColor<bool>,
    settings: Settings,
    /// The classifier.
    pub program: Program,
    spelling: Spelling,
    random: SplitMix64,
    /// Whether moves are drawn at random now.
    pub randomised: bool,
    /// Lines of the interface that arrive during a search.
    pub interrupts: Arc<Interrupts>,
    searcher: Option<Searcher>,
    /// The search's evaluation, unless it is that in the sources.
    evaluation: Option<Arc<dyn Evaluate>>,
    openings: Option<Openings>,
    /// What the book adds to the search.
    advice: Option<Advice>,
    /// How often a move of the book was played at each move of a game, from the first.
    pub book_moves: Vec<u32>,
    endgames: Endgames,
    /// Files to watch are written under this prefix.
    pub watch: Option<PathBuf>,
    /// Learns from finished games, if it is to, except while the engine thinks.
    practice: Option<Practice>,
    thinks: Arc<AtomicBool>,
    /// Moves chosen in this game.
    answers: u32,
    bad_moves: u32,
    /// The voice played against the opponent of this game, once the style is known.
    style_voice: Option<&'static str>,
    /// What this game is played for, once the style is known.
    aim_of_game: Option<Aim>,
    /// Recognises styles, if the settings name a folder for it.
    judge: Option<Judge>,
    /// Notes for the player that were not shown yet.
    notes: Vec<String>,
    /// Notes that were shown.
    told: BTreeSet<String>,
}

/// A game in which the engine chose fewer moves was not played by it.
const FEWEST_ANSWERS: u32 = 5;

/// The generator of draws; seed 0 stands for one from the clock.
fn random(seed: u32) -> SplitMix64 {
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let of_clock = |now: Duration| u64::from(now.subsec_nanos()) ^ (now.as_secs() << 20);
    SplitMix64::new(if seed == 0 { of_clock(clock()) } else { u64::from(seed) })
}

impl Engine {
    /// An engine in the start position, nothing loaded yet.
    pub(crate) fn new(settings: Settings, program: Program, spelling: Spelling) -> Self {
        Self {
            game: Game::new(Chess::default(), spelling),
            first_start: None,
            voices: ByColor::default(),
            stale: ByColor { white: true, black: true },
            randomised: settings.random_play,
            random: random(settings.seed),
            settings,
            program,
            spelling,
            interrupts: Arc::default(),
            searcher: None,
            evaluation: None,
            openings: None,
            advice: None,
            book_moves: Vec::new(),
            endgames: Endgames::default(),
            watch: None,
            practice: None,
            thinks: Arc::default(),
            answers: 0,
            bad_moves: 0,
            style_voice: None,
            aim_of_game: None,
            judge: None,
            notes: Vec::new(),
            told: BTreeSet::new(),
        }
    }

    /// Learns from finished games, which are kept in this folder.
    pub(crate) fn learn_from_play(&mut self, folder: Option<PathBuf>) {
        self.practice = folder.map(|folder| Practice::new(folder, self.thinks.clone()));
        self.take_up_values();
    }

    /// Searches by the values learned in play, if there are any.
    fn take_up_values(&mut self) {
        if let Some(folder) = self.practice.as_ref().and_then(Practice::values) {
            self.settings.worth_path = folder.to_owned();
            (self.evaluation, self.searcher) = (None, None);
        }
    }

    /// The game in progress is over, after this last move; if the engine has played it, it is kept
    /// and learned. The names are White's and Black's; without a result the rules decide.
    pub(crate) fn end_game(
        &mut self,
        last: Option<Move>,
        [white, black]: [&str; 2],
        result: Option<&str>,
    ) {
        let has_played = std::mem::take(&mut self.answers) >= FEWEST_ANSWERS;
        let is_whole = has_played && *self.game.start() == Chess::default();
        let Some(practice) = self.practice.as_ref().filter(|_| is_whole) else { return };
        let mut game = self.game.clone();
        if let Some(m) = last {
            game.play(m);
        }
        let by_rules = game.end().map_or("*", |end| end.result().as_str());
        let pgn = game.to_pgn(white, black, result.unwrap_or(by_rules), "");
        if let Err(error) = practice.keep(&pgn) {
            self.note(&error);
        }
        self.practise();
    }

    /// Learns in the background, and takes up what was learned so far.
    fn practise(&mut self) {
        let Settings { models, worth_path, search, .. } = &self.settings;
        let worth = (*search != SearchMode::Off).then_some(worth_path.as_path());
        let practice = self.practice.as_mut();
        if let Some(said) = practice.and_then(|practice| practice.learn(&models.white, worth)) {
            self.take_up_values();
            self.stale = ByColor { white: true, black: true };
            self.notes.push(said.unwrap_or_else(|error| format!("{error:#}")));
        }
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts again from this position.
    pub(crate) fn set_position(&mut self, start: Chess) {
        self.game = Game::new(start, self.spelling);
        self.bad_moves = 0;
        self.aim_of_game = None;
        if self.style_voice.take().is_some() {
            self.stale = ByColor { white: true, black: true };
        }
    }

    pub(crate) fn forget_searches(&mut self) {
        self.searcher.iter_mut().for_each(Searcher::clear);
    }

    /// Starts a new game from the start position; what earlier searches found is forgotten.
    pub(crate) fn new_game(&mut self) {
        self.forget_searches();
        self.set_position(Chess::default());
        self.answers = 0;
        self.practise();
    }

    /// Sets an option; models, books and tables are loaded when next needed.
    pub(crate) fn set_option(&mut self, name: &str, value: &str) -> Result<()> {
        let before = self.settings.clone();
        self.settings.set(name, value)?;
        let now = &self.settings;
        let both = before.voice != now.voice
            || before.encoding != now.encoding
            || before.window != now.window;
        self.stale.white |= both || before.models.white != now.models.white;
        self.stale.black |= both || before.models.black != now.models.black;
        let has_same_book = before.book_file == now.book_file
            && before.book_clusters == now.book_clusters
            && before.book_in_search == now.book_in_search
            && before.book_weight == now.book_weight;
        self.openings.take_if(|_| !has_same_book);
        self.advice.take_if(|_| !has_same_book);
        self.endgames.syzygy.take_if(|_| before.syzygy_path != now.syzygy_path);
        self.endgames.distances.take_if(|_| before.tables_path != now.tables_path);
        self.judge.take_if(|_| before.style_path != now.style_path);
        let has_same_worth = before.worth_path == now.worth_path && before.aim == now.aim;
        self.evaluation.take_if(|_| !has_same_worth);
        let is_kept = before.hash == now.hash && has_same_book && has_same_worth;
        self.searcher.take_if(|_| !is_kept);
        if before.seed != now.seed {
            self.random = random(now.seed);
        }
        if before.random_play != now.random_play {
            self.randomised = now.random_play;
        }
        Ok(())
    }

    /// What the game is played for.
    fn aim(&self) -> Aim {
        self.aim_of_game.unwrap_or(self.settings.aim)
    }

    /// Whether the side to move looks ahead when nothing limits it.
    pub(crate) fn searches(&self) -> bool {
        let allowed = Allowance { waiting: Waiting::UntilNextLine, ..Allowance::default() };
        self.settings.search.limits(&allowed, self.has_odds()).is_some()
    }

    /// The voice that classifies a colour's moves.
    pub(crate) fn voice(&mut self, color: Color) -> Option<&mut Voice> {
        self.voices.get_mut(color).as_mut()
    }

    /// Whether the side to move has the voice `odds`.
    pub(crate) fn has_odds(&self) -> bool {
        matches!(self.voices.get(self.game.turn()), Some(Voice::Odds(_)))
    }

    /// Reports an error to the player.
    pub(crate) fn note(&mut self, error: &Error) {
        self.notes.push(format!("{error:#}"));
    }

    /// Notes for the player that were not shown yet; each is returned once.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let news = std::mem::take(&mut self.notes);
        news.into_iter().filter(|note| self.told.insert(note.clone())).collect()
    }

    /// Whether the position's material says that it is time to resign; counts own moves.
    pub(crate) fn is_resigning(&mut self) -> bool {
        let lead = self.game.lead(self.game.turn());
        let limit = i32::try_from(self.settings.resign_material).unwrap_or(i32::MAX);
        if limit == 0 || lead > -limit {
            self.bad_moves = 0;
            return false;
        }
        self.bad_moves += 1;
        self.bad_moves >= self.settings.resign_moves
    }

    /// Whether a draw is offered and accepted here.
    pub(crate) fn is_drawish(&self) -> bool {
        self.settings.draw_after > 0 && self.game.position().halfmoves() >= self.settings.draw_after
    }

    /// Writes the files to watch, if asked for, before the move is played (spec chess 5.5).
    pub(crate) fn write_watch_files(&mut self, choice: &Choice) {
        if let Err(error) = self.try_to_write_watch_files(choice) {
            self.note(&error);
        }
    }

    fn try_to_write_watch_files(&self, choice: &Choice) -> Result<()> {
        use std::fmt::Write as _;
        let Some(prefix) = &self.watch else { return Ok(()) };
        let file = |name: &str, text: &str| {
            let path = beside(prefix, &format!(".current.{name}"));
            replace_file(&Unforced, &path, text.as_bytes())
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
            choice.considered.iter().filter(|s| s.completion.m.is_capture()).cloned().collect();
        file("pgn", &self.game.to_pgn("?", "?", "*", ""))?;
        file("gameline", &format!("{gameline}\n"))?;
        file("scores", &lines(&choice.ranking))?;
        file("scores.cap", &lines(&captures))?;
        file("emove", &format!("{}\n", choice.completion.word))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::play::classifier::Classifier;
    use chess_games::encode::Encoding;
    use dbacl_testing::Scratch;

    /// A classifier that prefers these words, in this order.
    pub(crate) fn engine(best: &[&str], settings: Settings) -> Engine {
        let score = |(place, word): (usize, &&str)| format!("'{word}') s={};;", place + 1);
        let cases: String = best.iter().enumerate().map(score).collect();
        let script = format!(
            "while IFS= read -r l; do case ${{l##*[ _]}} in {cases} *) s=50;; esac; echo \"x $s.00 \
             $l\"; done"
        );
        let program = Program::of_script(&script);
        let mut engine = Engine::new(settings, program.clone(), Spelling::default());
        engine.voices = ByColor::new_with(|_| {
            let classifier = Classifier::new(program.clone(), vec!["x".into()]);
            let (encoding, factors) = (Encoding::Half, vec![1.0]);
            Some(Voice::Categories { encoding, factors, classifier, window: 0 })
        });
        engine.stale = ByColor::default();
        engine
    }

    fn chosen(fen: &str, best: &'static [&'static str], settings: Settings) -> String {
        let mut engine = engine(best, settings);
        engine.set_position(chess_games::game::read_fen(fen).expect("good FEN"));
        engine.choose_best().expect("a move").completion.word
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
    fn an_engine_with_a_rating_does_not_search() {
        let search = crate::play::searching::SearchMode::Depth(3);
        let settings = Settings { search, limit_strength: true, elo: 2_000, ..Settings::default() };
        let choice = engine(&["a3"], settings.clone()).choose_best().expect("a move");
        assert_eq!((choice.completion.word.as_str(), choice.found.is_none()), ("a3", true));
        let settings = Settings { limit_strength: false, ..settings };
        assert!(engine(&["a3"], settings).choose_best().expect("a move").found.is_some());
    }

    #[test]
    fn the_engine_resigns_after_several_bad_moves() {
        let settings = Settings { resign_material: 5, resign_moves: 2, ..Settings::default() };
        let mut engine = engine(&[], settings);
        engine.set_position(
            chess_games::game::read_fen("q3k3/8/8/8/8/8/8/4K3 w - - 0 1").expect("good FEN"),
        );
        assert!(!engine.is_resigning());
        assert!(engine.is_resigning());
    }

    #[test]
    fn watch_files_show_the_choice() {
        let place = Scratch::new();
        let mut engine = engine(&["Nf6"], Settings::default());
        engine.watch = Some(place.path("game"));
        engine.game.play_words("e4").expect("legal");
        let choice = engine.choose_best().expect("a move");
        engine.write_watch_files(&choice);
        let read = |name: &str| place.text(&format!("game.current.{name}"));
        assert_eq!((read("emove").as_str(), read("gameline").as_str()), ("Nf6\n", "e4\n"));
        assert_eq!(read("scores").lines().next(), Some("score   1.00 e4 Nf6"));
        assert_eq!(read("scores").lines().count(), 20);
        assert!(read("pgn").contains("1. e4 *"));
    }
}
