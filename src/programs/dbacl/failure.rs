// SPDX-License-Identifier: GPL-3.0-or-later
//! Why a run ended early, and the exit status that says so.

use crate::container::is_model;
use crate::error::Error;
use crate::sets::classify::Incomparable;
use crate::sets::{FilterOpenError, MailFilterError};
use crate::store::FilterError;
use dbacl_cli::output::complaint;
use dbacl_cli::status;
use std::io;
use std::path::Path;

/// What kind of failure ended a run; each has its status in strict mode (`sysexits.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command line asks for something impossible.
    Usage,
    /// A file does not hold what it should.
    Data,
    /// An input or category cannot be opened.
    NoInput,
    /// A computation left its range.
    Internal,
    /// A file cannot be created.
    Create,
    /// A file cannot be written.
    Write,
    /// The output's reader has gone.
    ClosedPipe,
    /// A signal asked to stop.
    Interrupted,
    /// An input could not be read to its end.
    Read,
    /// The system is short of memory, processes or open files.
    Resources,
}

impl Kind {
    /// The kind of failure when a file cannot be opened.
    pub(crate) fn of_reading(error: &io::Error) -> Self {
        // EAGAIN, ENOMEM, ENFILE, EMFILE: the same command may work a moment later.
        match error.raw_os_error() {
            Some(11 | 12 | 23 | 24) => Self::Resources,
            _ => Self::NoInput,
        }
    }

    /// The exit status: by `sysexits.h` in strict mode, else always 1, as in dbacl 1.14.1.
    pub(crate) const fn status(self, strict: bool) -> u8 {
        if !strict {
            return 1;
        }
        match self {
            Self::Usage => status::USAGE,
            Self::Data => status::DATA,
            Self::NoInput => status::NO_INPUT,
            Self::Internal => status::SOFTWARE,
            Self::Create => status::CANNOT_CREATE,
            Self::Write | Self::Read => status::IO,
            Self::ClosedPipe | Self::Interrupted | Self::Resources => status::LATER,
        }
    }
}

/// The end of a run that failed.
#[derive(Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: Kind,
    /// What to print after `dbacl:error: `, line by line; empty if all has been said.
    pub lines: Vec<String>,
}

impl Failure {
    /// A failure with one line to print.
    pub(crate) fn new(kind: Kind, line: impl Into<String>) -> Self {
        Self { kind, lines: vec![line.into()] }
    }

    /// A failure about which all has been said.
    pub(crate) const fn silent(kind: Kind) -> Self {
        Self { kind, lines: Vec::new() }
    }
}

/// Refuses what the command line asks for.
pub(crate) fn usage<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::new(Kind::Usage, text))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Pattern { .. } | Error::TooManyPatterns => Kind::Usage,
            Error::Numeric(_) => Kind::Internal,
            Error::Io { .. } | Error::HalfSaved(_) => Kind::Write,
            Error::Temporary { .. } | Error::Occupied { .. } => Kind::Create,
            _ => Kind::Data,
        };
        // dbacl 1.14.1 gave no reason.
        let text = match error {
            Error::Pattern { pattern, .. } => {
                format!("could not compile regular expression '{pattern}'.")
            }
            error => error.to_string(),
        };
        Self::new(kind, text)
    }
}

impl From<Incomparable> for Failure {
    fn from(error: Incomparable) -> Self {
        // The texts of dbacl 1.14.1 name options.
        let text = match error {
            Incomparable::Pattern(error) => return error.into(),
            Incomparable::Tokenizer { name } => {
                format!("category {name} has incompatible token set (check -e switch)")
            }
            Incomparable::TextAndMail => {
                "please use only one of either -T text or -T email options.".into()
            }
            Incomparable::XmlAndHtml => {
                "please use only one of either -T xml or -T html options.".into()
            }
            _ => error.to_string(),
        };
        Self::new(Kind::Usage, text)
    }
}

impl From<MailFilterError> for Failure {
    fn from(error: MailFilterError) -> Self {
        use MailFilterError as Set;
        let text = error.to_string();
        let kind = match error {
            Set::Open(error) => return error.into(),
            Set::Files(FilterError::Occupied { .. }) | Set::Folder { .. } => Kind::Create,
            Set::Files(FilterError::Save(error)) => {
                let Self { kind, .. } = Error::from(error).into();
                kind
            }
            Set::Files(_) => Kind::Write,
            Set::NotFolders | Set::BadLabel { .. } => {
                return Self::new(
                    Kind::Usage,
                    format!("--mail-learn needs a folder, then HAM=MAIL and SPAM=MAIL: {text}"),
                );
            }
            Set::Source { source, .. } => Kind::of_reading(&source),
            Set::Unread { .. } => Kind::Read,
            Set::FilterInMail { .. }
            | Set::Roles { .. }
            | Set::Protect { .. }
            | Set::UnknownLabel { .. } => Kind::Usage,
            Set::Held { waited, .. } => {
                let text = format!(
                    "{text}: nothing was done after a wait of {} s (--lock-timeout)",
                    waited.as_secs()
                );
                return Self::new(Kind::Resources, text);
            }
            Set::StoppedWaiting { .. } => {
                return Self::new(Kind::Interrupted, format!("{text}; nothing was changed"));
            }
            Set::Unlockable { path, .. } => {
                return Self::new(Kind::Write, format!("{text}; {} is unchanged", path.display()));
            }
            Set::Stopped => Kind::Interrupted,
            Set::ReadOtherwise { .. } => Kind::Resources,
            _ => Kind::Data,
        };
        Self::new(kind, text)
    }
}

impl From<FilterOpenError> for Failure {
    fn from(error: FilterOpenError) -> Self {
        let text = error.to_string();
        match error {
            FilterOpenError::NoFilter { .. } => Self::new(Kind::NoInput, text),
            _ => Self::new(Kind::Data, text),
        }
    }
}

/// Why the category at `path` cannot be opened.
pub(crate) fn not_loaded(error: Error, path: &Path) -> Failure {
    let last = format!("could not load category {}", path.display());
    match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Failure::new(Kind::NoInput, last)
        }
        Error::Io { ref source, .. } => {
            let kind = Kind::of_reading(source);
            Failure { kind, lines: vec![error.to_string(), last] }
        }
        _ if is_model(path) => {
            let text =
                format!("{} is a model of dbacl-text: use dbacl-text predict", path.display());
            Failure { kind: Kind::Data, lines: vec![text, last] }
        }
        _ => Failure { kind: Kind::Data, lines: vec![error.to_string(), last] },
    }
}

/// Why an input cannot be opened.
pub(crate) fn unopened(path: &Path, error: &io::Error) -> Failure {
    let text = format!("couldn't open {}: {error}", path.display());
    Failure::new(Kind::of_reading(error), text)
}

/// The failure of a program whose standard output could not be written.
pub(crate) fn output_failure(error: &io::Error) -> Failure {
    match complaint(error) {
        None => Failure::silent(Kind::ClosedPipe),
        Some(text) => Failure::new(Kind::Write, text),
    }
}
