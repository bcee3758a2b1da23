// SPDX-License-Identifier: GPL-3.0-or-later
//! Labelled texts → a table: which features, which settings, the fit, the calibration.
//!
//! ```text
//! texts ─→ features ─→ columns ─┬→ fits of three quarters ─→ settings, calibration, errors
//!                               └→ fit of all ─→ table
//! ```
//!
//! Nothing here depends on the order of the texts, on time, or on the number of processors.

use crate::linear::{Block, Calibration, Documents, Member, Training, resume, scales};
use crate::text::calibrate::{Cut, scale};
use crate::text::features::{Features, LENGTHS, Layout, REPEATS, Runs, TextReader};
use crate::text::index::Index;
use crate::text::recipe::{FitPlan, Recipe};
use crate::text::shorten;
use crate::text::table::{Fitted, LOSS, Scale, Table};
use crate::text::threads;
use dbacl_numeric::elementary::{narrow, real};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The weight of each block.
pub(super) const WEIGHT: f64 = 2.0;
/// The input of the intercept.
pub(super) const INTERCEPT: f32 = 0.5;
/// Texts whose median has more words than this have no runs of characters unless that is asked
/// for: they bring little and cost much.
const LONG: usize = 100;
/// More labels than this are distinguished by runs within words, and without contrast.
const MANY: usize = 20;
/// Cells times problems from which features in two documents are left out, too.
const HUGE: usize = 40_000_000;
/// Below this number of texts, few features are in two texts or more.
const TINY: usize = 100;
/// Up to so much work (see [`Corpus::work`]) several settings are tried.
const WORK: f64 = 1e8;
/// Up to so many documents each quarter is left out once, else one quarter.
const FEW: usize = 4000;
/// The most documents that are cut short for the calibration.
const CUT: usize = 4000;
/// The fold of texts that are never left out.
const NEVER: u8 = u8::MAX;
/// Passes of a fit, and of one that goes on from a fit of three quarters.
const PASSES: u32 = 10;
const MORE_PASSES: u32 = 5;
/// Passes that go on from a fit to see what further features are worth.
const FURTHER_PASSES: u32 = 3;
/// Documents of the mean by which ordinary weights are smoothed.
const SMOOTHING: f64 = 10.0;
/// How often texts without labels are labelled, by how much margins count for that, and the share
/// of the ordinary weights that they change.
const ROUNDS: usize = 3;
const SOFT_SLOPE: f64 = 3.0;
const SOFT_START: f64 = 0.05;
/// Fewer labelled texts than this cannot show whether other texts help: a few errors more may be
/// chance, and do not speak against them.
const FEW_LABELLED: usize = 100;

/// What training asks of its caller while it runs.
#[derive(Default)]
pub struct Watch<'a> {
    /// Ends the training when it is set.
    pub stop: Option<&'a AtomicBool>,
    /// Is called with the share that is done, from 0 to 1.
    pub progress: Option<&'a (dyn Fn(f64) + Sync)>,
}

impl Watch<'_> {
    /// Reports how much is done; returns whether to go on.
    pub(crate) fn goes_on(&self, share: f64) -> bool {
        if let Some(told) = self.progress {
            told(share);
        }
        !self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Labelled texts.
pub(super) struct Task<'a> {
    pub texts: Vec<&'a [u8]>,
    /// The labels of each, by number, rising.
    pub labels: Vec<Vec<u32>>,
    /// What each costs on the wrong side, as a multiple.
    pub costs: Vec<f32>,
    /// How many of the texts, the last ones, are names of labels: they are learned, but neither
    /// left out nor counted.
    pub names: usize,
    /// Number of labels.
    pub classes: usize,
    /// The number of the label `none`, if there is one.
    pub none: Option<usize>,
    /// Whether a text may have several.
    pub has_several: bool,
    /// Texts without labels.
    pub unlabelled: &'a [Vec<u8>],
    /// What is wished for.
    pub plan: FitPlan,
    pub watch: &'a Watch<'a>,
}

impl<'a> Task<'a> {
    /// The texts that are not names of labels.
    fn documents(&self) -> &[&'a [u8]] {
        &self.texts[..self.texts.len() - self.names]
    }
}

/// What came of it.
pub(crate) struct Learned {
    pub table: Table,
    /// Errors in documents that were left out, and how many these were.
    pub errors: usize,
    /// See `errors`.
    pub judged: usize,
    /// What was chosen, for people.
    pub chosen: Vec<(String, String)>,
    /// Texts that have features, by label.
    pub documents: Vec<u64>,
}

