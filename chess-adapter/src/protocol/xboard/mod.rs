// SPDX-License-Identifier: GPL-3.0-or-later
//! The XBoard protocol, version 2 (spec chess 7).

mod clock;
mod editor;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Error, Result};
use chess_search::{Found, Line};
use shakmaty::{Chess, Color, Position};

use crate::play::choose::{self, Scored};
use crate::play::engine::{Choice, Engine, Trouble};
use crate::play::searching::{Allowance, Waiting};
use crate::play::why;
use crate::protocol::Output;
use chess_games::game::{End, read_fen};
use chess_games::notation::{self, Spelling, WordError};

use clock::Times;
use editor::Editor;

/// The dialogue's state.
pub(super) struct Xboard {
    engine: Engine,
    name: String,
    out: Output,
    side: Option<Color>,
    over: Option<Over>,
    no_position: bool,
    post: bool,
    san: bool,
    debug: bool,
    analyzing: bool,
    editor: Option<Editor>,
    times: Times,
    opponent: String,
    log: Option<PathBuf>,
}

/// The reason for the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// Mate, stalemate, or too little material.
    Inevitable,
    /// A draw that one side has to claim.
    Claimed,
    Declared,
}

/// What the engine can do, beside its name.
const FEATURES: [&str; 3] = [
    "ping=1 setboard=1 playother=1 san=1 usermove=1 time=1 draw=1",
    "sigint=0 sigterm=0 reuse=1 analyze=1 colors=0 ics=0 name=1 pause=0 nps=0",
    "debug=1 memory=0 smp=0 exclude=0 highlight=0 variants=\"normal\"",
];

impl Xboard {
    /// A new dialogue, with the start position; the engine has Black.
    pub(super) fn new(engine: Engine, name: String, log: Option<PathBuf>, out: Output) -> Self {
        Self {
            engine,
            name,
            out,
            side: Some(Color::Black),
            over: None,
            no_position: false,
            post: false,
            san: false,
            debug: false,
            analyzing: false,
            editor: None,
            times: Times::default(),
            opponent: String::from("?"),
            log,
        }
    }

    fn say(&mut self, line: impl AsRef<str>) {
        (self.out)(line.as_ref());
    }

    fn error(&mut self, what: &str, line: &str) {
        self.say(format!("Error ({what}): {line}"));
    }

    /// A comment, which interfaces show only in their logs; it goes to standard error if the
    /// interface does not take any.
    fn note(&mut self, text: &str) {
        match self.debug {
            true => self.say(format!("# {text}")),
            false => dbacl_cli::arguments::say("chess-adapter", text),
        }
    }

    pub(super) fn answer(&mut self, line: &str) -> bool {
        let line = line.trim();
        if self.editor.is_some() {
            self.edit(line);
            return true;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "" | "?" | "otim" | "nps" | "hard" | "easy" | "rating" | "ics" | "computer"
            | "pause" | "resume" | "memory" | "cores" | "xboard" | "rejected" => {}
            "quit" => return false,
            "protover" => self.introduce(rest.parse().unwrap_or(2)),
            "accepted" => {
                self.san |= rest == "san";
                self.debug |= rest == "debug";
            }
            "option" => {
                let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
                match self.engine.set_option(name.trim(), value.trim()) {
                    Ok(()) => self.load(),
                    Err(_) => self.error("unknown option", line),
                }
            }
            "egtpath" => {
                let (kind, path) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if kind.eq_ignore_ascii_case("syzygy") {
                    let _ = self.engine.set_option("SyzygyPath", path.trim());
                    self.load();
                }
            }
            "variant" => {
                if rest != "normal" {
                    self.error("unsupported variant", line);
                }
            }
            "name" => rest.clone_into(&mut self.opponent),
            "ping" => self.say(format!("pong {rest}")),
            "post" => self.post = true,
            "nopost" => self.post = false,
            "level" | "st" | "time" | "sd" => self.times.set(word, rest),
            "new" => self.new_game(),
            "setboard" => match read_fen(rest) {
                Ok(position) => {
                    self.start_without_history(position);
                    self.analysis();
                }
                Err(_) => self.no_such_position(),
            },
            "edit" => {
                let board = self.engine.game.position().board().clone();
                self.editor = Some(Editor::new(board));
            }
            "random" => {
                let is_ignored = self.engine.settings().deterministic;
                self.engine.randomised ^= !is_ignored;
            }
            "force" => self.side = None,
            "go" => {
                self.analyzing = false;
                self.side = Some(self.engine.game.turn());
                self.move_now();
            }
            "playother" => self.side = Some(self.engine.game.turn().other()),
            "white" => self.set_turn(Color::White),
            "black" => self.set_turn(Color::Black),
            "usermove" => self.user_move(rest),
            "undo" => self.take_back(1, word),
            "remove" => self.take_back(2, word),
            "draw" => self.offer_draw(),
            "result" => self.result(rest),
            "hint" => {
                if self.over.is_none()
                    && !self.no_position
                    && let Ok(choice) = self.engine.choose_best()
                {
                    self.say(format!("Hint: {}", self.spell(&choice)));
                }
            }
            "bk" => self.book(),
            "analyze" => {
                self.side = None;
                self.analyzing = true;
                self.analysis();
            }
            "exit" => self.analyzing = false,
            "." => self.status(),
            // Not part of the protocol.
            "why" => {
                self.load();
                match why::explain(&mut self.engine, rest) {
                    Ok(why) => why.iter().for_each(|line| self.note(line)),
                    Err(error) => self.note(&format!("why: {error:#}")),
                }
            }
            _ if rest.is_empty() && notation::looks_like_move(word.as_bytes()) => {
                self.user_move(word);
            }
            _ => self.error("unknown command", line),
        }
        true
    }

