// SPDX-License-Identifier: GPL-3.0-or-later
//! A corpus over dense feature numbers, and the two views of its documents that the fit sees.
//!
//! With u distinct features, n occurrences and complexity cx = n / max order, a document is shown
//! as
//!
//! ```text
//! presence   x_t = p/sqrt(u)      bias input 0.1 p cx/sqrt(u)    p = 1, or 2 for once scoring
//! counts     x_t = a c_t/n        bias input 0.1 a/max order      a = sqrt(median n)
//! ```
//!
//! The counts view is what scoring computes; the presence view keeps a few repeated words from
//! deciding (spec refit 3.1).

use super::documents::{Corpus, fingerprint};
use super::index::FeatureIndex;
use super::scoring::{INTERCEPT, Scoring};
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{log, narrow, real};

/// The factor of the bias inputs. It is small, so that the penalty restrains the bias.
pub const BIAS_INPUT: f64 = 0.1;

/// Documents that must contain a feature for it to take part in the fit.
pub const MIN_DOCUMENTS: u32 = 2;

/// A feature of a document, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Number of the feature.
    pub feature: u32,
    /// Occurrences in the document.
    pub count: u32,
}

/// Documents over dense feature numbers.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// Ids of the features, by number.
    pub ids: Vec<FeatureId>,
    /// Their orders.
    pub orders: Vec<u8>,
    /// Documents that contain each.
    pub document_frequencies: Vec<u32>,
    /// Whether they are text: what a message says, and not what its header says of it.
    pub is_text: Vec<bool>,
    cells: Vec<Cell>,
    starts: Vec<usize>,
    /// Category of each document.
    pub labels: Vec<u32>,
    /// Name of each document, see [`fingerprint`].
    pub names: Vec<u64>,
    /// Distinct features of each document (u).
    pub distinct: Vec<u32>,
    /// Those of them that are text.
    pub texts: Vec<u32>,
    /// Occurrences of features in each document (n).
    pub occurrences: Vec<u32>,
    /// Number of categories.
    pub categories: usize,
    /// Highest order of the categories.
    pub max_order: u8,
    /// The length a that count vectors are scaled to.
    pub length: f64,
    /// See [`Corpus::references`].
    pub references: Vec<f32>,
    /// What documents are fitted for.
    pub scoring: Scoring,
    /// Whether weights of features that distinguish the sides are penalised less, see [`contrast`].
    pub contrast: bool,
    /// Features that a general model knows, by number, where features count by blocks; else empty.
    pub known: Vec<bool>,
}

impl Dataset {
    /// The documents of `corpus` that have features, as categories of `max_order` see them.
    pub fn new(corpus: Corpus, categories: usize, max_order: u8) -> Self {
        let Corpus { terms, documents, references } = corpus;
        let mut index = FeatureIndex::default();
        let cells = Vec::with_capacity(terms.len());
        let mut data = Self { cells, starts: vec![0], categories, max_order, ..Self::default() };
        let ends = documents.iter().skip(1).map(|next| next.start).chain([terms.len()]);
        for (number, (document, end)) in documents.iter().zip(ends).enumerate() {
            let own = &terms[document.start..end];
            if own.is_empty() {
                continue;
            }
            for term in own {
                let feature = index.insert(term.id);
                if feature as usize == data.orders.len() {
                    data.orders.push(term.kind.order);
                    data.document_frequencies.push(0);
                    data.is_text.push(term.kind.is_text());
                }
                data.document_frequencies[feature as usize] += 1;
                data.cells.push(Cell { feature, count: term.count });
            }
            data.starts.push(data.cells.len());
            data.labels.push(document.label);
            data.names.push(fingerprint(own));
            data.distinct.push(u32::try_from(own.len()).unwrap_or(u32::MAX));
            let texts = own.iter().filter(|term| term.kind.is_text()).count();
            data.texts.push(u32::try_from(texts).unwrap_or(u32::MAX));
            data.occurrences.push(document.occurrences);
            if !references.is_empty() {
                let own = number * categories..(number + 1) * categories;
                data.references.extend_from_slice(&references[own]);
            }
        }
        data.ids = index.ids;
        data.length = median(&data.occurrences).sqrt();
        data
    }

    /// What the weight of the bias is multiplied by in the score of a document by counts.
    pub fn bias_input(&self) -> f64 {
        match self.scoring {
            Scoring::Blocks => INTERCEPT,
            Scoring::Counts | Scoring::Once => BIAS_INPUT * self.length / f64::from(self.max_order),
        }
    }

