// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a set while it is being changed: the paths that users know, and the paths in the
//! next generation.

use super::error::{FittedSetError, unless_stopped};
use super::filter_folder::{CORRECTIONS, LEDGER, MAGIC, ORDER, is_order};
use super::open_set::direct;
use super::salvage::salvage;
use crate::category::layout::ANY_MAGIC;
use crate::error::{Error, Warning, WarningSink};
use crate::store::generations::ledger_file::{copy_head, unshare};
use crate::store::generations::{Change, Force, Name, Store, member};
use crate::store::ledger;
use crate::store::state::head::KIND;
use dbacl_files::atomic_file::beside;
use dbacl_files::checked::{Sums, damaged};
use dbacl_files::lock::Lock;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A ledger's path with this ending is the path of the changes of its state.
pub(crate) const CHANGES: &str = ".changes";

/// A fitted category's path with this ending is the path of its ordinary file.
pub const ORDINARY: &str = ".ordinary";

/// The path of the ordinary file that belongs to the category at `path`.
pub(crate) fn ordinary_path(path: &Path) -> PathBuf {
    beside(path, ORDINARY)
}

/// How the names of the files with the general model's categories begin, in the folder of a set.
const GENERAL: &str = "general.";

/// The name of the file that holds the general model's category `label`, in the folder of a set.
pub(crate) fn general_member(label: &[u8]) -> OsString {
    member(GENERAL, OsStr::from_bytes(label))
}

/// The files of the general model in the folder of a generation, in the order of their names, each
/// with the label of its category.
pub(crate) fn general_files(folder: &Path) -> Result<Vec<(Vec<u8>, PathBuf)>, FittedSetError> {
    let failed = |error| Error::io(folder, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let label = name.as_bytes().strip_prefix(GENERAL.as_bytes());
        files.extend(label.map(|label| (label.to_vec(), entry.path())));
    }
    files.sort();
    Ok(files)
}

/// The label of the category at `path`: the part after the last slash.
pub fn label_of(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes).to_vec()
}

/// A set that is being changed. Its current generation stays as it is until the change is
/// published.
#[derive(Debug)]
pub struct SetFiles {
    /// The categories' paths as users know them.
    pub names: Vec<PathBuf>,
    /// Their paths in the generation that is being made.
    pub paths: Vec<PathBuf>,
    /// The ledger's path as users know it, if the set has a ledger.
    pub ledger_name: Option<PathBuf>,
    /// Where it is.
    pub ledger: Option<PathBuf>,
    links: Vec<Name>,
    change: Change,
    lock: Lock,
}

/// The store of a set.
pub fn store_of(names: &[PathBuf], ledger: Option<&Path>) -> Store {
    let anchor = ledger.or(names.first().map(PathBuf::as_path)).unwrap_or(Path::new(""));
    Store::of_link(anchor).map_or_else(|| Store::beside(anchor), |(store, _)| store)
}

/// The file names that the categories `names` have in a set.
pub(crate) fn members(names: &[PathBuf], store: &Store) -> Vec<OsString> {
    let mut members: Vec<OsString> = Vec::new();
    for name in names {
        let known = Store::of_link(name).filter(|(other, _)| other.is(store));
        let mut own = known.map_or_else(
            || member("category.", name.file_name().unwrap_or_default()),
            |(_, member)| member,
        );
        while members.iter().any(|other| {
            *other == own || with_ordinary(other) == own || with_ordinary(&own) == *other
        }) {
            own.push(".other");
        }
        members.push(own);
    }
    members
}

/// The file name in a set of the ordinary file that belongs to the category `member`.
fn with_ordinary(member: &OsStr) -> OsString {
    let mut name = member.to_owned();
    name.push(ORDINARY);
    name
}

/// Checks that category files can hold the paths `names`.
///
/// # Errors
/// [`FittedSetError::LineEnd`]
pub fn check_paths(names: &[PathBuf]) -> Result<(), FittedSetError> {
    match names.iter().find(|name| name.as_os_str().as_bytes().contains(&b'\n')) {
        Some(path) => Err(FittedSetError::LineEnd { path: path.clone() }),
        None => Ok(()),
    }
}

