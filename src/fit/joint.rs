// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits all messages of a filter, and finds the rule of its verdicts by cross-validation (spec
//! refit 3 and 4).
//!
//! ```text
//! messages ─→ fits without each fold ─→ scores of messages that no fit has seen ─┬→ left out
//!     └─→ fit of all that are not left out ─→ dual variables                     └→ Rule
//! ```
//!
//! Messages that clearly look like those of another label take no part in the fit, because people
//! have some mail in the wrong folder. Such messages are found by a fit of the other folds, and
//! once more by a fit without those that were found first.

use crate::fit::blocks::{
    BLOCKS, COST, Scales, best, best_other, costs, inputs, intercept, least_documents, positive,
    problems,
};
use crate::fit::calibrate::{platt_of_few, temperature};
use crate::fit::dataset::Dataset;
use crate::fit::general::{GeneralModel, SHARE_OF_FEW, SHARES};
use crate::fit::rule::{Rule, Support, Usual};
use crate::fit::stop::{Stop, Stopped};
use crate::fit::thresholds::{self, Caution, NEVER, Promise};
use crate::linear::{Block, Documents, Member, Table, Training, solve};
use crate::measures::calibration::{Calibration, platt};
use crate::measures::{Scored, area_above, mistakes};
use crate::parallel;
use dbacl_numeric::elementary::real;
use dbacl_numeric::random::SplitMix64;

/// Parts that messages are divided into.
pub(crate) const FOLDS: usize = 4;

/// Share of the messages of the protected label that may confidently be called another, where no
/// other is asked for.
pub(crate) const FALSE_POSITIVES: f64 = 0.001;

/// The same of the second of two labels, where it is not protected.
const MISSES: f64 = 0.005;

/// Messages of each label with which something can be chosen.
const ENOUGH: usize = 20;

/// Passes over the messages.
const PASSES: u32 = 10;

/// How far a message must be on the other side to be left out.
const WRONG: f64 = 0.4;

/// The share of all messages that must speak against their labels before any is left out: good
/// folders, too, have some mail that is odd, and it is worth learning.
const SOME: f64 = 0.005;

/// Messages of each label with which some can be left out.
const TELLING: u32 = 100;

/// The share of the messages of a label that are left out at most; if there are more, none is.
const MOST: f64 = 0.3;

/// Messages that follow each other in the input and come into one fold together. They are often
/// answers to each other or copies; in different folds, one would be classified by what was learned
/// of the other.
const NEIGHBOURS: usize = 16;

/// What a user wants of a filter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    /// How sure verdicts must be.
    pub caution: Caution,
    /// See [`Rule::protected`].
    pub protected: Vec<Option<f64>>,
    /// See [`Rule::is_asked`].
    pub is_asked: bool,
    /// The share of the general model; chosen where there is none.
    pub general: Option<f64>,
    /// The filter that is fitted again, where there is one: a label may be without messages then.
    pub like: Option<Rule>,
}

impl Wishes {
    /// Those of a filter with this `rule` that is to be fitted again; with `same_settings` the
    /// share of its general model is kept.
    pub(crate) fn like(rule: &Rule, same_settings: bool) -> Self {
        Self {
            caution: rule.caution,
            protected: rule.protected.clone(),
            is_asked: rule.is_asked,
            general: same_settings.then_some(rule.general),
            like: Some(rule.clone()),
        }
    }
}

/// Why messages could not be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No message with features has the label.
    #[error("no messages of {label}")]
    NoDocuments {
        /// The label.
        label: String,
    },
    /// The caller asked to stop before the fit was done.
    #[error("stopped before the fit was done")]
    Stopped,
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
    /// Fewer than twenty messages have a label.
    FewDocuments {
        /// The label.
        label: String,
        /// Its messages.
        documents: usize,
    },
    /// There are too few messages to verify the share of false positives.
    Unverified {
        /// The first label.
        label: String,
        /// Its messages.
        documents: usize,
        /// The share of false positives that was asked for.
        share: f64,
        /// The messages that would be needed.
        needed: f64,
    },
}

