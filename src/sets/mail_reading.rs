// SPDX-License-Identifier: GPL-3.0-or-later
//! The ways in which a filter can read mail.

use super::filter_folder::LEDGER;
use super::open_set::direct;
use crate::learn::options::LearnOptions;
use crate::model::settings::{ModelOption, Scheme};
use crate::store::generations::{Store, ledger_file};
use crate::store::ledger::Settings;
use std::ffi::OsStr;
use std::path::Path;

/// How the mail of a filter is read and cut into words. A filter keeps the reading that it was
/// learned with until its folders are learned with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MailReading {
    /// Reads two blocks: the beginning of the text that a mail program shows, in any language, and
    /// tags of what the sender's side wrote: `-T email:tags -e gram`. The default for two folders.
    Blocks,
    /// Reads the text that a mail program shows, cut into words by the rules of Unicode: `-T
    /// email:unicode -e word`. The default for more than two folders.
    Unicode,
    /// Reads bytes: `-T email -e cef -j`. Filters of older versions of dbacl were learned so.
    Classic,
}

impl MailReading {
    /// All readings, with their names on the command line.
    #[doc(hidden)]
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Blocks, "blocks"), (Self::Unicode, "unicode"), (Self::Classic, "classic")];

    /// The reading of a new filter with this number of folders. Two folders are mostly good mail
    /// and spam, and tags of the sender's side hold best for mail of other times; with more, words
    /// say best what a message is about.
    pub(super) const fn of_new(folders: usize) -> Self {
        if folders > 2 { Self::Unicode } else { Self::Blocks }
    }

    /// What the reading is called on the command line.
    pub(super) fn name(self) -> &'static str {
        let name = Self::ALL.into_iter().find(|(reading, _)| *reading == self);
        name.map_or("", |(_, name)| name)
    }

    /// How mail is read and learned: what did best across times.
    pub(super) fn options(self) -> LearnOptions {
        use ModelOption::{HtmlAlt, HtmlLinks, KeepCase, MailHeaders, MailTHeaders};
        use ModelOption::{MailTags, MailUnicode};
        let options = LearnOptions::mail().max_table_bits(25).with(HtmlLinks).with(HtmlAlt);
        if self == Self::Blocks {
            return options.tokenizer(Scheme::Gram).with(MailUnicode).with(MailTags);
        }
        let options = options.with(MailHeaders).with(MailTHeaders);
        match self {
            Self::Blocks | Self::Unicode => options.tokenizer(Scheme::Word).with(MailUnicode),
            Self::Classic => options.tokenizer(Scheme::Cef).with(KeepCase),
        }
    }

    /// The settings in the ledger of a filter with this reading.
    pub(super) fn settings(self) -> Settings {
        let options = self.options();
        let reading = options.reading();
        ledger_file::settings(reading.options, reading.scheme, reading.order, &[])
    }

    /// The reading by which the documents of a ledger with these settings were read; `None` if that
    /// was another one.
    pub(super) fn of_settings(settings: &Settings) -> Option<Self> {
        let mut all = Self::ALL.into_iter().map(|(reading, _)| reading);
        all.find(|reading| reading.settings() == *settings)
    }

    /// The reading of the filter in `folder`; `None` if there is no filter that can be read.
    pub(super) fn of_filter(folder: &Path) -> Option<Self> {
        let ledger = direct(&folder.join(LEDGER));
        let current = Store::beside(&ledger).open().ok()?;
        Self::of_ledger(&current.map_or(ledger, |now| now.path(OsStr::new(LEDGER))))
    }

    /// The reading of the filter with this ledger; `None` if the ledger cannot be read.
    pub(super) fn of_ledger(ledger: &Path) -> Option<Self> {
        let head = ledger_file::head(ledger).ok()?;
        Self::of_settings(&head.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_told_apart_by_name_and_ledger() {
        for (reading, name) in MailReading::ALL {
            assert_eq!(reading.name(), name);
            assert_eq!(MailReading::of_settings(&reading.settings()), Some(reading));
            for (other, _) in MailReading::ALL {
                assert_eq!(reading.settings() == other.settings(), reading == other);
            }
        }
    }
}
