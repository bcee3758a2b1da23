// SPDX-License-Identifier: GPL-3.0-or-later
//! Errors and warnings of the library.
//!
//! An [`Error`] ends an operation; there is a variant for each case that a caller may want to
//! handle in its own way. [`Warning`] values are given to a function that the caller passes down.
//! The library itself prints nothing.

use dbacl_files::atomic_file::SaveError;
use std::io;
use std::path::{Path, PathBuf};

/// Result of the library's fallible operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file does not begin like a category of this format and version.
    #[error("not a dbacl 1.14.1 dlw portable category file [{}]", path.display())]
    NotACategory {
        /// The file concerned.
        path: PathBuf,
    },
    /// The file does not begin like a model, a file of several categories.
    #[error("{}: not a dbacl-text model (a category? use dbacl -c)", path.display())]
    NotAModel {
        /// The file concerned.
        path: PathBuf,
    },
    /// Another version of dbacl made the model.
    #[error("{}: a model of another version of dbacl: train it again", path.display())]
    ModelVersion {
        /// The file concerned.
        path: PathBuf,
    },
    /// A line of the header cannot be read or has an impossible value.
    #[error("bad category file [{line}]")]
    BadHeader {
        /// The file concerned.
        path: PathBuf,
        /// dbacl 1.14.1's number of the line: 2, 3, 8 or 10.
        line: u8,
    },
    /// A category's digram table is cut short.
    #[error("is this category corrupt: {}?", path.display())]
    CutInDigrams {
        /// The file concerned.
        path: PathBuf,
    },
    /// A category's feature table is cut short.
    #[error("corrupt category? {}", path.display())]
    CutInTable {
        /// The file concerned.
        path: PathBuf,
    },
    /// The beginning of the file is right, but a later part is damaged.
    #[error("{}: damaged: {what}", path.display())]
    Damaged {
        /// The file concerned.
        path: PathBuf,
        /// What is damaged.
        what: String,
    },
    /// The documents of a category held no token to learn.
    #[error("the documents of category {} have no token", category + 1)]
    NothingToLearn {
        /// Number of the category, from 0.
        category: usize,
    },
    /// A regular expression that cannot be compiled.
    #[error("could not compile regular expression '{pattern}': {why}")]
    Pattern {
        /// The expression as given.
        pattern: String,
        /// Why, for people.
        why: String,
    },
    /// A regular expression that a category file cannot hold.
    #[error("cannot store regular expression '{pattern}' in a category: {why}.")]
    UnstorablePattern {
        /// The expression as it would be stored.
        pattern: String,
        /// Why, for people.
        why: &'static str,
    },
    /// More regular expressions than a model can number.
    #[error("too many regular expressions")]
    TooManyPatterns,
    /// The target of a save exists and is not a file of dbacl.
    #[error("the file {} is already used for something", path.display())]
    Occupied {
        /// The file concerned.
        path: PathBuf,
    },
    /// No temporary file can be created beside the target.
    #[error("cannot open tempfile for writing {}: {source}", path.display())]
    Temporary {
        /// The target.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file has its new content, but may lose it in a power cut, or others that belong to it have
    /// their old contents.
    #[error(transparent)]
    HalfSaved(SaveError),
    /// The documents held no token to learn.
    #[error("the documents have no token")]
    NoTokens,
    /// Categories that cannot be compared.
    #[error("{0}")]
    Incomparable(String),
    /// There is not enough memory.
    #[error("not enough memory for {what}")]
    OutOfMemory {
        /// What it was needed for.
        what: String,
    },
    /// Counts that cannot be put together, or that cannot be learned from with these options.
    #[error("{0}")]
    Counts(String),
    /// A number left the range in which the model's formulas hold.
    #[error("{0}")]
    Numeric(String),
    /// An error of another type: of reading a stream, of comparing or fitting categories, of a set
    /// on disk. `downcast_ref` finds which.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Wraps an I/O error with the path that it concerns.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }

    /// A damage report for `path`.
    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Other(Box::new(error))
    }
}

impl From<SaveError> for Error {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Occupied { path } => Self::Occupied { path },
            SaveError::Temporary { path, source } => Self::Temporary { path, source },
            SaveError::Io { path, source } => Self::Io { path, source },
            error @ (SaveError::Unforced { .. } | SaveError::Divided { .. }) => {
                Self::HalfSaved(error)
            }
        }
    }
}

/// Something a user should know that does not stop the run. Its text is what programs print after
/// `dbacl:warning: `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl Warning {
    /// A warning with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Receives warnings in the order in which they arise.
pub type WarningSink<'a> = &'a mut dyn FnMut(Warning);
