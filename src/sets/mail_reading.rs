// SPDX-License-Identifier: GPL-3.0-or-later
//! The ways in which a filter can read mail.

use crate::document::ReadOptions;
use crate::learn::options::LearnOptions;
use crate::model::settings::{ModelOption, Scheme};
use crate::store::Reading;

/// How the mail of a filter is read and cut into features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MailReading {
    /// Runs of four bytes from the beginning and the end of the text, and tags of what the sender's
    /// side wrote: what holds best for spam of other times. For two folders.
    Runs,
    /// The words of the whole text, and the same tags: what a message is about. For more folders.
    Words,
}

impl MailReading {
    const ALL: [Self; 2] = [Self::Runs, Self::Words];

    /// The reading of a new filter with this number of folders.
    pub(super) const fn of_new(folders: usize) -> Self {
        if folders > 2 { Self::Words } else { Self::Runs }
    }

    /// How mail is read.
    pub(super) fn options(self) -> ReadOptions {
        use ModelOption::{HtmlAlt, HtmlLinks, MailTags, MailUnicode, MailWhole};
        let options = LearnOptions::mail().with(HtmlLinks).with(HtmlAlt);
        let options = options.with(MailUnicode).with(MailTags);
        let options = match self {
            Self::Runs => options.tokenizer(Scheme::Gram),
            Self::Words => options.tokenizer(Scheme::Word).with(MailWhole),
        };
        options.reading().clone()
    }

    /// The reading of a filter with these labels, as its files say it.
    pub(super) fn stored(self, labels: &[String]) -> Reading {
        let ReadOptions { options, scheme, order, .. } = self.options();
        Reading { labels: labels.to_vec(), options: options.bits(), scheme: scheme as u8, order }
    }

    /// The reading that a filter's files say; `None` if this version of dbacl does not know it.
    pub(super) fn of(stored: &Reading) -> Option<Self> {
        Self::ALL.into_iter().find(|reading| reading.stored(&stored.labels) == *stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_known_by_what_is_stored() {
        let labels = ["ham".to_owned(), "spam".to_owned()];
        for reading in MailReading::ALL {
            let stored = reading.stored(&labels);
            assert_eq!(MailReading::of(&stored), Some(reading));
            assert_eq!(MailReading::of(&Reading { order: 2, ..stored }), None);
        }
        assert_eq!([2, 3].map(MailReading::of_new), MailReading::ALL);
    }
}
