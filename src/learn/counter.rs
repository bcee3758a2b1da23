// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts features, in the order and with the limits of spec model 4 and 8.1.

use super::LearnSettings;
use super::state::LearningState;
use super::table::{Cell, Head, MAX_BITS, Place};
use super::tokens::{TermList, TokenList, append_text};
use super::words::{IntoTable, WordEngine};
use crate::document::{Cutter, FeatureSink, LineState};
use crate::error::{Warning, WarningSink};
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::token::Feature;
use crate::token::id::FeatureId;
use crate::token::ngram::Window;
use dbacl_numeric::elementary::{count_f32, log, narrow};
use dbacl_numeric::random::Random;
use std::io;

/// Counts the features of a learning run into a [`LearningState`].
///
/// Features come as texts ([`Self::count`]), or as words of the standard tokenizer
/// ([`Self::words`]), which is much faster; a run uses one of the two.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(super) state: LearningState,
    pub(super) engine: Option<Box<WordEngine>>,
    /// Makes features of words where the words have to be counted as texts.
    pub(super) window: Option<Window>,
    max_bits: Option<u8>,
    pub(super) decimation: Option<u32>,
    /// Whether documents are offered to the reservoir.
    pub(super) samples: bool,
    random: Random,
    /// Ids of the document being read, in order, with repeats; only when entropy is measured.
    document: Vec<FeatureId>,
    /// Number of repeats that are left out of `document`, where they are not needed.
    repeats: usize,
    /// Room of that list in dbacl 1.14.1, which doubles it and prints a note.
    document_room: usize,
    say_growth: bool,
    /// Whether the order in which features appeared first is not kept.
    pub(super) forgets_appearances: bool,
    overflow: bool,
    was_in_header: bool,
    warnings: Vec<Warning>,
}

/// The entropy of a document, summed up feature by feature.
#[derive(Debug, Clone)]
pub(crate) struct DocumentEntropy {
    /// Occurrences of all features.
    length: f32,
    /// The entropy of the features added, nats.
    pub(crate) sum: f64,
    /// For each number of occurrences, a feature's share of the document and what it adds to the
    /// entropy; NaN where not computed yet. Most features of a document occur only a few times.
    known: [(f32, f64); 16],
}

impl DocumentEntropy {
    /// The entropy of a document of `length` occurrences, before any feature is added.
    pub(crate) fn of_length(length: usize) -> Self {
        let length = count_f32(u32::try_from(length).unwrap_or(u32::MAX));
        Self { length, sum: 0.0, known: [(f32::NAN, 0.0); 16] }
    }

    /// Adds a feature; returns its share of the document.
    #[inline]
    pub(crate) fn add(&mut self, occurrences: u32) -> f32 {
        let (share, part) = match self.known.get_mut(occurrences as usize) {
            Some(known) if !known.0.is_nan() => *known,
            Some(unknown) => {
                *unknown = share_and_part(occurrences, self.length);
                *unknown
            }
            None => share_and_part(occurrences, self.length),
        };
        self.sum += part;
        share
    }
}

/// A feature's share of a document of `length` occurrences, and what it adds to the entropy, nats.
fn share_and_part(occurrences: u32, length: f32) -> (f32, f64) {
    let share = count_f32(occurrences) / length;
    let surprise = narrow(-log(f64::from(share)));
    (share, if surprise.is_finite() { f64::from(share * surprise) } else { 0.0 })
}

impl LearningState {
    /// The slot in which occurrences of `feature` are counted, and whether it is inserted there
    /// now;
    /// its count does not matter. The search continues at slot `from`. A full table grows up to
    /// 2^`max_bits` slots; where it cannot, a warning says so once.
    #[inline]
    pub(super) fn place_from(
        &mut self,
        from: usize,
        feature: Cell,
        max_bits: &mut Option<u8>,
        warnings: WarningSink<'_>,
    ) -> (Option<usize>, bool) {
        match self.table.place_from(from, feature.id) {
            Place::Found(at) => (Some(at), false),
            Place::Vacant(at) => self.insert(at, feature, max_bits, warnings),
            Place::None => (None, false),
        }
    }

