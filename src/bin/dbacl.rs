// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns categories of text and classifies text by them.

fn main() -> std::process::ExitCode {
    dbacl::cli::dbacl::main()
}
