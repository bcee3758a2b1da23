// SPDX-License-Identifier: GPL-3.0-or-later
//! Tests a mail filter: full online ordered training.

fn main() -> std::process::ExitCode {
    dbacl_eval::mailcross::main(dbacl_eval::mailcross::Program::Foot)
}
