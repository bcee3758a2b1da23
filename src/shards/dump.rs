// SPDX-License-Identifier: GPL-3.0-or-later
//! The reference's online memory dumps (`-o`) as counts.
//!
//! The other way needs no code of its own: learning from counts with `-o` writes a dump.

use super::collect::Counting;
use super::counts::{CountSettings, Counts, Documents, counting_options};
use crate::document::Ending;
use crate::learn::memory_dump::{Dump, DumpFault};
use crate::learn::table::Place;
use crate::model::settings::{Locale, ModelOption};
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;

/// Why a dump cannot be made counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConversionFault {
    /// Sums over documents are rounded, and say nothing of the documents.
    #[error("a dump of mail or with -X or -U does not keep the documents")]
    Documents,
    /// Which features found no room is not kept.
    #[error("the dump's table was full, and it does not say what was left out")]
    Full,
    /// What the expressions were is not kept.
    #[error("a dump does not keep the regular expressions")]
    Patterns,
    /// A multinomial model does not keep the features' orders.
    #[error("the dump is of a multinomial model (-M)")]
    Multinomial,
    /// Counters stopped.
    #[error("the dump's counters have run over")]
    Overflow,
    /// A token has too many words, or no slot.
    #[error("the dump is damaged: its token list does not fit its table")]
    Damaged,
}

/// What a fault in a dump is, for people.
pub fn reason(fault: &DumpFault) -> String {
    match fault {
        DumpFault::Foreign => "it is no online memory dump".into(),
        DumpFault::Version => "it is an online memory dump of another version".into(),
        DumpFault::Damaged(what) => format!("it is damaged: {what}"),
    }
}

/// The counts of a dump. Features that share an id with an earlier one were counted as that one,
/// and stay so. The order of n-grams is the highest that was seen.
///
/// # Errors
/// [`ConversionFault`].
pub fn counts(dump: &Dump, locale: Locale) -> Result<Counts, ConversionFault> {
    let state = &dump.state;
    let has = |option| state.options.has(option);
    if dump.patterns != 0 || !has(ModelOption::StandardTokenizer) {
        return Err(ConversionFault::Patterns);
    }
    if has(ModelOption::Entropy) || has(ModelOption::Mail) {
        return Err(ConversionFault::Documents);
    }
    if has(ModelOption::Multinomial) {
        return Err(ConversionFault::Multinomial);
    }
    if has(ModelOption::Overflow) {
        return Err(ConversionFault::Overflow);
    }
    if state.total_of[0] > 0 {
        return Err(ConversionFault::Full);
    }
    let settings = CountSettings {
        options: counting_options(state.options),
        scheme: state.scheme,
        order: state.max_order.max(1),
        locale,
        documents: Documents::None,
        keeps_nul: false,
        patterns: Vec::new(),
    };
    let order = usize::from(settings.order);
    let mut counting = Counting::new(settings, false);
    counting.start_shard(0);
    let mut damaged = false;
    state.tokens.for_each(&state.table, |body, medium| {
        let id = FeatureId::of(body, medium);
        let count = match state.table.place(id) {
            Place::Found(at) => u64::from(state.table.count(at)),
            _ => 0,
        };
        let inner = body.strip_prefix(&[BOUNDARY]).and_then(|b| b.strip_suffix(&[BOUNDARY]));
        let words = inner.map(|inner| inner.split(|&byte| byte == BOUNDARY));
        match words {
            Some(words) if words.clone().count() <= order && count > 0 => {
                damaged |= !counting.spelled(words, medium, count);
            }
            _ => damaged = true,
        }
    });
    counting.end_shard(Ending::default());
    let counts = counting.into_counts().filter(|_| !damaged);
    let counts = counts.ok_or(ConversionFault::Damaged)?;
    let total = counts.nodes().iter().map(|node| node.count).sum::<u64>();
    if total != u64::from(state.total) {
        return Err(ConversionFault::Damaged);
    }
    Ok(counts)
}
