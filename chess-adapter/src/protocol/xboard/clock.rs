// SPDX-License-Identifier: GPL-3.0-or-later
//! Times as the XBoard protocol writes them.

use std::time::Duration;

/// How the clocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves until time is added again, 0 for the whole game.
    pub moves: u32,
    /// Time for them.
    pub base: Duration,
    /// Time added after each move.
    pub increment: Duration,
}

impl TimeControl {
    /// Reads `MPS BASE INC`; BASE is minutes or minutes:seconds, INC seconds.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let moves = words.next()?.parse().ok()?;
        let base = read_time(words.next()?, 60.0)?;
        let increment = read_time(words.next()?, 1.0)?;
        Some(Self { moves, base, increment })
    }
}

/// Reads `A:B`, minutes and seconds, or a single number of the given unit in seconds.
pub fn read_time(text: &str, unit: f64) -> Option<Duration> {
    let seconds = match text.split_once(':') {
        Some((minutes, seconds)) => {
            minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?
        }
        None => text.parse::<f64>().ok()? * unit,
    };
    (0.0..1e7).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
