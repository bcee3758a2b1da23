// SPDX-License-Identifier: GPL-3.0-or-later
//! Picks the category with the smallest expected loss.

use std::process::ExitCode;

fn main() -> ExitCode {
    dbacl::programs::bayesol::main()
}
