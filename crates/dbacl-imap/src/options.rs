// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Learns from the messages that a person moves to the junk folder of an IMAP account, and out of
/// it.
#[derive(Debug, Parser)]
#[command(
    name = "dbacl-imap",
    version,
    about,
    after_help = "Without --config, settings are read from ~/.config/dbacl/imap.toml if it is \
                  there."
)]
pub struct Options {
    /// What to do in place of watching the account
    #[arg(value_name = "TASK")]
    pub task: Option<Task>,

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

    /// Move new mail in the inbox that is confidently of this folder there; * stands for any
    /// letters; may be repeated
    #[arg(long, value_name = "NAME")]
    pub sort: Vec<String>,

    /// Move new mail in the inbox that the filter is unsure of to this folder
    #[arg(long, value_name = "NAME")]
    pub unsure: Option<String>,

    /// Name of the folder for spam, if the server does not say which it is
    #[arg(long, value_name = "NAME")]
    pub junk: Option<String>,

    /// Name of the folder for what is thrown away
    #[arg(long, value_name = "NAME")]
    pub trash: Option<String>,

    /// Move new mail in the inbox that is confidently spam to the folder for spam
    #[arg(long)]
    pub move_spam: bool,

    /// Add a message to the inbox each week that says what was done, and what the filter doubts
    #[arg(long)]
    pub letter: bool,

    /// With learn and replay: take so many messages of each folder, the newest ones
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, hide_default_value = true)]
    pub newest: usize,

    /// With learn and replay: take no message for good because somebody answered or flagged it,
    /// knows its sender, or reads the list
    #[arg(long)]
    pub no_guesses: bool,

    /// With replay: report on the messages of so many days (30)
    #[arg(long, value_name = "NUMBER", default_value_t = 30, hide_default_value = true)]
    pub days: u32,

    /// With learn: replace a filter that is there; its corrections stay
    #[arg(long)]
    pub replace: bool,

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

/// What the program can do in place of watching an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Ask for what no option says, try to log in, and write the settings
    Setup,
    /// Make the filter from the account's folders
    Learn,
    /// Report what a filter would have moved
    Replay,
}
