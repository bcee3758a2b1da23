// SPDX-License-Identifier: GPL-3.0-or-later
//! The model dump (`-d` when learning, spec model 11).

use super::state::LearningState;
use super::table::Table;
use crate::category::header::Header;

use crate::token::id::FeatureId;
use crate::token::show::show;
use dbacl_numeric::cformat;

/// Appends the dump's head: header lines, counts, expressions, options, column names.
pub(crate) fn head(
    out: &mut Vec<u8>,
    header: &Header,
    name: &[u8],
    patterns: &[Vec<u8>],
    state: &LearningState,
) {
    header.write_numbers(out, name);
    let counts = format!(
        "# min_feature_count {} max_feature_count {}\n",
        state.min_count,
        state.max_count.cast_signed()
    );
    out.extend_from_slice(counts.as_bytes());
    header.write_settings(out, patterns);
    out.extend_from_slice(b"# lambda | dig_ref | count | id     | token\n");
}

/// Appends one line per token of the token list, calling `flush` now and then to keep `out` short.
///
/// # Errors
/// Those of `flush`.
pub(crate) fn tokens(
    out: &mut Vec<u8>,
    state: &LearningState,
    fitted: &Table,
    mut flush: impl FnMut(&mut Vec<u8>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut result = Ok(());
    state.tokens.for_each(&state.table, |body, medium| {
        let Some(at) = state.table.find(FeatureId::of(body, medium)) else { return };
        if result.is_err() {
            return;
        }
        let (cell, weights) = (state.table.cell(at), fitted.weights(at));
        cformat::fixed(out, weights.lambda_nats(), 9, 3);
        out.push(b' ');
        cformat::fixed(out, weights.log_reference(), 9, 3);
        out.push(b' ');
        cformat::decimal(out, i64::from(cell.count.cast_signed()), 7);
        out.push(b' ');
        cformat::hexadecimal(out, u64::from(cell.id.0), 8);
        out.push(b' ');
        show(out, body, medium);
        out.push(b'\n');
        result = flush(out);
    });
    result
}
