// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts a part of the documents of a category, in any process, and learns from the counts of all
//! parts.

use super::collect::Counting;
use super::counts::{CountSettings, Counts, Documents, counting_options};
use super::file;
use super::replay::{Order, replay};
use crate::document::{FeatureReader, ReadOptions};
use crate::error::{Error, Result};
use crate::input::source::{Source, open_regular, read_whole};
use crate::learn::learner::{Learned, conclude, empty_counter};
use crate::learn::options::LearnOptions;
use crate::model::settings::ModelOption;
use dbacl_files::atomic_file::{self, Disk};
use std::io::{self, Read};
use std::path::Path;

impl CountSettings {
    /// The settings for counting documents that are read according to `reading`. With `confidence`
    /// the counts keep what `-X` needs.
    pub(crate) fn of(reading: &ReadOptions, confidence: bool) -> Self {
        Self {
            options: counting_options(reading.options),
            scheme: reading.scheme,
            order: reading.order,
            locale: reading.locale,
            documents: match (reading.options.has(ModelOption::Mail), confidence) {
                (false, _) => Documents::None,
                (true, false) => Documents::Bags,
                (true, true) => Documents::Sequences,
            },
            keeps_nul: reading.keep_nul,
            patterns: reading.patterns.stored_all(),
        }
    }
}

/// Counts the features of a part of the documents of a category.
///
/// Parts can be counted by several processes or machines, merged in any tree, and learned from
/// once:
///
/// ```
/// use dbacl::{Counts, LearnOptions, Learner, PartCounter};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let options = LearnOptions::text().order(2);
/// for (name, text) in [("monday", "call me ishmael"), ("tuesday", "some years ago")] {
///     let mut part = PartCounter::new(&options)?;
///     part.count(text.as_bytes());
///     part.finish()?.save(&folder.join(name))?;
/// }
/// let mut counts = Counts::open(&folder.join("monday"))?;
/// counts.merge(&Counts::open(&folder.join("tuesday"))?)?;
/// let learned = counts.learn(&options)?;
///
/// // The same category, to the byte, as if one learner had read all documents in that order.
/// let mut learner = Learner::new(&options)?;
/// learner.learn(b"call me ishmael");
/// learner.learn(b"some years ago");
/// assert_eq!(learned.category.as_bytes(), learner.finish()?.category.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PartCounter {
    reader: FeatureReader<'static>,
    counting: Counting,
}

impl PartCounter {
    /// A counter without counts. It uses only the reading of `options`, and whether they ask for
    /// confidences.
    ///
    /// # Errors
    /// [`Error::UnstorablePattern`] for an expression that no category can hold.
    pub fn new(options: &LearnOptions) -> Result<Self> {
        options.reading().patterns.refuse_unstorable()?;
        let mut counting = Counting::new(settings(options), false);
        counting.start_shard(0);
        Ok(Self { reader: FeatureReader::new(options.reading()), counting })
    }

    /// Counts a document in memory.
    pub fn count(&mut self, document: &[u8]) {
        // Reading memory cannot fail, nor can counting.
        let _ = self.reader.read_bytes(document, &mut self.counting);
    }

    /// Counts a document from a stream.
    ///
    /// # Errors
    /// The error that ended reading; what was read before is counted.
    pub fn read(&mut self, document: impl Read) -> io::Result<()> {
        let source = Source { name: Vec::new(), reader: Box::new(document) };
        self.reader.read(source, &mut self.counting)?.map_or(Ok(()), Err)
    }

    /// The counts.
    ///
    /// # Errors
    /// [`Error::Counts`] when there are more than 2^32 features, or more occurrences than their
    /// numbers hold.
    pub fn finish(mut self) -> Result<Counts> {
        self.counting.end_shard(self.reader.ending());
        let counts = self.counting.into_counts();
        counts.ok_or_else(|| Error::Counts("there are too many features to count".into()))
    }
}

fn settings(options: &LearnOptions) -> CountSettings {
    CountSettings::of(options.reading(), options.settings().confidence)
}

