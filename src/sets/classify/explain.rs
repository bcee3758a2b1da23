// SPDX-License-Identifier: GPL-3.0-or-later
//! Explanations of verdicts: what each token of a text adds to the odds of the best category
//! against the second best, in bits.

use super::set::CategorySet;
use super::shared::Incomparable;
use crate::document::{Cutter, FeatureReader, FeatureSink};
use crate::mail::mailbox;
use crate::mail::subject::subject;
use crate::model::medium::Medium;
use crate::model::settings::Scheme;
use crate::report::evidence::{Explanation, Gatherer, Piece, printable, shown};
use crate::score::model::Model;
use crate::score::scorer::Scorer;
use crate::sets::runs::{Runs, words, words_of};
use crate::token::Feature;
use crate::token::id::FeatureId;
use memmap2::Mmap;
use std::io;

/// Occurrences that are kept for the explanation; a text with more is explained by its beginning.
/// They bound the memory of an explanation.
const MAX_OCCURRENCES: usize = 500_000;

/// An explained verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The evidence.
    pub explanation: Explanation,
    /// Number of the best category, from 0.
    pub best: usize,
}

impl<D: AsRef<[u8]>> CategorySet<D> {
    /// The evidence of the tokens of a document for the best category and against the second best,
    /// in bits.
    ///
    /// # Errors
    /// [`Incomparable::Empty`] with fewer than two categories.
    pub fn explain(&self, document: impl AsRef<[u8]>) -> Result<Explained, Incomparable> {
        if self.models.len() < 2 {
            return Err(Incomparable::Empty);
        }
        let mut recorder = Recorder::new(self.models.clone()).naming(self.reading.reads_mail());
        // Reading memory cannot fail, and recording accepts all features.
        let _ = FeatureReader::new(&self.reading).read_bytes(document.as_ref(), &mut recorder);
        Ok(recorder.explain())
    }
}

fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

struct Occurrence {
    id: FeatureId,
    /// Its bytes between boundary marks.
    body: Box<[u8]>,
    order: u8,
    pattern: Option<crate::token::PatternId>,
    medium: Medium,
}

struct Line {
    text: Vec<u8>,
    /// Where each word stands, and the occurrences that end with it.
    words: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)>,
}

/// Sources and messages that an explanation names.
const NAMED: usize = 3;

/// Bytes of the header of a message in which the subject is looked for.
const HEAD: usize = 1 << 16;

/// Records the names of what is read, for the lines of an explanation.
#[derive(Default)]
struct Sources {
    /// Whether they are mail.
    is_mail: bool,
    /// Lines so far, and how many there would be without a limit.
    lines: Vec<String>,
    number: usize,
    /// The source that is being read.
    name: String,
    /// The header of the mail that is being read, while it goes on.
    head: Option<Vec<u8>>,
    is_open: bool,
}

impl Sources {
    fn start(&mut self, name: Option<&[u8]>) {
        self.finish();
        self.name = name.map_or_else(String::new, |name| printable(&text_of(name)));
        self.is_open = true;
        self.head = self.is_mail.then(Vec::new);
    }

    fn line(&mut self, line: &[u8]) {
        if self.is_mail && mailbox::begins_message(line) {
            if self.head.as_ref().is_none_or(|head| !head.is_empty()) {
                let name = self.name.clone();
                self.finish();
                self.name = name;
            }
            (self.is_open, self.head) = (true, Some(Vec::new()));
        }
        if let Some(head) = &mut self.head
            && head.len() < HEAD
            && !head.ends_with(b"\n\n")
        {
            // LF and CR LF are treated alike.
            head.extend_from_slice(line.trim_ascii_end());
            head.push(b'\n');
        }
    }

    /// Ends a source or a message.
    fn finish(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let name = std::mem::take(&mut self.name);
        let about = self.head.take().and_then(|head| subject(&head));
        let line = match (name.is_empty(), about) {
            (true, None) => return,
            (true, Some(about)) => about,
            (false, None) => name,
            (false, Some(about)) => format!("{name}: {about}"),
        };
        self.number += 1;
        if self.lines.len() < NAMED {
            self.lines.push(line);
        }
    }

    fn into_lines(mut self) -> Vec<String> {
        self.finish();
        let more = self.number - self.lines.len();
        if more > 0 {
            self.lines.push(format!("and {more} more"));
        }
        self.lines
    }
}

/// Scores a text and records its tokens, for an explanation.
pub(crate) struct Recorder<D = Mmap> {
    scorer: Scorer<D>,
    sources: Sources,
    occurrences: Vec<Occurrence>,
    lines: Vec<Line>,
    /// Whether tokens are runs of bytes, which are shown by the words that they come from.
    is_runs: bool,
}

/// What an occurrence adds to the score of a category, nats.
#[derive(Default)]
struct Addition {
    /// The weight of its feature.
    weight: f64,
    /// Its cost under the reference measure, as a log-probability.
    reference: f64,
    /// What every occurrence subtracts.
    renorm: f64,
}

