// SPDX-License-Identifier: GPL-3.0-or-later
//! Sorts by score as dbacl 1.14.1 does, including scores that are not numbers (spec tools 2.2).

use std::cmp::Ordering;

/// Indices of `scores` in ascending order; equals stay in their order.
///
/// A not-a-number compares as greater than anything, on either side, so where it ends up depends on
/// the steps of the sort: a top-down merge sort that splits n into n/2 and the rest, and takes from
/// the left part unless it compares as greater (case `tools/mailinspect-empty-message`).
pub(crate) fn ascending(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let mut scratch = order.clone();
    sort(scores, &mut order, &mut scratch);
    order
}

fn sort(scores: &[f32], order: &mut [usize], scratch: &mut [usize]) {
    if order.len() < 2 {
        return;
    }
    let middle = order.len() / 2;
    let (left, right) = order.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    sort(scores, left, left_scratch);
    sort(scores, right, right_scratch);
    let (mut from_left, mut from_right) = (left.iter().peekable(), right.iter().peekable());
    for slot in &mut *scratch {
        let takes_left = match (from_left.peek(), from_right.peek()) {
            (Some(&&l), Some(&&r)) => compare(scores[l], scores[r]) != Ordering::Greater,
            (taken, _) => taken.is_some(),
        };
        let next = if takes_left { from_left.next() } else { from_right.next() };
        *slot = *next.expect("the parts fill the whole");
    }
    order.copy_from_slice(scratch);
}

fn compare(a: f32, b: f32) -> Ordering {
    if a - b < 0.0 {
        Ordering::Less
    } else if a == b {
        Ordering::Equal
    } else {
        Ordering::Greater
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_numeric::elementary::count_f32;

    #[test]
    fn equals_keep_their_order_and_not_a_numbers_fall_where_the_merges_put_them() {
        const NAN: f32 = f32::NAN;
        const INF: f32 = f32::INFINITY;
        for (scores, expected) in [
            (&[][..], &[][..]),
            (&[1.0], &[0]),
            (&[3.0, 1.0, 2.0], &[1, 2, 0]),
            (&[1.0, 0.0, 1.0, 0.0, 1.0], &[1, 3, 0, 2, 4]),
            (&[INF, -INF, INF, 0.0], &[1, 3, 0, 2]),
            (&[NAN, 1.0], &[1, 0]),
            (&[1.0, NAN], &[1, 0]),
            (&[NAN, NAN], &[1, 0]),
            (&[17.2, 32.9, 17.4, 18.7, NAN, 4.5], &[5, 4, 0, 2, 3, 1]),
        ] {
            let found = ascending(scores);
            if scores.iter().all(|score| !score.is_nan()) {
                assert!(found.is_sorted_by(|&a, &b| scores[a] <= scores[b]), "{scores:?}");
            }
            assert_eq!(found, expected, "{scores:?}");
        }
    }

    #[test]
    fn long_lists_are_sorted() {
        let scores: Vec<f32> = (0..1000).map(|n| count_f32(n * 7919 % 1000)).collect();
        let found = ascending(&scores);
        assert!(found.is_sorted_by(|&a, &b| scores[a] <= scores[b]));
    }
}
