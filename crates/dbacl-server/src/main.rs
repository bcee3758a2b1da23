// SPDX-License-Identifier: GPL-3.0-or-later
//! Judges mail for mail servers.

fn main() -> std::process::ExitCode {
    dbacl_server::program::main()
}
