// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns from games: positions become groups of described moves of which one was played. The first
//! stage is fitted on most games, the second on those kept back.

use std::fmt;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::choices::{Fit, Groups, Judged, Quality, Settings};
use anyhow::{Result, ensure};

use crate::Games;
use crate::games::Place;
use crate::look::{Looker, Row};
use crate::odds::{describe, file};
use crate::second;
use crate::weights::Weights;
use crate::words::Words;

/// Positions that a thread describes at a time.
const CHUNK: usize = 64;

/// Chunks of a thread that may wait to be learned.
const WAITING: usize = 8;

/// Length of the first steps of the fit.
const RATE: f64 = 0.035;

/// Weights of at most this size are left out, nats: the file becomes smaller by a third.
const SMALLEST: f32 = 0.02;

/// What to learn, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most positions, drawn uniformly from all of all games; 0 for all.
    pub positions: usize,
    /// Seed of their order.
    pub seed: u64,
    /// Threads that describe moves and search; the result does not depend on them.
    pub threads: usize,
    /// Half-moves that the second stage looks ahead; 0 for no second stage.
    pub depth: usize,
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The file, which [`crate::Odds::new`] reads.
    pub file: Vec<u8>,
    /// Positions learned.
    pub positions: usize,
    /// What the first stage took of the time.
    pub first_took: Duration,
    /// Words that have a weight in the file.
    pub words: usize,
    /// The file's first stage on the positions of games kept back.
    pub first: Quality,
    /// The second stage there, with its depth; each position was classified by weights that had not
    /// seen its game.
    pub second: Option<(usize, Quality)>,
}

impl fmt::Display for Learned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "odds: {} positions learned, {} words", self.positions, self.words)?;
        let groups = self.first.tally.groups;
        if groups > 0 {
            write!(
                out,
                "\non {groups} positions of games kept back: {}",
                self.first.describe("move")
            )?;
        }
        if let Some((depth, quality)) = &self.second {
            write!(out, "\nlooking ahead {depth} half-moves: {}", quality.describe("move"))?;
        }
        Ok(())
    }
}

/// Has several threads make something of each chunk of items, each with tools of its own, and
/// hands what they made to `take` in the order of the chunks.
fn in_order<Item: Sync, Tools, T: Send>(
    items: &[Item],
    (threads, chunk): (usize, usize),
    tools: impl Fn() -> Tools + Sync,
    make: impl Fn(&mut Tools, &[Item]) -> T + Sync,
    mut take: impl FnMut(T),
) {
    let threads = threads.max(1);
    std::thread::scope(|scope| {
        let (tools, make) = (&tools, &make);
        let start = |number: usize| {
            let (made, queue) = mpsc::sync_channel(WAITING);
            scope.spawn(move || {
                let mut tools = tools();
                let mut own = items.chunks(chunk).skip(number).step_by(threads);
                own.try_for_each(|chunk| made.send(make(&mut tools, chunk)))
            });
            queue
        };
        let queues: Vec<_> = (0..threads).map(start).collect();
        queues.iter().cycle().map_while(|queue| queue.recv().ok()).for_each(&mut take);
    });
}

