// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns mail folders into a mail filter (`dbacl --mail-learn`).
//!
//! ```text
//! folders ─→ files ─→ ordinary categories, ledger ─→ corrections kept ─→ fit ─→ next generation
//! ```
//!
//! The whole filter changes at once, at the end. Until then the old one classifies mail, and
//! corrections change it.

use super::drift;
use super::error::FittedSetError;
use super::files::{SetNames, check_paths, general_files, links};
use super::filter_folder::{CORRECTIONS, LEDGER, MAGIC, ORDER, labels, set_aside};
use super::folder_counts::{Reading, unopened};
use super::general::{self, GeneralSource};
use super::mail_folders::{MailFolder, MailLearnOptions};
use super::mail_reading::MailReading;
use super::mailboxes;
pub use super::mailboxes::MailFile;
use super::misfiled::{self, MisfiledMail, Place};
use super::open_set::direct;
use super::protection::{fit_options, in_order};
use super::refit::{HowToFit, Refitted, fit_files, no_documents};
use super::salvage::Present;
use crate::error::{Warning, WarningSink};
use crate::fit::documents::fingerprint;
use crate::fit::joint::{FitNote, MisfiledDocument};
use crate::parallel;
use crate::store::corrections::{self, Corrected};
use crate::store::generations::ledger_file::{self, LedgerError};
use crate::store::generations::{Change, Name, Store};
use crate::store::ledger::Ledger;
use dbacl_files::atomic_file::{self, Unforced, folder_of};
use hashbrown::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Learns the mail of two or more categories into the filter in `folder`. Returns the fit and the
/// number of corrections that were applied.
///
/// # Errors
/// What stopped it; the filter is as it was.
pub fn learn(
    folder: &Path,
    folders: &[MailFolder],
    options: &MailLearnOptions,
    note: &mut dyn FnMut(FitNote),
    warnings: WarningSink<'_>,
) -> Result<(Refitted, usize)> {
    let is_new = folder.symlink_metadata().is_err();
    let store = Store::beside(&direct(&folder.join(LEDGER)));
    let learned = learn_all(folder, folders, options, note, warnings)
        .map_err(|error| error.renamed(&|path| store.known(path)));
    if learned.is_err() && is_new {
        // It stays if another process has put something into it.
        let _ = fs::remove_dir(folder);
    }
    learned
}

