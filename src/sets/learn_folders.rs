// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns mail folders into a mail filter (`dbacl --mail-learn`).
//!
//! ```text
//! folders ─→ files ─→ messages ─→ corrections kept ─→ fit ─→ new table and ledger
//! ```
//!
//! The whole filter changes at once, at the end. Until then the old one classifies mail, and
//! corrections change it.

use super::drift;
use super::error::{MailFilterError, unless_stopped};
use super::filter_folder::{FilterOpenError, make_in};
use super::fitting::{self, Learned};
use super::folder_mail::{FolderMail, Reading, unopened};
use super::general::{self, GeneralSource};
use super::mail_folders::{MailFolder, MailLearnOptions};
use super::mail_reading::MailReading;
use super::mailboxes;
pub(crate) use super::mailboxes::MailFile;
use super::misfiled::{self, MisfiledMail, Place};
use super::open_filter::OpenFilter;
use super::protection::{in_order, wishes};
use crate::error::{Warning, WarningSink};
use crate::fit::joint::{FitNote, MisfiledDocument};
use crate::fit::rule::Rule;
use crate::store::{Before, Document, FilterFolder};
use dbacl_files::atomic_file::folder_of;
use hashbrown::HashSet;
use std::io;
use std::path::Path;

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// Learns the mail of two categories or more into the filter in `folder`.
///
/// # Errors
/// What stopped it; the filter is as it was.
pub(crate) fn learn(
    folder: &Path,
    folders: &[MailFolder],
    options: &MailLearnOptions,
    note: &mut dyn FnMut(FitNote),
    warnings: WarningSink<'_>,
) -> Result<Learned> {
    make_in(folder, || learn_all(folder, folders, options, note, warnings))
}

fn learn_all(
    folder: &Path,
    folders: &[MailFolder],
    options: &MailLearnOptions,
    note: &mut dyn FnMut(FitNote),
    warnings: WarningSink<'_>,
) -> Result<Learned> {
    let (folders, rates): (Vec<_>, Vec<_>) = in_order(folders, options)?.into_iter().unzip();
    let mut mail_files = Vec::new();
    for own in &folders {
        mail_files.push(files_of(own, folder)?);
    }
    let labels: Vec<&str> = folders.iter().map(|folder| folder.label.as_str()).collect();
    let now = Now::of(folder);
    if options.general == GeneralSource::Same
        && let Some(error) = now.general_fault
    {
        return Err(error.into());
    }
    let open = now.filter.as_ref().map_or_else(Vec::new, OpenFilter::open_to_others);
    open.into_iter().for_each(&mut *warnings);
    let new_general = match &options.general {
        GeneralSource::Of(from) => Some(general::open(from, &labels, warnings)?),
        GeneralSource::Same | GeneralSource::Nothing => None,
    };
    let has_general =
        new_general.is_some() || options.general == GeneralSource::Same && now.has_general();
    // With a general model a folder may be empty, unless its mail has disappeared.
    let may_be_empty = |at: usize| has_general && !now.has_learned(labels[at]);
    for (at, files) in mail_files.iter().enumerate() {
        if files.is_empty() && !may_be_empty(at) {
            return Err(MailFilterError::NoMail { place: folders[at].place() });
        }
    }
    // The lock is not held while mail is read, so that corrections need not wait. It is taken once
    // before, so that what cannot be written is known at once.
    drop(options.set.change(folder)?);
    let of_general =
        new_general.as_ref().and_then(|own| MailReading::of(&own.tables.table.head.reading));
    let reading = now.reading_to_keep(options.general == GeneralSource::Same);
    let reading = of_general.or(reading).unwrap_or_else(|| MailReading::of_new(folders.len()));
    let how = reading.options();
    let read = Reading::new(&how, options, &mail_files).read(&mail_files)?;
    let (mut documents, mut places) = (Vec::new(), Vec::new());
    for (at, read) in read.into_iter().enumerate() {
        let FolderMail { documents: own, places: at_places, warnings: said } = read;
        said.into_iter().for_each(&mut *warnings);
        if own.is_empty() && !may_be_empty(at) {
            let place = folders[at].place();
            return Err(match options.since {
                Some(_) => MailFilterError::OldMail { place },
                None => MailFilterError::NoMail { place },
            });
        }
        documents.extend(own);
        places.push(at_places);
    }
    compare(&folders, &places, warnings)?;
    let names: Vec<String> = labels.iter().map(|&label| label.into()).collect();
    let stored = reading.stored(&names);
    let mut changing = options.set.change(folder)?;
    let now = Now::of(folder);
    let mut others = Vec::new();
    let corrections = now.correct(reading, &names, &mut documents, &mut others, warnings);
    let changes = drift::changes(now.filter.as_ref(), reading, &names, &documents);
    let general = match (new_general, &options.general) {
        (Some(new), _) => general::of(new, &labels, reading),
        (None, GeneralSource::Same) => now.general(&labels, reading, warnings),
        _ => None,
    };
    let mut wishes = wishes(rates, options);
    if let Some(old) = &mut wishes.like {
        old.others.clone_from(&others);
    }
    let how = (&wishes, general.as_ref());
    let mut fitted = fitting::fit(&stored, &mut documents, how, note, &options.set.stop)?;
    fitted.head.rule.others = others;
    unless_stopped(&options.set.stop)?;
    if let Some(general) = &general {
        fitted.head.general = Some(changing.save_general(&general.tables)?);
    }
    changing.replace(fitted.head.clone(), &fitted.sections, &documents, now.before())?;
    if now.is_older {
        changing.remove_older();
    }
    let mail = |&MisfiledDocument { document, looks_like, .. }: &MisfiledDocument| {
        let document = documents.get(*fitted.places.get(document)?)?;
        let (label, id) = (usize::from(document.label), document.name());
        // A message that was corrected lies elsewhere.
        let place = places[label].iter().find(|place| place.id == id)?;
        let file = mail_files[label].get(place.file as usize)?;
        let [label, looks_like] = [label, looks_like].map(|at| folders[at].label.as_str());
        Some(MisfiledMail { id, file, mail: place.mail, label, looks_like })
    };
    let found = fitted.solution.misfiled.iter().filter_map(mail).collect();
    misfiled::tell(folder, &folders, found, warnings);
    drift::tell(folder, &changes, warnings);
    Ok(Learned { fitted, corrections })
}

