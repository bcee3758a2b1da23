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
//! Once a week the connection may add a [`letter`] to the inbox.
//!
//! The tasks beside this are [`setup`] (with [`discover`]), which writes the settings, and those of
//! [`first`], which make a filter from the account ([`harvest`]) and report what it would have
//! done.
//!
//! A look compares each watched folder with the state: which messages are gone, which are new, and
//! which have other flags. What that means is decided by [`moves`], which knows neither IMAP nor
//! filters. Only when all lessons of a look are learned is the new state written; a look that fails
//! anywhere is made again, and a lesson that is learned twice is learned once.

#![warn(missing_docs)]

pub mod config;
pub mod connection;
pub mod discover;
pub mod first;
pub mod folder_names;
pub mod harvest;
pub mod letter;
pub mod look;
pub mod moves;
pub mod options;
pub mod program;
pub mod session;
pub mod setup;
pub mod state;
pub mod teach;
pub mod transport;
pub mod watch;
pub mod week;
