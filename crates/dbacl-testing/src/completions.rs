// SPDX-License-Identifier: GPL-3.0-or-later
//! The shells' completions in `docs/completions`, which are made from the option tables.

use crate::holds;
use dbacl_cli::getopt::{Opt, Value};
use std::fmt::Write;

/// What may follow an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    Nothing,
    File,
    Folder,
    /// A file, or a name that is looked up below `DBACL_PATH`.
    Category,
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
    "email:unicode",
    "email:tags",
    "html",
    "html:links",
    "html:alt",
    "html:scripts",
    "html:styles",
    "html:forms",
    "html:comments",
    "xml",
];
const SCHEMES: &[&str] =
    &["alpha", "alnum", "graph", "char", "cef", "adp", "cef2", "word", "glyph", "gram"];
const MEASURES: &[&str] = &["uniform", "dirichlet", "maxent", "mle", "iid"];

/// A program as completions know it.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its documented options.
    pub options: Vec<Opt<()>>,
    /// The commands that its first argument may be; if there are none, files follow.
    pub commands: &'static [&'static str],
}

fn follows<K>(opt: &Opt<K>) -> Follows {
    let Value::Required(value) = opt.value else { return Follows::Nothing };
    match (opt.long, value) {
        ("learn" | "category" | "filter" | "online" | "merge-online", _) | (_, "CATEGORY") => {
            Follows::Category
        }
        ("type", _) => Follows::Words(TYPES),
        ("tokenizer", _) => Follows::Words(SCHEMES),
        ("reference", _) => Follows::Words(MEASURES),
        ("order", _) => Follows::Words(&["1", "2", "3", "4", "5", "6", "7"]),
        ("quality", _) => Follows::Words(&["1", "2", "3", "4"]),
        ("documents", _) => Follows::Words(&["files", "mbox", "lines", "tsv", "ndjson"]),
        ("format", "FORMAT") => Follows::Words(&["json", "ndjson", "tsv"]),
        ("reading", _) => Follows::Words(&["blocks", "unicode", "classic"]),
        ("caution", _) => Follows::Words(&["low", "normal", "high"]),
        ("input", "RECORDS") => Follows::Words(&["ndjson", "lines"]),
        ("contrast", _) => Follows::Words(&["yes", "no"]),
        ("try", _) => Follows::Words(&["mail", "text"]),
        ("feedback", _) => Follows::Words(&["immediate", "delayed:", "on-error"]),
        (_, "FILE" | "SPEC" | "CORPUS" | "WRAPPER" | "LEDGER") => Follows::File,
        (_, "DIR") => Follows::Folder,
        _ => Follows::Anything,
    }
}

fn letter<K>(opt: &Opt<K>) -> Option<char> {
    opt.letter.map(char::from)
}

fn bash(program: &Program) -> String {
    let name = program.name;
    let function = name.replace('-', "_");
    let mut words = Vec::new();
    let mut cases = String::new();
    for opt in &program.options {
        let mut names = Vec::new();
        names.extend(letter(opt).map(|letter| format!("-{letter}")));
        if !opt.long.is_empty() {
            names.push(format!("--{}", opt.long));
        }
        let pattern = names.join("|");
        let reply = match follows(opt) {
            Follows::Nothing => None,
            Follows::File => Some("compgen -f -- \"$current\"".to_owned()),
            Follows::Folder => Some("compgen -d -- \"$current\"".to_owned()),
            Follows::Category => Some(format!("_{function}_categories \"$current\"")),
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
    let rest = if program.commands.is_empty() {
        "compgen -f -- \"$current\"".to_owned()
    } else {
        let commands = program.commands.join(" ");
        format!("compgen -W '{commands}' -- \"$current\"; compgen -f -- \"$current\"")
    };
    let categories = if cases.contains("_categories") {
        format!(
            "_{function}_categories() {{\n  \
               compgen -f -- \"$1\"\n  \
               if [[ -n ${{DBACL_PATH-}} && $1 != [/.]* ]]; then\n    \
                 (cd -- \"$DBACL_PATH\" 2>/dev/null && compgen -f -- \"$1\")\n  \
               fi\n\
             }}\n"
        )
    } else {
        String::new()
    };
    format!(
        "# SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n\
         {categories}_{function}() {{\n  \
           local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n  \
           if [[ $current == = ]]; then current=\n  \
           elif [[ $previous == = ]]; then previous=${{COMP_WORDS[COMP_CWORD - 2]}}; fi\n  \
           case $previous in\n{cases}  esac\n  \
           if [[ $current == -* ]]; then\n    \
             mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\")\n  \
           else\n    \
             mapfile -t COMPREPLY < <({rest})\n  \
           fi\n\
         }}\n\
         complete -o filenames -F _{function} {name}\n",
        words.join(" ")
    )
}

fn zsh(program: &Program) -> String {
    let name = program.name;
    let mut out = format!(
        "#compdef {name}\n\
         # SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n\
         _arguments -s -S \\\n",
    );
    for opt in &program.options {
        let help =
            opt.help.replace('\n', " ").replace('[', "(").replace(']', ")").replace('\'', "");
        let help = help.replace(':', "\\:");
        let action = match (opt.value, follows(opt)) {
            (Value::Required(name), Follows::File) => format!(":{name}:_files"),
            (Value::Required(name), Follows::Folder) => format!(":{name}:_files -/"),
            (Value::Required(name), Follows::Category) => {
                format!(":{name}:{{_files; [[ -z $DBACL_PATH ]] || _files -W $DBACL_PATH}}")
            }
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
    if !program.commands.is_empty() {
        writeln!(out, "  '1:command:({})' \\", program.commands.join(" ")).expect("a string");
    }
    out.push_str("  '*:file:_files'\n");
    out
}

fn fish(program: &Program) -> String {
    let name = program.name;
    let mut out = String::from(
        "# SPDX-License-Identifier: GPL-3.0-or-later\n\
         # Made from the option table by tests/interface.rs.\n",
    );
    for opt in &program.options {
        write!(out, "complete -c {name}").expect("a string");
        if let Some(letter) = letter(opt) {
            write!(out, " -s {letter}").expect("a string");
        }
        if !opt.long.is_empty() {
            write!(out, " -l {}", opt.long).expect("a string");
        }
        match follows(opt) {
            Follows::Nothing => {}
            Follows::File => out.push_str(" -r"),
            Follows::Folder => out.push_str(" -x -a '(__fish_complete_directories)'"),
            Follows::Category => out.push_str(
                " -r -a '(test -n \"$DBACL_PATH\"; and command ls -- $DBACL_PATH 2>/dev/null)'",
            ),
            Follows::Words(list) => write!(out, " -x -a '{}'", list.join(" ")).expect("a string"),
            Follows::Anything => out.push_str(" -x"),
        }
        writeln!(out, " -d '{}'", opt.help.replace('\n', " ").replace('\'', "\\'"))
            .expect("a string");
    }
    if !program.commands.is_empty() {
        let commands = program.commands.join(" ");
        writeln!(out, "complete -c {name} -n __fish_use_subcommand -a '{commands}'")
            .expect("a string");
    }
    out
}

/// Checks that the completions of `program` have its options. With `BLESS` in the environment they
/// are written again.
#[track_caller]
pub fn check(program: &Program) {
    let name = program.name;
    holds(&format!("docs/completions/{name}.bash"), &bash(program));
    holds(&format!("docs/completions/_{name}"), &zsh(program));
    holds(&format!("docs/completions/{name}.fish"), &fish(program));
}