/// The filter that is in service while its folders are learned again, as far as it can be read.
struct Now {
    filter: Option<OpenFilter>,
    /// Its documents, or those that can be had of a damaged one, and its labels.
    documents: Vec<Document>,
    labels: Vec<String>,
    reading: Option<MailReading>,
    is_damaged: bool,
    /// Why its general model cannot be used.
    general_fault: Option<FilterOpenError>,
    /// An older version of dbacl has made it.
    is_older: bool,
    /// Documents may be missing.
    is_cut: bool,
}

impl Now {
    fn of(folder: &Path) -> Self {
        let folder = FilterFolder::new(folder);
        let opened = OpenFilter::now(&folder);
        let is_damaged = opened.as_ref().is_err_and(FilterOpenError::is_damage);
        let is_older = matches!(&opened, Err(FilterOpenError::Version { .. }));
        let (filter, general_fault) = match opened {
            Ok(filter) => (Some(filter), None),
            Err(fault @ FilterOpenError::General { .. }) => (None, Some(fault)),
            Err(_) => (None, None),
        };
        let whole = folder.open::<Rule>().ok().and_then(|tables| {
            let documents = folder.documents(&tables).ok()?;
            let head = tables.table.head;
            let labels = [&head.reading.labels[..], &head.rule.others[..]].concat();
            Some((MailReading::of(&head.reading), documents, labels, false))
        });
        let salvaged = || {
            let found = if filter.is_some() || is_damaged { folder.salvage() } else { None };
            let Some((reading, documents, is_cut)) = found else {
                return (None, Vec::new(), Vec::new(), filter.is_some());
            };
            let is_cut = is_cut || filter.is_some();
            (MailReading::of(&reading), documents, reading.labels, is_cut)
        };
        let (reading, documents, labels, is_cut) = whole.unwrap_or_else(salvaged);
        Self { filter, documents, labels, reading, is_damaged, general_fault, is_older, is_cut }
    }

