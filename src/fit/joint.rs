// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits ordinary categories together on labelled documents: settings, weights, calibration and
//! thresholds (spec refit 3).
//!
//! Nothing here reads or writes a file. Warnings are returned as [`FitNote`] values.

use super::blend::{self, Set};
use super::by_blocks::{self, LeftOut};
use super::calibrate::{
    Calibration, platt, platt_of_few, temperature, threshold_for_false_positives,
};
use super::dataset::Dataset;
use super::documents::Corpus;
use super::general::{GeneralModel, Opinion, SHARE_OF_FEW, SHARES};
use super::header::{RefitLine, Usual};
use super::ordinary;
use super::publish;
use super::scoring::Scoring;
use super::select::{
    BLENDS, COSTS, Choice, FOLDS, Quality, Trial, choose_exact, choose_share, choose_sparse,
    differences, fit_all, folds, silence_empty,
};
use super::solver;
use super::stop::{Stop, Stopped};
use super::support::Support;
use super::thresholds::{self, Caution, NEVER, PairVerdicts, Promise};
use crate::category::reader::Category;
use crate::measures::Scored;
use crate::measures::misfiled::Misfiled;
use dbacl_numeric::elementary::real;

/// Share of the documents of a category that may confidently be called another, where the category
/// is not protected.
const MISSES: f64 = 0.005;

/// The same with more than two categories. It is larger because mail in a wrong folder can still be
/// found.
const MISFILED: f64 = 0.02;

/// Share of the documents of the protected category that may confidently be called another, where
/// no other is asked for.
pub const FALSE_POSITIVES: f64 = 0.001;

/// Documents of each category that settings can be chosen with.
const ENOUGH: usize = 20;

/// With so many documents of each category, a quarter of them is enough to measure the quality and
/// to calibrate.
const PLENTY: usize = 20_000;

/// Options of a joint fit. A cost or blend that is not given is chosen by cross-validation.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a wish of its own
pub struct FitOptions {
    #[doc(hidden)]
    pub cost: Option<f64>,
    #[doc(hidden)]
    pub blend: Option<f64>,
    /// The share of the general model's scores.
    #[doc(hidden)]
    pub general: Option<f64>,
    #[doc(hidden)]
    pub exact: bool,
    #[doc(hidden)]
    pub scoring: Scoring,
    #[doc(hidden)]
    pub contrast: Option<bool>,
    #[doc(hidden)]
    pub always: bool,
    #[doc(hidden)]
    pub false_positives: Option<f64>,
    #[doc(hidden)]
    pub unsure: bool,
    /// How sure verdicts must be, where features count by blocks.
    #[doc(hidden)]
    pub caution: Caution,
    /// The shares of [`RefitLine::rates`].
    #[doc(hidden)]
    pub rates: Vec<Option<f64>>,
    #[doc(hidden)]
    pub quick: bool,
    /// The set that is fitted again, where there is one: a category may be without documents then.
    #[doc(hidden)]
    pub like: Option<RefitLine>,
}

impl FitOptions {
    /// The options of a mail filter: each feature counts once in a message, verdicts may be unsure,
    /// and the fit is used even if it is no better than the ordinary categories.
    pub fn mail() -> Self {
        Self::default().once().unsure().always()
    }

    /// The cost C of a document within the margin, above 0 (`--cost`).
    #[must_use]
    pub const fn cost(mut self, cost: f64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// The share of the ordinary scores that is kept, 0 to 1 (`--blend`).
    #[must_use]
    pub const fn blend(mut self, blend: f64) -> Self {
        self.blend = Some(blend);
        self
    }

    /// With three categories or more, every category carries every feature. The files are larger,
    /// and their verdicts are exactly those of the fit (`--exact`).
    #[must_use]
    pub const fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// A feature counts once in a document, however often it occurs (`--once`).
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.scoring = Scoring::Once;
        self
    }

    /// Whether features that distinguish the categories are preferred (`--contrast`). By default
    /// they are in text, and not in mail.
    #[must_use]
    pub const fn contrast(mut self, contrast: bool) -> Self {
        self.contrast = Some(contrast);
        self
    }

