// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns from the messages that a person moves to the junk folder of an IMAP account.

fn main() -> std::process::ExitCode {
    dbacl_imap::main()
}