    /// The features, and what loading the models brings to light.
    fn introduce(&mut self, version: u32) {
        if version < 2 {
            return;
        }
        self.say("feature done=0");
        self.say(format!("feature myname=\"{}\" {}", self.name, FEATURES[0]));
        FEATURES[1..].iter().for_each(|line| self.say(format!("feature {line}")));
        for option in self.engine.settings().for_xboard() {
            self.say(format!("feature option=\"{option}\""));
        }
        self.load();
        self.say("feature done=1");
    }

    /// Chooses a move; what a search finds meanwhile goes to the interface.
    fn choose(&mut self, allowed: &Allowance) -> Result<Choice> {
        let Self { engine, out, san, .. } = self;
        let shown = if self.post || self.analyzing { engine.settings().multi_pv } else { 0 };
        let position = engine.game.position().clone();
        let spelling = san.then(|| engine.game.spelling());
        let mut progress = |found: &Found| {
            for line in found.lines.iter().take(shown as usize) {
                out(&search_line(found, line, &position, spelling));
            }
        };
        engine.choose(allowed, &mut progress)
    }

    fn spell(&self, choice: &Choice) -> String {
        match self.san {
            true => choice.completion.word.clone(),
            false => notation::to_coordinates(choice.completion.m),
        }
    }

    fn load(&mut self) {
        for complaint in self.engine.load() {
            self.say(format!("tellusererror {complaint}"));
        }
    }

    fn trouble(&mut self, error: &Error) {
        match error.downcast_ref() {
            Some(Trouble::NoMove) => return,
            Some(Trouble::NoModel(_)) => self.say(format!("tellusererror {error}: cannot move")),
            None => self.say(format!("telluser {}: {error:#}", self.name)),
        }
        self.side = None;
    }

    fn new_game(&mut self) {
        self.engine.new_game();
        self.start_game(Chess::default());
        self.side = Some(Color::Black);
        self.times.begin_game();
        self.engine.randomised = self.engine.settings().random_play;
        self.analysis();
    }

    fn start_game(&mut self, start: Chess) {
        self.engine.set_position(start);
        self.over = None;
        self.no_position = false;
    }

    /// Starts from a position whose earlier moves are unknown.
    fn start_without_history(&mut self, start: Chess) {
        self.start_game(start);
        self.note("no history: the models have only the new moves to go by");
    }

    fn no_such_position(&mut self) {
        self.no_position = true;
        self.over = None;
        self.say("tellusererror Illegal position");
    }

