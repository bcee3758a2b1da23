// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real program, from outside, and with the real Dovecot.

mod dovecot;
mod first;
mod interface;
mod kills;
mod letter;
mod model;
mod oauth;
mod rules;
mod servers;
