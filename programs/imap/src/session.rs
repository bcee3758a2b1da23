// SPDX-License-Identifier: GPL-3.0-or-later
//! Requests to a server, and the meaning of its answers.

use crate::connection::{Answer, Connection, Fault};
use crate::moves::Flags;
use crate::state::{Mail, State};
use crate::transport::Wire;
use dbacl::mail::header_fields::header_fields;
use imap_next::imap_types::auth::AuthMechanism;
use imap_next::imap_types::command::{CommandBody, FetchModifier, SelectParameter};
use imap_next::imap_types::core::{AString, Vec1};
use imap_next::imap_types::extensions::enable::CapabilityEnable;
use imap_next::imap_types::fetch::{
    MacroOrMessageDataItemNames, MessageDataItem, MessageDataItemName, Section,
};
use imap_next::imap_types::flag::{Flag, FlagFetch, FlagNameAttribute, StoreResponse, StoreType};
use imap_next::imap_types::mailbox::{ListMailbox, Mailbox};
use imap_next::imap_types::response::{Capability, Code, Data, StatusKind};
use imap_next::imap_types::search::SearchKey;
use imap_next::imap_types::sequence::{SeqOrUid, Sequence, SequenceSet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// Header lines that identify a message. They do not change when it is moved.
const KNOWN_BY: [&str; 6] = ["Message-ID", "Date", "From", "To", "Subject", "Received"];

/// The first bytes of a message that are fetched; the mail filter reads no more of a message.
pub(crate) const MOST_OF_A_MAIL: u32 = 8 << 20;

/// The most ranges of numbers in one command.
const RANGES: usize = 200;

/// The most messages in a folder; a larger number is taken for a fault of the server.
const MOST_MAILS: usize = 20_000_000;

/// How the user logs in.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A password.
    Password(String),
    /// A token (`OAuth2`).
    Token(String),
}

/// A folder in the server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name, as IMAP writes it.
    pub name: String,
    /// Its attributes in small letters, such as `\junk`.
    pub attributes: Vec<String>,
    /// What stands between its name and those of folders below it; `None` if there can be none.
    pub delimiter: Option<char>,
}

/// A folder that was just selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    /// How many messages it has.
    pub exists: u32,
    /// UIDVALIDITY.
    pub validity: u32,
    /// UIDNEXT, or 0.
    pub next: u32,
    /// HIGHESTMODSEQ, or 0.
    pub modseq: u64,
    /// Messages that are gone since the state that was given.
    pub vanished: Vec<(u32, u32)>,
    /// Messages with other flags since then, and new ones.
    pub changed: Vec<(u32, Flags)>,
}

/// When a message came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub uid: u32,
    /// The second at which the server got it, from the beginning of 1970.
    pub second: i64,
    /// The day, such as `2026-11-03`.
    pub day: String,
}

/// What a message's flags and fields say of it.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Whether somebody has answered or flagged it.
    pub is_marked: bool,
    /// Whether it comes from a mailing list.
    pub is_list: bool,
    /// The addresses of its senders, in small letters.
    pub from: Vec<String>,
    /// Those of its receivers.
    pub to: Vec<String>,
}

/// A user's session with a server.
pub struct Session {
    connection: Connection,
    /// What the server says that it can do. QRESYNC is among it if it was enabled.
    abilities: Vec<Capability<'static>>,
}

