// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks ahead by a search.

use std::time::Duration;

use chess_search::{Found, Limits, Request, Searcher};
use dbacl_numeric::elementary::log2;
use shakmaty::Move;

use super::Engine;
use crate::play::choose::{self, Scored};
use crate::play::searching::Waiting;

/// Number of half-moves at the beginning of a game in which a drawn move may be up to [`BLUNDER`]
/// worse than the best.
const VARIED: usize = 10;

/// Centipawns that not to draw is worth if the engine plays to win.
const CONTEMPT: i32 = 50;

/// Centipawns that make a blunder.
const BLUNDER: u32 = 100;

/// Centipawns that a move that is drawn may be worse than the best one, later on.
const DRAWN: u32 = 20;

impl Engine {
    /// Centipawns that a move may be worse than the best one for the classifier to choose it. Draws
    /// in the opening only keep away from blunders, so that they are as varied as the games
    /// learned.
    pub(super) fn margin(&self) -> u32 {
        let least = match (self.randomised, self.game.plies()) {
            (false, _) => 0,
            (true, ..VARIED) => BLUNDER,
            (true, _) => DRAWN,
        };
        self.settings.search_margin.max(least)
    }

    /// Looks ahead from the game's position, at the moves of this list.
    pub(super) fn look_deep(
        &mut self,
        list: &[Scored],
        mut limits: Limits,
        margin: u32,
        waiting: Waiting,
        progress: &mut dyn FnMut(&Found),
    ) -> Found {
        limits.overhead = Duration::from_millis(u64::from(self.settings.move_overhead));
        let megabytes = self.settings.hash as usize;
        let mut searcher = self.searcher.take().unwrap_or_else(|| match &self.evaluation {
            Some(evaluation) => Searcher::by(evaluation.clone(), megabytes),
            None => Searcher::new(megabytes),
        });
        let interrupts = self.interrupts.clone();
        let stop = || {
            interrupts.is_stopped()
                || match waiting {
                    Waiting::No => false,
                    Waiting::UntilNextLine => interrupts.is_line_waiting(),
                    Waiting::UntilStop | Waiting::UntilPonderHit => interrupts.is_overtaken(),
                }
        };
        let pondering = || waiting == Waiting::UntilPonderHit && !interrupts.is_ponder_hit();
        let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
        let bonus = odds_bonus(list, self.settings.search_odds);
        let request = Request {
            history: self.game.earlier_keys(),
            moves: &moves,
            bonus: if margin == 0 { &bonus } else { &[] },
            advice: self.advice.as_ref(),
            contempt: CONTEMPT * self.aim().sign(),
            margin: i32::try_from(margin).unwrap_or(0),
            lines: self.settings.multi_pv as usize,
            stop: &stop,
            pondering: &pondering,
            endgames: &|position| self.endgames.probe(position),
            ..Request::new(self.game.position(), limits)
        };
        let found = searcher.search(&request, progress);
        self.searcher = Some(searcher);
        found
    }
}

/// For each move how many centipawns it has to be better to be chosen before the likeliest one,
/// negative, where a bit of the odds counts as so many.
fn odds_bonus(list: &[Scored], centipawns: f64) -> Vec<i32> {
    let shares = choose::shares(list, 1.0);
    let best = shares.first().copied().unwrap_or(1.0);
    let bonus = |share: &f64| {
        let bits = log2((share / best).max(f64::MIN_POSITIVE));
        #[expect(clippy::cast_possible_truncation, reason = "held within a pawn")]
        let bonus = (centipawns * bits).clamp(-MOST_ODDS, 0.0).round() as i32;
        bonus
    };
    shares.iter().map(bonus).collect()
}

/// The most centipawns that odds may count.
const MOST_ODDS: f64 = 50.0;

/// Positions with values beyond this count as won or lost: there the best move is played, whatever
/// its probability.
const DECIDED: i32 = 600;

/// The moves that are about as good as the best one found, in the classifier's order.
pub(super) fn among_best(list: &[Scored], found: &Found, margin: u32) -> Vec<Scored> {
    let top = found.lines.first().map_or(0, |best| best.value.centipawns());
    let margin = if top.abs() > DECIDED { 0 } else { i32::try_from(margin).unwrap_or(0) };
    let good: Vec<Move> = found
        .lines
        .iter()
        .filter(|l| l.value.centipawns() >= top - margin)
        .filter_map(|l| l.moves.first().copied())
        // Without a margin the move that was found first is taken.
        .take(if margin == 0 { 1 } else { usize::MAX })
        .collect();
    let kept: Vec<Scored> =
        list.iter().filter(|s| good.contains(&s.completion.m)).cloned().collect();
    if kept.is_empty() { list.to_vec() } else { kept }
}
