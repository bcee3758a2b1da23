// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns evaluations: from games with perturbed parameters, or from positions of games.

pub mod parameters;
pub mod positions;
pub mod selfplay;
pub mod show;
pub mod texts;
