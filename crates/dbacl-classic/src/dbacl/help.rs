// SPDX-License-Identifier: GPL-3.0-or-later
//! What `--help`, `--version` and `-V` print.

use super::options::{Group, TABLE};
use dbacl_cli::getopt;

/// The version of the original whose behaviour the program keeps.
const COMPATIBLE: &str = "1.14.1";

/// The help text: examples first, then the options by what they are for.
pub fn text() -> String {
    let group = |(group, heading)| {
        let options = TABLE.iter().filter(|opt| !opt.help.is_empty() && opt.key.group() == group);
        let options: Vec<_> = options.copied().collect();
        format!("\n{heading}:\n{}", getopt::describe(&options))
    };
    let options: String = Group::ALL.map(group).concat();
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

/// What `-V` prints: scripts read the compatible version from the first line.
pub fn version_text() -> String {
    format!(
        "dbacl version {COMPATIBLE}
This is dbacl {}, a compatible successor.
It comes with ABSOLUTELY NO WARRANTY, and is licensed under the terms
of the GNU General Public License, version 3 or later.
",
        env!("CARGO_PKG_VERSION")
    )
}
