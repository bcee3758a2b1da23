// SPDX-License-Identifier: GPL-3.0-or-later
//! Notices that a filter is unsure of much of the mail that comes: a few answers about that mail
//! teach it more than waiting does (docs/lab/mail.md).

use std::fmt;

/// Verdicts in a row that are looked at.
const ROW: u32 = 200;

/// So many unsure ones of a row are many.
const MANY: u32 = 30;

/// The last verdicts of a filter on mail that came.
#[derive(Debug, Clone, Default)]
pub struct RecentVerdicts {
    all: u32,
    unsure: u32,
    many: Option<ManyUnsure>,
}

/// So many of the last verdicts were unsure that it is time to ask the user about some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManyUnsure {
    unsure: u32,
    all: u32,
}

impl RecentVerdicts {
    /// Counts a verdict. Returns what is to be said once 30 of at most 200 verdicts in a row are
    /// unsure; it says so at most once in 200 verdicts.
    pub fn count(&mut self, is_unsure: bool) -> Option<ManyUnsure> {
        self.all += 1;
        self.unsure += u32::from(is_unsure);
        let Self { all, unsure, .. } = *self;
        let many = (is_unsure && unsure == MANY).then_some(ManyUnsure { unsure, all });
        self.many = many.or(self.many);
        if all == ROW {
            self.many = self.many.filter(|_| unsure >= MANY);
            (self.all, self.unsure) = (0, 0);
        }
        many
    }

    /// What was said last, unless there were fewer unsure verdicts since.
    pub fn many(&self) -> Option<ManyUnsure> {
        self.many
    }
}

impl fmt::Display for ManyUnsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unsure, all } = self;
        write!(
            f,
            "{unsure} of the last {all} messages were unsure; thirty answers about such mail leave \
             about a third as many"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_unsure_verdicts_are_said_once_in_a_row() {
        // One verdict in so many is unsure.
        let said = |every: usize, verdicts: usize| {
            let mut recent = RecentVerdicts::default();
            let counted = (0..verdicts).filter_map(|at| recent.count(at % every == 0));
            let said: Vec<String> = counted.map(|many| many.to_string()).collect();
            (said, recent.many().is_some())
        };
        let (once, is_many) = said(2, 200);
        assert!(once.len() == 1 && is_many, "{once:?}");
        assert!(once[0].starts_with("30 of the last 59 messages were unsure; thirty"), "{once:?}");
        assert_eq!(said(2, 600).0.len(), 3);
        // 29 of 200 are not many.
        assert_eq!(said(7, 2000), (vec![], false));
    }

    #[test]
    fn a_row_with_few_ends_it() {
        let mut recent = RecentVerdicts::default();
        let said = (0..400).filter_map(|at| recent.count(at < 200)).count();
        assert_eq!((said, recent.many()), (1, None));
    }
}
