// SPDX-License-Identifier: GPL-3.0-or-later
//! A file that is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is written; its errors name it.
pub struct Out {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    pub fn create(path: PathBuf) -> io::Result<Self> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file: BufWriter::with_capacity(1 << 16, file) }),
            Err(error) => Err(Self::named(&path, &error)),
        }
    }

    fn named(path: &Path, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| Self::named(&self.path, &error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).map_err(|error| Self::named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| Self::named(&self.path, &error))
    }
}