/// Settings of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// Whether features that tell the labels apart are preferred.
    pub contrast: bool,
    /// What a document on the wrong side costs.
    pub cost: f64,
    /// The share of ordinary weights to start from.
    pub start: f64,
    /// How many of [`REPEATS`] add features.
    pub repeats: usize,
}

impl Settings {
    /// As people see them.
    fn text(self) -> String {
        let contrast = if self.contrast { ", contrast" } else { "" };
        let start = match self.start {
            0.0 => String::new(),
            start => format!(", start {start}"),
        };
        let repeats: String =
            REPEATS[..self.repeats].iter().map(|(_, often)| format!(", {often}")).collect();
        format!("cost {}{contrast}{start}{repeats}", self.cost)
    }
}

/// Numbered documents.
struct Corpus<'a> {
    task: &'a Task<'a>,
    layout: Layout,
    /// Originals, then texts without labels, then shortened copies.
    documents: Documents,
    /// The text that each is or was cut from.
    origins: Vec<u32>,
    /// Whether each labelled text has features, known or not.
    has_features: Vec<bool>,
    /// Features by column.
    features: Vec<u32>,
    /// How many of [`REPEATS`] must add features for each of these to be one.
    levels: Vec<u8>,
    index: Index,
    /// Documents that a feature must be in.
    least: u32,
    problems: usize,
}

/// A fit of some documents, in ranges of problems.
#[derive(Clone)]
struct Fit {
    scales: Vec<f32>,
    ranges: Vec<(crate::linear::Table<f32>, Vec<f32>)>,
}

/// Stopped by the caller.
pub(super) struct Stopped;

/// The runs of characters that tell so many labels apart.
const fn runs_for(labels: usize) -> Runs {
    if labels > MANY { Runs::Within } else { Runs::Across }
}

/// How texts with this median number of words and so many labels are read.
pub(super) fn layout(plan: &FitPlan, median: usize, labels: usize) -> Layout {
    let runs = match plan.runs {
        Some(false) => None,
        None if median > LONG => None,
        _ => Some(runs_for(labels)),
    };
    Layout {
        words: plan.words.clone(),
        runs,
        keeps_case: plan.recipe.case_sensitive,
        folds: plan.recipe.folds(),
        lengths: if labels > MANY { [1, LENGTHS[1]] } else { LENGTHS },
        repeats: 0,
    }
}

/// Whether it is worth the time to see if repetitions say something.
fn repeats_are_tried(task: &Task<'_>, problems: usize, has_runs: bool) -> bool {
    let bytes: usize = task.texts.iter().map(|text| text.len()).sum();
    // Words and pairs, or runs as well.
    let cells = real(bytes) * if has_runs { 4.0 } else { 0.3 };
    cells * (1.0 + real(problems) / 8.0) <= WORK
}

/// The settings that suit most texts of so many labels.
pub(super) fn usual(recipe: &Recipe, labels: usize) -> Settings {
    settings(recipe, labels <= MANY, 0.0)
}

fn settings(recipe: &Recipe, contrast: bool, start: f64) -> Settings {
    let contrast = contrast && !recipe.no_contrast;
    let cost = recipe.cost.unwrap_or(if contrast { 0.05 } else { 0.1 });
    Settings { contrast, cost, start: recipe.start.unwrap_or(start), repeats: 0 }
}

/// What was chosen, for people: `tried` are all settings with their errors.
pub(super) fn told(
    layout: &Layout,
    settings: Settings,
    tried: &[String],
    scale: &Scale,
    is_for_f1: bool,
) -> Vec<(String, String)> {
    let [shortest, longest] = layout.lengths;
    let runs = layout
        .runs
        .map_or("none".to_owned(), |runs| format!("{}, {shortest} to {longest}", runs.name()));
    let mut told = vec![
        ("words", format!("runs of 1 to {}", layout.words.order)),
        ("characters", runs),
        ("fit", settings.text()),
    ];
    if tried.len() > 1 {
        told.push(("tried", tried.join("; ")));
    }
    if is_for_f1 && scale.thresholds.is_empty() {
        told.push(("labels", format!("for macro-F1, prior to the power -{}", scale.shift)));
    }
    let Calibration { slope, prior, more } = scale.calibration;
    let more = if more > 0.0 { format!(", {more} more features") } else { String::new() };
    told.push(("calibration", format!("slope {slope:.2}, prior {prior:.2}{more}")));
    told.into_iter().map(|(name, what)| (name.to_owned(), what)).collect()
}

