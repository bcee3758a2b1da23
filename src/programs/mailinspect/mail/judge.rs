// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes a message's scores against one category from its lines (spec tools 2.1, 2.2).

use crate::category::mapped::MappedCategory;
use crate::document::{Cutter, ReadOptions};
use crate::error::{Result, Warning, WarningSink};
use crate::filter::{Filter, reads_unicode};
use crate::model::medium::Medium;
use crate::model::moments::Moments;
use crate::model::settings::{Locale, ModelOption};
use crate::score::confidence::confidence;
use crate::score::document::CategoryScore;
use crate::score::model::{Model, PatternSet};
use crate::score::scorer::{Cell, Scorer};
use crate::sets::classify::shared::default_scheme;
use crate::token::Feature;
use crate::token::pattern::PatternList;
use dbacl_numeric::elementary::{count_f64, log, narrow};
use dbacl_numeric::invalid::quotient;

/// Bits of the table of empirical counts.
const EMPIRICAL_BITS: u8 = 15;

/// The scores by which messages can be sorted, by their number for `-o`, as the screen names them.
/// A smaller score is nearer to the category, except for confidence.
///
/// 0. Minus the log-probability of the message, its length included, nats.
/// 1. Cross-entropy, nats per token.
/// 2. Divergence of the message from the category, nats per token.
/// 3. Confidence that the message belongs to the category, percent.
pub(crate) const SCORINGS: [&str; 4] =
    ["message cost", "cost per token", "divergence", "confidence"];
/// The place of confidence among them.
pub(crate) const CONFIDENCE: usize = 3;

/// A message's scores.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Measures {
    /// By the place in [`SCORINGS`].
    pub scores: [f32; SCORINGS.len()],
    /// Number of tokens, as far as they count.
    pub complexity: f64,
    /// A note on the computation of the confidence.
    pub underflow: Option<&'static str>,
}

/// Reads mail and scores it against one category.
pub(crate) struct Judge {
    reading: ReadOptions,
    /// Whether it reads messages as the classifier, each by itself. Otherwise it reads as
    /// mailinspect of dbacl 1.14.1 does: only single words are scored, also of a category of word
    /// pairs and more; markup stays in the text unless the category was learned from XML; and a
    /// message's entropy starts at its predecessor's.
    pub is_exact: bool,
    filter: Filter,
    cutter: Cutter,
    scorer: Scorer,
    moments: Moments,
}

impl Judge {
    /// A judge by `category`, which is called `name`. With `keep_case` tokens keep their case, also
    /// if the category's do not.
    pub(crate) fn new(
        category: MappedCategory,
        name: Vec<u8>,
        keep_case: bool,
        is_exact: bool,
        locale: Locale,
        warnings: WarningSink<'_>,
    ) -> Result<Self> {
        let header = category.header();
        let mut options = header.options;
        if keep_case {
            options.insert(ModelOption::KeepCase);
        }
        let is_mail = options.has(ModelOption::Mail);
        let scheme = header.scheme.unwrap_or(default_scheme(options));
        if is_mail && !options.has(ModelOption::Xml) {
            options.insert(ModelOption::Html);
        }
        if category.patterns().is_empty() {
            options.insert(ModelOption::StandardTokenizer);
        }
        let mut patterns = PatternList::new(locale);
        let mut set = PatternSet::default();
        for text in category.patterns() {
            set.insert(patterns.add(text, warnings)?);
        }
        let moments = header.moments;
        let order = if is_exact { header.max_order } else { 1 };
        let model = Model::learned(name, category, set);
        let measures_entropy = options.has(ModelOption::Entropy)
            || options.has(ModelOption::Multinomial) && model.multinomial;
        let bits = measures_entropy.then_some(EMPIRICAL_BITS);
        let reading =
            ReadOptions { options, scheme, order, patterns, locale, ..ReadOptions::mail() };
        let mut judge = Self {
            is_exact,
            filter: Filter::mail_only(options, reading.text_locale()),
            cutter: Cutter::new(&reading),
            reading,
            scorer: Scorer::new(vec![model], bits),
            moments,
        };
        judge.begin();
        Ok(judge)
    }

    pub(crate) fn model(&self) -> &Model {
        &self.scorer.models()[0]
    }

    /// Begins again, as at the start of a run.
    pub(crate) fn begin(&mut self) {
        let (options, locale) = (self.reading.options, self.reading.text_locale());
        self.filter = if self.is_exact || self.reads_unicode() {
            Filter::new(options, locale)
        } else if options.has(ModelOption::Xml) {
            Filter::new(options.with(ModelOption::Mail), locale)
        } else {
            Filter::mail_only(options, locale)
        };
        self.filter.start_file();
        self.cutter.restart();
        self.scorer.start_document();
    }

    /// Starts a new file; the decoders and the sums go on.
    pub(crate) fn start_file(&mut self) {
        self.filter.start_file();
        self.cutter.end_of_source();
    }

    /// Whether mail is read as Unicode text. A line may then give several texts, or none until
    /// later ([`Self::next_text`]), and each message is ended ([`Self::end`]).
    pub(crate) const fn reads_unicode(&self) -> bool {
        reads_unicode(self.reading.options)
    }

    /// Begins a message that is read as Unicode text, with none of the state of the mail before it.
    pub(crate) fn begin_mail(&mut self) {
        if self.reads_unicode() {
            self.filter.start_file();
        }
    }

