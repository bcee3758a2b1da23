// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real server, from outside.

mod first_lesson;
mod hostile;
mod interface;
mod memory;
mod protocols;
mod roles;
mod servers;
mod wire;
