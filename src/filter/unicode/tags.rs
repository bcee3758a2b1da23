// SPDX-License-Identifier: GPL-3.0-or-later
//! The blocks that a mail filter reads (`-T email:tags`): beginning and end of the text, tags of
//! what the sender's side wrote, and tags of agreement (docs/spec/unicode-mail.md, section 7).
//!
//! ```text
//! fields, parts, lines of text ─→ Tags ─→ subject; 2,500 bytes of text         (medium 3)
//!                                    ├──→ tags such as fh:example.com         (medium 4)
//!                                    └──→ tags of agreement such as lk:some   (medium 5)
//! ```
//!
//! Left out is what the receiver or a mailing list wrote, the names and spelling of fields, and the
//! hosts of links: they say where mail was collected, and change sooner than what it is. Hosts are
//! only compared with each other (`agreement`).

use crate::filter::bytes::starts_with_ci;
use crate::filter::unicode::agreement::Agreement;
use crate::filter::unicode::lines::Lines;
use crate::filter::unicode::links::{host, links, tag_link};
use crate::filter::unicode::shapes::{
    Outline, address_form, bin, log2, outline, relay_words, short_outline,
};
use crate::model::medium::Medium;
use dbacl_words::charset::parameters;

/// Begins a line of tags: tokenizers that know it leave the words after it whole.
pub(super) const MARK: u8 = 0x1F;
/// Bytes of subject and text, blanks squeezed, that are read as text.
const WINDOW: usize = 2500;
/// Bytes of these that are the end of a longer text: a spammer can put other text before his own.
const END: usize = 800;
/// Bytes of text whose look is read.
const LOOK: usize = 60_000;
/// Bytes of text whose words' shapes are read.
const SHAPES: usize = 4000;
/// The most words of one field.
const MOST_WORDS: usize = 60;
/// The most fields Received, addresses, parts and links of which there are tags.
const MOST: usize = 64;
/// Bytes of tags of a message.
const MOST_TAGS: usize = 1 << 15;
/// Bytes of a tag after its kind.
const LONGEST: usize = 26;
/// Bytes of a field Authentication-Results.
const LONGEST_CHECKS: usize = 4096;
/// Domains that a host is in, the host itself among them.
const MOST_DOMAINS: usize = 6;

/// Fields that a sender's program writes, with the tag of their words.
const PROGRAM_FIELDS: [(&[u8], &str); 13] = [
    (b"x-mailer:", "xm:"),
    (b"user-agent:", "xm:"),
    (b"x-newsreader:", "xm:"),
    (b"x-priority:", "xp:"),
    (b"priority:", "xp:"),
    (b"x-msmail-priority:", "xp:"),
    (b"importance:", "xi:"),
    (b"organization:", "og:"),
    (b"x-accept-language:", "xa:"),
    (b"content-language:", "cl:"),
    (b"content-class:", "cc:"),
    (b"x-mailer-version:", "xm:"),
    (b"x-originating-ip:", "xo:"),
];

/// What is read of one message, as it is found.
#[derive(Debug, Default)]
pub(super) struct Tags {
    /// All lines of the text are passed on as they come, and not only its beginning and its end.
    pub is_whole: bool,
    /// The tags found so far, each with a blank after it.
    found: Vec<u8>,
    subject: Vec<u8>,
    /// The text, blanks squeezed; of a long one the first [`WINDOW`] bytes and what came last.
    text: Vec<u8>,
    has_subject: bool,
    from_host: Vec<u8>,
    id_host: Option<Vec<u8>>,
    /// The Received field that was read last: the oldest when the header is at its end.
    relay: Vec<u8>,
    relays: usize,
    /// The host that wrote the newest Received field with a host's name.
    receiver: Vec<u8>,
    /// The first field Authentication-Results.
    checks: Option<Vec<u8>>,
    receivers: usize,
    links: usize,
    /// The parts, each with its depth.
    tree: Vec<u8>,
    pages: usize,
    plain_texts: usize,
    look: Look,
    agreement: Agreement,
}

/// What is counted in the text.
#[derive(Debug, Default)]
struct Look {
    bytes: usize,
    lines: usize,
    quoted: usize,
    words: usize,
    capital_words: usize,
    letters: usize,
    capitals: usize,
    foreign: usize,
    exclamations: usize,
    dollars: usize,
    has_signature: bool,
}

