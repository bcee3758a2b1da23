// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter without options: one command learns two folders, one filters a mail, one corrects
//! a verdict (`docs/refit.md`).
//!
//! ```text
//! dbacl --mail-learn DIR ham=FOLDER spam=FOLDER
//! dbacl --mail-filter DIR <mail >mail-with-X-DBACL-line
//! dbacl --mail-correct DIR spam <mail
//! ```

use super::super::config::Builder;
use super::super::failure::{Failure, Kind};
use super::super::lock;
use super::super::options;
use super::super::signals::Signals;
use super::super::{MESSAGES, VARIABLE_BUT_LOCALE};
use crate::atomic_file::{Unforced, beside};
use crate::cli::getopt;
use crate::cli::output::Output;
use crate::joint::corrections;
use crate::joint::ledger;
use crate::joint::store::{Change, Name, Store, ledger_file, member};
use crate::sets::files::{self, CORRECTIONS};
use crate::sets::mail_filter::{LEDGER, MAGIC, MailFilter, ORDER, labels};
use crate::sets::{FittedSetError, open_set};
use std::ffi::{OsStr, OsString};
use std::fs::{OpenOptions, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The options that mail is learned with: what did best across collections of mail.
const LEARNING: [&str; 14] = [
    "-T",
    "email",
    "-T",
    "email:headers",
    "-T",
    "email:theaders",
    "-T",
    "html:links",
    "-T",
    "html:alt",
    "-L",
    "uniform",
    "-H",
    "25",
];

/// How words are cut: addresses and amounts in one piece, case kept.
const WORDS: [&str; 3] = ["-e", "cef", "-j"];

/// What people call mail that must not be lost.
const GOOD: [&str; 12] = [
    "ham",
    "good",
    "nonspam",
    "non-spam",
    "notspam",
    "not-spam",
    "nospam",
    "legit",
    "legitimate",
    "clean",
    "wanted",
    "inbox",
];

/// What people call the other.
const BAD: [&str; 8] =
    ["spam", "junk", "bad", "unwanted", "unsolicited", "trash", "phishing", "malware"];

fn arguments(parts: &[&str]) -> Vec<OsString> {
    parts.iter().map(OsString::from).collect()
}

/// A path that is not looked up below `DBACL_PATH`.
fn direct(path: &Path) -> OsString {
    open_set::direct(path).into()
}

/// A category and its mail.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Class {
    label: OsString,
    source: OsString,
}

/// The two categories of `--mail-learn`, with the one that is to be protected first.
///
/// # Errors
/// Operands that are not two labels with their mail; labels that do not tell which to protect.
fn kinds(operands: &[OsString], protect: Option<&OsStr>) -> Result<[Class; 2], Failure> {
    let usage = || {
        let text = "--mail-learn needs a folder, then HAM=FILES and SPAM=FILES";
        Failure::new(Kind::Usage, text)
    };
    let mut kinds = Vec::new();
    for operand in operands {
        let bytes = operand.as_bytes();
        let at = bytes.iter().position(|&byte| byte == b'=').ok_or_else(usage)?;
        let (label, source) = (&bytes[..at], &bytes[at + 1..]);
        let is_plain = !label.is_empty()
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
            && ![LEDGER, ORDER, "unsure", "error"].iter().any(|taken| taken.as_bytes() == label);
        if !is_plain || source.is_empty() {
            return Err(usage());
        }
        let [label, source] = [label, source].map(|bytes| OsString::from_vec(bytes.to_vec()));
        kinds.push(Class { label, source });
    }
    let kinds: [Class; 2] = kinds.try_into().map_err(|_| usage())?;
    let [first, second] = &kinds;
    if first.label == second.label {
        return Err(usage());
    }
    let first_is_good = match protect {
        Some(name) if name == first.label => true,
        Some(name) if name == second.label => false,
        Some(name) => {
            let text = format!("--protect {}: there is no such category", name.display());
            return Err(Failure::new(Kind::Usage, text));
        }
        None => match (role(&first.label), role(&second.label)) {
            (Some(true), Some(false) | None) | (None, Some(false)) => true,
            (Some(false), Some(true) | None) | (None, Some(true)) => false,
            _ => {
                let text = format!(
                    "which mail must not be lost, {0} or {1}? Give --protect {0} or --protect {1}",
                    first.label.display(),
                    second.label.display()
                );
                return Err(Failure::new(Kind::Usage, text));
            }
        },
    };
    let [first, second] = kinds;
    Ok(if first_is_good { [first, second] } else { [second, first] })
}

