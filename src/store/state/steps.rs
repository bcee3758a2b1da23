// SPDX-License-Identifier: GPL-3.0-or-later
//! Steps of the solver for single documents, whose features are read from the tables of a state and
//! written back.

use super::State;
use super::head::Numbers;
use crate::fit::by_blocks;
use crate::fit::dataset::{Cell, Row, contrast, least_documents, scale};
use crate::fit::joint::LEFT_OUT;
use crate::fit::scoring::{INTERCEPT, Scoring, WEIGHTS};
use crate::fit::solver::{Fit, Weight};
use crate::store::ledger::Record;
use dbacl_linear::{Block, Member, Table, scales};
use dbacl_numeric::elementary::narrow;

/// The features of a document that take part in the fits.
#[derive(Debug, Default)]
struct Gathered {
    /// Their slots.
    slots: Vec<usize>,
    /// Documents that contain each.
    documents: Vec<u32>,
    scales: Vec<f32>,
    /// Whether they are text.
    texts: Vec<bool>,
    cells: Vec<Cell>,
    /// Weights by feature and fit.
    weights: Vec<f32>,
    /// Documents of the fit's category by feature and fit, where contrast asks for them.
    with: Vec<u32>,
}

impl State {
    /// The category that a fit tells from the rest: of two, one fit tells the second from the
    /// first.
    const fn category_of(&self, fit: usize) -> usize {
        if self.tables.fits == 1 { 1 } else { fit }
    }

    /// On which side of a fit documents of category `label` are.
    const fn side_of(&self, fit: usize, label: u32) -> f64 {
        if self.category_of(fit) == label as usize { 1.0 } else { -1.0 }
    }

    /// Takes note that the counts of a document's features have changed.
    pub(super) fn touch_counted(&mut self, record: &Record) {
        let is_blocks = self.numbers.scoring == Scoring::Blocks;
        let has_ordinary = is_blocks || self.numbers.counts_ordinary && self.numbers.blend > 0.0;
        if self.tables.categories > 2 || has_ordinary {
            self.touched.extend(record.terms.iter().map(|term| term.id.0));
        }
    }

    /// One step of all fits for document `number`.
    pub(super) fn step(&mut self, number: usize, record: &Record) {
        if self.numbers.scoring == Scoring::Blocks {
            return self.visit_blocks(number, record.label, record, false);
        }
        let fits = self.tables.fits;
        let mut found = self.gather(record);
        let mut is_changed = false;
        for at in 0..fits {
            let duals = self.tables.duals(number, at);
            let y = self.side_of(at, record.label);
            // Most documents lie beyond the margins of most of many fits.
            if fits > 1 && duals == [0.0; 2] && self.is_beyond(&found, at, record, y) {
                continue;
            }
            let (mut fit, row) = self.fit_of(&found, at, record);
            fit.duals.push(duals);
            fit.step(0, &found.cells, &row, y, self.numbers.cost);
            if fit.duals[0] == duals {
                continue;
            }
            self.tables.put_duals(number, at, fit.duals[0]);
            self.take_over(&mut found, at, &fit);
            is_changed = true;
        }
        if is_changed {
            self.put_gathered(&found, record);
        }
    }

    /// Takes back what document `number`, learned as `label`, has done to the weights.
    pub(super) fn undo(&mut self, number: usize, label: u32, record: &Record) {
        if self.numbers.scoring == Scoring::Blocks {
            return self.visit_blocks(number, label, record, true);
        }
        let mut found = self.gather(record);
        for at in 0..self.tables.fits {
            let duals = self.tables.duals(number, at);
            if duals == [0.0; 2] {
                continue;
            }
            let y = self.side_of(at, label);
            let (mut fit, row) = self.fit_of(&found, at, record);
            let [presence, counts] = duals.map(|dual| -y * f64::from(dual));
            fit.add(&found.cells, &row, presence, counts);
            self.tables.put_duals(number, at, [0.0; 2]);
            self.take_over(&mut found, at, &fit);
        }
        self.put_gathered(&found, record);
    }

