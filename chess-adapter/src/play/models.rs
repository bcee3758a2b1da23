// SPDX-License-Identifier: GPL-3.0-or-later
//! Model folders: which categories exist, what documents they read, how their scores combine into a
//! voice.
//!
//! A *model* is one or more categories that read the same kind of document; its score is the
//! weighted sum of theirs. A *voice* is a weighted sum of models; the best move of a voice is the
//! one with the smallest sum. One category on gamelines is the essay's engine; the difference of
//! two on descriptions is a spam filter; both together are the preset `best`.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use dbacl::choices::Calibration;
use dbacl_files::reading::read_small_text;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::features::basic::Template;
use crate::features::context::{self, Context};
use crate::features::rich::{self, Scene};
use crate::features::view::Prospect;
use crate::play::classifier::{Classifier, FeatureRow, Program, Scorer};
use crate::play::files::{read_json, write_json};
use crate::text::encode::{self, Encoding};
use crate::text::game::{Completion, Game};
use crate::text::notation::Spelling;
use crate::text::prepare;

/// The name of a folder's description template.
pub const TEMPLATE: &str = "template.txt";
/// The name of a folder's manifest.
pub const MANIFEST: &str = "manifest.json";
/// The only manifest format so far.
pub const FORMAT: u32 = 1;

/// What a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Document {
    /// Gamelines of half-moves.
    Half,
    /// Gamelines of full moves.
    Full,
    /// Gamelines of shifted full moves.
    Shifted,
    /// Descriptions of moves.
    Describe,
    /// The second kind of descriptions, of many words.
    Describe2,
    /// The rich words, and those of what came before and what stands around.
    Odds,
    /// Position hash and move.
    Position,
}

impl From<Encoding> for Document {
    fn from(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Half => Self::Half,
            Encoding::Full => Self::Full,
            Encoding::Shifted => Self::Shifted,
        }
    }
}

impl Document {
    const fn encoding(self) -> Option<Encoding> {
        match self {
            Self::Half => Some(Encoding::Half),
            Self::Full => Some(Encoding::Full),
            Self::Shifted => Some(Encoding::Shifted),
            Self::Describe | Self::Describe2 | Self::Odds | Self::Position => None,
        }
    }

    /// One line for each completion of the game, cut to the last `window` words if that is not 0.
    pub fn lines(
        self,
        game: &Game,
        completions: &[Completion],
        template: &Template,
        window: usize,
    ) -> Vec<String> {
        match (self.encoding(), self) {
            (Some(encoding), _) => {
                let prefix = encoding.line(game.first(), game.words().iter().map(String::as_str));
                let line = |c: &Completion| {
                    let mut line = prefix.clone();
                    encoding.push_word(&mut line, game.plies(), game.first(), &c.word);
                    encode::cut_to_last_words(&line, window).to_owned()
                };
                completions.iter().map(line).collect()
            }
            (None, Self::Position) => {
                let hash = prepare::position_word(game.position());
                completions.iter().map(|c| format!("{hash} {}", c.word)).collect()
            }
            (None, Self::Describe2) => {
                let scene = Scene::new(game.position(), game.moves(), game.plies());
                let line = |c: &Completion| {
                    let mut line = String::with_capacity(512);
                    scene.describe(&scene.prospect(c.m), &mut line);
                    line
                };
                completions.iter().map(line).collect()
            }
            (None, Self::Odds) => {
                let scene = Scene::new(game.position(), game.moves(), game.plies());
                let prospects: Vec<Prospect> =
                    completions.iter().map(|c| scene.prospect(c.m)).collect();
                let (view, past) = (scene.view(), game.moves());
                let context = Context::new(game.positions(), past, view, &prospects);
                let line = |(number, prospect): (usize, &Prospect)| {
                    let mut line = String::with_capacity(1200);
                    scene.describe(prospect, &mut line);
                    context.describe(number, &mut line);
                    line
                };
                prospects.iter().enumerate().map(line).collect()
            }
            (None, _) => completions
                .iter()
                .map(|c| {
                    let mut line = String::with_capacity(64);
                    template.describe(game.position(), c.m, game.plies(), &mut line);
                    line
                })
                .collect(),
        }
    }
}

/// A category of a model folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CategoryEntry {
    /// File name within the folder.
    pub file: String,
    /// Size of the file when it was learned, bytes. A file of another size is refused.
    pub bytes: u64,
    /// Factor of its score in the model's.
    pub factor: f64,
    /// The phase it is for, if the model has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<usize>,
}

