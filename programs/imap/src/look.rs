// SPDX-License-Identifier: GPL-3.0-or-later
//! Compares the folders at a server with the state: what has changed, and the new state.

use crate::config::Config;
use crate::connection::Fault;
use crate::folder_names::{fits, from_imap, to_imap};
use crate::moves::{Changes, Flags, Identity, Kind, Meaning, OwnMove, Placed, WINDOW, understand};
use crate::session::{Listed, Selected, Session};
use crate::state::{Folder, Mail, State};
use imap_next::imap_types::response::Capability;
use siphasher::sip::SipHasher24;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// A folder that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its name, as IMAP writes it.
    pub name: String,
    pub kind: Kind,
    /// Whether mail is moved there that is confidently of its label.
    pub is_sorted: bool,
}

/// Names of folders for spam, where the server does not say which it is: those of servers and mail
/// programs in English, German, Dutch, French, Spanish, Portuguese, Italian, the languages of the
/// North, Polish, Czech, Hungarian, Turkish, Greek, Russian, Ukrainian, Chinese, Japanese, Korean.
const JUNK_NAMES: &str = "Junk, Spam, Bulk, Junk E-mail, Junk Email, Junk Mail, Junk-Mail, \
    Junk-E-Mail, Junk-E-Mails, Bulk Mail, Spambox, SpamVerdacht, Spam-Verdacht, Spamverdächtig, \
    Unerwünscht, Werbung, Ongewenst, Ongewenste e-mail, Ongewenste mail, Courrier indésirable, \
    Courriers indésirables, Indésirable, Indésirables, Pourriel, Pourriels, Correo no deseado, \
    Correo basura, No deseado, Correo electrónico no deseado, Lixo Eletrônico, Lixo Eletrónico, \
    Lixo, Posta indesiderata, Indesiderata, Skräppost, Uønsket mail, Uønsket post, \
    Uønsket e-mail, Uønsket e-post, Søppelpost, Roskaposti, Niechciane, Wiadomości-śmieci, \
    Wiadomości śmieci, Nevyžádaná pošta, Nevyžádaná, Levélszemét, Önemsiz, Önemsiz E-posta, \
    Gereksiz, Ανεπιθύμητη αλληλογραφία, Ανεπιθύμητα, Спам, Нежелательная почта, Небажана пошта, \
    垃圾邮件, 垃圾郵件, 垃圾信件, 迷惑メール, スパム, 스팸, 스팸메일함, 스팸 메일함, 정크 메일";

/// Names of folders for what is thrown away.
const TRASH_NAMES: &str = "Trash, Bin, Deleted, Deleted Items, Deleted Messages, Papierkorb, \
    Gelöscht, Gelöschte Elemente, Gelöschte Objekte, Prullenbak, Verwijderde items, Corbeille, \
    Éléments supprimés, Papelera, Elementos eliminados, Lixeira, Itens Excluídos, \
    Itens eliminados, Cestino, Posta eliminata, Papperskorg, Papperskorgen, Borttagna objekt, \
    Papirkurv, Slettet post, Roskakori, Poistetut, Kosz, Elementy usunięte, Koš, \
    Odstraněná pošta, Kuka, Lomtár, Çöp Kutusu, Çöp, Silinmiş Öğeler, Κάδος απορριμμάτων, \
    Διαγραμμένα, Корзина, Удаленные, Удалённые, Кошик, 已删除邮件, 已删除, 垃圾桶, 刪除的郵件, ゴミ箱, 削除済みアイテム, \
    휴지통, 지운 편지함";

/// Names of folders for what was sent, where the server does not say which it is.
const SENT_NAMES: &str = "Sent, Sent Items, Sent Messages, Sent Mail, Gesendet, Gesendete \
    Elemente, Gesendete Objekte, Verzonden, Verzonden items, Envoyés, Éléments envoyés, Messages \
    envoyés, Enviados, Elementos enviados, Itens enviados, Inviati, Inviata, Posta inviata, \
    Skickat, Sendt, Sendt post, Lähetetyt, Wysłane, Odeslané, Odeslaná pošta, Elküldött, \
    Gönderilmiş, Gönderilenler, Απεσταλμένα, Отправленные, Надіслані, 已发送, 已发送邮件, 寄件備份, \
    送信済み, 送信済みアイテム, 보낸 편지함";