/// Whether a label means mail that must not be lost; `None` if it does not tell.
fn role(label: &OsStr) -> Option<bool> {
    let is_one_of = |names: &[&str]| names.iter().any(|name| label.eq_ignore_ascii_case(name));
    match (is_one_of(&GOOD), is_one_of(&BAD)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Learns the mail of two categories into the filter of `folder`. All of the filter changes at once,
/// at the end; until then it is in service as it was.
///
/// # Errors
/// What stopped it; the filter is as it was.
pub fn learn(
    program: &OsStr,
    folder: &Path,
    operands: &[OsString],
    protect: Option<&OsStr>,
    patience: &[OsString],
    output: &mut Output,
) -> Result<u8, Failure> {
    let kinds = kinds(operands, protect)?;
    let signals = Signals::install();
    private_folder(folder)?;
    let plain = [patience, &arguments(&["-l", "./none"])].concat();
    let plain = builder(program, plain, Vec::new())?.finish()?;
    let inside = |name: &OsStr| PathBuf::from(direct(&folder.join(name)));
    let ledger = inside(OsStr::new(LEDGER));
    let names: Vec<PathBuf> = kinds.iter().map(|kind| inside(&kind.label)).collect();
    let store = Store::beside(&ledger);
    let members: Vec<OsString> =
        kinds.iter().map(|kind| member("category.", &kind.label)).collect();
    let mut links = files::links(&names, &members, Some(&ledger));
    let order = inside(OsStr::new(ORDER));
    links.retain(|link| link.member != ORDER);
    links.push(Name { path: order, member: ORDER.into(), ours: MAGIC });
    // The lock is not held while mail is read: corrections go on.
    let change = {
        let _lock = lock::of_set(&store, &plain, &signals)?;
        store.replacement().map_err(FittedSetError::generation)?
    };
    let staged = change.path(OsStr::new(LEDGER));
    for ((kind, name), member) in kinds.iter().zip(&names).zip(&members) {
        let mut args = [patience, &arguments(&LEARNING)].concat();
        args.extend(arguments(&WORDS));
        let path = change.path(member);
        args.extend(["-l".into(), path.clone().into(), "--keep".into(), staged.clone().into()]);
        args.push("--".into());
        args.extend(mailbox(Path::new(&kind.source)));
        let mut config = builder(program, args, Vec::new())?.finish()?;
        config.whole = true;
        config.name = Some(name.clone());
        super::super::learn::run(&mut config, &path, &signals, output)?;
        if signals.stopped() {
            return Err(stopped());
        }
        if !change.has(member) {
            let text = format!(
                "there is no mail to learn in {}; nothing was changed",
                kind.source.display()
            );
            return Err(Failure::new(Kind::Data, text));
        }
    }
    let _ = std::fs::remove_file(beside(&staged, ".lock"));
    let text = [kinds[0].label.as_bytes(), b"\n", kinds[1].label.as_bytes(), b"\n"].concat();
    let text = [MAGIC, &text].concat();
    ledger_file::replace(&Unforced, &change.path(OsStr::new(ORDER)), MAGIC, &text)?;
    let lock = lock::of_set(&store, &plain, &signals)?;
    store.take_over(&of_before(folder, &ledger)).map_err(FittedSetError::generation)?;
    let applied = correct(&store, &change)?;
    let before = of_before(folder, &ledger);
    let paths: Vec<PathBuf> = members.iter().map(|member| change.path(member)).collect();
    let files =
        files::SetFiles::of(&names, &members, Some(&ledger), links, store.clone(), change, lock);
    let mut request = super::Request::of_mail();
    request.ledger_leads = applied > 0;
    let mut args: Vec<OsString> = Vec::new();
    for name in &names {
        args.extend(["-c".into(), name.clone().into()]);
    }
    let places = names.iter().cloned().zip(paths).collect();
    let mut config = builder(program, args, places)?.finish()?;
    let fitted = super::fit::refit_files(&request, &mut config, &files, &signals);
    let mut fitted = fitted?;
    super::fit::publish(files, true, &signals)?;
    store.unlink_names(&before);
    if applied > 0 {
        let plural = if applied == 1 { "correction was" } else { "corrections were" };
        fitted.text.push_str(&format!("{applied} {plural} applied\n"));
    }
    super::fit::say(&request, output, &fitted.text)
}

fn stopped() -> Failure {
    Failure::new(Kind::Interrupted, "stopped by a signal; nothing was changed")
}

/// A command line that is only read; names are looked up in `places` first.
fn builder(
    program: &OsStr,
    args: Vec<OsString>,
    places: Vec<(PathBuf, PathBuf)>,
) -> Result<Builder<'_>, Failure> {
    let mut builder = Builder::new(program, &MESSAGES, &VARIABLE_BUT_LOCALE);
    for (name, file) in places {
        builder.place(name, file);
    }
    for event in getopt::parse(program, args, options::TABLE, false) {
        builder.act(event)?;
    }
    Ok(builder)
}

/// Makes a filter's folder, for the user alone; one that is there stays as it is.
fn private_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    let made = folder
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::DirBuilder::new().mode(0o700).create(folder))
        .and_then(|()| std::fs::set_permissions(folder, Permissions::from_mode(0o700)))
        .and_then(|()| {
            let lock = folder.join(LEDGER).with_extension("lock");
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)
        })
        .map(|_| ());
    made.map_err(|error| Failure::new(Kind::Create, format!("{}: {error}", folder.display())))
}

