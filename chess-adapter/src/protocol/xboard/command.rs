// SPDX-License-Identifier: GPL-3.0-or-later
//! The commands of the XBoard protocol, read from lines.

use std::time::Duration;

use shakmaty::Color;

use chess_games::notation;

/// One line from the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `xboard`
    Xboard,
    /// `protover N`
    Protover(u32),
    /// Loads the models and says that this is done, after the first features.
    Load,
    /// `accepted F`
    Accepted(String),
    /// `rejected F`
    Rejected(String),
    /// `new`
    New,
    /// `variant V`
    Variant(String),
    /// `quit`, or the end of input
    Quit,
    /// `random`
    Random,
    /// `force`
    Force,
    /// `go`
    Go,
    /// `playother`
    PlayOther,
    /// `white`, `black`: the side to move
    Turn(Color),
    /// `usermove M` or a bare move
    Move(String),
    /// `ping N`
    Ping(String),
    /// `sd D`; `None` for a bad argument
    Depth(Option<usize>),
    /// `level MPS BASE INC`
    Level(TimeControl),
    /// `st T`
    MoveTime(Duration),
    /// `time N`, centiseconds
    ClockTime(u64),
    /// `draw`
    Draw,
    /// `result R {C}`
    Result(String),
    /// `setboard FEN`
    SetBoard(String),
    /// `edit`
    Edit,
    /// A line of the old editor
    EditLine(String),
    /// `hint`
    Hint,
    /// `bk`
    Book,
    /// `undo`
    Undo,
    /// `remove`
    Remove,
    /// `post`, `nopost`
    Post(bool),
    /// `analyze`
    Analyze,
    /// `exit`
    ExitAnalysis,
    /// `.`
    Status,
    /// `name X`
    Name(String),
    /// `egtpath TYPE PATH`
    TablePath(String, String),
    /// `option NAME=VALUE`
    SetOption {
        /// The option.
        name: String,
        /// Its value, empty for a button.
        value: String,
        /// The whole line, for the error.
        line: String,
    },
    /// `why [MOVE]`, which is not part of the protocol
    Why(String),
    /// A command that is accepted and has no effect.
    Nothing,
    /// Anything else.
    Unknown(String),
}

impl Command {
    /// Reads a line; `editing` when the old editor is open.
    pub fn parse(line: &str, editing: bool) -> Self {
        let line = line.trim();
        if editing {
            return Self::EditLine(line.to_owned());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let owned = || rest.to_owned();
        match word {
            "" | "?" | "otim" | "nps" | "hard" | "easy" | "rating" | "ics" | "computer"
            | "pause" | "resume" | "memory" | "cores" => Self::Nothing,
            "level" => TimeControl::parse(rest).map_or(Self::Nothing, Self::Level),
            "st" => parse_minutes(rest, 1.0).map_or(Self::Nothing, Self::MoveTime),
            "time" => rest.parse().map_or(Self::Nothing, Self::ClockTime),
            "xboard" => Self::Xboard,
            "protover" => Self::Protover(rest.parse().unwrap_or(2)),
            "accepted" => Self::Accepted(owned()),
            "rejected" => Self::Rejected(owned()),
            "new" => Self::New,
            "variant" => Self::Variant(owned()),
            "quit" => Self::Quit,
            "random" => Self::Random,
            "force" => Self::Force,
            "go" => Self::Go,
            "playother" => Self::PlayOther,
            "white" => Self::Turn(Color::White),
            "black" => Self::Turn(Color::Black),
            "usermove" => Self::Move(owned()),
            "ping" => Self::Ping(owned()),
            "sd" => Self::Depth(rest.parse().ok()),
            "draw" => Self::Draw,
            "result" => Self::Result(owned()),
            "setboard" => Self::SetBoard(owned()),
            "edit" => Self::Edit,
            "hint" => Self::Hint,
            "bk" => Self::Book,
            "undo" => Self::Undo,
            "remove" => Self::Remove,
            "post" => Self::Post(true),
            "nopost" => Self::Post(false),
            "analyze" => Self::Analyze,
            "exit" => Self::ExitAnalysis,
            "." => Self::Status,
            "name" => Self::Name(owned()),
            "egtpath" => {
                let (kind, path) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                Self::TablePath(kind.to_owned(), path.trim().to_owned())
            }
            "option" => {
                let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
                Self::SetOption {
                    name: name.trim().to_owned(),
                    value: value.trim().to_owned(),
                    line: line.to_owned(),
                }
            }
            "why" => Self::Why(owned()),
            _ if rest.is_empty() && notation::looks_like_move(word.as_bytes()) => {
                Self::Move(word.to_owned())
            }
            _ => Self::Unknown(line.to_owned()),
        }
    }
}

/// How the clocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves until time is added again, 0 for the whole game.
    pub(super) moves: u32,
    pub(super) base: Duration,
    pub(super) increment: Duration,
}

impl TimeControl {
    /// Reads `MPS BASE INC`; BASE is minutes or minutes:seconds, INC seconds.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let moves = words.next()?.parse().ok()?;
        let base = parse_minutes(words.next()?, 60.0)?;
        let increment = parse_minutes(words.next()?, 1.0)?;
        Some(Self { moves, base, increment })
    }
}

/// Reads `A:B`, minutes and seconds, or a single number of the given unit in seconds.
fn parse_minutes(text: &str, unit: f64) -> Option<Duration> {
    let seconds = match text.split_once(':') {
        Some((minutes, seconds)) => {
            minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?
        }
        None => text.parse::<f64>().ok()? * unit,
    };
    (0.0..1e7).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
