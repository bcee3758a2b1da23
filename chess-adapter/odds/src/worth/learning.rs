// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns values from games: plays them, fits, and has the result play against the base.

use std::sync::Arc;

use chess_games::gameline::Gameline;
use chess_games::results::Results;
use chess_search::{Evaluate, after_move, key_of};
use dbacl_numeric::random::SplitMix64;
use shakmaty::{Chess, KnownOutcome, Position as _};

use super::Values;
use super::fit::{Fitted, Row, fit};
use super::games::{Pace, contest, is_quiet, many};
use super::kind::Kind;
use super::paper::Heuristic;

/// Games of a match as learning goes on, and of the one that decides.
pub(crate) const FRESH: usize = 600;
const CHOOSING: usize = 200;
/// Numbers of games after which the values play a match.
const SIZES: [usize; 8] = [100, 400, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];
/// One game in so many is kept back.
const KEPT_BACK: usize = 10;

/// Half-moves of the given games before players go on.
const BEGINNING: usize = 8;
/// The most positions of the given games that are learned, too.
const POSITIONS: usize = 300_000;

/// What is used of games that were given.
#[derive(Default)]
pub struct Given {
    /// Where games begin.
    pub starts: Vec<Chess>,
    /// Quiet positions from move seven on, and White's points in them.
    pub positions: Vec<(Chess, f32)>,
}

impl Given {
    /// Takes the beginning of a game, and one quiet position in `each`, none for 0.
    pub fn take(&mut self, game: &Gameline, each: usize, random: &mut SplitMix64) {
        let mut all = vec![game.start.clone()];
        for &m in &game.moves {
            all.push(after_move(&all[all.len() - 1], m));
        }
        if each > 0 && self.positions.len() < POSITIONS {
            let winner = game.result.and_then(KnownOutcome::winner);
            let points = winner.map_or(0.5, |winner| winner.fold_wb(1.0, 0.0));
            let late = all.iter().skip(12);
            let drawn = late.filter(|position| random.below(each) == 0 && is_quiet(position));
            self.positions.extend(drawn.map(|position| (position.clone(), points)));
        }
        self.starts.extend(all.get(BEGINNING).filter(|start| !start.is_game_over()).cloned());
    }
}

/// Positions with which games begin, each used for one purpose.
pub struct Openings {
    /// For games to learn from.
    pub learning: Vec<Chess>,
    /// For matches as learning goes on.
    pub choosing: Vec<Chess>,
    /// For the match that decides; they have chosen nothing.
    pub fresh: Vec<Chess>,
}

impl Openings {
    /// Deals these positions, those that are equal once; `None` if there are too few.
    pub fn deal(mut all: Vec<Chess>, seed: u64) -> Option<Self> {
        all.sort_by_cached_key(key_of);
        all.dedup_by_key(|position| key_of(position));
        SplitMix64::new(seed).shuffle(&mut all);
        let fresh = all.split_off(all.len() - (FRESH / 2).min(all.len() / 3));
        let choosing = all.split_off(all.len() - (CHOOSING / 2).min(all.len() / 3));
        let is_enough = !choosing.is_empty() && !fresh.is_empty();
        is_enough.then_some(Self { learning: all, choosing, fresh })
    }
}

/// What to learn.
pub struct Lesson<'a> {
    /// The kind of values.
    pub kind: Kind,
    /// The values to begin with.
    pub base: &'a [[f32; 2]],
    /// Games to play.
    pub games: usize,
    /// Decides all that is drawn at random.
    pub seed: u64,
    /// Quiet positions of other games, and White's points in them.
    pub positions: &'a [(Chess, f32)],
    /// The share of the usual spread of a kind that values may move; 1 if little is known of them.
    pub spread: f32,
}

/// Learns, and says how it goes; `None` if the values learned are not better than the base.
///
/// # Errors
///
/// Those of `say`.
pub fn learn<Error>(
    lesson: &Lesson<'_>,
    openings: &Openings,
    pace: &Pace<'_>,
    say: &mut dyn FnMut(&str) -> Result<(), Error>,
) -> Result<Option<Values>, Error> {
    let Lesson { kind, base, games, seed, .. } = *lesson;
    let against_base = |values: &[[f32; 2]], openings: &[Chess]| {
        let [own, other] = [values, base].map(|values| kind.evaluation(values));
        contest(openings, &kind.limits(), pace, &|_| [own.clone(), other.clone()])
    };
    let mut rows: Vec<Row> = Vec::new();
    for (number, (position, points)) in lesson.positions.iter().enumerate() {
        rows.push(kind.row(position, *points));
        keep_back(&mut rows, number % KEPT_BACK == 0);
    }
    let spread: Vec<f32> = kind.spread().iter().map(|usual| usual * lesson.spread).collect();
    let mut values = base.to_vec();
    let mut played = 0;
    for size in SIZES.into_iter().filter(|&size| size < games).chain([games]) {
        let players = |random: &mut SplitMix64| (kind.players(base, random), ());
        for (number, game) in
            many(played..size, seed, &openings.learning, &players, pace).into_iter().enumerate()
        {
            let points = game.winner.map_or(0.5, |winner| winner.fold_wb(1.0, 0.0));
            for (position, value) in &game.positions {
                let mut row = kind.row(position, points);
                row.found =
                    (kind == Kind::Terms).then(|| f32::from(i16::try_from(*value).unwrap_or(0)));
                rows.push(row);
                keep_back(&mut rows, (played + number) % KEPT_BACK == 0);
            }
        }
        played = size;
        let Fitted { values: learned, loss: [before, after] } = fit(&rows, base, &spread);
        values = learned;
        let mut line = format!(
            "{size} games, {} positions: {before:.4} nats a position kept back became {after:.4}",
            rows.len()
        );
        if kind == Kind::Paper {
            let random = against_random(&kind.evaluation(&values), &openings.choosing, seed);
            line += &format!("; against random heuristics {}", random.in_percent());
        }
        let results = against_base(&values, &openings.choosing).in_percent();
        say(&format!("{line}; against the base {results}"))?;
    }
    let results = against_base(&values, &openings.fresh);
    let (games, percent) = (results.games(), results.in_percent());
    say(&format!("{games} fresh games against the base: {percent}"))?;
    Ok(results.is_better().then_some(values))
}

fn keep_back(rows: &mut [Row], is_kept_back: bool) {
    if let Some(row) = rows.last_mut() {
        row.is_kept_back = is_kept_back;
    }
}

/// A match against perturbed heuristics of the paper.
pub fn against_random(own: &Arc<dyn Evaluate>, openings: &[Chess], seed: u64) -> Results {
    let base = Heuristic::default();
    contest(openings, &Kind::Paper.limits(), &Pace::full(), &|number| {
        let mut random = SplitMix64::new(seed ^ ((number as u64) << 32));
        [own.clone(), Arc::new(base.with(&Heuristic::drawn(&mut random)))]
    })
}
