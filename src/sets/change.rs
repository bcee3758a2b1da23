// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning, correcting and forgetting single documents of a filter.
//!
//! ```text
//! document ─→ one step of its own ─→ lesson ─→ journal
//!                     └─→ when there is a quarter more than at the last fit: fit of all
//! ```

use super::error::MailFilterError;
use super::fitting::{self, Fitted};
use super::open_filter::OpenFilter;
use super::report::Outcome;
use super::weighing::Weights;
use crate::error::{Warning, WarningSink};
use crate::fit::blocks::{
    BLOCKS, COST, Scales, costs, inputs, intercept, least_documents, messages, positive,
};
use crate::fit::joint::Wishes;
use crate::linear::{Block, Exact, Member, Table};
use crate::store::journal::LIMIT;
use crate::store::{Before, Changing, Document, Effect, Lesson};
use dbacl_numeric::elementary::narrow;
use hashbrown::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// What is to be done with documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Learn them.
    Learn,
    /// Forget that they were learned.
    Forget,
    /// Forget them under other labels, and learn them under this one.
    Correct,
}

/// What a change has done to a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// Nothing.
    Nothing,
    /// Documents were learned.
    Lessons,
    /// All of it was fitted again.
    Fit,
}

/// A fit of fewer documents takes hardly longer than a step. Where a label has none, steps would
/// push all documents towards the others.
const QUICK: u32 = 100;

/// Whether so much more is known than when `fitted` documents were fitted that settings and
/// thresholds are found again: thresholds of a growing filter are too wide soon. Of two labels a
/// quarter more is enough, and a document costs as much as four or five in a fit. With more labels
/// fits are slow: all is fitted again when the documents have doubled.
const fn has_grown(documents: u32, fitted: u32, labels: usize) -> bool {
    let (documents, fitted) = (documents as u64, fitted as u64);
    if labels == 2 { documents * 4 >= fitted * 5 } else { documents >= fitted * 2 }
}

/// A filter that is being changed, as it is now.
pub(super) struct Change<'a> {
    pub filter: OpenFilter,
    pub changing: Changing,
    pub stop: &'a AtomicBool,
}

