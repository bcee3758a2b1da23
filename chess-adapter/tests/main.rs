// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real program, from outside.
#![cfg(unix)]

mod data;
mod dialogue;
mod interface;
mod learned;
mod mates;
mod practice;
mod process;
mod programs;
mod support;
