// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real programs, from outside.

mod access;
mod charsets;
mod choices;
mod citations;
mod cli;
mod counts;
mod damaged;
mod dependencies;
mod disguises;
mod faults;
mod files;
mod fitted_set;
mod folders;
mod general;
mod golden;
mod hostile;
mod interface;
mod languages;
mod mail_input;
mod mail_systems;
mod mails;
mod manual;
mod memory;
mod progress;
mod properties;
mod refit;
mod refit_faults;
mod release;
mod set_files;
mod sets;
mod setup;
mod signature;
mod strict;
mod systems;
mod tutorial;
