// SPDX-License-Identifier: GPL-3.0-or-later
//! Says how good a set of options is on labelled documents.

#[global_allocator]
static MEMORY: dbacl::programs::memory::OrEnd = dbacl::programs::memory::OrEnd;

fn main() -> std::process::ExitCode {
    dbacl_eval::main()
}