impl std::fmt::Display for FitNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FewDocuments { label, documents } => {
                let plural = if *documents == 1 { "message" } else { "messages" };
                write!(f, "only {documents} {plural} of {label}: results may be poor")
            }
            Self::Unverified { label, documents, share, needed } => write!(
                f,
                "{documents} messages of {label} are too few to promise {}% false positives: \
                 {needed:.0} would be needed",
                100.0 * share
            ),
        }
    }
}

/// Verdicts on messages, each classified by a fit that has not seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FitVerdicts {
    /// Messages of the first label whose verdict is another label, and not unsure.
    pub wrong: usize,
    /// Messages of other labels whose verdict is not their own label, and not unsure.
    pub missed: usize,
    /// Messages that are called unsure.
    pub unsure: usize,
    /// Messages whose most probable label is their own, those called unsure included.
    pub most_probable: usize,
    /// Messages that were classified.
    pub judged: usize,
    /// Messages of the first label among them.
    pub of_first: usize,
}

/// How well messages are classified that the fit has not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Messages that another label is best for.
    pub errors: usize,
    /// 1 - AUC with two labels, else 0.
    pub area_above: f64,
}

impl Quality {
    fn of(scores: &[f64], data: &Dataset) -> Self {
        if data.width == 2 {
            let scored = differences(scores, &data.labels);
            let (wrong, missed) = mistakes(&scored, platt(&scored).even());
            return Self { errors: wrong + missed, area_above: area_above(&scored) };
        }
        let rows = scores.chunks_exact(data.width).zip(&data.labels);
        let errors = rows.filter(|(row, label)| best(row) != **label).count();
        Self { errors, area_above: 0.0 }
    }
}

/// A message that looks as if it had another label. Verdicts do not count it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MisfiledDocument {
    /// Its number among all messages.
    pub document: usize,
    /// The label that it looks as if it had.
    pub looks_like: usize,
    /// How far it is taken for one of that label.
    excess: f64,
}

/// What a fit has found.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    /// How scores become verdicts.
    pub rule: Rule,
    /// The dual variables by message and problem.
    pub duals: Vec<f32>,
    /// The inputs of each message's blocks.
    pub inputs: Vec<[f32; BLOCKS]>,
    /// Whether each message takes no part.
    pub is_left_out: Vec<bool>,
    /// Verdicts on the messages.
    pub verdicts: FitVerdicts,
    /// Messages that look misfiled, those that do most first.
    pub misfiled: Vec<MisfiledDocument>,
    /// Shares of the general model that were tried, and how well each does.
    pub tried: Vec<(f64, Quality)>,
    /// How well the chosen one does.
    pub quality: Quality,
}

/// Messages that are to be fitted.
pub(crate) struct Problem<'a> {
    /// The messages.
    pub data: &'a Dataset,
    /// The labels, for errors and notes.
    pub names: &'a [String],
    /// What the user wants.
    pub wishes: &'a Wishes,
    /// The general model, if there is one. A label may be without messages then.
    pub general: Option<&'a GeneralModel>,
    /// Asked before each pass over the messages.
    pub stop: Stop<'a>,
}

/// A message that is left out of a fit: how far it is on the other side, and the label that it
/// looks as if it had.
type LeftOut = Option<(f64, usize)>;

/// The fit of a part of the messages.
struct Fit {
    table: Table<f32>,
    scales: Vec<f32>,
    part: Vec<u32>,
    /// By message of the part and problem.
    duals: Vec<f32>,
}

