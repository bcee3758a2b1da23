// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses the messages about which a mail filter should ask its user.
//!
//! ```text
//! messages ─→ not learned, no duplicates ─┬→ the most doubtful ones ─→ those unlike each other
//!                                         ├→ two labels: unsure ones that lean to the second
//!                                         └→ more labels: some by chance
//! ```
//!
//! With two labels all are doubtful, and a third of them are the unsure ones that are most probably
//! of the second label: where mail has changed they find its new groups of spam. With more a fifth
//! is, the rest is drawn: their thresholds are those of the documents learned, and where these are
//! doubtful ones alone, a third of all messages is unsure (docs/lab/mail.md). Among the doubtful
//! ones messages with an `unsure` verdict come first, and among them those whose two most probable
//! categories are closest to each other. The label of a message also teaches about messages like
//! it, so each message chosen lowers the rank of others by the share of features that they have in
//! common with it.

use super::error::{MailFilterError, unless_stopped};
use super::folder_mail::{OpenMail, left_out, open_mail};
use super::learn_folders;
use super::mail_folders::MailFolder;
use super::mailboxes::MailFile;
use super::misfiled::Suspect;
use super::open_filter::{MailVerdict, OpenFilter};
use super::reading::visible_text;
use super::report::DocumentId;
use crate::error::WarningSink;
use crate::fit::beginning::LIMIT;
use crate::input::patient::UntilStopped;
use crate::mail::mailbox::Separators;
use crate::mail::reader::Canonical;
use crate::mail::scanner::{Holds, form_of};
use crate::mail::subject::subject;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// Messages among which those are chosen that are unlike each other.
const CANDIDATES: usize = 200;

/// Bytes of these messages that are kept, unless a single one is longer.
const KEPT: usize = 64 << 20;

/// Two messages that have more than this share of their features in common are alike: one of them
/// is not asked about.
const ALIKE: f64 = 0.75;

/// One in so many questions is asked for doubt, the others by chance, where thresholds are those of
/// the documents learned.
const DOUBTFUL: usize = 5;

/// With two labels, one in so many questions is about a message that leans to the second label.
const LEANING: usize = 3;

/// A message about which a filter asks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub(crate) struct Question {
    /// Its file, with its number if the file has several messages.
    pub place: String,
    /// Its subject, if it has one.
    pub subject: Option<String>,
    /// The label of the folder in which it lies, if it was learned.
    pub label: Option<String>,
    /// What the filter says of it.
    pub verdict: MailVerdict,
    /// The message, as far as it is learned.
    pub mail: Vec<u8>,
}

impl Question {
    /// The text of the message that a mail program shows.
    pub(crate) fn text(&self) -> String {
        visible_text(&self.mail)
    }
}

/// A message that may be asked about.
#[derive(Clone)]
struct Candidate {
    question: Question,
    id: u64,
    features: Vec<u32>,
    doubt: (bool, f64),
}

/// How doubtful a verdict is; greater is more: whether it is unsure, and 1 where the two most
/// probable categories are equally probable, 0 where one is certain.
fn doubt(verdict: &MailVerdict) -> (bool, f64) {
    let (mut first, mut second) = (0.0_f64, 0.0_f64);
    for &probability in &verdict.probabilities {
        second = second.max(probability.min(first));
        first = first.max(probability);
    }
    (verdict.is_unsure, (1.0 - (first - second)).clamp(0.0, 1.0))
}

