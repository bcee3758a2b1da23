// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses a move: book, voice, search and rules, one after the other.

use chess_search::Found;
use shakmaty::{Move, Position};

use super::looking_ahead::{among_best, look_ahead};
use super::{Choice, Engine, Source, Trouble, index};
use crate::play::book::{self, BookMove, Count};
use crate::play::choose::{self, Scored};
use crate::play::endgames;
use crate::play::models::Voice;
use crate::play::searching::Allowance;
use crate::text::game::Completion;

impl Engine {
    /// Puts all legal completions, or those asked for, in the classifier's order.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn rank(
        &mut self,
        only: Option<&[Move]>,
        reply_depth: usize,
    ) -> Result<Vec<Scored>, Trouble> {
        let mut completions = self.game.completions();
        if let Some(only) = only {
            completions.retain(|c| only.contains(&c.m));
        }
        if completions.is_empty() {
            return Err(Trouble::NoMove);
        }
        let turn = self.game.turn();
        let voice = self.voices[index(turn)].as_mut().ok_or(Trouble::NoModel(turn))?;
        let mut scores = voice.scores(&self.game, &completions)?;
        let mut is_ahead = false;
        if reply_depth > 0 && voice.reads_half_moves() {
            let ahead = look_ahead(
                voice,
                &self.game,
                &completions,
                self.settings.hard_minimum,
                &self.interrupts,
            )?;
            scores = ahead.unwrap_or(scores);
            is_ahead = true;
        }
        if self.settings.book_weight > 0.0 {
            let mut known = self.suggestions();
            if is_ahead {
                self.add_positions_met(&completions, &mut known);
            }
            book::adjust(&known, &completions, self.settings.book_weight, &mut scores);
        }
        let mut list: Vec<Scored> = completions
            .into_iter()
            .zip(scores)
            .map(|(completion, score)| Scored { completion, score })
            .collect();
        choose::sort(&mut list);
        Ok(list)
    }

    /// Chooses a move for the side to move; `depth` half-moves may be looked at.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn choose(
        &mut self,
        only: Option<&[Move]>,
        depth: Option<usize>,
    ) -> Result<Choice, Trouble> {
        self.choose_within(only, &Allowance::depth(depth), &mut |_| {})
    }

    /// Chooses a move for the side to move within what the protocol allows; `progress` is told what
    /// a search finds.
    ///
    /// # Errors
    ///
    /// No legal move, no model, or the classifier failed.
    pub fn choose_within(
        &mut self,
        only: Option<&[Move]>,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice, Trouble> {
        if let Some(choice) = self.book_choice(only) {
            return Ok(choice);
        }
        self.adapt_to_style()?;
        let depth = allowed.limits.depth;
        let replies =
            depth.map_or(usize::MAX, |d| d.saturating_sub(1)).min(self.settings.look_ahead);
        let ranking = self.rank(only, replies)?;
        let mut found = None;
        let mut source = Source::Classifier;
        let mate =
            ranking.iter().find(|s| s.completion.mates).filter(|_| self.settings.mate_keyword);
        let (completion, considered) = if let Some(mate) = mate {
            source = Source::Mate;
            (mate.completion.clone(), Vec::new())
        } else {
            let turn = index(self.game.turn());
            let limits = self.settings.search.limits(allowed, self.searches[turn]);
            let mut list = self.filter(&ranking, limits.is_none());
            if let Some(limits) = limits {
                let margin = self.margin();
                let best = self.look_deep(&list, limits, margin, allowed.waiting, progress);
                list = among_best(&list, &best, margin);
                found = Some(best);
                source = Source::Search;
            }
            let rule = if found.is_some() { choose::Rule::Basic } else { self.settings.rule };
            let candidates = choose::candidates(&list, rule);
            let chosen = if self.randomised {
                choose::draw(&list, &candidates, self.settings.temperature, &mut self.random)
            } else {
                candidates[0]
            };
            let considered: Vec<Scored> = candidates.iter().map(|&i| list[i].clone()).collect();
            (list[chosen].completion.clone(), considered)
        };
        let looks_ahead =
            self.voices[index(self.game.turn())].as_ref().is_some_and(Voice::reads_half_moves);
        let depth = match &found {
            Some(found) => found.depth.max(1),
            None if looks_ahead => 1 + replies,
            None => 1,
        };
        Ok(Choice { completion, source, ranking, depth, considered, found })
    }

    fn book_choice(&mut self, only: Option<&[Move]>) -> Option<Choice> {
        if !self.settings.own_book {
            return None;
        }
        let completions = self.game.completions();
        let mut moves = self.book.as_ref()?.moves(self.game.position());
        moves.retain(|b| only.is_none_or(|only| only.contains(&b.m)));
        let chosen = if self.randomised {
            let weights: Vec<f64> = moves.iter().map(|b| b.weight).collect();
            self.random.weighted(&weights)?
        } else {
            0
        };
        let m = moves.get(chosen)?.m;
        let completion = completions.into_iter().find(|c| c.m == m)?;
        Some(Choice {
            completion,
            source: Source::Book,
            ranking: Vec::new(),
            depth: 1,
            considered: Vec::new(),
            found: None,
        })
    }

    /// The best move, where [`Engine::choose`] may draw one at random.
    ///
    /// # Errors
    ///
    /// As for [`Engine::choose`].
    pub fn choose_best(&mut self) -> Result<Choice, Trouble> {
        let randomised = std::mem::take(&mut self.randomised);
        let choice = self.choose(None, None);
        self.randomised = randomised;
        choice
    }

    /// The book's moves here, best first.
    pub fn book_moves(&self) -> Vec<BookMove> {
        self.book.as_ref().map(|book| book.moves(self.game.position())).unwrap_or_default()
    }

    /// The moves of the book, or of the nearest cluster where the book knows none.
    pub fn suggestions(&self) -> Vec<BookMove> {
        let known = self.book_moves();
        match &self.clusters {
            Some(clusters) if known.is_empty() => clusters.suggestions(self.game.position()),
            _ => known,
        }
    }

    /// Adds completions that lead to a position of the book by a move that the book does not know.
    /// Their statistics are those of the position reached, seen from the other side.
    fn add_positions_met(&self, completions: &[Completion], known: &mut Vec<BookMove>) {
        let Some(book) = &self.book else { return };
        for completion in completions {
            if known.iter().any(|b| b.m == completion.m) {
                continue;
            }
            let mut after = self.game.position().clone();
            after.play_unchecked(completion.m);
            let counts = book.moves(&after).into_iter().filter_map(|reply| reply.count);
            let sum = counts.fold(Count::default(), |mut sum, count| {
                sum.merge(count);
                sum
            });
            if sum.games() > 0 {
                let weight = f64::from(sum.games());
                known.push(BookMove { m: completion.m, weight, count: Some(sum.turned()) });
            }
        }
    }

    /// Leaves out moves that endgame tables and, if it is on, draw avoidance exclude, unless no
    /// move would be left.
    fn filter(&mut self, ranking: &[Scored], avoiding_draws: bool) -> Vec<Scored> {
        let mut list = ranking.to_vec();
        if let Some(tables) = &self.distances {
            let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
            if let Some(good) = endgames::best(tables, self.game.position(), &moves) {
                list.retain(|s| good.contains(&s.completion.m));
            }
        }
        if let Some(tables) = &self.tables {
            let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
            let kept = tables.best(self.game.position(), &moves);
            if let Some(missing) = kept.missing {
                self.notes.insert(format!("endgame tables: {missing}"));
            }
            if let Some(good) = kept.moves {
                list.retain(|s| good.contains(&s.completion.m));
            }
        }
        let lead = self.game.material_balance() * if self.game.turn().is_white() { 1 } else { -1 };
        let default = self.avoids_draws[index(self.game.turn())];
        if avoiding_draws && self.settings.avoid_draws.unwrap_or(default) && lead >= 0 {
            let kept: Vec<Scored> =
                list.iter().filter(|s| !self.draws_at_once(s.completion.m)).cloned().collect();
            if !kept.is_empty() {
                list = kept;
            }
        }
        list
    }

    fn draws_at_once(&self, m: Move) -> bool {
        let mut after = self.game.position().clone();
        after.play_unchecked(m);
        after.is_stalemate()
            || after.is_insufficient_material()
            || self.game.occurrences_after(m) >= 1
    }
}
