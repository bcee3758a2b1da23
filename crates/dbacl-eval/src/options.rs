// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of `dbacl-eval`.

use dbacl_cli::getopt::{Opt, Value};

/// An option, by what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the table below says what each is
pub enum Key {
    Set,
    Try,
    Filter,
    Folds,
    Test,
    Online,
    Feedback,
    Refresh,
    Order,
    Index,
    Positive,
    Seed,
    Curve,
    Json,
    Html,
    Verdicts,
    Threads,
    Quiet,
    Help,
    Version,
}

const fn value(
    key: Key,
    letter: Option<u8>,
    long: &'static str,
    metavar: &'static str,
    help: &'static str,
) -> Opt<Key> {
    Opt { key, letter, long, value: Value::Required(metavar), help }
}

const fn flag(key: Key, letter: Option<u8>, long: &'static str, help: &'static str) -> Opt<Key> {
    Opt { key, letter, long, value: Value::None, help }
}

/// All options, in the order of the help text.
pub const TABLE: &[Opt<Key>] = &[
    value(
        Key::Set,
        Some(b's'),
        "set",
        "[NAME:]OPTIONS",
        "compare these options of dbacl; repeat for more sets",
    ),
    value(Key::Try, None, "try", "LIST", "compare the usual candidates for \"mail\" or \"text\""),
    value(
        Key::Filter,
        None,
        "filter",
        "WRAPPER",
        "compare another filter on the same documents, behind a\n\
         wrapper as for mailcross testsuite",
    ),
    value(Key::Folds, Some(b'k'), "folds", "N", "cross-validate with N folds (10)"),
    value(
        Key::Test,
        None,
        "test",
        "CORPUS",
        "learn the other documents and judge these; may be repeated",
    ),
    flag(Key::Online, None, "online", "judge each document, then learn it, in order"),
    value(
        Key::Feedback,
        None,
        "feedback",
        "WHEN",
        "online: learn \"immediate\"ly, \"delayed:N\" documents later, or\n\
         \"on-error\" (immediate)",
    ),
    value(
        Key::Refresh,
        None,
        "refresh",
        "PERCENT",
        "online: fit a category anew once it grew by so much (2);\n\
         0: for every document",
    ),
    value(
        Key::Order,
        None,
        "order",
        "ORDER",
        "online: \"given\" or \"shuffled\" (given for lines and indexes,\n\
         shuffled for folders and mailboxes)",
    ),
    value(Key::Index, None, "index", "FILE", "read documents from lines of category, blank, path"),
    value(
        Key::Positive,
        None,
        "positive",
        "NAME",
        "of two categories, the one to be caught (spam)",
    ),
    value(Key::Seed, None, "seed", "N", "deal and shuffle differently (1)"),
    flag(Key::Curve, None, "curve", "measure a learning curve, too (always with --html)"),
    flag(Key::Json, None, "json", "print JSON"),
    value(Key::Html, None, "html", "FILE", "also write a page with pictures"),
    value(Key::Verdicts, None, "verdicts", "FILE", "also write one line of JSON for every verdict"),
    value(Key::Threads, Some(b't'), "threads", "N", "use N threads (one for each processor)"),
    flag(Key::Quiet, Some(b'q'), "quiet", "show no progress"),
    flag(Key::Help, None, "help", "print this help"),
    flag(Key::Version, Some(b'V'), "version", "print the version"),
];
