// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies documents with a fitted set's files.

use super::filter_folder::{LEDGER, MailFilterError, ORDER, labels, labels_in};
use super::fitted::{Fitted, FittedVerdict};
use super::judging::Gathering;
use super::reading::{DocumentReader, texts_of};
use super::reasons::{Evidence, NAMED, POOL, Reasons, telling};
use super::report::DocumentId;
use super::roles::{MailRole, Roles};
use super::runs::Runs;
use crate::category::access;
use crate::category::header::Header;
use crate::category::sparse::SparseCategory;
use crate::document::ReadOptions;
use crate::error::{Error, Warning, WarningSink};
use crate::fit::calibrate::logistic;
use crate::fit::decision::{Decision, Doubt};
use crate::fit::documents::{Corpus, CorpusBuilder, Term, fingerprint};
use crate::fit::header::RefitLine;
use crate::fit::known::{KnownFeature, KnownFeatures};
use crate::fit::scoring::Scoring;
use crate::fit::support::Support;
use crate::fit::weighing::Weighing;
use crate::mail::contents::Contents;
use crate::mail::verdict_header::Marker;
use crate::model::settings::{Locale, ModelOption};
use crate::score::model::Model;
use crate::sets::classify::SharedReading;
use crate::store::generations::{Generation, Store, member};
use crate::token::id::FeatureId;
use hashbrown::HashMap;
use memmap2::Mmap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// The verdict on a message that cannot be classified.
pub const ERROR: &[u8] = b"error";

/// The verdict of a set on a document. Its `Display` form is the text that the filter writes into
/// a message's header: `spam 99.12%`, or `unsure 61.00% spam`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SetVerdict {
    /// Name of the more probable category.
    pub category: String,
    /// Its probability, 0 to 1.
    pub probability: f64,
    /// Whether the probability lies between the thresholds, so that the verdict is `unsure`.
    pub is_unsure: bool,
    /// Probability of each category, 0 to 1, in their order.
    pub probabilities: Vec<f64>,
}

impl fmt::Display for SetVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ref category, probability, is_unsure, .. } = *self;
        let mut text = Vec::new();
        let decision = Decision { category: 0, probability, is_unsure };
        decision.write(&mut text, category.as_bytes());
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// A category of a set: the path that users know, and its file.
#[derive(Debug, Clone)]
pub struct Member {
    pub label: String,
    /// What users call it.
    pub name: PathBuf,
    /// The file that the name stands for.
    pub path: PathBuf,
}

/// A mail filter that `dbacl --mail-learn` has made, open to classify messages.
///
/// ```no_run
/// use dbacl::MailFilter;
/// use std::path::Path;
///
/// let folder = Path::new("/home/me/.filter");
/// let filter = MailFilter::open(folder, &mut |warning| eprintln!("{warning}"))?;
/// let mail = b"From: friend@example.org\nSubject: lunch\n\nSee you at noon.\n";
/// let verdict = filter.classify(mail)?;
/// println!("{} ({:.2} %)", verdict.category, 100.0 * verdict.probability);
/// // The same mail with a line such as `X-DBACL: ham 99.87%` in its header.
/// let passed_on = filter.filter(mail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An open filter stays what it was when it was opened, whatever is learned and corrected
/// meanwhile: it holds one generation of the files (`docs/spec/ledger-format.md`). A program that
/// runs for a long time opens it again now and then. It can be shared between threads. Of the
/// categories only the features of a message are read, from the files, so an open filter takes
/// little memory.
///
/// A [`FittedSet`](crate::sets::FittedSet) also learns and corrects.
pub struct MailFilter {
    /// Labels of the categories.
    pub(crate) names: Vec<String>,
    categories: Vec<SparseCategory>,
    /// The settings of the fit, and the order of the categories in it.
    pub(crate) fitted: Fitted,
    pub(crate) reading: ReadOptions,
    /// The generation that is open, which keeps other processes from removing the files; `None` for
    /// files that do not belong to a generation yet.
    pub(crate) generation: Option<Generation>,
    /// What it was opened from.
    members: Vec<Member>,
    /// What classifies if a file turns out to be damaged: the generation before.
    instead: OnceLock<Option<Box<Self>>>,
}

impl fmt::Debug for MailFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("MailFilter");
        shown.field("names", &self.names).field("documents", &self.fitted.line.documents);
        shown.field("generation", &self.generation.as_ref().map(|own| own.number));
        shown.finish_non_exhaustive()
    }
}

