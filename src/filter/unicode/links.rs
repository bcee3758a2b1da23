// SPDX-License-Identifier: GPL-3.0-or-later
//! Shape and path of links, of which tags are made. Their hosts are not: they change fastest.

/// The most words of a link's path.
const MOST_WORDS: usize = 12;

/// The most links of a line.
const MOST_LINKS: usize = 16;

/// The first links in a line of text.
pub(crate) fn links(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let next = move || {
        let by_scheme = memchr::memmem::find(text, b"://").map(|at| {
            let letters = text[..at].iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
            at - letters.count()
        });
        let by_name = memchr::memmem::find(text, b"www.");
        let body = &text[by_scheme.into_iter().chain(by_name).min()?..];
        let is_end = |byte: &u8| *byte <= b' ' || b"<>\"'()[]{}".contains(byte);
        let end = body.iter().position(is_end).unwrap_or(body.len());
        text = &body[end.max(4).min(body.len())..];
        Some(&body[..end])
    };
    std::iter::from_fn(next).take(MOST_LINKS)
}

/// The host of a link that names one.
pub(crate) fn host(link: &[u8]) -> Option<&[u8]> {
    let place = match memchr::memmem::find(link, b"://") {
        Some(at) => &link[at + 3..],
        None => link.strip_prefix(b"//").or_else(|| link.starts_with(b"www.").then_some(link))?,
    };
    let end = place.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(place.len());
    let host = place[..end].rsplit(|&byte| byte == b'@').next()?;
    host.split(|&byte| byte == b':').next()
}

/// Calls `each` with kind and value of each tag of a link.
pub(super) fn tag_link(link: &[u8], mut each: impl FnMut(&str, &[u8])) {
    let colon = memchr::memmem::find(link, b"://");
    let (scheme, rest) = match colon {
        Some(at) => (&link[..at], &link[at + 3..]),
        None => match memchr::memchr(b':', link) {
            Some(at) if link[..at].iter().all(u8::is_ascii_alphabetic) => {
                each("ls:", &link[..at]);
                return;
            }
            _ => (&b"none"[..], link),
        },
    };
    each("ls:", scheme);
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (place, behind) = rest.split_at(end);
    let host = match memchr::memrchr(b'@', place) {
        Some(at) => {
            each("la:", b"user");
            &place[at + 1..]
        }
        None => place,
    };
    let host = match memchr::memrchr(b':', host) {
        Some(at) => {
            each("la:", b"port");
            &host[..at]
        }
        None => host,
    };
    if memchr::memchr(b'%', link).is_some() {
        each("la:", b"percent");
    }
    if memchr::memchr(b'?', behind).is_some() {
        each("la:", b"query");
    }
    if !host.is_empty() && host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        each("la:", b"ip");
    } else {
        let top = host.rsplit(|&byte| byte == b'.').next().unwrap_or(&[]);
        each("lt:", top);
        let dots = memchr::memchr_iter(b'.', host).count().min(6);
        each("ld:", dots.to_string().as_bytes());
    }
    let path = behind.split(|&byte| byte == b'?').next().unwrap_or(&[]);
    let words = path.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.len() > 1);
    for word in words.take(MOST_WORDS) {
        each("lp:", word);
    }
}
