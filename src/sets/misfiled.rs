// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages that seem to be in the wrong folder: named when folders are learned, and listed in the
//! filter's folder until somebody has looked at them (`dbacl --mail-review`), with the folders that
//! were learned.
//!
//! ```text
//! # dbacl: messages that seem to be in the wrong folder
//! mail ham /home/ann/mail/inbox                   what was learned as ham
//! 4b1c0f2233445566 ham 3 /home/ann/mail/inbox     id, label, number in the file, file
//! 99aabbccddeeff00 spam                           looked at: it is where it belongs
//! ```

use super::error::MailFilterError;
use super::mail_folders::MailFolder;
use super::mailboxes::MailFile;
use crate::error::{Warning, WarningSink};
use crate::mail::mailbox::Boundaries;
use crate::mail::reader::Canonical;
use crate::mail::scanner::Holds;
use crate::mail::subject::subject;
use crate::store::FilterFolder;
use crate::store::folder::REVIEW;
use dbacl_files::atomic_file::{Disk, replace_with_access};
use dbacl_files::reading::{if_there, open_regular, read_small};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How the list begins.
const MAGIC: &[u8] = b"# dbacl: messages that seem to be in the wrong folder\n";

/// Messages that are listed at most.
pub(super) const LISTED: usize = 1000;

/// Messages that are named.
const NAMED: usize = 9;

/// Bytes of a message in which its subject is looked for.
const HEAD: u64 = 1 << 16;

/// Where a message was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// What its features are known by.
    pub id: u64,
    /// Number of its file among those of the folder.
    pub file: u32,
    /// Its number in the file, from 1.
    pub mail: u32,
}

/// A message that seems to be in the wrong folder.
#[derive(Debug)]
pub(super) struct MisfiledMail<'a> {
    /// What its features are known by.
    pub id: u64,
    pub file: &'a MailFile,
    /// Its number in the file, from 1.
    pub mail: u32,
    /// The label of the folder.
    pub label: &'a str,
    /// The label that it looks as if it had.
    pub looks_like: &'a str,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suspect {
    /// What the message's features are known by.
    pub id: u64,
    /// The label of its folder.
    pub label: String,
    /// Its number in its file, and the file; `None` once somebody has said that it belongs there.
    pub place: Option<(u32, PathBuf)>,
}

impl Suspect {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut parts = line.splitn(4, |&byte| byte == b' ');
        let mut text = || std::str::from_utf8(parts.next()?).ok();
        let (id, label) = (u64::from_str_radix(text()?, 16).ok()?, text()?.to_owned());
        let place = match text() {
            Some(number) => Some((number.parse().ok()?, OsStr::from_bytes(parts.next()?).into())),
            None => None,
        };
        Some(Self { id, label, place })
    }

    fn line(&self) -> Vec<u8> {
        let mut line = format!("{:016x} {}", self.id, self.label).into_bytes();
        if let Some((number, path)) = &self.place {
            line.extend_from_slice(format!(" {number} ").as_bytes());
            line.extend_from_slice(path.as_os_str().as_bytes());
        }
        line.push(b'\n');
        line
    }
}

/// How a line with a folder that was learned begins.
const MAIL: &[u8] = b"mail ";

/// The list of a filter's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReviewList {
    /// The folders that were learned, each with one path.
    pub mail: Vec<(String, PathBuf)>,
    /// What is to be looked at, and what was.
    pub suspects: Vec<Suspect>,
}

impl ReviewList {
    /// The list in the filter's folder; empty where there is none.
    pub(super) fn of(folder: &Path) -> Result<Self, MailFilterError> {
        let path = folder.join(REVIEW);
        let bytes = if_there(read_small(&path));
        let bytes =
            bytes.map_err(|source| MailFilterError::Unread { path, source })?.unwrap_or_default();
        let mut list = Self::default();
        for line in bytes.strip_prefix(MAGIC).unwrap_or_default().split(|&byte| byte == b'\n') {
            list.suspects.extend(Suspect::parse(line));
            let mut parts = line.strip_prefix(MAIL).unwrap_or_default().splitn(2, |&it| it == b' ');
            if let (Some(label), Some(path)) = (parts.next(), parts.next()) {
                let label = String::from_utf8_lossy(label).into_owned();
                list.mail.push((label, OsStr::from_bytes(path).into()));
            }
        }
        Ok(list)
    }

    /// Replaces the list in the filter's folder.
    pub(super) fn save(&self, folder: &Path) -> Result<(), MailFilterError> {
        let path = folder.join(REVIEW);
        let mut bytes = MAGIC.to_vec();
        for (label, path) in &self.mail {
            bytes.extend_from_slice(&[MAIL, label.as_bytes(), b" "].concat());
            bytes.extend_from_slice(&[path.as_os_str().as_bytes(), b"\n"].concat());
        }
        bytes.extend(self.suspects.iter().flat_map(Suspect::line));
        let filter = FilterFolder::new(folder);
        let written = replace_with_access(&Disk, &path, MAGIC, filter.access(), &mut |file| {
            file.write_all(&bytes)
        });
        filter.give(&path);
        written.map_err(|error| MailFilterError::Folder { path, source: io::Error::other(error) })
    }
}

/// The path as a line can have it.
fn on_a_line(path: &Path) -> Option<PathBuf> {
    // A name with a line end cannot be listed.
    std::path::absolute(path).ok().filter(|path| !path.as_os_str().as_bytes().contains(&b'\n'))
}

