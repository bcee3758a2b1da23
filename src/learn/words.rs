// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts words and n-grams without making the texts of the n-grams. The counts and their order are
//! those that [`Counter::count`] gives for each n-gram's text.

use super::counter::Counter;
use super::documents::DocumentWords;
use super::state::LearningState;
use super::table::{AHEAD, Cell, Head, Place, Table};
use super::tokens::{Holding, TermList, TermUse, TokenList};
use crate::alloc_hints::prefetch;
use crate::model::digram::CharacterTally;
use crate::model::medium::Medium;
use crate::token::id::FeatureId;
use crate::token::lexicon::{TermId, TermUser, WaitingWords};
use crate::token::ngram::Window;
use crate::token::ngram_line::{NgramLine, Position};
use crate::token::word::{Word, WordSink};
use crate::token::{BOUNDARY, Feature};

/// Searches for the n-grams of a line, some of which run ahead of the counting.
#[derive(Debug, Default, Clone)]
pub(super) struct LookAhead {
    /// The slots that the searches have reached.
    places: Vec<u32>,
    /// Bits of the table's size then.
    bits: u8,
}

impl LookAhead {
    pub(super) fn clear(&mut self) {
        self.places.clear();
    }

    /// The slots where the searches for `length` of `ids`, from `from` on, continue.
    #[inline]
    pub(super) fn places(
        &mut self,
        from: usize,
        length: usize,
        ids: &[FeatureId],
        table: &Table,
    ) -> &mut [u32] {
        let to = from + length;
        if self.bits != table.bits() {
            self.bits = table.bits();
            self.places.truncate(from);
        }
        if self.places.len() < to {
            let known = self.places.len();
            let end = to.max((known + AHEAD).min(ids.len()));
            let next = (end + AHEAD).min(ids.len());
            let unasked = if known == 0 { 0 } else { end };
            ids[unasked..next].iter().for_each(|&id| table.prefetch(id));
            let searched = ids[known..end].iter().map(|&id| slot_number(table.candidate(id)));
            self.places.extend(searched);
        }
        &mut self.places[from..to]
    }
}

/// A slot as a number of 32 bits: tables have at most 2^30.
#[allow(clippy::cast_possible_truncation)]
const fn slot_number(slot: usize) -> u32 {
    slot as u32
}

/// How words are counted.
#[derive(Debug, Clone)]
pub(crate) struct WordEngine {
    line: NgramLine,
    ahead: LookAhead,
    /// Single words of a line that wait; n-grams wait in `line`.
    singles: Vec<TermId>,
    /// When single words go into the table.
    into_table: IntoTable,
    /// Occurrences that the counters still have room for; only when words wait.
    pub(super) budget: u32,
    /// The budget at the start.
    all: u32,
    /// Words that are to be counted when they have been numbered.
    waiting: WaitingWords,
    /// Words with occurrences that are not in the table yet, in order of first appearance.
    unsettled: Vec<TermId>,
    /// How many such occurrences of single words there are beside n-grams.
    held_back: u32,
    /// About how many words are numbered at most, so that memory does not grow without limit when
    /// the table is full.
    pub(super) most_words: usize,
    /// The words of documents, where words wait until reading is over and documents are measured.
    pub(super) documents: DocumentWords,
}

/// The least limit of numbered words.
const MANY_WORDS: usize = 1 << 18;

/// When the single words of a run are put into the table. The table depends only on the order in
/// which words first appear, so they may be put in later, when the table is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntoTable {
    /// At once, or nearly so; always with n-grams.
    AtOnce,
    /// When reading is over.
    AtEnd,
    /// When their document ends, so that it can be measured. Their counts are added when reading is
    /// over.
    WithDocument,
}

impl WordEngine {
    /// Words for n-grams of up to `order`, in addition to those of `state`, which are in `list`.
    pub(super) fn new(
        order: u8,
        into_table: IntoTable,
        state: &LearningState,
        list: &TermList,
        most_words: usize,
    ) -> Self {
        let budget = u32::MAX - state.total;
        Self {
            line: NgramLine::new(order),
            ahead: LookAhead::default(),
            singles: Vec::new(),
            into_table,
            budget,
            all: budget,
            waiting: WaitingWords::default(),
            unsettled: Vec::new(),
            held_back: 0,
            most_words: most_words.max(MANY_WORDS),
            documents: match into_table {
                IntoTable::WithDocument => DocumentWords::of(list, &state.table),
                IntoTable::AtOnce | IntoTable::AtEnd => DocumentWords::default(),
            },
        }
    }