/// Attributes of folders that patterns leave out, because they hold no received mail, or all mail a
/// second time.
const NOT_FOR_PATTERNS: [&str; 5] = ["\\all", "\\drafts", "\\flagged", "\\sent", "\\important"];

/// Folders that were chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The folders to watch: those for spam first, then good ones, then those for what is thrown
    /// away.
    pub watched: Vec<Watched>,
    /// Names and patterns of the configuration that fit no folder of the account.
    pub unmatched: Vec<String>,
    /// Folders into which mail is to be moved, without a label in the filter.
    pub unlabelled: Vec<String>,
}

/// Which of the account's folders are watched, by the settings and the filter's `labels`, which
/// `Kind::Topic` counts. A folder below one for spam is for spam as well, and so it is with what
/// is thrown away; but for folders that the configuration names without `*`.
///
/// # Errors
/// [`Fault::Local`] if there is no folder for spam, or none of the name that the configuration
/// gives it or the one for what is thrown away.
pub fn choose(listed: &[Listed], asked: &Config, labels: &[String]) -> Result<Choice, Fault> {
    let junk = find(listed, asked.junk.as_deref(), "\\junk", JUNK_NAMES)?;
    if junk.is_empty() {
        let text = "the account has no folder for spam: make one, or name it with junk";
        return Err(Fault::Local(text.into()));
    }
    let mut trash = find(listed, asked.trash.as_deref(), "\\trash", TRASH_NAMES)?;
    trash.retain(|name| !junk.contains(name));
    let unsure = asked.unsure.as_deref().and_then(|wish| named(listed, wish));
    let topic = |it: &Listed| {
        let number = topic_of(&from_imap(&it.name), it.delimiter, labels);
        number.filter(|_| it.name != "INBOX").map_or(Kind::Good, Kind::Topic)
    };
    let mut watched: Vec<Watched> = Vec::new();
    let mut add = |name: &String, kind| {
        if watched.iter().all(|it| it.name != *name) {
            watched.push(Watched { name: name.clone(), kind, is_sorted: false });
        }
    };
    for (names, kind) in
        [(&junk, Kind::Junk), (&trash, Kind::Trash), (&Vec::from_iter(unsure), Kind::Unsure)]
    {
        for name in names {
            add(name, kind);
        }
    }
    add(&"INBOX".to_owned(), Kind::Good);
    let mut unmatched: Vec<String> =
        asked.unsure.iter().filter(|wish| named(listed, wish).is_none()).cloned().collect();
    let is_named = |it: &Listed, wish: &str| it.name == wish || from_imap(&it.name) == wish;
    let wanted = || asked.folders.iter().chain(&asked.sort);
    for wish in wanted() {
        listed.iter().filter(|it| is_named(it, wish)).for_each(|it| add(&it.name, topic(it)));
    }
    for (parents, kind) in [(&junk, Kind::Junk), (&trash, Kind::Trash)] {
        listed.iter().filter(|it| it.is_below(parents)).for_each(|it| add(&it.name, kind));
    }
    let does_fit = |it: &Listed, wish: &str| {
        is_named(it, wish) || (fits(wish, &from_imap(&it.name)) && !it.is_special())
    };
    for wish in wanted() {
        let mut fitting = listed.iter().filter(|it| does_fit(it, wish)).peekable();
        if fitting.peek().is_none() {
            unmatched.push(wish.clone());
        }
        fitting.for_each(|it| add(&it.name, topic(it)));
    }
    let mut unlabelled = Vec::new();
    for folder in &mut watched {
        let is_wanted =
            |wish: &String| listed.iter().any(|it| it.name == folder.name && does_fit(it, wish));
        if asked.sort.iter().any(is_wanted) && folder.name != "INBOX" {
            folder.is_sorted = matches!(folder.kind, Kind::Topic(_) | Kind::Junk);
            if folder.kind == Kind::Good {
                unlabelled.push(from_imap(&folder.name));
            }
        }
    }
    watched.sort_by_key(|it| match it.kind {
        Kind::Junk => 0,
        Kind::Good | Kind::Topic(_) => 1,
        Kind::Unsure => 2,
        Kind::Trash => 3,
    });
    Ok(Choice { watched, unmatched, unlabelled })
}