impl Session {
    /// Waits for the greeting and logs in.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn begin(
        stream: Box<dyn Wire>,
        (host, port): (&str, u16),
        user: &str,
        credentials: &Credentials,
    ) -> Result<Self, Fault> {
        let connection = Connection::new(stream)?;
        let mut session = Self { connection, abilities: Vec::new() };
        session.ask_abilities()?;
        session.log_in(host, port, user, credentials)?;
        session.ask_abilities()?;
        if session.can(&Capability::QResync) {
            session.abilities.push(Capability::CondStore);
            let mut is_enabled = session.can(&Capability::Enable);
            if is_enabled {
                let wanted = CapabilityEnable::try_from("QRESYNC").expect("a word");
                let body = CommandBody::Enable { capabilities: Vec1::from(wanted) };
                let status = session.connection.command(body, &mut |_| Ok(()))?;
                is_enabled = status.kind == StatusKind::Ok;
            }
            session.abilities.retain(|it| is_enabled || *it != Capability::QResync);
        }
        Ok(session)
    }

    /// Whether the server can do something.
    pub(crate) fn can(&self, ability: &Capability<'static>) -> bool {
        self.abilities.contains(ability)
    }

    fn ask_abilities(&mut self) -> Result<(), Fault> {
        let mut found = Vec::new();
        let mut hear = |answer| {
            if let Answer::Data(Data::Capability(list)) = answer {
                found = list.into_inner();
            }
            Ok(())
        };
        self.connection.must("CAPABILITY", CommandBody::Capability, &mut hear)?;
        self.abilities = found;
        Ok(())
    }

    fn log_in(
        &mut self,
        host: &str,
        port: u16,
        user: &str,
        credentials: &Credentials,
    ) -> Result<(), Fault> {
        let bearer = self.can(&Capability::Auth(AuthMechanism::OAuthBearer));
        let plain = self.can(&Capability::Auth(AuthMechanism::Plain));
        let no_login = self.can(&Capability::LoginDisabled);
        let at_once = self.can(&Capability::SaslIr);
        let connection = &mut self.connection;
        let (mechanism, message) = match credentials {
            Credentials::Token(token) if bearer => {
                let message = format!(
                    "n,a={},\x01host={host}\x01port={port}\x01auth=Bearer {token}\x01\x01",
                    saslname(user)
                );
                (AuthMechanism::OAuthBearer, message)
            }
            Credentials::Token(token) => {
                (AuthMechanism::XOAuth2, format!("user={user}\x01auth=Bearer {token}\x01\x01"))
            }
            Credentials::Password(password) if plain || no_login => {
                (AuthMechanism::Plain, format!("\0{user}\0{password}"))
            }
            Credentials::Password(password) => {
                let refused = |text: String| Fault::Login { user: user.into(), text };
                let body = CommandBody::login(user.to_owned(), password.clone());
                let body = body.map_err(|error| refused(error.to_string()))?;
                return match connection.must("LOGIN", body, &mut |_| Ok(())) {
                    Err(Fault::Refused { text, .. }) => Err(refused(text)),
                    result => result.map(drop),
                };
            }
        };
        connection.authenticate(user, mechanism, message.as_bytes(), at_once)
    }

    /// All folders that can be selected.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn list(&mut self) -> Result<Vec<Listed>, Fault> {
        let reference = Mailbox::try_from("").expect("an empty name");
        let all = ListMailbox::try_from("*").expect("a pattern");
        let mut found = Vec::new();
        let body = CommandBody::List { reference, mailbox_wildcard: all };
        self.connection.must("LIST", body, &mut |answer| {
            if let Answer::Data(Data::List { items, mailbox, delimiter }) = answer
                && !items.contains(&FlagNameAttribute::Noselect)
                && let Some(name) = name_of(&mailbox)
            {
                let attributes = items.iter().map(|item| item.to_string().to_ascii_lowercase());
                let attributes: Vec<String> = attributes.collect();
                if !attributes.iter().any(|it| it == "\\nonexistent") && found.len() < 100_000 {
                    let delimiter = delimiter.map(|it| it.inner());
                    found.push(Listed { name, attributes, delimiter });
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Selects a folder, to read it only unless `to_change`. With the UIDVALIDITY and HIGHESTMODSEQ
    /// of a state, and QRESYNC, the answer says what has changed since.
    pub(crate) fn select(
        &mut self,
        name: &str,
        to_change: bool,
        since: Option<(u32, u64)>,
    ) -> Result<Selected, Fault> {
        let since = since.filter(|_| self.can(&Capability::QResync));
        let since = since.and_then(|(validity, modseq)| {
            Some((NonZeroU32::new(validity)?, NonZeroU64::new(modseq)?))
        });
        let parameters = match since {
            Some((uid_validity, mod_sequence_value)) => vec![SelectParameter::QResync {
                uid_validity,
                mod_sequence_value,
                known_uids: None,
                seq_match_data: None,
            }],
            None if self.can(&Capability::CondStore) => vec![SelectParameter::CondStore],
            None => Vec::new(),
        };
        let mailbox = mailbox(name)?;
        let body = if to_change {
            CommandBody::Select { mailbox, parameters }
        } else {
            CommandBody::Examine { mailbox, parameters }
        };
        let mut selected = Selected::default();
        self.connection
            .must(&format!("to open {name}"), body, &mut |answer| selected.hear(answer))?;
        if selected.validity == 0 {
            return Err(Fault::Senseless("a folder has no UIDVALIDITY"));
        }
        Ok(selected)
    }

    /// Numbers and flags of all messages of the folder, or of those that have changed since.
    pub(crate) fn flags(&mut self, since: Option<u64>) -> Result<Vec<(u32, Flags)>, Fault> {
        let since = since.and_then(NonZeroU64::new);
        self.fetch(None, &[MessageDataItemName::Flags], since, |_, items| items.flags)
    }

    /// All messages of the folder but those that are marked as deleted, in order of their numbers.
    pub(crate) fn arrivals(&mut self) -> Result<Vec<Arrival>, Fault> {
        let items = [MessageDataItemName::Flags, MessageDataItemName::InternalDate];
        let found = self.fetch(None, &items, None, |uid, items| {
            let (flags, came) = (items.flags?, items.came?);
            let (second, day) = (came.timestamp(), came.date_naive().to_string());
            (!flags.has(Flags::DELETED)).then_some(Arrival { uid, second, day })
        })?;
        Ok(found.into_iter().map(|(_, mail)| mail).collect())
    }

    /// What flags and fields say of messages; those that are gone meanwhile are left out.
    pub(crate) fn traces(&mut self, uids: &[u32]) -> Result<Vec<(u32, Trace)>, Fault> {
        let items = [MessageDataItemName::Flags, header(&["From", "To", "Cc", "List-Id"])];
        self.fetch(Some(uids), &items, None, |_, items| {
            items.body.map(|fields| Trace::new(items.is_marked, fields))
        })
    }

    /// Numbers of all messages of the folder, in order.
    pub(crate) fn uids(&mut self) -> Result<Vec<u32>, Fault> {
        let criteria = Vec1::from(SearchKey::All);
        let body = CommandBody::Search { charset: None, criteria, uid: true };
        let mut found: Vec<u32> = Vec::new();
        self.connection.must("SEARCH", body, &mut |answer| {
            if let Answer::Data(Data::Search(uids, _)) = answer {
                found.extend(uids.into_iter().map(NonZeroU32::get));
            }
            within(found.len())
        })?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Messages that are not known yet, in order of their numbers, without those that are gone
    /// meanwhile.
    pub(crate) fn introduce(&mut self, uids: &[u32], state: &State) -> Result<Vec<Mail>, Fault> {
        let items =
            [MessageDataItemName::Flags, MessageDataItemName::Rfc822Size, header(&KNOWN_BY)];
        let found = self.fetch(Some(uids), &items, None, |uid, items| {
            let identity = state.identity(items.size?, items.body?);
            Some(Mail { uid, identity, flags: items.flags? })
        })?;
        Ok(found.into_iter().map(|(_, mail)| mail).collect())
    }

    /// Sizes of messages.
    pub(crate) fn sizes(&mut self, uids: &[u32]) -> Result<Vec<(u32, u32)>, Fault> {
        self.fetch(Some(uids), &[MessageDataItemName::Rfc822Size], None, |_, items| items.size)
    }

    /// Messages themselves, of each the first [`MOST_OF_A_MAIL`] bytes; those that are gone are
    /// left out.
    pub(crate) fn mails(&mut self, uids: &[u32]) -> Result<Vec<(u32, Vec<u8>)>, Fault> {
        let partial = NonZeroU32::new(MOST_OF_A_MAIL).map(|most| (0, most));
        let whole = MessageDataItemName::BodyExt { section: None, partial, peek: true };
        self.fetch(Some(uids), &[whole], None, |_, items| items.body.map(<[u8]>::to_vec))
    }

    /// Moves messages of the folder that is selected to another one.
    ///
    /// # Errors
    /// [`Fault::Refused`] if nothing was moved.
    pub fn move_to(&mut self, uids: &[u32], name: &str) -> Result<(), Fault> {
        for set in sets(uids) {
            let mailbox = mailbox(name)?;
            let what = format!("to move mail to {name}");
            if self.can(&Capability::Move) {
                let body = CommandBody::Move { sequence_set: set, mailbox, uid: true };
                self.connection.must(&what, body, &mut |_| Ok(()))?;
            } else {
                let body = CommandBody::Copy { sequence_set: set, mailbox, uid: true };
                self.connection.must(&what, body, &mut |_| Ok(()))?;
            }
        }
        if self.can(&Capability::Move) { Ok(()) } else { self.remove(uids) }
    }

    /// Removes messages of the folder that is selected.
    pub(crate) fn remove(&mut self, uids: &[u32]) -> Result<(), Fault> {
        for set in sets(uids) {
            let what = "to remove mail that was copied";
            let body = CommandBody::Store {
                sequence_set: set.clone(),
                kind: StoreType::Add,
                response: StoreResponse::Silent,
                flags: vec![Flag::Deleted],
                uid: true,
                modifiers: Vec::new(),
            };
            self.connection.must(what, body, &mut |_| Ok(()))?;
            // Without UIDPLUS, mail that others have marked would be expunged as well.
            if self.can(&Capability::UidPlus) {
                let body = CommandBody::ExpungeUid { sequence_set: set };
                self.connection.must(what, body, &mut |_| Ok(()))?;
            }
        }
        Ok(())
    }

    /// Makes a folder that mail programs show.
    pub(crate) fn make(&mut self, name: &str) -> Result<(), Fault> {
        let body = CommandBody::Create { mailbox: mailbox(name)? };
        self.connection.must(&format!("to make {name}"), body, &mut |_| Ok(()))?;
        let body = CommandBody::Subscribe { mailbox: mailbox(name)? };
        self.connection.must("SUBSCRIBE", body, &mut |_| Ok(())).map(drop)
    }

    /// Adds a message to a folder.
    pub(crate) fn append(&mut self, folder: &str, message: Vec<u8>) -> Result<(), Fault> {
        let body = CommandBody::append(mailbox(folder)?, Vec::new(), None, message)
            .map_err(|_| Fault::Senseless("a message holds a zero byte"))?;
        self.connection.must("APPEND", body, &mut |_| Ok(())).map(drop)
    }

    /// Waits for news in the folder that is selected; see `Connection::idle`.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn idle(&mut self, patience: Duration, news: &mut dyn FnMut()) -> Result<(), Fault> {
        self.connection.idle(patience, news)
    }

    /// Sends LOGOUT and closes the connection, whether the server answers or not.
    pub(crate) fn end(mut self) {
        let _ = self.connection.command(CommandBody::Logout, &mut |_| Ok(()));
    }

    /// Fetches items of these messages, or of all those that have changed since. Returns, in order
    /// of the messages' numbers, what `pick` finds in the first answer that has it.
    fn fetch<T>(
        &mut self,
        uids: Option<&[u32]>,
        items: &[MessageDataItemName<'static>],
        since: Option<NonZeroU64>,
        pick: impl Fn(u32, &Items<'_>) -> Option<T>,
    ) -> Result<Vec<(u32, T)>, Fault> {
        let mut found = BTreeMap::new();
        let items = [&[MessageDataItemName::Uid], items].concat();
        let mut count = 0;
        let all = Sequence::Range(NonZeroU32::MIN.into(), SeqOrUid::Asterisk);
        for sequence_set in uids.map_or_else(|| vec![all.into()], sets) {
            let body = CommandBody::Fetch {
                sequence_set,
                macro_or_item_names: MacroOrMessageDataItemNames::MessageDataItemNames(
                    items.clone(),
                ),
                uid: true,
                modifiers: since.map(FetchModifier::ChangedSince).into_iter().collect(),
            };
            self.connection.must("FETCH", body, &mut |answer| {
                if let Answer::Data(Data::Fetch { items, .. }) = answer {
                    let items = Items::of(items.as_ref());
                    let is_wanted =
                        |uid: &u32| uids.is_none_or(|uids| uids.binary_search(uid).is_ok());
                    if let Some(uid) = items.uid.filter(is_wanted) {
                        count += 1;
                        // What comes again is not kept, however often it comes.
                        if let Entry::Vacant(place) = found.entry(uid)
                            && let Some(it) = pick(uid, &items)
                        {
                            place.insert(it);
                        }
                    }
                }
                within(count)
            })?;
        }
        Ok(found.into_iter().collect())
    }
}

/// What a server says of a message.
#[derive(Default)]
struct Items<'a> {
    uid: Option<u32>,
    flags: Option<Flags>,
    /// Whether somebody has answered or flagged it.
    is_marked: bool,
    size: Option<u32>,
    /// When the server got it.
    came: Option<&'a chrono::DateTime<chrono::FixedOffset>>,
    /// The part that was asked for.
    body: Option<&'a [u8]>,
}

impl<'a> Items<'a> {
    fn of(items: &'a [MessageDataItem<'_>]) -> Self {
        let mut said = Self::default();
        // Of several answers the first counts.
        for item in items.iter().rev() {
            match item {
                MessageDataItem::Uid(uid) => said.uid = Some(uid.get()),
                MessageDataItem::Rfc822Size(size) => said.size = Some(*size),
                MessageDataItem::InternalDate(came) => said.came = Some(came.as_ref()),
                MessageDataItem::BodyExt { data, .. } => {
                    said.body = data.0.as_ref().map(AsRef::as_ref).or(said.body);
                }
                MessageDataItem::Flags(list) => {
                    let of_mark = [Flag::Answered, Flag::Flagged].map(FlagFetch::Flag);
                    said.is_marked |= list.iter().any(|flag| of_mark.contains(flag));
                    said.flags = Some(list.iter().map(flag).fold(Flags::default(), Flags::with));
                }
                _ => {}
            }
        }
        said
    }
}

impl Selected {
    fn hear(&mut self, answer: Answer) -> Result<(), Fault> {
        match answer {
            // What came before belongs to the folder that was selected before.
            Answer::Status(status) if status.code == Some(Code::Closed) => *self = Self::default(),
            Answer::Status(status) => match status.code {
                Some(Code::UidValidity(validity)) => self.validity = validity.get(),
                Some(Code::UidNext(next)) => self.next = next.get(),
                Some(Code::HighestModSeq(modseq)) => self.modseq = modseq.get(),
                _ => {}
            },
            Answer::Data(Data::Exists(exists)) => self.exists = exists,
            Answer::Data(Data::Vanished { known_uids, .. }) => {
                for sequence in known_uids.0.as_ref() {
                    let number = |end: &SeqOrUid| match end {
                        SeqOrUid::Value(value) => value.get(),
                        SeqOrUid::Asterisk => u32::MAX,
                    };
                    let (first, last) = match sequence {
                        Sequence::Single(one) => (number(one), number(one)),
                        Sequence::Range(one, other) => (number(one), number(other)),
                    };
                    self.vanished.push((first.min(last), first.max(last)));
                }
                return within(self.vanished.len());
            }
            Answer::Data(Data::Fetch { items, .. }) => {
                let Items { uid, flags, .. } = Items::of(items.as_ref());
                self.changed.extend(uid.zip(flags));
                return within(self.changed.len());
            }
            Answer::Data(_) => {}
        }
        Ok(())
    }
}

/// Asks for fields of the header.
fn header(names: &[&'static str]) -> MessageDataItemName<'static> {
    let fields = names.iter().map(|name| AString::try_from(*name).expect("a word"));
    let fields = Vec1::try_from(fields.collect::<Vec<_>>()).expect("there are some");
    let section = Some(Section::HeaderFields(None, fields));
    MessageDataItemName::BodyExt { section, partial: None, peek: true }
}

impl Trace {
    /// From lines of the header.
    fn new(is_marked: bool, header: &[u8]) -> Self {
        let mut trace = Self { is_marked, ..Self::default() };
        for (name, value) in header_fields(header) {
            let value = String::from_utf8_lossy(&value).to_lowercase();
            let words = value.split(|it: char| it.is_whitespace() || "<>,;:\"()".contains(it));
            let addresses = words.filter(|word| word.contains('@')).map(str::to_owned);
            match name.trim_ascii_end().to_ascii_lowercase().as_slice() {
                b"from" => trace.from.extend(addresses),
                b"to" | b"cc" => trace.to.extend(addresses),
                b"list-id" => trace.is_list = true,
                _ => {}
            }
        }
        trace
    }
}

const fn within(count: usize) -> Result<(), Fault> {
    if count > MOST_MAILS { Err(Fault::Endless) } else { Ok(()) }
}

fn mailbox(name: &str) -> Result<Mailbox<'static>, Fault> {
    Mailbox::try_from(name.to_owned())
        .map_err(|_| Fault::Local(format!("{} is not the name of a folder", name.escape_debug())))
}

/// A user's name as `OAUTHBEARER` writes it (RFC 5801, 4: `saslname`).
fn saslname(user: &str) -> String {
    user.replace('=', "=3D").replace(',', "=2C")
}

/// The name of a folder; `None` if it is not text.
fn name_of(mailbox: &Mailbox<'_>) -> Option<String> {
    match mailbox {
        Mailbox::Inbox => Some("INBOX".into()),
        Mailbox::Other(other) => String::from_utf8(other.as_ref().to_vec()).ok(),
    }
}

fn flag(flag: &FlagFetch<'_>) -> Flags {
    match flag {
        FlagFetch::Flag(Flag::Deleted) => Flags::DELETED,
        FlagFetch::Flag(Flag::Seen) => Flags::SEEN,
        FlagFetch::Flag(Flag::Keyword(word)) => match word.as_ref().to_ascii_lowercase().as_str() {
            "$junk" => Flags::JUNK,
            "$notjunk" => Flags::NOT_JUNK,
            _ => Flags::default(),
        },
        _ => Flags::default(),
    }
}

/// Numbers, in order, as few sets of ranges.
fn sets(uids: &[u32]) -> Vec<SequenceSet> {
    let ranges = uids.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let ranges: Vec<Sequence> = ranges
        .filter_map(|range| {
            let first = NonZeroU32::new(*range.first()?)?;
            let last = NonZeroU32::new(*range.last()?)?;
            Some(if first == last {
                Sequence::Single(SeqOrUid::Value(first))
            } else {
                Sequence::Range(SeqOrUid::Value(first), SeqOrUid::Value(last))
            })
        })
        .collect();
    let sets = ranges.chunks(RANGES).map(|chunk| SequenceSet::try_from(chunk.to_vec()));
    sets.filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_folded_fields() {
        let header = b"From: \"Bob, (home)\" <Bob@Example.org>\r\nTO: alice@example.net,\r\n \
                       Carol <carol@example.com>\r\nCc:\r\n\r\n";
        let trace = Trace::new(true, header);
        assert_eq!(trace.from, ["bob@example.org"]);
        assert_eq!(trace.to, ["alice@example.net", "carol@example.com"]);
        assert!(!trace.is_list && trace.is_marked);
        assert!(Trace::new(false, b"List-ID: <a.example.org>\n").is_list);
    }

    #[test]
    fn names_of_users_do_not_end_the_header_of_a_token() {
        for (user, written) in [
            ("alice@example.org", "alice@example.org"),
            ("a,host=evil", "a=2Chost=3Devil"),
            ("=2C", "=3D2C"),
        ] {
            assert_eq!(saslname(user), written);
        }
    }
}