impl<'a> Corpus<'a> {
    /// Reads the documents; `has_runs` adds runs of characters to long texts.
    fn new(task: &'a Task<'a>, has_runs: bool) -> Result<Self, Stopped> {
        let plan = &task.plan;
        let mut lengths: Vec<usize> =
            task.documents().iter().map(|text| shorten::words(text)).collect();
        let middle = lengths.len() / 2;
        let median = *lengths.select_nth_unstable(middle).1;
        let mut layout = layout(plan, median, task.classes);
        if has_runs {
            layout.runs = Some(runs_for(task.classes));
        }
        let is_two = !task.has_several && task.classes == 2;
        let problems = if is_two { 1 } else { task.classes };
        if repeats_are_tried(task, problems, layout.runs.is_some()) {
            layout.repeats = REPEATS.len();
        }
        let mut corpus = Self {
            task,
            layout,
            documents: Documents::default(),
            origins: Vec::new(),
            has_features: Vec::new(),
            features: Vec::new(),
            levels: Vec::new(),
            index: Index::default(),
            least: if task.documents().len() < TINY { 1 } else { 2 },
            problems,
        };
        let counts = corpus.read(median)?;
        corpus.number(&counts);
        Ok(corpus)
    }

    /// Reads all texts; returns in how many documents each feature is.
    fn read(&mut self, median: usize) -> Result<Vec<u32>, Stopped> {
        let task = self.task;
        let mut reader = TextReader::new(&self.layout);
        let mut counts: Vec<u32> = Vec::new();
        let costs = self.costs();
        let all = task.texts.len() + task.unlabelled.len();
        let mut copies = Vec::new();
        let texts = task.texts.iter().copied().chain(task.unlabelled.iter().map(Vec::as_slice));
        for (at, text) in texts.enumerate() {
            if at % 1024 == 0 && !task.watch.goes_on(0.2 * real(at) / real(all)) {
                return Err(Stopped);
            }
            let number = u32::try_from(at).unwrap_or(u32::MAX);
            let features = reader.read(text);
            let key = shorten::key(features);
            self.has_features.push(features.blocks.iter().any(|block| !block.is_empty()));
            let cost = costs.get(at).copied().unwrap_or(0.0);
            let columns = self.push(features, (key, number), cost);
            counts.resize(self.index.len(), 0);
            for column in columns {
                counts[column as usize] += 1;
            }
            if at >= task.documents().len() {
                continue;
            }
            copies.extend(shorten::copy(text, key).map(|copy| (number, copy)));
        }
        for (origin, text) in copies {
            let features = reader.read(&text);
            let cost = costs[origin as usize] * shorten::copy_cost(median);
            let key = shorten::key(features) ^ self.documents.key(origin);
            self.push(features, (key, origin), cost);
        }
        // Features that only copies have are not counted.
        counts.resize(self.index.len(), 0);
        Ok(counts)
    }

    /// What each labelled text costs.
    fn costs(&self) -> Vec<f32> {
        let Task { labels, costs, classes, plan, .. } = self.task;
        let mut sizes = vec![0u32; *classes];
        labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
        let balance = scales::balance(&sizes, plan.recipe.balance.unwrap_or(0.0));
        let of = |(labels, cost): (&Vec<u32>, &f32)| {
            let largest = labels.iter().map(|&label| balance[label as usize]).fold(0.0, f32::max);
            cost * if labels.is_empty() { 1.0 } else { largest }
        };
        labels.iter().zip(costs).map(of).collect()
    }

    /// Takes a document; returns its columns.
    fn push(&mut self, features: &Features, (key, origin): (u64, u32), cost: f32) -> Vec<u32> {
        let own = &features.blocks[..self.layout.blocks()];
        let columns: Vec<u32> =
            own.iter().flatten().map(|&feature| self.index.insert(feature)).collect();
        self.levels.resize(self.index.len(), 0);
        let mut rest = columns.as_slice();
        for (block, own) in own.iter().enumerate() {
            let ends = features.ends[block];
            for (level, places) in (1u8..).zip(ends.windows(2)) {
                for &column in &rest[places[0]..places[1]] {
                    self.levels[column as usize] = level;
                }
            }
            rest = &rest[own.len()..];
        }
        let block =
            |(at, own): (usize, &Vec<u32>)| Block::new(own.len(), WEIGHT, features.distinct(at));
        let blocks: Vec<Block> = own.iter().enumerate().map(block).collect();
        let labels = self.task.labels.get(origin as usize);
        let positive: Vec<u32> = match labels.map(Vec::as_slice) {
            None => Vec::new(),
            Some(own) if self.problems == 1 && self.task.classes == 2 => {
                own.iter().filter(|&&label| label == 1).map(|_| 0).collect()
            }
            Some(own) => own.to_vec(),
        };
        let member = Member { columns: &columns, blocks: &blocks, positive: &positive, cost };
        self.documents.push(key, &member);
        self.origins.push(origin);
        columns
    }

