// SPDX-License-Identifier: GPL-3.0-or-later
//! `--update`, `--learn-error`, `--unlearn`, `--correct`: gives the documents of the command line
//! to the library's [`dbacl_sets::update`].

use super::super::config::Config;
use super::super::failure::{Failure, Kind, usage};
use super::super::lock;
use super::super::messages::warn;
use super::super::signals::Signals;
use super::reader::{Reader, Unit};
use super::request::{Action, Request};
use dbacl_cli::names::lossy;
use dbacl_model::settings::ModelOption;
use dbacl_sets::FittedSetError;
use dbacl_sets::Outcome;
use dbacl_sets::files::{SetFiles, label_of, store_of};
use dbacl_sets::learn_folders::mail_files;
use dbacl_sets::update::{self, ChangeKind};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Learns, forgets or corrects the documents of the operands, or of standard input.
pub fn run(
    request: &Request,
    action: &Action,
    config: &mut Config,
    paths: &[PathBuf],
    signals: &Signals,
) -> Result<u8, Failure> {
    let Some(ledger) = request.keep.as_deref() else { return usage("--keep LEDGER is needed") };
    let names: Vec<Vec<u8>> = paths.iter().map(|path| label_of(path)).collect();
    let Action { category: name, change: kind } = action;
    let unknown = || FittedSetError::UnknownLabel {
        label: lossy(name.as_bytes()),
        folder: None,
        known: names.iter().map(|known| lossy(known)).collect(),
    };
    let label = names.iter().position(|known| known == name.as_bytes());
    let label = u32::try_from(label.ok_or_else(unknown)?).unwrap_or(u32::MAX);
    let settings = config.features();
    let reading = &mut config.reading;
    // Documents are read before the lock is taken, because standard input may be slow.
    let operands = std::mem::take(&mut reading.operands);
    let mut reader = Reader::new(reading, &[], &names);
    if *kind != ChangeKind::Forget {
        reader = reader.refusing_others();
    }
    let unit = request.unit.unwrap_or(Unit::Whole);
    if operands.is_empty() {
        reader.read(reading, signals, None, unit, label)?;
    } else if request.only_mail {
        let places: Vec<PathBuf> = operands.iter().map(PathBuf::from).collect();
        for file in &mail_files(&places, &signals.stop, &mut warn)? {
            let how = (Unit::Whole, label, file.may_be_mailbox);
            reader.read_operands(reading, signals, vec![file.path.clone().into()], how)?;
            if let Some(fault) = reader.fault() {
                let text = format!("{}: {fault}", file.path.display());
                return Err(Failure::new(Kind::Data, text));
            }
        }
    } else {
        for operand in &operands {
            reader.read(reading, signals, Some(operand), unit, label)?;
        }
    }
    if signals.stopped() {
        return Err(FittedSetError::Stopped.into());
    }
    let corpus = reader.into_corpus();
    if corpus.documents.is_empty() {
        let place = match operands.as_slice() {
            [] => "standard input".to_owned(),
            [one] => lossy(one.as_bytes()),
            _ => "these files".to_owned(),
        };
        return Err(Failure::new(Kind::Data, format!("{place}: there is no word to learn")));
    }
    let lock = lock::of_set(&store_of(paths, Some(ledger)), config.lock_timeout, signals)?;
    let files = SetFiles::open(paths, Some(ledger), lock, &mut warn)?;
    let request = update::Request::new(*kind, label, &corpus);
    let is_mail = config.reading.options.has(ModelOption::Mail);
    let how = (&settings, is_mail);
    let (_, outcomes) = update::change_files(files, &request, how, &signals.stop, &mut warn)?;
    if *kind == ChangeKind::Forget && outcomes.iter().all(|one| *one == Outcome::NotKnown) {
        let name = lossy(&names[label as usize]);
        let text = format!("no such document was learned as {name}");
        return Err(Failure::new(Kind::Data, text));
    }
    Ok(0)
}