    /// Documents that must contain a feature for it to take part in a fit by blocks. With few
    /// documents every feature counts.
    pub fn least_documents(&self) -> u32 {
        let documents = self.documents_by_category().into_iter().filter(|&own| own > 0);
        least_documents(documents.min().unwrap_or(0))
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The features of a document.
    pub fn row(&self, document: usize) -> &[Cell] {
        &self.cells[self.starts[document]..self.starts[document + 1]]
    }

    /// Documents of each category.
    pub fn documents_by_category(&self) -> Vec<usize> {
        let mut documents = vec![0; self.categories];
        for &label in &self.labels {
            documents[label as usize] += 1;
        }
        documents
    }

    /// How many different documents each category has, counted up to `most`: further copies of one,
    /// such as a circular, are not counted.
    pub fn different_documents(&self, most: usize) -> Vec<usize> {
        let mut kept: Vec<Vec<Vec<u32>>> = vec![Vec::new(); self.categories];
        for (document, &label) in self.labels.iter().enumerate() {
            let kept = &mut kept[label as usize];
            if kept.len() >= most {
                continue;
            }
            let mut own: Vec<u32> = self.row(document).iter().map(|cell| cell.feature).collect();
            own.sort_unstable();
            if !kept.iter().any(|other| are_copies(&own, other)) {
                kept.push(own);
            }
        }
        kept.iter().map(Vec::len).collect()
    }

    /// The divisor that turns sums over a document into nats a unit of complexity.
    pub fn complexity(&self, scoring: Scoring, document: usize) -> f64 {
        let (distinct, occurrences) = (self.distinct[document], self.occurrences[document]);
        scoring.complexity(distinct, occurrences, self.max_order)
    }

    /// Removes features that too few documents contain. The numbers of features change; lengths and
    /// counts of distinct features do not.
    pub fn drop_rare_features(&mut self) {
        fn keep<T>(all: &mut Vec<T>, new: &[u32]) {
            let mut new = new.iter();
            all.retain(|_| new.next().is_some_and(|&number| number != u32::MAX));
        }
        let mut numbers = 0..u32::MAX;
        let new = self.document_frequencies.iter().map(|&documents| {
            let is_kept = documents >= MIN_DOCUMENTS;
            is_kept.then(|| numbers.next()).flatten().unwrap_or(u32::MAX)
        });
        let new: Vec<u32> = new.collect();
        keep(&mut self.ids, &new);
        keep(&mut self.orders, &new);
        keep(&mut self.document_frequencies, &new);
        keep(&mut self.is_text, &new);
        let mut to = 0;
        let mut from = 0;
        for start in &mut self.starts[1..] {
            for at in from..*start {
                let cell = self.cells[at];
                let feature = new[cell.feature as usize];
                if feature != u32::MAX {
                    self.cells[to] = Cell { feature, ..cell };
                    to += 1;
                }
            }
            from = *start;
            *start = to;
        }
        self.cells.truncate(to);
    }
}

/// Documents that must contain a feature for it to take part in a fit by blocks, where the smallest
/// category has so many.
pub const fn least_documents(smallest: usize) -> u32 {
    if smallest > FEW { MIN_DOCUMENTS } else { 1 }
}

/// With so many documents of a category or fewer, every feature counts.
const FEW: usize = 20;

/// Whether two documents share 49 in 50 of the features that either has; both lists rise. Copies
/// of a message differ in addresses and ids.
fn are_copies(one: &[u32], other: &[u32]) -> bool {
    let shared = one.iter().filter(|feature| other.binary_search(feature).is_ok()).count();
    50 * shared >= 49 * (one.len() + other.len() - shared)
}

/// The median of `numbers`, at least 1.
fn median(numbers: &[u32]) -> f64 {
    let mut numbers = numbers.to_vec();
    if numbers.is_empty() {
        return 1.0;
    }
    let middle = numbers.len() / 2;
    f64::from(*numbers.select_nth_unstable(middle).1).max(1.0)
}

/// The factors of a document's two views.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Row {
    /// Input of each distinct feature in the presence view.
    pub presence: f64,
    /// Input of each occurrence in the counts view.
    pub counts: f64,
    /// Bias input of the presence view.
    pub presence_bias: f64,
    /// Bias input of the counts view.
    pub counts_bias: f64,
    /// Squared length of the presence view, each square times its feature's scale.
    pub presence_square: f64,
    /// Squared length of the counts view.
    pub counts_square: f64,
    /// Product of the two views.
    pub product: f64,
}