impl MailFilter {
    /// Opens the filter in `folder`.
    ///
    /// # Errors
    /// Each variant of [`MailFilterError`] says what is missing or wrong.
    pub fn open(folder: &Path, warnings: WarningSink<'_>) -> Result<Self, MailFilterError> {
        let store = Store::beside(&folder.join(LEDGER));
        Self::newest(&store, |generation| Self::of_folder(folder, generation, &mut *warnings))
    }

    /// What `open` opens of the current generation of `store`, or of the last one that is not
    /// damaged.
    pub(crate) fn newest(
        store: &Store,
        mut open: impl FnMut(Option<Generation>) -> Result<Self, MailFilterError>,
    ) -> Result<Self, MailFilterError> {
        let mut generation = store.open().map_err(MailFilterError::Generation)?;
        let mut first = None;
        loop {
            let number = generation.as_ref().map(|own| own.number);
            let error = match open(generation) {
                Ok(set) => return Ok(set),
                Err(error) => error,
            };
            let earlier = match number.filter(|_| error.is_damage()) {
                Some(number) => store.earlier_than(number).ok().flatten(),
                None => None,
            };
            let first = first.get_or_insert(error);
            if earlier.is_none() {
                return Err(std::mem::replace(first, NOT_FITTED));
            }
            generation = earlier;
        }
    }

    fn of_folder(
        folder: &Path,
        generation: Option<Generation>,
        warnings: WarningSink<'_>,
    ) -> Result<Self, MailFilterError> {
        let generation = generation.filter(|generation| generation.has(OsStr::new(ORDER)));
        // Users know it by this name.
        let order = folder.join(ORDER);
        let labels = match &generation {
            Some(generation) => {
                let bytes = generation.read(OsStr::new(ORDER));
                let bytes = bytes.map_err(|error| match error {
                    Error::Io { path, source } => MailFilterError::NoFilter { path, source },
                    _ => MailFilterError::Damaged { path: order.clone() },
                });
                labels_in(&String::from_utf8_lossy(&bytes?), &order)
            }
            None => labels(&order),
        };
        let mut members = Vec::new();
        for label in labels? {
            let name = direct(&folder.join(&label));
            let path = match &generation {
                Some(generation) => generation.path(&member("category.", OsStr::new(&label))),
                None => name.clone(),
            };
            members.push(Member { label, name, path });
        }
        if generation.is_none() {
            // Of a generation its own warnings tell.
            let others = [folder, order.as_path()];
            let each = others.into_iter().filter_map(access::warning_about);
            each.for_each(&mut *warnings);
        }
        Self::of(&members, generation, warnings)
    }

    /// Opens the set of the categories `members`, which belong to `generation` if it is given.
    pub(crate) fn of(
        members: &[Member],
        generation: Option<Generation>,
        warnings: WarningSink<'_>,
    ) -> Result<Self, MailFilterError> {
        let mut shared = SharedReading::new(Locale::C);
        let (mut names, mut categories) = (Vec::new(), Vec::new());
        for Member { label, name, path } in members {
            if generation.is_none() {
                access::warning_about(name).into_iter().for_each(&mut *warnings);
            }
            let category = open_category(path, generation.as_ref()).map_err(|source| {
                MailFilterError::Category { name: name.clone(), path: path.clone(), source }
            })?;
            let label = label.clone();
            let (header, patterns) = (&category.header, &category.patterns);
            shared.add(label.as_bytes(), header, patterns, warnings)?;
            names.push(label);
            categories.push(category);
        }
        if let Some(generation) = &generation {
            generation.warnings().into_iter().for_each(&mut *warnings);
        }
        let reading = shared.finish::<Mmap>(&[] as &[Model<Mmap>], Locale::C)?;
        let line = |category: &SparseCategory| RefitLine::find(&category.other_lines);
        let lines: Vec<Option<RefitLine>> = categories.iter().map(line).collect();
        let fitted = Fitted::of_lines(&lines);
        let fitted = fitted.map_err(|mismatch| MailFilterError::NotFitted(mismatch.text()))?;
        let fitted = fitted.ok_or(NOT_FITTED)?;
        let (members, instead) = (members.to_vec(), OnceLock::new());
        Ok(Self { names, categories, fitted, reading, generation, members, instead })
    }

    /// Names of the categories, those that must not be lost first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What each category is for, in their order; `None` for those that are neither spam nor
    /// protected.
    #[doc(hidden)]
    pub fn roles(&self) -> Vec<Option<MailRole>> {
        self.all_roles().each
    }

