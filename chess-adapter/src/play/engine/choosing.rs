// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses a move: book, voice, search and rules, one after the other.

use std::sync::atomic::Ordering::SeqCst;

use anyhow::Result;
use chess_search::Found;
use shakmaty::{Move, Position};

use super::looking_ahead::among_best;
use super::{Choice, Engine, Source, Trouble};
use crate::play::choose::{self, Scored};
use crate::play::searching::Allowance;

use chess_tables::book::BookMove;

impl Engine {
    /// Puts all legal completions, or those asked for, in the classifier's order.
    pub fn rank(&mut self, only: Option<&[Move]>) -> Result<Vec<Scored>, Trouble> {
        self.rank_by(only, true)
    }

    fn rank_by(&mut self, only: Option<&[Move]>, ahead: bool) -> Result<Vec<Scored>, Trouble> {
        let mut completions = self.game.completions();
        if let Some(only) = only {
            completions.retain(|c| only.contains(&c.m));
        }
        if completions.is_empty() {
            return Err(Trouble::NoMove);
        }
        let turn = self.game.turn();
        let voice = self.voices.get_mut(turn).as_mut().ok_or(Trouble::NoModel(turn))?;
        let scores = voice.scores(&self.game, &completions, ahead)?;
        let mut list: Vec<Scored> = completions
            .into_iter()
            .zip(scores)
            .map(|(completion, score)| Scored { completion, score })
            .collect();
        choose::sort(&mut list);
        Ok(list)
    }

    /// Chooses a move for the side to move within what the protocol allows; `progress` is shown
    /// what a search finds.
    pub fn choose(
        &mut self,
        only: Option<&[Move]>,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice, Trouble> {
        self.answers += 1;
        let thinks = self.practice.as_ref().map(|practice| practice.thinks.clone());
        let thinks = thinks.unwrap_or_default();
        thinks.store(true, SeqCst);
        let choice = self.choose_now(only, allowed, progress);
        thinks.store(false, SeqCst);
        choice
    }

    fn choose_now(
        &mut self,
        only: Option<&[Move]>,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice, Trouble> {
        if let Some(choice) = self.book_choice(only) {
            return Ok(choice);
        }
        self.adapt_to_style()?;
        let rated = self.settings.rated_temperature();
        let limits = match rated {
            Some(_) => None,
            None => self.settings.search.limits(allowed, self.has_odds()),
        };
        // A search that chooses by itself takes the classifier's first scores: those that have
        // looked ahead would ask it about itself.
        let ranking = self.rank_by(only, limits.is_none() || self.randomised)?;
        let mut found = None;
        let mut source = Source::Classifier;
        let mate =
            ranking.iter().find(|s| s.completion.mates).filter(|_| self.settings.mate_keyword);
        let (completion, considered) = if let Some(mate) = mate {
            source = Source::Mate;
            (mate.completion.clone(), Vec::new())
        } else {
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
            let temperature = rated.unwrap_or(self.settings.temperature);
            let chosen = if self.randomised || rated.is_some() {
                choose::draw(&list, &candidates, temperature, &mut self.random)
            } else {
                candidates[0]
            };
            let considered: Vec<Scored> = candidates.iter().map(|&i| list[i].clone()).collect();
            (list[chosen].completion.clone(), considered)
        };
        let depth = found.as_ref().map_or(1, |found| found.depth.max(1));
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
            choose::weighted(&weights, &mut self.random)?
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

    /// The best move, where [`Engine::choose`] may draw one at random, within no limits.
    pub fn choose_best(&mut self) -> Result<Choice, Trouble> {
        let randomised = std::mem::take(&mut self.randomised);
        let choice = self.choose(None, &Allowance::default(), &mut |_| {});
        self.randomised = randomised;
        choice
    }

    /// The book's moves here, best first.
    pub fn book_moves(&self) -> Vec<BookMove> {
        self.book.as_ref().map(|book| book.moves(self.game.position())).unwrap_or_default()
    }

    /// Leaves out moves that endgame tables and, if it is on, draw avoidance exclude, unless no
    /// move would be left.
    fn filter(&mut self, ranking: &[Scored], avoiding_draws: bool) -> Vec<Scored> {
        let mut list = ranking.to_vec();
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
        let lead = self.game.lead(self.game.turn());
        let default = self.has_odds();
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
