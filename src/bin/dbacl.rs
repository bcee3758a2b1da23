// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns categories of text and classifies text by them.

#[global_allocator]
static MEMORY: dbacl::programs::memory::OrEnd = dbacl::programs::memory::OrEnd;

fn main() -> std::process::ExitCode {
    dbacl::programs::dbacl::main()
}
