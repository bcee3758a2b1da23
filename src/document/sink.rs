// SPDX-License-Identifier: GPL-3.0-or-later
//! The trait for what takes the features of documents; it may also take part in the steps of
//! reading.

use super::cutter::Cutter;
use crate::mail::scanner::Holds;
use crate::model::medium::Medium;
use crate::token::Feature;
use std::io;

/// What a line became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineState {
    /// Whether its text is to be tokenised; a dropped line is left as the filter left it.
    pub kept: bool,
    /// The part of the document that it belongs to.
    pub medium: Medium,
    /// Whether a mail filter is in a header block after the line.
    pub in_header: bool,
    /// Whether it belongs to the message before, which the line read last has ended.
    pub is_late: bool,
}

/// Takes the features of documents.
///
/// Programs of this repository also take part in the steps of reading; those methods are hidden.
pub trait FeatureSink {
    /// A feature, in the order of the text.
    fn feature(&mut self, feature: Feature<'_>);

    /// A line as read, before anything else; it may be changed. Returns `false`
    /// if the line is to be left out: no other method sees it then.
    ///
    /// # Errors
    /// Ends the run.
    fn raw_line(&mut self, _line: &mut Vec<u8>) -> io::Result<bool> {
        Ok(true)
    }

    /// What sources hold, where they are mail: they are then read whatever form they have
    /// ([`crate::mail::scanner`]). Without it mail is read as the reading has it.
    fn holds(&self) -> Option<Holds> {
        None
    }

    /// The text of a line that is not empty, as the filters left it, before it is cut; lines that
    /// the filters dropped are shown as well.
    ///
    /// # Errors
    /// Ends the run.
    fn text(&mut self, _line: &[u8], _state: LineState, _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }

    /// Cuts a line of text. A sink that handles words faster than the texts of features, or that
    /// needs the line after it was cut, replaces this method.
    ///
    /// # Errors
    /// Ends the run.
    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        cutter.features(line, medium, &mut |feature| self.feature(feature));
        Ok(())
    }

    /// The end of a line, empty ones included; its case may have been folded.
    ///
    /// # Errors
    /// Ends the run.
    fn end_of_line(&mut self, _line: &[u8], _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }

    /// The end of a source.
    ///
    /// # Errors
    /// Ends the run.
    fn end_of_source(&mut self, _name: &[u8], _cutter: &mut Cutter) -> io::Result<()> {
        Ok(())
    }
}
