// SPDX-License-Identifier: GPL-3.0-or-later
//! What learning and scoring share: settings, media and the digram model.

pub mod digram;
pub mod medium;
pub mod settings;
