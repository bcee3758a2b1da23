// SPDX-License-Identifier: GPL-3.0-or-later
//! The state of the server as it is sent. It is gathered for one reader at a time and kept for some
//! seconds, so that many readers cost no more than one.

use crate::engine::Engine;
use crate::status::Status;
use dbacl_cli::terminal::is_hidden;
use hyper::body::Bytes;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long the state is kept at least.
const KEPT: Duration = Duration::from_secs(2);

/// The state is kept for so many times the time that it took to gather, so that it takes a small
/// part of a processor whatever is asked.
const REST: u32 = 4;

/// The state in both forms.
#[derive(Debug, Clone)]
pub(crate) struct Pages {
    /// For people.
    pub page: Bytes,
    /// For programs.
    pub json: Bytes,
}

/// The last state that was gathered, and until when it is sent.
#[derive(Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<Option<(Pages, Instant)>>>);

impl Kept {
    /// The state of this engine, which is at most some seconds old; `None` if it cannot be shown.
    pub(crate) async fn get(&self, engine: &Arc<Engine>) -> Option<Pages> {
        // The work keeps the lock even if the reader goes away meanwhile.
        let mut kept = Arc::clone(&self.0).lock_owned().await;
        if let Some((pages, _)) = kept.as_ref().filter(|(_, end)| Instant::now() < *end) {
            return Some(pages.clone());
        }
        let shared = Arc::clone(engine);
        let gather = move || {
            let start = Instant::now();
            let status = Status::of(&shared);
            let json = serde_json::to_string(&status).ok()?;
            let [page, json] = [status.page(), json].map(|text| Bytes::from(escaped(&text)));
            let pages = Pages { page, json };
            *kept = Some((pages.clone(), Instant::now() + KEPT.max(REST * start.elapsed())));
            Some(pages)
        };
        engine.aside(gather).await.flatten()
    }
}

/// `text` with letters that control terminals, or that hide text or change its direction, in the
/// way of JSON (`\u202e`); line ends stay. Such letters come from users' names and from mail.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' || !letter.is_control() && !is_hidden(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // A string can be written.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::listen::Protocol;
    use crate::log::Log;

    #[test]
    fn letters_that_control_or_hide_are_escaped() {
        for (text, expected) in [
            ("<b>caf\u{e9} \u{1f602}</b>\n", "<b>caf\u{e9} \u{1f602}</b>\n"),
            ("a\x1b[2J\0\r\t\x7f", r"a\u001b[2J\u0000\u000d\u0009\u007f"),
            ("\u{9b}2J\u{85}", r"\u009b2J\u0085"),
            ("cod\u{202e}exe\u{200b}\u{feff}", r"cod\u202eexe\u200b\ufeff"),
            ("\u{e0041}", r"\udb40\udc41"),
        ] {
            assert_eq!(escaped(text), expected);
            let json = escaped(&serde_json::to_string(text).expect("a text"));
            assert!(json.bytes().all(|byte| byte >= b' '), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
        }
    }

    #[tokio::test]
    async fn readers_share_a_state_for_a_while() {
        let engine = Arc::new(Engine::new(Config::default(), Log::silent()));
        let first = engine.pages.get(&engine).await.expect("a state");
        engine.refuse(Protocol::Spamc, &"cod\u{202e}exe\x1b[2J");
        let again = engine.pages.get(&engine).await.expect("a state");
        assert_eq!((&again.page, &again.json), (&first.page, &first.json));
        tokio::time::sleep(KEPT).await;
        // It may have taken long to gather.
        while engine.pages.get(&engine).await.expect("a state").page == first.page {
            tokio::time::sleep(KEPT / 10).await;
        }
        let Pages { page, json } = engine.pages.get(&engine).await.expect("a state");
        for text in [page, json] {
            let text = String::from_utf8(text.to_vec()).expect("text");
            assert!(text.contains(r"cod\u202eexe\u001b[2J"), "{text}");
        }
    }
}
