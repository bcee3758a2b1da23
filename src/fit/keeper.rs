// SPDX-License-Identifier: GPL-3.0-or-later
//! Collects the documents of a learning run for its ledger. A document is a message of a mailbox,
//! or else a whole source. A source whose first line is no `From ` line is no mailbox.

use super::beginning::MailLines;
use super::documents::{Collector, Corpus, FeatureKind};
use crate::document::{Cutter, LineState};
use crate::mail::scanner::Holds;
use crate::token::Feature;
use crate::token::id::FeatureId;

/// Gathers the features of one document after the other, as sinks see them.
#[derive(Debug)]
pub struct DocumentKeeper {
    collector: Collector,
    /// The documents so far; all have label 0.
    pub corpus: Corpus,
    /// `None` where sources are no mail.
    mail: Option<MailLines>,
    /// The source may be a mailbox; its first line says whether it is one.
    may_be_mailbox: bool,
    /// Whether a document begins with this line.
    begins: bool,
    /// Of a message only the beginning is kept, without verdicts of a mail filter.
    keeps_beginnings: bool,
}

impl DocumentKeeper {
    /// A keeper without documents; `is_mail` says whether sources are mail. With
    /// `keeps_beginnings` it keeps only the beginning of each message.
    pub fn new(is_mail: bool, keeps_beginnings: bool) -> Self {
        Self {
            collector: Collector::default(),
            corpus: Corpus::default(),
            mail: is_mail.then(MailLines::default),
            may_be_mailbox: false,
            begins: false,
            keeps_beginnings,
        }
    }

    /// A source begins; mail may be a whole mailbox in it.
    pub const fn start_source(&mut self, may_be_mailbox: bool) {
        self.may_be_mailbox = self.mail.is_some() && may_be_mailbox;
    }

    /// What the source holds, if it is mail.
    pub fn holds(&self) -> Option<Holds> {
        let several = if self.may_be_mailbox { Holds::Mailbox } else { Holds::One };
        self.mail.is_some().then_some(several)
    }

    /// A line as it was read; it may be changed. Returns whether it is to be read further. Where
    /// only the beginnings of documents are kept, what is behind them is not, and neither are
    /// verdicts of a mail filter.
    pub fn raw_line(&mut self, line: &mut Vec<u8>) -> bool {
        let Some(mail) = &mut self.mail else { return true };
        self.begins = mail.begins(line, self.may_be_mailbox);
        // A verdict in the header does not count: corrections leave it out.
        !self.keeps_beginnings || mail.hold(line)
    }

    /// A text of a line. Returns whether a message begins with it, where the source may hold
    /// several, so that the statistics of documents count the same documents as the ledger.
    pub fn text(&mut self, state: LineState, cutter: &mut Cutter) -> Option<bool> {
        let begins = !state.is_late && std::mem::take(&mut self.begins);
        if begins {
            self.end_document();
            cutter.restart();
        }
        self.may_be_mailbox.then_some(begins)
    }

    /// A feature of the document.
    pub fn feature(&mut self, feature: &Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium);
        self.collector.add(id, FeatureKind::whole(feature));
    }

    /// The end of a source.
    pub fn end_of_source(&mut self, cutter: &mut Cutter) {
        self.end_document();
        self.begins = false;
        if let Some(mail) = &mut self.mail {
            mail.restart();
        }
        cutter.restart();
    }

    fn end_document(&mut self) {
        if !self.collector.is_empty() {
            let (occurrences, terms) = self.collector.finish();
            self.corpus.push(0, occurrences, terms);
        }
    }
}
