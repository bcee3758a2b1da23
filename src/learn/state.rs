// SPDX-License-Identifier: GPL-3.0-or-later
//! The counts of learning so far: everything that an online dump holds.

use super::table::{Cell, Head, Table};
use super::tokens::TokenList;
use crate::error::Warning;
use crate::model::digram::CharacterCounts;
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;

/// Number of values of an order as stored in three bits, and one more that dumps carry.
pub const ORDERS: usize = 9;

/// Counts of a learning run; all integers stop at 2^32 - 1.
#[derive(Debug, Clone)]
pub struct LearningState {
    /// The features.
    pub table: Table,
    /// Character statistics of the order-1 tokens.
    pub characters: CharacterCounts,
    /// The features in order of first appearance.
    pub tokens: TokenList,
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
pub struct Sampled {
    /// Ids of its tokens, in order, with repeats.
    pub ids: Vec<crate::token::id::FeatureId>,
    /// Its entropy, nats.
    pub entropy: f64,
}

impl LearningState {
    /// Nothing counted yet, in a table of 2^`bits` slots.
    pub fn new(bits: u8, options: ModelOptions, scheme: Scheme, min_count: i32) -> Self {
        Self {
            table: Table::new(bits, options.has(ModelOption::Entropy)),
            characters: CharacterCounts::default(),
            tokens: TokenList::Texts(Vec::new()),
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

    /// The warning about a table that has no room for further features; `None` while it has.
    pub fn fullness(&self) -> Option<Warning> {
        let bits = self.table.bits() + 1;
        (!self.table.has_room(self.used)).then(|| {
            Warning::new(format!("table full, some tokens ignored - try with option -h {bits}"))
        })
    }

    /// Whether per-document statistics are kept.
    pub const fn measures_entropy(&self) -> bool {
        self.options.has(ModelOption::Entropy)
    }

    /// Whether features are counted independently of their order.
    pub const fn is_multinomial(&self) -> bool {
        self.options.has(ModelOption::Multinomial)
    }

    /// The medium of the feature in a slot.
    pub fn medium(&self, cell: &Cell) -> Medium {
        let payload = cell.head.payload();
        match &self.tokens {
            TokenList::Terms(list) => list.lexicon.medium(TermId(payload)),
            TokenList::Texts(_) | TokenList::Unread(_) => Medium::new((payload & 15) as u8),
        }
    }

    /// The medium of all features, if that is known to be one and the same.
    pub fn only_medium(&self) -> Option<Medium> {
        match &self.tokens {
            TokenList::Terms(list) => list.lexicon.only_medium(),
            TokenList::Texts(_) | TokenList::Unread(_) => None,
        }
    }

    /// Keeps features as texts from now on.
    pub(in crate::learn) fn spell_features(&mut self) {
        let texts = self.tokens.to_texts(&self.table);
        for at in 0..self.table.size() {
            let cell = self.table.cell(at);
            if !cell.is_empty() {
                let medium = u32::from(self.medium(&cell).number());
                self.table.set_head(at, Head::new(cell.head.order(), medium));
                self.table.set_suffix(at, FeatureId(0));
            }
        }
        self.tokens = TokenList::Texts(texts);
    }

    /// Treats all features as of order 1, because none is (spec model 5, step 6).
    pub(in crate::learn) fn make_multinomial(&mut self) {
        self.options.insert(ModelOption::Multinomial);
        for order in 2..=usize::from(self.max_order).min(ORDERS - 1) {
            self.total_of[1] = self.total_of[1].wrapping_add(self.total_of[order]);
            self.unique[1] = self.unique[1].wrapping_add(self.unique[order]);
        }
        for at in 0..self.table.size() {
            if self.table.id(at).0 != 0 {
                self.table.set_head(at, self.table.head(at).with_order(1));
            }
        }
    }
}
