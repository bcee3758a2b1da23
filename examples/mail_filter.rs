// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter in a few lines: it adds the line `X-DBACL` with the verdict to a message, or
//! learns that a message belongs to a category. The command `dbacl --mail-learn FOLDER ham=MAILBOX
//! spam=MAILBOX` makes the filter.
//!
//! ```text
//! cargo run --example mail_filter -- FOLDER <MAIL           print the mail with a line X-DBACL
//! cargo run --example mail_filter -- FOLDER spam <MAIL      the mail is spam
//! ```

use dbacl::{MailFilter, MailFilterOptions};
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = args.next().ok_or("usage: mail_filter FOLDER [LABEL] <MAIL")?;
    let mut filter = MailFilter::open(Path::new(&folder), &MailFilterOptions::default())?;
    let mut mail = Vec::new();
    std::io::stdin().read_to_end(&mut mail)?;
    match args.next() {
        None => std::io::stdout().write_all(&filter.filter(&mail))?,
        Some(label) => {
            let report = filter.correct(&label.to_string_lossy(), &mail)?;
            for document in report.documents {
                println!("{}", document.outcome);
            }
        }
    }
    Ok(())
}