    /// Documents that must contain a feature for it to take part in fits by blocks.
    pub(super) fn least_documents(&self) -> u32 {
        let documents = self.numbers.sides.iter().map(|side| side.documents as usize);
        least_documents(documents.filter(|&own| own > 0).min().unwrap_or(0))
    }

    /// One step of all fits by blocks for document `number`, or takes back what it has done to the
    /// weights. A document that was left out of the fit stays out until it is relabelled.
    fn visit_blocks(&mut self, number: usize, label: u32, record: &Record, is_back: bool) {
        let fits = self.tables.fits;
        if self.tables.duals(number, 0) == LEFT_OUT {
            if is_back {
                (0..fits).for_each(|at| self.tables.put_duals(number, at, [0.0; 2]));
            }
            return;
        }
        let mut found = self.gather(record);
        let mut table = Table::<f32>::new(
            0..u32::try_from(fits).unwrap_or(u32::MAX),
            &found.scales,
            by_blocks::intercept(),
        );
        for (column, weights) in (0..).zip(found.weights.chunks_exact(fits)) {
            table.start(column, weights);
        }
        for (at, sum) in table.intercept().iter_mut().enumerate() {
            *sum = narrow(self.numbers.sides[self.category_of(at)].bias);
        }
        let numbers = (0..).zip(&found.texts);
        let texts = numbers.clone().filter(|&(_, &own)| own).map(|(at, _)| at);
        let tags = numbers.filter(|&(_, &own)| !own).map(|(at, _)| at);
        let columns: Vec<u32> = texts.chain(tags).collect();
        let own = found.texts.iter().filter(|&&own| own).count();
        let sizes = [own, columns.len() - own];
        let blocks = [0, 1].map(|at| Block::new(sizes[at], WEIGHTS[at], sizes[at]));
        let documents: Vec<u32> = self.numbers.sides.iter().map(|side| side.documents).collect();
        let cost = by_blocks::costs(&documents)[label as usize] * narrow(self.numbers.cost);
        let positive = by_blocks::positive(label, documents.len());
        let member = Member { columns: &columns, blocks: &blocks, positive: &positive, cost };
        let before: Vec<f32> = (0..fits).map(|at| self.tables.duals(number, at)[0]).collect();
        let mut duals = before.clone();
        if is_back {
            table.forget(&member, &mut duals);
        } else {
            table.visit(&member, &mut duals);
        }
        if duals == before {
            return;
        }
        for (at, &dual) in duals.iter().enumerate() {
            self.tables.put_duals(number, at, [dual, 0.0]);
        }
        for (column, weights) in (0..).zip(found.weights.chunks_exact_mut(fits)) {
            table.weights(column, weights);
        }
        let intercepts: Vec<f64> = table.intercepts().collect();
        for (at, intercept) in intercepts.into_iter().enumerate() {
            let category = self.category_of(at);
            self.numbers.sides[category].bias = intercept / INTERCEPT;
        }
        self.put_gathered(&found, record);
    }

    /// The features of a document that take part in the fits, and their weights in all fits.
    fn gather(&mut self, record: &Record) -> Gathered {
        let fits = self.tables.fits;
        let all = self.documents() as usize;
        let least = self.least_documents();
        let mut found = Gathered::default();
        found.slots.reserve(record.terms.len());
        found.cells.reserve(record.terms.len());
        found.weights.reserve(record.terms.len() * fits);
        for term in &record.terms {
            let Some(at) = self.tables.find(term.id.0) else { continue };
            let slot = self.tables.slot(at);
            let scale = if self.numbers.scoring == Scoring::Blocks {
                if slot.documents >= least { self.rarity(all, slot.documents) } else { 0.0 }
            } else {
                scale(all, slot.documents)
            };
            if scale == 0.0 {
                continue;
            }
            let feature = u32::try_from(found.cells.len()).unwrap_or(u32::MAX);
            found.texts.push(term.kind.is_text());
            found.cells.push(Cell { feature, count: term.count });
            found.slots.push(at);
            found.documents.push(slot.documents);
            found.scales.push(scale);
            self.tables.weights(&slot, &mut found.weights);
            if self.numbers.contrast {
                let start = found.with.len();
                found.with.resize(start + fits, 0);
                let with = &mut found.with[start..];
                self.tables.entries(&slot, |own| match (fits, own.category) {
                    (1, 0) => {}
                    (1, _) => with[0] = own.documents,
                    (_, category) => with[usize::from(category)] = own.documents,
                });
            }
        }
        found
    }