/// The names of the filter that was in `folder` before.
fn of_before(folder: &Path, ledger: &Path) -> Vec<Name> {
    let names: Vec<PathBuf> = match labels(&folder.join(ORDER)) {
        Ok(labels) => {
            labels.iter().map(|label| PathBuf::from(direct(&folder.join(label)))).collect()
        }
        Err(_) => Vec::new(),
    };
    let members: Vec<OsString> = names
        .iter()
        .map(|name| member("category.", name.file_name().unwrap_or_default()))
        .collect();
    files::links(&names, &members, Some(ledger))
}

/// Applies the corrections of the filter as it is to the ledger of the one that is being made; returns
/// how many are still needed.
fn correct(store: &Store, change: &Change) -> Result<usize, Failure> {
    let Some(current) = store.open().map_err(FittedSetError::generation)? else { return Ok(0) };
    let Some(corrections) = ledger_file::load(&current.path(OsStr::new(CORRECTIONS)))? else {
        return Ok(0);
    };
    let path = change.path(OsStr::new(LEDGER));
    let Some(ledger) = ledger_file::load(&path)? else { return Ok(0) };
    if corrections.head.settings != ledger.head.settings {
        let text = "the corrections were made with other options and are not applied";
        MESSAGES.warning(text);
        return Ok(0);
    }
    let done = corrections::apply(&ledger, &corrections)
        .map_err(|fault| Failure::new(Kind::Data, fault.text()))?;
    ledger_file::save(&path, &done.ledger)?;
    let kept = change.path(OsStr::new(CORRECTIONS));
    ledger_file::replace(&Unforced, &kept, ledger::ANY_MAGIC, &done.corrections.bytes())?;
    Ok(done.applied)
}

/// What to read of a mailbox: the folders of a Maildir, else itself.
fn mailbox(path: &Path) -> Vec<OsString> {
    let parts = ["cur", "new"].map(|part| path.join(part));
    if parts.iter().all(|part| part.is_dir()) {
        parts.into_iter().map(|part| direct(&part)).collect()
    } else {
        vec![path.as_os_str().to_owned()]
    }
}

/// The category files of a filter's folder.
///
/// # Errors
/// A folder that is none of a filter.
fn categories(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let labels = labels(&folder.join(ORDER))?;
    Ok(labels.into_iter().map(|label| folder.join(label)).collect())
}

/// The command line that `--mail-correct FOLDER LABEL [FILE]...` stands for.
///
/// # Errors
/// A folder that is none of a filter, or no label.
pub fn correcting(folder: &Path, operands: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let (label, files) = operands.split_first().ok_or_else(|| {
        Failure::new(Kind::Usage, "--mail-correct needs a folder and what the mail is")
    })?;
    let mut command = vec!["--correct".into(), label.clone()];
    command.extend(["--keep".into(), direct(&folder.join(LEDGER))]);
    for path in categories(folder)? {
        command.extend(["-c".into(), direct(&path)]);
    }
    command.push("--".into());
    command.extend(files.iter().cloned());
    Ok(command)
}

/// The verdict of the filter in `folder` on a mail.
///
/// # Errors
/// A folder that is none of a filter, or a filter that cannot be opened or read.
pub fn judge(folder: &Path, mail: &[u8], signals: &Signals) -> Result<Vec<u8>, Failure> {
    let filter = MailFilter::open(folder, &mut |warning| MESSAGES.warning(&warning.0))?;
    Ok(filter.judge(mail, Some(&signals.stop))?.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learning_takes_two_labels() {
        for wrong in
            ["ham=a", "ham spam", "ham=a ham=b", "ham=a ledger=b", "a/b=c d=e", "ham=a spam="]
        {
            assert!(kinds(&operands(wrong), None).is_err(), "{wrong}");
        }
    }

    fn operands(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn names_tell_which_mail_must_not_be_lost() {
        for (text, protect, first) in [
            ("ham=a spam=b", None, Some("ham")),
            ("spam=a ham=b", None, Some("ham")),
            ("Junk=a work=b", None, Some("work")),
            ("lists=a good=b", None, Some("good")),
            ("a=a b=b", None, None),
            ("ham=a good=b", None, None),
            ("spam=a junk=b", None, None),
            ("a=a b=b", Some("b"), Some("b")),
            ("ham=a spam=b", Some("spam"), Some("spam")),
            ("ham=a spam=b", Some("other"), None),
        ] {
            let found = kinds(&operands(text), protect.map(OsStr::new));
            let found = found.ok().map(|[first, _]| first.label);
            assert_eq!(found.as_deref(), first.map(OsStr::new), "{text}");
        }
    }
}
