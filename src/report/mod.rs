// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores → text.

pub mod cformat;
