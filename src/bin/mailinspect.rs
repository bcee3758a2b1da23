// SPDX-License-Identifier: GPL-3.0-or-later
//! Sorts the messages of a mailbox by their score against a category.

use std::process::ExitCode;

fn main() -> ExitCode {
    dbacl::programs::mailinspect::main()
}
