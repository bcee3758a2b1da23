// SPDX-License-Identifier: GPL-3.0-or-later
//! What `--mail-learn` reports: how much mail was learned, and what to expect of the filter. All
//! figures come from one trial, in which each message was classified by a fit that had not seen it.

use crate::fit::joint::FitVerdicts;
use crate::fit::thresholds::FEWEST;
use crate::measures::chance::at_most;
use crate::sets::fitting::Fitted;
use dbacl_numeric::elementary::real;
use std::fmt::Write as _;

/// How many of 100 messages are unsure after learning so many of each kind, as measured on other
/// mail (`docs/lab/mail.md`).
const USUAL: [(usize, u32); 3] = [(50, 22), (200, 10), (2000, 4)];

/// If more than so many of 100 messages are unsure, the report says which kind is too small, if one
/// is. With 294 spams of SpamAssassin and 12 good messages 79 to 93 % were unsure, with 150 good
/// ones 28 to 31 %.
const MUCH: f64 = 30.0;

/// The smaller kind should have the number of the larger one divided by this. It is too small with
/// fewer than that number divided by this once more.
const UNEVEN: usize = 2;

/// More messages than this are not asked for, however many the larger kind has.
const PLENTY: usize = 200;

/// What is known of a filter that was learned.
struct Forecast<'a> {
    names: &'a [String],
    /// Messages of each category.
    documents: &'a [usize],
    /// Different messages of each category, if copies of a message say nothing more than one.
    different: &'a [usize],
    /// The verdicts of the trial; `None` if there was none.
    verdicts: Option<FitVerdicts>,
    /// Messages that look as if they were in the wrong folder; the trial leaves them out.
    misfiled: usize,
    /// Whether the first category is protected.
    is_protected: bool,
    /// What is usual of two categories, see [`USUAL`].
    usual: &'a [(usize, u32)],
}

/// The share of `part` in `whole`, in percent.
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * real(part) / real(whole) }
}

/// The report on a filter that was learned.
pub(super) fn forecast(fitted: &Fitted) -> String {
    let Fitted { head, documents, different, solution, .. } = fitted;
    let is_pair = documents.len() == 2;
    // With a general model fewer messages are unsure; how many depends on the model.
    let has_general = head.rule.general > 0.0;
    let forecast = Forecast {
        names: &head.reading.labels,
        documents,
        different: if is_pair { different } else { documents },
        verdicts: Some(solution.verdicts),
        misfiled: solution.misfiled.len(),
        is_protected: is_pair || head.rule.protected.first().is_some_and(Option::is_some),
        usual: if has_general { &[] } else { &USUAL },
    };
    forecast.text()
}

/// What was tried, and how well it did, on messages that the fit had not learned (`--verbose`).
pub(super) fn trial(fitted: &Fitted) -> String {
    let judged = fitted.places.len();
    let mut text = String::new();
    for (folds, general, quality) in fitted.trials() {
        let share = percent(quality.errors, judged);
        // Writing to a String cannot fail.
        let _ = write!(text, "{folds}-fold trial: {} errors, {share:.2} %", quality.errors);
        if fitted.documents.len() == 2 {
            let _ = write!(text, ", 1-AUC {:.4} %", 100.0 * quality.area_above);
        }
        let _ = writeln!(text, ", general {general}");
    }
    text
}

/// So many messages.
fn messages(number: usize) -> String {
    if number == 1 { "1 message".into() } else { format!("{number} messages") }
}

