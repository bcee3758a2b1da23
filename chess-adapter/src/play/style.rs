// SPDX-License-Identifier: GPL-3.0-or-later
//! The opponent's style, after BayesChess (spec chess 9.9): three categories of players, asked once
//! a game.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use shakmaty::Color;

use crate::play::classifier::{Classifier, Program, Scorer as _};
use crate::text::notation::Spelling;
use crate::text::pgn::{Games, RawGame};
use crate::text::prepare::Gameline;

/// A way to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Against it, lose seldom: choose by own wins and draws.
    Attacking,
    /// Against it, win often: choose by own wins.
    Positional,
    /// Against it, either of the two.
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

/// Own half-moves after which a player is classified: the opening tells, later moves blur.
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

/// Tells styles apart by three categories in a folder.
pub struct Judge(Classifier);

impl Judge {
    /// Finds the categories.
    ///
    /// # Errors
    ///
    /// One of them is missing.
    pub fn open(folder: &Path, program: &Program) -> Result<Self> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let mut files = Vec::new();
        for style in Style::ALL {
            let path = folder.join(style.as_str());
            std::fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.push(path);
        }
        Ok(Self(Classifier::new(program.clone(), files)))
    }

    /// The likeliest style of a line of own half-moves.
    ///
    /// # Errors
    ///
    /// The classifier fails.
    pub fn judge(&mut self, line: String) -> Result<Style> {
        self.0.ask(&[line])?;
        let rows = self.0.scores()?;
        let scores = rows.first().context("no answer")?;
        let best = scores.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        Ok(best.map_or(Style::Mixed, |(i, _)| Style::ALL[i]))
    }
}

/// What to learn styles from.
pub struct Options {
    /// PGN files.
    pub pgn: Vec<PathBuf>,
    /// Where the categories go.
    pub output: PathBuf,
    /// Players' names, or parts of them, of each style.
    pub players: [Vec<String>; 3],
    /// Every so many-th game is kept back and judged; 0 for none.
    pub test_every: usize,
}

/// What came of it: games learned of each style; games judged, and judged rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Games learned of each style.
    pub learned: [usize; 3],
    /// Games kept back.
    pub judged: usize,
    /// ... whose style was found.
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
    let mut kept: Vec<(Style, String)> = Vec::new();
    let mut outcome = Outcome::default();
    for path in &options.pgn {
        let file =
            std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut games = Games::new(std::io::BufReader::new(file));
        let (mut raw, mut game) = (RawGame::default(), Gameline::default());
        let mut number = 0usize;
        while games.next_game(&mut raw)? {
            for (i, style) in Style::ALL.into_iter().enumerate() {
                for side in Color::ALL {
                    if !is_player(&raw, side, &options.players[i])
                        || game.replay(&raw, Spelling::default(), false).is_err()
                    {
                        continue;
                    }
                    let first = game.first.unwrap_or(Color::White);
                    number += 1;
                    if options.test_every > 0 && number.is_multiple_of(options.test_every) {
                        kept.push((style, own_words(game.words(), first, side, MOVES)));
                    } else {
                        lines[i].push(own_words(game.words(), first, side, usize::MAX));
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
    for (style, line) in kept {
        outcome.judged += 1;
        outcome.right += usize::from(judge.judge(line)? == style);
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
    let mut child =
        command.spawn().with_context(|| format!("cannot run {}", program.path().display()))?;
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
