// SPDX-License-Identifier: GPL-3.0-or-later
//! What a table says of the filter as a whole.

use crate::fit::blocks::problems;
use crate::linear::Exact;
use serde::{Deserialize, Serialize};

/// How the features of a filter's documents were made. Features that were made in another way
/// cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Labels of the documents, those of protected mail first.
    pub labels: Vec<String>,
    /// The options of the model that matter for features, as in the option word of category files.
    pub options: u32,
    /// Number of the tokenizing scheme.
    pub scheme: u8,
    /// The longest n-gram.
    pub order: u8,
}

/// The head of a table, which is stored as one JSON object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head<R> {
    /// How documents are read.
    #[serde(flatten)]
    pub reading: Reading,
    /// How scores become verdicts: what the last fit of all documents has found.
    pub rule: R,
    /// Documents of each label that take part in the fit.
    pub documents: Vec<u32>,
    /// Documents that take no part in it.
    pub left_out: u32,
    /// Documents at the last fit of all of them.
    pub fitted: u32,
    /// The sum of the intercept in each problem.
    pub intercepts: Vec<Exact>,
    /// The name of the ledger's file.
    pub ledger: String,
    /// Bytes of the ledger that belong to this table; what follows is no part of it.
    pub ledger_bytes: u64,
    /// The name of the general model's file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub general: Option<String>,
    /// Rows in each tier.
    pub rows: [u32; super::TIERS],
    /// Features that one document has.
    pub singles: u32,
    /// Documents in the ledger, with those that were withdrawn since it was written.
    pub entries: u32,
}

impl<R> Head<R> {
    /// The head of a table without documents.
    pub(crate) fn new(reading: Reading, rule: R) -> Self {
        let labels = reading.labels.len();
        Self {
            reading,
            rule,
            documents: vec![0; labels],
            left_out: 0,
            fitted: 0,
            intercepts: vec![Exact::default(); problems(labels)],
            ledger: String::new(),
            ledger_bytes: 0,
            general: None,
            rows: [0; super::TIERS],
            singles: 0,
            entries: 0,
        }
    }

    /// Number of problems.
    pub(crate) const fn problems(&self) -> usize {
        problems(self.reading.labels.len())
    }
}

/// The name of a ledger whose bytes have this checksum when it is created.
pub(crate) fn ledger_name(sum: u64) -> String {
    format!("ledger.{sum:016x}")
}
