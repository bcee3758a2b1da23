// SPDX-License-Identifier: GPL-3.0-or-later
//! Traits of a mail besides its text (`-T email:traits`): the form of its sender's name, and the
//! host where it entered the net.
//!
//! ```text
//! From, oldest Received → words such as sender_example.com and first_helo, of medium 4
//! ```
//!
//! Dates, random names and lines of other servers are left out, because they show where mail was
//! collected and not what it is. The look of the text is left out as well, since a sender can
//! change it at will (`docs/quality-refit.md`).

use crate::bytes::starts_with_ci;

/// Bytes of the form of a field.
const LONGEST_FORM: usize = 20;
/// Domains that a host is in, the host itself among them.
const MOST_DOMAINS: usize = 6;

/// Words about a mail, as they are found.
#[derive(Debug, Default)]
pub struct Traits {
    /// The words found so far, each with a blank behind it.
    words: Vec<u8>,
    /// The Received field that was read last: the oldest when the header is at its end.
    relay: Vec<u8>,
}

impl Traits {
    /// A field of the mail's own header, with its name.
    pub fn field(&mut self, field: &[u8]) {
        const FROM: &[u8] = b"From:";
        const RECEIVED: &[u8] = b"Received:";
        if starts_with_ci(field, FROM) {
            self.sender(&field[FROM.len()..]);
        } else if starts_with_ci(field, RECEIVED) {
            let value = &field[RECEIVED.len()..];
            // The date behind it is no trait.
            let end = memchr::memchr(b';', value).map_or(value.len(), |at| at + 1);
            self.relay.clear();
            self.relay.extend_from_slice(&value[..end]);
        }
    }

    /// The end of the mail's own header: the words of it, each with a blank behind it.
    pub fn end_header(&mut self) -> Vec<u8> {
        let relay = std::mem::take(&mut self.relay);
        for word in words(&relay) {
            if word.contains(&b'.') {
                self.host(b"first_", word);
            } else if word.iter().filter(|byte| byte.is_ascii_digit()).count() < 3 {
                self.add(b"first_", word);
            }
        }
        let mut form = Vec::new();
        let mut in_word = false;
        for &byte in &relay {
            let is_word = in_host(byte);
            match byte {
                _ if is_word && in_word => {}
                _ if is_word => form.push(b'w'),
                b'(' | b'[' | b'<' => form.push(b'o'),
                b')' | b']' | b'>' => form.push(b'c'),
                b'@' => form.push(b'a'),
                _ if byte.is_ascii_whitespace() => {}
                _ => form.push(b'x'),
            }
            in_word = is_word;
        }
        if !form.is_empty() {
            self.add(b"relay_", &form[..form.len().min(LONGEST_FORM)]);
        }
        std::mem::take(&mut self.words)
    }

