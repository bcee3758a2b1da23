// SPDX-License-Identifier: GPL-3.0-or-later
//! The token list: every feature in order of first appearance, as texts or as terms.

use super::table::{Cell, Head, Place, Table};
use crate::model::medium::Medium;
use crate::token::id::FeatureId;
use crate::token::lexicon::{Lexicon, TermId};
use crate::token::word::{WORD_WINDOW, Word};
use crate::token::{BOUNDARY, MEDIUM_MARK};
use hashbrown::HashMap;

/// Ends each token in a list of texts.
pub(crate) const TOKEN_END: u8 = 0x01;

/// The features of a learning run in order of first appearance.
#[derive(Debug, Clone)]
pub(crate) enum TokenList {
    /// Each feature's full text - body, medium mark and medium - followed by [`TOKEN_END`].
    Texts(Vec<u8>),
    /// Features of the standard tokenizer, by their words.
    Terms(Box<TermList>),
}

/// Features as words. A feature's slot knows its first term and its suffix; following the suffixes
/// spells it. Where the suffix's slot does not hold the suffix - because two features share an id,
/// or the table was full - the words are kept here.
#[derive(Debug, Clone, Default)]
pub(crate) struct TermList {
    /// All words.
    pub lexicon: Lexicon,
    /// Ids of the features, in order of first appearance; empty if `is_unordered`.
    pub ids: Vec<FeatureId>,
    /// Whether the order of first appearance was forgotten.
    pub is_unordered: bool,
    /// Counts of each term.
    pub uses: Vec<TermUse>,
    /// Where the words of features without a linked suffix begin in `spelled`, by id.
    pub spellings: HashMap<u32, u32>,
    /// Words of such features, one feature after the other, each after their number.
    pub spelled: Vec<TermId>,
}

/// A term as a feature of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermUse {
    /// Its order-1 id.
    pub id: FeatureId,
    /// Its occurrences in this run that count for the character statistics.
    pub times: u32,
    /// Its occurrences that are not in the table yet.
    pub here: u32,
    /// What the table has made of it.
    pub holding: Holding,
}

/// Whether the table holds a term as a feature of its own. Once it does, that does not change; the
/// same is true of another feature with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It was not looked up yet, or there was no room for it.
    Unknown,
    /// It does.
    Own,
    /// The slot of its id holds another feature.
    Other,
}

impl TermUse {
    /// A word that has not been counted yet.
    #[cold]
    pub(crate) fn new(word: Word<'_>, medium: Medium) -> Self {
        let id = FeatureId::of_word(word, medium);
        Self { id, times: 0, here: 0, holding: Holding::Unknown }
    }
}

impl TermList {
    /// Sets `terms` to the words of the feature in the slot `at`.
    pub(crate) fn spell(&self, table: &Table, at: usize, terms: &mut Vec<TermId>) {
        terms.clear();
        let mut at = at;
        loop {
            let cell = table.cell(at);
            if cell.head.is_spelled()
                && let Some(spelling) = self.spelling(cell.id)
            {
                terms.extend_from_slice(spelling);
                return;
            }
            terms.push(TermId(cell.head.payload()));
            if !cell.head.is_linked() {
                return;
            }
            let Place::Found(next) = table.place(cell.suffix) else { return };
            at = next;
        }
    }

    /// The words of a feature whose suffix is not linked; `None` for all others.
    pub(crate) fn spelling(&self, id: FeatureId) -> Option<&[TermId]> {
        let from = *self.spellings.get(&id.0)? as usize;
        let length = self.spelled[from].index();
        Some(&self.spelled[from + 1..from + 1 + length])
    }

    /// Keeps the words of a feature whose suffix is not linked.
    ///
    /// # Panics
    /// If there are more such words than 2^32.
    pub(crate) fn keep_spelling(&mut self, id: FeatureId, terms: &[TermId]) {
        let count = |length: usize| u32::try_from(length).expect("fewer than 2^32 words");
        self.spellings.insert(id.0, count(self.spelled.len()));
        self.spelled.push(TermId(count(terms.len())));
        self.spelled.extend_from_slice(terms);
    }

    /// Appends a feature that appears for the first time.
    #[inline]
    pub(crate) fn append(&mut self, id: FeatureId) {
        if !self.is_unordered {
            self.ids.push(id);
        }
    }

    /// The number of a word, new if it has not been seen before.
    #[inline]
    pub(crate) fn intern(&mut self, word: Word<'_>, medium: Medium) -> TermId {
        let term = self.lexicon.intern(word, medium);
        if term.index() == self.uses.len() {
            self.uses.push(TermUse::new(word, medium));
        }
        term
    }

