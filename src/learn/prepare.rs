// SPDX-License-Identifier: GPL-3.0-or-later
//! Prepares the fit of an order: computes the reference weight of each feature and the sum of its
//! suffixes' weights (spec model 7.4).

use super::groups::Groups;
use super::orders::{Orders, Slots};
use super::state::LearningState;
use super::table::{AHEAD, Cell, FAR_AHEAD, Head, Place, Table};
use super::tokens::{TokenList, tokens_in};
use super::weights::SlotWeights;
use super::{Preload, Progress};
use crate::model::digram::DigramTable;
use crate::model::medium::Medium;
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;
use dbacl_numeric::quantize::QuantWeight;

/// Sets reference weights and suffix sums, order by order.
pub(super) struct Preparation<'a> {
    digrams: &'a DigramTable,
    /// Cost of each term, steps of 1/32 nat; empty where features are texts, or where the measure
    /// depends on lengths, so that costs of words do not add up.
    costs: Vec<u32>,
    /// The table as counted, if features are needed after their slots got weights.
    counted: Option<Table>,
}

impl<'a> Preparation<'a> {
    /// Computes the costs of the terms of `state` under the reference measure. Features of the
    /// orders from 1 to `highest` are prepared, once or `again` and again.
    ///
    /// A token's weight is a sum of multiples of 1/32 below 2^24 of them: it is exact in f32, in
    /// whatever order, and so the sum over the token's words.
    pub(super) fn new(
        state: &mut LearningState,
        digrams: &'a DigramTable,
        orders: &Orders,
        (highest, again): (u8, bool),
        preload: Option<&Preload>,
        progress: &mut Progress<'_>,
    ) -> Self {
        let (mut costs, mut needs_words) = (Vec::new(), again || preload.is_some());
        if let TokenList::Terms(list) = &state.tokens {
            if !digrams.prices_lengths() {
                let mut body = Vec::new();
                costs.extend((0u32..).map(TermId).take(list.lexicon.size()).map(|term| {
                    list.text(&[term], &mut body);
                    digrams.steps(&body)
                }));
            }
            // Kappa is computed from texts in multinomial models. For a cost of 1 see `of_linked`.
            needs_words |= costs.is_empty()
                || costs.contains(&1)
                || state.is_multinomial() && progress.is_heard();
        }
        let counted = needs_words.then(|| state.table.clone());
        // Slots that no order prepares are few: those of damaged counts, and empty ones in which
        // occurrences were counted for a document.
        let to_prepare: usize = (1..=highest).map(|order| orders.length(order)).sum();
        if needs_words || state.measures_entropy() || to_prepare < state.used as usize {
            for at in 0..state.table.size() {
                let order = state.table.cell(at).head.order();
                if needs_words
                    || order > highest
                    || order == 0 && state.table.spread(at).occurrences > 0
                    || order == 0 && state.table.cell(at).id.0 != 0
                {
                    state.start_weights(at);
                }
            }
        }
        if let Some(preload) = preload {
            state.preload(preload, progress);
        }
        Self { digrams, costs, counted }
    }

    /// The table in which features can be spelled, if `now` is the one of the fit.
    pub(super) fn counted<'t>(&'t self, now: &'t Table) -> &'t Table {
        self.counted.as_ref().unwrap_or(now)
    }

    /// Prepares the features of `order`, which are in `slots`, and adds them to `groups`.
    pub(super) fn prepare(
        &self,
        state: &mut LearningState,
        order: u8,
        slots: Slots<'_>,
        groups: &mut Groups,
    ) {
        if let TokenList::Terms(_) = &state.tokens {
            self.prepare_terms(state, order, slots, groups);
            return;
        }
        self.pass_over(state, slots.clone());
        let LearningState { table, tokens, .. } = state;
        if let TokenList::Texts(list) = tokens {
            self.prepare_texts(list, table, order);
        }
        slots.for_each(|at| groups.push(table.cell(at).count.into(), table.weights(at)));
    }

    /// Gives `slots` the weights from before the fit.
    pub(super) fn pass_over(&self, state: &mut LearningState, slots: Slots<'_>) {
        if self.counted.is_none() {
            slots.for_each(|at| state.start_weights(at));
        }
    }

    fn prepare_texts(&self, list: &[u8], table: &mut Table, order: u8) {
        for (body, medium) in tokens_in(list) {
            // A token counts under its own order only; after a collision of ids its slot can be of
            // another.
            if words(body) != usize::from(order) {
                continue;
            }
            let Place::Found(at) = table.place(FeatureId::of(body, medium)) else { continue };
            if table.cell(at).head.order() == order {
                let prepared = self.of_text(body, medium, table, order);
                set(table, at, prepared);
            }
        }
    }

    /// The weights in the slot at `at` if those of orders up to `order` have been set; else 0.
    fn weights(&self, table: &Table, at: usize, order: u8) -> SlotWeights {
        if self.counted.is_none() && table.cell(at).head.order() > order {
            return SlotWeights::default();
        }
        table.weights(at)
    }

