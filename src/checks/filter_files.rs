// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a mail filter, as damage may have left them.

use crate::fit::rule::{Rule, Support};
use crate::store::folder::{JOURNAL, TABLE};
use crate::store::journal::Journal;
use crate::store::{Document, FilterFolder};
use std::{env, fs, process};

/// The ids that are looked up.
const IDS: [u32; 5] = [1, 300, 70_000, 3_000_000_000, u32::MAX];

/// A file of a filter: after a first byte that says which, its bytes. What can be read is as it
/// says, and a table of which no block is damaged answers every look-up.
pub fn filter_files(data: &[u8]) {
    let Some((&which, bytes)) = data.split_first() else { return };
    let room = env::temp_dir().join(format!("dbacl-filter-files-{}", process::id()));
    let _ = fs::create_dir(&room);
    let folder = FilterFolder::new(&room);
    let name = [TABLE, JOURNAL, "ledger.0000000000000000"][usize::from(which % 3)];
    fs::write(folder.file(name), bytes).expect("a file of our own");
    match name {
        TABLE => table(&folder),
        JOURNAL => {
            let journal = Journal::of_any(bytes, 1);
            assert!(journal.length <= bytes.len() as u64);
            journal.lessons.iter().for_each(|lesson| written_again(&lesson.document));
        }
        _ => {
            if let Some((_, documents, is_cut)) = folder.salvage() {
                documents.iter().for_each(written_again);
                assert!(is_cut || !bytes.is_empty());
            }
        }
    }
    let _ = fs::remove_dir_all(&room);
}

fn written_again(document: &Document) {
    let mut bytes = Vec::new();
    document.write(&mut bytes);
    assert_eq!(Document::take(&mut bytes.as_slice()).as_ref(), Some(document));
}

fn table(folder: &FilterFolder) {
    let Ok(tables) = folder.open::<Rule>() else { return };
    let rule = &tables.table.head.rule;
    let width = tables.table.head.reading.labels.len();
    let found = rule.verdict(&vec![0.5; width], Support { known: f64::NAN, ..Support::default() });
    assert!(found.label < width);
    let is_sound = tables.table.check().is_ok();
    let looked_up = tables.look_up(&IDS, true);
    if let Ok(rows) = &looked_up {
        assert_eq!(rows.documents.len(), IDS.len() * width);
    }
    assert!(!is_sound || tables.look_up(&IDS, false).is_ok());
    let _ = (tables.find(7), folder.documents(&tables));
}
