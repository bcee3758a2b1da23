// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail that seems to be in the wrong folder, for people to look at (`dbacl --mail-review`).
//!
//! ```text
//! learned folders ─→ places and traits ─┬→ groups left out as wholes ─→ doubtful messages
//! ledger ─→ features and labels ────────┘                                  ↓
//! list of the filter's folder ───────────────────────────────────→ groups to ask about
//! ```
//!
//! Nothing of the filter changes.

use super::asking::{self, Question, each_of_file};
use super::error::{MailFilterError, unless_stopped};
use super::fitting;
use super::folder_mail::open_mail;
use super::kin::{self, Trait};
use super::learn_folders::files_of;
use super::mail_folders::MailFolder;
use super::misfiled::{LISTED, ReviewList, Suspect};
use super::open_filter::OpenFilter;
use super::report::DocumentId;
use crate::error::{Warning, WarningSink};
use crate::fit::joint::{Problem, Wishes};
use crate::fit::stop::Stop;
use crate::store::Document;
use hashbrown::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// Messages of one folder with something in common that seem to be in the wrong one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub(crate) struct Review {
    /// What they have in common; `None` of a single message.
    pub common: Option<String>,
    /// The label that they look as if they had; `None` if only their verdicts say it.
    pub looks_like: Option<String>,
    /// The messages, the most doubtful first, each with its id.
    pub messages: Vec<(DocumentId, Question)>,
}

/// The part of the messages with a trait that must be doubtful for these to be asked about at once.
const MOST: (usize, usize) = (4, 5);

/// Suspects that are asked about at once.
struct Group {
    common: Option<String>,
    looks_like: Option<String>,
    suspects: Vec<Suspect>,
}

/// What is to be reviewed of the filter that is `open`, the most doubtful first. Messages that
/// somebody has looked at, or that are no longer where they were, are left out; `warnings` gets a
/// warning of each folder that is gone.
pub(super) fn reviews(
    open: &OpenFilter,
    path: &Path,
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<Vec<Review>> {
    let list = ReviewList::of(path)?;
    if list.mail.is_empty() {
        let path = path.display();
        warnings(Warning::new(format!(
            "the filter in {path} does not know where its mail is, so that none is reviewed; name \
             the mail with dbacl --mail-learn {path}"
        )));
    }
    let is_learned =
        |suspect: &Suspect| Ok(open.labels_of(DocumentId(suspect.id))?.contains(&suspect.label));
    let groups = match doubtful(open, path, &list, stop, warnings)? {
        Some(groups) => groups,
        // The folders have gone; what learning has listed may still be there.
        None => (list.suspects.iter().filter(|own| own.place.is_some()))
            .map(|own| Group { common: None, looks_like: None, suspects: vec![own.clone()] })
            .collect(),
    };
    let all: Vec<Suspect> = groups.iter().flat_map(|group| group.suspects.clone()).collect();
    let mut messages = asking::suspected(open, &all, &is_learned, stop)?.into_iter().peekable();
    let mut reviews = Vec::new();
    for Group { common, looks_like, suspects } in groups {
        let own: HashSet<u64> = suspects.iter().map(|own| own.id).collect();
        let mut found = Vec::new();
        while let Some(message) = messages.next_if(|(id, _)| own.contains(&id.0)) {
            found.push(message);
        }
        if !found.is_empty() {
            let common = common.filter(|_| found.len() > 1);
            reviews.push(Review { common, looks_like, messages: found });
        }
    }
    Ok(reviews)
}

/// The messages that the filter has learned, each with its place in several lists.
struct Learned<'o> {
    names: &'o [String],
    labels: Vec<usize>,
    ids: Vec<u64>,
    traits: Vec<Vec<Trait>>,
    /// Where each is: the number in its file, and the file. `None` of what is no longer there.
    places: Vec<Option<(u32, PathBuf)>>,
}

impl<'o> Learned<'o> {
    /// The `documents` of the filter, which were not looked for yet.
    fn of(documents: &[Document], names: &'o [String]) -> Self {
        Self {
            names,
            labels: documents.iter().map(|own| usize::from(own.label)).collect(),
            ids: documents.iter().map(Document::name).collect(),
            traits: vec![Vec::new(); documents.len()],
            places: vec![None; documents.len()],
        }
    }

