// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs: from options to a configuration, one library call, and what is printed.
//!
//! One file for each program, and what they share.

pub mod getopt;