    /// Numbers the features that enough documents have, the most frequent ones first, whose rows
    /// lie together in memory then.
    fn number(&mut self, counts: &[u32]) {
        let occurring = || counts.iter().zip(&self.levels).filter(|(_, level)| **level == 0);
        let cells: usize = occurring().map(|(&count, _)| count as usize).sum();
        let columns = occurring().filter(|(count, _)| **count >= self.least).count();
        if columns.saturating_mul(self.problems) > HUGE && cells > 0 {
            self.least = 3;
        }
        let all = self.index.features();
        let mut kept: Vec<(u32, u32)> = (0u32..)
            .zip(&all)
            .filter(|(column, _)| counts[*column as usize] >= self.least)
            .map(|(column, &feature)| (feature, column))
            .collect();
        kept.sort_unstable_by_key(|&(feature, column)| (Reverse(counts[column as usize]), feature));
        let mut new = vec![u32::MAX; all.len()];
        for (number, &(_, column)) in (0u32..).zip(&kept) {
            new[column as usize] = number;
        }
        self.documents.renumber(|column| Some(new[column as usize]).filter(|&it| it != u32::MAX));
        self.levels = kept.iter().map(|&(_, column)| self.levels[column as usize]).collect();
        self.features = kept.into_iter().map(|(feature, _)| feature).collect();
        self.index = Index::of(&self.features);
    }

    /// Labelled texts that are not copies.
    fn originals(&self) -> usize {
        self.task.texts.len()
    }

    /// How long a fit takes, roughly.
    fn work(&self) -> f64 {
        let cells: usize =
            self.documents.all().iter().map(|&at| self.documents.member(at).columns.len()).sum();
        real(cells) * (1.0 + real(self.problems) / 8.0)
    }

    /// The fold of each labelled text: a quarter of each label's, by their keys.
    fn folds(&self) -> Vec<u8> {
        let label = |at: u32| self.task.labels[at as usize].first().copied();
        let mut order: Vec<u32> =
            (0..u32::try_from(self.task.documents().len()).unwrap_or(u32::MAX)).collect();
        order.sort_by_key(|&at| (label(at), self.documents.key(at)));
        let mut folds = vec![NEVER; self.originals()];
        for own in order.chunk_by(|&a, &b| label(a) == label(b)) {
            for (place, &at) in own.iter().enumerate() {
                // What comes first is never left out of the only fit.
                folds[at as usize] = 3 - u8::try_from(place % 4).unwrap_or(0);
            }
        }
        folds
    }

    /// The documents of a fit without those of `fold`: labelled texts, and their copies.
    fn part(&self, folds: &[u8], fold: Option<u8>) -> (Vec<u32>, Vec<u32>) {
        let labelled = folds.len();
        let is_in = |&at: &u32| {
            let origin = self.origins[at as usize] as usize;
            origin < labelled && Some(folds[origin]) != fold
        };
        let all = self.documents.all();
        let part: Vec<u32> = all.into_iter().filter(is_in).collect();
        let originals = part.iter().copied().filter(|&at| (at as usize) < labelled).collect();
        (part, originals)
    }

