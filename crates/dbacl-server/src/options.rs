// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line.

use crate::listen::Address;
use clap::Parser;
use std::path::PathBuf;

/// Judges mail for mail servers by the filters of many users.
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

    /// Judge by the filter in this folder for users who have none of their own
    #[arg(long, value_name = "DIR")]
    pub default: Option<PathBuf>,

    /// Look for users' filters in folders such as /var/lib/dbacl/{user}
    #[arg(long, value_name = "PATTERN")]
    pub models: Option<PathBuf>,

    /// Serve spamc at this port or socket, in place of the addresses of the configuration
    #[arg(long, value_name = "ADDRESS")]
    pub spamc: Vec<Address>,

    /// Serve clients of rspamd there
    #[arg(long, value_name = "ADDRESS")]
    pub rspamd: Vec<Address>,

    /// Serve Postfix and sendmail there
    #[arg(long, value_name = "ADDRESS")]
    pub milter: Vec<Address>,

    /// Tell Prometheus there what has been counted
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Vec<Address>,

    /// Add a header line that says which words decided
    #[arg(long)]
    pub reasons: bool,

    /// Be a filter of OpenSMTPD on standard input and output, and listen nowhere
    #[arg(long)]
    pub opensmtpd: bool,

    /// Tell the running server that the mail on standard input is ham or spam, or to forget it
    #[arg(long, value_name = "LESSON", value_enum)]
    pub teach: Option<Teaching>,

    /// Judge the mails in the files named on standard input, one a line, without a server
    #[arg(long)]
    pub judge: bool,

    /// Teach or judge by the filter of this user; without it, by the default one
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub user: String,

    /// Check the configuration, and end
    #[arg(long)]
    pub check: bool,
}

/// What is to be learned of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Teaching {
    /// It is mail that must not be lost.
    Ham,
    /// It is what the filter is there to find.
    Spam,
    /// It is to be forgotten.
    Forget,
}
