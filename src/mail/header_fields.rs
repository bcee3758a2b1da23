// SPDX-License-Identifier: GPL-3.0-or-later
//! The fields of a message's header, for those who look for one of them.

/// A line that begins a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// Visible characters of ASCII, as they are written.
    pub name: &'a [u8],
    /// What follows the colon.
    pub value: &'a [u8],
    /// Whether blanks stand before the colon, as old programs have them.
    has_blanks: bool,
}

/// Bytes that a name has at most.
const LONGEST_NAME: usize = 200;

/// Names, or how names begin, by which a header is recognised.
const KNOWN: [&[u8]; 48] = [
    b"apparently-to",
    b"approved",
    b"arc-",
    b"authentication-results",
    b"auto-submitted",
    b"bcc",
    b"cc",
    b"comments",
    b"content-",
    b"date",
    b"delivered-to",
    b"delivery-date",
    b"disposition-notification",
    b"dkim-",
    b"domainkey-",
    b"envelope-to",
    b"errors-to",
    b"expires",
    b"from",
    b"importance",
    b"in-reply-to",
    b"keywords",
    b"lines",
    b"list-",
    b"mail-",
    b"mailing-list",
    b"message-id",
    b"mime-version",
    b"newsgroups",
    b"organization",
    b"original-",
    b"precedence",
    b"priority",
    b"received",
    b"references",
    b"reply-to",
    b"resent-",
    b"return-path",
    b"return-receipt-to",
    b"sender",
    b"sent",
    b"status",
    b"subject",
    b"thread-",
    b"to",
    b"user-agent",
    b"x-",
    b"xref",
];

impl<'a> Field<'a> {
    /// The field that a line begins, if it begins one.
    pub(crate) fn of(line: &'a [u8]) -> Option<Self> {
        let end = line.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b':')?;
        let (name, rest) = line.split_at(end);
        let value = rest.trim_ascii_start().strip_prefix(b":")?;
        let is_name = (1..=LONGEST_NAME).contains(&name.len());
        is_name.then_some(Self { name, value, has_blanks: !rest.starts_with(b":") })
    }

    /// Whether the name is one of mail, so that what is around it is a header: of a message, or of
    /// a part.
    pub(crate) fn is_known(&self, in_message: bool) -> bool {
        let begins = |known: &[u8]| {
            let begin = self.name.get(..known.len());
            let is_whole = self.name.len() == known.len() || known.ends_with(b"-");
            is_whole && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(known))
        };
        let in_part: [&[u8]; 3] = [b"content-", b"mime-version", b"x-"];
        let names = if in_message { &KNOWN[..] } else { &in_part };
        !self.has_blanks && names.iter().any(|known| begins(known))
    }
}

/// Whether a line of a header goes on with the line before it.
pub(crate) fn is_folded(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// The fields of the header of a message that begins with these bytes: the name of each, as it is
/// written, and its value, in one line (unfolded, RFC 5322, 2.2.3). Lines that are not fields are
/// left out.
pub fn header_fields(mail: &[u8]) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
    let lines = mail.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut lines = lines.take_while(|line| !line.is_empty()).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let mut value = line[colon + 1..].to_vec();
            while let Some(more) = lines.next_if(|line| is_folded(line)) {
                value.extend_from_slice(more);
            }
            return Some((&line[..colon], value));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names_and_known_ones_are_of_mail() {
        for (line, expected) in [
            ("Subject: a: b\n", Some(("Subject", " a: b\n", true, false))),
            ("X-No_1 :\n", Some(("X-No_1", "\n", false, false))),
            ("content-type:x", Some(("content-type", "x", true, true))),
            ("Note: x", Some(("Note", " x", false, false))),
            ("Tomorrow: x", Some(("Tomorrow", " x", false, false))),
            (": x", None),
            ("My Field: x", None),
            (" Subject: x", None),
            ("\u{e9}: x", None),
            ("no field", None),
        ] {
            let found = Field::of(line.as_bytes());
            let text = |bytes| std::str::from_utf8(bytes).expect("as it came");
            let found = found.map(|field| {
                let known = [true, false].map(|in_message| field.is_known(in_message));
                (text(field.name), text(field.value), known[0], known[1])
            });
            assert_eq!(found, expected, "{line}");
        }
        let long = format!("{}: x", "n".repeat(LONGEST_NAME + 1));
        assert_eq!(Field::of(long.as_bytes()), None);
    }

    #[test]
    fn fields_are_unfolded_and_end_with_the_header() {
        let mail = b"no field\nTo: a,\r\n b\n\tc\nSubject:x: y\r\n\r\nFrom: d\n";
        let found: Vec<(&[u8], Vec<u8>)> = header_fields(mail).collect();
        let expected: [(&[u8], Vec<u8>); 2] =
            [(b"To", b" a, b\tc".to_vec()), (b"Subject", b"x: y".to_vec())];
        assert_eq!(found, expected);
        assert_eq!(header_fields(b"").count(), 0);
    }
}
