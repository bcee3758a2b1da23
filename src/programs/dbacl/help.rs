// SPDX-License-Identifier: GPL-3.0-or-later
//! What `--help`, `--version` and `-V` print.

use super::job_options::{self, JobOptions, MAIL, WITH_ALL_MAIL};
use super::options::{HEADINGS, Key, TABLE};
use dbacl_cli::getopt::Opt;
use dbacl_cli::{COMPATIBLE, getopt};

/// The help text: examples first, then the options by what they are for.
pub(super) fn text() -> String {
    let group = |(at, (first, heading)): (usize, &(Key, &str))| {
        let next = HEADINGS.get(at + 1).map(|(key, _)| key);
        let is_in = |key: &Key| key >= first && next.is_none_or(|next| key < next);
        // Those of the mail filter's jobs are in its own help.
        let is_mail =
            |key: Key| *first == Key::MailLearn && !job_options::users(&MAIL, key).is_empty();
        let is_shown = |opt: &&Opt<Key>| !opt.help.is_empty() && !is_mail(opt.key);
        let options = TABLE.iter().filter(is_shown).filter(|opt| is_in(&opt.key));
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
  dbacl --mail-help                           more about the mail filter
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

/// The help text of the mail filter.
pub(super) fn mail() -> String {
    let line = |JobOptions { key, operands, .. }: &JobOptions| {
        format!("dbacl {} DIR {operands}", job_options::spelled(*key)).trim_end().to_owned()
    };
    let usage: Vec<String> = MAIL.iter().map(line).collect();
    let rows = |is_wanted: &dyn Fn(Key) -> bool| -> Vec<Opt<Key>> {
        TABLE.iter().filter(|option| is_wanted(option.key)).copied().collect()
    };
    let mut text = format!(
        "Usage: {}

Says of messages whether they are good mail or spam, or in which of up to 64 folders they belong.
DIR is the filter's folder.

Examples:
  dbacl --mail-learn ~/.dbacl-mail ham=Mail/inbox spam=Mail/junk
  dbacl --mail-verdict ~/.dbacl-mail --reasons message
  dbacl --mail-filter ~/.dbacl-mail <message
  dbacl --mail-correct ~/.dbacl-mail spam message

Jobs:
{}",
        usage.join("\n       "),
        getopt::describe(&rows(&|key| job_options::mail_job(key).is_some()))
    );
    let mut groups: Vec<String> =
        TABLE.iter().map(|option| job_options::users(&MAIL, option.key)).collect();
    groups.sort();
    groups.dedup();
    for users in groups.iter().filter(|users| !users.is_empty()) {
        let mut options = rows(&|key| job_options::users(&MAIL, key) == *users);
        for option in &mut options {
            let prefix = format!("with {users}: ");
            option.help = option.help.strip_prefix(prefix.as_str()).unwrap_or(option.help);
        }
        text.push_str(&format!("\nWith {users}:\n{}", getopt::describe(&options)));
    }
    let all = rows(&|key| WITH_ALL_MAIL.contains(&key));
    text + "\nWith all:\n" + &getopt::describe(&all) + "\nMore: dbacl-mail(1), docs/mail.md\n"
}

pub(super) fn version() -> String {
    format!("dbacl {} (compatible with dbacl {COMPATIBLE})\n", env!("CARGO_PKG_VERSION"))
}

/// What `-V` prints, which has no empty line at its end.
pub(super) fn version_text() -> String {
    let text = dbacl_cli::version("dbacl");
    text.trim_end().to_owned() + "\n"
}