    /// Looks for the messages in the folders that were learned into the filter at `path`.
    fn find(
        &mut self,
        open: &OpenFilter,
        path: &Path,
        list: &ReviewList,
        stop: &AtomicBool,
        warnings: WarningSink<'_>,
    ) -> Result<()> {
        // By name and label; copies have several numbers.
        let mut numbers: HashMap<(u64, usize), Vec<usize>> = HashMap::new();
        for (at, &id) in self.ids.iter().enumerate().rev() {
            numbers.entry((id, self.labels[at])).or_default().push(at);
        }
        for (label, mail) in &list.mail {
            let Some(own) = self.names.iter().position(|name| name == label) else { continue };
            // A pipe may never end.
            if !mail.metadata().is_ok_and(|found| found.is_dir() || found.is_file()) {
                warnings(Warning::new(format!(
                    "{} is no longer a folder or file, so that its messages of {label} are not \
                     reviewed; name the new place with dbacl --mail-learn {}",
                    mail.display(),
                    path.display()
                )));
                continue;
            }
            for file in files_of(&MailFolder::new(label.as_str(), mail).listed(), path)? {
                let Some(found) = open_mail(&file, stop, &mut Vec::new())? else { continue };
                each_of_file::<MailFilterError>(found, &file, stop, &mut |number, mail| {
                    let id = open.id(&mail, Some(stop));
                    if let Some(at) = id.and_then(|id| numbers.get_mut(&(id.0, own))?.pop()) {
                        self.traits[at] = kin::traits(&mail);
                        self.places[at] = Some((number, file.path.clone()));
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Groups of messages to ask about, of a list with the number of each message and the number
    /// of the label that it seems to belong to.
    fn groups(&self, mut rest: Vec<(usize, usize)>) -> Vec<Group> {
        let Self { names, labels, traits, .. } = self;
        let with = kin::by_trait(labels, traits);
        let mut groups = Vec::new();
        while let Some(&(first, looks_like)) = rest.first() {
            let is_doubtful: HashSet<usize> =
                rest.iter().filter(|own| own.1 == looks_like).map(|own| own.0).collect();
            let label = labels[first];
            let alike = |own: &&Trait| {
                let all = &with[&(label, *own)];
                all.iter().filter(|at| is_doubtful.contains(*at)).count()
            };
            let is_mostly = |own: &&Trait| {
                let (part, whole) = MOST;
                whole * alike(own) >= part * with[&(label, *own)].len() && alike(own) > 1
            };
            let common = traits[first].iter().filter(is_mostly).max_by_key(alike);
            let is_common = |at: usize| common.is_some_and(|own| traits[at].contains(own));
            let is_member = |own: &(usize, usize)| {
                let (at, like) = *own;
                like == looks_like && (at == first || labels[at] == label && is_common(at))
            };
            let (members, others) = rest.into_iter().partition(is_member);
            rest = others;
            groups.push(Group {
                common: common.map(Trait::to_string),
                looks_like: Some(names[looks_like].clone()),
                suspects: members.into_iter().map(|(at, _)| self.suspect(at)).collect(),
            });
        }
        groups
    }

    fn suspect(&self, at: usize) -> Suspect {
        let label = self.names[self.labels[at]].clone();
        Suspect { id: self.ids[at], label, place: self.places[at].clone() }
    }
}

/// The doubtful messages of the folders that were learned; `None` if all messages of these folders
/// are gone.
fn doubtful(
    open: &OpenFilter,
    path: &Path,
    list: &ReviewList,
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<Option<Vec<Group>>> {
    let names = open.names();
    let mut documents = open.folder().documents(&open.tables)?;
    documents.retain(|own| usize::from(own.label) < names.len());
    let mut learned = Learned::of(&documents, names);
    learned.find(open, path, list, stop, warnings)?;
    if learned.places.iter().all(Option::is_none) {
        return Ok(None);
    }
    // What somebody has looked at is left out, and what learning has listed needs little doubt.
    let listed: HashMap<(u64, &str), bool> = (list.suspects.iter())
        .map(|own| ((own.id, own.label.as_str()), own.place.is_some()))
        .collect();
    let (data, _) = fitting::dataset(&mut documents, names.len());
    let is_stopped = || stop.load(Ordering::Relaxed);
    let (wishes, stop_now) = (Wishes::default(), Stop::when(&is_stopped));
    let problem = Problem { data: &data, names, wishes: &wishes, general: None, stop: stop_now };
    let doubts = problem.doubts(&kin::groups(&learned.labels, &learned.traits));
    unless_stopped(stop)?;
    let doubts = doubts.unwrap_or_default().into_iter().filter(|doubt| {
        let (id, label) = (learned.ids[doubt.document], learned.labels[doubt.document]);
        let is_wanted = listed.get(&(id, names[label].as_str())).copied();
        learned.places[doubt.document].is_some() && is_wanted.unwrap_or(doubt.is_clear)
    });
    let doubts = doubts.take(LISTED).map(|doubt| (doubt.document, doubt.looks_like));
    Ok(Some(learned.groups(doubts.collect())))
}