impl Problem<'_> {
    /// Fits the messages.
    ///
    /// # Errors
    /// [`FitError::NoDocuments`], [`FitError::Stopped`].
    pub(crate) fn solve(&self, note: &mut dyn FnMut(FitNote)) -> Result<Solution, FitError> {
        let Self { data, wishes, general, .. } = *self;
        let sizes = data.documents();
        let is_one_sided = sizes.contains(&0);
        if wishes.like.is_none() || data.is_empty() && general.is_none() {
            self.count_labels(&sizes, note)?;
        }
        let folds = folds(data);
        let least = least_documents(&sizes);
        let opinion = general
            .map(|own| own.opinion(data, |column| data.with[column] >= least))
            .unwrap_or_default();
        let (fitted, left_out) = self.cross_validate(&folds)?;
        let (share, scores, tried) = self.choose(&sizes, &fitted, &opinion);
        let quality = tried.iter().find(|(own, _)| *own == share).map(|(_, quality)| *quality);
        let quality = quality.unwrap_or(Quality { errors: 0, area_above: 0.0 });
        // A fit of the messages of one label takes all messages for that label. So only those are
        // fitted that the general model takes for the other one.
        let contradicting = general.filter(|_| is_one_sided && data.width == 2).map(|general| {
            let rows = opinion.chunks_exact(2).zip(&data.labels);
            let even = general.even();
            rows.map(|(scores, &label)| (scores[1] > even) != (label == 1)).collect::<Vec<bool>>()
        });
        let agrees = |at: usize| contradicting.as_ref().is_some_and(|all| !all[at]);
        let is_out = |at: usize| agrees(at) || left_out[at].is_some();
        let fit = self.fit(is_out)?;
        let width = problems(data.width);
        let mut duals = vec![0.0; data.len() * width];
        for (&at, own) in fit.part.iter().zip(fit.duals.chunks_exact(width)) {
            duals[at as usize * width..][..width].copy_from_slice(own);
        }
        let mut is_left_out: Vec<bool> = (0..data.len()).map(is_out).collect();
        if general.is_some() && !contradicting.is_some_and(|all| all.contains(&true)) {
            silence_empty(&mut duals, &sizes);
            if data.width == 2 && is_one_sided {
                is_left_out.fill(false);
            }
        }
        let number = fit.part.len();
        let all_inputs = (0..data.len()).map(|at| self.inputs(&fit.scales, number, at)).collect();
        let has_general = share > 0.0;
        let knows = general.filter(|_| has_general).map_or(&[][..], |general| &general.knows);
        let known = data.known_shares(&folds, knows);
        let of_general = self.odds_of_general(share);
        let mut misfiled = left_out_of(&left_out);
        let found = Found { scores: &scores, known: &known, misfiled: &misfiled, of_general };
        let (mut rule, verdicts) = self.rule(&found, share, note);
        misfiled.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        if let Some(old) = wishes.like.as_ref().filter(|_| is_one_sided && !has_general) {
            // What is there says nothing of thresholds.
            rule = Rule { general: rule.general, ..old.clone() };
            misfiled.clear();
        }
        Ok(Solution {
            rule,
            duals,
            inputs: all_inputs,
            is_left_out,
            verdicts,
            misfiled,
            tried,
            quality,
        })
    }

    /// Warns of labels with few messages.
    fn count_labels(&self, sizes: &[u32], note: &mut dyn FnMut(FitNote)) -> Result<(), FitError> {
        for (label, &documents) in self.names.iter().zip(sizes) {
            let (label, documents) = (label.clone(), documents as usize);
            match documents {
                0 if self.general.is_none() => return Err(FitError::NoDocuments { label }),
                ..ENOUGH => note(FitNote::FewDocuments { label, documents }),
                _ => {}
            }
        }
        Ok(())
    }

    /// The input of the features of each block of a message, in a fit of `messages` messages in
    /// which features have these `scales`.
    fn inputs(&self, scales: &[f32], messages: usize, document: usize) -> [f32; BLOCKS] {
        let knows = |column: usize| self.general.is_some_and(|general| general.knows[column]);
        let is_known = |&&column: &&u32| scales[column as usize] > 0.0 || knows(column as usize);
        let row = self.data.row(document);
        let known = row.map(|columns| columns.iter().filter(is_known).count());
        inputs(known, row.map(<[u32]>::len), messages)
    }

    /// Fits all problems on the messages that are not `left_out`.
    fn fit(&self, left_out: impl Fn(usize) -> bool) -> Result<Fit, Stopped> {
        let data = self.data;
        let part: Vec<u32> = (0..).take(data.len()).filter(|&at| !left_out(at as usize)).collect();
        let mut with = vec![0u32; data.ids.len()];
        let mut sizes = vec![0u32; data.width];
        for &at in &part {
            sizes[data.labels[at as usize]] += 1;
            for &column in data.row(at as usize).into_iter().flatten() {
                with[column as usize] += 1;
            }
        }
        let mut scales = Scales::new(&sizes, least_documents(&data.documents()));
        let scales: Vec<f32> = with.iter().map(|&with| scales.of(with)).collect();
        let kept = with.iter().zip(&scales).filter(|&(_, &scale)| scale > 0.0);
        let mut documents = Documents::with_room(kept.map(|(&with, _)| with as usize).sum());
        drop(with);
        let costs = costs(&sizes);
        let mut columns = Vec::new();
        for &at in &part {
            let at = at as usize;
            columns.clear();
            let inputs = self.inputs(&scales, part.len(), at);
            let blocks: [Block; BLOCKS] = std::array::from_fn(|block| {
                let start = columns.len();
                let own = data.row(at)[block].iter();
                columns.extend(own.copied().filter(|&column| scales[column as usize] > 0.0));
                let columns = u32::try_from(columns.len() - start).unwrap_or(u32::MAX);
                Block { columns, input: inputs[block] }
            });
            let label = data.labels[at];
            let positive = positive(label, data.width);
            let member = Member {
                columns: &columns,
                blocks: &blocks,
                positive: &positive,
                cost: costs[label],
            };
            documents.push(data.keys[at], &member);
        }
        let width = u32::try_from(problems(data.width)).unwrap_or(u32::MAX);
        let mut table = Table::<f32>::new(0..width, &scales, intercept());
        let training = Training { part: &documents.all(), cost: COST, passes: PASSES };
        let duals = solve(&mut table, &documents, &training, &mut |_| self.stop.check().is_ok());
        Ok(Fit { table, scales, part, duals: duals.ok_or(Stopped)? })
    }

    /// The scores of a message by label; with two labels 0 for the first one.
    fn scores(&self, fit: &Fit, document: usize) -> Vec<f64> {
        let width = problems(self.data.width);
        let mut scores: Vec<f64> = fit.table.intercepts().collect();
        let inputs = self.inputs(&fit.scales, fit.part.len(), document);
        let mut row = vec![0.0; width];
        for (columns, input) in self.data.row(document).into_iter().zip(inputs) {
            let mut sums = vec![0.0; width];
            for &column in columns {
                fit.table.weights(column, &mut row);
                for (sum, &weight) in sums.iter_mut().zip(&row) {
                    *sum += f64::from(weight);
                }
            }
            for (score, sum) in scores.iter_mut().zip(sums) {
                *score += sum * f64::from(input);
            }
        }
        if self.data.width == 2 {
            scores.insert(0, 0.0);
        }
        scores
    }

    /// Classifies each message by a fit of the messages of other folds. Returns scores by message
    /// and label, and which messages are left out.
    fn cross_validate(&self, folds: &[usize]) -> Result<(Vec<f64>, Vec<LeftOut>), Stopped> {
        let (data, width) = (self.data, self.data.width);
        let number = folds.iter().max().map_or(0, |last| last + 1);
        let round = |left_out: &[LeftOut]| -> Result<Vec<f64>, Stopped> {
            let parts = parallel::try_all(number, |fold| {
                let fit = self.fit(|at| folds[at] == fold || left_out[at].is_some())?;
                let own = (0..data.len()).filter(|&at| folds[at] == fold);
                Ok(own.map(|at| (at, self.scores(&fit, at))).collect::<Vec<_>>())
            })?;
            let mut all = vec![0.0; data.len() * width];
            for (at, scores) in parts.into_iter().flatten() {
                all[at * width..][..width].copy_from_slice(&scores);
            }
            Ok(all)
        };
        let scores = round(&vec![None; data.len()])?;
        let left_out = wrong(data, &scores);
        if left_out.iter().all(Option::is_none) {
            return Ok((scores, left_out));
        }
        let scores = round(&left_out)?;
        let left_out = wrong(data, &scores);
        Ok((scores, left_out))
    }

    /// Chooses the share of the general model: of those whose errors lie within one standard
    /// deviation of the fewest, the one that ranks best; with more than two labels the one with the
    /// fewest errors. Returns it with the scores, and all that was tried.
    fn choose(
        &self,
        sizes: &[u32],
        fitted: &[f64],
        opinion: &[f64],
    ) -> (f64, Vec<f64>, Vec<(f64, Quality)>) {
        let smallest = sizes.iter().copied().min().unwrap_or(0) as usize;
        let shares = match (self.general, self.wishes.general) {
            (None, _) => vec![0.0],
            (Some(_), Some(share)) => vec![share],
            (Some(_), None) if smallest < ENOUGH => vec![SHARE_OF_FEW],
            (Some(_), None) => SHARES.to_vec(),
        };
        let with = |share: f64| -> Vec<f64> {
            let own = |at: usize| if share > 0.0 { share * opinion[at] } else { 0.0 };
            fitted.iter().enumerate().map(|(at, score)| score + own(at)).collect()
        };
        let tried: Vec<(f64, Quality)> =
            shares.into_iter().map(|share| (share, Quality::of(&with(share), self.data))).collect();
        let fewest = tried.iter().map(|(_, quality)| quality.errors).min().unwrap_or(0);
        // No error at all is hardly fewer than one.
        let slack = if self.data.width == 2 { real(fewest.max(1)).sqrt() } else { 0.0 };
        let good = tried.iter().filter(|(_, own)| real(own.errors) <= real(fewest) + slack);
        let rank = |own: &Quality| (own.area_above, own.errors);
        let chosen =
            good.reduce(|best, next| if rank(&next.1) < rank(&best.1) { next } else { best });
        let share = chosen.map_or(0.0, |(share, _)| *share);
        (share, with(share), tried)
    }

    /// The rule of verdicts with this share of the general model, and the verdicts that it makes on
    /// the messages.
    fn rule(
        &self,
        found: &Found<'_>,
        share: f64,
        note: &mut dyn FnMut(FitNote),
    ) -> (Rule, FitVerdicts) {
        let Self { data, wishes, .. } = *self;
        let rule = Rule {
            calibration: Calibration { slope: 1.0, offset: 0.0 },
            band: (0.0, 0.0),
            gaps: Vec::new(),
            limits: Vec::new(),
            known: 0.0,
            usual: Vec::new(),
            caution: wishes.caution,
            protected: wishes.protected.clone(),
            is_asked: wishes.is_asked,
            general: share,
            others: wishes.like.as_ref().map_or_else(Vec::new, |old| old.others.clone()),
        };
        let mut rule = if data.width == 2 {
            self.unverified(note);
            self.rule_of_pair(rule, found)
        } else {
            self.rule_of_many(rule, found)
        };
        let (verdicts, usual) = verdicts(&rule, data, found);
        rule.usual = if found.of_general.is_none() { usual } else { Vec::new() };
        (rule, verdicts)
    }

    /// Warns of a share of false positives that so few messages cannot verify.
    fn unverified(&self, note: &mut dyn FnMut(FitNote)) {
        let share = self.wishes.protected.first().copied().flatten();
        let Some(share) = share.filter(|_| self.wishes.is_asked) else { return };
        let (needed, documents) = ((10.0 / share).ceil(), self.data.documents()[0] as usize);
        if real(documents) < needed {
            let label = self.names.first().cloned().unwrap_or_default();
            note(FitNote::Unverified { label, documents, share, needed });
        }
    }

    fn rule_of_pair(&self, rule: Rule, found: &Found<'_>) -> Rule {
        let (data, wishes) = (self.data, self.wishes);
        let Found { misfiled, of_general, .. } = *found;
        let scored = differences(found.scores, &data.labels);
        let kept: Vec<Scored> = well_filed(&scored, misfiled).map(|(_, &one)| one).collect();
        let fewest = data.documents().into_iter().min().unwrap_or(0) as usize;
        // Odds are even where the fit says so, which carries over to other mail, unless the fit
        // leans.
        let lean = thresholds::lean(&kept);
        let even = self.general.map_or(0.0, |general| rule.general * general.even()) + lean.even;
        let odds = of_general.unwrap_or_else(|| platt_of_few(&kept, even));
        let different = data.different(thresholds::FEWEST).into_iter().min();
        let are_few = different.is_none_or(|different| different < thresholds::FEWEST);
        let band = if of_general.is_some() || are_few {
            (-NEVER, NEVER)
        } else if wishes.is_asked {
            thresholds::band_as_asked(&kept, &self.promises(MISSES), odds)
        } else {
            let (low, high) = thresholds::margins(fewest, wishes.caution.factor());
            (even + low - lean.doubt[1], even + high + lean.doubt[0])
        };
        Rule { calibration: odds, band, ..rule }
    }

    fn rule_of_many(&self, rule: Rule, found: &Found<'_>) -> Rule {
        let (data, width) = (self.data, self.data.width);
        let Found { misfiled, of_general, .. } = *found;
        let (scores, labels): (Vec<&[f64]>, Vec<usize>) = {
            let rows: Vec<_> = found.scores.chunks_exact(width).zip(&data.labels).collect();
            well_filed(&rows, misfiled).map(|(_, &(row, &label))| (row, label)).unzip()
        };
        let slope = match of_general {
            Some(odds) => odds.slope,
            None => temperature(&scores.concat(), &labels),
        };
        let odds: Vec<f64> = scores.concat().into_iter().map(|score| slope * score).collect();
        let excesses = thresholds::excesses(&odds, &labels, width);
        let beyond = thresholds::misfiled_of_each(&excesses, 0.0);
        let is_beyond =
            |label: usize, excess: f64| beyond[label].is_some_and(|own| excess > own.beyond);
        // By the label that a message is taken for: how far it is ahead, if that is wrong.
        let mut taken = vec![Vec::new(); width];
        for (row, &label) in odds.chunks_exact(width).zip(&labels) {
            let own = best(row);
            if !is_beyond(label, row[best_other(row, label)] - row[label]) {
                let gap = row[own] - row[best_other(row, own)];
                taken[own].push(if own == label { -gap } else { gap });
            }
        }
        let promise = Promise::usual(self.wishes.caution.misfiled());
        let gaps = thresholds::limits(&taken, &vec![promise; width]);
        let excesses = thresholds::well_filed(excesses, &beyond);
        let promises = self.promises(promise.rate);
        let limits = thresholds::limits(&excesses, &promises).into_iter().zip(&promises);
        let limits = limits
            .map(|(limit, promise)| promise.is_protected.then(|| limit.max(promise.least_odds())));
        // The messages of one label tell nothing of sure verdicts.
        let is_known = of_general.is_none();
        let gaps = gaps.into_iter().map(|gap| if is_known { gap.max(0.0) } else { NEVER });
        Rule {
            calibration: Calibration { slope, offset: 0.0 },
            gaps: gaps.collect(),
            limits: limits.collect(),
            known: self.least_known(found.known),
            ..rule
        }
    }

    /// The least known share with which a verdict can be sure. It is found with the messages of the
    /// protected labels, or of all, and not larger than the median share of any label.
    fn least_known(&self, known: &[f64]) -> f64 {
        let of = |wanted: &dyn Fn(usize) -> bool| {
            let each = known.iter().zip(&self.data.labels);
            each.filter(|&(_, &label)| wanted(label)).map(|(share, _)| *share).collect::<Vec<f64>>()
        };
        let is_protected = |at: usize| self.wishes.protected.get(at).copied().flatten().is_some();
        let is_any = (0..self.data.width).any(is_protected);
        let own = of(&|label| !is_any || is_protected(label));
        let mut least = thresholds::least_known(own.into_iter());
        for label in 0..self.data.width {
            least = least.min(thresholds::usual_share(of(&|own| own == label).into_iter()));
        }
        thresholds::kept_share(least)
    }

    /// The odds of the general model with this share, as long as the messages tell nothing of
    /// odds: those of one of two labels are missing, or of all but one of more.
    fn odds_of_general(&self, share: f64) -> Option<Calibration> {
        let with_documents = self.data.documents().into_iter().filter(|&own| own > 0);
        let general = self.general.filter(|_| share > 0.0 && with_documents.count() < 2)?;
        Some(general.calibration(share))
    }

    /// The rates at which each label's messages may confidently be called another; `usual` where
    /// the label is not protected. Of two labels the first always is.
    fn promises(&self, usual: f64) -> Vec<Promise> {
        let mut promises = vec![Promise::usual(usual); self.data.width];
        let rates = self.wishes.protected.iter().copied();
        for (promise, rate) in promises.iter_mut().zip(rates) {
            *promise = rate.map_or(*promise, Promise::protected);
        }
        if let [first, _] = promises.as_mut_slice()
            && !first.is_protected
        {
            *first = Promise::protected(FALSE_POSITIVES);
        }
        promises
    }
}

