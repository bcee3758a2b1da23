// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of `bayesol`, and what they say together.

use crate::risk::parse::Specification;
use dbacl_cli::getopt::{self, Opt, opt};
use std::ffi::OsString;

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Specification,
    Verbose,
    Risks,
    Ranking,
    Debug,
    Wide,
    Version,
    VersionText,
    Json,
    Explain,
    Relaxed,
    Category,
    Nats,
    Help,
}

/// The options.
pub const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Specification, "-c, --risk SPEC", "read the risk specification SPEC"),
    opt(Key::Verbose, "-v, --verbose", "print the name of the best category"),
    opt(Key::Risks, "-n, --risks", "print the logarithm of the expected loss of each decision"),
    opt(
        Key::Ranking,
        "-N, --ranking",
        "print all categories, best first, each decided without those before it",
    ),
    opt(Key::Debug, "-D, --debug", "print how the decision comes about"),
    opt(Key::Wide, "-i, --wide", "accepted and ignored"),
    opt(Key::Json, "--json", "print one JSON document instead of text"),
    opt(
        Key::Explain,
        "--explain",
        "remark on likely mistakes in SPEC, also when\nstandard error is not a terminal",
    ),
    opt(
        Key::Relaxed,
        "--relaxed",
        "let SPEC have numbers such as 1e5 and .5, comments after other text,\n\
         carriage returns, and names with '_', '-' and '.'",
    ),
    opt(
        Key::Category,
        "--category NAME",
        "score the text itself under the category NAME, at full precision, instead of\n\
         reading scores; repeat it for each category of SPEC",
    ),
    opt(Key::Nats, "--nats", "read scores as bits, which they are; without this option as nats"),
    opt(Key::Help, "--help", "print this help"),
    opt(Key::VersionText, "-V", "print the version; the status is 1"),
    opt(Key::Version, "--version", "print the version"),
];

/// How the program is called.
pub(super) const USAGE: &str = "Usage: bayesol [-viDnN] -c SPEC [FILE]...";

/// What the options say together.
#[derive(Default)]
pub(super) struct Config {
    pub specification: Specification,
    /// Whether the name of the best category is printed; false if risks or a ranking are.
    pub name: bool,
    /// Whether the expected loss of each decision is printed; false if a ranking is.
    pub risks: bool,
    /// Whether all categories are printed, best first.
    pub ranking: bool,
    pub debug: bool,
    pub json: bool,
    pub nats: bool,
    /// Categories to score the text under; without any, it holds scores.
    pub categories: Vec<OsString>,
    pub files: Vec<OsString>,
}

pub(super) fn help() -> String {
    format!(
        "{USAGE}\n\
         Picks the category with the smallest expected loss, from the scores that 'dbacl -vna' \
         appends\n\
         to a document. Reads the FILEs, or standard input. The exit status is the category's \
         number.\n\n\
         {}",
        getopt::describe(OPTIONS)
    )
}
