// SPDX-License-Identifier: GPL-3.0-or-later
//! The text itself in the output (`-a`, `-A`; spec text 8.3).

use crate::input::indent::take_blank;
use dbacl_cli::output::Output;
use std::io;

/// How input lines are shown, and which are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Echo {
    /// Show each line after a blank.
    pub append: bool,
    /// Read only lines that begin with a blank.
    pub indented: bool,
}

impl Echo {
    /// Shows a line as asked for; returns whether it is to be processed. With [`Self::indented`]
    /// the line loses its blank; other lines are shown with the `(null)` that dbacl 1.14.1 prints
    /// (case text/append-and-indent).
    pub(super) fn raw_line(self, line: &mut Vec<u8>, output: &mut Output) -> io::Result<bool> {
        let process = !self.indented || take_blank(line);
        if self.append {
            let out = output.buffer();
            if process {
                out.push(b' ');
                out.extend_from_slice(line);
            } else {
                out.extend_from_slice(line);
                out.extend_from_slice(b" (null)");
            }
            output.spill()?;
        }
        Ok(process)
    }
}