    /// Whether documents are measured by their words.
    pub(super) fn measures_words(&self) -> bool {
        self.into_table == IntoTable::WithDocument
    }

    /// Whether words wait that make n-grams, or that have been numbered.
    fn has_words(&self) -> bool {
        !self.singles.is_empty()
            || self.line.is_waiting()
            || self.line.order() > 1 && !self.waiting.is_empty()
    }

    /// Occurrences that were counted off the budget.
    pub(super) const fn spent(&self) -> u32 {
        self.all - self.budget
    }

    /// Counts the words that have not been numbered yet, or puts them into the line if they make
    /// n-grams.
    fn number_words(&mut self, list: &mut TermList) {
        let Self { waiting, documents, into_table, line, .. } = self;
        let TermList { lexicon, uses, .. } = list;
        match into_table {
            IntoTable::AtOnce => waiting.number(lexicon, &mut WordsOfLine { uses, line }),
            IntoTable::AtEnd => waiting.number(lexicon, uses),
            IntoTable::WithDocument => {
                waiting.number(lexicon, &mut WordsOfDocuments { uses, documents });
            }
        }
    }
}

impl Counter {
    /// Changes from numbered words to texts of features if there are more words than the table can
    /// ever hold, so that memory stops growing. Nothing else changes. Call it where n-grams begin
    /// again, and after documents if these are measured by their words.
    pub(super) fn spell_if_words_are_many(&mut self) {
        let TokenList::Terms(list) = &self.state.tokens else { return };
        let Some(engine) = &self.engine else { return };
        if list.lexicon.size() <= engine.most_words {
            return;
        }
        let window = Window::new(u8::try_from(engine.line.order()).unwrap_or(7));
        self.finish_words();
        self.state.spell_features();
        self.window = Some(window);
    }

