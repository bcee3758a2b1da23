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
//! Connections are admitted by peer (`admission`), and messages kept by peer (`budget`); `rights`
//! says who may teach whom. What a protocol's bytes mean is in pure functions that the fuzz targets
//! call; the loops around them only read, call and write. Whatever goes wrong, the mail goes on: a
//! verdict that cannot be made is told in the log and in the mail's header, and is never mistaken
//! for a verdict.

#![warn(missing_docs)]

pub mod admission;
pub mod arf;
pub mod budget;
pub mod client;
pub mod config;
pub mod engine;
pub mod headers;
pub mod history;
pub mod http;
pub mod listen;
pub mod log;
pub mod measures;
pub mod memory;
pub mod milter;
pub mod models;
pub mod opensmtpd;
pub mod options;
mod privileges;
pub mod program;
pub mod rights;
pub mod spamc;
pub mod status;
pub mod teacher;
pub mod users;
pub mod verdict;