impl Tags {
    /// Nothing read yet.
    pub(super) fn new(is_whole: bool) -> Self {
        Self { is_whole, ..Self::default() }
    }

    /// A field of the mail's own header as it stands there, unfolded.
    pub(super) fn field(&mut self, field: &[u8]) {
        let value = memchr::memchr(b':', field).map_or(&[][..], |colon| &field[colon + 1..]);
        if starts_with_ci(field, b"from:") {
            self.sender(value);
        } else if starts_with_ci(field, b"received:") {
            self.received(value);
        } else if starts_with_ci(field, b"authentication-results:") {
            self.checks.get_or_insert_with(|| value[..value.len().min(LONGEST_CHECKS)].to_vec());
        } else if starts_with_ci(field, b"message-id:") {
            self.message_id(value.trim_ascii());
        } else if starts_with_ci(field, b"date:") {
            self.date(value.trim_ascii());
        } else if starts_with_ci(field, b"to:") || starts_with_ci(field, b"cc:") {
            self.receivers(value);
            if starts_with_ci(field, b"to:") {
                self.agreement.receiver(value);
            }
        } else if starts_with_ci(field, b"reply-to:") {
            self.agreement.reply_to(value);
        } else if let Some((_, kind)) =
            PROGRAM_FIELDS.iter().find(|(name, _)| starts_with_ci(field, name))
        {
            self.words(kind, value);
        }
    }

    /// A field that describes the content of the mail or of a part.
    pub(super) fn content_field(&mut self, field: &[u8]) {
        let value = memchr::memchr(b':', field).map_or(&[][..], |colon| &field[colon + 1..]);
        let first = value.split(|&byte| byte == b';').next().unwrap_or(&[]).trim_ascii();
        let parameter = |name: &[u8]| parameters::value(value, name).unwrap_or_default();
        if starts_with_ci(field, b"content-type:") {
            self.add("mt:", first);
            self.add("mc:", &parameter(b"charset"));
            self.add("bs:", short_outline(&parameter(b"boundary")).bytes());
            for name in [&b"format"[..], b"type", b"reply-type", b"report-type"] {
                self.add("mq:", &parameter(name));
            }
            self.file_name(&parameter(b"name"));
        } else if starts_with_ci(field, b"content-transfer-encoding:") {
            self.add("me:", first);
        } else if starts_with_ci(field, b"content-disposition:") {
            self.add("mx:", first);
            self.file_name(&parameter(b"filename"));
        } else {
            self.words("ct:", field);
        }
    }

    fn file_name(&mut self, name: &[u8]) {
        if let Some(dot) = memchr::memrchr(b'.', name) {
            self.add("mf:", &name[dot + 1..]);
        }
    }

    /// The end of a header: a part of this depth begins.
    pub(super) fn part(&mut self, depth: usize, kind: &[u8]) {
        self.pages += usize::from(kind == b"h");
        self.plain_texts += usize::from(kind == b"p");
        if self.tree.len() + kind.len() < LONGEST {
            self.tree.push(b'0' + u8::try_from(depth.min(9)).unwrap_or(9));
            self.tree.extend_from_slice(kind);
        }
    }

    /// A decoded line that would be shown: fields and text are distinguished by their medium.
    pub(super) fn line(&mut self, line: &[u8], medium: Medium) {
        match medium.number() {
            1 => {}
            2 => self.link(line.trim_ascii()),
            3 => self.text_line(line),
            _ => self.decoded_field(line),
        }
    }

    /// A field of the mail's own header, decoded.
    fn decoded_field(&mut self, line: &[u8]) {
        let Some(colon) = memchr::memchr(b':', line) else { return };
        let value = &line[colon + 1..];
        if starts_with_ci(line, b"subject:") {
            self.subject(value.strip_suffix(b"\n").unwrap_or(value));
        } else if starts_with_ci(line, b"from:") {
            self.words("fw:", value);
        } else if starts_with_ci(line, b"to:") || starts_with_ci(line, b"cc:") {
            self.words("tw:", value);
        }
    }

    /// Adds the words of a text: runs of letters and digits, in small letters.
    fn words(&mut self, kind: &str, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.take(MOST_WORDS) {
            self.add(kind, word.to_lowercase().as_bytes());
        }
    }

