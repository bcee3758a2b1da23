// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the features of messages in memory, as the program does with files.

use super::message::{Gathering, Message};
use crate::document::{Cutter, FeatureReader, FeatureSink, ReadOptions};
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
        let reader = match stop {
            Some(stop) => FeatureReader::stoppable(options, stop),
            None => FeatureReader::new(options),
        };
        Self { reader: reader.of_beginnings(LIMIT), gathering: Gathering::default() }
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

/// The text of a message that a mail program shows, for people.
pub(super) fn visible_text(mail: &[u8]) -> String {
    /// The number of its medium (docs/spec/unicode-mail.md, section 3).
    const SHOWN: u8 = 3;
    struct Text(String);
    impl FeatureSink for Text {
        fn feature(&mut self, _feature: Feature<'_>) {}

        fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, _: &mut Cutter) -> io::Result<()> {
            if medium.number() == SHOWN {
                self.0.push_str(&printable(String::from_utf8_lossy(line).trim_end()));
                self.0.push('\n');
            }
            Ok(())
        }
    }
    let options = ReadOptions::mail();
    let unicode = options.options.with(ModelOption::MailUnicode);
    let options = ReadOptions { options: unicode, scheme: Scheme::Word, ..options };
    let mut text = Text(String::new());
    // Reading from memory cannot fail, and all lines are taken.
    let _ = FeatureReader::new(&options).of_beginnings(LIMIT).read_bytes(mail, &mut text);
    text.0
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
