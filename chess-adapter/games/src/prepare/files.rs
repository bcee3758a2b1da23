// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text in files: gamelines, the four training sets, encodings.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use dbacl_files::atomic_file::{beside, make_folder};
use shakmaty::{KnownOutcome, Position as _};

use super::{Gameline, TrainingSet};
use crate::cannot::Cannot;
use crate::encode::Encoding;

/// A file that is written beside the one that it will replace, and removed if it never does.
struct Out {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    fn create(path: PathBuf) -> Result<Self> {
        let partial = beside(&path, ".part");
        let file = File::create(&partial).with_context(|| Cannot::Write(path.clone()))?;
        Ok(Self { path, partial, file: BufWriter::with_capacity(1 << 16, file) })
    }

    fn write(&mut self, line: &str) -> Result<()> {
        self.file.write_all(line.as_bytes()).with_context(|| Cannot::Write(self.path.clone()))
    }

    fn finish(mut self) -> Result<()> {
        let done = self.file.flush().and_then(|()| fs::rename(&self.partial, &self.path));
        done.with_context(|| Cannot::Write(self.path.clone()))
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // It is not there any more once it has replaced the file.
        let _ = fs::remove_file(&self.partial);
    }
}

/// Writes gamelines and training sets into a folder.
pub struct TextFiles {
    all: Out,
    /// The training sets in each encoding.
    sets: Vec<(Encoding, Vec<Out>)>,
    line: String,
}

impl TextFiles {
    /// Opens the files below `folder`, which is made if need be: plain gamelines, and these
    /// encodings.
    ///
    /// # Errors
    ///
    /// A file cannot be created.
    pub fn create(folder: &Path, wanted: &[Encoding]) -> Result<Self> {
        make_folder(folder).with_context(|| Cannot::Write(folder.into()))?;
        let open = |name: String| Out::create(folder.join(format!("{name}.txt")));
        let mut encodings = vec![Encoding::Half];
        encodings.extend(wanted.iter().filter(|&&e| e != Encoding::Half));
        let mut sets = Vec::new();
        for encoding in encodings {
            let ending = match encoding {
                Encoding::Half => String::new(),
                other => format!("-{}", other.as_str()),
            };
            let files = TrainingSet::ALL.map(|set| open(format!("{}{ending}", set.name)));
            sets.push((encoding, files.into_iter().collect::<Result<_>>()?));
        }
        Ok(Self { all: open("all".to_owned())?, sets, line: String::new() })
    }

    /// Replaces the files of these names; without it they stay as they were.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(self) -> Result<()> {
        let sets = self.sets.into_iter().flat_map(|(_, files)| files);
        sets.chain([self.all]).try_for_each(Out::finish)
    }

    /// Writes one game.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn take(&mut self, game: &Gameline) -> Result<()> {
        let end = game.result.map(KnownOutcome::as_str);
        let (words, first) = (game.words.iter().map(String::as_str), game.start.turn());
        for (encoding, files) in &mut self.sets {
            self.line.clear();
            for (index, word) in words.clone().chain(end).enumerate() {
                encoding.push_word(&mut self.line, index, first, word);
            }
            self.line.push('\n');
            if *encoding == Encoding::Half {
                self.all.write(&self.line)?;
            }
            for (set, file) in TrainingSet::ALL.iter().zip(files) {
                if set.takes(game.result) {
                    file.write(&self.line)?;
                }
            }
        }
        Ok(())
    }
}
