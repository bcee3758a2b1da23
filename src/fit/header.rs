// SPDX-License-Identifier: GPL-3.0-or-later
//! The `# refit` line in the header of a category file: which set the file belongs to, and how its
//! scores become verdicts. Programs that do not know the line skip it. It is one line, although
//! two are shown here.
//!
//! ```text
//! # refit 1 set 0123456789abcdef place 2 of 2 cost 1 blend 0.05 documents 3692
//!     slope 6.1 offset 0.02 low 0 high 0 end
//! ```

use super::calibrate::{Calibration, logistic};
use super::scoring::Scoring;
use super::thresholds::Caution;
use crate::category::layout::LINE_LIMIT;
use dbacl_numeric::elementary::{exp, log};
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Split;

/// How the line begins.
pub const MARK: &[u8] = b"# refit";

/// How far a part of the text must be spam where features count by blocks, as a share of how far a
/// whole document must be. With 3/8, 4 in 100 caught spams with the header of a good message and
/// its text quoted below pass as ham, with 1 19, and 0.2 % more good mail is unsure.
const SHARE_OF_PARTS: f64 = 0.375;

/// The contents of the line.
#[derive(Debug, Clone, PartialEq)]
pub struct RefitLine {
    /// Name of the set: files with different names do not belong together.
    pub set: u64,
    /// Number of the file's category in its set, from 1.
    pub place: u32,
    /// Number of categories in the set.
    pub categories: u32,
    /// The cost C of the fit.
    pub cost: f64,
    /// Share of the ordinary scores.
    pub blend: f64,
    /// Documents fitted.
    pub documents: u32,
    /// The calibration of scores. Scores are nats a unit of complexity: with two categories the
    /// second one's less the first one's; with more, each category's.
    pub calibration: Calibration,
    /// With two categories: scores up to the first are of the first category, scores above the
    /// second of the second, between them the verdict is *unsure*.
    pub band: (f64, f64),
    /// How verdicts count features; `once` stands before the end of the line.
    pub scoring: Scoring,
    /// Whether features that tell the categories apart were preferred; `contrast` stands before the
    /// end of the line.
    pub contrast: bool,
    /// The share of false positives that was asked for, if any; `fp` and the share stand before the
    /// end of the line.
    pub false_positives: Option<f64>,
    /// Whether unsure verdicts were asked for; `unsure` stands before the end of the line.
    pub wants_unsure: bool,
    /// The least share of known features with which a verdict can be sure; 0 if any share is
    /// enough. `known` and the share stand before the end of the line, unless it is 0.
    pub known: f64,
    /// With more than two categories, the limits of all of them in the order of the set, log odds
    /// (see [`super::thresholds`]); none if verdicts are always sure. A line that was read has that
    /// of its own category only, and [`set_of`] gathers them; `limit` and its own stand before the
    /// end of the line.
    pub limits: Vec<f64>,
    /// What was usual among the documents of each category, by which later ones can be told from
    /// them; empty if that is not known. They are gathered as limits are; `doubt` and `usual` with
    /// the two shares of its own category stand before the end of the line.
    pub usual: Vec<Usual>,
    /// How sure verdicts must be, where features count by blocks; `caution` and a number, 1 for low
    /// and 3 for high, stand before the end of the line unless it is normal.
    pub caution: Caution,
    /// The shares of the documents of each category that may confidently be called another, where
    /// the category is protected; empty if no category is. Of two categories the first one's is
    /// [`Self::false_positives`]. They are gathered as limits are; `rate` and its own stand before
    /// the end of the line.
    pub rates: Vec<Option<f64>>,
    /// Share of the general model's scores; `general` and the share stand before the end of the
    /// line, unless it is 0. Programs that know no general models refuse such a set.
    pub general: f64,
}

/// What is usual among the documents of a category, each classified by a fit that has not seen it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// The share of them about which the verdict is unsure.
    pub unsure: f64,
    /// The share of known features of the document in the middle.
    pub known: f64,
}