impl Change<'_> {
    /// Learns or corrects documents, whose label is `label`.
    pub(super) fn teach(
        &mut self,
        documents: Vec<Document>,
        kind: ChangeKind,
        warnings: WarningSink<'_>,
    ) -> Result<(Done, Vec<Outcome>)> {
        let labels = self.filter.names().len();
        let was_one_sided = self.filter.tables.table.head.documents.contains(&0);
        let before = self.filter.tables.journal.lessons.len();
        let mut outcomes = Vec::new();
        // Documents that are under two labels.
        let mut mixed = HashSet::new();
        for document in documents {
            super::error::unless_stopped(self.stop)?;
            let document = Document { is_correction: true, ..document };
            let found = self.filter.tables.find(document.name());
            let mut found = found.map_err(|fault| self.fault(fault))?;
            let own = |found: &(u32, Effect)| found.1.label == document.label;
            let is_known = found.iter().any(own);
            found.retain(|found| !own(found));
            // Labels without a folder come last.
            found.sort_by_key(|found| usize::from(found.1.label) >= labels);
            let other = found.first().filter(|found| usize::from(found.1.label) < labels);
            let outcome = match (kind, other) {
                (ChangeKind::Learn, other) if is_known || other.is_some() => Outcome::LearnedAgain,
                (ChangeKind::Learn, _) => Outcome::Learned,
                (_, Some((_, effect))) => {
                    let from = self.filter.names()[usize::from(effect.label)].clone();
                    Outcome::Moved { from }
                }
                (_, None) if is_known => Outcome::Known,
                (_, None) => Outcome::Learned,
            };
            let unplaced = found.partition_point(|found| usize::from(found.1.label) < labels);
            let mut unplaced = found.split_off(unplaced);
            if kind == ChangeKind::Learn {
                self.lesson(document.clone(), None)?;
            } else if found.is_empty() {
                let withdrawn = unplaced.pop();
                let has_withdrawn = withdrawn.is_some();
                if !is_known || has_withdrawn {
                    self.lesson(document.clone(), withdrawn)?;
                }
                mixed.extend((is_known && has_withdrawn).then(|| document.name()));
            } else {
                // It is also under its own label, which the fit below finds.
                mixed.extend(is_known.then(|| document.name()));
                for withdrawn in found {
                    self.lesson(document.clone(), Some(withdrawn))?;
                }
            }
            mixed.extend((!unplaced.is_empty()).then(|| document.name()));
            outcomes.push(outcome);
        }
        let tables = &self.filter.tables;
        let new = tables.journal.lessons.len() - before;
        if new == 0 {
            return Ok((Done::Nothing, outcomes));
        }
        let (all, fitted) = (tables.number(), tables.table.head.fitted);
        if !mixed.is_empty() || has_grown(all, fitted, labels) || was_one_sided && all < QUICK {
            let wishes = Wishes::like(self.filter.rule(), false);
            let mut documents = self.documents();
            if let Ok(documents) = &mut documents {
                without_copies(documents, &mixed);
                self.refit(documents, &wishes, Before::Kept)?;
                return Ok((Done::Fit, outcomes));
            }
            if let Err(error) = documents {
                warnings(Warning::new(error.to_string()));
            }
        }
        if self.changing.learn(&self.filter.tables, new)? > LIMIT {
            // The lessons are on the device; if there is no room for a table, the next one tries
            // again.
            let _ = self.changing.fold(&self.filter.tables);
        }
        Ok((Done::Lessons, outcomes))
    }

    /// Forgets documents: each of `ids` once, of equal ones the last, under the label with this
    /// number or, without one, under any.
    pub(super) fn forget(
        &mut self,
        ids: &[u64],
        label: Option<u8>,
    ) -> Result<(Done, Vec<Outcome>)> {
        let mut documents = self.documents()?;
        let names = self.filter.names().to_vec();
        let goes =
            |own: u8| usize::from(own) < names.len() && label.is_none_or(|wanted| wanted == own);
        let mut outcomes = Vec::new();
        for &id in ids {
            let is_it = |own: &Document| goes(own.label) && own.name() == id;
            outcomes.push(match documents.iter().rposition(is_it) {
                Some(at) => {
                    let from = names[usize::from(documents.remove(at).label)].clone();
                    Outcome::Forgotten { from }
                }
                None => Outcome::NotKnown,
            });
        }
        if outcomes.iter().all(|one| *one == Outcome::NotKnown) {
            return Ok((Done::Nothing, outcomes));
        }
        let wishes = Wishes::like(self.filter.rule(), true);
        self.refit(&mut documents, &wishes, Before::Forgotten)?;
        Ok((Done::Fit, outcomes))
    }

    fn documents(&self) -> Result<Vec<Document>> {
        Ok(self.changing.folder.documents(&self.filter.tables)?)
    }

    /// Fits these documents, which become those of the filter.
    fn refit(&mut self, documents: &mut [Document], wishes: &Wishes, before: Before) -> Result<()> {
        let head = &self.filter.tables.table.head;
        let how = (wishes, self.filter.general.as_ref());
        let fitted = fitting::fit(&head.reading, documents, how, &mut |_| {}, self.stop)?;
        let Fitted { mut head, sections, .. } = fitted;
        head.general.clone_from(&self.filter.tables.table.head.general);
        super::error::unless_stopped(self.stop)?;
        Ok(self.changing.replace(head, &sections, documents, before)?)
    }

    /// Adds a lesson to the open tables: one step of the document's own.
    fn lesson(&mut self, document: Document, withdrawn: Option<(u32, Effect)>) -> Result<()> {
        let tables = &mut self.filter.tables;
        let before = tables.table.head.clone();
        let duals = vec![0.0; before.problems()];
        let label = document.label;
        let effect = Effect { label, is_left_out: false, inputs: [0.0; BLOCKS], duals };
        // With an effect of nothing the document counts, and no more.
        tables.add(Lesson { document, effect, withdrawn });
        let step = self.step();
        let tables = &mut self.filter.tables;
        let Some(mut lesson) = tables.journal.lessons.pop() else { return Ok(()) };
        tables.table.head = before;
        (lesson.effect.inputs, lesson.effect.duals) = step?;
        tables.add(lesson);
        Ok(())
    }

    /// The inputs and the dual variables of the last lesson's document.
    fn step(&self) -> Result<([f32; BLOCKS], Vec<f32>)> {
        let tables = &self.filter.tables;
        let Some(Lesson { document, .. }) = tables.journal.lessons.last() else {
            return Ok(Default::default());
        };
        let message = super::message::Message::of(document);
        let ids = message.ids();
        let fault = |fault| self.fault(fault);
        let rows = tables.look_up(&ids, true).map_err(fault)?;
        let general = self.filter.general.as_ref();
        let general = general.map(|general| Weights::of(&general.tables, &ids)).transpose();
        let general = general.map_err(fault)?;
        let head = &tables.table.head;
        let mut scales = Scales::new(&head.documents, least_documents(&head.documents));
        let (mut known, mut all) = ([0; BLOCKS], [0; BLOCKS]);
        let mut columns: [Vec<u32>; BLOCKS] = Default::default();
        let mut own = Vec::new();
        for at in 0..ids.len() {
            let scale = scales.of(rows.all(at));
            let block = message.block(at);
            let is_known = general.as_ref().is_some_and(|general| general.known[at]);
            all[block] += 1;
            known[block] += usize::from(scale > 0.0 || is_known);
            if scale > 0.0 {
                columns[block].push(u32::try_from(own.len()).unwrap_or(u32::MAX));
                own.push((scale, at));
            }
        }
        let width = rows.problems;
        let scales: Vec<f32> = own.iter().map(|&(scale, _)| scale).collect();
        let number = u32::try_from(width).unwrap_or(u32::MAX);
        let mut table = Table::<Exact>::new(0..number, &scales, intercept());
        for (column, &(_, at)) in (0..).zip(&own) {
            table.sums(column).copy_from_slice(rows.sums(at));
        }
        table.intercept().copy_from_slice(&head.intercepts);
        let inputs = inputs(known, all, messages(&head.documents));
        let blocks: [Block; BLOCKS] = std::array::from_fn(|block| Block {
            columns: u32::try_from(columns[block].len()).unwrap_or(u32::MAX),
            input: inputs[block],
        });
        let label = usize::from(document.label);
        let cost = costs(&head.documents)[label] * narrow(COST);
        let positive = positive(label, head.documents.len());
        let columns = columns.concat();
        let member = Member { columns: &columns, blocks: &blocks, positive: &positive, cost };
        let mut duals = vec![0.0; width];
        table.visit(&member, &mut duals);
        Ok((inputs, duals))
    }

    fn fault(&self, fault: crate::store::table::Fault) -> MailFilterError {
        super::filter_folder::FilterOpenError::of_table(&self.changing.folder, fault).into()
    }
}

/// Leaves of the documents with these names only the last of each.
fn without_copies(documents: &mut Vec<Document>, names: &HashSet<u64>) {
    if names.is_empty() {
        return;
    }
    let mut last = HashMap::new();
    for (number, document) in documents.iter().enumerate() {
        last.insert(document.name(), number);
    }
    let mut number = 0;
    documents.retain(|document| {
        number += 1;
        let name = document.name();
        !names.contains(&name) || last[&name] + 1 == number
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_a_set_that_grows() {
        let counts = |labels: usize| {
            let (mut fits, mut fitted) = (0, 4);
            for documents in 5..=5000 {
                if has_grown(documents, fitted, labels) {
                    (fits, fitted) = (fits + 1, documents);
                }
            }
            fits
        };
        assert_eq!((counts(2), counts(3)), (30, 10));
        assert!(has_grown(u32::MAX, u32::MAX / 2, 2) && !has_grown(124, 100, 2));
    }
}