impl Occurrence {
    fn feature(&self) -> Feature<'_> {
        let Self { body, medium, order, pattern, .. } = self;
        Feature { body, medium: *medium, order: *order, pattern: *pattern }
    }
}

fn addition<D: AsRef<[u8]>>(model: &Model<D>, occurrence: &Occurrence) -> Addition {
    let feature = occurrence.feature();
    if !model.applies(&feature) {
        return Addition::default();
    }
    let slot = model.find(occurrence.id).filter(|slot| slot.id.0 != 0);
    let weight = slot.map_or(0.0, |slot| f64::from(slot.weight.weight()));
    let reference =
        if occurrence.order == 1 { f64::from(model.log_reference(&occurrence.body)) } else { 0.0 };
    Addition { weight, reference, renorm: model.renorm }
}

impl<D: AsRef<[u8]>> Recorder<D> {
    /// A recorder of nothing yet.
    pub(crate) fn new(models: Vec<Model<D>>) -> Self {
        let is_runs = |model: &Model<D>| {
            model.header().is_some_and(|header| header.scheme == Some(Scheme::Gram))
        };
        let is_runs = models.iter().any(is_runs);
        let scorer = Scorer::new(models, None);
        let sources = Sources::default();
        Self { scorer, sources, occurrences: Vec::new(), lines: Vec::new(), is_runs }
    }

    /// Has the explanation name the sources and, of mail, the subjects.
    #[must_use]
    pub(crate) const fn naming(mut self, is_mail: bool) -> Self {
        self.sources.is_mail = is_mail;
        self
    }

    /// A source of this name begins; `None` for standard input.
    pub(crate) fn start_source(&mut self, name: Option<&[u8]>) {
        self.sources.start(name);
    }

    /// The explanation of the text. There must be two categories or more.
    pub(crate) fn explain(mut self) -> Explained {
        let category_scores = self.scorer.category_scores(false);
        let models = self.scorer.models();
        let mut ranked: Vec<usize> = (0..models.len()).collect();
        ranked.sort_by(|&a, &b| category_scores[b].score.total_cmp(&category_scores[a].score));
        let is_mail = self.sources.is_mail;
        let (best, second) = (ranked[0], ranked[1]);
        let (first, other) = (&models[best], &models[second]);
        // Bits of the odds for a nat of difference between the scores.
        let factor = 1.0 / std::f64::consts::LN_2;
        let mut prior = 0.0;
        let (mut gatherer, mut runs) = (Gatherer::default(), Runs::new(true));
        let mut bits = Vec::with_capacity(self.occurrences.len());
        for occurrence in &self.occurrences {
            let (mine, theirs) = (addition(first, occurrence), addition(other, occurrence));
            prior -= factor * (mine.renorm - theirs.renorm);
            let evidence = factor * (mine.reference - theirs.reference)
                + factor * (mine.weight - theirs.weight);
            if self.is_runs && occurrence.order == 1 {
                runs.add(&occurrence.feature(), Some(evidence));
            } else {
                gatherer.add(shown(&occurrence.body), evidence);
            }
            bits.push(evidence);
        }
        for own in runs.finish() {
            gatherer.add_times(shown(&own.text), own.bits, own.times);
        }
        let pieces = self.lines.iter().map(|line| pieces(line, &bits)).collect();
        let [category, other] = [first, other].map(|model| printable(&text_of(&model.name)));
        let mut explanation = Explanation {
            heading: String::new(),
            sources: self.sources.into_lines(),
            category,
            other,
            prior,
            tokens: gatherer.finish(),
            lines: pieces,
            is_mail,
        };
        explanation.heading = format!(
            "{}, ahead of {} by {:.2} bits",
            explanation.category,
            explanation.other,
            explanation.total()
        );
        Explained { explanation, best }
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

impl<D: AsRef<[u8]>> FeatureSink for Recorder<D> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.sources.line(line);
        Ok(true)
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.scorer.score_each(&feature, |_, _| {});
        self.occurrences.push(Occurrence {
            id: FeatureId::of(feature.body, feature.medium),
            body: feature.body.into(),
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
        let mut shown_text = line[..end.map_or(0, |at| at + 1)].to_vec();
        let folded = cutter.folded(&shown_text);
        let first = self.occurrences.len();
        cutter.features(line, medium, &mut |feature| self.feature(feature));
        // Words stand in the line in the order of their features; n-grams come before their last
        // word.
        if let Some(folded) = folded {
            shown_text.clone_from(&folded);
            *line = folded;
        }
        if self.is_runs && !medium.is_header() {
            let runs = self.occurrences[first..].iter().filter(|own| own.order == 1);
            let places = words_of(runs.map(|own| own.feature().words().next().unwrap_or_default()));
            let all = words(&shown_text).into_iter().enumerate();
            let bounds = |number| {
                let at = |number| first + places.partition_point(|&own| own < number);
                at(number)..at(number + 1)
            };
            let words = all.map(|(number, (word, _))| (word, bounds(number))).collect();
            self.lines.push(Line { text: shown_text, words });
            return Ok(());
        }
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
