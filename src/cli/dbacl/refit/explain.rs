// SPDX-License-Identifier: GPL-3.0-or-later
//! `--explain`: why a text gets its verdict, in the terminal or as one HTML page.

use super::super::classify::scores_of;
use super::super::config::{Config, lossy};
use super::super::failure::{Failure, Kind, output_failure};
use super::super::inputs;
use super::super::signals::Signals;
use crate::cli::output::Output;
use crate::document::{Cutter, FeatureSink};
use crate::model::medium::Medium;
use crate::refit::documents::{Collector, Makeup};
use crate::refit::explain::{Explanation, Gatherer, Piece, printable, shown};
use crate::refit::header::{RefitLine, set_of};
use crate::refit::scoring::Scoring;
use crate::score::document;
use crate::score::model::Model;
use crate::score::scorer::Scorer;
use crate::token::Feature;
use crate::token::id::FeatureId;
use std::collections::HashSet;
use std::io;

/// Occurrences that are kept for the explanation; a text with more is explained by its beginning.
const MAX_OCCURRENCES: usize = 2_000_000;

/// Explains the verdict on the inputs, taken as one text.
///
/// # Errors
/// What stopped it.
pub fn run(
    mut config: Config,
    is_html: bool,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    if config.models.len() < 2 {
        let text = "--explain compares categories: give two or more with -c";
        return Err(Failure::new(Kind::Usage, text));
    }
    let lines: Vec<Option<RefitLine>> = config
        .models
        .iter()
        .map(|model| RefitLine::find(model.category()?.other_lines()))
        .collect();
    let fitted = set_of(&lines).map_err(|fault| Failure::new(Kind::Data, fault.text()))?.cloned();
    let mut recorder = Recorder {
        scorer: Scorer::new(std::mem::take(&mut config.models), None),
        occurrences: Vec::new(),
        lines: Vec::new(),
    };
    config.filters.clear();
    let options = config.read_options();
    let mut reader = inputs::reader(&config, &options, signals);
    inputs::read(&config, signals, &mut reader, &mut recorder, |_, _| Ok(()))?;
    let (explanation, best) = recorder.explain(fitted.as_ref(), &lines);
    let page = if is_html { explanation.html() } else { explanation.text() };
    output.buffer().extend_from_slice(page.as_bytes());
    output.flush().map_err(|error| output_failure(&error))?;
    let status = u8::try_from(best + 1).unwrap_or(u8::MAX);
    Ok(if config.strict { 0 } else { status })
}

/// An occurrence of a feature.
struct Occurrence {
    text: String,
    id: FeatureId,
    /// Its bytes between boundary marks, for the reference measure.
    body: Vec<u8>,
    order: u8,
    pattern: Option<crate::token::PatternId>,
    medium: Medium,
}

/// A line and its words.
struct Line {
    text: Vec<u8>,
    /// Where each word stands, and the occurrences that end with it.
    words: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
}

/// Scores the text and remembers what it was made of.
struct Recorder {
    scorer: Scorer,
    occurrences: Vec<Occurrence>,
    lines: Vec<Line>,
}

/// What an occurrence adds to the score of a category, nats.
#[derive(Default)]
struct Addition {
    /// The weight of its feature.
    weight: f64,
    /// Its cost under the reference measure, as a log-probability.
    reference: f64,
    /// What any occurrence takes away.
    renorm: f64,
}

fn addition(model: &Model, occurrence: &Occurrence) -> Addition {
    let feature = Feature {
        body: &occurrence.body,
        medium: occurrence.medium,
        order: occurrence.order,
        pattern: occurrence.pattern,
    };
    if !model.applies(&feature) {
        return Addition::default();
    }
    let slot = model.find(occurrence.id).filter(|slot| slot.id == occurrence.id);
    let weight = slot.map_or(0.0, |slot| f64::from(slot.weight.weight()));
    let reference =
        if occurrence.order == 1 { f64::from(model.log_reference(&occurrence.body)) } else { 0.0 };
    Addition { weight, reference, renorm: model.renorm() }
}

