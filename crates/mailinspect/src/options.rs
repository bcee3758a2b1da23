// SPDX-License-Identifier: GPL-3.0-or-later
//! mailinspect's options.

use dbacl_cli::getopt::{Opt, Value, opt};

/// What an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is described by its row of the table
pub enum Key {
    Category,
    Scoring,
    Style,
    Command,
    Reverse,
    KeepCase,
    List,
    Hide,
    Wide,
    Interactive,
    Exact,
    Json,
    Help,
    Version,
}

const REGEX: Value = Value::Required("REGEX");

/// The options.
pub const TABLE: &[Opt<Key>] = &[
    opt(
        Key::Category,
        Some(b'c'),
        "category",
        Value::Required("NAME"),
        "compare messages with the category NAME",
    ),
    opt(
        Key::Interactive,
        Some(b'I'),
        "interactive",
        Value::None,
        "look through the messages on the terminal",
    ),
    opt(
        Key::Scoring,
        Some(b'o'),
        "scoring",
        Value::Required("N"),
        "sort by 0 cost of the message, 1 cost per token,\n2 divergence, 3 confidence; default 0",
    ),
    opt(
        Key::Style,
        Some(b'p'),
        "style",
        Value::Required("N"),
        "show 0 the 'From ' line, 1 sender and subject; default 0, with -I 1",
    ),
    opt(Key::Reverse, Some(b'z'), "reverse", Value::None, "the farthest messages first"),
    opt(Key::List, Some(b'g'), "list", REGEX, "list messages with a line that matches REGEX"),
    opt(
        Key::Hide,
        Some(b'G'),
        "hide",
        REGEX,
        "hide messages with a line that matches REGEX;\nof several -g and -G the last that \
         matches decides",
    ),
    opt(
        Key::Command,
        Some(b's'),
        "command",
        Value::Required("COMMAND"),
        "give each message, in order, to the shell command COMMAND,\ninstead of printing a list",
    ),
    opt(Key::KeepCase, Some(b'j'), "case-sensitive", Value::None, "tell upper from lower case"),
    opt(Key::Wide, Some(b'i'), "wide", Value::None, "accepted and ignored"),
    opt(
        Key::Exact,
        None,
        "exact",
        Value::None,
        "score each message as 'dbacl -c NAME' does; without it words\nare scored singly and \
         markup in mail counts as text, as in\nversion 1.14.1",
    ),
    opt(Key::Json, None, "json", Value::None, "print a JSON object for each message"),
    opt(Key::Help, None, "help", Value::None, "print this help"),
    opt(Key::Version, Some(b'V'), "version", Value::None, "print the version"),
];
