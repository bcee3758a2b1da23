// SPDX-License-Identifier: GPL-3.0-or-later
//! Verdicts of a method on labelled documents that it has not learned (spec tools 3.7).
//!
//! ```text
//! folds:  deal documents (equal bodies together) → learn all other folds → classify the fold
//! split:  learn the training documents → classify the test documents
//! online: classify a document, then learn it: at once, later, or only when wrong
//! ```

use crate::order::Dealer;
use dbacl::parallel;
use dbacl::programs::dbacl::method::Method;
use dbacl::{Category, CategorySet, Classifier, Learner};
use dbacl::{Error, Result, Warning};
use dbacl::{FeatureReader, FilteredText};
use dbacl_numeric::elementary::real;
use dbacl_numeric::random::SplitMix64;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A labelled document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Where it came from, for people.
    pub name: String,
    /// Number of its category.
    pub truth: usize,
    pub bytes: Vec<u8>,
}

/// When the classifier learns the label of a document in an online simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// After every document.
    Immediate,
    /// So many documents later.
    Delayed(usize),
    /// After every document whose verdict was wrong.
    OnError,
}

/// Which documents are learned, and which are classified after that.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// `folds[d]` is the fold of document d; there are `count` folds.
    Folds {
        folds: Vec<usize>,
        /// Number of folds.
        count: usize,
    },
    /// Documents from this number on are classified, those before are learned.
    Split(usize),
    /// All in this order.
    Online {
        /// Numbers of documents.
        order: Vec<usize>,
        /// When they are learned.
        feedback: Feedback,
        /// A model is fitted again when its category's documents have grown by this share since the
        /// last fit; 0: for every document.
        refresh: f64,
    },
}

/// A verdict on one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Judged {
    /// Number of the document.
    pub document: usize,
    /// Its fold; 0 in a split or online.
    pub fold: usize,
    /// Its true category.
    pub truth: usize,
    /// The category it was taken for; `None` if the filter failed.
    pub verdict: Option<usize>,
    /// Average log-probability of a token by category, nats; empty for an outside filter.
    pub means: Vec<f64>,
    /// Probability by category; empty for an outside filter.
    pub shares: Vec<f64>,
    /// A number that is larger the more the document looks like the positive category; NaN if
    /// there are more than two categories, or none was given.
    pub margin: f64,
}

/// Numbers of documents that are learned and of those that are classified with that.
pub(crate) type Part = (Vec<usize>, Vec<usize>);

impl Plan {
    /// The parts of `documents` documents, one after the other; none online.
    pub(crate) fn parts(&self, documents: usize) -> Option<Vec<Part>> {
        let numbers = 0..documents;
        match self {
            Self::Folds { folds, count } => {
                let part = |fold| numbers.clone().partition(|&document| folds[document] != fold);
                Some((0..*count).map(part).collect())
            }
            Self::Split(first) => Some(vec![numbers.partition(|document| document < first)]),
            Self::Online { .. } => None,
        }
    }
}

/// A run of a method: documents, plan, and what is shared by its threads.
pub(crate) struct Run<'a> {
    pub documents: &'a [Document],
    pub categories: usize,
    /// The positive category when there are two.
    pub positive: usize,
    /// Which documents to learn and to classify.
    pub plan: &'a Plan,
    pub threads: usize,
    /// Counts documents read, learned and classified.
    pub meter: &'a AtomicUsize,
}

/// A point of a learning curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Documents learned, on average.
    pub learned: f64,
    pub judged: usize,
    /// Those that were classified wrongly.
    pub errors: usize,
}

/// What a run found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// Verdicts, in the order of the documents, or in the order of an online simulation.
    pub judged: Vec<Judged>,
    /// The learning curve; empty unless asked for.
    pub curve: Vec<Point>,
    /// Warnings of the classifier, without repeats.
    pub warnings: BTreeSet<String>,
}