/// What cross-validation has found.
struct Found<'a> {
    /// Scores by message and label.
    scores: &'a [f64],
    /// The share of known features of the text of each message.
    known: &'a [f64],
    /// Messages that look misfiled, in their order.
    misfiled: &'a [MisfiledDocument],
    /// The odds of the general model, where the messages tell nothing of odds.
    of_general: Option<Calibration>,
}

/// A fold for each message, about the same shares of every label in each.
fn folds(data: &Dataset) -> Vec<usize> {
    let mut folds = vec![0; data.len()];
    let mut shuffle = SplitMix64::new(2);
    for label in 0..data.width {
        let own: Vec<usize> = (0..data.len()).filter(|&at| data.labels[at] == label).collect();
        let mut groups: Vec<&[usize]> = own.chunks(together(own.len())).collect();
        shuffle.shuffle(&mut groups);
        for (place, group) in groups.into_iter().enumerate() {
            for &document in group {
                folds[document] = place % FOLDS;
            }
        }
    }
    folds
}

/// How many neighbours of a label with so many messages come into one fold.
fn together(messages: usize) -> usize {
    (messages / (4 * FOLDS)).clamp(1, NEIGHBOURS)
}

/// With two labels: by how much the score of the second is greater.
fn differences(scores: &[f64], labels: &[usize]) -> Vec<Scored> {
    let rows = scores.chunks_exact(2).zip(labels);
    rows.map(|(row, &label)| Scored { score: row[1] - row[0], positive: label == 1 }).collect()
}

