// SPDX-License-Identifier: GPL-3.0-or-later
//! What a file seems to hold, by its first bytes: mailbox, message, or no mail at all.
//!
//! Folders of mail hold indexes, pictures and archives as well. A message has a header, so a file
//! without one is not a message; a mailbox begins with a line `From SENDER DATE`.

use dbacl_files::format::format_of;

use crate::mail::from_line::FROM;
use crate::mail::reader::canonical;
use crate::mail::scanner::is_mailbox;

/// The number of bytes of a file that are enough to recognise what it holds.
pub const ENOUGH: usize = 4096;

/// What a file seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Messages, each after a line `From SENDER DATE`.
    Mailbox,
    /// A message, or nothing.
    Message,
    /// Text without a header.
    Text,
    /// Something that is not text, named in words.
    Other(&'static str),
}

impl Contents {
    /// What a file that begins so seems to hold. `beginning` has [`ENOUGH`] bytes, or all of a
    /// shorter file.
    pub fn of(beginning: &[u8]) -> Self {
        if let Some(what) = format_of(beginning) {
            return Self::Other(what);
        }
        if is_mailbox(beginning) {
            return Self::Mailbox;
        }
        let text = canonical(beginning);
        let mut header = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let is_message = text.is_empty()
            || text.starts_with(FROM)
            || header.by_ref().take_while(|line| !line.is_empty()).any(is_header_field);
        match is_message {
            true => Self::Message,
            false if is_binary(beginning) => Self::Other("binary data"),
            false => Self::Text,
        }
    }

    /// What bytes are that were given as one message, if they are certainly not one: packed, a
    /// picture, a program, or not text at all. Every way to learn a message asks this first.
    pub(crate) fn refusal(message: &[u8]) -> Option<&'static str> {
        match Self::of(&message[..message.len().min(ENOUGH)]) {
            Self::Other(what) => Some(what),
            Self::Mailbox | Self::Message | Self::Text => None,
        }
    }

    /// Why the file is not mail; `None` if it is.
    pub(crate) const fn objection(self) -> Option<&'static str> {
        match self {
            Self::Mailbox | Self::Message => None,
            Self::Text => Some("without a header"),
            Self::Other(what) => Some(what),
        }
    }
}

/// Whether a line begins a header field: a name, a colon, then a blank or nothing.
fn is_header_field(line: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = line.iter().take_while(|byte| is_of_name(byte)).count();
    let rest = line[length..].trim_ascii_start().strip_prefix(b":");
    length > 0 && rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Whether bytes are not text: a zero byte is among them, or one in eight is a control character.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    bytes.contains(&0) || 8 * bytes.iter().filter(is_control).count() > bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_and_other_files_are_recognised() {
        for (beginning, expected) in [
            (&b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: x\n"[..], Contents::Mailbox),
            (b"\n\r\nFrom - Sat Sep 28 12:00:00 2002\r\n", Contents::Mailbox),
            (b"From \r\nX-Mozilla-Status: 0001\r\n", Contents::Mailbox),
            (b"\xef\xbb\xbfFrom -\rSubject: x\r", Contents::Mailbox),
            (b"\x01\x01\x01\x01\nSubject: x\n", Contents::Mailbox),
            (b"\xef\xbb\xbfSubject: x\r\n", Contents::Message),
            (b"12\nSubject: x\n\n", Contents::Message),
            (b"From the beginning\n", Contents::Message),
            (b"Subject: x\n\nFrom a@b.c Mon Jan  1 00:00:00 2024\n", Contents::Message),
            (b"X-No_1 :\n", Contents::Message),
            // The first line of this message is damaged.
            (b" folded\nReceived: from x\0\n", Contents::Message),
            (b"", Contents::Message),
            (b"\n\n", Contents::Message),
            (b"Notes on filtering\n\nSubject: x\n", Contents::Text),
            (b"// <!-- <mdb:mork:z v=\"1.4\"/> -->\n", Contents::Text),
            (b"see http://example.org\nhttp://example.org\n", Contents::Text),
            (b"# dbacl model 2\nlabel: x\n", Contents::Other("a model of dbacl-text")),
            (b"\x1f\x8b\x08\0", Contents::Other("compressed by gzip")),
            (b"\xfd7zXZ\0\0", Contents::Other("compressed by xz")),
            (b"\xff\xd8\xff\xe0", Contents::Other("a picture")),
            (b"\x01\0\x02\x03index", Contents::Other("binary data")),
            (b"a\x01\x02\x03", Contents::Other("binary data")),
        ] {
            let found = Contents::of(beginning);
            assert_eq!(found, expected, "{}", beginning.escape_ascii());
            let is_mail = matches!(expected, Contents::Mailbox | Contents::Message);
            assert_eq!(found.objection().is_none(), is_mail);
            let is_refused = matches!(expected, Contents::Other(_));
            assert_eq!(Contents::refusal(beginning).is_some(), is_refused);
        }
    }
}
