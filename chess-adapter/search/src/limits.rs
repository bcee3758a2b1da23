// SPDX-License-Identifier: GPL-3.0-or-later
//! The limits of a search.

use std::time::Duration;

/// A clock for the whole game or for a number of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub left: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves to make until time is added; `None` if never.
    pub moves_to_go: Option<u32>,
}

/// The limits of a search, which ends at the first one that it reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Half-moves to look ahead.
    pub depth: Option<usize>,
    /// Positions to look at.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// The clock to be managed.
    pub clock: Option<Clock>,
    /// Look for a mate in so many moves.
    pub mate: Option<u32>,
    /// Time between the answer and the moment when the clock stops.
    pub overhead: Duration,
}

/// Number of moves among which a clock without a number of moves is shared.
const SHARE: u32 = 25;

impl Limits {
    /// A limit of the depth alone, in half-moves.
    pub fn depth(depth: usize) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }

    /// A limit of the time for the move alone.
    pub fn time(time: Duration) -> Self {
        Self { move_time: Some(time), ..Self::default() }
    }

    /// Whether there is no limit, so that only a signal ends the search.
    pub fn is_endless(&self) -> bool {
        *self == Self { overhead: self.overhead, ..Self::default() }
    }

    /// The time after which no new depth is begun, and the time after which the search ends at
    /// once.
    ///
    /// The first is three quarters of the increment plus a share of the time left: a twenty-fifth,
    /// or with `n` moves until the next control one part in `n` + 1, where `n` is at most 25. The
    /// second is five times as much. Both are at most a third of the time left, or three quarters
    /// before the last move of a control. With a time for the move, both are this time without the
    /// overhead.
    pub fn budget(&self) -> (Option<Duration>, Option<Duration>) {
        if let Some(time) = self.move_time {
            let time = time.saturating_sub(self.overhead).max(Duration::from_millis(1));
            return (Some(time), Some(time));
        }
        let Some(clock) = self.clock else { return (None, None) };
        let left = clock.left.saturating_sub(self.overhead);
        let moves = clock.moves_to_go.map_or(SHARE, |n| n.clamp(1, SHARE) + 1);
        let share = left / moves + clock.increment * 3 / 4;
        // The last move before a control may use all time left but a reserve.
        let most = if clock.moves_to_go == Some(1) { left * 3 / 4 } else { left / 3 };
        let soft = share.min(most).max(Duration::from_millis(1));
        let hard = (share * 5).min(most).max(Duration::from_millis(1));
        (Some(soft), Some(hard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(left: u64, increment: u64, moves_to_go: Option<u32>) -> Limits {
        let clock = Clock {
            left: Duration::from_millis(left),
            increment: Duration::from_millis(increment),
            moves_to_go,
        };
        Limits { clock: Some(clock), overhead: Duration::from_millis(30), ..Limits::default() }
    }

    #[test]
    fn clocks_never_run_out() {
        for (left, increment, moves) in [
            (10_000, 100, None),
            (60, 0, None),
            (5, 100, None),
            (1000, 0, Some(1)),
            (900, 0, Some(40)),
        ] {
            let (soft, hard) = clock(left, increment, moves).budget();
            let (soft, hard) = (soft.expect("a clock"), hard.expect("a clock"));
            assert!(soft <= hard, "{left}");
            assert!(
                hard <= Duration::from_millis(left.saturating_sub(30).max(1)),
                "{left}: {hard:?}"
            );
        }
        // Even the last move before a control leaves a quarter.
        let (soft, hard) = clock(1030, 0, Some(1)).budget();
        assert_eq!([soft, hard], [500, 750].map(|time| Some(Duration::from_millis(time))));
        // A whole game at the increment's pace: the time left never falls to 0.
        let mut left = 10_000u64;
        for _ in 0..400 {
            let (_, hard) = clock(left, 100, None).budget();
            let used = u64::try_from(hard.expect("a clock").as_millis()).expect("short") + 20;
            assert!(used < left, "{left} {used}");
            left = left - used + 100;
        }
    }
}
