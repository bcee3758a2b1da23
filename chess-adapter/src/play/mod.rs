// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses moves, from the game, the classifier's scores and the settings.

pub mod choose;
pub mod classifier;
pub mod engine;
pub mod interrupts;
pub mod models;
pub mod practice;
pub mod searching;
pub mod settings;
pub mod style;
pub mod why;