fn learn_all(
    folder: &Path,
    folders: &[MailFolder],
    options: &MailLearnOptions,
    note: &mut dyn FnMut(FitNote),
    warnings: WarningSink<'_>,
) -> Result<(Refitted, usize)> {
    let (folders, rates): (Vec<_>, Vec<_>) = in_order(folders, options)?.into_iter().unzip();
    let mut mail_files = Vec::new();
    for own in &folders {
        mail_files.push(files_of(own, folder)?);
    }
    let labels: Vec<&str> = folders.iter().map(|folder| folder.label.as_str()).collect();
    let set = SetNames::in_folder(folder, &labels);
    check_paths(&set.names)?;
    let ledger_path = direct(&folder.join(LEDGER));
    let store = Store::beside(&ledger_path);
    let has_general = match &options.general {
        GeneralSource::Of(_) => true,
        GeneralSource::Same => match store.open()? {
            Some(now) => !general_files(&now.folder)?.is_empty(),
            None => false,
        },
        GeneralSource::Nothing => false,
    };
    // With a general model a folder may be empty, unless its mail has disappeared.
    let may_be_empty =
        |at: usize| -> Result<bool> { Ok(has_general && !has_learned(&store, labels[at])?) };
    for (at, files) in mail_files.iter().enumerate() {
        if files.is_empty() && !may_be_empty(at)? {
            return Err(FittedSetError::NoMail { place: folders[at].place() });
        }
    }
    private_folder(folder)?;
    // The lock is not held while mail is read, so that corrections need not wait.
    let (change, current) = {
        let _lock = options.set.lock(&store)?;
        let before = names_of(folder, &ledger_path);
        let change = store.replacement(&before, warnings)?;
        let now = Present::of(&store, &mut |_| {})?;
        let own = now.as_ref().map(|now| now.folder.join(LEDGER));
        (change, MailReading::of_ledger(own.as_ref().unwrap_or(&ledger_path)))
    };
    let of_general = match &options.general {
        GeneralSource::Of(from) => MailReading::of_filter(from),
        GeneralSource::Same | GeneralSource::Nothing => None,
    };
    let reading = current.or(of_general);
    let reading = reading.unwrap_or_else(|| MailReading::of_new(folders.len()));
    if let GeneralSource::Of(from) = &options.general {
        general::bring(&change, from, &labels, reading, warnings)?;
    }
    let learning = reading.options();
    let job = Reading::new(&learning, options, &mail_files);
    let learned = parallel::all(folders.len(), |at| job.learn(&mail_files[at], &set.names[at]));
    let settings = reading.settings();
    let mut ledger = Ledger::new(settings, Vec::new());
    let mut places = Vec::new();
    for (at, learned) in learned.into_iter().enumerate() {
        let mut learned = learned?;
        learned.warnings.drain(..).for_each(&mut *warnings);
        if learned.is_empty && !may_be_empty(at)? {
            let place = folders[at].place();
            return Err(match options.since {
                Some(_) => FittedSetError::OldMail { place },
                None => FittedSetError::NoMail { place },
            });
        }
        learned.write(&change.path(&set.members[at]), labels[at], &mut ledger)?;
        for (number, place) in learned.places.iter_mut().enumerate() {
            place.id = fingerprint(learned.corpus.terms_of(number));
        }
        places.push(learned.places);
    }
    compare(&folders, &places, warnings)?;
    write_order(&change, &labels)?;
    let lock = options.set.lock(&store)?;
    let before = names_of(folder, &ledger_path);
    store.take_over(&before)?;
    let now = Present::of(&store, warnings)?;
    if options.general == GeneralSource::Same {
        let now = now.as_ref().map(|now| now.folder.as_path());
        general::keep((now, &change), &labels, current == Some(reading), warnings)?;
    }
    let applied = match &now {
        Some(now) => correct(now, &change, (&mut ledger, reading), warnings)?,
        None => 0,
    };
    drop(now);
    let changes = drift::changes(folder, &ledger);
    ledger_file::save(&change.path(OsStr::new(LEDGER)), &ledger)?;
    let documents = ledger.heads().map(|(record, _)| (record.label as usize, record.fingerprint));
    let documents: Vec<(usize, u64)> = documents.collect();
    // This frees memory for the fit.
    drop(ledger);
    let before = names_of(folder, &ledger_path);
    let (options_of_fit, ledger_leads) = (fit_options(rates, options, reading), applied > 0);
    let how =
        HowToFit { options: &options_of_fit, settings: &settings, is_mail: true, ledger_leads };
    let files = set.files(change, lock);
    let fitted = fit_files(files, how, no_documents, (note, &mut *warnings), &options.set.stop)?;
    store.unlink_names(&before);
    let found = fitted.solution.fitted.iter().flat_map(|fitted| &fitted.misfiled);
    let mail = |&MisfiledDocument { document, looks_like, .. }: &MisfiledDocument| {
        let &(label, id) = documents.get(document)?;
        // A message that was corrected lies elsewhere.
        let place = places[label].iter().find(|place| place.id == id)?;
        let file = mail_files[label].get(place.file as usize)?;
        let [label, looks_like] = [label, looks_like].map(|at| folders[at].label.as_str());
        Some(MisfiledMail { id, file, mail: place.mail, label, looks_like })
    };
    misfiled::tell(folder, found.filter_map(mail).collect(), warnings);
    drift::tell(folder, &changes, warnings);
    Ok((fitted, applied))
}