impl Counts {
    /// Reads a file of counts (`docs/spec/counts-format.md`), as [`Self::save`] and `dbacl --count`
    /// write it.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Damaged`] for a file that is not a file of counts or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = open_regular(path).and_then(|file| read_whole(&file));
        let bytes = bytes.map_err(|error| Error::io(path, error))?;
        file::read(bytes).map_err(|fault| Error::damaged(path, fault.to_string()))
    }

    /// Writes the counts to a file, which is replaced at once. The bytes depend on the counts only.
    ///
    /// # Errors
    /// [`Error::Occupied`] if another kind of file is there; [`Error::Io`], [`Error::Temporary`].
    pub fn save(&self, path: &Path) -> Result<()> {
        Ok(atomic_file::replace(&Disk, path, file::KIND, &mut |out| file::write(out, self))?)
    }

    /// The category that a [`crate::learn::learner::Learner`] with `options` would have learned
    /// from the documents that were counted.
    ///
    /// # Errors
    /// [`Error::Counts`] when the settings of `options` differ from those with which documents were
    /// counted, or when there are more occurrences than a model can hold; else those of
    /// [`crate::learn::learner::Learner::finish`].
    pub fn learn(&self, options: &LearnOptions) -> Result<Learned> {
        if let Some(what) = settings(options).difference(&self.settings) {
            return Err(Error::Counts(format!("it was counted with {what}")));
        }
        let mut counter = empty_counter(options)?;
        counter.forget_appearances();
        replay(self, Order::Appearance, &mut counter)
            .map_err(|fault| Error::Counts(fault.to_string()))?;
        // Words are quicker to fit than texts.
        if options.reading().patterns.is_empty() {
            counter.expect_words(options.reading().order);
        }
        let (state, warnings) = counter.into_state();
        conclude(state, options.settings(), &options.stored_patterns(), warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::learner::Learner;

    const MAILS: [&[u8]; 3] = [
        b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: one two\n\nthree <b>four</b>\n",
        b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: two\n\nfive three\n",
        b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: six\n\nfive five\n",
    ];

    #[test]
    fn parts_of_mail_are_learned_as_one_learner_would() {
        let pattern = LearnOptions::mail().pattern("(t[a-z]+) ?(t[a-z]+)?||12", &mut |_| {});
        for options in [
            LearnOptions::mail(),
            LearnOptions::mail().order(2).confidence(),
            pattern.expect("an expression"),
        ] {
            let mut learner = Learner::new(&options).expect("a learner");
            let mut counts: Option<Counts> = None;
            for mail in MAILS {
                learner.learn(mail);
                let mut part = PartCounter::new(&options).expect("a counter");
                part.read(mail).expect("memory can be read");
                let part = part.finish().expect("few features");
                match &mut counts {
                    None => counts = Some(part),
                    Some(counts) => counts.merge(&part).expect("counted alike"),
                }
            }
            let learned = counts.expect("counts").learn(&options).expect("a category");
            assert_eq!(learned.warnings, []);
            let whole = learner.finish().expect("a category").category;
            assert_eq!(learned.category.as_bytes(), whole.as_bytes());
        }
    }

    #[test]
    fn counts_are_learned_as_they_were_counted_or_not_at_all() {
        let mut part = PartCounter::new(&LearnOptions::text()).expect("a counter");
        part.count(b"one two");
        let counts = part.finish().expect("few features");
        let learned = counts.learn(&LearnOptions::text().order(2)).map(|_| ());
        let error = learned.expect_err("other n-grams");
        assert_eq!(error.to_string(), "it was counted with another order of n-grams (-w)");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts");
        std::fs::write(&path, b"no counts").expect("a file");
        assert!(matches!(Counts::open(&path), Err(Error::Damaged { .. })));
        assert!(matches!(counts.save(&path), Err(Error::Occupied { .. })));
        assert_eq!(std::fs::read(&path).expect("the file"), b"no counts");
    }
}
