// SPDX-License-Identifier: GPL-3.0-or-later
//! The options of `--refit` and of the jobs that belong to it.

use super::super::builder::Builder;
use super::super::failure::{Failure, usage};
use super::super::options::Key;
use super::reader::Unit;
use dbacl_cli::getopt::Event;
use dbacl_joint::fit::FitOptions;
use dbacl_joint::scoring::Scoring;
use dbacl_sets::update::ChangeKind;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The values of these options.
#[derive(Debug, Default)]
pub struct Request {
    /// Documents of each category, from `-c NAME=SOURCE`; `None` where there is no source.
    pub(super) sources: Vec<Option<OsString>>,
    pub(super) unit: Option<Unit>,
    pub(super) wishes: FitOptions,
    pub(super) keep: Option<PathBuf>,
    pub(super) action: Option<Action>,
    /// Whether documents must be mail: other files are left out, or refused if they were named.
    pub(super) only_mail: bool,
}

/// What is to be done with single documents, and their category.
#[derive(Debug)]
pub struct Action {
    pub(super) category: OsString,
    pub(super) change: ChangeKind,
}

/// The request of a command line, whose options are taken out of it. `None` if it asks for no job
/// of this module; then the command line stays as it was.
pub fn request(events: &mut Vec<Event<Key>>) -> Result<Option<Request>, Failure> {
    let asks = |event: &Event<Key>| {
        matches!(
            event,
            Event::Option {
                key: Key::Refit | Key::Update | Key::LearnErrors | Key::Unlearn | Key::Correct,
                ..
            }
        )
    };
    if !events.iter().any(asks) {
        return Ok(None);
    }
    let mut request = Request::default();
    for event in std::mem::take(events) {
        let is_taken = match &event {
            Event::Option { key, value } => {
                request.takes(*key, value.as_deref().unwrap_or_default())?
            }
            _ => false,
        };
        if !is_taken {
            events.push(event);
        }
    }
    Ok(Some(request))
}

impl Request {
    /// Handles another part of the command line. `Some` is a text to print instead of any job.
    pub fn act(
        &mut self,
        event: Event<Key>,
        builder: &mut Builder,
    ) -> Result<Option<String>, Failure> {
        let Event::Option { key: Key::Category, value } = event else { return builder.act(event) };
        let name = self.category(value.as_deref().unwrap_or_default());
        builder.category(name.as_bytes())?;
        Ok(None)
    }

    /// Records an option of this module; returns whether it is one.
    fn takes(&mut self, key: Key, value: &OsStr) -> Result<bool, Failure> {
        match key {
            Key::Refit => {}
            Key::Update | Key::LearnErrors | Key::Unlearn | Key::Correct => {
                if self.action.is_some() {
                    return usage("only one of --update, --learn-error, --unlearn, --correct");
                }
                let change = match key {
                    Key::Update => ChangeKind::Learn,
                    Key::LearnErrors => ChangeKind::LearnErrors,
                    Key::Unlearn => ChangeKind::Forget,
                    _ => ChangeKind::Correct,
                };
                self.action = Some(Action { category: value.to_owned(), change });
            }
            Key::Documents => match Unit::by_name(value.as_bytes()) {
                Some(unit) => self.unit = Some(unit),
                None => {
                    return usage("--documents needs one of files, mbox, lines, tsv, ndjson");
                }
            },
            Key::Cost => match number(value).filter(|&cost| cost > 0.0) {
                Some(cost) => self.wishes.cost = Some(cost),
                None => return usage("--cost needs a number above 0"),
            },
            Key::Blend => match number(value).filter(|blend| (0.0..=1.0).contains(blend)) {
                Some(blend) => self.wishes.blend = Some(blend),
                None => return usage("--blend needs a number from 0 to 1"),
            },
            Key::Exact => self.wishes.exact = true,
            Key::Once => self.wishes.scoring = Scoring::Once,
            Key::Contrast => match value.as_bytes() {
                b"yes" => self.wishes.contrast = Some(true),
                b"no" => self.wishes.contrast = Some(false),
                _ => return usage("--contrast needs yes or no"),
            },
            Key::Always => self.wishes.always = true,
            Key::FalsePositives => match rate(value) {
                Some(rate) => self.wishes.false_positives = Some(rate),
                None => return usage("--fp needs a share such as 0.1% or 0.001"),
            },
            Key::Unsure => self.wishes.unsure = true,
            Key::Keep => self.keep = Some(PathBuf::from(value)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Splits `NAME=SOURCE`; returns the name.
    fn category(&mut self, value: &OsStr) -> OsString {
        let bytes = value.as_bytes();
        let split = bytes.iter().position(|&byte| byte == b'=');
        if let Some(at) = split.filter(|_| !Path::new(value).exists()) {
            self.sources.push(Some(OsString::from_vec(bytes[at + 1..].to_vec())));
            OsString::from_vec(bytes[..at].to_vec())
        } else {
            self.sources.push(None);
            value.to_owned()
        }
    }
}

fn number(value: &OsStr) -> Option<f64> {
    value.to_str()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A share: `0.1%` or `0.001`.
pub(super) fn rate(value: &OsStr) -> Option<f64> {
    let text = value.to_str()?;
    let rate = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (rate > 0.0 && rate < 1.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (text, expected) in [
            ("0.1%", Some(0.001)),
            ("1%", Some(0.01)),
            ("0.05", Some(0.05)),
            ("0", None),
            ("100%", None),
            ("x", None),
            ("-1%", None),
        ] {
            assert_eq!(rate(OsStr::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn sources_stand_behind_the_name() {
        let mut request = Request::default();
        assert_eq!(request.category(OsStr::new("a/ham=x/y=z")), "a/ham");
        assert_eq!(request.category(OsStr::new("spam")), "spam");
        assert_eq!(request.sources, [Some("x/y=z".into()), None]);
    }
}
