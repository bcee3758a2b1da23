// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the operands of a command line.

use super::failure::{Failure, Kind, output_failure};
use super::jobs::Reading;
use super::messages::MESSAGES;
use super::signals::Signals;
use crate::document::{FeatureReader, FeatureSink, ReadOptions};
use crate::error::{Error, Warning};
use crate::input::source::{self, Operand, Source};
use dbacl_cli::names::lossy;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// A reader of the operands, which a signal to stop ends early.
pub(super) fn reader<'a>(
    reading: &Reading,
    options: &ReadOptions,
    signals: &'a Signals,
) -> FeatureReader<'a> {
    let reader = FeatureReader::new(options).until(Some(&signals.stop));
    if reading.by_lines { reader.by_lines() } else { reader }
}

/// Reads all operands, or standard input, into `sink`. `announce` gets each source's name before it
/// is read, `None` for standard input.
pub(super) fn read<S: FeatureSink>(
    reading: &Reading,
    signals: &Signals,
    reader: &mut FeatureReader<'_>,
    sink: &mut S,
    mut announce: impl FnMut(&mut S, Option<&[u8]>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut said = false;
    let mut read = |source: Source<'_>, sink: &mut S| -> Result<(), Failure> {
        let name = source.name.clone();
        let error = reader.read(source, sink).map_err(|error| output_failure(&error))?;
        if let Some(error) = error {
            // Half a text gives no verdict, and half a mailbox no category.
            if reading.strict || reading.whole {
                let text = format!("{}: {error}", lossy(&name));
                return Err(Failure::new(Kind::Read, text));
            }
            MESSAGES.warning(&format!("{}: {error}, reading stopped there", lossy(&name)));
        }
        after_signals(signals, &mut said)
    };
    let mut announce = |sink: &mut S, name: Option<&[u8]>| {
        announce(sink, name).map_err(|error| output_failure(&error))
    };
    if reading.operands.is_empty() {
        announce(sink, None)?;
        return read(source::standard_input(), sink);
    }
    let mut unlisted = 0;
    let mut warn = |warning: Warning| {
        unlisted += 1;
        MESSAGES.warning(&warning.0);
    };
    for operand in &reading.operands {
        if signals.stopped() {
            break;
        }
        let opened = source::open(operand, &mut warn).map_err(|error| {
            let name = lossy(operand.as_bytes());
            let kind = match &error {
                Error::Io { source, .. } => Kind::of_reading(source),
                _ => Kind::NoInput,
            };
            Failure::new(kind, format!("couldn't open {name}"))
        })?;
        match opened {
            Operand::File(source) => {
                announce(sink, Some(&source.name))?;
                read(source, sink)?;
            }
            Operand::Folder(paths) => {
                for path in &paths {
                    if signals.stopped() {
                        break;
                    }
                    let Some(source) = source::open_entry(path) else {
                        // Gone meanwhile, as mail may, or not readable.
                        if reading.whole && path.symlink_metadata().is_ok() {
                            let text = format!("couldn't open {}", path.display());
                            return Err(Failure::new(Kind::NoInput, text));
                        }
                        continue;
                    };
                    announce(sink, Some(&source.name))?;
                    read(source, sink)?;
                }
            }
        }
    }
    if (reading.strict || reading.whole) && unlisted > 0 {
        return Err(Failure::silent(Kind::NoInput));
    }
    Ok(())
}

/// Says which signal ended reading, if one did.
pub(super) fn after_signals(signals: &Signals, said: &mut bool) -> Result<(), Failure> {
    if signals.interrupted() {
        MESSAGES.signal("caught interrupt request, exiting");
        return Err(Failure::silent(Kind::Interrupted));
    }
    if signals.stopped() && !std::mem::replace(said, true) {
        MESSAGES.signal("caught termination request, ignoring further input");
    }
    Ok(())
}
