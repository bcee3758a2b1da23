// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line of `dbacl-eval`.

// Help is written for terminals.
#![allow(rustdoc::invalid_html_tags)]

use crate::protocol::Feedback;
use crate::sets::{self, Candidates, OptionSet};
use clap::{Parser, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Measure options of dbacl on labelled documents
#[derive(Debug, Parser)]
#[command(
    name = "dbacl-eval",
    version,
    max_term_width = 100,
    infer_long_args = true,
    args_override_self = true,
    after_help = "Which tokenizer should I use for my mail?\n  dbacl-eval --try mail --html \
                  report.html spam=SPAM.mbox ham=HAM.mbox"
)]
pub struct Options {
    /// A folder with one folder or mailbox for each category, NAME=PATH for the documents of one
    /// category, a FILE.tsv of lines CATEGORY<tab>TEXT, or a FILE.ndjson of lines {"label": ...,
    /// "text": ...}
    #[arg(value_name = "CORPUS", required_unless_present = "indexes")]
    pub operands: Vec<OsString>,
    /// Compare these options of dbacl; repeat for more sets
    #[arg(short, long = "set", value_name = "[NAME:]OPTIONS")]
    #[arg(value_parser = sets::parse, allow_hyphen_values = true)]
    pub sets: Vec<OptionSet>,
    /// Compare the usual candidates for mail or for text
    #[arg(long = "try", value_name = "LIST")]
    pub candidates: Vec<Candidates>,
    /// Compare another filter on the same documents, by a wrapper as for mailcross testsuite
    #[arg(long = "filter", value_name = "WRAPPER")]
    pub filters: Vec<PathBuf>,
    /// Number of folds of the cross-validation
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..))]
    pub folds: u32,
    /// Learn the other documents and classify these; may be repeated
    #[arg(long = "test", value_name = "CORPUS")]
    pub tests: Vec<OsString>,
    /// Classify each document, then learn it, in order
    #[arg(long, conflicts_with_all = ["tests", "filters"])]
    pub online: bool,
    /// Online: learn "immediate"ly, "delayed:N" documents later, or "on-error"
    #[arg(long, value_name = "WHEN", value_parser = feedback, default_value = "immediate")]
    pub feedback: Feedback,
    /// Online: fit a category again once it grew by so much; 0: for every document
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "2")]
    pub refresh: f64,
    /// Online: the order of documents; given for lines and indexes, shuffled for folders and
    /// mailboxes
    #[arg(long)]
    pub order: Option<Order>,
    /// Read documents from lines of category, blank, path
    #[arg(long = "index", value_name = "FILE")]
    pub indexes: Vec<PathBuf>,
    /// Of two categories, the one to be caught; spam, else the last
    #[arg(long, value_name = "NAME")]
    pub positive: Option<String>,
    /// Deal and shuffle differently
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Measure a learning curve, too (always with --html)
    #[arg(long)]
    pub curve: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also write a page with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write one line of JSON for every verdict
    #[arg(long, value_name = "FILE")]
    pub verdicts: Option<PathBuf>,
    /// Number of threads; one for each processor
    #[arg(short, long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    pub threads: usize,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

impl Options {
    /// Whether the mail filter is a candidate. It learns all its mail at once, so it takes no part
    /// in online simulations.
    pub fn tries_mail_filter(&self) -> bool {
        !self.online && self.candidates.contains(&Candidates::Mail)
    }
}

/// The order of an online simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // the names say it
pub enum Order {
    Given,
    Shuffled,
}

fn feedback(value: &str) -> Result<Feedback, &'static str> {
    match value.split_once(':') {
        None if value == "immediate" => Ok(Feedback::Immediate),
        None if value == "on-error" => Ok(Feedback::OnError),
        Some(("delayed", count)) => {
            count.parse().map(Feedback::Delayed).map_err(|_| "delayed: takes a number")
        }
        _ => Err("it is immediate, delayed:N or on-error"),
    }
}

/// A percentage as a share.
fn percent(value: &str) -> Result<f64, &'static str> {
    let percent = value.trim_end_matches('%').trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=1000.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or("not a percentage from 0 to 1000")
}
