// SPDX-License-Identifier: GPL-3.0-or-later
//! The newest mail of an account's folders, with the labels that the folders give it, and copies of
//! it in files from which a filter is learned.

use crate::config::Config;
use crate::connection::Fault;
use crate::folder_names::from_imap;
use crate::look::{choose, label_of, sent};
use crate::moves::Kind;
use crate::session::{Arrival, Listed, Session};
use crate::teach::batches;
use dbacl::MailFolder;
use dbacl_cli::progress;
use dbacl_files::atomic_file::private_folder;
use dbacl_files::reading::if_there;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The label of the inbox and of other folders of good mail.
pub(crate) const HAM: &str = "ham";

/// The label of the folders for spam.
pub(crate) const SPAM: &str = "spam";

/// A folder of the account whose mail is learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name, as IMAP writes it.
    pub folder: String,
    /// The label of its mail.
    pub label: String,
    /// Whether new mail with this label is moved there.
    pub is_goal: bool,
    /// UIDVALIDITY.
    pub validity: u32,
    /// Its newest mail, in the order of its numbers.
    pub mails: Vec<Arrival>,
}

impl Field {
    /// The folder's name for people.
    pub(crate) fn name(&self) -> String {
        from_imap(&self.folder)
    }
}

/// What an account has to learn from.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    /// The folders whose mail has the folder's label: the inbox, those of good mail, those for
    /// spam, and those that are sorted.
    pub fields: Vec<Field>,
    /// Other folders of received mail, and those for what is thrown away.
    others: Vec<(Listed, Kind)>,
    /// Folders of what was sent.
    sent: Vec<String>,
}

/// The folders whose mail is learned, with the `newest` messages of each. `say` gets what the user
/// should know.
pub(crate) fn fields(
    session: &mut Session,
    config: &Config,
    newest: usize,
    say: &dyn Fn(&str),
) -> Result<Harvest, Fault> {
    let listed = session.list()?;
    let choice = choose(&listed, config, &[])?;
    for name in &choice.unmatched {
        say(&format!("the account has no folder {name} yet"));
    }
    let mut harvest = Harvest { sent: sent(&listed), ..Harvest::default() };
    for folder in &listed {
        let kind = choice.watched.iter().find(|it| it.name == folder.name).map(|it| it.kind);
        let is_other =
            kind.is_none() && !folder.is_special() && !harvest.sent.contains(&folder.name);
        if is_other || kind == Some(Kind::Trash) {
            harvest.others.push((folder.clone(), kind.unwrap_or(Kind::Good)));
        }
    }
    for watched in choice.watched {
        let name = from_imap(&watched.name);
        let delimiter =
            listed.iter().find(|it| it.name == watched.name).and_then(|it| it.delimiter);
        let label = match watched.kind {
            Kind::Junk => SPAM.to_owned(),
            Kind::Trash | Kind::Unsure => continue,
            _ if choice.unlabelled.contains(&name) => label_of(&name, delimiter),
            _ => HAM.to_owned(),
        };
        let is_goal = match watched.kind {
            Kind::Junk => config.move_spam || watched.is_sorted,
            _ => label != HAM,
        };
        let (validity, mails) = arrivals(session, &watched.name, newest)?;
        if mails.is_empty() && label != HAM && label != SPAM {
            say(&format!("{name} has no mail, and gets no label"));
            continue;
        }
        harvest.fields.push(Field { folder: watched.name, label, is_goal, validity, mails });
    }
    Ok(harvest)
}

/// The newest messages of a folder, and its UIDVALIDITY.
fn arrivals(
    session: &mut Session,
    folder: &str,
    newest: usize,
) -> Result<(u32, Vec<Arrival>), Fault> {
    let validity = session.select(folder, false, None)?.validity;
    let mut mails = session.arrivals()?;
    mails.drain(..mails.len().saturating_sub(newest));
    Ok((validity, mails))
}