impl Forecast<'_> {
    fn text(&self) -> String {
        let each: Vec<String> = self
            .names
            .iter()
            .zip(self.documents)
            .map(|(name, documents)| format!("{name} {documents}"))
            .collect();
        let all = messages(self.documents.iter().sum());
        let mut text = format!("learned {all} ({})\n", each.join(", "));
        let few = |documents: &&usize| **documents < FEWEST;
        let is_pair = self.documents.len() == 2;
        let are_too_few = match self.different.iter().filter(few).count() {
            0 => false,
            some => is_pair || some == self.documents.len(),
        };
        if are_too_few {
            let of = if is_pair { "each kind" } else { "one kind" };
            let are_copies = !self.documents.iter().any(|documents| few(&documents));
            let messages = if are_copies { "different messages" } else { "messages" };
            let _ = writeln!(
                text,
                "every message will be unsure until there are {FEWEST} {messages} of {of}{}",
                self.usual_of_more(100.0)
            );
            return text;
        }
        let Some(found) = self.verdicts else { return text };
        self.trial(&mut text, &found);
        let few: Vec<&str> = (self.names.iter().zip(self.documents))
            .filter(|(_, documents)| few(documents))
            .map(|(name, _)| name.as_str())
            .collect();
        if !few.is_empty() {
            let verb = if few.len() == 1 { "has" } else { "have" };
            let few = few.join(", ");
            let _ = writeln!(
                text,
                "nothing can be said of {few}, which {verb} fewer than {FEWEST} messages"
            );
        }
        text
    }

    /// What the trial found, and what it lets expect.
    fn trial(&self, text: &mut String, found: &FitVerdicts) {
        let FitVerdicts { wrong, missed, unsure, most_probable, judged, of_first } = *found;
        let right = judged - unsure - wrong - missed;
        let _ = write!(text, "in cross-validation of {}: {right} right, ", messages(judged));
        let _ = match self.names {
            [first, second] => write!(
                text,
                "{unsure} unsure, {wrong} {first} called {second}, {missed} {second} called {first}"
            ),
            _ => write!(text, "{unsure} unsure, {} wrong", wrong + missed),
        };
        if self.misfiled > 0 {
            let _ = write!(text, "; {} that may be misfiled not counted", self.misfiled);
        }
        let share = percent(unsure, judged);
        let _ = writeln!(
            text,
            "\nexpect about {share:.0} of 100 messages to be unsure (most probable right: {:.0} of \
             100){}",
            percent(most_probable, judged).floor(),
            self.usual_of_more(share)
        );
        if let Some((name, more)) = self.lacking(share) {
            let many = format!("about {more} more {name} messages");
            let _ = writeln!(text, "there is little {name}: with {many} far fewer are unsure");
        }
        let (wrong, all, of) = match self.names {
            [first, ..] if self.is_protected => (wrong, of_first, first.as_str()),
            _ => (wrong + missed, judged, "all messages"),
        };
        let other = match self.names {
            [_, second] if self.is_protected => format!("called {second}"),
            _ => "called something else".into(),
        };
        let bound = 100.0 * at_most(wrong, all);
        let _ = writeln!(
            text,
            "expect at most {bound:.2} % of {of} to be {other} (95 % confidence; {wrong} of {all} \
             here)"
        );
    }

    /// The name of the smaller of two kinds, and how many more messages of it there should be, if
    /// that is why so large a `share` is unsure.
    fn lacking(&self, share: f64) -> Option<(&str, usize)> {
        let &[first, second] = self.documents else { return None };
        let (fewer, wanted) = (first.min(second), (first.max(second) / UNEVEN).min(PLENTY));
        let more = wanted.saturating_sub(fewer).next_multiple_of(10);
        let is_reason = fewer * UNEVEN < wanted && share > MUCH;
        is_reason.then(|| (self.names[usize::from(second < first)].as_str(), more))
    }

    /// How many of 100 messages are usually unsure with more mail, where that is fewer than
    /// `share`.
    fn usual_of_more(&self, share: f64) -> String {
        let fewest = self.documents.iter().copied().min().unwrap_or(0);
        let more: Vec<String> = self
            .usual
            .iter()
            .filter(|(size, unsure)| {
                self.documents.len() == 2 && *size > fewest && f64::from(*unsure) < share.round()
            })
            .take(2)
            .enumerate()
            .map(|(at, (size, unsure))| {
                let kind = if at == 0 { " of each kind" } else { "" };
                format!("{unsure} with {size}{kind}")
            })
            .collect();
        if more.is_empty() { String::new() } else { format!("; usually {}", more.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(
        documents: &[usize],
        verdicts: Option<[usize; 5]>,
        is_protected: bool,
        usual: &[(usize, u32)],
    ) -> String {
        let names = ["ham", "spam", "new"].map(str::to_owned);
        let verdicts = verdicts.map(|[wrong, missed, unsure, judged, of_first]| FitVerdicts {
            wrong,
            missed,
            unsure,
            most_probable: judged - wrong - missed - unsure / 4,
            judged,
            of_first,
        });
        let names = &names[..documents.len()];
        let different = documents;
        let all: usize = documents.iter().sum();
        let misfiled = verdicts.map_or(0, |found| all.saturating_sub(found.judged));
        Forecast { names, documents, different, verdicts, misfiled, is_protected, usual }.text()
    }

    #[test]
    fn few_messages_promise_little() {
        assert_eq!(
            text(&[3, 400], None, true, &USUAL),
            "learned 403 messages (ham 3, spam 400)\n\
             every message will be unsure until there are 8 messages of each kind; usually 22 \
             with 50 of each kind, 10 with 200\n"
        );
        let names = ["ham", "spam"].map(str::to_owned);
        let copies = Forecast {
            names: &names,
            documents: &[30, 40],
            different: &[8, 2],
            verdicts: None,
            misfiled: 0,
            is_protected: true,
            usual: &[],
        };
        let said = copies.text();
        assert!(said.ends_with("until there are 8 different messages of each kind\n"), "{said}");
        let said = text(&[3, 400], None, true, &[]);
        assert!(said.ends_with("until there are 8 messages of each kind\n"), "{said}");
        assert_eq!(
            text(&[12, 12], Some([0, 0, 12, 24, 12]), true, &USUAL),
            "learned 24 messages (ham 12, spam 12)\n\
             in cross-validation of 24 messages: 12 right, 12 unsure, 0 ham called spam, 0 spam \
             called ham\n\
             expect about 50 of 100 messages to be unsure (most probable right: 87 of 100); \
             usually 22 with 50 of each kind, 10 with 200\n\
             expect at most 22.09 % of ham to be called spam (95 % confidence; 0 of 12 here)\n"
        );
    }

    #[test]
    fn the_kind_of_which_there_is_little_is_named() {
        let few = |documents: &[usize], unsure| {
            let all: usize = documents.iter().sum();
            let said = text(documents, Some([0, 0, unsure, all, 12]), true, &USUAL);
            said.lines().find(|line| line.starts_with("there is little")).map(str::to_owned)
        };
        let said =
            "there is little ham: with about 140 more ham messages far fewer are unsure".to_owned();
        assert_eq!(few(&[12, 294], 298), Some(said));
        let said = "there is little spam: with about 180 more spam messages far fewer are unsure"
            .to_owned();
        assert_eq!(few(&[2000, 20], 1000), Some(said));
        for (documents, unsure) in [([12, 294], 60), ([100, 294], 298), ([12, 40], 52)] {
            assert_eq!(few(&documents, unsure), None);
        }
    }

    #[test]
    fn all_figures_are_of_one_trial() {
        assert_eq!(
            text(&[2000, 2002], Some([1, 9, 100, 4000, 2000]), true, &USUAL),
            "learned 4002 messages (ham 2000, spam 2002)\n\
             in cross-validation of 4000 messages: 3890 right, 100 unsure, 1 ham called spam, 9 \
             spam called ham; 2 that may be misfiled not counted\n\
             expect about 2 of 100 messages to be unsure (most probable right: 99 of 100)\n\
             expect at most 0.24 % of ham to be called spam (95 % confidence; 1 of 2000 here)\n"
        );
        // Nothing is promised of more mail where the filter is better than usual already.
        let said = text(&[400, 400], Some([0, 0, 32, 800, 400]), true, &USUAL);
        assert!(said.contains("about 4 of 100 messages to be unsure (most probable right: 99"));
        assert!(said.contains(" of 100)\n"), "{said}");
    }

    #[test]
    fn folders_with_few_messages_are_named() {
        let found = Some([0, 2, 21, 103, 50]);
        assert_eq!(
            text(&[50, 50, 3], found, false, &USUAL),
            "learned 103 messages (ham 50, spam 50, new 3)\n\
             in cross-validation of 103 messages: 80 right, 21 unsure, 2 wrong\n\
             expect about 20 of 100 messages to be unsure (most probable right: 93 of 100)\n\
             expect at most 5.99 % of all messages to be called something else (95 % confidence; \
             2 of 103 here)\n\
             nothing can be said of new, which has fewer than 8 messages\n"
        );
        let said = text(&[50, 50, 3], found, true, &[]);
        assert!(said.contains("% of ham to be called something else (95 %"), "{said}");
        assert!(said.contains("0 of 50 here"), "{said}");
        let said = text(&[5, 7, 3], found, false, &[]);
        assert!(said.ends_with("until there are 8 messages of one kind\n"), "{said}");
    }
}
