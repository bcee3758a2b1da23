// SPDX-License-Identifier: GPL-3.0-or-later
//! Chooses a move: book, voice, search and rules, one after the other.

use std::sync::atomic::Ordering::SeqCst;

use anyhow::Result;
use chess_search::{Found, Limits, after_move, exchange_value};
use shakmaty::{Move, Position};

use super::looking_ahead::among_best;
use super::{Choice, Engine, Trouble};
use crate::play::choose::{self, Scored};
use crate::play::searching::Allowance;
use crate::play::style::Aim;

use chess_tables::book::BookMove;

/// Bits that an even exchange or a draw gains or loses if the game is played for something.
const EXCHANGE: f64 = 2.0;

impl Engine {
    /// Puts all legal completions in the classifier's order.
    pub(crate) fn rank(&mut self) -> Result<Vec<Scored>> {
        self.rank_by(&[], true)
    }

    fn rank_by(&mut self, only: &[Move], ahead: bool) -> Result<Vec<Scored>> {
        let mut completions = self.game.completions();
        completions.retain(|c| only.is_empty() || only.contains(&c.m));
        if completions.is_empty() {
            return Err(Trouble::NoMove.into());
        }
        let turn = self.game.turn();
        let voice = self.voices.get_mut(turn).as_mut().ok_or(Trouble::NoModel(turn))?;
        let scores = voice.scores(&self.game, &completions, ahead)?;
        let scored = |(completion, score)| Scored { completion, score };
        let mut list: Vec<Scored> = completions.into_iter().zip(scores).map(scored).collect();
        choose::sort(&mut list);
        Ok(list)
    }