impl Harvest {
    /// Adds good mail from other folders, if there is less good mail than spam: as much as is
    /// missing, and no more, since too much of it makes spam pass. It is taken for good because
    /// somebody answered or flagged it, has written to its sender, or keeps a folder for its
    /// mailing list (docs/lab/mail.md). Messages that came after `before` are left out.
    pub(crate) fn add_guesses(
        &mut self,
        session: &mut Session,
        newest: usize,
        before: Option<i64>,
        say: &dyn Fn(&str),
    ) -> Result<(), Fault> {
        let is_old = |mail: &Arrival| before.is_none_or(|before| mail.second < before);
        let count = |label: &str| -> usize {
            let own = self.fields.iter().filter(|field| field.label == label);
            own.map(|field| field.mails.iter().filter(|mail| is_old(mail)).count()).sum()
        };
        let missing = count(SPAM).saturating_sub(count(HAM));
        if missing == 0 {
            return Ok(());
        }
        let (mut people, mut own) = (HashSet::new(), HashSet::new());
        for folder in &self.sent {
            let (_, mails) = arrivals(session, folder, newest)?;
            for (_, trace) in session.traces(&uids(&mails))? {
                people.extend(trace.to);
                own.extend(trace.from);
            }
        }
        // Spam likes to come from its receiver.
        people.retain(|person| !own.contains(person));
        let mut found = Vec::new();
        for (at, (folder, kind)) in self.others.iter().enumerate() {
            // A folder that cannot be opened is of no use here.
            let Ok((validity, mails)) = arrivals(session, &folder.name, newest) else { continue };
            let traces = session.traces(&uids(&mails))?;
            let lists = traces.iter().filter(|(_, trace)| trace.is_list).count();
            let is_for_lists = *kind == Kind::Good && 2 * lists > traces.len();
            for (uid, trace) in traces {
                let is_known = trace.is_marked || trace.from.iter().any(|it| people.contains(it));
                let mail = mails.iter().find(|mail| mail.uid == uid && is_old(mail));
                if let Some(mail) = mail
                    && (is_known || is_for_lists && trace.is_list)
                {
                    found.push((!is_known, Reverse(mail.second), at, validity, mail.clone()));
                }
            }
        }
        // Lists have more spam than people.
        found.sort_by_key(|(is_list, second, at, _, mail)| (*is_list, *second, *at, mail.uid));
        found.truncate(missing);
        let total = found.len();
        let mut each: BTreeMap<usize, (u32, Vec<Arrival>)> = BTreeMap::new();
        for (.., at, validity, mail) in found {
            each.entry(at).or_insert((validity, Vec::new())).1.push(mail);
        }
        let mut text = format!("takes {total} messages of other folders for good");
        for (at, (validity, mut mails)) in each {
            mails.sort_by_key(|mail| mail.uid);
            let folder = self.others[at].0.name.clone();
            let field = Field { folder, label: HAM.into(), is_goal: false, validity, mails };
            // A string can be written.
            let _ = write!(text, ", {} of {}", field.mails.len(), field.name());
            self.fields.push(field);
        }
        if total > 0 {
            say(&text);
        }
        Ok(())
    }
}

fn uids(mails: &[Arrival]) -> Vec<u32> {
    mails.iter().map(|mail| mail.uid).collect()
}

/// Copies the mail of `fields` into files below `room`, which is created. What is there from a
/// fetch that was interrupted is not fetched again.
pub(crate) fn fetch(
    session: &mut Session,
    room: &Path,
    fields: &[Field],
) -> Result<Vec<MailFolder>, Fault> {
    private_folder(room).map_err(|error| Fault::of(room, error))?;
    let total = fields.iter().map(|field| field.mails.len() as u64).sum();
    let done = AtomicU64::new(0);
    let mut places: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    let part = || Some((done.load(Ordering::Relaxed), total));
    progress::watch("fetching mail", part, || {
        for field in fields {
            let folder = room.join(label_of(&field.folder, None));
            keep(session, field, &folder, &done)?;
            if !field.mails.is_empty() {
                places.entry(&field.label).or_default().push(folder);
            }
        }
        Ok::<(), Fault>(())
    })?;
    let learned = places.into_iter().filter_map(|(label, paths)| {
        let mut paths = paths.into_iter();
        let first = MailFolder::new(label, paths.next()?);
        Some(paths.fold(first, MailFolder::and))
    });
    Ok(learned.collect())
}

/// Copies the mail of one folder into files.
fn keep(
    session: &mut Session,
    field: &Field,
    folder: &Path,
    done: &AtomicU64,
) -> Result<(), Fault> {
    private_folder(folder).map_err(|error| Fault::of(folder, error))?;
    let name = |uid: u32| format!("{}-{uid}", field.validity);
    let mut missing: BTreeMap<String, u32> =
        field.mails.iter().map(|mail| (name(mail.uid), mail.uid)).collect();
    for entry in fs::read_dir(folder).map_err(|error| Fault::of(folder, error))? {
        let path = entry.map_err(|error| Fault::of(folder, error))?.path();
        let known = path.file_name().and_then(|name| missing.remove(name.to_str()?));
        if known.is_some() {
            done.fetch_add(1, Ordering::Relaxed);
        } else {
            // It has left the folder of the account since it was fetched, or is a part of a file.
            fs::remove_file(&path).map_err(|error| Fault::of(&path, error))?;
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut uids: Vec<u32> = missing.into_values().collect();
    uids.sort_unstable();
    session.select(&field.folder, false, None)?;
    for uids in batches(&session.sizes(&uids)?) {
        for (uid, mail) in session.mails(&uids)? {
            let (path, part) = (folder.join(name(uid)), folder.join("part"));
            // After a power cut a file of this name is taken for a whole message.
            let written = File::create(&part)
                .and_then(|mut file| file.write_all(&mail).and_then(|()| file.sync_data()))
                .and_then(|()| fs::rename(&part, &path));
            written.map_err(|error| Fault::of(&path, error))?;
            done.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Removes the copies.
pub(crate) fn remove(room: &Path) -> Result<(), Fault> {
    if_there(fs::remove_dir_all(room)).map(drop).map_err(|error| Fault::of(room, error))
}