    fn user_move(&mut self, word: &str) {
        if self.no_position {
            return self.say(format!("Illegal move (no position): {word}"));
        }
        // A draw that nobody claims: an interface that goes on in force mode knows what it does.
        if self.side.is_none() && matches!(self.over, Some(Over::Claimed)) {
            self.over = None;
        }
        if self.over.is_some() {
            return self.say(format!("Illegal move (game over): {word}"));
        }
        match notation::read_move(self.engine.game.position(), word.as_bytes()) {
            Err(WordError::Ambiguous) => self.say(format!("Illegal move (ambiguous): {word}")),
            Err(_) => self.say(format!("Illegal move: {word}")),
            Ok(m) => {
                self.engine.game.play(m);
                if self.has_ended() {
                    return;
                }
                self.analysis();
                if self.side == Some(self.engine.game.turn()) {
                    self.move_now();
                }
            }
        }
    }

    /// Says the result if the game is over by the rules. In force mode only what nobody needs to
    /// claim ends a game.
    fn has_ended(&mut self) -> bool {
        let end = self.engine.game.end().filter(|end| self.side.is_some() || end.is_inevitable());
        let Some(end) = end else { return false };
        self.over = Some(if end.is_inevitable() { Over::Inevitable } else { Over::Claimed });
        if !self.analyzing {
            self.say(format!("{} {{{}}}", end.result().as_str(), end.reason()));
        }
        true
    }

    /// Whether nothing can follow.
    fn is_mate_or_dead(&self) -> bool {
        self.engine.game.end().is_some_and(End::is_inevitable)
    }

    fn offer_draw(&mut self) {
        if self.engine.is_drawish() {
            self.say("offer draw");
        }
    }

    fn move_now(&mut self) {
        let is_over = matches!(self.over, Some(Over::Claimed | Over::Declared));
        if self.no_position || is_over || self.is_mate_or_dead() && self.has_ended() {
            return;
        }
        self.load();
        if self.engine.is_resigning() {
            self.over = Some(Over::Declared);
            return self.say("resign");
        }
        let started = Instant::now();
        let limits = self.times.limits(self.engine.game.plies());
        let choice = match self.choose(&Allowance { limits, ..Allowance::default() }) {
            Ok(choice) => choice,
            Err(error) => return self.trouble(&error),
        };
        if choice.found.is_some() && self.engine.interrupts.is_abandoned() {
            return; // the interface has something else in mind
        }
        self.engine.write_watch_files(&choice);
        for note in self.engine.news() {
            self.say(format!("telluser {note}"));
        }
        if self.post {
            self.think_aloud(&choice, started);
        }
        self.say(format!("move {}", self.spell(&choice)));
        self.engine.game.play(choice.completion.m);
        if !self.has_ended() {
            self.offer_draw();
        }
    }

    /// The first moves of a ranking with their shares.
    fn likeliest(&self, ranking: &[Scored], most: usize) -> Vec<String> {
        let shares = choose::shares(ranking, self.engine.settings().temperature);
        let line =
            |(s, share): (&Scored, f64)| format!("{} {:.0}%", s.completion.word, share * 100.0);
        ranking.iter().zip(shares).take(most).map(line).collect()
    }

    fn think_aloud(&mut self, choice: &Choice, started: Instant) {
        let why = why::in_one_line(&mut self.engine, choice);
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let line = self.thinking(choice, started);
        self.say(line + &why);
    }

    fn thinking(&self, choice: &Choice, started: Instant) -> String {
        let most = self.engine.settings().multi_pv.max(3) as usize;
        let text = match choice.special {
            Some(special) => format!("({special} {})", choice.completion.word),
            None => format!("({})", self.likeliest(&choice.ranking, most).join(", ")),
        };
        if let Some((found, line)) = choice.line() {
            let game = &self.engine.game;
            let spelling = self.san.then(|| game.spelling());
            return format!("{} {text}", search_line(found, line, game.position(), spelling));
        }
        let centiseconds = started.elapsed().as_millis() / 10;
        let depth = choice.found.as_ref().map_or(1, |found| found.depth.max(1));
        format!("{depth} 0 {centiseconds} {} {text}", choice.ranking.len())
    }

