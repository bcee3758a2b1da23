// SPDX-License-Identifier: GPL-3.0-or-later
//! What learning and scoring share: settings, media, the digram
//! model and document statistics.

pub mod digram;
pub mod medium;
pub mod moments;
pub mod settings;
