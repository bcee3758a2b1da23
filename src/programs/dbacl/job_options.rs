// SPDX-License-Identifier: GPL-3.0-or-later
//! The jobs of the program, and the options that go with each: the one table from which
//! `--mail-help`, the checks of command lines and messages about them come. A test compares the
//! manual pages with it.
//!
//! An option that no row names goes with every job of the classic program, as in dbacl 1.14.1,
//! which ignores what a job does not need.

use super::options::{Key, TABLE};
use dbacl_cli::getopt::Opt;

/// A job, or an option that others go with.
#[derive(Debug)]
pub struct JobOptions {
    /// The option that asks for it.
    pub key: Key,
    /// What follows that option and its value.
    pub operands: &'static str,
    /// Options that cannot be used without it, or without another row that names them.
    pub options: &'static [Key],
    /// Options that cannot be used with it, and why, unless the reason is plain.
    pub refused: &'static [(&'static [Key], &'static str)],
}

/// Learning, classifying and counting in parts.
pub const CLASSIC: [JobOptions; 7] = [
    row(Key::Learn, "[FILE]...", &[Key::Fit], &[]),
    row(
        Key::Category,
        "[FILE]...",
        &[Key::Format, Key::Input, Key::Explain, Key::ExplainHtml],
        &[],
    ),
    row(Key::Format, "", &[], &[(PRINTED, "")]),
    row(Key::Input, "", &[], &[(PRINTED, ""), (&[Key::PerFile, Key::Charset], "")]),
    row(
        Key::Count,
        "[OPTION]... [FILE]...",
        &[Key::Place],
        &[
            (&[Key::Decimation], "it draws lots in the order of the input"),
            (&[Key::Online, Key::MergeOnline], "--merge reads online memory dumps, too"),
        ],
    ),
    row(Key::Merge, "COUNTS ...", &[], &[(&[Key::Decimation, Key::Online, Key::MergeOnline], "")]),
    row(
        Key::Fit,
        "[OPTION]...",
        &[Key::Canonical],
        &[(&[Key::Decimation], "it has no effect on what was counted")],
    ),
];

/// Other things to print than the results, which programs cannot read.
const PRINTED: &[Key] = &[
    Key::Append,
    Key::AppendIndented,
    Key::Dump,
    Key::Debug,
    Key::FilterLines,
    Key::Explain,
    Key::ExplainHtml,
];

/// The mail filter. The value of each job's option is the filter's folder.
pub const MAIL: [JobOptions; 7] = [
    row(
        Key::MailLearn,
        "LABEL=MAIL LABEL=MAIL...",
        &[Key::Protect, Key::Caution, Key::Window, Key::General, Key::Verbose],
        &[],
    ),
    row(Key::MailFilter, "[FILE]", &[Key::Reasons], &[]),
    row(Key::MailVerdict, "[FILE]...", &[Key::Reasons, Key::Format], &[]),
    row(Key::MailCorrect, "LABEL [FILE]...", &[], &[]),
    row(Key::MailForget, "LABEL [FILE]...", &[], &[]),
    row(Key::MailAsk, "MAIL...", &[], &[]),
    row(Key::MailReview, "", &[], &[]),
];

/// Options that go with all jobs of the mail filter, which refuses all but these and a job's own.
pub(crate) const WITH_ALL_MAIL: [Key; 3] = [Key::Quiet, Key::Strict, Key::LockTimeout];

const fn row(
    key: Key,
    operands: &'static str,
    options: &'static [Key],
    refused: &'static [(&'static [Key], &'static str)],
) -> JobOptions {
    JobOptions { key, operands, options, refused }
}

/// The mail filter's job that an option asks for, if it asks for one.
pub(crate) fn mail_job(key: Key) -> Option<&'static JobOptions> {
    MAIL.iter().find(|job| job.key == key)
}

/// The jobs that an option goes with, as words: `--mail-filter and --mail-verdict`; empty if it
/// goes with any.
pub(crate) fn users<'a>(rows: impl IntoIterator<Item = &'a JobOptions>, option: Key) -> String {
    let rows = rows.into_iter().filter(|row| row.options.contains(&option));
    rows.map(|row| spelled(row.key)).collect::<Vec<_>>().join(" and ")
}

