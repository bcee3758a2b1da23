// SPDX-License-Identifier: GPL-3.0-or-later
//! Merges the counts of two parts of an input that were read side by side. The result is what one
//! pass over the whole input gives.
//!
//! The table depends only on the order of first appearance. So the features of the later part are
//! added after those of the earlier one, in the order of the later part, each with all its
//! occurrences.

use super::counter::Counter;
use super::table::{AHEAD, Cell, Head, Place};
use super::tokens::{TermList, TokenList};
use crate::token::lexicon::TermId;

/// The fewest bits with which the table of a later part begins. A smaller table can fill to the
/// last slot, and features that find no empty slot are not counted at all.
pub(crate) const SMALLEST_BITS: u8 = 5;

impl Counter {
    /// Adds the counts of `later`, as if its documents had been counted after those of this
    /// counter. `later` began empty, and both count words.
    ///
    /// Returns whether that was possible; if not, nothing has changed. It is impossible if
    /// documents are measured, features are decimated, a counter might run over, or `later` had no
    /// room for a feature.
    pub(crate) fn merge(&mut self, mut later: Self) -> bool {
        self.end_of_words();
        self.settle_document();
        later.end_of_words();
        later.settle_document();
        if !self.takes(&later) {
            return false;
        }
        let TokenList::Terms(theirs) = later.state.tokens.take() else { return false };
        let TokenList::Terms(mut ours) = self.state.tokens.take() else { return false };
        let numbers = ours.adopt(&theirs);
        if let (Some(engine), Some(other)) = (&mut self.engine, &later.engine) {
            engine.budget -= other.spent();
        }
        self.add_features(&later, &theirs, &numbers, &mut ours);
        self.link_features(&later, &theirs, &numbers, &mut ours);
        self.state.tokens = TokenList::Terms(ours);
        true
    }

    fn takes(&self, later: &Self) -> bool {
        let is_plain = |counter: &Self| {
            !counter.is_muted() && counter.decimation.is_none() && !counter.state.measures_entropy()
        };
        let (Some(engine), Some(other)) = (&self.engine, &later.engine) else { return false };
        is_plain(self)
            && is_plain(later)
            && later.state.total_of[0] == 0
            && later.state.table.bits() >= SMALLEST_BITS
            && u64::from(self.state.total) + u64::from(later.state.total) < u64::from(u32::MAX)
            && other.spent() < engine.budget
    }

    fn add_features(
        &mut self,
        later: &Self,
        theirs: &TermList,
        numbers: &[TermId],
        ours: &mut TermList,
    ) {
        for (k, &id) in theirs.ids.iter().enumerate() {
            if let Some(&next) = theirs.ids.get(k + AHEAD) {
                self.state.table.prefetch(next);
                later.state.table.prefetch(next);
            }
            let Place::Found(at) = later.state.table.place(id) else { continue };
            let cell = later.state.table.cell(at);
            let first = numbers[cell.head.payload() as usize];
            let head = Head::new(cell.head.order(), first.0);
            let (place, is_new) = self.place(id, head, cell.suffix);
            if is_new {
                ours.append(id);
            }
            if let Some(at) = place {
                self.add_occurrences(at, cell.count);
            }
        }
    }

