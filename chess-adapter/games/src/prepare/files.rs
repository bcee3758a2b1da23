// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text in files: gamelines, the four training sets, encodings.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use shakmaty::{KnownOutcome, Position as _};

use super::{Gameline, TrainingSet};
use crate::cannot::Cannot;
use crate::encode::Encoding;

/// A file that is written.
struct Out {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).with_context(|| Cannot::Write(path.clone()))?;
        Ok(Self { path, file: BufWriter::with_capacity(1 << 16, file) })
    }

    fn write(&mut self, line: &str) -> Result<()> {
        self.file.write_all(line.as_bytes()).with_context(|| Cannot::Write(self.path.clone()))
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
        dbacl_files::atomic_file::make_folder(folder)
            .with_context(|| Cannot::Write(folder.into()))?;
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

    /// Writes what is still in memory.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        let sets = self.sets.iter_mut().flat_map(|(_, files)| files);
        for Out { path, file } in sets.chain([&mut self.all]) {
            file.flush().with_context(|| Cannot::Write(path.clone()))?;
        }
        Ok(())
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
