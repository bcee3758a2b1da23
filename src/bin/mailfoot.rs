// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests a mail filter: full online ordered training.

fn main() -> std::process::ExitCode {
    dbacl::cli::evaluate::main(dbacl::cli::evaluate::Program::Foot)
}
