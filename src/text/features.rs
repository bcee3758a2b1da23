// SPDX-License-Identifier: GPL-3.0-or-later
//! Texts → features, in blocks: words and runs of words, and runs of characters.
//!
//! ```text
//! text ─→ filter for markup ─┬→ words ─→ words, pairs of neighbouring words    block 1
//!                            └→ characters ─→ runs of two to five characters   block 2
//! ```
//!
//! A feature is a number of 32 bits, a hash of what it is. A text has it or has it not. Where
//! repetitions count, a feature that occurs twice adds a further one, and so on.

use crate::text::fold::folded;
use crate::text::learn::WEIGHT;
use crate::text::table::BlockKind;
use crate::{Cutter, Feature, FeatureId, FeatureReader, FeatureSink, LineState, ReadOptions};
use dbacl_numeric::elementary::narrow;
use std::collections::BTreeMap;
use std::io;

/// Which runs of characters a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Runs that go across blanks.
    Across,
    /// Runs within a word, whose two ends count as characters.
    Within,
}

impl Runs {
    /// The name of the block in files and messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Across => "runs",
            Self::Within => "runs within words",
        }
    }
}

/// Characters of the shortest and of the longest run.
pub(super) const LENGTHS: [usize; 2] = [2, 5];

/// How often a feature must occur for each further feature, and what that is called.
pub(super) const REPEATS: [(usize, &str); 3] =
    [(2, "twice"), (3, "three times"), (5, "five times")];

/// The further feature of a feature that occurs as often as [`REPEATS`] says at `level`.
pub(super) fn repeated(feature: u32, level: usize) -> u32 {
    let turn = 7 * (u32::try_from(level).unwrap_or(0) + 1);
    (feature ^ 0x5bd1_e995).rotate_left(turn).wrapping_mul(0x9e37_79b1)
}

/// How texts are read for a model.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// How words are cut.
    pub words: ReadOptions,
    /// The runs of characters, if there are any.
    pub runs: Option<Runs>,
    /// Whether upper and lower case differ in them.
    pub keeps_case: bool,
    /// Whether writings of one word or sign are made one, see [`crate::fold`].
    pub folds: bool,
    /// Characters of the shortest and of the longest run.
    pub lengths: [usize; 2],
    /// How many of [`REPEATS`] add features.
    pub repeats: usize,
}

impl Layout {
    /// Number of blocks.
    pub(super) const fn blocks(&self) -> usize {
        1 + self.runs.is_some() as usize
    }

    /// The blocks as a model has them.
    pub(super) fn kinds(&self) -> Vec<BlockKind> {
        let weight = narrow(WEIGHT);
        let words = BlockKind { runs: None, lengths: [1, self.words.order.into()], weight };
        let runs = self.runs.map(|_| BlockKind { runs: self.runs, lengths: self.lengths, weight });
        std::iter::once(words).chain(runs).collect()
    }
}

/// The features of a text by block, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// Those that occur, then those that occur as often as each of [`REPEATS`] says; each part in
    /// the order of the features that occur, which is rising.
    pub blocks: [Vec<u32>; 2],
    /// Where the parts of each block end.
    pub ends: [[usize; 1 + REPEATS.len()]; 2],
}

impl Features {
    /// How many different features occur in a block.
    pub(crate) fn distinct(&self, block: usize) -> usize {
        self.ends[block][0]
    }

    /// Makes each feature of a block one, and adds those of repetitions.
    fn finish(&mut self, block: usize, repeats: usize) {
        let own = &mut self.blocks[block];
        own.sort_unstable();
        let mut further: [Vec<u32>; REPEATS.len()] = Default::default();
        if repeats > 0 {
            for same in own.chunk_by(|a, b| a == b).filter(|same| same.len() > 1) {
                for (level, &(least, _)) in REPEATS[..repeats].iter().enumerate() {
                    if same.len() >= least {
                        further[level].push(repeated(same[0], level));
                    }
                }
            }
        }
        own.dedup();
        self.ends[block] = [own.len(); 1 + REPEATS.len()];
        for (level, mut further) in further.into_iter().enumerate() {
            own.append(&mut further);
            self.ends[block][level + 1..].fill(own.len());
        }
    }
}

