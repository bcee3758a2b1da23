// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies the opponent's style, after BayesChess (spec chess 9.9). Three categories of players
//! judge, once in a game, the opponent's moves.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;
use shakmaty::Color;

use crate::play::classifier::{Classifier, Program};
use chess_games::game::Game;
use chess_games::notation::Spelling;
use chess_games::pgn::{Games, RawGame};
use chess_games::prepare::Gameline;

/// A way to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Against this style chess-adapter tries not to lose: it chooses by its own wins and draws.
    Attacking,
    /// Against this style chess-adapter tries to win: it chooses by its own wins.
    Positional,
    /// Against this style one of the two voices is drawn at random.
    Mixed,
}

impl Style {
    /// All of them, in the order of their categories.
    pub const ALL: [Self; 3] = [Self::Attacking, Self::Positional, Self::Mixed];

    /// The category's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attacking => "attacking",
            Self::Positional => "positional",
            Self::Mixed => "mixed",
        }
    }
}

/// Number of own half-moves after which a player is classified. Later moves say less about the
/// style than the opening.
pub const MOVES: usize = 10;

/// The voice that plays against attackers: own wins and draws.
pub const DRAWS_VOICE: &str = "full-draws";
/// The voice that plays against positional players: own wins.
pub const WINS_VOICE: &str = "full";

/// One side's half-moves, each with a colour letter in front; at most `limit` of them.
pub fn own_words<'a>(
    words: impl Iterator<Item = &'a str>,
    first: Color,
    side: Color,
    limit: usize,
) -> String {
    let letter = side.fold_wb('w', 'b');
    let skip = usize::from(first != side);
    let own = words.skip(skip).step_by(2).take(limit);
    own.map(|word| format!("{letter}{word}")).collect::<Vec<_>>().join(" ")
}

/// The line of words that is classified, after at most `limit` own moves of the player.
fn line(game: &Game, side: Color, limit: usize) -> String {
    own_words(game.words().iter().map(String::as_str), game.first(), side, limit)
}

/// Recognises styles by three categories in a folder.
pub struct Judge(Classifier);

impl Judge {
    /// Opens the categories.
    ///
    /// # Errors
    ///
    /// One of them is missing.
    pub fn open(folder: &Path, program: &Program) -> Result<Self> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let mut files = Vec::new();
        for style in Style::ALL {
            let path = folder.join(style.as_str());
            std::fs::metadata(&path).with_context(|| Cannot::read(&path))?;
            files.push(path);
        }
        Ok(Self(Classifier::new(program.clone(), files)))
    }

    /// The likeliest style of a player of this game.
    ///
    /// # Errors
    ///
    /// The classifier fails.
    pub fn judge(&mut self, game: &Game, side: Color) -> Result<Style> {
        self.0.ask(&[line(game, side, MOVES)])?;
        let rows = self.0.scores()?;
        let scores = rows.first().context("no answer")?;
        let best = scores.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        Ok(best.map_or(Style::Mixed, |(i, _)| Style::ALL[i]))
    }
}

/// The options of learning styles.
pub struct Options {
    /// PGN files.
    pub pgn: Vec<PathBuf>,
    /// The folder for the categories.
    pub output: PathBuf,
    /// Players' names, or parts of them, of each style.
    pub players: [Vec<String>; 3],
    /// Every n-th game is classified and not learned; 0 for none.
    pub test_every: usize,
}

/// The result of learning styles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Games learned of each style.
    pub learned: [usize; 3],
    /// Games that were not learned but judged.
    pub judged: usize,
    /// Judged games whose style was recognised.
    pub right: usize,
}

/// Learns the three categories.
///
/// # Errors
///
/// A style has no games, the classifier fails, or files cannot be written.
pub fn learn(options: &Options, program: &Program) -> Result<Outcome> {
    std::fs::create_dir_all(&options.output)?;
    let mut lines: [Vec<String>; 3] = Default::default();
    let mut kept: Vec<(Style, Game, Color)> = Vec::new();
    let mut outcome = Outcome::default();
    for path in &options.pgn {
        let file = std::fs::File::open(path).with_context(|| Cannot::read(path))?;
        let mut games = Games::new(std::io::BufReader::new(file));
        let (mut raw, mut read) = (RawGame::default(), Gameline::default());
        let mut number = 0usize;
        while games.next_game(&mut raw)? {
            for (i, style) in Style::ALL.into_iter().enumerate() {
                for side in Color::ALL {
                    if !is_player(&raw, side, &options.players[i])
                        || read.replay(&raw, Spelling::default(), false).is_err()
                    {
                        continue;
                    }
                    let mut game = Game::new(read.start.clone(), Spelling::default());
                    for &m in &read.moves {
                        game.play(m);
                    }
                    number += 1;
                    if options.test_every > 0 && number.is_multiple_of(options.test_every) {
                        kept.push((style, game, side));
                    } else {
                        lines[i].push(line(&game, side, usize::MAX));
                    }
                }
            }
        }
    }
    for (i, style) in Style::ALL.into_iter().enumerate() {
        if lines[i].is_empty() {
            bail!("no games by {} players", style.as_str());
        }
        outcome.learned[i] = lines[i].len();
        learn_style(&options.output, style, &lines[i], program)?;
    }
    let mut judge = Judge::open(&options.output, program)?;
    for (style, game, side) in kept {
        outcome.judged += 1;
        outcome.right += usize::from(judge.judge(&game, side)? == style);
    }
    Ok(outcome)
}

fn is_player(raw: &RawGame, side: Color, players: &[String]) -> bool {
    let name = raw.tag(side.fold_wb("White", "Black")).unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_lowercase();
    players.iter().any(|p| name.contains(&p.to_lowercase()))
}

fn learn_style(folder: &Path, style: Style, lines: &[String], program: &Program) -> Result<()> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let category = folder.join(style.as_str());
    let mut command = program.command();
    command.args(["-T", "text", "-l"]).arg(&category);
    command.args(["-e", "graph", "-L", "uniform", "-j", "-w", "2", "-H", "20"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().with_context(|| Cannot::run(program.path()))?;
    let mut text = lines.join("\n");
    text.push('\n');
    let written = child.stdin.take().context("no pipe")?.write_all(text.as_bytes());
    let status = child.wait()?;
    written.context("the classifier stopped reading")?;
    if !status.success() {
        bail!("{} could not learn {} ({status})", program.path().display(), style.as_str());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_carry_the_colour() {
        let words = || "e4 c5 Nf3 d6 d4".split(' ');
        let rows = [
            (Color::White, Color::White, 10, "we4 wNf3 wd4"),
            (Color::White, Color::Black, 10, "bc5 bd6"),
            (Color::Black, Color::Black, 2, "be4 bNf3"),
        ];
        for (first, side, limit, line) in rows {
            assert_eq!(own_words(words(), first, side, limit), line);
        }
    }
}