    fn members(&self, originals: &[u32]) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.task.classes];
        for &at in originals {
            for &label in &self.task.labels[at as usize] {
                members[label as usize].push(at);
            }
        }
        members
    }

    fn scales(&self, originals: &[u32], settings: Settings) -> Vec<f32> {
        let columns = self.features.len();
        let mut counted = originals.to_vec();
        let unlabelled = self.originals()..self.originals() + self.task.unlabelled.len();
        counted.extend(unlabelled.map(|at| u32::try_from(at).unwrap_or(u32::MAX)));
        let frequencies = scales::frequencies(&self.documents, &counted, columns);
        let scale = |&with: &u32| {
            if with < self.least { 0.0 } else { scales::rarity(counted.len(), with, 1.0) }
        };
        let mut found: Vec<f32> = frequencies.iter().map(scale).collect();
        for (scale, _) in found
            .iter_mut()
            .zip(&self.levels)
            .filter(|(_, own)| usize::from(**own) > settings.repeats)
        {
            *scale = 0.0;
        }
        if settings.contrast {
            let contrasts = scales::contrasts(&self.documents, &self.members(originals), columns);
            found.iter_mut().zip(contrasts).for_each(|(scale, contrast)| *scale *= contrast);
        }
        found
    }

    /// Fits documents; `soft` are the shares of the labels in each text without labels.
    fn fit(
        &self,
        part: &(Vec<u32>, Vec<u32>),
        settings: Settings,
        soft: Option<&[f64]>,
        progress: &Progress<'_>,
    ) -> Result<Fit, Stopped> {
        let scales = self.scales(&part.1, settings);
        let small = |at| u32::try_from(at).unwrap_or(u32::MAX);
        let tables = threads::ranges(self.problems).into_iter().map(|Range { start, end }| {
            let mut table = crate::linear::Table::new(small(start)..small(end), &scales, INTERCEPT);
            if settings.start > 0.0 {
                self.start((&mut table, &scales), &part.1, settings.start, soft);
            }
            let problems = table.problems().len();
            (table, vec![0.0; self.documents.len() * problems])
        });
        let mut fit = Fit { ranges: tables.collect(), scales };
        let training = Training { part: &part.0, cost: settings.cost, passes: PASSES };
        self.go(&mut fit, &training, progress)?;
        Ok(fit)
    }

    /// Goes on with a fit.
    fn go(
        &self,
        fit: &mut Fit,
        training: &Training<'_>,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        let share = 1.0 / real(fit.ranges.len()) / f64::from(training.passes);
        let run = |range: &mut (crate::linear::Table<f32>, Vec<f32>)| {
            let (table, duals) = range;
            resume(table, &self.documents, training, duals, &mut |_| progress.step(share))
        };
        let done = threads::each(&mut fit.ranges, run);
        if done.into_iter().all(|is_done| is_done) { Ok(()) } else { Err(Stopped) }
    }

    /// Goes on with a fit of other documents or settings.
    fn go_on(
        &self,
        fit: &mut Fit,
        part: &(Vec<u32>, Vec<u32>),
        settings: Settings,
        passes: u32,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        let scales = self.scales(&part.1, settings);
        for (table, _) in &mut fit.ranges {
            (0u32..).zip(&scales).for_each(|(column, &scale)| table.set_scale(column, scale));
        }
        fit.scales = scales;
        self.go(fit, &Training { part: &part.0, cost: settings.cost, passes }, progress)
    }

    /// Starts a table from ordinary weights.
    fn start(
        &self,
        (table, scales): (&mut crate::linear::Table<f32>, &[f32]),
        originals: &[u32],
        share: f64,
        soft: Option<&[f64]>,
    ) {
        let (columns, classes) = (self.features.len(), self.task.classes);
        let members = self.members(originals);
        let mut with_any = vec![0.0f64; columns];
        let count = |with: &mut Vec<f64>, at: u32, weight: f64| {
            for &column in self.documents.member(at).columns {
                with[column as usize] += weight;
            }
        };
        for &at in originals {
            count(&mut with_any, at, 1.0);
        }
        let unlabelled = || {
            let first = self.originals();
            let rows = soft.unwrap_or(&[]).chunks_exact(classes);
            (first..).map(|at| u32::try_from(at).unwrap_or(u32::MAX)).zip(rows)
        };
        unlabelled().for_each(|(at, _)| count(&mut with_any, at, 1.0));
        let any = real(originals.len()) + real(unlabelled().count());
        let problems = table.problems();
        for problem in problems.clone() {
            let class = if self.problems == 1 && classes == 2 { 1 } else { problem as usize };
            let mut with = vec![0.0f64; columns];
            members[class].iter().for_each(|&at| count(&mut with, at, 1.0));
            let mut all = real(members[class].len());
            for (at, row) in unlabelled() {
                count(&mut with, at, row[class]);
                all += row[class];
            }
            let lane = (problem - problems.start) as usize;
            // All features that the class does not have get the same weight.
            let none = scales::ordinary((0.0, all), (1.0, any), SMOOTHING);
            for (at, (&with, &with_any)) in with.iter().zip(&with_any).enumerate() {
                let scale = f64::from(scales[at]);
                if scale > 0.0 && with_any > 0.0 {
                    let weight = match with {
                        0.0 => none,
                        with => scales::ordinary((with, all), (with_any, any), SMOOTHING),
                    };
                    let column = u32::try_from(at).unwrap_or(u32::MAX);
                    table.sums(column)[lane] = narrow(share * weight / scale);
                }
            }
        }
    }

    /// The scores of a document by a fit, one a label.
    fn scores(&self, fit: &Fit, member: &Member<'_>) -> Vec<f32> {
        let mut scores = vec![0.0; self.problems];
        for (table, _) in &fit.ranges {
            let problems = table.problems();
            let own = problems.start as usize..problems.end as usize;
            table.margins(member, &mut scores[own]);
        }
        if self.problems == 1 && self.task.classes == 2 {
            scores.insert(0, 0.0);
        }
        scores.into_iter().map(narrow).collect()
    }

    /// What a fit says of a document that it has not seen, or of `words` of its words.
    fn judged(&self, fit: &Fit, member: &Member<'_>, (number, words): (u32, usize)) -> Cut<'a> {
        let is_known = |column: &&u32| fit.scales[**column as usize] > 0.0;
        let known = member.columns.iter().filter(is_known).count();
        Cut {
            words,
            scores: self.scores(fit, member),
            known: u32::try_from(known).unwrap_or(u32::MAX),
            labels: &self.task.labels[number as usize],
        }
    }

    /// Fits all but one fold after the other, and scores what was left out.
    fn try_out(
        &self,
        folds: &[u8],
        judged: u8,
        settings: Settings,
        start: Start<'_, '_>,
        progress: &Progress<'_>,
    ) -> Result<Trial<'a>, Stopped> {
        let (mut fits, mut cuts) = (Vec::new(), Vec::new());
        for fold in 0..judged {
            let part = self.part(folds, Some(fold));
            let fit = match start {
                Start::Nothing => self.fit(&part, settings, None, progress)?,
                Start::Soft(soft) => {
                    self.fit(&part, settings, Some(&soft[usize::from(fold)]), progress)?
                }
                Start::Trial(before) => {
                    let mut fit = before.fits[usize::from(fold)].clone();
                    self.go_on(&mut fit, &part, settings, FURTHER_PASSES, progress)?;
                    fit
                }
            };
            for (at, _) in (0u32..).zip(folds).filter(|(_, own)| **own == fold) {
                let member = self.documents.member(at);
                cuts.push((at, self.judged(&fit, &member, (at, 0))));
            }
            fits.push(fit);
        }
        let is_wrong = |(_, cut): &&(u32, Cut<'_>)| !cut.is_right(self.task.has_several);
        let errors = cuts.iter().filter(is_wrong).count();
        Ok(Trial { settings, fits, cuts, errors })
    }

    /// The settings that are tried beside the first ones.
    fn candidates(&self) -> Vec<Settings> {
        let recipe = &self.task.plan.recipe;
        let settings = |contrast, start| settings(recipe, contrast, start);
        let is_many = self.task.classes > MANY;
        let first = self.first();
        let mut candidates = Vec::new();
        if self.work() <= WORK || recipe.choose {
            if is_many {
                candidates.push(settings(first.contrast, 0.05));
            }
            if (!is_many && self.work() <= WORK / 10.0) || recipe.choose {
                candidates.push(settings(is_many, 0.0));
                candidates.push(settings(first.contrast, 0.02));
            }
        }
        candidates.retain(|own| *own != first);
        candidates.dedup();
        candidates
    }

    /// The settings that are tried first, and stay unless others are better.
    fn first(&self) -> Settings {
        let recipe = &self.task.plan.recipe;
        let usual = usual(recipe, self.task.classes);
        let is_large = self.work() > WORK && !recipe.choose;
        if is_large && self.task.classes > MANY {
            settings(recipe, usual.contrast, 0.05)
        } else {
            usual
        }
    }

    /// Whether runs of characters, which long texts do not have unless asked for, are worth a
    /// trial.
    fn is_tried_with_runs(&self) -> bool {
        let Task { texts, plan, .. } = self.task;
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        plan.runs.is_none() && self.layout.runs.is_none() && texts.len() < 3000 && bytes < 20 << 20
    }

    /// Shares of the labels in the texts without labels, by a fit.
    fn soft_labels(&self, fit: &Fit) -> Vec<f64> {
        let first = self.originals();
        let unlabelled = first..first + self.task.unlabelled.len();
        let mut shares = Vec::with_capacity(unlabelled.len() * self.task.classes);
        for at in unlabelled {
            let member = self.documents.member(u32::try_from(at).unwrap_or(u32::MAX));
            let scores = self.scores(fit, &member);
            let mut scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let calibration = Calibration { slope: SOFT_SLOPE, prior: 0.0, more: 0.0 };
            calibration.apply(&mut scores, 1.0, &vec![0.0; self.task.classes]);
            shares.extend(scores);
        }
        shares
    }

    /// Left-out documents, whole and cut short, with their scores.
    fn cut_short(&self, folds: &[u8], trial: &Trial<'a>) -> Vec<Cut<'a>> {
        let mut reader = TextReader::new(&self.layout);
        let mut order: Vec<&(u32, Cut<'_>)> = trial.cuts.iter().collect();
        order.sort_by_key(|(number, _)| (self.documents.key(*number), *number));
        let mut cuts = Vec::new();
        for (place, &&(number, ref whole)) in order.iter().enumerate() {
            cuts.push(whole.clone());
            if place >= CUT {
                continue;
            }
            let fit = &trial.fits[usize::from(folds[number as usize])];
            let text = self.task.texts[number as usize];
            for (words, text) in shorten::cuts(text) {
                let (mut columns, mut blocks) = (Vec::new(), Vec::new());
                let features = reader.read(&text);
                for (at, own) in features.blocks[..self.layout.blocks()].iter().enumerate() {
                    let before = columns.len();
                    columns.extend(own.iter().filter_map(|&feature| self.index.get(feature)));
                    let known = columns.len() - before;
                    blocks.push(Block::new(known, WEIGHT, features.distinct(at)));
                }
                let (columns, blocks) = (&columns, &blocks);
                let member = Member { columns, blocks, positive: &[], cost: 1.0 };
                cuts.push(self.judged(fit, &member, (number, words)));
            }
        }
        cuts
    }

    /// How many documents each label has that have features.
    fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.task.classes];
        let documents = 0..self.task.documents().len();
        for at in documents.filter(|&at| self.has_features[at]) {
            self.task.labels[at].iter().for_each(|&label| counts[label as usize] += 1);
        }
        counts
    }

    /// The share of each label.
    fn priors(&self) -> Vec<f64> {
        let documents = self.task.documents().len();
        let mut counts = vec![0.0; self.task.classes];
        self.task.labels[..documents].iter().flatten().for_each(|&at| counts[at as usize] += 1.0);
        counts.into_iter().map(|count| count / real(documents.max(1))).collect()
    }

    /// The table of the fit of all documents.
    fn table(&self, fit: &Fit, part: &(Vec<u32>, Vec<u32>), scale: Scale, repeats: usize) -> Table {
        let frequencies = scales::frequencies(&self.documents, &part.1, self.features.len());
        let mut order: Vec<(u32, u32)> = self.features.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let (features, columns): (Vec<u32>, Vec<u32>) = order.into_iter().unzip();
        let weights = |at: usize, out: &mut [f32]| {
            for (table, _) in &fit.ranges {
                let problems = table.problems();
                let own = problems.start as usize..problems.end as usize;
                table.weights(columns[at], &mut out[own]);
            }
        };
        let importance = |at: usize| {
            let column = columns[at] as usize;
            (f64::from(fit.scales[column]) * f64::from(frequencies[column].max(1))).sqrt()
        };
        let intercepts = fit.ranges.iter().flat_map(|(table, _)| table.intercepts()).map(narrow);
        let fitted = Fitted {
            problems: self.problems,
            features: &features,
            weights: &weights,
            importance: &importance,
            intercepts: intercepts.collect(),
        };
        let blocks = (self.layout.kinds(), repeats);
        Table::new(&fitted, self.task.has_several, blocks, scale, LOSS)
    }
}

