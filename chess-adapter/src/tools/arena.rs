// SPDX-License-Identifier: GPL-3.0-or-later
//! Games between the engine and others: a uniformly random mover, itself, any UCI engine (spec
//! chess 12.4 and 12.5).

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Serialize;
use shakmaty::{ByColor, Color, EnPassantMode, KnownOutcome, Move, fen::Fen};

use chess_games::cannot::Cannot;

use crate::play::classifier::{ChildProcesses, Process};
use crate::play::engine::Engine;
use crate::play::settings::name_and_value;
use crate::protocol::uci::read_go;
use chess_games::game::{End, Game};
use chess_games::notation;
use chess_games::results::Results;
use dbacl_numeric::random::SplitMix64;

/// Someone who answers a position with a move.
pub(crate) trait Player {
    /// A legal move to play; the game is not over.
    fn answer(&mut self, game: &Game, clocks: Option<&Clocks>) -> Result<Move>;
}

/// Both sides' clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub left: ByColor<Duration>,
    pub increment: Duration,
}

impl Clocks {
    /// Reads `SECONDS+SECONDS`: time for the game and after each move.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        let time = |text: &str| -> Result<Duration> {
            let seconds: f64 = text.trim().parse().with_context(|| format!("no time: {text:?}"))?;
            Duration::try_from_secs_f64(seconds).with_context(|| format!("no time: {text:?}"))
        };
        let base = time(base)?;
        Ok(Self { left: ByColor { white: base, black: base }, increment: time(increment)? })
    }
}

/// What a side gets after `go`: the clocks, and its own limits.
fn told(clocks: Option<&Clocks>, limits: &str) -> String {
    let Some(clocks) = clocks else { return limits.to_owned() };
    let ByColor { white, black } = clocks.left.map(|t| t.as_millis());
    let increment = clocks.increment.as_millis();
    format!("wtime {white} btime {black} winc {increment} binc {increment} {limits}")
}

/// Draws uniformly among the legal moves.
pub(crate) struct RandomMover(pub SplitMix64);

impl Player for RandomMover {
    fn answer(&mut self, game: &Game, _clocks: Option<&Clocks>) -> Result<Move> {
        let moves = game.completions();
        Ok(moves.get(self.0.below(moves.len().max(1))).context("no legal move")?.m)
    }
}

/// Our engine, and what it gets after `go`, beside the clocks.
pub(crate) struct EnginePlayer(pub Engine, pub String);

impl Player for EnginePlayer {
    fn answer(&mut self, game: &Game, clocks: Option<&Clocks>) -> Result<Move> {
        let known = self.0.game.plies();
        let continues = known <= game.plies()
            && self.0.game.start() == game.start()
            && self.0.game.moves() == &game.moves()[..known];
        if !continues {
            self.0.set_position(game.start().clone());
        }
        for &m in &game.moves()[self.0.game.plies()..] {
            self.0.game.play(m);
        }
        if game.plies() < 2 {
            self.0.forget_searches();
        }
        let told = told(clocks, &self.1);
        let words: Vec<&str> = told.split_whitespace().collect();
        Ok(self.0.choose(&read_go(&words, game), &mut |_| {})?.completion.m)
    }
}

/// How long an engine may take to say that it speaks UCI.
const GREETING: Duration = Duration::from_secs(20);

/// Any engine that speaks UCI.
pub(crate) struct UciPlayer {
    process: Process,
    go: String,
}

