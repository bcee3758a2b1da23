// SPDX-License-Identifier: GPL-3.0-or-later
//! The program as users run it, and what is written about it.

mod interface;
mod serve;
mod verbs;