/// That an option needs a job which was not asked for; `None` if it goes with any.
pub(crate) fn needs_job(option: Key) -> Option<String> {
    let users = users(CLASSIC.iter().chain(&MAIL), option);
    (!users.is_empty()).then(|| format!("{} can only be used with {users}", named(option)))
}

/// What is wrong with these options of the classic program together, if anything is.
pub(crate) fn fault(used: &[Key]) -> Option<String> {
    // -R alone classifies, as -c does.
    let is_used = |key| used.contains(&key) || key == Key::Category && used.contains(&Key::Random);
    let has_job = |option| {
        let mut rows = CLASSIC.iter().filter(|row| row.options.contains(option)).peekable();
        rows.peek().is_none() || rows.any(|row| is_used(row.key))
    };
    if let Some(&option) = used.iter().find(|option| !has_job(option)) {
        return needs_job(option);
    }
    CLASSIC.iter().filter(|row| used.contains(&row.key)).find_map(|row| {
        row.refused.iter().find_map(|(options, reason)| {
            let option = options.iter().find(|&option| used.contains(option))?;
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            Some(format!("{} cannot be used with {}{why}", named(*option), spelled(row.key)))
        })
    })
}

/// The names and the help text of an option.
fn described(key: Key) -> Option<&'static Opt<Key>> {
    TABLE.iter().find(|option| option.key == key)
}

/// An option as it is usually typed: `-c`, or `--mail-learn`.
pub fn spelled(key: Key) -> String {
    let option = described(key);
    match option.and_then(|option| option.letter) {
        Some(letter) => format!("-{}", char::from(letter)),
        None => format!("--{}", option.map_or("", |option| option.long)),
    }
}

/// An option by all its names: `-n (--scores)`.
pub(crate) fn named(key: Key) -> String {
    let spelled = spelled(key);
    match described(key) {
        Some(option) if option.letter.is_some() && !option.long.is_empty() => {
            format!("{spelled} (--{})", option.long)
        }
        _ => spelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_texts_name_the_jobs_of_options_that_have_no_other_use() {
        // What goes with -c stands under a heading for results.
        let parts = || CLASSIC.iter().filter(|row| row.key != Key::Category);
        for option in TABLE {
            if [Key::Verbose, Key::Format].contains(&option.key) {
                continue;
            }
            for users in [users(&MAIL, option.key), users(parts(), option.key)] {
                let begin = format!("with {users}: ");
                let is_told = users.is_empty() || option.help.starts_with(&begin);
                assert!(is_told, "{}: {}", option.long, option.help);
            }
        }
        for job in &MAIL {
            assert!(described(job.key).is_some_and(|option| !option.help.is_empty()));
        }
    }

    #[test]
    fn options_need_their_job_and_keep_away_from_others() {
        use Key::{Category, Charset, Count, Dump, Fit, Format, Input, Learn, Online, Place};
        let said = |used: &[Key]| fault(used).unwrap_or_default();
        for (used, expected) in [
            (&[Learn, Fit] as &[Key], ""),
            (&[Key::Verbose, Learn, Online, Key::Decimation], ""),
            (&[Category, Format, Input], ""),
            (&[Key::Random, Format], ""),
            (&[Category, Fit], "--fit can only be used with -l"),
            (&[Learn, Place], "--place can only be used with --count"),
            (&[Learn, Format], "--format can only be used with -c and --mail-verdict"),
            (&[Learn, Key::Canonical], "--canonical can only be used with --fit"),
            (&[Category, Dump, Input], "-d (--dump) cannot be used with --input"),
            (&[Category, Charset, Input], "--charset cannot be used with --input"),
            (&[Key::Merge, Online], "-o (--online) cannot be used with --merge"),
            (
                &[Count, Online],
                "-o (--online) cannot be used with --count: --merge reads online memory dumps, too",
            ),
        ] {
            assert_eq!(said(used), expected, "{used:?}");
        }
    }
}
