// SPDX-License-Identifier: GPL-3.0-or-later
//! A method to evaluate, written as options of this program.

use super::builder::Builder;
use super::failure::Failure;
use super::jobs::Job;
use super::options::{Key, TABLE};
use crate::learn::options::LearnOptions;
use dbacl_cli::getopt::{self, Event};
use std::ffi::{OsStr, OsString};

/// How to learn and to classify: what a command line of `dbacl` says.
#[derive(Debug, Clone)]
pub struct Method {
    /// How categories are learned.
    pub learn: LearnOptions,
    /// Whether a document's length counts (`-P`).
    pub prior: bool,
}

/// The method that `dbacl OPTIONS -l CATEGORY` and `dbacl -c CATEGORY ...` use.
///
/// # Errors
/// A message about an option that is unknown, impossible or not allowed here.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Method, String> {
    let mut builder = Builder::new(super::VARIABLE);
    let reason = |failure: Failure| failure.lines.join("; ");
    builder.learn(b"category").map_err(reason)?;
    for event in getopt::parse(OsStr::new("dbacl"), words, TABLE, false) {
        builder.act(check(event)?).map_err(reason)?;
    }
    let (Job::Learn, mut config) = builder.job().map_err(reason)? else {
        return Err(OTHER_OPTION.to_owned());
    };
    config.reading.patterns.refuse_unstorable().map_err(|error| error.to_string())?;
    let (settings, reading) = (config.learn_settings(), config.reading.read_options());
    Ok(Method { learn: LearnOptions::of(reading, settings), prior: config.prior })
}

/// The message for options that do not belong to a method.
const OTHER_OPTION: &str = "it may only hold options that say how to learn (-T -e -w -g -j -L -q \
                            -h -H -z -x -M -S -r) and -P";

/// Refuses options that an option set may not have.
fn check(event: Event<Key>) -> Result<Event<Key>, String> {
    match &event {
        Event::Complaint(message) => {
            Err(String::from_utf8_lossy(message).trim_start_matches("dbacl: ").to_owned())
        }
        Event::Operand(operand) => Err(format!("\"{}\" is not an option", operand.display())),
        Event::Option {
            key:
                Key::Learn
                | Key::Category
                | Key::Random
                | Key::FilterLines
                | Key::PerFile
                | Key::Append
                | Key::AppendIndented
                | Key::Dump
                | Key::Debug
                | Key::Online
                | Key::MergeOnline
                | Key::VersionText
                | Key::Version
                | Key::Help
                | Key::MailHelp,
            ..
        } => Err(OTHER_OPTION.to_owned()),
        Event::Option { .. } => Ok(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn option_sets_are_options_of_dbacl() {
        let method = parse(words("-T email -e cef -jw 2 -H 20")).expect("a method");
        let learn = &method.learn;
        assert_eq!((learn.reading().order, learn.settings().max_bits), (2, Some(20)));
        for (text, complaint) in [
            ("-T email -l spam", "how to learn"),
            ("-w 9", "between 1 and 7"),
            ("-%", "invalid option"),
            ("email", "is not an option"),
        ] {
            let error = parse(words(text)).expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