/// Number of folds from which learning curves are measured.
const CURVE_FOLDS: usize = 3;
const CURVE_SHARES: [f64; 5] = [1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0];
/// Parts that the curve of an online simulation is cut into.
const ONLINE_PARTS: usize = 20;
/// Documents classified in one go.
const CHUNK: usize = 200;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of a number
fn share_of(count: usize, share: f64) -> usize {
    (real(count) * share).ceil() as usize
}

/// The part of a message after its header; the whole of anything else.
pub(crate) fn body(document: &[u8]) -> &[u8] {
    let end =
        document.windows(2).position(|pair| pair == b"\n\n").map(|at| at + 2).or_else(|| {
            document.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| at + 4)
        });
    end.map(|end| document[end..].trim_ascii())
        .filter(|body| !body.is_empty())
        .unwrap_or_else(|| document.trim_ascii())
}

/// Deals documents to folds, category by category, so that each fold has its share of each.
/// Documents with equal bodies go to one fold, so that no document is classified whose text was
/// learned.
pub(crate) fn deal(
    documents: &[Document],
    categories: usize,
    count: usize,
    seed: u64,
) -> Vec<usize> {
    let mut dealers: Vec<Dealer> = (0..categories)
        .map(|category| Dealer::new(count, SplitMix64::new(seed.wrapping_add(category as u64))))
        .collect();
    let mut known = HashMap::new();
    documents
        .iter()
        .map(|document| {
            let fold = known
                .entry(body(&document.bytes))
                .or_insert_with(|| dealers.get_mut(document.truth).map_or(0, Dealer::deal));
            *fold
        })
        .collect()
}

impl Run<'_> {
    /// Learns and classifies. With `curve`, the learning curve is measured as well.
    pub(crate) fn perform(&self, method: &Method, curve: bool) -> Result<Findings> {
        let texts = parallel::map(
            self.documents.len(),
            self.threads,
            || Ok::<_, Error>(FeatureReader::new(method.learn.reading())),
            |reader, at| {
                self.meter.fetch_add(1, Ordering::Relaxed);
                Ok(reader.filter(&self.documents[at].bytes))
            },
        )?;
        let course =
            MethodRun { run: self, method, texts: &texts, warnings: Mutex::new(BTreeSet::new()) };
        let (judged, curve) = match self.plan {
            plan @ (Plan::Folds { .. } | Plan::Split(_)) => {
                course.parts(plan.parts(texts.len()).unwrap_or_default(), curve)?
            }
            Plan::Online { order, feedback, refresh } => {
                let judged = course.online(order, *feedback, *refresh)?;
                let curve = if curve { windows(&judged) } else { Vec::new() };
                (judged, curve)
            }
        };
        let warnings = course.warnings.into_inner().unwrap_or_default();
        Ok(Findings { judged, curve, warnings })
    }

    /// About how many steps the meter will count: each reading, learning and classifying of a
    /// document.
    pub(crate) fn steps(&self, curve: bool) -> usize {
        let all = self.documents.len();
        let (learned, judged, tested) = match self.plan {
            Plan::Folds { folds, count } => {
                let drawn = folds.iter().filter(|&&fold| fold < CURVE_FOLDS).count();
                (all * (count - 1), all, drawn)
            }
            Plan::Split(first) => (*first, all - first, all - first),
            Plan::Online { order, feedback, .. } => {
                let learned = if *feedback == Feedback::OnError { 0 } else { order.len() };
                (learned, order.len(), 0)
            }
        };
        let curve =
            if curve { learned.min(CURVE_FOLDS * all) + CURVE_SHARES.len() * tested } else { 0 };
        all + learned + judged + curve
    }
}

struct MethodRun<'a> {
    run: &'a Run<'a>,
    method: &'a Method,
    texts: &'a [FilteredText],
    warnings: Mutex<BTreeSet<String>>,
}

