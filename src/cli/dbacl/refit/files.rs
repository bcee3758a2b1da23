// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a set while it is being changed: what users call them, and where the next generation
//! has them.

use super::super::MESSAGES;
use super::super::config::{ORDINARY, lossy};
use super::super::failure::{Failure, Kind};
use super::super::signals::Signals;
use super::mail;
use super::store::{copy_head, not_changed, unshare};
use crate::atomic_file::beside;
use crate::category::layout::ANY_MAGIC;
use crate::joint::incremental;
use crate::joint::ledger;
use crate::joint::store::{Change, Name, Store, member};
use crate::lock::Lock;
use crate::sets::mail_filter::{self, LEDGER};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A set's corrections, a ledger of their own, in the set of a mail filter.
pub const CORRECTIONS: &str = "corrections";

/// A set that is being changed. Nothing has happened before [`Self::publish`].
pub struct Files {
    /// What users call the categories.
    pub names: Vec<PathBuf>,
    /// Where they are in the generation that is being made.
    pub paths: Vec<PathBuf>,
    /// What users call the ledger, if the set has one.
    pub ledger_name: Option<PathBuf>,
    /// Where it is.
    pub ledger: Option<PathBuf>,
    links: Vec<Name>,
    store: Store,
    change: Change,
    _lock: Lock,
}

/// The store of a set.
pub fn store_of(names: &[PathBuf], ledger: Option<&Path>) -> Store {
    if let Some(ledger) = ledger {
        return Store::of_link(ledger).map_or_else(|| Store::beside(ledger), |(store, _)| store);
    }
    let first = names.first().map_or(Path::new(""), PathBuf::as_path);
    Store::of_link(first).map_or_else(|| Store::beside(first), |(store, _)| store)
}

/// What the categories called `names` are called in a set.
pub fn members(names: &[PathBuf], store: &Store) -> Vec<OsString> {
    let mut members: Vec<OsString> = Vec::new();
    for name in names {
        let known = Store::of_link(name).filter(|(other, _)| other.is(store));
        let mut own = known.map_or_else(
            || member("category.", name.file_name().unwrap_or_default()),
            |(_, member)| member,
        );
        while members.contains(&own) {
            own.push(".other");
        }
        members.push(own);
    }
    members
}

/// The names of a set with these categories, and what its files are called.
pub fn links(names: &[PathBuf], members: &[OsString], ledger: Option<&Path>) -> Vec<Name> {
    let name = |path: PathBuf, member: OsString, ours| Name { path, member, ours };
    let mut links = Vec::new();
    for (path, own) in names.iter().zip(members) {
        links.push(name(path.clone(), own.clone(), ANY_MAGIC));
        let mut kept = own.clone();
        kept.push(ORDINARY);
        links.push(name(beside(path, ORDINARY), kept, ANY_MAGIC));
    }
    if let Some(path) = ledger {
        links.push(name(path.to_path_buf(), LEDGER.into(), ledger::ANY_MAGIC));
        links.push(name(beside(path, ".state"), "ledger.state".into(), incremental::KIND));
        let order = path.with_file_name(mail_filter::ORDER);
        if path.file_name() == Some(OsStr::new(LEDGER)) && mail::is_order(&order) {
            links.push(name(order, mail_filter::ORDER.into(), mail_filter::MAGIC));
        }
    }
    links
}

impl Files {
    /// Begins to change a set.
    ///
    /// # Errors
    /// What stopped it.
    pub fn open(names: &[PathBuf], ledger: Option<&Path>, lock: Lock) -> Result<Self, Failure> {
        let store = store_of(names, ledger);
        let members = members(names, &store);
        let links = links(names, &members, ledger);
        let change = store.change(&links).map_err(not_changed)?;
        if ledger.is_some() {
            unshare(&change.path(OsStr::new(LEDGER)))?;
        }
        Ok(Self::of(names, &members, ledger, links, store, change, lock))
    }

    /// The set that `change` makes.
    #[allow(clippy::too_many_arguments)] // the parts of a set
    pub fn of(
        names: &[PathBuf],
        members: &[OsString],
        ledger: Option<&Path>,
        links: Vec<Name>,
        store: Store,
        change: Change,
        lock: Lock,
    ) -> Self {
        Self {
            names: names.to_vec(),
            paths: members.iter().map(|member| change.path(member)).collect(),
            ledger_name: ledger.map(Path::to_path_buf),
            ledger: ledger.map(|_| change.path(OsStr::new(LEDGER))),
            links,
            store,
            change,
            _lock: lock,
        }
    }

    /// Where the corrections of a mail filter are.
    pub fn corrections(&self) -> Option<PathBuf> {
        let is_mail = self.change.has(OsStr::new(mail_filter::ORDER));
        is_mail.then(|| self.change.path(OsStr::new(CORRECTIONS)))
    }

    /// A failure that calls the files what users call them.
    pub fn in_words(&self, mut failure: Failure) -> Failure {
        let mut pairs: Vec<(String, String)> = self
            .links
            .iter()
            .map(|link| (self.change.path(&link.member), &link.path))
            .map(|(path, name)| (path.display().to_string(), name.display().to_string()))
            .collect();
        // `ham.ordinary` before `ham`.
        pairs.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        for line in &mut failure.lines {
            for (path, name) in &pairs {
                *line = line.replace(path, name);
            }
        }
        failure
    }

    /// Makes the change the current state of the set, unless a signal asked to stop.
    ///
    /// # Errors
    /// What stopped it; nothing has become of the change.
    pub fn publish(self, is_forced: bool, signals: &Signals) -> Result<(), Failure> {
        if signals.stopped() {
            let text = "stopped by a signal; nothing was changed";
            return Err(Failure::new(Kind::Interrupted, text));
        }
        let Self { links, store, change, ledger, .. } = self;
        let (first, others): (Vec<&Name>, Vec<&Name>) =
            links.iter().filter(|link| change.has(&link.member)).partition(|link| {
                link.ours == ANY_MAGIC && !link.member.as_encoded_bytes().ends_with(b".ordinary")
            });
        let published = store
            .take_over(&links)
            .and_then(|()| store.link_names(first))
            .and_then(|()| change.publish(is_forced));
        if let Err(error) = published {
            store.unlink_names(&links);
            return Err(not_changed(error));
        }
        if let Err(error) = store.link_names(others) {
            let path = lossy(store.folder().as_os_str().as_encoded_bytes());
            MESSAGES.warning(&format!("{error}: the files of {path} are changed all the same"));
        }
        if let (Some(_), Ok(Some(generation))) = (ledger, store.open()) {
            copy_head(&generation.path(OsStr::new(LEDGER)));
        }
        Ok(())
    }
}
