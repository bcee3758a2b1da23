// SPDX-License-Identifier: GPL-3.0-or-later
//! A learned model: what it says of the moves of a position, and its file.
//!
//! The file begins with lines, and ends with the first stage's weights ([`crate::weights`]):
//!
//! ```text
//! # chess odds 1
//! words NAME              the words of the first stage
//! temperature, curvature  how its scores become probabilities
//! unit, features          the unit and the number of its weights
//! checksum HEXADECIMAL    CRC-32 of the lines before, with zeros here, and of all after this line
//! base HEXADECIMAL games N where it was learned from N games played by an engine: the checksum of
//!                         the model from which it began
//! ...                     the second stage (Second), if there is one
//! (an empty line)
//! ```

use std::collections::BTreeMap;

use crate::choices::{Calibration, FeatureId, Groups, normalise};
use anyhow::{Context as _, Result, bail, ensure};

use crate::context::{self, Context};
use crate::games::Turn;
use crate::legend;
use crate::look::{Looked, Looker};
use crate::rich::Scene;
use crate::second::{DAMAGED, Part, Second, known_words};
use crate::view::Prospect;
use crate::weights::Weights;
use crate::words::Words;

const MAGIC: &str = "# chess odds 1";

/// A learned model. Its answers depend on the game alone, not on what it was asked before.
pub struct Odds {
    /// The first stage: a move's score is the sum of the weights of its words.
    pub(crate) first: Weights,
    pub(crate) calibration: Calibration,
    pub(crate) second: Option<(Second, Looker)>,
    /// The checksum of its file.
    pub sum: u32,
    /// What it was made of, if it was learned in play.
    pub base: Option<Base>,
    words: Words,
    groups: Groups,
}

/// What a model was made of that was learned in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The checksum of the model from which it began.
    pub sum: u32,
    /// How many games were learned or kept back.
    pub games: usize,
}

/// Adds the moves as a group, of which one was chosen, described by the ids of words.
pub(crate) fn describe(turn: Turn<'_>, chosen: usize, words: &mut Words, out: &mut Groups) {
    let Turn { positions, past, moves } = turn;
    let Some(now) = positions.last() else { return };
    let scene = Scene::new(now, past);
    let prospects: Vec<Prospect> = moves.iter().map(|&m| Prospect::new(now, m)).collect();
    let context = Context::new(positions, &scene, &prospects, past);
    for (number, prospect) in prospects.iter().enumerate() {
        scene.describe(prospect, words);
        context.describe(number, words);
        words.end_alternative(out);
    }
    out.end_group(chosen);
}

/// The lines of a file, up to the weights, with the checksum.
pub(crate) fn file(
    first: &Weights,
    calibration: Calibration,
    base: Option<Base>,
    second: Option<&Second>,
) -> Vec<u8> {
    let Calibration { temperature, curvature } = calibration;
    let (name, unit, features) = (context::NAME, first.unit, first.count);
    let packed = first.packed();
    let before = format!(
        "{MAGIC}\nwords {name}\ntemperature {temperature}\ncurvature {curvature}\nunit {unit}\n\
         features {features}\nchecksum "
    );
    let base = base.map(|Base { sum, games }| format!("base {sum:08x} games {games}\n"));
    let second = second.map(Second::to_text);
    let after = format!("\n{}{}\n", base.unwrap_or_default(), second.unwrap_or_default());
    let sum = sum_of(&[before.as_bytes(), b"00000000", after.as_bytes(), packed]);
    [before.as_bytes(), format!("{sum:08x}").as_bytes(), after.as_bytes(), packed].concat()
}

fn sum_of(parts: &[&[u8]]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize()
}