/// Makes the problems of labels without messages say nothing. By the messages of the others alone
/// such a label would never be the most probable one, even where a general model knows its
/// messages.
fn silence_empty(duals: &mut [f32], sizes: &[u32]) {
    let width = problems(sizes.len());
    let is_empty = |at: usize| if width == 1 { sizes.contains(&0) } else { sizes[at] == 0 };
    for own in duals.chunks_exact_mut(width) {
        for (_, dual) in own.iter_mut().enumerate().filter(|(at, _)| is_empty(*at)) {
            *dual = 0.0;
        }
    }
}

/// The messages whose scores speak clearly against their labels.
fn wrong(data: &Dataset, scores: &[f64]) -> Vec<LeftOut> {
    let sizes = data.documents();
    let mut found = vec![None; data.len()];
    if sizes.iter().any(|&own| own < TELLING) {
        return found;
    }
    let mut numbers = vec![0; data.width];
    // The scores of two labels are those of one fit; of more, each has its own.
    let limit = if data.width == 2 { WRONG } else { 2.0 * WRONG };
    for (document, scores) in scores.chunks_exact(data.width).enumerate() {
        let label = data.labels[document];
        let other = best_other(scores, label);
        let excess = scores[other] - scores[label];
        if excess > limit {
            found[document] = Some((excess, other));
            numbers[label] += 1;
        }
    }
    let is_odd = real(numbers.iter().sum()) < SOME * real(data.len());
    for (document, found) in found.iter_mut().enumerate() {
        let label = data.labels[document];
        if is_odd || real(numbers[label]) > MOST * f64::from(sizes[label]) {
            *found = None;
        }
    }
    found
}

