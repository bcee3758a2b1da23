// SPDX-License-Identifier: GPL-3.0-or-later
//! Four neighbouring bytes of a folded line as words (`-e gram`), and words that a filter has made.

use crate::word::{MAX_WORD, WORD_WINDOW, Word, WordSink};

/// Bytes of a word.
const SIZE: usize = 4;
/// Begins a line of words that a filter has made, with blanks between them.
pub(super) const MADE: u8 = 0x1F;
/// Bytes that mark the ends of tokens, media and words in texts of features: no word has any.
const MARKS: std::ops::RangeInclusive<u8> = 1..=3;

/// The words of a folded line, which is changed. A line of text has a blank before and after it.
pub(super) fn words(line: &mut Vec<u8>, sink: &mut impl WordSink) {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    for byte in line.iter_mut() {
        *byte = if MARKS.contains(byte) { b' ' } else { *byte };
    }
    let is_made = line.first() == Some(&MADE);
    if is_made {
        line[0] = b' ';
    } else {
        line.insert(0, b' ');
        if line.last() != Some(&b' ') {
            line.push(b' ');
        }
    }
    let length = line.len();
    line.resize(length + WORD_WINDOW, 0);
    let mut word = |start: usize, size: usize| {
        let window = line[start..start + WORD_WINDOW].try_into();
        sink.word(Word::new(window.expect("lines are padded by a window"), size));
    };
    if is_made {
        let mut start = 0;
        for end in memchr::memchr_iter(b' ', &line[..length]).chain([length]) {
            if end > start {
                let mut size = (end - start).min(MAX_WORD);
                // A long word ends between characters.
                while size > 0 && start + size < end && line[start + size] & 0xC0 == 0x80 {
                    size -= 1;
                }
                word(start, size);
            }
            start = end + 1;
        }
    } else {
        (0..(length + 1).saturating_sub(SIZE)).for_each(|start| word(start, SIZE));
    }
}