/// The messages of `files`, at most `most`, whose labels teach a set most: first those that it
/// doubts, no two alike, then perhaps some by chance. `open` is what is open of the set, and
/// `is_learned` says whether it has a document.
pub(super) fn questions(
    (open, is_learned): (&OpenFilter, &dyn Fn(DocumentId) -> Result<bool>),
    files: &[MailFile],
    most: usize,
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<Vec<Question>> {
    let (mut found, mut drawn) = (Vec::<Candidate>::new(), Vec::<Candidate>::new());
    let mut leaning = Vec::<Candidate>::new();
    let second = open.names().get(1).filter(|_| open.names().len() == 2);
    let mut others = Vec::new();
    for file in files {
        let Some(mail) = open_mail(file, stop, &mut others)? else { continue };
        each_of_file::<MailFilterError>(mail, file, stop, &mut |number, mail| {
            let verdict = open.classify(&mail, Some(stop))?;
            let doubt = doubt(&verdict);
            let message = open.read(&mail, Some(stop));
            unless_stopped(stop)?;
            let Some(message) = message else { return Ok(()) };
            let id = message.id().0;
            let is_known = found.iter().chain(&drawn).any(|other| other.id == id);
            let at = found.partition_point(|other| other.doubt >= doubt);
            // Fingerprints have no order that means anything.
            let turn = drawn.partition_point(|other| other.id < id);
            let leans = verdict.is_unsure && Some(&verdict.category) == second;
            let leaning_doubt = (leans, verdict.probability);
            let rank = leaning.partition_point(|other| other.doubt >= leaning_doubt);
            if at == CANDIDATES && turn == most && (!leans || rank == most) {
                return Ok(());
            }
            if is_known || is_learned(DocumentId(id))? {
                return Ok(());
            }
            let features = message.ids();
            let (place, subject) = (file.name_of(number), subject(&mail));
            let question = Question { place, subject, label: None, verdict, mail };
            let candidate = Candidate { question, id, features, doubt };
            if turn < most {
                drawn.insert(turn, candidate.clone());
                drawn.truncate(most);
            }
            if leans && rank < most {
                leaning.insert(rank, Candidate { doubt: leaning_doubt, ..candidate.clone() });
                leaning.truncate(most);
            }
            found.insert(at.min(CANDIDATES), candidate);
            found.truncate(CANDIDATES);
            let mut kept = 0;
            let fits = found.iter().take_while(|one| {
                kept += one.question.mail.len();
                kept <= KEPT
            });
            let fitting = fits.count().max(1);
            found.truncate(fitting);
            Ok(())
        })?;
    }
    left_out(&others).into_iter().for_each(warnings);
    let leaning = unlike_each_other(leaning, most / LEANING);
    found.retain(|one| leaning.iter().all(|other| other.id != one.id));
    let doubtful = if second.is_some() { most } else { most.div_ceil(DOUBTFUL) };
    let mut chosen = unlike_each_other(found, doubtful - leaning.len());
    chosen.extend(leaning);
    drawn.retain(|one| chosen.iter().all(|other| other.id != one.id));
    chosen.extend(drawn);
    chosen.truncate(most);
    Ok(chosen.into_iter().map(|one| one.question).collect())
}

/// The listed messages that are still in the place that the list has for them, in the order of the
/// list, each with its id.
/// `is_learned` says whether the set has a message under its label: one that was corrected is left
/// out. So are those that have gone or changed.
pub(super) fn suspected(
    open: &OpenFilter,
    list: &[Suspect],
    is_learned: &dyn Fn(&Suspect) -> Result<bool>,
    stop: &AtomicBool,
) -> Result<Vec<(DocumentId, Question)>> {
    let mut files = BTreeMap::<&Path, Vec<(usize, u32)>>::new();
    for (at, suspect) in list.iter().enumerate() {
        if let Some((number, path)) = &suspect.place {
            files.entry(path).or_default().push((at, *number));
        }
    }
    let (mut found, mut kept) = (Vec::new(), 0);
    for (path, places) in files {
        let may_be_mailbox = places.iter().any(|&(_, number)| number > 0);
        let file = MailFile { path: path.into(), may_be_mailbox, is_listed: true };
        let Some(mail) = open_mail(&file, stop, &mut Vec::new())? else { continue };
        each_of_file::<MailFilterError>(mail, &file, stop, &mut |number, mail| {
            let is_it = |&&(_, own): &&(usize, u32)| own.max(1) == number.max(1);
            let Some(&(at, own)) = places.iter().find(is_it) else { return Ok(()) };
            let suspect = &list[at];
            let id = DocumentId(suspect.id);
            let is_same = open.id(&mail, Some(stop)) == Some(id);
            kept += mail.len();
            if !is_same || kept > KEPT && !found.is_empty() || !is_learned(suspect)? {
                return Ok(());
            }
            let question = Question {
                place: file.name_of(own.min(number)),
                subject: subject(&mail),
                label: Some(suspect.label.clone()),
                verdict: open.classify(&mail, Some(stop))?,
                mail,
            };
            found.push((at, (id, question)));
            Ok(())
        })?;
    }
    found.sort_by_key(|&(at, _)| at);
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

/// Chooses one message after the other.
fn unlike_each_other(mut found: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    let mut chosen = Vec::new();
    // The greatest share that each has in common with one of those chosen.
    let mut common = vec![0.0_f64; found.len()];
    while chosen.len() < most {
        let rank = |at: usize| {
            let (is_unsure, nearness) = found[at].doubt;
            (is_unsure, nearness * (1.0 - common[at]))
        };
        let free = (0..found.len()).filter(|&at| common[at] <= ALIKE);
        let best = free.reduce(|best, at| if rank(at) > rank(best) { at } else { best });
        let Some(best) = best else { break };
        let candidate = found.remove(best);
        common.remove(best);
        for (share, other) in common.iter_mut().zip(&found) {
            *share = share.max(share_in_common(&candidate.features, &other.features));
        }
        chosen.push(candidate);
    }
    chosen
}

/// The share of the features of both that are in both; features are in order.
fn share_in_common(one: &[u32], other: &[u32]) -> f64 {
    let (mut at, mut both) = (0, 0_u32);
    for feature in one {
        at += other[at..].partition_point(|known| known < feature);
        both += u32::from(other.get(at) == Some(feature));
    }
    let all = u32::try_from(one.len() + other.len()).unwrap_or(u32::MAX) - both;
    if all == 0 { 1.0 } else { f64::from(both) / f64::from(all) }
}

/// Calls `each` for every message of `mail`, in order, with its place; of a message only as much is
/// given as is classified. `filter` is the folder of the filter, which must not be among the mail,
/// and
/// `warnings` hears which files are left out.
///
/// # Errors
/// Mail that cannot be read, and errors of `each`.
pub(crate) fn each_message<E: From<MailFilterError>>(
    (mail, filter): (&MailFolder, &Path),
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
    each: &mut impl FnMut(&str, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut others = Vec::new();
    let files = learn_folders::files_of(mail, filter)?;
    for file in &files {
        let Some(found) = open_mail(file, stop, &mut others)? else { continue };
        each_of_file(found, file, stop, &mut |number, mail| each(&file.name_of(number), mail))?;
    }
    left_out(&others).into_iter().for_each(warnings);
    Ok(())
}

/// Calls `each` for every message of `file`, which is open as `mail`, with its number from 1, or 0
/// for the only one. Of a message only as much is given as is learned of it.
pub(super) fn each_of_file<E: From<MailFilterError>>(
    mail: OpenMail,
    file: &MailFile,
    stop: &AtomicBool,
    each: &mut dyn FnMut(u32, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let OpenMail { source, head, may_be_mailbox } = mail;
    let is_mailbox = may_be_mailbox && form_of(&head).is_mailbox();
    let holds = if may_be_mailbox { Holds::Mailbox } else { Holds::One };
    let mut input =
        BufReader::new(Canonical::new(UntilStopped { input: source.reader, stop }, holds));
    let mut separators = Separators::default();
    let (mut number, mut message, mut line) = (0, Vec::new(), Vec::new());
    loop {
        line.clear();
        let most = u64::try_from(LIMIT).unwrap_or(u64::MAX);
        let read = (&mut input).take(most).read_until(b'\n', &mut line);
        let unread = |source| MailFilterError::Unread { path: file.path.clone(), source };
        let read = read.map_err(unread)?;
        unless_stopped(stop)?;
        let begins = read > 0 && separators.line(&mut line, is_mailbox);
        if (begins || read == 0) && !message.is_empty() {
            number += u32::from(begins || number > 0);
            each(number, std::mem::take(&mut message))?;
        }
        if read == 0 {
            return Ok(());
        }
        // The line in front of a message of a mailbox does not count.
        let room = (LIMIT + LIMIT / 64).saturating_sub(message.len());
        message.extend_from_slice(&line[..line.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, is_unsure: bool, probability: f64, features: &[u32]) -> Candidate {
        let verdict = MailVerdict {
            category: "spam".into(),
            probability,
            is_unsure,
            has_other_part: false,
            probabilities: vec![1.0 - probability, probability],
        };
        let doubt = doubt(&verdict);
        let (subject, label, mail) = (None, None, Vec::new());
        let features = features.to_vec();
        let question = Question { place: name.into(), subject, label, verdict, mail };
        Candidate { question, id: 0, features, doubt }
    }

    #[test]
    fn doubtful_messages_come_first_and_no_two_are_alike() {
        let found = vec![
            candidate("sure", false, 0.99, &[1, 2]),
            candidate("even", true, 0.5, &[3, 4, 5, 6, 7]),
            candidate("like even", true, 0.51, &[3, 4, 5, 6, 7]),
            candidate("half like even", true, 0.55, &[3, 4, 5, 6, 8, 9]),
            candidate("other", true, 0.7, &[10, 11]),
        ];
        let chosen = unlike_each_other(found, 9);
        let places: Vec<&str> = chosen.iter().map(|one| one.question.place.as_str()).collect();
        assert_eq!(places, ["even", "other", "half like even", "sure"]);
    }

    #[test]
    fn doubt_is_the_distance_of_the_two_best() {
        let mut verdict = candidate("x", true, 0.5, &[]).question.verdict;
        verdict.probabilities = vec![0.1, 0.5, 0.4];
        assert!((doubt(&verdict).1 - 0.9).abs() < 1e-9);
        verdict.probabilities = vec![1.0, 0.0, 0.0];
        assert!(doubt(&verdict).1.abs() < 1e-9);
    }
}