/// The files of a mail folder. `filter` is the folder of the filter, which must not be among them.
pub(super) fn files_of(folder: &MailFolder, filter: &Path) -> Result<Vec<MailFile>> {
    let mut files = Vec::new();
    for path in &folder.paths {
        keep_apart(path, filter)?;
        files.extend(mailboxes::files_of(path).map_err(|error| unopened(path, error))?);
    }
    for path in &folder.listed {
        let found = mailboxes::files_of(path).map_err(|error| unopened(path, error));
        match found {
            Err(FittedSetError::Source { path: missing, source })
                if missing == *path && source.kind() == io::ErrorKind::NotFound => {}
            found => {
                keep_apart(path, filter)?;
                let listed = |file| MailFile { is_listed: true, ..file };
                files.extend(found?.into_iter().map(listed));
            }
        }
    }
    Ok(files)
}

/// Checks that the filter's folder is none of those that are read as the mail at `path`.
fn keep_apart(path: &Path, filter: &Path) -> Result<()> {
    // A path that cannot be followed is an error where it is read.
    let Ok(mail) = path.canonicalize() else { return Ok(()) };
    let own = filter.canonicalize().or_else(|_| {
        let above = folder_of(filter).canonicalize()?;
        Ok::<_, io::Error>(above.join(filter.file_name().unwrap_or_default()))
    });
    let is_inside = own.is_ok_and(|own| own.starts_with(&mail));
    if is_inside && mailboxes::reads_folders_of(path).map_err(|error| unopened(path, error))? {
        return Err(FittedSetError::FilterInMail { filter: filter.into(), mail: path.into() });
    }
    Ok(())
}

/// So few messages with two labels may be chance.
const FEW: usize = 3;

/// Checks that no two labels have mostly the same messages, and warns of messages that two have.
/// `places` has the messages of each label.
fn compare(
    folders: &[&MailFolder],
    places: &[Vec<Place>],
    warnings: WarningSink<'_>,
) -> Result<()> {
    let ids = |own: &Vec<Place>| own.iter().map(|place| place.id).collect::<HashSet<u64>>();
    let ids: Vec<HashSet<u64>> = places.iter().map(ids).collect();
    for (second, of_second) in ids.iter().enumerate() {
        for (first, of_first) in ids[..second].iter().enumerate() {
            let same = of_first.intersection(of_second).count();
            let (few, many) =
                if of_first.len() <= of_second.len() { (first, second) } else { (second, first) };
            let (all, label) = (ids[few].len(), folders[few].label.clone());
            let other = folders[many].label.clone();
            if same > 0 && (same == all || same >= FEW && 2 * same >= all) {
                return Err(FittedSetError::SameMail { same, all, label, other });
            }
            if same > 0 {
                let messages =
                    if same == 1 { "1 message is" } else { &format!("{same} messages are") };
                warnings(Warning::new(format!("{messages} in both {label} and {other}")));
            }
        }
    }
    Ok(())
}

/// Whether the current filter has learned mail of the folder called `label`, other than by
/// corrections.
fn has_learned(store: &Store, label: &str) -> Result<bool> {
    let current = store.open_to_change()?;
    let Some(current) = current else { return Ok(false) };
    if current.has_torn() {
        // It cannot be told without the lock.
        return Ok(true);
    }
    let load = |name: &str| ledger_file::load(&current.path(OsStr::new(name)));
    let corrections = load(CORRECTIONS)?;
    let corrected = corrections.iter().flat_map(Ledger::heads);
    let corrected: HashSet<u64> = corrected.map(|(record, _)| record.fingerprint).collect();
    let Some(ledger) = load(LEDGER)? else { return Ok(false) };
    let names = &ledger.head.names;
    let place = names.iter().position(|known| known.name == label.as_bytes());
    let mut own = ledger.heads().filter(|(record, _)| Some(record.label as usize) == place);
    Ok(own.any(|(record, _)| !corrected.contains(&record.fingerprint)))
}

/// Writes the file that lists the categories.
pub(super) fn write_order(change: &Change, labels: &[&str]) -> Result<()> {
    let order: String = labels.iter().map(|label| format!("{label}\n")).collect();
    let order = [MAGIC, order.as_bytes()].concat();
    Ok(ledger_file::replace(&Unforced, &change.path(OsStr::new(ORDER)), MAGIC, &order)?)
}

