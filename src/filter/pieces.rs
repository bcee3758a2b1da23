// SPDX-License-Identifier: GPL-3.0-or-later
//! Made input for tests: what a filter looks for, in any order, between bytes of any value.

use proptest::prelude::*;

/// Fewer than `most` pieces, one after the other: any bytes, and the texts in `known`, which are
/// separated by `|`.
pub(super) fn pieces_of(known: &'static str, most: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(known.split('|').collect::<Vec<_>>())
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}
