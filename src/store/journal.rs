// SPDX-License-Identifier: GPL-3.0-or-later
//! The file `journal`: lessons since the table was written.
//!
//! ```text
//! 18       # dbacl journal 2\n
//! record   u64 name of the table that the lessons belong to
//! records  lessons, and perhaps the announcement of another table
//! ```
//!
//! Records are those of [`frames`]:
//!
//! ```text
//! lesson        u8 0; u8 1 if an earlier document is withdrawn, else 0; record of the document;
//!               effect; if an earlier document is withdrawn, u32 its number and its effect
//! announcement  u8 1; u64 name of the table to come
//! ```

use super::document::{Document, Effect};
use super::frames::{self, Frames};
use byteorder::{ByteOrder, LittleEndian};

/// How a journal begins.
pub(crate) const MAGIC: &[u8] = b"# dbacl journal 2\n";

/// A journal of so many bytes is folded into the table before the next lesson.
pub(crate) const LIMIT: u64 = 1 << 18;

const LESSON: u8 = 0;
const ANNOUNCEMENT: u8 = 1;

/// A document that was learned after the table was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lesson {
    /// The document.
    pub document: Document,
    /// What it adds to the sums.
    pub effect: Effect,
    /// The number and the effect of the same document under its earlier label, which it had until
    /// now.
    pub withdrawn: Option<(u32, Effect)>,
}

impl Lesson {
    /// Appends the record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        frames::append(out, |out| {
            out.extend_from_slice(&[LESSON, u8::from(self.withdrawn.is_some())]);
            self.document.write(out);
            self.effect.write(out);
            if let Some((number, effect)) = &self.withdrawn {
                out.extend_from_slice(&number.to_le_bytes());
                effect.write(out);
            }
        });
    }

    fn read(mut bytes: &[u8], is_withdrawing: bool, problems: usize) -> Option<Self> {
        let document = Document::take(&mut bytes)?;
        let effect = Effect::take(&mut bytes, problems)?;
        let withdrawn = if is_withdrawing {
            let (number, mut rest) = bytes.split_at_checked(4)?;
            Some((LittleEndian::read_u32(number), Effect::take(&mut rest, problems)?))
        } else {
            None
        };
        Some(Self { document, effect, withdrawn })
    }
}

/// A new journal for the table `id`.
pub(crate) fn new(id: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    frames::append(&mut bytes, |out| out.extend_from_slice(&id.to_le_bytes()));
    bytes
}

/// The record that announces the table `id`.
pub(crate) fn announcement(id: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    frames::append(&mut bytes, |out| {
        out.push(ANNOUNCEMENT);
        out.extend_from_slice(&id.to_le_bytes());
    });
    bytes
}

/// What a journal says to the readers of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Journal {
    /// The lessons that the table lacks.
    pub lessons: Vec<Lesson>,
    /// Bytes up to the last whole record; 0 if the journal does not belong to the table, so that
    /// the next lesson needs a new one.
    pub length: u64,
}

impl Journal {
    /// The numbers of the documents that lessons withdraw, rising.
    pub(crate) fn withdrawn(&self) -> Vec<u32> {
        let number = |lesson: &Lesson| Some(lesson.withdrawn.as_ref()?.0);
        let mut numbers: Vec<u32> = self.lessons.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The lessons in `bytes` for the table `id` with so many problems. What follows the first
    /// record that is incomplete or damaged does not count.
    pub(crate) fn parse(bytes: &[u8], id: u64, problems: usize) -> Self {
        Self::read(bytes, Some(id), problems)
    }

    /// The same for whatever table a journal belongs to, where the table is lost.
    pub(crate) fn of_any(bytes: &[u8], problems: usize) -> Self {
        Self::read(bytes, None, problems)
    }

    fn read(bytes: &[u8], id: Option<u64>, problems: usize) -> Self {
        let none = Self::default();
        if !bytes.starts_with(MAGIC) {
            return none;
        }
        let mut records = Frames::new(bytes, MAGIC.len());
        let is_ours = |own: &[u8]| id.is_none_or(|id| own == id.to_le_bytes());
        if !records.next().is_some_and(is_ours) {
            return none;
        }
        let (mut lessons, mut end) = (Vec::new(), records.end());
        while let Some(record) = records.next() {
            match record {
                [LESSON, flag @ (0 | 1), rest @ ..] => {
                    let Some(lesson) = Lesson::read(rest, *flag == 1, problems) else { break };
                    lessons.push(lesson);
                }
                [ANNOUNCEMENT, other @ ..] if id.is_some() && is_ours(other) => return none,
                [ANNOUNCEMENT, ..] => {}
                _ => break,
            }
            end = records.end();
        }
        Self { lessons, length: end as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(label: u8, is_moved: bool) -> Lesson {
        let effect = |label| Effect {
            label,
            is_left_out: false,
            inputs: [0.5, 0.25, 0.125],
            duals: vec![1.5],
        };
        Lesson {
            document: Document::new(label, [vec![3, 9], vec![7], vec![8]]),
            effect: effect(label),
            withdrawn: is_moved.then(|| (4, effect(1 - label))),
        }
    }

    #[test]
    fn lessons_belong_to_one_table() {
        let mut bytes = new(77);
        let lessons = [lesson(0, false), lesson(1, true)];
        for lesson in &lessons {
            lesson.write(&mut bytes);
        }
        let length = bytes.len() as u64;
        let read = Journal::parse(&bytes, 77, 1);
        assert_eq!(read, Journal { lessons: lessons.to_vec(), length });
        assert_eq!(Journal::parse(&bytes, 78, 1), Journal::default());
        // An announced table has them already; until it is there, they count for the old one.
        bytes.extend(announcement(78));
        assert_eq!(Journal::parse(&bytes, 77, 1).lessons, lessons);
        bytes.extend(announcement(77));
        assert_eq!(Journal::parse(&bytes, 77, 1), Journal::default());
    }

    #[test]
    fn a_lesson_that_was_cut_short_has_not_happened() {
        let mut bytes = new(5);
        lesson(0, false).write(&mut bytes);
        let whole = bytes.len();
        lesson(1, true).write(&mut bytes);
        for at in whole..bytes.len() {
            let read = Journal::parse(&bytes[..at], 5, 1);
            assert_eq!((read.lessons.len(), read.length), (1, whole as u64), "{at}");
        }
    }
}
