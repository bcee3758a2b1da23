// SPDX-License-Identifier: GPL-3.0-or-later
//! The shells' completions, made from the programs' own options: `make install` calls
//! `dbacl-suite completions FOLDER`.

use ::dbacl::programs::{bayesol, dbacl, hypex};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use dbacl_cli::getopt::{Opt, Value, without_keys};
use dbacl_eval::mailcross;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// What may follow an option.
enum Follows {
    Nothing,
    File,
    Folder,
    /// A file, or a name that is looked up below `DBACL_PATH`.
    Category,
    /// One of these, divided by blanks.
    Words(String),
    Anything,
}

/// A program with an option table.
struct Program {
    /// Its name.
    name: &'static str,
    /// Its documented options.
    options: Vec<Opt<()>>,
    /// The commands that its first argument may be, divided by blanks; if there are none, files
    /// follow.
    commands: &'static str,
}

/// Commands of mailcross, mailtoe and mailfoot.
const COMMANDS: &str = "prepare add learn run summarize plot review truth clean testsuite";

fn with_tables() -> Vec<Program> {
    fn program<K>(name: &'static str, table: &[Opt<K>], commands: &'static str) -> Program {
        Program { name, options: without_keys(table), commands }
    }
    let mailcross = |name| program(name, mailcross::OPTIONS, COMMANDS);
    vec![
        program("dbacl", dbacl::options::TABLE, ""),
        program("bayesol", bayesol::OPTIONS, ""),
        program("hypex", hypex::OPTIONS, ""),
        program("mailinspect", ::dbacl::programs::mailinspect::TABLE, ""),
        mailcross("mailcross"),
        mailcross("mailtoe"),
        mailcross("mailfoot"),
    ]
}

fn with_clap() -> [(&'static str, clap::Command); 5] {
    [
        ("dbacl-server", dbacl_server::Options::command()),
        ("dbacl-imap", dbacl_imap::Options::command()),
        ("dbacl-text", dbacl_text::command()),
        ("dbacl-eval", dbacl_eval::Options::command()),
        ("chess-adapter", chess_adapter::cli::command()),
    ]
}

/// Writes the completions of all programs for bash, zsh and fish, each with the name and in the
/// folder that its shell expects: `bash/dbacl`, `zsh/_dbacl`, `fish/dbacl.fish`.
///
/// # Errors
/// What the operating system says.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    for shell in ["bash", "zsh", "fish"] {
        fs::create_dir_all(folder.join(shell))?;
    }
    let save = |name: &str, [bash, zsh, fish]: [String; 3]| {
        fs::write(folder.join("bash").join(name), bash)?;
        fs::write(folder.join("zsh").join(format!("_{name}")), zsh)?;
        fs::write(folder.join("fish").join(format!("{name}.fish")), fish)
    };
    for program in with_tables() {
        save(program.name, [bash(&program), zsh(&program), fish(&program)])?;
    }
    for (name, command) in with_clap() {
        let script = |shell| {
            let mut script = Vec::new();
            generate(shell, &mut command.clone(), name, &mut script);
            String::from_utf8_lossy(&script).into_owned()
        };
        save(name, [Shell::Bash, Shell::Zsh, Shell::Fish].map(script))?;
    }
    Ok(())
}