/// Says which messages learned from `folders` into the filter of `folder` seem to be in the wrong
/// folder, and lists them there. What somebody has looked at is not named again.
pub(super) fn tell(
    folder: &Path,
    folders: &[&MailFolder],
    mut messages: Vec<MisfiledMail<'_>>,
    warnings: WarningSink<'_>,
) {
    let mut list = ReviewList::of(folder).unwrap_or_default().suspects;
    list.retain(|suspect| suspect.place.is_none());
    messages.retain(|mail| !list.iter().any(|seen| seen.id == mail.id && seen.label == mail.label));
    let listed = messages.iter().take(LISTED).filter_map(|mail| {
        let number = if mail.file.may_be_mailbox { mail.mail } else { 0 };
        let place = (number, on_a_line(&mail.file.path)?);
        Some(Suspect { id: mail.id, label: mail.label.into(), place: Some(place) })
    });
    list.extend(listed);
    let mail = folders.iter().flat_map(|own| {
        own.all_paths().filter_map(|path| Some((own.label().to_owned(), on_a_line(path)?)))
    });
    let list = ReviewList { mail: mail.collect(), suspects: list };
    let is_listed = list != ReviewList::default() || folder.join(REVIEW).exists();
    if let Some(error) = is_listed.then(|| list.save(folder)).and_then(Result::err) {
        warnings(Warning::new(error.to_string()));
    }
    let plural = match messages.as_slice() {
        [] => return,
        [_] => "message seems",
        _ => "messages seem",
    };
    warnings(Warning::new(format!(
        "{} {plural} to be in the wrong folder, and thresholds leave such mail out; look at it: \
         dbacl --mail-review {}",
        messages.len(),
        folder.display()
    )));
    for mail in messages.iter().take(NAMED) {
        let MisfiledMail { file, mail: number, label, looks_like, .. } = mail;
        let place = file.name_of(*number);
        let about = head(file, *number).ok().and_then(|head| subject(&head));
        let about = about.map_or_else(String::new, |about| format!(": {about}"));
        warnings(Warning::new(format!("{place} looks like {looks_like}, not {label}{about}")));
    }
}

/// How a message of a file begins.
fn head(file: &MailFile, number: u32) -> io::Result<Vec<u8>> {
    let holds = if file.may_be_mailbox { Holds::Mailbox } else { Holds::One };
    let file = open_regular(&file.path)?;
    let mut input = BufReader::new(Canonical::new(file, holds).quoting_all());
    let mut head = Vec::new();
    let mut boundaries = Boundaries::default();
    let mut begun = 0;
    while begun < number && holds == Holds::Mailbox {
        head.clear();
        if (&mut input).take(HEAD).read_until(b'\n', &mut head)? == 0 {
            break;
        }
        begun += u32::from(boundaries.begins(&head) || begun == 0);
    }
    input.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_named_with_their_subjects() {
        let room = tempfile::tempdir().unwrap();
        let (alone, mailbox) = (room.path().join("alone"), room.path().join("mailbox"));
        std::fs::write(&alone, "Subject: one\n\ntext\n").unwrap();
        let mail = |subject: &str| {
            format!("From a Mon Nov 16 10:00:00 2026\nSubject: {subject}\n\nFrom here on\n\n")
        };
        std::fs::write(&mailbox, [mail("first"), mail("second"), mail("third")].concat()).unwrap();
        let gone = MailFile::named(room.path().join("x"));
        let files = [
            MailFile { is_listed: true, ..MailFile::named(alone) },
            MailFile::named(mailbox),
            gone,
        ];
        let wrong = |file: usize, mail| MisfiledMail {
            id: u64::from(mail) + 1,
            file: &files[file],
            mail,
            label: "ham",
            looks_like: "spam",
        };
        let ham = MailFolder::new("ham", room.path().join("mail box"));
        let said = |messages: Vec<MisfiledMail<'_>>| {
            let mut said = Vec::new();
            let learned = if messages.is_empty() { &[][..] } else { &[&ham] };
            tell(room.path(), learned, messages, &mut |warning| said.push(warning.0));
            said.join("\n").replace(&format!("{}/", room.path().display()), "")
        };
        assert_eq!(said(Vec::new()), "");
        assert!(!room.path().join(REVIEW).exists());
        let text = said(vec![wrong(0, 0), wrong(1, 1), wrong(1, 3), wrong(2, 2)]);
        assert_eq!(
            text.split_once('\n').unwrap().1,
            "alone looks like spam, not ham: one\n\
             mailbox, message 1 looks like spam, not ham: first\n\
             mailbox, message 3 looks like spam, not ham: third\n\
             x, message 2 looks like spam, not ham"
        );
        // What belongs where it is is not named again, and the list forgets what was mended.
        let mut list = ReviewList::of(room.path()).unwrap();
        assert_eq!(list.suspects.len(), 4);
        assert_eq!(list.suspects[2].place, Some((3, room.path().join("mailbox"))));
        assert_eq!(list.mail, [("ham".to_owned(), room.path().join("mail box"))]);
        list.suspects.retain(|suspect| suspect.id == 4);
        list.suspects[0].place = None;
        list.save(room.path()).unwrap();
        let text = said(vec![wrong(1, 1), wrong(1, 3)]);
        assert!(text.starts_with("1 message seems to be in") && !text.contains("third"), "{text}");
        assert_eq!(said(vec![wrong(1, 3)]), "");
        assert_eq!(ReviewList::of(room.path()).unwrap(), list);
        let many = said((0..30).map(|_| wrong(0, 0)).collect());
        assert_eq!(many.lines().count(), 10);
        assert!(many.starts_with("30 messages seem to be in"), "{many}");
    }
}
