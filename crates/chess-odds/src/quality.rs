// SPDX-License-Identifier: GPL-3.0-or-later
//! How good the odds of moves are.

use dbacl_choices::{Calibration, Judged, Tally};
use std::fmt;

/// How well positions were classified that were not learned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Choices and bits.
    pub tally: Tally,
    /// Expected calibration error, from 0 to 1.
    pub calibration_error: f64,
}

impl Quality {
    /// Of scores that are used as this calibration says.
    pub fn of(judged: &Judged, calibration: Calibration) -> Self {
        let calibration_error = judged.calibration_error(calibration);
        Self { tally: judged.tally(calibration), calibration_error }
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.tally;
        write!(
            out,
            "first choice {:.1} %, among five {:.1} %, {:.3} bits a move, calibration error \
             {:.1} %",
            tally.percent(tally.first),
            tally.percent(tally.first_five),
            tally.mean_bits(),
            100.0 * self.calibration_error
        )
    }
}