    /// Links the n-grams that came with `later` to their suffixes, from the shortest up; those that
    /// cannot be linked are spelled out.
    fn link_features(
        &mut self,
        later: &Self,
        theirs: &TermList,
        numbers: &[TermId],
        ours: &mut TermList,
    ) {
        let from = &later.state.table;
        let into = &mut self.state.table;
        if later.state.max_order < 2 {
            return;
        }
        // For each slot of `later`, whether its feature has the same text as the feature with that
        // id in this table.
        let mut same = vec![false; from.size()];
        let mut words = Vec::new();
        for order in 1..=later.state.max_order {
            for (at, cell) in from.cells().enumerate() {
                if at + AHEAD < from.size() {
                    into.prefetch(from.cell(at + AHEAD).id);
                }
                if cell.is_empty() || cell.head.order() != order {
                    continue;
                }
                let Place::Found(slot) = into.place(cell.id) else { continue };
                let Cell { head: here, suffix, .. } = into.cell(slot);
                if here.order() != order
                    || here.payload() != numbers[cell.head.payload() as usize].0
                    || here.is_spelled()
                {
                    continue;
                }
                let is_known = order == 1
                    || cell.head.is_linked()
                        && from.place(cell.suffix).found().is_some_and(|suffix| same[suffix]);
                same[at] = is_known && (order == 1 || suffix == cell.suffix);
                if order == 1 || here.is_linked() {
                    continue;
                }
                // A feature that is neither linked nor spelled came with the later part.
                if same[at] {
                    into.set_head(slot, here.linked());
                } else {
                    theirs.spell(from, at, &mut words);
                    for word in &mut words {
                        *word = numbers[word.index()];
                    }
                    into.set_head(slot, here.spelled());
                    ours.keep_spelling(cell.id, &words);
                }
            }
        }
    }
}

impl TermList {
    /// Adds the words of `other` and their occurrences; returns their numbers here.
    fn adopt(&mut self, other: &Self) -> Vec<TermId> {
        let adopt = |at: u32| {
            let term = TermId(at);
            let number = self.intern(other.lexicon.word(term), other.lexicon.medium(term));
            let times = &mut self.uses[number.index()].times;
            *times = times.saturating_add(other.uses[term.index()].times);
            number
        };
        (0u32..).take(other.lexicon.size()).map(adopt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::LearnSettings;
    use crate::model::medium::Medium;
    use crate::model::settings::{ModelOption, ModelOptions, Scheme};
    use crate::token::tokenizer::Tokenizer;

    fn counter(order: u8, bits: u8, max_bits: Option<u8>) -> Counter {
        let options = ModelOptions::default().with(ModelOption::Text);
        let settings = LearnSettings::plain(bits, max_bits, options);
        let mut counter = Counter::empty(&settings);
        assert!(counter.expect_words(order));
        counter
    }

    fn read(counter: &mut Counter, lines: &[String], order: u8) {
        let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, false, order);
        for line in lines {
            let mut line = line.clone().into_bytes();
            tokenizer.line(&mut line, &mut counter.words(Medium::TEXT));
            counter.end_of_words();
        }
        counter.end_of_file();
    }

    #[test]
    fn parts_that_one_pass_might_count_otherwise_are_not_merged() {
        let part = |order, bits| {
            let mut counter = counter(order, bits, None);
            read(&mut counter, &["aa bb cc dd ee ff aa\n".to_owned()], order);
            counter
        };
        let all = part(2, SMALLEST_BITS).into_state().0.total;
        let fill = |own: &mut Counter, total| {
            own.settle_document();
            own.state.total = total;
        };
        let merges = |order, bits, change: &dyn Fn(&mut Counter, &mut Counter)| {
            let (mut first, mut later) = (part(order, 5), part(order, bits));
            change(&mut first, &mut later);
            first.merge(later)
        };
        let leave = |own: &mut Counter, room| {
            let engine = own.engine.as_mut().unwrap();
            engine.budget = room;
        };
        for (expected, is_merged) in [
            (true, merges(2, SMALLEST_BITS, &|_, _| {})),
            (false, merges(2, SMALLEST_BITS - 1, &|_, _| {})),
            (true, merges(2, 5, &|own, _| fill(own, u32::MAX - 1 - all))),
            (false, merges(2, 5, &|own, _| fill(own, u32::MAX - all))),
            (true, merges(1, 5, &|own, _| leave(own, 8))),
            (false, merges(1, 5, &|own, _| leave(own, 7))),
            (false, merges(2, 5, &|own, _| own.state.message_dropped = true)),
            (false, merges(2, 5, &|_, later| later.state.options.insert(ModelOption::Entropy))),
            (false, merges(2, 5, &|_, later| later.state.total_of[0] = 1)),
        ] {
            assert_eq!(is_merged, expected);
        }
    }
}