    /// Adds the form of a From field, and the hosts of its address.
    fn sender(&mut self, value: &[u8]) {
        let mut form = Vec::new();
        let mut address: &[u8] = b"";
        let mut at = 0;
        while let Some(&byte) = value.get(at) {
            let rest = &value[at + 1..];
            match byte {
                b'"' => {
                    form.push(b'q');
                    at += memchr::memchr(b'"', rest).map_or(rest.len(), |end| end + 1);
                }
                b'<' | b'(' | b',' => {
                    form.push(if byte == b'<' {
                        b'l'
                    } else if byte == b'(' {
                        b'c'
                    } else {
                        b'k'
                    });
                }
                _ if is_special(byte) || byte.is_ascii_whitespace() => {}
                _ => {
                    let end = rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len());
                    let word = value[at..=at + end].trim_ascii();
                    let is_address = memchr::memchr(b'@', word).is_some();
                    form.push(if is_address { b'a' } else { b'n' });
                    if is_address && address.is_empty() {
                        address = word
                            .split(|&byte| byte == b' ')
                            .rfind(|word| memchr::memchr(b'@', word).is_some())
                            .unwrap_or(word);
                    }
                    at += end;
                }
            }
            at += 1;
        }
        self.add(b"form_", &form[..form.len().min(LONGEST_FORM)]);
        if let Some(middle) = memchr::memrchr(b'@', address) {
            let (name, host) = address.split_at(middle);
            self.host(b"sender_", &host[1..]);
            let mut shape = Vec::new();
            for &byte in name {
                let kind = match byte {
                    b'a'..=b'z' => b'l',
                    b'A'..=b'Z' => b'u',
                    b'0'..=b'9' => b'd',
                    b'.' => b'p',
                    b'-' => b'h',
                    b'_' => b's',
                    _ => b'x',
                };
                if !(b"lud".contains(&kind) && shape.last() == Some(&kind)) {
                    shape.push(kind);
                }
            }
            self.add(b"name_", &shape[..shape.len().min(LONGEST_FORM)]);
        }
    }

    /// Adds a host and all domains that it is in; nothing for an address of numbers. Of names with
    /// many dots only the last [`MOST_DOMAINS`] domains count.
    fn host(&mut self, tag: &[u8], name: &[u8]) {
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
            self.add(tag, name);
            let Some(dot) = memchr::memchr(b'.', name) else { break };
            name = &name[dot + 1..];
        }
    }

    /// Adds a word, in which only letters, digits and single dots stand beside low lines.
    fn add(&mut self, tag: &[u8], name: &[u8]) {
        self.words.extend_from_slice(tag);
        for &byte in name.iter().take(60) {
            let is_plain = byte.is_ascii_alphanumeric() || byte == b'.';
            self.words.push(if is_plain { byte.to_ascii_lowercase() } else { b'_' });
        }
        self.words.push(b' ');
    }
}

/// Whether a byte may stand in the name of a host.
const fn in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// Whether a byte ends a word in a field with addresses.
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'<' | b'>' | b'(' | b')' | b',')
}

/// The words of a field in which names of hosts stay whole.
fn words(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    field.split(|&byte| !in_host(byte)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(fill: impl FnOnce(&mut Traits)) -> String {
        let mut traits = Traits::default();
        fill(&mut traits);
        String::from_utf8(traits.end_header()).expect("ASCII").trim_end().to_owned()
    }

    #[test]
    fn senders_have_a_form_hosts_and_a_shape() {
        for (field, expected) in [
            (
                "From: a.B42@x.example.org",
                "form_a sender_x.example.org sender_example.org sender_org name_lpud",
            ),
            ("from: \"Joe, Doe\" <joe@b.c>", "form_qla sender_b.c sender_c name_l"),
            (
                "From: =?utf-8?B?4oKs?= me <1@[10.0.0.1]>",
                "form_nla sender__10.0.0.1_ sender_0.0.1_ sender_0.1_ sender_1_ name_d",
            ),
            ("From: joe@b.c (Joe)", "form_acn sender_b.c sender_c name_l"),
            (
                "From: joe@a.b.c.d.e.f.g.h.i",
                "form_a sender_d.e.f.g.h.i sender_e.f.g.h.i sender_f.g.h.i sender_g.h.i \
                 sender_h.i sender_i name_l",
            ),
            ("From: nobody", "form_n"),
            ("From:", "form_"),
            ("From: \"open", "form_q"),
            ("From: <>", "form_l"),
        ] {
            assert_eq!(words(|traits| traits.field(field.as_bytes())), expected, "{field}");
        }
    }

    #[test]
    fn the_oldest_relay_counts_without_its_date() {
        let found = words(|traits| {
            traits.field(b"Received: from b.example by c.example; Mon, 1 Jan 2024");
            traits
                .field(b"Received: from [10.0.0.1] (helo=a.example.) by b.example id 12345X; Sun");
        });
        assert_eq!(
            found,
            "first_from first_helo first_a.example first_example first_by first_b.example \
             first_example first_id relay_wowcowxwcwwwwx"
        );
    }
}
