// SPDX-License-Identifier: GPL-3.0-or-later
//! The state of an account: which mails are in which folder, in some 14 bytes for each mail. It is
//! one file, which is replaced as a whole.
//!
//! The file: a line of text, the checksum (CRC-32, little-endian) of all that follows, and the
//! fields of [`State`] as `postcard` writes them. A file that is damaged, or of another version, is
//! ignored: the next look records all mails anew, and learns nothing from what it finds.

use crate::moves::{Flags, Half, Identity, OwnMove};
use dbacl_files::reading::read_regular;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The first line of a state file.
const MAGIC: &[u8] = b"dbacl-imap state 1\n";

/// A mail as it was when it was last looked at.
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
    /// UIDVALIDITY: if it changes, all numbers stand for other mails.
    pub validity: u32,
    /// UIDNEXT; 0 if the server has not said it.
    pub next: u32,
    /// HIGHESTMODSEQ; 0 if the server has none.
    pub modseq: u64,
    /// Its mails, by number.
    pub mails: Vec<Mail>,
}

/// What the program has done since the state was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Mails learned as ham.
    pub ham: u64,
    /// Mails learned as spam.
    pub spam: u64,
    /// Mails moved to the junk folder.
    pub moved: u64,
}

/// The state of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The account, as [`crate::config::Config::account`] gives it.
    pub account: String,
    /// The key of the checksums in identities. It is secret, so that nobody can make a mail with
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
        }
    }

    /// The state of this account with other folders.
    #[must_use]
    pub fn with(
        &self,
        folders: BTreeMap<String, Folder>,
        halves: Vec<Half>,
        own: Vec<OwnMove>,
    ) -> Self {
        let Self { account, key, counts, .. } = self;
        Self { account: account.clone(), key: *key, folders, halves, own, counts: *counts }
    }

    /// The identity of a mail of `size` bytes with these header lines.
    pub fn identity(&self, size: u32, header: &[u8]) -> Identity {
        let mut hasher = SipHasher24::new_with_keys(self.key.0, self.key.1);
        hasher.write(&size.to_le_bytes());
        for line in header.split(|&byte| byte == b'\n') {
            hasher.write(line.trim_ascii());
            hasher.write(b"\n");
        }
        hasher.finish().to_le_bytes()
    }

    /// The state in a file; `None` if there is none that can be used.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(path: &Path, account: &str) -> io::Result<Option<Self>> {
        let bytes = match read_regular(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Self::parse(&bytes).filter(|state| state.account == account))
    }

    /// The state in the bytes of a file; `None` if they are damaged or of another version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (sum, fields) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        if crc32fast::hash(fields) != u32::from_le_bytes(*sum) {
            return None;
        }
        postcard::from_bytes(fields).ok()
    }

    /// Replaces the file. It has the new state or the old one, never a part.
    ///
    /// # Errors
    /// The file could not be written and is unchanged.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let fields = postcard::to_allocvec(self).map_err(io::Error::other)?;
        let new = beside(path, ".new");
        // A killed process may have left one, and opening a pipe of this name would wait.
        let _ = fs::remove_file(&new);
        let mut file = File::create_new(&new)?;
        file.write_all(MAGIC)?;
        file.write_all(&crc32fast::hash(&fields).to_le_bytes())?;
        file.write_all(&fields)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
    }
}

/// The path with `end` appended to the file's name.
pub fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        assert_eq!(State::read(&path, "alice@example.org").expect("readable"), None);
        let state = state(10_000);
        for _ in 0..2 {
            state.write(&path).expect("it can be written");
            assert_eq!(
                State::read(&path, "alice@example.org").expect("readable"),
                Some(state.clone())
            );
            assert_eq!(State::read(&path, "bob@example.org").expect("readable"), None);
        }
        let size = fs::metadata(&path).expect("a file").len();
        assert!(size < 14 * 10_000, "{size}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn damaged_states_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        state(3).write(&path).expect("it can be written");
        let good = fs::read(&path).expect("a file");
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 4;
            assert_eq!(State::parse(&bytes), None, "byte {at}");
            assert_eq!(State::parse(&good[..at]), None, "length {at}");
        }
        assert!(State::parse(&good).is_some());
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
