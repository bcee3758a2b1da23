// SPDX-License-Identifier: GPL-3.0-or-later
//! A document in memory → its features in a corpus, as the program reads a file.

use crate::category::reader::Category;
use crate::document::{FeatureReader, FeatureSink, ReadOptions};
use crate::input::mailbox::Separators;
use crate::input::verdict_header::VerdictHeaders;
use crate::joint::documents::CorpusBuilder;
use crate::model::settings::ModelOption;
use crate::token::Feature;
use std::io;
use std::sync::atomic::AtomicBool;

/// Reads documents, each as if it came alone. Mail is one message; the verdicts that it brings are
/// no evidence.
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

/// What is looked at in the lines of a mail.
#[derive(Default)]
struct MailLines {
    separators: Separators,
    verdicts: VerdictHeaders,
}

struct Gathering<'a, D> {
    corpus: &'a mut CorpusBuilder,
    measured: &'a [Category<D>],
    mail: Option<MailLines>,
}

impl<D: AsRef<[u8]>> FeatureSink for Gathering<'_, D> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let Some(MailLines { separators, verdicts }) = &mut self.mail else { return Ok(true) };
        separators.line(line, false);
        Ok(!verdicts.contain(line))
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.corpus.feature(&feature, self.measured);
    }
}