/// Reads one text after the other.
pub(super) struct TextReader {
    reader: FeatureReader<'static>,
    layout: Layout,
    gathered: Gathered,
}

/// What a text has shown so far.
#[derive(Debug, Default)]
struct Gathered {
    found: Features,
    /// The filtered text, where characters are looked at.
    text: Option<Vec<u8>>,
    /// What words are called, where that is asked for.
    names: Option<Vec<(u32, String)>>,
}

impl FeatureSink for Gathered {
    fn feature(&mut self, feature: Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium).0;
        self.found.blocks[0].push(id);
        if let Some(names) = &mut self.names {
            let words: Vec<_> = feature.words().map(String::from_utf8_lossy).collect();
            names.push((id, words.join(" ")));
        }
    }

    fn text(&mut self, line: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        if let Some(text) = self.text.as_mut().filter(|_| state.kept) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        Ok(())
    }
}

impl TextReader {
    pub(super) fn new(layout: &Layout) -> Self {
        let reader = FeatureReader::new(&layout.words);
        let text = layout.runs.map(|_| Vec::new());
        let gathered = Gathered { text, ..Gathered::default() };
        Self { reader, layout: layout.clone(), gathered }
    }

    pub(super) fn read(&mut self, text: &[u8]) -> &Features {
        let all = &mut self.gathered;
        all.found.blocks.iter_mut().for_each(Vec::clear);
        all.text.iter_mut().for_each(Vec::clear);
        self.reader.start_anew();
        // Memory can be read, and gathering refuses nothing.
        let text = if self.layout.folds { folded(text) } else { text.into() };
        let _ = self.reader.read_bytes(&text, all);
        if let (Some(runs), Some(text)) = (self.layout.runs, &all.text) {
            let block = &mut all.found.blocks[1];
            each_run(text, runs, &self.layout, |id, _| block.push(id));
        }
        for block in 0..all.found.blocks.len() {
            all.found.finish(block, self.layout.repeats);
        }
        &all.found
    }

    /// The features of a text with their names, in the order of the text; each block's one after
    /// the other.
    pub(super) fn named(&mut self, text: &[u8]) -> Vec<Vec<(u32, String)>> {
        self.gathered.names = Some(Vec::new());
        self.read(text);
        let mut named = vec![self.gathered.names.take().unwrap_or_default()];
        if let (Some(runs), Some(text)) = (self.layout.runs, &self.gathered.text) {
            let mut block = Vec::new();
            let show = |run: &[char]| run.iter().collect::<String>().replace(' ', "\u{2423}");
            each_run(text, runs, &self.layout, |id, run| block.push((id, show(run))));
            named.push(block);
        }
        for block in &mut named {
            let mut count: BTreeMap<u32, (usize, String)> = BTreeMap::new();
            for (id, name) in block.iter().filter(|_| self.layout.repeats > 0) {
                count.entry(*id).or_insert_with(|| (0, name.clone())).0 += 1;
            }
            for (id, (count, name)) in count {
                let levels = REPEATS[..self.layout.repeats].iter().enumerate();
                for (level, &(_, often)) in levels.filter(|(_, (least, _))| count >= *least) {
                    block.push((repeated(id, level), format!("{name}, {often}")));
                }
            }
        }
        named
    }
}

