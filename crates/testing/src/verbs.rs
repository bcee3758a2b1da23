// SPDX-License-Identifier: GPL-3.0-or-later
//! Manual pages of programs whose options clap reads; some have verbs.

use crate::manual::{fill, has_options};
use clap::{Arg, Command};
use std::collections::BTreeMap;

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "")
}

/// An option or operand as the manual page has it: its longest name, its entry, and the
/// values that the option has.
fn entry(arg: &Arg) -> (String, String, String) {
    let mut names = Vec::new();
    names.extend(arg.get_short().map(|letter| format!("\\fB\\-{letter}\\fR")));
    names.extend(arg.get_long().map(|name| format!("\\fB{}\\fR", escaped(&format!("--{name}")))));
    let takes_value = arg.get_action().takes_values();
    let values: Vec<&str> =
        arg.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect();
    let value = format!("\\fI{}\\fR", values.join(" "));
    let longest = names.last().unwrap_or(&value).clone();
    let names = match (names.is_empty(), takes_value) {
        (true, _) => value,
        (false, true) if arg.is_require_equals_set() => {
            format!("{}[={value}]", names.join(", "))
        }
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let mut help = arg.get_help().expect("every option has help").to_string();
    // clap refers to `--help` here for a longer text; a manual page has all of it.
    help.truncate(help.find(" (see more with").unwrap_or(help.len()));
    let has_default = takes_value && !arg.get_default_values().is_empty();
    if has_default && !arg.is_hide_default_value_set() {
        let values = arg.get_default_values().iter();
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        help.push_str(&format!("; default {}", values.join(",")));
    }
    let mut out = format!(".TP\n{names}\n");
    fill(&format!("{}.", escaped(&help)), &mut out);
    let mut values = String::new();
    let lists_values = takes_value && !arg.is_hide_possible_values_set();
    for value in arg.get_possible_values() {
        if let Some(help) = value.get_help().filter(|_| lists_values) {
            values.push_str(".br\n");
            let help = escaped(&help.to_string());
            fill(&format!("\\fB{}\\fR: {help}.", escaped(value.get_name())), &mut values);
        }
    }
    (longest, out, values)
}

/// What a page has so far.
#[derive(Default)]
struct Known {
    /// Entries, each with the verb in whose section it is.
    entries: BTreeMap<String, String>,
    /// Values of options, each with the option and the verb that name them.
    values: BTreeMap<String, (String, String)>,
    /// Lists of options of earlier verbs, each with the verb that names them.
    lists: BTreeMap<(String, String), String>,
}

/// A verb's section, and those of the verbs below it. What an earlier verb has in the same words is
/// only named.
fn section(above: &str, verb: &Command, known: &mut Known, out: &mut String) {
    let name = format!("{above}{}", verb.get_name());
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!(".SS {name}\n"));
    fill(&format!("{}.", escaped(&about)), out);
    let verb_of = |name: &str| format!("\\fB{}\\fR", escaped(name));
    let mut repeated: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for arg in verb.get_arguments().filter(|arg| arg.get_id() != "help") {
        let (longest, text, values) = entry(arg);
        let whole = text.clone() + &values;
        if let Some(earlier) = known.entries.get(&whole) {
            repeated.entry(earlier.clone()).or_default().push(longest);
            continue;
        }
        out.push_str(&text);
        if let Some((option, earlier)) = known.values.get(&values) {
            fill(&format!("Values as for {option} of {}.", verb_of(earlier)), out);
        } else {
            out.push_str(&values);
            if !values.is_empty() {
                known.values.insert(values, (longest, name.clone()));
            }
        }
        known.entries.insert(whole, name.clone());
    }
    for (earlier, names) in repeated {
        out.push_str(".PP\n");
        let is_long = names.len() > 2;
        let list = (earlier.clone(), names.join(", "));
        let line = match known.lists.get(&list) {
            Some(first) if is_long => {
                format!("Those of {} that {} takes.", verb_of(&earlier), verb_of(first))
            }
            _ => format!("As in {}: {}.", verb_of(&earlier), list.1),
        };
        fill(&line, out);
        known.lists.entry(list).or_insert_with(|| name.clone());
    }
    verbs(&format!("{name} "), verb, known, out);
}

fn verbs(above: &str, command: &Command, known: &mut Known, out: &mut String) {
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        section(above, verb, known, out);
    }
}

/// Checks that the manual page of the program `name` has the options of all its verbs, or its own
/// if it has none, between its marks `BEGIN OPTIONS` and `END OPTIONS`. With `BLESS` in the
/// environment they are written.
///
/// # Panics
///
/// If it has not, or has no marks.
#[track_caller]
pub fn check_manual(name: &str, command: &Command) {
    let mut command = command.clone();
    command.build();
    let own = command.get_arguments().filter(|arg| arg.get_long().is_some());
    let own = own.map(entry).map(|(_, text, values)| text + &values);
    let mut options = if command.has_subcommands() { String::new() } else { own.collect() };
    verbs("", &command, &mut Known::default(), &mut options);
    has_options(name, &options);
}
