// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs: from options to a configuration, one library call, and what is printed.
//!
//! One file or folder for each program, and what they share.

pub mod bayesol;
pub mod dbacl;
pub mod eval;
pub mod evaluate;
pub mod getopt;
pub mod hypex;
pub mod json;
pub mod mailinspect;
pub mod output;

/// The version of the originals whose behaviour the programs keep.
const COMPATIBLE: &str = "1.14.1";

/// What `-V` prints: scripts read the compatible version from the first line.
pub fn version(program: &str) -> String {
    format!(
        "{program} version {COMPATIBLE}\n\
         This is {program} {}, a compatible successor.\n\
         It comes with ABSOLUTELY NO WARRANTY, and is licensed under the terms\n\
         of the GNU General Public License, version 3 or later.\n\n",
        env!("CARGO_PKG_VERSION")
    )
}
