// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests a mail filter: train on error.

fn main() -> std::process::ExitCode {
    dbacl::cli::evaluate::main(dbacl::cli::evaluate::Program::Toe)
}
