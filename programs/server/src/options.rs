// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line.

use crate::config::Listen;
use clap::Parser;
use std::path::PathBuf;

/// Classifies mail for mail servers by the filters of many users.
#[derive(Debug, Parser)]
#[command(
    name = "dbacl-server",
    version,
    about,
    after_help = "\
Without a configuration file, spamc is served at 127.0.0.1:783 and milters at 127.0.0.1:8893, with
filters in /var/lib/dbacl/USER and /var/lib/dbacl/default."
)]
pub struct Options {
    /// Read this configuration; without it, /etc/dbacl/server.toml if there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Classify by the filter in this folder for users who have none of their own
    #[arg(long, value_name = "DIR")]
    pub default: Option<PathBuf>,

    /// Look for users' filters in folders such as /var/lib/dbacl/{user}
    #[arg(long, value_name = "PATTERN")]
    pub models: Option<PathBuf>,

    /// Addresses in place of those of the configuration.
    #[command(flatten)]
    pub listen: Listen,

    /// Add a header line that says which words decided
    #[arg(long)]
    pub reasons: bool,

    /// Be a filter of OpenSMTPD on standard input and output, and listen nowhere
    #[arg(long)]
    pub opensmtpd: bool,

    /// Teach the running server that the message on standard input is ham or spam, have it
    /// forgotten, or learn the message in a report (ARF)
    #[arg(long, value_name = "ham|spam|forget|report", value_enum, hide_possible_values = true)]
    pub teach: Option<Teaching>,

    /// Classify the messages in the files named on standard input, one a line, without a server
    #[arg(long)]
    pub judge: bool,

    /// Teach or classify by the filter of this user; without it, by the default one (see
    /// learn-default)
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub user: String,

    /// Check the configuration and the filters, and end
    #[arg(long)]
    pub check: bool,

    /// Ask whether the running server answers, and end
    #[arg(long)]
    pub health: bool,

    /// List the filters of users: name, messages learned, bytes, folder
    #[arg(long)]
    pub list: bool,

    /// Remove the filter of this user
    #[arg(long, value_name = "NAME")]
    pub remove: Option<String>,
}

/// What is to be learned of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Teaching {
    /// It is mail that must not be lost.
    Ham,
    /// It is what the filter is there to find.
    Spam,
    /// It is to be forgotten.
    Forget,
    /// It is a report in the Abuse Reporting Format about another message.
    Report,
}
