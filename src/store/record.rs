// SPDX-License-Identifier: GPL-3.0-or-later
//! A record of the ledger: the features of one document, or the withdrawal of one
//! (`docs/spec/ledger-format.md`).

use crate::fit::documents::{FeatureKind, Term, fingerprint};
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian};
use dbacl_numeric::varint;

/// Reads a number below 2^32 from the front of `bytes`.
fn number(bytes: &mut &[u8]) -> Option<u32> {
    varint::take(bytes)?.try_into().ok()
}

/// Marks a term that occurs more than once.
const REPEATED: u8 = 0x80;

/// Appends the record of a document.
pub fn write_record(bytes: &mut Vec<u8>, label: u32, occurrences: u32, terms: &[Term]) {
    varint::append(bytes, u64::from(label));
    varint::append(bytes, u64::from(occurrences));
    varint::append(bytes, terms.len() as u64);
    for term in terms {
        let FeatureKind { order, medium, pairs, second } = term.kind;
        let repeated = if term.count == 1 { 0 } else { REPEATED };
        bytes.extend_from_slice(&term.id.0.to_le_bytes());
        bytes.extend_from_slice(&[repeated | (medium & 15) << 3 | order & 7, pairs]);
        if order == FeatureKind::PAIR {
            bytes.extend_from_slice(&second.0.to_le_bytes());
        }
        if repeated != 0 {
            varint::append(bytes, u64::from(term.count));
        }
    }
    bytes.extend_from_slice(&fingerprint(terms).to_le_bytes());
}

/// A record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Place of the category's name.
    pub label: u32,
    /// Occurrences of features.
    pub occurrences: u32,
    /// The terms, in order of first appearance.
    pub terms: Vec<Term>,
    /// The document's name.
    pub fingerprint: u64,
}

impl Record {
    /// Reads a record from the front of `bytes`; `None` if it has an impossible value.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.terms.clear();
        let head = RecordHead::read(bytes, |term| self.terms.push(term))?;
        (self.label, self.occurrences) = (head.label, head.occurrences);
        self.fingerprint = head.fingerprint;
        Some(())
    }
}

/// Appends a withdrawal of a document, for a ledger with so many names. The last record before it
/// with this label and this name no longer counts.
pub fn write_withdrawal(bytes: &mut Vec<u8>, label: u32, names: usize, fingerprint: u64) {
    varint::append(bytes, u64::from(label) + names as u64);
    varint::append(bytes, 0);
    varint::append(bytes, 0);
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
}

/// The fields of a record before and behind its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHead {
    /// Place of the category's name; behind the last name for withdrawals.
    pub label: u32,
    /// Occurrences of features.
    pub occurrences: u32,
    /// Whether it has no terms.
    pub is_empty: bool,
    /// The document's name.
    pub fingerprint: u64,
}

impl RecordHead {
    /// Reads a record at the front of `bytes`, whose terms go to `each`; `None` if it has an
    /// impossible value.
    #[inline]
    pub(super) fn read(bytes: &mut &[u8], mut each: impl FnMut(Term)) -> Option<Self> {
        let (label, occurrences, terms) = (number(bytes)?, number(bytes)?, number(bytes)?);
        for _ in 0..terms {
            let (term, rest) = bytes.split_at_checked(6)?;
            *bytes = rest;
            let id = FeatureId(LittleEndian::read_u32(term));
            let mut kind = FeatureKind {
                order: term[4] & 7,
                medium: term[4] >> 3 & 15,
                pairs: term[5],
                second: FeatureId(0),
            };
            if kind.order == FeatureKind::PAIR {
                let (second, rest) = bytes.split_at_checked(4)?;
                kind.second = FeatureId(LittleEndian::read_u32(second));
                *bytes = rest;
            }
            let repeated = term[4] & REPEATED != 0;
            let count = if repeated { number(bytes)? } else { 1 };
            if id.0 == 0 || repeated != (count > 1) {
                return None;
            }
            each(Term { id, count, kind });
        }
        let (fingerprint, rest) = bytes.split_at_checked(8)?;
        *bytes = rest;
        let fingerprint = LittleEndian::read_u64(fingerprint);
        Some(Self { label, occurrences, is_empty: terms == 0, fingerprint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_sizes() {
        for value in [0, 1, 127, 128, 16383, 16384, u32::MAX] {
            let mut bytes = Vec::new();
            varint::append(&mut bytes, value.into());
            let mut rest = bytes.as_slice();
            assert_eq!(number(&mut rest), Some(value));
            assert!(rest.is_empty());
            assert_eq!(number(&mut &bytes[..bytes.len() - 1]), None);
        }
        let mut large = Vec::new();
        varint::append(&mut large, 1 << 32);
        for bytes in [&large[..], &[0xff; 12], &[0x81, 0]] {
            assert_eq!(number(&mut &*bytes), None, "{bytes:?}");
        }
    }
}