    fn subject(&mut self, value: &[u8]) {
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if !std::mem::replace(&mut self.has_subject, true) {
            squeeze(value, &mut self.subject, WINDOW);
        }
        self.words("sw:", value);
        let text = String::from_utf8_lossy(value);
        for word in text.split_whitespace().take(MOST_WORDS) {
            if !word.chars().all(char::is_alphabetic) {
                self.add("ss:", outline(word).bytes());
            }
        }
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let capitals = text.chars().filter(|c| c.is_uppercase()).count();
        if letters > 3 && capitals * 10 >= letters * 9 {
            self.add("sf:", b"capitals");
        }
        if text.contains("     ") {
            self.add("sf:", b"gap");
        }
        if text.trim().is_empty() {
            self.add("sf:", b"empty");
        }
        if starts_with_ci(value, b"re:") {
            self.add("sf:", b"re");
        }
        let count = |byte: u8| memchr::memchr_iter(byte, value).count().min(4);
        self.number("s!:", count(b'!'));
        self.number("s?:", count(b'?'));
        self.number("sl:", log2(value.trim_ascii().len()));
    }

    fn sender(&mut self, value: &[u8]) {
        let (form, address) = address_form(value);
        self.add("ff:", form.bytes());
        if let Some(middle) = memchr::memrchr(b'@', address) {
            let (name, host) = address.split_at(middle);
            self.host("fh:", &host[1..]);
            self.from_host = host[1..].to_ascii_lowercase();
            self.agreement.sender(&host[1..]);
            self.add("fl:", short_outline(name).bytes());
        }
    }

    fn receivers(&mut self, value: &[u8]) {
        let (form, _) = address_form(value);
        self.add("tf:", &form.bytes()[..form.bytes().len().min(6)]);
        let is_special = |&byte: &u8| b" \t,;<>()\"'".contains(&byte);
        for address in value.split(is_special) {
            let Some(at) = memchr::memrchr(b'@', address) else { continue };
            self.receivers += 1;
            if self.receivers <= MOST {
                self.host("th:", &address[at + 1..]);
            }
        }
    }

    fn message_id(&mut self, value: &[u8]) {
        let id = value.strip_prefix(b"<").unwrap_or(value);
        let id = id.strip_suffix(b">").unwrap_or(id);
        let (left, host) = memchr::memrchr(b'@', id).map_or((id, None), |at| {
            let (left, host) = id.split_at(at);
            (left, Some(&host[1..]))
        });
        self.add("is:", short_outline(left).bytes());
        self.number("il:", left.len().min(60));
        self.agreement.message_id(host.unwrap_or(&[]));
        self.id_host = Some(host.unwrap_or(&[]).to_ascii_lowercase());
    }

    fn date(&mut self, value: &[u8]) {
        let (date, comment) = memchr::memchr(b'(', value)
            .map_or((value, &[][..]), |at| (value[..at].trim_ascii(), &value[at..]));
        let zone = date.rsplit(|&byte| byte == b' ').next().unwrap_or(&[]);
        self.add("dz:", zone);
        self.words("dc:", comment);
        self.add("ds:", short_outline(date).bytes());
    }

    fn received(&mut self, value: &[u8]) {
        // The date after it is not a tag.
        let end = memchr::memchr(b';', value).unwrap_or(value.len());
        self.relay.clear();
        self.relay.extend_from_slice(&value[..end]);
        self.relays += 1;
        self.agreement.received(&value[..end]);
        if self.relays > MOST {
            return;
        }
        if self.receiver.is_empty() {
            let mut words = value[..end].split(u8::is_ascii_whitespace);
            let by = words.by_ref().find(|word| word.eq_ignore_ascii_case(b"by"));
            let host = by.and_then(|_| words.find(|word| !word.is_empty()));
            let host = host.filter(|host| host.iter().any(u8::is_ascii_alphabetic));
            let host = host.filter(|host| host.contains(&b'.') && !host.contains(&b':'));
            self.receiver = host.unwrap_or(&[]).to_ascii_lowercase();
        }
        for word in relay_words(&value[..end]) {
            if !word.contains(&b'.') {
                self.add("rw:", word);
            }
        }
    }

    /// Tags of what the receiving host found out about the sender (RFC 8601). Only its own field
    /// counts: the first one, with a name in the domain of the host that wrote the newest Received
    /// field. Where that host writes none, learned mail has no such tags, and a forged field tells
    /// nothing.
    fn own_checks(&mut self) {
        let Some(checks) = self.checks.take() else { return };
        let mut parts = checks.split(|&byte| byte == b';');
        let name = parts.next().unwrap_or(&[]).trim_ascii();
        let name = name.split(u8::is_ascii_whitespace).next().unwrap_or(&[]).to_ascii_lowercase();
        if !are_of_one_domain(&name, &self.receiver) {
            return;
        }
        for part in parts.take(MOST) {
            let check = part.trim_ascii_start().split(u8::is_ascii_whitespace).next();
            if let Some(check) = check.filter(|check| check.contains(&b'=')) {
                self.add("au:", check);
            }
        }
    }

