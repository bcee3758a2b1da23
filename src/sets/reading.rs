// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the features of messages in memory, as the program does with files.

use super::message::{Gathering, Message};
use crate::document::{Cutter, FeatureReader, FeatureSink, ReadOptions};
use crate::filter::unicode::links;
use crate::fit::beginning::{LIMIT, MailLines};
use crate::mail::scanner::Holds;
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, Scheme};
use crate::report::evidence::printable;
use crate::token::Feature;
use std::io;
use std::sync::atomic::AtomicBool;

/// Reads messages, each as if it were the only one. Only the beginning of a message is read; the
/// lines `X-DBACL` in its header are left out.
pub(super) struct MessageReader<'a> {
    reader: FeatureReader<'a>,
    gathering: Gathering,
}

impl<'a> MessageReader<'a> {
    /// A reader of messages, which ends early once `stop` is set.
    pub(super) fn new(options: &ReadOptions, stop: Option<&'a AtomicBool>) -> Self {
        let reader = FeatureReader::new(options).until(stop).of_beginnings(LIMIT);
        Self { reader, gathering: Gathering::default() }
    }

    /// Calls `each` for the features of a message, in the order of the text.
    pub(super) fn features(&mut self, mail: &[u8], each: impl FnMut(Feature<'_>)) {
        self.reader.start_anew();
        // Reading from memory cannot fail, and `Features` takes all that it is given.
        let _ = self.reader.read_bytes(mail, &mut Features { each, mail: MailLines::default() });
    }

    /// The features of a message; `None` if there are none.
    pub(super) fn read(&mut self, mail: &[u8]) -> Option<Message> {
        let mut gathering = std::mem::take(&mut self.gathering);
        self.features(mail, |feature| gathering.add(&feature));
        let message = gathering.finish();
        self.gathering = gathering;
        message
    }
}

/// The numbers of media (docs/spec/unicode-mail.md, section 3).
const LINK: u8 = 2;
const SHOWN: u8 = 3;

/// The text of a message that a mail program shows, for people.
pub(super) fn visible_text(mail: &[u8]) -> String {
    let mut text = String::new();
    lines(mail, |line, medium| {
        if medium.number() == SHOWN {
            text.push_str(&printable(String::from_utf8_lossy(line).trim_end()));
            text.push('\n');
        }
    });
    text
}

/// The host of the first link of a message.
pub(super) fn first_link(mail: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    lines(mail, |line, medium| {
        if found.is_none() && matches!(medium.number(), LINK | SHOWN) {
            let host = |link| links::host(link).filter(|host| host.contains(&b'.'));
            found = links::links(line).find_map(host).map(<[u8]>::to_ascii_lowercase);
        }
    });
    found
}

/// Calls `each` with the lines of text and links of a message.
fn lines(mail: &[u8], each: impl FnMut(&[u8], Medium)) {
    struct Lines<F>(F);
    impl<F: FnMut(&[u8], Medium)> FeatureSink for Lines<F> {
        fn feature(&mut self, _feature: Feature<'_>) {}

        fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, _: &mut Cutter) -> io::Result<()> {
            (self.0)(line, medium);
            Ok(())
        }
    }
    let options = ReadOptions::mail();
    let kinds = options.options.with(ModelOption::MailUnicode).with(ModelOption::HtmlLinks);
    let options = ReadOptions { options: kinds, scheme: Scheme::Word, ..options };
    // Reading from memory cannot fail, and all lines are taken.
    let _ = FeatureReader::new(&options).of_beginnings(LIMIT).read_bytes(mail, &mut Lines(each));
}

/// Hands features on.
struct Features<F> {
    each: F,
    mail: MailLines,
}

impl<F: FnMut(Feature<'_>)> FeatureSink for Features<F> {
    fn holds(&self) -> Option<Holds> {
        Some(Holds::One)
    }

    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.mail.begins(line, false);
        Ok(self.mail.hold(line))
    }

    fn feature(&mut self, feature: Feature<'_>) {
        (self.each)(feature);
    }
}
