// SPDX-License-Identifier: GPL-3.0-or-later
//! The counts of learning so far: everything that an online dump holds.

use super::LearnSettings;
use super::table::{Cell, Head, Table};
use super::tokens::TokenList;
use crate::error::Warning;
use crate::model::digram::CharacterCounts;
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;
use dbacl_numeric::random::Random;

/// Number of values of an order as stored in three bits, and one more that dumps carry.
pub(crate) const ORDERS: usize = 9;

/// Counts of a learning run; all integers stop at 2^32 - 1.
#[derive(Debug, Clone)]
pub(crate) struct LearningState<T = Table, L = TokenList> {
    /// The features.
    pub table: T,
    /// Character statistics of the order-1 tokens.
    pub characters: CharacterCounts,
    /// The features in order of first appearance.
    pub tokens: L,
    /// Highest order seen.
    pub max_order: u8,
    /// Occurrences by order; order 0 holds those that found no room.
    pub total_of: [u32; ORDERS],
    /// Distinct features by order.
    pub unique: [u32; ORDERS],
    /// Occurrences of all orders.
    pub total: u32,
    /// Used slots.
    pub used: u32,
    /// Largest count of a slot.
    pub max_count: u32,
    /// The model's option word.
    pub options: ModelOptions,
    /// The tokenizing scheme.
    pub scheme: Scheme,
    /// The cut-off as given (`-z`).
    pub min_count: i32,
    /// Sum over documents of the negative entropy, nats.
    pub negative_entropy_sum: f64,
    /// Sum over documents of the squared entropy.
    pub squared_entropy_sum: f64,
    /// Entropy of the last document, nats.
    pub last_entropy: f64,
    /// Documents with at least one token.
    pub documents: u32,
    /// Documents without tokens.
    pub empty_documents: u32,
    /// Whether the message being read is passed over (`-x`).
    pub message_dropped: bool,
    /// Scores for the confidence: reservoir of documents.
    pub reservoir: Vec<Sampled>,
}

/// A document in the reservoir.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    /// Ids of its tokens, in order, with repeats.
    pub ids: Vec<crate::token::id::FeatureId>,
    /// Its entropy, nats.
    pub entropy: f64,
}

/// Documents that the reservoir holds.
const RESERVOIR: usize = 25;

impl<T, L> LearningState<T, L> {
    /// Nothing counted yet, in `table` and `tokens`, which are empty.
    pub(super) fn of(
        table: T,
        tokens: L,
        options: ModelOptions,
        scheme: Scheme,
        min_count: i32,
    ) -> Self {
        Self {
            table,
            characters: CharacterCounts::default(),
            tokens,
            max_order: 0,
            total_of: [0; ORDERS],
            unique: [0; ORDERS],
            total: 0,
            used: 0,
            max_count: 0,
            options,
            scheme,
            min_count,
            negative_entropy_sum: 0.0,
            squared_entropy_sum: 0.0,
            last_entropy: 0.0,
            documents: 0,
            empty_documents: 0,
            message_dropped: false,
            reservoir: Vec::new(),
        }
    }

    /// Whether per-document statistics are kept.
    pub(crate) const fn measures_entropy(&self) -> bool {
        self.options.has(ModelOption::Entropy)
    }

    /// Whether features are counted independently of their order.
    pub(crate) const fn is_multinomial(&self) -> bool {
        self.options.has(ModelOption::Multinomial)
    }

    /// Counts the features of all orders as those of order 1.
    pub(super) fn unite_orders(&mut self) {
        self.options.insert(ModelOption::Multinomial);
        for order in 2..=usize::from(self.max_order).min(ORDERS - 1) {
            self.total_of[1] = self.total_of[1].wrapping_add(self.total_of[order]);
            self.unique[1] = self.unique[1].wrapping_add(self.unique[order]);
        }
    }

    /// Offers a document to the reservoir (spec model 8.1).
    pub(super) fn sample(&mut self, random: &mut Random, ids: Vec<FeatureId>, entropy: f64) {
        let before = self.documents as usize;
        let place = if before < RESERVOIR {
            Some(before)
        } else {
            let u = random.fraction();
            #[allow(clippy::cast_precision_loss)] // a count of documents below 2^32
            let chosen = (before + 1) as f64 * u < RESERVOIR as f64;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..25
            chosen.then(|| (25.0 * random.fraction()) as usize)
        };
        if let Some(place) = place {
            while self.reservoir.len() <= place {
                self.reservoir.push(Sampled { ids: Vec::new(), entropy: 0.0 });
            }
            self.reservoir[place] = Sampled { ids, entropy };
        }
    }
}

impl LearningState {
    /// Nothing counted yet.
    pub(crate) fn new(settings: &LearnSettings) -> Self {
        let LearnSettings { bits, options, scheme, min_count, .. } = *settings;
        let table = Table::new(bits, options.has(ModelOption::Entropy));
        Self::of(table, TokenList::Texts(Vec::new()), options, scheme, min_count)
    }

    /// The warning about a table that has no room for further features; `None` while it has.
    pub(crate) fn fullness(&self) -> Option<Warning> {
        let hint = || match self.table.bits_for_more(0) {
            Some(bits) => format!("try with option -h {bits}"),
            None => format!("no table takes more than {}: use a smaller -w", self.used),
        };
        let warning = || Warning::new(format!("table full, some tokens ignored - {}", hint()));
        (!self.table.has_room(self.used)).then(warning)
    }

    /// The medium of the feature in a slot.
    pub(crate) fn medium(&self, cell: &Cell) -> Medium {
        let payload = cell.head.payload();
        match &self.tokens {
            TokenList::Terms(list) => list.lexicon.medium(TermId(payload)),
            TokenList::Texts(_) => Medium::new((payload & 15) as u8),
        }
    }

    /// The medium of all features, if that is known to be one and the same.
    pub(crate) fn only_medium(&self) -> Option<Medium> {
        match &self.tokens {
            TokenList::Terms(list) => list.lexicon.only_medium(),
            TokenList::Texts(_) => None,
        }
    }

    /// Keeps features as texts from now on.
    pub(in crate::learn) fn spell_features(&mut self) {
        let texts = self.tokens.to_texts(&self.table);
        for at in 0..self.table.size() {
            let cell = self.table.cell(at);
            if !cell.is_empty() {
                let medium = u32::from(self.medium(&cell).number());
                let head = Head::new(cell.head.order(), medium);
                self.table.set(at, Cell { head, suffix: FeatureId(0), ..cell });
            }
        }
        self.tokens = TokenList::Texts(texts);
    }

    /// Treats all features as of order 1, because none is (spec model 5, step 6).
    pub(in crate::learn) fn make_multinomial(&mut self) {
        self.unite_orders();
        for at in 0..self.table.size() {
            let cell = self.table.cell(at);
            if !cell.is_empty() {
                self.table.set_head(at, cell.head.with_order(1));
            }
        }
    }
}