    /// Features count once, in two blocks: what mail says, and what its sender's side wrote. For
    /// mail that is read with tags.
    #[doc(hidden)]
    #[must_use]
    pub const fn blocks(mut self) -> Self {
        self.scoring = Scoring::Blocks;
        self
    }

    /// The fit is used even if the ordinary categories judge as well (`--always`).
    #[must_use]
    pub const fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// With two categories, the share of the first one's documents, between 0 and 1, that may be
    /// called the second (`--fp`).
    #[must_use]
    pub const fn false_positives(mut self, share: f64) -> Self {
        self.false_positives = Some(share);
        self
    }

    /// Verdicts may be *unsure* (`--unsure`).
    #[must_use]
    pub const fn unsure(mut self) -> Self {
        self.unsure = true;
        self
    }

    /// How sure verdicts must be, where features count by blocks.
    #[doc(hidden)]
    #[must_use]
    pub const fn caution(mut self, caution: Caution) -> Self {
        self.caution = caution;
        self
    }

    /// The share of the documents of each category that may confidently be called another; `None`
    /// for the default.
    #[doc(hidden)]
    #[must_use]
    pub fn rates(mut self, rates: Vec<Option<f64>>) -> Self {
        self.rates = rates;
        self
    }

    /// Of the four parts into which documents are divided, only one is classified by a fit of the
    /// others, and not all four. The quality and the calibration then rest on a quarter of the
    /// documents.
    #[must_use]
    pub const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    /// The options of a set with this `line` that is to be fitted again; with `same_settings` its
    /// cost and blend are kept.
    #[doc(hidden)]
    pub fn like(line: &RefitLine, same_settings: bool) -> Self {
        Self {
            cost: same_settings.then_some(line.cost),
            blend: same_settings.then_some(line.blend),
            general: same_settings.then_some(line.general),
            scoring: line.scoring,
            contrast: Some(line.contrast),
            always: true,
            false_positives: line.false_positives,
            unsure: line.wants_unsure || line.band.0 < line.band.1,
            caution: line.caution,
            rates: line.rates.clone(),
            like: Some(line.clone()),
            ..Self::default()
        }
    }
}

/// Why categories could not be fitted together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There are fewer than two categories.
    #[error("two or more categories are needed")]
    TooFewCategories,
    /// The category has multinomial weights.
    #[error("category {category} is multinomial, so it cannot be fitted")]
    Multinomial {
        /// The category's name.
        category: String,
    },
    /// The category has n-grams of another order, or other regular expressions.
    #[error("category {category} was learned with other features than the first one")]
    OtherFeatures {
        /// The category's name.
        category: String,
    },
    /// The category is the result of a fit. A fit needs its ordinary category.
    #[error("category {category} was fitted before: its ordinary category is needed")]
    AlreadyFitted {
        /// The category's name.
        category: String,
    },
    /// The category is large (`--large`).
    #[error("category {category} is large: only classic categories can be fitted together")]
    Large {
        /// The category's name.
        category: String,
    },
    /// The categories cannot be compared; the text says why.
    #[error("{0}")]
    Incomparable(String),
    /// The label of a document is not the name of a category.
    #[error("no category is called {label}")]
    UnknownLabel {
        /// The label.
        label: String,
    },
    /// No document with features has the category's label.
    #[error("no documents of category {category}")]
    NoDocuments {
        /// The category's name.
        category: String,
    },
    /// No settings were left to choose from.
    #[error("there are no settings to try")]
    NoSettings,
    /// The caller asked to stop before the fit was done.
    #[error("stopped before the fit was done")]
    Stopped,
}

impl From<FitError> for crate::error::Error {
    fn from(error: FitError) -> Self {
        Self::Other(Box::new(error))
    }
}

impl From<Stopped> for FitError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Warnings about a successful fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FitNote {
    /// Fewer than twenty documents have the label of a category.
    FewDocuments {
        /// The category's name.
        category: String,
        /// Its documents.
        documents: usize,
    },
    /// There are too few documents to verify the limit of false positives.
    Unverified {
        /// Name of the first category.
        category: String,
        /// Its documents.
        documents: usize,
        /// The share of false positives that was asked for.
        share: f64,
        /// The documents beyond the threshold, by which it was found.
        wrong: usize,
        /// The documents that would be needed.
        needed: f64,
    },
    /// A limit of false positives was asked for, and there are not exactly two categories.
    NoThresholds,
}