/// Hands the runs of a text to `take`, with their characters. Case is folded unless it is kept,
/// white space is one blank, and there is a blank at both ends of the text, or of each word.
fn each_run(text: &[u8], runs: Runs, layout: &Layout, mut take: impl FnMut(u32, &[char])) {
    let mut line = vec![' '];
    let put = |character: char, line: &mut Vec<char>| {
        if character.is_whitespace() {
            if line.last() != Some(&' ') {
                line.push(' ');
            }
        } else if layout.keeps_case || character.is_ascii_digit() {
            line.push(character);
        } else if character.is_ascii() {
            line.push(character.to_ascii_lowercase());
        } else {
            line.extend(character.to_lowercase());
        }
    };
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|character| put(character, &mut line));
        for &byte in chunk.invalid() {
            put(char::from(byte), &mut line);
        }
    }
    put(' ', &mut line);
    let [shortest, longest] = layout.lengths;
    for start in 0..line.len() {
        let mut sum = 0x6c62_272e_07bb_0142u64;
        for end in start..line.len().min(start + longest) {
            let character = line[end];
            sum = (sum.rotate_left(5) ^ u64::from(u32::from(character)))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if end + 1 - start >= shortest {
                #[allow(clippy::cast_possible_truncation)] // the upper half
                take((sum >> 32) as u32, &line[start..=end]);
            }
            if runs == Runs::Within && end > start && character == ' ' {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, runs: Runs, keeps_case: bool) -> Vec<String> {
        let words = ReadOptions::text();
        let layout = Layout {
            words,
            runs: Some(runs),
            keeps_case,
            folds: false,
            lengths: [2, 3],
            repeats: 0,
        };
        let mut found = Vec::new();
        each_run(text.as_bytes(), runs, &layout, |_, run| {
            found.push(run.iter().collect::<String>().replace(' ', "_"));
        });
        found
    }

    #[test]
    fn runs_go_across_blanks_or_not() {
        let across = runs("Ab \t c", Runs::Across, false);
        assert_eq!(across, ["_a", "_ab", "ab", "ab_", "b_", "b_c", "_c", "_c_", "c_"]);
        let within = runs("aB c", Runs::Within, true);
        assert_eq!(within, ["_a", "_aB", "aB", "aB_", "B_", "_c", "_c_", "c_"]);
        assert_eq!(runs("\u{c4}", Runs::Across, false), ["_\u{e4}", "_\u{e4}_", "\u{e4}_"]);
        assert_eq!(runs("", Runs::Across, false), [""; 0]);
    }

    #[test]
    fn features_are_distinct_and_have_names() {
        let mut words = ReadOptions::text();
        words.order = 2;
        let layout = Layout {
            words,
            runs: Some(Runs::Across),
            keeps_case: false,
            folds: true,
            lengths: LENGTHS,
            repeats: 0,
        };
        let mut reader = TextReader::new(&layout);
        let found = reader.read(b"the sea the sea").clone();
        assert_eq!(found.blocks[0].len(), 4);
        assert!(found.blocks.iter().all(|block| block.is_sorted_by(|a, b| a < b)));
        let named = reader.named(b"the sea the sea");
        let names: Vec<&str> = named[0].iter().map(|(_, name)| name.as_str()).collect();
        assert!(names.contains(&"the sea") && names.contains(&"sea"), "{names:?}");
        assert_eq!(named[1].len(), 16 + 15 + 14 + 13);
        let mut ids: Vec<u32> = named[1].iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids, found.blocks[1]);
        assert_eq!(*reader.read(b""), Features::default());
    }

    #[test]
    fn repetitions_add_features_with_names() {
        let words = ReadOptions::text();
        let plain = Layout {
            words,
            runs: None,
            keeps_case: false,
            folds: true,
            lengths: [1, 1],
            repeats: 0,
        };
        let read = |repeats, text: &[u8]| {
            TextReader::new(&Layout { repeats, ..plain.clone() }).read(text).clone()
        };
        let text = b"a b b c c c d d d d d e";
        let (none, all) = (read(0, text), read(3, text));
        assert_eq!((none.ends[0], all.ends[0]), ([5; 4], [5, 8, 10, 11]));
        assert_eq!(all.blocks[0][..5], none.blocks[0]);
        assert_eq!(read(1, text).blocks[0], all.blocks[0][..8]);
        assert_eq!(read(3, b"a b c").blocks[0], read(0, b"a b c").blocks[0]);
        let mut reader = TextReader::new(&Layout { repeats: 3, ..plain });
        let named = reader.named(text).remove(0);
        for (level, name) in
            [(5..8, "b, twice"), (8..10, "d, three times"), (10..11, "d, five times")]
        {
            let found = named.iter().find(|(_, own)| own == name).unwrap();
            assert!(all.blocks[0][level].contains(&found.0), "{name}");
        }
        assert_eq!(named.len(), 12 + 6);
    }
}
