// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit: passes of steps over all documents.

use crate::linear::documents::Documents;
use crate::linear::sums::Sum;
use crate::linear::table::{Desk, Table};
use dbacl_numeric::elementary::narrow;
use dbacl_numeric::random::SplitMix64;

/// Passes at the beginning that visit every problem of every document.
const FULL: u32 = 2;
/// Later on, every pass of a number that this divides does.
const EVERY: u32 = 5;

/// How a fit goes over documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Training<'a> {
    /// The numbers of the documents that take part.
    pub part: &'a [u32],
    /// The cost C, which the cost of each document multiplies.
    pub cost: f64,
    /// Passes; 10 suit most data.
    pub passes: u32,
}

/// Fits the documents of `training`, from where `table` stands: a new one, or one with weights to
/// start from. Returns the dual variables, one a document of `documents` and problem; those of
/// documents that take no part are 0.
///
/// Each pass visits the documents in another pseudo-random order: sorted by key, then by the
/// problems in which y is 1, then by cost, and shuffled by [`SplitMix64`] of state 1 (spec refit
/// 3.3). The first two passes, the fifth, the tenth and so on visit every problem; the others only
/// those in which the document's dual variable is above 0, since the others hardly move.
///
/// `go_on` is asked before each pass, whose number it is given; `None` if it says no.
pub(crate) fn solve<S: Sum>(
    table: &mut Table<S>,
    documents: &Documents,
    training: &Training<'_>,
    go_on: &mut dyn FnMut(u32) -> bool,
) -> Option<Vec<f32>> {
    let mut duals = vec![0.0; documents.len() * table.problems().len()];
    resume(table, documents, training, &mut duals, go_on).then_some(duals)
}

