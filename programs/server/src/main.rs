// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies mail for mail servers.

fn main() -> std::process::ExitCode {
    dbacl_server::main()
}
