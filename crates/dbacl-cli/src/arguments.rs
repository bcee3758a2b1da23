// SPDX-License-Identifier: GPL-3.0-or-later
//! How a program begins whose command line clap reads.

use clap::Parser;
use std::process::ExitCode;

/// The options of the command line. Help, the version, and what is wrong with it are printed.
///
/// # Errors
/// The status to end with: success after help and the version, `usage` after a mistake.
pub fn read<O: Parser>(usage: u8) -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        let is_wanted = !error.use_stderr();
        // Help that nobody reads any more is no error.
        let _ = error.print();
        if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(usage) }
    })
}