    /// Chooses a move for the side to move within what the protocol allows; `progress` is shown
    /// what a search finds.
    pub(crate) fn choose(
        &mut self,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice> {
        self.answers += 1;
        self.thinks.store(true, SeqCst);
        let choice = self.choose_now(allowed, progress);
        if let Ok(choice) = &choice {
            self.count_book_move(choice);
        }
        self.thinks.store(false, SeqCst);
        choice
    }

    fn choose_now(
        &mut self,
        allowed: &Allowance,
        progress: &mut dyn FnMut(&Found),
    ) -> Result<Choice> {
        if let Some(choice) = self.book_choice(allowed) {
            return Ok(choice);
        }
        self.adapt_to_style()?;
        let rated = self.settings.rated_temperature();
        let limits = self.limits(allowed);
        // A search that chooses by itself takes the classifier's first scores: those that have
        // looked ahead would ask it about itself.
        let ranking = self.rank_by(&allowed.only, limits.is_none() || self.randomised)?;
        let ranking = self.by_aim(ranking);
        let mate =
            ranking.iter().find(|s| s.completion.mates).filter(|_| self.settings.mate_keyword);
        if let Some(mate) = mate {
            let (completion, special) = (mate.completion.clone(), Some("mate"));
            return Ok(Choice {
                completion,
                special,
                ranking,
                considered: Vec::new(),
                found: None,
            });
        }
        let mut list = self.filter(&ranking, limits.is_none());
        let found = limits.map(|limits| {
            let margin = self.margin();
            let found = self.look_deep(&list, limits, margin, allowed.waiting, progress);
            list = among_best(&list, &found, margin);
            found
        });
        let rule = if found.is_some() { choose::Rule::Basic } else { self.settings.rule };
        let candidates = choose::candidates(&list, rule);
        let temperature = rated.unwrap_or(self.settings.temperature);
        let chosen = if self.randomised || rated.is_some() {
            choose::draw(&list, &candidates, temperature, &mut self.random)
        } else {
            candidates[0]
        };
        let considered: Vec<Scored> = candidates.iter().map(|&i| list[i].clone()).collect();
        let completion = list[chosen].completion.clone();
        Ok(Choice { completion, special: None, ranking, considered, found })
    }

    /// The odds of moves as the aim changes them: even exchanges and draws become likelier or less
    /// likely.
    fn by_aim(&self, mut ranking: Vec<Scored>) -> Vec<Scored> {
        let bits = EXCHANGE * f64::from(self.aim().sign());
        if bits != 0.0 && self.has_odds() {
            for scored in &mut ranking {
                let m = scored.completion.m;
                let is_even = m.is_capture() && exchange_value(self.game.position(), m).abs() < 50;
                if is_even || self.draws_at_once(m) {
                    scored.score += bits;
                }
            }
            choose::sort(&mut ranking);
        }
        ranking
    }

    /// The limits of a search, unless the classifier alone chooses.
    fn limits(&self, allowed: &Allowance) -> Option<Limits> {
        let is_rated = self.settings.rated_temperature().is_some();
        let limits = || self.settings.search.limits(allowed, self.has_odds());
        (!is_rated).then(limits).flatten()
    }

    fn count_book_move(&mut self, choice: &Choice) {
        let special = choice.special.is_some_and(|special| special != "mate");
        let is_advised = self.advice.is_some() && choice.found.is_some();
        let m = choice.completion.m;
        if special || (is_advised && self.book_moves_here().iter().any(|b| b.m == m)) {
            let number = self.game.plies() / 2;
            self.book_moves.resize(self.book_moves.len().max(number + 1), 0);
            self.book_moves[number] += 1;
        }
    }

    fn book_choice(&mut self, allowed: &Allowance) -> Option<Choice> {
        let is_early = self.game.plies() / 2 + 1 < self.settings.book_from as usize;
        let only_advises = self.advice.is_some() && self.limits(allowed).is_some();
        if !self.settings.own_book || is_early || only_advises {
            return None;
        }
        let (mut moves, source) = self.openings.as_mut()?.advise(&self.game);
        moves.retain(|b| allowed.only.is_empty() || allowed.only.contains(&b.m));
        let chosen = if self.randomised {
            let weights: Vec<f64> = moves.iter().map(|b| b.weight).collect();
            choose::weighted(&weights, &mut self.random)?
        } else {
            0
        };
        let m = moves.get(chosen)?.m;
        let completion = self.game.completions().into_iter().find(|c| c.m == m)?;
        let (ranking, considered) = (Vec::new(), Vec::new());
        Some(Choice { completion, special: Some(source), ranking, considered, found: None })
    }

    /// The best move, where [`Engine::choose`] may draw one at random, within no limits.
    pub(crate) fn choose_best(&mut self) -> Result<Choice> {
        let randomised = std::mem::take(&mut self.randomised);
        let choice = self.choose(&Allowance::default(), &mut |_| {});
        self.randomised = randomised;
        choice
    }

    /// The book's moves here, best first.
    pub(crate) fn book_moves_here(&mut self) -> Vec<BookMove> {
        let openings = self.openings.as_mut();
        openings.map(|openings| openings.moves(&self.game)).unwrap_or_default()
    }

    /// Leaves out moves that endgame tables and, if it is on, draw avoidance exclude, unless no
    /// move would be left.
    fn filter(&mut self, ranking: &[Scored], avoiding_draws: bool) -> Vec<Scored> {
        let mut list = ranking.to_vec();
        let moves: Vec<Move> = list.iter().map(|s| s.completion.m).collect();
        let default = self.has_odds();
        let kept = self.endgames.best(self.game.position(), &moves, default);
        if let Some(missing) = kept.missing {
            self.notes.push(format!("endgame tables: {missing}"));
        }
        if let Some(good) = kept.moves {
            list.retain(|s| good.contains(&s.completion.m));
        }
        let lead = self.game.lead(self.game.turn());
        let avoids = match self.aim() {
            Aim::Hold => false,
            Aim::Win => true,
            Aim::Either => self.settings.avoid_draws.unwrap_or(default),
        };
        if avoiding_draws && avoids && lead >= 0 {
            let kept: Vec<Scored> =
                list.iter().filter(|s| !self.draws_at_once(s.completion.m)).cloned().collect();
            if !kept.is_empty() {
                list = kept;
            }
        }
        list
    }

    fn draws_at_once(&self, m: Move) -> bool {
        let after = after_move(self.game.position(), m);
        after.is_stalemate()
            || after.is_insufficient_material()
            || self.game.occurrences(&after) >= 1
    }
}