/// A model of a model folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// What it reads.
    pub document: Document,
    /// Longest n-gram, words.
    pub order: usize,
    /// Which words it reads, if those are not the template's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Its categories.
    pub categories: Vec<CategoryEntry>,
}

/// A model's weight in a voice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Weight {
    /// The same weight all through the game.
    Always(f64),
    /// In opening, middle and end ([`prepare::PHASES`]).
    ByPhase([f64; 3]),
}

impl Weight {
    /// The weight for the half-move with that number, from 0.
    pub const fn at(self, ply: usize) -> f64 {
        match self {
            Self::Always(weight) => weight,
            Self::ByPhase(weights) => weights[prepare::phase_of(ply)],
        }
    }
}

/// The models and voices of one colour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Models by name.
    pub models: BTreeMap<String, ModelEntry>,
    /// Voices by name: models and weights.
    pub voices: BTreeMap<String, Vec<(String, Weight)>>,
}

/// What stands in a model folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// The preset it was learned as.
    pub preset: String,
    /// The voice that plays unless told otherwise.
    pub voice: String,
    /// Games read.
    pub games: u64,
    /// Whether training text has `+` and `#`.
    pub check_marks: bool,
    /// Whether captured pieces are named.
    pub victims: bool,
    /// Name and hash of the description template.
    pub template: String,
    /// Voices that leave out moves which draw at once, unless told otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avoid_draws: Vec<String>,
    /// Temperatures of voices: scores are divided by them, which calibrates probabilities; 1 for a
    /// voice that is missing here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub temperatures: BTreeMap<String, f64>,
    /// Curvatures of voices ([`Calibration`]), which calibrate small and large probabilities
    /// differently; 0 for a voice that is missing here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub curvatures: BTreeMap<String, f64>,
    /// White's models.
    pub white: Side,
    /// Black's models.
    pub black: Side,
}