    /// Reference weight and suffix sum from the text of a feature of `order`.
    fn of_text(&self, body: &[u8], medium: Medium, table: &Table, order: u8) -> (u16, u16) {
        let reference = QuantWeight::from_log_probability(self.digrams.log_reference(body)).0;
        let mut sum = 0u16;
        for start in 1..body.len().saturating_sub(1) {
            if body[start] == BOUNDARY
                && let Some(at) = table.find(FeatureId::of(&body[start..], medium))
            {
                sum = sum.wrapping_add(self.weights(table, at, order - 1).lambda);
            }
        }
        (reference, sum)
    }

    fn prepare_terms(
        &self,
        state: &mut LearningState,
        order: u8,
        mut slots: Slots<'_>,
        groups: &mut Groups,
    ) {
        let multinomial = state.is_multinomial();
        let only_medium = state.only_medium();
        let LearningState { table, tokens: TokenList::Terms(list), .. } = state else { return };
        let (mut terms, mut body) = (Vec::new(), Vec::new());
        let mut take = |chunk: &mut Vec<usize>, table: &Table| {
            chunk.clear();
            chunk.extend(slots.by_ref().take(AHEAD));
            for &at in chunk.iter() {
                table.prefetch_slot(at + FAR_AHEAD);
                table.prefetch(self.counted(table).cell(at).suffix);
            }
        };
        let (mut chunk, mut next, mut candidates) = (Vec::new(), Vec::new(), [0; AHEAD]);
        take(&mut next, table);
        while !next.is_empty() {
            // Tags are read first, then slots, so that the waits for memory overlap.
            std::mem::swap(&mut chunk, &mut next);
            take(&mut next, table);
            for (candidate, &at) in candidates.iter_mut().zip(&chunk) {
                *candidate = table.candidate(self.counted(table).cell(at).suffix);
            }
            for (&at, &candidate) in chunk.iter().zip(&candidates) {
                let counted = self.counted(table);
                let Cell { head, suffix, .. } = counted.cell(at);
                let is_single = if multinomial {
                    suffix.0 == 0 && !head.is_spelled()
                } else {
                    head.order() == 1
                };
                // In a model turned multinomial longer features are never prepared.
                let prepared = if !is_single && multinomial {
                    None
                } else if is_single && !self.costs.is_empty() {
                    Some((stored(self.costs[head.payload() as usize]), 0))
                } else {
                    let suffix = table.place_from(candidate, suffix).found();
                    let suffix = suffix.filter(|_| head.is_linked() && !self.costs.is_empty());
                    let prepared = suffix.and_then(|at| self.of_linked(head, table.weights(at)));
                    Some(prepared.unwrap_or_else(|| {
                        list.spell(counted, at, &mut terms);
                        list.text(&terms, &mut body);
                        let medium = list.lexicon.medium(terms[0]);
                        self.of_text(&body, medium, table, order)
                    }))
                };
                if self.counted.is_none() {
                    let first = TermId(head.payload());
                    let medium = only_medium.unwrap_or_else(|| list.lexicon.medium(first));
                    table.start_weights(at, medium);
                }
                if let Some(prepared) = prepared {
                    set(table, at, prepared);
                }
                groups.push(table.cell(at).count.into(), table.weights(at));
            }
        }
    }

    /// Reference weight and suffix sum from those of the suffix, which has been prepared; `None` if
    /// the sum of costs might be the one that is stored as 0.
    fn of_linked(&self, head: Head, suffix: SlotWeights) -> Option<(u16, u16)> {
        let cost = self.costs[head.payload() as usize];
        let sum = suffix.lambda.wrapping_add(suffix.suffix);
        if suffix.reference == QuantWeight::MAX.0 {
            // It was cut off, or just fits.
            return (cost != 1).then_some((QuantWeight::MAX.0, sum));
        }
        Some((stored(u32::from(suffix.reference) + cost), sum))
    }
}

impl LearningState {
    /// Gives the slot at `at` the weights from before the fit, in the place of its feature.
    fn start_weights(&mut self, at: usize) {
        let cell = self.table.cell(at);
        let medium = if cell.is_empty() { Medium::TEXT } else { self.medium(&cell) };
        self.table.start_weights(at, medium);
    }

    /// Starts from the weights of an earlier file (spec model 7.6); all slots hold weights. A
    /// weight whose feature is not in the table goes to the empty slot where its search ends.
    fn preload(&mut self, preload: &Preload, progress: &mut Progress<'_>) {
        progress.say(|| format!("preloading {} token weights", preload.len()));
        for &(id, weight) in preload {
            if let Some(at) = self.table.find(id) {
                let weights = SlotWeights { lambda: weight.0, ..self.table.weights(at) };
                self.table.set_weights(at, weights);
            }
        }
    }
}

/// Sets reference weight and suffix sum of a slot.
fn set(table: &mut Table, at: usize, (reference, suffix): (u16, u16)) {
    table.set_weights(at, SlotWeights { suffix, reference, ..table.weights(at) });
}

/// A weight of so many steps as stored: 2048 nats wrap to 0, more are cut off.
#[allow(clippy::cast_possible_truncation)] // 16 bits by the arm
fn stored(steps: u32) -> u16 {
    match steps {
        0..=0xffff => steps as u16,
        0x1_0000 => 0,
        _ => QuantWeight::MAX.0,
    }
}

/// Number of words of a feature's text.
pub(super) fn words(body: &[u8]) -> usize {
    memchr::memchr_iter(BOUNDARY, body).count().saturating_sub(1)
}
