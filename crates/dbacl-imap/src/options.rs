// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Learns from the mails that a person moves to the junk folder of an IMAP account, and out of it.
#[derive(Debug, Parser)]
#[command(
    name = "dbacl-imap",
    version,
    about,
    after_help = "Without --config, settings are read from ~/.config/dbacl/imap.toml if it is \
                  there."
)]
pub struct Options {
    /// Read settings from this file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Name of the IMAP server
    #[arg(long, value_name = "HOST")]
    pub server: Option<String>,

    /// Port of the server; 993, or 143 with --plain
    #[arg(long, value_name = "NUMBER")]
    pub port: Option<u16>,

    /// Name of the user at the server
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,

    /// Command of the shell that prints the password
    #[arg(long, value_name = "COMMAND")]
    pub password_command: Option<String>,

    /// Command of the shell that prints an access token, in place of a password
    #[arg(long, value_name = "COMMAND")]
    pub token_command: Option<String>,

    /// Folder of the filter, as dbacl --mail-learn has made it
    #[arg(long, value_name = "DIR")]
    pub filter: Option<PathBuf>,

    /// Watch this folder of good mail, too; * stands for any letters; may be repeated
    #[arg(long, value_name = "NAME")]
    pub folder: Vec<String>,

    /// Name of the folder for spam, if the server does not say which it is
    #[arg(long, value_name = "NAME")]
    pub junk: Option<String>,

    /// Name of the folder for what is thrown away
    #[arg(long, value_name = "NAME")]
    pub trash: Option<String>,

    /// Move new mail in the inbox that is surely spam to the folder for spam
    #[arg(long)]
    pub move_spam: bool,

    /// Speak without TLS; only with a server on this machine
    #[arg(long)]
    pub plain: bool,

    /// Trust the certificates in this file in place of the system's
    #[arg(long, value_name = "FILE")]
    pub certificates: Option<PathBuf>,

    /// Keep what is known of the account in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Look once and end, for cron
    #[arg(long)]
    pub once: bool,

    /// Say what would be learned and moved, look once, and change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Log in, say which folders are watched, and end
    #[arg(long)]
    pub check: bool,

    /// Say what has been done so far, and end
    #[arg(long)]
    pub status: bool,
}