/// Creates a filter's folder with access for the user only; an existing folder stays as it is.
pub(super) fn private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let path = folder.to_path_buf();
    atomic_file::private_folder(folder).map_err(|source| FittedSetError::Folder { path, source })
}

fn names_of(folder: &Path, ledger: &Path) -> Vec<Name> {
    let labels = labels(&folder.join(ORDER)).unwrap_or_default();
    let SetNames { names, members, .. } = SetNames::in_folder(folder, &labels);
    links(&names, &members, Some(ledger))
}

/// The error where the corrections in the file `name` cannot be read. If they are damaged it says
/// how to go on.
fn without_corrections(store: &Store, name: &OsStr, error: LedgerError) -> FittedSetError {
    match error {
        LedgerError::Damaged { fault, .. } => {
            FittedSetError::Corrections { path: store.current_link().join(name), fault }
        }
        error => error.into(),
    }
}

/// Applies the corrections of the generation `now` to the ledger of the next one, which reads mail
/// as `reading` says, and returns how many of them are still needed. A warning says of those that
/// cannot be applied; they are kept until they can.
fn correct(
    now: &Present,
    change: &Change,
    (ledger, reading): (&mut Ledger, MailReading),
    warnings: WarningSink<'_>,
) -> Result<usize> {
    let load = |name: &OsStr| {
        let loaded = ledger_file::load(&now.folder.join(name));
        loaded.map_err(|error| without_corrections(&change.store, name, error))
    };
    let mut applied = 0;
    for name in [CORRECTIONS.into(), set_aside(reading.name())] {
        let Some(kept) = load(&name)? else { continue };
        if kept.head.settings == ledger.head.settings {
            let done = corrections::apply(ledger, &kept);
            tell_unplaced(&done, warnings);
            applied = done.applied;
            *ledger = done.ledger;
            ledger_file::save(&change.path(OsStr::new(CORRECTIONS)), &done.corrections)?;
        } else if kept.head.documents > 0 {
            put_aside(change, &kept, warnings)?;
        }
    }
    let others = MailReading::ALL.into_iter().filter(|(other, _)| *other != reading);
    for name in others.map(|(_, name)| set_aside(name)) {
        let Some(kept) = load(&name)? else { continue };
        let path = change.path(&name);
        if !path.exists() {
            ledger_file::save(&path, &kept)?;
        }
    }
    Ok(applied)
}

/// Says which corrections were not applied because no folder has their label.
fn tell_unplaced(done: &Corrected, warnings: WarningSink<'_>) {
    for (label, number) in &done.unplaced {
        let label = String::from_utf8_lossy(label);
        let [corrections, were, are_kept] = counted(*number);
        warnings(Warning::new(format!(
            "{corrections} to {label} {were} not applied, since no folder is called {label}: \
             {are_kept} until one is"
        )));
    }
    if done.lost > 0 {
        let [corrections, were, _] = counted(done.lost);
        warnings(Warning::new(format!(
            "{corrections} {were} lost, since a filter cannot know so many names without a folder"
        )));
    }
}

/// Keeps corrections of mail that was read otherwise until it is read so again: features of two
/// readings cannot be compared.
fn put_aside(change: &Change, kept: &Ledger, warnings: WarningSink<'_>) -> Result<()> {
    let [corrections, were, are_kept] = counted(kept.head.documents as usize);
    let Some(reading) = MailReading::of_settings(&kept.head.settings) else {
        warnings(Warning::new(format!(
            "{corrections} {were} made when mail was read in another way, and cannot be kept"
        )));
        return Ok(());
    };
    let name = reading.name();
    ledger_file::save(&change.path(&set_aside(name)), kept)?;
    warnings(Warning::new(format!(
        "{corrections} {were} made when mail was read as {name} and {were} not applied: {are_kept} until \
         mail is read so again"
    )));
    Ok(())
}

/// So many corrections, and the verbs that go with them.
fn counted(number: usize) -> [String; 3] {
    if number == 1 {
        ["1 correction", "was", "it is kept"].map(str::to_owned)
    } else {
        [format!("{number} corrections"), "were".into(), "they are kept".into()]
    }
}