    fn has_general(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.general.is_some())
    }

    /// Whether mail of the folder called `label` was learned, other than by corrections.
    fn has_learned(&self, label: &str) -> bool {
        let place = self.labels.iter().position(|own| own == label);
        let own = |own: &&Document| Some(usize::from(own.label)) == place && !own.is_correction;
        self.documents.iter().any(|document| own(&document))
    }

    /// How mail is read as long as corrections or a general model depend on it.
    fn reading_to_keep(&self, keeps_general: bool) -> Option<MailReading> {
        let has_corrections = self.documents.iter().any(|own| own.is_correction);
        let is_needed = has_corrections || keeps_general && self.has_general();
        self.reading.filter(|_| is_needed)
    }

    const fn before(&self) -> Before {
        if self.is_damaged { Before::Stays } else { Before::Kept }
    }

    /// The general model that the filter has, for one with these labels. It is left out with a
    /// warning where it cannot be used.
    fn general(
        &self,
        labels: &[&str],
        reading: MailReading,
        warnings: WarningSink<'_>,
    ) -> Option<super::weighing::OpenGeneral> {
        let filter = self.filter.as_ref().filter(|filter| filter.general.is_some())?;
        let folder = filter.folder();
        let tables = folder.open_general(&filter.tables).ok().flatten()?;
        let opened = OpenFilter::of(folder, tables).ok()?;
        let general = general::of(opened, labels, reading);
        if general.is_none() {
            let text = "the general model is left out, since it is of other folders or reads mail \
                        in another way";
            warnings(Warning::new(text));
        }
        general
    }

    /// Applies the corrections of the filter to `documents`, which have the labels `names`, and
    /// returns how many are still needed. A warning says of those that cannot be applied; they are
    /// kept under `others`, labels without a folder.
    fn correct(
        &self,
        reading: MailReading,
        names: &[String],
        documents: &mut Vec<Document>,
        others: &mut Vec<String>,
        warnings: WarningSink<'_>,
    ) -> usize {
        let corrections: Vec<&Document> =
            self.documents.iter().filter(|own| own.is_correction).collect();
        if self.is_cut {
            let text =
                "the ledger is damaged: corrections that the folders do not confirm may be lost";
            warnings(Warning::new(text));
        }
        if self.reading != Some(reading) {
            if !corrections.is_empty() {
                let [corrections, were, _] = counted(corrections.len());
                warnings(Warning::new(format!(
                    "{corrections} {were} made when mail was read in another way, and {were} lost"
                )));
            }
            return 0;
        }
        let mut known: hashbrown::HashMap<u64, Vec<usize>> = hashbrown::HashMap::new();
        for (at, document) in documents.iter().enumerate() {
            known.entry(document.name()).or_default().push(at);
        }
        let (mut applied, mut unplaced) = (0, vec![0; 255]);
        let mut gone = HashSet::new();
        for correction in corrections {
            let Some(label) = self.labels.get(usize::from(correction.label)) else { continue };
            let place = names.iter().position(|name| name == label).unwrap_or_else(|| {
                let other = others.iter().position(|name| name == label);
                names.len()
                    + other.unwrap_or_else(|| {
                        others.push(label.clone());
                        others.len() - 1
                    })
            });
            // One more label than there can be says that a document was withdrawn.
            let Some(number) = u8::try_from(place).ok().filter(|&number| number < u8::MAX) else {
                continue;
            };
            if place >= names.len() {
                unplaced[place - names.len()] += 1;
                documents.push(Document { label: number, ..correction.clone() });
                continue;
            }
            let found = known.get(&correction.name()).map_or(&[][..], Vec::as_slice);
            if !found.is_empty() && found.iter().all(|&at| documents[at].label == number) {
                // The folders confirm it.
                continue;
            }
            gone.extend(found.iter().copied());
            applied += 1;
            documents.push(Document { label: number, ..correction.clone() });
        }
        let mut at = 0;
        documents.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
        for (label, &number) in others.iter().zip(&unplaced) {
            let [corrections, were, are_kept] = counted(number);
            warnings(Warning::new(format!(
                "{corrections} to {label} {were} not applied, since no folder is called {label}: \
                 {are_kept} until one is"
            )));
        }
        applied
    }
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
            Err(MailFilterError::Source { path: missing, source })
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
    if !path.is_dir() {
        return Ok(());
    }
    // A path that cannot be followed is an error where it is read.
    let Ok(mail) = path.canonicalize() else { return Ok(()) };
    let own = filter.canonicalize().or_else(|_| {
        let above = folder_of(filter).canonicalize()?;
        Ok::<_, io::Error>(above.join(filter.file_name().unwrap_or_default()))
    });
    let is_inside = own.is_ok_and(|own| own.starts_with(&mail));
    if is_inside && mailboxes::reads_folders_of(path).map_err(|error| unopened(path, error))? {
        return Err(MailFilterError::FilterInMail { filter: filter.into(), mail: path.into() });
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
                return Err(MailFilterError::SameMail { same, all, label, other });
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

/// So many corrections, and the verbs that go with them.
fn counted(number: usize) -> [String; 3] {
    if number == 1 {
        ["1 correction", "was", "it is kept"].map(str::to_owned)
    } else {
        [format!("{number} corrections"), "were".into(), "they are kept".into()]
    }
}
