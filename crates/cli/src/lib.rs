// SPDX-License-Identifier: GPL-3.0-or-later
//! What all programs share: parsing of command lines, messages, results as JSON, progress,
//! settings, servers, exit statuses, the end without memory, and the version. Nothing here
//! depends on what the programs do.

#![warn(missing_docs)]

#[cfg(feature = "arguments")]
pub mod arguments;
pub mod closed;
pub mod folders;
pub mod getopt;
pub mod json;
pub mod last_resort;
#[cfg(feature = "listen")]
pub mod listen;
pub mod names;
pub mod output;
pub mod progress;
#[cfg(feature = "settings")]
pub mod settings;
pub mod status;
pub mod table;
pub mod terminal;

/// The version of the originals whose behaviour the programs keep.
pub const COMPATIBLE: &str = "1.14.1";

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