impl UciPlayer {
    /// Starts the engine by a shell command; `options` are `NAME=VALUE`, `go` what follows that
    /// word, beside the clocks.
    pub(crate) fn start(command: &str, options: &[String], go: &str) -> Result<Self> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec {command}"));
        let process = ChildProcesses::default().spawn(&mut shell)?;
        let player = Self { process, go: go.to_owned() };
        let greeted = player.ask("uci", "uciok", GREETING);
        greeted.with_context(|| format!("{command} does not speak UCI"))?;
        for option in options {
            let (name, value) = name_and_value(option)?;
            player.say(&format!("setoption name {name} value {value}"))?;
        }
        player.ask("isready", "readyok", Duration::MAX)?;
        Ok(player)
    }

    fn say(&self, line: &str) -> Result<()> {
        self.process.to.send(format!("{line}\n")).ok().context("the opponent ended")
    }

    /// Waits so long for the line of this first word.
    fn ask(&self, question: &str, answer: &str, patience: Duration) -> Result<String> {
        self.say(question)?;
        let begun = Instant::now();
        loop {
            let left = patience.saturating_sub(begun.elapsed());
            match self.process.from.recv_timeout(left) {
                Ok(line) if line.split_whitespace().next() == Some(answer) => return Ok(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("the opponent ended"),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("no {answer} in {} seconds", patience.as_secs())
                }
            }
        }
    }
}

impl Player for UciPlayer {
    fn answer(&mut self, game: &Game, clocks: Option<&Clocks>) -> Result<Move> {
        let moves: Vec<String> =
            game.moves().iter().map(|m| notation::to_coordinates(*m)).collect();
        let fen = Fen::from_position(game.start(), EnPassantMode::Legal);
        let go = told(clocks, &self.go);
        let question = format!("position fen {fen} moves {}\ngo {go}", moves.join(" "));
        let answer = self.ask(&question, "bestmove", Duration::MAX)?;
        let word = answer.split_whitespace().nth(1).unwrap_or_default();
        game.read_move(word).context("the opponent's move")
    }
}

/// Which colour the engine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Side {
    /// White in every game.
    White,
    /// Black in every game.
    Black,
    /// White in the first game, Black in the second, and so on.
    #[default]
    Both,
}

/// How to play a match.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 100)]
    games: u32,
    /// Which colour the engine has
    #[arg(long, value_enum, default_value_t)]
    side: Side,
    /// Stop games after N half-moves
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// Seconds for the game and for each move, such as 10+0.1, in addition to other limits
    #[arg(long, value_name = "TIME+INCREMENT", value_parser = Clocks::parse)]
    pub clock: Option<Clocks>,
    /// Gamelines to begin with, one a line; each is played once, or with both colours
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Half-moves taken from each of these
    #[arg(long, value_name = "N", default_value_t = 8)]
    opening_plies: usize,
}

impl Options {
    /// Games of the first half-moves of each gameline, none without a file.
    fn read_openings(&self) -> Result<Vec<Game>> {
        let Some(path) = &self.openings else { return Ok(Vec::new()) };
        let text = std::fs::read_to_string(path).with_context(|| Cannot::Read(path.into()))?;
        ensure!(!text.trim().is_empty(), "{}: there is no opening", path.display());
        let opening = |(number, line): (usize, &str)| {
            let mut game = Game::default();
            let words: Vec<&str> = line.split_whitespace().take(self.opening_plies).collect();
            let played = game.play_words(&words.join(" "));
            played.with_context(|| format!("{} line {}", path.display(), number + 1))?;
            Ok(game)
        };
        text.lines().enumerate().map(opening).collect()
    }
}

/// What came of a match, from the engine's side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Score {
    #[serde(flatten)]
    pub results: Results,
    /// Games among those won that the opponent lost on time.
    pub won_on_time: u32,
    /// Games among those lost that were lost on time.
    pub lost_on_time: u32,
    /// Games stopped at the limit while at least three pawns ahead.
    pub stopped_ahead: u32,
    /// ... while about level.
    pub stopped_level: u32,
    /// ... while at least three pawns behind.
    pub stopped_behind: u32,
    /// Mean material lead at the end, pawns.
    pub material: f64,
    pub half_moves: f64,
    /// Moves of the engine's book that it played at each move of the games, from the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub book_moves: Vec<u32>,
}

/// How a game went.
pub(crate) struct Played {
    pub game: Game,
    /// Who lost on time.
    pub overstepped: Option<Color>,
}

impl Played {
    /// Who won; `None` for a game that was stopped.
    pub(crate) fn result(&self) -> Option<KnownOutcome> {
        let on_time =
            self.overstepped.map(|color| KnownOutcome::Decisive { winner: color.other() });
        on_time.or_else(|| self.game.end().map(End::result))
    }
}