impl Row {
    /// The factors of a document with `distinct` features, `occurrences` and highest order
    /// `max_order`; its squares are 0.
    pub fn new(
        scoring: Scoring,
        distinct: u32,
        occurrences: u32,
        max_order: u8,
        length: f64,
    ) -> Self {
        let (u, n) = (f64::from(distinct.max(1)), f64::from(occurrences.max(1)));
        let order = f64::from(max_order);
        let presence = scoring.presence_length() / u.sqrt();
        Self {
            presence,
            counts: length / n,
            presence_bias: BIAS_INPUT * n / order * presence,
            counts_bias: BIAS_INPUT * length / order,
            ..Self::default()
        }
    }

    /// Sets the squares, from sums over the features of scale, scale times count, and scale times
    /// squared count.
    pub fn set_squares(&mut self, ones: f64, counts: f64, squares: f64) {
        let (p, c) = (self.presence, self.counts);
        self.presence_square = p * p * ones + self.presence_bias * self.presence_bias;
        self.counts_square = c * c * squares + self.counts_bias * self.counts_bias;
        self.product = p * c * counts + self.presence_bias * self.counts_bias;
    }
}

/// The scale of a feature that `frequency` of `documents` contain.
pub fn scale(documents: usize, frequency: u32) -> f32 {
    if frequency < MIN_DOCUMENTS {
        return 0.0;
    }
    narrow(log((real(documents) + 1.0) / f64::from(frequency)))
}

/// 1/4 + |r|/2, where r is the logarithm of the ratio of the shares of both sides' documents that
/// contain a feature: (documents with it, documents). Half a document is added to each side with it
/// and without it.
pub fn contrast(sides: [(u32, usize); 2]) -> f32 {
    let share = |(with, all): (u32, usize)| (f64::from(with) + 0.5) / (real(all) + 1.0);
    narrow(0.25 + log(share(sides[0]) / share(sides[1])).abs() / 2.0)
}

/// Number of one-against-the-rest problems: one for two categories.
pub const fn problems(categories: usize) -> usize {
    if categories == 2 { 1 } else { categories }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::documents::Term;

    fn corpus() -> Corpus {
        let mut corpus = Corpus::default();
        let term = |id, count| Term::new(FeatureId(id), 1, count);
        corpus.push(0, 5, &[term(1, 2), term(2, 3)]);
        corpus.push(1, 0, &[]);
        corpus.push(1, 4, &[term(2, 1), term(3, 3)]);
        corpus
    }

    #[test]
    fn documents_without_features_are_left_out() {
        let data = Dataset::new(corpus(), 2, 1);
        assert_eq!(data.len(), 2);
        assert_eq!(data.document_frequencies, [1, 2, 1]);
        assert_eq!(data.length, 5f64.sqrt());
    }

    #[test]
    fn factors_of_views_are_those_of_the_specification() {
        let row = Row::new(Scoring::Counts, 4, 10, 2, 3.0);
        let presence = Scoring::Counts.presence_length() / 2.0;
        for (found, expected) in [
            (row.presence, presence),
            (row.counts, 0.3),
            (row.presence_bias, BIAS_INPUT * 5.0 * presence),
            (row.counts_bias, BIAS_INPUT * 1.5),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn dropping_rare_features_keeps_lengths() {
        let mut data = Dataset::new(corpus(), 2, 1);
        data.drop_rare_features();
        assert_eq!(data.ids, [FeatureId(2)]);
        assert_eq!(data.row(0), [Cell { feature: 0, count: 3 }]);
        assert_eq!(data.row(1), [Cell { feature: 0, count: 1 }]);
        assert_eq!(data.distinct, [2, 2]);
        assert_eq!(data.occurrences, [5, 4]);
    }

    #[test]
    fn copies_of_a_document_count_once() {
        let mut corpus = Corpus::default();
        let mut push = |label, from: u32, to: u32| {
            let term = |id| Term::new(FeatureId(id), 1, 1);
            corpus.push(label, to - from, &(from..to).map(term).collect::<Vec<_>>());
        };
        push(0, 1, 50);
        push(1, 1, 50);
        push(0, 1, 51); // 49 of 50
        push(0, 2, 51); // 48 of 50
        push(1, 1, 49); // 48 of 49
        push(1, 60, 62);
        push(1, 70, 72);
        let data = Dataset::new(corpus, 2, 1);
        assert_eq!(data.different_documents(8), [2, 4]);
        assert_eq!(data.different_documents(1), [1, 1]);
    }

    #[test]
    fn features_of_one_side_stand_out() {
        for (sides, expected) in [
            ([(3, 9), (3, 9)], 0.25),
            ([(4, 8), (0, 8)], 0.25 + 9f64.ln() / 2.0),
            ([(0, 8), (4, 8)], 0.25 + 9f64.ln() / 2.0),
            ([(0, 0), (0, 0)], 0.25),
        ] {
            assert_eq!(contrast(sides), narrow(expected), "{sides:?}");
        }
    }
}
