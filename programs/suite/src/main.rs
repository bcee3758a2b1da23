// SPDX-License-Identifier: GPL-3.0-or-later
//! All programs but dbacl in one file: it runs the one by whose name it is called, as `busybox`
//! does. What the programs share is on the disk once, and one link-time optimisation serves all.
//! dbacl is a file of its own, because mail systems start it for each message and a larger file
//! starts later.

mod completions;

use dbacl_cli::last_resort;
use dbacl_cli::output::Messages;
use dbacl_eval::mailcross;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

static MESSAGES: Messages = Messages::plain("dbacl-suite");

/// A program and its name.
type Program = (&'static str, fn() -> ExitCode);

const PROGRAMS: [Program; 11] = [
    ("bayesol", dbacl::programs::bayesol::main),
    ("hypex", dbacl::programs::hypex::main),
    ("dbacl-text", dbacl_text::main),
    ("dbacl-eval", dbacl_eval::main),
    ("mailcross", || mailcross::main(mailcross::Program::Cross)),
    ("mailtoe", || mailcross::main(mailcross::Program::Toe)),
    ("mailfoot", || mailcross::main(mailcross::Program::Foot)),
    ("mailinspect", dbacl::programs::mailinspect::main),
    ("dbacl-server", dbacl_server::main),
    ("dbacl-imap", dbacl_imap::main),
    ("chess-adapter", chess_adapter::cli::main),
];

/// The program that a file of this name is, if any. What follows a dot does not count, since a
/// diverted or kept file may be called `mailcross.old`.
fn program(invoked: &OsStr) -> Option<&'static Program> {
    let name = Path::new(invoked).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    PROGRAMS.iter().find(|(own, _)| *own == name)
}

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if let Some((_, main)) = program(&args.next().unwrap_or_default()) {
        return main();
    }
    if let [Some(verb), Some(folder), None] = [args.next(), args.next(), args.next()]
        && verb == "completions"
    {
        last_resort::install("dbacl-suite", ": ");
        let written = completions::write(Path::new(&folder));
        let failed = |error| MESSAGES.error(&format!("{}: {error}", folder.display()));
        return written.map_err(failed).map_or(ExitCode::from(73), |()| ExitCode::SUCCESS);
    }
    let names: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    MESSAGES.error(&format!(
        "call it by a link of one of the names {}, or as dbacl-suite completions FOLDER",
        names.join(", ")
    ));
    ExitCode::from(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_wherever_it_is() {
        for (name, _) in PROGRAMS {
            for invoked in [name.to_owned(), format!("/usr/bin/{name}"), format!("./{name}.old")] {
                let found = program(OsStr::new(&invoked)).map(|(own, _)| *own);
                assert_eq!(found, Some(name), "{invoked}");
            }
        }
        for other in ["", "dbacl-suite", "/usr/bin/filter", "/"] {
            assert!(program(OsStr::new(other)).is_none(), "{other}");
        }
    }
}
