// SPDX-License-Identifier: GPL-3.0-or-later
//! mailinspect's options.

use dbacl_cli::getopt::{Opt, opt};

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
    VersionText,
}

/// The options.
pub const TABLE: &[Opt<Key>] = &[
    opt(Key::Category, "-c, --category NAME", "compare messages with the category NAME"),
    opt(Key::Interactive, "-I, --interactive", "look through the messages on the terminal"),
    opt(
        Key::Scoring,
        "-o, --scoring N",
        "sort by 0 cost of the message, 1 cost per token,\n2 divergence, 3 confidence; default 0",
    ),
    opt(
        Key::Style,
        "-p, --style N",
        "show 0 the 'From ' line, 1 sender and subject; default 0, with -I 1",
    ),
    opt(Key::Reverse, "-z, --reverse", "the farthest messages first"),
    opt(Key::List, "-g, --list REGEX", "list messages with a line that matches REGEX"),
    opt(
        Key::Hide,
        "-G, --hide REGEX",
        "hide messages with a line that matches REGEX;\nof several -g and -G the last that \
         matches decides",
    ),
    opt(
        Key::Command,
        "-s, --command COMMAND",
        "give each message, in order, to the shell command COMMAND,\ninstead of printing a list",
    ),
    opt(Key::KeepCase, "-j, --case-sensitive", "distinguish upper and lower case"),
    opt(Key::Wide, "-i, --wide", "accepted and ignored"),
    opt(
        Key::Exact,
        "--exact",
        "score each message as 'dbacl -c NAME' does; without it words\nare scored singly and \
         markup in mail counts as text, as in\nversion 1.14.1",
    ),
    opt(Key::Json, "--json", "print a JSON object for each message"),
    opt(Key::Help, "--help", "print this help"),
    opt(Key::VersionText, "-V", "print the version; the status is 1"),
    opt(Key::Version, "--version", "print the version"),
];
