// SPDX-License-Identifier: GPL-3.0-or-later
//! The UCI protocol (spec chess 8): parses lines into commands, and answers commands with replies.

use std::fmt;
use std::time::{Duration, Instant};

use chess_search::{Clock, Found, Line};
use shakmaty::{Chess, Color};

use crate::play::engine::{Choice, Engine, Trouble};
use crate::play::searching::{Allowance, Waiting};
use crate::play::settings::NAMES;
use chess_games::game::read_fen;
use chess_games::notation;

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only these moves.
    pub search_moves: Vec<String>,
    /// Clock times by colour, White's first; milliseconds.
    pub time: [Option<u64>; 2],
    /// Increments by colour, milliseconds.
    pub increment: [u64; 2],
    /// Moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// Half-moves to look at.
    pub depth: Option<usize>,
    /// Positions to look at.
    pub nodes: Option<u64>,
    /// Look for a mate in so many moves.
    pub mate: Option<u32>,
    /// Time for this move, milliseconds.
    pub move_time: Option<u64>,
    /// When to answer.
    pub waiting: Waiting,
}

impl Limits {
    /// The limits that these arguments set for the side to move.
    pub fn allowance(&self, turn: Color) -> Allowance {
        let side = turn.fold_wb(0, 1);
        let clock = self.time[side].map(|left| Clock {
            left: Duration::from_millis(left),
            increment: Duration::from_millis(self.increment[side]),
            moves_to_go: self.moves_to_go,
        });
        let limits = chess_search::Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.move_time.map(Duration::from_millis),
            clock,
            mate: self.mate,
            overhead: Duration::ZERO,
        };
        Allowance { limits, waiting: self.waiting }
    }

    /// Reads the words after `go`.
    pub fn parse(words: &str) -> Self {
        parse_limits(&words.split_whitespace().collect::<Vec<_>>())
    }
}

/// One line from the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `debug on|off`
    Debug(bool),
    /// `isready`
    IsReady,
    /// `setoption name N [value V]`
    SetOption {
        /// The option.
        name: String,
        /// Its value, empty for a button.
        value: String,
    },
    /// `ucinewgame`
    NewGame,
    /// `position ...`
    Position {
        /// The position, `None` for the start.
        fen: Option<String>,
        /// The moves from there.
        moves: Vec<String>,
    },
    /// `go ...`
    Go(Limits),
    /// `stop` or `ponderhit`
    Stop,
    /// `quit`, or the end of input
    Quit,
    /// Anything else.
    Nothing,
}

const WORDS_OF_GO: &[&str] = &[
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

impl Command {
    /// Reads a line; unknown words are skipped until one is known.
    pub fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            let rest: Vec<&str> = words.clone().collect();
            return match word {
                "uci" => Self::Uci,
                "debug" => Self::Debug(rest.first() != Some(&"off")),
                "isready" => Self::IsReady,
                "setoption" => Self::parse_option(&rest),
                "ucinewgame" => Self::NewGame,
                "position" => Self::parse_position(&rest),
                "go" => Self::Go(parse_limits(&rest)),
                "stop" | "ponderhit" => Self::Stop,
                "quit" => Self::Quit,
                "register" => Self::Nothing,
                _ => continue,
            };
        }
        Self::Nothing
    }

    fn parse_option(rest: &[&str]) -> Self {
        let rest = rest.strip_prefix(&["name"]).unwrap_or(rest);
        let value = rest.iter().position(|w| *w == "value").unwrap_or(rest.len());
        Self::SetOption {
            name: rest[..value].join(" "),
            value: rest.get(value + 1..).unwrap_or_default().join(" "),
        }
    }

    fn parse_position(rest: &[&str]) -> Self {
        let moves = rest.iter().position(|w| *w == "moves").unwrap_or(rest.len());
        let fen = match rest.first() {
            Some(&"fen") => Some(rest[1..moves.max(1)].join(" ")),
            _ => None,
        };
        let moves = rest.get(moves + 1..).unwrap_or_default();
        Self::Position { fen, moves: moves.iter().map(|w| (*w).to_owned()).collect() }
    }
}