    /// The scale of a feature that so many of all documents contain, in fits by blocks. Many
    /// features have the same.
    fn rarity(&mut self, all: usize, documents: u32) -> f32 {
        const KEPT: usize = 1 << 12;
        let compute = || scales::rarity(all, documents, by_blocks::RARITY);
        if self.rarities.0 != all {
            self.rarities = (all, vec![f32::NAN; KEPT]);
        }
        let Some(known) = self.rarities.1.get_mut(documents as usize) else { return compute() };
        if known.is_nan() {
            *known = compute();
        }
        *known
    }

    /// The factors of a document's views; the squares are 0.
    fn row_of(&self, record: &Record) -> Row {
        let distinct = u32::try_from(record.terms.len()).unwrap_or(u32::MAX);
        let Numbers { max_order, length, scoring, .. } = self.numbers;
        Row::new(scoring, distinct, record.occurrences, max_order, length)
    }

    /// Fit number `number` as far as a document's features have a part in it, and the factors of
    /// the document's views.
    fn fit_of(&self, found: &Gathered, number: usize, record: &Record) -> (Fit, Row) {
        let fits = self.tables.fits;
        let side = self.numbers.sides[self.category_of(number)];
        let own = side.documents as usize;
        let others = (self.documents() as usize).saturating_sub(own);
        let mut row = self.row_of(record);
        let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
        let mut weights = Vec::with_capacity(found.cells.len());
        for (feature, cell) in found.cells.iter().enumerate() {
            let mut scale = found.scales[feature];
            if self.numbers.contrast {
                let with = found.with[feature * fits + number];
                let rest = found.documents[feature].saturating_sub(with);
                scale *= contrast([(with, own), (rest, others)]);
            }
            let (wide, count) = (f64::from(scale), f64::from(cell.count));
            ones += wide;
            counts += wide * count;
            squares += wide * count * count;
            weights.push(Weight { value: found.weights[feature * fits + number], scale });
        }
        row.set_squares(ones, counts, squares);
        (Fit { weights, bias: side.bias, duals: Vec::with_capacity(1) }, row)
    }

    /// Whether a document lies beyond the margin in both views of a fit.
    fn is_beyond(&self, found: &Gathered, number: usize, record: &Record, y: f64) -> bool {
        let row = self.row_of(record);
        let (mut ones, mut counts) = (0.0, 0.0);
        let own = found.weights.iter().skip(number).step_by(self.tables.fits);
        for (&weight, cell) in own.zip(&found.cells) {
            let weight = f64::from(weight);
            ones += weight;
            counts += weight * f64::from(cell.count);
        }
        let bias = self.numbers.sides[self.category_of(number)].bias;
        y * (ones * row.presence + bias * row.presence_bias) >= 1.0
            && y * (counts * row.counts + bias * row.counts_bias) >= 1.0
    }

    /// Takes the weights and the bias of fit number `number` over.
    fn take_over(&mut self, found: &mut Gathered, number: usize, fit: &Fit) {
        let category = self.category_of(number);
        self.numbers.sides[category].bias = fit.bias;
        let own = found.weights.iter_mut().skip(number).step_by(self.tables.fits);
        for (own, weight) in own.zip(&fit.weights) {
            *own = weight.value;
        }
    }

    /// Writes the weights of a document's features.
    fn put_gathered(&mut self, found: &Gathered, record: &Record) {
        let fits = self.tables.fits;
        for (&at, weights) in found.slots.iter().zip(found.weights.chunks_exact(fits)) {
            if self.tables.put_weights(at, weights) && fits == 1 {
                self.touched.push(self.tables.slot(at).id);
            }
        }
        if fits > 1 {
            self.touched.extend(record.terms.iter().map(|term| term.id.0));
        }
    }
}
