// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual page and the completions say what the option table says. After a change of the table,
//! `BLESS=1 cargo test --test main interface` writes them anew.

use crate::support::root;
use dbacl::cli::dbacl::options::{Key, TABLE};
use dbacl::cli::getopt::{Opt, Value};
use std::fmt::Write;
use std::fs;

/// What may follow an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    Nothing,
    File,
    Words(&'static [&'static str]),
    Anything,
}

const TYPES: &[&str] = &[
    "text",
    "email",
    "email:headers",
    "email:theaders",
    "email:xheaders",
    "email:noheaders",
    "email:atts",
    "email:plain",
    "email:noplain",
    "html",
    "html:links",
    "html:alt",
    "html:scripts",
    "html:styles",
    "html:forms",
    "html:comments",
    "xml",
];
const SCHEMES: &[&str] = &["alpha", "alnum", "graph", "char", "cef", "adp", "cef2"];
const MEASURES: &[&str] = &["uniform", "dirichlet", "maxent", "mle", "iid"];

fn follows(opt: &Opt<Key>) -> Follows {
    match (opt.key, opt.value) {
        (_, Value::None) => Follows::Nothing,
        (Key::Learn | Key::Category | Key::Online | Key::MergeOnline, _) => Follows::File,
        (Key::Type, _) => Follows::Words(TYPES),
        (Key::Tokenizer, _) => Follows::Words(SCHEMES),
        (Key::Reference, _) => Follows::Words(MEASURES),
        _ => Follows::Anything,
    }
}

/// The options that people should know.
fn shown() -> impl Iterator<Item = &'static Opt<Key>> {
    TABLE.iter().filter(|opt| !opt.help.is_empty())
}

fn letter(opt: &Opt<Key>) -> Option<char> {
    opt.letter.map(char::from)
}

/// The options as a list of a manual page.
fn man() -> String {
    let mut out = String::new();
    for opt in shown() {
        let mut names = Vec::new();
        names.extend(letter(opt).map(|letter| format!("\\fB\\-{letter}\\fR")));
        if !opt.long.is_empty() {
            names.push(format!("\\fB\\-\\-{}\\fR", opt.long.replace('-', "\\-")));
        }
        let value = match opt.value {
            Value::Required(name) => format!(" \\fI{name}\\fR"),
            Value::None => String::new(),
        };
        let mut help = opt.help.replace('\n', " ").replace('-', "\\-");
        help[..1].make_ascii_uppercase();
        writeln!(out, ".TP\n{}{value}\n{help}.", names.join(", ")).expect("a string");
    }
    out
}

fn bash() -> String {
    let mut words = Vec::new();
    let mut cases = String::new();
    for opt in shown() {
        let mut names = Vec::new();
        names.extend(letter(opt).map(|letter| format!("-{letter}")));
        if !opt.long.is_empty() {
            names.push(format!("--{}", opt.long));
        }
        let pattern = names.join("|");
        let reply = match follows(opt) {
            Follows::Nothing => None,
            Follows::File => Some("compgen -f -- \"$current\"".to_owned()),
            Follows::Words(list) => {
                Some(format!("compgen -W '{}' -- \"$current\"", list.join(" ")))
            }
            Follows::Anything => Some(":".to_owned()),
        };
        if let Some(reply) = reply {
            writeln!(cases, "    {pattern}) mapfile -t COMPREPLY < <({reply}); return ;;")
                .expect("a string");
        }
        words.extend(names);
    }
    format!(
        "# SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n\
         _dbacl() {{\n  \
           local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n  \
           case $previous in\n{cases}  esac\n  \
           if [[ $current == -* ]]; then\n    \
             mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\")\n  \
           else\n    \
             mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n  \
           fi\n\
         }}\n\
         complete -o filenames -F _dbacl dbacl\n",
        words.join(" ")
    )
}

fn zsh() -> String {
    let mut out = String::from(
        "#compdef dbacl\n\
         # SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n\
         _arguments -s -S \\\n",
    );
    for opt in shown() {
        let help =
            opt.help.replace('\n', " ").replace('[', "(").replace(']', ")").replace('\'', "");
        let help = help.replace(':', "\\:");
        let action = match (opt.value, follows(opt)) {
            (Value::Required(name), Follows::File) => format!(":{name}:_files"),
            (Value::Required(name), Follows::Words(list)) => {
                let list: Vec<String> = list.iter().map(|word| word.replace(':', "\\:")).collect();
                format!(":{name}:({})", list.join(" "))
            }
            (Value::Required(name), _) => format!(":{name}: "),
            (Value::None, _) => String::new(),
        };
        let plus = |text: &'static str| if action.is_empty() { "" } else { text };
        if let Some(letter) = letter(opt) {
            writeln!(out, "  '*-{letter}{}[{help}]{action}' \\", plus("+")).expect("a string");
        }
        if !opt.long.is_empty() {
            writeln!(out, "  '*--{}{}[{help}]{action}' \\", opt.long, plus("=")).expect("a string");
        }
    }
    out.push_str("  '*:file:_files'\n");
    out
}

fn fish() -> String {
    let mut out = String::from(
        "# SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n",
    );
    for opt in shown() {
        out.push_str("complete -c dbacl");
        if let Some(letter) = letter(opt) {
            write!(out, " -s {letter}").expect("a string");
        }
        if !opt.long.is_empty() {
            write!(out, " -l {}", opt.long).expect("a string");
        }
        match follows(opt) {
            Follows::Nothing => {}
            Follows::File => out.push_str(" -r"),
            Follows::Words(list) => write!(out, " -x -a '{}'", list.join(" ")).expect("a string"),
            Follows::Anything => out.push_str(" -x"),
        }
        writeln!(out, " -d '{}'", opt.help.replace('\n', " ").replace('\'', "\\'"))
            .expect("a string");
    }
    out
}

/// Compares a file with what it should hold, or writes it.
#[track_caller]
fn holds(name: &str, expected: &str) {
    let path = root().join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).expect("a writable repository");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is not what the option table says: see tests/interface.rs");
}

#[test]
fn the_manual_page_lists_the_option_table() {
    let name = "docs/man/dbacl.1";
    let page = fs::read_to_string(root().join(name)).expect("the manual page");
    let (before, rest) = page.split_once(".\\\" BEGIN OPTIONS").expect("the first mark");
    let (mark, rest) = rest.split_once('\n').expect("its line");
    let (_, after) = rest.split_once(".\\\" END OPTIONS").expect("the second mark");
    let options = man();
    holds(name, &format!("{before}.\\\" BEGIN OPTIONS{mark}\n{options}.\\\" END OPTIONS{after}"));
}

#[test]
fn completions_list_the_option_table() {
    holds("docs/completions/dbacl.bash", &bash());
    holds("docs/completions/_dbacl", &zsh());
    holds("docs/completions/dbacl.fish", &fish());
}