fn parse_limits(rest: &[&str]) -> Limits {
    let mut limits = Limits::default();
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        // Clocks that have run out may be negative.
        let mut number = || -> Option<u64> {
            let next = words.next_if(|w| !WORDS_OF_GO.contains(w))?;
            next.parse::<i64>().ok().map(|n| u64::try_from(n).unwrap_or(0))
        };
        match *word {
            "searchmoves" => {
                while let Some(m) = words.next_if(|w| !WORDS_OF_GO.contains(w)) {
                    limits.search_moves.push((*m).to_owned());
                }
            }
            "infinite" => limits.waiting = Waiting::UntilStop,
            "ponder" => limits.waiting = Waiting::UntilPonderHit,
            "depth" => limits.depth = number().and_then(|n| usize::try_from(n).ok()),
            "nodes" => limits.nodes = number(),
            "mate" => limits.mate = number().and_then(|n| u32::try_from(n).ok()),
            "movetime" => limits.move_time = number(),
            "wtime" => limits.time[0] = number(),
            "btime" => limits.time[1] = number(),
            "winc" => limits.increment[0] = number().unwrap_or(0),
            "binc" => limits.increment[1] = number().unwrap_or(0),
            "movestogo" => limits.moves_to_go = number().and_then(|n| u32::try_from(n).ok()),
            _ => {}
        }
    }
    limits
}

/// One line to the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `id name ...`, `id author ...`
    Id(&'static str, String),
    /// `option name N type ...`
    Option(&'static str, String),
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `info ...`
    Info(String),
    /// `info string ...`
    Note(String),
    /// `bestmove M`, with `ponder M` if a reply is expected
    BestMove(String),
}

/// A function that receives replies while a command is still being answered.
pub type Live = Box<dyn FnMut(&Reply)>;

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(what, text) => write!(f, "id {what} {text}"),
            Self::Option(name, text) => write!(f, "option name {name} {text}"),
            Self::UciOk => f.write_str("uciok"),
            Self::ReadyOk => f.write_str("readyok"),
            Self::Info(text) => write!(f, "info {text}"),
            Self::Note(text) => write!(f, "info string {text}"),
            Self::BestMove(m) => write!(f, "bestmove {m}"),
        }
    }
}

/// The dialogue's state.
pub struct Uci {
    engine: Engine,
    name: String,
    debug: bool,
    /// The answer that waits for `stop` or `ponderhit`.
    pending: Option<String>,
    start: Option<String>,
    /// Why the last position could not be set.
    no_position: Option<String>,
    quitting: bool,
    live: Option<Live>,
}

impl Uci {
    /// A new dialogue.
    pub const fn new(engine: Engine, name: String) -> Self {
        Self {
            engine,
            name,
            debug: false,
            pending: None,
            start: None,
            no_position: None,
            quitting: false,
            live: None,
        }
    }

    /// Makes a search report its results while it runs, instead of with the answer.
    pub fn tell_live(&mut self, live: Live) {
        self.live = Some(live);
    }

    /// Whether the dialogue is over.
    pub const fn is_quitting(&self) -> bool {
        self.quitting
    }