    /// The list of `texts`. Their features are those of `table`, which has `used` of them; the
    /// heads
    /// of their slots are set. `None` if a feature is not one of the standard tokenizer's, or if
    /// list and table differ.
    pub(crate) fn from_texts(texts: &[u8], table: &mut Table, used: u32) -> Option<Self> {
        let mut list = Self::default();
        let mut places: HashMap<u32, &[u8]> = HashMap::new();
        for (body, medium) in tokens_in(texts) {
            places.insert(FeatureId::of(body, medium).0, body);
        }
        if places.len() != used as usize {
            return None;
        }
        let (mut terms, mut cells) = (Vec::new(), Vec::new());
        for (body, medium) in tokens_in(texts) {
            let id = FeatureId::of(body, medium);
            let Place::Found(at) = table.place(id) else { return None };
            let cell = table.cell(at);
            let order = cell.head.order();
            let words = body.strip_prefix(&[BOUNDARY])?.strip_suffix(&[BOUNDARY])?;
            terms.clear();
            for bytes in words.split(|&byte| byte == BOUNDARY) {
                let mut window = [0; WORD_WINDOW];
                if bytes.len() >= WORD_WINDOW || bytes.contains(&0) {
                    return None;
                }
                window[..bytes.len()].copy_from_slice(bytes);
                terms.push(list.intern(Word::new(&window, bytes.len()), medium));
            }
            if terms.len() != usize::from(order) {
                return None;
            }
            let mut head = Head::new(order, terms[0].0);
            let mut suffix = FeatureId(0);
            if order > 1 {
                let start = 1 + words.iter().position(|&byte| byte == BOUNDARY)?;
                let text = &body[start..];
                suffix = FeatureId::of(text, medium);
                if places.get(&suffix.0) == Some(&text) {
                    head = head.linked();
                } else {
                    head = head.spelled();
                    list.keep_spelling(id, &terms);
                }
            }
            cells.push((at, Cell { head, suffix, ..cell }));
            list.append(id);
        }
        // Only now: counts that are refused stay as they are.
        for (at, cell) in cells {
            table.set(at, cell);
        }
        Some(list)
    }

    /// Sets `body` to the text of the words: boundary marks around each.
    pub(crate) fn text(&self, terms: &[TermId], body: &mut Vec<u8>) {
        self.text_with_starts(terms, body, |_| {});
    }

    /// The same; also reports where the mark before each word stands.
    pub(crate) fn text_with_starts(
        &self,
        terms: &[TermId],
        body: &mut Vec<u8>,
        mut starts: impl FnMut(usize),
    ) {
        body.clear();
        body.push(BOUNDARY);
        for &term in terms {
            starts(body.len() - 1);
            self.lexicon.word(term).append_to(body);
            body.push(BOUNDARY);
        }
    }
}

impl TokenList {
    /// The list, leaving an empty one.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Texts(Vec::new()))
    }

    /// Calls `each` for the features - body and medium - in order of first appearance, or in the
    /// order of their slots if that was forgotten.
    pub(crate) fn for_each(&self, table: &Table, mut each: impl FnMut(&[u8], Medium)) {
        match self {
            Self::Texts(list) => tokens_in(list).for_each(|(body, medium)| each(body, medium)),
            Self::Terms(list) => {
                let (mut terms, mut body) = (Vec::new(), Vec::new());
                let one = |at: usize| {
                    list.spell(table, at, &mut terms);
                    list.text(&terms, &mut body);
                    let medium = terms.first().map_or(Medium::TEXT, |&t| list.lexicon.medium(t));
                    each(&body, medium);
                };
                if list.is_unordered {
                    let used = |&at: &usize| !table.cell(at).is_empty();
                    (0..table.size()).filter(used).for_each(one);
                } else {
                    list.ids.iter().filter_map(|&id| table.place(id).found()).for_each(one);
                }
            }
        }
    }

    /// The list as texts.
    pub(crate) fn to_texts(&self, table: &Table) -> Vec<u8> {
        if let Self::Texts(list) = self {
            return list.clone();
        }
        let mut list = Vec::new();
        self.for_each(table, |body, medium| append_text(&mut list, body, medium));
        list
    }
}

/// Appends a token to a list of texts.
pub(crate) fn append_text(list: &mut Vec<u8>, body: &[u8], medium: Medium) {
    list.extend_from_slice(body);
    list.extend_from_slice(&[MEDIUM_MARK, medium.number() + 3, TOKEN_END]);
}

/// The tokens of a list of texts: body and medium.
pub(crate) fn tokens_in(list: &[u8]) -> impl Iterator<Item = (&[u8], Medium)> {
    list.split(|&byte| byte == TOKEN_END).filter_map(|token| {
        let mark = token.iter().position(|&byte| byte == MEDIUM_MARK)?;
        let medium = Medium::new(token.get(mark + 1)?.wrapping_sub(3) & 15);
        Some((&token[..mark], medium))
    })
}
