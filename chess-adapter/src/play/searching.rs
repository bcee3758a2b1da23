// SPDX-License-Identifier: GPL-3.0-or-later
//! When and how to look ahead: the option, and the protocols' limits.

use std::time::Duration;

use anyhow::{Result, bail};
use chess_search::Limits;
use shakmaty::Move;

/// Whether to look ahead before the classifier chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// As the model folder has it, and only when the protocol gives a limit.
    Auto,
    #[default]
    Off,
    /// Always, within the protocol's limits; a second a move where it gives none.
    On,
    /// This number of half-moves.
    Depth(usize),
    /// This time for each move.
    Time(Duration),
}

/// The time for a move if there is no limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);
/// Longest time that the option takes.
const MOST_TIME: Duration = Duration::from_secs(86_400);

impl SearchMode {
    /// Reads `auto`, `on`, `off`, a number of half-moves, or a time such as `500ms` or `0.5s`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let time = |number: &str, unit: f64| -> Result<Self> {
            let seconds = number.trim().parse::<f64>().unwrap_or(f64::NAN) * unit;
            if seconds > 0.0 && seconds <= MOST_TIME.as_secs_f64() {
                Ok(Self::Time(Duration::from_secs_f64(seconds)))
            } else {
                bail!("no time: {text:?}")
            }
        };
        match text.to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "off" | "false" | "0" => Ok(Self::Off),
            "on" | "true" => Ok(Self::On),
            other => match (other.strip_suffix("ms"), other.strip_suffix('s')) {
                (Some(number), _) => time(number, 0.001),
                (None, Some(number)) => time(number, 1.0),
                (None, None) => match other.parse() {
                    Ok(depth @ 1..=100) => Ok(Self::Depth(depth)),
                    _ => bail!("neither a depth from 1 to 100 nor a time such as 500ms: {text:?}"),
                },
            },
        }
    }

    /// The manner of playing that it stands for.
    pub(crate) const fn manner(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "human",
            Self::On | Self::Depth(_) | Self::Time(_) => "strong",
        }
    }

    /// What a manner of playing asks for.
    pub(crate) fn of_manner(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "human" => Ok(Self::Off),
            "strong" => Ok(Self::On),
            _ => bail!("neither human nor strong nor auto: {text:?}"),
        }
    }

    /// The limits of a search; `None` for not searching. `by_itself` says whether the model folder
    /// asks for it.
    pub(crate) fn limits(self, allowed: &Allowance, by_itself: bool) -> Option<Limits> {
        let mut limits = allowed.limits.clone();
        // One node is what interfaces ask of engines that shall not search.
        if limits.nodes.is_some_and(|nodes| nodes <= 1) {
            return None;
        }
        let waits = allowed.waiting != Waiting::No;
        match self {
            Self::Off => return None,
            Self::Auto if !by_itself || (limits.is_endless() && !waits) => return None,
            Self::On if limits.is_endless() && !waits => limits.move_time = Some(DEFAULT_TIME),
            Self::Auto | Self::On => {}
            Self::Depth(depth) => limits.depth = Some(limits.depth.map_or(depth, |d| d.min(depth))),
            Self::Time(time) if waits => {
                // Time counts once the answer is wanted.
                limits.move_time.get_or_insert(time);
            }
            Self::Time(time) => {
                let (soft, _) = limits.budget();
                limits.move_time = Some(soft.map_or(time, |soft| soft.min(time)));
            }
        }
        Some(limits)
    }
}

/// Until when the answer must be held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The answer is given as soon as it is found.
    #[default]
    No,
    /// Until the protocol says `stop`.
    UntilStop,
    /// Until the protocol says `ponderhit` or `stop`.
    UntilPonderHit,
    /// Until the next line comes, as in analysis.
    UntilNextLine,
}

/// What a protocol allows for one move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub limits: Limits,
    pub waiting: Waiting,
    /// The moves to choose from; none for all legal ones.
    pub only: Vec<Move>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_search::Clock;

    #[test]
    fn modes_are_read() {
        for (text, mode) in [
            ("auto", SearchMode::Auto),
            ("OFF", SearchMode::Off),
            ("on", SearchMode::On),
            ("6", SearchMode::Depth(6)),
            ("500ms", SearchMode::Time(Duration::from_millis(500))),
            ("0.5s", SearchMode::Time(Duration::from_millis(500))),
        ] {
            assert_eq!(SearchMode::parse(text).expect(text), mode);
        }
        for text in ["", "x", "-1", "101", "0s", "nans", "1e30s", "5m"] {
            assert!(SearchMode::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_follow_option_and_protocol() {
        let half = Duration::from_millis(500);
        let none = Allowance::default();
        let limited = |limits| Allowance { limits, ..Allowance::default() };
        let timed = limited(Limits::time(half));
        let analysis = Allowance { waiting: Waiting::UntilNextLine, ..Allowance::default() };
        let one = limited(Limits { nodes: Some(1), ..Limits::default() });
        assert_eq!(SearchMode::Auto.limits(&timed, false), None);
        assert_eq!(SearchMode::Auto.limits(&none, true), None);
        assert_eq!(SearchMode::Auto.limits(&timed, true), Some(Limits::time(half)));
        assert_eq!(SearchMode::Auto.limits(&analysis, true), Some(Limits::default()));
        assert_eq!(SearchMode::Off.limits(&timed, true), None);
        assert_eq!(SearchMode::On.limits(&none, false), Some(Limits::time(DEFAULT_TIME)));
        assert_eq!(SearchMode::Depth(4).limits(&none, false), Some(Limits::depth(4)));
        for mode in [SearchMode::On, SearchMode::Depth(9), SearchMode::Auto] {
            assert_eq!(mode.limits(&one, true), None);
        }
        // A clock with little time left limits the move more than the option does.
        let clock = Clock { left: half, increment: Duration::ZERO, moves_to_go: None };
        let short = limited(Limits { clock: Some(clock), ..Limits::default() });
        let limits = SearchMode::Time(half).limits(&short, false).expect("searches");
        assert_eq!(limits.move_time, Some(half / 25));
    }
}