    /// Answers a command.
    pub fn handle(&mut self, command: Command) -> Vec<Reply> {
        let mut replies = Vec::new();
        match command {
            Command::Uci => {
                replies.push(Reply::Id(
                    "name",
                    format!("{} {}", self.name, env!("CARGO_PKG_VERSION")),
                ));
                replies.push(Reply::Id("author", "the dbacl authors".to_owned()));
                for name in NAMES {
                    if let Some(value) = self.engine.settings().get(name) {
                        replies.push(Reply::Option(name, value.uci()));
                    }
                }
                replies.push(Reply::UciOk);
            }
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                self.load(&mut replies);
                replies.push(Reply::ReadyOk);
            }
            Command::SetOption { name, value } => {
                if let Err(error) = self.engine.set_option(&name, &value)
                    && self.debug
                {
                    replies.push(Reply::Note(format!("{name}: {error:#}")));
                }
            }
            Command::NewGame => {
                (self.start, self.no_position) = (None, None);
                self.engine.new_game();
            }
            Command::Position { fen, moves } => self.position(fen, &moves, &mut replies),
            Command::Go(limits) => self.go(&limits, &mut replies),
            Command::Stop => replies.extend(self.pending.take().map(Reply::BestMove)),
            Command::Quit => self.quitting = true,
            Command::Nothing => {}
        }
        replies
    }

    fn load(&mut self, replies: &mut Vec<Reply>) {
        replies.extend(self.engine.load().into_iter().map(Reply::Note));
    }

    /// Sets the position; if it only continues the known game, the new moves alone are played.
    fn position(&mut self, fen: Option<String>, moves: &[String], replies: &mut Vec<Reply>) {
        self.no_position = None;
        let known = self.engine.game().moves();
        let continues = self.start == fen
            && known.len() <= moves.len()
            && known.iter().zip(moves).all(|(m, word)| notation::to_coordinates(*m) == *word);
        let new = if continues {
            &moves[known.len()..]
        } else {
            let start = match fen.as_deref().map(read_fen) {
                None => Chess::default(),
                Some(Ok(position)) => position,
                Some(Err(error)) => {
                    let why = format!("{error:#}");
                    replies.push(Reply::Note(why.clone()));
                    self.no_position = Some(why);
                    return;
                }
            };
            self.engine.set_position(start);
            self.start = fen;
            moves
        };
        for word in new {
            let Ok(m) = notation::read_move(self.engine.game().position(), word.as_bytes()) else {
                replies.push(Reply::Note(format!("illegal move {word}")));
                break;
            };
            self.engine.play(m);
        }
    }

    fn go(&mut self, limits: &Limits, replies: &mut Vec<Reply>) {
        // An answer that is still held back belongs to an earlier `go`, which the new position
        // ends.
        replies.extend(self.pending.take().map(Reply::BestMove));
        if let Some(why) = &self.no_position {
            replies.push(Reply::Note(format!("no position to move in: {why}")));
            replies.push(Reply::BestMove("0000".to_owned()));
            return;
        }
        self.load(replies);
        let position = self.engine.game().position();
        let read = |word: &String| notation::read_move(position, word.as_bytes()).ok();
        let only: Vec<_> = limits.search_moves.iter().filter_map(read).collect();
        let only = (!only.is_empty()).then_some(only);
        let started = Instant::now();
        let allowed = limits.allowance(self.engine.game().turn());
        let multi = self.engine.settings().multi_pv;
        let mut live = self.live.take();
        let mut told = 0;
        let mut progress = |found: &Found| {
            told = found.nodes;
            for reply in search_lines(found, multi) {
                match &mut live {
                    Some(live) => live(&reply),
                    None => replies.push(reply),
                }
            }
        };
        let chosen = self.engine.choose_within(only.as_deref(), &allowed, &mut progress);
        self.live = live;
        let best = match chosen {
            Ok(choice) => {
                if let Err(error) = self.engine.write_watch_files(&choice) {
                    replies.push(Reply::Note(format!("{error:#}")));
                }
                let best = notation::to_coordinates(choice.completion.m);
                match &choice.found {
                    Some(found) => replies.extend(chosen_line(found, &choice, told)),
                    None => replies.extend(ranking_lines(&choice, &best, multi, started)),
                }
                match choice.expected_reply() {
                    Some(reply) => format!("{best} ponder {}", notation::to_coordinates(reply)),
                    None => best,
                }
            }
            Err(Trouble::NoMove) => "0000".to_owned(),
            Err(trouble) => {
                replies.push(Reply::Note(match trouble {
                    Trouble::NoModel(color) => format!("no model for {color}"),
                    Trouble::Failed(error) => format!("{error:#}"),
                    Trouble::NoMove => String::new(),
                }));
                // The protocol wants a move; a null move would lose at once.
                self.engine
                    .game()
                    .completions()
                    .first()
                    .map_or_else(|| "0000".to_owned(), |c| notation::to_coordinates(c.m))
            }
        };
        replies.extend(self.engine.news().into_iter().map(Reply::Note));
        if limits.waiting == Waiting::No {
            replies.push(Reply::BestMove(best));
        } else {
            self.pending = Some(best);
        }
    }
}

/// The results of a search, one line for each of the best moves.
fn search_lines(found: &Found, multi: usize) -> Vec<Reply> {
    let lines = found.lines.iter().take(multi).enumerate();
    lines.map(|(k, line)| search_line(found, line, (multi > 1).then_some(k + 1))).collect()
}