    /// Ends a message: `take` gets what the lines that follow the last one bring, or the texts that
    /// waited for the end.
    pub(crate) fn end(&mut self, mut take: impl FnMut(&mut Self, &mut Vec<u8>)) {
        let mut text = Vec::new();
        if self.reads_unicode() {
            self.filter.end_file();
            while self.next_text(&mut text) {
                take(self, &mut text);
            }
            return;
        }
        // An empty line twice drives the decoders to their end.
        for _ in 0..2 {
            text.splice(.., *b"\r\n");
            if self.filter(&mut text) {
                take(self, &mut text);
            }
        }
    }

    /// Puts the next text of the lines filtered so far in the place of `line`; returns whether
    /// there is one.
    pub(crate) fn next_text(&mut self, line: &mut Vec<u8>) -> bool {
        self.filter.next_text(line)
    }

    /// Whether the mail filter is in a message's header block after the last line.
    pub(crate) fn in_header(&self) -> bool {
        self.filter.in_header()
    }

    /// Filters a line in place; returns whether its text counts.
    pub(crate) fn filter(&mut self, line: &mut Vec<u8>) -> bool {
        !line.is_empty() && self.filter.line(line)
    }

    /// Scores the text of a filtered line, whose case may be folded in place. `trace` is called
    /// with each token and the category's cell for it.
    pub(crate) fn score(&mut self, line: &mut Vec<u8>, mut trace: impl FnMut(&Feature<'_>, &Cell)) {
        let Self { scorer, cutter, .. } = self;
        // A category of texts knows only the medium of texts (case
        // tools/mailinspect-text-category).
        let is_mail = self.reading.options.has(ModelOption::Mail);
        let medium = if is_mail { self.filter.medium() } else { Medium::TEXT };
        cutter.features(line, medium, &mut |feature| {
            scorer.score_each(&feature, |cell, _| trace(&feature, &cell));
        });
    }

    /// Warnings that arose while scoring; each is returned once.
    pub(crate) fn warnings(&mut self) -> Vec<Warning> {
        self.scorer.warnings()
    }

    /// The scores of the message read so far; begins the next.
    pub(crate) fn finish(&mut self) -> Measures {
        let found = self.scorer.category_scores(false)[0];
        let message = if self.is_exact {
            -self.scorer.category_scores(true)[0].score
        } else {
            message_cost(&found, self.model())
        };
        let token = quotient(-found.score, found.complexity);
        let has_entropy = self.scorer.measures_entropy();
        let (permille, underflow) =
            if has_entropy { confidence(found.divergence, &self.moments) } else { (0, None) };
        let percent = narrow(f64::from(permille)) / 10.0;
        if has_entropy && !self.is_exact {
            self.scorer.start_document_from(found.shannon);
        } else {
            self.scorer.start_document();
        }
        Measures {
            scores: [narrow(message), narrow(token), narrow(found.divergence), percent],
            complexity: found.complexity,
            underflow,
        }
    }
}

/// `-S - P`: minus the log-probability of a message, with the length's by Stirling's formula.
fn message_cost(category_score: &CategoryScore, model: &Model) -> f64 {
    let lambda = match model.documents() {
        0 => 100,
        documents => model.features() / u64::from(documents),
    };
    let lambda = count_f64(lambda);
    let k = category_score.complexity.trunc();
    if k == 0.0 {
        // 0 · ∞, with the sign that it prints with
        return quotient(0.0, 0.0);
    }
    let length =
        k * (log(lambda) - log(k) + 1.0) - log(2.0 * core::f64::consts::PI * k) / 2.0 - lambda;
    -category_score.score - length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::mailinspect::mail::sample;

    fn measures(judge: &mut Judge, text: &str) -> Measures {
        for line in text.split_inclusive('\n') {
            let mut line = line.as_bytes().to_vec();
            if judge.filter(&mut line) {
                judge.score(&mut line, |_, _| {});
            }
        }
        judge.finish()
    }

    #[test]
    fn costs_follow_the_formulas() {
        // 9 features in 3 documents: λ = 3. The sample's reference measure costs nothing.
        let words = [("red", 3, 4.0), ("blue", 3, 1.0)];
        let mut judge = sample::judge(&words, false);
        let found = measures(&mut judge, "X: y\n\nred blue\nred unknown\n");
        let (s, k) = (9.0, 4.0_f64);
        let length =
            k * (3.0_f64.ln() - k.ln() + 1.0) - (2.0 * std::f64::consts::PI * k).ln() / 2.0 - 3.0;
        assert_eq!(found.complexity, 4.0);
        assert_eq!(found.scores[0], narrow(-s - length));
        assert_eq!(found.scores[1], narrow(-s / k));
        // H of {red: 2, blue: 1, unknown: 1}
        let entropy = 4.0_f64.ln() - 2.0 * 2.0_f64.ln() / 4.0;
        assert_eq!(found.scores[2], narrow(-(s / k + entropy)));
    }

    #[test]
    fn entropy_starts_at_the_last_message_s_unless_exact() {
        let words = [("red", 3, 4.0)];
        for is_exact in [false, true] {
            let mut judge = sample::judge(&words, is_exact);
            let text = "X: y\n\nred green\n";
            let first = measures(&mut judge, text).scores[2];
            judge.start_file();
            let second = measures(&mut judge, text).scores[2];
            assert_eq!(first == second, is_exact, "{first} {second}");
        }
    }

    #[test]
    fn only_exact_judges_take_markup_out() {
        let text = "Content-Type: text/html\n\n<html><p class=red>red</p></html>\n";
        let words = [("red", 2, 4.0)];
        let compatible = measures(&mut sample::judge(&words, false), text);
        let exact = measures(&mut sample::judge(&words, true), text);
        assert_eq!(exact.complexity, 1.0);
        assert!(compatible.complexity > 4.0);
    }
}
