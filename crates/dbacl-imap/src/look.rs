// SPDX-License-Identifier: GPL-3.0-or-later
//! Compares the folders at a server with the state: what has changed, and the new state.

use crate::connection::Fault;
use crate::folder_names::{fits, from_imap, to_imap};
use crate::moves::{Before, Changes, Flags, Identity, Kind, Lesson, Placed, WINDOW, understand};
use crate::session::{Listed, Selected, Session};
use crate::state::{Folder, Mail, State};
use crate::transport::Wire;
use std::collections::{HashMap, HashSet};

/// A folder that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its name, as IMAP writes it.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
}

/// Which folders the configuration names, in UTF-8.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wishes<'a> {
    /// Patterns of good folders besides the inbox.
    pub folders: &'a [String],
    /// The folder for spam.
    pub junk: Option<&'a str>,
    /// The folder for what is thrown away.
    pub trash: Option<&'a str>,
}

/// Names of folders for spam, where the server does not say which it is.
const JUNK_NAMES: [&str; 6] =
    ["Junk", "Spam", "Junk E-mail", "Junk Email", "Bulk Mail", "Courrier indésirable"];

/// Names of folders for what is thrown away.
const TRASH_NAMES: [&str; 10] = [
    "Trash",
    "Bin",
    "Deleted",
    "Deleted Items",
    "Deleted Messages",
    "Papierkorb",
    "Gelöschte Elemente",
    "Corbeille",
    "Papelera",
    "Cestino",
];

/// Attributes of folders that patterns leave out, because they hold no received mail, or all mail a
/// second time.
const NOT_FOR_PATTERNS: [&str; 5] = ["\\all", "\\drafts", "\\flagged", "\\sent", "\\important"];

