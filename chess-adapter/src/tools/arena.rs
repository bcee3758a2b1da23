// SPDX-License-Identifier: GPL-3.0-or-later
//! Games between the engine and others: a uniformly random mover, itself, any UCI engine (spec
//! chess 12.4 and 12.5).

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use shakmaty::{Chess, Color, EnPassantMode, Move, Position, fen::Fen};

use crate::play::classifier::{ChildProcesses, end};
use crate::play::engine::{Engine, Trouble};
use crate::random::Random;
use crate::text::game::{End, Game};
use crate::text::notation::{self, Spelling};
use crate::text::pgn::GameResult;

/// Someone who answers a position with a move.
pub trait Player {
    /// The move to play; the game is not over.
    ///
    /// # Errors
    ///
    /// The player is gone or answers nonsense.
    fn answer(&mut self, game: &Game) -> Result<Move>;
}

/// Draws uniformly among the legal moves.
pub struct RandomMover(pub Random);

impl Player for RandomMover {
    fn answer(&mut self, game: &Game) -> Result<Move> {
        let moves = game.completions();
        Ok(moves.get(self.0.below(moves.len().max(1))).context("no legal move")?.m)
    }
}

/// Our engine.
pub struct EnginePlayer(pub Engine);

impl Player for EnginePlayer {
    fn answer(&mut self, game: &Game) -> Result<Move> {
        let known = self.0.game().plies();
        let continues = known <= game.plies()
            && self.0.game().start() == game.start()
            && self.0.game().moves() == &game.moves()[..known];
        if !continues {
            self.0.set_position(game.start().clone());
        }
        for &m in &game.moves()[self.0.game().plies()..] {
            self.0.play(m);
        }
        match self.0.choose(None, None) {
            Ok(choice) => Ok(choice.completion.m),
            Err(Trouble::NoMove) => bail!("no legal move"),
            Err(Trouble::NoModel(color)) => bail!("no model for {color}"),
            Err(Trouble::Failed(error)) => Err(error),
        }
    }
}

/// Any engine that speaks UCI.
pub struct UciPlayer {
    child: Arc<Mutex<Child>>,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    go: String,
}

impl UciPlayer {
    /// Starts the engine by a shell command; `options` are `NAME=VALUE`, `go` what follows that word.
    ///
    /// # Errors
    ///
    /// It cannot be run or does not speak UCI.
    pub fn start(
        command: &str,
        options: &[String],
        go: &str,
        children: &ChildProcesses,
    ) -> Result<Self> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec {command}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = children.spawn(&mut shell)?;
        let (to, from) = {
            let mut child = child.lock().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
            (child.stdin.take().context("no pipe")?, child.stdout.take().context("no pipe")?)
        };
        let mut player = Self { child, to, from: BufReader::new(from), go: go.to_owned() };
        player.ask("uci", "uciok").with_context(|| format!("{command} does not speak UCI"))?;
        for option in options {
            let (name, value) =
                option.split_once('=').with_context(|| format!("no NAME=VALUE: {option}"))?;
            writeln!(player.to, "setoption name {name} value {value}")?;
        }
        player.ask("isready", "readyok")?;
        Ok(player)
    }

    fn ask(&mut self, question: &str, answer: &str) -> Result<String> {
        writeln!(self.to, "{question}")?;
        self.to.flush()?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.from.read_line(&mut line)? == 0 {
                bail!("the opponent ended");
            }
            if line.split_whitespace().next() == Some(answer) {
                return Ok(line.trim().to_owned());
            }
        }
    }
}

impl Drop for UciPlayer {
    fn drop(&mut self) {
        let _ = writeln!(self.to, "quit");
        end(&self.child);
    }
}

impl Player for UciPlayer {
    fn answer(&mut self, game: &Game) -> Result<Move> {
        let moves: Vec<String> =
            game.moves().iter().map(|m| notation::to_coordinates(*m)).collect();
        let fen = Fen::from_position(game.start(), EnPassantMode::Legal);
        let question = format!("position fen {fen} moves {}\ngo {}", moves.join(" "), self.go);
        let answer = self.ask(&question, "bestmove")?;
        let word = answer.split_whitespace().nth(1).unwrap_or_default();
        notation::read_move(game.position(), word.as_bytes())
            .map_err(|e| anyhow::anyhow!("the opponent plays {word}: {}", e.as_str()))
    }
}