impl Recorder {
    /// The explanation, and the number of the best category.
    fn explain(
        self,
        fitted: Option<&RefitLine>,
        lines: &[Option<RefitLine>],
    ) -> (Explanation, usize) {
        let standings = document::finish(&self.scorer, false);
        let models = self.scorer.models();
        let mut ranked: Vec<usize> = (0..models.len()).collect();
        ranked.sort_by(|&a, &b| standings[b].score.total_cmp(&standings[a].score));
        let mut heading = None;
        let complexity = self.scorer.tallies().first().map_or(0.0, |tally| tally.complexity);
        // Bits of the odds for a nat of difference between the scores.
        let mut factor = 1.0;
        // The same for weights of features, as often as they count.
        let mut weight_factor = 1.0;
        let mut scoring = Scoring::Counts;
        let mut prior = 0.0;
        if let Some(line) = fitted {
            let place = |at: usize| lines[at].as_ref().map_or(0, |line| line.place);
            let mut order: Vec<usize> = (0..models.len()).collect();
            order.sort_by_key(|&at| place(at));
            scoring = line.scoring;
            let mut collector = Collector::default();
            for occurrence in &self.occurrences {
                let order = occurrence.order;
                collector.add(occurrence.id, Makeup { order, ..Makeup::default() });
            }
            let means = order.iter().map(|&at| (&models[at], standings[at].mean()));
            let (scores, distinct) = scores_of(scoring, Some(&mut collector), means);
            let verdict = line.verdict(&scores);
            let best = order[verdict.category];
            ranked.retain(|&at| at != best);
            ranked.insert(0, best);
            let name = lossy(&models[best].name);
            let percent = 100.0 * verdict.probability;
            let unsure = if verdict.is_unsure { "unsure, " } else { "" };
            heading = Some(format!("{unsure}{name} with probability {percent:.2} %"));
            let max_order = models[0].category().map_or(1, |own| own.header().max_order);
            if complexity > 0.0 && distinct > 0 {
                let slope = line.calibration.slope * scoring.stretch(distinct);
                let occurrences = u32::try_from(self.occurrences.len()).unwrap_or(u32::MAX);
                factor = slope / complexity;
                weight_factor = match scoring {
                    Scoring::Counts => factor,
                    Scoring::Once => slope / scoring.complexity(distinct, occurrences, max_order),
                };
            } else {
                (factor, weight_factor) = (0.0, 0.0);
            }
            if models.len() == 2 {
                let sign = if verdict.category == 1 { 1.0 } else { -1.0 };
                prior = sign * line.calibration.offset / std::f64::consts::LN_2;
            }
        }
        let (best, second) = (ranked[0], ranked[1]);
        let (first, other) = (&models[best], &models[second]);
        factor /= std::f64::consts::LN_2;
        weight_factor /= std::f64::consts::LN_2;
        let mut heard = HashSet::new();
        let mut gatherer = Gatherer::default();
        let mut bits = Vec::with_capacity(self.occurrences.len());
        for occurrence in &self.occurrences {
            let (mine, theirs) = (addition(first, occurrence), addition(other, occurrence));
            prior -= factor * (mine.renorm - theirs.renorm);
            let mut evidence = factor * (mine.reference - theirs.reference);
            if scoring == Scoring::Counts || heard.insert(occurrence.id) {
                evidence += weight_factor * (mine.weight - theirs.weight);
            }
            gatherer.add(occurrence.text.clone(), evidence);
            bits.push(evidence);
        }
        let pieces = self.lines.iter().map(|line| pieces(line, &bits)).collect();
        let names = [first, other].map(|model| printable(&lossy(&model.name)));
        let [category, other] = names;
        let mut explanation = Explanation {
            heading: heading.unwrap_or_default(),
            category,
            other,
            prior,
            tokens: gatherer.finish(),
            lines: pieces,
        };
        if explanation.heading.is_empty() {
            explanation.heading = format!(
                "{}, ahead of {} by {:.2} bits",
                explanation.category,
                explanation.other,
                explanation.total()
            );
        }
        (explanation, best)
    }
}

/// A line as tokens with their evidence and what stands between.
fn pieces(line: &Line, bits: &[f64]) -> Vec<Piece> {
    let text = |range: std::ops::Range<usize>| {
        String::from_utf8_lossy(line.text.get(range).unwrap_or_default()).into_owned()
    };
    let mut pieces = Vec::new();
    let mut at = 0;
    for (word, occurrences) in &line.words {
        if word.start > at {
            pieces.push(Piece::Other(text(at..word.start)));
        }
        let sum = bits.get(occurrences.clone()).map_or(0.0, |bits| bits.iter().sum());
        pieces.push(Piece::Token(text(word.clone()), sum));
        at = word.end;
    }
    if at < line.text.len() {
        pieces.push(Piece::Other(text(at..line.text.len())));
    }
    pieces
}

impl FeatureSink for Recorder {
    fn feature(&mut self, feature: Feature<'_>) {
        self.scorer.score(&feature, &mut |_| {});
        self.occurrences.push(Occurrence {
            text: shown(feature.body),
            id: FeatureId::of(feature.body, feature.medium),
            body: feature.body.to_vec(),
            order: feature.order,
            pattern: feature.pattern,
            medium: feature.medium,
        });
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.occurrences.len() >= MAX_OCCURRENCES {
            return Ok(());
        }
        let end = line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
        let shown_text = line[..end.map_or(0, |at| at + 1)].to_vec();
        let first = self.occurrences.len();
        cutter.features(line, medium, &mut |feature| self.feature(feature));
        // Words stand in the line in the order of their features; n-grams come before their last word.
        let mut words = Vec::new();
        let (mut at, mut from) = (0, first);
        for number in first..self.occurrences.len() {
            let occurrence = &self.occurrences[number];
            if occurrence.order != 1 || occurrence.pattern.is_some() {
                continue;
            }
            let word = occurrence.body.get(1..occurrence.body.len() - 1).unwrap_or_default();
            let rest = line.get(at..shown_text.len()).unwrap_or_default();
            if let Some(offset) = memchr::memmem::find(rest, word).filter(|_| !word.is_empty()) {
                let start = at + offset;
                at = start + word.len();
                words.push((start..at, from..number + 1));
                from = number + 1;
            }
        }
        self.lines.push(Line { text: shown_text, words });
        Ok(())
    }
}
