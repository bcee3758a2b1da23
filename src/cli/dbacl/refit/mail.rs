// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter without options: one command learns two folders, one filters a mail, one corrects
//! a verdict (`docs/refit.md`).
//!
//! ```text
//! dbacl --mail-learn DIR ham=FOLDER spam=FOLDER
//! dbacl --mail-filter DIR <mail >mail-with-X-DBACL-line
//! dbacl --mail-correct DIR spam <mail
//! ```

use super::super::MESSAGES;
use super::super::config::Config;
use super::super::failure::{Failure, Kind, output_failure};
use super::super::signals::Signals;
use super::reader::{Reader, VERDICT_HEADER};
use super::store;
use crate::category::mapped::MappedCategory;
use crate::cli::output::Output;
use crate::numeric::cformat;
use crate::refit::header::{RefitLine, Verdict, set_of};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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

/// The ledger in the filter's folder.
const LEDGER: &str = "ledger";

/// Categories in the order of their learning; the second is what the filter is there to find.
const ORDER: &str = "order";

fn arguments(parts: &[&str]) -> Vec<OsString> {
    parts.iter().map(OsString::from).collect()
}

/// A path that is not looked up below `DBACL_PATH`.
fn direct(path: &Path) -> OsString {
    let begins = matches!(path.as_os_str().as_bytes().first(), Some(b'/' | b'.'));
    if begins { path.into() } else { Path::new(".").join(path).into() }
}

/// The command lines that `--mail-learn FOLDER LABEL=SOURCE LABEL=SOURCE` stands for.
///
/// # Errors
/// Operands that are not two labels with their mail.
pub fn learning(folder: &Path, operands: &[OsString]) -> Result<Vec<Vec<OsString>>, Failure> {
    let usage = || {
        let text = "--mail-learn needs a folder, then HAM=FILES and SPAM=FILES";
        Failure::new(Kind::Usage, text)
    };
    let mut sources = Vec::new();
    for operand in operands {
        let bytes = operand.as_bytes();
        let at = bytes.iter().position(|&byte| byte == b'=').ok_or_else(usage)?;
        let (label, source) = (&bytes[..at], &bytes[at + 1..]);
        let is_plain = !label.is_empty()
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
            && ![LEDGER, ORDER, "unsure"].iter().any(|taken| taken.as_bytes() == label);
        if !is_plain || source.is_empty() {
            return Err(usage());
        }
        sources.push((label.to_vec(), OsString::from_vec(source.to_vec())));
    }
    if sources.len() != 2 || sources[0].0 == sources[1].0 {
        return Err(usage());
    }
    let ledger = direct(&folder.join(LEDGER));
    let mut commands = Vec::new();
    let mut refit = arguments(&["--refit", "--always", "--once", "--unsure", "--keep"]);
    refit.push(ledger.clone());
    for (label, source) in &sources {
        let category = direct(&folder.join(OsStr::from_bytes(label)));
        let mut command = arguments(&LEARNING);
        command.extend(arguments(&WORDS));
        command.extend(["-l".into(), category.clone(), "--keep".into(), ledger.clone()]);
        command.push("--".into());
        command.extend(mailbox(Path::new(source)));
        commands.push(command);
        refit.extend(["-c".into(), category]);
    }
    commands.push(refit);
    Ok(commands)
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

/// Writes down the order of the categories.
///
/// # Errors
/// It cannot be written.
pub fn remember(folder: &Path, operands: &[OsString]) -> Result<(), Failure> {
    let mut text = b"# dbacl mail filter\n".to_vec();
    for operand in operands {
        let label = operand.as_bytes().split(|&byte| byte == b'=').next().unwrap_or_default();
        text.extend_from_slice(label);
        text.push(b'\n');
    }
    let storage = crate::save::Disk;
    store::replace(&storage, &folder.join(ORDER), b"# dbacl mail filter\n", &text)
}

/// The category files of a filter's folder.
///
/// # Errors
/// A folder that is none of a filter.
pub fn categories(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = folder.join(ORDER);
    let missing = |error: io::Error| {
        let text = format!("{}: {error}; learn with --mail-learn first", path.display());
        Failure::new(Kind::NoInput, text)
    };
    let text = std::fs::read_to_string(&path).map_err(missing)?;
    let names: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    if names.len() != 2 || names.iter().any(|name| name.is_empty() || name.contains('/')) {
        return Err(Failure::new(Kind::Data, format!("{} is damaged", path.display())));
    }
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
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

/// Options that open the categories of a filter's folder.
///
/// # Errors
/// A folder that is none of a filter.
pub fn opening(folder: &Path) -> Result<Vec<OsString>, Failure> {
    let paths = categories(folder)?;
    Ok(paths.iter().flat_map(|path| ["-c".into(), direct(path)]).collect())
}

/// Passes the mail on standard input on, with a line that tells what it is. Whatever happens the mail
/// comes through; a verdict line that it brought does not.
///
/// # Errors
/// Output that cannot be written; with strict statuses also what kept a verdict from being made.
pub fn filter(
    config: Result<Config, Failure>,
    strict: bool,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let mut mail = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut mail);
    let mail = Mail::new(&mail);
    let read =
        read.map_err(|error| Failure::new(Kind::NoInput, format!("cannot read the mail: {error}")));
    let judged = read.and(config).and_then(|config| judge(config, &mail.bytes, signals));
    let (line, failure) = match judged {
        Ok(line) => (line, None),
        Err(failure) => (b"error".to_vec(), Some(failure)),
    };
    let out = output.buffer();
    out.extend_from_slice(&mail.bytes[..mail.place]);
    out.extend_from_slice(b"X-DBACL: ");
    out.extend_from_slice(&line);
    out.extend_from_slice(mail.line_end);
    out.extend_from_slice(&mail.bytes[mail.place..]);
    output.flush().map_err(|error| output_failure(&error))?;
    match failure {
        Some(failure) if strict => Err(failure),
        Some(failure) => {
            for line in &failure.lines {
                MESSAGES.error(line);
            }
            Ok(0)
        }
        None => Ok(0),
    }
}

/// A mail without the verdicts that it brought.
struct Mail {
    bytes: Vec<u8>,
    /// Where the verdict goes: before the first header line.
    place: usize,
    line_end: &'static [u8],
}

impl Mail {
    fn new(mail: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(mail.len() + 64);
        let mut place = 0;
        let mut in_header = true;
        let mut dropping = false;
        let line_end: &[u8] = match memchr::memchr(b'\n', mail) {
            Some(at) if at > 0 && mail[at - 1] == b'\r' => b"\r\n",
            _ => b"\n",
        };
        let mut rest = mail;
        while in_header && !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(end);
            let goes_on = matches!(line.first(), Some(b' ' | b'\t'));
            dropping = if goes_on {
                dropping
            } else {
                line.len() >= VERDICT_HEADER.len()
                    && line[..VERDICT_HEADER.len()].eq_ignore_ascii_case(VERDICT_HEADER)
            };
            in_header = !matches!(line, b"\n" | b"\r\n");
            if !dropping {
                bytes.extend_from_slice(line);
                if line.starts_with(b"From ") && place == 0 && bytes.len() == line.len() {
                    place = line.len();
                }
            }
            rest = behind;
        }
        bytes.extend_from_slice(rest);
        Self { bytes, place, line_end }
    }
}

