// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.

use std::process::ExitCode;

fn main() -> ExitCode {
    chess_adapter::cli::main()
}
