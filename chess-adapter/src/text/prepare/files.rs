// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text in files: gamelines, the four training sets, encodings, descriptions.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use shakmaty::{Chess, Color, Position};

use super::descriptions::{Descriptions, ManyDescriptions};
use super::output::Out;
use super::{GameSink, Gameline, Options, PHASE_ENDS, PHASES, TrainingSet};
use crate::text::encode::Encoding;
use crate::text::pgn::GameResult;

/// Writes gamelines and training sets into a folder.
pub struct TextFiles {
    all: Out,
    sets: [Out; 4],
    encoded: Vec<(Encoding, Vec<Out>)>,
    phased: Vec<(Encoding, usize, Vec<[Out; 3]>)>,
    position_words: Option<[Out; 2]>,
    describe: Option<Descriptions>,
    describe2: Option<ManyDescriptions>,
    unfinished: Option<GameResult>,
    line: String,
}

impl TextFiles {
    /// Opens the files below `folder`, which is made if need be.
    ///
    /// # Errors
    ///
    /// A file cannot be created.
    pub fn create(folder: &Path, options: &Options) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let open =
            |name: &str| -> Result<Out> { Ok(Out::create(folder.join(format!("{name}.txt")))?) };
        let [a, b, c, d] = TrainingSet::ALL.map(|set| open(set.as_str()));
        let mut encoded = Vec::new();
        let mut phased = Vec::new();
        for &encoding in &options.encodings {
            let files: Result<Vec<Out>> = TrainingSet::ALL
                .iter()
                .map(|set| open(&format!("{}-{}", set.as_str(), encoding.as_str())))
                .collect();
            if encoding != Encoding::Half {
                encoded.push((encoding, files?));
            }
            if let Some(overlap) = options.phases {
                let mut sets = Vec::new();
                for set in TrainingSet::ALL {
                    let [x, y, z] = PHASES.map(|phase| {
                        open(&format!("{}-{}-{phase}", set.as_str(), encoding.as_str()))
                    });
                    sets.push([x?, y?, z?]);
                }
                phased.push((encoding, overlap, sets));
            }
        }
        let position_words = match options.position_words {
            true => Some([open("WhiteWin-positions")?, open("BlackWin-positions")?]),
            false => None,
        };
        let describe = match &options.describe {
            None => None,
            Some(describe) => {
                let white = [open("White-played")?, open("White-notplayed")?];
                let black = [open("Black-played")?, open("Black-notplayed")?];
                Some(Descriptions::new(describe.clone(), [white, black]))
            }
        };
        let describe2 = match options.describe2 {
            None => None,
            Some(wanted) => {
                let files = [open("many-played")?, open("many-notplayed")?];
                Some(ManyDescriptions::new(wanted, files))
            }
        };
        Ok(Self {
            all: open("all")?,
            sets: [a?, b?, c?, d?],
            encoded,
            phased,
            position_words,
            describe,
            describe2,
            unfinished: None,
            line: String::new(),
        })
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        if let Some(describe) = &mut self.describe {
            describe.finish()?;
        }
        if let Some(describe) = &mut self.describe2 {
            describe.finish()?;
        }
        self.all.flush()?;
        let encoded = self.encoded.iter_mut().flat_map(|(_, files)| files);
        let phased = self.phased.iter_mut().flat_map(|(_, _, sets)| sets.iter_mut().flatten());
        let positions = self.position_words.iter_mut().flatten();
        let described = self.describe.iter_mut().flat_map(|d| d.files.iter_mut().flatten());
        let described = described.chain(self.describe2.iter_mut().flat_map(|d| &mut d.files));
        for file in
            self.sets.iter_mut().chain(encoded).chain(phased).chain(positions).chain(described)
        {
            file.flush()?;
        }
        Ok(())
    }
}

impl GameSink for TextFiles {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        let result = game.result.or(self.unfinished);
        let end = result.map(GameResult::as_str);
        let first = game.first.unwrap_or(Color::White);
        let line = &mut self.line;
        let wanted = |i: usize| TrainingSet::ALL[i].takes(result);
        encode_line(Encoding::Half, first, game, end, line);
        self.all.write_all(line.as_bytes())?;
        for (i, file) in self.sets.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
            let _ = i;
            file.write_all(line.as_bytes())?;
        }
        for (encoding, files) in &mut self.encoded {
            encode_line(*encoding, first, game, end, line);
            for (_, file) in files.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
                file.write_all(line.as_bytes())?;
            }
        }
        for (encoding, overlap, sets) in &mut self.phased {
            encode_line(*encoding, first, game, end, line);
            for (_, files) in sets.iter_mut().enumerate().filter(|(i, _)| wanted(*i)) {
                write_phases(line.trim_end(), *encoding, *overlap, files)?;
            }
        }
        if let Some(files) = &mut self.position_words {
            let winner = match result {
                Some(GameResult::WhiteWins) => Some((0, Color::White)),
                Some(GameResult::BlackWins) => Some((1, Color::Black)),
                _ => None,
            };
            if let Some((i, winner)) = winner {
                position_words(game, winner, line);
                files[i].write_all(line.as_bytes())?;
            }
        }
        if let Some(describe) = &mut self.describe {
            describe.take(game, result)?;
        }
        if let Some(describe) = &mut self.describe2 {
            describe.take(game)?;
        }
        Ok(())
    }
}

fn encode_line(
    encoding: Encoding,
    first: Color,
    game: &Gameline,
    end: Option<&str>,
    line: &mut String,
) {
    line.clear();
    for (index, word) in game.words().chain(end).enumerate() {
        encoding.push_word(line, index, first, word);
    }
    line.push('\n');
}

/// Cuts a line where the phases meet; each part but the first repeats some words of the one before.
fn write_phases(
    line: &str,
    encoding: Encoding,
    overlap: usize,
    files: &mut [Out; 3],
) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    let half_moves = if encoding == Encoding::Half { 1 } else { 2 };
    let cuts = PHASE_ENDS.map(|ply| ply / half_moves);
    let bounds = [(0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], usize::MAX)];
    for (file, (start, end)) in files.iter_mut().zip(bounds) {
        if words.len() > start {
            let from = start.saturating_sub(overlap);
            writeln!(file, "{}", words[from..end.min(words.len())].join(" "))?;
        }
    }
    Ok(())
}

/// `HASH MOVE` lines of the moves of one side.
fn position_words(game: &Gameline, side: Color, lines: &mut String) {
    lines.clear();
    let mut position = game.start.clone();
    for (word, &m) in game.words().zip(&game.moves) {
        if position.turn() == side {
            lines.push_str(&position_word(&position));
            lines.push(' ');
            lines.push_str(word);
            lines.push('\n');
        }
        position.play_unchecked(m);
    }
}

/// Eight hexadecimal digits that stand for a position (spec chess 9.8 b).
pub fn position_word(position: &Chess) -> String {
    use shakmaty::{EnPassantMode, zobrist::Zobrist64};
    let hash: Zobrist64 = position.zobrist_hash(EnPassantMode::Legal);
    format!("{:08x}", u64::from(hash) >> 32)
}
