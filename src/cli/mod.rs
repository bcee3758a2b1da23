// SPDX-License-Identifier: GPL-3.0-or-later
//! The classic programs: from options to a configuration, one library call, and what is printed.
//!
//! One file or folder for each program.

pub mod bayesol;
pub mod dbacl;
pub mod hypex;
pub mod last_resort;

pub use dbacl_cli::{getopt, json, output, version};