    /// What the categories of a mail filter are for.
    pub(crate) fn all_roles(&self) -> Roles {
        let is_protected = |at: usize| {
            let place = self.fitted.order.iter().position(|category| *category == at);
            place.and_then(|place| self.fitted.line.rates.get(place)).is_some_and(Option::is_some)
        };
        Roles::of(&self.names, &is_protected)
    }

    /// The texts of the regular expressions that documents are read with.
    pub(crate) fn patterns(&self) -> &[Vec<u8>] {
        self.categories.first().map_or(&[], |first| &first.patterns)
    }

    /// Adds the features of `document` to `corpus`, with the label number `label`.
    pub(crate) fn read(&self, document: &[u8], label: u32, stop: Option<&AtomicBool>) -> Corpus {
        let mut corpus = CorpusBuilder::default();
        DocumentReader::new(&self.reading, stop).read::<Vec<u8>>(document, label, &[], &mut corpus);
        corpus.finish()
    }

    /// The id by which the set recognises a document; `None` for a document without features.
    pub(crate) fn id(&self, document: &[u8], stop: Option<&AtomicBool>) -> Option<DocumentId> {
        let corpus = self.read(document, 0, stop);
        (!corpus.documents.is_empty()).then(|| DocumentId(fingerprint(corpus.terms_of(0))))
    }

    /// The verdict on a message, given as it was received, headers first. Verdicts of dbacl in its
    /// header (lines `X-DBACL`) are ignored. Of a message of more than 8 MiB only the beginning is
    /// classified.
    ///
    /// # Errors
    /// [`Error::NotMail`] for what is packed, or no text; [`Error::Io`] when a file cannot be read
    /// any more.
    pub fn classify(&self, mail: impl AsRef<[u8]>) -> Result<SetVerdict, Error> {
        self.judge(mail.as_ref(), None)
    }

    /// As [`Self::classify`], of any document; reading ends early once `stop` is set.
    #[doc(hidden)]
    pub fn judge(&self, document: &[u8], stop: Option<&AtomicBool>) -> Result<SetVerdict, Error> {
        let (set, (_, weighing)) = self.weigh(document, stop)?;
        Ok(set.verdict(&weighing))
    }

    /// Messages that the filter was fitted on.
    #[doc(hidden)]
    pub const fn documents(&self) -> u32 {
        self.fitted.line.documents
    }

    /// The warning about a damaged file that was met while mail was classified, once there is one:
    /// what was before the last changes classifies then.
    #[doc(hidden)]
    pub fn warning(&self) -> Option<Warning> {
        let instead = self.instead.get()?.as_ref()?;
        instead.warning().or_else(|| instead.generation.as_ref()?.warning_of_damage())
    }

    /// The set as it was before, open to classify in place of this one, which is damaged.
    fn instead(&self) -> Option<&Self> {
        let open = || {
            let generation = self.generation.as_ref()?;
            let earlier = generation.store.earlier_than(generation.number).ok()??;
            let earlier_path = |path: &Path| earlier.path(path.file_name().unwrap_or_default());
            let members = self.members.iter();
            let members =
                members.map(|own| Member { path: earlier_path(&own.path), ..own.clone() });
            let members: Vec<Member> = members.collect();
            Self::of(&members, Some(earlier), &mut |_| {}).ok().map(Box::new)
        };
        self.instead.get_or_init(open).as_deref()
    }

