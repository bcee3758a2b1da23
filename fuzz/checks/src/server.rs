// SPDX-License-Identifier: GPL-3.0-or-later
//! Protocols of mail servers: any bytes from a client are answered or refused, and the server goes
//! on.

use dbacl_server::{Config, Engine, Log, Peer, Protocol, http, milter, opensmtpd, spamc};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Who may do everything.
const ROOT: Peer = Peer::User(0);

/// Bytes on their way in either direction.
const PIPE: usize = 1 << 16;

/// A server without a filter, and with little memory.
fn engine() -> Arc<Engine> {
    let mut config = Config { models: None, default: None, ..Config::default() };
    config.limits.mail = 4096;
    config.limits.memory = 8192;
    Arc::new(Engine::new(config, Log::silent()))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

/// What a client is answered who says `data` and no more.
async fn say(data: &[u8], client: DuplexStream) -> Vec<u8> {
    let (mut reader, mut writer) = tokio::io::split(client);
    let mut answer = Vec::new();
    let speak = async {
        // A server that refuses the request need not read it all.
        let _ = writer.write_all(data).await;
        let _ = writer.shutdown().await;
    };
    let ((), read) = tokio::join!(speak, reader.read_to_end(&mut answer));
    read.expect("memory can be read");
    answer
}

/// The protocol of spamc.
pub(crate) fn server_spamc(data: &[u8]) {
    let (client, server) = tokio::io::duplex(PIPE);
    let answer = runtime().block_on(async {
        let (answer, ()) = tokio::join!(say(data, client), spamc::serve(engine(), server, ROOT));
        answer
    });
    if answer.is_empty() {
        return;
    }
    assert!(answer.starts_with(b"SPAMD/1.") || answer.starts_with(b"RSPAMD/1.3"));
    let text = String::from_utf8_lossy(&answer);
    assert!(!text.contains("Spam: True"), "a verdict without a filter");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let mut length = text.lines().take_while(|line| !line.is_empty());
    let length = length.find_map(|line| line.strip_prefix("Content-length: "));
    if let (Some(end), Some(length)) = (end, length) {
        assert_eq!(length.parse::<usize>().ok(), Some(answer.len() - end - 4));
    }
}

/// HTTP.
pub(crate) fn server_http(data: &[u8]) {
    let (client, server) = tokio::io::duplex(PIPE);
    let answer = runtime().block_on(async {
        let serve = http::serve(engine(), server, Protocol::Rspamd, ROOT);
        let (answer, ()) = tokio::join!(say(data, client), serve);
        answer
    });
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."));
}

/// What is answered to a message that comes by HTTP with these further fields.
fn posted(fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /checkv2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\
         {fields}\r\n"
    );
    let (client, server) = tokio::io::duplex(PIPE);
    let request = [head.as_bytes(), body].concat();
    runtime().block_on(async {
        let serve = http::serve(engine(), server, Protocol::Rspamd, ROOT);
        tokio::join!(say(&request, client), serve).0
    })
}

/// A message in a frame of zstd, uncompressed.
fn zstd(data: &[u8]) -> Vec<u8> {
    let mut out = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    let length = u32::try_from(data.len()).expect("a short message");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(length << 3 | 1).to_le_bytes()[..3]);
    [&out, data].concat()
}

/// A message in a file of gzip, uncompressed.
fn gzip(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("a short message");
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    out.extend([length, !length].map(u16::to_le_bytes).concat());
    out.extend_from_slice(data);
    out.extend([crc32fast::hash(data), u32::from(length)].map(u32::to_le_bytes).concat());
    out
}

/// Compressed messages by HTTP: what is whole is answered as the message itself is, and anything
/// else with an error or a verdict.
pub(crate) fn server_packed(data: &[u8]) {
    let mail = &data[..data.len().min(1 << 13)];
    let status = |answer: &[u8]| {
        assert!(answer.starts_with(b"HTTP/1."), "{}", answer.escape_ascii());
        answer.split(|&byte| byte == b'\r').next().map(<[u8]>::to_vec)
    };
    let plain = status(&posted("", mail));
    for (field, body) in [
        ("Compression: zstd\r\n", zstd(mail)),
        ("Content-Encoding: zstd\r\n", zstd(mail)),
        ("Content-Encoding: gzip\r\n", gzip(mail)),
    ] {
        assert_eq!(status(&posted(field, &body)), plain, "{field}");
        status(&posted(field, mail));
    }
}

/// A listener with one connection.
struct Once(Option<DuplexStream>);

impl indymilter::Listener for Once {
    type Io = DuplexStream;

    fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<DuplexStream>> {
        self.0.take().map_or(Poll::Pending, |stream| Poll::Ready(Ok(stream)))
    }
}

/// The milter protocol.
pub(crate) fn server_milter(data: &[u8]) {
    let (client, server) = tokio::io::duplex(PIPE);
    let (stop, stopped) = watch::channel(false);
    let (_reload, engines) = watch::channel(engine());
    runtime().block_on(async {
        let speak = async {
            let answer = say(data, client).await;
            let _ = stop.send(true);
            answer
        };
        tokio::join!(speak, milter::serve(engines, Once(Some(server)), stopped));
    });
}

/// OpenSMTPD's filters.
pub(crate) fn server_opensmtpd(data: &[u8]) {
    let mut answer = Vec::new();
    opensmtpd::converse(&engine(), &mut &data[..], &mut answer).expect("memory can be written");
    for line in answer.split_inclusive(|&byte| byte == b'\n') {
        let is_known = [&b"register|"[..], b"filter-dataline|", b"filter-result|"]
            .iter()
            .any(|it| line.starts_with(it));
        assert!(is_known && line.ends_with(b"\n"), "{}", String::from_utf8_lossy(line));
    }
}
