// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests a mail filter: cross-validation.

fn main() -> std::process::ExitCode {
    dbacl::cli::evaluate::main(dbacl::cli::evaluate::Program::Cross)
}
