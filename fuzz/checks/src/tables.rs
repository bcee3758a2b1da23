// SPDX-License-Identifier: GPL-3.0-or-later
//! Tables and lines of labelled texts.

use dbacl::corpus::{Reading, label, read_from, read_text};
use std::path::Path;

/// Names of files, by which the format is chosen.
const NAMES: [&str; 5] = ["x", "x.tsv", "x.csv", "x.ndjson", "x.txt"];

/// A byte chooses the name of the file and whether there are labels. Labels are valid, lines rise,
/// texts are no longer than the input, and UTF-16 is read as UTF-8 is.
pub(crate) fn tables(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let name = Path::new(NAMES[usize::from(choice >> 2) % NAMES.len()]);
    let reading = Reading {
        needs_label: choice & 1 == 0,
        has_several: choice & 2 != 0,
        ..Reading::default()
    };
    let documents = |text: &[u8]| {
        let (mut found, mut last) = (Vec::new(), 0);
        let done = read_from(text, name, &reading, &mut |record| {
            assert!(record.line >= last, "{} after {last}", record.line);
            last = record.line;
            let labels = record.label.split('\n').filter(|_| !record.label.is_empty());
            labels.for_each(|own| assert!(label::check(own.as_bytes()).is_ok(), "{own:?}"));
            found.push((record.label.to_owned(), record.text.to_vec(), record.line));
            Ok(())
        });
        (found, done.map(|notes| notes.has_heading).map_err(|error| error.to_string()))
    };
    let read = documents(text);
    let length: usize = read.0.iter().map(|one| one.1.len()).sum();
    let is_plain = read_text(text, name).is_ok_and(|own| own == text);
    // Half of a surrogate pair and what is not UTF-16 become three bytes each.
    assert!(!is_plain || length <= 3 * text.len() + read.0.len());
    let Ok(characters) = std::str::from_utf8(text) else { return };
    if text.len() > 4096 || !is_plain || text.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    let wide: Vec<u8> = std::iter::once(0xfeff)
        .chain(characters.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    if !text.is_empty() {
        assert_eq!(documents(&wide), read);
    }
}
