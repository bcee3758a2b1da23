// SPDX-License-Identifier: GPL-3.0-or-later
//! The jobs of the program, and how all of them read.
//!
//! [`super::builder::Builder`] turns the options of a command line into one of these jobs and the
//! [`super::config::Config`] that it is done with; the modules with the names of the jobs carry
//! them out.

use crate::document::ReadOptions;
use crate::model::settings::{Locale, ModelOptions, Scheme};
use crate::token::PatternId;
use crate::token::pattern::PatternList;
use dbacl_words::charset::Charset;
use std::ffi::OsString;

/// The job that a command line asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Job {
    /// Learn a category (`-l`).
    Learn,
    /// Compare texts with categories (`-c`).
    Classify,
    /// Compare lines that are documents of their own with categories (`-c` and `--input`).
    ClassifyRecords(Records),
    /// Explain the verdict on a text (`-c` and `--explain`).
    Explain {
        /// As an HTML page.
        is_html: bool,
    },
    /// Count features for a later fit (`--count`).
    Count,
    /// Merge counts (`--merge`).
    Merge,
}

/// Which inputs are read, and how they become features.
pub(super) struct Reading {
    /// Files and folders to read; standard input if there are none.
    pub operands: Vec<OsString>,
    /// The option word of the model, or of the categories together.
    pub options: ModelOptions,
    /// How text is cut into words.
    pub scheme: Scheme,
    /// Longest n-gram.
    pub order: u8,
    /// The regular expressions, in load order.
    pub patterns: PatternList,
    /// Those given on the command line, without repeats.
    pub own_patterns: Vec<PatternId>,
    /// The character set of the run.
    pub locale: Locale,
    /// Zero bytes are blanks.
    pub keep_nul: bool,
    /// The character set of the text, if an option names it.
    pub charset: Option<Charset>,
    /// Read only indented lines.
    pub indented: bool,
    /// Each line is a document: the two lines that end an input are not added.
    pub by_lines: bool,
    /// An input that cannot be read to its end is an error.
    pub whole: bool,
    /// Status 0 for any verdict, `sysexits.h` for errors.
    pub strict: bool,
}

impl Reading {
    /// Standard input, read without options.
    pub(super) fn new(locale: Locale, strict: bool) -> Self {
        Self {
            operands: Vec::new(),
            options: ModelOptions::default(),
            scheme: Scheme::Alpha,
            order: 1,
            patterns: PatternList::new(locale),
            own_patterns: Vec::new(),
            locale,
            keep_nul: false,
            charset: None,
            indented: false,
            by_lines: false,
            whole: false,
            strict,
        }
    }

    /// How the inputs are read. The regular expressions move there.
    pub(super) fn read_options(&mut self) -> ReadOptions {
        ReadOptions {
            options: self.options,
            scheme: self.scheme,
            order: self.order,
            patterns: std::mem::replace(&mut self.patterns, PatternList::new(self.locale)),
            locale: self.locale,
            keep_nul: self.keep_nul,
            charset: self.charset,
        }
    }

    /// The regular expressions of the command line as categories store them. `patterns` are those
    /// of the run.
    pub(super) fn stored_patterns(&self, patterns: &PatternList) -> Vec<Vec<u8>> {
        self.own_patterns.iter().map(|&pattern| patterns.stored(pattern)).collect()
    }
}

/// What a line of the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Records {
    /// A JSON object with a `text` and perhaps an `id`.
    Ndjson,
    /// A document.
    Lines,
}

impl Records {
    /// The kind of this name.
    pub(super) fn by_name(name: &[u8]) -> Option<Self> {
        match name {
            b"ndjson" => Some(Self::Ndjson),
            b"lines" => Some(Self::Lines),
            _ => None,
        }
    }
}