impl Manifest {
    /// Reads the manifest of a folder.
    ///
    /// # Errors
    ///
    /// It is missing, damaged or of another format.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let manifest: Self = read_json(&path)?;
        if manifest.format != FORMAT {
            bail!("{}: format {} is not known here", path.display(), manifest.format);
        }
        Ok(manifest)
    }

    /// Writes the manifest to a temporary file, which is then renamed.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_json(&folder.join(MANIFEST), self)
    }

    /// The models of a colour.
    pub const fn side(&self, color: Color) -> &Side {
        match color {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }

    /// How words are spelt in the training text.
    pub const fn spelling(&self) -> Spelling {
        Spelling { check_marks: self.check_marks, victims: self.victims }
    }

    /// The template kept in the folder, or the built-in one.
    fn template(folder: &Path) -> Result<Template> {
        let path = folder.join(TEMPLATE);
        if !path.exists() {
            return Ok(Template::default());
        }
        let text =
            read_small_text(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Template::parse(&text).with_context(|| format!("{}", path.display()))
    }

    /// Makes the named voice of a colour, checking its files; descriptions follow `template`, or
    /// the folder's own.
    ///
    /// # Errors
    ///
    /// The voice is not there, a category is missing or has changed, the descriptions differ from
    /// the template.
    pub fn voice(
        &self,
        folder: &Path,
        color: Color,
        name: &str,
        template: Option<&Template>,
        program: &Program,
    ) -> Result<Voice> {
        let template = match template {
            Some(template) => template.clone(),
            None => Self::template(folder)?,
        };
        let side = self.side(color);
        let terms = side.voices.get(name).with_context(|| {
            let known: Vec<&str> = side.voices.keys().map(String::as_str).collect();
            format!(
                "{}: no voice {name:?} for {color}; there are: {}",
                folder.display(),
                known.join(", ")
            )
        })?;
        let mut voice = Voice::new(template.clone());
        if let Some(&temperature) = self.temperatures.get(name) {
            if !(temperature.is_finite() && temperature > 0.0) {
                bail!("{}: temperature {temperature} of voice {name:?}", folder.display());
            }
            voice.calibration.temperature = temperature;
        }
        if let Some(&curvature) = self.curvatures.get(name) {
            if !(curvature.is_finite() && curvature >= 0.0) {
                bail!("{}: curvature {curvature} of voice {name:?}", folder.display());
            }
            voice.calibration.curvature = curvature;
        }
        for (model, weight) in terms {
            let entry = side.models.get(model);
            let entry =
                entry.with_context(|| format!("{}: no model {model:?}", folder.display()))?;
            if entry.document == Document::Describe && self.template != template.identity() {
                bail!(
                    "{}: its descriptions follow the template {:?}, not {:?}",
                    folder.display(),
                    self.template,
                    template.identity()
                );
            }
            let words = match entry.document {
                Document::Describe2 => Some(rich::NAME),
                Document::Odds => Some(context::NAME),
                _ => None,
            };
            if let Some(words) = words.filter(|&words| entry.words.as_deref() != Some(words)) {
                bail!(
                    "{}: its descriptions are {:?}, this program has {:?}; learn again",
                    folder.display(),
                    entry.words.as_deref().unwrap_or_default(),
                    words
                );
            }
            let phases: Vec<Option<usize>> =
                match entry.categories.iter().any(|c| c.phase.is_some()) {
                    true => (0..prepare::PHASES.len()).map(Some).collect(),
                    false => vec![None],
                };
            let mut parts = Vec::new();
            for phase in phases {
                let mut files = Vec::new();
                let mut factors = Vec::new();
                for category in entry.categories.iter().filter(|c| c.phase == phase) {
                    files.push(check_category(folder, category)?);
                    factors.push(category.factor);
                }
                if files.is_empty() {
                    bail!("{}: model {model:?} lacks a phase", folder.display());
                }
                parts.push(Part {
                    factors,
                    scorer: Box::new(Classifier::new(program.clone(), files)),
                });
            }
            voice.terms.push(Term { document: entry.document, weight: *weight, parts });
        }
        Ok(voice)
    }
}

fn check_category(folder: &Path, category: &CategoryEntry) -> Result<PathBuf> {
    let path = folder.join(&category.file);
    let path = std::path::absolute(&path).unwrap_or(path);
    let bytes =
        std::fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if bytes != category.bytes {
        bail!("{} is not the category that was learned here; learn again", path.display());
    }
    Ok(path)
}

/// Categories that are asked together.
struct Part {
    factors: Vec<f64>,
    scorer: Box<dyn Scorer>,
}

/// One model within a voice, with its phases.
struct Term {
    document: Document,
    weight: Weight,
    parts: Vec<Part>,
}

impl Term {
    fn part(&mut self, ply: usize) -> &mut Part {
        let phase = if self.parts.len() > 1 { prepare::phase_of(ply) } else { 0 };
        &mut self.parts[phase]
    }
}

/// What judges the completions of one colour.
pub struct Voice {
    template: Template,
    terms: Vec<Term>,
    /// Number of last words that are sent to the classifier, 0 for all.
    pub window: usize,
    /// The temperature and the curvature, which calibrate the sums of scores.
    calibration: Calibration,
}

impl Voice {
    fn new(template: Template) -> Self {
        Self { template, terms: Vec::new(), window: 0, calibration: 1.0.into() }
    }

    /// One category that reads gamelines.
    pub fn of_category(program: &Program, category: &Path, encoding: Encoding) -> Self {
        let path = std::path::absolute(category).unwrap_or_else(|_| category.to_path_buf());
        Self::of_scorer(Box::new(Classifier::new(program.clone(), vec![path])), encoding.into())
    }

    /// Any scorer of one category.
    pub fn of_scorer(scorer: Box<dyn Scorer>, document: Document) -> Self {
        let parts = vec![Part { factors: vec![1.0], scorer }];
        Self {
            template: Template::default(),
            terms: vec![Term { document, weight: Weight::Always(1.0), parts }],
            window: 0,
            calibration: 1.0.into(),
        }
    }

    /// Own wins minus the opponent's (spec chess 9.5).
    pub fn carrot_and_stick(
        program: &Program,
        carrot: &Path,
        stick: &Path,
        encoding: Encoding,
    ) -> Self {
        let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
        let scorer = Classifier::new(program.clone(), vec![absolute(carrot), absolute(stick)]);
        let parts = vec![Part { factors: vec![1.0, -1.0], scorer: Box::new(scorer) }];
        let document = encoding.into();
        Self {
            template: Template::default(),
            terms: vec![Term { document, weight: Weight::Always(1.0), parts }],
            window: 0,
            calibration: 1.0.into(),
        }
    }

    /// Whether all it reads are half-moves, so that lines can be extended by replies.
    pub fn reads_half_moves(&self) -> bool {
        self.terms.iter().all(|t| t.document == Document::Half)
    }

    /// Starts what is needed, so that the first answer is quick.
    ///
    /// # Errors
    ///
    /// The classifier cannot be run.
    pub fn warm_up(&mut self) -> Result<()> {
        for part in self.terms.iter_mut().flat_map(|t| &mut t.parts) {
            part.scorer.ask(&[])?;
        }
        Ok(())
    }

    /// One score per completion, in their order; smaller is better.
    ///
    /// # Errors
    ///
    /// The classifier failed, twice.
    pub fn scores(&mut self, game: &Game, completions: &[Completion]) -> Result<Vec<f64>> {
        let ply = game.plies();
        // All classifiers work at once: ask first, read then.
        for term in &mut self.terms {
            let lines = term.document.lines(game, completions, &self.template, self.window);
            term.part(ply).scorer.ask(&lines)?;
        }
        let mut total = vec![0.0; completions.len()];
        for term in &mut self.terms {
            let weight = term.weight.at(ply);
            let part = term.part(ply);
            for (sum, row) in total.iter_mut().zip(part.scorer.scores()?) {
                let score: f64 = row.iter().zip(&part.factors).map(|(s, f)| s * f).sum();
                *sum += weight * score;
            }
        }
        // Scores as they are keep every bit.
        if self.calibration != 1.0.into() {
            for score in &mut total {
                *score *= -LN_2;
            }
            self.calibration.apply(&mut total);
            for score in &mut total {
                *score /= -LN_2;
            }
        }
        Ok(total)
    }

    /// One score per given line, by the first model. The caller makes the lines as that model reads
    /// them.
    ///
    /// # Errors
    ///
    /// The classifier failed, twice.
    pub fn line_scores(&mut self, ply: usize, lines: &[String]) -> Result<Vec<f64>> {
        let term = self.terms.first_mut().context("a voice without models")?;
        let part = term.part(ply);
        part.scorer.ask(lines)?;
        let rows = part.scorer.scores()?;
        Ok(rows.iter().map(|row| row.iter().zip(&part.factors).map(|(s, f)| s * f).sum()).collect())
    }

    /// The evidence for a completion, model by model: what is read, the model's weight, its
    /// features.
    ///
    /// # Errors
    ///
    /// The classifier cannot be run.
    pub fn evidence(&mut self, game: &Game, completion: &Completion) -> Result<Vec<Evidence>> {
        let ply = game.plies();
        let mut all = Vec::new();
        for term in &mut self.terms {
            let one = std::slice::from_ref(completion);
            let mut lines = term.document.lines(game, one, &self.template, self.window);
            let line = lines.pop().unwrap_or_default();
            let (document, weight) =
                (term.document, term.weight.at(ply) / self.calibration.temperature);
            let part = term.part(ply);
            let mut features: Vec<FeatureRow> = Vec::new();
            for (factor, rows) in part.factors.iter().zip(part.scorer.features(&line)?) {
                // The categories cut the same line into the same features.
                for (i, row) in rows.into_iter().enumerate() {
                    match features.get_mut(i).filter(|f| f.feature == row.feature) {
                        Some(known) => known.bits += factor * row.bits,
                        None => features.push(FeatureRow { bits: factor * row.bits, ..row }),
                    }
                }
            }
            all.push(Evidence { document, weight, line, features });
        }
        Ok(all)
    }
}

/// The evidence of one model for a completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What it reads.
    pub document: Document,
    /// Its weight in the voice.
    pub weight: f64,
    /// The line it was given.
    pub line: String,
    /// Its features, in their order.
    pub features: Vec<FeatureRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_as_one_number_or_three() {
        let weights: Vec<Weight> = serde_json::from_str("[0.5, [1, 2, 3.5]]").expect("weights");
        assert_eq!(weights, [Weight::Always(0.5), Weight::ByPhase([1.0, 2.0, 3.5])]);
        for (ply, expected) in [(0, 1.0), (23, 1.0), (24, 2.0), (69, 2.0), (70, 3.5)] {
            assert_eq!((weights[0].at(ply), weights[1].at(ply)), (0.5, expected));
        }
    }
}