/// Learns both stages; `done` is shown how many positions of how many were dealt with, where one
/// that is searched counts as many as take as long.
///
/// # Errors
///
/// No position is left to learn from.
pub fn learn(games: &Games, options: &Options, done: &dyn Fn(u64, u64)) -> Result<Learned> {
    let begun = Instant::now();
    let [places, kept_back] = games.places(options.positions, options.seed);
    ensure!(!places.is_empty(), "no position to learn from");
    let settings = Settings { rate: RATE, groups: places.len() as u64, ..Settings::default() };
    let mut fit = Fit::new(settings);
    let mut scores = Vec::new();
    let mut judged = Judged::default();
    // A search takes about three times as long from one half-move to the next.
    let price = match u32::try_from(options.depth.min(9)) {
        Ok(depth @ 1..) => 3u64.pow(depth),
        _ => 0,
    };
    let all = places.len() as u64 + kept_back.len() as u64 * (1 + price);
    let mut so_far = 0;
    let mut advance = |count: u64| {
        so_far += count;
        done(so_far, all);
    };
    let described = |words: &mut Words, chunk: &[Place]| {
        let mut groups = Groups::default();
        for replayed in chunk.iter().map(|&place| games.replay(place)) {
            describe(replayed.turn(), replayed.played, words, &mut groups);
        }
        groups
    };
    let threads = (options.threads, CHUNK);
    in_order(&places, threads, Words::default, described, |groups| {
        groups.iter().for_each(|group| fit.learn(group));
        advance(groups.len() as u64);
    });
    let first_took = begun.elapsed();
    let large = fit.weights().filter(|(_, weight)| weight.abs() > SMALLEST);
    let first_stage = Weights::pack(large, None);
    drop(fit);
    in_order(&kept_back, threads, Words::default, described, |groups| {
        for group in groups.iter() {
            let own = first_stage.scores(group);
            judged.push(&own, group.chosen);
            scores.push(own);
        }
        advance(groups.len() as u64);
    });
    let calibration = judged.calibration();
    let first = judged.quality(calibration);
    let second = (options.depth > 0 && !kept_back.is_empty()).then(|| {
        let mut rows: Vec<Row> = Vec::with_capacity(kept_back.len());
        for own in &mut scores {
            calibration.apply(own);
        }
        let scored: Vec<(Place, Vec<f64>)> = kept_back.iter().copied().zip(scores).collect();
        let look = |looker: &mut Looker, chunk: &[(Place, Vec<f64>)]| -> Vec<Row> {
            chunk.iter().map(|(place, own)| looker.row(games, *place, own)).collect()
        };
        let tools = || Looker::new(options.depth);
        in_order(&scored, (options.threads, 4), tools, look, |found| {
            advance(found.len() as u64 * price);
            rows.extend(found);
        });
        second::fit(&rows, options.depth)
    });
    let (second, judged) = second.unzip();
    Ok(Learned {
        file: file(&first_stage, calibration, None, second.as_ref()),
        positions: places.len(),
        first_took,
        words: first_stage.count,
        first,
        second: judged.map(|quality| (options.depth, quality)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::games;
    use crate::{Odds, Part, Turn};
    use shakmaty::{Chess, Move, Position as _};

    #[test]
    fn what_is_learned_does_not_depend_on_threads() {
        let games = games(60, 60);
        let learn = |threads: usize| {
            let options = Options { positions: 400, seed: 1, threads, depth: 2 };
            learn(&games, &options, &|_, _| ()).expect("learned")
        };
        let learned = learn(1);
        assert_eq!(learned.positions, 400);
        assert!(learned.first.tally.groups > 50);
        let told = learned.to_string();
        assert!(told.starts_with("odds: 400 positions learned, "), "{told}");
        // A uniform choice costs some 5 bits.
        assert!(learned.first.tally.mean_bits() < 4.6, "{told}");
        assert!(learn(3).file == learned.file, "other bytes");
        // What the file says of a position is what a reader of it finds, reasons included.
        let mut odds = Odds::new(learned.file.clone()).expect("a model");
        let start = [Chess::default()];
        let moves: Vec<Move> = start[0].legal_moves().into_iter().collect();
        let turn = Turn { positions: &start, past: &[], moves: &moves };
        let scores = odds.scores(turn);
        assert!((scores.iter().map(|score| score.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
        let reasons = odds.reasons(turn, &[0, 7]);
        let sum = |parts: &[Part]| parts.iter().map(|part| part.1).sum::<f64>();
        assert!((sum(&reasons[0]) - sum(&reasons[1]) - scores[0] + scores[7]).abs() < 0.7);
        for at in (0..learned.file.len()).step_by(4_999).chain([0, 20, 70, 120, 150, 400]) {
            let mut damaged = learned.file.clone();
            damaged[at] ^= 1;
            assert!(Odds::new(damaged).is_err(), "byte {at}");
        }
        assert!(Odds::new(learned.file[..100].to_vec()).is_err());
    }
}