impl std::fmt::Display for FitNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FewDocuments { category, documents } => {
                let plural = if *documents == 1 { "document" } else { "documents" };
                write!(f, "only {documents} {plural} of category {category}: results may be poor")
            }
            Self::Unverified { category, documents, share, wrong, needed } => write!(
                f,
                "{documents} documents of {category} are too few to promise {}% false positives: \
                 the threshold rests on {wrong} of them, {needed:.0} documents would be needed",
                100.0 * share
            ),
            Self::NoThresholds => {
                f.write_str("a limit of false positives needs exactly two categories: ignored")
            }
        }
    }
}

/// Verdicts on documents, each classified by a fit that has not seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FitVerdicts {
    /// Documents of the first category that are confidently called another.
    pub wrong: usize,
    /// Documents of other categories that are confidently called another.
    pub missed: usize,
    /// Documents that are called unsure.
    pub unsure: usize,
    /// Documents whose most probable category is their own, those called unsure included.
    pub most_probable: usize,
    /// Documents that were classified.
    pub judged: usize,
    /// Documents of the first category among them.
    pub of_first: usize,
}

/// Ordinary categories that are to be fitted together.
pub struct Problem<'a, D> {
    /// The categories.
    pub categories: &'a [Category<D>],
    /// Their names, for errors and notes.
    pub names: &'a [String],
    /// The options.
    pub options: &'a FitOptions,
    /// Whether the documents are mail.
    pub is_mail: bool,
    /// The general model, if there is one. A category may be without documents then.
    pub general: Option<&'a GeneralModel<D>>,
    /// Asked before each pass over the documents.
    pub stop: Stop<'a>,
}

/// What a fit has found.
pub struct Solution {
    /// The documents, without rare features.
    pub data: Dataset,
    /// How well the ordinary categories judge.
    pub before: Quality,
    /// The settings, and how well their fit classifies.
    pub choice: Choice,
    /// Numbers of the documents that were classified for that, in the order of the scores.
    pub judged: Vec<usize>,
    /// Whether only those categories carry a feature that have learned it; else the weights are
    /// exactly what was fitted, in larger files.
    pub is_sparse: bool,
    /// The set; `None` if the ordinary categories judge as well and are kept.
    pub fitted: Option<FittedWeights>,
}

/// The weights of a set that was fitted.
pub struct FittedWeights {
    /// The fits: one for two categories, else one each.
    pub fits: Vec<solver::Fit>,
    /// The tables of the files.
    pub set: Set,
    /// Their `# refit` line, without the place.
    pub line: RefitLine,
    /// Verdicts on the documents, with two categories or where they can be unsure.
    pub verdicts: Option<FitVerdicts>,
    /// Documents that look misfiled, those that do most first.
    pub misfiled: Vec<MisfiledDocument>,
}

/// A document that looks as if it were of another category. Verdicts do not count it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MisfiledDocument {
    /// Its number among all documents.
    pub document: usize,
    /// The category that it looks as if it were of.
    pub looks_like: usize,
    /// How far it is taken for one of that category.
    excess: f64,
}

/// Checks whether ordinary categories can be fitted together.
///
/// # Errors
/// [`FitError::Multinomial`], [`FitError::OtherFeatures`].
pub fn check<D: AsRef<[u8]>>(categories: &[Category<D>], names: &[String]) -> Result<(), FitError> {
    let first = categories.first().ok_or(FitError::TooFewCategories)?;
    for (category, name) in categories.iter().zip(names) {
        let (theirs, ours) = (category.header(), first.header());
        let name = || name.clone();
        if theirs.multinomial {
            return Err(FitError::Multinomial { category: name() });
        }
        if theirs.max_order != ours.max_order || category.patterns() != first.patterns() {
            return Err(FitError::OtherFeatures { category: name() });
        }
    }
    Ok(())
}

