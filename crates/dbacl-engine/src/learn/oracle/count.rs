// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts features, in the order and with the limits of spec model 4 and 8.1.

use super::LiteralState;
use super::table::Place;
use crate::error::{Warning, WarningSink};
use crate::learn::LearnSettings;
use crate::learn::tokens::TOKEN_END;
use crate::token::id::FeatureId;
use crate::token::{Feature, MEDIUM_MARK};
use dbacl_model::settings::ModelOption;
use dbacl_numeric::elementary::{count_f32, log, narrow};
use dbacl_numeric::random::Random;

/// Counts the features of a learning run into a [`LiteralState`].
pub struct Counter {
    state: LiteralState,
    max_bits: Option<u8>,
    decimation: Option<u32>,
    confidence: bool,
    random: Random,
    /// Ids of the document being read, in order, with repeats; only when entropy is measured.
    document: Vec<FeatureId>,
    /// Room of that list in dbacl 1.14.1, which doubles it and prints a note.
    document_room: usize,
    say_growth: bool,
    overflow: bool,
    was_in_header: bool,
}

/// Whether a counted feature was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It was seen for the first time, and inserted.
    New(FeatureId),
    /// It was counted, or dropped.
    Other,
}

impl Counter {
    /// Continues counting in `state`. With `say_growth`, the note of dbacl 1.14.1 about the growing
    /// list of a document's tokens is given.
    pub fn new(state: LiteralState, settings: &LearnSettings, say_growth: bool) -> Self {
        Self {
            state,
            max_bits: settings.max_bits,
            decimation: settings.decimation,
            confidence: settings.reservoir,
            random: Random::new(),
            document: Vec::new(),
            document_room: 1024,
            say_growth,
            overflow: false,
            was_in_header: false,
        }
    }

    /// The counts, when reading is over.
    pub fn into_state(self) -> LiteralState {
        self.state
    }

    /// Counts one feature.
    pub fn count(&mut self, feature: Feature<'_>, warnings: WarningSink<'_>) -> Counted {
        if self.overflow || self.state.message_dropped {
            return Counted::Other;
        }
        let mail = self.state.options.has(ModelOption::Mail);
        if let Some(decimation) = self.decimation.filter(|_| !mail)
            && !self.random.keeps(decimation)
        {
            return Counted::Other;
        }
        let order = if self.state.is_multinomial() { 1 } else { feature.order };
        let id = FeatureId::of(feature.body, feature.medium);
        let (place, new) = self.place(id, feature, order, warnings);
        if let Some(at) = place {
            self.add_occurrence(at, warnings);
        }
        if order == 1 {
            self.state.characters.count(feature.body);
        }
        if new { Counted::New(id) } else { Counted::Other }
    }

    /// The slot that an occurrence of `id` is counted in, and whether the feature is new there.
    fn place(
        &mut self,
        id: FeatureId,
        feature: Feature<'_>,
        order: u8,
        warnings: WarningSink<'_>,
    ) -> (Option<usize>, bool) {
        loop {
            let state = &mut self.state;
            let at = match state.table.place(id) {
                Place::Found(at) if id.0 != 0 => return (Some(at), false),
                Place::Found(at) | Place::Vacant(at) => at,
                Place::None => return (None, false),
            };
            if state.table.has_room(state.used) {
                let slot = &mut state.table.slots_mut()[at];
                slot.id = id;
                slot.order = order;
                slot.medium = feature.medium.number();
                state.used += 1;
                state.unique[usize::from(order)] += 1;
                state.max_order = state.max_order.max(order);
                state.tokens.extend_from_slice(feature.body);
                let tail = [MEDIUM_MARK, feature.medium.number() + 3, TOKEN_END];
                state.tokens.extend_from_slice(&tail);
                return (Some(at), true);
            }
            match self.max_bits {
                Some(max_bits) if state.table.bits() < max_bits => state.table.grow(),
                Some(_) => {
                    warnings(Warning::new("the token hash table is nearly full, slowing down."));
                    self.max_bits = None;
                    return (Some(at), false);
                }
                None => return (Some(at), false),
            }
        }
    }

    /// Counts an occurrence in slot `at`, which may be an empty one.
    fn add_occurrence(&mut self, at: usize, warnings: WarningSink<'_>) {
        let measures_entropy = self.state.measures_entropy();
        let state = &mut self.state;
        let slot = &mut state.table.slots_mut()[at];
        slot.count += 1;
        state.max_count = state.max_count.max(slot.count);
        if measures_entropy {
            slot.shared += 1;
            if self.document.len() >= self.document_room {
                self.document_room *= 2;
                if self.say_growth {
                    let room = self.document_room;
                    warnings(Warning::new(format!("growing emp.stack {room}")));
                }
            }
            self.document.push(slot.id);
        }
        state.total += 1;
        let of_order = &mut state.total_of[usize::from(slot.order)];
        *of_order += 1;
        if state.total == u32::MAX || slot.count == u32::MAX || *of_order == u32::MAX {
            self.overflow = true;
            state.options.insert(ModelOption::Overflow);
            warnings(Warning::new("ran out of integers (too much data), results may be skewed."));
        }
    }

    /// Takes note of the state that a mail filter left after a line: a change into a header block
    /// opens a message (spec email 14).
    pub fn line_of_mail(&mut self, in_header: bool) {
        if in_header && !self.was_in_header {
            let keep = self.decimation.is_none_or(|decimation| self.random.keeps(decimation));
            self.state.message_dropped = !keep;
            if keep {
                self.end_document();
            }
        }
        self.was_in_header = in_header;
    }

    /// Takes note of the end of an input file.
    pub fn end_of_file(&mut self) {
        if self.state.options.has(ModelOption::Mail) {
            self.end_document();
        }
    }

    /// Closes the document being read (spec model 8.1).
    fn end_document(&mut self) {
        let state = &mut self.state;
        if !state.measures_entropy() {
            return;
        }
        if self.document.is_empty() {
            state.empty_documents = state.empty_documents.saturating_add(1);
            return;
        }
        let length = count_f32(u32::try_from(self.document.len()).unwrap_or(u32::MAX));
        let mut entropy = 0.0f64;
        for &id in &self.document {
            let Some(at) = state.table.find(id) else { continue };
            let slot = &mut state.table.slots_mut()[at];
            if slot.shared == 0 {
                continue; // seen earlier in this document
            }
            let share = count_f32(slot.shared) / length;
            slot.share += share;
            let surprise = narrow(-log(f64::from(share)));
            if surprise.is_finite() {
                entropy += f64::from(share * surprise);
            }
            slot.shared = 0;
        }
        let document = std::mem::take(&mut self.document);
        if self.confidence {
            self.state.sample(&mut self.random, document, entropy);
        } else {
            self.document = document;
            self.document.clear();
        }
        let state = &mut self.state;
        state.negative_entropy_sum += -entropy;
        state.squared_entropy_sum += entropy * entropy;
        state.last_entropy = entropy;
        state.documents += 1;
    }
}
