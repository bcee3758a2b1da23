// SPDX-License-Identifier: GPL-3.0-or-later
//! Divergences and Chernoff information of dumped models.

fn main() -> std::process::ExitCode {
    dbacl::programs::hypex::main()
}
