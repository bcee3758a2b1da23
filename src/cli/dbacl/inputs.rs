// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs the pipeline over the operands of a command line.

use super::MESSAGES;
use super::config::{Config, lossy};
use super::failure::{Failure, Kind, output_failure};
use super::signals::Signals;
use crate::error::{Error, Warning};
use crate::filter::Filter;
use crate::input::source::{self, Operand, Source};
use crate::pipeline::{Consumer, Ending, Pipeline};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Reads all operands, or standard input, into `consumer`. `announce` is told each source's name
/// before it is read, `None` for standard input. Returns what would carry over to further input.
///
/// # Errors
/// An operand that cannot be opened, an interrupt, output that cannot be written.
pub fn read<C: Consumer>(
    config: &Config,
    signals: &Signals,
    consumer: &mut C,
    mut announce: impl FnMut(&mut C, Option<&[u8]>) -> io::Result<()>,
) -> Result<Ending, Failure> {
    let fresh = || {
        let filter = Filter::new(config.options, config.locale);
        let extra_lines = config.filters.is_empty();
        let pipeline = Pipeline::new(filter, extra_lines, Some(&signals.stop));
        if config.keep_nul { pipeline.keeping_nul() } else { pipeline }
    };
    let mut pipeline = fresh();
    let mut said = false;
    let mut read = |source: Source, consumer: &mut C| -> Result<(), Failure> {
        let name = source.name.clone();
        if config.apart {
            pipeline = fresh();
        }
        let error = pipeline.run(source, consumer).map_err(|error| output_failure(&error))?;
        if let Some(error) = error {
            // Half a text gives no verdict, and half a mailbox no category.
            if config.strict {
                let text = format!("{}: {error}", lossy(&name));
                return Err(Failure::new(Kind::Read, text));
            }
            MESSAGES.warning(&format!("{}: {error}, reading stopped there", lossy(&name)));
        }
        after_signals(signals, &mut said)
    };
    let mut announce = |consumer: &mut C, name: Option<&[u8]>| {
        announce(consumer, name).map_err(|error| output_failure(&error))
    };
    if config.operands.is_empty() {
        announce(consumer, None)?;
        read(source::standard_input(), consumer)?;
        return Ok(pipeline.ending());
    }
    let mut unlisted = 0;
    let mut warn = |warning: Warning| {
        unlisted += 1;
        MESSAGES.warning(&warning.0);
    };
    for operand in &config.operands {
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
                announce(consumer, Some(&source.name))?;
                read(source, consumer)?;
            }
            Operand::Folder(paths) => {
                for source in paths.iter().filter_map(|path| source::open_entry(path)) {
                    if signals.stopped() {
                        break;
                    }
                    announce(consumer, Some(&source.name))?;
                    read(source, consumer)?;
                }
            }
        }
    }
    if config.strict && unlisted > 0 {
        return Err(Failure::silent(Kind::NoInput));
    }
    Ok(pipeline.ending())
}

/// Says which signal ended reading, if one did.
///
/// # Errors
/// An interrupt: nothing is to be written.
pub fn after_signals(signals: &Signals, said: &mut bool) -> Result<(), Failure> {
    if signals.interrupted() {
        MESSAGES.signal("caught interrupt request, exiting");
        return Err(Failure::silent(Kind::Interrupted));
    }
    if signals.stopped() && !std::mem::replace(said, true) {
        MESSAGES.signal("caught termination request, ignoring further input");
    }
    Ok(())
}
