// SPDX-License-Identifier: GPL-3.0-or-later
//! Command lines as GNU `getopt` takes them apart, driven by one table of options.
//!
//! Letters bundle (`-vn`), values are attached or follow (`-c NAME`, `-cNAME`), options are also
//! recognised after operands, and `--` ends them. A mistake does not end the parsing: it becomes an
//! event with getopt's own message, and the program goes on, as dbacl 1.14.1 does. Every option
//! also has a long name (`--name`, `--name=VALUE`, `--name VALUE`, or any unambiguous beginning of
//! the name).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One option of a program; `K` is the type of the keys by which the program knows its options.
#[derive(Debug, Clone, Copy)]
pub struct Opt<K> {
    /// The program's key for it.
    pub key: K,
    /// Its letter, if it has one.
    pub letter: Option<u8>,
    /// Its long name without the hyphens; empty if it has none.
    pub long: &'static str,
    /// Whether a value belongs to it.
    pub value: Value,
    /// What it does, for people.
    pub help: &'static str,
}

/// Whether a value belongs to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// None.
    None,
    /// One; the text stands for it in help texts.
    Required(&'static str),
}

/// An option: the program's key, its names and its value as [`describe`] spells them, such as
/// `-c, --category NAME`, and what it does.
pub const fn opt<K: Copy>(key: K, spelling: &'static str, help: &'static str) -> Opt<K> {
    let bytes = spelling.as_bytes();
    let mut last = bytes.len();
    while last > 0 && bytes[last - 1] != b' ' {
        last -= 1;
    }
    // The last word is the value unless it is a name.
    let (names, value) = if last > 0 && bytes[last] != b'-' {
        (spelling.split_at(last - 1).0, Value::Required(spelling.split_at(last).1))
    } else {
        (spelling, Value::None)
    };
    let (letter, long) = match names.as_bytes() {
        [b'-', b'-', ..] => (None, names.split_at(2).1),
        [b'-', letter] => (Some(*letter), ""),
        // between the letter and the long name stands `, --`
        [_, letter, ..] => (Some(*letter), names.split_at(6).1),
        _ => (None, ""),
    };
    Opt { key, letter, long, value, help }
}

/// The options of a table that have a help text, without the program's keys.
pub fn without_keys<K>(table: &[Opt<K>]) -> Vec<Opt<()>> {
    let shown = table.iter().filter(|option| !option.help.is_empty());
    shown
        .map(|&Opt { letter, long, value, help, .. }| Opt { key: (), letter, long, value, help })
        .collect()
}

/// One part of a command line, in the order of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<K> {
    /// An option of the table, with its value if it takes one.
    Option {
        /// The option's key.
        key: K,
        /// The value, whatever its bytes.
        value: Option<OsString>,
    },
    /// An argument that is not an option.
    Operand(OsString),
    /// A mistake: getopt's message, without a newline. There is no other event for the mistaken
    /// option.
    Complaint(Vec<u8>),
}

/// Whether the command line has this option, wherever it stands.
pub fn has<K: PartialEq>(events: &[Event<K>], wanted: &K) -> bool {
    events.iter().any(|event| matches!(event, Event::Option { key, .. } if key == wanted))
}

/// Takes apart `args`, the command line without the program's name.
///
/// `program` is the name as invoked; it begins the messages. With `posixly_correct` (the
/// environment variable `POSIXLY_CORRECT` is set) the first operand ends the options.
pub fn parse<K: Copy>(
    program: &OsStr,
    args: impl IntoIterator<Item = OsString>,
    table: &[Opt<K>],
    posixly_correct: bool,
) -> Vec<Event<K>> {
    let mut parser = Parser { program, table, args: args.into_iter(), events: Vec::new() };
    while let Some(arg) = parser.args.next() {
        let bytes = arg.as_bytes();
        if bytes == b"--" {
            break;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            parser.long(long);
        } else if bytes.len() > 1 && bytes[0] == b'-' {
            parser.letters(&bytes[1..]);
        } else {
            parser.events.push(Event::Operand(arg));
            if posixly_correct {
                break;
            }
        }
    }
    let Parser { args, mut events, .. } = parser;
    events.extend(args.map(Event::Operand));
    events
}