    /// In analysis, what the engine thinks of the position.
    fn analysis(&mut self) {
        if !self.analyzing || self.no_position || self.is_mate_or_dead() {
            return;
        }
        self.load();
        let started = Instant::now();
        let allowed = Allowance { waiting: Waiting::UntilNextLine, ..Allowance::default() };
        let randomised = std::mem::take(&mut self.engine.randomised);
        let choice = self.choose(&allowed);
        self.engine.randomised = randomised;
        match choice {
            Ok(choice) => self.think_aloud(&choice, started),
            Err(error) if matches!(error.downcast_ref(), Some(Trouble::NoModel(_))) => {
                self.engine.note(&error);
                self.load();
            }
            Err(error) => self.trouble(&error),
        }
    }

    fn status(&mut self) {
        if !self.analyzing {
            return self.error("command not legal now", ".");
        }
        let moves = self.engine.game.position().legal_moves().len();
        self.say(format!("stat01: 0 {moves} 1 0 {moves}"));
        // A search that the question ended goes on.
        if self.engine.searches() {
            self.analysis();
        }
    }

    fn take_back(&mut self, half_moves: usize, name: &str) {
        if self.engine.game.undo(half_moves) {
            self.over = None;
            self.analysis();
        } else {
            self.error("command not legal now", name);
        }
    }

    fn set_turn(&mut self, color: Color) {
        if self.engine.game.plies() == 0
            && self.engine.game.turn() != color
            && let Ok(position) = self.engine.game.start().clone().swap_turn()
        {
            self.engine.set_position(position);
        }
        self.side = Some(color.other());
    }

    fn result(&mut self, text: &str) {
        self.over = Some(Over::Declared);
        let (result, comment) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let comment = comment.trim().trim_start_matches('{').trim_end_matches('}');
        let ours = self.side.unwrap_or(Color::Black);
        let names = |color| if color == ours { self.name.as_str() } else { self.opponent.as_str() };
        let names = [names(Color::White), names(Color::Black)];
        self.engine.end_game(None, names, Some(result));
        let Some(path) = &self.log else { return };
        let pgn = self.engine.game.to_pgn(names[0], names[1], result, comment);
        let written = std::fs::OpenOptions::new().create(true).append(true).open(path).and_then(
            |mut file| {
                // A game is written by one call, because several engines may share the file.
                std::io::Write::write_all(&mut file, format!("{pgn}\n").as_bytes())
            },
        );
        if let Err(error) = written {
            self.say(format!("tellusererror cannot write {}: {error}", path.display()));
        }
    }

    /// The book's moves, or the likeliest ones; an empty line ends them.
    fn book(&mut self) {
        self.load();
        let position = self.engine.game.position().clone();
        let moves = self.engine.book_moves_here();
        let total: f64 = moves.iter().map(|b| b.weight).sum();
        for book_move in &moves {
            let word = notation::to_word(&position, book_move.m, self.engine.game.spelling());
            let share = 100.0 * book_move.weight / total.max(1.0);
            let results = book_move.results.map(|results| format!(" {results}"));
            self.say(format!(" {word} {share:.0}%{}", results.unwrap_or_default()));
        }
        if moves.is_empty()
            && !self.no_position
            && let Ok(ranking) = self.engine.rank()
        {
            for line in self.likeliest(&ranking, 10) {
                self.say(format!(" {line}"));
            }
        }
        self.say("");
    }

    fn edit(&mut self, line: &str) {
        let edited = self.editor.as_mut().and_then(|editor| editor.line(line));
        let Some(board) = edited else { return };
        self.editor = None;
        match editor::position_of(board, self.engine.game.turn()) {
            Some(position) => self.start_without_history(position),
            None => self.no_such_position(),
        }
    }
}

/// Depth, value, time, nodes and moves of a search, as thinking output has them: the moves in SAN,
/// or in coordinates if there is no spelling.
fn search_line(found: &Found, line: &Line, start: &Chess, spelling: Option<Spelling>) -> String {
    let value = match line.value.mate_in() {
        Some(moves) if moves > 0 => 100_000 + moves,
        Some(moves) => -100_000 + moves,
        None => line.value.centipawns(),
    };
    let mut position = start.clone();
    let mut words = String::new();
    for &m in &line.moves {
        words.push(' ');
        words += &match spelling {
            Some(spelling) => notation::to_word(&position, m, spelling),
            None => notation::to_coordinates(m),
        };
        position.play_unchecked(m);
    }
    let centiseconds = found.time.as_millis() / 10;
    format!("{} {value} {centiseconds} {}{words}", found.depth, found.nodes)
}
