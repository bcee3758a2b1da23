// SPDX-License-Identifier: GPL-3.0-or-later
//! The three programs, and how each names things.

/// Which of the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Cross-validation.
    Cross,
    /// Train on error.
    Toe,
    /// Train on everything, in order.
    Foot,
}

impl Program {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cross => "mailcross",
            Self::Toe => "mailtoe",
            Self::Foot => "mailfoot",
        }
    }

    /// Base name of its log and plots. For the online simulations also the mode of the built-in
    /// filter and the wrapper's verb: `toe` learns from errors only, `foot` from every message.
    pub(super) const fn log(self) -> &'static str {
        match self {
            Self::Cross => "crossval",
            Self::Toe => "toe",
            Self::Foot => "foot",
        }
    }
}