fn judge(mut config: Config, mail: &[u8], signals: &Signals) -> Result<Vec<u8>, Failure> {
    let paths: Vec<PathBuf> = config.model_paths.iter().flatten().cloned().collect();
    let categories: Vec<MappedCategory> =
        paths.iter().map(|path| super::super::config::load(path)).collect::<Result<_, _>>()?;
    let lines: Vec<Option<RefitLine>> =
        categories.iter().map(|category| RefitLine::find(category.other_lines())).collect();
    let line = match set_of(&lines) {
        Ok(Some(line)) => line,
        Ok(None) => {
            return Err(Failure::new(Kind::Data, "these categories were not fitted together"));
        }
        Err(mismatch) => return Err(Failure::new(Kind::Data, mismatch.text())),
    };
    let names: Vec<Vec<u8>> =
        paths.iter().map(|path| super::super::config::base_name(path)).collect();
    let mut reader = Reader::new(&mut config, &[], &names);
    reader.read_mail(signals, mail)?;
    let corpus = reader.into_corpus();
    let mut scores = vec![f64::NAN; categories.len()];
    if let Some(document) = corpus.documents.first() {
        for (category, score) in categories.iter().zip(&mut scores) {
            *score = line.scoring.score(category, document.occurrences, corpus.terms_of(0));
        }
    }
    let verdict = line.verdict(&scores);
    let mut text = Vec::new();
    write_verdict(&mut text, &verdict, &names[verdict.category]);
    Ok(text)
}

/// `NAME PROBABILITY%`, or `unsure PROBABILITY% NAME` with the more probable category behind.
pub fn write_verdict(out: &mut Vec<u8>, verdict: &Verdict, name: &[u8]) {
    out.extend_from_slice(if verdict.is_unsure { b"unsure" } else { name });
    out.push(b' ');
    cformat::fixed(out, 100.0 * verdict.probability, 0, 2);
    out.push(b'%');
    if verdict.is_unsure {
        out.push(b' ');
        out.extend_from_slice(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forged_verdicts_are_taken_out_of_the_header_only() {
        for (mail, expected, place) in [
            ("A: b\n\nX-DBACL: ham\n", "A: b\n\nX-DBACL: ham\n", 0),
            ("x-dbacl: ham\n 100%\nA: b\n\nc\n", "A: b\n\nc\n", 0),
            ("From a\nA: b\nX-Dbacl:ham\n\n", "From a\nA: b\n\n", 7),
            ("A: b\n\tX-DBACL: c\n\n", "A: b\n\tX-DBACL: c\n\n", 0),
            ("X-DBACL-Other: d\r\n\r\n", "X-DBACL-Other: d\r\n\r\n", 0),
            ("X-DBACL: no end", "", 0),
            ("", "", 0),
        ] {
            let found = Mail::new(mail.as_bytes());
            assert_eq!(found.bytes, expected.as_bytes(), "{mail:?}");
            assert_eq!(found.place, place, "{mail:?}");
        }
        assert_eq!(Mail::new(b"A: b\r\n\r\n").line_end, b"\r\n");
    }

    #[test]
    fn learning_takes_two_labels() {
        let operands = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let folder = Path::new("f");
        assert_eq!(learning(folder, &operands("ham=a spam=b")).unwrap().len(), 3);
        for wrong in ["ham=a", "ham spam", "ham=a ham=b", "ham=a ledger=b", "a/b=c d=e"] {
            assert!(learning(folder, &operands(wrong)).is_err(), "{wrong}");
        }
    }
}
