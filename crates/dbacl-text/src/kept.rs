// SPDX-License-Identifier: GPL-3.0-or-later
//! The documents that a model keeps, so that it can be trained again with more or fewer of them.
//!
//! For each label of the model, in their order: a varint, how many documents it has, and for each
//! of them a varint, its length, and its bytes. A varint has seven bits in each byte, the lowest
//! first; the highest bit says that another byte follows.

use std::ops::Range;

#[allow(clippy::cast_possible_truncation)] // seven bits at a time
fn put(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The bytes of documents, given by label.
pub fn write<'a>(labels: impl Iterator<Item = Vec<&'a [u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for documents in labels {
        put(&mut out, documents.len());
        for document in documents {
            put(&mut out, document.len());
            out.extend_from_slice(document);
        }
    }
    out
}

/// Where the documents of each of `labels` labels stand in `bytes`; `None` if that is damaged.
pub fn read(bytes: &[u8], labels: usize) -> Option<Vec<Vec<Range<usize>>>> {
    let mut reader = Reader { bytes, at: 0 };
    let mut found = Vec::new();
    for _ in 0..labels {
        let mut documents = Vec::new();
        for _ in 0..reader.number()? {
            let length = reader.number()?;
            let end = reader.at.checked_add(length).filter(|&end| end <= bytes.len())?;
            documents.push(reader.at..end);
            reader.at = end;
        }
        found.push(documents);
    }
    (reader.at == bytes.len()).then_some(found)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0usize, 0);
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
        }
    }
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
