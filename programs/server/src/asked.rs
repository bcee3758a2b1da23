// SPDX-License-Identifier: GPL-3.0-or-later
//! For whom verdicts are asked, so that a filter is found that learns under one name of a person
//! while mail is classified for another one.

use crate::memory::lock;
use crate::users::Users;
use dbacl_cli::terminal::visible;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

/// Names that are kept; of more, those that were asked for the longest time ago are left out.
const NAMES: NonZeroUsize = NonZeroUsize::new(10_000).expect("not 0");

/// The last names for which verdicts were asked, by the folders of their own filters.
#[derive(Debug)]
pub(crate) struct Asked(Mutex<LruCache<PathBuf, String>>);

impl Default for Asked {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(NAMES)))
    }
}

impl Asked {
    /// Notes that a verdict was asked for these users.
    pub(crate) fn note(&self, users: &Users, names: &[String]) {
        for name in names {
            if let Some(folder) = users.folder(name) {
                // What the delimiter begins may be anything.
                let shown = visible(name.as_bytes());
                lock(&self.0).put(folder, String::from_utf8_lossy(&shown).into_owned());
            }
        }
    }

    /// Whether a verdict was asked for this user.
    pub(crate) fn has(&self, users: &Users, name: &str) -> bool {
        users.folder(name).is_some_and(|folder| lock(&self.0).contains(&folder))
    }

    /// A name for which verdicts were asked that seems to be the same person as this one, for whom
    /// none was.
    pub(crate) fn instead_of(&self, users: &Users, name: &str) -> Option<String> {
        if self.has(users, name) {
            return None;
        }
        let local = users.local(name);
        lock(&self.0).iter().map(|(_, other)| other).find(|it| users.local(it) == local).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::users::Naming;

    #[test]
    fn the_other_name_of_a_person_is_found() {
        let users = |naming| Users {
            pattern: Some("/m/{user}".into()),
            naming,
            delimiter: Some('+'),
            ..Users::default()
        };
        let (address, local) = (users(Naming::Address), users(Naming::Local));
        let names = ["<Alice+shop@example.org>", "bob", "carol@example.net"].map(str::to_owned);
        for (users, name, instead) in [
            (&address, "alice", Some(0)),
            (&address, "alice@example.org", None),
            (&address, "bob", None),
            (&address, "carol", Some(2)),
            (&address, "dave", None),
            (&local, "alice", None),
        ] {
            let asked = Asked::default();
            asked.note(users, &names);
            assert_eq!(asked.instead_of(users, name), instead.map(|at: usize| names[at].clone()));
            assert_eq!(asked.has(users, name), instead.is_none() && name != "dave", "{name}");
        }
    }
}
