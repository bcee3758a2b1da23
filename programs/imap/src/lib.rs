// SPDX-License-Identifier: GPL-3.0-or-later
//! A client of an IMAP account that teaches a mail filter: a message that a person moves to the
//! junk folder is spam, one that a person takes out of there is ham, and one in a folder with a
//! label of the filter is learned with that label. It is made of the library's public face and of
//! no other part of it.
//!
//! ```text
//! server ─→ connection ─→ session ─→ look ─→ moves ─→ lessons ─→ teach ─→ filter
//!                                     ↑        ↓
//!                                    state (which mail is where, on disk)
//! ```
//!
//! Once a week the connection may add a `letter` to the inbox.
//!
//! The tasks beside this are `setup` (with `discover`), which writes the settings, and those of
//! `first`, which make a filter from the account (`harvest`) and report what it would have
//! done.
//!
//! A look compares each watched folder with the state: which messages are gone, which are new, and
//! which have other flags. What that means is decided by `moves`, which knows neither IMAP nor
//! filters. Only when all lessons of a look are learned is the new state written; a look that fails
//! anywhere is made again, and a lesson that is learned twice is learned once.

#![warn(missing_docs)]

mod config;
mod connection;
mod discover;
mod first;
mod folder_names;
mod harvest;
mod letter;
mod look;
mod moves;
mod options;
mod program;
mod session;
mod setup;
mod state;
mod teach;
mod transport;
mod watch;
mod week;

pub use config::Config;
pub use connection::Fault;
pub use folder_names::{from_imap, to_imap};
pub use look::{choose, look};
pub use moves::{Flags, Label};
pub use options::Options;
pub use program::main;
pub use session::{Credentials, Session};
pub use state::{Folder, Mail, NoState, State};
pub use teach::{Learn, teach};
pub use transport::Wire;
pub use week::WEEK;
