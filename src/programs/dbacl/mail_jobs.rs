// SPDX-License-Identifier: GPL-3.0-or-later
//! The jobs of the mail filter, and the options that go with each: the one table from which
//! `--mail-help`, the checks of command lines and messages about them come. A test compares the
//! manual page with it.

use super::options::{Key, TABLE};
use dbacl_cli::getopt::Opt;

/// A job of the mail filter. Its option has the filter's folder as its value.
#[derive(Debug)]
pub struct MailJob {
    /// The option that asks for it.
    pub key: Key,
    /// What follows the filter's folder.
    pub operands: &'static str,
    /// Options that it takes, besides those that all jobs take.
    pub options: &'static [Key],
}

/// All jobs, in the order of the help text.
pub const JOBS: [MailJob; 7] = [
    MailJob {
        key: Key::MailLearn,
        operands: "LABEL=MAIL LABEL=MAIL...",
        options: &[Key::Protect, Key::Caution, Key::Window, Key::General, Key::Verbose],
    },
    MailJob { key: Key::MailFilter, operands: "[FILE]", options: &[Key::Reasons] },
    MailJob { key: Key::MailVerdict, operands: "[FILE]...", options: &[Key::Reasons, Key::Format] },
    MailJob { key: Key::MailCorrect, operands: "LABEL [FILE]...", options: &[] },
    MailJob { key: Key::MailForget, operands: "LABEL [FILE]...", options: &[] },
    MailJob { key: Key::MailAsk, operands: "MAIL...", options: &[] },
    MailJob { key: Key::MailReview, operands: "", options: &[] },
];

/// Options that go with all jobs.
pub(crate) const WITH_ALL: [Key; 3] = [Key::Quiet, Key::Strict, Key::LockTimeout];

/// The job that an option asks for, if it asks for one.
pub(crate) fn job(key: Key) -> Option<&'static MailJob> {
    JOBS.iter().find(|job| job.key == key)
}

/// The jobs that an option goes with, as words: `--mail-filter and --mail-verdict`; empty if there
/// are none.
pub(crate) fn users(option: Key) -> String {
    let jobs = JOBS.iter().filter(|job| job.options.contains(&option));
    jobs.map(|job| spelled(job.key)).collect::<Vec<_>>().join(" and ")
}

/// The row of an option.
pub(crate) fn row(key: Key) -> Option<&'static Opt<Key>> {
    TABLE.iter().find(|option| option.key == key)
}

/// An option as it is typed.
pub fn spelled(key: Key) -> String {
    format!("--{}", row(key).map_or("", |option| option.long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_texts_name_the_jobs_of_options_that_have_no_other_use() {
        for option in TABLE.iter().filter(|option| {
            let users = users(option.key);
            !users.is_empty() && ![Key::Verbose, Key::Format].contains(&option.key)
        }) {
            let begin = format!("with {}: ", users(option.key));
            assert!(option.help.starts_with(&begin), "{}: {}", option.long, option.help);
        }
        assert!(JOBS.iter().all(|job| row(job.key).is_some_and(|option| !option.help.is_empty())));
    }
}
