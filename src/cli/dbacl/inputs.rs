// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs the pipeline over the operands of a command line.

use super::MESSAGES;
use super::config::{Config, lossy};
use super::failure::{Failure, Kind, output_failure};
use super::signals::Signals;
use crate::error::Warning;
use crate::filter::Filter;
use crate::input::source::{self, Operand, Source};
use crate::pipeline::{Consumer, Pipeline};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Reads all operands, or standard input, into `consumer`. `announce` is told each source's name
/// before it is read, `None` for standard input.
///
/// # Errors
/// An operand that cannot be opened, an interrupt, output that cannot be written.
pub fn read<C: Consumer>(
    config: &Config,
    signals: &Signals,
    consumer: &mut C,
    mut announce: impl FnMut(&mut C, Option<&[u8]>) -> io::Result<()>,
) -> Result<(), Failure> {
    let filter = Filter::new(config.options, config.locale);
    let extra_lines = config.filters.is_empty();
    let mut pipeline = Pipeline::new(filter, extra_lines, Some(&signals.stop));
    let mut said = false;
    let mut read = |source: Source, consumer: &mut C| -> Result<(), Failure> {
        let name = source.name.clone();
        let error = pipeline.run(source, consumer).map_err(|error| output_failure(&error))?;
        if let Some(error) = error {
            MESSAGES.warning(&format!("{}: {error}, reading stopped there", lossy(&name)));
        }
        if signals.interrupted() {
            MESSAGES.signal("caught interrupt request, exiting");
            return Err(Failure::silent(Kind::Interrupted));
        }
        if signals.stopped() && !said {
            said = true;
            MESSAGES.signal("caught termination request, ignoring further input");
        }
        Ok(())
    };
    let mut announce = |consumer: &mut C, name: Option<&[u8]>| {
        announce(consumer, name).map_err(|error| output_failure(&error))
    };
    if config.operands.is_empty() {
        announce(consumer, None)?;
        return read(source::standard_input(), consumer);
    }
    let mut warn = |warning: Warning| MESSAGES.warning(&warning.0);
    for operand in &config.operands {
        if signals.stopped() {
            break;
        }
        let opened = source::open(operand, &mut warn).map_err(|_| {
            let name = lossy(operand.as_bytes());
            Failure::new(Kind::NoInput, format!("couldn't open {name}"))
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
    Ok(())
}
