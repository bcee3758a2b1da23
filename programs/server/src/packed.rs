// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages that come compressed.
//!
//! ```text
//! compressed message ─→ pieces of 64 kB ─→ message, within the same limits
//! ```
//!
//! What is unpacked is counted against the budget as it appears, so that a few bytes that stand for
//! many take no more memory than a message may.

use crate::budget::{Mail, Refusal};
use crate::engine::Engine;
use dbacl_cli::listen::Peer;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, Read};
use std::time::Duration;

/// The bytes that are unpacked at a time.
const PIECE: usize = 64 << 10;

/// The most bytes that a zstd frame may refer back to: as many as every decoder should allow
/// (RFC 8878, 3.1.1.1.2).
const WINDOW: usize = 8 << 20;

/// How a message is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Zlib,
    Gzip,
    Zstd,
}

impl Coding {
    /// The coding of this name in HTTP; `None` for a message as it is.
    pub(crate) fn of_name(name: &str) -> Result<Option<Self>, String> {
        match name.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(None),
            "zstd" => Ok(Some(Self::Zstd)),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Zlib)),
            other => Err(format!("messages can be compressed by zstd or gzip, not by {other}")),
        }
    }

    fn decoder(self, bytes: &[u8]) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(match self {
            Self::Zlib => Box::new(ZlibDecoder::new(bytes)),
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Zstd => {
                let decoder = StreamingDecoder::new_with_max_window_size(bytes, WINDOW as u64);
                Box::new(decoder.map_err(io::Error::other)?)
            }
        })
    }
}

/// Why a message is not unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the compressed message is damaged")]
    Damaged,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// How much of a message is needed, and how much of it has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Whether the beginning is enough.
    pub beginning: bool,
    /// Whether only the beginning of the compressed message is there.
    pub is_cut: bool,
}

/// The message that is compressed in `packed`.
pub(crate) async fn unpack(
    engine: &Engine,
    peer: Peer,
    packed: &Mail,
    coding: Coding,
    extent: Extent,
) -> Result<Mail, Fault> {
    let promise = engine.memory.promise(WINDOW, Duration::ZERO);
    let _promise = promise.ok_or(Refusal::Busy)?;
    let mut unpacked = engine.mail(Some(peer));
    let mut source = coding.decoder(packed.bytes()).map_err(|_| Fault::Damaged)?;
    let mut piece = vec![0; PIECE];
    loop {
        let length = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(_) if extent.is_cut => break,
            Err(_) => return Err(Fault::Damaged),
        };
        match unpacked.push_beginning(&piece[..length]) {
            Ok(()) => {}
            Err(why) if extent.beginning && unpacked.can_be_judged(why) => break,
            Err(why) => return Err(why.into()),
        }
        // A short compressed message may be long, so other tasks get their turn now and then.
        tokio::task::yield_now().await;
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Limits};
    use crate::log::Log;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write as _;

    fn packed(coding: Coding, bytes: &[u8]) -> Vec<u8> {
        let level = Compression::default();
        match coding {
            Coding::Zlib => {
                let mut out = ZlibEncoder::new(Vec::new(), level);
                out.write_all(bytes).and_then(|()| out.finish())
            }
            Coding::Gzip => {
                let mut out = GzEncoder::new(Vec::new(), level);
                out.write_all(bytes).and_then(|()| out.finish())
            }
            Coding::Zstd => Ok(compress_to_vec(bytes, CompressionLevel::Fastest)),
        }
        .expect("memory")
    }

    #[tokio::test]
    async fn every_coding_is_unpacked_within_the_limits() {
        let limits = Limits { mail: 1 << 20, memory: 8 << 20, ..Limits::default() };
        let engine = Engine::new(Config { limits, ..Config::default() }, Log::silent());
        let peer = Peer::User(1);
        let text = b"Subject: pills\n\nbuy cheap pills\n".repeat(1000);
        for coding in [Coding::Zlib, Coding::Gzip, Coding::Zstd] {
            let open = async |bytes: &[u8], beginning: bool, is_cut: bool| {
                let mut mail = engine.mail(Some(peer));
                mail.push(bytes).expect("room");
                let extent = Extent { beginning, is_cut };
                let unpacked = unpack(&engine, peer, &mail, coding, extent).await;
                unpacked.map(|mail| mail.bytes().to_vec())
            };
            let whole = packed(coding, &text);
            assert_eq!(open(&whole, false, false).await.expect("whole"), text, "{coding:?}");
            let half = &whole[..whole.len() / 2];
            assert!(matches!(open(half, false, false).await, Err(Fault::Damaged)), "{coding:?}");
            let cut = open(half, true, true).await.expect("a beginning");
            assert!(text.starts_with(&cut), "{coding:?}");
            assert!(matches!(open(b"From: a\n", false, false).await, Err(Fault::Damaged)));
            // A bomb: the message ends at the limit.
            let bomb = packed(coding, &vec![0; 100 << 20]);
            assert!(bomb.len() < 1 << 20, "{coding:?}: {}", bomb.len());
            let refused = open(&bomb, false, false).await;
            assert!(matches!(refused, Err(Fault::Refused(Refusal::Large))), "{coding:?}");
            assert_eq!(open(&bomb, true, false).await.expect("a beginning").len(), 1 << 20);
        }
        assert_eq!(engine.budget.in_use(), 0);
        // A frame that asks for a window of 128 MB.
        let mut mail = engine.mail(Some(peer));
        mail.push(b"\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00").expect("room");
        let extent = Extent { beginning: true, is_cut: false };
        let refused = unpack(&engine, peer, &mail, Coding::Zstd, extent).await;
        assert!(matches!(refused, Err(Fault::Damaged)));
    }

    #[test]
    fn other_codings_are_refused_by_name() {
        for (name, expected) in [
            ("", None),
            ("Identity", None),
            (" ZSTD ", Some(Coding::Zstd)),
            ("gzip", Some(Coding::Gzip)),
        ] {
            assert_eq!(Coding::of_name(name), Ok(expected), "{name}");
        }
        for name in ["br", "lz4", "gzip, zstd"] {
            assert!(Coding::of_name(name).is_err_and(|why| why.contains(name)), "{name}");
        }
    }
}
