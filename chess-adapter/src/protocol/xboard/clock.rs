// SPDX-License-Identifier: GPL-3.0-or-later
//! Times as the XBoard protocol writes them.

use std::time::Duration;

use chess_search::Clock;

/// Reads the clock of XBoard's command `level MPS BASE INC`.
///
/// - `MPS`: after so many moves BASE is added again; 0 if it is for the whole game
/// - `BASE`: minutes, or minutes:seconds
/// - `INC`: seconds that are added after each move
pub fn read_level(text: &str) -> Option<Clock> {
    let mut words = text.split_whitespace();
    let moves = words.next()?.parse().ok()?;
    let left = read_time(words.next()?, 60.0)?;
    let increment = read_time(words.next()?, 1.0)?;
    Some(Clock { left, increment, moves_to_go: (moves > 0).then_some(moves) })
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
