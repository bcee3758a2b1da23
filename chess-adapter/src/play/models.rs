// SPDX-License-Identifier: GPL-3.0-or-later
//! Model folders, and the voices that score moves.
//!
//! A *voice* gives each legal move a score, the best one the smallest. The essay's voices are
//! weighted sums of the scores of categories that read gamelines. The voice `odds` describes moves
//! and looks ahead ([`chess_odds::Odds`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f64::consts::LN_2;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use chess_games::cannot::Cannot;
use chess_odds::{Odds, Part, Turn};
use dbacl_files::atomic_file::Disk;
use dbacl_files::reading::read_regular;
use serde::{Deserialize, Serialize};
use shakmaty::{Color, Move};

use crate::play::classifier::{Classifier, Program, Reason};
use chess_games::encode::Encoding;
use chess_games::files::replace_file;
use chess_games::game::{Completion, Game};
use chess_games::notation::Spelling;

/// The name of a folder's manifest.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The only manifest format so far.
const FORMAT: u32 = 2;
/// The voice of the preset `odds`, and its file.
pub(crate) const ODDS: &str = "odds";

/// A category of a model folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CategoryEntry {
    pub file: String,
    /// Size of the file when it was learned, bytes. A file of another size is refused.
    pub bytes: u64,
    /// Factor of its score in the voice's.
    pub factor: f64,
}

/// A voice made of categories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct VoiceEntry {
    /// How the gamelines are encoded that its categories read.
    pub encoding: Encoding,
    pub categories: Vec<CategoryEntry>,
}

/// The voices of one colour that are made of categories, by name.
pub(crate) type Side = BTreeMap<String, VoiceEntry>;

/// What is in a model folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub format: u32,
    /// The voice that plays unless another one is asked for.
    pub voice: String,
    pub games: u64,
    /// Whether training text has `+` and `#`.
    pub check_marks: bool,
    pub white: Side,
    pub black: Side,
}

impl Manifest {
    /// The manifest of models of so many games; `sides` are White's and Black's.
    pub(crate) fn new(voice: &str, games: u64, check_marks: bool, sides: [Side; 2]) -> Self {
        let [white, black] = sides;
        Self { format: FORMAT, voice: voice.to_owned(), games, check_marks, white, black }
    }

    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = read_regular(&path).with_context(|| Cannot::Read(path.clone()))?;
        let damaged = || format!("{} is damaged", path.display());
        let json: serde_json::Value = serde_json::from_slice(&text).with_context(damaged)?;
        let format = &json["format"];
        if *format != FORMAT {
            bail!("{}: format {format} is not known here; learn again", path.display());
        }
        serde_json::from_value(json).with_context(damaged)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        replace_file(&Disk, &folder.join(MANIFEST), &text)
    }

    fn side(&self, color: Color) -> &Side {
        color.fold_wb(&self.white, &self.black)
    }

    /// The names of a colour's voices.
    pub(crate) fn voices(&self, color: Color) -> Vec<&str> {
        let odds = (self.voice == ODDS).then_some(ODDS);
        self.side(color).keys().map(String::as_str).chain(odds).collect()
    }

    /// How words are spelt in the training text.
    pub(crate) const fn spelling(&self) -> Spelling {
        Spelling { check_marks: self.check_marks }
    }

    /// Makes the named voice of a colour, checking its files; `window` as [`Voice`] has it.
    pub(crate) fn voice(
        &self,
        folder: &Path,
        color: Color,
        name: &str,
        program: &Program,
        window: usize,
    ) -> Result<Voice> {
        if name == ODDS && self.voice == ODDS {
            return read_odds(&folder.join(ODDS)).map(Voice::of_odds);
        }
        let entry = self.side(color).get(name).with_context(|| {
            let known = self.voices(color).join(", ");
            format!("{}: no voice {name:?} for {color}; there are: {known}", folder.display())
        })?;
        let check = |category| check_category(folder, category);
        let files: Result<_> = entry.categories.iter().map(check).collect();
        let factors = entry.categories.iter().map(|category| category.factor).collect();
        let classifier = Classifier::new(program.clone(), files?);
        Ok(Voice::Categories { encoding: entry.encoding, factors, classifier, window })
    }
}

