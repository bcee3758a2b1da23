// SPDX-License-Identifier: GPL-3.0-or-later
//! A server that classifies mail by the filters of many users, for mail servers that already speak
//! a protocol with such servers. It is made of the library's public face and of no other part of
//! it.
//!
//! ```text
//! spamc, Exim ───→ spamc ──────┐
//! rspamc, Exim ──→ http ───────┤          users           models
//! Postfix ───────→ milter ─────┼→ engine ─────→ folder ──────→ filter ─→ verdict ─→ headers
//! OpenSMTPD ─────→ opensmtpd ──┘     └─→ teacher (learns and forgets)
//! ```
//!
//! Connections are admitted by peer (`dbacl_cli::listen`), messages kept by peer (`budget`);
//! `rights` says who may teach whom. What a protocol's bytes mean is in pure functions that the
//! fuzz targets call; the loops around them only read, call and write. Whatever goes wrong, the
//! mail goes on: a verdict that cannot be made is reported in the log and in the mail's header, and
//! is never mistaken for a verdict.

#![warn(missing_docs)]

mod arf;
mod asked;
mod budget;
mod client;
mod config;
mod engine;
mod headers;
mod history;
pub mod http;
mod listen;
mod log;
mod measures;
mod memory;
pub mod milter;
mod models;
pub mod opensmtpd;
mod options;
mod packed;
mod pages;
mod privileges;
mod program;
mod rights;
pub mod spamc;
mod status;
mod teacher;
mod users;
mod verdict;

pub use config::Config;
pub use dbacl_cli::listen::Peer;
pub use engine::Engine;
pub use listen::Protocol;
pub use log::Log;
pub use memory::{of_judging, of_learning};
pub use options::Options;
pub use program::main;