/// The paths that users know of a set with these categories, each with its file name in the set.
pub(crate) fn links(names: &[PathBuf], members: &[OsString], ledger: Option<&Path>) -> Vec<Name> {
    let name = |path: PathBuf, member: OsString, ours| Name { path, member, ours };
    let mut links = Vec::new();
    for (path, own) in names.iter().zip(members) {
        links.push(name(path.clone(), own.clone(), ANY_MAGIC));
        links.push(name(ordinary_path(path), with_ordinary(own), ANY_MAGIC));
    }
    if let Some(path) = ledger {
        links.push(name(path.to_path_buf(), LEDGER.into(), ledger::ANY_MAGIC));
        links.push(name(beside(path, ".state"), "ledger.state".into(), KIND));
        let order = path.with_file_name(ORDER);
        if path.file_name() == Some(OsStr::new(LEDGER)) && is_order(&order) {
            links.push(name(order, ORDER.into(), MAGIC));
        }
    }
    links
}

/// The names of a set's files.
pub(crate) struct SetNames {
    /// The ledger's path, if the set has a ledger.
    pub ledger: Option<PathBuf>,
    pub names: Vec<PathBuf>,
    /// The file names of the categories in the set.
    pub members: Vec<OsString>,
    /// All paths, with the file that lists the categories.
    pub links: Vec<Name>,
}

impl SetNames {
    /// The names of a set in a folder of its own.
    pub(crate) fn in_folder<L: AsRef<str>>(folder: &Path, labels: &[L]) -> Self {
        let inside = |name: &str| direct(&folder.join(name));
        let ledger = inside(LEDGER);
        let names: Vec<PathBuf> = labels.iter().map(|label| inside(label.as_ref())).collect();
        let of = |label: &L| member("category.", OsStr::new(label.as_ref()));
        let members: Vec<OsString> = labels.iter().map(of).collect();
        let mut links = links(&names, &members, Some(&ledger));
        links.retain(|link| link.member != ORDER);
        links.push(Name { path: inside(ORDER), member: ORDER.into(), ours: MAGIC });
        Self { ledger: Some(ledger), names, members, links }
    }

    /// Where the set is.
    pub(crate) fn store(&self) -> Store {
        store_of(&self.names, self.ledger.as_deref())
    }

    /// The files of the generation that `change` makes.
    pub(crate) fn files(self, change: Change, lock: Lock) -> SetFiles {
        let Self { ledger: ledger_name, names, members, links } = self;
        let paths = members.iter().map(|member| change.path(member)).collect();
        let ledger = ledger_name.as_ref().map(|_| change.path(OsStr::new(LEDGER)));
        SetFiles { names, paths, ledger_name, ledger, links, change, lock }
    }
}

/// What users call the file at `path`, which may be in the generation that is being made: by one of
/// these names, or by its path in the current generation.
fn known(store: &Store, links: &[Name], path: &Path) -> PathBuf {
    let current = store.known(path);
    let link = links.iter().find(|link| store.current_link().join(&link.member) == current);
    link.map_or(current, |link| link.path.clone())
}

impl SetFiles {
    /// Begins to change a set, of which the caller holds the lock. What a power failure has damaged
    /// is made again as far as possible, with a warning.
    ///
    /// # Errors
    /// [`FittedSetError::LineEnd`], [`FittedSetError::OrdinaryName`],
    /// [`FittedSetError::Generation`], [`FittedSetError::Ledger`].
    pub fn open(
        names: &[PathBuf],
        ledger: Option<&Path>,
        lock: Lock,
        warnings: WarningSink<'_>,
    ) -> Result<Self, FittedSetError> {
        check_paths(names)?;
        for path in names {
            let ordinary = ordinary_path(path);
            if names.contains(&ordinary) {
                return Err(FittedSetError::OrdinaryName { path: path.clone(), ordinary });
            }
        }
        let store = store_of(names, ledger);
        let members = members(names, &store);
        let links = links(names, &members, ledger);
        let change = store.change(&links, warnings)?;
        let begun = salvage(&change, warnings);
        let begun = begun.and_then(|()| match ledger {
            Some(_) => Ok(unshare(&change.path(OsStr::new(LEDGER)))?),
            None => Ok(()),
        });
        begun.map_err(|error| error.renamed(&|path| known(&store, &links, path)))?;
        let ledger = ledger.map(Path::to_path_buf);
        Ok(SetNames { ledger, names: names.to_vec(), members, links }.files(change, lock))
    }