pub(crate) fn read_odds(path: &Path) -> Result<Odds> {
    let bytes = read_regular(path).with_context(|| Cannot::Read(path.into()))?;
    Odds::new(bytes).with_context(|| path.display().to_string())
}

fn check_category(folder: &Path, category: &CategoryEntry) -> Result<PathBuf> {
    let path = folder.join(&category.file);
    let path = std::path::absolute(&path).unwrap_or(path);
    let bytes = std::fs::metadata(&path).with_context(|| Cannot::Read(path.clone()))?.len();
    if bytes != category.bytes {
        bail!("{} is not the category that was learned here; learn again", path.display());
    }
    Ok(path)
}

/// What classifies the completions of one colour.
pub(crate) enum Voice {
    /// Categories that read gamelines.
    Categories {
        encoding: Encoding,
        /// The factors of their scores.
        factors: Vec<f64>,
        classifier: Classifier,
        /// Number of last words that are sent to the classifier, 0 for all.
        window: usize,
    },
    /// The voice `odds`, which avoids draws and lets a search choose by itself; for both colours,
    /// if their models are the same.
    Odds(Rc<RefCell<Odds>>),
}

fn moves(completions: &[Completion]) -> Vec<Move> {
    completions.iter().map(|c| c.m).collect()
}

fn turn<'a>(game: &'a Game, moves: &'a [Move]) -> Turn<'a> {
    Turn { positions: game.positions(), past: game.moves(), moves }
}

impl Voice {
    pub(crate) fn of_odds(odds: Odds) -> Self {
        Self::Odds(Rc::new(RefCell::new(odds)))
    }

    /// Starts what is needed, so that the first answer is quick.
    pub(crate) fn warm_up(&mut self) -> Result<()> {
        match self {
            Self::Categories { classifier, .. } => classifier.warm_up(),
            Self::Odds(_) => Ok(()),
        }
    }

    /// One score per completion, in their order; smaller is better. The odds have looked ahead if
    /// `ahead` says so.
    pub(crate) fn scores(
        &mut self,
        game: &Game,
        completions: &[Completion],
        ahead: bool,
    ) -> Result<Vec<f64>> {
        match self {
            Self::Categories { encoding, factors, classifier, window } => {
                let lines = encoding.completions(game, completions, *window);
                let weighted = |row: &Vec<f64>| {
                    row.iter().zip(&*factors).map(|(score, factor)| score * factor).sum()
                };
                Ok(classifier.scores(&lines)?.iter().map(weighted).collect())
            }
            Self::Odds(odds) => {
                let (mut odds, moves) = (odds.borrow_mut(), moves(completions));
                let turn = turn(game, &moves);
                let logarithms = if ahead { odds.scores(turn) } else { odds.first(turn) };
                Ok(logarithms.into_iter().map(|logarithm| logarithm / -LN_2).collect())
            }
        }
    }

    /// What speaks for these completions, by their numbers among all legal ones, and what against
    /// them: bits of the score, a positive number for what speaks for a move. What all legal moves
    /// together take from each is not among it.
    pub(crate) fn reasons(
        &mut self,
        game: &Game,
        completions: &[Completion],
        numbers: &[usize],
    ) -> Result<Vec<Vec<Reason>>> {
        match self {
            Self::Categories { encoding, factors, classifier, window } => {
                let lines = encoding.completions(game, completions, *window);
                let reasons = |&number: &usize| classifier.features(&lines[number], factors);
                numbers.iter().map(reasons).collect()
            }
            Self::Odds(odds) => {
                let moves = moves(completions);
                let reason = |(text, nats): Part| (text, nats / LN_2);
                let all = odds.borrow_mut().reasons(turn(game, &moves), numbers);
                Ok(all.into_iter().map(|parts| parts.into_iter().map(reason).collect()).collect())
            }
        }
    }
}