/// Where the fits of a trial begin.
#[derive(Clone, Copy)]
enum Start<'s, 'a> {
    Nothing,
    /// The shares of the labels in each text without labels, by fold.
    Soft(&'s [Vec<f64>]),
    /// The fits of another trial.
    Trial(&'s Trial<'a>),
}

/// Fits with some settings, and what they said of documents that were left out, by their numbers.
struct Trial<'a> {
    settings: Settings,
    fits: Vec<Fit>,
    cuts: Vec<(u32, Cut<'a>)>,
    errors: usize,
}

impl Trial<'_> {
    /// Whether it is better than one that came before by more than chance.
    fn is_better(&self, before: &Self) -> bool {
        real(self.errors) < real(before.errors) - 0.3 * real(before.errors).sqrt()
    }
}

/// Numbered documents, and the settings that are best for them.
struct Chosen<'a> {
    corpus: Corpus<'a>,
    folds: Vec<u8>,
    /// How many folds are left out.
    judged: u8,
    trial: Trial<'a>,
    /// All that was tried, for people.
    tried: Vec<String>,
    progress: Progress<'a>,
}

/// Tries settings: the usual ones, others, and repetitions with the best of these. With `before`,
/// the best trial without runs of characters in long texts, they have such runs, and nothing more
/// is tried if that is not better.
fn choose<'a>(task: &'a Task<'a>, before: Option<&Trial<'a>>) -> Result<Chosen<'a>, Stopped> {
    let corpus = Corpus::new(task, before.is_some())?;
    let folds = corpus.folds();
    let judged = if folds.len() <= FEW { 4 } else { 1 };
    let candidates = corpus.candidates();
    let rounds = if task.unlabelled.is_empty() { 0 } else { ROUNDS + 1 };
    let number = 1 + candidates.len() + rounds;
    let fits = real(number) * f64::from(judged) + 1.0;
    let progress = Progress { watch: task.watch, done: AtomicUsize::new(0), fits };
    let mut tried = Vec::new();
    let mut try_out = |settings: Settings, start: Start<'_, '_>| {
        let trial = corpus.try_out(&folds, judged, settings, start, &progress)?;
        let runs = if before.is_some() { "characters, " } else { "" };
        tried.push(format!("{runs}{}: {} errors", settings.text(), trial.errors));
        Ok(trial)
    };
    let mut trial = try_out(corpus.first(), Start::Nothing)?;
    if before.is_some_and(|before| !trial.is_better(before)) {
        return Ok(Chosen { corpus, folds, judged, trial, tried, progress });
    }
    for settings in candidates {
        let other = try_out(settings, Start::Nothing)?;
        if other.is_better(&trial) {
            trial = other;
        }
    }
    // More repetitions say something only where the first ones do.
    for repeats in [1, REPEATS.len()].into_iter().filter(|&own| own <= corpus.layout.repeats) {
        let settings = Settings { repeats, ..trial.settings };
        let other = try_out(settings, Start::Trial(&trial))?;
        if !other.is_better(&trial) {
            break;
        }
        trial = other;
    }
    Ok(Chosen { corpus, folds, judged, trial, tried, progress })
}

