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
use crate::fit::joint::{Problem, Wishes};
use crate::fit::stop::Stop;
use crate::store::Document;
use hashbrown::{HashMap, HashSet};
use std::path::Path;
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

/// What is to be reviewed of the filter that is `open`, the most doubtful first. Left out is what
/// somebody has looked at, and what is no longer where it was.
pub(super) fn reviews(open: &OpenFilter, path: &Path, stop: &AtomicBool) -> Result<Vec<Review>> {
    let list = ReviewList::of(path)?;
    let is_learned =
        |suspect: &Suspect| Ok(open.labels_of(DocumentId(suspect.id))?.contains(&suspect.label));
    let groups = match doubtful(open, path, &list, stop)? {
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

/// The doubtful messages of the folders that were learned, as far as they are still there.
fn doubtful(
    open: &OpenFilter,
    path: &Path,
    list: &ReviewList,
    stop: &AtomicBool,
) -> Result<Option<Vec<Group>>> {
    let names = open.names();
    let mut documents = open.folder().documents(&open.tables)?;
    documents.retain(|own| usize::from(own.label) < names.len());
    let labels: Vec<usize> = documents.iter().map(|own| usize::from(own.label)).collect();
    // By name and label; copies have several numbers.
    let mut numbers: HashMap<(u64, usize), Vec<usize>> = HashMap::new();
    let ids: Vec<u64> = documents.iter().map(Document::name).collect();
    for (at, &id) in ids.iter().enumerate().rev() {
        numbers.entry((id, labels[at])).or_default().push(at);
    }
    let mut traits = vec![Vec::new(); documents.len()];
    let mut places = vec![None; documents.len()];
    for (label, mail) in &list.mail {
        let Some(own) = names.iter().position(|name| name == label) else { continue };
        // What is no longer there, or is a pipe, is left out.
        if !mail.metadata().is_ok_and(|found| found.is_dir() || found.is_file()) {
            continue;
        }
        for file in files_of(&MailFolder::new(label.as_str(), mail).listed(), path)? {
            let Some(found) = open_mail(&file, stop, &mut Vec::new())? else { continue };
            each_of_file::<MailFilterError>(found, &file, stop, &mut |number, mail| {
                let id = open.id(&mail, Some(stop));
                let at = id.and_then(|id| numbers.get_mut(&(id.0, own))?.pop());
                if let Some(at) = at {
                    traits[at] = kin::traits(&mail);
                    places[at] = Some((number, file.path.clone()));
                }
                Ok(())
            })?;
        }
    }
    if places.iter().all(Option::is_none) {
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
    let doubts = problem.doubts(&kin::groups(&labels, &traits));
    unless_stopped(stop)?;
    let doubts = doubts.unwrap_or_default().into_iter().filter(|doubt| {
        let (id, label) = (ids[doubt.document], labels[doubt.document]);
        let is_wanted = listed.get(&(id, names[label].as_str())).copied();
        places[doubt.document].is_some() && is_wanted.unwrap_or(doubt.is_clear)
    });
    let mut rest: Vec<(usize, usize)> =
        doubts.take(LISTED).map(|doubt| (doubt.document, doubt.looks_like)).collect();
    let with = kin::by_trait(&labels, &traits);
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
        let is_member = |at: usize| {
            at == first || common.is_some_and(|own| labels[at] == label && traits[at].contains(own))
        };
        let suspect = |at: usize| Suspect {
            id: ids[at],
            label: names[label].clone(),
            place: places[at].clone(),
        };
        let suspects = rest.iter().filter(|own| own.1 == looks_like && is_member(own.0));
        groups.push(Group {
            common: common.map(Trait::to_string),
            looks_like: Some(names[looks_like].clone()),
            suspects: suspects.map(|own| suspect(own.0)).collect(),
        });
        rest.retain(|own| own.1 != looks_like || !is_member(own.0));
    }
    Ok(Some(groups))
}