    fn insert(
        &mut self,
        mut at: usize,
        feature: Cell,
        max_bits: &mut Option<u8>,
        warnings: WarningSink<'_>,
    ) -> (Option<usize>, bool) {
        while !self.table.has_room(self.used) {
            let Some(most) = *max_bits else { return (Some(at), false) };
            let bits = self.table.bits();
            if bits >= most || !self.table.grow() {
                warnings(Warning::new(if bits < most {
                    let bits = bits + 1;
                    format!(
                        "not enough memory for 2^{bits} features, further ones are passed over."
                    )
                } else {
                    "the token hash table is nearly full, slowing down.".into()
                }));
                *max_bits = None;
                return (Some(at), false);
            }
            match self.table.find(feature.id) {
                Some(place) => at = place,
                None => return (None, false),
            }
        }
        let count = self.table.cell(at).count;
        self.table.set(at, Cell { count, ..feature });
        self.used += 1;
        let order = feature.head.order();
        self.unique[usize::from(order)] += 1;
        self.max_order = self.max_order.max(order);
        (Some(at), true)
    }
}

impl Counter {
    /// A counter without features.
    pub(crate) fn empty(settings: &LearnSettings) -> Self {
        Self::new(LearningState::new(settings), settings, false)
    }

    /// Continues counting in `state`. With `say_growth`, the note of dbacl 1.14.1 about the growing
    /// list of a document's tokens is given.
    pub(crate) fn new(
        mut state: LearningState,
        settings: &LearnSettings,
        say_growth: bool,
    ) -> Self {
        if let Some(bits) = settings.max_bits {
            state.table.expect(bits);
        }
        Self {
            state,
            engine: None,
            window: None,
            max_bits: settings.max_bits,
            decimation: settings.decimation,
            samples: settings.reservoir,
            random: Random::new(),
            document: Vec::new(),
            repeats: 0,
            document_room: 1024,
            say_growth,
            forgets_appearances: false,
            overflow: false,
            was_in_header: false,
            warnings: Vec::new(),
        }
    }

    /// Prepares to count words for n-grams of up to `order`. Returns whether that is possible; if
    /// not - the model is multinomial, or counts loaded from elsewhere are not of such words -
    /// features are to be counted as texts.
    pub(crate) fn expect_words(&mut self, order: u8) -> bool {
        if self.state.is_multinomial() {
            return false;
        }
        let TokenList::Texts(texts) = &self.state.tokens else { return false };
        let list = TermList::from_texts(texts, &mut self.state.table, self.state.used);
        let Some(mut list) = list else { return false };
        if self.forgets_appearances {
            list.is_unordered = true;
            list.ids = Vec::new();
        }
        // Words may wait only if no occurrence is dropped by chance, since that would change which
        // word comes first, and if the list of a document's tokens is not needed.
        let may_wait = order == 1 && self.decimation.is_none();
        let into_table = if !may_wait {
            IntoTable::AtOnce
        } else if !self.state.measures_entropy() {
            IntoTable::AtEnd
        } else if self.state.options.has(ModelOption::Mail)
            && !(self.samples || self.say_growth)
            && self.has_whole_words()
        {
            IntoTable::WithDocument
        } else {
            IntoTable::AtOnce
        };
        let bits = self.state.table.bits().max(self.max_bits.unwrap_or(0)).min(MAX_BITS);
        let most_words = 2 << bits;
        let engine = WordEngine::new(order, into_table, &self.state, &list, most_words);
        self.engine = Some(Box::new(engine));
        self.state.tokens = TokenList::Terms(Box::new(list));
        true
    }

    /// Saves memory by forgetting in which order features appeared first. The order is needed for
    /// counts that are saved, merged, printed with the model or reported as progress. Call it
    /// before [`Self::expect_words`]; features that are counted as texts stay in order.
    pub(crate) const fn forget_appearances(&mut self) {
        self.forgets_appearances = true;
    }

    /// Whether all features are single words, none of them counted in a document that is still
    /// open.
    fn has_whole_words(&self) -> bool {
        let table = &self.state.table;
        let mut cells = table.cells().enumerate();
        let is_whole = |(at, cell): (usize, Cell)| {
            cell.is_empty() || cell.head.order() == 1 && table.spread(at).occurrences == 0
        };
        self.state.used == 0 || cells.all(is_whole)
    }

    /// The counts so far.
    pub(crate) fn state(&self) -> &LearningState {
        &self.state
    }

    /// The counts, when reading is over, and the warnings that were not returned yet.
    pub(crate) fn into_state(mut self) -> (LearningState, Vec<Warning>) {
        self.finish_words();
        (self.state, self.warnings)
    }

