// SPDX-License-Identifier: GPL-3.0-or-later
//! Fetches the messages of lessons from the server and gives them to the filter, many at a time.

use crate::connection::Fault;
use crate::look::folder_of;
use crate::moves::{Label, Lesson};
use crate::session::{Listed, MOST_OF_A_MAIL, Session};
use dbacl::{MailFilter, MailFilterError, MailFilterOptions, MailRole, MailVerdict, Outcome};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most bytes of mail that are fetched and learned together. Many lessons at once then take
/// little memory, and make few generations of the filter.
const BATCH_BYTES: u64 = 4 << 20;

/// The most messages that are fetched and learned together.
const BATCH_MAILS: usize = 1000;

/// Learns messages under a label, and returns how many of them were new under it.
/// After a fault none was learned, and the caller tries again later.
pub type Learn<'a> = &'a mut dyn FnMut(Label, &[Vec<u8>]) -> Result<usize, Fault>;

/// The filter in a folder.
pub(crate) struct Filter {
    set: MailFilter,
    topics: Vec<String>,
    /// The folders of these labels, as the user calls them.
    folders: Vec<String>,
}

impl Filter {
    /// The filter in `folder`; work on it ends early once `stop` is set.
    pub(crate) fn new(folder: &Path, stop: Arc<AtomicBool>) -> Result<Self, Fault> {
        let set = MailFilter::open(folder, &MailFilterOptions::default().stop(stop))?;
        // A filter that cannot learn what moves say is refused before anything is moved.
        for role in [MailRole::Ham, MailRole::Spam] {
            set.label_for(role)?;
        }
        Ok(Self { set, topics: Vec::new(), folders: Vec::new() })
    }

    /// The filter as it is now.
    fn open(&mut self) -> Result<&mut MailFilter, Fault> {
        self.set.reload_if_changed()?;
        Ok(&mut self.set)
    }

    /// The labels that are neither spam nor ham; [`Label::Topic`] counts them.
    pub(crate) fn topics(&self) -> &[String] {
        &self.topics
    }

    /// What the user calls a label: the name of its folder, if there is one.
    pub(crate) fn folder<'a>(&'a self, label: &'a str) -> &'a str {
        let at = self.topics.iter().position(|topic| topic == label);
        at.and_then(|at| self.folders.get(at)).map_or(label, String::as_str)
    }

    /// Takes up which labels the filter has now, for an account with these folders. Until the next
    /// call their numbers stay, even if the filter is learned again with other labels.
    pub(crate) fn number_topics(&mut self, listed: &[Listed]) -> Result<(), Fault> {
        let set = self.open()?;
        let ham = set.label_for(MailRole::Ham)?;
        let is_topic =
            |label: &&String| **label != ham && set.role_of(label) != Some(MailRole::Spam);
        self.topics = set.labels().iter().filter(is_topic).cloned().collect();
        self.folders = self.topics.iter().map(|topic| folder_of(listed, topic)).collect();
        Ok(())
    }

    /// What a label is called in the filter.
    pub(crate) fn name(&mut self, label: Label) -> Result<String, Fault> {
        match label {
            Label::Ham => Ok(self.open()?.label_for(MailRole::Ham)?),
            Label::Spam => Ok(self.open()?.label_for(MailRole::Spam)?),
            Label::Topic(number) => {
                let name = self.topics.get(usize::from(number)).cloned();
                name.ok_or(Fault::Senseless("a label is missing"))
            }
        }
    }

    /// The reasons of what it says, the strongest ones.
    pub(crate) fn reasons(&mut self, mail: &[u8]) -> String {
        let set = self.open().ok().and_then(|set| set.classify_with_reasons(mail).ok());
        set.and_then(|(_, reasons)| reasons).map_or_else(String::new, |it| it.strongest(5))
    }

    /// How many of so many messages the filter was expected to be unsure of, if it was of
    /// more, and not by chance.
    pub(crate) fn expected(&mut self, unsure: usize, all: usize) -> Option<f64> {
        self.open().ok()?.expected_unsure(unsure, all)
    }