fn left_out_of(left_out: &[LeftOut]) -> Vec<MisfiledDocument> {
    let each = left_out.iter().enumerate();
    let one = |(document, found): (usize, &LeftOut)| {
        found.map(|(excess, looks_like)| MisfiledDocument { document, looks_like, excess })
    };
    each.filter_map(one).collect()
}

/// The messages that do not look misfiled, with their numbers; misfiled ones are in their order.
fn well_filed<'a, T>(
    all: &'a [T],
    misfiled: &'a [MisfiledDocument],
) -> impl Iterator<Item = (usize, &'a T)> {
    let is_misfiled = |at: usize| misfiled.binary_search_by_key(&at, |one| one.document).is_ok();
    all.iter().enumerate().filter(move |&(at, _)| !is_misfiled(at))
}

/// Verdicts on the messages without those that look misfiled, and what is usual among those of each
/// label.
fn verdicts(rule: &Rule, data: &Dataset, found: &Found<'_>) -> (FitVerdicts, Vec<Usual>) {
    let mut verdicts = FitVerdicts::default();
    let rows: Vec<_> = found.scores.chunks_exact(data.width).zip(&data.labels).collect();
    let (mut unsure, mut shares) = (vec![0; data.width], vec![Vec::new(); data.width]);
    for (at, &(scores, &label)) in well_filed(&rows, found.misfiled) {
        let (known, texts) = (found.known[at], data.row(at)[0].len());
        let verdict = rule.verdict(scores, Support { texts, known, ..Support::default() });
        shares[label].push(known);
        verdicts.judged += 1;
        verdicts.of_first += usize::from(label == 0);
        verdicts.most_probable += usize::from(verdict.label == label);
        match (verdict.is_unsure, verdict.label == label, label) {
            (true, ..) => {
                verdicts.unsure += 1;
                unsure[label] += 1;
            }
            (false, true, _) => {}
            (false, false, 0) => verdicts.wrong += 1,
            (false, false, _) => verdicts.missed += 1,
        }
    }
    let usual = unsure.into_iter().zip(shares).map(|(unsure, shares)| match shares.len() {
        // Where there are no messages, none that comes can be called unusual.
        0 => Usual { unsure: 1.0, known: 0.0 },
        all => Usual {
            unsure: real(unsure) / real(all),
            known: thresholds::usual_share(shares.into_iter()),
        },
    });
    (verdicts, usual.collect())
}

mod doubts;
#[cfg(test)]
mod tests;