/// The categories of a run, which all threads share.
type Categories = CategorySet<Vec<u8>>;

/// A category that was learned in memory.
type Learned = Arc<Category<Vec<u8>>>;

impl MethodRun<'_> {
    fn warn(&self, warning: Warning) {
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.insert(warning.0);
        }
    }

    fn truth(&self, document: usize) -> usize {
        self.run.documents[document].truth
    }

    /// The verdict on a document from what the categories make of it, in their order.
    fn judged(
        &self,
        (document, fold): (usize, usize),
        best: usize,
        means: Vec<f64>,
        shares: Vec<f64>,
    ) -> Judged {
        let margin = match means.as_slice() {
            [first, second] => {
                let toward = if self.run.positive == 0 { first - second } else { second - first };
                // A document without a token says nothing either way.
                if toward.is_nan() { 0.0 } else { dbacl_numeric::elementary::bits(toward) }
            }
            _ => f64::NAN,
        };
        let truth = self.truth(document);
        Judged { document, fold, truth, verdict: Some(best), means, shares, margin }
    }

    /// Learns every category from each of `sets`: lists of documents.
    fn learn(&self, sets: &[Vec<usize>]) -> Result<Vec<Categories>> {
        let categories = self.run.categories;
        let mut models = parallel::map(
            sets.len() * categories,
            self.run.threads,
            || Ok(()),
            |(), job| {
                let (set, category) = (&sets[job / categories], job % categories);
                let mut learner = Learner::new(&self.method.learn)?;
                for &document in set.iter().filter(|&&document| self.truth(document) == category) {
                    learner.learn_filtered(&self.texts[document]);
                    self.run.meter.fetch_add(1, Ordering::Relaxed);
                }
                self.learned(&learner)?.ok_or(Error::NothingToLearn { category })
            },
        )?
        .into_iter();
        sets.iter()
            .map(|_| {
                let models: Vec<Learned> = models.by_ref().take(categories).collect();
                self.categories(models)
            })
            .collect()
    }

    /// The category that a learner has learned so far; `None` while it has no token.
    fn learned(&self, learner: &Learner) -> Result<Option<Learned>> {
        let learned = match learner.category() {
            Err(Error::NoTokens) => return Ok(None),
            learned => learned?,
        };
        learned.warnings.into_iter().for_each(|warning| self.warn(warning));
        Ok(Some(Arc::new(learned.category)))
    }

    /// Learned categories as a set.
    fn categories(&self, models: Vec<Learned>) -> Result<Categories> {
        let named = models.into_iter().map(|model| (String::new(), model));
        let set = CategorySet::shared(named, self.method.learn.reading().locale);
        set.map_err(|incomparable| Error::Incomparable(incomparable.to_string()))
    }

    /// A classifier for the documents of the run.
    fn classifier(&self, set: &Categories) -> Classifier<Vec<u8>> {
        let classifier = set.classifier();
        if self.method.prior { classifier.counting_length() } else { classifier }
    }

    fn classify(
        &self,
        classifier: &mut Classifier<Vec<u8>>,
        (document, fold): (usize, usize),
    ) -> Judged {
        let verdict = classifier.classify_filtered(&self.texts[document]);
        classifier.warnings().into_iter().for_each(|warning| self.warn(warning));
        self.run.meter.fetch_add(1, Ordering::Relaxed);
        let (means, shares) = (verdict.means().collect(), verdict.probabilities().to_vec());
        self.judged((document, fold), verdict.best_index(), means, shares)
    }

    /// The verdict while a category has no documents yet: the category with the most documents.
    fn ignorant(&self, states: &[Growing], document: usize) -> Judged {
        let most = states.iter().map(|state| state.documents).max().unwrap_or(0);
        let best = states.iter().position(|state| state.documents == most).unwrap_or(0);
        let share = 1.0 / real(states.len().max(1));
        self.run.meter.fetch_add(1, Ordering::Relaxed);
        self.judged((document, 0), best, vec![0.0; states.len()], vec![share; states.len()])
    }

    /// Classifies the documents of each of `sets` with its models.
    fn judge(&self, models: &[Categories], sets: &[Vec<usize>]) -> Result<Vec<Vec<Judged>>> {
        let chunks: Vec<(usize, &[usize])> = sets
            .iter()
            .enumerate()
            .flat_map(|(set, documents)| documents.chunks(CHUNK).map(move |chunk| (set, chunk)))
            .collect();
        // A classifier is kept for the next chunk of the same set.
        let judged = parallel::map(
            chunks.len(),
            self.run.threads,
            || Ok::<_, Error>(None),
            |kept: &mut Option<(usize, Classifier<Vec<u8>>)>, job| {
                let (set, documents) = chunks[job];
                let classifier = match kept {
                    Some((of, classifier)) if *of == set => classifier,
                    _ => &mut kept.insert((set, self.classifier(&models[set]))).1,
                };
                let judged =
                    documents.iter().map(|&document| self.classify(classifier, (document, set)));
                Ok(judged.collect::<Vec<_>>())
            },
        )?;
        let mut results = vec![Vec::new(); sets.len()];
        for ((set, _), mut opinions) in chunks.into_iter().zip(judged) {
            results[set].append(&mut opinions);
        }
        Ok(results)
    }

    fn parts(&self, parts: Vec<Part>, curve: bool) -> Result<(Vec<Judged>, Vec<Point>)> {
        let (training, testing): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mut all = Vec::with_capacity(self.texts.len());
        // Some parts at a time, to bound memory and still occupy all threads.
        let together = (2 * self.run.threads).max(1);
        let groups = training.chunks(together).zip(testing.chunks(together));
        for (group, (training, testing)) in groups.enumerate() {
            let models = self.learn(training)?;
            let judged = self.judge(&models, testing)?.into_iter().flatten();
            all.extend(judged.map(|one| Judged { fold: one.fold + group * together, ..one }));
        }
        let mut points = Vec::new();
        if curve {
            let drawn = CURVE_FOLDS.min(training.len());
            let training = &training[..drawn];
            points = self.curve(training, &testing[..drawn])?;
            let learned = training.iter().map(Vec::len).sum::<usize>() / drawn.max(1);
            points.push(point(learned, all.iter().filter(|judged| judged.fold < CURVE_FOLDS)));
        }
        all.sort_by_key(|judged| judged.document);
        Ok((all, points))
    }

    /// The learning curve: learns growing shares of the training documents, spread evenly over each
    /// category.
    fn curve(&self, training: &[Vec<usize>], testing: &[Vec<usize>]) -> Result<Vec<Point>> {
        let mut points = Vec::new();
        for share in CURVE_SHARES {
            let thinned: Vec<Vec<usize>> =
                training.iter().map(|documents| self.thin(documents, share)).collect();
            let models = self.learn(&thinned)?;
            let judged = self.judge(&models, testing)?;
            let learned = thinned.iter().map(Vec::len).sum::<usize>() / thinned.len().max(1);
            points.push(point(learned, judged.iter().flatten()));
        }
        Ok(points)
    }

    /// A share of the documents: of every category the same, at least one, spread evenly.
    fn thin(&self, documents: &[usize], share: f64) -> Vec<usize> {
        let mut seen = vec![0; self.run.categories];
        let keeps = |&&document: &&usize| {
            let seen = &mut seen[self.truth(document)];
            let before = share_of(*seen, share);
            *seen += 1;
            share_of(*seen, share) > before
        };
        documents.iter().filter(keeps).copied().collect()
    }

    fn online(&self, order: &[usize], feedback: Feedback, refresh: f64) -> Result<Vec<Judged>> {
        let categories = self.run.categories;
        let states: Result<Vec<Growing>> =
            (0..categories).map(|_| Growing::new(self.method)).collect();
        let mut states = states?;
        let mut classifier: Option<Classifier<Vec<u8>>> = None;
        let mut results: Vec<Judged> = Vec::with_capacity(order.len());
        for (at, &document) in order.iter().enumerate() {
            if states.iter().any(|state| state.is_stale(refresh)) {
                for state in states.iter_mut().filter(|state| state.is_stale(refresh)) {
                    state.model = self.learned(&state.learner)?;
                    state.fitted = state.documents;
                }
                let models: Option<Vec<Learned>> =
                    states.iter().map(|state| state.model.clone()).collect();
                let set = models.map(|models| self.categories(models)).transpose()?;
                classifier = set.map(|set| self.classifier(&set));
            }
            let judged = match &mut classifier {
                Some(classifier) => self.classify(classifier, (document, 0)),
                // Some category is still empty: all documents so far were of the others.
                None => self.ignorant(&states, document),
            };
            let wrong = judged.verdict != Some(judged.truth);
            results.push(judged);
            let told = match feedback {
                Feedback::Immediate => Some(document),
                Feedback::OnError => wrong.then_some(document),
                Feedback::Delayed(delay) => at.checked_sub(delay).map(|earlier| order[earlier]),
            };
            if let Some(told) = told {
                states[self.truth(told)].add(&self.texts[told]);
            }
        }
        Ok(results)
    }
}