    /// The sink for the tokenizer's words of `medium`, up to the end of the text line.
    pub(crate) const fn words(&mut self, medium: Medium) -> CountedWords<'_> {
        CountedWords { counter: self, medium }
    }

    /// Whether features come as words.
    pub(crate) const fn takes_words(&self) -> bool {
        self.engine.is_some() || self.window.is_some()
    }

    /// N-grams begin again.
    pub(super) fn forget_words(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.line.clear();
        }
        if let Some(window) = &mut self.window {
            window.clear();
        }
    }

    /// Counts the words that wait; call it after each line of text.
    pub(crate) fn end_of_words(&mut self) {
        let Some(mut engine) = self.engine.take_if(|engine| engine.has_words()) else { return };
        let TokenList::Terms(mut list) = self.state.tokens.take() else {
            return;
        };
        for term in engine.singles.drain(..) {
            self.count_single(term, &mut list);
        }
        if engine.line.order() > 1 {
            engine.number_words(&mut list);
        }
        if engine.line.is_waiting() {
            self.count_line(&mut engine, &mut list);
        }
        self.state.tokens = TokenList::Terms(list);
        self.engine = Some(engine);
    }

    fn count_line(&mut self, engine: &mut WordEngine, list: &mut TermList) {
        let WordEngine { line, ahead, unsettled, held_back, .. } = engine;
        let medium = line.words().first().map_or(Medium::TEXT, |&t| list.lexicon.medium(t));
        let count = line.hash(medium).len() + line.words().len();
        let plain = self.is_plain(*held_back as usize + count);
        ahead.clear();
        for (from, position) in line.positions() {
            let length = position.ids().len();
            let places = ahead.places(from, length, line.ids(), &self.state.table);
            let any_new = self.count_longer(position, places, plain, &[1; 8], list);
            if let Some(term) = position.single() {
                let uses = &mut list.uses[term.index()];
                if plain && uses.holding != Holding::Unknown {
                    // Its feature has a slot already, so its occurrences can be added later.
                    if uses.here == 0 {
                        unsettled.push(term);
                    }
                    uses.here += 1;
                    *held_back += 1;
                } else {
                    let bits = self.state.table.bits();
                    self.count_single(term, list);
                    self.search_anew(bits, position, places);
                }
            }
            if any_new {
                self.link(&position, places, list);
            }
        }
        line.carry();
    }

    fn count_single(&mut self, term: TermId, list: &mut TermList) {
        if self.is_muted() || !self.draws() {
            return;
        }
        let times = &mut list.uses[term.index()].times;
        *times = times.saturating_add(1);
        self.count_word(term, 1, list);
    }

    /// Restarts searches if features have moved since the table had `bits`.
    fn search_anew(&self, bits: u8, position: Position<'_>, places: &mut [u32]) {
        if self.state.table.bits() != bits {
            for (place, &id) in places.iter_mut().zip(position.ids()) {
                *place = slot_number(self.state.table.home(id));
            }
        }
    }

    /// Numbers the words that wait, puts occurrences beside n-grams that have waited into the
    /// table, and finds slots for the words of the document being read, if documents are measured.
    /// Returns how often words that have slots occur in it.
    pub(super) fn settle_document(&mut self) -> usize {
        let Some(mut engine) = self.engine.take() else { return 0 };
        let TokenList::Terms(mut list) = self.state.tokens.take() else { return 0 };
        engine.number_words(&mut list);
        for terms in engine.unsettled.chunks(AHEAD) {
            for term in terms {
                self.state.table.prefetch(list.uses[term.index()].id);
            }
            for &term in terms {
                let uses = &mut list.uses[term.index()];
                let times = std::mem::take(&mut uses.here);
                uses.times = uses.times.saturating_add(times);
                self.count_word(term, times, &mut list);
            }
        }
        engine.unsettled.clear();
        engine.held_back = 0;
        let with_slots = if engine.measures_words() {
            self.assign_slots(&mut engine.documents, &mut list)
        } else {
            0
        };
        self.state.tokens = TokenList::Terms(list);
        self.engine = Some(engine);
        with_slots
    }

    /// Counts a single word so many times.
    pub(super) fn count_word(&mut self, term: TermId, times: u32, list: &mut TermList) {
        let id = list.uses[term.index()].id;
        let (place, new) = self.place(id, Head::new(1, term.0), FeatureId(0));
        if new {
            list.append(id);
        }
        if let Some(at) = place {
            self.add_occurrences(at, times);
            let cell = self.state.table.cell(at);
            list.uses[term.index()].holding = if cell.id != id {
                Holding::Unknown
            } else if cell.head.order() == 1 && cell.head.payload() == term.0 {
                Holding::Own
            } else {
                Holding::Other
            };
        }
    }

    /// Whether the next `features` can be counted without regard to limits, documents or
    /// decimation.
    fn is_plain(&self, features: usize) -> bool {
        let total = u64::from(self.state.total) + features as u64;
        let undecided =
            self.is_muted() || self.decimation.is_some() || self.state.measures_entropy();
        !undecided && total < u64::from(u32::MAX)
    }

    /// Counts the n-grams of several words that end in one word, longest first, as often as `times`
    /// says for each order, or once if `plain`; the searches for them continue at `places`. Returns
    /// whether one of them is new.
    fn count_longer(
        &mut self,
        position: Position<'_>,
        places: &mut [u32],
        plain: bool,
        times: &[u32; 8],
        list: &mut TermList,
    ) -> bool {
        let mut any_new = false;
        for (k, order) in position.orders().enumerate() {
            let (id, at) = (position.ids()[k], places[k]);
            if plain && let Some(order) = self.state.table.count_at(at as usize, id) {
                self.state.total += 1;
                let of_order = &mut self.state.total_of[usize::from(order)];
                *of_order = of_order.saturating_add(1);
            } else if times[order] > 0 && (plain || (!self.is_muted() && self.draws())) {
                let (bits, place) = (self.state.table.bits(), &mut places[k]);
                any_new |= self.count_ngram(&position, order, times[order], place, list);
                self.search_anew(bits, position, places);
            }
        }
        any_new
    }

    /// Counts the n-grams that end in one word as often as `times` says for each order, longest
    /// first; the searches for them continue at `places`.
    pub(super) fn count_run(
        &mut self,
        position: &Position<'_>,
        places: &mut [u32],
        times: &[u32; 8],
        list: &mut TermList,
    ) {
        let bits = self.state.table.bits();
        let any_new = self.count_longer(*position, places, false, times, list);
        if times[1] > 0 {
            let term = position.terms(1)[0];
            list.uses[term.index()].times = times[1];
            self.count_word(term, times[1], list);
            self.search_anew(bits, *position, places);
        }
        if any_new {
            self.link(position, places, list);
        }
    }

    /// Counts one n-gram so many times. The search for it continues at `at`, which is set to its
    /// slot. Returns whether it is new.
    fn count_ngram(
        &mut self,
        position: &Position<'_>,
        order: usize,
        times: u32,
        at: &mut u32,
        list: &mut TermList,
    ) -> bool {
        let first = position.terms(order)[0];
        let single = || position.single().map(|term| list.uses[term.index()].id);
        let suffix = if order == 2 { single() } else { position.id(order - 1) };
        let suffix = suffix.unwrap_or_else(|| blank(order - 1, list.lexicon.medium(first)));
        let Some(id) = position.id(order) else { return false };
        #[allow(clippy::cast_possible_truncation)] // at most 7
        let head = Head::new(order as u8, first.0);
        let (place, new) = self.place_from(*at as usize, id, head, suffix);
        if new {
            list.append(id);
        }
        if let Some(place) = place {
            *at = slot_number(place);
            self.add_occurrences(place, times);
        }
        new
    }

    /// Links the new n-grams that end in one word to their suffixes, from the shortest up. A slot
    /// is known to hold an n-gram when it holds its first word and its suffix's id, and is linked
    /// to a suffix that is known. The words of new ones that cannot be linked are kept.
    fn link(&mut self, position: &Position<'_>, places: &[u32], list: &mut TermList) {
        let table = &mut self.state.table;
        let single = position.single().map(|term| &list.uses[term.index()]);
        let mut known = single.is_some_and(|uses| uses.holding == Holding::Own);
        let mut suffix = single.map_or(FeatureId(0), |uses| uses.id);
        for (order, &at) in position.orders().rev().zip(places.iter().rev()) {
            let Some(id) = position.id(order) else { break };
            let Place::Found(slot) = table.place_from(at as usize, id) else {
                (known, suffix) = (false, id);
                continue;
            };
            let Cell { head, suffix: linked, .. } = table.cell(slot);
            let first = position.terms(order)[0];
            let is_this = usize::from(head.order()) == order && head.payload() == first.0;
            known = if is_this && head.is_linked() {
                known && linked == suffix
            } else if is_this && !head.is_spelled() {
                // An n-gram that is neither linked nor spelled is new.
                if known {
                    table.set_head(slot, head.linked());
                } else {
                    table.set_head(slot, head.spelled());
                    list.keep_spelling(id, position.terms(order));
                }
                known
            } else {
                false
            };
            suffix = id;
        }
    }

    /// Adds the characters of all words to the digrams.
    pub(super) fn count_characters(&mut self, list: &TermList) {
        let words = || {
            let uses = (0u32..).map(TermId).zip(&list.uses).filter(|(_, uses)| uses.times > 0);
            uses.map(|(term, uses)| (term, uses.times))
        };
        let mut tally = CharacterTally::default();
        for (term, times) in words() {
            tally.count(list.lexicon.word(term).bytes(), times);
        }
        if !self.state.characters.add_tally(&tally) {
            let mut body = Vec::new();
            for (term, times) in words() {
                list.text(&[term], &mut body);
                self.state.characters.count_times(&body, times);
            }
        }
    }

    /// Adds deferred words to the table, and the characters of all words to the digrams.
    pub(super) fn finish_words(&mut self) {
        self.end_of_words();
        self.settle_document();
        let Some(engine) = self.engine.take() else { return };
        let TokenList::Terms(mut list) = self.state.tokens.take() else {
            return;
        };
        if engine.measures_words() {
            self.settle_words(&engine.documents, &mut list);
        }
        if engine.into_table == IntoTable::AtEnd {
            for (term, at) in (0u32..).map(TermId).zip(0..list.uses.len()) {
                if list.uses[at].times > 0 {
                    self.count_word(term, list.uses[at].times, &mut list);
                }
            }
        }
        self.count_characters(&list);
        // Occurrences of known n-grams were counted without updating the largest count.
        let counts = self.state.table.cells().map(|cell| cell.count);
        self.state.max_count = counts.fold(self.state.max_count, u32::max);
        self.state.tokens = TokenList::Terms(list);
    }
}