/// How long an XBoard engine may take for its features and for a move.
const FEATURE_PATIENCE: Duration = Duration::from_secs(3);
const MOVE_PATIENCE: Duration = Duration::from_secs(300);

/// Any engine that speaks the XBoard protocol, version 1 or 2.
pub struct XboardPlayer {
    child: Arc<Mutex<Child>>,
    to: ChildStdin,
    lines: mpsc::Receiver<String>,
    /// Whether moves are to be announced by `usermove`.
    usermove: bool,
    limits: String,
    known: Vec<Move>,
}

impl XboardPlayer {
    /// Starts the engine by a shell command; `limits` are commands sent at the start of each game, separated by commas.
    ///
    /// # Errors
    ///
    /// It cannot be run.
    pub fn start(
        command: &str,
        options: &[String],
        limits: &str,
        children: &ChildProcesses,
    ) -> Result<Self> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec {command}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = children.spawn(&mut shell)?;
        let (to, from) = {
            let mut child = child.lock().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
            (child.stdin.take().context("no pipe")?, child.stdout.take().context("no pipe")?)
        };
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).trim().to_owned()).is_err() {
                    return;
                }
            }
        });
        let limits = limits.replace(',', "\n");
        let mut player = Self { child, to, lines, usermove: false, limits, known: Vec::new() };
        writeln!(player.to, "xboard\nprotover 2")?;
        player.read_features()?;
        for option in options {
            writeln!(player.to, "option {option}")?;
        }
        player.new_game()?;
        Ok(player)
    }

    /// Takes what the engine says of itself; an engine that says nothing speaks version 1.
    fn read_features(&mut self) -> Result<()> {
        let mut patience = FEATURE_PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(patience) {
            let Some(features) = line.strip_prefix("feature ") else { continue };
            for feature in features.split_whitespace() {
                let name = feature.split('=').next().unwrap_or_default();
                match feature {
                    "usermove=1" => self.usermove = true,
                    "done=0" => patience = MOVE_PATIENCE,
                    "done=1" => return Ok(()),
                    _ => {}
                }
                // Moves in coordinates suit everyone.
                let verdict = if name == "san" { "rejected" } else { "accepted" };
                if feature.contains('=') {
                    writeln!(self.to, "{verdict} {name}")?;
                }
            }
        }
        Ok(())
    }

    fn new_game(&mut self) -> Result<()> {
        self.known.clear();
        writeln!(self.to, "new\n{}\nforce", self.limits)?;
        Ok(())
    }
}

impl Drop for XboardPlayer {
    fn drop(&mut self) {
        let _ = writeln!(self.to, "quit");
        end(&self.child);
    }
}

impl Player for XboardPlayer {
    fn answer(&mut self, game: &Game) -> Result<Move> {
        if !game.moves().starts_with(&self.known) {
            self.new_game()?;
        }
        for &m in &game.moves()[self.known.len()..] {
            let word = if self.usermove { "usermove " } else { "" };
            writeln!(self.to, "{word}{}", notation::to_coordinates(m))?;
        }
        writeln!(self.to, "go")?;
        self.to.flush()?;
        loop {
            let line =
                self.lines.recv_timeout(MOVE_PATIENCE).context("the opponent does not answer")?;
            let word = line.strip_prefix("move ").or_else(|| line.strip_prefix("My move is: "));
            let Some(word) = word.map(str::trim) else {
                if line.starts_with("Illegal move") || line == "resign" {
                    bail!("the opponent says {line:?}");
                }
                continue;
            };
            let m = notation::read_move(game.position(), word.as_bytes())
                .map_err(|e| anyhow::anyhow!("the opponent plays {word}: {}", e.as_str()))?;
            writeln!(self.to, "force")?;
            self.known = game.moves().to_vec();
            self.known.push(m);
            return Ok(m);
        }
    }
}

/// Which colour the engine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// White in every game.
    White,
    /// Black in every game.
    Black,
    /// White in the first game, Black in the second, and so on.
    #[default]
    Both,
}

/// How to play a match.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of games.
    pub games: u32,
    /// Which colour the engine has.
    pub side: Side,
    /// Games are stopped after so many half-moves.
    pub limit: usize,
}

