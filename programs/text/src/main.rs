// SPDX-License-Identifier: GPL-3.0-or-later
//! Trains a text classifier from one file of labelled documents.

use std::process::ExitCode;

fn main() -> ExitCode {
    dbacl_text::main()
}