/// Goes on with a game, to its end by the rules or the limit.
fn play_game(
    mut players: ByColor<&mut dyn Player>,
    mut game: Game,
    limit: usize,
    mut clocks: Option<Clocks>,
) -> Result<Played> {
    while game.plies() < limit && game.end().is_none() {
        let turn = game.turn();
        let begun = Instant::now();
        let m = players.get_mut(turn).answer(&game, clocks.as_ref())?;
        if let Some(clocks) = &mut clocks {
            let left = clocks.left.get_mut(turn);
            let Some(rest) = left.checked_sub(begun.elapsed()) else {
                return Ok(Played { game, overstepped: Some(turn) });
            };
            *left = rest + clocks.increment;
        }
        game.play(m);
    }
    Ok(Played { game, overstepped: None })
}

/// Plays a match; every finished game goes to `finished` with the engine's colour.
pub(crate) fn play_match(
    engine: &mut dyn Player,
    opponent: &mut dyn Player,
    options: &Options,
    mut finished: impl FnMut(&Played, Color, &Score) -> Result<()>,
) -> Result<Score> {
    let openings = options.read_openings()?;
    let mut score = Score::default();
    let (mut material, mut half_moves) = (0.0, 0.0);
    for number in 0..options.games {
        let color = match options.side {
            Side::White => Color::White,
            Side::Black => Color::Black,
            Side::Both => Color::from_white(number.is_multiple_of(2)),
        };
        let mut players: ByColor<&mut dyn Player> =
            ByColor { white: &mut *engine, black: &mut *opponent };
        if color.is_black() {
            players.swap();
        }
        let place = if options.side == Side::Both { number / 2 } else { number };
        let opening = openings.iter().cycle().nth(place as usize).cloned();
        let played = play_game(players, opening.unwrap_or_default(), options.limit, options.clock)?;
        let lead = played.game.lead(color);
        material += f64::from(lead);
        half_moves += u32::try_from(played.game.plies()).map_or(f64::INFINITY, f64::from);
        score.lost_on_time += u32::from(played.overstepped == Some(color));
        score.won_on_time += u32::from(played.overstepped == Some(color.other()));
        match (played.result(), lead) {
            (Some(result), _) => score.results.add(result.winner(), color),
            (None, 3..) => score.stopped_ahead += 1,
            (None, ..=-3) => score.stopped_behind += 1,
            (None, _) => score.stopped_level += 1,
        }
        finished(&played, color, &score)?;
    }
    score.material = material / f64::from(options.games.max(1));
    score.half_moves = half_moves / f64::from(options.games.max(1));
    Ok(score)
}

impl Score {
    fn book_line(&self) -> String {
        let numbers: Vec<String> = self.book_moves.iter().map(u32::to_string).collect();
        match numbers.is_empty() {
            true => String::new(),
            false => format!(" book moves {}", numbers.join(" ")),
        }
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let stopped = self.stopped_ahead + self.stopped_level + self.stopped_behind;
        let on_time = |games: u32| match games {
            0 => String::new(),
            n => format!(" ({n} on time)"),
        };
        format!(
            "won {}{} drawn {} lost {}{} stopped {stopped} (ahead {} / level {} / behind {}) \
             material {:+.1} half-moves {:.0}",
            self.results.won,
            on_time(self.won_on_time),
            self.results.drawn,
            self.results.lost,
            on_time(self.lost_on_time),
            self.stopped_ahead,
            self.stopped_level,
            self.stopped_behind,
            self.material,
            self.half_moves
        ) + &self.book_line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_the_clocks_and_their_own_limits() {
        let clocks = Clocks::parse("10+0.1").expect("clocks");
        let clock = "wtime 10000 btime 10000 winc 100 binc 100";
        assert_eq!(told(Some(&clocks), "nodes 20000"), format!("{clock} nodes 20000"));
        assert_eq!(told(None, "nodes 20000"), "nodes 20000");
    }
}
