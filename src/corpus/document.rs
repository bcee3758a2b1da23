// SPDX-License-Identifier: GPL-3.0-or-later
//! A labelled document, how documents are read, and why they cannot be.

use crate::corpus::packed::{Damage, name_within};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the longest document.
pub const LONGEST: usize = 8 << 20;

/// How documents are distinguished in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Lines of a label, a tab and a text
    Tsv,
    /// Lines with one word that begins with `__label__`
    #[cfg_attr(feature = "clap", value(name = "fasttext"))]
    FastText,
    /// JSON objects, one a line
    #[cfg_attr(feature = "clap", value(alias = "jsonl"))]
    Ndjson,
    /// Comma-separated values whose first row names the columns
    Csv,
    /// A folder of folders, each called like the label of the files in it
    Folder,
    /// Lines without labels
    Lines,
}

impl Format {
    /// The format of a file with labels, which may be compressed, by the ending of its name.
    pub fn by_name(path: &Path) -> Option<Self> {
        match Path::new(name_within(path)?).extension()?.to_ascii_lowercase().to_str()? {
            "tsv" | "tab" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

/// How documents are to be read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The format, unless it is to be found out.
    pub format: Option<Format>,
    /// Name of the column or member with the label.
    pub label: String,
    /// Names of the columns or members with the text; several are put together as lines.
    pub text: Vec<String>,
    /// Whether other columns may be taken where there are none of these names, if it is plain which
    /// ones are meant: by their names, or because there are two.
    pub finds_columns: bool,
    /// Whether every document must have a label; else labels are not looked at, and what is no
    /// table by its name or first line holds a text in each line.
    pub needs_label: bool,
    /// Whether a document may have several labels, or none.
    pub has_several: bool,
    /// What divides several labels in a column or field.
    pub separator: String,
    /// Name of the column or member that names a document.
    pub id: Option<String>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            format: None,
            label: "label".into(),
            text: vec!["text".into()],
            finds_columns: false,
            needs_label: true,
            has_several: false,
            separator: ",".into(),
            id: None,
        }
    }
}

impl Reading {
    /// The name of the column with the label, if labels are looked at.
    pub(crate) fn label_wanted(&self) -> Option<&String> {
        self.needs_label.then_some(&self.label)
    }
}

/// A document.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its label; empty where none was asked for. Several labels stand in lines.
    pub label: &'a str,
    /// What names it; empty where that was not asked for.
    pub id: &'a str,
    /// Its text.
    pub text: &'a [u8],
    /// Number of the line where it begins, from 1.
    pub line: u64,
    /// The file that it stands in.
    pub file: &'a Path,
}

impl<'a> Record<'a> {
    /// Its labels, each by itself.
    pub fn labels(&self) -> Vec<&'a str> {
        self.label.split('\n').filter(|label| !label.is_empty()).collect()
    }
}

/// Why documents cannot be read. The text begins with file and line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is compressed, and cannot be unpacked.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The file concerned.
        path: PathBuf,
        /// How it is compressed, and what is wrong.
        damage: String,
    },
    /// Neither name nor content shows the format.
    #[error("{}:1: the format is not known by its name or first line", path.display())]
    UnknownFormat {
        /// The file concerned.
        path: PathBuf,
    },
    /// A line breaks the rules of its format.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file concerned.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
        /// Whether the document has several labels where one is expected.
        has_several: bool,
    },
}

impl DataError {
    /// An error of a line.
    pub fn line(path: &Path, line: u64, what: impl Into<String>) -> Self {
        Self::Line { path: path.to_path_buf(), line, what: what.into(), has_several: false }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        let damage = source.get_ref().and_then(|inner| inner.downcast_ref::<Damage>());
        match damage.map(Damage::to_string) {
            Some(damage) => Self::Damaged { path, damage },
            None => Self::Io { path, source },
        }
    }

    pub(crate) fn too_long(path: &Path, line: u64) -> Self {
        Self::line(path, line, "the document is longer than 8 MiB")
    }
}

/// What a user should know of the documents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// Number of lines that were passed over because they are empty.
    pub empty: u64,
    /// The first of them.
    pub first_empty: u64,
    /// The columns that were read, where others than those that were asked for.
    pub columns: Option<Columns>,
    /// Whether the first line named columns in a file that could have been without such a line.
    pub has_heading: bool,
}

/// Names of columns or members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// That with the label; empty where none was asked for.
    pub label: String,
    /// That with the text.
    pub text: String,
}

impl Notes {
    pub(crate) fn pass_over(&mut self, line: u64) {
        if self.empty == 0 {
            self.first_empty = line;
        }
        self.empty += 1;
    }

    /// What is to be said about empty lines of the file at `path`, if there are any.
    pub fn text(&self, path: &Path) -> Option<String> {
        let Self { empty, first_empty, .. } = self;
        let lines = if *empty == 1 { "line was" } else { "lines were" };
        (*empty > 0)
            .then(|| format!("{}:{first_empty}: {empty} empty {lines} passed over", path.display()))
    }
}

/// Takes a document; an error ends the reading.
pub type Sink<'a> = &'a mut dyn FnMut(Record<'_>) -> Result<(), DataError>;

/// What is done while documents are read.
pub struct Handlers<'a> {
    /// Takes a document; an error ends the reading.
    pub take: Sink<'a>,
    /// Takes why a single document cannot be read; an error ends the reading.
    pub refuse: &'a mut dyn FnMut(DataError) -> Result<(), DataError>,
    /// Is called before each time that the program may wait for input.
    pub waits: &'a mut dyn FnMut(),
}

/// Where documents go, and those that cannot be read.
pub(crate) struct To<'a> {
    pub(crate) take: Sink<'a>,
    pub(crate) refuse: &'a mut dyn FnMut(DataError) -> Result<(), DataError>,
}