    /// Warnings that arose while counting; each is returned once.
    pub(crate) fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Whether nothing is counted at present, because counters have run over or the message is left
    /// out.
    pub(super) const fn is_muted(&self) -> bool {
        self.overflow || self.state.message_dropped
    }

    /// Whether the next feature is kept; draws a number if features are decimated.
    #[inline]
    pub(super) fn draws(&mut self) -> bool {
        match self.decimation {
            Some(decimation) if !self.state.options.has(ModelOption::Mail) => {
                self.random.keeps(decimation)
            }
            _ => true,
        }
    }

    /// Counts one feature by its text. Returns its id if it is new.
    pub(crate) fn count(&mut self, feature: Feature<'_>) -> Option<FeatureId> {
        if self.is_muted() || !self.draws() {
            return None;
        }
        let (order, new) = self.add_feature(feature, 1);
        if order == 1 {
            self.state.characters.count(feature.body);
        }
        new
    }

    /// Counts a feature so many times, as if [`Self::count`] were called that often, without
    /// decimation. The caller makes sure that no counter runs over.
    pub(crate) fn count_times(&mut self, feature: Feature<'_>, times: u32) {
        if times == 0 || self.is_muted() {
            return;
        }
        let (order, _) = self.add_feature(feature, times);
        // The first of the occurrences is on the document's list by now, if they found a slot. Text
        // has no documents, so there the list is never read.
        if self.samples
            && self.state.options.has(ModelOption::Mail)
            && let Some(&id) = self.document.last()
        {
            self.document.resize(self.document.len() + std::mem::take(&mut self.repeats), id);
        }
        if order == 1 {
            self.state.characters.count_times(feature.body, times);
        }
    }

    /// Adds occurrences of a feature to its slot, and a new one to the list of texts. Returns the
    /// order it counts under, and its id if it is new.
    #[inline]
    fn add_feature(&mut self, feature: Feature<'_>, times: u32) -> (u8, Option<FeatureId>) {
        let order = if self.state.is_multinomial() { 1 } else { feature.order };
        let id = FeatureId::of(feature.body, feature.medium);
        let head = Head::new(order, u32::from(feature.medium.number()));
        let new = self.add(id, head, times);
        if new && let TokenList::Texts(list) = &mut self.state.tokens {
            append_text(list, feature.body, feature.medium);
        }
        (order, new.then_some(id))
    }

    /// Adds occurrences of `id` to its slot, if there is one; returns whether it is new.
    #[inline]
    fn add(&mut self, id: FeatureId, head: Head, times: u32) -> bool {
        let (place, new) = self.place(id, head, FeatureId(0));
        if let Some(at) = place {
            self.add_occurrences(at, times);
        }
        new
    }

    /// The slot that occurrences of `id` are counted in, and whether it is inserted there now.
    #[inline]
    pub(super) fn place(
        &mut self,
        id: FeatureId,
        head: Head,
        suffix: FeatureId,
    ) -> (Option<usize>, bool) {
        let home = self.state.table.home(id);
        self.place_from(home, id, head, suffix)
    }

    /// The same, where the search for `id` continues at slot `from`.
    #[inline]
    pub(super) fn place_from(
        &mut self,
        from: usize,
        id: FeatureId,
        head: Head,
        suffix: FeatureId,
    ) -> (Option<usize>, bool) {
        let feature = Cell { id, count: 0, head, suffix };
        self.state.place_from(from, feature, &mut self.max_bits, &mut |it| self.warnings.push(it))
    }

    /// Counts occurrences in slot `at`, which may be an empty one, also for the document being
    /// read.
    #[inline]
    pub(super) fn add_occurrences(&mut self, at: usize, times: u32) {
        let id = self.state.table.cell(at).id;
        if let Some(spread) = self.state.table.spread_mut(at) {
            spread.occurrences = spread.occurrences.wrapping_add(times);
            self.repeats += times as usize - 1;
            if self.document.len() >= self.document_room {
                self.document_room *= 2;
                if self.say_growth {
                    let room = self.document_room;
                    self.warnings.push(Warning::new(format!("growing emp.stack {room}")));
                }
            }
            self.document.push(id);
        }
        self.add_to_slot(at, times);
    }

