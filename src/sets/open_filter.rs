// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter's files, open to classify messages: verdicts and their reasons.

use super::error::MailFilterError;
use super::filter_folder::FilterOpenError;
use super::mail_reading::MailReading;
use super::message::Message;
use super::reading::MessageReader;
use super::reasons::{Evidence, NAMED, POOL, Reasons, telling};
use super::report::DocumentId;
use super::roles::Roles;
use super::runs::Runs;
use super::weighing::{OpenGeneral, Weighing};
use crate::category::access;
use crate::document::ReadOptions;
use crate::error::{Warning, WarningSink};
use crate::fit::blocks::best_other;
use crate::fit::rule::{Decision, Doubt, Rule, Support};
use crate::mail::contents::Contents;
use crate::mail::verdict_header::Marker;
use crate::measures::calibration::logistic;
use crate::model::settings::Scheme;
use crate::store::folder::{JOURNAL, TABLE};
use crate::store::table::Fault;
use crate::store::{Document, FilterError, FilterFolder, OpenTables, Stamp};
use crate::token::id::FeatureId;
use hashbrown::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// The verdict on a message that cannot be classified.
pub(crate) const ERROR: &[u8] = b"error";

/// Bits that are shown as 0.00.
const LEAST: f64 = 0.005;

/// The verdict of a filter on a message. Its `Display` form is the text that the filter writes into
/// a message's header: `spam 99.12%`, or `unsure 61.00% spam`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MailVerdict {
    /// Name of the more probable category.
    pub category: String,
    /// Its probability, 0 to 1.
    pub probability: f64,
    /// Whether the probability lies between the thresholds, or something else speaks against the
    /// category, so that the verdict is `unsure`.
    pub is_unsure: bool,
    /// Whether it is unsure because a part of the text, by itself, is of another category.
    pub has_other_part: bool,
    /// Probability of each category, 0 to 1, in their order.
    pub probabilities: Vec<f64>,
}

impl fmt::Display for MailVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ref category, probability, is_unsure, .. } = *self;
        let mut text = Vec::new();
        let decision = Decision { label: 0, probability, is_unsure };
        decision.write(&mut text, category.as_bytes());
        if self.has_other_part {
            // Rules of mail systems look for the name of the other category after `unsure`.
            text.extend_from_slice(b"; a part looks different");
        }
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// A mail filter as it was when it was opened, whatever is learned and corrected meanwhile.
pub(crate) struct OpenFilter {
    folder: FilterFolder,
    pub(crate) tables: OpenTables<Rule>,
    pub(crate) general: Option<OpenGeneral>,
    pub(crate) reading: ReadOptions,
    /// The state before the last change of the whole filter classifies if a file turns out to be
    /// damaged.
    instead: OnceLock<Option<Box<Self>>>,
}

impl fmt::Debug for OpenFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("OpenFilter");
        shown.field("names", &self.names()).field("documents", &self.documents());
        shown.finish_non_exhaustive()
    }
}

impl OpenFilter {
    /// Opens the filter in `folder`. If it is damaged, the state before its last change as a whole
    /// is opened, with a warning.
    ///
    /// # Errors
    /// Each variant of [`FilterOpenError`] says what is missing or wrong.
    pub(crate) fn open(folder: &Path, warnings: WarningSink<'_>) -> Result<Self, FilterOpenError> {
        let folder = FilterFolder::new(folder);
        let opened = Self::now(&folder);
        if let Ok(filter) = &opened {
            filter.open_to_others().into_iter().for_each(&mut *warnings);
        }
        match opened {
            Err(error) if error.is_damage() => match Self::before(&folder) {
                Some(before) => {
                    warnings(before.warning_of_damage());
                    Ok(before)
                }
                None => Err(error),
            },
            opened => opened,
        }
    }

    /// The filter as it is now.
    pub(crate) fn now(folder: &FilterFolder) -> Result<Self, FilterOpenError> {
        Self::of(folder, folder.open::<Rule>()?)
    }

    fn before(folder: &FilterFolder) -> Option<Self> {
        Self::of(folder, folder.open_before()?).ok()
    }

    pub(crate) fn of(
        folder: &FilterFolder,
        tables: OpenTables<Rule>,
    ) -> Result<Self, FilterOpenError> {
        let stored = &tables.table.head.reading;
        let reading = MailReading::of(stored)
            .ok_or_else(|| FilterError::Version { folder: folder.path().to_path_buf() })?;
        let general = folder.open_general(&tables);
        let general = general.map_err(|source| FilterOpenError::General { source })?;
        let general = general.map(|own| OpenGeneral::new(own, &stored.labels));
        let (folder, reading) = (folder.clone(), reading.options());
        Ok(Self { folder, tables, general, reading, instead: OnceLock::new() })
    }

