// SPDX-License-Identifier: GPL-3.0-or-later
//! Tags of agreement: whether sender, relays, links and receiver of a message belong together
//! (docs/spec/unicode-mail.md, section 7).
//!
//! ```text
//! From, Reply-To, Message-ID, To, Received, links ─→ registered domains ─→ lr:y lk:some ...
//! ```
//!
//! Wanted advertising and spam say the same in the same form. But a newsletter comes from a relay
//! of its sender, and its links lead there.

use crate::filter::unicode::shapes::address_form;

/// The most domains of links and of relays that are kept.
const MOST: usize = 64;
/// Letters of a receiver's name that is looked for in the text.
const LONG_NAME: usize = 4;
/// The most different domains of links that are counted.
const MOST_COUNTED: usize = 6;

/// Domains of countries give names below these, and not below themselves.
const SECOND_LEVELS: [&[u8]; 9] =
    [b"co", b"com", b"net", b"org", b"ac", b"edu", b"gov", b"ne", b"or"];

/// Providers that give addresses to everybody.
const PROVIDERS: [&[u8]; 22] = [
    b"aol.com",
    b"earthlink.net",
    b"excite.com",
    b"gmail.com",
    b"gmx.de",
    b"gmx.net",
    b"hotmail.co.uk",
    b"hotmail.com",
    b"icloud.com",
    b"juno.com",
    b"live.com",
    b"lycos.com",
    b"mail.com",
    b"mail.ru",
    b"msn.com",
    b"netscape.net",
    b"outlook.com",
    b"qq.com",
    b"web.de",
    b"webtv.net",
    b"yahoo.co.uk",
    b"yahoo.com",
];

/// What is known of one message, as it is found.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// Whether there is a field of which tags can be made.
    has_fields: bool,
    from: Vec<u8>,
    id: Vec<u8>,
    /// The domain of Reply-To, if there is one.
    reply: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    /// The part before `@` of To's first address, if it is long enough to be looked for.
    name: Vec<u8>,
    is_named: bool,
    relays: Vec<Vec<u8>>,
    /// Those of the Received field that was read last: the oldest when the header is at its end.
    oldest: Vec<Vec<u8>>,
    links: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl Agreement {
    /// The host of From's first address.
    pub(super) fn sender(&mut self, host: &[u8]) {
        self.has_fields = true;
        self.from = registered(host);
    }

    /// The host of Message-ID.
    pub(super) fn message_id(&mut self, host: &[u8]) {
        self.has_fields = true;
        self.id = registered(host);
    }

    /// The field Reply-To.
    pub(super) fn reply_to(&mut self, value: &[u8]) {
        let (_, host) = address(value);
        self.reply.get_or_insert_with(|| registered(host));
    }

    /// The field To.
    pub(super) fn receiver(&mut self, value: &[u8]) {
        if self.to.is_none() {
            let (name, host) = address(value);
            self.to = Some(registered(host));
            self.name = name.to_ascii_lowercase();
            if name.len() < LONG_NAME {
                self.name.clear();
            }
        }
    }

    /// A field Received, without its date. What follows `by` and `for` is the receiver's, `id` is
    /// followed by no host.
    pub(super) fn received(&mut self, value: &[u8]) {
        self.has_fields = true;
        self.oldest.clear();
        let mut is_passed = false;
        for word in value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            if std::mem::take(&mut is_passed) {
                continue;
            }
            is_passed = [&b"by"[..], b"for", b"id"].iter().any(|it| word.eq_ignore_ascii_case(it));
            let in_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
            for host in word.split(|byte| !in_host(byte)).filter(|host| host.contains(&b'.')) {
                insert(&mut self.oldest, registered(host));
            }
        }
        for domain in &self.oldest {
            insert(&mut self.relays, domain.clone());
        }
    }

    /// The host of a link.
    pub(super) fn link(&mut self, host: &[u8]) {
        insert(&mut self.links, registered(host));
    }

    /// A line of text, or a link.
    pub(super) fn text(&mut self, line: &[u8]) {
        if self.name.is_empty() || self.is_named {
            return;
        }
        self.scratch.clear();
        self.scratch.extend(line.iter().map(u8::to_ascii_lowercase));
        self.is_named = memchr::memmem::find(&self.scratch, &self.name).is_some();
    }

    /// Calls `each` with kind and value of each tag. There are none without a header.
    pub(super) fn finish(self, mut each: impl FnMut(&str, &[u8])) {
        if !self.has_fields {
            return;
        }
        let Self { from, links, relays, oldest, .. } = &self;
        let is_in = |list: &[Vec<u8>]| list.contains(from);
        let provider = match from {
            from if from.is_empty() => "none",
            from if PROVIDERS.contains(&from.as_slice()) => "free",
            _ => "own",
        };
        let relayed = |list: &[Vec<u8>]| match list {
            [] => "none",
            _ if is_in(list) => "same",
            _ => "other",
        };
        let (received, origin) = (relayed(relays), relayed(oldest));
        let yes = |is: bool| if is { "yes" } else { "no" };
        let linked = match links.as_slice() {
            [] => "none",
            [only] if only == from => "all",
            _ if is_in(links) => "some",
            _ => "other",
        };
        let of_links = |is: bool| if links.is_empty() { "none" } else { yes(is) };
        let by_relays = of_links(links.iter().any(|link| relays.contains(link)));
        let by_id = of_links(links.contains(&self.id));
        let answers = match &self.reply {
            None => "none",
            Some(reply) if reply == from => "same",
            Some(_) => "other",
        };
        let is_inside = self.to.as_ref() == Some(from);
        let number = links.len().min(MOST_COUNTED).to_string();
        for (kind, value) in [
            ("lk:", linked),
            ("lr:", by_relays),
            ("lm:", by_id),
            ("nl:", &number),
            ("rr:", received),
            ("ro:", origin),
            ("rp:", answers),
            ("pe:", yes(self.is_named)),
            ("dd:", yes(is_inside)),
            ("fp:", provider),
        ] {
            each(kind, value.as_bytes());
        }
    }
}

