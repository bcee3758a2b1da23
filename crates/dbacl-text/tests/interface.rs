// SPDX-License-Identifier: GPL-3.0-or-later
//! Completions and manual page say what the options say. After a change of the options,
//! `BLESS=1 cargo test -p dbacl-text interface` writes them anew.

use clap::{Arg, Command};
use clap_complete::{Shell, generate};
use dbacl_testing::{holds, root};
use dbacl_text::program::command;

const NAME: &str = "dbacl-text";

#[test]
fn completions_list_the_options() {
    let head = "# SPDX-License-Identifier: GPL-3.0-or-later\n";
    for (shell, name) in [
        (Shell::Bash, format!("{NAME}.bash")),
        (Shell::Zsh, format!("_{NAME}")),
        (Shell::Fish, format!("{NAME}.fish")),
    ] {
        let mut script = Vec::new();
        generate(shell, &mut command(), NAME, &mut script);
        let script = String::from_utf8(script).expect("UTF-8");
        // The shell looks at the first line of a zsh script.
        let text = match script.split_once('\n') {
            Some((first, rest)) if first.starts_with("#compdef") => {
                format!("{first}\n{head}{rest}")
            }
            _ => format!("{head}{script}"),
        };
        let mut text: String = text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        text.truncate(text.trim_end().len() + 1);
        holds(&format!("docs/completions/{name}"), &text);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "")
}

/// An option or operand as the manual page has it.
fn entry(arg: &Arg, out: &mut String) {
    let mut names = Vec::new();
    names.extend(arg.get_short().map(|letter| format!("\\fB\\-{letter}\\fR")));
    names.extend(arg.get_long().map(|name| format!("\\fB{}\\fR", escaped(&format!("--{name}")))));
    let takes_value = arg.get_action().takes_values();
    let values: Vec<&str> =
        arg.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect();
    let value = format!("\\fI{}\\fR", values.join(" "));
    let names = match (names.is_empty(), takes_value) {
        (true, _) => value,
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let hides_default = arg.get_default_values().is_empty() || !takes_value;
    if !hides_default {
        let values = arg.get_default_values().iter();
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        help.push_str(&format!("; default {}", values.join(",")));
    }
    out.push_str(&format!(".TP\n{names}\n"));
    fill(&format!("{}.", escaped(&help)), out);
    for value in arg.get_possible_values() {
        if let Some(help) = value.get_help().filter(|_| takes_value) {
            out.push_str(".br\n");
            let help = escaped(&help.to_string());
            fill(&format!("\\fB{}\\fR: {help}.", escaped(value.get_name())), out);
        }
    }
}

/// Words in lines of at most 78 characters.
fn fill(text: &str, out: &mut String) {
    let mut length = 0;
    for word in text.split(' ') {
        if length > 0 && length + 1 + word.len() > 78 {
            out.push('\n');
            length = 0;
        }
        if length > 0 {
            out.push(' ');
        }
        out.push_str(word);
        length += 1 + word.len();
    }
    out.push('\n');
}

fn section(verb: &Command) -> String {
    let mut out = String::new();
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!(".SS {}\n", verb.get_name()));
    fill(&format!("{}.", escaped(&about)), &mut out);
    for arg in verb.get_arguments().filter(|arg| arg.get_id() != "help") {
        entry(arg, &mut out);
    }
    out
}

#[test]
fn the_manual_page_lists_the_options() {
    let name = format!("docs/man/{NAME}.1");
    let page = std::fs::read_to_string(root().join(&name)).expect("the manual page");
    let (before, rest) = page.split_once(".\\\" BEGIN OPTIONS").expect("the first mark");
    let (mark, rest) = rest.split_once('\n').expect("its line");
    let (_, after) = rest.split_once(".\\\" END OPTIONS").expect("the second mark");
    let mut command = command();
    command.build();
    let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    let options: String = verbs.map(section).collect();
    holds(&name, &format!("{before}.\\\" BEGIN OPTIONS{mark}\n{options}.\\\" END OPTIONS{after}"));
}
