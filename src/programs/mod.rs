// SPDX-License-Identifier: GPL-3.0-or-later
//! The classic programs. Each turns options into a configuration, calls the library, and prints the
//! results.
//!
//! One file or folder for each program.

pub mod bayesol;
mod chernoff;
pub mod dbacl;
pub mod hypex;
pub mod mailinspect;
pub mod memory;
