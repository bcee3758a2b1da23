// SPDX-License-Identifier: GPL-3.0-or-later
//! A category as the scorer sees it: a mapped file, or the random category.

use crate::category::header::Header;
use crate::category::reader::{Category, StoredSlot};
use crate::model::digram::clip;
use crate::token::id::FeatureId;
use crate::token::{BOUNDARY, Feature, PatternId};
use dbacl_numeric::elementary::{log, narrow};
use dbacl_numeric::quantize::QuantWeight;
use memmap2::Mmap;
use std::sync::Arc;

/// A set of regular expressions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PatternSet(u64);

impl PatternSet {
    /// Adds an expression.
    pub(crate) fn insert(&mut self, pattern: PatternId) {
        self.0 |= 1 << (pattern.0 & 63);
    }

    /// Whether an expression is in the set.
    pub(crate) const fn contains(self, pattern: PatternId) -> bool {
        self.0 >> (pattern.0 & 63) & 1 == 1
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A category to score under. Clones share the category's bytes, so each thread can have its own.
#[derive(Debug)]
pub(crate) struct Model<D = Mmap> {
    /// The name that reports show.
    pub name: Vec<u8>,
    /// The regular expressions that its features come from; empty for the standard tokenizer.
    pub patterns: PatternSet,
    /// Where the weights come from; `None` for the random category, which has no features and all
    /// digrams alike.
    category: Option<Arc<Category<D>>>,
    /// Highest order of its features.
    pub max_order: u8,
    /// Whether its features count independently of their order.
    pub multinomial: bool,
    /// Complexity that one token adds.
    pub delta: f64,
    /// Log-partition per token, nats.
    pub renorm: f64,
}

impl<D> Clone for Model<D> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), category: self.category.clone(), ..*self }
    }
}

impl<D: AsRef<[u8]>> Model<D> {
    /// The model of an opened category.
    pub(crate) fn learned(
        name: Vec<u8>,
        category: impl Into<Arc<Category<D>>>,
        patterns: PatternSet,
    ) -> Self {
        let category = category.into();
        let header = category.header();
        let delta = 1.0 / f64::from(header.max_order);
        Self {
            name,
            patterns,
            max_order: header.max_order,
            multinomial: header.multinomial,
            delta,
            renorm: delta * header.log_partition,
            category: Some(category),
        }
    }

    /// The category `random` (`-R`).
    pub(crate) fn random() -> Self {
        Self {
            name: b"random".to_vec(),
            patterns: PatternSet::default(),
            category: None,
            max_order: 1,
            multinomial: true,
            delta: 0.0,
            renorm: 0.0,
        }
    }

    /// The header of the category; `None` for the random one.
    pub(crate) fn header(&self) -> Option<&Header> {
        self.category.as_deref().map(Category::header)
    }

    /// Documents learned; 0 for the random category.
    pub(crate) fn documents(&self) -> u32 {
        self.header().map_or(0, |header| header.documents)
    }

    /// Features learned; 0 for the random category.
    pub(crate) fn features(&self) -> u64 {
        self.header().map_or(0, |header| header.features)
    }

    /// Whether a feature concerns this model (spec model 12, "Applies").
    pub(crate) fn applies(&self, feature: &Feature<'_>) -> bool {
        match feature.pattern {
            None => self.patterns.is_empty() && feature.order <= self.max_order,
            Some(pattern) => self.patterns.contains(pattern),
        }
    }

    /// The slot where the search for `id` ends; `None` when there is none.
    #[inline]
    pub(crate) fn find(&self, id: FeatureId) -> Option<StoredSlot> {
        self.category.as_ref()?.find(id)
    }

    /// Prefetches the memory where the searches for `ids` begin.
    #[inline]
    pub(crate) fn prefetch(&self, ids: impl Iterator<Item = FeatureId>) {
        if let Some(category) = &self.category {
            category.prefetch(ids);
        }
    }

    /// Reference log-probability of a token, nats.
    pub(crate) fn log_reference(&self, body: &[u8]) -> f32 {
        match &self.category {
            Some(category) => category.log_reference(body),
            None => log_reference_at_random(body),
        }
    }
}

/// Every digram costs `log 253`, two boundary marks in a row nothing.
fn log_reference_at_random(body: &[u8]) -> f32 {
    let step = QuantWeight::from_weight(narrow(log(253.0))).weight();
    let mut from = usize::from(BOUNDARY);
    let mut sum = 0.0f32;
    for &byte in body.iter().skip(1).filter(|&&byte| byte != b'\r') {
        let to = clip(byte);
        if from != usize::from(BOUNDARY) || to != usize::from(BOUNDARY) {
            sum -= step;
        }
        from = to;
    }
    QuantWeight::from_log_probability(sum).log_probability()
}
