// SPDX-License-Identifier: GPL-3.0-or-later
//! A document after the filters. Filtering mail takes longer than cutting it into words and does
//! not depend on the tokenizer, so a document that is read several times needs to be filtered only
//! once.

use super::LineState;
use super::pipeline::Consumer;
use dbacl_model::medium::Medium;
use std::io;

/// The lines of a document that are to be cut into tokens, and where its headers end.
#[derive(Debug, Clone, Default)]
pub struct FilteredText {
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    end: usize,
    medium: Medium,
    kept: bool,
    in_header: bool,
}

impl FilteredText {
    /// The lines with their properties. Of the lines that the filters dropped, only those that
    /// begin or end a header block are here, and they are empty.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&[u8], LineState)> {
        let mut from = 0;
        self.lines.iter().map(move |line| {
            let text = &self.bytes[std::mem::replace(&mut from, line.end)..line.end];
            let Line { medium, kept, in_header, .. } = *line;
            (text, LineState { kept, medium, in_header, is_late: false })
        })
    }
}

impl Consumer for FilteredText {
    fn raw_line(&mut self, _: &mut Vec<u8>) -> io::Result<bool> {
        Ok(true)
    }

    fn text(&mut self, line: &mut Vec<u8>, state: LineState) -> io::Result<()> {
        let LineState { kept, medium, in_header, .. } = state;
        if kept {
            self.bytes.extend_from_slice(line);
        } else if self.lines.last().is_some_and(|last| last.in_header == in_header) {
            return Ok(());
        }
        self.lines.push(Line { end: self.bytes.len(), medium, kept, in_header });
        Ok(())
    }

    fn end_of_line(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn end_of_source(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
