// SPDX-License-Identifier: GPL-3.0-or-later
//! The subcommand `testsuite`: classifies the same mail by several filters, each behind a wrapper
//! (spec tools 3.5).
//!
//! A wrapper is an executable that is called with `filter`, `learn`, `clean`, `describe`,
//! `bootstrap`, `toe` or `foot`. Selected wrappers are copies of themselves in `FOLDER/filters`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::table::Tables;
use super::{Outcome, Program, Session, Stop, print};
use crate::command::{ShellCommand, call, description};

/// An almost empty message, for filters that must have learned both categories before they can
/// classify.
const DUMMY: &[u8] = b"From nobody\nSubject: none\n\n\n";

impl Session {
    pub(super) fn testsuite(&mut self, operands: &[OsString]) -> Outcome {
        let (command, rest) = match operands {
            [command, rest @ ..] => (command.to_str().unwrap_or_default(), rest),
            [] => return Err(Stop::Usage(String::new())),
        };
        match command {
            "list" => self.describe(&executables(&self.wrapper_folders())),
            "select" => self.select(rest),
            "deselect" => self.deselect(rest),
            "status" => {
                let wrappers = self.selected()?;
                self.describe(&wrappers)
            }
            "run" => self.run_all(),
            "summarize" => {
                let path = self.summary_path();
                let text = std::fs::read(path).map_err(|_| {
                    Stop::Usage(
                        "Error: No results found. You must run the testsuite first.\n".into(),
                    )
                })?;
                Ok(print(text)?)
            }
            _ => Err(Stop::Usage(String::new())),
        }
    }

    /// Folders with wrappers: those in the variable `..._WRAPPERS`, then the installed ones.
    fn wrapper_folders(&self) -> Vec<PathBuf> {
        let named = self.variable("WRAPPERS").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&named).collect();
        if let Ok(program) = std::env::current_exe() {
            folders.extend(program.parent().map(|bin| bin.join("../libexec/dbacl/wrappers")));
        }
        folders
    }

    fn summary_path(&self) -> PathBuf {
        self.folder.path.join("log").join("summary.log")
    }

    /// The selected wrappers, sorted by name; says if there are none.
    fn selected(&self) -> Outcome<Vec<PathBuf>> {
        self.need_folder()?;
        let wrappers = executables(&[self.folder.path.join("filters")]);
        if wrappers.is_empty() {
            print("No filters found\n")?;
        }
        Ok(wrappers)
    }

    /// Prints the wrappers' names and descriptions.
    fn describe(&self, wrappers: &[PathBuf]) -> Outcome {
        self.each(wrappers, |wrapper| {
            let name = wrapper.file_name().unwrap_or_default().as_bytes();
            print([name, b": ", &description(wrapper)?, b"\n"].concat())
        })
    }

    /// Calls `act` for each item. Errors are printed and do not end the loop.
    fn each<T>(&self, items: &[T], act: impl Fn(&T) -> io::Result<()>) -> Outcome {
        let mut outcome = Ok(());
        for item in items {
            if let Err(error) = act(item) {
                self.complain(&error.to_string());
                outcome = Err(Stop::Told);
            }
        }
        outcome
    }

    /// Has each wrapper copy itself into the folder, if its filter is there.
    fn select(&self, names: &[OsString]) -> Outcome {
        self.need_folder()?;
        let target = self.folder.path.join("filters");
        let folders = self.wrapper_folders();
        self.each(names, |name| {
            // The simulation's folder is in the current one, to which a path is relative.
            let given = self.folder.path.with_file_name(name);
            let named = folders.iter().map(|folder| folder.join(name));
            let is_path = name.as_bytes().contains(&b'/');
            let found = is_path.then_some(given).into_iter().chain(named).find(|p| is_program(p));
            let Some(wrapper) = found else {
                return Err(io::Error::other(format!("no wrapper called {}", name.display())));
            };
            let answer = call(&wrapper, &[OsStr::new("bootstrap"), target.as_os_str()])?;
            print(&answer.stdout)?;
            if answer.status.success() {
                return Ok(());
            }
            let text = format!("{} bootstrap: {}", wrapper.display(), answer.status);
            Err(io::Error::other(text))
        })
    }

    fn deselect(&self, names: &[OsString]) -> Outcome {
        self.need_folder()?;
        self.each(names, |name| {
            let Some(name) = Path::new(name).file_name() else { return Ok(()) };
            let path = self.folder.path.join("filters").join(name);
            std::fs::remove_file(&path)
                .map_err(|_| io::Error::other(format!("{} was not selected", name.display())))
        })
    }

    /// Tests each selected wrapper and adds its tables to the summary.
    fn run_all(&mut self) -> Outcome {
        for wrapper in self.selected()? {
            let description = description(&wrapper)?;
            print([b"testing ", &description[..], b"\n"].concat())?;
            call(&wrapper, &[OsStr::new("clean"), self.folder.path.as_os_str()])?;
            let saved = self.variables.clone();
            let is_cross = self.program == Program::Cross;
            let verb = if is_cross { "filter" } else { self.program.log() };
            for (variable, words) in
                [("LEARNER", Some("learn")), ("FILTER", Some(verb)), ("CPREFIX", None)]
            {
                let name = self.name_of(variable);
                let words = words
                    .map_or_else(OsString::new, |verb| ShellCommand::wrapper_words(&wrapper, verb));
                self.variables.insert(0, (name.into(), words));
            }
            let outcome = if is_cross { self.learn(&[]) } else { self.learn_dummies(&wrapper) };
            let outcome = outcome.and_then(|()| self.run());
            self.variables = saved;
            outcome?;
            let log = self.log()?;
            let categories = self.folder.categories().into_iter().map(OsString::into_encoded_bytes);
            let tables = Tables::count(&log, categories.collect()).print();
            let path = self.summary_path();
            let mut summary = std::fs::read(&path).unwrap_or_default();
            summary.extend_from_slice(&[&description[..], b"\n\n", &tables].concat());
            std::fs::write(path, summary)?;
        }
        Ok(())
    }

    fn learn_dummies(&mut self, wrapper: &Path) -> Outcome {
        let message = self.folder.path.join("tmp").join("dummy");
        std::fs::write(&message, DUMMY)?;
        let learner = ShellCommand::wrapper(wrapper, "learn");
        for repetition in 0..self.folder.folds() {
            for category in self.folder.categories() {
                let model = self.folder.fold(repetition).join(category);
                learner.learn(&model, &[], std::slice::from_ref(&message))?;
            }
        }
        std::fs::remove_file(message)?;
        Ok(())
    }
}

fn is_program(path: &Path) -> bool {
    let is_executable = |data: &std::fs::Metadata| data.permissions().mode() & 0o111 != 0;
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && is_executable(&data))
}

/// The programs in these folders, sorted by name within each.
fn executables(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let mut found: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| is_program(path)).collect();
        found.sort();
        all.append(&mut found);
    }
    all
}
