// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs: from options to a configuration, one library call, and what is printed.
//!
//! One file or folder for each program, and what they share.

pub mod bayesol;
pub mod dbacl;
pub mod getopt;
pub mod json;
pub mod output;