impl<D: AsRef<[u8]> + Sync> Problem<'_, D> {
    /// Fits the categories on `corpus`, whose labels are numbers of categories.
    ///
    /// # Errors
    /// [`FitError::NoDocuments`], [`FitError::NoSettings`], [`FitError::Stopped`].
    pub fn solve(
        &self,
        corpus: Corpus,
        note: &mut dyn FnMut(FitNote),
    ) -> Result<Solution, FitError> {
        let Self { categories, options, .. } = *self;
        let first = categories.first().ok_or(FitError::TooFewCategories)?;
        let mut data = Dataset::new(corpus, categories.len(), first.header().max_order);
        let is_one_sided = data.documents_by_category().contains(&0);
        if options.like.is_none() || data.is_empty() && self.general.is_none() {
            self.count_labels(&data, note)?;
        }
        data.scoring = options.scoring;
        data.contrast = options.contrast.unwrap_or(!self.is_mail);
        let folds = folds(&data);
        let mut ordinary = ordinary::scores(&data, categories, &folds, Scoring::Counts);
        let before = Quality::of(&ordinary, &data.labels, data.categories);
        if data.scoring == Scoring::Once {
            ordinary = ordinary::scores(&data, categories, &folds, data.scoring);
        }
        if data.scoring == Scoring::Blocks {
            data.length = 1.0;
            data.known = self.general.map(|general| general.knows(&data)).unwrap_or_default();
        }
        let opinion = self.general.map(|general| general.opinion(&data)).unwrap_or_default();
        let wants_shares = options.unsure && data.scoring != Scoring::Counts;
        let shares =
            |knows: &[bool]| wants_shares.then(|| thresholds::known_shares(&data, &folds, knows));
        let (own_shares, all_shares) =
            (shares(&[]), self.general.and_then(|_| shares(&opinion.knows)));
        if data.scoring != Scoring::Blocks {
            data.drop_rare_features();
        }
        let is_sparse = !options.exact && categories.len() > 2;
        let (choice, left_out) = self.choose(&data, (&folds, &ordinary, &opinion), is_sparse)?;
        // A fit of the documents of one category takes all documents for that category. So only
        // those are fitted that the general model takes for the other one.
        let contradicting = match self.general {
            Some(general)
                if is_one_sided && data.categories == 2 && data.scoring == Scoring::Blocks =>
            {
                Some(opinion.against(&data.labels, general.even))
            }
            _ => None,
        };
        let agrees = |at: usize| contradicting.as_ref().is_some_and(|all| !all[at]);
        let is_out = |at: usize| agrees(at) || left_out.get(at).is_some_and(Option::is_some);
        let numbers: Vec<usize> = (0..data.len()).collect();
        let judged = judged_of(&numbers, &folds, &choice);
        if !choice.quality.beats(&before) && !options.always {
            return Ok(Solution { data, before, choice, judged, is_sparse, fitted: None });
        }
        let mut fits = fit_all(&data, choice.settings.cost, is_out, self.stop)?;
        for at in (0..data.len()).filter(|&at| is_out(at)) {
            for fit in &mut fits {
                fit.duals[at] = LEFT_OUT;
            }
        }
        if self.general.is_some() && !contradicting.is_some_and(|all| all.contains(&true)) {
            silence_empty(&mut fits, &data);
        }
        let set =
            blend::compose(categories, &data, &fits, (choice.settings, is_sparse), self.general);
        let has_general = choice.settings.general > 0.0;
        let known = if has_general { all_shares } else { own_shares };
        let known = known.map(|shares| {
            let each: Vec<(f64, u32)> = shares.into_iter().zip(data.texts.clone()).collect();
            judged_of(&each, &folds, &choice)
        });
        let (mut line, verdicts, mut misfiled) =
            self.line(&data, &choice, (&set, known.as_deref(), &left_out), note);
        for found in &mut misfiled {
            found.document = judged[found.document];
        }
        misfiled.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        if let Some(old) = options.like.as_ref().filter(|_| is_one_sided && !has_general) {
            // What is there tells nothing of thresholds.
            (line.calibration, line.band) = (old.calibration, old.band);
            (line.known, line.limits) = (old.known, old.limits.clone());
            line.usual.clone_from(&old.usual);
            misfiled.clear();
        }
        let fitted = Some(FittedWeights { fits, set, line, verdicts, misfiled });
        Ok(Solution { data, before, choice, judged, is_sparse, fitted })
    }

    /// Warns of categories with few documents.
    fn count_labels(&self, data: &Dataset, note: &mut dyn FnMut(FitNote)) -> Result<(), FitError> {
        for (name, documents) in self.names.iter().zip(data.documents_by_category()) {
            let category = name.clone();
            match documents {
                0 if self.general.is_none() => return Err(FitError::NoDocuments { category }),
                ..ENOUGH => note(FitNote::FewDocuments { category, documents }),
                _ => {}
            }
        }
        Ok(())
    }

    /// Chooses the settings.
    fn choose(
        &self,
        data: &Dataset,
        (folds, ordinary, opinion): (&[usize], &[f64], &Opinion),
        is_sparse: bool,
    ) -> Result<(Choice, Vec<LeftOut>), FitError> {
        let Self { categories, options, stop, .. } = *self;
        let is_blocks = data.scoring == Scoring::Blocks;
        let smallest = data.documents_by_category().into_iter().min().unwrap_or(0);
        let few = smallest < ENOUGH;
        let costs = if few || is_blocks { &COSTS[2..] } else { &COSTS };
        let costs = options.cost.map_or(costs.to_vec(), |cost| vec![cost]);
        // With word pairs the ordinary scores of text are too inaccurate to be blended in.
        let learned = categories.iter().map(|category| category.header().documents as usize).sum();
        let is_stale = documents_grew(data.len(), learned);
        let blends: &[f64] = match (is_stale, blend::digrams_agree(categories), data.max_order) {
            (true, ..) | (_, false, 2..) => &BLENDS[..1],
            _ if is_blocks => &BLENDS[..1],
            _ if few => &[0.05],
            _ => &BLENDS,
        };
        let blends = options.blend.map_or(blends.to_vec(), |blend| vec![blend]);
        let shares = match (self.general, options.general) {
            (None, _) => vec![0.0],
            (Some(_), Some(share)) => vec![share],
            (Some(_), None) if few => vec![SHARE_OF_FEW],
            (Some(_), None) => SHARES.to_vec(),
        };
        // If nothing is to be decided and there are many documents, one trial fit is enough.
        let is_decided = options.always && costs.len() * blends.len() * shares.len() == 1;
        let wants_thresholds = options.false_positives.is_some() || options.unsure;
        let is_spared = is_decided && !wants_thresholds && !is_sparse && smallest >= PLENTY;
        let judged = if is_spared || options.quick { 1 } else { FOLDS };
        let promises = self.promises();
        let wants_band = options.unsure && data.categories == 2;
        let promises = wants_band.then_some(promises.as_slice());
        let (costs, blends, shares, general) = (&costs, &blends, &shares, opinion);
        let trial =
            Trial { data, folds, ordinary, costs, blends, general, shares, judged, promises, stop };
        if is_blocks {
            let (scores, left_out) = by_blocks::judge(data, costs[0], folds, stop)?;
            let choice = choose_share(&trial, &scores).ok_or(FitError::NoSettings)?;
            return Ok((choice, left_out));
        }
        let choice =
            if is_sparse { choose_sparse(&trial, categories)? } else { choose_exact(&trial)? };
        Ok((choice.ok_or(FitError::NoSettings)?, Vec::new()))
    }

    /// The header's line, but for the place, the verdicts that its thresholds make, and what looks
    /// misfiled among the documents that were classified. `known` are the shares of known text
    /// features of these documents, and how many they have.
    fn line(
        &self,
        data: &Dataset,
        choice: &Choice,
        (set, known, left_out): (&Set, Option<&[KnownShare]>, &[LeftOut]),
        note: &mut dyn FnMut(FitNote),
    ) -> (RefitLine, Option<FitVerdicts>, Vec<MisfiledDocument>) {
        let options = self.options;
        let scale = set.scale;
        let is_pair = data.categories == 2;
        let mut line = RefitLine {
            set: set.name,
            place: 1,
            categories: u32::try_from(data.categories).unwrap_or(u32::MAX),
            cost: choice.settings.cost,
            blend: choice.settings.blend,
            documents: u32::try_from(data.len()).unwrap_or(u32::MAX),
            calibration: Calibration { slope: 1.0, offset: 0.0 },
            band: (0.0, 0.0),
            scoring: data.scoring,
            contrast: data.contrast,
            false_positives: options.false_positives.filter(|_| is_pair),
            wants_unsure: options.unsure,
            known: 0.0,
            limits: Vec::new(),
            usual: Vec::new(),
            caution: options.caution,
            rates: options.rates.clone(),
            general: choice.settings.general,
        };
        let promises = self.promises();
        let of_general = self.odds_of_general(data, line.general);
        // Until then odds and band of the line are those of the scores in `choice`.
        let judged = |mut line: RefitLine, misfiled: Vec<MisfiledDocument>| {
            let (verdicts, usual) = verdicts(&line, choice, known, &misfiled);
            line.usual = if of_general.is_none() { usual } else { Vec::new() };
            line.calibration.slope /= scale;
            line.band = (line.band.0 * scale, line.band.1 * scale);
            (line, Some(verdicts), misfiled)
        };
        let is_blocks = data.scoring == Scoring::Blocks;
        if let (true, false, Some(known)) = (line.wants_unsure, is_blocks, known) {
            // The least known share is found with the documents of the protected category.
            let rates = promises.iter().map(|promise| promise.rate);
            let strictest = rates.fold(f64::INFINITY, f64::min);
            let each = known.iter().zip(&choice.labels);
            let own = each.filter(|&(_, &label)| promises[label as usize].rate <= strictest);
            let mut least = thresholds::least_known(own.map(|(known, _)| known.0));
            for category in 0..promises.len() {
                // It is not larger than the median share of any other category.
                let each = known.iter().zip(&choice.labels);
                let own = each.filter(|&(_, &label)| label as usize == category);
                least = least.min(thresholds::usual_share(own.map(|(known, _)| known.0)));
            }
            line.known = thresholds::kept_share(least);
        }
        if !is_pair {
            let slope = of_general
                .map_or_else(|| temperature(&choice.scores, &choice.labels), |odds| odds.slope);
            line.calibration.slope = slope;
            if options.false_positives.is_some() {
                note(FitNote::NoThresholds);
            }
            if !line.wants_unsure {
                line.calibration.slope /= scale;
                return (line, None, Vec::new());
            }
            let odds: Vec<f64> = choice.scores.iter().map(|score| slope * score).collect();
            let excesses = thresholds::excesses(&odds, &choice.labels, data.categories);
            let beyond = thresholds::misfiled_of_each(&excesses, 0.0);
            let misfiled = if is_blocks {
                left_out_of(left_out)
            } else {
                misfiled_among(&excesses, &beyond, choice, data.categories)
            };
            let excesses = thresholds::well_filed(excesses, &beyond);
            let limits = thresholds::limits(&excesses, &promises).into_iter().zip(&promises);
            line.limits = limits.map(|(limit, promise)| limit.max(promise.least_odds())).collect();
            if of_general.is_some() {
                // The documents of one category tell nothing of sure verdicts.
                line.limits.fill(NEVER);
            }
            return judged(line, misfiled);
        }
        let scored = differences(&choice.scores, &choice.labels);
        let fewest = data.documents_by_category().into_iter().min().unwrap_or(0);
        let is_few = options.unsure && fewest < ENOUGH;
        let even = self.general.map_or(0.0, |general| line.general * general.even);
        let calibrate = |scored: &[Scored]| match of_general {
            Some(odds) => odds,
            None if is_few => platt_of_few(scored, even),
            None => platt(scored),
        };
        let mut odds = calibrate(&scored);
        let (mut low, mut high) = (odds.even(), odds.even());
        if let Some(share) = options.false_positives {
            let (score, wrong, is_checked) = threshold_for_false_positives(&scored, share);
            (low, high) = (score, score);
            if !is_checked {
                let category = self.names.first().cloned().unwrap_or_default();
                let documents = data.documents_by_category()[0];
                let needed = (10.0 / share).ceil();
                note(FitNote::Unverified { category, documents, share, wrong, needed });
            }
        }
        let mut misfiled = left_out_of(left_out);
        if is_blocks && options.unsure {
            let kept: Vec<Scored> = well_filed(&scored, &misfiled).map(|(_, &one)| one).collect();
            // Odds are even where the fit says so, which carries over to other mail, unless the fit
            // leans.
            let lean = thresholds::lean(&kept);
            let even = even + lean.even;
            odds = of_general.unwrap_or_else(|| platt_of_few(&kept, even));
            let caution = options.caution.factor();
            let is_asked_for =
                options.false_positives.is_some() || options.rates.iter().any(Option::is_some);
            let different = data.different_documents(thresholds::FEWEST).into_iter().min();
            let are_few = different.is_none_or(|different| different < thresholds::FEWEST);
            (low, high) = if of_general.is_some() || are_few {
                (-NEVER, NEVER)
            } else if is_asked_for {
                PairVerdicts::new(&kept, &promises, |_| odds).band
            } else {
                let (low, high) = thresholds::margins(fewest, caution);
                (even + low - lean.doubt[1], even + high + lean.doubt[0])
            };
        } else if options.unsure {
            let pair = PairVerdicts::new(&scored, &promises, calibrate);
            let excesses = thresholds::excesses_of_pair(&scored);
            misfiled = misfiled_among(&excesses, &pair.misfiled, choice, data.categories);
            (odds, (low, high)) = (pair.odds, pair.band);
        }
        (line.calibration, line.band) = (odds, (low, high));
        judged(line, misfiled)
    }

    /// The odds of the general model with this share, as long as the documents tell nothing of
    /// odds: those of one of two categories are missing, or of all but one of more.
    fn odds_of_general(&self, data: &Dataset, share: f64) -> Option<Calibration> {
        let with_documents = data.documents_by_category().into_iter().filter(|&own| own > 0);
        let general = self.general.filter(|_| share > 0.0 && with_documents.count() < 2)?;
        Some(general.calibration(share))
    }

    /// The rates at which each category's documents may confidently be called another.
    fn promises(&self) -> Vec<Promise> {
        let protected = |rate: f64| Promise { is_protected: true, rate, tail: rate };
        let rate = if self.categories.len() == 2 { MISSES } else { MISFILED };
        let usual = Promise { is_protected: false, rate, tail: 2.0 * rate };
        let mut promises = vec![usual; self.categories.len()];
        for (promise, &rate) in promises.iter_mut().zip(&self.options.rates) {
            *promise = rate.map_or(usual, protected);
        }
        if let [first, _] = promises.as_mut_slice() {
            *first = protected(self.options.false_positives.unwrap_or(FALSE_POSITIVES));
        }
        promises
    }
}