/// Which of the account's folders are watched: junk first, then good ones, then those for what is
/// thrown away.
///
/// # Errors
/// [`Fault::NoFolder`] if there is no folder for spam, or none of a name that the configuration
/// has.
pub fn choose(listed: &[Listed], wishes: Wishes<'_>) -> Result<Vec<Watched>, Fault> {
    let find = |wish: Option<&str>, attribute: &str, names: &[&str]| {
        if let Some(wish) = wish {
            let name = to_imap(wish);
            let found = listed.iter().find(|it| it.name == name || it.name == wish);
            let missing = || Fault::NoFolder(format!("the account has no folder {wish}"));
            return found.ok_or_else(missing).map(|it| vec![it.name.clone()]);
        }
        let said = listed.iter().filter(|it| it.attributes.iter().any(|has| has == attribute));
        let said: Vec<String> = said.map(|it| it.name.clone()).collect();
        if !said.is_empty() {
            return Ok(said);
        }
        let is_named = |it: &&Listed| {
            let name = from_imap(&it.name);
            // Some servers keep all folders below the inbox.
            let name = name.strip_prefix("INBOX.").or(name.strip_prefix("INBOX/")).unwrap_or(&name);
            names.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        Ok(listed.iter().filter(is_named).map(|it| it.name.clone()).collect())
    };
    let junk = find(wishes.junk, "\\junk", &JUNK_NAMES)?;
    if junk.is_empty() {
        let text = "the account has no folder for spam: make one, or name it with junk";
        return Err(Fault::NoFolder(text.into()));
    }
    let mut trash = find(wishes.trash, "\\trash", &TRASH_NAMES)?;
    trash.retain(|name| !junk.contains(name));
    let mut good = vec!["INBOX".to_owned()];
    for pattern in wishes.folders {
        let fitting = listed.iter().filter(|it| {
            let name = from_imap(&it.name);
            let is_named = name == *pattern || it.name == *pattern;
            let is_left_out =
                it.attributes.iter().any(|has| NOT_FOR_PATTERNS.contains(&has.as_str()));
            is_named || (fits(pattern, &name) && !is_left_out)
        });
        let fitting: Vec<&Listed> = fitting.collect();
        if fitting.is_empty() {
            return Err(Fault::NoFolder(format!("the account has no folder {pattern}")));
        }
        for folder in fitting {
            if ![&good, &junk, &trash].iter().any(|list| list.contains(&folder.name)) {
                good.push(folder.name.clone());
            }
        }
    }
    let of = |kind| move |name| Watched { name, kind };
    let all = junk.into_iter().map(of(Kind::Junk)).chain(good.into_iter().map(of(Kind::Good)));
    Ok(all.chain(trash.into_iter().map(of(Kind::Trash))).collect())
}

/// What a look has found.
#[derive(Debug)]
pub struct Looked {
    /// The new state. It may be written once the lessons are learned.
    pub state: State,
    /// The lessons: which mails are to be learned, and as what.
    pub lessons: Vec<Lesson>,
    /// Mails of the inbox that have come from outside and are unread.
    pub arrived: Vec<Placed>,
    /// Whether another look should follow at once, because the other half of a move may come.
    pub is_restless: bool,
    /// Folders that were looked at for the first time, or whose mails got new numbers
    /// (UIDVALIDITY).
    pub rebuilt: Vec<String>,
}

/// What has changed in one folder.
#[derive(Debug, Default)]
struct Difference {
    folder: Folder,
    gone: Vec<Mail>,
    new: Vec<Mail>,
    flagged: Vec<(Mail, Flags)>,
    is_rebuilt: bool,
}

/// Looks at all folders. `now` is the present second.
///
/// # Errors
/// The look failed and has to be made again.
pub fn look<S: Wire>(
    session: &mut Session<S>,
    watched: &[Watched],
    state: &State,
    heeds_flags: bool,
    now: u64,
) -> Result<Looked, Fault> {
    let mut folders = state.folders.clone();
    folders.retain(|name, _| watched.iter().any(|it| it.name == *name));
    let mut changes = Changes::default();
    let mut rebuilt = Vec::new();
    for Watched { name, kind } in watched {
        let difference = match compare(session, state, name) {
            Ok(difference) => difference,
            // Somebody has removed the folder. Only the inbox and the folder for spam are
            // indispensable.
            Err(Fault::Refused { .. }) if *kind == Kind::Good && name != "INBOX" => {
                folders.remove(name);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        let Difference { folder, gone, new, flagged, is_rebuilt } = difference;
        let placed = |Mail { uid, identity, flags }| Placed {
            kind: *kind,
            folder: name.clone(),
            uid,
            identity,
            flags: if heeds_flags {
                flags
            } else {
                flags.without(Flags::JUNK.with(Flags::NOT_JUNK))
            },
        };
        changes.gone.extend(gone.into_iter().map(placed));
        changes.new.extend(new.into_iter().map(placed));
        if heeds_flags {
            let flagged = flagged.into_iter().map(|(mail, old)| (placed(mail), old));
            changes.flagged.extend(flagged);
        }
        if is_rebuilt {
            rebuilt.push(name.clone());
        }
        folders.insert(name.clone(), folder);
    }
    let places = places(&changes, watched, &folders);
    let is_elsewhere = |kind: Kind, identity: Identity| {
        places.get(&identity).is_some_and(|kinds| kinds & !bit(kind) != 0)
    };
    let mut before = Before { halves: state.halves.clone(), own: state.own.clone() };
    // A half is dropped if its folder has new numbers or is not watched any more.
    before.halves.retain(|half| {
        folders.contains_key(half.folder()) && !rebuilt.iter().any(|name| name == half.folder())
    });
    let meaning = understand(changes, before, &is_elsewhere, now);
    let mut own = meaning.own;
    let inbox = folders.get("INBOX");
    own.retain(|it| {
        // A mail that is still in the inbox was not moved. A move that was not seen in time is
        // given up.
        let is_here = inbox.is_some_and(|inbox| inbox.find(it.uid).is_ok());
        !is_here && now.saturating_sub(it.since.min(now)) < WINDOW
    });
    let is_new = |it: &Placed| it.folder == "INBOX" && !it.flags.has(Flags::SEEN);
    let arrived = meaning.arrived.into_iter().filter(is_new).collect();
    let state = state.with(folders, meaning.halves, own);
    let (lessons, is_restless) = (meaning.lessons, meaning.is_restless);
    Ok(Looked { state, lessons, arrived, is_restless, rebuilt })
}

const fn bit(kind: Kind) -> u8 {
    match kind {
        Kind::Good => 1,
        Kind::Junk => 2,
        Kind::Trash => 4,
    }
}

/// In which kinds of folders the new mails are now.
fn places(
    changes: &Changes,
    watched: &[Watched],
    folders: &std::collections::BTreeMap<String, Folder>,
) -> HashMap<Identity, u8> {
    let wanted: HashSet<Identity> = changes.new.iter().map(|it| it.identity).collect();
    let mut places = HashMap::new();
    if wanted.is_empty() {
        return places;
    }
    for Watched { name, kind } in watched {
        let mails = folders.get(name).map_or(&[][..], |folder| &folder.mails);
        for mail in mails {
            if !mail.flags.has(Flags::DELETED) && wanted.contains(&mail.identity) {
                *places.entry(mail.identity).or_default() |= bit(*kind);
            }
        }
    }
    places
}

impl Folder {
    /// The place of a mail in the list, or where it would be inserted.
    fn find(&self, uid: u32) -> Result<usize, usize> {
        self.mails.binary_search_by_key(&uid, |mail| mail.uid)
    }
}

/// Compares a folder with what was known of it.
fn compare<S: Wire>(
    session: &mut Session<S>,
    state: &State,
    name: &str,
) -> Result<Difference, Fault> {
    let old = state.folders.get(name);
    let since = old.map(|old| (old.validity, old.modseq));
    let mut selected = session.select(name, false, since)?;
    if selected.exists == 0 && old.is_none_or(|old| old.validity != selected.validity) {
        // Courier keeps the UIDVALIDITY of a folder in which nobody has been only when the folder
        // is opened to be changed. Where there are no mails, this changes nothing else.
        selected = session.select(name, true, since)?;
    }
    let Selected { validity, next, modseq, .. } = selected;
    let Some(old) = old.filter(|old| old.validity == validity) else {
        let flags = session.flags(None)?;
        let uids: Vec<u32> = flags.into_iter().map(|(uid, _)| uid).collect();
        let mails = introduce(session, state, &uids)?;
        let mails = mails.into_iter().map(kept).collect();
        let folder = Folder { validity, next, modseq, mails };
        return Ok(Difference { folder, is_rebuilt: true, ..Difference::default() });
    };
    let exists = usize::try_from(selected.exists).unwrap_or(usize::MAX);
    let is_quiet = modseq != 0
        && (modseq, next, exists) == (old.modseq, old.next, old.mails.len())
        && selected.vanished.is_empty()
        && selected.changed.is_empty();
    if is_quiet {
        return Ok(Difference { folder: old.clone(), ..Difference::default() });
    }
    let tells_changes = modseq != 0 && old.modseq != 0;
    let (flags, is_all) = if tells_changes && session.abilities.qresync {
        let mut flags = selected.changed;
        // The last flags that the server reports for a mail count.
        flags.reverse();
        flags.sort_by_key(|(uid, _)| *uid);
        flags.dedup_by_key(|(uid, _)| *uid);
        (flags, false)
    } else if tells_changes && session.abilities.condstore {
        (session.flags(Some(old.modseq))?, false)
    } else {
        (session.flags(None)?, true)
    };
    let vanished = Ranges::new(selected.vanished);
    let new = flags.iter().filter(|(uid, _)| old.find(*uid).is_err()).count();
    let stays = |mail: &&Mail| !vanished.has(mail.uid);
    let mut present = None;
    if is_all {
        present = Some(flags.iter().map(|(uid, _)| *uid).collect());
    } else if old.mails.iter().filter(stays).count() + new != exists {
        // The server has not reported which mails are gone, or more has changed meanwhile.
        present = Some(session.uids()?);
    }
    let is_present = |uid: u32| match &present {
        Some(present) => present.binary_search(&uid).is_ok(),
        None => !vanished.has(uid),
    };
    let mut difference = Difference::default();
    let mut mails = Vec::with_capacity(old.mails.len());
    for mail in &old.mails {
        let is_hidden = mail.flags.has(Flags::DELETED);
        if !is_present(mail.uid) {
            if !is_hidden {
                difference.gone.push(*mail);
            }
            continue;
        }
        let said = flags.binary_search_by_key(&mail.uid, |(uid, _)| *uid);
        let flags = said.map_or(mail.flags, |at| flags[at].1);
        let now = kept(Mail { flags, ..*mail });
        match (is_hidden, now.flags.has(Flags::DELETED)) {
            (false, true) => difference.gone.push(*mail),
            // A mail that is no longer marked as deleted is not judged anew.
            (true, false) => difference.new.push(Mail { flags: flags.with(Flags::SEEN), ..now }),
            (false, false) if now.flags != mail.flags => {
                difference.flagged.push((now, mail.flags));
            }
            _ => {}
        }
        mails.push(now);
    }
    let listed = flags.iter().map(|(uid, _)| *uid).chain(present.into_iter().flatten());
    let mut unknown: Vec<u32> = listed.filter(|uid| old.find(*uid).is_err()).collect();
    unknown.sort_unstable();
    unknown.dedup();
    for mail in introduce(session, state, &unknown)? {
        mails.push(kept(mail));
        if !mail.flags.has(Flags::DELETED) {
            difference.new.push(mail);
        }
    }
    mails.sort_unstable_by_key(|mail| mail.uid);
    difference.folder = Folder { validity, next, modseq, mails };
    Ok(difference)
}

/// A mail as the state keeps it, without the flag `\Seen`.
fn kept(mail: Mail) -> Mail {
    Mail { flags: mail.flags.without(Flags::SEEN), ..mail }
}

/// Fetches what is needed of mails that are not known yet, in order of their numbers.
fn introduce<S: Wire>(
    session: &mut Session<S>,
    state: &State,
    uids: &[u32],
) -> Result<Vec<Mail>, Fault> {
    let mut mails = Vec::with_capacity(uids.len());
    session.introduce(uids, |it| {
        let identity = state.identity(it.size, &it.header);
        mails.push(Mail { uid: it.uid, identity, flags: it.flags });
    })?;
    mails.sort_unstable_by_key(|mail| mail.uid);
    mails.dedup_by_key(|mail| mail.uid);
    Ok(mails)
}

/// Ranges of numbers, in order and apart.
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::new();
        for (first, last) in ranges {
            match apart.last_mut() {
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => apart.push((first, last)),
            }
        }
        Self(apart)
    }

    fn has(&self, number: u32) -> bool {
        let at = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(at).is_some_and(|(first, _)| *first <= number)
    }
}
