// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that lie in the wrong category: found by fits that have not seen them.
//!
//! The *excess* of a document is how far it is taken for another category, above 0 where that is
//! the more probable one. A document in the wrong category has an excess as documents of the other
//! category have scores there; a hard one of its own has hardly more than 0. So documents beyond
//! the lower quartile of what the other category's documents score look misfiled:
//!
//! ```text
//! own category                 |hard|      misfiled
//! ...::||||||||||::.......... 0 ...  ........::::::::........   excess
//!                                         ^ quartile of the others, where they are placed rightly
//! ```
//!
//! A few of the misfiled ones lie below the quartile, among hard documents. If they were like the
//! documents of the other category, they would be a quarter of all. They are fewer: fits that have
//! not seen a misfiled document have often seen answers to it and copies of it in the other
//! category. At most three tenths of that quarter are left out as well, those with the largest
//! excesses, and none where more documents lie there than that.

use dbacl_numeric::elementary::real;

/// Fewer documents of either side tell nothing of their shape.
const FEWEST: usize = 100;

/// If more than this share of a category looks misfiled, none of its documents counts as misfiled.
const MOST: f64 = 0.3;

/// The share of those below the quartile that is left out, of as many as there would be if misfiled
/// documents were like those of the other category. Where 2 to 10 % of the messages of each of two
/// folders lay in the other one, 0.5 % of the spam was promised to exceed the threshold for spam
/// that is confidently called ham. With this share at 1 it was 1.2 %, at 0.3 it was 0.3 %, at 0 it
/// was 0.2 %.
const BELOW: f64 = 0.3;

/// The quartile is so many deviations away from the middle of the category's own documents: nearer
/// to it they would be hard documents. Beyond it lies 0.13 % of a normal distribution.
const APART: f64 = 3.0;

/// From the middle to the quartile of a normal distribution, in deviations.
const QUARTILE: f64 = 0.6745;

/// What looks misfiled in a category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Misfiled {
    /// Documents with an excess above this look misfiled.
    pub beyond: f64,
    /// How many documents seem to be misfiled: those with the largest excesses.
    pub number: usize,
}

/// What looks misfiled among documents with these excesses. `others` are the scores of the
/// documents of other categories in the same direction, above 0 where they are placed rightly.
/// `None` where nothing can be told, or nothing is misfiled.
pub(crate) fn misfiled(excesses: &[f64], others: &[f64]) -> Option<Misfiled> {
    if excesses.len().min(others.len()) < FEWEST {
        return None;
    }
    let placed = |all: &[f64], sign: f64| {
        let mut placed: Vec<f64> = all.iter().map(|x| sign * x).filter(|&x| x > 0.0).collect();
        placed.sort_by(f64::total_cmp);
        placed
    };
    let (own, others) = (placed(excesses, -1.0), placed(others, 1.0));
    let (beyond, middle) = (*others.get(others.len() / 4)?, *own.get(own.len() / 2)?);
    let deviation = (own.get(3 * own.len() / 4)? - middle) / QUARTILE;
    if beyond + middle < APART * deviation {
        return None;
    }
    let mut wrong = placed(excesses, 1.0);
    wrong.reverse();
    let certain = wrong.partition_point(|&excess| excess > beyond);
    let below = |x: f64| others.partition_point(|&score| score <= x);
    let (all, above) = (others.len(), others.len() - below(beyond));
    // Of so many certain ones so many are left out between `beyond` and a smaller excess.
    let between = |excess: f64| {
        BELOW * real(certain) * real(all - above - below(excess)) / real(above.max(1))
    };
    let mut number = certain;
    while wrong.get(number).is_some_and(|&excess| real(number - certain + 1) <= between(excess)) {
        number += 1;
    }
    let is_plausible = real(number) <= MOST * real(excesses.len());
    (number > 0 && is_plausible).then_some(Misfiled { beyond, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many numbers, evenly from the first to the last.
    fn spread(number: usize, from: f64, to: f64) -> Vec<f64> {
        (0..number).map(|at| from + (to - from) * real(at) / real(number - 1)).collect()
    }

    #[test]
    fn documents_like_those_of_the_other_category_are_misfiled() {
        let (good, spam) = (spread(400, -9.0, -5.0), spread(200, 4.0, 8.0));
        assert_eq!(misfiled(&good, &spam), None);
        let with = |more: &[f64]| misfiled(&[&good, more].concat(), &spam);
        // Hard documents are not left out, however many.
        assert_eq!(with(&spread(40, 0.1, 3.0)), None);
        let few = with(&[7.0]).unwrap();
        assert!(few.number == 1 && (few.beyond - 5.0).abs() < 0.1, "{few:?}");
        // Of 40 ten lie below the quartile, where hard ones are; at most three are left out.
        let mixed = [spread(40, 4.0, 8.0), spread(10, 0.1, 3.0)].concat();
        assert!((30..=33).contains(&with(&mixed).unwrap().number));
        // Others that are misfiled themselves do not hide anything.
        let both = misfiled(&[&good[..], &[6.0; 5]].concat(), &[&spam[..], &[-7.0; 60]].concat());
        assert_eq!(both.map(|found| found.number), Some(5));
        // A quarter is plausible. More than three of ten are another matter.
        assert!((95..=110).contains(&with(&spread(130, 4.0, 8.0)).unwrap().number));
        assert_eq!(with(&spread(300, 4.0, 8.0)), None);
    }

    #[test]
    fn categories_that_overlap_tell_nothing() {
        let (first, second) = (spread(300, -3.0, 1.5), spread(300, -1.5, 3.0));
        assert_eq!(misfiled(&first, &second), None);
        let few = spread(99, -9.0, -5.0);
        assert_eq!(misfiled(&[&few[..10], &[7.0]].concat(), &second), None);
        assert_eq!(misfiled(&[-1.0; 200], &[-1.0; 200]), None);
        assert_eq!(misfiled(&[1.0; 200], &[1.0; 200]), None);
        assert_eq!(misfiled(&[], &[]), None);
    }
}
