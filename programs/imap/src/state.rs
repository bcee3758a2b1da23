// SPDX-License-Identifier: GPL-3.0-or-later
//! The state of an account: which messages are in which folder, in some 14 bytes for each message.
//! It is one file, which is replaced as a whole.
//!
//! The file: a line of text, the checksum (CRC-32, little-endian) of all that follows, and the
//! fields of [`State`] as `postcard` writes them. A state that is damaged, or of another version,
//! is replaced: the next look records all messages again, and learns nothing from what it finds. A
//! file that does not begin as a state does is never replaced.

use crate::moves::{Flags, Half, Identity, OwnMove};
use crate::week::Week;
use dbacl_files::atomic_file::{Access, Disk, SaveError, replace_with_access};
use dbacl_files::reading::{read_beginning, read_regular};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;

/// The first line of a state file.
const MAGIC: &[u8] = b"dbacl-imap state 4\n";

/// How the state files of all versions begin.
const OURS: &[u8] = b"dbacl-imap state ";

/// Why there is no state of an account.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each is described by its text
pub enum NoState {
    #[error("nothing is known yet")]
    Unknown,
    #[error("the state is damaged, or of another version: {AGAIN}")]
    Unusable,
    #[error("the state is that of another account, {0}: {AGAIN}")]
    Other(String),
    #[error("{0}")]
    Io(#[from] io::Error),
}

const AGAIN: &str = "all messages are noted again, and nothing is learned from them";

/// A message as it was when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// Its number in the folder.
    pub uid: u32,
    /// By what the mail is known again in another folder.
    pub identity: Identity,
    /// Its flags.
    pub flags: Flags,
}

/// A folder as it was when it was last looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// UIDVALIDITY: if it changes, all numbers stand for other messages.
    pub validity: u32,
    /// UIDNEXT; 0 if the server has not said it.
    pub next: u32,
    /// HIGHESTMODSEQ; 0 if the server has none.
    pub modseq: u64,
    /// Its messages, by number.
    pub mails: Vec<Mail>,
}

/// What the program has done since the state was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Messages learned as ham.
    pub ham: u64,
    /// Messages learned as spam.
    pub spam: u64,
    /// Messages learned with the labels of folders.
    pub topics: u64,
    /// Messages that the program has moved.
    pub moved: u64,
}

/// The state of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The account, as `Config::account` gives it.
    pub account: String,
    /// The key of the checksums in identities. It is secret, so that nobody can make a message with
    /// the identity of another.
    key: (u64, u64),
    /// Folders by their names, as IMAP writes them.
    pub folders: BTreeMap<String, Folder>,
    /// Halves of moves.
    pub halves: Vec<Half>,
    /// Moves of this program that have not been seen yet.
    pub own: Vec<OwnMove>,
    /// What the program has done.
    pub counts: Counts,
    /// What the next letter will say.
    pub week: Week,
}

impl State {
    /// The state of an account that was never looked at.
    pub fn new(account: &str) -> Self {
        let random = || RandomState::new().hash_one(0_u8);
        Self {
            account: account.to_owned(),
            key: (random(), random()),
            folders: BTreeMap::new(),
            halves: Vec::new(),
            own: Vec::new(),
            counts: Counts::default(),
            week: Week::default(),
        }
    }

    /// The identity of a message of `size` bytes with these header lines.
    pub fn identity(&self, size: u32, header: &[u8]) -> Identity {
        let mut hasher = SipHasher24::new_with_keys(self.key.0, self.key.1);
        hasher.write(&size.to_le_bytes());
        for line in header.split(|&byte| byte == b'\n') {
            hasher.write(line.trim_ascii());
            hasher.write(b"\n");
        }
        hasher.finish().to_le_bytes()
    }

