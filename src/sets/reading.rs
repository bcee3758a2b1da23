// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the features of documents in memory, as the program does with files.

use crate::category::reader::Category;
use crate::document::{Cutter, FeatureReader, FeatureSink, ReadOptions};
use crate::fit::beginning::{LIMIT, MailLines};
use crate::fit::documents::CorpusBuilder;
use crate::fit::explain::printable;
use crate::mail::scanner::Holds;
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, Scheme};
use crate::token::Feature;
use crate::token::id::FeatureId;
use std::io;
use std::sync::atomic::AtomicBool;

/// Reads documents, each as if it were the only one. A message is one message, of which only the
/// beginning is read; the lines `X-DBACL` in its header are left out.
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
        let is_mail = options.has(ModelOption::Mail);
        let reader = if is_mail { reader.of_beginnings(LIMIT) } else { reader };
        Self { reader, is_mail }
    }

    /// Calls `each` for the features of a document, in the order of the text.
    pub fn features(&mut self, document: &[u8], each: impl FnMut(Feature<'_>)) {
        self.reader.start_anew();
        let mail = self.is_mail.then(MailLines::default);
        // Reading from memory cannot fail, and `Features` takes all that it is given.
        let _ = self.reader.read_bytes(document, &mut Features { each, mail });
    }

    /// Reads a document of category `label` into `corpus`. See [`CorpusBuilder`] for `measured`.
    pub fn read<D: AsRef<[u8]>>(
        &mut self,
        document: &[u8],
        label: u32,
        measured: &[Category<D>],
        corpus: &mut CorpusBuilder,
    ) {
        self.features(document, |feature| corpus.feature(&feature, measured));
        corpus.end_document(label, measured);
    }
}

/// The text of a message that a mail program shows, for people.
pub fn visible_text(mail: &[u8]) -> String {
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

/// The texts of these features of a document, in their order; a text is empty if the document does
/// not contain the feature.
pub fn texts_of(
    options: &ReadOptions,
    document: &[u8],
    wanted: &[FeatureId],
    stop: Option<&AtomicBool>,
) -> Vec<Vec<u8>> {
    let mut found = vec![Vec::new(); wanted.len()];
    DocumentReader::new(options, stop).features(document, |feature| {
        let id = FeatureId::of(feature.body, feature.medium);
        if let Some(at) = wanted.iter().position(|&wanted| wanted == id)
            && found[at].is_empty()
        {
            found[at] = feature.body.to_vec();
        }
    });
    found
}

/// Hands features on.
struct Features<F> {
    each: F,
    mail: Option<MailLines>,
}

impl<F: FnMut(Feature<'_>)> FeatureSink for Features<F> {
    fn holds(&self) -> Option<Holds> {
        self.mail.as_ref().map(|_| Holds::One)
    }

    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let Some(mail) = &mut self.mail else { return Ok(true) };
        mail.begins(line, false);
        Ok(mail.hold(line))
    }

    fn feature(&mut self, feature: Feature<'_>) {
        (self.each)(feature);
    }
}