struct Parser<'a, K, I> {
    program: &'a OsStr,
    table: &'a [Opt<K>],
    args: I,
    events: Vec<Event<K>>,
}

impl<K: Copy, I: Iterator<Item = OsString>> Parser<'_, K, I> {
    /// A bundle of letters; the first that takes a value takes the rest of the bundle or, after the
    /// last letter, the next argument, whatever it looks like.
    fn letters(&mut self, bundle: &[u8]) {
        for (at, &letter) in bundle.iter().enumerate() {
            let Some(opt) = self.table.iter().find(|opt| opt.letter == Some(letter)) else {
                self.complain(&[b"invalid option -- '", &[letter], b"'"]);
                continue;
            };
            let key = opt.key;
            if opt.value == Value::None {
                self.events.push(Event::Option { key, value: None });
                continue;
            }
            let rest = &bundle[at + 1..];
            let value = if rest.is_empty() {
                self.args.next()
            } else {
                Some(OsString::from_vec(rest.to_vec()))
            };
            if value.is_some() {
                self.events.push(Event::Option { key, value });
            } else {
                self.complain(&[b"option requires an argument -- '", &[letter], b"'"]);
            }
            return;
        }
    }

    /// `NAME` or `NAME=VALUE`, without the hyphens.
    fn long(&mut self, text: &[u8]) {
        let (name, attached) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let begins = |opt: &&Opt<K>| !opt.long.is_empty() && opt.long.as_bytes().starts_with(name);
        let exact = self.table.iter().find(|opt| !name.is_empty() && opt.long.as_bytes() == name);
        let mut candidates = self.table.iter().filter(begins);
        let opt = match (exact, candidates.next(), candidates.next()) {
            (Some(opt), ..) | (None, Some(opt), None) => opt,
            (None, None, _) => return self.complain(&[b"unrecognized option '--", text, b"'"]),
            (None, Some(_), Some(_)) => {
                let mut message = [b"option '--", text, b"' is ambiguous; possibilities:"].concat();
                for opt in self.table.iter().filter(begins) {
                    message.extend_from_slice(&[b" '--", opt.long.as_bytes(), b"'"].concat());
                }
                return self.complain(&[&message]);
            }
        };
        let (key, full) = (opt.key, opt.long.as_bytes());
        match (opt.value, attached) {
            (Value::None, None) => self.events.push(Event::Option { key, value: None }),
            (Value::None, Some(_)) => {
                self.complain(&[b"option '--", full, b"' doesn't allow an argument"]);
            }
            (Value::Required(_), Some(value)) => {
                let value = Some(OsString::from_vec(value.to_vec()));
                self.events.push(Event::Option { key, value });
            }
            (Value::Required(_), None) => match self.args.next() {
                None => self.complain(&[b"option '--", full, b"' requires an argument"]),
                value => self.events.push(Event::Option { key, value }),
            },
        }
    }

    fn complain(&mut self, parts: &[&[u8]]) {
        let mut message = self.program.as_bytes().to_vec();
        message.extend_from_slice(b": ");
        for part in parts {
            message.extend_from_slice(part);
        }
        self.events.push(Event::Complaint(message));
    }
}

/// The options of `table` as lines for `--help`: letter, long name, value, and what it does.
pub fn describe<K>(table: &[Opt<K>]) -> String {
    let names: Vec<String> = table.iter().map(spell).collect();
    let column = names.iter().map(String::len).filter(|&length| length <= 26).max().unwrap_or(0);
    let mut out = String::new();
    for (name, opt) in names.iter().zip(table) {
        out.push_str(name);
        let mut at = name.len();
        for line in opt.help.lines() {
            if at > column {
                out.push('\n');
                at = 0;
            }
            out.extend(std::iter::repeat_n(' ', column - at + 2));
            out.push_str(line);
            at = usize::MAX;
        }
        out.push('\n');
    }
    out
}

