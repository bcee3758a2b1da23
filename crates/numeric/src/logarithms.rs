// SPDX-License-Identifier: GPL-3.0-or-later
//! Logarithms of counts, most of which are small.

use super::elementary::log;

/// Counts below this are remembered.
const KEPT: usize = 256;

/// Natural logarithms of whole numbers. Those of small numbers are worked out once and kept.
#[derive(Debug, Clone)]
pub struct CountLogs {
    /// NaN where not worked out yet.
    known: [f64; KEPT],
}

impl Default for CountLogs {
    fn default() -> Self {
        Self { known: [f64::NAN; KEPT] }
    }
}

impl CountLogs {
    /// `log(count)` of a whole number that is not negative, nats.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    pub fn of(&mut self, count: f64) -> f64 {
        match self.known.get_mut(count as usize) {
            Some(known) if !known.is_nan() => *known,
            Some(unknown) => {
                *unknown = log(count);
                *unknown
            }
            None => log(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_or_not_they_are_the_same() {
        let mut logs = CountLogs::default();
        for count in [0.0, 1.0, 255.0, 256.0, 16_777_216.0, 1.0, 0.0, 255.0] {
            assert_eq!(logs.of(count).to_bits(), log(count).to_bits(), "{count}");
        }
    }
}
