// SPDX-License-Identifier: GPL-3.0-or-later
//! Scales of columns, costs of documents, and weights to start from.
//!
//! The scale of a column says how little its weight is penalised. It is its *rarity*, times its
//! *contrast* where features that tell the classes apart are preferred:
//!
//! ```text
//! rarity    ln((N+1)/df)^power                     N documents, df of them with the column
//! contrast  1/4 + max over classes |r_k|/2    r_k = ln(share(df_k, N_k) / share(df-df_k, N-N_k))
//!                                                  share(with, all) = (with + 1/2)/(all + 1)
//! ```

use crate::linear::documents::Documents;
use dbacl_numeric::elementary::{exp, log, narrow, real};

/// How many of the documents of `part` have each of `columns` columns.
pub(crate) fn frequencies(documents: &Documents, part: &[u32], columns: usize) -> Vec<u32> {
    let mut found = vec![0; columns];
    for &at in part {
        for &column in documents.member(at).columns {
            found[column as usize] += 1;
        }
    }
    found
}

/// The rarity of a column that `with` of `all` documents have; 0 if none has it.
pub(crate) fn rarity(all: usize, with: u32, power: f64) -> f32 {
    if with == 0 {
        return 0.0;
    }
    let rarity = log((real(all) + 1.0) / f64::from(with));
    narrow(if power == 1.0 { rarity } else { exp(power * log(rarity)) })
}

/// The contrast of each column over the documents of `part`, `members[k]` of which are those of
/// class k. Two classes have the same contrast.
pub(crate) fn contrasts(documents: &Documents, members: &[Vec<u32>], columns: usize) -> Vec<f32> {
    let mut with_any = vec![0u32; columns];
    for &column in members.iter().flatten().flat_map(|&at| documents.member(at).columns) {
        with_any[column as usize] += 1;
    }
    let any = real(members.iter().map(Vec::len).sum());
    // The largest quotient decides, so that there is one logarithm a column.
    let mut largest = vec![1.0f64; columns];
    for own in members {
        let with = frequencies(documents, own, columns);
        let all = real(own.len());
        for ((largest, &with), &with_any) in largest.iter_mut().zip(&with).zip(&with_any) {
            *largest = largest.max(quotient((with, all), (with_any, any)));
        }
    }
    largest.into_iter().map(contrast).collect()
}

/// How many times as frequent a column is in a class as in the others, or as rare; `own` are
/// `df_k` and `N_k`, `all` are df and N.
pub(crate) fn quotient(own: (u32, f64), all: (u32, f64)) -> f64 {
    let share = |with: u32, all: f64| (f64::from(with) + 0.5) / (all + 1.0);
    let quotient = share(own.0, own.1) / share(all.0 - own.0, all.1 - own.1);
    quotient.max(1.0 / quotient)
}

/// The contrast of a column whose largest [`quotient`] is this.
pub(crate) fn contrast(largest: f64) -> f32 {
    narrow(0.25 + log(largest) / 2.0)
}

/// What a document of each of K classes costs, as a multiple, so that rare classes are found:
/// `(N/(K N_k))^power`.
pub(crate) fn balance(sizes: &[u32], power: f64) -> Vec<f32> {
    let all: f64 = sizes.iter().map(|&size| f64::from(size)).sum();
    let cost = |&size: &u32| {
        let share = all / (real(sizes.len()) * f64::from(size.max(1)));
        narrow(exp(power * log(share.max(f64::MIN_POSITIVE))))
    };
    sizes.iter().map(cost).collect()
}

/// The ordinary weight of a column for a class, to start a fit from: how much more often its
/// documents have the column than the others, smoothed by A documents of the mean,
///
/// ```text
/// L = ln((d_k + A p)/(D_k + A)) - ln((d - d_k + A p)/(D - D_k + A))      p = d/D
/// ```
///
/// `own` are `d_k` and `D_k`, `all` are d and D. They may be fractions: documents without a label
/// have a share in each class.
pub(crate) fn ordinary(own: (f64, f64), all: (f64, f64), strength: f64) -> f64 {
    let prior = strength * all.0 / all.1;
    let share = |(with, of): (f64, f64)| (with + prior) / (of + strength);
    log(share(own) / share((all.0 - own.0, all.1 - own.1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::documents::Member;

    #[test]
    fn rare_columns_have_high_scales() {
        assert_eq!(rarity(99, 1, 1.0), 100f32.ln());
        assert_eq!(rarity(99, 0, 1.0), 0.0);
        assert!((rarity(99, 2, 0.75) - 50f32.ln().powf(0.75)).abs() < 1e-6);
        assert!(rarity(5, 5, 1.0) > 0.0);
    }

    #[test]
    fn columns_that_tell_classes_apart_have_contrast() {
        let mut documents = Documents::default();
        for at in 0..30u32 {
            // Column 0 is in nine documents of the first class, column 1 in half of each.
            let columns: &[u32] = match (at < 9, at % 2 == 0) {
                (true, true) => &[0, 1],
                (true, false) => &[0],
                (false, true) => &[1],
                (false, false) => &[],
            };
            documents.push(0, &Member { columns, blocks: &[], positive: &[], cost: 1.0 });
        }
        let class = |k: u32| (10 * k..10 * (k + 1)).collect::<Vec<u32>>();
        let found = contrasts(&documents, &[class(0), class(1), class(2)], 2);
        let expected = 0.25 + ((9.5 / 11.0) / (0.5 / 21.0_f64)).ln() / 2.0;
        assert!((f64::from(found[0]) - expected).abs() < 1e-6);
        assert!(found[1] < 0.3, "{found:?}");
        let two = |first, second| contrasts(&documents, &[class(first), class(second)], 2);
        assert_eq!(two(0, 1), two(1, 0));
    }

    #[test]
    fn documents_of_rare_classes_cost_more() {
        assert_eq!(balance(&[10, 30], 1.0), [2.0, 2.0 / 3.0]);
        assert_eq!(balance(&[10, 30], 0.0), [1.0, 1.0]);
        assert!((balance(&[10, 30], 0.5)[0] - 2f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn ordinary_weights_say_where_a_column_is_frequent() {
        let prior = 10.0 / 3.0;
        let expected: f64 = ((8.0 + prior) / 20.0f64).ln() - ((2.0 + prior) / 30.0f64).ln();
        assert!((ordinary((8.0, 10.0), (10.0, 30.0), 10.0) - expected).abs() < 1e-12);
        assert!(ordinary((1.0, 10.0), (10.0, 30.0), 10.0) < 0.0);
    }
}