struct Growing {
    learner: Learner,
    model: Option<Learned>,
    documents: usize,
    fitted: usize,
}

impl Growing {
    fn new(method: &Method) -> Result<Self> {
        let learner = Learner::new(&method.learn)?;
        Ok(Self { learner, model: None, documents: 0, fitted: 0 })
    }

    fn add(&mut self, text: &FilteredText) {
        self.learner.learn_filtered(text);
        self.documents += 1;
    }

    /// Whether the model lags too far behind the counts.
    fn is_stale(&self, refresh: f64) -> bool {
        let new = self.documents - self.fitted;
        new > 0 && (self.model.is_none() || real(new) >= refresh * real(self.fitted))
    }
}

fn point<'a>(learned: usize, judged: impl Iterator<Item = &'a Judged>) -> Point {
    let (mut count, mut errors) = (0, 0);
    for judged in judged {
        count += 1;
        errors += usize::from(judged.verdict != Some(judged.truth));
    }
    Point { learned: real(learned), judged: count, errors }
}

/// The errors of an online simulation, window by window.
fn windows(judged: &[Judged]) -> Vec<Point> {
    let size = judged.len().div_ceil(ONLINE_PARTS).max(1);
    let parts = judged.chunks(size).enumerate();
    parts.map(|(number, part)| point(number * size + part.len() / 2, part.iter())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(truth: usize, text: &str) -> Document {
        Document { name: String::new(), truth, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn equal_bodies_share_a_fold() {
        let mut documents: Vec<Document> = (0..40)
            .map(|number| document(number % 2, &format!("a: {number}\n\n{number}")))
            .collect();
        documents.push(document(1, "x: y\n\n7\n"));
        documents.push(document(0, "x: z\r\n\r\n7\r\n"));
        let folds = deal(&documents, 2, 4, 1);
        assert_eq!(folds[40], folds[7]);
        assert_eq!(folds[41], folds[7]);
        for fold in 0..4 {
            for category in 0..2 {
                let dealt = (0..40).filter(|at| folds[*at] == fold && at % 2 == category).count();
                assert_eq!(dealt, 5);
            }
        }
    }

    #[test]
    fn bodies_begin_behind_the_header() {
        for (text, expected) in [
            ("a: b\n\nc\n", "c"),
            ("a\r\n\r\nb", "b"),
            ("only\ntext\n", "only\ntext"),
            ("a\n\n", "a"),
        ] {
            assert_eq!(body(text.as_bytes()), expected.as_bytes(), "{text:?}");
        }
    }
}
