// SPDX-License-Identifier: GPL-3.0-or-later
//! What can still be had of a filter whose table is damaged: the documents of its ledger and its
//! journal, from which all else can be made again.

use super::document::Document;
use super::folder::{FilterFolder, read_ledger};
use super::head::Reading;
use super::journal::Journal;
use crate::fit::blocks::problems;
use dbacl_files::reading::read_regular;

impl FilterFolder {
    /// How mail is read, and the documents that are left, whatever has become of the table; `None`
    /// if there is no ledger. The second value says whether a document may be lost.
    ///
    /// A lesson may be both in the ledger and in the journal: of documents of the same name the
    /// last counts.
    pub(crate) fn salvage(&self) -> Option<(Reading, Vec<Document>, bool)> {
        let read = |name: String| {
            let path = self.file(&name);
            let changed = path.metadata().and_then(|found| found.modified()).ok()?;
            let bytes = read_regular(&path).ok()?;
            let (reading, documents, end) = read_ledger(&bytes)?;
            Some((changed, reading, documents, end < bytes.len()))
        };
        let found = self.ledgers().into_iter().filter_map(read);
        let (_, reading, documents, is_cut) = found.max_by_key(|(changed, ..)| *changed)?;
        let mut documents: Vec<Document> = documents.into_iter().flatten().collect();
        let journal = self.journal_bytes().unwrap_or_default();
        for lesson in Journal::of_any(&journal, problems(reading.labels.len())).lessons {
            let name = lesson.document.name();
            if let Some(at) = documents.iter().rposition(|own| own.name() == name) {
                documents.remove(at);
            }
            documents.push(lesson.document);
        }
        Some((reading, documents, is_cut))
    }
}