    /// Labels of the categories.
    pub fn labels(&self) -> Vec<Vec<u8>> {
        self.names.iter().map(|name| label_of(name)).collect()
    }

    /// The path of a mail filter's ledger of corrections; `None` for other sets.
    pub(crate) fn corrections(&self) -> Result<Option<PathBuf>, FittedSetError> {
        let is_mail = self.change.has(OsStr::new(ORDER))?;
        Ok(is_mail.then(|| self.change.path(OsStr::new(CORRECTIONS))))
    }

    /// The checksums that the file at `path`, of the generation that is being made, has from the
    /// generation before; `None` if it has none or is another file.
    pub(crate) fn sums(&self, path: &Path) -> Result<Option<Sums>, FittedSetError> {
        Ok(self.change.sums_of(member_of(path))?)
    }

    /// Notes the checksums of the file at `path` as it is now, of the generation being made.
    pub(crate) fn know(&self, path: &Path, sums: Sums) -> Result<(), FittedSetError> {
        Ok(self.change.know(member_of(path), sums)?)
    }

    /// Whether the file at `path`, of the generation that is being made, is there and damaged.
    fn is_damaged(&self, path: &Path) -> Result<bool, FittedSetError> {
        let name = member_of(path);
        Ok(self.change.has(name)? && self.change.is_damaged(name)?)
    }

    /// Empties the category at `path`, of the generation that is being made, if any of it is
    /// damaged, so that it is fitted again. Returns whether it is empty now.
    pub(crate) fn set_aside_if_damaged(&self, path: &Path) -> Result<bool, FittedSetError> {
        let is_damaged = self.is_damaged(path)?;
        if is_damaged {
            self.change.empty(member_of(path))?;
        }
        Ok(is_damaged)
    }

    /// The same for all categories.
    pub(crate) fn set_aside_damaged(&self) -> Result<(), FittedSetError> {
        self.paths.iter().try_for_each(|path| self.set_aside_if_damaged(path).map(|_| ()))
    }

    /// Checks the whole file at `path`, which a fit starts from.
    pub(crate) fn check(&self, path: &Path) -> Result<(), FittedSetError> {
        if self.is_damaged(path)? {
            return Err(FittedSetError::category(path, Error::unreadable(path, damaged())));
        }
        Ok(())
    }

    /// The files of the general model, each with the label of its category; none for a set without
    /// one.
    pub(crate) fn general(&self) -> Result<Vec<(Vec<u8>, PathBuf)>, FittedSetError> {
        general_files(&self.change.folder)
    }

    /// The error with the paths that users know.
    pub(crate) fn in_words(&self, error: FittedSetError) -> FittedSetError {
        error.renamed(&|path| known(&self.change.store, &self.links, path))
    }

    /// Makes the change the current state of the set, unless `stop` is set. Returns warnings for
    /// the user.
    pub(crate) fn publish(
        self,
        force: Force,
        stop: &AtomicBool,
    ) -> Result<Option<Warning>, FittedSetError> {
        unless_stopped(stop)?;
        let Self { links, change, ledger, mut lock, .. } = self;
        let store = change.store.clone();
        let warning = if change.is_linked {
            let warning = change.publish(force)?;
            lock.vanishes = false;
            warning
        } else {
            let (mut first, mut others) = (Vec::new(), Vec::new());
            for link in &links {
                let is_category = link.ours == ANY_MAGIC
                    && !link.member.as_encoded_bytes().ends_with(ORDINARY.as_bytes());
                if change.has(&link.member)? {
                    if is_category { first.push(link) } else { others.push(link) }
                }
            }
            let published = store
                .take_over(&links)
                .and_then(|()| store.link_names(first))
                .and_then(|()| change.publish(force));
            let warning = published.inspect_err(|_| store.unlink_names(&links))?;
            lock.vanishes = false;
            let unlinked = store.link_names(others).err().map(|error| {
                let path = store.folder.display();
                Warning::new(format!("{error}: the files of {path} are changed all the same"))
            });
            unlinked.or(warning)
        };
        if ledger.is_some() {
            copy_head(&store.current_link().join(LEDGER));
        }
        Ok(warning)
    }
}

/// The name in its folder of the file at `path`.
fn member_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}
