// SPDX-License-Identifier: GPL-3.0-or-later
//! Converts dbacl 1.14.1's online memory dumps (`-o`) to counts.
//!
//! Counts are converted to a dump by learning from them with `-o`.

use super::collect::Counting;
use super::counts::{CountSettings, Counts, Documents, counting_options};
use crate::document::Ending;
use crate::learn::memory_dump::{Dump, DumpFault};
use crate::learn::table::Place;
use crate::model::settings::{Locale, ModelOption};
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;

/// Why a dump cannot be converted to counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConversionFault {
    /// The dump has only rounded sums over the documents, from which the documents cannot be told.
    #[error("a dump of mail or with -X or -U does not keep the documents")]
    Documents,
    /// The dump's table was full, and the dump does not say which features were left out.
    #[error("the dump's table was full, and it does not say what was left out")]
    Full,
    /// The dump does not keep the regular expressions.
    #[error("a dump does not keep the regular expressions")]
    Patterns,
    /// The dump is of a multinomial model, which does not keep the features' orders.
    #[error("the dump is of a multinomial model (-M)")]
    Multinomial,
    /// Counters stopped.
    #[error("the dump's counters have run over")]
    Overflow,
    /// A token of the list has too many words, or no slot in the table.
    #[error("the dump is damaged: its token list does not fit its table")]
    Damaged,
}

/// The text of a message about a fault in a dump.
pub(crate) fn reason(fault: &DumpFault) -> String {
    match fault {
        DumpFault::Foreign => "it is not an online memory dump".into(),
        DumpFault::Version => "it is an online memory dump of another version".into(),
        DumpFault::Damaged(what) => format!("it is damaged: {what}"),
    }
}

/// The counts of a dump. A feature with the id of an earlier one was counted as that one, which
/// cannot be undone. The order of n-grams is the highest order of a feature in the dump.
///
/// # Errors
/// [`ConversionFault`].
pub(crate) fn counts(dump: &Dump, locale: Locale) -> Result<Counts, ConversionFault> {
    let state = &dump.state;
    let has = |option| state.options.has(option);
    for (is_so, fault) in [
        (dump.patterns != 0 || !has(ModelOption::StandardTokenizer), ConversionFault::Patterns),
        (has(ModelOption::Entropy) || has(ModelOption::Mail), ConversionFault::Documents),
        (has(ModelOption::Multinomial), ConversionFault::Multinomial),
        (has(ModelOption::Overflow), ConversionFault::Overflow),
        (state.total_of[0] > 0, ConversionFault::Full),
    ] {
        if is_so {
            return Err(fault);
        }
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
            Place::Found(at) => u64::from(state.table.cell(at).count),
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
