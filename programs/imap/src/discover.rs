// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the IMAP server of a mail address: among usual providers, by the domain's SRV records (RFC
//! 6186), or by the file that the domain offers to mail programs. Nobody but the domain and the
//! name servers of this machine is asked.

use crate::transport::Place;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Servers of usual providers, by the domains of their addresses.
const PROVIDERS: [(&str, &str); 16] = [
    ("gmail.com googlemail.com", "imap.gmail.com"),
    ("outlook.com hotmail.com live.com msn.com", "outlook.office365.com"),
    ("yahoo.com ymail.com rocketmail.com", "imap.mail.yahoo.com"),
    ("icloud.com me.com mac.com", "imap.mail.me.com"),
    ("aol.com", "imap.aol.com"),
    ("fastmail.com fastmail.fm", "imap.fastmail.com"),
    ("gmx.net gmx.de gmx.at gmx.ch", "imap.gmx.net"),
    ("gmx.com", "imap.gmx.com"),
    ("web.de", "imap.web.de"),
    ("t-online.de", "secureimap.t-online.de"),
    ("posteo.de posteo.net", "posteo.de"),
    ("mailbox.org", "imap.mailbox.org"),
    ("zoho.com", "imap.zoho.com"),
    ("yandex.com yandex.ru", "imap.yandex.com"),
    ("orange.fr wanadoo.fr", "imap.orange.fr"),
    ("free.fr", "imap.free.fr"),
];

/// How long a name server may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// The most bytes that are read of the file for mail programs.
const MOST: u64 = 1 << 16;

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub host: String,
    pub port: u16,
    /// Whether anybody vouches for it: it is known, or belongs to the domain. Otherwise somebody
    /// who can forge answers of name servers may have chosen it.
    pub is_vouched_for: bool,
}

/// The server of a mail address; `None` if none is found.
pub(crate) fn find(address: &str) -> Option<Server> {
    let domain = address.rsplit_once('@')?.1.to_ascii_lowercase();
    let known = PROVIDERS.iter().find(|(domains, _)| domains.split(' ').any(|it| it == domain));
    if let Some((_, host)) = known {
        return Some(Server { host: (*host).into(), port: 993, is_vouched_for: true });
    }
    let found = name_servers().into_iter().find_map(|server| ask(server, &domain).ok().flatten());
    let (host, port) = found.or_else(|| offered(&domain, address))?;
    let is_vouched_for = host == domain || host.ends_with(&format!(".{domain}"));
    Some(Server { host, port, is_vouched_for })
}

fn name_servers() -> Vec<SocketAddr> {
    let text = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let listed = text.lines().filter_map(|line| line.strip_prefix("nameserver"));
    let addresses = listed.filter_map(|rest| rest.trim().parse::<IpAddr>().ok());
    addresses.map(|address| (address, 53).into()).take(3).collect()
}