/// What came of a match, from the engine's side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
    /// Games stopped at the limit while at least three pawns ahead.
    pub stopped_ahead: u32,
    /// ... while about level.
    pub stopped_level: u32,
    /// ... while at least three pawns behind.
    pub stopped_behind: u32,
    /// Mean material lead at the end, pawns.
    pub material: f64,
    /// Mean number of half-moves.
    pub half_moves: f64,
}

/// One game, to its end by the rules or the limit.
///
/// # Errors
///
/// A player fails.
pub fn play_game(
    white: &mut dyn Player,
    black: &mut dyn Player,
    limit: usize,
) -> Result<(Game, Option<End>)> {
    let mut game = Game::new(Chess::default(), Spelling::default());
    while game.plies() < limit {
        if let Some(end) = game.end() {
            return Ok((game, Some(end)));
        }
        let m = match game.turn() {
            Color::White => white.answer(&game)?,
            Color::Black => black.answer(&game)?,
        };
        if !game.position().is_legal(m) {
            bail!("illegal move {m}");
        }
        game.play(m);
    }
    let end = game.end();
    Ok((game, end))
}

/// Plays a match; every finished game goes to `finished` with the engine's colour.
///
/// # Errors
///
/// A player fails, or `finished` does.
pub fn play_match(
    engine: &mut dyn Player,
    opponent: &mut dyn Player,
    options: &Options,
    mut finished: impl FnMut(&Game, Color, Option<End>) -> Result<()>,
) -> Result<Score> {
    let mut score = Score::default();
    let (mut material, mut half_moves) = (0.0, 0.0);
    for number in 0..options.games {
        let color = match options.side {
            Side::White => Color::White,
            Side::Black => Color::Black,
            Side::Both => Color::from_white(number.is_multiple_of(2)),
        };
        let (game, end) = match color {
            Color::White => play_game(&mut *engine, &mut *opponent, options.limit)?,
            Color::Black => play_game(&mut *opponent, &mut *engine, options.limit)?,
        };
        let lead = game.material_balance() * if color.is_white() { 1 } else { -1 };
        material += f64::from(lead);
        half_moves += u32::try_from(game.plies()).map_or(f64::INFINITY, f64::from);
        let place = match (end.map(End::result), lead) {
            (Some(GameResult::Draw), _) => &mut score.drawn,
            (Some(result), _) if (result == GameResult::WhiteWins) == color.is_white() => {
                &mut score.won
            }
            (Some(_), _) => &mut score.lost,
            (None, 3..) => &mut score.stopped_ahead,
            (None, ..=-3) => &mut score.stopped_behind,
            (None, _) => &mut score.stopped_level,
        };
        *place += 1;
        finished(&game, color, end)?;
    }
    score.material = material / f64::from(options.games.max(1));
    score.half_moves = half_moves / f64::from(options.games.max(1));
    Ok(score)
}

impl Score {
    /// One line for people.
    pub fn line(&self) -> String {
        let stopped = self.stopped_ahead + self.stopped_level + self.stopped_behind;
        format!(
            "won {} drawn {} lost {} stopped {stopped} (ahead {} / level {} / behind {}) material {:+.1} half-moves {:.0}",
            self.won,
            self.drawn,
            self.lost,
            self.stopped_ahead,
            self.stopped_level,
            self.stopped_behind,
            self.material,
            self.half_moves
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::engine::tests::engine;
    use crate::play::settings::Settings;

    #[test]
    fn matches_against_the_random_mover_are_legal_and_repeat() {
        let play = || {
            let mut engine = EnginePlayer(engine(&["e5", "Qh4"], Settings::default()));
            let mut opponent = RandomMover(Random::from_seed(7));
            let options = Options { games: 4, side: Side::Both, limit: 60 };
            let mut lines = Vec::new();
            let score = play_match(&mut engine, &mut opponent, &options, |game, _, _| {
                lines.push(game.gameline());
                Ok(())
            });
            (score.expect("played"), lines)
        };
        let (score, lines) = play();
        let stopped = score.stopped_ahead + score.stopped_level + score.stopped_behind;
        assert_eq!(score.won + score.drawn + score.lost + stopped, 4);
        assert_eq!((score, lines), play());
    }
}
