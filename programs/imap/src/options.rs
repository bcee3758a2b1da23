// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line.

use crate::config::Config;
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

    /// Settings in place of those of the file.
    #[command(flatten)]
    pub settings: Config,
    /// With learn and replay: take this number of messages of each folder, the newest
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, hide_default_value = true)]
    pub newest: usize,

    /// With learn and replay: take no message for good because somebody answered or flagged it,
    /// knows its sender, or reads the list
    #[arg(long)]
    pub no_guesses: bool,

    /// With replay: report on the messages of this number of days (30)
    #[arg(long, value_name = "NUMBER", default_value_t = 30, hide_default_value = true)]
    pub days: u32,

    /// With learn: replace a filter that is there; its corrections stay
    #[arg(long)]
    pub replace: bool,

    /// Look once, write the letter of what has happened so far, and end
    #[arg(long)]
    pub letter_now: bool,

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

/// What the program does instead of watching an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Ask for what no option says, try to log in, and write the settings
    Setup,
    /// Make the filter from the account's folders
    Learn,
    /// Report what a filter would have moved
    Replay,
}