fn follows<K>(opt: &Opt<K>) -> Follows {
    let Value::Required(value) = opt.value else { return Follows::Nothing };
    let words = |list: &str| Follows::Words(list.to_owned());
    match (opt.long, value) {
        ("learn" | "category" | "filter" | "online" | "merge-online", _) | (_, "CATEGORY") => {
            Follows::Category
        }
        ("type", _) => {
            let kinds = dbacl::options::KINDS.iter().map(|(kind, _)| *kind);
            Follows::Words(std::iter::once("text").chain(kinds).collect::<Vec<_>>().join(" "))
        }
        ("tokenizer", _) => words("alpha alnum graph char cef adp cef2 word glyph gram"),
        ("reference", _) => words("uniform dirichlet maxent mle iid"),
        ("order", _) => words("1 2 3 4 5 6 7"),
        ("quality", _) => words("1 2 3 4"),
        ("documents", _) => words("files mbox lines tsv ndjson"),
        ("format", "FORMAT") => words("json ndjson tsv"),
        ("reading", _) => words("blocks unicode classic"),
        ("caution", _) => words("low normal high"),
        ("input", "RECORDS") => words("ndjson lines"),
        ("contrast", _) => words("yes no"),
        (_, "FILE" | "SPEC" | "LEDGER") => Follows::File,
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
            Follows::Words(list) => Some(format!("compgen -W '{list}' -- \"$current\"")),
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
        let commands = program.commands;
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
        "# Made from the option table by dbacl-suite.\n\
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
         # Made from the option table by dbacl-suite.\n\
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
                format!(":{name}:({})", list.replace(':', "\\:"))
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
        writeln!(out, "  '1:command:({})' \\", program.commands).expect("a string");
    }
    out.push_str("  '*:file:_files'\n");
    out
}

fn fish(program: &Program) -> String {
    let name = program.name;
    let mut out = String::from("# Made from the option table by dbacl-suite.\n");
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
            Follows::Words(list) => write!(out, " -x -a '{list}'").expect("a string"),
            Follows::Anything => out.push_str(" -x"),
        }
        writeln!(out, " -d '{}'", opt.help.replace('\n', " ").replace('\'', "\\'"))
            .expect("a string");
    }
    if !program.commands.is_empty() {
        let commands = program.commands;
        writeln!(out, "complete -c {name} -n __fish_use_subcommand -a '{commands}'")
            .expect("a string");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What a shell says of each of its scripts, and the last line that it printed.
    fn run(shell: &str, args: &[&str], folder: &Path) -> Option<(bool, String)> {
        let output = Command::new(shell).args(args).current_dir(folder).output().ok()?;
        let said = [output.stdout, output.stderr].concat();
        Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    #[test]
    fn every_program_has_completions_that_its_shell_can_read() {
        let room = tempfile::tempdir().expect("a folder");
        write(room.path()).expect("a writable folder");
        let names: Vec<&str> = crate::PROGRAMS.iter().map(|(name, _)| *name).collect();
        for (shell, before, after) in [("bash", "", ""), ("zsh", "_", ""), ("fish", "", ".fish")] {
            for name in names.iter().chain(&["dbacl"]) {
                let file = format!("{shell}/{before}{name}{after}");
                let text = fs::read_to_string(room.path().join(&file)).expect(&file);
                assert!(text.contains("help"), "{file}");
                if let Some((is_right, said)) = run(shell, &["-n", &file], room.path()) {
                    assert!(is_right && said.is_empty(), "{file}: {said}");
                }
            }
        }
    }

    #[test]
    fn bash_completes_categories_below_the_path_and_values() {
        let room = tempfile::tempdir().expect("a folder");
        write(room.path()).expect("a writable folder");
        fs::create_dir(room.path().join("categories")).expect("a folder");
        for name in ["spam", "spain", "ham"] {
            fs::write(room.path().join("categories").join(name), "").expect("a file");
        }
        let cases: [(&[&str], &str); 6] = [
            (&["dbacl", "-c", "sp"], "spain spam"),
            (&["dbacl", "--category", "=", "h"], "ham"),
            (&["dbacl", "-e", "c"], "cef cef2 char"),
            (&["dbacl", "--format", "=", ""], "json ndjson tsv"),
            (&["dbacl", "--mail-learn", "c"], "categories"),
            (&["dbacl", "--mail-f"], "--mail-filter --mail-forget"),
        ];
        for (words, expected) in cases {
            let script = format!(
                "export DBACL_PATH=$PWD/categories; source bash/dbacl; COMP_WORDS=('{}'); \
                 COMP_CWORD={}; _dbacl; echo $(printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort)",
                words.join("' '"),
                words.len() - 1
            );
            let found = run("bash", &["--norc", "-c", &script], room.path());
            // Without bash there is nothing to see.
            let Some((_, found)) = found else { return };
            assert_eq!(found.trim(), expected, "{words:?}");
        }
    }
}