    /// Counts occurrences in slot `at`, but not for a document.
    #[inline]
    pub(super) fn add_to_slot(&mut self, at: usize, times: u32) {
        let state = &mut self.state;
        let count = state.table.count_mut(at);
        *count = count.saturating_add(times);
        let count = *count;
        state.max_count = state.max_count.max(count);
        let cell = state.table.cell(at);
        // An empty slot counts what found no room; it belongs to no order.
        let order = if cell.is_empty() { 0 } else { cell.head.order() };
        state.total = state.total.saturating_add(times);
        let of_order = &mut state.total_of[usize::from(order)];
        *of_order = of_order.saturating_add(times);
        let full = state.total == u32::MAX || count == u32::MAX || *of_order == u32::MAX;
        if full {
            self.overflow = true;
            self.state.options.insert(ModelOption::Overflow);
            self.warnings
                .push(Warning::new("ran out of integers (too much data), results may be skewed."));
        }
    }

    /// Gets the state of the mail filter after a line; a change into a header block begins a
    /// message (spec email 14).
    pub(crate) fn line_of_mail(&mut self, in_header: bool) {
        if in_header && !self.was_in_header {
            let keep = self.decimation.is_none_or(|decimation| self.random.keeps(decimation));
            self.state.message_dropped = !keep;
            if keep {
                self.end_document();
            }
        }
        self.was_in_header = in_header;
    }

    /// Gets the end of an input file. It ends a document of mail, but not where only regular
    /// expressions give features: as in dbacl 1.14.1 the next message does (case
    /// email/regex-documents).
    pub(crate) fn end_of_file(&mut self) {
        self.forget_words();
        let options = self.state.options;
        if options.has(ModelOption::Mail) && options.has(ModelOption::StandardTokenizer) {
            self.end_document();
        }
    }

    /// Closes the document being read (spec model 8.1).
    pub(crate) fn end_document(&mut self) {
        let with_slots = self.settle_document();
        let repeats = std::mem::take(&mut self.repeats);
        if !self.state.measures_entropy() {
            return;
        }
        let length = self.document.len() + repeats + with_slots;
        if length == 0 {
            if let Some(engine) = &mut self.engine {
                engine.documents.forget();
            }
            self.state.empty_documents = self.state.empty_documents.saturating_add(1);
            return;
        }
        let mut entropy = DocumentEntropy::of_length(length);
        let entropy = if let Some(mut engine) = self.engine.take_if(|one| one.measures_words()) {
            self.document.clear();
            let entropy = self.close_document(&mut engine.documents, entropy);
            self.engine = Some(engine);
            entropy
        } else {
            let document = std::mem::take(&mut self.document);
            for &id in &document {
                self.share_out(id, &mut entropy);
            }
            if self.samples {
                self.state.sample(&mut self.random, document, entropy.sum);
            } else {
                self.document = document;
                self.document.clear();
            }
            entropy.sum
        };
        let state = &mut self.state;
        state.negative_entropy_sum += -entropy;
        state.squared_entropy_sum += entropy * entropy;
        state.last_entropy = entropy;
        state.documents = state.documents.saturating_add(1);
        if self.engine.as_ref().is_some_and(|engine| engine.measures_words()) {
            self.spell_if_words_are_many();
        }
    }

    /// Adds the share in the document that is being closed to the slot of `id`, unless that is done
    /// already.
    pub(super) fn share_out(&mut self, id: FeatureId, entropy: &mut DocumentEntropy) {
        let table = &mut self.state.table;
        let Some(at) = table.find(id) else { return };
        let Some(spread) = table.spread_mut(at) else { return };
        if spread.occurrences > 0 {
            spread.share += entropy.add(std::mem::take(&mut spread.occurrences));
        }
    }
}

impl FeatureSink for Counter {
    fn text(&mut self, _: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        self.line_of_mail(state.in_header);
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.takes_words() {
            cutter.words(line, &mut self.words(medium));
            self.end_of_words();
        } else {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.count(feature);
    }

    fn end_of_source(&mut self, _: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.end_of_file();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::ModelOptions;

    /// As in damaged counts: the table has a feature that the list of texts lacks, so the number in
    /// its slot is a medium and not that of a word.
    #[test]
    fn features_that_the_list_lacks_are_not_taken_for_words() {
        let options = ModelOptions::default().with(ModelOption::Text);
        let settings = LearnSettings::plain(3, None, options);
        let mut state = LearningState::new(&settings);
        let (id, head) = (FeatureId(1), Head::new(1, 7));
        state.table.set(1, Cell { id, count: 1, head, suffix: FeatureId(0) });
        state.used = 1;
        assert!(!Counter::new(state, &settings, false).expect_words(1));
    }
}