/// The number of a folder's label.
fn topic_of(name: &str, delimiter: Option<char>, labels: &[String]) -> Option<u8> {
    let label = label_of(name, delimiter);
    let exact = labels.iter().position(|it| *it == label);
    let at = exact.or_else(|| labels.iter().position(|it| it.eq_ignore_ascii_case(&label)));
    u8::try_from(at?).ok()
}

/// The longest label of a folder that is its name. A filter's labels have 200 letters at most, and
/// filters have such labels of folders.
const LONGEST: usize = 200;

/// The label of a folder: its name, in which `__` stands for what separates names, and `_` and two
/// digits for any other byte that no label can have; or, where that is too long, a checksum.
/// Different folders have different labels.
pub(crate) fn label_of(name: &str, delimiter: Option<char>) -> String {
    let mut label = String::new();
    for letter in name.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => label.push(letter),
            _ if Some(letter) == delimiter => label.push_str("__"),
            _ => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    // A string can be written.
                    let _ = write!(label, "_{byte:02X}");
                }
            }
        }
    }
    if label.len() > LONGEST {
        let sum = SipHasher24::new().hash(label.as_bytes());
        // No name gives a `_` with a small letter.
        label = format!("folder_x{sum:016x}");
    }
    label
}

/// The folders of what was sent.
pub(crate) fn sent(listed: &[Listed]) -> Vec<String> {
    find_usual(listed, "\\sent", SENT_NAMES)
}

/// The folders of a kind: the one that the user names, or the usual ones.
fn find(
    listed: &[Listed],
    wish: Option<&str>,
    attribute: &str,
    names: &str,
) -> Result<Vec<String>, Fault> {
    if let Some(wish) = wish {
        let missing = || Fault::Local(format!("the account has no folder {wish}"));
        return named(listed, wish).ok_or_else(missing).map(|name| vec![name]);
    }
    Ok(find_usual(listed, attribute, names))
}

/// The folder that a user calls `wish`, as IMAP writes it.
fn named(listed: &[Listed], wish: &str) -> Option<String> {
    let name = to_imap(wish);
    let found = listed.iter().find(|it| it.name == name || it.name == wish);
    let found = found.or_else(|| listed.iter().find(|it| short(&from_imap(&it.name)) == wish));
    found.map(|it| it.name.clone())
}

/// The name of a folder without the inbox, below which some servers keep all folders.
fn short(name: &str) -> &str {
    name.strip_prefix("INBOX.").or(name.strip_prefix("INBOX/")).unwrap_or(name)
}

/// The folder for unsure mail if it is yet to be made in the account: its name as IMAP writes it.
pub(crate) fn unsure_to_make(listed: &[Listed], asked: &Config) -> Option<String> {
    let wish = asked.unsure.as_deref().filter(|wish| named(listed, wish).is_none())?;
    let mut others = listed.iter().filter(|it| it.name != "INBOX").peekable();
    let is_empty = others.peek().is_none();
    let begin = others.next().map_or("", |it| it.name.get(..6).unwrap_or_default());
    let is_below = !is_empty
        && ["INBOX.", "INBOX/"].contains(&begin)
        && others.all(|it| it.name.starts_with(begin));
    Some(format!("{}{}", if is_below { begin } else { "" }, to_imap(wish)))
}

/// What the user calls the folder with a label of the filter; the label itself if there is none.
pub(crate) fn folder_of(listed: &[Listed], label: &str) -> String {
    let labels = [label.to_owned()];
    let name = |it: &Listed| {
        let name = from_imap(&it.name);
        topic_of(&name, it.delimiter, &labels).map(|_| name)
    };
    listed.iter().find_map(name).unwrap_or_else(|| label.to_owned())
}

/// The folders of a kind: those that the server says, or those that have a usual name.
fn find_usual(listed: &[Listed], attribute: &str, names: &str) -> Vec<String> {
    let said = listed.iter().filter(|it| it.attributes.iter().any(|has| has == attribute));
    let said: Vec<String> = said.map(|it| it.name.clone()).collect();
    if !said.is_empty() {
        return said;
    }
    let known: Vec<String> = names.split(", ").map(str::to_lowercase).collect();
    let is_usual = |it: &&Listed| known.contains(&short(&from_imap(&it.name)).to_lowercase());
    listed.iter().filter(is_usual).map(|it| it.name.clone()).collect()
}