    /// Warnings about files that anybody may write to.
    pub(crate) fn open_to_others(&self) -> Vec<Warning> {
        let table = &self.tables.table;
        let [ledger, journal] =
            [table.head.ledger.as_str(), JOURNAL].map(|name| self.folder.file(name));
        let of_table = access::warning_of(|| self.folder.file(TABLE), &table.found);
        let others = [self.folder.path(), &ledger, &journal].into_iter();
        others.filter_map(access::warning_about).chain(of_table).collect()
    }

    fn warning_of_damage(&self) -> Warning {
        Warning::new(format!(
            "{} is damaged: what was known before the last change classifies",
            self.folder.path().display()
        ))
    }

    /// A mark that changes whenever the filter in `folder` does; `None` if there is no filter.
    pub(crate) fn stamp(folder: &Path) -> Option<Stamp> {
        FilterFolder::new(folder).stamp().ok()
    }

    pub(crate) const fn folder(&self) -> &FilterFolder {
        &self.folder
    }

    /// Labels of the categories, those that must not be lost first.
    pub(crate) fn names(&self) -> &[String] {
        &self.tables.table.head.reading.labels
    }

    pub(crate) const fn rule(&self) -> &Rule {
        &self.tables.table.head.rule
    }

    /// What the categories of a mail filter are for.
    pub(crate) fn all_roles(&self) -> Roles {
        let protected = &self.rule().protected;
        Roles::of(self.names(), &|at| protected.get(at).copied().flatten().is_some())
    }

    /// The features of a message; `None` if it has none.
    pub(crate) fn read(&self, mail: &[u8], stop: Option<&AtomicBool>) -> Option<Message> {
        MessageReader::new(&self.reading, stop).read(mail)
    }

    /// The id by which the filter recognises a message; `None` for a message without features.
    pub(crate) fn id(&self, mail: &[u8], stop: Option<&AtomicBool>) -> Option<DocumentId> {
        self.read(mail, stop).map(|message| message.id())
    }

    /// The labels under which a document was learned; empty if it was not.
    pub(crate) fn labels_of(&self, id: DocumentId) -> Result<Vec<String>, FilterOpenError> {
        let found = self.tables.find(id.0);
        let found = found.map_err(|fault| FilterOpenError::of_table(&self.folder, fault))?;
        let mut seen = HashSet::new();
        let labels = found.into_iter().map(|(_, effect)| usize::from(effect.label));
        let labels = labels.filter(|&label| seen.insert(label));
        Ok(labels.filter_map(|label| self.names().get(label).cloned()).collect())
    }

    /// The verdict on a message, given as it was received, headers first. Verdicts of dbacl in its
    /// header (lines `X-DBACL`) are ignored. Of a message of more than 8 MiB only the beginning is
    /// classified; reading ends early once `stop` is set.
    ///
    /// # Errors
    /// [`MailFilterError::NotMessage`] for what is packed, or no text; [`MailFilterError::Open`]
    /// when a file cannot be read any more.
    pub(crate) fn classify(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<MailVerdict, MailFilterError> {
        check_mail(mail)?;
        let message = self.read(mail, stop);
        let (set, weighing) = self.weigh(message.as_ref())?;
        Ok(set.verdict(weighing.as_ref()))
    }

    /// Messages that the filter has learned.
    pub(crate) fn documents(&self) -> u32 {
        self.tables.number()
    }

    /// The warning about a damaged file that was met while mail was classified, once there is one:
    /// what was before the last change classifies then.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let instead = self.instead.get()?.as_ref()?;
        Some(instead.warning().unwrap_or_else(|| instead.warning_of_damage()))
    }

