// SPDX-License-Identifier: GPL-3.0-or-later
//! What several verbs need: options of their own kind, files named on the command line.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::play::classifier::Program;
use crate::play::files::write_file;

#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The classifier; default: dbacl beside this program, then on the search path
    #[arg(long, value_name = "PATH")]
    dbacl: Option<PathBuf>,
    /// Option for the classifier, such as -m; may repeat
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    dbacl_args: Vec<String>,
}

impl ProgramArgs {
    pub fn program(&self) -> Program {
        let args: Vec<String> =
            self.dbacl_args.iter().flat_map(|a| a.split_whitespace()).map(str::to_owned).collect();
        Program::find(self.dbacl.as_deref(), &args)
    }
}

pub fn write_output(path: Option<&Path>, contents: &[u8]) -> Result<()> {
    match path {
        None => std::io::stdout().lock().write_all(contents).context("standard output"),
        Some(path) => write_file(path, contents),
    }
}