impl Listed {
    /// Whether the folder holds no received mail, or all mail a second time.
    pub fn is_special(&self) -> bool {
        self.attributes.iter().any(|has| NOT_FOR_PATTERNS.contains(&has.as_str()))
    }

    /// Whether the folder is below one of those called `parents`.
    fn is_below(&self, parents: &[String]) -> bool {
        let Some(delimiter) = self.delimiter else { return false };
        parents.iter().any(|parent| {
            let rest = self.name.strip_prefix(parent.as_str());
            rest.is_some_and(|rest| rest.starts_with(delimiter))
        })
    }
}

/// What a look has found.
#[derive(Debug)]
pub struct Looked {
    /// The new state. It may be written once the lessons are learned.
    pub state: State,
    /// What the changes mean. Of the messages that have arrived, those of the inbox are left that
    /// are unread.
    pub meaning: Meaning,
    /// Folders that were looked at for the first time, or whose messages got new numbers
    /// (UIDVALIDITY).
    pub rebuilt: Vec<String>,
    /// Messages that the program was about to move when it was killed, and that are still in the
    /// inbox.
    pub unmoved: Vec<OwnMove>,
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
pub fn look(
    session: &mut Session,
    watched: &[Watched],
    state: &State,
    heeds_flags: bool,
    now: u64,
) -> Result<Looked, Fault> {
    let mut new = state.clone();
    let folders = &mut new.folders;
    folders.retain(|name, _| watched.iter().any(|it| it.name == *name));
    let mut changes = Changes::default();
    let mut rebuilt = Vec::new();
    for Watched { name, kind, .. } in watched {
        let difference = match compare(session, state, name) {
            Ok(difference) => difference,
            // Somebody has removed the folder. Only the inbox and the folder for spam are
            // indispensable.
            Err(Fault::Refused { .. })
                if matches!(kind, Kind::Good | Kind::Topic(_)) && name != "INBOX" =>
            {
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
    let places = places(&changes, watched, folders);
    let is_elsewhere = |kind: Kind, identity: Identity| {
        places.get(&identity).is_some_and(|kinds| kinds.iter().any(|it| *it != kind))
    };
    let mut halves = std::mem::take(&mut new.halves);
    // A half is dropped if its folder has new numbers or is not watched any more. The settings or
    // the filter may have other labels now.
    halves.retain_mut(|half| {
        let name = &half.mail.folder;
        let found = watched.iter().find(|it| it.name == *name);
        half.mail.kind = found.map_or(half.mail.kind, |it| it.kind);
        found.is_some() && folders.contains_key(name) && !rebuilt.contains(name)
    });
    let own = std::mem::take(&mut new.own);
    let mut meaning = understand(changes, (halves, own), &is_elsewhere, now);
    new.halves = std::mem::take(&mut meaning.halves);
    new.own = std::mem::take(&mut meaning.own);
    let inbox = folders.get("INBOX");
    let (here, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut new.own)
        .into_iter()
        .partition(|it| inbox.is_some_and(|inbox| inbox.has(it.uid, it.identity)));
    // What the server says it has moved, and has not, is left here.
    let unmoved = here.into_iter().filter(|it| !it.is_done).collect();
    // A move that was not seen in time is given up.
    let is_recent = |it: &OwnMove| now.saturating_sub(it.since.min(now)) < WINDOW;
    new.own = gone.into_iter().filter(is_recent).collect();
    meaning.arrived.retain(|it| it.folder == "INBOX" && !it.flags.has(Flags::SEEN));
    Ok(Looked { state: new, meaning, rebuilt, unmoved })
}

/// In which kinds of folders the new messages are now.
fn places(
    changes: &Changes,
    watched: &[Watched],
    folders: &BTreeMap<String, Folder>,
) -> HashMap<Identity, BTreeSet<Kind>> {
    let new = changes.new.iter().map(|it| (it.identity, BTreeSet::new()));
    let mut places: HashMap<_, _> = new.collect();
    if places.is_empty() {
        return places;
    }
    for Watched { name, kind, .. } in watched {
        for mail in folders.get(name).map_or(&[][..], |folder| &folder.mails) {
            if !mail.flags.has(Flags::DELETED)
                && let Some(kinds) = places.get_mut(&mail.identity)
            {
                kinds.insert(*kind);
            }
        }
    }
    places
}

impl Folder {
    /// The place of a message in the list, or where it would be inserted.
    fn find(&self, uid: u32) -> Result<usize, usize> {
        self.mails.binary_search_by_key(&uid, |mail| mail.uid)
    }

    /// Whether the folder has this message, and nobody has marked it as deleted.
    fn has(&self, uid: u32, identity: Identity) -> bool {
        let mail = self.find(uid).ok().and_then(|at| self.mails.get(at));
        mail.is_some_and(|it| it.identity == identity && !it.flags.has(Flags::DELETED))
    }
}

/// Compares a folder with what was known of it.
fn compare(session: &mut Session, state: &State, name: &str) -> Result<Difference, Fault> {
    let old = state.folders.get(name);
    let since = old.map(|old| (old.validity, old.modseq));
    let mut selected = session.select(name, false, since)?;
    if selected.exists == 0 && old.is_none_or(|old| old.validity != selected.validity) {
        // Courier keeps the UIDVALIDITY of a folder in which nobody has been only when the folder
        // is opened to be changed. Where there are no messages, this changes nothing else.
        selected = session.select(name, true, since)?;
    }
    let Selected { validity, next, modseq, .. } = selected;
    let Some(old) = old.filter(|old| old.validity == validity) else {
        let flags = session.flags(None)?;
        let uids: Vec<u32> = flags.into_iter().map(|(uid, _)| uid).collect();
        let mails = session.introduce(&uids, state)?;
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
    let (flags, is_all) = if tells_changes && session.can(&Capability::QResync) {
        let mut flags = selected.changed;
        // The last flags that the server reports for a message count.
        flags.reverse();
        flags.sort_by_key(|(uid, _)| *uid);
        flags.dedup_by_key(|(uid, _)| *uid);
        (flags, false)
    } else if tells_changes && session.can(&Capability::CondStore) {
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
        // The server has not reported which messages are gone, or more has changed meanwhile.
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
            // A message that is no longer marked as deleted is not classified again.
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
    for mail in session.introduce(&unknown, state)? {
        mails.push(kept(mail));
        if !mail.flags.has(Flags::DELETED) {
            difference.new.push(mail);
        }
    }
    mails.sort_unstable_by_key(|mail| mail.uid);
    difference.folder = Folder { validity, next, modseq, mails };
    Ok(difference)
}

/// A message as the state keeps it, without the flag `\Seen`.
fn kept(mail: Mail) -> Mail {
    Mail { flags: mail.flags.without(Flags::SEEN), ..mail }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &str, delimiter: char) -> Vec<Listed> {
        let folder = |text: &str| {
            let (name, attribute) = text.split_once(':').unwrap_or((text, ""));
            let attributes = vec![attribute.to_owned()];
            Listed { name: name.into(), attributes, delimiter: Some(delimiter) }
        };
        names.split(' ').map(folder).collect()
    }

    fn chosen(listed: &[Listed], folders: &[&str]) -> String {
        let folders: Vec<String> = folders.iter().map(|name| (*name).to_owned()).collect();
        let choice = choose(listed, &Config { folders, ..Config::default() }, &[]).unwrap();
        let shown = choice.watched.iter().map(|it| format!("{}:{:?}", it.name, it.kind));
        shown.chain(choice.unmatched).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn folders_below_junk_and_trash_are_what_these_are() {
        let slashes = listed(
            "INBOX Junk:\\junk Junk/2024 Junk/2024/May Junkyard Trash:\\trash Trash/Old Work \
             Sent:\\sent",
            '/',
        );
        let below = "Junk:Junk Junk/2024:Junk Junk/2024/May:Junk INBOX:Good";
        let trash = "Trash:Trash Trash/Old:Trash";
        assert_eq!(chosen(&slashes, &[]), format!("{below} {trash}"));
        assert_eq!(chosen(&slashes, &["*"]), format!("{below} Junkyard:Good Work:Good {trash}"));
        // The user's setting for a folder by its full name beats what its name suggests.
        let named = chosen(&slashes, &["Junk/2024", "Trash/*"]);
        assert_eq!(
            named,
            "Junk:Junk Junk/2024/May:Junk INBOX:Good Junk/2024:Good Trash:Trash Trash/Old:Trash"
        );
        let dots = listed("INBOX INBOX.Spam INBOX.Spam.Old INBOX.Work", '.');
        assert_eq!(
            chosen(&dots, &["INBOX.*"]),
            "INBOX.Spam:Junk INBOX.Spam.Old:Junk INBOX:Good INBOX.Work:Good"
        );
    }

    #[test]
    fn folders_have_the_labels_of_their_names() {
        for (name, label) in [
            ("Work", "Work"),
            ("Lists/rust-users", "Lists__rust-users"),
            ("a_b", "a_5Fb"),
            ("Müll & mehr", "M_C3_BCll_20_26_20mehr"),
        ] {
            assert_eq!(label_of(name, Some('/')), label);
        }
        // In a filter's files this label must stay what it is.
        let long = "Рабочие проекты отдела продаж";
        assert_eq!(label_of(long, None).len(), 165);
        let longer = "Рабочие проекты отдела продаж и маркетинга";
        assert_eq!(label_of(longer, None), "folder_xcff7e463e6722ce1");
        let labels: BTreeSet<String> =
            (0..100).map(|number| label_of(&format!("{longer} {number}"), None)).collect();
        assert_eq!(labels.len(), 100);
        let filter = ["ham".to_owned(), label_of(longer, None), label_of(long, None)];
        assert_eq!(topic_of(longer, None, &filter), Some(1));
        assert_eq!(topic_of(long, None, &filter), Some(2));
        let account = listed("INBOX Junk:\\junk Work Lists/a Lists/b Archive Ask", '/');
        let names = ["inbox", "work", "Lists__b"].map(str::to_owned);
        let asked = Config {
            folders: vec!["*".into()],
            sort: vec!["Lists/*".into(), "INBOX".into()],
            unsure: Some("Ask".into()),
            ..Config::default()
        };
        let choice = choose(&account, &asked, &names).unwrap();
        let shown = choice.watched.iter().map(|it| {
            let sorted = if it.is_sorted { "!" } else { "" };
            format!("{}:{:?}{sorted}", it.name, it.kind)
        });
        assert_eq!(
            shown.collect::<Vec<_>>().join(" "),
            "Junk:Junk INBOX:Good Work:Topic(1) Lists/a:Good Lists/b:Topic(2)! Archive:Good \
             Ask:Unsure"
        );
        assert_eq!(choice.unlabelled, ["Lists/a"]);
    }

    #[test]
    fn folders_for_spam_are_known_by_their_names_in_other_languages() {
        for (name, trash) in [
            ("Bulk", "Bin"),
            ("Junk-E-Mail", "Papierkorb"),
            ("junk email", "deleted items"),
            ("Courrier indésirable", "Corbeille"),
            ("CORREO NO DESEADO", "Papelera"),
            ("Lixo Eletrônico", "Lixeira"),
            ("posta indesiderata", "Cestino"),
            ("Ongewenste e-mail", "Prullenbak"),
            ("Wiadomości-śmieci", "Kosz"),
            ("спам", "КОРЗИНА"),
            ("垃圾邮件", "已删除"),
            ("迷惑メール", "ゴミ箱"),
            ("스팸메일함", "휴지통"),
        ] {
            for (prefix, delimiter) in [("", '/'), ("INBOX.", '.')] {
                let [junk, trash] = [name, trash].map(|name| format!("{prefix}{}", to_imap(name)));
                let names = [("INBOX", ""), (&junk, ""), ("Other", ""), (&trash, "")];
                let folder = |(name, attribute): (&str, &str)| Listed {
                    name: name.into(),
                    attributes: vec![attribute.into()],
                    delimiter: Some(delimiter),
                };
                let account: Vec<Listed> = names.into_iter().map(folder).collect();
                let expected = format!("{junk}:Junk INBOX:Good {trash}:Trash");
                assert_eq!(chosen(&account, &[]), expected);
            }
        }
    }

    #[test]
    fn names_that_fit_nothing_are_reported_and_nothing_ends() {
        let account = listed("INBOX Junk:\\junk Archive", '/');
        let expected = "Junk:Junk INBOX:Good Archive:Good Lists/* Archiv";
        assert_eq!(chosen(&account, &["Archive", "Lists/*", "Archiv"]), expected);
    }
}