/// Adds a domain to a list that is short and does not have it.
fn insert(list: &mut Vec<Vec<u8>>, domain: Vec<u8>) {
    if !domain.is_empty() && list.len() < MOST && !list.contains(&domain) {
        list.push(domain);
    }
}

/// Name and host of the first address of a field.
fn address(value: &[u8]) -> (&[u8], &[u8]) {
    let (_, address) = address_form(value);
    memchr::memrchr(b'@', address)
        .map_or((&[][..], &[][..]), |at| (&address[..at], &address[at + 1..]))
}

/// The domain that somebody has registered for a host: its last two labels, or three where a
/// country has domains such as `co.uk`. Empty for numbers and for names without a dot.
pub(crate) fn registered(host: &[u8]) -> Vec<u8> {
    let host = host.to_ascii_lowercase();
    let labels: Vec<&[u8]> =
        host.split(|&byte| byte == b'.').filter(|label| !label.is_empty()).collect();
    let kept = match labels.as_slice() {
        [] | [_] => 0,
        [.., last] if last.iter().any(u8::is_ascii_digit) => 0,
        [_, .., second, last] if last.len() == 2 && SECOND_LEVELS.contains(second) => 3,
        _ => 2,
    };
    labels[labels.len() - kept..].join(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_domains_are_two_or_three_labels() {
        for (host, expected) in [
            ("mail.Example.COM", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            (".example.org.", "example.org"),
            ("192.0.2.1", ""),
            ("localhost", ""),
            ("", ""),
        ] {
            let found = registered(host.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{host}");
        }
    }

    #[test]
    fn domains_of_sender_relays_and_links_are_compared() {
        let tags = |from: &str, relays: &[&str], links: &[&str]| {
            let mut message = Agreement::default();
            message.sender(from.as_bytes());
            for relay in relays {
                message.received(relay.as_bytes());
            }
            for link in links {
                message.link(link.as_bytes());
            }
            let mut found = String::new();
            message.finish(|kind, value| {
                found += kind;
                found += &String::from_utf8_lossy(value);
                found.push(' ');
            });
            found
        };
        let relay = "from out.mailer.example (out.mailer.example [192.0.2.1]) by mx.home.example";
        let has = |found: String, expected: &[&str]| {
            for tag in expected {
                assert!(found.contains(&format!("{tag} ")), "{tag}: {found}");
            }
        };
        has(tags("shop.example", &[relay], &["www.shop.example"]), &["lk:all", "lr:no"]);
        has(tags("shop.example", &[relay], &["click.mailer.example"]), &["lk:other", "lr:yes"]);
        has(
            tags("shop.example", &[relay], &["a.shop.example", "b.mailer.example"]),
            &["lk:some", "lr:yes"],
        );
        // What the receiver's host is called says nothing of the sender.
        has(tags("shop.example", &[relay], &["home.example"]), &["lk:other", "lr:no"]);
        has(tags("shop.example", &[], &[]), &["lk:none", "lr:none"]);
        let mut without_header = Agreement::default();
        without_header.link(b"shop.example");
        without_header.finish(|kind, _| panic!("{kind}"));
    }
}
