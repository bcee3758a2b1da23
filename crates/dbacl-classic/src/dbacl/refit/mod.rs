// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting categories together (`--refit`) and what goes with it.

pub mod ask;
pub mod explain;
mod fit;
mod forecast;
pub mod mail;
pub mod pass;
mod reader;
mod request;
mod update;
pub mod verdicts;

use super::builder::Builder;
use super::config::Config;
use super::failure::{Failure, usage};
use super::signals::Signals;
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
pub use request::{Request, request};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Does what `request` asks for with the categories of `builder`.
pub fn run(
    request: &Request,
    builder: Builder,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut config = builder.set_config()?;
    let paths = paths(&config)?;
    if let Some(action) = &request.action {
        return update::run(request, action, &mut config, &paths, signals);
    }
    fit::refit(request, &mut config, &paths, signals, output)
}

/// The category files of a run.
fn paths(config: &Config) -> Result<Vec<PathBuf>, Failure> {
    let paths: Option<Vec<PathBuf>> = config.model_paths.iter().cloned().collect();
    let Some(paths) = paths else {
        return usage("random text cannot be fitted together with categories");
    };
    if paths.len() < 2 {
        return usage("--refit needs two or more categories (-c)");
    }
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].contains(path) {
            let name = lossy(path.as_os_str().as_bytes());
            return usage(format!("category {name} is given twice"));
        }
    }
    Ok(paths)
}