    /// Tags of the oldest Received field.
    fn oldest(&mut self) {
        let relay = std::mem::take(&mut self.relay);
        if relay.is_empty() {
            return;
        }
        for word in relay_words(&relay) {
            if word.contains(&b'.') {
                self.host("oh:", word);
            } else {
                self.add("ow:", word);
            }
        }
        let mut form = Outline::default();
        let mut in_word = false;
        for &byte in &relay {
            let is_word = byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
            match byte {
                _ if is_word && in_word || byte.is_ascii_whitespace() => {}
                _ if is_word => form.push(b'w'),
                _ => form.push(byte),
            }
            in_word = is_word;
        }
        self.add("of:", form.bytes());
    }

    fn link(&mut self, link: &[u8]) {
        if self.links >= MOST {
            return;
        }
        self.one_link(link);
        self.agreement.text(link);
    }

    fn one_link(&mut self, link: &[u8]) {
        tag_link(link, |kind, value| self.add(kind, value));
        self.links += 1;
        if let Some(host) = host(link) {
            self.agreement.link(host);
        }
    }

    fn text_line(&mut self, line: &[u8]) {
        squeeze(line, &mut self.text, usize::MAX);
        if self.text.len() > WINDOW + 8 * END {
            self.text.drain(WINDOW..self.text.len() - END);
        }
        if self.look.bytes > LOOK {
            return;
        }
        self.agreement.text(line);
        let is_shown = self.look.bytes < SHAPES;
        let look = &mut self.look;
        look.bytes += line.len();
        look.lines += 1;
        let body = line.trim_ascii();
        look.quoted += usize::from(matches!(body.first(), Some(b'>' | b'|')));
        look.has_signature |= body == b"--";
        for &byte in line {
            match byte {
                b'A'..=b'Z' => {
                    look.capitals += 1;
                    look.letters += 1;
                }
                b'a'..=b'z' => look.letters += 1,
                b'!' => look.exclamations += 1,
                b'$' => look.dollars += 1,
                0x80.. => look.foreign += 1,
                _ => {}
            }
        }
        for word in body.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            self.look.words += 1;
            let is_letters = word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte > 0x7F);
            if word.len() > 2 && word.iter().all(u8::is_ascii_uppercase) {
                self.look.capital_words += 1;
            }
            if is_shown && !is_letters {
                let shape = outline(&String::from_utf8_lossy(&word[..word.len().min(80)]));
                self.add("xs:", shape.bytes());
            }
        }
        if self.links < MOST {
            for link in links(line) {
                self.one_link(link);
            }
        }
    }

    /// Ends the mail: its text and its tags go to `output`.
    pub(super) fn finish(&mut self, output: &mut Lines) {
        self.own_checks();
        self.oldest();
        self.summary();
        let mut all = std::mem::replace(self, Self::new(self.is_whole));
        if all.is_whole {
            all.text.clear();
        }
        let subject = whole(&all.subject, WINDOW);
        output.push(&all.subject[..subject], Medium::new(3), false);
        let left = WINDOW - subject;
        let rest = if all.text.len() > left { left.min(END) } else { 0 };
        let start = whole(&all.text, left - rest);
        output.push(&all.text[..start], Medium::new(3), false);
        if rest > 0 {
            let last = whole(&all.text, all.text.len() - rest);
            output.push(&all.text[last..], Medium::new(3), false);
        }
        let tags = std::mem::take(&mut all.found);
        all.found.clear();
        std::mem::take(&mut all.agreement).finish(|kind, value| all.add(kind, value));
        for (found, medium) in [(tags, 4), (all.found, 5)] {
            let mut rest = found.as_slice();
            let mut line = Vec::new();
            while !rest.is_empty() {
                let size = rest.len().min(8000);
                let end = memchr::memrchr(b' ', &rest[..size]).map_or(size, |at| at + 1);
                line.clear();
                line.push(MARK);
                line.extend_from_slice(&rest[..end]);
                output.push(&line, Medium::new(medium), true);
                rest = &rest[end..];
            }
        }
    }

    /// Tags of what was counted.
    fn summary(&mut self) {
        if !self.has_subject && self.look.lines == 0 && self.found.is_empty() {
            return;
        }
        if !self.has_subject {
            self.add("sf:", b"none");
        }
        let same = match &self.id_host {
            None => "none",
            Some(host) if host.is_empty() => "nohost",
            Some(host) if *host == self.from_host => "same",
            Some(host) if host.ends_with(&self.from_host) || self.from_host.ends_with(host) => {
                "near"
            }
            Some(_) => "other",
        };
        self.add("id:", same.as_bytes());
        self.number("tn:", self.receivers.min(8));
        let tree = std::mem::take(&mut self.tree);
        self.add("mr:", &tree);
        self.number("mh:", self.pages.min(4));
        self.number("mp:", self.plain_texts.min(4));
        self.number("ln:", log2(self.links));
        let look = std::mem::take(&mut self.look);
        self.number("xb:", log2(look.bytes));
        self.number("xw:", log2(look.words));
        self.number("xc:", bin(look.capitals, look.letters));
        self.number("xf:", bin(look.foreign, look.bytes));
        self.number("x!:", bin(look.exclamations, look.bytes));
        self.number("x$:", bin(look.dollars, look.bytes));
        self.number("xl:", bin(look.lines, look.bytes));
        self.number("xq:", bin(look.quoted, look.lines));
        self.number("xk:", bin(look.capital_words, look.words));
        if look.has_signature {
            self.add("xg:", b"signature");
        }
    }

    fn number(&mut self, kind: &str, number: usize) {
        self.add(kind, number.to_string().as_bytes());
    }

    /// Adds a host and all domains that it is in; nothing for an address of numbers. Of names with
    /// many dots only the last [`MOST_DOMAINS`] domains count.
    fn host(&mut self, kind: &str, name: &[u8]) {
        let mut name = name;
        if let Some(dot) = memchr::memrchr_iter(b'.', name).nth(MOST_DOMAINS - 1) {
            name = &name[dot + 1..];
        }
        while let Some((b'.', rest)) = name.split_first() {
            name = rest;
        }
        while let Some((b'.', rest)) = name.split_last() {
            name = rest;
        }
        if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
            return;
        }
        loop {
            self.add(kind, name);
            let Some(dot) = memchr::memchr(b'.', name) else { break };
            name = &name[dot + 1..];
        }
    }

    /// Adds a tag: small letters without blanks.
    fn add(&mut self, kind: &str, value: &[u8]) {
        if value.is_empty() || self.found.len() > MOST_TAGS {
            return;
        }
        self.found.extend_from_slice(kind.as_bytes());
        let text = String::from_utf8_lossy(&value[..value.len().min(4 * LONGEST)]);
        let value = text.as_bytes();
        let length = whole(value, LONGEST);
        let plain = |&byte: &u8| if byte <= b' ' || byte == 0x7F { b'_' } else { byte };
        self.found.extend(value[..length].iter().map(plain).map(|byte| byte.to_ascii_lowercase()));
        self.found.push(b' ');
    }
}

/// Whether two hosts are the same, one's name is the other's domain, or both are in one domain,
/// which has a dot.
fn are_of_one_domain(one: &[u8], other: &[u8]) -> bool {
    let above = |host: &[u8]| -> Vec<u8> {
        let dot = memchr::memchr(b'.', host).map_or(host.len(), |dot| dot + 1);
        let domain = &host[dot..];
        if domain.contains(&b'.') { domain } else { host }.to_vec()
    };
    one.contains(&b'.') && above(one) == above(other)
}

/// The length of the beginning of a text, in which no character is cut into two.
fn whole(text: &[u8], most: usize) -> usize {
    let mut end = text.len().min(most);
    while end > 0 && text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    end
}

/// Appends a line and a blank; runs of blanks and control characters become one blank. `text` gets
/// little more than `most` bytes.
fn squeeze(line: &[u8], text: &mut Vec<u8>, most: usize) {
    for &byte in line {
        if text.len() > most.saturating_add(8) {
            return;
        }
        if byte > b' ' {
            text.push(byte);
        } else if text.last().is_some_and(|&last| last != b' ') {
            text.push(b' ');
        }
    }
    if text.last().is_some_and(|&last| last != b' ') {
        text.push(b' ');
    }
}