    /// What the filter says of a message; `None` if it is packed, or no text.
    pub(crate) fn classify(&mut self, mail: &[u8]) -> Result<Option<MailVerdict>, Fault> {
        match self.open()?.classify(mail) {
            Err(MailFilterError::NotMessage { .. }) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// The label of which a verdict is sure, if it is.
    pub(crate) fn sure(&mut self, verdict: &MailVerdict) -> Result<Option<Label>, Fault> {
        let set = self.open()?;
        if verdict.is_unsure {
            return Ok(None);
        }
        if set.role_of(&verdict.category) == Some(MailRole::Spam) {
            return Ok(Some(Label::Spam));
        }
        let topic = self.topics.iter().position(|topic| *topic == verdict.category);
        let topic = topic.and_then(|at| u8::try_from(at).ok());
        Ok(Some(topic.map_or(Label::Ham, Label::Topic)))
    }

    /// Learns messages, as [`Learn`] has it. What is not mail teaches nothing, also if it comes
    /// alone: trying again would not help.
    pub(crate) fn learn(&mut self, label: Label, mails: &[Vec<u8>]) -> Result<usize, Fault> {
        let name = self.name(label)?;
        let report = match self.open()?.correct_all(&name, mails.iter().map(Vec::as_slice)) {
            Err(MailFilterError::NotMessage { .. }) => return Ok(0),
            report => report?,
        };
        let is_news = |outcome: &Outcome| !matches!(outcome, Outcome::Known | Outcome::Empty);
        Ok(report.documents.iter().filter(|document| is_news(&document.outcome)).count())
    }
}

/// Results of lessons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taught {
    /// How many messages were learned with each label.
    pub learned: BTreeMap<Label, usize>,
    /// Messages that the filter knew already with the same label.
    pub known: usize,
    /// Messages that were gone before they could be read.
    pub missed: usize,
}

/// Gives all lessons.
///
/// # Errors
/// Some lessons were not given. Giving all of them again is harmless.
pub fn teach(
    session: &mut Session,
    mut lessons: Vec<Lesson>,
    learn: Learn<'_>,
) -> Result<Taught, Fault> {
    let mut taught = Taught::default();
    lessons.sort_by(|one, other| {
        (&one.mail.folder, one.mail.uid).cmp(&(&other.mail.folder, other.mail.uid))
    });
    let mut queue: BTreeMap<Label, Vec<Vec<u8>>> = BTreeMap::new();
    for lessons in lessons.chunk_by(|one, other| one.mail.folder == other.mail.folder) {
        let Some(first) = lessons.first() else { continue };
        session.select(&first.mail.folder, false, None)?;
        let uids: Vec<u32> = lessons.iter().map(|lesson| lesson.mail.uid).collect();
        let sizes = session.sizes(&uids)?;
        taught.missed += uids.len() - sizes.len();
        for uids in batches(&sizes) {
            let mails = session.mails(&uids)?;
            taught.missed += uids.len() - mails.len();
            for (uid, mail) in mails {
                let at = lessons.binary_search_by_key(&uid, |lesson| lesson.mail.uid);
                if let Some(lesson) = at.ok().and_then(|at| lessons.get(at)) {
                    queue.entry(lesson.label).or_default().push(mail);
                }
            }
            let bytes: usize = queue.values().flatten().map(Vec::len).sum();
            let is_full = queue.values().flatten().count() >= BATCH_MAILS;
            if is_full || bytes as u64 >= BATCH_BYTES {
                taught.learn(&mut queue, learn)?;
            }
        }
    }
    taught.learn(&mut queue, learn)?;
    Ok(taught)
}

impl Taught {
    /// Gives the fetched messages to `learn`, one label after the other.
    fn learn(
        &mut self,
        queue: &mut BTreeMap<Label, Vec<Vec<u8>>>,
        learn: Learn<'_>,
    ) -> Result<(), Fault> {
        while let Some((label, mails)) = queue.pop_first() {
            let news = learn(label, &mails)?;
            *self.learned.entry(label).or_default() += news;
            self.known += mails.len() - news;
        }
        Ok(())
    }
}

/// Numbers of messages in parts that are fetched with one command each.
pub(crate) fn batches(sizes: &[(u32, u32)]) -> Vec<Vec<u32>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl::{MailFolder, MailLearnOptions};
    use dbacl_testing::Scratch;
    use dbacl_testing::mails::not_mail;

    #[test]
    fn what_is_not_mail_delays_no_lesson() {
        let scratch = Scratch::new();
        let folders = ["ham", "spam"].map(|label| {
            std::fs::create_dir(scratch.path(label)).unwrap();
            for number in 0..5 {
                let mail = format!("Subject: {label} {number}\n\nwords about {label}\n");
                scratch.write(&format!("{label}/{number}"), mail);
            }
            MailFolder::new(label, scratch.path(label))
        });
        let place = scratch.path("filter");
        MailFilter::learn_folders(&place, &folders, &MailLearnOptions::default()).unwrap();
        let mut filter = Filter::new(&place, Arc::default()).unwrap();
        for (bytes, what) in not_mail(&place) {
            assert!(filter.classify(&bytes).unwrap().is_none(), "{what}");
            assert_eq!(
                filter.learn(Label::Spam, std::slice::from_ref(&bytes)).unwrap(),
                0,
                "{what}"
            );
            let both = [bytes, format!("Subject: {what}\n\nan offer\n").into_bytes()];
            filter.learn(Label::Spam, &both).unwrap();
        }
        assert!(filter.classify(b"Subject: ham\n\nwords about ham\n").unwrap().is_some());
    }
}