/// How much of the work is done, for all threads.
struct Progress<'a> {
    watch: &'a Watch<'a>,
    /// Millionths of a fit.
    done: AtomicUsize,
    /// Fits in all.
    fits: f64,
}

impl Progress<'_> {
    /// Says that a share of a fit is done; whether to go on.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share
    fn step(&self, share: f64) -> bool {
        let done = self.done.fetch_add((share * 1e6) as usize, Ordering::Relaxed);
        self.watch.goes_on(0.2 + 0.8 * (real(done) / 1e6 / self.fits).min(1.0))
    }
}

pub(super) fn learn(task: &Task<'_>) -> Result<Learned, Stopped> {
    let mut found = choose(task, None)?;
    if found.corpus.is_tried_with_runs() {
        let mut other = choose(task, Some(&found.trial))?;
        found.tried.append(&mut other.tried);
        if other.trial.is_better(&found.trial) {
            found = Chosen { tried: found.tried, ..other };
        }
    }
    let Chosen { corpus, folds, judged, mut trial, tried, progress } = found;
    let soft = !task.unlabelled.is_empty();
    let mut chosen = Vec::new();
    let mut is_helped = false;
    if soft {
        let start =
            Settings { start: task.plan.recipe.start.unwrap_or(SOFT_START), ..trial.settings };
        let mut other: Option<Trial> = None;
        for _ in 0..ROUNDS {
            let fits = other.as_ref().map_or(&trial.fits, |other| &other.fits);
            let labels: Vec<Vec<f64>> = fits.iter().map(|fit| corpus.soft_labels(fit)).collect();
            let labels = Start::Soft(&labels);
            other = Some(corpus.try_out(&folds, judged, start, labels, &progress)?);
        }
        let without = trial.errors;
        let found = other.ok_or(Stopped)?;
        let with = found.errors;
        let chance = if task.documents().len() < FEW_LABELLED { real(without).sqrt() } else { 0.0 };
        let is_used = real(with) < real(without) + chance;
        let verdict = if is_used { "used" } else { "not used" };
        let all = task.unlabelled.len();
        let text = format!("{all} {verdict}: {with} errors with them, {without} without");
        chosen.push(("texts without labels".to_owned(), text));
        if is_used {
            trial = found;
            is_helped = true;
        }
    }
    let judged_documents = trial.cuts.len();
    let cuts = corpus.cut_short(&folds, &trial);
    let all = corpus.part(&folds, None);
    let is_for_f1 = task.plan.recipe.for_f1;
    let priors = corpus.priors();
    let scale = scale(task.has_several, &cuts, priors, is_for_f1, task.none);
    // One fit goes on with the documents that were left out; of several none is that of all.
    let settings = trial.settings;
    let fit = if is_helped {
        let plain = Settings { start: 0.0, ..settings };
        let mut fit = corpus.fit(&all, plain, None, &progress)?;
        for _ in 0..ROUNDS {
            let labels = corpus.soft_labels(&fit);
            fit = corpus.fit(&all, settings, Some(&labels), &progress)?;
        }
        fit
    } else if let (1, Some(mut fit)) = (judged, trial.fits.pop()) {
        corpus.go_on(&mut fit, &all, settings, MORE_PASSES, &progress)?;
        fit
    } else {
        corpus.fit(&all, settings, None, &progress)?
    };
    chosen.extend(told(&corpus.layout, settings, &tried, &scale, is_for_f1));
    let table = corpus.table(&fit, &all, scale, settings.repeats);
    let errors = trial.errors;
    let documents = corpus.counts();
    Ok(Learned { table, errors, judged: judged_documents, chosen, documents })
}