    /// The state of this account in a file.
    ///
    /// # Errors
    /// [`NoState`]
    pub fn read(path: &Path, account: &str) -> Result<Self, NoState> {
        let bytes = read_regular(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NoState::Unknown,
            _ => NoState::Io(error),
        })?;
        match Self::parse(&bytes) {
            Some(state) if state.account == account => Ok(state),
            Some(state) => Err(NoState::Other(state.account)),
            None if is_ours(&bytes) => Err(NoState::Unusable),
            None => {
                let text = "not a state of dbacl-imap; name another file with --state";
                Err(io::Error::new(io::ErrorKind::InvalidData, text).into())
            }
        }
    }

    /// The state in the bytes of a file; `None` if they are damaged or of another version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (sum, fields) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        if crc32fast::hash(fields) != u32::from_le_bytes(*sum) {
            return None;
        }
        postcard::from_bytes(fields).ok()
    }

    /// Replaces the file. It has the new state or the old one, never a part. A new file is the
    /// user's alone, an old one keeps its mode.
    ///
    /// # Errors
    /// The file could not be written and is unchanged.
    pub fn write(&self, path: &Path) -> Result<(), SaveError> {
        let told = |source| SaveError::Io { path: path.into(), source };
        let fields = postcard::to_allocvec(self).map_err(|error| told(io::Error::other(error)))?;
        // A state that was cut short within its first line is replaced like any damaged one.
        let found = match fs::symlink_metadata(path) {
            Ok(file) if file.is_file() => read_beginning(path, OURS.len() as u64).map_err(told)?,
            _ => OURS.to_vec(),
        };
        let ours = if is_ours(&found) { &OURS[..found.len()] } else { OURS };
        replace_with_access(&Disk, path, ours, Access::Private, &mut |out| {
            out.write_all(MAGIC)?;
            out.write_all(&crc32fast::hash(&fields).to_le_bytes())?;
            out.write_all(&fields)
        })
    }
}

/// Whether these are the first bytes of a state file, or a state file that was cut within them.
fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(OURS) || OURS.starts_with(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_testing::Scratch;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn state(mails: u32) -> State {
        let mut state = State::new("alice@example.org");
        let mail = |uid: u32| {
            let identity = state.identity(uid, b"Message-ID: <a@example.org>\r\n");
            Mail { uid, identity, flags: Flags::JUNK }
        };
        let mails = (1..=mails).map(mail).collect();
        let folder = Folder { validity: 7, next: 9, modseq: 11, mails };
        state.folders.insert("INBOX".into(), folder);
        state
    }

    #[test]
    fn a_state_that_was_written_is_read_and_small() {
        let folder = Scratch::new();
        let path = folder.path("state");
        let read = |account: &str| State::read(&path, account);
        assert!(matches!(read("alice@example.org"), Err(NoState::Unknown)));
        let state = state(10_000);
        for _ in 0..2 {
            state.write(&path).expect("it can be written");
            assert!(read("alice@example.org").is_ok_and(|found| found == state));
            let other = read("bob@example.org").expect_err("another account");
            assert!(matches!(other, NoState::Other(name) if name == "alice@example.org"));
            let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
        }
        let size = fs::metadata(&path).expect("a file").len();
        assert!(size < 14 * 10_000, "{size}");
        assert_eq!(folder.names(), ["state"]);
    }

    #[test]
    fn damaged_states_are_replaced_and_other_files_are_not() {
        let folder = Scratch::new();
        let path = folder.path("state");
        state(3).write(&path).expect("it can be written");
        let good = folder.read("state");
        assert!(State::parse(&good).is_some());
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 4;
            assert_eq!(State::parse(&bytes), None, "byte {at}");
            assert_eq!(State::parse(&good[..at]), None, "length {at}");
        }
        for length in [0, 1, 9, OURS.len(), MAGIC.len(), good.len() - 1] {
            folder.write("state", &good[..length]);
            let found = State::read(&path, "alice@example.org");
            assert!(matches!(found, Err(NoState::Unusable)), "length {length}");
            state(3).write(&path).unwrap_or_else(|error| panic!("length {length}: {error}"));
            assert!(State::read(&path, "alice@example.org").is_ok(), "length {length}");
        }
        for other in [&b"x"[..], b"a letter that is longer than the first line", b"dbacl-x"] {
            folder.write("state", other);
            let found = State::read(&path, "alice@example.org");
            assert!(matches!(found, Err(NoState::Io(_))), "{found:?}");
            state(3).write(&path).expect_err("none of ours");
            assert_eq!(folder.read("state"), other);
        }
        // Whoever can write into the folder could lead us to a file of the user's.
        folder.write("mine", &good);
        fs::remove_file(&path).expect("a file");
        symlink(folder.path("mine"), &path).expect("a link");
        state(4).write(&path).expect_err("a link");
        assert_eq!(folder.read("mine"), good);
    }

    #[test]
    fn identities_differ_by_size_header_and_account() {
        let (one, other) = (State::new("a"), State::new("a"));
        let header = b"Subject: x\r\n\r\n";
        assert_eq!(one.identity(5, header), one.identity(5, b"Subject: x\n\n"));
        assert_ne!(one.identity(5, header), one.identity(6, header));
        assert_ne!(one.identity(5, header), one.identity(5, b"Subject: y\r\n\r\n"));
        assert_ne!(one.identity(5, header), other.identity(5, header));
    }
}