    /// The verdict on a message with its reasons; one without features has no reasons. Reading ends
    /// early once `stop` is set.
    ///
    /// # Errors
    /// Those of [`Self::classify`].
    pub(crate) fn reasons(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(MailVerdict, Option<Reasons>), MailFilterError> {
        check_mail(mail)?;
        let message = self.read(mail, stop);
        let (set, weighing) = self.weigh(message.as_ref())?;
        let verdict = set.verdict(weighing.as_ref());
        let reasons = message.as_ref().zip(weighing.as_ref());
        let reasons = reasons.map(|(message, it)| set.reasons_of(message, it, mail, stop));
        Ok((verdict, reasons))
    }

    /// The weighing of a learned message.
    pub(crate) fn weigh_document(&self, document: &Document) -> Option<Weighing> {
        let (_, weighing) = self.weigh(Some(&Message::of(document))).ok()?;
        // The order of its words is not known any more.
        let support = |own: Support| Support { part: f64::NEG_INFINITY, ..own };
        weighing.map(|own| Weighing { support: support(own.support), ..own })
    }

    /// The weighing of a message, by this filter or, if it is damaged, by its earlier state.
    fn weigh(
        &self,
        message: Option<&Message>,
    ) -> Result<(&Self, Option<Weighing>), MailFilterError> {
        let Some(message) = message else { return Ok((self, None)) };
        let fault = match Weighing::of(&self.tables, self.general.as_ref(), message) {
            Ok(weighing) => return Ok((self, Some(weighing))),
            Err(fault) => fault,
        };
        let instead = self.instead.get_or_init(|| Self::before(&self.folder).map(Box::new));
        match instead {
            Some(instead)
                if instead.tables.table.id != self.tables.table.id
                    && !matches!(fault, Fault::Io(_)) =>
            {
                instead.weigh(Some(message))
            }
            _ => Err(FilterOpenError::of_table(&self.folder, fault).into()),
        }
    }

    fn verdict(&self, weighing: Option<&Weighing>) -> MailVerdict {
        let nothing = vec![f64::NAN; self.names().len()];
        let (scores, support) = match weighing {
            Some(own) => (&own.scores, own.support),
            None => (&nothing, Support::default()),
        };
        let Decision { label, probability, is_unsure } = self.rule().verdict(scores, support);
        // A message without features has NaN as its odds.
        let share = |odds: f64| if odds.is_nan() { probability } else { logistic(odds) };
        let odds = self.rule().log_odds(scores);
        let mut probabilities: Vec<f64> = odds.into_iter().map(share).collect();
        probabilities[label] = probability;
        let category = self.names()[label].clone();
        let has_other_part = self.rule().doubt(scores, support) == Some(Doubt::Part);
        MailVerdict { category, probability, is_unsure, has_other_part, probabilities }
    }

    /// How much each feature adds to the odds of the verdict's category, in bits.
    fn reasons_of(
        &self,
        message: &Message,
        weighing: &Weighing,
        text: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Reasons {
        let Weighing { scores, support, known, weights, inputs } = weighing;
        let own = self.rule().verdict(scores, *support).label;
        let odds = self.rule().log_odds(scores);
        let next = best_other(scores, own);
        let width = weights.len() / message.len().max(1);
        let weight = |at: usize, label: usize| {
            let own = &weights[at * width..][..width];
            f64::from(if width == 1 { if label == 1 { own[0] } else { 0.0 } } else { own[label] })
        };
        let per_nat = self.rule().calibration.slope / std::f64::consts::LN_2;
        // If a feature occurs several times, only the first occurrence has evidence.
        let mut all = 0.0;
        let mut bits: HashMap<u32, f64> = HashMap::new();
        for (at, id) in message.ids().into_iter().enumerate().filter(|&(at, _)| known[at]) {
            let input = inputs[message.block(at)];
            let own = per_nat * input * (weight(at, own) - weight(at, next));
            all += own;
            bits.insert(id, own);
        }
        let mut runs = Runs::new(self.reading.scheme == Scheme::Gram);
        MessageReader::new(&self.reading, stop).features(text, |feature| {
            let id = FeatureId::of(feature.body, feature.medium).0;
            runs.add(&feature, bits.remove(&id));
        });
        let mut ranked = strongest(runs.finish());
        let telling = telling(&ranked);
        ranked.truncate(NAMED);
        let doubt = match self.rule().doubt(scores, *support) {
            Some(Doubt::Part) => Some(format!("a part that looks like {}", self.names()[1])),
            Some(Doubt::New) => Some("much text that was never learned".into()),
            None => None,
        };
        let named: f64 = ranked.iter().map(|evidence| evidence.bits).sum();
        let features: usize = ranked.iter().map(|evidence| evidence.features).sum();
        let bits = odds[own] / std::f64::consts::LN_2;
        Reasons {
            category: self.names()[own].clone(),
            bits,
            others: all - named,
            number_of_others: message.len().saturating_sub(features),
            before: bits - all,
            tokens: ranked.into_iter().map(|evidence| (evidence.text, evidence.bits)).collect(),
            doubt,
            telling,
        }
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A message that cannot be classified is returned as well, with the
    /// verdict `error`.
    pub(crate) fn filter(&self, mail: impl AsRef<[u8]>) -> Vec<u8> {
        let mail = mail.as_ref();
        let verdict = self.classify(mail, None).map(|verdict| verdict.to_string().into_bytes());
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

/// Refuses what is packed, or no text.
fn check_mail(mail: &[u8]) -> Result<(), MailFilterError> {
    Contents::refusal(mail).map_or(Ok(()), |what| Err(MailFilterError::NotMessage { what }))
}

/// The evidence with the most bits for or against; of equal ones the first. None that says nothing.
fn strongest(mut all: Vec<Evidence>) -> Vec<Evidence> {
    all.sort_by(|a, b| b.bits.abs().total_cmp(&a.bits.abs()));
    all.truncate(POOL);
    all.retain(|one| one.bits.abs() >= LEAST);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_shown_as_the_header_says_them() {
        let verdict = |probability, is_unsure| MailVerdict {
            category: "spam".into(),
            probability,
            is_unsure,
            has_other_part: false,
            probabilities: vec![1.0 - probability, probability],
        };
        assert_eq!(verdict(0.99123, false).to_string(), "spam 99.12%");
        assert_eq!(verdict(0.61, true).to_string(), "unsure 61.00% spam");
        let part =
            MailVerdict { category: "ham".into(), has_other_part: true, ..verdict(0.99, true) };
        assert_eq!(part.to_string(), "unsure 99.00% ham; a part looks different");
    }
}
