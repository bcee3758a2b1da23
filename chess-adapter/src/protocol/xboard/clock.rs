// SPDX-License-Identifier: GPL-3.0-or-later
//! Limits of moves as the XBoard protocol writes them.

use std::time::Duration;

use chess_search::{Clock, Limits};

/// The limits that the interface has set.
#[derive(Debug, Default)]
pub(super) struct Times {
    depth: Option<usize>,
    /// The clock at the beginning, or the time for each move; `None` if the interface set neither.
    control: Option<Clock>,
    move_time: Option<Duration>,
    /// The engine's clock, as the interface last sent it.
    left: Option<Duration>,
}

impl Times {
    /// Does what the command says; what cannot be read changes nothing.
    pub(super) fn set(&mut self, command: &str, text: &str) {
        match command {
            "level" => {
                if let Some(control) = read_level(text) {
                    (self.control, self.move_time, self.left) = (Some(control), None, None);
                }
            }
            "st" => {
                if let Some(time) = read_time(text, 1.0) {
                    (self.move_time, self.control) = (Some(time), None);
                }
            }
            "time" => {
                if let Ok(centiseconds) = text.parse::<u64>() {
                    self.left = Some(Duration::from_millis(centiseconds.saturating_mul(10)));
                }
            }
            _ => self.depth = text.parse().ok().or(self.depth),
        }
    }

    pub(super) const fn begin_game(&mut self) {
        (self.depth, self.left) = (None, None);
    }

    /// The limits of the next move, after so many half-moves.
    pub(super) fn limits(&self, plies: usize) -> Limits {
        let clock = self.control.map(|control| {
            let played = u32::try_from(plies / 2).unwrap_or(0);
            let moves_to_go = control.moves_to_go.map(|moves| moves - played % moves);
            Clock { left: self.left.unwrap_or(control.left), moves_to_go, ..control }
        });
        Limits { depth: self.depth, move_time: self.move_time, clock, ..Limits::default() }
    }
}

/// Reads the clock of XBoard's command `level MPS BASE INC`.
///
/// - `MPS`: after so many moves BASE is added again; 0 if it is for the whole game
/// - `BASE`: minutes, or minutes:seconds
/// - `INC`: seconds that are added after each move
fn read_level(text: &str) -> Option<Clock> {
    let mut words = text.split_whitespace();
    let moves = words.next()?.parse().ok()?;
    let left = read_time(words.next()?, 60.0)?;
    let increment = read_time(words.next()?, 1.0)?;
    Some(Clock { left, increment, moves_to_go: (moves > 0).then_some(moves) })
}

/// Reads `A:B`, minutes and seconds, or a single number of the given unit in seconds.
fn read_time(text: &str, unit: f64) -> Option<Duration> {
    let seconds = match text.split_once(':') {
        Some((minutes, seconds)) => {
            minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?
        }
        None => text.parse::<f64>().ok()? * unit,
    };
    (0.0..1e7).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
