// SPDX-License-Identifier: GPL-3.0-or-later
//! The UCI protocol (spec chess 8): lines to commands, commands to replies.

use std::fmt;
use std::time::Instant;

use shakmaty::Chess;

use crate::play::engine::{Engine, Trouble};
use crate::play::settings::NAMES;
use crate::text::game::read_fen;
use crate::text::notation;

/// What `go` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only these moves.
    pub search_moves: Vec<String>,
    /// Half-moves to look at.
    pub depth: Option<usize>,
    /// Wait for `stop` or `ponderhit` before answering.
    pub waits: bool,
}

/// One line from the driver.
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
        match *word {
            "searchmoves" => {
                while let Some(m) = words.next_if(|w| !WORDS_OF_GO.contains(w)) {
                    limits.search_moves.push((*m).to_owned());
                }
            }
            "infinite" | "ponder" => limits.waits = true,
            "depth" => limits.depth = words.next().and_then(|w| w.parse().ok()),
            _ => {}
        }
    }
    limits
}

/// One line to the driver.
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
    /// `bestmove M`
    BestMove(String),
}

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
    quitting: bool,
}

impl Uci {
    /// A dialogue in which nothing was said yet.
    pub const fn new(engine: Engine, name: String) -> Self {
        Self { engine, name, debug: false, pending: None, start: None, quitting: false }
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
                self.start = None;
                self.engine.set_position(Chess::default());
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
                    replies.push(Reply::Note(format!("{error:#}")));
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
        // An answer still owed belongs to a question that was given up.
        replies.extend(self.pending.take().map(Reply::BestMove));
        self.load(replies);
        let position = self.engine.game().position();
        let read = |word: &String| notation::read_move(position, word.as_bytes()).ok();
        let only: Vec<_> = limits.search_moves.iter().filter_map(read).collect();
        let only = (!only.is_empty()).then_some(only);
        let started = Instant::now();
        let best = match self.engine.choose(only.as_deref(), limits.depth) {
            Ok(choice) => {
                if let Err(error) = self.engine.write_watch_files(&choice) {
                    replies.push(Reply::Note(format!("{error:#}")));
                }
                let time = started.elapsed().as_millis();
                let nodes = choice.ranking.len();
                let depth = choice.depth;
                let best = notation::to_coordinates(choice.completion.m);
                let multi = self.engine.settings().multi_pv;
                let ranked =
                    choice.ranking.iter().map(|s| notation::to_coordinates(s.completion.m));
                let others = ranked.filter(|m| *m != best);
                let lines: Vec<String> =
                    std::iter::once(best.clone()).chain(others).take(multi).collect();
                for (k, m) in lines.iter().enumerate() {
                    let number =
                        if multi > 1 { format!("multipv {} ", k + 1) } else { String::new() };
                    let line = format!(
                        "depth {depth} {number}nodes {nodes} time {time} score cp 0 pv {m}"
                    );
                    replies.push(Reply::Info(line));
                }
                best
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
        if limits.waits {
            self.pending = Some(best);
        } else {
            replies.push(Reply::BestMove(best));
        }
    }
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
                    waits: true,
                }),
            ),
            ("go wtime 1 btime x", Command::Go(Limits::default())),
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
        use crate::random::Random;
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
