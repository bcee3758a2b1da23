// SPDX-License-Identifier: GPL-3.0-or-later
//! Adds the features of a document in memory to a corpus, as the program does with a file.

use crate::category::reader::Category;
use crate::document::{FeatureReader, FeatureSink, ReadOptions};
use crate::joint::documents::CorpusBuilder;
use crate::mail::mailbox::Separators;
use crate::mail::verdict_header::VerdictHeaders;
use crate::model::settings::ModelOption;
use crate::token::Feature;
use crate::token::id::FeatureId;
use std::io;
use std::sync::atomic::AtomicBool;

/// Reads documents, each as if it were the only one. A mail is one message; the lines `X-DBACL` in
/// its header are left out.
pub struct DocumentReader<'a> {
    reader: FeatureReader<'a>,
    is_mail: bool,
}

impl<'a> DocumentReader<'a> {
    /// A reader of documents, which ends early once `stop` is set.
    pub fn new(options: &ReadOptions, stop: Option<&'a AtomicBool>) -> Self {
        let reader = match stop {
            Some(stop) => FeatureReader::stoppable(options, stop),
            None => FeatureReader::new(options),
        };
        Self { reader, is_mail: options.has(ModelOption::Mail) }
    }

    /// Reads a document of category `label` into `corpus`. See [`CorpusBuilder`] for `measured`.
    pub fn read<D: AsRef<[u8]>>(
        &mut self,
        document: &[u8],
        label: u32,
        measured: &[Category<D>],
        corpus: &mut CorpusBuilder,
    ) {
        self.reader.start_anew();
        let mail = self.is_mail.then(MailLines::default);
        // Memory can be read, and gathering refuses nothing.
        let _ = self.reader.read_bytes(document, &mut Gathering { corpus, measured, mail });
        corpus.end_document(label, measured);
    }
}

/// The texts of these features of a document, in their order; a text is empty if the document does
/// not contain the feature.
pub fn texts_of(
    options: &ReadOptions,
    document: &[u8],
    wanted: &[FeatureId],
    stop: Option<&AtomicBool>,
) -> Vec<Vec<u8>> {
    let mut reader = DocumentReader::new(options, stop);
    let mail = reader.is_mail.then(MailLines::default);
    let mut texts = Texts { wanted, found: vec![Vec::new(); wanted.len()], mail };
    reader.reader.start_anew();
    // Memory can be read, and gathering refuses nothing.
    let _ = reader.reader.read_bytes(document, &mut texts);
    texts.found
}

/// Looks for the texts of features.
struct Texts<'a> {
    wanted: &'a [FeatureId],
    found: Vec<Vec<u8>>,
    mail: Option<MailLines>,
}

impl FeatureSink for Texts<'_> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(self.mail.as_mut().is_none_or(|mail| mail.counts(line)))
    }

    fn feature(&mut self, feature: Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium);
        if let Some(at) = self.wanted.iter().position(|&wanted| wanted == id)
            && self.found[at].is_empty()
        {
            self.found[at] = feature.body.to_vec();
        }
    }
}

/// Finds separators of mails and lines `X-DBACL` among the lines of a mail.
#[derive(Default)]
struct MailLines {
    separators: Separators,
    verdicts: VerdictHeaders,
}

impl MailLines {
    /// Whether a line is read: not if it belongs to `X-DBACL`. A line that would separate mails is
    /// changed so that it does not.
    fn counts(&mut self, line: &mut Vec<u8>) -> bool {
        self.separators.line(line, false);
        !self.verdicts.contain(line)
    }
}

struct Gathering<'a, D> {
    corpus: &'a mut CorpusBuilder,
    measured: &'a [Category<D>],
    mail: Option<MailLines>,
}

impl<D: AsRef<[u8]>> FeatureSink for Gathering<'_, D> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(self.mail.as_mut().is_none_or(|mail| mail.counts(line)))
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.corpus.feature(&feature, self.measured);
    }
}
