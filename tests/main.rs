// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real programs, from outside.

mod cli;
mod damaged;
mod faults;
mod golden;
mod interface;
mod properties;
mod signature;
mod support;
mod tutorial;
