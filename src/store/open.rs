// SPDX-License-Identifier: GPL-3.0-or-later
//! An open filter's tables: rows of the table with the journal's lessons added.

use super::build;
use super::document::Effect;
use super::journal::{Journal, Lesson};
use super::table::{self, Fault, TableFile};
use crate::linear::Exact;

/// What a filter knows of features, in the order of the ids that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Labels of the filter.
    pub labels: usize,
    /// Its problems.
    pub problems: usize,
    /// For each id the number of documents with it, by label.
    pub documents: Vec<u32>,
    /// For each id its sum in each problem.
    pub sums: Vec<Exact>,
}

impl Rows {
    fn new(ids: usize, labels: usize, problems: usize) -> Self {
        let documents = vec![0; ids * labels];
        Self { labels, problems, documents, sums: vec![Exact::default(); ids * problems] }
    }

    /// Documents with the feature number `at`, by label.
    pub(crate) fn documents(&self, at: usize) -> &[u32] {
        &self.documents[at * self.labels..][..self.labels]
    }

    /// The sums of the feature number `at`.
    pub(crate) fn sums(&self, at: usize) -> &[Exact] {
        &self.sums[at * self.problems..][..self.problems]
    }

    /// Documents with the feature number `at`.
    pub(crate) fn all(&self, at: usize) -> u32 {
        self.documents(at).iter().sum()
    }

    fn add(&mut self, at: usize, effect: &Effect, block: usize, is_taken: bool) {
        let documents = &mut self.documents[at * self.labels..][..self.labels];
        let sums = &mut self.sums[at * self.problems..][..self.problems];
        build::add(documents, sums, effect, block, is_taken);
    }
}

/// A table and its journal, as they were at one moment.
#[derive(Debug)]
pub(crate) struct OpenTables<R> {
    /// The table; its head counts the documents of the lessons, too.
    pub table: TableFile<R>,
    /// The lessons since.
    pub journal: Journal,
}

impl<R> OpenTables<R> {
    /// The state of a filter with this table and these lessons.
    pub(crate) fn new(table: TableFile<R>, journal: Journal) -> Self {
        let mut tables = Self { table, journal: Journal { lessons: Vec::new(), ..journal } };
        journal.lessons.into_iter().for_each(|lesson| tables.add(lesson));
        tables
    }

    /// Adds a lesson, as if the journal had it.
    pub(crate) fn add(&mut self, lesson: Lesson) {
        for (effect, is_taken) in effects(&lesson) {
            self.table.head.add(effect, is_taken);
        }
        self.journal.lessons.push(lesson);
    }

    /// Number of documents, those that take no part in the fit included.
    pub(crate) fn number(&self) -> u32 {
        let head = &self.table.head;
        head.documents.iter().sum::<u32>() + head.left_out
    }

    /// What is known of the features `ids`, which rise. Of features that one document has, nothing
    /// is known unless `with_singles`, or a lesson has them.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn look_up(&self, ids: &[u32], with_singles: bool) -> Result<Rows, Fault> {
        let head = &self.table.head;
        let (labels, problems) = (head.reading.labels.len(), head.problems());
        let mut rows = Rows::new(ids.len(), labels, problems);
        self.table.rows(ids, |at, row| {
            let documents = &mut rows.documents[at * labels..][..labels];
            table::read_row(row, documents, &mut rows.sums[at * problems..][..problems]);
        })?;
        let in_lessons = self.in_lessons(ids);
        let is_wanted = |at: &usize| {
            rows.all(*at) == 0
                && (with_singles || in_lessons.binary_search_by_key(at, |it| it.0).is_ok())
        };
        let open: Vec<usize> = (0..ids.len()).filter(is_wanted).collect();
        let wanted: Vec<u32> = open.iter().map(|&at| ids[at]).collect();
        let mut singles = Vec::new();
        self.table.singles(&wanted, |at, document, block| {
            singles.push((open[at], document, block));
        })?;
        let mut last: Option<(u32, Effect)> = None;
        singles.sort_unstable_by_key(|&(_, document, _)| document);
        for (at, document, block) in singles {
            if last.as_ref().is_none_or(|&(number, _)| number != document) {
                last = Some((document, self.table.effect(document)?));
            }
            if let Some((_, effect)) = &last
                && effect.label != table::WITHDRAWN
            {
                rows.add(at, effect, block, false);
            }
        }
        for (at, lesson, block) in in_lessons {
            for (effect, is_taken) in effects(&self.journal.lessons[lesson]) {
                rows.add(at, effect, block, is_taken);
            }
        }
        Ok(rows)
    }

    /// The places in `ids`, rising, that lessons have, with the lesson's number and the block.
    pub(super) fn in_lessons(&self, ids: &[u32]) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        for (number, lesson) in self.journal.lessons.iter().enumerate() {
            for (block, own) in lesson.document.features.iter().enumerate() {
                let mut at = 0;
                for id in own {
                    at += ids[at..].partition_point(|known| known < id);
                    if ids.get(at) == Some(id) {
                        found.push((at, number, block));
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The numbers and effects of the documents with this name that were not withdrawn.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn find(&self, name: u64) -> Result<Vec<(u32, Effect)>, Fault> {
        let names = self.table.names()?;
        let base = self.table.head.entries;
        let withdrawn = self.journal.withdrawn();
        let is_there = |number: u32| withdrawn.binary_search(&number).is_err();
        let mut found = Vec::new();
        for (number, &(own, label)) in (0..).zip(names) {
            if own == name && label != table::WITHDRAWN && is_there(number) {
                found.push((number, self.table.effect(number)?));
            }
        }
        for (number, lesson) in (base..).zip(&self.journal.lessons) {
            if is_there(number) && lesson.document.name() == name {
                found.push((number, lesson.effect.clone()));
            }
        }
        Ok(found)
    }
}

/// The effects of a lesson, and whether each is taken away.
fn effects(lesson: &Lesson) -> impl Iterator<Item = (&Effect, bool)> {
    let withdrawn = lesson.withdrawn.as_ref().map(|(_, effect)| (effect, true));
    withdrawn.into_iter().chain([(&lesson.effect, false)])
}