/// The share of a document's text features that are known, and how many it has.
type KnownShare = (f64, u32);

/// The dual variables of a document that was left out of a fit by blocks.
pub const LEFT_OUT: solver::Duals = [0.0, 1.0];

/// The documents that were left out of a fit by blocks.
fn left_out_of(left_out: &[LeftOut]) -> Vec<MisfiledDocument> {
    let each = left_out.iter().enumerate();
    let one = |(document, found): (usize, &LeftOut)| {
        found.map(|(excess, looks_like)| MisfiledDocument { document, looks_like, excess })
    };
    each.filter_map(one).collect()
}

/// Verdicts on the documents that were classified, without those that look misfiled, and what is
/// usual among those of each category if verdicts can be unsure and the shares of `known` features
/// are given. The thresholds of `judge` are those of the scores in `choice`.
fn verdicts(
    judge: &RefitLine,
    choice: &Choice,
    known: Option<&[(f64, u32)]>,
    misfiled: &[MisfiledDocument],
) -> (FitVerdicts, Vec<Usual>) {
    let mut verdicts = FitVerdicts::default();
    let categories = judge.categories as usize;
    let rows = choice.scores.chunks_exact(categories).zip(&choice.labels);
    let rows: Vec<_> = rows.collect();
    let (mut unsure, mut shares) = (vec![0; categories], vec![Vec::new(); categories]);
    for (at, &(scores, &label)) in well_filed(&rows, misfiled) {
        let (known, texts) = known.map_or((1.0, 0), |known| known[at]);
        let found = judge.verdict(scores, Support { texts, known, ..Support::default() });
        shares[label as usize].push(known);
        verdicts.judged += 1;
        verdicts.of_first += usize::from(label == 0);
        verdicts.most_probable += usize::from(found.category == label as usize);
        match (found.is_unsure, found.category == label as usize, label) {
            (true, ..) => {
                verdicts.unsure += 1;
                unsure[label as usize] += 1;
            }
            (false, true, _) => {}
            (false, false, 0) => verdicts.wrong += 1,
            (false, false, _) => verdicts.missed += 1,
        }
    }
    let each = unsure.into_iter().zip(shares).filter(|_| judge.wants_unsure && known.is_some());
    let usual = each.map(|(unsure, shares): (usize, Vec<f64>)| match shares.len() {
        // Where there are no documents, none that comes can be called unusual.
        0 => Usual { unsure: 1.0, known: 0.0 },
        all => Usual {
            unsure: real(unsure) / real(all),
            known: thresholds::usual_share(shares.into_iter()),
        },
    });
    (verdicts, usual.collect())
}