impl Odds {
    /// Takes the bytes of a file.
    ///
    /// # Errors
    ///
    /// It is damaged or something else, or its words belong to another version of this program.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let end = bytes.windows(2).position(|two| two == b"\n\n").context(DAMAGED)?;
        let text = std::str::from_utf8(&bytes[..end]).context(DAMAGED)?;
        let mut lines = text.splitn(8, '\n');
        let mut field = |name: &str| {
            lines.next().and_then(|line| line.strip_prefix(name)).map(str::trim).context(DAMAGED)
        };
        ensure!(field(MAGIC)?.is_empty(), DAMAGED);
        known_words(field("words")?, context::NAME)?;
        let number = |word: &str| {
            let number = word.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
            number.context(DAMAGED)
        };
        let temperature = number(field("temperature")?)?;
        let calibration = Calibration { temperature, curvature: number(field("curvature")?)? };
        let unit = number(field("unit")?)?;
        let features = field("features")?.parse().context(DAMAGED)?;
        let sum = field("checksum")?;
        let at = text.find("\nchecksum ").map_or(0, |at| at + "\nchecksum ".len());
        let stated = u32::from_str_radix(sum, 16).context(DAMAGED)?;
        if sum.len() != 8
            || stated != sum_of(&[&bytes[..at], b"00000000", &bytes[at + 8..]])
            || temperature <= 0.0
        {
            bail!(DAMAGED);
        }
        let mut rest = lines.next();
        let base = rest.and_then(|rest| rest.strip_prefix("base "));
        let base = base.map(|line| {
            let (line, after) = line.split_once('\n').map_or((line, None), |(a, b)| (a, Some(b)));
            rest = after;
            let (sum, games) = line.split_once(" games ").context(DAMAGED)?;
            let sum = u32::from_str_radix(sum, 16).context(DAMAGED)?;
            anyhow::Ok(Base { sum, games: games.parse().context(DAMAGED)? })
        });
        let base = base.transpose()?;
        let second = rest.map(Second::parse).transpose()?;
        let second = second.map(|second| {
            let looker = Looker::new(second.depth);
            (second, looker)
        });
        let first = Weights::new(bytes, end + 2, features, unit).context(DAMAGED)?;
        let (words, groups) = (Words::default(), Groups::default());
        Ok(Self { first, calibration, second, sum: stated, base, words, groups })
    }

    /// The logarithms of the moves' probabilities by the first stage alone.
    pub fn first(&mut self, turn: Turn<'_>) -> Vec<f64> {
        if turn.moves.is_empty() {
            return Vec::new();
        }
        self.groups.clear();
        describe(turn, 0, &mut self.words, &mut self.groups);
        let mut scores = self.first.scores(self.groups.get(0));
        self.calibration.apply(&mut scores);
        normalise(&mut scores);
        scores
    }

    /// The logarithms of the moves' probabilities, after looking ahead if the model does so.
    pub fn scores(&mut self, turn: Turn<'_>) -> Vec<f64> {
        let first = self.first(turn);
        match self.look(turn, &first) {
            Some((second, looked)) => {
                let mut scores = second.scores(&first, &looked);
                normalise(&mut scores);
                scores
            }
            None => first,
        }
    }

    fn look(&mut self, turn: Turn<'_>, first: &[f64]) -> Option<(&Second, Looked)> {
        let (second, looker) = self.second.as_mut()?;
        Some((second, looker.look(turn, first)))
    }

    /// What the scores of some of the moves, by their numbers, are made of, nats. What all moves
    /// together take from each is not among it.
    pub fn reasons(&mut self, turn: Turn<'_>, numbers: &[usize]) -> Vec<Vec<Part>> {
        if turn.moves.is_empty() {
            return Vec::new();
        }
        let now = turn.positions.last().expect("the position now");
        self.words.spelt = Some(Vec::new());
        let first = self.first(turn);
        let spelt = self.words.spelt.take().unwrap_or_default();
        let group = self.groups.get(0);
        let ranges: Vec<_> = group.ranges().collect();
        let words = |&number: &usize| {
            let words =
                group.ids[ranges[number].clone()].iter().zip(&spelt[ranges[number].clone()]);
            let prospect = Prospect::new(now, turn.moves[number]);
            self.reasons_of_words(words, &prospect)
        };
        let mut all: Vec<Vec<Part>> = numbers.iter().map(words).collect();
        if let Some((second, looked)) = self.look(turn, &first) {
            for (reasons, &number) in all.iter_mut().zip(numbers) {
                reasons.extend(second.parts(first[number], &looked, number));
            }
        }
        all
    }

    /// The words of a description by their kinds.
    fn reasons_of_words<'a>(
        &self,
        words: impl Iterator<Item = (&'a FeatureId, &'a String)>,
        prospect: &Prospect,
    ) -> Vec<Part> {
        let mut kinds: BTreeMap<(&str, String), f64> = BTreeMap::new();
        for (&id, word) in words {
            let (kind, meaning) = legend::find(word).unwrap_or(("", word));
            let plain = legend::plainly(kind, prospect);
            let kind = plain.unwrap_or_else(|| (kind, meaning.to_owned()));
            *kinds.entry(kind).or_default() += self.first.get(id);
        }
        let part = |((_, meaning), score)| (meaning, score / self.calibration.temperature);
        kinds.into_iter().map(part).collect()
    }
}
