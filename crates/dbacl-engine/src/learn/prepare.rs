// SPDX-License-Identifier: GPL-3.0-or-later
//! Prepares the fit of an order: computes the reference weight of each feature and the sum of its
//! suffixes' weights (spec model 7.4).

use super::orders::Slots;
use super::state::LearningState;
use super::table::{AHEAD, Head, Place};
use super::tokens::{TermList, TokenList, Unread, tokens_in};
use super::weights::{SlotWeights, Weights};
use crate::alloc_hints::prefetch;
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;
use dbacl_model::digram::DigramTable;
use dbacl_model::medium::Medium;
use dbacl_numeric::quantize::QuantWeight;

/// Sets reference weights and suffix sums, order by order.
pub struct Preparation<'a> {
    digrams: &'a DigramTable,
    /// Cost of each term, steps of 1/32 nat; empty where features are texts, or where the measure
    /// depends on lengths, so that costs of words do not add up.
    costs: Vec<u32>,
}

impl<'a> Preparation<'a> {
    /// Computes the costs of the terms of `state` under the reference measure.
    ///
    /// A token's weight is a sum of multiples of 1/32 below 2^24 of them: it is exact in f32, in
    /// whatever order, and so the sum over the token's words.
    pub fn new(state: &LearningState, digrams: &'a DigramTable) -> Self {
        let mut costs = Vec::new();
        if let TokenList::Terms(list) = &state.tokens
            && !digrams.prices_lengths()
        {
            let mut body = Vec::new();
            costs.extend((0u32..).map(TermId).take(list.lexicon.len()).map(|term| {
                list.text(&[term], &mut body);
                digrams.steps(&body)
            }));
        }
        Self { digrams, costs }
    }

    /// Prepares the features of `order`, which are in `slots`.
    pub fn prepare(
        &self,
        state: &LearningState,
        weights: &mut Weights,
        order: u8,
        slots: Slots<'_>,
    ) {
        match &state.tokens {
            TokenList::Terms(list) => self.prepare_terms(list, state, weights, slots),
            TokenList::Texts(list) => self.prepare_texts(list, state, weights, order),
            TokenList::Unread(list) => self.prepare_unread(list, state, weights, order),
        }
    }

    /// The same for features whose texts are not known.
    fn prepare_unread(
        &self,
        list: &[Unread],
        state: &LearningState,
        weights: &mut Weights,
        order: u8,
    ) {
        let each = self.digrams.steps(&[BOUNDARY; 2]);
        for feature in list.iter().filter(|feature| feature.order == order) {
            let Place::Found(at) = state.table.place(feature.id) else { continue };
            if state.table.head(at).order() != order {
                continue;
            }
            let suffix = (order > 1).then(|| state.table.find(feature.suffix)).flatten();
            let sum = |slot: SlotWeights| slot.lambda.wrapping_add(slot.suffix);
            let sum = suffix.map_or(0, |at| sum(weights.slots()[at]));
            set(weights, at, (stored(u32::from(feature.pairs) * each), sum));
        }
    }

    fn prepare_texts(&self, list: &[u8], state: &LearningState, weights: &mut Weights, order: u8) {
        for (body, medium) in tokens_in(list) {
            // A token counts under its own order only; after a collision of ids its slot can be of
            // another.
            if words(body) != usize::from(order) {
                continue;
            }
            let Place::Found(at) = state.table.place(FeatureId::of(body, medium)) else { continue };
            if state.table.head(at).order() == order {
                let prepared = self.of_text(body, medium, state, weights);
                set(weights, at, prepared);
            }
        }
    }

    /// Reference weight and suffix sum from the feature's text.
    fn of_text(
        &self,
        body: &[u8],
        medium: Medium,
        state: &LearningState,
        weights: &Weights,
    ) -> (u16, u16) {
        let reference = QuantWeight::from_log_probability(self.digrams.log_reference(body)).0;
        let mut sum = 0u16;
        for start in 1..body.len().saturating_sub(1) {
            if body[start] == BOUNDARY
                && let Some(at) = state.table.find(FeatureId::of(&body[start..], medium))
            {
                sum = sum.wrapping_add(weights.slots()[at].lambda);
            }
        }
        (reference, sum)
    }

    fn prepare_terms(
        &self,
        list: &TermList,
        state: &LearningState,
        weights: &mut Weights,
        mut slots: Slots<'_>,
    ) {
        let table = &state.table;
        let (mut terms, mut body) = (Vec::new(), Vec::new());
        let multinomial = state.is_multinomial();
        let mut take = |chunk: &mut Vec<usize>| {
            chunk.clear();
            chunk.extend(slots.by_ref().take(AHEAD));
            for &at in chunk.iter() {
                table.prefetch(table.suffix(at));
            }
        };
        let (mut chunk, mut next, mut candidates) = (Vec::new(), Vec::new(), [0; AHEAD]);
        take(&mut next);
        while !next.is_empty() {
            // Tags are read first, then slots, then weights, so that the waits for memory overlap.
            std::mem::swap(&mut chunk, &mut next);
            take(&mut next);
            for (candidate, &at) in candidates.iter_mut().zip(&chunk) {
                *candidate = table.candidate(table.suffix(at));
                prefetch(weights.slots(), *candidate);
            }
            for (&at, &candidate) in chunk.iter().zip(&candidates) {
                let head = table.head(at);
                let single = if multinomial {
                    table.suffix(at).0 == 0 && !head.is_spelled()
                } else {
                    head.order() == 1
                };
                // In a model turned multinomial longer features are never prepared.
                if !single && multinomial {
                    continue;
                }
                let prepared = if self.costs.is_empty() {
                    None
                } else if single {
                    Some((stored(self.costs[head.payload() as usize]), 0))
                } else {
                    let suffix = table.place_from(candidate, table.suffix(at));
                    let suffix = suffix.found().filter(|_| head.is_linked());
                    suffix.and_then(|suffix| self.of_linked(head, suffix, weights))
                };
                let prepared = prepared.unwrap_or_else(|| {
                    list.spell(table, at, &mut terms);
                    list.text(&terms, &mut body);
                    let medium = list.lexicon.medium(terms[0]);
                    self.of_text(&body, medium, state, weights)
                });
                set(weights, at, prepared);
            }
        }
    }

    /// Reference weight and suffix sum from those of the suffix in slot `suffix`, which has been
    /// prepared; `None` if its weight was cut off at the largest.
    fn of_linked(&self, head: Head, suffix: usize, weights: &Weights) -> Option<(u16, u16)> {
        let suffix = weights.slots()[suffix];
        if suffix.reference == QuantWeight::MAX.0 {
            return None;
        }
        let steps = u32::from(suffix.reference) + self.costs[head.payload() as usize];
        Some((stored(steps), suffix.lambda.wrapping_add(suffix.suffix)))
    }
}

/// Sets reference weight and suffix sum of a slot.
fn set(weights: &mut Weights, at: usize, (reference, suffix): (u16, u16)) {
    let slot = &mut weights.slots_mut()[at];
    (slot.reference, slot.suffix) = (reference, suffix);
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
pub fn words(body: &[u8]) -> usize {
    memchr::memchr_iter(BOUNDARY, body).count().saturating_sub(1)
}