/// The documents whose excesses lie beyond those of their category, by their numbers among the
/// documents that were classified.
fn misfiled_among(
    excesses: &[Vec<f64>],
    beyond: &[Option<Misfiled>],
    choice: &Choice,
    categories: usize,
) -> Vec<MisfiledDocument> {
    let mut next = vec![0; categories];
    let mut found = Vec::new();
    let rows = choice.scores.chunks_exact(categories).zip(&choice.labels);
    for (document, (scores, &label)) in rows.enumerate() {
        let label = label as usize;
        let excess = excesses[label][next[label]];
        next[label] += 1;
        if beyond[label].is_some_and(|own| excess > own.beyond) {
            let others = (0..categories).filter(|&at| at != label);
            let best = others.max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            let looks_like = best.unwrap_or(label);
            found.push(MisfiledDocument { document, looks_like, excess });
        }
    }
    found
}

/// The documents that do not look misfiled, with their numbers; misfiled ones are in their order.
fn well_filed<'a, T>(
    all: &'a [T],
    misfiled: &'a [MisfiledDocument],
) -> impl Iterator<Item = (usize, &'a T)> {
    let is_misfiled = |at: usize| misfiled.binary_search_by_key(&at, |one| one.document).is_ok();
    all.iter().enumerate().filter(move |&(at, _)| !is_misfiled(at))
}

