// SPDX-License-Identifier: GPL-3.0-or-later
//! Fetches the mails of lessons from the server and gives them to the filter, many at a time.

use crate::connection::Fault;
use crate::moves::{Label, Lesson};
use crate::session::{MOST_OF_A_MAIL, Session};
use crate::transport::Wire;
use dbacl::{FittedSet, FittedSetOptions, Outcome};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most bytes of mail that are fetched and learned together. Many lessons at once then take
/// little memory, and make few generations of the filter.
const BATCH_BYTES: u64 = 4 << 20;

/// The most mails that are fetched and learned together.
const BATCH_MAILS: usize = 1000;

/// What learns the lessons: the filter, or a stand-in in tests.
pub trait MailLearner {
    /// Learns mails; returns how many of them it did not know with this label.
    ///
    /// # Errors
    /// Nothing was learned, and the lesson has to be given again.
    fn learn(&mut self, label: Label, mails: &[Vec<u8>]) -> Result<usize, Fault>;

    /// Whether a mail is surely spam.
    ///
    /// # Errors
    /// The mail cannot be judged.
    fn is_spam(&mut self, mail: &[u8]) -> Result<bool, Fault>;
}

/// The filter in a folder. It is opened when it is needed first.
pub struct Filter {
    folder: PathBuf,
    options: FittedSetOptions,
    set: Option<FittedSet>,
}

impl Filter {
    /// The filter in `folder`; work on it ends early once `stop` is set.
    pub fn new(folder: PathBuf, stop: Arc<AtomicBool>) -> Self {
        Self { folder, options: FittedSetOptions::default().stop(stop), set: None }
    }

    /// The filter as it is now.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn open(&mut self) -> Result<&mut FittedSet, Fault> {
        if let Some(set) = &mut self.set {
            set.reload_if_changed()?;
        } else {
            self.set = Some(FittedSet::open(&self.folder, &self.options)?);
        }
        self.set.as_mut().ok_or(Fault::Senseless("no filter"))
    }
}

impl MailLearner for Filter {
    fn learn(&mut self, label: Label, mails: &[Vec<u8>]) -> Result<usize, Fault> {
        let set = self.open()?;
        let name = set.labels().get(label as usize).cloned().unwrap_or_default();
        let report = set.correct_all(&name, mails.iter().map(Vec::as_slice))?;
        let is_news = |outcome: &Outcome| !matches!(outcome, Outcome::Known | Outcome::Empty);
        Ok(report.documents.iter().filter(|document| is_news(&document.outcome)).count())
    }

    fn is_spam(&mut self, mail: &[u8]) -> Result<bool, Fault> {
        let set = self.open()?;
        let verdict = set.classify(mail)?;
        Ok(!verdict.is_unsure && set.labels().get(Label::Spam as usize) == Some(&verdict.category))
    }
}

/// Results of lessons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taught {
    /// Mails that were learned as ham.
    pub ham: usize,
    /// Mails that were learned as spam.
    pub spam: usize,
    /// Mails that the filter knew already with the same label.
    pub known: usize,
    /// Mails that were gone before they could be read.
    pub missed: usize,
}

/// Gives all lessons.
///
/// # Errors
/// Some lessons were not given. Giving all of them again is harmless.
pub fn teach<S: Wire>(
    session: &mut Session<S>,
    mut lessons: Vec<Lesson>,
    learner: &mut dyn MailLearner,
) -> Result<Taught, Fault> {
    let mut taught = Taught::default();
    lessons.sort_by(|one, other| (&one.folder, one.uid).cmp(&(&other.folder, other.uid)));
    let mut queue = LearningQueue::default();
    for lessons in lessons.chunk_by(|one, other| one.folder == other.folder) {
        let Some(first) = lessons.first() else { continue };
        session.select(&first.folder, false, None)?;
        let uids: Vec<u32> = lessons.iter().map(|lesson| lesson.uid).collect();
        let sizes = session.sizes(&uids)?;
        taught.missed += uids.len() - sizes.len();
        for uids in batches(&sizes) {
            let mails = session.mails(&uids)?;
            taught.missed += uids.len() - mails.len();
            for (uid, mail) in mails {
                let at = lessons.binary_search_by_key(&uid, |lesson| lesson.uid);
                if let Some(lesson) = at.ok().and_then(|at| lessons.get(at)) {
                    queue.put(lesson.label, mail);
                }
            }
            if queue.is_full() {
                queue.clear(learner, &mut taught)?;
            }
        }
    }
    queue.clear(learner, &mut taught)?;
    Ok(taught)
}

/// Numbers of mails in parts that are fetched with one command each.
fn batches(sizes: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut batches: Vec<Vec<u32>> = Vec::new();
    let mut bytes = BATCH_BYTES;
    for (uid, size) in sizes {
        let size = u64::from((*size).min(MOST_OF_A_MAIL));
        match batches.last_mut() {
            Some(batch) if bytes + size <= BATCH_BYTES && batch.len() < BATCH_MAILS / 4 => {
                batch.push(*uid);
                bytes += size;
            }
            _ => {
                batches.push(vec![*uid]);
                bytes = size;
            }
        }
    }
    batches
}

/// Fetched mails that wait to be learned.
#[derive(Default)]
struct LearningQueue {
    ham: Vec<Vec<u8>>,
    spam: Vec<Vec<u8>>,
}

impl LearningQueue {
    fn put(&mut self, label: Label, mail: Vec<u8>) {
        match label {
            Label::Ham => self.ham.push(mail),
            Label::Spam => self.spam.push(mail),
        }
    }

    fn is_full(&self) -> bool {
        let mails = || self.ham.iter().chain(&self.spam);
        let bytes: usize = mails().map(Vec::len).sum();
        mails().count() >= BATCH_MAILS || bytes as u64 >= BATCH_BYTES
    }

    fn clear(&mut self, learner: &mut dyn MailLearner, taught: &mut Taught) -> Result<(), Fault> {
        for (label, mails, count) in [
            (Label::Spam, &mut self.spam, &mut taught.spam),
            (Label::Ham, &mut self.ham, &mut taught.ham),
        ] {
            if !mails.is_empty() {
                let news = learner.learn(label, mails)?;
                *count += news;
                taught.known += mails.len() - news;
                mails.clear();
            }
        }
        Ok(())
    }
}
