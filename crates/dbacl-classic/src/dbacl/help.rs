// SPDX-License-Identifier: GPL-3.0-or-later
//! What `--help`, `--version` and `-V` print.

use super::options::{HEADINGS, Key, TABLE};
use dbacl_cli::{COMPATIBLE, getopt};

/// The help text: examples first, then the options by what they are for.
pub fn text() -> String {
    let group = |(at, (first, heading)): (usize, &(Key, &str))| {
        let next = HEADINGS.get(at + 1).map(|(key, _)| key);
        let is_in = |key: &Key| key >= first && next.is_none_or(|next| key < next);
        let options = TABLE.iter().filter(|opt| !opt.help.is_empty() && is_in(&opt.key));
        let options: Vec<_> = options.copied().collect();
        format!("\n{heading}:\n{}", getopt::describe(&options))
    };
    let options: String = HEADINGS.iter().enumerate().map(group).collect();
    format!(
        "Usage: dbacl [OPTION]... -l CATEGORY [FILE]...      learn
       dbacl [OPTION]... -c CATEGORY... [FILE]...   classify

Learns categories of text and says which of them a text belongs to.

Examples:
  dbacl -l twain huck.txt sawyer.txt          learn a category from two books
  dbacl -l shakespeare plays/                 and one from the files of a folder
  dbacl -c twain -c shakespeare -v essay.txt  print which is closer
  dbacl -c twain -c shakespeare -N essay.txt  print probabilities
  dbacl -T email -l spam spam.mbox            learn a mailbox
  dbacl -T email -c spam -c ham -v <message   classify a message
  dbacl --mail-learn DIR ham=A spam=B         make a mail filter of two mailboxes
  dbacl --mail-filter DIR message             print a message with its verdict
{options}
Exit status:
  Learning ends with 0. Classifying ends with the number of the best category, from 1 in
  the order of -c and -R; with -f it ends with 0. Errors end with 1.
  With --strict, or DBACL_STRICT=1 in the environment, any verdict ends with 0, and errors
  with 64 (usage), 65 (bad data), 66 (no input), 73 or 74 (cannot write), 75 (try later).

Names of categories that begin with neither / nor . are looked up in $DBACL_PATH.
"
    )
}

pub fn version() -> String {
    format!("dbacl {} (compatible with dbacl {COMPATIBLE})\n", env!("CARGO_PKG_VERSION"))
}

/// What `-V` prints, which has no empty line at its end.
pub fn version_text() -> String {
    let text = dbacl_cli::version("dbacl");
    text.trim_end().to_owned() + "\n"
}
