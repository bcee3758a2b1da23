// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses moves, from the game, the classifier's scores and the settings.

pub(crate) mod choose;
pub(crate) mod classifier;
pub(crate) mod engine;
pub(crate) mod interrupts;
pub(crate) mod models;
pub(crate) mod practice;
pub(crate) mod searching;
pub(crate) mod settings;
pub(crate) mod style;
pub(crate) mod why;
