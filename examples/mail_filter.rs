// SPDX-License-Identifier: GPL-3.0-or-later
//! Passes a mail on with a line that says what it is: `dbacl --mail-filter FOLDER` in a few lines.
//! The filter is made by `dbacl --mail-learn FOLDER ham=MAILBOX spam=MAILBOX`.
//!
//! ```text
//! cargo run --example mail_filter -- FOLDER <MAIL
//! ```

use dbacl::MailFilter;
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: mail_filter FOLDER <MAIL")?;
    let filter = MailFilter::open(Path::new(&folder), &mut |warning| eprintln!("{warning}"))?;
    let mut mail = Vec::new();
    std::io::stdin().read_to_end(&mut mail)?;
    std::io::stdout().write_all(&filter.filter(&mail))?;
    Ok(())
}