/// Selects from values of all documents those of the documents that were classified.
fn judged_of<T: Copy>(all: &[T], folds: &[usize], choice: &Choice) -> Vec<T> {
    // Folds are classified in order, from the first one.
    let mut judged = FOLDS;
    while judged > 1 && folds.iter().filter(|&&fold| fold < judged).count() > choice.labels.len() {
        judged -= 1;
    }
    let each = all.iter().zip(folds);
    each.filter(|&(_, &fold)| fold < judged).map(|(&value, _)| value).collect()
}

/// Whether many more documents are to be fitted than the ordinary categories were learned from;
/// their scores are then not blended in. Categories of text do not count documents.
const fn documents_grew(documents: usize, learned: usize) -> bool {
    learned > 0 && documents * 4 > learned * 5
}

impl FittedWeights {
    /// The probabilities of the categories for a document of these scores, as they stand in a
    /// [`Choice`].
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = scores.iter().map(|score| score * self.set.scale).collect();
        self.line.probabilities(&scaled)
    }

    /// The bytes of the file of category `at`, which the header calls `name`; `ordinary` is what
    /// was learned of it.
    pub fn file<D: AsRef<[u8]>>(&self, at: usize, ordinary: &Category<D>, name: &[u8]) -> Vec<u8> {
        let place = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let line = RefitLine { place, ..self.line.clone() };
        let Set { tables, log_partitions, digrams, .. } = &self.set;
        publish::file(ordinary, name, &line, &tables[at], log_partitions[at], digrams.as_ref())
    }
}

#[cfg(test)]
mod tests;
