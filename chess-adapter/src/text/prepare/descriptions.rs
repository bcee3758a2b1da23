// SPDX-License-Identifier: GPL-3.0-or-later
//! Descriptions of moves that were played, and of others that could have been.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Result;
use shakmaty::{Chess, Color, Position};

use super::output::Out;
use super::{Describe, Describe2, Gameline};
use crate::features::rich::Scene;
use crate::random::Random;
use crate::text::pgn::GameResult;

/// A game kept for its descriptions.
struct Kept {
    number: usize,
    start: Chess,
    moves: Vec<shakmaty::Move>,
}

/// Descriptions of the winners' moves, played and not played.
pub struct Descriptions {
    options: Describe,
    random: Random,
    /// Played and not played, White's pair first.
    pub files: [[Out; 2]; 2],
    games: [usize; 2],
    /// The games kept so far of each colour.
    samples: [Vec<Kept>; 2],
    line: String,
}

impl Descriptions {
    pub fn new(options: Describe, files: [[Out; 2]; 2]) -> Self {
        let random = Random::from_seed(options.seed);
        let samples = [Vec::new(), Vec::new()];
        Self { options, random, files, games: [0; 2], samples, line: String::new() }
    }

    /// Describes the winner's moves, at once or, if only so many games are wanted, when all were
    /// seen: then a uniform sample of the games is kept, whatever their order in the files
    /// (reservoir sampling, Vitter's algorithm R).
    pub fn take(&mut self, game: &Gameline, result: Option<GameResult>) -> Result<()> {
        let side = match result {
            Some(GameResult::WhiteWins) => Color::White,
            Some(GameResult::BlackWins) => Color::Black,
            _ => return Ok(()),
        };
        let index = usize::from(side.is_black());
        if self.options.games == 0 {
            return self.describe(index, &game.start, &game.moves);
        }
        self.games[index] += 1;
        let kept = Kept {
            number: self.games[index],
            start: game.start.clone(),
            moves: game.moves.clone(),
        };
        let sample = &mut self.samples[index];
        if sample.len() < self.options.games {
            sample.push(kept);
        } else {
            let place = self.random.below(kept.number);
            if let Some(old) = sample.get_mut(place) {
                *old = kept;
            }
        }
        Ok(())
    }

    /// Describes the games of the sample in their order.
    pub fn finish(&mut self) -> Result<()> {
        for index in 0..2 {
            let mut sample = std::mem::take(&mut self.samples[index]);
            sample.sort_unstable_by_key(|kept| kept.number);
            for kept in &sample {
                self.describe(index, &kept.start, &kept.moves)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, index: usize, start: &Chess, moves: &[shakmaty::Move]) -> Result<()> {
        let side = if index == 0 { Color::White } else { Color::Black };
        let mut position = start.clone();
        for (ply, &m) in moves.iter().enumerate() {
            if position.turn() == side {
                self.write(index, 0, &position, m, ply)?;
                let mut others = position.legal_moves();
                others.retain(|o| *o != m);
                for _ in 0..self.options.alternatives.min(others.len()) {
                    let drawn = others.swap_remove(self.random.below(others.len()));
                    self.write(index, 1, &position, drawn, ply)?;
                }
            }
            position.play_unchecked(m);
        }
        Ok(())
    }

    fn write(
        &mut self,
        side: usize,
        kind: usize,
        at: &Chess,
        m: shakmaty::Move,
        ply: usize,
    ) -> Result<()> {
        self.line.clear();
        self.options.template.describe(at, m, ply, &mut self.line);
        self.line.push('\n');
        self.files[side][kind].write_all(self.line.as_bytes())?;
        Ok(())
    }
}

/// Descriptions of many words: a uniform sample of positions, whoever is to move and whatever the
/// result.
pub struct ManyDescriptions {
    options: Describe2,
    random: Random,
    /// Played and not played.
    pub files: [Out; 2],
    seen: usize,
    /// The positions kept so far: number, game, half-moves before.
    sample: Vec<(usize, Arc<Kept>, usize)>,
    line: String,
}

impl ManyDescriptions {
    pub fn new(options: Describe2, files: [Out; 2]) -> Self {
        let random = Random::from_seed(options.seed);
        Self { options, random, files, seen: 0, sample: Vec::new(), line: String::new() }
    }

    pub fn take(&mut self, game: &Gameline) -> Result<()> {
        let kept =
            Arc::new(Kept { number: 0, start: game.start.clone(), moves: game.moves.clone() });
        for ply in 0..kept.moves.len() {
            self.seen += 1;
            let limit = self.options.positions;
            let item = (self.seen, Arc::clone(&kept), ply);
            if limit == 0 || self.sample.len() < limit {
                self.sample.push(item);
            } else {
                let place = self.random.below(self.seen);
                if let Some(old) = self.sample.get_mut(place) {
                    *old = item;
                }
            }
        }
        if self.options.positions == 0 {
            self.finish()?;
        }
        Ok(())
    }

    /// Describes the positions of the sample in their order.
    pub fn finish(&mut self) -> Result<()> {
        let mut sample = std::mem::take(&mut self.sample);
        sample.sort_unstable_by_key(|(number, ..)| *number);
        let mut current: Option<(Arc<Kept>, Chess, usize)> = None;
        for (_, game, ply) in sample {
            let (position, played) = match current.take() {
                Some((same, position, played)) if Arc::ptr_eq(&same, &game) => (position, played),
                _ => (game.start.clone(), 0),
            };
            let mut position = position;
            for &m in &game.moves[played..ply] {
                position.play_unchecked(m);
            }
            self.describe(&position, &game.moves[..ply], game.moves[ply])?;
            current = Some((game, position, ply));
        }
        Ok(())
    }

    fn describe(
        &mut self,
        position: &Chess,
        history: &[shakmaty::Move],
        played: shakmaty::Move,
    ) -> Result<()> {
        let mut others = position.legal_moves();
        others.retain(|o| *o != played);
        if others.is_empty() {
            return Ok(());
        }
        let scene = Scene::new(position, history, history.len());
        self.write(0, &scene, played)?;
        for _ in 0..self.options.alternatives.min(others.len()) {
            let drawn = others.swap_remove(self.random.below(others.len()));
            self.write(1, &scene, drawn)?;
        }
        Ok(())
    }

    fn write(&mut self, kind: usize, scene: &Scene<'_>, m: shakmaty::Move) -> Result<()> {
        self.line.clear();
        scene.describe(&scene.prospect(m), &mut self.line);
        self.line.push('\n');
        self.files[kind].write_all(self.line.as_bytes())?;
        Ok(())
    }
}
