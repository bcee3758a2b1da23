// SPDX-License-Identifier: GPL-3.0-or-later
//! How many games a side has won, drawn and lost, and what share of the points that is.

use std::fmt;

use shakmaty::Color;

/// Games by their results, for one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Results {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

impl Results {
    /// Counts a game for the side `own`; without a winner it was drawn.
    pub fn add(&mut self, winner: Option<Color>, own: Color) {
        match winner {
            None => self.drawn += 1,
            Some(winner) if winner == own => self.won += 1,
            Some(_) => self.lost += 1,
        }
    }

    /// These games and others.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            won: self.won + other.won,
            drawn: self.drawn + other.drawn,
            lost: self.lost + other.lost,
        }
    }

    /// All games.
    pub const fn games(self) -> u32 {
        self.won + self.drawn + self.lost
    }

    /// Wins and half the draws.
    pub fn points(self) -> f64 {
        f64::from(self.won) + f64::from(self.drawn) / 2.0
    }

    /// Wins less losses, per decisive game; 0 without decisive games.
    pub fn balance(self) -> f64 {
        let [won, lost] = [self.won, self.lost].map(f64::from);
        (won - lost) / (won + lost).max(1.0)
    }

    /// The share of points, and Wilson's interval of it, 95 %.
    fn share(self) -> (f64, [f64; 2]) {
        const DEVIATE: f64 = 1.96;
        let games = f64::from(self.games().max(1));
        let (share, more) = (self.points() / games, DEVIATE * DEVIATE / games);
        let middle = (share + more / 2.0) / (1.0 + more);
        let half = DEVIATE * (share * (1.0 - share) / games + more / games / 4.0).sqrt();
        (share, [-1.0, 1.0].map(|sign| middle + sign * half / (1.0 + more)))
    }

    /// Whether the side is stronger, not by chance.
    pub fn is_better(self) -> bool {
        self.share().1[0] > 0.5
    }

    /// The share of points and its interval, in per cent.
    pub fn in_percent(self) -> String {
        let (share, [low, high]) = self.share();
        format!("{:.1} % ({:.1} to {:.1})", 100.0 * share, 100.0 * low, 100.0 * high)
    }
}

impl fmt::Display for Results {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "+{} ={} -{}", self.won, self.drawn, self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        let results = Results { won: 60, drawn: 20, lost: 20 };
        assert_eq!(results.in_percent(), "70.0 % (60.4 to 78.1)");
        assert!(results.is_better() && !Results { won: 50, drawn: 0, lost: 40 }.is_better());
    }
}
