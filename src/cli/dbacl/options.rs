// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of `dbacl`: one table for the command line, the help text and completions.

use crate::cli::getopt::{Opt, Value};

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the table below says what each is
pub enum Key {
    Learn,
    Category,
    Type,
    Verbose,
    Scores,
    Probabilities,
    Uncertainty,
    Confidence,
    Prior,
    Random,
    FilterLines,
    PerFile,
    Append,
    AppendIndented,
    ByLine,
    Media,
    Dump,
    Debug,
    Tokenizer,
    Order,
    KeepCase,
    Straddle,
    Regex,
    Wide,
    TableBits,
    MaxTableBits,
    MinCount,
    Decimation,
    Reference,
    ReferenceOnly,
    Quality,
    Multinomial,
    Preload,
    NoPreload,
    Online,
    MergeOnline,
    MemoryMap,
    Nothing,
    VersionText,
    Help,
    Version,
    Strict,
    Quiet,
    KeepNul,
}

const fn flag(key: Key, letter: u8, long: &'static str, help: &'static str) -> Opt<Key> {
    Opt { key, letter: Some(letter), long, value: Value::None, help }
}

const fn value(
    key: Key,
    letter: u8,
    long: &'static str,
    metavar: &'static str,
    help: &'static str,
) -> Opt<Key> {
    Opt { key, letter: Some(letter), long, value: Value::Required(metavar), help }
}

const fn long(key: Key, long: &'static str, help: &'static str) -> Opt<Key> {
    Opt { key, letter: None, long, value: Value::None, help }
}

/// All options, in the order of the help text.
pub const TABLE: &[Opt<Key>] = &[
    value(Key::Learn, b'l', "learn", "CATEGORY", "learn CATEGORY from the text"),
    value(Key::Category, b'c', "category", "CATEGORY", "classify: compare the text with CATEGORY"),
    value(Key::Type, b'T', "type", "TYPE", "kind of text: text, email[:KIND], html[:KIND], xml"),
    flag(Key::Verbose, b'v', "verbose", "print the best category; when learning, progress"),
    flag(Key::Scores, b'n', "scores", "print scores: minus log2 of the probability of the text"),
    flag(Key::Probabilities, b'N', "probabilities", "print the categories' probabilities"),
    flag(Key::Uncertainty, b'U', "uncertainty", "print how sure the verdict is, or deviations"),
    flag(Key::Confidence, b'X', "confidence", "learn and print p-values of divergences"),
    flag(Key::Prior, b'P', "prior", "let the length of a mail count as well"),
    flag(Key::Random, b'R', "random", "compare with random text, too"),
    value(
        Key::FilterLines,
        b'f',
        "filter",
        "CATEGORY",
        "print the lines that CATEGORY is best for",
    ),
    flag(Key::PerFile, b'F', "per-file", "classify each file by itself"),
    flag(Key::Append, b'a', "append", "print the text, then the results"),
    flag(Key::AppendIndented, b'A', "append-indented", "as -a, reading only indented lines"),
    flag(Key::ByLine, b's', "by-line", "one category a line in results"),
    flag(Key::Media, b'Y', "media", "print token counts by part of the mail"),
    flag(Key::Dump, b'd', "dump", "print the model, or each token's scores"),
    flag(Key::Debug, b'D', "debug", "print new tokens, or the text as it is read"),
    value(Key::Tokenizer, b'e', "tokenizer", "SCHEME", "alpha, alnum, graph, char, cef, adp, cef2"),
    value(Key::Order, b'w', "order", "N", "learn n-grams of up to N words, 1 to 7"),
    flag(Key::KeepCase, b'j', "keep-case", "tell upper case from lower case"),
    flag(Key::Straddle, b'S', "straddle", "let n-grams run on over line ends"),
    value(Key::Regex, b'g', "regex", "REGEX", "tokens are what REGEX captures"),
    value(Key::Regex, b'G', "", "REGEX", "the same as -g"),
    flag(Key::Wide, b'i', "international", "no effect; text is read byte by byte"),
    value(Key::TableBits, b'h', "hash-bits", "N", "start with a table of 2^N features (15)"),
    value(Key::MaxTableBits, b'H', "max-hash-bits", "N", "let the table grow to 2^N features"),
    value(Key::MinCount, b'z', "min-count", "N", "ignore features seen N times or less"),
    value(Key::Decimation, b'x', "decimate", "N", "learn about 1 in 2^N features or mails"),
    value(Key::Reference, b'L', "reference", "MEASURE", "uniform, dirichlet, maxent, mle, iid"),
    flag(Key::ReferenceOnly, b'r', "reference-only", "learn only the reference measure"),
    value(Key::Quality, b'q', "quality", "N", "fit quickly (1) to exactly (4)"),
    flag(Key::Multinomial, b'M', "multinomial", "count features independently of their order"),
    flag(Key::Preload, b'1', "preload", "start the fit from the existing category"),
    flag(Key::NoPreload, b'0', "no-preload", "do not (the default)"),
    value(Key::Online, b'o', "online", "FILE", "keep counts in FILE, to learn more later"),
    value(Key::MergeOnline, b'O', "merge-online", "FILE", "add the counts in FILE"),
    flag(Key::MemoryMap, b'm', "memory-map", "no effect; categories are always mapped"),
    flag(Key::Nothing, b'p', "", ""),
    flag(Key::Nothing, b'@', "", ""),
    long(Key::Strict, "strict", "status 0 for any verdict, sysexits(3) for errors"),
    long(Key::Quiet, "quiet", "no warnings, no hints"),
    long(Key::KeepNul, "keep-nul", "zero bytes are blanks; they hide the rest of a line if not"),
    flag(Key::VersionText, b'V', "", "print the version as dbacl 1.14.1 did"),
    long(Key::Help, "help", "print this help"),
    long(Key::Version, "version", "print the version"),
];