fn search_line(found: &Found, line: &Line, number: Option<usize>) -> Reply {
    let score = match line.value.mate_in() {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", line.value.centipawns()),
    };
    let number = number.map_or_else(String::new, |k| format!("multipv {k} "));
    let moves: Vec<String> = line.moves.iter().map(|m| notation::to_coordinates(*m)).collect();
    Reply::Info(format!(
        "depth {} seldepth {} {number}score {score} nodes {} nps {} time {} pv {}",
        found.depth,
        found.selective_depth,
        found.nodes,
        found.nodes_per_second(),
        found.time.as_millis(),
        moves.join(" ")
    ))
}

/// The line of the chosen move, if it is not the search's first, or if positions were searched
/// after the last line, which counted so many.
fn chosen_line(found: &Found, choice: &Choice, told: u64) -> Option<Reply> {
    let place = found.lines.iter().position(|l| l.moves.first() == Some(&choice.completion.m))?;
    (place > 0 || found.nodes > told).then(|| search_line(found, &found.lines[place], None))
}

/// The classifier's first choices, without a search.
fn ranking_lines(choice: &Choice, best: &str, multi: usize, started: Instant) -> Vec<Reply> {
    let time = started.elapsed().as_millis();
    let (nodes, depth) = (choice.ranking.len(), choice.depth);
    let ranked = choice.ranking.iter().map(|s| notation::to_coordinates(s.completion.m));
    let others = ranked.filter(|m| m != best);
    let lines = std::iter::once(best.to_owned()).chain(others).take(multi);
    lines
        .enumerate()
        .map(|(k, m)| {
            let number = if multi > 1 { format!("multipv {} ", k + 1) } else { String::new() };
            Reply::Info(format!(
                "depth {depth} {number}nodes {nodes} time {time} score cp 0 pv {m}"
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_commands() {
        let option =
            |name: &str, value: &str| Command::SetOption { name: name.into(), value: value.into() };
        let rows: &[(&str, Command)] = &[
            ("uci", Command::Uci),
            ("  joho debug on", Command::Debug(true)),
            ("debug off", Command::Debug(false)),
            ("setoption name Book File value a b", option("Book File", "a b")),
            ("setoption name Clear", option("Clear", "")),
            ("position startpos", Command::Position { fen: None, moves: vec![] }),
            (
                "position fen 8/8 w - - 0 1 moves e2e4",
                Command::Position { fen: Some("8/8 w - - 0 1".into()), moves: vec!["e2e4".into()] },
            ),
            ("position fen", Command::Position { fen: Some(String::new()), moves: vec![] }),
            (
                "go searchmoves e2e4 d2d4 depth 3 infinite",
                Command::Go(Limits {
                    search_moves: vec!["e2e4".into(), "d2d4".into()],
                    depth: Some(3),
                    waiting: Waiting::UntilStop,
                    ..Limits::default()
                }),
            ),
            ("go btime x", Command::Go(Limits::default())),
            (
                "go ponder wtime -5 btime 900 binc 10 movestogo 3 movetime nodes 7",
                Command::Go(Limits {
                    time: [Some(0), Some(900)],
                    increment: [0, 10],
                    moves_to_go: Some(3),
                    nodes: Some(7),
                    waiting: Waiting::UntilPonderHit,
                    ..Limits::default()
                }),
            ),
            ("ponderhit", Command::Stop),
            ("xyzzy", Command::Nothing),
            ("", Command::Nothing),
        ];
        for (line, command) in rows {
            assert_eq!(Command::parse(line), *command, "{line}");
        }
    }

    #[test]
    fn no_dialogue_panics() {
        use crate::play::engine::tests::engine;
        use crate::play::settings::Settings;
        use chess_odds::random::Random;
        let words = [
            "uci",
            "isready",
            "ucinewgame",
            "position startpos moves e2e4 e7e5",
            "position startpos moves e2e4",
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1",
            "position fen x",
            "position",
            "go",
            "go infinite",
            "stop",
            "ponderhit",
            "go depth x searchmoves",
            "setoption",
            "setoption name",
            "setoption name Seed value 4",
            "setoption value",
            "debug on",
            "position fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1",
            "go searchmoves e2e4 a1a1",
        ];
        for seed in 0..40 {
            let mut random = Random::from_seed(seed);
            let mut dialogue = Uci::new(engine(&["e5"], Settings::default()), "x".into());
            for _ in 0..120 {
                for reply in dialogue.handle(Command::parse(words[random.below(words.len())])) {
                    assert!(!reply.to_string().contains('\n'));
                }
            }
        }
    }
}
