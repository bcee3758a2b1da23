// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns categories of text and classifies text by them.

#[global_allocator]
static MEMORY: dbacl_classic::memory::OrEnd = dbacl_classic::memory::OrEnd;

fn main() -> std::process::ExitCode {
    dbacl_classic::dbacl::main()
}