/// Counts words by their numbers.
impl TermUser for Vec<TermUse> {
    #[inline]
    fn expect(&self, term: TermId) {
        prefetch(self, term.index());
    }

    fn add(&mut self, word: Word<'_>, medium: Medium) {
        self.push(TermUse::new(word, medium));
    }

    #[inline]
    fn take(&mut self, term: TermId, _: Word<'_>) {
        self[term.index()].times += 1;
    }
}

/// Counts words in documents by their numbers.
struct WordsOfDocuments<'a> {
    uses: &'a mut Vec<TermUse>,
    documents: &'a mut DocumentWords,
}

impl TermUser for WordsOfDocuments<'_> {
    #[inline]
    fn expect(&self, term: TermId) {
        self.documents.prefetch(term);
    }

    fn add(&mut self, word: Word<'_>, medium: Medium) {
        self.uses.push(TermUse::new(word, medium));
        self.documents.add();
    }

    #[inline]
    fn take(&mut self, term: TermId, _: Word<'_>) {
        self.documents.count(term);
    }
}

/// Adds words to a line that makes n-grams of them.
struct WordsOfLine<'a> {
    uses: &'a mut Vec<TermUse>,
    line: &'a mut NgramLine,
}

impl TermUser for WordsOfLine<'_> {
    #[inline]
    fn expect(&self, _: TermId) {}

    fn add(&mut self, word: Word<'_>, medium: Medium) {
        self.uses.push(TermUse::new(word, medium));
    }

    #[inline]
    fn take(&mut self, term: TermId, word: Word<'_>) {
        self.line.push(word, term);
    }
}

