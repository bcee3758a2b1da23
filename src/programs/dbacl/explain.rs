// SPDX-License-Identifier: GPL-3.0-or-later
//! `--explain`: explains the verdict on a text, as text or as one HTML page.

use super::config::Config;
use super::failure::Failure;
use super::inputs;
use super::messages::print;
use super::signals::Signals;
use crate::sets::classify::explain::Recorder;
use dbacl_cli::output::Output;

/// Explains the verdict on the inputs, taken as one text.
pub(super) fn run(
    config: Config,
    is_html: bool,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let Config { mut reading, models, .. } = config;
    let options = reading.read_options();
    let mut recorder = Recorder::new(models).naming(options.reads_mail());
    let mut reader = inputs::reader(&reading, &options, signals);
    inputs::read(&reading, signals, &mut reader, &mut recorder, |recorder, name| {
        recorder.start_source(name);
        Ok(())
    })?;
    let explained = recorder.explain();
    let explanation = explained.explanation;
    let page = if is_html { explanation.html() } else { explanation.text() };
    print(output, &page)?;
    let status = u8::try_from(explained.best + 1).unwrap_or(u8::MAX);
    Ok(if reading.strict { 0 } else { status })
}