/// Asks a name server for the domain's IMAP server with TLS.
fn ask(server: SocketAddr, domain: &str) -> io::Result<Option<(String, u16)>> {
    let id = RandomState::new().hash_one(0_u8).to_le_bytes();
    let mut question = vec![id[0], id[1], 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for part in ["_imaps", "_tcp"].into_iter().chain(domain.split('.')) {
        let length = u8::try_from(part.len()).ok().filter(|length| (1..64).contains(length));
        let length = length.ok_or_else(|| io::Error::other("not the name of a domain"))?;
        question.push(length);
        question.extend(part.as_bytes());
    }
    // The end of the name, type SRV, class IN.
    question.extend([0, 0, 33, 0, 1]);
    let any: SocketAddr = if server.is_ipv4() {
        ([0, 0, 0, 0], 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send(&question)?;
    let mut answer = [0; 4096];
    let length = socket.recv(&mut answer)?;
    Ok(answer_in(&answer[..length], &question))
}

/// The server in an answer to `question`: that of the smallest priority.
fn answer_in(answer: &[u8], question: &[u8]) -> Option<(String, u16)> {
    // It repeats the question and says that it is an answer without an error.
    let is_ours = answer.get(..2)? == question.get(..2)?
        && answer.get(2)? & 0x80 != 0
        && answer.get(3)? % 16 == 0
        && answer.get(12..question.len())? == question.get(12..)?;
    let count = number(answer, 6)?;
    let mut at = question.len();
    let mut found: Option<(u16, (String, u16))> = None;
    for _ in 0..if is_ours { count } else { 0 } {
        at = name(answer, at)?.1;
        let (kind, length) = (number(answer, at)?, usize::from(number(answer, at + 8)?));
        let data = at + 10;
        if kind == 33 {
            let (priority, port) = (number(answer, data)?, number(answer, data + 4)?);
            let host = name(answer, data + 6)?.0;
            // A dot alone says that there is no server.
            if !host.is_empty() && found.as_ref().is_none_or(|(least, _)| priority < *least) {
                found = Some((priority, (host, port)));
            }
        }
        at = data + length;
    }
    found.map(|(_, server)| server)
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The name at a place of an answer, and the place after it (RFC 1035, 4.1.4).
fn name(bytes: &[u8], mut at: usize) -> Option<(String, usize)> {
    let (mut name, mut end) = (String::new(), None);
    // Each step is a part of the name or a jump; a name has at most 127 parts.
    for _ in 0..256 {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some((name, end.unwrap_or(at + 1))),
            1..64 => {
                let part = bytes.get(at + 1..=at + length)?;
                let is_plain =
                    part.iter().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(it));
                let part = std::str::from_utf8(part).ok().filter(|_| is_plain)?;
                let dot = if name.is_empty() { "" } else { "." };
                name.push_str(dot);
                name.push_str(part);
                at += 1 + length;
            }
            192..256 => {
                end = end.or(Some(at + 2));
                at = usize::from(number(bytes, at)? & 0x3fff);
            }
            _ => return None,
        }
    }
    None
}

/// The server in the file that a domain offers to mail programs.
fn offered(domain: &str, address: &str) -> Option<(String, u16)> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@+".contains(&byte);
    if !address.bytes().all(is_plain) {
        return None;
    }
    let host = format!("autoconfig.{domain}");
    let read = || -> Result<Vec<u8>, String> {
        let place = Place::tls(host.clone(), 443, None)?;
        let (mut wire, _) = place.connect()?;
        let address = address.replace('@', "%40").replace('+', "%2B");
        let request = format!(
            "GET /mail/config-v1.1.xml?emailaddress={address} HTTP/1.0\r\nHost: {host}\r\n\r\n"
        );
        let mut text = Vec::new();
        // A connection that ends early may have brought enough.
        if wire.write_all(request.as_bytes()).and_then(|()| wire.flush()).is_ok() {
            let _ = wire.take(MOST).read_to_end(&mut text);
        }
        Ok(text)
    };
    let text = read().ok()?;
    server_in(&String::from_utf8_lossy(&text))
}

/// The server with TLS in such a file.
fn server_in(text: &str) -> Option<(String, u16)> {
    text.split("<incomingServer").skip(1).find_map(|rest| {
        let rest = rest.split("</incomingServer>").next()?;
        let of = |tag: &str| {
            let (_, inner) = rest.split_once(&format!("<{tag}>"))?;
            Some(inner.split_once('<')?.0.trim().to_ascii_lowercase())
        };
        let is_imap = rest.split('>').next()?.contains("\"imap\"");
        let host = of("hostname")?;
        let is_name = host.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it));
        let is_wanted = is_imap && is_name && !host.is_empty() && of("socketType")? == "ssl";
        is_wanted.then_some((host, of("port")?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_providers_are_asked_nothing() {
        let found = find("Somebody@GMail.com").expect("a server");
        assert_eq!((found.host.as_str(), found.port), ("imap.gmail.com", 993));
        assert!(found.is_vouched_for);
        assert_eq!(find("alice"), None);
    }

    /// A name server that gives one answer: it repeats the question and adds `records`.
    fn answered(records: &[u8], count: u8, flags: [u8; 2]) -> Option<(String, u16)> {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let place = server.local_addr().expect("an address");
        let records = records.to_vec();
        let work = std::thread::spawn(move || {
            let mut question = [0; 512];
            let (length, from) = server.recv_from(&mut question).expect("a question");
            let mut answer = question[..length].to_vec();
            answer[2..4].copy_from_slice(&flags);
            answer[7] = count;
            answer.extend(records);
            server.send_to(&answer, from).expect("it is sent");
        });
        let found = ask(place, "example.org").expect("an answer");
        work.join().expect("no panic");
        found
    }

    #[test]
    fn records_of_the_domain_name_its_server() {
        // The name of the question begins at 12, and `example` within it at 24.
        let record = |priority: u8, port: u16, host: &[u8]| {
            let mut bytes = vec![192, 12, 0, 33, 0, 1, 0, 0, 0, 60, 0];
            bytes.push(u8::try_from(6 + host.len()).expect("short"));
            bytes.extend([0, priority, 0, 0]);
            bytes.extend(port.to_be_bytes());
            bytes.extend(host);
            bytes
        };
        let (far, near) = (record(20, 1, b"\x01b\xc0\x18"), record(10, 993, b"\x04imap\xc0\x18"));
        let both = [far.clone(), near.clone()].concat();
        assert_eq!(answered(&both, 2, [0x81, 0x80]), Some(("imap.example.org".into(), 993)));
        assert_eq!(answered(&record(0, 0, b"\0"), 1, [0x81, 0x80]), None);
        // Refused, cut short, going round in circles, with other letters.
        assert_eq!(answered(&near, 1, [0x81, 0x83]), None);
        assert_eq!(answered(&near[..near.len() - 3], 1, [0x81, 0x80]), None);
        assert_eq!(answered(&near, 9, [0x81, 0x80]), None);
        assert_eq!(answered(&[192, 37, 192, 35], 1, [0x81, 0x80]), None);
        assert_eq!(answered(&record(1, 993, b"\x03a\nb\0"), 1, [0x81, 0x80]), None);
    }

    #[test]
    fn the_file_for_mail_programs_names_the_server_with_tls() {
        let text = "<incomingServer type=\"pop3\"><hostname>pop.x</hostname><port>995</port>\
                    <socketType>SSL</socketType></incomingServer>\
                    <incomingServer type=\"imap\"><hostname>old.x</hostname><port>143</port>\
                    <socketType>STARTTLS</socketType></incomingServer>\
                    <incomingServer type=\"imap\">\n<hostname>Mail.x</hostname><port>993</port>\
                    <socketType>SSL</socketType></incomingServer>";
        assert_eq!(server_in(text), Some(("mail.x".into(), 993)));
        for wrong in ["", "<incomingServer", &text.replace("Mail.x", "a b"), &text[..300]] {
            assert_eq!(server_in(wrong), None, "{wrong}");
        }
    }
}
