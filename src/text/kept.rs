// SPDX-License-Identifier: GPL-3.0-or-later
//! The documents that a model keeps, so that it can be trained again with more or fewer of them.
//!
//! For each label of the model, in their order: a varint, how many documents it has, and for each
//! of them a varint, its length, and its bytes. A varint has seven bits in each byte, the lowest
//! first; the highest bit says that another byte follows.

use crate::text::bytes::number;
use dbacl_numeric::varint;
use std::ops::Range;

/// The bytes of documents, given by label.
pub(super) fn write<'a>(labels: impl Iterator<Item = Vec<&'a [u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for documents in labels {
        varint::append(&mut out, documents.len() as u64);
        for document in documents {
            varint::append(&mut out, document.len() as u64);
            out.extend_from_slice(document);
        }
    }
    out
}

/// Where the documents of each of `labels` labels stand in `bytes`; `None` if that is damaged.
pub(super) fn read(bytes: &[u8], labels: usize) -> Option<Vec<Vec<Range<usize>>>> {
    let mut rest = bytes;
    let mut found = Vec::new();
    for _ in 0..labels {
        let mut documents = Vec::new();
        for _ in 0..number::<u64>(&mut rest)? {
            let length: usize = number(&mut rest)?;
            let start = bytes.len() - rest.len();
            rest = rest.get(length..)?;
            documents.push(start..start + length);
        }
        found.push(documents);
    }
    rest.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_back() {
        let long = vec![b'x'; 300];
        let labels: [Vec<&[u8]>; 3] = [vec![b"one", b"", &long], vec![], vec![b"two"]];
        let bytes = write(labels.iter().cloned());
        let found = read(&bytes, 3).unwrap();
        for (documents, places) in labels.iter().zip(found) {
            let texts: Vec<&[u8]> = places.into_iter().map(|place| &bytes[place]).collect();
            assert_eq!(*documents, texts);
        }
        assert_eq!(read(&bytes, 2), None);
        assert_eq!(read(&bytes, 4), None);
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length], 3), None, "{length}");
        }
        assert_eq!(read(&[0xff; 30], 1), None);
    }
}