/// The same, going on from a fit of fewer documents or with other scales, whose dual variables are
/// given; returns whether it came to the end.
pub(crate) fn resume<S: Sum>(
    table: &mut Table<S>,
    documents: &Documents,
    training: &Training<'_>,
    duals: &mut [f32],
    go_on: &mut dyn FnMut(u32) -> bool,
) -> bool {
    let problems = table.problems().len();
    let key = |&at: &u32| {
        let member = documents.member(at);
        (documents.key(at), member.positive, member.cost.to_bits())
    };
    let mut order = training.part.to_vec();
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let scales = table.scales();
    let mut squares = vec![0.0f32; documents.len()];
    for &at in &order {
        squares[at as usize] =
            narrow(table.square(&documents.member(at), |column| scales[column as usize]));
    }
    let mut is_active = vec![true; documents.len()];
    let (mut shuffle, mut desk) = (SplitMix64::new(1), Desk::default());
    for pass in 1..=training.passes {
        if !go_on(pass) {
            return false;
        }
        shuffle.shuffle(&mut order);
        let every = pass <= FULL || pass.is_multiple_of(EVERY);
        for &at in &order {
            let number = at as usize;
            if every || is_active[number] {
                let member = documents.member(at);
                let cost = training.cost * f64::from(member.cost);
                let own = &mut duals[number * problems..][..problems];
                let square = f64::from(squares[number]);
                is_active[number] = table.step(&member, square, cost, own, every, &mut desk);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::documents::{Block, Member};
    use crate::linear::{Exact, scales};
    use proptest::prelude::*;

    const COLUMNS: u32 = 30;

    /// Documents of two blocks, columns 0 to 19 and 20 to 29, of classes that prefer some columns.
    fn documents(number: u32, classes: u32, seed: u64) -> Documents {
        let mut random = SplitMix64::new(seed);
        let mut below = |bound: u32| u32::try_from(random.below(bound as usize)).unwrap();
        let mut documents = Documents::default();
        for at in 0..number {
            let class = below(classes);
            let mut pick = |range: std::ops::Range<u32>| {
                let width = range.end - range.start;
                let mut own: Vec<u32> = (0..=below(6))
                    .map(|_| {
                        range.start + (if below(3) == 0 { class * 3 } else { below(width) }) % width
                    })
                    .collect();
                own.sort_unstable();
                own.dedup();
                own
            };
            let (words, runs) = (pick(0..20), pick(20..COLUMNS));
            let blocks =
                [Block::new(words.len(), 2.0, words.len()), Block::new(runs.len(), 1.0, 9)];
            let columns = [words, runs].concat();
            let positive = [class];
            let cost = if at % 7 == 0 { 0.5 } else { 1.0 };
            let member = Member { columns: &columns, blocks: &blocks, positive: &positive, cost };
            documents.push(u64::from(at) * 7919 % 1009, &member);
        }
        documents
    }

    fn scales_of(documents: &Documents, part: &[u32]) -> Vec<f32> {
        let frequencies = scales::frequencies(documents, part, COLUMNS as usize);
        frequencies.iter().map(|&df| scales::rarity(part.len(), df, 1.0)).collect()
    }

    fn fit<S: Sum>(
        documents: &Documents,
        problems: std::ops::Range<u32>,
        passes: u32,
    ) -> (Table<S>, Vec<f32>) {
        let part = documents.all();
        let mut table = Table::new(problems, &scales_of(documents, &part), 0.5);
        let training = Training { part: &part, cost: 0.3, passes };
        let duals = solve(&mut table, documents, &training, &mut |_| true).unwrap();
        (table, duals)
    }

    fn weights<S: Sum>(table: &Table<S>) -> Vec<f32> {
        let width = table.problems().len();
        let row = |column| {
            let mut row = vec![0.0; width];
            table.weights(column, &mut row);
            row
        };
        (0..COLUMNS).flat_map(row).collect()
    }

    /// The same fit without tables, rows and active pairs, in 64 bits: one problem, every
    /// document in every pass, until nothing moves.
    fn plain(documents: &Documents, problem: u32) -> (Vec<f64>, f64) {
        let part = documents.all();
        let scales = scales_of(documents, &part);
        let (mut weights, mut intercept) = (vec![0.0f64; COLUMNS as usize], 0.0f64);
        let mut duals = vec![0.0f64; documents.len()];
        for _ in 0..800 {
            for &at in &part {
                let member = documents.member(at);
                let y = if member.positive.contains(&problem) { 1.0 } else { -1.0 };
                let mut inputs = Vec::new();
                for (columns, input) in member.parts() {
                    inputs
                        .extend(columns.iter().map(|&column| (column as usize, f64::from(input))));
                }
                let scale = |column: usize| f64::from(scales[column]);
                let margin = inputs.iter().map(|&(column, x)| weights[column] * x).sum::<f64>();
                let square: f64 = inputs.iter().map(|&(column, x)| scale(column) * x * x).sum();
                let softness = 1.0 / (2.0 * 0.3 * f64::from(member.cost));
                let dual = &mut duals[at as usize];
                let gradient = y * (margin + 0.5 * intercept) - 1.0 + *dual * softness;
                let new = (*dual - gradient / (square + 0.25 + softness)).max(0.0);
                for (column, x) in inputs {
                    weights[column] += (new - *dual) * y * x * scale(column);
                }
                intercept += (new - *dual) * y * 0.5;
                *dual = new;
            }
        }
        (weights, intercept * 0.5)
    }

    #[test]
    fn the_optimum_is_that_of_a_plain_solver() {
        let documents = documents(120, 3, 5);
        let (table, _) = fit::<f32>(&documents, 0..3, 400);
        let (exact, _) = fit::<Exact>(&documents, 0..3, 400);
        for problem in 0..3 {
            let (expected, intercept) = plain(&documents, problem);
            for column in 0..COLUMNS as usize {
                for found in [weights(&table), weights(&exact)] {
                    let found = f64::from(found[column * 3 + problem as usize]);
                    assert!(
                        (found - expected[column]).abs() < 2e-4,
                        "{found} {}",
                        expected[column]
                    );
                }
            }
            let found = table.intercepts().nth(problem as usize).unwrap();
            assert!((found - intercept).abs() < 2e-4);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// The sums follow from documents and dual variables alone, to the bit, whatever steps led
        /// to them: so a document is forgotten by taking its part of the sums away.
        #[test]
        fn sums_are_those_of_the_documents(
            seed in any::<u64>(),
            classes in 1u32..5,
            steps in proptest::collection::vec((0u32..40, any::<bool>()), 1..60),
        ) {
            let documents = documents(40, classes, seed);
            let width = classes as usize;
            let (mut table, mut duals) = fit::<Exact>(&documents, 0..classes, 3);
            for (at, is_learned) in steps {
                let own = &mut duals[at as usize * width..][..width];
                match is_learned {
                    true => table.visit(&documents.member(at), own),
                    false => table.set_scale(at % COLUMNS, 1.5),
                }
            }
            let mut expected = vec![vec![Exact::default(); width]; COLUMNS as usize];
            for at in documents.all() {
                let member = documents.member(at);
                for (problem, number) in (0..classes).enumerate() {
                    let y = if member.positive.contains(&number) { 1.0 } else { -1.0 };
                    let dual = f64::from(duals[at as usize * width + problem]);
                    for (columns, input) in member.parts() {
                        for &column in columns {
                            let sum = &mut expected[column as usize][problem];
                            *sum = sum.plus(Exact::of(dual * y * f64::from(input)));
                        }
                    }
                }
            }
            for (column, expected) in (0..).zip(&expected) {
                prop_assert_eq!(table.sums(column), &expected[..]);
            }
        }

        /// Neither the order of the documents nor the ranges of the problems make a difference.
        #[test]
        fn the_order_of_documents_does_not_matter(seed in any::<u64>(), classes in 1u32..9) {
            let documents = documents(60, classes, seed);
            let mut moved = Documents::default();
            let turn = |at: u32| (at + 17) % 60;
            for at in documents.all() {
                moved.push(documents.key(turn(at)), &documents.member(turn(at)));
            }
            let (table, duals) = fit::<f32>(&documents, 0..classes, 7);
            let (again, moved) = fit::<f32>(&moved, 0..classes, 7);
            prop_assert_eq!(&table, &again);
            let width = classes as usize;
            for at in 0..60usize {
                let new = (at + 60 - 17) % 60 * width;
                prop_assert_eq!(&duals[at * width..][..width], &moved[new..][..width]);
            }
            let middle = classes / 2;
            let low = fit::<f32>(&documents, 0..middle, 7);
            let high = fit(&documents, middle..classes, 7);
            let all = weights(&table);
            for (column, row) in all.chunks_exact(width).enumerate() {
                let (low, high) = (weights(&low.0), weights::<f32>(&high.0));
                let (left, right) = (middle as usize, width - middle as usize);
                prop_assert_eq!(&row[..left], &low[column * left..][..left]);
                prop_assert_eq!(&row[left..], &high[column * right..][..right]);
            }
        }
    }
}
