// SPDX-License-Identifier: GPL-3.0-or-later
//! A document after the filters. Filtering mail takes longer than cutting it into words and does
//! not depend on the tokenizer, so a document that is read several times needs to be filtered only
//! once.

use super::cutter::Cutter;
use super::sink::{FeatureSink, LineState};
use crate::model::medium::Medium;
use crate::token::Feature;
use std::io;

/// The lines of a document that are to be cut into tokens, and where its headers end.
#[derive(Debug, Clone, Default)]
pub struct FilteredText {
    bytes: Vec<u8>,
    /// Where each line ends, and what it became.
    lines: Vec<(usize, LineState)>,
}

impl FilteredText {
    /// The lines with their properties. Of the lines that the filters dropped, only those that
    /// begin or end a header block are here, and they are empty.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&[u8], LineState)> {
        let mut from = 0;
        self.lines
            .iter()
            .map(move |&(end, state)| (&self.bytes[std::mem::replace(&mut from, end)..end], state))
    }
}

impl FeatureSink for FilteredText {
    fn feature(&mut self, _: Feature<'_>) {}

    fn text(&mut self, line: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        if state.kept {
            self.bytes.extend_from_slice(line);
        } else if self.lines.last().is_some_and(|(_, last)| last.in_header == state.in_header) {
            return Ok(());
        }
        self.lines.push((self.bytes.len(), LineState { is_late: false, ..state }));
        Ok(())
    }

    fn cut(&mut self, _: &mut Vec<u8>, _: Medium, _: &mut Cutter) -> io::Result<()> {
        Ok(())
    }
}