/// `  -c, --category NAME`
fn spell<K>(opt: &Opt<K>) -> String {
    let mut text = String::from("  ");
    match opt.letter {
        Some(letter) => text.extend(['-', char::from(letter)]),
        None => text.push_str("    "),
    }
    if !opt.long.is_empty() {
        text.push_str(if opt.letter.is_some() { ", --" } else { "--" });
        text.push_str(opt.long);
    }
    if let Value::Required(name) = opt.value {
        text.push(' ');
        text.push_str(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Opt<&str>] = &[
        opt("all", "-a, --all", "take all"),
        opt("brief", "-b, --brief", "say less"),
        opt("learn", "-l, --learn NAME", "learn a category"),
        opt("json", "--json", "print JSON"),
        opt("just", "--just", "only this,\nand nothing else"),
        opt("file", "--file PATH", "read PATH"),
        opt("filter", "--filter COMMAND", "run COMMAND"),
    ];

    fn show(line: &str, posixly_correct: bool) -> String {
        let args = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from);
        let events = parse(OsStr::new("./go"), args, TABLE, posixly_correct);
        let show = |event: &Event<&str>| match event {
            Event::Option { key, value: None } => format!("[{key}]"),
            Event::Option { key, value: Some(value) } => format!("[{key} {}]", value.display()),
            Event::Operand(operand) => format!("({})", operand.display()),
            Event::Complaint(text) => {
                format!("<{}>", String::from_utf8_lossy(text).replacen("./go: ", "", 1))
            }
        };
        events.iter().map(show).collect()
    }

    #[test]
    fn takes_command_lines_apart_as_gnu_getopt_does() {
        for (line, expected) in [
            ("", ""),
            ("-a", "[all]"),
            ("-ab -lfoo x -a y", "[all][brief][learn foo](x)[all](y)"),
            ("-al foo", "[all][learn foo]"),
            ("-l -a", "[learn -a]"),
            ("-l -- -a", "[learn --][all]"),
            ("-l=3", "[learn =3]"),
            ("-b -- -x y", "[brief](-x)(y)"),
            ("x -- -a --", "(x)(-a)(--)"),
            ("-", "(-)"),
            ("- -a", "(-)[all]"),
            ("-x", "<invalid option -- 'x'>"),
            ("-xa", "<invalid option -- 'x'>[all]"),
            ("-a-b", "[all]<invalid option -- '-'>[brief]"),
            ("-:", "<invalid option -- ':'>"),
            ("-a=", "[all]<invalid option -- '='>"),
            ("-al", "[all]<option requires an argument -- 'l'>"),
            ("--all", "[all]"),
            ("--al", "[all]"),
            ("--learn foo", "[learn foo]"),
            ("--learn=foo=3", "[learn foo=3]"),
            ("--learn=", "[learn ]"),
            ("--le=foo", "[learn foo]"),
            ("--file -- x", "[file --](x)"),
            ("--file", "<option '--file' requires an argument>"),
            ("--all=3", "<option '--all' doesn't allow an argument>"),
            ("--js", "[json]"),
            ("--j", "<option '--j' is ambiguous; possibilities: '--json' '--just'>"),
            ("--fil=3", "<option '--fil=3' is ambiguous; possibilities: '--file' '--filter'>"),
            ("--file=3 --filt=4", "[file 3][filter 4]"),
            ("--nope=3 x", "<unrecognized option '--nope=3'>(x)"),
            ("--filex=2", "<unrecognized option '--filex=2'>"),
        ] {
            assert_eq!(show(line, false), expected, "{line}");
        }
    }

    #[test]
    fn first_operand_ends_the_options_of_a_posix_run() {
        for (line, expected) in [
            ("-a x -b", "[all](x)(-b)"),
            ("x -l -- -a", "(x)(-l)(--)(-a)"),
            ("-l x y -a", "[learn x](y)(-a)"),
            ("-a -- -b", "[all](-b)"),
        ] {
            assert_eq!(show(line, true), expected, "{line}");
        }
    }

    #[test]
    fn any_byte_can_be_a_letter_or_a_value() {
        let arg = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let events = parse(OsStr::new("go"), [arg(b"-\xff"), arg(b"-l\xff")], TABLE, false);
        assert_eq!(
            events,
            [
                Event::Complaint(b"go: invalid option -- '\xff'".to_vec()),
                Event::Option { key: "learn", value: Some(arg(b"\xff")) },
            ]
        );
    }

    #[test]
    fn options_are_described_in_columns() {
        assert_eq!(
            describe(&TABLE[2..5]),
            "  -l, --learn NAME  learn a category\n      \
             --json        print JSON\n      \
             --just        only this,\n                    and nothing else\n"
        );
    }
}