/// Why the categories of a run do not form a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// Some belong to a set and others do not.
    Partly,
    /// They belong to different sets, or to different states of one.
    Different,
    /// Categories of the set are missing or there twice.
    Incomplete,
}

impl Mismatch {
    /// A text that says what is wrong.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Partly => "only some of these categories were fitted together",
            Self::Different => "these categories were not fitted together",
            Self::Incomplete => "these are not all categories of the set that was fitted together",
        }
    }
}

impl RefitLine {
    /// The score above which a part of a document, by itself, makes the verdict unsure where the
    /// whole is confidently of the first category; `None` if parts play no role.
    pub fn limit_of_parts(&self) -> Option<f64> {
        match self.scoring {
            Scoring::Once if self.wants_unsure => Some(self.band.1),
            Scoring::Blocks if self.wants_unsure => {
                let even = self.calibration.even();
                Some(even + SHARE_OF_PARTS * (self.band.1 - even) / self.caution.factor())
            }
            Scoring::Counts | Scoring::Once | Scoring::Blocks => None,
        }
    }

    /// Appends the line, with its end.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Calibration { slope, offset } = self.calibration;
        let (low, high) = self.band;
        let mut text = format!(
            "# refit 1 set {:016x} place {} of {} cost {} blend {} documents {} slope {slope:.6} \
             offset {offset:.6} low {low:.6} high {high:.6}",
            self.set, self.place, self.categories, self.cost, self.blend, self.documents,
        );
        text.push_str(match self.scoring {
            Scoring::Counts => "",
            Scoring::Once => " once",
            Scoring::Blocks => " blocks",
        });
        // Writing to a String cannot fail.
        if self.contrast {
            text.push_str(" contrast");
        }
        if let Some(rate) = self.false_positives {
            let _ = write!(text, " fp {rate}");
        }
        if self.wants_unsure {
            text.push_str(" unsure");
        }
        if self.known > 0.0 {
            let _ = write!(text, " known {:.6}", self.known);
        }
        let place = self.place.saturating_sub(1) as usize;
        if let Some(limit) = self.limits.get(place).or(self.limits.first()) {
            let _ = write!(text, " limit {limit:.6}");
        }
        let is_whole = self.rates.len() == self.categories as usize;
        if let Some(rate) = self.rates.get(if is_whole { place } else { 0 }).copied().flatten() {
            let _ = write!(text, " rate {rate}");
        }
        if let Some(Usual { unsure, known }) = self.usual.get(place).or(self.usual.first()) {
            let _ = write!(text, " doubt {unsure:.4} usual {known:.4}");
        }
        text.push_str(match self.caution {
            Caution::Low => " caution 1",
            Caution::Normal => "",
            Caution::High => " caution 3",
        });
        if self.general > 0.0 {
            let _ = write!(text, " general {}", self.general);
        }
        text.push_str(" end\n");
        debug_assert!(text.len() < LINE_LIMIT);
        out.extend_from_slice(text.as_bytes());
    }

    /// Reads the line, without its end; `None` if it is no such line or has impossible values.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.strip_prefix("# refit 1 ")?;
        let mut words = Words(text.split(' ').peekable());
        let is_rate = |rate: f64| rate > 0.0 && rate < 1.0;
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let set = words.value("set").filter(|set| set.len() == 16)?;
        let line = Self {
            set: u64::from_str_radix(set, 16).ok()?,
            place: words.value("place")?.parse().ok()?,
            categories: words.value("of")?.parse().ok()?,
            cost: words.number("cost")?,
            blend: words.number("blend")?,
            documents: words.value("documents")?.parse().ok()?,
            calibration: Calibration {
                slope: words.number("slope")?,
                offset: words.number("offset")?,
            },
            band: (words.number("low")?, words.number("high")?),
            scoring: match (words.takes("once"), words.takes("blocks")) {
                (false, false) => Scoring::Counts,
                (true, false) => Scoring::Once,
                (false, true) => Scoring::Blocks,
                (true, true) => return None,
            },
            contrast: words.takes("contrast"),
            false_positives: words.option("fp", is_rate)?,
            wants_unsure: words.takes("unsure"),
            known: words.option("known", |share| share > 0.0 && share <= 1.0)?.unwrap_or(0.0),
            limits: words.option("limit", |_| true)?.into_iter().collect(),
            rates: words.option("rate", is_rate)?.into_iter().map(Some).collect(),
            usual: match (words.option("doubt", is_share)?, words.option("usual", is_share)?) {
                (Some(unsure), Some(known)) => vec![Usual { unsure, known }],
                (None, None) => Vec::new(),
                _ => return None,
            },
            caution: match words.option("caution", |_| true)? {
                None => Caution::Normal,
                Some(1.0) => Caution::Low,
                Some(3.0) => Caution::High,
                Some(_) => return None,
            },
            general: words.option("general", |share| share > 0.0)?.unwrap_or(0.0),
        };
        let is_whole = words.takes("end") && words.0.next().is_none();
        let is_possible = (1..=line.categories).contains(&line.place) && line.band.0 <= line.band.1;
        (is_whole && is_possible).then_some(line)
    }

    /// The line among a category's header lines.
    pub fn find(lines: &[Vec<u8>]) -> Option<Self> {
        lines.iter().filter(|line| line.starts_with(MARK)).find_map(|line| Self::parse(line))
    }

    /// Logarithms of the odds (nats) of each category against all others; NaN for a document
    /// without tokens. Thresholds play no part in them.
    pub fn log_odds(&self, scores: &[f64]) -> Vec<f64> {
        let Calibration { slope, offset } = self.calibration;
        if scores.iter().any(|score| !score.is_finite()) {
            return vec![f64::NAN; scores.len()];
        }
        if let [first, second] = scores {
            let odds = slope * (second - first) + offset;
            return vec![-odds, odds];
        }
        let against = |own: usize| {
            let others = || (0..scores.len()).filter(|&at| at != own).map(|at| scores[at]);
            let highest = others().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = others().map(|score| exp(slope * (score - highest))).sum();
            slope * (scores[own] - highest) - log(sum)
        };
        (0..scores.len()).map(against).collect()
    }

    /// The probabilities of the categories for a document of these scores; NaN for a document
    /// without tokens.
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.log_odds(scores).into_iter().map(logistic).collect()
    }
}