    /// The verdict on a document with its reasons; one without features has no reasons. Reading
    /// ends early once `stop` is set.
    #[doc(hidden)]
    pub fn reasons(
        &self,
        document: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(SetVerdict, Option<Reasons>), Error> {
        let (set, (occurrences, weighing)) = self.weigh(document, stop)?;
        let verdict = set.verdict(&weighing);
        let reasons = set.reasons_of((occurrences, &weighing), document, stop);
        Ok((verdict, reasons))
    }

    /// The occurrences and the weighing of a document, by this set or, if it is damaged, by an
    /// earlier state of it.
    fn weigh(
        &self,
        document: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(&Self, (u32, Weighing)), Error> {
        let is_mail = self.reading.has(ModelOption::Mail);
        if let Some(what) = Contents::refusal(document).filter(|_| is_mail) {
            return Err(Error::NotMail { what });
        }
        match self.weigh_here(document, stop) {
            Err(error @ Error::Damaged { .. }) => match self.instead() {
                Some(earlier) => earlier.weigh(document, stop),
                None => Err(error),
            },
            weighed => Ok((self, weighed?)),
        }
    }

    fn weigh_here(
        &self,
        document: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(u32, Weighing), Error> {
        let counts = self.fitted.line.scoring == Scoring::Counts;
        let weights = |ids: &[FeatureId]| self.weights(ids);
        let mut gathering = Gathering::new(weights, self.fitted.order.len(), counts);
        let mut reader = DocumentReader::new(&self.reading, stop);
        reader.features(document, |feature| gathering.add(&feature));
        let (occurrences, known) = gathering.finish()?;
        if known.distinct == 0 {
            let scores = vec![f64::NAN; self.categories.len()];
            let support = Support::default();
            return Ok((occurrences, Weighing { scores, known, support }));
        }
        Ok((occurrences, Weighing::of(&self.fitted.line, occurrences, known, &self.headers())))
    }

    /// The weighing of a document with these distinct features, in order of first appearance, which
    /// has so many occurrences.
    pub(crate) fn weighing(&self, occurrences: u32, terms: &[Term]) -> Result<Weighing, Error> {
        let ids: Vec<FeatureId> = terms.iter().map(|term| term.id).collect();
        let known = KnownFeatures::of(terms, &self.weights(&ids)?);
        Ok(Weighing::of(&self.fitted.line, occurrences, known, &self.headers()))
    }

    /// The headers of the categories, in the order of the fit.
    fn headers(&self) -> Vec<&Header> {
        self.fitted.order.iter().map(|&at| &self.categories[at].header).collect()
    }

    /// The weights of features by category, in the order of the fit, and then feature.
    fn weights(&self, ids: &[FeatureId]) -> Result<Vec<Vec<f32>>, Error> {
        let mut window = SparseCategory::window();
        let order = self.fitted.order.iter();
        order.map(|&at| self.categories[at].weights(ids, &mut window)).collect()
    }

    /// The place of a category in the order of the fit, from 0.
    pub(crate) fn place_of(&self, label: &[u8]) -> Option<usize> {
        self.fitted.order.iter().position(|&at| self.names[at].as_bytes() == label)
    }

    fn verdict(&self, weighing: &Weighing) -> SetVerdict {
        let found = self.fitted.verdict_of(&weighing.scores, weighing.support);
        let FittedVerdict { decision, category, odds } = found;
        let Decision { probability, is_unsure, .. } = decision;
        // A document without features has NaN as its odds.
        let share = |odds: f64| if odds.is_nan() { probability } else { logistic(odds) };
        let mut probabilities: Vec<f64> = odds.into_iter().map(share).collect();
        probabilities[category] = probability;
        let category = self.names[category].clone();
        SetVerdict { category, probability, is_unsure, probabilities }
    }

    /// How much each feature adds to the odds of the verdict's category, in bits.
    fn reasons_of(
        &self,
        (occurrences, weighing): (u32, &Weighing),
        text: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Option<Reasons> {
        let Weighing { scores, known, support } = weighing;
        let distinct = known.distinct;
        if distinct == 0 {
            return None;
        }
        let best = self.fitted.line.verdict(scores, *support).category;
        let odds = self.fitted.line.log_odds(scores);
        let others = (0..odds.len()).filter(|&at| at != best);
        let next = others.reduce(|next, at| if scores[at] > scores[next] { at } else { next })?;
        let max_order = self.categories.first()?.header.max_order;
        let scoring = self.fitted.line.scoring;
        let per_nat = self.fitted.line.calibration.slope * scoring.length_factor(distinct)
            / scoring.complexity(distinct, occurrences, max_order)
            / std::f64::consts::LN_2;
        let inputs =
            if scoring == Scoring::Blocks { Scoring::inputs(known.by_block()) } else { [1.0; 2] };
        let features = &known.features;
        let differences = known.weights[best].iter().zip(&known.weights[next]);
        let differences = differences.map(|(a, b)| f64::from(*a) - f64::from(*b));
        // What no category knows adds nothing.
        let each = features.iter().zip(differences).map(|(feature, difference)| {
            let input = inputs[Scoring::block(feature.is_text)];
            per_nat * input * f64::from(scoring.count(feature.count)) * difference
        });
        let each: Vec<(&KnownFeature, f64)> = features.iter().zip(each).collect();
        let all = each.iter().fold(0.0, |sum, &(_, bits)| sum + bits);
        let ranked = if scoring == Scoring::Blocks {
            // If a feature occurs several times, only the first occurrence has evidence.
            let mut rest: HashMap<FeatureId, f64> =
                each.into_iter().map(|(feature, bits)| (feature.id, bits)).collect();
            let mut runs = Runs::default();
            let mut reader = DocumentReader::new(&self.reading, stop);
            reader.features(text, |feature| {
                runs.add(&feature, rest.remove(&FeatureId::of(feature.body, feature.medium)));
            });
            strongest(runs.finish(), |evidence| evidence.bits)
        } else {
            let each = strongest(each, |&(_, bits)| bits);
            let ids: Vec<FeatureId> = each.iter().map(|(feature, _)| feature.id).collect();
            let texts = texts_of(&self.reading, text, &ids, stop).into_iter().zip(each);
            texts.map(|(text, (_, bits))| Evidence { text, bits, features: 1, times: 1 }).collect()
        };
        let (telling, mut ranked) = (telling(&ranked), ranked);
        ranked.truncate(NAMED);
        let doubt = match self.fitted.line.doubt(scores, *support) {
            Some(Doubt::Part) => {
                let other = self.fitted.order.get(1).map(|&at| self.names[at].as_str());
                Some(format!("a part that looks like {}", other.unwrap_or_default()))
            }
            Some(Doubt::New) => Some("much text that was never learned".into()),
            None => None,
        };
        let named: f64 = ranked.iter().map(|evidence| evidence.bits).sum();
        let features: usize = ranked.iter().map(|evidence| evidence.features).sum();
        let bits = odds[best] / std::f64::consts::LN_2;
        Some(Reasons {
            category: self.names[self.fitted.order[best]].clone(),
            bits,
            others: all - named,
            number_of_others: (distinct as usize).saturating_sub(features),
            before: bits - all,
            tokens: ranked.into_iter().map(|evidence| (evidence.text, evidence.bits)).collect(),
            doubt,
            telling,
        })
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A message that cannot be classified is returned as well, with the
    /// verdict `error`.
    pub fn filter(&self, mail: impl AsRef<[u8]>) -> Vec<u8> {
        let mail = mail.as_ref();
        let verdict = self.judge(mail, None).map(|verdict| verdict.to_string().into_bytes());
        let verdict = verdict.unwrap_or_else(|_| ERROR.to_vec());
        let mut marked = Vec::with_capacity(mail.len() + 64);
        let mut keep = |piece: &[u8]| {
            marked.extend_from_slice(piece);
            Ok(())
        };
        let mut marker = Marker::new(&verdict, mail);
        // Writing to memory cannot fail.
        let _ = marker.feed(mail, &mut keep).and_then(|()| marker.finish(&mut keep));
        marked
    }
}

/// Those with the most bits for or against; of equal ones the first. None that says nothing.
fn strongest<T>(mut all: Vec<T>, bits: impl Fn(&T) -> f64) -> Vec<T> {
    all.sort_by(|a, b| bits(b).abs().total_cmp(&bits(a).abs()));
    all.truncate(POOL);
    all.retain(|one| bits(one) != 0.0);
    all
}

/// Opens the category at `path`, with the checksums that `generation` has of it.
fn open_category(path: &Path, generation: Option<&Generation>) -> Result<SparseCategory, Error> {
    let name = path.file_name().unwrap_or_default();
    match generation.filter(|generation| generation.path(name) == path) {
        Some(generation) => {
            let (file, length) = generation.open_file(name)?;
            SparseCategory::of(path, file, length)
        }
        None => SparseCategory::open(path),
    }
}

const NOT_FITTED: MailFilterError =
    MailFilterError::NotFitted("these categories were not fitted together");

/// The same path beginning with `/` or `.`, so that no program looks for it in other folders
/// (`DBACL_PATH`).
pub fn direct(path: &Path) -> PathBuf {
    let begins = matches!(path.as_os_str().as_bytes().first(), Some(b'/' | b'.'));
    if begins { path.into() } else { Path::new(".").join(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_shown_as_the_header_says_them() {
        let verdict = |probability, is_unsure| SetVerdict {
            category: "spam".into(),
            probability,
            is_unsure,
            probabilities: vec![1.0 - probability, probability],
        };
        assert_eq!(verdict(0.99123, false).to_string(), "spam 99.12%");
        assert_eq!(verdict(0.61, true).to_string(), "unsure 61.00% spam");
    }
}
