// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks ahead: by a search, or by scoring the replies to each move.

use std::time::Duration;

use anyhow::Result;
use chess_search::{Classical, Found, Limits, Request, Searcher};
use dbacl_numeric::elementary::{exp2, log2};
use shakmaty::Move;

use super::Engine;
use crate::play::book::Count;
use crate::play::choose::{self, Scored};
use crate::play::interrupts::Interrupts;
use crate::play::models::Voice;
use crate::play::searching::{BookAdvice, Waiting};
use crate::play::tables::Both;
use crate::text::game::{Completion, Game};

/// Number of half-moves at the beginning of a game in which a drawn move may be up to [`BLUNDER`]
/// worse than the best.
const VARIED: usize = 10;

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
        let mut searcher = self
            .searcher
            .take()
            .unwrap_or_else(|| Searcher::new(self.settings.hash, Box::new(Classical::default())));
        if let Some(evaluation) = &self.evaluation {
            let goal = self.style_goal.unwrap_or(self.settings.goal);
            let purpose = evaluation.purpose(self.game.position(), goal);
            if self.purpose != Some(purpose) {
                match evaluation.make(purpose) {
                    Ok(made) => searcher.set_evaluation(made),
                    Err(error) => _ = self.notes.insert(format!("{error:#}")),
                }
                self.purpose = Some(purpose);
            }
        }
        let interrupts = self.interrupts.clone();
        let stop = || {
            interrupts.is_stopped()
                || match waiting {
                    Waiting::No => false,
                    Waiting::UntilNextLine => interrupts.is_line_waiting(),
                    Waiting::UntilStop | Waiting::UntilPonderHit => interrupts.has_ended(),
                }
        };
        let pondering = || waiting == Waiting::UntilPonderHit && !interrupts.is_ponder_hit();
        let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
        let bonus = odds_bonus(list, self.settings.search_odds);
        let weight = self.settings.book_weight;
        let suggestions: Vec<(Move, Count)> = match weight > 0.0 {
            true => self.suggestions().iter().filter_map(|b| Some((b.m, b.count?))).collect(),
            false => Vec::new(),
        };
        let advice =
            BookAdvice::new(self.book.as_ref(), self.game.position(), &suggestions, weight);
        let endgames = Both { distances: self.distances.as_ref(), values: self.tables.as_ref() };
        let has_endgames = self.distances.is_some() || self.tables.is_some();
        let request = Request {
            history: self.game.earlier_keys(),
            moves: &moves,
            bonus: if margin == 0 { &bonus } else { &[] },
            margin: i32::try_from(margin).unwrap_or(0),
            lines: self.settings.multi_pv,
            stop: &stop,
            pondering: &pondering,
            advice: (weight > 0.0).then_some(&advice as &dyn chess_search::Advice),
            endgames: has_endgames.then_some(&endgames as &dyn chess_search::Endgames),
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
    let Some(best) = found.lines.first() else { return list.to_vec() };
    let top = best.value.centipawns();
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

/// Scores every completion by the lines that extend it by each legal reply (spec chess 9.7); `None`
/// when stopped.
pub(super) fn look_ahead(
    voice: &mut Voice,
    game: &Game,
    completions: &[Completion],
    hard_minimum: bool,
    interrupts: &Interrupts,
) -> Result<Option<Vec<f64>>> {
    let mut scores = Vec::with_capacity(completions.len());
    for completion in completions {
        if interrupts.is_stopped() {
            return Ok(None);
        }
        let mut after = game.clone();
        after.play(completion.m);
        let replies = after.completions();
        if replies.is_empty() {
            scores.push(if completion.mates { f64::MIN } else { f64::MAX });
            continue;
        }
        let line = after.gameline();
        let lines: Vec<String> = replies.iter().map(|r| format!("{line} {}", r.word)).collect();
        let replies = voice.line_scores(game.plies(), &lines)?;
        scores.push(soft_minimum(&replies, hard_minimum));
    }
    Ok(Some(scores))
}

/// `-log2 sum 2^-s`, or the plain minimum.
pub(super) fn soft_minimum(scores: &[f64], hard: bool) -> f64 {
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
    if hard { best } else { best - log2(scores.iter().map(|s| exp2(best - s)).sum()) }
}