/// The id of a feature of `order` empty words; it is never in a table of its own right.
fn blank(order: usize, medium: Medium) -> FeatureId {
    FeatureId::of(&[BOUNDARY; 9][..=order.min(8)], medium)
}

/// Receives the words of a line to be counted.
pub(crate) struct CountedWords<'a> {
    counter: &'a mut Counter,
    medium: Medium,
}

impl WordSink for CountedWords<'_> {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        let Some(engine) = &mut self.counter.engine else { return self.spell(word) };
        let TokenList::Terms(list) = &mut self.counter.state.tokens else { return };
        if engine.line.order() == 1 && word.is_empty() {
            return;
        }
        if engine.into_table != IntoTable::AtOnce {
            if engine.budget == 0 {
                return;
            }
            engine.budget -= 1;
        } else if engine.line.order() == 1 {
            engine.singles.push(list.intern(word, self.medium));
            if engine.singles.len() >= AHEAD {
                self.counter.end_of_words();
            }
            return;
        }
        if !engine.waiting.push(word, self.medium, &list.lexicon) {
            engine.number_words(list);
            if engine.line.is_long() {
                self.counter.end_of_words();
            }
        }
    }

    fn end_of_line(&mut self) {
        self.counter.end_of_words();
        self.counter.forget_words();
        if self.counter.engine.as_ref().is_some_and(|engine| !engine.measures_words()) {
            self.counter.spell_if_words_are_many();
        }
    }
}

impl CountedWords<'_> {
    /// Counts the features that end in a word by their texts.
    #[cold]
    fn spell(&mut self, word: Word<'_>) {
        let Some(mut window) = self.counter.window.take() else { return };
        let count = |feature: Feature<'_>| {
            self.counter.count(feature);
        };
        window.feeding(self.medium, count).word(word);
        self.counter.window = Some(window);
    }
}