/// The words of a line that have not been read.
struct Words<'a>(Peekable<Split<'a, char>>);

impl<'a> Words<'a> {
    /// Whether the next word is `name`, which has been read then.
    fn takes(&mut self, name: &str) -> bool {
        self.0.next_if(|word| *word == name).is_some()
    }

    /// The word after `name`, which must come next.
    fn value(&mut self, name: &str) -> Option<&'a str> {
        if self.takes(name) { self.0.next() } else { None }
    }

    /// The finite number after `name`, which must come next.
    fn number(&mut self, name: &str) -> Option<f64> {
        self.value(name)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The same where both may be missing; `None` for an impossible number.
    #[allow(clippy::option_option)] // missing or impossible
    fn option(&mut self, name: &str, is_possible: impl Fn(f64) -> bool) -> Option<Option<f64>> {
        if self.0.peek() != Some(&name) {
            return Some(None);
        }
        self.number(name).filter(|&number| is_possible(number)).map(Some)
    }
}

/// The line of the set that categories with these lines form; `None` if none of them belongs to a
/// set.
///
/// # Errors
/// Why they do not form one set.
pub fn set_of(lines: &[Option<RefitLine>]) -> Result<Option<RefitLine>, Mismatch> {
    let mut known: Vec<&RefitLine> = lines.iter().flatten().collect();
    let Some(first) = known.first() else { return Ok(None) };
    if known.len() < lines.len() {
        return Err(Mismatch::Partly);
    }
    let same = |line: &&RefitLine| line.set == first.set && line.categories == first.categories;
    if !known.iter().all(same) {
        return Err(Mismatch::Different);
    }
    let mut whole = RefitLine::clone(first);
    known.sort_by_key(|line| line.place);
    if !known.iter().map(|line| line.place).eq(1..=whole.categories) {
        return Err(Mismatch::Incomplete);
    }
    let each = known.iter();
    let limits: Option<_> = each.clone().map(|line| line.limits.first().copied()).collect();
    let usual: Option<_> = each.map(|line| line.usual.first().copied()).collect();
    (whole.limits, whole.usual) = (limits.unwrap_or_default(), usual.unwrap_or_default());
    whole.rates = known.iter().map(|line| line.rates.first().copied().flatten()).collect();
    if whole.rates.iter().all(Option::is_none) {
        whole.rates.clear();
    }
    Ok(Some(whole))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn written(line: &RefitLine) -> String {
        let mut text = Vec::new();
        line.write(&mut text);
        String::from_utf8(text).unwrap()
    }

    fn parsed(text: &str) -> Option<RefitLine> {
        RefitLine::parse(text.trim_end().as_bytes())
    }

    /// A line of a set of two.
    pub fn line(set: u64, place: u32) -> RefitLine {
        let text = format!("# refit 1 set {set:016x} place {place} of 2 cost 0.2 blend 0.05");
        let rest = "documents 3692 slope 6.25 offset -0.5 low -0.25 high 0.5 end";
        parsed(&format!("{text} {rest}")).unwrap()
    }

    #[test]
    fn what_was_written_reads_the_same() {
        let own = line(0xfeed, 2);
        assert_eq!((own.set, own.place, own.categories, own.documents), (0xfeed, 2, 2, 3692));
        assert_eq!((own.cost, own.blend, own.band), (0.2, 0.05, (-0.25, 0.5)));
        assert_eq!(own.calibration, Calibration { slope: 6.25, offset: -0.5 });
        let text = written(&own);
        assert!(text.len() < 300);
        assert_eq!(parsed(&text), Some(own));
        for cut in 0..text.len() - 1 {
            assert_eq!(RefitLine::parse(&text.as_bytes()[..cut]), None, "{cut}");
        }
        assert_eq!(parsed(&text.replace("place 2", "place 3")), None);
    }

    #[test]
    fn the_line_says_how_features_are_counted() {
        for (scoring, end) in [(Scoring::Once, " once end\n"), (Scoring::Blocks, " blocks end\n")] {
            let own = RefitLine { scoring, ..line(1, 1) };
            let text = written(&own);
            assert!(text.ends_with(&format!(" high 0.500000{end}")), "{text}");
            assert_eq!(parsed(&text), Some(own));
        }
        for odd in ["twice", "once blocks", "contrast once"] {
            assert_eq!(parsed(&written(&line(1, 1)).replace(" end", &format!(" {odd} end"))), None);
        }
    }

    #[test]
    fn the_line_says_what_was_usual() {
        let usual = [(0.0, 0.875), (0.125, 1.0)].map(|(unsure, known)| Usual { unsure, known });
        let lines = [1, 2].map(|place| {
            let limits = vec![0.5, 1.5];
            parsed(&written(&RefitLine { usual: usual.to_vec(), limits, ..line(7, place) }))
        });
        assert_eq!(set_of(&lines).unwrap().unwrap().usual, usual);
        let text = written(lines[1].as_ref().unwrap());
        assert!(text.ends_with(" limit 1.500000 doubt 0.1250 usual 1.0000 end\n"), "{text}");
        for (old, new) in [(" doubt 0.1250", ""), (" usual 1.0000", ""), ("0.1250", "1.1250")] {
            assert_eq!(parsed(&text.replace(old, new)), None);
        }
        // One of them does not say it: an older version wrote it.
        let lines = [lines[0].clone(), Some(line(7, 2))];
        assert!(set_of(&lines).unwrap().unwrap().usual.is_empty());
    }

    #[test]
    fn options_of_the_fit_are_kept_in_the_line() {
        let mut cases = Vec::new();
        for (scoring, contrast) in [
            (Scoring::Counts, false),
            (Scoring::Once, false),
            (Scoring::Counts, true),
            (Scoring::Once, true),
        ] {
            for (false_positives, wants_unsure, end) in [
                (Some(0.001), false, " fp 0.001 end\n"),
                (Some(0.001), true, " fp 0.001 unsure end\n"),
                (None, true, " unsure end\n"),
                (None, false, " end\n"),
            ] {
                let wish =
                    RefitLine { scoring, contrast, false_positives, wants_unsure, ..line(1, 1) };
                cases.push((wish, end));
            }
        }
        let careful = RefitLine { known: 0.25, wants_unsure: true, ..line(1, 1) };
        let limited = RefitLine { limits: vec![3.5], ..careful.clone() };
        let protected = RefitLine { rates: vec![Some(0.002)], ..limited.clone() };
        let general = RefitLine { general: 0.25, ..protected.clone() };
        let high = RefitLine { caution: Caution::High, ..line(1, 1) };
        cases.extend([
            (careful, " unsure known 0.250000 end\n"),
            (protected, " unsure known 0.250000 limit 3.500000 rate 0.002 end\n"),
            (limited, " unsure known 0.250000 limit 3.500000 end\n"),
            (general, " unsure known 0.250000 limit 3.500000 rate 0.002 general 0.25 end\n"),
            (high, " caution 3 end\n"),
        ]);
        for (line, end) in cases {
            let text = written(&line);
            assert!(text.ends_with(end), "{text}");
            assert_eq!(parsed(&text), Some(line));
        }
        let odd = "known 0|known 1.5|known x|limit nan|limit 1 known 0.5|rate 0|rate 1|general 0|\
                   general -1|general 0.5 rate 0.1|caution 2|fp 0|fp 1|fp -1|fp nan|fp x";
        for odd in odd.split('|') {
            let text = written(&line(1, 1)).replace(" end", &format!(" {odd} end"));
            assert_eq!(parsed(&text), None, "{odd}");
        }
    }

    #[test]
    fn sets_are_whole_or_not_at_all() {
        let (a, b, c) = (line(1, 1), line(1, 2), line(2, 2));
        for (lines, expected) in [
            (vec![None, None], Ok(None)),
            (vec![Some(a.clone()), Some(b.clone())], Ok(Some(1))),
            (vec![Some(b.clone()), Some(a.clone())], Ok(Some(1))),
            (vec![Some(a.clone()), None], Err(Mismatch::Partly)),
            (vec![Some(a.clone()), Some(c)], Err(Mismatch::Different)),
            (vec![Some(a.clone())], Err(Mismatch::Incomplete)),
            (vec![Some(a.clone()), Some(a)], Err(Mismatch::Incomplete)),
        ] {
            assert_eq!(set_of(&lines).map(|set| set.map(|line| line.set)), expected);
        }
        let whole = |lines: [RefitLine; 2]| set_of(&lines.map(Some)).unwrap().unwrap();
        let with = |place, limits: &[f64]| RefitLine { limits: limits.to_vec(), ..line(1, place) };
        assert_eq!(whole([with(2, &[5.0]), with(1, &[4.0])]).limits, [4.0, 5.0]);
        assert_eq!(whole([with(2, &[5.0]), with(1, &[])]).limits, [0.0; 0]);
        let rates = vec![Some(0.01)];
        let rates = whole([RefitLine { rates, ..line(1, 2) }, line(1, 1)]).rates;
        assert_eq!(rates, [None, Some(0.01)]);
        // Each file has its own.
        for (place, end) in [(1, " high 0.500000 end\n"), (2, " rate 0.01 end\n")] {
            let text = written(&RefitLine { rates: rates.clone(), ..line(1, place) });
            assert!(text.ends_with(end), "{place}");
        }
    }
}
