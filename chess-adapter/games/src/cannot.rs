// SPDX-License-Identifier: GPL-3.0-or-later
//! What could not be done with a file or a program: the context of an error of the system.

use std::fmt;
use std::path::PathBuf;

/// See the [module](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cannot {
    /// Read a file or folder.
    Read(PathBuf),
    /// Make or write a file or folder.
    Write(PathBuf),
    /// Run a program.
    Run(PathBuf),
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, path) = match self {
            Self::Read(path) => ("read", path),
            Self::Write(path) => ("write", path),
            Self::Run(path) => ("run", path),
        };
        write!(f, "cannot {what} {}", path.display())
    }
}
