// SPDX-License-Identifier: GPL-3.0-or-later
//! Tells people which messages seem to be in the wrong folder.

use super::mailboxes::MailFile;
use dbacl_engine::error::{Warning, WarningSink};
use dbacl_files::reading::open_regular;
use dbacl_mail::mailbox::{Boundaries, Line, Rule};
use dbacl_mail::subject::subject;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Messages that are named.
const NAMED: usize = 9;

/// Bytes of a message in which its subject is looked for.
const HEAD: u64 = 1 << 16;

/// Where a message was read.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// What its features are known by.
    pub id: u64,
    /// Number of its file among those of the folder.
    pub file: u32,
    /// Its number in the file, from 1.
    pub mail: u32,
}

/// A message that seems to be in the wrong folder.
#[derive(Debug)]
pub struct MisfiledMail<'a> {
    /// Its file.
    pub file: &'a MailFile,
    /// Its number in the file, from 1.
    pub mail: u32,
    /// The label of the folder.
    pub label: &'a str,
    /// The label that it looks as if it had.
    pub looks_like: &'a str,
}

/// Says which messages learned into the filter of `folder` seem to be in the wrong folder.
pub fn tell(folder: &Path, mails: &[MisfiledMail<'_>], warnings: WarningSink<'_>) {
    let plural = match mails {
        [] => return,
        [_] => "message seems",
        _ => "messages seem",
    };
    warnings(Warning::new(format!(
        "{} {plural} to be in the wrong folder, and thresholds leave such mail out; \
         move it and learn again, or correct it: dbacl --mail-correct {} NAME MESSAGE",
        mails.len(),
        folder.display()
    )));
    for mail in mails.iter().take(NAMED) {
        let MisfiledMail { file, mail: number, label, looks_like } = mail;
        let place = file.name_of(*number);
        let about = head(file, *number).ok().and_then(|head| subject(&head));
        let about = about.map_or_else(String::new, |about| format!(": {about}"));
        warnings(Warning::new(format!("{place} looks like {looks_like}, not {label}{about}")));
    }
}

/// How a message of a file begins.
fn head(file: &MailFile, number: u32) -> io::Result<Vec<u8>> {
    let mut input = BufReader::new(open_regular(&file.path)?);
    let mut head = Vec::new();
    let mut boundaries = Boundaries::new(Rule::SenderAndDate);
    let mut begun = 0;
    while begun < number && file.may_be_mailbox {
        head.clear();
        if (&mut input).take(HEAD).read_until(b'\n', &mut head)? == 0 {
            break;
        }
        begun += u32::from(boundaries.line(&head) == Line::Begins || begun == 0);
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
            file: &files[file],
            mail,
            label: "ham",
            looks_like: "spam",
        };
        let said = |mails: &[MisfiledMail<'_>]| {
            let mut said = Vec::new();
            tell(Path::new("f"), mails, &mut |warning| said.push(warning.0));
            said.join("\n").replace(&format!("{}/", room.path().display()), "")
        };
        assert_eq!(said(&[]), "");
        let text = said(&[wrong(0, 0), wrong(1, 1), wrong(1, 3), wrong(2, 2)]);
        assert_eq!(
            text.split_once('\n').unwrap().1,
            "alone looks like spam, not ham: one\n\
             mailbox, message 1 looks like spam, not ham: first\n\
             mailbox, message 3 looks like spam, not ham: third\n\
             x, message 2 looks like spam, not ham"
        );
        let many: Vec<_> = (0..30).map(|_| wrong(0, 0)).collect();
        assert_eq!(said(&many).lines().count(), 10);
        assert!(said(&many).starts_with("30 messages seem to be in"), "{}", said(&many));
        assert!(said(&many[..1]).starts_with("1 message seems to be in"));
    }
}
